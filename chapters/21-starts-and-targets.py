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
# (chapter-starts-targets)=
# # Other starts, other targets
#
# So far all networks were fitted to four points, most of them from one kind of start.
# {cite:t}`xu2026decay` add two experiments in their appendix F: the same four points without decay
# and from a small start (figure 6), and three targets with three kinks each (figure 7). After this
# chapter you will know
#
# - how fitting and condensation differ between a large start with decay, a large one without, and
#   a small one without, and what the small one converges to;
# - the limits of the three targets, proved by computer, and an exact account of what a network
#   still costs above its limit;
# - that one of these networks ends *beside* its limit for ever, and why;
# - that most condensed directions of the two targets with peaks are no smooth extrema but sit on
#   boundaries of activation cells, where gradient descent never comes to rest. How far neurons
#   jump, how often the input counts as active, what it costs, and the imbalance that it keeps
#   alive all have closed forms;
# - when the directions are not determined by the data at all.
#
# It runs for about 55 seconds on one core.
#
# Letters. The targets are A, B, C, as in the paper; the amplitude $A_k=\lvert a_k\rvert r_k$ of a
# neuron has an index or stands in a sum. The imbalance of a neuron, the paper's $B_k$, is written
# $a^2-r^2$ here. $e$ is the residual at the inputs, $\tilde x=(x,1)$ an input with its constant,
# and $q_e(\theta)$, $p=q_e'$ are the field and its slope, {eq}`eq-decay-field`.

# %%
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from myst_nb import glue
from scipy.optimize import fsolve

from gaugelib import certify, claims, figures
from gaugelib import condensation as cond
from gaugelib.condensation import features, field, field_slope
from gaugelib.measure import loglog_fit

LAM, ETA, EPOCHS, M = 1e-3, 0.1, 80_000, 200
GRID = np.linspace(-1, 1, 10_000)
FOUR = cond.four_points()

# %% [markdown]
# ## What counts as condensed
#
# The paper shows pictures of amplitude over direction. To judge them we need cut-offs, and these
# are ours; they were set before the runs of this chapter were made. A neuron is *dead* if it is
# active at no input. *Groups* are made of live neurons with one sign of $a$, split where two
# neighbours are more than $1^\circ$ apart, as in {numref}`chapter-exact-limit`. A neuron that is
# alone in its group is *loose*. A group is *narrow* if no two of its neurons are more than
# $5^\circ$ apart, and *dominant* if it holds a tenth of $\sum A$ of the live neurons.
#
# The paper speaks of one run each. We run several seeds, and a property of a run that holds in all
# of them is reproduced; if it holds in none, we differ; if it holds in some, it is open, because it
# depends on a draw that is not printed.


# %%
class Group(NamedTuple):
    """Live neurons of one sign: mean direction (°), signed ΣA, number, diameter (°)."""

    angle: float
    c: float
    size: int
    diameter: float


def neurons(network, x):
    """Signed amplitudes, directions in [0, 2π), and which of them are live."""
    a, r, theta = cond.polar(network)
    return a * r, theta % (2 * np.pi), features(theta, x).any(axis=1)


def grouped(network, x, share=1.0):
    """Groups, largest first, of the strongest live neurons that together hold ``share`` of ΣA."""
    c, theta, live = neurons(network, x)
    order = np.argsort(-np.abs(c) * live)
    held = np.cumsum(np.abs(c[order]) * live[order])
    strong = order[: min(np.searchsorted(held, share * held[-1]) + 1, live.sum())]
    found = []
    for sign in (1, -1):
        side = strong[sign * c[strong] > 0]
        for g in (side[k] for k in cond.groups(theta[side], np.pi / 180)):
            mean = np.angle(np.abs(c[g]) @ np.exp(1j * theta[g]))
            off = np.angle(np.exp(1j * (theta[g] - mean)))
            found.append(Group(*np.degrees([mean % (2 * np.pi)]), c[g].sum(), g.size,
                               np.degrees(np.ptp(off))))
    return sorted(found, key=lambda group: -abs(group.c))


# %%
def narrow(groups, least=2, diameter=5.0):
    """Whether all groups have two neurons or more and are narrow."""
    return all(g.size >= least and g.diameter <= diameter for g in groups)


def loose(groups):
    return [g for g in groups if g.size == 1]


def dominant(groups, share=0.1):
    total = sum(abs(g.c) for g in groups)
    return [g for g in groups if abs(g.c) >= share * total]


def two_dominant(groups):
    """Two dominant groups, narrow, that hold nine tenths of ΣA."""
    top = dominant(groups)
    return (len(top) == 2 and narrow(top)
            and sum(abs(g.c) for g in top) > 0.9 * sum(abs(g.c) for g in groups))


# %% [markdown]
# ## Three starts
#
# Figure 6 of the paper: the four points, 80,000 updates, from a large start ($\gamma=0.4$) with
# $\lambda=0$ and $\lambda=10^{-3}$, and from a small one ($\gamma=1$) with $\lambda=0$.

# %%
SEEDS = range(4)
LARGE, DECAY, SMALL = "large, no decay", "large, decay", "small, no decay"
CASES = {LARGE: (0.4, 0.0), DECAY: (0.4, LAM), SMALL: (1.0, 0.0)}
KEEP = np.arange(0, EPOCHS + 1, 5000)
starts = {name: [cond.descend(FOUR, cond.initial(seed, M, gamma), eta=ETA, lam=lam, steps=EPOCHS,
                              keep=KEEP) for seed in SEEDS]
          for name, (gamma, lam) in CASES.items()}
ends = {name: [grouped(run.networks[-1], FOUR.x) for run in runs] for name, runs in starts.items()}
LOW = 0.01 * np.mean(FOUR.y**2)
fit = {name: [int(np.argmax(run.loss < LOW)) for run in runs] for name, runs in starts.items()}
for name in starts:
    print(f"{name}: updates until the loss is 1 % of the mean square: {fit[name]}")
    for groups in ends[name]:
        alone = loose(groups)
        top = ", ".join(f"{g.angle:.2f}° {g.c:+.4f}" for g in dominant(groups))
        most = max((abs(g.c) for g in alone), default=0) / sum(abs(g.c) for g in groups)
        print(f"   live {sum(g.size for g in groups)}, groups {len(groups) - len(alone)}, loose "
              f"{len(alone)}" + (f" (≤ {most:.0e} of ΣA)" if alone else "")
              + f"; dominant {top or 'none'}")

# %% mystnb={"figure": {"caption": "Fitting from three starts, seed 0 (figure 6 of the paper, upper half). Left: data loss in the first 3000 updates. Right: the functions after 80,000 updates, the target (thin line) and the four points.", "name": "fig-starts-fit"}, "image": {"alt": "Left: two curves fall steeply within the first hundred updates, the third falls slowly, with a shoulder in its beginning. Right: the curves of the small start and of the large start with decay lie on the target with its two kinks, that of the large start without decay is rounded and bulges in the middle."}}
fig, (left, right) = figures.panels(1, 2, width=8.0, height=3.0)
for k, (name, runs) in enumerate(starts.items()):
    style = {"color": figures.COLOURS[k], "linestyle": figures.DASHES[k], "label": name}
    left.plot(np.maximum(runs[0].loss[:3001], 1e-12), **style)
    right.plot(GRID, cond.outputs(runs[0].networks[-1], GRID), **style)
right.plot(GRID, cond.two_kinks(GRID), color=figures.BLACK, linewidth=0.7)
right.plot(FOUR.x, FOUR.y, "o", color=figures.BLACK)
figures.finish(left, "update", "data loss", "(a)", "y")
figures.finish(right, "x", "f(x)", "(b)", legend=False)
left.set_ylim(1e-9, 0.1)
figures.plt.show()

# %%
target_two = cond.two_kinks(GRID)
for name, runs in starts.items():
    far = [np.abs(cond.outputs(run.networks[-1], GRID) - target_two).max() for run in runs]
    print(f"{name:16} loss after 0, 100, 1000 updates "
          + "  ".join(f"{runs[0].loss[k]:.1e}" for k in (0, 100, 1000))
          + f"\n   at the end max |f − target| {min(far):.4f} to {max(far):.4f}")

# %% mystnb={"figure": {"caption": "Amplitude over direction after 80,000 updates, seed 0, on a logarithmic scale (figure 6 of the paper, lower half). Circles: live neurons with a positive, squares with a negative output weight; crosses: dead neurons. Thin lines: the directions of the target.", "name": "fig-starts-end"}, "image": {"alt": "Left: circles and squares at all directions at similar heights. Middle: circles stand in two columns at the thin lines, squares in a low group near 90 degrees, crosses far below between them. Right: circles in two columns, further circles and squares scattered over directions far below, crosses below these."}}
fig, axes = figures.panels(1, 3, width=9.6, height=3.0, sharey=True)
for ax, (name, runs) in zip(axes, starts.items(), strict=True):
    c, theta, live = neurons(runs[0].networks[-1], FOUR.x)
    for chosen, marker, colour in ((live & (c > 0), "o", figures.BLUE),
                                   (live & (c < 0), "s", figures.ORANGE),
                                   (~live, "x", figures.GUIDE)):
        ax.plot(np.degrees(theta[chosen]), np.abs(c[chosen]), marker, color=colour, markersize=3.5,
                fillstyle="none")
    for angle in (180 + np.degrees(np.arctan(1 / 3)), 360 - np.degrees(np.arctan(1 / 3))):
        ax.axvline(angle, color=figures.GUIDE, linewidth=0.7)
    figures.finish(ax, "direction (degrees)", "amplitude |a| r", name, "y", legend=False)
    ax.set(xlim=(-15, 375), xticks=range(0, 361, 90))
figures.plt.show()

# %% [markdown]
# **Speed.** *Low* is a hundredth of the mean square of the targets. A large start has a kernel of
# order $m^{1-2\gamma}$ and fits at that rate. A small one must first grow: near the origin
# $(\ln A)'=-4sq_{-y}$, and it passes the saddle at which all neurons are one constant. We call the
# large start fast if it is there within 500 updates, a few hundred, and the small one slower if no
# seed of it is there when the large ones are.
#
# **Two groups.** With decay the limit of {numref}`chapter-exact-limit` has two atoms. Without decay
# the loss alone does not ask for them: its minima are all interpolants. The large start stays near
# where it began, and keeps nearly all of its amplitude; the small one grows from nearly nothing,
# along the directions that the field picks.
#
# **Dead neurons.** They have no gradient, so their directions are those at which they died and
# with decay their amplitudes fall by $(1-\eta\lambda)^2$ an update, {prf:ref}`prop-decay-flow`. A
# neuron can be dead on the arc from $225^\circ$ to $315^\circ$ only; we ask that the dead ones
# spread over more than half of it, that they have not turned since the start, and that their
# amplitudes have fallen below $10^{-6}$ of what they were. Those that died on the way are left
# out of the last two.

# %%
def dead_ones(run):
    """Number of dead neurons at the end; how far they spread (degrees); and of those that were
    dead at the start the largest turn (rad) and the largest A(end)/A(start)."""
    (c0, theta0, live0), (c, theta, live) = (neurons(run.at(k), FOUR.x) for k in (0, EPOCHS))
    always = ~live & ~live0
    turned = np.abs(theta - theta0)[always].max()
    return (~live).sum(), np.degrees(np.ptp(theta[~live])), turned, np.abs(c / c0)[always].max()


dead = {name: [dead_ones(run) for run in starts[name]] for name in (DECAY, LARGE)}
for name, rows in dead.items():
    for number, wide, turned, kept in rows:
        print(f"{name:15} dead {number}, spread {wide:.1f}°, not turned (1e-9): {turned < 1e-9}, "
              f"A kept at most {kept:.3g}")

# %% [markdown]
# **The stragglers.** With decay most seeds have no loose neuron after 80,000 updates, but not all:
# where the table above says so, one live neuron is still alone, with next to nothing. The history
# below tells why. It is positive and began on the hill of $q_e$ around $90^\circ$, where positive
# neurons shrink; its $a$ shrank faster than its $r$, and a neuron turns at the rate
# $2\frac{\lvert a\rvert}r\lvert p\rvert$. When it reached the valley it was late. It is balanced
# now and comes home at the rate $\lambda$ like all others: as often again, and it is there.

# %%
late = {}
for seed, (run, groups) in enumerate(zip(starts[DECAY], ends[DECAY], strict=True)):
    if loose(groups):
        a, r, theta = cond.polar(run.networks)
        angle = np.degrees(theta % (2 * np.pi))
        k = np.argmin(np.abs(angle[-1] - loose(groups)[0].angle))
        print(f"seed {seed}, straggler:")
        for i in (0, 4, 6, 8, 10, 12, 16):
            print(f"   epoch {run.epochs[i]:6,}: {angle[i, k]:6.1f}°, |a|/r "
                  f"{abs(a[i, k]) / r[i, k]:.3f}")
        later = cond.descend(FOUR, run.networks[-1], eta=ETA, lam=LAM, steps=EPOCHS).networks[-1]
        late[seed] = len(loose(grouped(later, FOUR.x)))
        print(f"   loose neurons after {2 * EPOCHS:,} updates: {late[seed]}")

# %%
near_90 = [[g for g in groups if abs(g.angle - 90) < 5 and g.size > 1] for groups in ends[DECAY]]
for seed, found in enumerate(near_90):
    total = sum(abs(g.c) for g in ends[DECAY][seed])
    print(f"seed {seed} near 90°: " + ", ".join(
        f"{g.size} neurons, {abs(g.c) / total:.1e} of ΣA, diameter {g.diameter:.1f}°"
        for g in found))

# %% [markdown]
# The group near $90^\circ$ is the negative group of {numref}`chapter-exact-limit`, which dies. The
# paper's sentence, that all live neurons condense and a group of low amplitude near $90^\circ$ is
# among the groups, is read like this: no live neuron is loose, *every* group is narrow by the
# cut-off above, and within $5^\circ$ of $90^\circ$ there is exactly one group, which is not
# dominant. Without the cut-off for the diameter more seeds pass, since the dying group is about as
# wide as it allows: the ledger gives both counts.
#
# ### What a small start converges to
#
# As $\lambda\to0$ the limit with decay tends to the target, which therefore is the interpolant with
# the least $\sum A=\frac{2\sqrt{10}}{15}$. Nothing makes descent without decay go there, but the
# figure suggests that a small start nearly does. What keeps it away is the amplitude that live
# neurons began with and that nothing takes from them: $m$ neurons, each of the order of the
# variance $m^{-2\gamma}$ of its weights. So we expect that the excess of $\sum A$ over live neurons
# is proportional to $m^{1-2\gamma}$ for small starts. With $\gamma$ alone varied one sees the
# variance and not the number $m$ of neurons, since $m^{1-2\gamma}$ and $m^{-2\gamma}$ differ by a
# constant; so we vary the width as well, at $\gamma=1$, where the two would have the exponents $-1$
# and $-2$ in $m$. A mean over seeds stands for the expectation. We allow 0.2 in both exponents, and
# ask for less than 1 % of the least at $\gamma=1$, $m=200$, in every seed. As null, the large
# start: is its $\sum A$ within 1 % too?

# %%
LEAST = 2 * np.sqrt(10) / 15


def total_excess(run):
    c, _, live = neurons(run.networks[-1], FOUR.x)
    return np.abs(c[live]).sum() - LEAST


def small_excess(m, gamma, seed):
    start = cond.initial(seed, m, gamma)
    return total_excess(cond.descend(FOUR, start, eta=ETA, lam=0.0, steps=EPOCHS))


over = {(M, 1.0): [total_excess(run) for run in starts[SMALL]]}
for m, gamma, seeds in ((M, 0.8, 1), (M, 1.1, 1), (50, 1.0, 3), (800, 1.0, 1)):
    over[m, gamma] = [small_excess(m, gamma, seed) for seed in range(seeds)]
by_gamma, by_width = ([key for key in over if key[k] == (M, 1.0)[k]] for k in (0, 1))
small_law = loglog_fit([m ** (1 - 2 * gamma) for m, gamma in by_gamma],
                       [np.mean(over[key]) for key in by_gamma])
width_law = loglog_fit([m for m, _ in by_width], [np.mean(over[key]) for key in by_width])
for m, gamma in sorted(over):
    each = np.array(over[m, gamma])
    print(f"m = {m:3}, γ = {gamma}: (ΣA − 2√10/15) m^(2γ−1): mean "
          f"{each.mean() * m ** (2 * gamma - 1):.3f}, seeds "
          + ", ".join(f"{v:.3f}" for v in each * m ** (2 * gamma - 1)))
small_over = max(over[M, 1.0])
large_over = min(total_excess(run) for run in starts[LARGE])
print(f"exponent of m^(1−2γ) over γ {small_law.slope:.3f}, of m at γ = 1 {width_law.slope:.3f}; "
      f"\nover the least: γ = 1 {small_over / LEAST:.2%} at most, γ = 0.4 "
      f"{large_over / LEAST:.0%} or more")

# %% [markdown]
# ## Three targets
#
# Figure 7 of the paper fits three targets with kinks at $-\frac34$, $0$, $\frac34$:
#
# $$
# f_A=0.06[x+\tfrac34]_++0.09[-x]_++0.12[x-\tfrac34]_+,\quad
# f_B=0.3[x+\tfrac34]_+-0.5[x]_++0.4[x-\tfrac34]_+,
# $$
#
# $$ f_C=0.2[x+\tfrac34]_++0.4[-x]_+-0.4[x-\tfrac34]_+ \quad\text{(paper: 54)}
# $$ (eq-starts-targets)
#
# It prints neither the inputs nor the settings. *Our choice*: nine equidistant inputs
# $-1,-\frac34,\dots,1$ and all settings of the main experiment. The kinks of the targets are
# inputs then, which matters, as we shall see. First the limits, by cutting planes and, since all
# data are fractions, by the proof of {numref}`chapter-exact-limit`. As null it gets a false guess,
# the three directions of the target with amplitudes of its terms.

# %%
TERMS = {  # c, w, b of c [w x + b]+
    "A": [("6/100", 1, "3/4"), ("9/100", -1, 0), ("12/100", 1, "-3/4")],
    "B": [("3/10", 1, "3/4"), ("-1/2", 1, 0), ("4/10", 1, "-3/4")],
    "C": [("2/10", 1, "3/4"), ("4/10", -1, 0), ("-4/10", 1, "-3/4")],
}
TERMS = {name: [tuple(map(Fraction, term)) for term in terms] for name, terms in TERMS.items()}


def target(name, x):
    """Exact at a Fraction x, elementwise at an array of floats."""
    if isinstance(x, Fraction):
        return sum(c * max(w * x + b, 0) for c, w, b in TERMS[name])
    return sum(float(c) * np.maximum(float(w) * x + float(b), 0) for c, w, b in TERMS[name])


def problem(name, n=9):
    x = np.linspace(-1, 1, n)
    return cond.Data(x, target(name, x))


# %%
XQ = [Fraction(i, 4) for i in range(-4, 5)]
DATA = {name: problem(name) for name in TERMS}
X, CELLS = DATA["A"].x, cond.Cells.of(DATA["A"].x)
least = {name: cond.minimiser(data, LAM) for name, data in DATA.items()}


def proof(name, theta, c):
    try:
        return certify.exact_limit(XQ, [target(name, x) for x in XQ], Fraction(1, 1000), theta, c)
    except certify.NotProved:
        return None


proofs = {name: proof(name, m.theta, m.c) for name, m in least.items()}
own = {name: (np.arctan2([float(b) for _, _, b in terms], [float(w) for _, w, _ in terms]),
              [float(c) * np.hypot(float(w), float(b)) for c, w, b in terms])
       for name, terms in TERMS.items()}
false_guess = {name: proof(name, *own[name]) for name in TERMS}

# %%
for name, m in least.items():
    order = np.argsort(m.theta)
    height = np.abs(CELLS.extrema(m.e).value) * 2 / LAM
    below = np.sort(height[height < 1 - 1e-9])[::-1]
    print(f"{name}: proved {proofs[name] is not None}, the target's own atoms refused "
          f"{false_guess[name] is None}; Φ = {m.value:.4e}, MSE {np.mean(m.e**2):.3e}")
    print("   " + ", ".join(f"{np.degrees(m.theta[k]):.2f}° {m.c[k]:+.4f}"
                            + ("" if m.smooth[k] else "*") for k in order) + "   (* boundary)")
    print("   next extrema of |q|/(λ/2): " + ", ".join(f"{v:.4f}" for v in below[:3]))

# %% [markdown]
# Three directions in each target, more in each limit: atoms on both sides of a kink, and one near
# $90^\circ$ that makes a constant. In B all atoms, in C two, lie on boundaries of activation cells.
#
# ### An exact account of the excess
#
# ```{prf:lemma} Excess
# :label: lem-starts-excess
#
# Let $e_\star$ be the residual of the limit, $q_\star$ its field, $\Phi_\star$ its value. For
# every network, with $s_k$ the sign of $a_k$,
#
# $$ \Phi-\Phi_\star=\tfrac1n\lVert e-e_\star\rVert^2
#    +\sum_kA_k\bigl(\lambda+2s_kq_\star(\theta_k)\bigr)
#    +\tfrac\lambda2\sum_k(\lvert a_k\rvert-r_k)^2, $$ (eq-starts-excess)
#
# and no term is negative: they are *misfit*, *misplaced amplitude* and *imbalance*.
# ```
#
# ```{prf:proof}
# $\frac1n\lVert e\rVert^2-\frac1n\lVert e_\star\rVert^2=\frac1n\lVert e-e_\star\rVert^2+\frac2n
# e_\star\cdot(f-f_\star)$, where $\frac1ne_\star\cdot f=\sum s_kA_kq_\star(\theta_k)$ and
# $\frac2ne_\star\cdot f_\star=-\lambda\sum\lvert c_j\rvert$ by {prf:ref}`lem-exact-optimal`; and
# $\frac12(a^2+r^2)=A+\frac12(\lvert a\rvert-r)^2$.
# ```

# %%
STEPS = np.arange(0, EPOCHS + 1, 1000)
SEEDS_7 = range(2)


def trained(name, seed, lam=LAM):
    start = cond.initial(seed, M, 0.4)
    return cond.descend(DATA[name], start, eta=ETA, lam=lam, steps=EPOCHS, keep=STEPS)


def cost(network, name):
    e = cond.outputs(network, X) - DATA[name].y
    return np.mean(e**2) + LAM / 2 * (network**2).sum()


def account(network, name):
    """Misfit, misplaced amplitude and imbalance: the three terms of the excess."""
    a, r, theta = cond.polar(network)
    e, q = cond.outputs(network, X) - DATA[name].y, field(least[name].e, theta, X)
    misplaced = np.abs(a) * r * (LAM + 2 * np.sign(a) * q)
    misfit, imbalance = np.mean((e - least[name].e) ** 2), LAM / 2 * ((np.abs(a) - r) ** 2).sum()
    return misfit, misplaced.sum(), imbalance


runs = {name: [trained(name, seed) for seed in SEEDS_7] for name in TERMS}

# %%
accounts = {(name, seed): np.array([account(z, name) for z in run.networks])
            for name, both in runs.items() for seed, run in enumerate(both)}
direct = {(name, seed): np.array([cost(z, name) for z in run.networks]) - least[name].value
          for name, both in runs.items() for seed, run in enumerate(both)}
lemma_error = max(np.abs(accounts[k].sum(axis=1) / direct[k] - 1).max() for k in direct)
lemma_null = min(np.abs(accounts[k][:, [0, 2]].sum(axis=1) / direct[k] - 1).max() for k in direct)
print(f"the three terms are the excess to 1e-6: {lemma_error < 1e-6}; without the second off by "
      f"{lemma_null:.2f} or more")
print("(Φ − Φ*)/Φ* after 20,000, 40,000, 60,000 and 80,000 updates")
for key, parts in accounts.items():
    print(f"{key[0]}, seed {key[1]}: " + ", ".join(
        f"{parts[STEPS == t].sum() / least[key[0]].value:.1e}" for t in (20_000, 40_000, 60_000))
        + f", {parts[-1].sum() / least[key[0]].value:.1e} at the end\n   (misfit "
        + "{:.1e}, misplaced {:.1e}, imbalance {:.1e})".format(*parts[-1] / least[key[0]].value))

# %% [markdown]
# ### What the paper says of the three targets
#
# *After rapid fitting* is the epoch $T$ of the least data loss, which is the paper's marker in its
# figure 2. The outputs *follow* a target if $R^2>0.9$ on the interval. Directions are *diffuse* if
# live neurons stand in more than 36 of the 72 sectors of $5^\circ$, as in
# {numref}`chapter-rapid-fitting`. *Appreciable* amplitudes are the largest ones that together hold
# 99 % of $\sum A$; they are condensed if all stand in narrow groups of two or more. Condensation
# comes *long after* fitting if none of the epochs before $10\,T$ that we kept, every thousandth, is
# condensed. (Later ones can lose it for a while: when a dying group leaves the 99 %, its strongest
# neuron counts alone.) The paper's words, that condensation is late, do not fix this share; 99 % is
# the reading that is kindest to them. The other one takes the share of $\sum A$ that stands in
# narrow groups. Two hundred neurons on a circle have neighbours, so there is a chance share $w_0$
# at
# the start; condensation has come if half of the rest is in narrow groups as well,
# $(w-w_0)/(1-w_0)\ge\frac12$, and is long after fitting if that is not so at $T$, $3T$, $5T$,
# $10T$.
# If the two readings disagree, the row is open. A *direction* is a group with 1 % of $\sum A$.


# %%
def sectors(network):
    _, theta, live = neurons(network, X)
    return np.unique(np.degrees(theta[live]) // 5).size


def r_squared(f, name):
    y = target(name, GRID)
    return 1 - np.mean((f - y) ** 2) / y.var()


def condensed(network):
    return narrow(grouped(network, X, share=0.99))


def directions(network, x=X):
    return len(dominant(grouped(network, x), share=0.01))


def first_condensed(run):
    """First kept epoch that is condensed, or infinity."""
    return next((t for t, z in zip(run.epochs, run.networks, strict=True) if condensed(z)), np.inf)


def in_groups(network):
    """Share of ΣA of the live neurons that stands in narrow groups of two or more."""
    groups = grouped(network, X)
    return sum(abs(g.c) for g in groups if narrow([g])) / sum(abs(g.c) for g in groups)


# %%
seen = {}
for name, both in runs.items():
    for seed, run in enumerate(both):
        T = int(run.loss.argmin())
        early = cond.descend(DATA[name], run.at(0), eta=ETA, lam=LAM, steps=T).networks[-1]
        last = run.networks[-1]
        seen[name, seed] = row = {
            "T": T, "early": early, "last": last,
            "R2": [r_squared(cond.outputs(z, GRID), name) for z in (early, last)],
            "sectors": [sectors(z) for z in (early, last)],
            "first": first_condensed(run),
            "directions": directions(last), "groups": grouped(last, X, share=0.99)}
        print(f"{name}, seed {seed}: T = {T}; R² {row['R2'][0]:.3f}, then {row['R2'][1]:.3f}; "
              f"sectors {row['sectors'][0]}, then {row['sectors'][1]}; condensed first "
              f"at\n   epoch {row['first']:,}; at the end")
        print("".join(f"   {g.angle:6.2f}° {g.c:+.4f} ({g.size} within {g.diameter:.2f}°)\n"
                      for g in row["groups"]), end="")

# %%
FACTORS = (3, 5, 10, 20)
together = {}
print("share of ΣA in narrow groups at the start, T, " + ", ".join(f"{k} T" for k in FACTORS)
      + ", the end")
for (name, seed), row in seen.items():
    run = runs[name][seed]
    at = [STEPS[np.abs(STEPS - k * row["T"]).argmin()] for k in FACTORS]  # the nearest kept epochs
    together[name, seed] = np.array([in_groups(z) for z in (
        run.at(0), row["early"], *(run.at(t) for t in at), row["last"])])
    print(f"{name}, seed {seed}: " + ", ".join(f"{v:.2f}" for v in together[name, seed]))
gathered = {key: (w[1:] - w[0]) / (1 - w[0]) for key, w in together.items()}
half_late = {key: (rest[:4] < 0.5).all() for key, rest in gathered.items()}
print("of the rest at the start, at the same times:")
for (name, seed), rest in gathered.items():
    print(f"{name}, seed {seed}: " + ", ".join(f"{v:.2f}" for v in rest)
          + f"; below a half up to 10 T: {half_late[name, seed]}")

# %%
free = {name: trained(name, 0, lam=0.0) for name in TERMS}
free_condensed = {name: condensed(run.networks[-1]) for name, run in free.items()}
free_together = {name: in_groups(run.networks[-1]) for name, run in free.items()}
for name, run in free.items():
    groups = grouped(run.networks[-1], X, share=0.99)
    print(f"{name} without decay: condensed {free_condensed[name]}; {len(groups)} groups, "
          f"{len(loose(groups))} of one neuron; in narrow groups\n   "
          f"{free_together[name]:.2f} of ΣA; loss below 1e-6: {run.loss[-1] < 1e-6}")
four_directions = {directions(run.networks[-1], FOUR.x) for run in starts[DECAY]}
print("the four points with decay:", *four_directions, "directions")

# %% mystnb={"figure": {"caption": "Targets A, B, C (rows; figure 7 of the paper, with our inputs), seed 0. Left: target (thin), inputs, the function after rapid fitting, after 80,000 updates, and the limit. Middle and right: neurons after rapid fitting and after 80,000 updates; circles positive, squares negative; vertical lines: atoms of the limit.", "name": "fig-starts-targets"}, "image": {"alt": "Three rows. Left: curves with three kinks; the early curve lies close to the target, the final curve and the limit lie on each other and cut the corners. Middle: markers scattered over most directions, in the lower two rows with columns among them. Right: markers stacked in a few columns, nearly all at the vertical lines; in row A one column stands where two lines are close together."}}
fig, axes = figures.panels(3, 3, width=9.6, height=2.5)
for (left, *clouds), name in zip(axes, TERMS, strict=True):
    row = seen[name, 0]
    left.plot(GRID, target(name, GRID), color=figures.BLACK, linewidth=0.7, label="target")
    left.plot(X, DATA[name].y, "o", color=figures.BLACK, markersize=3)
    drawn = {"after fitting": row["early"], "at the end": row["last"]}
    for k, (label, z) in enumerate(drawn.items()):
        left.plot(GRID, cond.outputs(z, GRID), color=figures.COLOURS[k],
                  linestyle=figures.DASHES[k], label=label)
    left.plot(GRID, least[name].outputs(GRID), ":", color=figures.GREEN, label="limit")
    figures.finish(left, "x", f"f(x), target {name}", legend=name == "A")
    for ax, (label, z) in zip(clouds, drawn.items(), strict=True):
        c, theta, live = neurons(z, X)
        for sign, marker, colour in ((1, "o", figures.BLUE), (-1, "s", figures.ORANGE)):
            ours = live & (sign * c > 0)
            ax.plot(np.degrees(theta[ours]), np.abs(c[ours]), marker, color=colour, markersize=3,
                    fillstyle="none")
        for angle in np.degrees(least[name].theta):
            ax.axvline(angle, color=figures.GUIDE, linewidth=0.6, zorder=0)
        figures.finish(ax, "direction (degrees)", "|a| r", label, legend=False)
        ax.set(xlim=(-15, 375), xticks=range(0, 361, 90))
figures.plt.show()

# %% [markdown]
# *Diffuse* needs a remark that the figure suggests. In B and C a good part of the amplitude stands
# on boundaries of cells already after rapid fitting, in columns; the lines below say how much.
# Boundaries attract as soon as $p$ changes its sign there, at the rate $2\lvert p\rvert$ of the
# fitting stage, and no smooth extremum is needed. For these neurons condensation is as early as
# fitting, and it needs no decay; sectors of $5^\circ$ do not see it, but the shares of narrow
# groups
# above do. We call that more than chance if it is ten times what these arcs are of the circle; as
# null, the start.
#
# **The bias.** With decay $e=0$ is no rest point; at rest $e=-\lambda(K+\lambda)^{-1}y$. The paper
# says that the final outputs show a bias, and no more; so we ask that the data loss at the end
# exceeds the least one in every run; the null is the same without decay, where the loss should only
# fall. What the bias is can be said as well: it should be the residual of the limit. Below, the
# data
# loss is compared with that of the limit, and the distance of the whole function from the limit
# with
# that of the limit from the target. We had asked for a tenth of the latter; A misses it.

# %%
def rms(f):
    return np.sqrt(np.mean(f**2))


def on_boundaries(network):
    """Share of ΣA of live neurons within 0.1° of a boundary."""
    c, theta, live = neurons(network, X)
    near = np.abs(np.exp(1j * theta[:, None]) - np.exp(1j * CELLS.bounds)).min(axis=1)
    A = np.abs(c) * live
    return A[near < np.radians(0.1)].sum() / A.sum()


standing = {key: on_boundaries(row["early"]) for key, row in seen.items()}
standing_0 = {(name, seed): on_boundaries(runs[name][seed].at(0)) for name, seed in seen}
CHANCE = CELLS.bounds.size * 0.2 / 360
for name in TERMS:
    print(f"{name}: within 0.1° of a boundary after fitting " + ", ".join(
        f"{standing[name, seed]:.0%}" for seed in SEEDS_7) + " of ΣA, at the start "
        + ", ".join(f"{standing_0[name, seed]:.1%}" for seed in SEEDS_7)
        + f";\n   without decay at the end {on_boundaries(free[name].networks[-1]):.0%}")

# %%
bias = {}
print("each after fitting, at the end: loss over that of the limit; |f − limit|/|limit − target|")
for (name, seed), row in seen.items():
    loss, limit = runs[name][seed].loss, least[name].outputs(GRID)
    away = rms(limit - target(name, GRID))
    apart = [rms(cond.outputs(row[z], GRID) - limit) / away for z in ("early", "last")]
    own_mse = np.mean(least[name].e ** 2)
    bias[name, seed] = loss.min() / own_mse, loss[-1] / own_mse, *apart
    print("{}, seed {}:   {:.3f}, {:.3f};   {:.3f}, {:.3f}".format(name, seed, *bias[name, seed]))

# %% [markdown]
# ### A network beside its limit
#
# Why does A fail? Its limit has two atoms close together, on both sides of the boundary
# $153.43^\circ$ of the input $\frac12$. In both seeds nearly all of that amplitude stands in one
# group, on one side. The account above says *misfit*: no trifling amplitude that still has to die.
# A step of $\eta=1$ is stable for so small amplitudes, so we can continue ten times faster.
#
# Beside this stands a stationary point, computed without any training: $q=-\frac\lambda2$ and $p=0$
# at four smooth atoms, started from the four groups. It is no minimum over measures: $\lvert
# q\rvert$ exceeds $\frac\lambda2$ in a cell that has no atom. A network leaves it only if it has a
# neuron there. With $s$ the sign of $a$, the amplitude of a balanced neuron obeys
#
# $$ \dot A_k=-2A_k(\lambda+2s_kq_k) \quad\text{(paper: 30)} $$ (eq-starts-amplitude)
#
# so at the rate $2\lambda(\lvert q\rvert/\frac\lambda2-1)$ it grows. We put one there, of
# amplitude $10^{-6}$, and measure.

# %%
LONG = 100_000
longer = [cond.descend(DATA["A"], run.networks[-1], eta=1.0, lam=LAM, steps=LONG)
          for run in runs["A"]]


def four_equations(z):
    c, theta = z[:4], z[4:]
    e = c @ features(theta, X) - DATA["A"].y
    return np.append(field(e, theta, X) + LAM / 2, field_slope(e, theta, X)) / LAM


groups = grouped(longer[0].networks[-1], X, share=0.99)
guess = [[g.c for g in groups], np.radians([g.angle for g in groups])]
beside = fsolve(four_equations, np.concatenate(guess), xtol=1e-13)
c_beside, theta_beside = beside[:4], beside[4:]
e_beside = c_beside @ features(theta_beside, X) - DATA["A"].y
value_beside = np.mean(e_beside**2) + LAM * c_beside.sum()
peaks = CELLS.extrema(e_beside)
top = np.argmin(peaks.value)
depth = -peaks.value[top] * 2 / LAM
print("four atoms at " + ", ".join(f"{v:.2f}°" for v in np.degrees(theta_beside)))
print(f"(Φ − Φ*)/Φ* = {value_beside / least['A'].value - 1:.4e}; −q/(λ/2) = {depth:.4f} at "
      f"{np.degrees(peaks.theta[top]):.2f}°; proved to be the limit: "
      f"{proof('A', theta_beside, c_beside) is not None}")

# %%
above = []
for seed, run in enumerate(longer):
    z = run.networks[-1]
    c, theta, live = neurons(z, X)
    there = live & (c > 0) & (CELLS.containing(theta) == CELLS.containing(peaks.theta[top]))
    above.append((cost(z, "A") / value_beside - 1, there.sum(), c[there].sum()))
    print("seed {}: Φ over that of the stationary point − 1: {:+.1e}; live positive neurons in "
          "the\n   empty cell {}, with ΣA {:.1e}".format(seed, *above[seed]))
grown = np.sqrt(1e-6) * np.array([1, np.cos(peaks.theta[top]), np.sin(peaks.theta[top])])
helped = np.column_stack([longer[0].networks[-1], grown])
watch = cond.descend(DATA["A"], helped, eta=1.0, lam=LAM, steps=20_000, keep=[10_000])
A_new = [np.abs(neurons(z, X)[0][-1]) for z in watch.networks]
leave, leave_law = np.log(A_new[1] / A_new[0]) / 10_000, 2 * LAM * (depth - 1)
glue("starts-leave", f"{1 / (ETA * leave_law):,.0f}", display=False)
glue("starts-beside", f"{value_beside / least['A'].value - 1:.1e}", display=False)
print(f"the new neuron grows at the rate {leave:.3e}, 2λ(depth − 1) = {leave_law:.3e}: "
      f"{1 / (ETA * leave_law):,.0f} epochs for a factor e")

# %% [markdown]
# Seed 0 has no live neuron left on that side. It stands on the stationary point, by
# {glue:text}`starts-beside` of $\Phi_\star$ above its limit, and will stay. Seed 1 has some, with
# hardly any amplitude, and is on its way, {glue:text}`starts-leave` epochs of $\eta=0.1$ for each
# factor $e$. So for data with two atoms in neighbouring cells the draw decides where a network of
# this width ends, and convexity over measures does not help it.
#
# ## On a boundary
#
# At a boundary atom $p$ jumps from $p_-$ to $p_+$, and from both sides the flow turns neurons
# towards it. Descent cannot stand there: with $\mathrm{ReLU}'(0)=0$ or any other value, each
# update turns a neuron by the $p$ of the side it is on.
#
# ```{prf:proposition} Sliding on a boundary
# :label: prop-starts-slide
#
# Let $e$ be at rest, $q=-s\frac\lambda2$ at an attracting boundary extremum $\theta_\star$ of input
# $x_i$, and $p_\pm$ the slopes after and before it. For a balanced neuron there, to first order in
# $\eta$,
#
# - $\theta-\theta_\star$ rotates on a circle: it stays in
#   $[-2\eta\lvert p_+\rvert,\,2\eta\lvert p_-\rvert)$, of length
#   $2\eta(\lvert p_+\rvert+\lvert p_-\rvert)=\frac{2\eta}n\lvert e_i\rvert\lvert\tilde x_i\rvert$;
# - it is above $\theta_\star$ in the fraction
#   $\mu=\lvert p_-\rvert/(\lvert p_+\rvert+\lvert p_-\rvert)$ of all updates, in which
#   $\mu p_++(1-\mu)p_-=0$, whatever $\eta$;
# - its imbalance does not die, but tends to $a^2-r^2=-2\eta a^2\lvert p_+p_-\rvert/\lambda$;
# - it adds $2\eta A\lvert p_+p_-\rvert$ to the mean of $\Phi$.
# ```
#
# ```{prf:proof}
# An update turns by $-2\eta sp_\pm$, that is by $-2\eta\lvert p_+\rvert$ above and by $+2\eta\lvert
# p_-\rvert$ below: a rotation of a circle of their sum, and uniform on it if their ratio is
# irrational. $\psi_\theta(x_i)$ jumps by $\lvert\tilde x_i\rvert$, hence the length. In
# {eq}`eq-decay-discrete` $(\partial_a\mathcal L)^2-\lvert\partial_v\mathcal L\rvert^2=
# -4((a^2-r^2)q^2+a^2p^2)$; with $4q^2=\lambda^2$ it leaves $a^2-r^2\leftarrow
# (1-2\eta\lambda)(a^2-r^2)-4\eta^2a^2p^2$, and the mean of $p^2$ is $\mu p_+^2+(1-\mu)p_-^2=\lvert
# p_+p_-\rvert$. The cost is $A(\lambda+2sq)=2A\lvert p_\pm\rvert\lvert\theta-\theta_\star\rvert$
# with mean distances $\eta\lvert p_\mp\rvert$, {eq}`eq-starts-excess`.
# ```
#
# In B every atom is such. All four statements are without a free parameter once the limit is
# known. We train B until $t=20{,}000$, so that its last dying groups have gone, then go on with
# four steps $\eta$ until $t=24{,}000$, in which the flow takes an imbalance to $\exp(-8)$ of it.

# %%
B, e_B = least["B"], least["B"].e


def sides(theta):
    """p after and before a boundary, in the limit of B."""
    cells = CELLS.containing(np.array([theta + 1e-9, theta - 1e-9]))
    return CELLS.moments(e_B)[cells] @ [-np.sin(theta), np.cos(theta)]


slope = np.abs([sides(theta) for theta in B.theta])
plus, minus = slope.T
third = B.theta.argsort()[2]
edges = np.array([-plus[third], minus[third]]) / LAM
hit = [np.argmin(np.abs(X * np.cos(t) + np.sin(t))) for t in B.theta]
length = np.abs(e_B[hit]) * np.hypot(1, X[hit]) / X.size
same_length = np.abs(slope.sum(axis=1) / length - 1).max()
print(f"|p₊| + |p₋| is |e_i||x̃_i|/n to 1e-9: {same_length < 1e-9}")

# %%
TO_20 = round((20_000 - ETA * EPOCHS) / ETA)
settled = cond.descend(DATA["B"], runs["B"][0].networks[-1], eta=ETA, lam=LAM, steps=TO_20,
                       keep=[TO_20 - 40_000])
STEP_SIZES = (0.05, 0.1, 0.2, 0.4)
slid = {}
for eta in STEP_SIZES:
    steps = round(4000 / eta)
    slid[eta] = cond.descend(DATA["B"], settled.networks[-1], eta=eta, lam=LAM, steps=steps,
                             keep=np.append(0, np.arange(steps - 599, steps + 1)))


# %%
def sliding(run):
    """For each atom: reach below and above over 2η, fraction above, (r² − a²)/a² over 2η/λ."""
    a, r, theta = cond.polar(run.networks[1:])
    found = []
    for angle, c in zip(B.theta, B.c, strict=True):
        off = np.angle(np.exp(1j * (theta - angle)))
        ours = (np.abs(off[-1]) < 0.01) & (a[-1] * c > 0)
        off, ratio = off[:, ours], (1 - (r[:, ours] / a[:, ours]) ** 2).mean()
        found.append([-off.min() / (2 * run.eta), off.max() / (2 * run.eta),
                      (off > 0).mean(), ratio / (-2 * run.eta / LAM)])
    return np.array(found)


def imbalances(network, j):
    """(a² − r²)/a² of the neurons on the boundary j."""
    a, r, theta = cond.polar(network)
    ours = (np.abs(np.angle(np.exp(1j * (theta - B.theta[j])))) < 0.01) & (a * B.c[j] > 0)
    return 1 - (r[ours] / a[ours]) ** 2


law = np.column_stack([plus, minus, minus / slope.sum(axis=1), plus * minus])

# %%
measured = {eta: sliding(run) for eta, run in slid.items()}
wrong = {eta: np.abs(found / law - 1).max(axis=0) for eta, found in measured.items()}
print(f"theory (measured at η = {ETA:g}) of |p₊|/λ, |p₋|/λ, μ, (r² − a²)/(2ηλa²):")
for angle, c, row, found in zip(B.theta, B.c, law, measured[ETA], strict=True):
    units = np.array([LAM, LAM, 1, LAM**2])
    print(f"{np.degrees(angle):6.2f}° {c:+.4f}: " + ", ".join(
        f"{x:.3f} ({y:.3f})" for x, y in zip(row / units, found / units, strict=True)))
print("largest relative errors (reach, reach, μ, imbalance):")
for eta, row in wrong.items():
    print(f"   η = {eta:<5g}" + " ".join(f"{v:.4f}" for v in row))

# %%
def offsets(eta, j):
    """(θ − θ*)/(2λ) of the neurons on boundary j in the last 600 updates."""
    theta = cond.polar(slid[eta].networks[1:])[2]
    off = np.angle(np.exp(1j * (theta - B.theta[j]))) / (2 * LAM)
    return off[:, np.abs(off[-1]) < 5]


crowd = min(offsets(ETA, j).shape[1] for j in range(B.c.size))
jitter = (2 * ETA * np.abs(B.c) @ slope.sum(axis=1) * (1 + X**2).max() / np.sqrt(12 * crowd)
          / slope.min())
glue("starts-jitter", f"{jitter:.0%}", display=False)
floor = np.array([np.mean([cost(z, "B") for z in run.networks[1:]])
                  for run in slid.values()]) - B.value
floor_law = 2 * np.array(STEP_SIZES) * (np.abs(B.c) @ (plus * minus))
floor_error = np.abs(floor / floor_law - 1)
for eta, value, theory in zip(STEP_SIZES, floor, floor_law, strict=True):
    print(f"η = {eta:<5g} mean (Φ − Φ*)/Φ* = {value / B.value:.3e}   theory {theory / B.value:.3e}"
          f"   relative error {abs(value / theory - 1):.4f}")

# %% mystnb={"figure": {"caption": "Sliding in B. Left: one neuron of the third group in 60 updates at two steps $\\eta$; dashed: the predicted range. Middle: offsets over $2\\eta\\lambda$ of all neurons of that group in 600 updates, with the uniform density predicted. Right: imbalance of the four groups (markers) and excess of $\\Phi$ (crosses) over $\\eta$; lines: theory.", "name": "fig-starts-slide"}, "image": {"alt": "Left: two zigzags around zero between dashed lines, the larger step with twice the range. Middle: three flat histograms with the same sharp ends on top of a box. Right: markers and crosses on straight lines of slope one."}}
fig, (left, middle, right) = figures.panels(1, 3, width=9.6, height=3.0)
for k, eta in enumerate(STEP_SIZES[:3]):
    off = offsets(eta, third)
    style = {"color": figures.COLOURS[k], "linestyle": figures.DASHES[k], "label": f"η = {eta:g}"}
    middle.hist((off / eta).ravel(), 40, density=True, histtype="step", **style)
    if eta != 0.05:
        left.plot(off[:60, 0], linewidth=1, **style)
        left.hlines(edges * eta, 0, 60, figures.COLOURS[k], (0, (4, 2)), linewidth=0.8)
middle.fill_between(edges, 1 / np.ptp(edges), fc="#e4e4e4", ec=figures.BLACK, label="theory")
for j, row in enumerate(law[:, 3]):
    found = [measured[eta][j, 3] for eta in STEP_SIZES]
    for values, style in ((found, figures.MARKERS[j]), (row, "-")):
        right.plot(STEP_SIZES, 2 / LAM * np.multiply(STEP_SIZES, values), style, linewidth=0.7,
                   color=figures.BLUE, fillstyle="none")
for values, style in ((floor, "x"), (floor_law, "--")):
    right.plot(STEP_SIZES, values / B.value, style, color=figures.ORANGE)
figures.finish(left, "update", "(θ − θ*)/(2λ)  (rad)", "(a)")
figures.finish(middle, "(θ − θ*)/(2ηλ)  (rad)", "density", "(b)")
figures.finish(right, "step η", "relative imbalance, excess", "(c)", "xy", legend=False)
left.set_ylim(-0.25, 0.7)
right.set_xticks(STEP_SIZES, [f"{eta:g}" for eta in STEP_SIZES])
right.set_yticks([2e-4, 5e-4, 1e-3, 2e-3], ["0.0002", "0.0005", "0.001", "0.002"])
right.minorticks_off()
figures.plt.show()

# %% [markdown]
# How far must first order hold? The proposition takes $e$ at rest, but all groups jump. One neuron
# of a group of $N$ moves the outputs by $A/N$ times its jump, so together, with independent phases,
# they move $p$ by less than $\frac{2\eta}{\sqrt{12N}}\sum_j\lvert c_j\rvert(\lvert
# p_+\rvert+\lvert p_-\rvert)_j\max\lvert\tilde x\rvert^2$ in the mean square, relative to the
# least $\lvert p_\pm\rvert$ by {glue:text}`starts-jitter` at $\eta=0.1$, and twice that at $0.2$:
# we allow 10 % in the reach, which is an extreme value, and 2 % in $\mu$, the imbalance and
# $\Phi$, which are means, for $\eta\le0.2$. At $\eta=0.4$ second order shows. Nulls: jumps that are
# as long on both sides, with $\mu=\frac12$; an imbalance that fades to $\exp(-8)$ in this time; no
# floor under $\Phi$.
#
# The last two matter beyond this chapter. A network with boundary atoms does *not* reach its limit
# at a fixed step: its excess stops at a floor proportional to $\eta$. And
# {prf:ref}`prop-decay-flow`, in which decay takes every imbalance away, holds for the flow;
# descent feeds a negative one as long as it jumps. It is small, $2\eta\lvert
# p_+p_-\rvert/\lambda$, but it does not fade.
#
# ### What is last in B
#
# After 80,000 updates the excess of B is mostly amplitude of two groups on boundaries that are no
# atoms. By {eq}`eq-starts-amplitude` they die at the rate $2\lambda(1-h)$, $h=\lvert
# q_\star\rvert/\frac\lambda2$ there. But something else is slower. Its four features are nearly
# dependent, so amplitude can be exchanged between its atoms at little cost: with $\theta$ held by
# the boundaries, {eq}`eq-starts-amplitude` is to first order
#
# $$ \delta A_j'=-\tfrac4n\lvert c_j\rvert\sum_ks_js_k\,\varphi_{\theta_j}(X)\cdot
#    \varphi_{\theta_k}(X)\,\delta A_k , $$ (eq-starts-exchange)
#
# and the least eigenvalue of this matrix is printed below. We measure both between $t=16{,}000$,
# $20{,}000$ and $24{,}000$. The exchange is read off three times (which removes a constant, the
# shift of order $\eta$ that the jumps leave), along its left eigenvector; it may be off by the
# largest $\lvert\delta A/c\rvert$ at $t=16{,}000$, since the $c_j$ of {eq}`eq-starts-exchange` are
# off by that. For the deaths we asked for 1 % in the first interval and missed it. Our first
# explanation, the jumps, was wrong: smaller steps changed nothing. It is the exchange, which keeps
# $e$ away from its limit. So their errors must fall with it: we ask for 1 % in the second
# interval, and for errors that fall like the exchange to 10 %. Nulls: $2\lambda$ for the deaths,
# and their own rate for the exchange.

# %%
turns = CELLS.extrema(e_B)
h_ends = np.abs(turns.value) * 2 / LAM
DYING = [k for k in np.flatnonzero(~turns.smooth) if 0.5 < h_ends[k] < 1 - 1e-6]


def held_at(network, angle, sign):
    """Amplitude of the live neurons with this sign that stand on a boundary."""
    c, theta, live = neurons(network, X)
    there = np.abs(np.angle(np.exp(1j * (theta - angle)))) < 0.01
    return np.abs(c[live & there & (sign * c > 0)]).sum()


times = [settled.networks[0], settled.networks[1], slid[ETA].networks[-1]]
signed = np.sign(B.c)[:, None] * features(B.theta, X)
D = 2 * np.abs(B.c)
values, vectors = np.linalg.eigh(np.sqrt(D)[:, None] * (2 / X.size * signed @ signed.T)
                                 * np.sqrt(D))
slowest, along = values[0], vectors[:, 0] / np.sqrt(D)
shift = np.array([[held_at(z, t, c) - abs(c) for t, c in zip(B.theta, B.c, strict=True)]
                  for z in times])
mode = shift @ along
exchange = np.log((mode[0] - mode[1]) / (mode[1] - mode[2])) / 4000
exchange_allowed = np.abs(shift[0] / B.c).max()
print("rates of (4/n)|c| ss φφ over λ: " + ", ".join(f"{v / LAM:.4g}" for v in values))
print(f"exchange measured {exchange / LAM:.4f} λ, theory {slowest / LAM:.4f} λ: relative error "
      f"{abs(exchange / slowest - 1):.3f}, allowed {exchange_allowed:.3f}")

# %%
held = np.array([[held_at(z, turns.theta[k], -turns.value[k]) for z in times] for k in DYING])
rates = -np.diff(np.log(held), axis=1) / 4000 / LAM
death_law = 2 * (1 - h_ends[DYING])
death_off = np.abs(rates / death_law[:, None] - 1)
fall = death_off[:, 1] / death_off[:, 0]
fall_law = np.exp(-4000 * slowest)
for k, row, theory in zip(DYING, rates, death_law, strict=True):
    print(f"{np.degrees(turns.theta[k]):.2f}° dies at {row[0]:.4f} λ, then {row[1]:.4f} λ; theory "
          f"{theory:.4f} λ")
print("errors " + "; ".join(f"{a:.4f}, {b:.4f}" for a, b in death_off) + "; they fall to "
      + ", ".join(f"{v:.3f}" for v in fall) + f", the exchange to {fall_law:.3f}")
by_step = [np.log(held_at(run.networks[0], turns.theta[k], -turns.value[k])
                  / held_at(run.networks[-1], turns.theta[k], -turns.value[k])) / 4000 / LAM
           for k in DYING[-1:] for run in slid.values()]
print("the last one at four η: " + ", ".join(f"{v:.4f} λ" for v in by_step))

# %% [markdown]
# ## Other inputs, other decays
#
# How much of this hangs on our nine inputs? The limits for four numbers of equidistant inputs and
# four decays, by cutting planes. *Touches* counts the places at which $\lvert
# q_\star\rvert=\frac\lambda2$, and the rank is that of their features at the inputs. Where touches
# outnumber the rank *and the atoms alone have it*, the minimiser is not unique, by the lemma below:
# a further touch is a combination of the atoms, and can be given a little amplitude of its own sign
# at their cost. The atoms must have the rank: with the inputs $\pm\sqrt3$ and targets
# $\frac\lambda2$, $0.2$ three places of rank two are touched, yet the one atom is the only limit,
# for the combination would give one of the other two the wrong sign.


# %%
def shape(name, n, lam):
    """Atoms, those on boundaries, touches, rank of touches and of atoms; None if not found."""
    return shape_of(problem(name, n), lam)


def shape_of(data, lam):
    try:
        m = cond.minimiser(data, lam)
    except cond.SolverError:
        return None
    ends = cond.Cells.of(data.x).extrema(m.e)
    touch = ends.theta[np.abs(ends.value) * 2 / lam > 1 - 1e-9]
    ranks = (int(np.linalg.matrix_rank(features(theta, data.x), tol=1e-9))
             for theta in (touch, m.theta))
    return m.c.size, int((~m.smooth).sum()), touch.size, *ranks

# %%
DECAYS, NUMBERS = (1e-4, 3e-4, 1e-3, 3e-3), (7, 9, 11, 13)
shapes = {(name, n, lam): shape(name, n, lam)
          for name in TERMS for n in NUMBERS for lam in DECAYS}
print("atoms (on boundaries), touches/rank; columns: λ = " + ", ".join(f"{v:g}" for v in DECAYS))
for name in TERMS:
    for n in NUMBERS:
        row = (shapes[name, n, lam] for lam in DECAYS)
        print(f"{name}, n = {n:2d}: " + "   ".join(
            "{} ({}), {}/{}".format(*s) if s else "not found " for s in row))
missing = [key for key, s in shapes.items() if s is None]
crowded = [s for s in shapes.values() if s and s[2] > s[3]]
print(f"touches outnumber the rank in {len(crowded)}; the atoms number it and have it in "
      f"{sum(s[0] == s[3] == s[4] for s in crowded)} of these")
lone = shape_of(cond.Data(np.array([-1, 1]) * np.sqrt(3), np.array([LAM / 2, 0.2])), LAM)
print("±√3 with targets λ/2, 0.2: {} atom, {} touches of rank {}".format(*np.take(lone, [0, 2, 3])))
print(f"{len(missing)} of {len(shapes)} not found: "
      + "; ".join(f"{name}, n = {n}, λ = {lam:g}" for name, n, lam in missing))

# %% [markdown]
# At $\lambda=10^{-3}$ every one of these limits has more directions than the target, at
# $3\cdot10^{-3}$ none. Where the table says *not found*, `minimiser` raised its `SolverError`: what
# its Newton iteration stops at does not pass its own test of optimality. We have not mended that;
# the cases lie among small decays, where touches are many and can be dependent.
#
# ## Directions that the data do not decide
#
# ```{prf:lemma} Equal cost
# :label: lem-starts-equal
#
# Let $\theta_j$ be the places where $\lvert q_\star\rvert=\frac\lambda2$, and $\sum_jz_j
# \varphi_{\theta_j}(X)=0$ with $z\ne0$. Add $\tau z$ to the amplitudes of a limit, those of touches
# without an atom being 0. As long as every amplitude is 0 or has the sign of $-q_\star(\theta_j)$,
# this gives a limit: the same outputs at the inputs, the same $\Phi$, other amplitudes.
#
# If $e_\star$ is orthogonal to all affine functions of $x$, touches come in opposite pairs
# $\theta,\theta+\pi$, and with three kinks or more they are dependent.
# ```
#
# ```{prf:proof}
# With $s_j$ the sign of $-q_\star(\theta_j)$, $0=\frac1ne_\star\cdot\sum z_j\varphi_{\theta_j}(X)=
# \sum z_jq_\star(\theta_j)=-\frac\lambda2\sum s_jz_j$. The new amplitudes $c_j$ have
# $\lvert c_j\rvert=s_jc_j$, so $\sum\lvert c_j\rvert$ stays. For the second part
# $\varphi_\theta(x)-\varphi_{\theta+\pi}(x)=x\cos\theta+\sin\theta$, so $q_\star$ has the period
# $\pi$, and $2k$ features of $k$ kinks span at most $k+2$ dimensions.
# ```
#
# Two examples. B at $\lambda=10^{-4}$ is of the second kind: its three kinks are those of the
# target, each can be made from either side, and the function is the same on the whole line. The
# other one is made by hand: two inputs $\pm\sqrt3$ with equal targets. $\lvert\tilde x\rvert=2$, so
# $q_e$ is as deep at $\tilde x_1$ and $\tilde x_2$, at $30^\circ$ and $150^\circ$, as at
# $90^\circ$, and $(1,1)=\frac12(2,0)+\frac12(0,2)$. Here the limits differ as functions: a
# constant, or a trough of two kinks.

# %%
def two_ends(data, lam):
    """Angles of the touches and amplitudes of the two ends of the segment of limits."""
    m = cond.minimiser(data, lam)
    ends = cond.Cells.of(data.x).extrema(m.e)
    at = np.abs(ends.value) * 2 / lam > 1 - 1e-9
    theta, sign = ends.theta[at], -np.sign(ends.value[at])
    held = np.array([m.c[np.abs(np.exp(1j * m.theta) - np.exp(1j * t)) < 1e-6].sum()
                     for t in theta])
    z = np.linalg.svd(features(theta, data.x).T)[2][-1]
    bound = -sign * held / (sign * z)
    low, high = bound[sign * z > 0].max(), bound[sign * z < 0].min()
    return theta, held + low * z, held + high * z


def network_of(theta, c):
    """Balanced neurons with these directions and signed amplitudes."""
    return np.sqrt(np.abs(c)) * [np.sign(c), np.cos(theta), np.sin(theta)]


ROOT_3 = np.sqrt(3)
EXAMPLES = {"B at 1e-4": (DATA["B"], 1e-4),
            "±√3": (cond.Data(np.array([-ROOT_3, ROOT_3]), np.array([0.2, 0.2])), LAM)}
WIDE = np.linspace(-3, 3, 601)

# %%
equal = {}
for name, (data, lam) in EXAMPLES.items():
    theta, *both = two_ends(data, lam)
    made = [network_of(theta, c) for c in both]
    fits = np.array([cond.outputs(z, data.x) for z in made])
    values = np.mean((fits - data.y) ** 2, axis=1) + lam / 2 * (np.array(made)**2).sum(axis=(1, 2))
    lines = np.array([cond.outputs(z, WIDE) for z in made])
    equal[name] = (abs(values[0] / values[1] - 1), np.abs(np.subtract(*fits)).max(),
                   np.abs(np.subtract(*both)).max(), np.abs(np.subtract(*lines)).max())
    for c in both:
        print(f"{name:9} " + ", ".join(f"{np.degrees(t):.2f}° {v:+.4f}"
                                       for t, v in zip(theta, c, strict=True) if abs(v) > 1e-9))
    print(f"   Φ and outputs the same to 1e-12: {max(equal[name][:2]) < 1e-12}; largest "
          f"difference\n   of an amplitude {equal[name][2]:.4f}, of f on [−3, 3] "
          + (f"{equal[name][3]:.4f}" if equal[name][3] > 1e-9 else "below 1e-9"))

# %% [markdown]
# Which of these limits does training choose? Four seeds on $\pm\sqrt3$. In the limit $q$ is the
# same at all three directions, so nothing drives a network along the segment of limits, and it
# keeps what the early epochs gave it. What a network lets still go lies in directions that die, and
# its excess {eq}`eq-exact-excess` is small; we ask for $\Phi$ within 1 % of the least.

# %%
root, lam = EXAMPLES["±√3"]
root_least = cond.minimiser(root, lam)
chosen = []
for seed in SEEDS:
    run = cond.descend(root, cond.initial(seed, M, 0.4), eta=ETA, lam=lam, steps=EPOCHS)
    z = run.networks[-1]
    c, theta, live = neurons(z, root.x)
    parts = [c[live & (c > 0) & (np.abs(np.degrees(theta) - t) < 15)].sum() for t in (30, 90, 150)]
    phi = run.loss[-1] + lam / 2 * (z**2).sum()
    chosen.append((phi / root_least.value - 1, cond.outputs(z, np.zeros(1))[0], *parts))
    print(f"seed {seed}: (Φ − Φ*)/Φ* = {chosen[-1][0]:.1e}; ΣA at 30°, 90°, 150°: "
          + ", ".join(f"{v:.4f}" for v in parts) + f"; f(0) = {chosen[-1][1]:.4f}")
chosen = np.array(chosen)
theta, *both = two_ends(root, lam)
f_0 = sorted(float(c @ features(theta, np.zeros(1))[:, 0]) for c in both)
print(f"f(0) of the limits: {f_0[0]:.4f} to {f_0[1]:.4f}; the seeds are "
      f"{np.ptp(chosen[:, 1]):.4f} apart")

# %% [markdown]
# The function between the inputs is then a matter of the draw, although weight decay has done all
# that it can.
#
# ## Exercises
#
# **1.** Why has the loss of a small start a shoulder at half of its first value?
#
# ```{dropdown} Solution of 1
# Near the origin $e=-y$, and $q_{-y}$ has its only minimum at $\frac\pi2$: all positive neurons
# grow as one constant, and the loss comes near the variance of the targets, half of their mean
# square. There $q=0$ at $\frac\pi2$, and the residual $\frac1{15}(-1,1,1,-1)$ makes two other
# minima, in which the neurons grow again from what they have.
# ```
#
# **2.** A neuron slides on a boundary. Which value of $\mathrm{ReLU}'(0)$ would let descent stand
# still there?
#
# ```{dropdown} Solution of 2
# With $\mathrm{ReLU}'(0)=\mu$, the fraction of {prf:ref}`prop-starts-slide`, the slope is $\mu
# p_++(1-\mu)p_-=0$. But descent never lands exactly on the boundary, and $\mu$ is another number
# for each boundary. It is the subgradient of the limit, which descent realises in time.
# ```
#
# **3.** The floor of $\Phi$ is proportional to $\eta$. What does a step that falls like $1/t$ do?
#
# ```{dropdown} Solution of 3
# Range, floor and imbalance follow $\eta$ as long as it falls more slowly than they can adapt: the
# imbalance fades at $2\lambda$ at most, so $\eta=\eta_0/(1+t/t_0)$ with $t_0\gg1/(2\lambda)$ takes
# all three to zero.
# ```
#
# **4.** In {prf:ref}`lem-starts-equal`, why do two kinks not suffice?
#
# ```{dropdown} Solution of 4
# Four features, two opposite pairs, span $2+2$ dimensions: the affine functions and the two kinks.
# They are independent if the inputs see both kinks.
# ```
#
# ## The ledger
#
# Order of events. That A, B and C have five, four and five atoms, and that many lie on boundaries,
# was known before this chapter was begun. The cut-offs for groups were fixed before the first run,
# and so were the reading of *appreciable*, the factor ten for *long* and the tenth of the whole
# function, which A misses. For *fitted* we had first written $R^2>0.99$ at the inputs; B and C
# never get there, and the paper's own marker, the least loss, took its place. After the tenth had
# failed for A the bias was judged by the data loss of the limit, with these losses in sight; we
# took
# that back, and the row asks for the paper's words only. Trial runs of figure 6 (six seeds) were
# seen before the text; four are shown.
# The law of sliding was derived before it was compared, at one time and seed; its tolerances were
# written down after that comparison. *Long after* was first read as the epoch from which on all
# kept epochs are condensed, which is later; the stricter reading was taken when we saw it flicker.
# The exponent of the small start was at first taken with dead neurons, whose share makes it
# trivial; they are left out since. The rate at which groups die missed its first tolerance, and
# the exchange was found when our first explanation of that failed; 10 % for the fall of the errors
# was chosen with them in sight.
#
# After a review, and with all results above known: the row on late condensation had the kind
# reading only and held; it has both readings now and is open. The chance share at the start was
# seen
# before it was taken off in the second reading; without that half of $\sum A$ stands in narrow
# groups of pairs from the start or soon after. The row on the groups of figure 6 had
# left out our own cut-off for narrow groups. The small start had one width, one seed, and so could
# not see the number of neurons; the width was added, at the tolerance set before for the exponent.

# %%
compare = claims.compare


def verdict(found):
    """All seeds: holds; none: differs; some: open, for what is printed is one draw."""
    found = list(found)
    return {"holds": all(found)} if all(found) or not any(found) else {"verdict": "open"}


def judged(claim, measured, found, null, note):
    """The row of a property of a run; a note is needed if it does not hold in all runs."""
    found, kind = list(found), verdict(found)
    extra = {"note": note}
    if "holds" in kind:
        extra["null_holds"] = null
    return compare(claim, f"in {sum(found)} of {len(found)} runs; {measured}", **kind, **extra)


others = fit[LARGE] + fit[DECAY]
quick = max(others) < 500 and min(others) > 0
low_90 = [len(found) == 1 and found[0] not in dominant(groups)
          for found, groups in zip(near_90, ends[DECAY], strict=True)]
all_grouped = [not loose(g) and low for g, low in zip(ends[DECAY], low_90, strict=True)]
all_narrow = [narrow(g) and low for g, low in zip(ends[DECAY], low_90, strict=True)]
gone = {name: all(wide > 45 and turned < 1e-9 and kept < 1e-6 for _, wide, turned, kept in rows)
        for name, rows in dead.items()}

# %%
small_loose = [loose(g) for g in ends[SMALL]]
dispersed = {name: [bool(loose(g)) and two_dominant(g)
                    and max(abs(x.c) for x in loose(g)) < 0.01 * sum(abs(x.c) for x in g)
                    for g in ends[name]] for name in CASES}
two = {name: [two_dominant(g) for g in ends[name]] for name in CASES}
rows = [
    compare("W-F6-speed", f"large {min(others)} to {max(others)} updates, small {min(fit[SMALL])} "
            f"to {max(fit[SMALL])}", holds=quick and min(fit[SMALL]) > max(others)),
    judged("W-F6-two", f"large with decay {sum(two[DECAY])}, small {sum(two[SMALL])}; large without"
           f" {sum(two[LARGE])}",
           [a and b for a, b in zip(two[DECAY], two[SMALL], strict=True)], any(two[LARGE]), ""),
    judged("W-F6-decay", f"loose: {', '.join(str(len(loose(g))) for g in ends[DECAY])}; a group "
           f"near 90° in {sum(low_90)}, groups of any width in {sum(all_grouped)}; without decay "
           f"loose {min(len(loose(g)) for g in ends[LARGE])} or more",
           all_narrow, any(map(narrow, ends[LARGE])),
           "A draw may have a straggler with next to no amplitude, which has come home after as "
           f"many updates again (loose then: {', '.join(map(str, late.values()))}); and the dying "
           "group near 90° is about 5° wide, our cut-off for narrow."),
    compare("W-F6-dead", f"spread {min(w for _, w, *_ in dead[DECAY]):.0f}° or more, turned by "
            f"less than 1e-9, A down to {max(r[3] for r in dead[DECAY]):.1e}; without decay "
            f"{max(r[3] for r in dead[LARGE]):.0f}", holds=gone[DECAY], null_holds=gone[LARGE]),
]

# %%
fast_and_wide = [0 < n < 500 and not two_dominant(g) and len(loose(g)) > 1
                 for n, g in zip(fit[LARGE], ends[LARGE], strict=True)]
null_wide = [not two_dominant(g) and len(loose(g)) > 1 for g in ends[DECAY]]
rows += [
    judged("W-F6-small", f"{min(map(len, small_loose))} to {max(map(len, small_loose))} loose "
           f"neurons, each below 1 %; with decay in {sum(dispersed[DECAY])} of {len(SEEDS)} seeds",
           dispersed[SMALL], all(dispersed[DECAY]), ""),
    judged("W-F6-lazy", f"1 % after {max(fit[LARGE])} updates at most; no dominant pair, "
           f"{min(len(loose(g)) for g in ends[LARGE])} loose neurons or more",
           fast_and_wide, any(null_wide), ""),
]

# %%
early_R2 = [row["R2"][0] for row in seen.values()]
before, after = zip(*(row["sectors"] for row in seen.values()), strict=True)
rows += [
    judged("W-F7-early", f"R² {min(early_R2):.3f} or more, {min(before)} sectors or more; at "
           f"the end {max(after)} at most",
           [row["R2"][0] > 0.9 and row["sectors"][0] > 36 for row in seen.values()],
           any(row["R2"][1] > 0.9 and row["sectors"][1] > 36 for row in seen.values()),
           "Sectors do not see columns: in B and C "
           f"{min(v for k, v in standing.items() if k[0] != 'A'):.0%} of ΣA or more stands within "
           "0.1° of boundaries of cells already then."),
    judged("W-F7-groups", f"{min(len(row['groups']) for row in seen.values())} to "
           f"{max(len(row['groups']) for row in seen.values())} groups, diameters at most "
           f"{max(g.diameter for row in seen.values() for g in row['groups']):.2f}°; without decay "
           f"condensed in {sum(free_condensed.values())} of {len(free)}",
           [condensed(row["last"]) for row in seen.values()], any(free_condensed.values()), ""),
]

# %%
all_late = [row["first"] > 10 * row["T"] for row in seen.values()]
readings = [all_late, list(half_late.values())]
stages = {"verdict": "open"}
if all(map(all, readings)) or not any(map(any, readings)):
    stages = {"holds": all(all_late), "null_holds": any(free_condensed.values())}
stages["note"] = ("The words do not say how much must be condensed. The last of the appreciable "
                  "amplitude is late in all runs; in B and C about half of what is not in narrow "
                  "groups by chance is in them soon after fitting, on boundaries above all; in "
                  "A that comes later.")

# %%
after_fit, at_end, _, apart = (np.array(column) for column in zip(*bias.values(), strict=True))
landed, grown = apart < 0.1, at_end / after_fit
free_grown = np.array([run.loss[-1] / run.loss.min() for run in free.values()])
rows += [
    compare("W-F7-bias", f"data loss at the end over the least one {grown.min():.2f} to "
            f"{grown.max():.2f}, without decay {free_grown.max():.2f} at most; over that of the "
            f"limit {at_end.min():.3f} to {at_end.max():.3f}", holds=bool((grown > 1).all()),
            null_holds=bool((free_grown > 1).all()),
            note=f"The whole function is within a tenth of the limit's own bias in {landed.sum()} "
                 f"of {landed.size} runs; A ends beside its limit."),
    judged("W-S5-more", ", ".join(
        f"{name}: {' and '.join(str(seen[name, s]['directions']) for s in SEEDS_7)}, limit "
        f"{least[name].c.size}, target {len(TERMS[name])}" for name in TERMS)
        + f"; four points: {max(four_directions)} of 2",
        [row["directions"] > len(TERMS[name]) and least[name].c.size > len(TERMS[name])
         for (name, _), row in seen.items()], max(four_directions) > 2, ""),
    compare("W-S5-stages", f"99 % condensed first at "
            f"{min(row['first'] / row['T'] for row in seen.values()):.0f} T or later, long after "
            f"in {sum(all_late)} of {len(all_late)} runs; half of the rest in "
            f"{sum(half_late.values())}; gathered at T, 3 T: " + ", ".join(
                f"{name} {min(v[0] for k, v in gathered.items() if k[0] == name):.2f}, "
                f"{min(v[1] for k, v in gathered.items() if k[0] == name):.2f} or more"
                for name in TERMS)
            + f"; without decay 99 % never: {not any(free_condensed.values())}", **stages),
]

# %%
proved = sum(p is not None for p in proofs.values())
accepted = sum(p is not None for p in false_guess.values())
small_reach = max(wrong[eta][:2].max() for eta in (0.05, 0.1, 0.2))
even = np.abs(np.column_stack([length / 2, length / 2, np.full(length.size, 0.5)])
              / law[:, :3] - 1).max()
small_mu, small_B = (max(wrong[eta][k] for eta in (0.05, 0.1, 0.2)) for k in (2, 3))
rows += [
    compare("B21-limits", f"{proved} of {len(proofs)} proved, with "
            + ", ".join(f"{m.c.size} ({(~m.smooth).sum()})" for m in least.values())
            + f" atoms (on boundaries); {len(proofs) - accepted} false guesses refused",
            holds=proved == len(proofs), null_holds=accepted > 0),
    compare("B21-early", ", ".join(
        f"{name} {min(standing[name, s] for s in SEEDS_7):.0%} or more" for name in "BC")
        + f", at the start {max(standing_0[k] for k in seen if k[0] != 'A'):.1%} at most; of the "
        f"circle {CHANCE:.0%}",
        holds=all(v > 10 * CHANCE for (name, _), v in standing.items() if name != "A"),
        null_holds=all(v > 10 * CHANCE for (name, _), v in standing_0.items() if name != "A")),
    compare("B21-excess", f"to 1e-6 at {len(STEPS)} epochs of {len(accounts)} runs: "
            f"{lemma_error < 1e-6}; without misplaced amplitude off by {lemma_null:.2f} or more",
            holds=lemma_error < 1e-6, null_holds=lemma_null < 1e-6),
]

# %%
start_B = np.concatenate([imbalances(settled.networks[-1], j) for j in range(B.c.size)])
end_B = np.concatenate([imbalances(slid[ETA].networks[-1], j) for j in range(B.c.size)])
kept_B = (end_B / start_B).min()
beside_off = above[0][0]
rows += [
    compare("B21-slide", f"reach within {small_reach:.3f}, fraction within {small_mu:.4f} for η up "
            f"to 0.2; even jumps are off by {even:.2f}",
            holds=small_reach < 0.1 and small_mu < 0.02 and same_length < 1e-9,
            null_holds=even < 0.1),
    compare("B21-imbalance", f"within {small_B:.4f} for η up to 0.2; {kept_B:.2f} of it or more is "
            f"left after t = 4000, in the flow {np.exp(-8):.1e}",
            holds=small_B < 0.02, null_holds=kept_B < 10 * np.exp(-8)),
    compare("B21-floor", f"relative error {floor_error[:3].max():.4f} at most for η up to 0.2; the "
            f"floor is {floor[1] / B.value:.1e} of Φ at η = 0.1",
            holds=floor_error[:3].max() < 0.02, null_holds=floor[1] < 0.02 * floor_law[1]),
]

# %%
rows += [
    compare("B21-die", f"within {death_off[:, 1].max():.4f}, after {death_off[:, 0].max():.4f} "
            f"before; errors fall to {fall.min():.3f} and {fall.max():.3f}, the exchange to "
            f"{fall_law:.3f}; 2λ is off by {np.abs(rates[:, 1] / 2 - 1).min():.2f} or more",
            holds=death_off[:, 1].max() < 0.01 and np.abs(fall / fall_law - 1).max() < 0.1,
            null_holds=np.abs(rates[:, 1] / 2 - 1).min() < 0.01),
    compare("B21-exchange", f"{exchange / LAM:.4f} λ, theory {slowest / LAM:.4f} λ, allowed "
            f"{exchange_allowed:.3f}; the deaths are at {death_law.min():.4f} λ",
            holds=abs(exchange / slowest - 1) < exchange_allowed,
            null_holds=abs(exchange / LAM / death_law.min() - 1) < exchange_allowed),
    compare("B21-beside", f"Φ of the stationary point within {abs(beside_off):.1e}, the limit is "
            f"{value_beside / least['A'].value - 1:.1e} lower; live neurons in the empty cell "
            f"{above[0][1]} (seed 0), {above[1][1]} (seed 1); a new one grows at {leave:.3e}, "
            f"theory {leave_law:.3e}",
            holds=abs(beside_off) < 1e-5 and above[0][1] == 0 and above[1][1] > 0
            and abs(leave / leave_law - 1) < 0.01,
            null_holds=proof("A", theta_beside, c_beside) is not None),
]

# %%
many = {lam: [s is not None and s[0] > len(TERMS[name]) for (name, _, other), s in shapes.items()
              if other == lam] for lam in DECAYS}
equal_off = max(max(row[:2]) for row in equal.values())
four_0 = [cond.outputs(run.networks[-1], np.zeros(1))[0] for run in starts[DECAY]]
rows += [
    compare("B21-inputs", "more atoms than the target has directions: " + ", ".join(
        f"{sum(many[lam])} of {len(many[lam])} at λ = {lam:g}" for lam in DECAYS)
        + f"; {len(missing)} limits not found",
        holds=all(many[1e-3]), null_holds=all(many[3e-3])),
    compare("B21-equal", f"Φ and outputs to 1e-12: {equal_off < 1e-12}, an amplitude "
            f"{min(row[2] for row in equal.values()):.2f} apart or more; f(0) of {len(chosen)} "
            f"seeds {np.ptp(chosen[:, 1]):.3f} apart, Φ within {chosen[:, 0].max():.1e}",
            holds=equal_off < 1e-12 and min(row[2] for row in equal.values()) > 0.01
            and np.abs(chosen[:, 0]).max() < 0.01 and np.ptp(chosen[:, 1]) > 0.01,
            null_holds=bool(np.ptp(four_0) > 0.01)),
    compare("B21-small", f"exponent {small_law.slope:.3f} over γ, {width_law.slope:.3f} of m at "
            f"γ = 1, {small_over / LEAST:.2%} over the least there; large "
            f"{large_over / LEAST:.0%} or more",
            holds=abs(small_law.slope - 1) < 0.2 and abs(width_law.slope + 1) < 0.2
            and small_over < 0.01 * LEAST,
            null_holds=large_over < 0.01 * LEAST),
]
claims.report(rows)
