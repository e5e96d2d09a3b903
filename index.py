# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # The Hidden Gauge
#
# Take a ReLU neuron $a\,[w^\top x]_+$, double its output weight $a$ and halve its input weights
# $w$. Nothing that the network computes has changed, so one might think that nothing has. But
# training has: the *imbalance* $\delta = a^2 - \lVert w\rVert^2$ is different now, gradient flow
# conserves it, and it decides which of several identical neurons learns the feature and which
# fade away. That is the subject of *Hidden Gauge Controls Feature Specialization in ReLU
# Networks* ({cite:t}`wang2026gauge`). With weight decay the imbalance fades; a second paper
# ({cite:t}`xu2026decay`) shows that the neurons then gather in a few directions. This book states
# each claim of the two, says why it is true, computes it, and sets what was measured beside what
# is printed. The first paper has chapters 1 to 16, the second one those from
# {numref}`chapter-rapid-fitting` to {numref}`chapter-transformer`; in
# {numref}`chapter-forgotten` the two meet.
#
# ## The phenomenon
#
# Eight identical students learn one teacher. Twice the network starts as *the same function*:
# once all eight have imbalance $+D$, once a single one has, and the other seven have $-D$.

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from myst_nb import glue

from gaugelib import claims, figures, flows
from gaugelib.problem import duplicates
from gaugelib.solve import solve

m, D, phi = 8, 32.0, np.pi / 4
one = duplicates(m, D, phi)  # δ = (+D, −D, …, −D)
problems = {"all eight +D": one.regauged(D), "one +D, seven −D": one}
tau = np.append(0, np.geomspace(0.02, 300, 241))
runs = {name: solve(flows.population(problem), tau) for name, problem in problems.items()}

# %% tags=["hide-input"] mystnb={"figure": {"caption": "Same start, same end, different neurons. Eight identical ReLU students at $45°$ from one teacher, trained by population gradient flow in their weights $(a_i, w_i)$; $D = 32$. Left: equal imbalances, and all of them share the feature. Middle: one imbalance $+D$ and seven $-D$, and one of them takes it all. Right: the loss of both networks goes to zero. (Figure 1 of the paper.)", "name": "fig-phenomenon"}, "image": {"alt": "Three panels over fast time on a logarithmic axis. Left: eight coefficients start together at one eighth, dip and return together to one eighth. Middle: one coefficient rises to 1 while the other seven fall together to 0. Right: both losses fall towards zero, that of the equal network first."}}
fig, axes = figures.panels(1, 3, width=8.6, height=3.0)
styles = {1: (figures.BLUE, "-"), -1: (figures.ORANGE, (0, (5, 2)))}
for ax, (name, problem) in zip(axes, problems.items()):
    for q, delta in zip(runs[name].q[1:].T, problem.students.delta, strict=True):
        colour, dash = styles[np.sign(delta)]
        ax.plot(tau[1:], q, color=colour, linestyle=dash)
    ax.set_ylim(-0.03, 1.05)
    figures.finish(ax, "fast time  τ = Dt", "coefficient  $a_i|w_i|$", name, "x", legend=False)
labels = {"xlabel": "fast time  τ = Dt", "ylabel": "loss", "title": "the losses", "log": "xy"}
figures.curves(axes[2], tau[1:], {name: run.loss[1:] for name, run in runs.items()}, **labels)
axes[2].set_ylim(1e-12, 1)
axes[2].get_legend().remove()
axes[0].annotate("all eight", (3, 0.16), color=figures.BLUE)
axes[1].annotate("the +D one", (1.6, 0.68), color=figures.BLUE, ha="right")
axes[1].annotate("seven −D", (5, 0.14), color=figures.ORANGE)
axes[2].annotate("all +D", (1.2, 1e-9), color=figures.BLUE, ha="right")
axes[2].annotate("one +D", (45, 1e-9), color=figures.ORANGE, ha="right")
plt.show()

# %% tags=["hide-input"]
x = np.random.default_rng(0).standard_normal((1000, 2))
start = [problem.predict(x) for problem in problems.values()]
print(f"same function at the start, to 1e-14: {np.abs(start[0] - start[1]).max() < 1e-14}")
print("                       coefficient at τ = 0    at the end of the figure, τ = 300")
for name, run in runs.items():
    end = np.round([run.q[-1, 0], run.q[-1, 1:].mean()], 4) + 0.0
    print(f"{name:18}  first {run.q[0, 0]:8.4f}{end[0]:26.4f}")
    print(f"{'':18} others {run.q[0, 1]:8.4f}{end[1]:26.4f}")
solved = all(run.loss[-1] < 1e-9 for run in runs.values())
print(f"both losses at the end below 1e-9: {solved}")

# %% [markdown]
# One student has taken the whole feature, although no measurement of the *network* at the start
# could have told which one. {numref}`chapter-gauge` begins with the gauge itself,
# {numref}`chapter-identical-neurons` takes this figure apart, and the
# {ref}`gauge explorer <chapter-explorer>` lets you move $D$, $m$ and the angle, the
# {ref}`two-teacher explorer <chapter-two-explorer>` the designated pair and $D$.
#
# ## How much of the papers is confirmed?

# %% tags=["hide-input"]
stored = claims.collect(sorted(Path("chapters").glob("*.ipynb")))
verdict = {row.id: row.verdict for _, row in stored}
paper = [claim for claim in claims.load().values() if claim.paper != "beyond"]
counts = {name: sum(verdict.get(c.id) == name for c in paper) for name in claims.VERDICTS}
counts["missing"] = sum(c.id not in verdict for c in paper)
for name, number in counts.items():
    meaning = claims.VERDICTS.get(name, "measured by no stored chapter")
    print(f"{number:4d}  {name:8} {meaning}")
passing = sum(counts[name] for name in claims.PASSING)
reported = len(paper) - counts["missing"]
own = len(claims.load()) - len(paper)
for name, number in {"all": len(paper), "reported": reported, "passing": passing,
                     "own": own}.items():
    glue(f"index-{name}", str(number), display=False)

# %% [markdown]
# Every claim that can be tested stands in a ledger before it is measured: its printed digits, for
# some a tolerance with a reason, and for most a *null*, the value that anyone would have guessed
# or a case in which the statement should fail. What a property has to meet is argued in its
# chapter. Of {glue:text}`index-all` claims the chapters judge {glue:text}`index-reported`, and
# {glue:text}`index-passing` of these pass. Another {glue:text}`index-own` rows are findings of this
# book that no paper prints. The {ref}`scoreboard <chapter-scoreboard>` shows each row with a link
# to the code that measured it.
#
# Two things to know before you trust a count. The text of the first paper that we worked from
# lacks the statements of its theorems and some displayed equations, that of the second its
# fractions and roots: those we rebuilt from the proofs, and they are marked as such where they
# stand and in the ledger. And where a paper does not say how a printed number is read off a run, we
# searched for the definition that gives its digits: that agreement is evidence for the equations,
# but less than a prediction would be. Such rows say so.
#
# ## How to read this book
#
# - Each chapter opens with what you will know after it. Statements carry the paper's numbers; the
#   code that measures them stands beside them, in cells that can be read in one go.
# - A measured number is never typed into the text. It is computed, printed, and compared again
#   whenever the tests run.
# - What a paper leaves open and we decided is called *our choice*. What does not reproduce is
#   said to differ, with the best explanation that we could measure.
# - Chapters end with exercises and folded solutions, then with their part of the ledger.
#
# ## How to run and test it
#
# With Python 3.11 or later, git and make, from a clone of the project: `make book` builds these
# pages, `make test` runs every chapter again and compares every printed digit, `make rerun CH=04`
# executes one chapter after you have changed it. The chapters are plain Python files,
# `chapters/*.py`, paired with the notebooks whose outputs you see. What two chapters need is in
# the package `gaugelib`:
#
# ```python
# from gaugelib import flows, problem
# from gaugelib.solve import solve
#
# students = problem.duplicates(m=8, D=32, phi=0.785)  # one +D, seven −D
# run = solve(flows.population(students), tau=[0, 10, 60])
# run.q.round(3)  # the coefficients at these times, one column a student
# ```
