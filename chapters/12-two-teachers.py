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
# (chapter-two-teachers)=
# # Two teachers
#
# Eight students that are not duplicates, two features to learn, ten dimensions, and no theorem:
# section 4.3 of {cite:t}`wang2026gauge` asks whether the hidden gauge still decides who learns
# what. After this chapter you will know
#
# - that moving the positive imbalances from one pair of students to another moves both features
#   with them, for every start and every $D$ that we tried, in 800 starts;
# - what sets the size of the redundant coefficients that Table D.6 prints: one eigenvalue of a
#   Hessian, about the same for all $D$;
# - that the third configuration, where both designated students start near the same teacher, is a
#   matter of chance, and how far a count out of twenty can be trusted;
# - what its failures are, for the paper's twenty seeds: runs stopped early. Followed for longer, a
#   few turn into successes, and the others fit the target exactly with more students than it has
#   features.
#
# It runs for about 45 seconds on one core; the 7200 runs over 800 seeds are stored, and a sample
# of them is computed again.

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import torch
from joblib import Parallel, delayed
from myst_nb import glue

from gaugelib import claims, figures, flows, training
from gaugelib.kernel import angle, gram
from gaugelib.problem import two_teachers, two_teachers_start
from gaugelib.solve import solve

DATA = Path("..") / "data"

# %% [markdown]
# ## Eight students, two features
#
# The target is
#
# $$ f_\star(x)=[u_1^\top x]_++0.8\,[u_2^\top x]_+,\qquad
#    u_{1,2}=\cos(0.7)\,e_1\mp\sin(0.7)\,e_2 \in\mathbb R^{10}, $$ (eq-two-target)
#
# two unit vectors at an angle of $1.4$. Three *configurations* give the imbalance $+D$ to two of
# the eight students and $-D$ to the other six: A to $(1,4)$, B to $(2,3)$, *same side* to
# $(1,2)$. Each is run for $D\in\{16,32,64\}$ and twenty seeds to $\tau=Dt=4000$. Of the starts we
# know that one student of A and of B is near each teacher, and that $1$ and $2$ are both nearer to
# the first; the law they were drawn from is not in the text that we worked from.
#
# **Our choice.** Let $\operatorname{near}(u,t)$ be $u$ turned by the angle $t$ towards a
# uniformly random direction orthogonal to it. Students 1 to 4 are $\operatorname{near}(u_1,0.3)$,
# $\operatorname{near}(u_1,0.5)$, $\operatorname{near}(u_2,0.5)$, $\operatorname{near}(u_2,0.3)$;
# 5 to 8 are $\operatorname{near}(e_1,0.6)$, around the bisector; and
# $q_i=\frac18(1+x_i)$ with $x_i$ uniform in $(-0.1,0.1)$. Seeds 0 to 19 are stored in
# `data/two-teachers.npz`. Since the draws, and probably their law, differ from the paper's, no
# number of Table D.6 can be expected to agree to its digits. What can be asked is which of its
# statements hold for *every* seed, and how much the others vary from twenty seeds to the next.

# %%
DS, SEEDS = (16, 32, 64), range(20)
CONFIGS = {"A": (0, 3), "B": (1, 2), "same": (0, 1)}
LONG = {"A": "A", "B": "B", "same": "same side"}
U = two_teachers(0, 32, (0, 3)).teacher.u

start = two_teachers(0, 32, (0, 3)).students
print(f"angle of the two teachers: {angle(U[0], U[1]):.4f}\nseed 0")
print("  student" + "".join(f"{i:8d}" for i in range(1, 9)))
print("  q      " + "".join(f"{q:8.4f}" for q in start.q))
for k in (0, 1):
    print(f"  to u_{k + 1} " + "".join(f"{x:8.4f}" for x in angle(start.s, U[k])))
again = [two_teachers_start(seed) for seed in SEEDS]
problems = [two_teachers(seed, 32, (0, 3)) for seed in SEEDS]
law_gap = max(
    max(np.abs(p.students.q - q).max(), np.abs(p.students.s - s).max())
    for p, (q, s) in zip(problems, again, strict=True)
)
print("the stored starts are those of the law, to 1e-14:", law_gap < 1e-14)

# %% [markdown]
# Configurations differ in the parameters and not in the function: (A.6) rebuilds $(a_i,w_i)$ from
# $(q_i,s_i,\delta_i)$. We evaluate all nine networks of each seed on 200 inputs, and multiply the
# rebuilt $a_i\lvert w_i\rvert$ back together. The null is a start with other coefficients:
# $q_i=\frac18$.

# %%
inputs = np.random.default_rng(0).standard_normal((200, 10))
same_gap, even_gap, rebuilt = [], [], []
for seed in SEEDS:
    outputs = []
    for D in DS:
        for owners in CONFIGS.values():
            problem = two_teachers(seed, D, owners)
            a, w = problem.weights()
            rebuilt.append(np.abs(a * np.linalg.norm(w, axis=1) - problem.students.q).max())
            outputs.append(problem.predict(inputs))
    even = np.maximum(inputs @ problem.students.s.T, 0).sum(axis=1) / 8
    same_gap.append(np.ptp(outputs, axis=0).max())
    even_gap.append(np.abs(even - outputs[0]).max())
ALIKE = 1e-14
print(f"nine parametrizations, one function, to {ALIKE:g}:", max(same_gap) < ALIKE)
print(f"with q_i = 1/8 instead, outputs differ by up to {max(even_gap):.4f}")
print("a|w| gives q back, to 5.6e-15:", max(rebuilt) <= 5.6e-15)

# %% [markdown]
# ## The 180 runs
#
# Population gradient flow of all $8\cdot11$ parameters, by LSODA with the Hessian of
# the loss in closed form as its Jacobian, recorded at $\tau=0$ and at 600 times spaced
# evenly in $\log\tau$ from $0.01$ to $4000$, as in D.6. The only tolerances that D.6 states are
# $10^{-11}$ relative and $10^{-13}$ absolute, those of its tighter runs; we take them for all.

# %%
TAU = np.concatenate([[0], np.geomspace(0.01, 4000, 600)])


def follow(seed, D, owners, tau=TAU, rtol=1e-11):
    return solve(flows.population(two_teachers(seed, D, owners)), tau, rtol, rtol / 100)


cases = [(seed, D, name) for D in DS for name in CONFIGS for seed in SEEDS]
solved = Parallel()(delayed(follow)(seed, D, CONFIGS[name]) for seed, D, name in cases)
runs = dict(zip(cases, solved, strict=True))
print(f"{len(runs)} runs of {TAU.size} records; state {runs[0, 16, 'A'].state.shape}")

# %% [markdown]
# ```{prf:definition} Success; the paper's (D.5)
# :label: def-two-success
#
# With $(i_1,i_2)$ the designated students and $(b_1,b_2)=(1,0.8)$: at $\tau=4000$,
#
# $$ \max_{k}\angle(s_{i_k},u_k)<0.05,\qquad \max_k\lvert q_{i_k}-b_k\rvert<0.05,\qquad
#    \max_{j\notin\{i_1,i_2\}}\lvert q_j\rvert<0.01. $$ (eq-two-success)
# ```
#
# Which designated student is $i_1$? In A and B the nearer one. In *same side* both are near $u_1$,
# and (D.5) can be read in two ways: *ordered*, student 1 for $u_1$ and student 2 for $u_2$; or
# *either way*, the better of the two orders. The prose of D.6 says that same side produces "both
# assignments to distinct teachers", apart from the solutions that fail, which favours the second
# reading. We decided for it before the runs, and print both.


# %%
def success(q, s, owners):
    """(ordered, swapped): whether (D.5) holds with owner k for teacher k, or the other way."""
    q_own, s_own, b = q[list(owners)], s[list(owners)], np.array([1, 0.8])
    small = np.abs(np.delete(q, owners)).max() < 0.01
    found = []
    for order in ([0, 1], [1, 0]):
        turned, missed = angle(s_own, U[order]).max(), np.abs(q_own - b[order]).max()
        found.append(bool(turned < 0.05 and missed < 0.05 and small))
    return found


def rest(q, owners):
    """Largest |q_j| of the six others."""
    return np.abs(np.delete(q, owners)).max()


ends, largest, counts = {}, {}, {}
print("                  success                     largest redundant |q_j|")
print("  D  +D          ordered  either  printed     ours      printed")
for D in DS:
    for name, owners in CONFIGS.items():
        last = [(runs[seed, D, name].q[-1], runs[seed, D, name].s[-1]) for seed in SEEDS]
        ends[D, name] = [success(q, s, owners) for q, s in last]
        largest[D, name] = max(rest(q, owners) for q, s in last)
        counts[D, name] = sum(o for o, _ in ends[D, name]), sum(map(any, ends[D, name]))
        text, most = (claims.lookup(f"D6-{D}-{name}-{x}").printed for x in ("count", "max"))
        print(f"{D:3d}  {name:4} {tuple(i + 1 for i in owners)}{counts[D, name][0]:7d}/20"
              f"{counts[D, name][1]:5d}/20{text:>9}    {largest[D, name]:.2e}    {most}")

# %% [markdown]
# A and B agree with the paper in all 120 runs. Same side is partial in both, and grows from
# $D=16$ on. Are A and B more than a lucky start? Two controls take the same starts and give
# *all* students $+D$, or all $-D$: the same functions again, without a designated pair. A control
# succeeds if (D.5) holds for the pair of A, of B or of same side.

# %%
CONTROLS = {"+": 1, "−": -1}


def control(seed, D, sign):
    problem = two_teachers(seed, D, (0, 3)).regauged(sign * D)
    end = solve(flows.population(problem), [0, 4000], 1e-8, 1e-10)
    return [any(success(end.q[-1], end.s[-1], pair)) for pair in CONFIGS.values()]


def count_control(D, sign):
    return np.sum(Parallel()(delayed(control)(seed, D, sign) for seed in SEEDS), axis=0)


equal = {(D, x): count_control(D, sign) for D in DS for x, sign in CONTROLS.items()}
for x in CONTROLS:
    text = ", ".join(str(equal[D, x].tolist()) for D in DS)
    print(f"all {x}D, successes of [A, B, same side] out of 20, D = 16, 32, 64: {text}")
equal_best = {D: max(equal[D, x].max() for x in CONTROLS) for D in DS}

# %% [markdown]
# Equal imbalances give nobody both features by $\tau=4000$. With $+D$ that is how it ends: the
# students share. With $-D$ it is early: all directions turn on the slow clock $\tau/D^2$, and much
# later the students that start nearest own the features ({numref}`chapter-assignments`).
#
# ## Moving the gauge moves the features
#
# {numref}`fig-two-coefficients` is seed 0. The same eight functions are learned by students 1 and
# 4 in A and by 2 and 3 in B, although 1 and 4 start nearer to the teachers, at $0.3$ against
# $0.5$.

# %% mystnb={"figure": {"caption": "Coefficients of the eight students, seed 0, $D=32$ (figure 5(a,b) of the paper, and same side). Solid: the two students with imbalance $+D$; dashed grey: the six with $-D$. The levels $1$ and $0.8$ are those of the two teachers.", "name": "fig-two-coefficients"}, "image": {"alt": "Three panels over logarithmic fast time. In A students 1 and 4 rise from one eighth to 1 and 0.8 while the grey curves, after a rise, fall to zero. In B students 2 and 3 do so later, and two grey curves fall more slowly. In same side students 1 and 2 rise together, one grey curve with them; then student 1 jumps to 1, student 2 rises to 0.8 and the grey curve falls."}}
fig, axes = figures.panels(1, 3, width=8.6, height=3.0, sharey=True)
for ax, (name, owners) in zip(axes, CONFIGS.items(), strict=True):
    run = runs[0, 32, name]
    ax.plot(TAU, np.delete(run.q, owners, axis=1), "--", color="#888888", linewidth=1)
    for i, (colour, style) in zip(owners, ((figures.BLUE, "-"), (figures.ORANGE, "-.")),
                                  strict=True):
        ax.plot(TAU, run.q[:, i], style, color=colour, label=f"student {i + 1}")
    title = f"{LONG[name]}: {tuple(i + 1 for i in owners)}"
    figures.finish(ax, "fast time  τ = Dt", "", title, "x", legend=False)
    ax.legend(frameon=False, loc="center left", fontsize=8.5)
axes[0].set_ylabel("coefficients $q_i$")
plt.show()

# %%
for name in CONFIGS:
    run = runs[0, 32, name]
    for tau in (1, 20, 200, 4000):
        k = np.searchsorted(TAU, tau)
        shown = " ".join(f"{q + 0.0:7.3f}" for q in np.round(run.q[k], 3))
        print(f"{name:4}  record {k:3d}, τ ≈ {tau:4d}:  q = {shown}")

# %% [markdown]
# For every run we ask who *has* a feature at $\tau=4000$: the student with the largest coefficient
# among those within $0.05$ of the teacher, if it is within $0.05$ of the teacher's. The null is
# alignment: the student that starts nearest.


# %%
def owner_of(run, k, b=(1, 0.8)):
    """The student that has feature k at the end, or None."""
    near = angle(run.s[-1], U[k]) < 0.05
    i = int(np.argmax(np.where(near, run.q[-1], -np.inf)))
    return i if near[i] and abs(run.q[-1, i] - b[k]) < 0.05 else None


who = {case: tuple(owner_of(run, k) for k in (0, 1)) for case, run in runs.items()}
nearest = {seed: tuple(int(np.argmin(angle(two_teachers(seed, 1, (0, 1)).students.s, u)))
                       for u in U) for seed in SEEDS}
moved = {name: sum(who[seed, D, name] == CONFIGS[name] for seed in SEEDS for D in DS)
         for name in ("A", "B")}
by_start = {name: sum(who[seed, D, name] == nearest[seed] for seed in SEEDS for D in DS)
            for name in ("A", "B")}
for name in ("A", "B"):
    print(f"{name}: features with the designated students in {moved[name]}/60 runs, "
          f"with those that start nearest in {by_start[name]}/60")

# %% mystnb={"figure": {"caption": "All final coefficients at $\\tau=4000$, $D=32$: one row for each of the twenty seeds, one column for each student; the darker, the larger $\\lvert q_i\\rvert$. Triangles mark the students with $+D$. A and B look the same for every seed; same side does not (our reading of the paper's figure D.6).", "name": "fig-two-assignment"}, "image": {"alt": "Three tables of grey squares, twenty rows by eight columns. In A columns 1 and 4 are dark in all rows and the rest white; in B columns 2 and 3. In same side columns 1 and 2 are dark in most rows, and in five rows several columns are grey, column 4 darkest."}}
fig, axes = figures.panels(1, 3, width=8.0, height=3.4, sharey=True)
for ax, (name, owners) in zip(axes, CONFIGS.items(), strict=True):
    table = np.abs([runs[seed, 32, name].q[-1] for seed in SEEDS])
    image = ax.imshow(table, cmap="Greys", vmin=0, vmax=1, aspect="auto")
    ax.plot(owners, [-1, -1], "v", color=figures.BLUE, markersize=7, clip_on=False)
    ax.set_xticks(range(8), range(1, 9))
    ax.set_yticks([0, 5, 10, 15, 19])
    ax.grid(False)
    ax.set_ylim(19.5, -0.5)
    ax.set_title(LONG[name], pad=14)
    ax.set_xlabel("student")
axes[0].set_ylabel("seed")
fig.colorbar(image, ax=axes, label="$|q_i|$ at τ = 4000", shrink=0.9)
plt.show()

# %%
for name in CONFIGS:
    table = np.array([runs[seed, 32, name].q[-1] for seed in SEEDS])
    for stat, row in (("least", table.min(axis=0)), ("largest", table.max(axis=0))):
        print(f"{name:4} {stat:8}" + " ".join(f"{q + 0.0:7.3f}" for q in np.round(row, 3)))

# %% [markdown]
# ## What sets the redundant coefficients
#
# At a success the loss is a quadratic form in what is left over, so everything decays by
# eigenmodes of $\nabla^2L/D$ there. It has 88 eigenvalues. Eight belong to the gauge and $6\cdot9$
# to the directions of students with $a_j=0$; all these vanish. The other 26 are positive: ten for
# each designated student and one for each redundant coefficient. The last are small, because a
# redundant student at a small angle $\psi$ from a teacher is nearly a copy of it. Alone it would
# decay at the rate $\frac12-\sqrt{g^2+\omega^2}\approx\psi^3/3\pi$ of {prf:ref}`thm-selection`'s
# Gram matrix. In B the students at $\psi=0.3$ are redundant, in A those at $0.5$ and whoever of 5
# to 8 happens to be close.

# %%
def hessian_spectrum(run):
    """Eigenvalues of the loss's Hessian over D at the end, decreasing."""
    flow = flows.population(run.problem)
    return np.sort(np.linalg.eigvalsh(-flow.jacobian(0.0, run.state[-1])))[::-1]


def decay(run, owners, start=3000):
    """Rate of the redundant coefficients between records ≈ start and 4000, if above noise."""
    left = np.linalg.norm(np.delete(run.q, owners, axis=1), axis=1)
    k = np.searchsorted(TAU, start)
    return np.log(left[k] / left[-1]) / (TAU[-1] - TAU[k]) if left[-1] > 1e-9 else np.nan


rates = {}
for (seed, D, name), run in runs.items():
    if name != "same":
        spectrum = hessian_spectrum(run)
        rates[seed, D, name] = decay(run, CONFIGS[name]), spectrum[25], spectrum[26]
measured, least, next_one = np.array(list(rates.values())).T
seen = np.isfinite(measured)
ratio = measured[seen] / least[seen]
alone = {psi: 0.5 - np.hypot(gram(psi)[0, 2], gram(psi)[1, 2]) for psi in (0.3, 0.5)}
print(f"{seen.sum()} of {len(rates)} runs have redundant coefficients above 1e-9 at τ = 4000")
print(f"measured rate / least positive eigenvalue: {ratio.min():.3f} to {ratio.max():.3f}")
print(f"the 27th eigenvalue is below 1e-6 in all: {np.abs(next_one).max() < 1e-6}")
print("alone: " + ", ".join(f"{x:.5f} at ψ = {psi}" for psi, x in alone.items()))
for name in ("A", "B"):
    mine = np.array([x[1] for (_, _, n), x in rates.items() if n == name])
    print(f"{name}: least positive eigenvalue {mine.min():.5f} to {mine.max():.5f}")

# %% mystnb={"figure": {"caption": "Left: the rate at which the redundant coefficients of B (and of the one start whose redundant part is visible in A) decay near $\\tau=4000$, over the least positive eigenvalue of the Hessian; grey: equal. Right: the largest redundant coefficient of each of the 120 runs of A and B over the same eigenvalue; grey: $0.3\\,e^{-4000\\lambda}$. Values below $10^{-11}$ are solver noise and drawn there.", "name": "fig-two-rates"}, "image": {"alt": "Left: dots along the diagonal. Right: on a logarithmic axis the dots fall along a straight line and on to a level of noise; orange squares of B on the left, blue dots of A on the right."}}
fig, (left, right) = figures.panels(1, 2, width=8.0, height=3.0)
for name, marker, colour in (("A", "o", figures.BLUE), ("B", "s", figures.ORANGE)):
    keys = [key for key in rates if key[2] == name]
    lam = np.array([rates[key][1] for key in keys])
    left.plot(lam, [rates[key][0] for key in keys], marker, color=colour, markersize=3.5)
    size = [max(rest(runs[key].q[-1], CONFIGS[name]), 1e-11) for key in keys]
    right.plot(lam, size, marker, color=colour, markersize=3.5, label=name)
figures.guide(left, np.array([0.0015, 0.0038]), np.array([0.0015, 0.0038]), "")
line = np.array([0.0014, 0.006])
figures.guide(right, line, 0.3 * np.exp(-4000 * line), "")
figures.finish(left, "least positive eigenvalue  λ", "measured rate", "(a)", legend=False)
figures.finish(right, "least positive eigenvalue  λ", "largest redundant $|q_j|$", "(b)", "y")
plt.show()

# %% [markdown]
# The measured rate is above $\lambda$ by up to {glue:text}`two-rate-excess` where the next
# eigenvalue is close, and two modes are still alive. To test the Hessian without that, take all
# modes: velocities obey the linearized equation, so $\dot y(4000)$ should be
# $e^{-1000\nabla^2L/D}\,\dot y(3000)$ with the Hessian at the end. What is left out is of the
# relative order of the redundant coefficients themselves, at most a few $10^{-3}$ at $\tau=3000$;
# the ledger allows 5 %. The null is a single redundant student at $\psi=0.3$.

# %%
start = np.searchsorted(TAU, 3000)
mode_gap, null_gap = [], []
for (_, _, name), run in runs.items():
    if name == "B":
        flow, wait = flows.population(run.problem), TAU[-1] - TAU[start]
        before, after = (flow.rhs(0.0, run.state[k]) for k in (start, -1))
        lam, modes = np.linalg.eigh(-flow.jacobian(0.0, run.state[-1]))
        predicted = modes @ (np.exp(-lam * wait) * (modes.T @ before))
        size = np.linalg.norm(after)
        mode_gap.append(np.linalg.norm(after - predicted) / size)
        null_gap.append(abs(np.linalg.norm(before) * np.exp(-alone[0.3] * wait) / size - 1))
print(f"velocities of {len(mode_gap)} runs from those at τ ≈ {TAU[start]:.0f}: relative error at "
      f"most {max(mode_gap):.1e}\n   with the rate of one student alone: {min(null_gap):.2f} to "
      f"{max(null_gap):.2f}")
glue("two-rate-excess", f"{100 * (ratio.max() - 1):.0f} %", display=False)

# %% [markdown]
# So the Hessian explains the table's last column for A and B, mostly through one eigenvalue. It
# belongs to the Gram matrix of features that do not move, so it hardly depends on $D$: as in the
# paper, which prints $4.29$, $4.30$ and $4.30\times10^{-7}$ for A. It also explains why such a
# maximum says so little. It is the largest of $e^{-4000\lambda}$ over twenty draws, dominated by
# the one start that happens to be closest to a teacher.
#
# ## Forty times twenty seeds
#
# `full/two-teachers.py` has followed the seeds 0 to 799 of our law, 40 blocks of 20 seeds. We
# compute three of its runs again here, by DOP853 instead of LSODA.

# %%
with np.load(DATA / "two-teachers-ends.npz") as stored:
    turned, missed, others = (stored[name] for name in ("angle", "miss", "rest"))
wins = (turned < 0.05) & (missed < 0.05) & (others[..., None] < 0.01)
per_block = {"ordered": wins[..., 0].sum(axis=1), "either": wins.any(axis=-1).sum(axis=1)}
block_max = others.max(axis=1)
gaps = []
for n, D, name in ((777, 32, "A"), (333, 16, "B"), (412, 64, "B")):
    at = (*divmod(n, 20), DS.index(D), list(CONFIGS).index(name))
    flow = flows.population(two_teachers(n, D, CONFIGS[name]))
    end = solve(flow, [0, 4000], 1e-9, 1e-11, method="DOP853")
    gaps.append(abs(rest(end.q[-1], CONFIGS[name]) - others[at]))
first = np.array([[[rest(runs[n, D, c].q[-1], CONFIGS[c]) for c in CONFIGS] for D in DS]
                  for n in SEEDS])
print(f"{wins.shape[0]} blocks; three runs again by DOP853, equal to 1e-7: {max(gaps) < 1e-7}")
print(f"block 0 is the 180 runs above, to 1e-6: {np.abs(first - others[0]).max() < 1e-6}")

# %%
print("          successes in a block of 20 seeds     largest redundant |q_j| in a block")
print("  D  +D   ordered        either        printed  least   median  largest printed")
larger = {}
for j, D in enumerate(DS):
    for c, name in enumerate(CONFIGS):
        cells = []
        for reading in ("ordered", "either"):
            x = per_block[reading][:, j, c]
            cells.append(f"{x.mean():5.2f} ({x.min()}–{x.max()})".ljust(15))
        text, most = (claims.lookup(f"D6-{D}-{name}-{x}").printed for x in ("count", "max"))
        x = block_max[:, j, c]
        larger[D, name] = int((x > float(most)).sum())
        print(f"{D:3d}  {name:5}" + "".join(cells) + f"{text:>6} "
              + "".join(f" {y:.1e}" for y in (x.min(), np.median(x), x.max(), float(most))))
print("blocks beyond the printed maximum at D = 16, 32, 64:\n   "
      + "; ".join(f"{LONG[c]} {[larger[D, c] for D in DS]}" for c in CONFIGS))

# %% mystnb={"figure": {"caption": "Left: successes of same side among 20 seeds, in 40 blocks of our law; filled: either order, open (moved to the right): ordered; black diamonds: printed. Right: the largest redundant coefficient of each block and the printed ones (black diamonds), for A, B and same side.", "name": "fig-two-blocks"}, "image": {"alt": "Left: for each D a cloud of filled dots and, lower, one of open dots; the printed counts lie in the upper part of the filled clouds for D = 16 and inside them for 32 and 64. Right: nine clouds on a logarithmic axis; those of A spread over many decades with the printed values inside, those of B over one or two, and those of same side are near 1 with few exceptions."}}
fig, (left, right) = figures.panels(1, 2, width=8.4, height=3.1)
jitter = np.random.default_rng(0).uniform(-0.12, 0.12, len(block_max))
for j, D in enumerate(DS):
    left.plot(j - 0.2 + jitter, per_block["either"][:, j, 2], "o", color=figures.BLUE,
              markersize=3.5, alpha=0.6)
    left.plot(j + 0.2 + jitter, per_block["ordered"][:, j, 2], "o", mfc="none",
              color=figures.ORANGE, markersize=3.5)
    printed = claims.lookup(f"D6-{D}-same-count").printed
    left.plot(j - 0.2, int(printed.split("/")[0]), "D", color=figures.BLACK)
    for c, name in enumerate(CONFIGS):
        x = 4 * c + j
        right.plot(x + 2 * jitter, block_max[:, j, c], "o", color=figures.COLOURS[j],
                   markersize=3, alpha=0.6)
        printed = float(claims.lookup(f"D6-{D}-{name}-max").printed)
        right.plot(x, printed, "D", color=figures.BLACK)
left.set_xticks(range(3), [f"D = {D}" for D in DS])
left.set_yticks(range(0, 21, 5))
right.set_xticks([0, 1, 2, 4, 5, 6, 8, 9, 10], 3 * list(DS))
figures.finish(left, "", "successes of 20", "(a) same side", legend=False)
figures.finish(right, "D    (A | B | same side)", "largest redundant $|q_j|$", "(b)", "y", False)
plt.show()

# %%
total = {reading: per_block[reading].sum(axis=0) for reading in per_block}
some = per_block["either"].mean(axis=0)[:, 2]
for j, D in enumerate(DS):
    printed = int(claims.lookup(f"D6-{D}-same-count").printed.split("/")[0])
    share = {r: int((per_block[r][:, j, 2] >= printed).sum()) for r in per_block}
    print(f"D = {D}: {total['either'][j, 2]} of 800 same-side runs succeed either way;\n"
          "   at least "
          f"{printed}/20 in {share['either']} of 40 blocks ({share['ordered']} if ordered)")
    glue(f"two-mean-{D}", f"{some[j]:.1f}", display=False)
ab = per_block["ordered"][:, :, :2]
print(f"A and B: {ab.sum()} of {ab.size * 20} runs succeed, ordered")
d_change = block_max[:, 0] / block_max[:, 2]
for c, name in enumerate(("A", "B")):
    printed = [float(claims.lookup(f"D6-{D}-{name}-max").printed) for D in (16, 64)]
    print(f"{name}: maximum at D = 16 over maximum at D = 64, by block: "
          f"{d_change[:, c].min():.2f} to {d_change[:, c].max():.2f}; "
          f"printed {printed[0] / printed[1]:.3f}")
    glue(f"two-change-{name}", f"{printed[0] / printed[1]:.3f}", display=False)
falls = int((np.diff(block_max[:, :, 2], axis=1) < 0).all(axis=1).sum())
print(f"same side: the maximum falls from D = 16 to 32 to 64 in {falls} of 40 blocks")
glue("two-falls", f"{falls}", display=False)
glue("two-ab", f"{ab.sum()}", display=False)

# %% [markdown]
# For A and B the outcome is not a matter of seeds: {glue:text}`two-ab` of 4800 runs succeed. For
# same side it is: on average {glue:text}`two-mean-16`, {glue:text}`two-mean-32` and
# {glue:text}`two-mean-64` of twenty, with blocks far apart. The printed 15, 17 and 17 are ordinary
# blocks of our law if either order counts, and at or beyond its edge if the order is fixed: a
# second reason for our reading. The ledger takes its tolerance from counting alone: if two blocks
# came from one law, their counts would differ with standard deviation $\sqrt{40p(1-p)}$, and two
# of these are allowed, with $p$ the printed share. This tests agreement of our law with the
# paper's no more finely than that.
#
# One thing does not fit. From $D=16$ to $64$ the largest redundant coefficient falls in all of our
# blocks, a little, in A as in B. The printed ratio is {glue:text}`two-change-B` for B, within that
# range, and {glue:text}`two-change-A` for A, below it. What sets the printed $4.3\times10^{-7}$ in
# A, if not a decay like those above, the text does not say.
#
# ## Late, shared, cancelled: the failures of same side
#
# A run fails (D.5) if it is slow, or if it has come to rest somewhere else. We first look at the
# loss, at how fast it still falls, and at where the designated students are.

# %%
failed = [(seed, D) for D in DS for seed in SEEDS if not any(ends[D, "same"][seed])]


def log_slope(run):
    """−d log L/dτ at the end, from the dissipation (5)."""
    flow = flows.population(run.problem)
    return flow.rates(run.state[-1:]).sum() / run.loss[-1]


at_4000 = {}
for seed, D in failed:
    run = runs[seed, D, "same"]
    at_4000[seed, D] = run.loss[-1], log_slope(run), angle(run.s[-1, :2], U[0]), run.q[-1]
losses, slopes = (np.array([x[k] for x in at_4000.values()]) for k in (0, 1))
both_first = [x[2].max() < 0.3 for x in at_4000.values()]
nearer_second = [np.abs(x[3][2:][angle(runs[key[0], key[1], "same"].s[-1, 2:], U[1]) < 0.7]).max()
                 for key, x in at_4000.items()]
print(f"{len(failed)} failures of 60; loss at τ = 4000 from {losses.min():.1e} to "
      f"{losses.max():.1e}")
print(f"−d log L/dτ from {slopes.min():.1e} to {slopes.max():.1e}")
print(f"both designated students within 0.3 of u_1: {sum(both_first)}")
retained = np.array(nearer_second)
print(f"a student with −D near u_2 (0.7) keeps more than 0.1 of it in {(retained > 0.1).sum()}")

# %% [markdown]
# In none of them has the motion stopped. So follow them. What moves slowly here is a student with
# $-D$, whose direction turns at $\chi/D\approx q/D^2$ per unit of $\tau$: the clock is $\tau/D^2$.
# We follow every failure to $\tau=250D^2$, and look at where each ends: *late* if (D.5) holds
# then, *shared* if both designated students lie on $u_1$ and share it, and otherwise we look for a
# pair of students in the same direction whose coefficients cancel.

# %%
LATE = np.concatenate([[0], np.geomspace(0.01, 250, 120)])
late = {key: follow(*key, CONFIGS["same"], LATE * key[1] ** 2) for key in failed}


def kind(run):
    q, s = run.q[-1], run.s[-1]
    if any(success(q, s, (0, 1))):
        return "late"
    if angle(s[:2], U[0]).max() < 0.01 and abs(q[0] + q[1] - 1) < 1e-3:
        return "shared"
    pairs = [(i, j) for i in range(8) for j in range(i) if angle(s[i], s[j]) < 0.01]
    cancels = [abs(q[i] + q[j]) < 1e-3 < abs(q[i]) for i, j in pairs]
    return "cancelled" if any(cancels) else "open"


kinds = {key: kind(run) for key, run in late.items()}
print("  D  seed  kind          loss at 4000  at 250 D²     q_1     q_2     q_4     q_8")
for (seed, D), run in late.items():
    q = np.round(run.q[-1], 3) + 0.0
    small = "< 1e-10" if run.loss[-1] < 1e-10 else f"{run.loss[-1]:.1e}"
    print(f"{D:3d}{seed:6d}  {kinds[seed, D]:12}{at_4000[seed, D][0]:12.1e}{small:>12}   "
          + "".join(f"{q[i]:8.3f}" for i in (0, 1, 3, 7)))
for D in DS:
    names = [kinds[key] for key in failed if key[1] == D]
    print(f"D = {D}: " + ", ".join(f"{names.count(x)} {x}" for x in
                                   ("late", "shared", "cancelled", "open")))

# %% [markdown]
# Every one of them ends with the target exactly fitted.
#
# - *Late*: a success that needs more than $\tau=4000$.
# - *Shared*: both designated students take $u_1$ together, $q_1+q_2=1$. The second feature goes to
#   student 4, **which has $-D$**. It starts nearest to $u_2$ and takes the feature whole once it
#   has had the time to turn there. The sharing between many students that is visible at
#   $\tau=4000$, and in the paper's Table D.6 as a largest coefficient between $0.56$ and $0.9$, is
#   a passing state.
# - *Cancelled*: designated student 2 ends in a direction that is no feature at all, with a
#   coefficient that one redundant student (8) cancels exactly: two students that add nothing to
#   the function, with coefficients of the size of the teachers'.
#
# For larger $D$ the passing state is met earlier in its course. The printed maximum of same side
# falls with $D$; so does ours, in {glue:text}`two-falls` of 40 blocks.

# %% mystnb={"figure": {"caption": "Left: the loss of all failures that end *shared* or *cancelled*, on the clock $\\tau/D^2$ (thick to thin: $D=16,32,64$); grey: $\\tau=4000$ at each $D$. Right: the angle $\\varepsilon$ between the two designated students of two *shared* runs at $D=16$, times $\\tau/2\\pi$, approaches 1.", "name": "fig-two-late"}, "image": {"alt": "Left: bundles of falling curves over tau over D squared; after 1 they coincide for the three D, staying level for a decade and then falling steeply. Three vertical grey lines. Right: two curves rise, fall steeply and stay at 1."}}
fig, (left, right) = figures.panels(1, 2, width=8.2, height=3.1)
styles = dict(zip(DS, ((2.4, "-"), (1.5, (0, (5, 2))), (0.9, "-")), strict=True))
for (seed, D), run in late.items():
    if kinds[seed, D] in ("shared", "cancelled"):
        width, dash = styles[D]
        loss = np.maximum(run.loss[1:], 1e-13)
        left.plot(LATE[1:], loss, color=figures.COLOURS[DS.index(D)], linewidth=width,
                  linestyle=dash, label=f"D = {D}")
for D in DS:
    left.axvline(4000 / D**2, color="#777777", linewidth=1, linestyle=(0, (3, 3)))
far = np.concatenate([[0], np.geomspace(1e3, 4e6, 80)])
longest = {seed: follow(seed, 16, (0, 1), far) for seed in (6, 19)}
turns = {seed: angle(run.s[:, 0], run.s[:, 1]) * far / (2 * np.pi)
         for seed, run in longest.items()}
figures.curves(right, far[1:], {f"seed {n}": x[1:] for n, x in turns.items()}, log="xy",
               xlabel="fast time  τ", ylabel="ε τ / 2π")
figures.finish(left, "τ / D²", "loss", log="xy", legend=False)
handles = {text: line for line, text in zip(*left.get_legend_handles_labels(), strict=True)}
left.legend(handles.values(), handles.keys(), frameon=False)
left.set_ylim(1e-12, 0.3)
plt.show()

# %%
pairs = {}
for seed in SEEDS:
    if kinds.get((seed, 32)) in ("shared", "cancelled") and (seed, 64) in kinds:
        if kinds[seed, 64] == kinds[seed, 32]:
            pairs[seed] = late[seed, 32].loss, late[seed, 64].loss
k = np.searchsorted(LATE, [4, 16, 60])
print("loss of D = 32 over loss of D = 64 at the same τ/D², and at the same τ")
collapse, no_collapse = [], []
for seed, (x, y) in pairs.items():
    same_tau = np.exp(np.interp(np.log(LATE[k] * 1024), np.log(LATE[1:] * 4096), np.log(y[1:])))
    collapse.append(x[k] / y[k])
    no_collapse.append(x[k] / same_tau)
    text = ("  ".join(f"{r:.3f}" for r in row) for row in (collapse[-1], no_collapse[-1]))
    print(f"  seed {seed:2d} at τ/D² ≈ 4, 16, 60:  " + "    |  ".join(text))

# %% [markdown]
# ```{prf:lemma} How two students share a feature
# :label: lem-two-share
#
# Let two students of imbalance $+D$ lie near a teacher $b[u^\top x]_+$ with $q_1+q_2=b$, in
# directions at the small angle $\varepsilon$ from each other, and let everything else fit. To
# leading order in $\varepsilon$ and for large $D$,
#
# $$ \frac{d\varepsilon}{d\tau}=-\frac{\varepsilon^2}{2\pi},\qquad
#    \varepsilon\to\frac{2\pi}{\tau},\qquad
#    L=\frac{q_1^2q_2^2}{3\pi b^2}\,\varepsilon^3 . $$ (eq-two-share)
# ```
#
# ```{prf:proof}
# Write $s_i=u+x_i$ with $x_i\perp u$ small. By (A.3),
# $2\pi P_{s_i}T_i=\sum_jq_j(\pi-\lvert x_j-x_i\rvert)(x_j-x_i)+b(\pi-\lvert x_i\rvert)x_i$. The
# linear terms add up to $\pi X$ with $X=q_1x_1+q_2x_2$, which relaxes exponentially and is of
# second order from then on. So $x_1=q_2y/b$, $x_2=-q_1y/b$ with $y=x_1-x_2$,
# $\lvert y\rvert=\varepsilon$, and the quadratic terms are $\pm\frac{q_1q_2}{b}\varepsilon y$. As
# $dx_i/d\tau=-P_{s_i}T_i/q_i$ for large $D$,
# $dy/d\tau=-\frac1{2\pi}\bigl(\frac1{q_1}+\frac1{q_2}\bigr)\frac{q_1q_2}b\varepsilon y
# =-\frac{\varepsilon}{2\pi}y$. The loss is the third-order term of
# $-\frac12\sum c_ic_j(\frac12-g(\alpha_{ij}))$ with
# $\frac12-g=\frac{\alpha^2}4-\frac{\alpha^3}{6\pi}+\dots$; the second-order terms cancel.
# ```
#
# The rate does not depend on how the feature is split, nor on its size. The Hessian says the same
# in another way: a shared end has ten more vanishing eigenvalues for the pair, nine relative
# rotations and one exchange of coefficient, and one redundant student less.

# %%
sharing = {}
for seed, run in longest.items():
    eps = angle(run.s[:, 0], run.s[:, 1])
    slope = 2 * np.pi * (1 / eps[-1] - 1 / eps[-20]) / (far[-1] - far[-20])
    flow, j = flows.population(run.problem), np.searchsorted(far, 1e6)
    removed = flow.rates(run.state[[j]]).sum()
    q1, q2 = run.q[j, :2]
    ratio_removed = removed / (q1**2 * q2**2 * eps[j] ** 4 / (2 * np.pi**2))
    sharing[seed] = slope, ratio_removed
    positive = int((hessian_spectrum(run) > 1e-5).sum())
    print(f"seed {seed}: 2π d(1/ε)/dτ = {slope:.4f}, ετ/2π = {turns[seed][-1]:.4f} at τ = 4e6, "
          f"q_1 = {q1:.3f}")
    print(f"   −dL/dτ over q_1²q_2²ε⁴/2π² at τ = 1e6: {ratio_removed:.3f}; "
          f"positive eigenvalues: {positive}")
split = runs[0, 32, "same"]
print(f"after a success: {int((hessian_spectrum(split) > 1e-5).sum())} positive eigenvalues")

# %% [markdown]
# ## On samples, with PyTorch
#
# Population averages are not what a network sees. We draw $N=1000$ inputs, label them by the
# target, and train the same starts in PyTorch by full-batch gradient descent with autograd, which
# is Euler's method on the empirical flow ({numref}`chapter-pytorch`): steps of $h=\frac12$ to
# $\tau=2000$. (The largest eigenvalue of the Hessian over $D$ stays below 4 in these runs, and
# $\frac24=\frac12$.) What should happen? The gradient differs by terms of order
# $N^{-1/2}\approx0.03$, and the labels are exact, so the target still fits. Where the population
# flow decides clearly, in A and B, the owners should be the same; in same side two designated
# students compete for one teacher, and a few per cent may decide for the other one. The null gives
# all students $+D$, on the same samples.

# %%
torch.set_num_threads(1)


def train_on_samples(problem, draw, steps):
    X = np.random.default_rng(draw).standard_normal((1000, 10))
    return training.train(training.network(problem), X, h=0.5, steps=steps, every=10)


def features(run):
    """Who has feature 1 and 2, numbered from 1; – for nobody."""
    return tuple("–" if i is None else str(i + 1) for i in (owner_of(run, k) for k in (0, 1)))


# %%
sampled, sharpest = {}, 0.0
print("seed            features with          largest difference")
print("              samples population     in any q_i, up to τ = 2000")
for seed in (0, 1):
    for name, owners in {"A": (0, 3), "B": (1, 2), "all +D": None}.items():
        problem = two_teachers(seed, 32, owners or (0, 3))
        problem = problem if owners else problem.regauged(32)
        run, flow = train_on_samples(problem, seed, 4000), flows.population(problem)
        exact = solve(flow, run.tau, 1e-9, 1e-11)
        sampled[seed, name] = features(run), features(exact)
        curvature = [np.linalg.eigvalsh(-flow.jacobian(0.0, exact.state[k]))[-1] for k in (0, -1)]
        sharpest = max(sharpest, *curvature)
        print(f"{seed:3d}  {name:7}" + "".join(f"{','.join(x):>10}" for x in sampled[seed, name])
              + f"{np.abs(run.q - exact.q).max():16.3f}")
print(f"largest eigenvalue at start and end: {sharpest:.2f}")
with_features = [sampled[seed, name][0] == want for seed in (0, 1)
                 for name, want in (("A", ("1", "4")), ("B", ("2", "3")))]
equal_owned = ["–" not in sampled[seed, "all +D"][0] for seed in (0, 1)]

# %% [markdown]
# A and B are on samples what they are with the population. Now same side, seed 0, on eight draws of
# the samples.

# %% mystnb={"figure": {"caption": "Same side, seed 0, $D=32$: the difference of the two designated students' coefficients on eight draws of 1000 samples (thin), and with the population gradient (thick).", "name": "fig-two-samples"}, "image": {"alt": "Over fast time on a logarithmic axis nine curves stay near zero until about 100. Then the thick population curve and two thin ones rise, five fall as far, and one stays near zero; the extremes come back a part of the way."}}
problem = two_teachers(0, 32, CONFIGS["same"])
drawn = [train_on_samples(problem, draw, 1500) for draw in range(8)]
fig, ax = figures.panels(width=5.8, height=3.0)
for run in drawn:
    ax.plot(run.tau[1:], run.q[1:, 0] - run.q[1:, 1], color=figures.ORANGE, linewidth=0.9)
run = runs[0, 32, "same"].at(TAU <= 750)
ax.plot(run.tau, run.q[:, 0] - run.q[:, 1], color=figures.BLUE, linewidth=2.2)
ax.annotate("population", (95, 0.33), color=figures.BLUE)
ax.annotate("1000 samples", (45, -0.3), color=figures.ORANGE)
ax.set_xlim(5, 800)
figures.finish(ax, "fast time  τ = Dt", "$q_1 - q_2$", log="x", legend=False)
plt.show()

# %%
apart = np.array([run.q[-1, 0] - run.q[-1, 1] for run in drawn])
print("q_1 − q_2 at τ = 750 on eight draws: " + " ".join(f"{x:5.2f}" for x in apart))
print(f"population: {run.q[-1, 0] - run.q[-1, 1]:.2f}; opposite sign in "
      f"{int((apart < 0).sum())} of {apart.size}")
glue("two-opposite", str(int((apart < 0).sum())), display=False)

# %% [markdown]
# In {glue:text}`two-opposite` of eight draws the two designated students are the other way round.
# So for this start the order of the two is not a property of the start alone: the gauge says *who*
# may learn features, and here the samples say which one of two.
#
# ## Numerical checks (Table D.7)
#
# The largest angle of an owner to its teacher in A and B is again $e^{-4000\lambda}$ of one start.
# The drift is the solver's alone, and scales with its tolerances. For the last row, all three
# configurations at $D=32$, seeds 0 and 19, are run at ten times the tolerances as well (the paper's
# wider tolerances are not in our text).

# %%
worst_angle = max(
    angle(run.s[-1, list(CONFIGS[name])], U).max()
    for (_, _, name), run in runs.items() if name != "same"
)
drift = max(np.abs(run.delta[-1] - run.delta[0]).max() for run in runs.values())
change, coarse = 0.0, 0.0
for name, owners in CONFIGS.items():
    for seed in (0, 19):
        run = runs[seed, 32, name]
        for size, rtol in (("ten", 1e-10), ("coarse", 1e-6)):
            other = follow(seed, 32, owners, rtol=rtol)
            aligned = np.abs((other.s - run.s) @ U.T).max()
            gap = max(np.abs(other.q - run.q).max(), aligned)
            change, coarse = (max(change, gap), coarse) if size == "ten" else (
                change, max(coarse, gap))
within_angle = [(turned[:, :, :, :2, 0].max(axis=(1, 2, 3)) <= 1.52e-4).sum()]
print(f"largest angle to the assigned teacher: {worst_angle:.3e} (printed: 1.52e-4 at most);\n"
      f"   at most that in {within_angle[0]} of 40 blocks")
print("final imbalance drift below 1.2e-10:", drift < 1.2e-10)
CHANGE = float(claims.lookup("D7-tolerances").printed[1:])
print(f"change from ten times wider tolerances at most {CHANGE:g}: {change <= CHANGE}")
print(f"that of tolerances 1e-6 and 1e-8 is larger: {coarse > CHANGE}")

# %% [markdown]
# ## Exercises
#
# **1.** Why is the redundant coefficient in B about $e^{-4000\lambda}$ with a $\lambda$ *smaller*
# than that of one redundant student alone at $\psi=0.3$, for every seed?
#
# ```{dropdown} Solution of 1
# With several redundant students the least eigenvalue is that of a larger Gram matrix; deleting
# rows and columns can only raise it (Cauchy interlacing). Students 5 to 8 can imitate what
# students 1 and 4 have in common, besides.
# ```
#
# **2.** In {prf:ref}`lem-two-share`, let $k$ students of $+D$ share a teacher equally in a plane,
# $q_i=b/k$. Which of their directions disappear exponentially, which like $1/\tau$?
#
# ````{dropdown} Solution of 2
# Only the mean $\sum q_ix_i$ meets a linear force; the $k-1$ differences are left to the quadratic
# terms. So the distance of the outermost two closes like $1/\tau$ and the loss falls like
# $\tau^{-3}$, whatever $k$ is. Not every gap closes so slowly: from equal gaps, four students end
# as two outer ones and an inner pair whose gap falls like $1/\tau^2$; from other starts a pair may
# form at an end. To see it, in units of $2\pi/\tau$:
#
# ```python
# s = np.stack([np.cos(x := np.linspace(-0.3, 0.3, 4)), np.sin(x)], axis=1)
# even = Problem(Teacher(np.ones(1), np.eye(2)[:1]), Students(np.full(4, 1 / 4), s, 1e3), 1e3)
# run = solve(flows.population(even), [0, 1e4, 1e6])
# ends = np.array([run.signed_angle(i) for i in range(4)])[:, 1:]
# print(np.diff(ends, axis=0) * [1e4, 1e6] / (2 * np.pi))
# ```
# ````
#
# **3.** Give *one* student, the first, imbalance $+D$. Who takes the second feature?
#
# ````{dropdown} Solution of 3
# ```python
# lone = two_teachers(0, 16, (0, 1)).regauged([16.0] + 7 * [-16.0])
# print(solve(flows.population(lone), [0, 4000, 64000], 1e-9, 1e-11).q[1:].round(3))
# ```
# Student 1 takes the first feature at once, and the student with $-D$ nearest to $u_2$ takes the
# second on the slow clock $\tau/D^2$, as in the *shared* runs.
# ````
#
# **4.** A *cancelled* end has $q_2=-q_8$ in one direction. Show that it is not isolated, and that
# weight decay would remove it.
#
# ```{dropdown} Solution of 4
# Adding $c$ to $q_2$ and subtracting it from $q_8$ changes nothing, nor does turning both together:
# the loss is flat along both. The norm of the parameters grows with $\lvert q\rvert$, so any
# weight decay, however small, moves along the flat direction towards $q_2=q_8=0$.
# ```
#
# ## The ledger
#
# The counts of A and B are judged as printed, with equal imbalances as their null. Those of same
# side have the tolerance of two standard deviations of counting. The printed maxima and the
# largest angle are extremes over draws that are not printed: they stay `open`, with the share of
# our 40 blocks that exceed them. Had we reported them as agreeing or not, chance would have
# decided.

# %%
compare = claims.compare
rows = []
for D in DS:
    for name in CONFIGS:
        ordered, either = counts[D, name]
        if name == "same":
            j = DS.index(D)
            note = (f"Either order; {ordered}/20 ordered. In 40 blocks of our law: "
                    f"{per_block['either'][:, j, 2].min()} to {per_block['either'][:, j, 2].max()}"
                    f", mean {some[j]:.1f}. The paper's law is not printed.")
            rows.append(compare(f"D6-{D}-same-count", f"{either}/20", note=note))
        else:
            rows.append(compare(f"D6-{D}-{name}-count", f"{ordered}/20",
                                null_holds=bool(equal_best[D] == 20)))
        note = (f"An extreme over draws that are not printed: larger in {larger[D, name]} of 40 "
                "blocks of 20 seeds of our law.")
        rows.append(compare(f"D6-{D}-{name}-max", f"{largest[D, name]:.2e}", verdict="open",
                            note=note))

# %%
angle_note = ("An extreme over draws that are not printed: at most the printed bound in "
              f"{within_angle[0]} of 40 blocks of our law.")
each = len(DS) * len(same_gap)  # runs of one configuration
checks = [
    compare("D7-angle", f"{worst_angle:.2e}", verdict="open", note=angle_note),
    compare("D7-reconstruction", max(rebuilt)),
    compare("D7-drift", drift),
    compare("D7-tolerances", f"at most {CHANGE:g} for tolerances ten times wider: "
            f"{change <= CHANGE}; for 1e-6 and 1e-8: {coarse <= CHANGE}", verdict="open",
            note="The paper's wider tolerances are not in our text, and they decide the number."),
    compare("S43-same-start", f"equal to {ALIKE:g} on {len(inputs)} inputs, {len(same_gap)} seeds",
            holds=max(same_gap) < ALIKE, null_holds=max(even_gap) < ALIKE),
    compare("S43-assignment", f"designated students own both features in {moved['A']} (A) and "
            f"{moved['B']} (B) of {each} runs",
            holds=moved == {"A": each, "B": each}, null_holds=by_start == {"A": each, "B": each}),
    compare("S43-every-seed", f"{ab.sum()} of {ab.size * len(same_gap)} runs succeed",
            holds=bool(ab.sum() == ab.size * len(same_gap)),
            null_holds=any(x == 20 for x in equal_best.values())),
]

# %%
orders = {name: (sum(o for D in DS for o, _ in ends[D, name]),
                 sum(w for D in DS for _, w in ends[D, name]),
                 sum(not (o or w) for D in DS for o, w in ends[D, name])) for name in CONFIGS}
checks += [
    compare("S43-same-side", "{} ordered, {} swapped, {} spread or late, of 60".format(
            *orders["same"]), holds=min(orders["same"]) > 0, null_holds=min(orders["A"]) > 0),
    compare("S43-both-first", f"both within 0.3 of u_1 in {sum(both_first)} of {len(failed)}",
            holds=any(both_first)),
    compare("S43-retain", f"a −D student near u_2 keeps up to {retained.max():.2f} of it",
            holds=retained.max() > 0.1,
            null_holds=max(largest[D, name] for D in DS for name in ("A", "B")) > 0.1),
]
kind_names = list(kinds.values())
mine = [
    compare("B12-rate", f"error at most {max(mode_gap):.1e} in {len(mode_gap)} runs of B",
            holds=max(mode_gap) < 0.05, null_holds=max(null_gap) < 0.05),
    compare("B12-kinds", ", ".join(f"{kind_names.count(x)} {x}" for x in
            ("late", "shared", "cancelled", "open")) + "; all fit exactly at τ = 250 D²",
            holds="open" not in kind_names and max(r.loss[-1] for r in late.values()) < 1e-10,
            null_holds=set(kind_names) == {"late"}),
]

# %%
spread_same = np.abs(np.log(collapse)).max()
mine += [
    compare("B12-clock", f"losses of two D within a factor {np.exp(spread_same):.2f} in "
            f"{len(collapse)} seeds",
            holds=spread_same < np.log(1.5),
            null_holds=np.abs(np.log(no_collapse)).max() < np.log(1.5)),
    compare("B12-share", "2π d(1/ε)/dτ = " + ", ".join(f"{x:.4f}" for x, _ in sharing.values()),
            holds=all(abs(x - 1) < 0.01 and abs(y - 1) < 0.02 for x, y in sharing.values()),
            null_holds=bool(hessian_spectrum(longest[6])[29] > 1e-4)),
    compare("B12-samples", f"{sum(with_features)} of {len(with_features)} runs of A and B",
            holds=all(with_features), null_holds=any(equal_owned)),
]
claims.report(rows + checks + mine)
