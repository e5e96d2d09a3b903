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
# (chapter-compression)=
# # Compression
#
# {numref}`chapter-rapid-fitting` ends when the data are fitted, {numref}`chapter-exact-limit` is
# about where training ends. Between them lies what {cite:t}`xu2026decay` call compression: weight
# decay shrinks the amplitudes, the tangent kernel shrinks with them, and so the residual grows that
# decay cannot let go. The residual makes a field on the circle of directions, whose extrema attract
# neurons. After this chapter you will know
#
# - how many extrema such a field can have: the paper's proposition 3, and a smaller number that is
#   reached;
# - theorem 4 of the paper, which says that the kernel shrinks like $e^{-2\lambda\tau}$ and the
#   field
#   grows like $e^{2\lambda\tau}$, with all constants of its proof, on networks that we built so
#   that
#   every hypothesis holds;
# - since when each of its hypotheses holds on the paper's own experiment, and which conclusions
#   hold without them;
# - what the lag of the residual behind its reference is, to leading order and without a constant,
#   and that in compression bursts hide it.
#
# It runs for about 30 seconds on one core.

# %%
import numpy as np
import torch
from joblib import Parallel, delayed
from myst_nb import glue
from scipy.integrate import solve_ivp
from scipy.linalg import eigh

from gaugelib import claims, figures
from gaugelib import condensation as cond
from gaugelib.condensation import features, field, field_slope, slopes

torch.set_default_dtype(torch.float64)
DATA, LAM, ETA, EPOCHS, M, GAMMA = cond.four_points(), 1e-3, 0.1, 80_000, 200, 0.4
X, Y, CELLS, TWO_PI = DATA.x, DATA.y, cond.Cells.of(DATA.x), 2 * np.pi
N, FITTED, COMPRESSED = X.size, 447, 16_000
SEEDS = range(3)

# %% [markdown]
# ## The field in a cell
#
# The field $q_e$, its slope $p_e$ and the features $\varphi_\theta,\psi_\theta$ are those of
# {eq}`eq-decay-field`; $\varphi_k,\psi_k$ are the vectors of their values at the $n$ inputs at the
# direction $\theta_k$ of neuron $k$, and $\langle u,v\rangle_n=\frac1n\sum_iu_iv_i$,
# $\lvert v\rvert_n^2=\langle v,v\rangle_n$. The quasi-static residual is
# $e_{\rm qs}=-\lambda(K+\lambda I)^{-1}y$ with the tangent kernel $K=JJ^\top/n$.
#
# A neuron with input weights $r(\cos\theta,\sin\theta)$ is active at $x_i$ where
# $x_i\cos\theta+\sin\theta>0$. The $2n$ directions at which one of these vanishes are the
# *boundaries*; they cut the circle into *cells*. In a cell with the active inputs $S$,
#
# $$
# q_e(\theta)=M\cdot(\cos\theta,\sin\theta),\qquad M=\frac1n\sum_{i\in S}e_i\tilde x_i,\qquad
# \tilde x=(x,1),
# $$ (eq-compress-cell)
#
# a sinusoid, so $q_e''=-q_e$ there ((13) and section 4.2 of the paper).
#
# ```{prf:proposition} Discrete extrema; the paper's proposition 3, with smaller numbers
# :label: prop-compress-extrema
#
# Let the $n$ inputs be different and $e\ne0$. One cell is dead, and $M=0$ in all cells only for
# $e=0$. If $M\ne0$ in every other cell, $q_e$ has at least one strict local extremum; at most
# $2n-1$ lie inside cells, at most $2n-2$ at boundaries, at most $4n-3$ are there in all. For
# $n\ge3$ at most $2n-2$ lie inside cells and at most $4n-4$ are there in all. At both boundaries
# of $x_i$ the slope $p_e$ jumps by $\lvert\tilde x_i\rvert e_i/n$: an extremum there is
# a minimum if $e_i>0$ and a maximum if $e_i<0$.
# ```
#
# ```{prf:proof}
# All $\tilde x_i$ lie in the upper half plane, so $(0,-1)$ is dead, and the dead directions are an
# intersection of half planes, one cell. From there the inputs become active one by one, each at
# its own boundary, and the first cell sees one input alone: $M=0$ in all cells removes $e_i$ after
# $e_i$. A sinusoid has one extremum in an arc of length at most $\pi$, and $q_e=0$ in the dead
# cell: $2n-1$. At the two ends of the dead cell $p_e$ is 0 on one side, so no strict sign change:
# $2n-2$. A continuous function that is not 0 everywhere has a greatest or least value other than
# 0. At $\theta_b$, where $\tilde x_i$ is at a right angle, $\psi$ of $x_i$ switches on
# with $+\lvert\tilde x_i\rvert$, or off from $-\lvert\tilde x_i\rvert$.
#
# Let $0<\alpha_1<\dots<\alpha_n<\pi$ be the angles of the $\tilde x_i$, sorted. The input at
# $\alpha_i$ is active for $\lvert\theta-\alpha_i\rvert<\frac\pi2$, so the first live cell is
# $(\alpha_1-\frac\pi2,\alpha_2-\frac\pi2)$ and the last one
# $(\alpha_{n-1}+\frac\pi2,\alpha_n+\frac\pi2)$. Each sees one input alone, so its sinusoid has
# its extremum at $\alpha_1$, or $\alpha_n$, which is inside only if
# $\alpha_2-\alpha_1>\frac\pi2$, or $\alpha_n-\alpha_{n-1}>\frac\pi2$. For $n\ge3$ both cannot
# be, since $\alpha_n-\alpha_1<\pi$: one live cell has no extremum.
# ```
#
# The paper prints $2n$, $2n$ and $4n$. We draw residuals and inputs at random and count in two
# ways: `Cells.extrema`, which decides by the signs of $p_e$ at the ends of each cell, and the sign
# changes of differences of $q_e$, from its definition, on a grid of 20,000 angles with the
# boundaries added. The positions must agree to one step of the grid.


# %%
def random_case(rng, n):
    return rng.normal(size=n), rng.normal(size=n)


def grid_extrema(x, e, *, corners=True):
    """Angles at which differences of q_e on a fine grid change their sign strictly."""
    bounds = np.concatenate([np.arctan2(1, x) + s * np.pi / 2 for s in (1, -1)]) % TWO_PI
    theta = np.linspace(0, TWO_PI, 20_001)[:-1]
    if corners:
        theta = np.unique(np.concatenate([theta, bounds]))
    q = field(e, theta, x)
    step = np.diff(q, append=q[:1])
    way = np.where(np.abs(step) > 1e-15 * np.abs(e).max(), np.sign(step), 0)
    return theta[np.roll(way, 1) * way < 0]


def agree(x, e):
    found, grid = cond.Cells.of(x).extrema(e), grid_extrema(x, e)
    if found.theta.size != grid.size:
        return False
    apart = np.abs(np.exp(1j * found.theta)[:, None] - np.exp(1j * grid))
    return bool((apart.min(axis=0) < TWO_PI / 20_000).all())


rng = np.random.default_rng(0)
cases = [random_case(rng, n) for n in range(1, 9) for _ in range(40)]
same = [agree(*case) for case in cases]
print(f"both counts and all positions agree in {sum(same)} of {len(same)} random fields")

# %%
counts = []
for x, e in cases:
    cells, ends = cond.Cells.of(x), cond.Cells.of(x).extrema(e)
    length = np.diff(cells.bounds, append=cells.bounds[0] + TWO_PI)
    where = cells.containing(ends.theta[ends.smooth])
    dead = ~cells.active.any(axis=1)
    inside = cells.bounds[dead] + length[dead] * np.array([0.1, 0.5, 0.9])
    counts.append({
        "n": x.size, "all": ends.theta.size, "inner": ends.smooth.sum(),
        "bound": (~ends.smooth).sum(), "cells": cells.bounds.size, "dead": dead.sum(),
        "long": length.max(), "in a cell": np.unique(where, return_counts=True)[1].max(initial=0),
        "in dead": dead[where].sum(), "|q| dead": np.abs(field(e, inside, x)).max(),
        "minima": np.mean(e[np.abs(np.cos(ends.theta[~ends.smooth, None]) * x
                                   + np.sin(ends.theta[~ends.smooth, None])).argmin(axis=1)]
                          * np.where(ends.peak[~ends.smooth], -1, 1) > 0)
        if (~ends.smooth).any() else 1.0})

# %%
count = {key: np.array([c[key] for c in counts]) for key in counts[0]}
n = count["n"]
none = [cond.Cells.of(x).extrema(np.zeros(x.size)).theta.size for x, _ in cases]
print(f"extrema: {count['all'].min()} to {count['all'].max()}; with e = 0: {max(none)}")
print(f"cells 2n: {(count['cells'] == 2 * n).all()}, dead ones {set(count['dead'].tolist())}, "
      f"longest cell over π: {count['long'].max() / np.pi:.4f}")
print(f"most in one cell: {count['in a cell'].max()}; in a dead cell: {count['in dead'].max()}; "
      f"boundary extrema of the type that e_i says: {count['minima'].min():.0%}")

# %% [markdown]
# Random fields have few extrema. To see whether our bounds are reached we climb: change inputs and
# residual at random and keep what has no fewer extrema.


# %%
def climb(n, tries=1500, starts=4):
    """Most extrema (in all, inside cells, at boundaries) seen in a random search."""
    rng, most = np.random.default_rng(n), np.zeros(3, dtype=int)
    for _ in range(starts):
        (x, e), level = random_case(rng, n), 0
        for _ in range(tries):
            size = np.exp(2 * rng.normal() - 2)
            move = rng.normal(size=(2, n)) * size
            trial = np.sort(x + move[0]), e * (1 + move[1])
            ends = cond.Cells.of(trial[0]).extrema(trial[1])
            seen = np.array([ends.theta.size, ends.smooth.sum(), (~ends.smooth).sum()])
            most = np.maximum(most, seen)
            if seen[0] >= level:
                (x, e), level = trial, seen[0]
    return most


def ours(n):
    """Our bounds: in all, inside cells, at boundaries."""
    less = np.asarray(n) >= 3
    return np.array([4 * n - 3 - less, 2 * n - 1 - less, 2 * n - 2])


SIZES = np.arange(1, 6)
found = np.array(Parallel()(delayed(climb)(n) for n in SIZES))
print("most extrema found (our bound)\nn     in all    inside    at boundaries")
for n_, row in zip(SIZES, found, strict=True):
    print(f"{n_}" + "".join(
        f"{most:6d} ({top:2d})" for most, top in zip(row, ours(n_), strict=True)))

# %% mystnb={"figure": {"caption": "Left: the random field of four inputs with the most strict extrema, marked, inside cells (dots) and at boundaries (squares); grey lines are boundaries. Right: number of extrema of the random fields over the number of inputs (dots, one for each count that occurs), the most that the search found (diamonds), and the bounds: $4n$ of the paper, and ours, $4n-3$ for one and two inputs and $4n-4$ for more.", "name": "fig-compress-extrema"}, "image": {"alt": "Left: a curve with corners at some of the eight grey lines, flat in one cell. Right: dots well below two parallel rising lines; diamonds lie on the lower line for one and two inputs and below it for more."}}
fig, (left, right) = figures.panels(1, 2, width=8.6, height=3.0)
x, e = max((c for c in cases if c[0].size == 4),
           key=lambda c: cond.Cells.of(c[0]).extrema(c[1]).theta.size)
circle = np.linspace(0, TWO_PI, 2001)
ends = cond.Cells.of(x).extrema(e)
left.plot(np.degrees(circle), field(e, circle, x), color=figures.BLACK, linewidth=1.3)
for bound in cond.Cells.of(x).bounds:
    left.axvline(np.degrees(bound), color=figures.GUIDE, linewidth=0.5)
for kind, marker, colour in ((ends.smooth, "o", figures.BLUE), (~ends.smooth, "s", figures.ORANGE)):
    left.plot(np.degrees(ends.theta[kind]), ends.value[kind], marker, color=colour,
              fillstyle="full" if marker == "o" else "none")
seen = np.unique(np.column_stack([n, count["all"]]), axis=0)
right.plot(*seen.T, "o", color=figures.BLUE, markersize=4, label="random")
right.plot(SIZES, found[:, 0], "D", color=figures.ORANGE, label="search", fillstyle="none")
for bound, dash, name in ((4 * np.arange(1, 9), figures.DASHES[1], "4n"),
                          (ours(np.arange(1, 9))[0], figures.DASHES[0], "ours")):
    right.plot(range(1, 9), bound, color=figures.GREEN, linestyle=dash, linewidth=1, label=name)
left.set_xticks(range(0, 361, 90))
figures.finish(left, "direction θ (degrees)", "$q_e$", legend=False)
figures.finish(right, "inputs n", "strict extrema")
figures.plt.show()

# %%
print(f"left: {ends.smooth.sum()} inside cells, {(~ends.smooth).sum()} at boundaries")
print("right, most among random fields: "
      + ", ".join(f"{count['all'][n == k].max()}" for k in range(1, 9)) + " (n = 1 to 8)")
glue("compress-most", ", ".join(str(k) for k in found[:, 0]), display=False)

# %% [markdown]
# So $4n-3$ cannot be lowered for one and two inputs. For one to five inputs this short search found
# at most {glue:text}`compress-most`; whether $4n-4$ is reached for three inputs or more we do not
# know.
#
# ### Which extrema attract
#
# Let $e$ and $\beta=a/r$ be fixed. Then $\dot\theta=-2\beta p_e(\theta)$, in a cell with a smooth
# extremum $\dot\delta=2\beta q_e(\theta_\star)\sin\delta$ for $\delta=\theta-\theta_\star$. So it
# attracts if and only if $a\,q_e(\theta_\star)<0$: positive neurons go to negative minima, negative
# ones to positive maxima. At a boundary with $p_e<0$ before and $p_e>0$ after it, a positive neuron
# is driven to it from both sides.
#
# The test integrates. From both sides of each smooth extremum, a fifth of the way to the next
# boundary, RK4 follows the angle over the time $3/\lvert2\beta
# q_e\rvert$, for both signs of $a$:
# attracting means that both distances have shrunk. At boundaries the equation is followed at unit
# speed
# (attraction does not depend on the speed) from a hundredth of the way, in steps of a
# fiftieth of the distance, two hundred of them: attracting means that both ends are within a tenth
# of it.


# %%
def shrinks(e, x, star, value, reach, beta):
    """Whether both neighbours of a smooth extremum come nearer."""
    theta = star + np.array([-0.2, 0.2]) * reach
    h = 3 / (2 * np.abs(beta * value)) / 100

    def speed(z):
        return -2 * beta * field_slope(e, z, x)

    for _ in range(100):  # fixed steps: an adaptive method halts where p jumps
        k1 = speed(theta)
        k2 = speed(theta + h / 2 * k1)
        k3 = speed(theta + h / 2 * k2)
        theta = theta + h / 6 * (k1 + 2 * k2 + 2 * k3 + speed(theta + h * k3))
    return bool((np.abs(theta - star) < 0.2 * reach).all())


def reaches(e, x, bound, distance, sign):
    """Whether neurons of this sign come to a boundary from both sides, at unit speed."""
    theta = bound + np.array([-distance, distance])
    for _ in range(200):
        theta = theta - distance / 50 * sign * np.sign(field_slope(e, theta, x))
    return bool((np.abs(theta - bound) < distance / 10).all())


# %%
smooth, edge = [], []
for x, e in cases[::4]:
    cells, ends = cond.Cells.of(x), cond.Cells.of(x).extrema(e)
    for star, value, peak, inner in zip(
            ends.theta, ends.value, ends.peak, ends.smooth, strict=True):
        away = np.abs(np.angle(np.exp(1j * (cells.bounds - star))))
        away = np.sort(away)[0 if inner else 1]
        for sign in (1, -1):
            if inner:
                attracts = shrinks(e, x, star, value, away, 1.3 * sign)
                smooth.append((attracts, sign * value < 0, value < 0))
            else:
                edge.append((reaches(e, x, star, away / 100, sign), sign, peak))
smooth, edge = np.array(smooth), np.array(edge)
rule, sign_alone = ((smooth[:, 0] == smooth[:, k]).mean() for k in (1, 2))
positive = edge[edge[:, 1] == 1].astype(bool)
low, high = positive[~positive[:, 2], 0].mean(), positive[positive[:, 2], 0].mean()
print(f"{len(smooth)} pairs of smooth extremum and sign: a q < 0 right in {rule:.1%}, "
      f"q < 0 alone in {sign_alone:.1%}")
print(f"{len(positive)} extrema at boundaries attract positive neurons: minima {low:.0%}, "
      f"maxima {high:.0%}")

# %% [markdown]
# ## The experiment
#
# The paper's main experiment, as in {numref}`chapter-rapid-fitting`: four points, 200 neurons,
# $\gamma=0.4$, $\eta=0.1$, $\lambda=10^{-3}$, 80,000 updates, flow time $t=\eta\cdot$ epoch.
# Compression is the time from epoch 447 to 16,000. Three seeds, because what a panel shows belongs
# to a draw; figures show seed 0. A network is kept every 50 epochs, more often at first.


# %%
KEEP = np.unique(np.concatenate([
    [0, FITTED, 3913], np.geomspace(1, 1000, 41).astype(int), np.arange(0, EPOCHS + 1, 50)]))


def train(seed):
    return cond.descend(DATA, cond.initial(seed, M, GAMMA), eta=ETA, lam=LAM, steps=EPOCHS,
                        keep=KEEP)


runs = Parallel()(delayed(train)(seed) for seed in SEEDS)
run = runs[0]
EPOCH = run.epochs
AT = {int(epoch): k for k, epoch in enumerate(EPOCH)}


def residual(network):
    return cond.outputs(network, X) - Y


def live(network):
    return features(cond.polar(network)[2], X).any(axis=1)


def quasi(network, lam=LAM):
    """The quasi-static residual, -lam (K + lam I)^-1 y."""
    return cond.quasi_static(cond.tangent_kernel(network, X), Y, lam)


def height(e):
    """sup |q_e| over the circle, exactly: it is attained at an extremum."""
    return np.abs(CELLS.extrema(e).value).max(initial=0)

# %%
run_fields = [residual(z) for r in runs for z in r.networks[::20]]
run_same = [agree(X, e) for e in run_fields]
on_run = [CELLS.extrema(e) for e in run_fields]
run_counts = [(e.theta.size, e.smooth.sum(), (~e.smooth).sum()) for e in on_run]
low_run, high_run = np.min(run_counts, axis=0), np.max(run_counts, axis=0)
edges = np.unique(np.concatenate([e.theta[~e.smooth] for e in on_run]))
print(f"{len(run_fields)} fields of the runs: extrema agree with the grid in {sum(run_same)};\n"
      f"   all, inside, at boundaries: {low_run} to {high_run}")
print(f"boundary extrema at {edges.size} angles only: {np.degrees(edges).round(2)}")
off_edge = np.array([
    np.abs(np.exp(1j * star) - np.exp(1j * grid_extrema(X, e, corners=False))).min()
    for e, ends in zip(run_fields, on_run, strict=True) for star in ends.theta[~ends.smooth]])
at_edge = off_edge < TWO_PI / 20_000
print(f"on a grid without the boundaries an extremum is within one step of them in {at_edge.sum()} "
      f"of {at_edge.size} cases")

# %% [markdown]
# Two more statements of section 4.2 on these fields: {eq}`eq-compress-cell` against the definition
# of
# $q_e$, with the moment of the next cell as null, and $q_e''=-q_e$. For the latter the second
# difference of a sinusoid, $q(\theta+h)-2q(\theta)+q(\theta-h)=-2(1-\cos h)\,q(\theta)$, is exact
# for any $h$; the null takes $\theta$ near a boundary, so that $\theta+h$ is in the next cell.

# %%
middle = CELLS.bounds + np.diff(CELLS.bounds, append=CELLS.bounds[0] + TWO_PI) / 2
H, NEAR = 0.05, 0.02
beyond = np.roll(CELLS.bounds, -1) - NEAR


def sinusoid(e, theta):
    return (field(e, theta + H, X) - 2 * field(e, theta, X) + field(e, theta - H, X)) / (
        2 - 2 * np.cos(H)) + field(e, theta, X)


cell_error, cell_null, bent, bent_null = 0.0, np.inf, 0.0, np.inf
for e in run_fields:
    direction, q = np.array([np.cos(middle), np.sin(middle)]), field(e, middle, X)
    own, other = ((moment.T * direction).sum(axis=0) for moment in (
        CELLS.moments(e), np.roll(CELLS.moments(e), 1, axis=0)))
    cell_error = max(cell_error, np.abs(own - q).max() / height(e))
    cell_null = min(cell_null, np.abs(other - q).max() / height(e))
    bent = max(bent, np.abs(sinusoid(e, middle)).max() / height(e))
    bent_null = min(bent_null, np.abs(sinusoid(e, beyond)).max() / height(e))
print(f"one sinusoid a cell to 1e-12: {cell_error < 1e-12}; moment of the next cell off by "
      f"{cell_null:.2f}")
print(f"q'' = −q to 1e-10: {bent < 1e-10}; across a boundary off by {bent_null:.1f}")

# %% [markdown]
# The extremum itself moves, $\dot\theta_\star=(M\times\dot M)/\lvert M\rvert^2$, and then
#
# $$
# \dot\delta=2\beta\,q_e(\theta_\star)\sin\delta-\dot\theta_\star .
# $$ (eq-compress-offset)
#
# Left side: central differences over $\pm10^{-3}$ of flow time, RK4 on the flow, of neurons and of
# extrema. Right side: $\dot M$ from $\dot e=-2(K+\lambda I)e-2\lambda y$. We ask for $10^{-5}$ of
# the
# largest term. Null: no drift. (The error is of second order in the step, which was first 0.05, too
# coarse for neurons with $\lvert a/r\rvert$ in the hundreds; it was refined, not the limit.)


# %%
def turn(angle):
    return np.angle(np.exp(1j * angle))


# %%
def offsets(network, h=1e-3):
    """(left, right, right without drift) of the law for neurons in the cells of smooth extrema."""
    a, r, theta = cond.polar(network)
    e, K = residual(network), cond.tangent_kernel(network, X)
    de = -2 * (K @ e + LAM * (e + Y))
    later, sooner = (cond.follow(DATA, network, LAM, h=s * h, steps=1)[-1] for s in (1, -1))
    ends = [CELLS.extrema(residual(z)) for z in (network, later, sooner)]
    sides = []
    for star, value in zip(ends[0].theta[ends[0].smooth], ends[0].value[ends[0].smooth],
                           strict=True):
        cell = CELLS.containing(np.array([star]))[0]
        mine = (CELLS.containing(theta) == cell) & live(network)
        (mx, my), (dx, dy) = CELLS.moments(e)[cell], CELLS.moments(de)[cell]
        drift = (mx * dy - my * dx) / (mx**2 + my**2)
        near = [end.theta[np.abs(turn(end.theta - star)).argmin()] for end in ends[1:]]
        moved = [turn(cond.polar(z)[2][mine] - at) for z, at in zip((later, sooner), near,
                                                                    strict=True)]
        pull = 2 * (a / r)[mine] * value * np.sin(turn(theta[mine] - star))
        sides.append(((moved[0] - moved[1]) / (2 * h), pull - drift, pull))
    return [np.concatenate(side) for side in zip(*sides, strict=True)]



# %%
OFFSET_EPOCHS = (1000, 2000, 5000, COMPRESSED)
offset_laws = [offsets(run.at(epoch)) for epoch in OFFSET_EPOCHS]
for epoch, law in zip(OFFSET_EPOCHS, offset_laws, strict=True):
    if not law or not law[0].size:
        raise ValueError("OFFSET_EPOCHS must be epochs with neurons in the cells of smooth "
                         f"extrema; got {epoch}, at which seed {SEEDS[0]} has none")
offset_error, offset_null = (np.array([np.abs(law[0] - law[k]).max() / np.abs(law[0]).max()
                                       for law in offset_laws]) for k in (1, 2))
print("neurons in the cells of smooth extrema: "
      + ", ".join(f"{law[0].size}" for law in offset_laws) + " at epochs "
      + ", ".join(f"{epoch:,}" for epoch in OFFSET_EPOCHS))
print(f"the law holds to 1e-5: {offset_error.max() < 1e-5}; without the drift off by "
      f"{offset_null.min():.2f} or more")

# %% [markdown]
# ## Theorem 4: the kernel shrinks, the field grows
#
# ```{prf:theorem} Kernel decay and field amplification; the paper's theorem 4
# :label: thm-compress-kernel
#
# Let $y\ne0$, $t_0=T_I$ of {prf:ref}`thm-decay-equilibration`, $\lambda(t_1-t_0)\le L$,
# $\tau=t-t_0$. Suppose that on $[t_0,t_1]$ no
# neuron changes its activity at an input, and that every neuron that is not dead has
#
# $$
# B^{-1}\le\lvert a_k/r_k\rvert\le B,\qquad
# \lvert q(\theta_k)\rvert+\lvert p(\theta_k)\rvert\le\varepsilon\lambda .
# $$ (eq-compress-hypotheses)
#
# Let $K_{t_0}$ be positive definite with $\lvert K_{t_0}\rvert\le\chi\,\kappa$ and
# $\lambda\le\varepsilon\kappa$, $\kappa=\lambda_{\min}(K_{t_0})$. With
# $\delta_0=\lvert e-e_{\rm qs}\rvert/\lvert e_{\rm qs}\rvert$ at $t_0$, $C_\varphi=
# \sup_\theta\lvert\varphi_\theta(X)\rvert_n$ and a constant $C=C(B,L,\chi)$, if $\varepsilon$ is
# small enough,
#
# $$
# \begin{aligned}
# \lvert K_t-e^{-2\lambda\tau}K_{t_0}\rvert&\le C\varepsilon\,e^{-2\lambda\tau}\lvert K_{t_0}\rvert,
#   &&\text{(paper: 14)}\\
# \sup\lvert e-e_{\rm qs}\rvert/\lvert e_{\rm qs}\rvert&\le C(\delta_0+\varepsilon),
#   &&\text{(paper: 15)}\\
# \sup_\theta\lvert q_t-e^{2\lambda\tau}q_{t_0}\rvert&\le C(\varepsilon+\delta_0)\,e^{2\lambda\tau}
#   C_\varphi\lvert e_{\rm qs}(t_0)\rvert_n .&&\text{(paper: 16)}
# \end{aligned}
# $$ (eq-compress-theorem)
# ```
#
# Here $B$ is a bound on $\lvert a/r\rvert$, as in the paper, and *not* the imbalance $a^2-r^2$ of
# {numref}`chapter-rapid-fitting`, which has the same letter there.
#
# ```{prf:proof}
# With $S_k=\varphi_k\varphi_k^\top+\psi_k\psi_k^\top$, constant while the mask is fixed, neuron
# $k$ contributes $K_k=\frac1n(r_k^2\varphi_k\varphi_k^\top+a_k^2S_k)$, and the flow gives
#
# $$
# \dot K_k=-2\lambda K_k+E_k,\quad E_k=-\tfrac{4a_kr_kq_k}n(\varphi_k\varphi_k^\top+S_k)
#   -\tfrac{2a_kr_kp_k}n(\psi_k\varphi_k^\top+\varphi_k\psi_k^\top).
# $$ (eq-compress-rate)
#
# As $\lvert a_kr_k\rvert\le B\min(a_k^2,r_k^2)$, $\pm E_k\preccurlyeq4B\varepsilon\lambda K_k$.
# Summed over $k$, and integrated,
#
# $$
# \begin{aligned}
# -4B\varepsilon\lambda K&\preccurlyeq\textstyle\sum_kE_k\preccurlyeq4B\varepsilon\lambda K,
#   &&\text{(paper: 36)}\\
# e^{-h}K_{t_0}&\preccurlyeq e^{2\lambda\tau}K_t\preccurlyeq e^hK_{t_0},\quad
#   h=4B\varepsilon\lambda\tau,&&\text{(paper: 37)}
# \end{aligned}
# $$ (eq-compress-order)
#
# which is the first line of {eq}`eq-compress-theorem`. Then $e_{\rm qs}$ is $e^{2\lambda\tau}$
# times its
# start up to the relative error
#
# $$
# d=e^h\bigl[\chi(e^h-1)+\tfrac\lambda\kappa(e^{2\lambda\tau}-1)\bigr],
# $$ (eq-compress-d)
#
# and $z=e-e_{\rm qs}$ obeys $\dot z=-2(K+\lambda I)z-\dot e_{\rm qs}$, so with
# $\bar\kappa=e^{-2L-4BL\varepsilon}\kappa$
#
# $$
# \lvert z(t)\rvert\le e^{-2(\bar\kappa+\lambda)\tau}\lvert z(t_0)\rvert
#   +\int_{t_0}^te^{-2(\bar\kappa+\lambda)(t-s)}\lvert\dot e_{\rm qs}(s)\rvert\,ds,
#   \quad\text{(paper: 41)}
# $$ (eq-compress-driven)
#
# and $\lvert\dot e_{\rm qs}\rvert\le c\lambda\lvert e_{\rm qs}\rvert$,
# $c=(2+4B\varepsilon)e^{8BL\varepsilon}\chi$. Where $d\le\frac12$,
#
# $$
# \frac{\lvert z\rvert}{\lvert e_{\rm qs}\rvert}\le2e^{-2(\bar\kappa+2\lambda)\tau}\delta_0
#   +\frac{2c\lambda}{\bar\kappa+2\lambda}=:g,\qquad
# \frac{\sup_\theta\lvert q_t-e^{2\lambda\tau}q_{t_0}\rvert}
#   {e^{2\lambda\tau}C_\varphi\lvert e_{\rm qs}(t_0)\rvert_n}\le d+(1+d)g+\delta_0 .
# $$ (eq-compress-constants)
# ```
#
# The paper states $C$; {eq}`eq-compress-d` and {eq}`eq-compress-constants` are what its proof gives
# (there the 2 before $c$ is inside $C$). Equation (38) is an identity:
# $e_{\rm qs}(t)-e^{2\lambda\tau}e_{\rm qs}(t_0)=-e^{2\lambda\tau}(A_0+D)^{-1}D\,e_{\rm qs}(t_0)$
# with $A_0=K_{t_0}+\lambda I$ and $D=e^{2\lambda\tau}K_t-K_{t_0}+\lambda(e^{2\lambda\tau}-1)I$.
#
# ### The derivative of the kernel
#
# {eq}`eq-compress-rate` neuron by neuron: left, a forward derivative in torch of
# $K_k(a,w,b)$ along the velocity; right, the formula.


# %%
def parts(network):
    """K_k and E_k (m, n, n) of all neurons, with the paper's phi, psi, q, p."""
    a, r, theta = cond.polar(network)
    phi, psi, e = features(theta, X), slopes(theta, X), residual(network)
    q, p = (amplitude[:, None, None] for amplitude in (phi @ e / N, psi @ e / N))
    one, both = phi[:, :, None] * phi[:, None], psi[:, :, None] * psi[:, None]
    mixed = psi[:, :, None] * phi[:, None]
    a, r = a[:, None, None], r[:, None, None]
    K = (r**2 * one + a**2 * (one + both)) / N
    E = -4 * a * r * q / N * (2 * one + both) - 2 * a * r * p / N * (mixed + mixed.mT)
    return K, E


ROWS = torch.tensor(DATA.rows)


def kernels(z):
    pre = (ROWS @ z[1:]).T
    hidden, active = torch.relu(pre), (pre > 0) * z[0][:, None]
    return (hidden[:, :, None] * hidden[:, None]
            + active[:, :, None] * active[:, None] * (ROWS @ ROWS.T)) / N


# %%
def largest_off(x, y):
    return np.abs(x - y).max() / np.abs(x).max()


mask_error, mask_null, rate_error, rate_null, sum_error = 0.0, np.inf, 0.0, np.inf, 0.0
for epoch in (FITTED, 2000, 5000, COMPRESSED, EPOCHS):
    z = run.at(epoch)
    theta = cond.polar(z)[2]
    phi, psi, on = features(theta, X), slopes(theta, X), DATA.rows @ z[1:] > 0
    S = np.einsum("ik,jk,ij->kij", on, on, DATA.rows @ DATA.rows.T)
    one, both = phi[:, :, None] * phi[:, None], psi[:, :, None] * psi[:, None]
    mask_error = max(mask_error, largest_off(S, one + both))
    mask_null = min(mask_null, largest_off(S, one))
    K, E = parts(z)
    speed = torch.tensor(cond.velocity(DATA, z, LAM))
    along = torch.func.jvp(kernels, (torch.tensor(z),), (speed,))
    sum_error = max(sum_error, largest_off(cond.tangent_kernel(z, X), K.sum(axis=0)))
    rate_error = max(rate_error, largest_off(along[1].numpy(), -2 * LAM * K + E))
    rate_null = min(rate_null, largest_off(along[1].numpy(), -2 * LAM * K))
print(f"S = φφᵀ + ψψᵀ to 1e-12: {mask_error < 1e-12}; φφᵀ alone off by {mask_null:.2f}")
print(f"K = ΣK_k to 1e-12: {sum_error < 1e-12}; dK_k/dt to 1e-10: {rate_error < 1e-10}; "
      f"without E_k off by {rate_null:.2f}")

# %% [markdown]
# ### Networks on which every hypothesis holds
#
# By the paper's own residual, $\lvert q\rvert/\lambda\approx\lvert\langle
# K^{-1}y,\varphi\rangle_n\rvert$: a small
# $\varepsilon$ needs a kernel that is large against the *target*, not only against $\lambda$;
# random
# normal weights have no bound on $\lvert a/r\rvert$, and of many neurons some always sit near a
# boundary. So we build networks: 40 neurons at random angles at least 0.15 away from every
# boundary, $\lvert a/r\rvert$
# log-uniform in $[\frac1{1.5},1.5]$, amplitudes and signs from a normal vector projected so that
# all outputs are zero,
# $e(0)=-y$, then scaled to a given least eigenvalue of $K$: four
# sizes, each twice the last. We take $\lambda=0.03$, which only sets the unit of time, and
# $\lambda/\kappa$ about as large as
# $\lvert q\rvert/\lambda$; $L=\frac12$. The flow is followed by an implicit Runge–Kutta method
# (Radau) to $t_0=T_I=\log(\kappa\log m/\lambda)/2(\kappa+\lambda)$ and on to $t_1=t_0+L/\lambda$.
# A second
# solver, LSODA, follows the smallest; residual, kernel and tracking error must agree to $10^{-6}$
# (with relative tolerances of $10^{-10}$ the residual, a small sum of large terms, did not; they
# are
# $10^{-13}$ now). The other choices were made after trial runs with other numbers of neurons, other
# $\lambda$ and with outputs that were not zero ($\delta_0$ was then huge).

# %%
BUILT, SPAN, WIDTH, KAPPAS = 0.03, 0.5, 40, (25, 50, 100, 200)


def build(kappa, seed=0):
    """Network (3, WIDTH) with f(X) = 0 and the given least eigenvalue of K."""
    rng, theta = np.random.default_rng(seed), np.empty(0)
    while theta.size < WIDTH:
        angle = rng.uniform(0, TWO_PI, WIDTH)
        away = np.abs(turn(angle[:, None] - CELLS.bounds)).min(axis=1)
        theta = np.append(theta, angle[away > 0.15])[:WIDTH]
    seen, c = features(theta, X).T, rng.normal(size=WIDTH)
    c -= np.linalg.pinv(seen) @ seen @ c
    ratio = 1.5 ** rng.uniform(-1, 1, WIDTH)
    r = np.sqrt(np.abs(c) / ratio)
    z = np.stack([np.sign(c) * ratio * r, r * np.cos(theta), r * np.sin(theta)])
    return z * np.sqrt(kappa / np.linalg.eigvalsh(cond.tangent_kernel(z, X))[0])


def follow(kappa, method="Radau", points=101):
    """Networks (points, 3, WIDTH) on the flow at equal steps of [T_I, T_I + SPAN/BUILT]."""
    z = build(kappa)
    T = np.log(kappa * np.log(WIDTH) / BUILT) / (2 * (kappa + BUILT))
    times = T + np.linspace(0, SPAN / BUILT, points)

    def rate(_, v):
        return cond.velocity(DATA, v.reshape(3, -1), BUILT).ravel()

    flow = solve_ivp(rate, (0, times[-1]),
                     z.ravel(), method=method, rtol=1e-13, atol=1e-16 * np.abs(z).max(),
                     t_eval=times)
    return flow.y.T.reshape(points, 3, WIDTH)


# %%
def series(path, lam):
    """What theorem 4 speaks of, along networks (k, 3, m); C is theirs at t_0 = path[0]."""
    a, r, theta = cond.polar(path)
    awake = features(theta.ravel(), X).any(axis=1).reshape(theta.shape)
    e, K = np.array([residual(z) for z in path]), np.array([
        cond.tangent_kernel(z, X) for z in path])
    qs = np.array([cond.quasi_static(k, Y, lam) for k in K])
    q, p = (np.array([f(x, t, X) for x, t in zip(e, theta, strict=True)])
            for f in (field, field_slope))
    ratio = np.abs(a) / r
    worst = np.where(awake, np.maximum(ratio, 1 / ratio), 1).max(axis=1)
    pull = np.where(awake, np.abs(q) + np.abs(p), 0).max(axis=1) / lam
    on = DATA.rows @ path[:, 1:] > 0
    least = np.linalg.eigvalsh(K)
    return {"e": e, "K": K, "qs": qs, "B": worst, "pull": pull, "on": on, "least": least[:, 0],
            "chi": least[:, -1] / least[:, 0], "mismatch": np.linalg.norm(e - qs, axis=1)
            / np.linalg.norm(qs, axis=1)}


def changed(on):
    """Neurons that have changed their activity at an input since the first network: (k,)."""
    return np.maximum.accumulate((on != on[0]).any(axis=1), axis=0).sum(axis=1)


CIRCLE = np.linspace(0, TWO_PI, 20_001)
C_PHI, _ = cond.suprema(X)


# %%
def hypotheses(s, lam):
    """The least B, epsilon, chi, kappa, delta_0 for which the hypotheses hold, masks apart."""
    kappa = s["least"][0]
    eps = max(s["pull"].max(), lam / kappa)
    return s["B"].max(), eps, s["chi"][0], kappa, s["mismatch"][0]


def bounds(s, tau, lam):
    """h, d, kappa-bar, c, g and the bound of (16) at the times tau, with the proof's constants."""
    B, eps, chi, kappa, start = hypotheses(s, lam)
    h, L = 4 * B * eps * lam * tau, lam * tau[-1]
    d = np.exp(h) * (chi * np.expm1(h) + lam / kappa * np.expm1(2 * lam * tau))
    bar = np.exp(-2 * L - h[-1]) * kappa
    c = (2 + 4 * B * eps) * np.exp(2 * h[-1]) * chi
    first = 2 * np.exp(-2 * (bar + 2 * lam) * tau) * start
    g = first + 2 * c * lam / (bar + 2 * lam)
    return {"h": h, "d": d, "bar": bar, "c": c, "first": first, "g": g,
            "field": d + (1 + d) * g + start}


def norm(K):
    return np.linalg.norm(K, 2, axis=(-2, -1))


def lefts(s, tau, lam):
    """Left sides of (14), (15), (16), each over its scale."""
    grow = np.exp(2 * lam * tau)
    kernel = norm(grow[:, None, None] * s["K"] - s["K"][0]) / norm(s["K"][0])
    gap = np.array([height(e - g * s["e"][0]) / g for e, g in zip(s["e"], grow, strict=True)])
    scale = C_PHI * np.linalg.norm(s["qs"][0]) / np.sqrt(N)
    return {"kernel": kernel, "residual": s["mismatch"], "field": gap / scale}


# %%
paths = Parallel()(delayed(follow)(kappa) for kappa in KAPPAS)
TAU = np.linspace(0, SPAN / BUILT, len(paths[0]))
family = [series(path, BUILT) for path in paths]
limits = [bounds(s, TAU, BUILT) for s in family]
left_sides = [lefts(s, TAU, BUILT) for s in family]
assumed = np.array([hypotheses(s, BUILT) for s in family])
margin = [np.abs(turn(np.arctan2(path[:, 2], path[:, 1])[..., None] - CELLS.bounds)).min()
          for path in paths]
moved_masks = [int(changed(s["on"])[-1]) for s in family]
other = series(follow(KAPPAS[0], "LSODA"), BUILT)
solver = max(np.abs(other[k] - family[0][k]).max() / np.abs(family[0][k]).max()
             for k in ("e", "K", "mismatch"))
print(f"two solvers agree to 1e-6: {solver < 1e-6}")
print("       κ   neurons that change  nearest boundary      B   (|q| + |p|)/λ    λ/κ     χ"
      "     δ₀")
for k in range(len(KAPPAS)):
    B, eps, chi, least, start = assumed[k]
    print(f"{least:8.4g} {moved_masks[k]:12d} {margin[k]:21.4f} {B:11.3f} "
          f"{family[k]['pull'].max():11.2e} {BUILT / least:10.2e} {chi:5.1f} {start:7.4f}")

# %%
print("                 largest left side            largest bound           left/(ε or δ₀ + ε)")
sizes = {"kernel": assumed[:, 1], "residual": assumed[:, 1] + assumed[:, 4],
         "field": assumed[:, 1] + assumed[:, 4]}
name_of = {"kernel": "(14)", "residual": "(15)", "field": "(16)"}
used, constant = {}, {}
for name, size in sizes.items():
    stated = [np.expm1(b["h"]) if name == "kernel" else b["g" if name == "residual" else "field"]
              for b in limits]
    begin = int(name == "kernel")  # both sides of (14) are 0 at first
    used[name] = [(s[name][begin:] / b[begin:]).max()
                  for s, b in zip(left_sides, stated, strict=True)]
    constant[name] = np.array([s[name].max() for s in left_sides]) / size
    for k, kappa in enumerate(KAPPAS):
        print(f"{name_of[name]}  κ = {kappa:5d} {left_sides[k][name].max():14.3e} "
              f"{stated[k].max():23.3e} {constant[name][k]:22.4f}")
print("d ≤ ½: " + ", ".join(f"{b['d'].max() <= 0.5} (κ = {k})"
                            for b, k in zip(limits, KAPPAS, strict=True)))

# %% [markdown]
# The hypotheses hold: no neuron changes an activity at the 101 records (and by
# {eq}`eq-compress-hypotheses` none can between two of them, since angles move by
# $2B\varepsilon\lambda$
# a unit of time), $\varepsilon$ is small, $d\le\frac12$. So must the conclusions and the steps of
# the proof, and they do, the first
# with a share of the bound that is the same for all sizes:
# the deviation of the kernel is a fixed multiple of $\varepsilon$, so the order in (14) cannot be
# improved.
# In (15) and (16) $\delta_0$ decides. How much slack each step has:

# %%
def share(s, b, tau, lam, path):
    """Largest shares of (36), (37) and d that are used, (37) for a kernel that stands still,
    |e_qs| over its start and that over e^(2 lam tau), and the relative error of (38)."""
    B, eps, chi, kappa, start = hypotheses(s, lam)
    order = max(np.abs(eigh(parts(z)[1].sum(axis=0), K, eigvals_only=True)).max()
                for z, K in zip(path, s["K"], strict=True)) / (4 * B * eps * lam)
    grow = np.exp(2 * lam * tau)
    between = max(np.abs(np.log(eigh(g * K, s["K"][0], eigvals_only=True))).max() / h
                  for g, K, h in zip(grow[1:], s["K"][1:], b["h"][1:], strict=True))
    growth = np.linalg.norm(s["qs"], axis=1) / np.linalg.norm(s["qs"][0])
    A, D = s["K"][0] + lam * np.eye(N), [g * K - s["K"][0] + lam * (g - 1) * np.eye(N)
                                         for g, K in zip(grow, s["K"], strict=True)]
    identity = max(np.abs(qs / g - s["qs"][0] + np.linalg.solve(A + d, d @ s["qs"][0])).max()
                   for qs, g, d in zip(s["qs"], grow, D, strict=True)) / np.abs(s["qs"][0]).max()
    off = [np.linalg.norm(qs / g - s["qs"][0]) for qs, g in zip(s["qs"], grow, strict=True)]
    still = max(np.abs(np.log(eigh(K, s["K"][0], eigvals_only=True))).max() / h
                for K, h in zip(s["K"][1:], b["h"][1:], strict=True))
    return {"order": order, "between": between, "still": still, "growth": growth,
            "ratio": growth / grow,
            "identity": identity, "d": max(off[1:] / b["d"][1:] / np.linalg.norm(s["qs"][0]))}


def drift(s, path, lam):
    """e_qs' = -(K + lam I)^-1 K' e_qs with K' = -2 lam K + sum E_k (35): (k, n)."""
    rates = [parts(z)[1].sum(axis=0) - 2 * lam * K for z, K in zip(path, s["K"], strict=True)]
    return np.array([-np.linalg.solve(K + lam * np.eye(N), rate @ qs)
                     for K, rate, qs in zip(s["K"], rates, s["qs"], strict=True)])


# %%
def lag_bound(s, b, tau, lam, path):
    """The right side of (41) for |z| at the times tau, the integral by lower sums."""
    speed, fade = np.linalg.norm(drift(s, path, lam), axis=1), 2 * (b["bar"] + lam)
    start = s["mismatch"][0] * np.linalg.norm(s["qs"][0])
    right = [start]
    for k, h in enumerate(np.diff(tau)):
        gone = np.exp(-fade * h)
        right.append(gone * right[-1] + min(speed[k:k + 2]) * (1 - gone) / fade)
    return np.array(right)


# %%
steps = [share(*case) for case in zip(family, limits, [TAU] * 4, [BUILT] * 4, paths, strict=True)]
lagging = [s["mismatch"] * np.linalg.norm(s["qs"], axis=1) / lag_bound(s, b, TAU, BUILT, path)
           for s, b, path in zip(family, limits, paths, strict=True)]
print("largest share of the bound     " + "".join(f"   κ = {k:<6d}" for k in KAPPAS))
rows_shown = {
    "(36) ±4Bελ": [t["order"] for t in steps], "(37) ±h": [t["between"] for t in steps],
    "(14) e^h − 1": used["kernel"],
    "|e_qs e^(−2λτ) − e_qs(t₀)|, d": [t["d"] for t in steps],
    "(41) from the second record": [x[1:].max() for x in lagging],
    "(15)": used["residual"], "(16)": used["field"]}
for name, values in rows_shown.items():
    print(f"{name:31}" + "".join(f"{v:13.{2 if '(41)' in name else 4}f}" for v in values))
compared = [(t["ratio"].min(), t["ratio"].max(), t["growth"].max()) for t in steps]
print(f"|e_qs| over e^(2λτ) times its start: {min(c[0] for c in compared):.4f} or more")
identity = max(t["identity"] for t in steps)
still_kernel = min(t["still"] for t in steps)
print(f"identity (38) to 1e-10: {identity < 1e-10}; (37) without e^(2λτ) is off by "
      f"{still_kernel:.0f} times h or more")

# %% mystnb={"figure": {"caption": "Theorem 4 on four built networks, $\\kappa$ about 25, 50, 100, 200. Left sides (thick) and bounds with the constants of the proof (thin, with crosses, the smallest and the largest network). (a) Deviation of $e^{2\\lambda\\tau}K_t$ from $K_{t_0}$, relative. (b) $|e-e_{\\rm qs}|/|e_{\\rm qs}|$ from the second record on. (c) Deviation of the field from $e^{2\\lambda\\tau}q_{t_0}$ over $e^{2\\lambda\\tau}C_\\varphi|e_{\\rm qs}(t_0)|_n$; the left sides nearly coincide.", "name": "fig-compress-theorem"}, "image": {"alt": "Three panels with logarithmic ordinates. Left: four rising lines a factor of two apart, two thin ones with crosses two decades above. Middle: four slowly rising lines a factor of two apart, thin lines with crosses far above. Right: four nearly level lines on top of each other, far below the thin ones with crosses."}}
fig, axes = figures.panels(1, 3, width=9.8, height=3.0)
titles = {"kernel": "(a) kernel (14)", "residual": "(b) residual (15)", "field": "(c) field (16)"}
for ax, (name, title) in zip(axes, titles.items(), strict=True):
    for k, kappa in enumerate(KAPPAS):
        ax.plot(BUILT * TAU[1:], left_sides[k][name][1:], color=figures.COLOURS[k],
                linestyle=figures.DASHES[k], linewidth=1.4, label=f"κ = {kappa}")
        right = {"kernel": np.expm1(limits[k]["h"]), "residual": limits[k]["g"],
                 "field": limits[k]["field"]}[name]
        if k in (0, 3):
            ax.plot(BUILT * TAU[1:], right[1:], "-x", color=figures.COLOURS[k], linewidth=0.7,
                    markersize=4, markevery=(5 + 3 * k, 16))
    figures.finish(ax, "λτ", "relative size", title, "y", legend=False)
axes[2].legend(loc="center left", bbox_to_anchor=(0.3, 0.32))
figures.plt.show()

# %%
print("at λτ = ½: left sides and bounds, κ = 25 and 200")
for name in titles:
    ends = [left_sides[k][name][-1] for k in (0, 3)]
    right = [np.expm1(limits[k]["h"][-1]) if name == "kernel"
             else limits[k]["g" if name == "residual" else "field"][-1] for k in (0, 3)]
    print(f"{name_of[name]}: " + "; ".join(f"{a:.1e} ≤ {b:.3e}"
                                              for a, b in zip(ends, right, strict=True)))
no_lag = [bool((s["residual"] <= b["first"]).all())
          for s, b in zip(left_sides, limits, strict=True)]
still = [max(height(e - s["e"][0]) / b for e, b in zip(s["e"], bound["field"], strict=True))
         / (C_PHI * np.linalg.norm(s["qs"][0]) / np.sqrt(N))
         for s, bound in zip(family, limits, strict=True)]
constant_kernel = [max(norm(s["K"] - s["K"][0])[1:] / np.expm1(b["h"][1:]) / norm(s["K"][0]))
                   for s, b in zip(family, limits, strict=True)]
print(f"nulls over their bounds: no decay of the kernel {min(constant_kernel):.0f} or more, "
      "a field that stands still\n   " + ", ".join(f"{x:.2f}" for x in still)
      + f"; (15) without its lag holds in {sum(no_lag)} of {len(no_lag)} networks")

# %% [markdown]
# ### What moves and what does not
#
# If the whole field is multiplied by one number, extrema deepen where they are. On a built network
# that is what happens: *leave their places* means within one degree, *depths change* that they grow
# by $e^{2\lambda\tau}$ within ten per cent (our limits). The stage begins at $T_I$, and from there
# on
# the first limit is missed: the residual still has the part $\delta_0$ that is not quasi-static and
# moves shallow extrema when it goes. From the second record on both are met by far. Whether leading
# order includes $\delta_0$ the paper does not say, so the row is open.

# %%
def moves(first, second):
    """(angle moved, growth of depth) of the smooth extrema of the first field."""
    one, two = CELLS.extrema(first), CELLS.extrema(second)
    pairs = []
    for star, value in zip(one.theta[one.smooth], one.value[one.smooth], strict=True):
        near = np.abs(turn(two.theta - star)).argmin()
        pairs.append((abs(turn(two.theta[near] - star)), two.value[near] / value))
    return np.array(pairs)


def largest_moves(begin):
    """From a record to the end: number of extrema, largest turn in degrees, and largest relative
    deviation of the growth of a depth from e^(2 lam tau)."""
    found = np.concatenate([moves(s["e"][begin], s["e"][-1]) for s in family])
    grown = np.exp(2 * BUILT * (TAU[-1] - TAU[begin]))
    return len(found), np.degrees(found[:, 0]).max(), np.abs(found[:, 1] / grown - 1).max()


stage = moves(residual(run.at(FITTED)), residual(run.at(COMPRESSED)))
from_T_I, from_second = largest_moves(0), largest_moves(1)
for begin, values in {"T_I": from_T_I, "the second record": from_second}.items():
    print(f"built, from {begin} on: {values[0]} smooth extrema turn by {values[1]:.4f}° at most,\n"
          f"   depths over e^(2λτ) within {values[2]:.4f} of 1")
print("main run, epochs 447 to 16,000: " + ", ".join(
    f"{np.degrees(t):.1f}° and a factor {g:.2f}" for t, g in stage)
    + f"; e^(2λτ) = {np.exp(2 * LAM * ETA * (COMPRESSED - FITTED)):.1f}")

# %% [markdown]
# ## When the hypotheses hold on the paper's run
#
# Now the main experiment from epoch 447 on. Each hypothesis separately: the neurons that have
# changed an activity since then, the largest $\lvert a/r\rvert$ or its inverse, the largest
# $(\lvert q\rvert+\lvert p\rvert)/\lambda$, $\lambda/\lambda_{\min}$, $\chi$. For windows that
# begin at epoch 447, $\varepsilon$ and $B$ are the least that serve, and with them $h$ and both
# sides of the conclusions.

# %%
from_fit = EPOCH >= FITTED
WINDOW = EPOCH[from_fit]
main = [series(r.networks[from_fit], LAM) for r in runs]
m0 = main[0]
mask_changes = changed(m0["on"])
last_change = [int(WINDOW[1:][(s["on"][1:] != s["on"][:-1]).any(axis=(1, 2))].max())
               for s in main]
first_change = [int(WINDOW[1:][(s["on"][1:] != s["on"][:-1]).any(axis=(1, 2))].min())
                for s in main]
balanced = [int(WINDOW[s["B"] > 2].max()) for s in main]
above = [int(WINDOW[s["pull"] > 1].min()) for s in main]
least_pull = [s["pull"].min() for s in main]
least_over = [s["least"].min() / LAM for s in main]
for name, values in {"first change of an activity seen at epoch": first_change,
                     "last": last_change, "B > 2 last at epoch": balanced,
                     "(|q| + |p|)/λ > 1 first at epoch": above}.items():
    print(f"{name:42}" + "  ".join(f"{v:6,d}" for v in values) + "   (seeds 0, 1, 2)")
print(f"{'least (|q| + |p|)/λ':42}" + "  ".join(f"{v:6.3f}" for v in least_pull))
print(f"{'least λ_min(K)/λ':42}" + "  ".join(f"{v:6.1f}" for v in least_over))

# %%
ENDS = (1000, 2000, 5000, COMPRESSED, EPOCHS)
windows = []
for end in ENDS:
    part = {k: v[WINDOW <= end] for k, v in m0.items()}
    tau = ETA * (WINDOW[WINDOW <= end] - FITTED)
    B, eps, chi, kappa, start = hypotheses(part, LAM)
    left = lefts(part, tau, LAM)
    windows.append({"changed": mask_changes[WINDOW <= end][-1], "B": B, "ε": eps, "χ": chi,
                    "h": 4 * B * eps * LAM * tau[-1], "lead": 2 * LAM * tau[-1],
                    "(14)": left["kernel"].max(), "(15)": left["residual"].max(),
                    "(16)": left["field"].max(), "δ₀ + ε": eps + start})
print("window from 447 to   " + "".join(f"{k:>11,}" for k in ENDS))
for name, text in {"changed": "neurons that changed", "B": "B", "ε": "ε", "χ": "χ",
                   "lead": "2λτ", "h": "h = 4Bελτ", "(14)": "(14), left side",
                   "(15)": "(15), left side", "(16)": "(16), left side",
                   "δ₀ + ε": "δ₀ + ε"}.items():
    print(f"{text:21}" + "".join(f"{w[name]:11.4g}" for w in windows))

# %% [markdown]
# (Seed 1 is not yet fitted at epoch 447; hence its first values.) The first three hypotheses, fixed
# activities, a bound on $\lvert a/r\rvert$ and a small $\varepsilon$, fail. A neuron changes an
# activity soon after
# fitting; $\lvert a/r\rvert$ has no bound, because the output weights of some neurons pass through
# zero (then $\beta=0$ and $\dot\beta=-2q$), and becomes less than 2 only in the middle of the last
# stage;
# $(\lvert q\rvert+\lvert p\rvert)/\lambda$ is {glue:text}`compress-pull` where it is least, and
# $\varepsilon$ must be small.
# With these numbers the bounds of the theorem are $e^h$ with $h$ above
# {glue:text}`compress-h` already at epoch 1,000. The conclusions do better than their hypotheses:
# until epoch 5,000, when $e^{-2\lambda\tau}$ has fallen to
# {glue:text}`compress-fallen`, the kernel deviates from $e^{-2\lambda\tau}K_{t_0}$ by
# {glue:text}`compress-deviates` of it in norm, and by more than itself at epoch 16,000, as
# amplitudes settle.
# The hypothesis on the kernel is met: $\lambda_{\min}(K)$ is
# {glue:text}`compress-least` or more on the whole run. And the step
# (36) of the proof holds at every moment with the $B$ and the $\lvert q\rvert+\lvert p\rvert$ of
# that moment. In the limit it is sharp: there $B=1$, $\lvert q\rvert=\frac\lambda2$, $p=0$, so the
# bound
# is $2\lambda K$, and $E=2\lambda K$ because $K$ stands still.
#
# (16) looks better than it is: $C_\varphi\lvert e_{\rm qs}\rvert_n$ is {glue:text}`compress-scale`
# times the height of the field itself, so the deviation at epoch 16,000 is a large part of the
# field.

# %%
glue("compress-pull", f"{least_pull[0]:.2f}", display=False)
glue("compress-h", f"{np.floor(windows[0]['h'] / 100) * 100:.0f}", display=False)
glue("compress-least", f"{min(least_over):.1f} λ", display=False)
glue("compress-fallen", f"{np.exp(-windows[2]['lead']):.2f}", display=False)
glue("compress-deviates", f"{windows[2]['(14)']:.1%}", display=False)
scale_of = C_PHI * np.linalg.norm(m0["qs"][0]) / np.sqrt(N) / height(m0["e"][0])
glue("compress-scale", f"{scale_of:.1f}", display=False)
field_share = windows[3]["(16)"] * scale_of
print(f"C_φ|e_qs|_n over sup|q| at epoch 447: {scale_of:.2f}; at 16,000 the field is off e^(2λτ)q "
      f"by {field_share:.0%} of it")
order_main = [max(np.abs(eigh(parts(z)[1].sum(axis=0), K, eigvals_only=True)).max() / (
    4 * B * max(pull, 0) * LAM) for z, K, B, pull in zip(
    r.networks[from_fit][::20], s["K"][::20], s["B"][::20], s["pull"][::20], strict=True))
    for r, s in zip(runs, main, strict=True)]
print("(36) with the B and |q| + |p| of each moment on the runs: largest shares "
      + ", ".join(f"{v:.3f}" for v in order_main))
at_rest = [norm(parts(r.networks[-1])[1].sum(axis=0) / (2 * LAM) - s["K"][-1]) / norm(s["K"][-1])
           for r, s in zip(runs, main, strict=True)]
not_yet = norm(parts(run.at(FITTED))[1].sum(axis=0) / (2 * LAM) - m0["K"][0]) / norm(m0["K"][0])
print("E = 2λK at the end within " + ", ".join(f"{v:.1e}" for v in at_rest)
      + f"; at epoch 447 off by {not_yet:.2f}")

# %% mystnb={"figure": {"caption": "The main experiment, seed 0, from epoch 447 on. Left: what the hypotheses bound: $\\max(|q|+|p|)/\\lambda$, $\\lambda/\\lambda_{\\min}(K)$, the largest of $|a/r|$ and its inverse, and the number of neurons that have changed an activity. Right: left sides of the three conclusions; the lowest is the mismatch of (15).", "name": "fig-compress-hypotheses"}, "image": {"alt": "Left, log-log: the first curve rises from a few tenths above one and falls at the end; the second is nearly level below a tenth; the third is a curve of high spikes that falls to one late; the fourth is a staircase that rises and ends level. Right, log-log: one curve rises slowly and then explodes, one rises and levels off, one spiky curve falls by decades."}}
fig, (left, right) = figures.panels(1, 2, width=9.4, height=3.2)
tau = ETA * (WINDOW - FITTED)
figures.curves(left, WINDOW, {
    "(|q| + |p|)/λ": m0["pull"], "$λ/λ_{\\min}$": LAM / m0["least"], "B": m0["B"],
    "neurons changed": np.where(mask_changes > 0, mask_changes, np.nan)},
    xlabel="epoch", ylabel="value", title="hypotheses", log="xy")
whole = lefts(m0, tau, LAM)
figures.curves(right, WINDOW[1:], {"(14) kernel": whole["kernel"][1:],
                                   "(15) residual": whole["residual"][1:],
                                   "(16) field": whole["field"][1:]},
               xlabel="epoch", ylabel="relative size", title="conclusions", log="xy")
for ax in (left, right):
    ax.axvline(COMPRESSED, color=figures.GUIDE, linewidth=0.8)
right.set_ylim(1e-6, 1e3)
left.set_ylim(1e-2, 1e8)
left.legend(ncols=2, loc="upper left")
figures.plt.show()

# %%
for epoch in (1000, 5000, COMPRESSED, EPOCHS):
    k = np.flatnonzero(WINDOW == epoch)[0]
    print(f"epoch {epoch:6,d}: (|q| + |p|)/λ {m0['pull'][k]:.3f}, λ/λ_min "
          f"{LAM / m0['least'][k]:.4f}, B {m0['B'][k]:.4g}, "
          f"changed {mask_changes[k]};\n   left sides "
          + ", ".join(f"{whole[name][k]:.2e}" for name in titles))

# %% [markdown]
# ## Tracking, and its bursts
#
# Figure 3(b) shows $\lvert e-e_{\rm qs}\rvert$ far below $\lvert e_{\rm qs}\rvert$ after rapid
# fitting. We ask for less than a tenth at every record after epoch 447 of the paper's draw (seed 0
# stands for
# it; the other seeds are judged from the epoch of their own least loss), as null before
# epoch 100. Where $\dot z$ is small against $Kz$, $z=e-e_{\rm qs}$, what remains is a lag, and can
# be
# predicted,
#
# $$
# e-e_{\rm qs}\approx-\tfrac12(K+\lambda I)^{-1}\dot e_{\rm qs},\qquad
# \dot e_{\rm qs}=-(K+\lambda I)^{-1}\dot K\,e_{\rm qs},
# $$ (eq-compress-lag)
#
# to relative order $\lambda/\kappa$, in steps of gradient descent too, with $\dot K$ from
# {eq}`eq-compress-rate`. On built networks the error must fall in proportion to $\lambda/\kappa$
# (exponent within 0.2), in stage III of the main run its median must be below a tenth; null: the
# same
# in compression, from epoch 1,000 on. There it is not: a neuron changes an activity every few
# records,
# $z$ jumps (below), and the jump has not died out when the next one comes. So during compression
# bursts dominate, and the law of the lag does not tell the mismatch. (We first judged one median
# over
# all records from epoch 1,000 on, which stage III decides, and claimed the law for compression
# too.)
# The order is measured at $\kappa=6.25$, 12.5 and 25. At first it was measured up to $\kappa=400$
# and
# failed: there the lag itself is near the rounding of $f(X)$, a sum of large terms. For this reason
# the built networks have at most $\kappa=200$ now (1,600 at first).

# %%
def lag_error(s, path, lam):
    """|z + (K + lam I)^-1 e_qs'/2| over |z| at each network."""
    rate = drift(s, path, lam)
    law = np.array([-np.linalg.solve(K + lam * np.eye(N), v) / 2
                    for K, v in zip(s["K"], rate, strict=True)])
    z = s["e"] - s["qs"]
    return np.linalg.norm(z - law, axis=1) / np.linalg.norm(z, axis=1)


late = TAU >= TAU[-1] / 2
small = Parallel()(delayed(follow)(kappa) for kappa in (6.25, 12.5))
lag_cases = [*((series(path, BUILT), path) for path in small), (family[0], paths[0])]
built_lag = np.array([lag_error(*case, BUILT)[late].max() for case in lag_cases])
lag_order = -np.diff(np.log(built_lag)) / np.diff(np.log([s["least"][0] for s, _ in lag_cases]))


# %%
settled = WINDOW >= 1000
main_lag = [lag_error({k: v[settled] for k, v in s.items()}, r.networks[from_fit][settled], LAM)
            for r, s in zip(runs, main, strict=True)]
PART = {"compression": WINDOW[settled] <= COMPRESSED, "stage III": WINDOW[settled] >= COMPRESSED}
lag_median = {name: [float(np.median(v[part])) for v in main_lag] for name, part in PART.items()}
switches = {name: [(s["on"][1:] != s["on"][:-1]).any(axis=(1, 2))[settled[1:]][part].mean()
                   for s in main] for name, part in PART.items()}
print("built: relative error of the lag law " + ", ".join(f"{v:.2e}" for v in built_lag)
      + f"; exponents in λ/κ {lag_order.min():.2f} to {lag_order.max():.2f}")
for name, part in PART.items():
    print(f"main run, {name:11}: medians " + ", ".join(f"{v:.3f}" for v in lag_median[name])
          + "; below a tenth in " + ", ".join(f"{(v[part] < 0.1).mean():.0%}" for v in main_lag)
          + "\n   of the records; an activity changes in "
          + ", ".join(f"{v:.0%}" for v in switches[name]) + " of the pairs")

# %%
fitted_at = [FITTED, *(int(r.loss.argmin()) for r in runs[1:])]
mismatch = [s["mismatch"][WINDOW > start] for s, start in zip(main, fitted_at, strict=True)]
jumps, explained = [], []
for s, start in zip(main, fitted_at, strict=True):
    rises = (s["mismatch"][1:] > 1.5 * s["mismatch"][:-1] + 0.01) & (WINDOW[1:] > start)
    switch = (s["on"][1:] != s["on"][:-1]).any(axis=(1, 2))
    jumps.append(int(rises.sum()))
    explained.append(int((rises & switch).sum()))
base_rate = [(s["on"][1:] != s["on"][:-1]).any(axis=(1, 2)).mean() for s in main]
early_mismatch = max(
    np.linalg.norm(residual(z) - quasi(z)) / np.linalg.norm(quasi(z))
    for z in run.networks[EPOCH <= 100])
print("|e − e_qs|/|e_qs| after epoch " + ", ".join(f"{k:,}" for k in fitted_at) + ":\n   largest "
      + ", ".join(f"{m.max():.3f}" for m in mismatch) + "; above a tenth in "
      + ", ".join(f"{(m >= 0.1).sum()} of {m.size}" for m in mismatch))
print(f"before epoch 100: up to {early_mismatch:.0f}")
print("sudden rises: " + ", ".join(str(k) for k in jumps) + "; with a change of an activity: "
      + ", ".join(str(k) for k in explained) + "; all pairs: "
      + ", ".join(f"{v:.1%}" for v in base_rate))

# %% [markdown]
# The tenth is passed in short bursts. A sudden rise here means by half and by 0.01 from one record
# to the next, and every one of them comes with a neuron that changes an activity: $K$ jumps by
# $a_k^2\lvert\tilde x_i\rvert^2/n$ in an entry, $e_{\rm qs}$ with it, and $e$ follows in the time
# $1/2\lambda_{\min}$. This is where the theorem's first hypothesis is at work.

# %% [markdown]
# ## The field of the run
#
# Figure 4 of the paper: the field over $\lambda/2$ at six epochs, computed from $e$ and from
# $e_{\rm
# qs}$, with the neurons on it. Two curves *nearly overlap* if they differ by less than a tenth of
# the
# height of the field, at every panel from the seed's least loss on; null: at the start.

# %%
PANELS = (0, FITTED, 2000, 5000, COMPRESSED, EPOCHS)
overlap = [[height(residual(r.at(k)) - quasi(r.at(k))) / height(residual(r.at(k))) for k in PANELS]
           for r in runs]
for seed, row in enumerate(overlap):
    print(f"seed {seed}: sup|q_e − q_eqs|/sup|q_e| at these epochs "
          + ", ".join(f"{v:.2g}" for v in row))
fitted_overlap = [v for row, start in zip(overlap, fitted_at, strict=True)
                  for k, v in zip(PANELS, row, strict=True) if k >= start]

# %% mystnb={"figure": {"caption": "The field over $\\lambda/2$ at six epochs of the main experiment, seed 0 (figure 4 of the paper), from $e$ (line) and from $e_{\\rm qs}$ (dashed). Dots and open diamonds: positive and negative neurons; triangles: smooth minima; squares: extrema at boundaries; horizontal lines at $\\pm1$. The first panel has its own scale.", "name": "fig-compress-field"}, "image": {"alt": "Six panels over the direction. At the start one large hump far above the others' scale and a flat dashed line. Then both curves coincide: shallow at first, with neurons everywhere; two minima deepen from panel to panel towards minus one and shift, the left one to larger angles; in the last panel all positive neurons sit in the two minima at minus one and the negative ones on a maximum at 90 degrees."}}
fig, axes = figures.panels(2, 3, width=10.2, height=2.7, sharex=True)
for ax, epoch in zip(axes.flat, PANELS, strict=True):
    z = run.at(epoch)
    e, (a, r, theta), awake = residual(z), cond.polar(z), live(z)
    ends, angle = CELLS.extrema(e), np.degrees(theta % TWO_PI)
    for value, dash, colour, name in ((e, "-", figures.BLACK, "from e"), (
            quasi(z), figures.DASHES[1], figures.PINK, "from $e_{qs}$")):
        ax.plot(np.degrees(CIRCLE), field(value, CIRCLE, X) * 2 / LAM, color=colour,
                linestyle=dash, linewidth=1.3, label=name)
    for mine, mark, colour, fill, name in ((a > 0, "o", figures.BLUE, "full", "positive"),
                                           (a < 0, "D", figures.ORANGE, "none", "negative")):
        ax.plot(angle[mine & awake], field(e, theta[mine & awake], X) * 2 / LAM, mark,
                color=colour, fillstyle=fill, markersize=3.2, label=name)
    for kind, mark, name in ((ends.smooth & ~ends.peak, "^", "smooth minimum"),
                             (~ends.smooth, "s", "extremum at a boundary")):
        ax.plot(np.degrees(ends.theta[kind]), ends.value[kind] * 2 / LAM, mark, color="k",
                markersize=6, fillstyle="none", label=name)
    ax.hlines((-1, 1), 0, 360, figures.GUIDE, linewidth=0.7, linestyle=(0, (3, 3)))
    ax.set_ylim((-1.25, 1.25) if epoch else None)
    figures.finish(ax, "θ (degrees)" if epoch > 2000 else "",
                   "$q/(λ/2)$" if epoch in (0, 5000) else "", f"epoch {epoch:,}", legend=False)
axes[0, 0].set_xticks(range(0, 361, 90))
fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=6)
figures.plt.show()

# %%
for epoch in PANELS:
    ends = CELLS.extrema(residual(run.at(epoch)))
    print(f"epoch {epoch:6,d}: " + ", ".join(
        f"{v * 2 / LAM:.3f} at {np.degrees(t):.2f}°{'' if inner else ' (boundary)'}"
        for t, v, inner in zip(ends.theta, ends.value, ends.smooth, strict=True)))

# %% [markdown]
# ### Depths, places, and the neurons around them
#
# Figure 3(d) follows the smooth minima of the two groups, one on each side of the vertical
# direction,
# through stage II (epochs 447 to 16,000) and III. Our criteria, argued before the first look at
# these
# numbers and written down after it: the minima *deepen substantially*
# if they double, from the first record of the stage at which they are smooth; they *move* if their
# way is longer than one degree per decay time $1/(2\lambda)$, 5,000 epochs. A group is what is one
# at the end (positive neurons, split at gaps of 1°, the largest
# on each side). It is *dispersed* if its angles still span more than that degree, *narrower* if
# they span less
# than at epoch 447, and it lies *around* its extremum if this is between its least and largest
# angle. Nulls: stage III, and the last epoch.


# %%
def minima(network):
    """(angle, q) of the smooth negative minimum on the left and on the right; NaN if none."""
    ends = CELLS.extrema(residual(network))
    found = np.full((2, 2), np.nan)
    for star, value in zip(*(v[ends.smooth & ~ends.peak & (ends.value < 0)]
                             for v in (ends.theta, ends.value)), strict=True):
        side = int(np.cos(star) > 0)
        if np.isnan(found[side, 1]) or value < found[side, 1]:
            found[side] = star, value
    return found


def way(angles):
    """Degrees from record to record, where there is a minimum."""
    steps = np.degrees(np.abs(turn(np.diff(angles[~np.isnan(angles)]))))
    return float(steps.sum())


tracks = [np.array([minima(z) for z in r.networks[from_fit]]) for r in runs]
STAGES = {"II": (WINDOW >= FITTED) & (WINDOW <= COMPRESSED), "III": WINDOW >= COMPRESSED}
TIMES = {name: 2 * LAM * ETA * np.ptp(WINDOW[mask]) for name, mask in STAGES.items()}

# %%
deepen, speed = {}, {}
for name, mask in STAGES.items():
    depth = [t[mask][:, side, 1] for t in tracks for side in (0, 1)]
    deepen[name] = np.array([d[-1] / d[~np.isnan(d)][0] for d in depth])
    speed[name] = np.array([way(t[mask][:, side, 0]) for t in tracks for side in (0, 1)]
                           ) / TIMES[name]
    print(f"stage {name:3}: depths grow by " + ", ".join(f"{v:.2f}" for v in deepen[name])
          + ";\n   degrees per 5,000 epochs " + ", ".join(f"{v:.2f}" for v in speed[name]))
print("(left and right of seeds 0, 1, 2)")


# %%
def around(r):
    """For both groups: size, spans in degrees at three epochs, whether they hold theta_*."""
    a, _, theta = cond.polar(r.networks[-1])
    rows = []
    for side in (0, 1):
        mine = np.flatnonzero((a > 0) & live(r.networks[-1]) & ((np.cos(theta) > 0) == side))
        mine = mine[max(cond.groups(theta[mine], np.pi / 180), key=len)]
        spans, holds = [], []
        for epoch in (FITTED, COMPRESSED, EPOCHS):
            star = minima(r.at(epoch))[side, 0]
            centre = theta[mine[0]] if np.isnan(star) else star
            off = np.degrees(turn(cond.polar(r.at(epoch))[2][mine] - centre))
            spans.append(np.ptp(off))
            holds.append(off.min() <= 0 <= off.max())
        rows.append((mine.size, *spans, holds[1]))
    return np.array(rows, dtype=float)


spans = np.concatenate([around(r) for r in runs])
narrower = spans[:, 2] / spans[:, 1]
print("seed  side   neurons   span at epoch 447     16,000     80,000   extremum inside at 16,000")
for k, (size, *span, holds) in enumerate(spans):
    print(f"{SEEDS[k // 2]:4d}  {('left', 'right')[k % 2]:6} {int(size):7d} {span[0]:18.3f}°"
          + "".join(f"{v:10.3f}°" for v in span[1:]) + f"   {bool(holds)}")

# %% mystnb={"figure": {"caption": "Seed 0 (figure 3(b) and (d) of the paper). (a) Depth $-q/(\\lambda/2)$ of the smooth minima left and right; thin: $e^{2\\lambda\\tau}$ times the first value of each. (b) Their angles, and the limit's (grey). (c) $|e-e_{\\rm qs}|/|e_{\\rm qs}|$ with the lag {eq}`eq-compress-lag` (dashed); grey level: a tenth. Vertical line: epoch 16,000.", "name": "fig-compress-depth"}, "image": {"alt": "Three panels over the epoch, logarithmic. Left: two rising curves that reach one at the vertical line and stay; thin exponentials leave them early. Middle: two curves; the left minimum moves up by tens of degrees, the right one first up, then down, both to grey levels. Right: a spiky curve with fast rises and decays that falls by decades late, the dashed one under it except in the spikes."}}
fig, axes = figures.panels(1, 3, width=10.2, height=3.1)
limit = np.sort(np.degrees(cond.minimiser(DATA, LAM).theta))
for side, (name, colour) in enumerate((("left", figures.BLUE), ("right", figures.ORANGE))):
    star, value = tracks[0][:, side].T
    first = np.flatnonzero(~np.isnan(value))[0]
    axes[0].plot(WINDOW, -value * 2 / LAM, color=colour, linestyle=figures.DASHES[side], label=name)
    growth = np.exp(2 * LAM * ETA * (WINDOW - WINDOW[first]))
    axes[0].plot(WINDOW, -value[first] * 2 / LAM * growth, color=colour, linewidth=0.7)
    axes[1].plot(WINDOW, np.degrees(star), color=colour, linestyle=figures.DASHES[side])
    axes[1].axhline(limit[side], color=figures.GUIDE, linewidth=0.7)
axes[0].set_ylim(0, 1.3)
lag = np.array([np.linalg.norm(np.linalg.solve(K + LAM * np.eye(N), v)) / 2 for K, v in zip(
    m0["K"], drift(m0, run.networks[from_fit], LAM), strict=True)])
axes[2].plot(WINDOW, m0["mismatch"], color=figures.BLUE, linewidth=1, label="run")
axes[2].plot(WINDOW, lag / np.linalg.norm(m0["qs"], axis=1), color=figures.ORANGE,
             linestyle=figures.DASHES[1], linewidth=1, label="lag")
axes[2].axhline(0.1, color=figures.GUIDE, linewidth=0.7)
for ax, label, title, log in zip(axes, ("$-q/(λ/2)$", "θ (degrees)", "relative size"),
                                 ("(a) depth", "(b) place", "(c) mismatch"), ("x", "x", "xy"),
                                 strict=True):
    ax.axvline(COMPRESSED, color=figures.GUIDE, linewidth=0.7)
    figures.finish(ax, "epoch", label, title, log, legend=ax is not axes[1])
figures.plt.show()

# %%
for epoch in (1000, 5000, COMPRESSED, EPOCHS):
    k = np.flatnonzero(WINDOW == epoch)[0]
    print(f"epoch {epoch:6,d}: depths "
          + ", ".join(f"{-v * 2 / LAM:.3f}" for v in tracks[0][k, :, 1])
          + "; angles " + ", ".join(f"{np.degrees(v):.2f}°" for v in tracks[0][k, :, 0])
          + f"; mismatch {m0['mismatch'][k]:.2e}, lag "
          f"{lag[k] / np.linalg.norm(m0['qs'][k]):.2e}")

# %% [markdown]
# ## The early decline of the eigenvalues
#
# Appendix E says that after fitting the eigenvalues of $K$ decline as $e^{-2\lambda\tau}$, early in
# compression. We ask that all four are within ten per cent of it from epoch 447 until it is one
# half, epoch 3,913 (both our choice, argued before the first look and written down after it); null:
# until epoch 16,000.

# %%
spectra = [np.linalg.eigvalsh(s["K"]) for s in main]
fade = np.exp(-2 * LAM * ETA * (WINDOW - FITTED))
relative = [w / w[0] / fade[:, None] for w in spectra]

# %% mystnb={"figure": {"caption": "Eigenvalues of the tangent kernel over their values at epoch 447 times $e^{-2\\lambda\\tau}$, three seeds, largest eigenvalue first. Grey band: ten per cent; vertical line: epoch 3,913, where $e^{-2\\lambda\\tau}$ is one half.", "name": "fig-compress-early"}, "image": {"alt": "Three panels. The curves of the two large eigenvalues stay in the band until the vertical line and rise later; those of the small ones leave it earlier, below or above, in small jumps."}}
fig, axes = figures.panels(1, 3, width=9.6, height=2.9, sharey=True)
for seed, (ax, values) in enumerate(zip(axes, relative, strict=True)):
    ax.axhspan(0.9, 1.1, color="#dddddd", zorder=0)
    ax.axvline(3913, color=figures.GUIDE, linewidth=0.7)
    seen = WINDOW <= 8000
    for k in range(4):
        ax.plot(WINDOW[seen], values[seen, 3 - k], color=figures.COLOURS[k],
                linestyle=figures.DASHES[k], linewidth=1.4, label=f"eigenvalue {k + 1}")
    figures.finish(ax, "epoch", "eigenvalue over its law" if seed == 0 else "", f"seed {seed}",
                   legend=seed == 0)
figures.plt.show()

# %%
within = {end: [np.abs(v[WINDOW <= end] - 1).max(axis=0)[::-1] for v in relative]
          for end in (1000, 3913, COMPRESSED)}
for end, rows_ in within.items():
    print(f"until epoch {end:6,d}, e^(−2λτ) = {fade[WINDOW == end][0]:.3f}: largest deviation of "
          "the eigenvalues, largest first")
    for seed, row in enumerate(rows_):
        print(f"   seed {seed}: " + ", ".join(f"{v:.3f}" for v in row))
tenth = [[int(WINDOW[np.abs(v[:, k] - 1) > 0.1].min()) for k in (3, 2, 1, 0)] for v in relative]
print("first epoch off by a tenth:\n   "
      + ";\n   ".join(", ".join(f"{v:,}" for v in row) for row in tenth))

# %% [markdown]
# The operator norm of theorem 4 is that of the largest eigenvalue, which decays as stated for
# longest.
# In the first thousand epochs all four do, within a few per cent. At one half the two large ones
# are
# still within a tenth, but not all of the small ones. What is small against $\lvert K\rvert$ need
# not be small against a small eigenvalue: neither $\sum_kE_k$ of {eq}`eq-compress-rate`, nor what
# one
# neuron takes from $K$ when it becomes inactive at an input.
#
# ## Exercises
#
# **1.** In panel (a) of {numref}`fig-compress-depth` the depths leave $e^{2\lambda\tau}$, which
# they
# can pass for a while and fall behind in the end. What makes them faster, and what slower?
#
# ```{dropdown} Solution of 1
# Slower: neurons near an attracting extremum have $a\,q<0$, their $E_k$ is positive, and the kernel
# falls more slowly than $e^{-2\lambda\tau}$. By (36) with $B=1$ its rate is at most
# $-2\lambda+4\max(\lvert q\rvert+\lvert p\rvert)$, which is zero as soon as $\lvert
# q\rvert=\frac\lambda2$ and $p=0$: compression ends itself. Faster: the depth is about
# $\lambda\langle K^{-1}y,\varphi\rangle_n$, which the small eigenvalues decide, and
# {numref}`fig-compress-early` shows the third one fall below the law, in steps, as neurons that
# become inactive at an input take their part of $K$ away.
# ```
#
# **2.** The bound on $\lvert a/r\rvert$ fails whenever an output weight passes through zero. Is
# the step $\pm E_k\preccurlyeq4B\varepsilon\lambda K_k$ then false, or is only its proof lost?
#
# ```{dropdown} Solution of 2
# At $a=0$ exactly $E_k=0$ and $K_k=\frac{r^2}n\varphi\varphi^\top$: true. For small $a$ it is
# false without $B$: along a vector $v$ with $v\cdot\varphi=0$, $v^\top K_kv=\frac{a^2}n(v\cdot
# \psi)^2$, but $v^\top E_kv=-\frac{4arq}n(v\cdot\psi)^2$, larger by $4\lvert q\,r/a\rvert$. In the
# sum over $k$ other neurons see $v$, which is why the kernel of the run behaves better than
# its bound.
# ```
#
# **3.** By how much does $e_{\rm qs}$ jump when a neuron becomes active at $x_i$?
#
# ```{dropdown} Solution of 3
# At the boundary $\varphi$ of $x_i$ vanishes, so $K$ gains $\frac{a^2}n\lvert\tilde
# x_i\rvert^2$ at $(i,i)$ and $\frac{a^2}n\tilde x_i\cdot\tilde x_j$ at $(i,j)$ for the inputs at
# which the neuron is active already; call it $\Delta$. The resolvent gives
# $-(K+\Delta+\lambda I)^{-1}\Delta\,e_{\rm qs}$. The residual itself does not jump: $z$ does, by
# the
# opposite.
# ```
#
# ## The ledger
#
# Order of events: the mismatch, the kernel, the masks and the extrema of seed 0 at some epochs were
# seen in a first look, after the criteria of figures 3, 4 and 5 had been argued, and before they
# were written down; the tenth is that of {numref}`chapter-rapid-fitting`. Of the built networks
# several kinds were tried before
# this one. Five things were changed after a failure, each where it stands above: the time step of
# the offsets, the threshold of the grid's differences, the solvers' tolerances, the sizes on which
# the lag is measured, and the first record for the places of the extrema, which we took back: that
# row is judged from $T_I$ on again, and open. The nulls of (15) and
# (16) were the whole run; on the main run both hold trivially, because $\delta_0+\varepsilon$ is of
# order one, so they are now the bound without its lag, and a field that stands still. That $4n-3$
# is reached, the bursts and the sharpness of (36) were seen first and stated then; the limits of
# `B19-hypotheses` (100 for $B$, a quarter for $\varepsilon$) and the size of a sudden rise are
# round
# numbers chosen with the result in sight.
#
# After a review five criteria were replaced by stricter ones: the nulls of (36) and (37), a
# hundredth
# of the bound, a divisor that nothing argued for, are now half the bound, which the limit attains,
# and a kernel that stands still; the lag is claimed for built networks and stage III only, its null
# is compression; the fixed angle of extrema at boundaries is read from a grid; and for three inputs
# and more the bounds on the extrema are smaller by one.
#
# Where the paper uses a word that needs a cut-off (small, substantially, nearly, early) and prints
# none, the cut-off is ours, and this is the rule: where ours is met the row says *holds*, where it
# is
# missed the row says *open*, since what is printed cannot decide against it. Three are missed, for
# "small", for "early" and for "leading order"; we have not moved them.

# %%
compare = claims.compare
tiny, run_all = 1e-12, (low_run[0], high_run[0])
bounds_hold = {key: bool((count[key] <= top).all() and most <= limit) for key, top, most, limit in (
    ("all", 4 * n, high_run[0], 4 * N), ("inner", 2 * n, high_run[1], 2 * N),
    ("bound", 2 * n, high_run[2], 2 * N))}
rows = [
    compare("W-S42-cell", f"to {tiny:.0e}: {cell_error < tiny} for {len(run_fields)} fields; next "
            f"cell off by {cell_null:.2f}", holds=cell_error < tiny, null_holds=cell_null < tiny),
    compare("W-S42-curvature", f"to 1e-10: {bent < 1e-10}; across an end off by {bent_null:.1f}",
            holds=bent < 1e-10, null_holds=bent_null < 1e-10),
    compare("W-S42-attracting", f"{smooth.shape[0]} cases integrated, rule right in {rule:.0%}, "
            f"sign of q alone in {sign_alone:.0%}", holds=rule == 1, null_holds=sign_alone == 1),
    compare("W-S42-offset", f"to 1e-5 at {len(OFFSET_EPOCHS)} epochs: {offset_error.max() < 1e-5}; "
            f"without drift off by {offset_null.min():.2f}",
            holds=offset_error.max() < 1e-5, null_holds=offset_null.min() < 1e-5),
    compare("W-P3-all", f"{count['all'].min()} to {count['all'].max()} in {len(cases)} random "
            f"fields, {run_all[0]} to {run_all[1]} on the runs; {max(none)} for e = 0",
            holds=bounds_hold["all"] and min(count["all"].min(), run_all[0]) >= 1
            and all(same) and all(run_same), null_holds=max(none) >= 1),
]

# %%
rows += [
    compare("W-P3-inner", f"at most {(count['inner'] / (2 * n)).max():.2f} of 2n in random fields, "
            f"{high_run[1]} of {2 * N} on the runs", holds=bounds_hold["inner"]),
    compare("W-P3-bound", f"at most {(count['bound'] / (2 * n)).max():.2f} of 2n in random fields, "
            f"{high_run[2]} of {2 * N} on the runs", holds=bounds_hold["bound"]),
    compare("W-C1-cells", f"2n cells: {(count['cells'] == 2 * n).all()}, the longest "
            f"{count['long'].max() / np.pi:.4f} π, most extrema in one {count['in a cell'].max()}",
            holds=bool((count["cells"] <= 2 * n).all() and count["in a cell"].max() == 1
                       and count["long"].max() <= np.pi * (1 + tiny))),
    compare("W-C1-dead", f"|q| = 0 there: {count['|q| dead'].max() == 0}, extrema "
            f"{count['in dead'].sum()}",
            holds=bool(count["|q| dead"].max() == 0 and count["in dead"].sum() == 0)),
    compare("W-C1-attracting", f"{len(positive)} boundary extrema: minima attract in {low:.0%}, "
            f"maxima in {high:.0%}; {edges.size} fixed angles on the runs, to one step of a grid "
            f"without them in {at_edge.sum()} of {at_edge.size} cases",
            holds=low == 1 and bool(at_edge.all()), null_holds=high == 1),
    compare("B19-count", f"reached: {found[0, 0]} (n = 1), {found[1, 0]} (n = 2); no more than "
            f"our bounds in {len(cases)} random fields and a search (n = 3: {found[2, 0]} of "
            f"{ours(3)[0]}); type of e_i in {count['minima'].min():.0%}",
            holds=bool((np.array([count[k] for k in ("all", "inner", "bound")]) <= ours(n)).all()
                       and (found.T <= ours(SIZES)).all() and count["minima"].min() == 1
                       and (found[:2, 0] == ours(SIZES[:2])[0]).all()),
            null_holds=bool((found[:, 0] <= 4 * SIZES - 4).all())),
]

# %%
order, between = (max(t[key] for t in steps) for key in ("order", "between"))
rows += [
    compare("W-C2-mask", f"to {tiny:.0e}: {mask_error < tiny}; φφᵀ alone off by {mask_null:.2f}",
            holds=mask_error < tiny, null_holds=mask_null < tiny),
    compare("W-C2-kernel", f"to 1e-10: {rate_error < 1e-10}; without E_k off by {rate_null:.2f}",
            holds=rate_error < 1e-10 and sum_error < tiny, null_holds=rate_null < 1e-10),
    compare("W-C2-order", f"at most {order:.4f} of the bound in {len(steps)} networks, "
            f"{max(order_main):.3f} on the runs, moment by moment",
            holds=max(order, *order_main) <= 1, null_holds=2 * max(order, *order_main) <= 1,
            note="On the built networks a tenth of the bound would do; at the end of the runs it "
                 "is nearly attained."),
    compare("W-C2-decay", f"at most {between:.4f} of h in {len(steps)} networks; a kernel that "
            f"stands still {still_kernel:.0f} times h or more",
            holds=between <= 1, null_holds=still_kernel <= 1),
]

# %%
rows += [
    compare("W-T4-kernel", f"at most {max(used['kernel']):.4f} of the bound in {len(steps)} "
            f"networks with all hypotheses; no decay {min(constant_kernel):.0f} times it",
            holds=max(used["kernel"]) <= 1 and max(moved_masks) == 0,
            null_holds=max(constant_kernel) <= 1,
            note=f"On the main run the left side is {windows[2]['(14)']:.3f} at epoch 5,000 and "
                 f"{windows[3]['(14)']:.2f} at 16,000, where the hypotheses fail."),
    compare("W-C2-identity", f"to 1e-10 in {len(steps)} networks: {identity < 1e-10}",
            holds=identity < 1e-10),
    compare("W-C2-compare", f"{min(c[0] for c in compared):.4f} to "
            f"{max(c[1] for c in compared):.4f} times e^(2λτ)|e_qs(t0)|; "
            f"growth {min(c[2] for c in compared):.3f} or more",
            holds=min(c[0] for c in compared) >= 0.5 and max(c[1] for c in compared) <= 2,
            null_holds=max(c[2] for c in compared) <= 2),
]

# %%
most_lag = max(x[1:].max() for x in lagging)
rows += [
    compare("W-C2-lag", f"at most {most_lag:.2f} of the right side of (41)", holds=most_lag <= 1),
    compare("W-T4-residual", f"at most {max(used['residual']):.3f} of the proof's bound; without "
            f"the lag it holds in {sum(no_lag)} of {len(no_lag)}",
            holds=max(used["residual"]) <= 1 and max(moved_masks) == 0, null_holds=all(no_lag),
            note=f"On the main run, hypotheses failing, the left side is {windows[-1]['(15)']:.3f} "
                 f"at most, δ₀ + ε is {windows[-1]['δ₀ + ε']:.2f}."),
    compare("W-T4-field", f"at most {max(used['field']):.3f} of the proof's bound; a field that "
            f"stands still keeps to it in {sum(v <= 1 for v in still)} of {len(still)} networks, "
            f"up to {max(still):.2f}",
            holds=max(used["field"]) <= 1 and max(moved_masks) == 0, null_holds=max(still) <= 1,
            note=f"On the main run the field is off by {field_share:.0%} of e^(2λτ)q at epoch "
                 "16,000, where the hypotheses fail."),
]

# %%
rows += [
    compare("W-S42-fixed", f"built networks, from T_I on: turned by {from_T_I[1]:.2f}° at most, "
            f"depths within {from_T_I[2]:.3f} of e^(2λτ); from the second record on "
            f"{from_second[1]:.3f}°, {from_second[2]:.4f}; stage II of the run "
            f"{np.degrees(stage[:, 0]).max():.0f}°", verdict="open",
            note="At T_I the part δ₀ of the residual, which is not quasi-static, still moves "
                 "shallow extrema by more than our degree; without it they stay. What leading "
                 "order leaves out is not printed."),
    compare("W-F3-inset", f"largest after fitting {', '.join(f'{m.max():.3f}' for m in mismatch)}; "
            f"above a tenth in {sum((m >= 0.1).sum() for m in mismatch)} of "
            f"{sum(m.size for m in mismatch)} records; {early_mismatch:.0f} before epoch 100",
            verdict="open",
            note="No limit is printed for small. Short bursts pass our tenth, each when a neuron "
                 "changes an activity; between them the mismatch is a few hundredths and less."),
]

# %%
speeds = speed["II"].min(), speed["III"].max()
rows += [
    compare("W-F3-deepen", f"factors {deepen['II'].min():.2f} to {deepen['II'].max():.2f} in "
            f"stage II, {deepen['III'].min():.2f} to {deepen['III'].max():.2f} in III",
            holds=deepen["II"].min() >= 2, null_holds=deepen["III"].min() >= 2),
    compare("W-F4-overlap", f"at most {max(fitted_overlap):.3f} of the height from fitting on, "
            f"{min(row[0] for row in overlap):.2f} at the start",
            holds=max(fitted_overlap) < 0.1, null_holds=max(row[0] for row in overlap) < 0.1),
    compare("W-F4-dispersed", f"spans {spans[:, 2].min():.0f}° to {spans[:, 2].max():.0f}° at "
            f"epoch 16,000, at most {spans[:, 3].max():.2f}° at the end, {narrower.min():.2f} to "
            f"{narrower.max():.2f} of those at 447",
            holds=bool((spans[:, 2] < spans[:, 1]).all() and spans[:, 2].min() > 1
                       and spans[:, 4].all()), null_holds=spans[:, 3].min() > 1),
    compare("W-F4-moving", f"{speeds[0]:.1f}° or more in a decay time, in stage III at most "
            f"{speeds[1]:.2f}°", holds=speeds[0] > 1, null_holds=speed["III"].min() > 1),
    compare("W-E-early", f"until e^(−2λτ) = ½, within {max(v[:2].max() for v in within[3913]):.3f} "
            f"(two large), {max(v[2:].max() for v in within[3913]):.3f} (two small); within "
            f"{max(v.max() for v in within[1000]):.3f} until epoch 1,000",
            verdict="open",
            note="The paper does not say how long early is. With our cut-off, one half, it fails "
                 "for the small eigenvalues, which leave the law first, where neurons change "
                 "activities."),
]

# %%
fails = {"masks": min(first_change) < COMPRESSED, "ratio": min(s["B"].max() for s in main) > 100,
         "ε": min(least_pull) > 0.25}
built_fails = {"masks": max(moved_masks) > 0, "ratio": assumed[:, 0].max() > 100,
               "ε": assumed[:, 1].max() > 0.25}
lag_holds = bool((np.abs(lag_order - 1) < 0.2).all()) and max(lag_median["stage III"]) < 0.1
rows += [
    compare("B19-hypotheses", f"activities change from epoch {first_change[0]:,} to "
            f"{last_change[0]:,}, "
            f"B up to {m0['B'].max():.1e}, least ε {least_pull[0]:.2f} (seed 0)",
            holds=all(fails.values()), null_holds=any(built_fails.values())),
    compare("B19-lag", f"exponents {lag_order.min():.2f} to {lag_order.max():.2f}; medians in "
            f"stage III {', '.join(f'{v:.3f}' for v in lag_median['stage III'])}; in compression "
            f"{', '.join(f'{v:.2f}' for v in lag_median['compression'])}", holds=lag_holds,
            null_holds=max(lag_median["compression"]) < 0.1,
            note="In compression bursts dominate: neurons change activities before the last jump "
                 "of the mismatch has died out."),
    compare("B19-bursts", f"{sum(explained)} of {sum(jumps)} sudden rises; activities change in "
            f"{np.mean(base_rate):.1%} of all pairs of records",
            holds=sum(explained) == sum(jumps) > 0, null_holds=min(base_rate) > 0.5),
    compare("B19-sharp", f"E = 2λK within {max(at_rest):.1e} at the end, off by {not_yet:.2f} at "
            f"epoch 447; (36) used up to {max(order_main):.3f}",
            holds=max(at_rest) < 0.01 and min(order_main) > 0.9, null_holds=not_yet < 0.01),
]
claims.report(rows)
