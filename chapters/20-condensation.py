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
# (chapter-condensation)=
# # Condensation
#
# {numref}`chapter-rapid-fitting` described the first stage of the experiment of
# {cite:t}`xu2026decay`, and {numref}`chapter-exact-limit` its end. Between them lies stage III: the
# amplitudes have settled, and the neurons gather in a few directions. The paper proves two theorems
# about it. One bounds how fast an extremum of the field can move, the other says that neurons near
# a slow extremum contract exponentially. After this chapter you will know
#
# - both sides of every inequality on the paper's run, and how far apart they are;
# - *since when* each hypothesis holds there, which is much later than stage III begins;
# - what happens outside the hypotheses: which bounds survive, which fail, and an extension that
#   covers the run as it is;
# - two exact laws behind the contraction, one of them a conserved quantity of condensation.
#
# It runs for about 30 seconds on one core.

# %%
from types import SimpleNamespace

import numpy as np
import torch
from joblib import Parallel, delayed
from myst_nb import glue

from gaugelib import claims, figures
from gaugelib import condensation as cond
from gaugelib.condensation import features, slopes

torch.set_default_dtype(torch.float64)
DATA, LAM, ETA, EPOCHS, M, GAMMA = cond.four_points(), 1e-3, 0.1, 80_000, 200, 0.4
X, Y, ROWS, CELLS = DATA.x, DATA.y, DATA.rows, cond.Cells.of(DATA.x)
SEEDS, FIRST = range(5), 16_000
KEEP = np.arange(0, EPOCHS + 1, 500)

# %% [markdown]
# ## The run, and what is read from it
#
# The main experiment, as in {numref}`chapter-rapid-fitting`: four points, 200 neurons,
# $\gamma=0.4$, $\eta=0.1$, $\lambda=10^{-3}$, 80,000 epochs, $t=\eta\cdot$epoch. The paper's stage
# III starts at epoch 16,000. Seed 0 is taken apart; seeds 1 to 4 say what depends on the draw.
#
# The residual $e$, the field $q_e$, its slope $p_e$ and the features $\varphi_\theta,\psi_\theta$
# are
# those of {eq}`eq-decay-field`. For neuron $k$ let $s_k$ be the sign of $a_k$, $q_k,p_k$ the values
# $q_e(\theta_k),p_e(\theta_k)$, and $\varphi_k,\psi_k$ the vectors of $\varphi_{\theta_k},
# \psi_{\theta_k}$ at the $n$ inputs; $\langle u,v\rangle_n=\frac1n\sum_iu_iv_i$ and $\lVert
# v\rVert_n^2=\langle v,v\rangle_n$. With $\beta=a/r$ (in {numref}`chapter-exact-limit` the letter
# is
# an angle of the limit, which we call $\beta_{\lim}$ here)
#
# $$
# \begin{aligned}
# A'&=-2A\bigl(\lambda+q(\beta+1/\beta)\bigr),\qquad\theta'=-2\beta p,\qquad e'=v_A+v_\theta,\\
# v_A&=\sum_ks_kA_k'\varphi_k,\qquad v_\theta=\sum_ks_kA_k\theta_k'\psi_k .
# \end{aligned}
# $$ (eq-condensation-speeds)
#
# The paper's quantities are the amplitude variation $V_A=\sum\lvert A_k'\rvert$ and the *angular
# energy* $P=\sum A_kp_k^2$, both over neurons that are active at some input.


# %%
def read(networks, y=Y):
    """What the theorems speak of, at networks (t, 3, m); y (n,) or (t, n)."""
    a, r, theta = cond.polar(networks)
    A, s, beta = np.abs(a) * r, np.sign(a), a / r
    e = cond.outputs(networks, X) - y
    phi, psi = features(theta, X), slopes(theta, X)
    q, p = (np.einsum("tmi,ti->tm", z, e) / X.size for z in (phi, psi))
    live = phi.any(axis=2)
    dA, turn = -2 * A * (LAM + q * (beta + 1 / beta)), -2 * beta * p
    v_A = np.einsum("tm,tmi->ti", s * dA, phi)
    v_theta = np.einsum("tm,tmi->ti", s * A * turn, psi)
    return SimpleNamespace(
        A=A, s=s, beta=beta, theta=theta, e=e, live=live, masks=phi > 0, v_A=v_A, v_theta=v_theta,
        V=np.abs(dA * live).sum(axis=1), P=(A * live * p**2).sum(axis=1), de=v_A + v_theta,
        total=(A * live).sum(axis=1),
        Phi=(e**2).mean(axis=1) + LAM / 2 * (networks**2).sum(axis=(1, 2)))


def norm(v):
    """|v|_n, the root of the mean square over the inputs."""
    return np.sqrt((v**2).mean(axis=-1))


# %%
def train(seed):
    start = cond.initial(seed, M, GAMMA)
    return cond.descend(DATA, start, eta=ETA, lam=LAM, steps=EPOCHS, keep=KEEP)


runs = Parallel()(delayed(train)(seed) for seed in SEEDS)
main = [read(run.networks) for run in runs]
AT = {int(epoch): k for k, epoch in enumerate(runs[0].epochs)}


def last_change(masks, epochs):
    """The record at which some neuron's activity at some input last differs from the one before."""
    changed = np.flatnonzero((masks[1:] != masks[:-1]).any(axis=(1, 2)))
    return int(epochs[changed[-1] + 1]) if changed.size else int(epochs[0])


fixed = [last_change(at.masks, KEEP) for at in main]
print("masks last change before epoch " + ", ".join(f"{k:,}" for k in fixed) + "  (seeds 0 to 4)")

# %% [markdown]
# ## Figure 3: what stage III looks like
#
# Three statements, and how we decide them. The limits are ours and were written down before our
# first
# run; but we knew from an earlier draft that the reading of (e) depends on its window, so quarters
# were chosen with that in mind.
#
# - *(c)* $V_A$ stays small after epoch 16,000 and the amplitudes come to rest. Decay alone would
#   give $V_A=2\lambda\sum A$, so small means $V_A/(2\lambda\sum A)<\frac1{10}$ at every record, and
#   rest means $\frac1{100}$ at the end. Null: the records from 1,000 to 15,500.
# - *(e)* The diameters of both groups fall nearly exponentially. The statement is about the whole
#   of stage III, so the window is all of it, in four quarters: the rate of $\ln$ diam in each must
#   be within a factor of two of the mean rate. Null: four quarters of stage II, from epoch 1,000.
# - *(f)* At the end the neurons of a group have one direction: its diameter is below one degree,
#   the angle that tells groups apart. Null: the same neurons at epoch 16,000.
#
# A group is what it is in {numref}`chapter-exact-limit`: live neurons of one sign at the end, split
# where angles are a degree apart, with at least 1 % of $\sum A$; these neurons are followed back.
# Whatever is positive and alive but in no group is a *straggler*.

# %%
least = cond.minimiser(DATA, LAM)
HOMES = [*CELLS.containing(least.theta), CELLS.containing(np.array([np.pi / 2]))[0]]
SIGNS, NAMES, PAIRED = (1, 1, -1), ("left", "right", "negative"), range(3)


def wrap(angle):
    return (angle + np.pi) % (2 * np.pi) - np.pi


def members(at):
    """Indices of the left, the right and the negative group at the last record; stragglers."""
    theta, A, s = at.theta[-1], at.A[-1], at.s[-1]
    plus, minus = (np.flatnonzero(at.live[-1] & (s == sign)) for sign in (1, -1))
    parts = [plus[g] for g in cond.groups(theta[plus], np.pi / 180)]
    large = [g for g in parts if A[g].sum() > 0.01 * A.sum()]
    home = {CELLS.containing(theta[g[:1]])[0]: g for g in large}
    return [home[HOMES[0]], home[HOMES[1]], minus], np.setdiff1d(plus, np.concatenate(large))


def diameter(at, group):
    """Largest difference of angles (9); the circle is cut opposite to the group's end."""
    return np.ptp(wrap(at.theta[:, group] - at.theta[-1, group[0]]), axis=1)


# %%
teams, stray = map(list, zip(*map(members, main), strict=True))
share = np.array([at.V / (2 * LAM * at.total) for at in main])
after, before = KEEP >= FIRST, (KEEP >= 1000) & (KEEP < FIRST)
QUARTERS = {"III": (16_000, 32_000, 48_000, 64_000, 80_000),
            "II": (1000, 4500, 8500, 12_500, 16_000), "eighths": range(16_000, 80_001, 8000)}


def quarter_rates(D, epochs):
    """Rates of ln diam over λ: in each quarter, and in all."""
    k = [AT[epoch] for epoch in epochs]
    spans, fall = ETA * LAM * np.diff(epochs), -np.diff(np.log(D[k]))
    return fall / spans, fall.sum() / spans.sum()


wide = {(seed, j): diameter(main[seed], teams[seed][j]) for seed in SEEDS for j in PAIRED}
quarters = {stage: np.array([quarter_rates(wide[seed, j], epochs)[0] / quarter_rates(
    wide[seed, j], epochs)[1] for seed in SEEDS for j in (0, 1)])
    for stage, epochs in QUARTERS.items()}
steady = {stage: ((v > 0.5) & (v < 2)).all(axis=1) for stage, v in quarters.items()}
eighth = quarters["eighths"]
joined = diameter(main[0], np.append(teams[0][1], stray[0]))
with_stray = np.divide(*quarter_rates(joined, QUARTERS["III"]))
ends = np.degrees([[wide[seed, j][[AT[FIRST], -1]] for j in PAIRED] for seed in SEEDS])

# %%
seen, sixth = KEEP >= 1000, np.flatnonzero(main[0].live[-1])[::6]
apart = main[0].A[seen][:, sixth] - main[0].A[-1, sixth]
print("V_A/(2λΣA), largest: " + ", ".join(f"{v[before].max():.3f}" for v in share)
      + " before 16,000\n                     " + ", ".join(f"{v[after].max():.4f}" for v in share)
      + " after\n                     " + ", ".join(f"{v[-1]:.1e}" for v in share) + " at the end")
print("rate of ln diam over λ in stage III, its quarters           stage II")
for seed in SEEDS:
    for j in (0, 1):
        late, mean = quarter_rates(wide[seed, j], QUARTERS["III"])
        early, mean_2 = quarter_rates(wide[seed, j], QUARTERS["II"])
        print(f"seed {seed} {NAMES[j]:5} {mean:7.3f}: " + " ".join(f"{v:6.3f}" for v in late)
              + f"   {mean_2:7.3f}: " + " ".join(f"{v:6.3f}" for v in early))
print(f"in eighths: {eighth.min():.2f} to {eighth.max():.2f} of the mean, within a factor of two "
      f"in {steady['eighths'].sum()} of {len(eighth)} groups;\n   from epoch 32,000 on "
      f"{eighth[:, 2:].min():.2f} to {eighth[:, 2:].max():.2f}\nright group of seed 0 with its "
      "straggler: quarters " + ", ".join(f"{v:.2f}" for v in with_stray) + " of the mean")
print("diameters in degrees, left, right, negative: at 16,000   at 80,000")
for seed in SEEDS:
    print(f"seed {seed}   " + "".join(f"{v:7.1f}" for v in ends[seed, :, 0])
          + "".join(f"{v:9.3f}" for v in ends[seed, :, 1]) + f"   stragglers: {stray[seed].size}")

# %% [markdown]
# By these criteria the three statements hold in all five seeds, the first one narrowly at the first
# record. But (e) is fragile, and its verdict is "open": what decides is the window, which is not
# printed. Read in eighths, most groups break the factor of two, in the first
# part of the stage, where outer neurons still arrive from other cells and the diameter falls in
# jumps. And all hangs on what a group is: seed 0 has one straggler, which holds next to nothing but
# stands more than a degree off. Were it counted with the right group, that group would meet neither
# (e) nor (f). What does not depend on the reading is the end: in the last quarter every rate is
# $\lambda$, the rate of the exact limit, to three digits.

# %% mystnb={"figure": {"caption": "Stage III, seed 0 (figure 3(c), (e), (f) of the paper). Left: $V_A$ over $2\\lambda\\sum A$ (thick) and the differences $A_k-A_k(80{,}000)$ of every sixth live neuron (thin, right axis). Middle: diameters of the three groups; vertical line at epoch 16,000; grey: the slope $\\lambda$. Right: angles at three epochs; filled: positive.", "name": "fig-condensation-stage"}, "image": {"alt": "Left: a thick curve that falls over three decades, thin curves that fall with it. Middle: three diameters on a logarithmic scale, level at first and straight lines afterwards, two of them along the grey slope and one less steep. Right: angles at three epochs as columns of markers; scattered in the first, narrower clouds in the second, three short bars in the last."}}
fig, (left, middle, right) = figures.panels(1, 3, width=10.4, height=3.1)
twin = left.twinx()
twin.plot(KEEP[seen], apart, color=figures.GUIDE, linewidth=0.5)
figures.finish(twin, "epoch", "A − A(end)", legend=False)
left.plot(KEEP[seen], share[0][seen], color=figures.BLUE, linewidth=2.5)
figures.finish(left, "epoch", "$V_A/(2λΣA)$", log="y", legend=False)
series = {name: np.degrees(wide[0, j][seen]) for j, name in enumerate(NAMES)}
figures.curves(middle, KEEP[seen], series, xlabel="epoch", ylabel="diameter (degrees)", log="y")
middle.axvline(FIRST, color=figures.GUIDE, linewidth=0.8)
figures.guide(middle, np.array([45_000, 75_000]), 0.8 * np.exp([0, -3]), "λ")
for column, epoch in enumerate((1000, FIRST, EPOCHS)):
    at, k = main[0], AT[epoch]
    for sign, colour in ((1, figures.BLUE), (-1, figures.ORANGE)):
        angles = np.degrees(at.theta[k, at.live[k] & (at.s[k] == sign)]) % 360
        spread = column + 0.12 * sign + np.linspace(-0.08, 0.08, angles.size)
        right.plot(spread, angles, "os"[sign < 0], color=colour, markersize=3, linewidth=0.7,
                   fillstyle="full" if sign > 0 else "none")
right.set_xticks(range(3), ["1,000", "16,000", "80,000"])
figures.finish(right, "epoch", "direction θ (degrees)", legend=False)
for ax, name in zip((left, middle, right), "cef", strict=True):
    ax.set_title(f"({name})", loc="left", fontsize=10)
for ax in (left, middle):
    ax.set_xticks([0, 40_000, 80_000], ["0", "40,000", "80,000"])
figures.plt.show()

# %% [markdown]
# ## Figure 4: at the extrema of the field
#
# In stage III neurons condense at extrema of the field. A positive neuron is attracted by a smooth
# minimum of $q_e$, a negative one by a smooth maximum. Before the run we asked that at the end
# every live neuron is within one degree of such an extremum of its own kind.


# %%
def from_extremum(network, at, k):
    """Distances in degrees of the live neurons to the nearest attracting extremum; their signs."""
    ends = CELLS.extrema(cond.outputs(network, X) - Y)
    live, s = at.live[k], at.s[k]
    off = np.abs(wrap(at.theta[k][:, None] - ends.theta))
    own = ends.smooth & (ends.peak == (s < 0)[:, None])
    return np.degrees(np.where(own, off, np.inf).min(axis=1))[live], s[live]


distance = {(seed, epoch): from_extremum(runs[seed].at(epoch), main[seed], AT[epoch])
            for seed in SEEDS for epoch in (FIRST, EPOCHS)}
print("share within 1°, largest distance (degrees): positive; negative")
for (seed, epoch), (off, s) in distance.items():
    print(f"seed {seed} {epoch:6,}  " + ";   ".join(
        f"{np.mean(off[s == sign] < 1):5.2f} {off[s == sign].max():7.2f}" for sign in (1, -1)))
near_plus = [np.mean(off[s > 0] < 1) for (_, epoch), (off, s) in distance.items() if epoch > FIRST]
near_minus = [np.mean(off[s < 0] < 1) for (_, epoch), (off, s) in distance.items() if epoch > FIRST]
far_end = max(off.max() for (_, epoch), (off, _) in distance.items() if epoch > FIRST)
near_start = [np.mean(off < 1) for (_, epoch), (off, _) in distance.items() if epoch == FIRST]
closer = all(distance[seed, EPOCHS][0].max() < distance[seed, FIRST][0].max() for seed in SEEDS)

# %% mystnb={"figure": {"caption": "The field $q_e/(\\lambda/2)$ of seed 0 at epochs 16,000 and 80,000, and the directions of its live neurons (last panel of figure 4 of the paper). Filled: positive; open: negative; vertical lines: cell boundaries.", "name": "fig-condensation-field"}, "image": {"alt": "Two panels over the circle of directions. The same curve with two deep minima and one flat maximum. In the left panel markers are spread widely about the extrema; in the right panel filled markers stand in the two minima and open ones in a small clump at the maximum."}}
fig, axes = figures.panels(1, 2, width=8.4, height=2.8, sharey=True)
circle = np.linspace(0, 2 * np.pi, 721)
for ax, epoch in zip(axes, (FIRST, EPOCHS), strict=True):
    at, k = main[0], AT[epoch]
    ax.plot(np.degrees(circle), cond.field(at.e[k], circle, X) / (LAM / 2), color=figures.BLACK)
    for sign, colour in ((1, figures.BLUE), (-1, figures.ORANGE)):
        theta = at.theta[k, at.live[k] & (at.s[k] == sign)] % (2 * np.pi)
        ax.scatter(np.degrees(theta), cond.field(at.e[k], theta, X) / (LAM / 2), 22, zorder=3,
                   facecolor=colour if sign > 0 else "none", edgecolor=colour,
                   marker="os"[sign < 0])
    for bound in np.degrees(CELLS.bounds):
        ax.axvline(bound, color=figures.GUIDE, linewidth=0.5)
    ax.set_xticks(range(0, 361, 90))
    figures.finish(ax, "direction θ (degrees)", "$q_e/(λ/2)$", f"epoch {epoch:,}", legend=False)
axes[1].set_ylabel("")
figures.plt.show()

# %% [markdown]
# All positive neurons but the straggler of seed 0 are within a degree, but the negative group is
# not: it contracts at the rate $2\lambda\sin\beta_{\lim}$, where $\beta_{\lim}$ is the angle of
# {eq}`eq-exact-law`, more slowly than the positive ones, and is still a few degrees wide at epoch
# 80,000. Every seed is far closer
# at the end than at the start of stage III. The paper prints no cut-off and no epoch for *condense*
# (its definition is a limit), so the verdict is "open": it would be yes with a cut-off of five
# degrees and is no with our one degree, which we keep. That the distances do tend to zero is tested
# below.
#
# ## Balanced neurons, and the cost of crossing
#
# Theorems 5 and 6 speak of a gradient *flow* of *balanced* neurons, $\lvert a\rvert=r=\sqrt A$. The
# run is neither. So we restart the flow from its state at an epoch $T$, with every neuron balanced
# at its own $A$ and $\theta$, which leaves the outputs and the field as they are. RK4 with $h=0.5$,
# five epochs a step. Balanced neurons stay balanced.


# %%
def balanced(network):
    a, r, theta = cond.polar(network)
    root = np.sqrt(np.abs(a) * r)
    return np.array([np.sign(a) * root, root * np.cos(theta), root * np.sin(theta)])


def flow(z, first, last, *, every, h=0.5, targets=None):
    """(epochs, networks) of the gradient flow by RK4 between two epochs; targets(t - T)."""
    epochs, each = np.arange(first, last + 1, every), round(every * ETA / h)
    return epochs, cond.follow(DATA, z, LAM, h=h, steps=each * (epochs.size - 1), every=each,
                               targets=targets)


# %%
TOO_EARLY, T = FIRST, 50_000
early_epochs, early_path = flow(balanced(runs[0].at(TOO_EARLY)), TOO_EARLY, EPOCHS, every=20)
epochs, path = flow(balanced(runs[0].at(T)), T, EPOCHS, every=20)
early, late = read(early_path), read(path)
unbalanced = [np.abs(np.abs(at.beta[:, at.live[0]]) - 1).max() for at in (late, early)]
half = flow(path[0], T, T + 5000, every=5000, h=0.25)[1][-1]
step_error = np.abs(half - path[250]).max() / np.abs(half).max()
print(f"|a|/r stays 1 to 1e-9 from {T:,}: {unbalanced[0] < 1e-9}; half the step changes nothing "
      f"to 1e-12: {step_error < 1e-12}\nfrom {TOO_EARLY:,} it stays 1 to {unbalanced[1]:.1e}")
crossed = (early.masks[1:] != early.masks[:-1]).any(axis=(1, 2))
early_fixed, late_fixed = last_change(early.masks, early_epochs), last_change(late.masks, epochs)
jumps = np.diff(early.P)[crossed] / early.P[:-1][crossed]
smooth = np.abs(np.diff(early.P) / early.P[:-1])[~crossed].max()
glue("condensation-crossings", f"{min(fixed):,} to {max(fixed):,}", display=False)
glue("condensation-crossing", f"{early_fixed:,}", display=False)
print(f"flow from {TOO_EARLY:,}: {crossed.sum()} records with crossings, the last at "
      f"{early_fixed:,};\n   P changes there by {jumps.min():.1%} to {jumps.max():.1%}, elsewhere "
      f"by {smooth:.1%} at most\nflow from {T:,}: "
      f"{'no crossing' if late_fixed == T else f'last crossing {late_fixed}'}")

# %% [markdown]
# Theorem 5 asks that no neuron crosses a cell boundary after $T$. From the start of stage III this
# is false: in the five main runs neurons cross until epochs {glue:text}`condensation-crossings`, in
# the balanced flow of seed 0 even until {glue:text}`condensation-crossing`. Where one does, $p_k$
# jumps, and $P$ with it, up or down (and a step of RK4 across a boundary loses a little of the
# balance). So the theorem as
# stated applies from $T=50{,}000$, the first multiple of 10,000 after the last crossing of the main
# run, and that is the flow on which we measure it. "After $T$" means until epoch 250,000, the
# continuation below.
#
# ### The identities of section D.2
#
# For balanced neurons in open cells, {eq}`eq-condensation-speeds` gives
#
# $$
# \begin{aligned}
# e'&=\sum_ks_kA_k'\varphi_k-2\sum_kA_kp_k\psi_k,\\
# p_k'&=\langle e',\psi_k\rangle_n+2s_kq_kp_k,&&\text{(paper: 44)}\\
# P'&=-2\lambda P-\lVert v_\theta\rVert_n^2-\langle v_A,v_\theta\rangle_n.&&\text{(paper: 45)}
# \end{aligned}
# $$ (eq-condensation-identities)
#
# The second uses $\partial_\theta\psi=-\varphi$ in a cell; in the third the term $2s_kq_kp_k$
# cancels what $A_k'$ contributes, and completing the square leaves $P'\le-2\lambda
# P+\frac14C_\varphi^2V_A^2$ with $C_\varphi=\sup_\theta\lVert\varphi_\theta\rVert_n$; below,
# $C_\psi=\sup_\theta\lVert\psi_\theta\rVert_n$. We take the
# derivatives along the flow by automatic differentiation and compare, at five balanced states, with
# the formulas. Late in the run $A'=-2A(\lambda+2sq)$ is a small difference of large terms, so
# errors are relative to the sum $S$ of all $C_\varphi\,2A(\lambda+2\lvert q\rvert)$, that times
# $C_\psi$ for the second and $\lVert v_\theta\rVert_n$ for the third. (We first took $C_\varphi
# V_A$
# for $S$, and the last state missed the limit by a factor below two: it is rounding of that
# difference.)


# %%
C_PHI, C_PSI = cond.suprema(X)
grid = np.linspace(0, 2 * np.pi, 200_001)
by_grid = [norm(f(grid, X)).max() for f in (features, slopes)]
print(f"C_φ = {C_PHI:.6f}, C_ψ = {C_PSI:.6f}; the same to 1e-4 on a grid: "
      f"{np.allclose(by_grid, [C_PHI, C_PSI], rtol=1e-4)}")

# %%
TX, TY = torch.tensor(X), torch.tensor(Y)


def parts(z):
    """(outputs, p, P, theta) of a network in torch; ReLU'(0) = 0."""
    a, w, b = z
    pre = TX[:, None] * w + b
    r, theta = torch.hypot(w, b), torch.atan2(b, w)
    f = torch.relu(pre) @ a
    psi = (pre > 0) * (torch.cos(theta) - TX[:, None] * torch.sin(theta))
    p = (f - TY) @ psi / X.size
    return f, p, (a.abs() * r * p**2).sum(), theta


def along(network):
    """Derivatives of :func:`parts` along the flow, all by automatic differentiation."""
    z = torch.tensor(network)
    force = torch.func.grad(
        lambda z: ((parts(z)[0] - TY) ** 2).mean() + LAM / 2 * (z**2).sum())(z)
    return [x.numpy() for x in torch.func.jvp(parts, (z,), (-force,))[1]]


# %%
def identities(network):
    """name -> (error, error of the null) of the identities, relative to the sums S."""
    at = read(network[None])
    A, s, e, theta = at.A[0], at.s[0], at.e[0], at.theta[0]
    phi, psi = features(theta, X), slopes(theta, X)
    q, p = phi @ e / X.size, psi @ e / X.size
    v_A, v_theta = (-2 * s * A * (LAM + 2 * s * q)) @ phi, -2 * (A * p) @ psi
    df, dp, dP, _ = along(network)
    size, turning = C_PHI * (2 * A * (LAM + 2 * np.abs(q))).sum(), 2 * s * q * p
    P, square, mixed = (A * p**2).sum(), (v_theta**2).mean(), (v_A * v_theta).mean()
    slope = psi @ (v_A + v_theta) / X.size
    return {"velocity": (norm(df - v_A - v_theta) / size, norm(df - v_A) / size),
            "slope": tuple(np.abs(dp - x).max() / (C_PSI * size) for x in (slope + turning, slope)),
            "energy": (abs(dP + 2 * LAM * P + square + mixed) / (size * np.sqrt(square)),
                       dP + 2 * LAM * P),
            "bound": (dP + 2 * LAM * P - (C_PHI * at.V[0]) ** 2 / 4, 0.0)}


# %%
SEEN = (500, 2000, 8000, FIRST, T)
found = {epoch: identities(balanced(runs[0].at(epoch))) for epoch in SEEN}
worst = {name: max(row[name][0] for row in found.values()) for name in found[T]}
null = {name: min(row[name][1] for row in found.values()) for name in ("velocity", "slope")}
for name in ("velocity", "slope", "energy"):
    print(f"{name:9} to 1e-12 at {len(SEEN)} states: {worst[name] < 1e-12}"
          + (f"; without the turning off by at least {null[name]:.1e}" if name in null else ""))
grows = [epoch for epoch, row in found.items() if row["energy"][1] > 0]
mixed_up = -(late.v_theta * late.de).mean(axis=1)
print(f"P' ≤ −2λP + C²V²/4 at all: {worst['bound'] <= 0}; P' > −2λP at epochs {grows}\n   and at "
      f"{np.mean(mixed_up > 0):.0%} of the records of the flow")

# %% [markdown]
# ## Theorem 5: the drift of an extremum
#
# ```{prf:theorem} Field drift; the paper's theorem 5
# :label: thm-condensation-drift
#
# Let all live neurons be balanced and stay in open cells for $t\ge T$, and $\bar
# A=\Phi(T)/\lambda$. Then $\sum A\le\bar A$ and
#
# $$
# \begin{aligned}
# P(t)&\le e^{-2\lambda(t-T)}P(T)+\tfrac14C_\varphi^2\int_T^te^{-2\lambda(t-s)}V_A(s)^2\,ds,
#   &&\text{(paper: 18)}\\
# \lVert e'\rVert_n&\le C_\varphi V_A+2C_\psi\sqrt{\bar AP},&&\text{(paper: 19)}\\
# \lvert\theta_\star'\rvert&\le\frac{C_\psi}{R_0}\bigl[C_\varphi V_A+2C_\psi\sqrt{\bar AP}\bigr]
#   &&\text{(paper: 20)}
# \end{aligned}
# $$ (eq-condensation-drift)
#
# for a smooth extremum $\theta_\star$ in one cell whose depth $R=\lvert q(\theta_\star)\rvert$
# stays above $R_0$.
# ```
#
# ```{prf:proof}
# $\lambda\sum A\le\Phi$ for balanced neurons, and $\Phi$ falls. The first bound integrates the
# inequality for $P'$ above. For the second, $\lVert v_A\rVert_n\le C_\varphi V_A$ and, by
# the Cauchy–Schwarz inequality, $\lVert v_\theta\rVert_n\le2C_\psi\sum A\lvert p\rvert
# \le2C_\psi\sqrt{\bar AP}$. Finally $p(\theta_\star)=0$ for all times gives
# $\theta_\star'=\mp\langle e',\psi_{\theta_\star}\rangle_n/R$.
# ```
#
# In its cell, the field is $M\cdot(\cos\theta,\sin\theta)$, so $R=\lvert M\rvert$ and
# $\theta_\star$ is the angle of $-M$ (minimum) or $M$ (maximum). The drift comes from the formula,
# and again from differences of $\theta_\star$ between records. If $V_A\le\nu$ after $T$, the paper
# also gives $P\le e^{-2\lambda(t-T)}P(T)+C_\varphi^2\nu^2(1-e^{-2\lambda(t-T)})/8\lambda$ (47),
# (21), and the drift bounds (48), (22) that follow; in (22) we take
# $\varepsilon^2=e^{-2\lambda(t-T)}P(T)$.


# %%
def branch(at, j):
    """(theta_*, R, theta_*') of the extremum that attracts group j, at every record."""
    moment = -SIGNS[j] * (CELLS.active[HOMES[j]] * at.e) @ ROWS / X.size
    theta = np.arctan2(moment[:, 1], moment[:, 0]) % (2 * np.pi)
    R = np.hypot(*moment.T)
    return theta, R, -SIGNS[j] * (at.de * slopes(theta, X)).mean(axis=1) / R


def rooms(theta, j):
    """Distances from angles in the cell of group j to its two boundaries."""
    low, high = CELLS.bounds[HOMES[j]], CELLS.bounds[(HOMES[j] + 1) % CELLS.bounds.size]
    return wrap(theta - low), wrap(high - theta)


def memory(rate, f, dt):
    """int_T^t e^(-int_s^t rate) f(s) ds by the trapezoidal rule; rate a number or (t,)."""
    rate, sums = np.broadcast_to(rate, f.shape), np.zeros(f.shape)
    for k in range(1, f.size):
        keep = np.exp(-dt * (rate[k - 1] + rate[k]) / 2)
        sums[k] = keep * sums[k - 1] + dt / 2 * (keep * f[k - 1] + f[k])
    return sums


# %%
def theorem_5(at, dt):
    """name -> left over right of the bounds at every record after the first; nulls begin "no"."""
    fade, A_bar, nu = np.exp(-2 * LAM * dt * np.arange(at.P.size)), at.Phi[0] / LAM, at.V.max()
    own = C_PHI**2 / 4 * memory(2 * LAM, at.V**2, dt)
    start, first = fade * at.P[0], C_PHI * at.V
    H = start + C_PHI**2 * nu**2 / (8 * LAM) * (1 - fade)
    both, speed = first + 2 * C_PSI * np.sqrt(A_bar * at.P), norm(at.de)
    out = {"budget": np.maximum(LAM * at.total / at.Phi, at.Phi / at.Phi[0]),
           "(18)": at.P / (start + own), "no integral": at.P / start,
           "(19)": speed / both, "no P in (19)": speed / first,
           "(21)": at.P / H}
    drifts = [branch(at, j)[1:] for j in PAIRED]
    for name, right in {"(20)": both, "no P in (20)": first,
                        "(48)": C_PHI * nu + 2 * C_PSI * np.sqrt(A_bar * H)}.items():
        out[name] = np.max([np.abs(d) * R.min() / C_PSI / right for R, d in drifts], axis=0)
    loose = C_PHI * nu * (1 + C_PSI * np.sqrt(A_bar / 2 / LAM)) + 2 * C_PSI * np.sqrt(A_bar * start)
    out["(22)"] = np.max([np.abs(d) * R.min() / C_PSI / loose for R, d in drifts], axis=0)
    return {name: ratio[1:] for name, ratio in out.items()}


# %%
SPARSE, LONG, DT = 100, 250_000, 20 * ETA
coarse_epochs = np.arange(T, LONG + 1, SPARSE)
coarse = [read(flow(balanced(run.at(T)), T, LONG, every=SPARSE, h=2.0)[1]) for run in runs]
bounds = {"from 50,000": theorem_5(late, DT), "from 16,000": theorem_5(early, DT)}
across = [theorem_5(at, SPARSE * ETA) for at in coarse]
print("largest left/right    " + "   ".join(bounds) + "    seeds 0 to 4 from 50,000 to 250,000")
for name in bounds["from 50,000"]:
    print(f"{name:14}" + "".join(f"{b[name].max():14.2e}" for b in bounds.values())
          + f"{max(b[name].max() for b in across):20.2e}")

# %%
numeric = [(np.gradient(theta, DT)[1:-1] - drift[1:-1], drift) for theta, _, drift in
           (branch(late, j) for j in PAIRED)]
half_error = max(np.abs(d[len(d) // 2:]).max() / np.abs(f[len(f) // 2:]).max() for d, f in numeric)
print(f"drift by formula and by differences, the same to 1e-3 in the second half: "
      f"{half_error < 1e-3}")
coarse_fixed = [last_change(at.masks, coarse_epochs) for at in coarse]
print(f"masks of all seeds fixed from {T:,} on: {set(coarse_fixed) == {T}}")
middle_theta = coarse[0].theta[(EPOCHS - T) // SPARSE]
step_angle = np.abs(wrap(middle_theta - late.theta[-1])).max()
print(f"angles at {EPOCHS:,} with h = 2 and h = 0.5 agree to 1e-8: {step_angle < 1e-8}")

# %% [markdown]
# Every bound holds, and from epoch 16,000 too, where the hypothesis fails: the crossings move $P$
# by less than the slack. But from 50,000 on the bounds on $e'$ and on the drift are too large by
# factors of thousands, from 16,000 by a few dozen and more; the factors are printed below. Their
# nulls, without the term in $P$, pass as well, so these two rows are weak. The reason is a
# cancellation that the triangle inequality $\lVert e'\rVert_n\le\lVert v_A\rVert_n+\lVert
# v_\theta\rVert_n$ cannot see: what changes of amplitude do to the outputs, $v_A$, turning undoes,
# $v_\theta$, because the residual stays quasi-static. It is a law of the totals: the dying negative
# group, which gives up most, and all turning together cancel much less well.

# %%
lost = norm(late.v_A) / (C_PHI * late.V), norm(late.de) / (norm(late.v_A) + norm(late.v_theta))
slack = {name: min(1 / b[name].max() for b in [bounds["from 50,000"], *across])
         for name in ("(19)", "(20)")}
slack_early = {name: 1 / bounds["from 16,000"][name].max() for name in slack}
dying = path[:, :, teams[0][2]]
given_up = read(dying, cond.outputs(dying, X) - late.e).v_A
lost_dying = norm(given_up + late.v_theta) / (norm(given_up) + norm(late.v_theta))
print(f"|v_A|/(C_φ V_A) between {lost[0].min():.2f} and {lost[0].max():.2f}; "
      f"|v_A + v_θ|/(|v_A| + |v_θ|) between {lost[1].min():.1e} and {lost[1].max():.1e}")
print(f"(19) is too large by a factor of {slack['(19)']:,.0f} at least, (20) by "
      f"{slack['(20)']:,.0f}, all seeds;\n   from 16,000 by {slack_early['(19)']:,.0f} and "
      f"{slack_early['(20)']:,.0f}, seed 0")
print(f"the same for the negative group's part of v_A: between {lost_dying.min():.2f} and "
      f"{lost_dying.max():.2f}")

# %% [markdown]
# ### If $V_A$ vanishes
#
# Section D.3: if $V_A\to0$, then $P$, $\lVert e'\rVert_n$ and $\lvert\theta_\star'\rvert$ do as
# well. We continue the flow to epoch 250,000. By the exact limit, $V_A$ falls like the negative
# group, $e^{-2\lambda(1-2\sin\beta_{\lim})t}$, by a factor of some $10^{7}$ in this time, and we
# ask for
# $10^{-6}$ of the start in all four. Null: targets that go on moving,
# $y(t)=(1+\frac1{10}\sin\lambda t)\,y$, so that $V_A$ is bounded but does not vanish.

# %%
def moving(t):
    return np.multiply.outer(1 + 0.1 * np.sin(LAM * np.asarray(t)), Y)


driven_epochs, driven_path = flow(path[0], T, LONG, every=500, h=2.0, targets=moving)
times = ETA * (driven_epochs - T)
driven = read(driven_path, moving(times))
driven.de -= np.multiply.outer(0.1 * LAM * np.cos(LAM * times), Y)
period = times > times[-1] - 2 * np.pi / LAM


def sizes(at):
    drifts = [np.abs(branch(at, j)[2]) for j in PAIRED]
    return np.array([at.V, at.P, norm(at.de), np.max(drifts, axis=0)])


fallen = sizes(coarse[0])[:, -1] / sizes(late)[:, 0]
null_fallen = sizes(driven)[:, period].max(axis=1) / sizes(late)[:, 0]
for name, x, y in zip(("V_A", "P", "|e'|", "|θ*'|"), fallen, null_fallen, strict=True):
    print(f"{name:6} at {LONG:,} over {T:,}: {x:.1e}    with moving targets: {y:.1e}")

# %% [markdown]
# ## Theorem 6: contraction
#
# ```{prf:theorem} Angular contraction; the paper's lemmas 7 and 8 and theorem 6
# :label: thm-condensation-contraction
#
# For $t\ge T$ let $\theta_\star$ be a smooth minimum with $R\ge R_0$, let the band
# $[\theta_\star-d,\theta_\star+d]$, $d<\frac\pi2$, lie in one open cell, and let
# $\sup\lvert\theta_\star'\rvert<2R_0\sin d$. Balanced positive neurons that are in the band at $T$
# stay in it, and with $c=2R_0\cos d$ and $\delta_k=\theta_k-\theta_\star$
#
# $$
# \begin{aligned}
# \lvert\delta_k(t)\rvert&\le e^{-c(t-T)}\lvert\delta_k(T)\rvert
#   +\int_T^te^{-c(t-s)}\lvert\theta_\star'(s)\rvert\,ds&&\text{(paper: 49)}\\
# &\le e^{-c(t-T)}\lvert\delta_k(T)\rvert+\tfrac1c\sup\lvert\theta_\star'\rvert\,
#   \bigl(1-e^{-c(t-T)}\bigr),&&\text{(paper: 50)}\\
# \lvert\theta_i-\theta_j\rvert(t)&\le e^{-c(t-T)}\lvert\theta_i-\theta_j\rvert(T),
#   &&\text{(paper: 51)}\\
# \operatorname{diam}(t)&\le e^{-c(t-T)}\operatorname{diam}(T),&&\text{(paper: 23)}
# \end{aligned}
# $$ (eq-condensation-contraction)
#
# where diam is the largest difference of two angles of the group. If $\theta_\star'\to0$, then
# $\delta_k\to0$. The same
# holds for negative neurons at a smooth maximum.
# ```
#
# ```{prf:proof}
# In the cell $p=R\sin\delta$, so $\delta'=-2R\sin\delta-\theta_\star'$, which points inwards at
# $\delta=\pm d$. In the band $\sin\lvert\delta\rvert\ge\cos d\,\lvert\delta\rvert$ gives the first
# bound. In differences $\theta_\star'$ drops out,
#
# $$
# (\theta_i-\theta_j)'=-2R(\sin\delta_i-\sin\delta_j),\quad\text{(paper: 52)}
# $$ (eq-condensation-difference)
#
# and the mean value of the cosine between the two is at least $\cos d$.
# ```
#
# ### Since when
#
# Three hypotheses must hold from $T$ on: the band fits, the drift is slow, the neurons are
# balanced. We take the smallest band that holds the group, $d=\max_k\lvert\delta_k(T)\rvert$, and
# look for the first record $T$ from which on it fits and $\sup\lvert\theta_\star'\rvert<2R_0\sin
# d$. The target's kinks, hence the limits of the groups nearly, lie on *samples*, so a cell
# boundary is only a degree from $\theta_\star$ on one side, and the band of the theorem is
# symmetric. But its proof works for any band $[\theta_\star-d_1,\theta_\star+d_2]$ with
# $\sup\lvert\theta_\star'\rvert<2R_0\sin
# \min(d_1,d_2)$, and $c=2R_0\cos\max(d_1,d_2)$. This *lopsided* band is our extension.


# %%
def later(extreme, x):
    """Extreme of x over all records from each one on."""
    return extreme.accumulate(x[::-1])[::-1]


def track(at, group, j):
    """The extremum of group j and its neurons' offsets, at every record."""
    theta, R, drift = branch(at, j)
    off = wrap(at.theta[:, group] - theta[:, None])
    return SimpleNamespace(theta=theta, R=R, drift=drift, off=off, reach=np.abs(off).max(axis=1),
                           rooms=rooms(theta, j), diam=np.ptp(off, axis=1))


def since(t, lopsided=False):
    """First record from which on the band fits and the drift is slow; len(R) if at none."""
    low, high = (later(np.minimum, room) for room in t.rooms)
    speed = later(np.maximum, np.abs(t.drift)) / (2 * later(np.minimum, t.R))
    widest = np.minimum(np.minimum(low, high), np.pi / 2)
    met = (t.reach < widest) & (speed < np.sin(t.reach))
    if lopsided:
        fits = (-t.off.min(axis=1) < low) & (t.off.max(axis=1) < high) & (t.reach < np.pi / 2)
        met = fits & (speed < np.sin(widest))
    broken = np.flatnonzero(~met)
    return broken[-1] + 1 if broken.size else 0


# %%
def epoch_of(k, epochs):
    return f"{epochs[k]:9,}" if k < len(epochs) else "    never"


tracks = [[track(main[seed], teams[seed][j], j) for j in PAIRED] for seed in SEEDS]
fit = np.array([[since(t) for t in row] for row in tracks])
fit_lopsided = np.array([[since(t, True) for t in row] for row in tracks])
print("main run, since epoch:  " + "".join(f"{name:>9}" for name in NAMES) + "   lopsided band")
for seed in SEEDS:
    print(f"seed {seed}                 " + "".join(epoch_of(k, KEEP) for k in fit[seed]) + "   "
          + "".join(epoch_of(k, KEEP) for k in fit_lopsided[seed]))
flow_tracks = [track(late, teams[0][j], j) for j in PAIRED]
early_tracks = [track(early, group, j) for j, group in enumerate(members(early)[0])]
start = [since(t) for t in flow_tracks]
early_start = [since(t, True) for t in early_tracks]
print("flow from 50,000       " + "".join(epoch_of(k, epochs) for k in start))
print("flow from 16,000" + 37 * " " + "".join(epoch_of(k, early_epochs) for k in early_start))

# %% [markdown]
# On the main runs the band of the theorem fits the positive groups late, in the second half of
# stage
# III; the lopsided one in its first quarter. On the balanced flow from 16,000, whose groups keep
# late
# arrivals, the lopsided band fits them later, in the second and third quarter. For the negative
# group, whose cell is wide, there is no
# difference to speak of. The straggler of seed 0 belongs to no band before the end.
#
# ### Both sides
#
# $T$ is the first record of the flow from 50,000 at which the hypotheses hold; $R_0$ is the least
# depth until epoch 250,000.


# %%
def theorem_6(t, k, tail, dt):
    """name -> largest left over right from record k on, and d, c."""
    d, R0 = t.reach[k], min(t.R[k:].min(), tail.R.min())
    off, diam, speed = np.abs(t.off[k:]), t.diam[k:], np.abs(t.drift[k:])
    c = 2 * R0 * np.cos(d)
    fade = np.exp(-c * dt * np.arange(len(off)))
    pairs = np.abs(t.off[k:, :, None] - t.off[k:, None, :])[:, *np.triu_indices(off.shape[1], 1)]
    start = fade[:, None] * off[0]
    carried = start + memory(c, speed, dt)[:, None]
    uniform = start + speed.max() / c * (1 - fade)[:, None]
    ratios = {"band": max(off.max(), tail.reach.max()) / d, "(49)": off / carried,
              "no integral": off / start, "(50)": off / uniform,
              "(51)": pairs / (fade[:, None] * pairs[0]),
              "(51) twice": pairs / (fade[:, None] ** 2 * pairs[0]),
              "(23)": diam / (fade * diam[0]), "(23) twice": diam / (fade**2 * diam[0])}
    worst = {name: np.max(x if name == "band" else x[1:]) for name, x in ratios.items()}
    return worst | {"d": d, "c": c, "end": (diam / (fade * diam[0]))[-1],
                    "drift": speed.max() / (2 * R0 * np.sin(d))}


# %%
tails = [track(coarse[0], teams[0][j], j) for j in PAIRED]
AFTER = coarse_epochs >= EPOCHS
for t in tails:
    for name in ("R", "reach", "drift", "theta", "diam"):
        setattr(t, name, getattr(t, name)[AFTER])
six = [theorem_6(t, k, tail, DT) for t, k, tail in zip(flow_tracks, start, tails, strict=True)]
print("largest left/right  " + "".join(f"{name:>12}" for name in NAMES))
print(f"{'T':20}" + "".join(f"{epochs[k]:12,}" for k in start))
print(f"{'d (degrees)':20}" + "".join(f"{np.degrees(row['d']):12.3f}" for row in six))
print(f"{'c/λ':20}" + "".join(f"{row['c'] / LAM:12.4f}" for row in six))
print(f"{'drift/(2R0 sin d)':20}" + "".join(f"{row['drift']:12.4f}" for row in six))
for name in list(six[0])[:8]:
    print(f"{name:20}" + "".join(f"{row[name]:12.6f}" for row in six))
print(f"{'(23) at 80,000':20}" + "".join(f"{row['end']:12.4f}" for row in six))
glue("condensation-sharp", f"{max(1 - row['end'] for row in six[:2]):.2%}", display=False)

# %% [markdown]
# The bounds (23) and (51) are sharp: at epoch 80,000 the diameters of the positive groups are
# within {glue:text}`condensation-sharp` of what the theorem allows. Without its integral, (49)
# fails, for neurons
# trail a moving extremum. The hypothesis on the drift is needed, too: a *test neuron*, balanced and
# of no weight, that starts on an extremum of the flow leaves a band so narrow that the drift is
# four times $2R_0\sin d$. And (52), by automatic differentiation:

# %%
spots = [branch(late, j) for j in PAIRED]
probe_at = np.array([theta[0] for theta, _, _ in spots])
narrow = np.array([np.arcsin(np.abs(drift[0]) / (8 * R.min())) for _, R, drift in spots])
probes = 1e-15 * np.array([SIGNS, np.cos(probe_at), np.sin(probe_at)])
_, probed = flow(np.hstack([path[0], probes]), T, T + 10_000, every=100, h=1.0)
with_probes = read(probed)
left_by = np.array([np.abs(wrap(with_probes.theta[:, M + j] - branch(with_probes, j)[0])).max()
                    for j in PAIRED]) / narrow
print("test neurons go as far as " + ", ".join(f"{x:.2f}" for x in left_by) + " d")


def difference_error(k):
    """Largest error of (52) in units of 2R over all pairs of each group, at a record."""
    turning, worst = along(path[k])[3], 0.0
    for j, t in zip(PAIRED, flow_tracks, strict=True):
        speed = turning[teams[0][j]] + 2 * t.R[k] * np.sin(t.off[k])
        worst = max(worst, np.ptp(speed) / (2 * t.R[k]))
    return worst


pair_error = max(difference_error(k) for k in (0, -1))
print(f"(52) to 1e-12 of 2R for all pairs: {pair_error < 1e-12}")

# %% [markdown]
# If the extremum comes to rest, every neuron of the group comes to it. By (49) $\delta$ falls like
# the slower of $e^{-ct}$ and the drift, for which the exact limit gives some six to seven orders
# until epoch 250,000; we ask for $10^{-5}\,d$. Null: the place that the extremum had at $T$.

# %%
arrived = np.array([t.reach[-1] / row["d"] for t, row in zip(tails, six, strict=True)])
rested = np.array([np.abs(tail.drift[-1] / t.drift[k]) for tail, t, k in
                   zip(tails, flow_tracks, start, strict=True)])
old_place = np.array([np.abs(wrap(coarse[0].theta[-1, teams[0][j]] - flow_tracks[j].theta[
    start[j]])).max() / six[j]["d"] for j in PAIRED])
print("at 250,000: drift over that at T " + ", ".join(f"{x:.1e}" for x in rested)
      + "; largest |δ|/d " + ", ".join(f"{x:.1e}" for x in arrived)
      + "\n   from the old place " + ", ".join(f"{x:.1e}" for x in old_place))


# %%
def small_since(speed, allowed):
    """First epoch from which on a speed is below what theorem 6 allows; inf if there is none."""
    small = later(np.maximum, speed) < allowed
    return coarse_epochs[small.argmax()] if small[-1] else np.inf


CHAIN = {}
for seed, at in enumerate(coarse):
    right = C_PHI * at.V + 2 * C_PSI * np.sqrt(at.Phi[0] / LAM * at.P)
    for j in PAIRED:
        t = track(at, teams[seed][j], j)
        edge = np.sin(min(np.pi / 2, *(room.min() for room in t.rooms)))
        allowed = 2 * t.R.min() * edge
        CHAIN[seed, j] = [small_since(speed, allowed)
                          for speed in (C_PSI / t.R.min() * right, np.abs(t.drift))]
print("the bound (20) is below 2R0 sin d for the widest band since epoch (left, right, negative)")
for seed in SEEDS:
    print(f"seed {seed}" + "".join(f"{CHAIN[seed, j][0]:10,}" for j in PAIRED)
          + "   the drift itself" + "".join(f"{CHAIN[seed, j][1]:8,}" for j in PAIRED))

# %% [markdown]
# The paper links the two theorems: when the bound of theorem 5 is below $2R_0\sin d$, theorem 6
# applies. On this run the chain closes only *after* its end, even with the widest band that fits,
# because (20) is thousands of times too large. What makes theorem 6 apply in the run is the
# drift as it is.

# %%
at = coarse[0]
theta, R, drift = branch(at, 0)
bound_20 = C_PSI / R.min() * (C_PHI * at.V + 2 * C_PSI * np.sqrt(at.Phi[0] / LAM * at.P))
edge = 2 * R.min() * np.sin(min(room.min() for room in rooms(theta, 0)))
for epoch in (T, 100_000, 150_000):
    k = np.flatnonzero(coarse_epochs == epoch)[0]
    print(f"left minimum, epoch {epoch:7,}: drift {np.abs(drift[k]):.3e}, bound (20) "
          f"{bound_20[k]:.3e}, 2R0 sin d {edge:.3e}")

# %% mystnb={"figure": {"caption": "Both sides, flow from epoch 50,000, seed 0. Left: drift of the left minimum, its bound (20), and $2R_0\\sin d$ for the widest band that fits (grey). Middle: diameters (lines) and the bound (23) from its $T$ on (dots). Right: main run, diameter over the bound (23) from the first record at which the band fits and the drift is slow.", "name": "fig-condensation-contraction"}, "image": {"alt": "Left: two parallel falling lines on a logarithmic scale, almost four decades apart; the upper one crosses a grey level late. Middle: three falling straight lines, with dots on top of two of them and slightly above the third. Right: three curves; two stay near or below one, the third rises above one and then falls."}}
fig, (left, middle, right) = figures.panels(1, 3, width=9.6, height=3.1)
shown = coarse_epochs <= 160_000
series = {"drift": np.abs(drift[shown]), "bound (20)": bound_20[shown]}
figures.curves(left, coarse_epochs[shown], series, xlabel="epoch", log="y", title="(a)",
               ylabel="speed (rad per unit of t)")
figures.guide(left, coarse_epochs[shown][[0, -1]], np.full(2, edge), "")
for j, (t, k, row) in enumerate(zip(flow_tracks, start, six, strict=True)):
    middle.plot(epochs, np.degrees(t.diam), color=figures.COLOURS[j], linestyle=figures.DASHES[j],
                label=NAMES[j])
    dots = np.arange(k, len(epochs), 100)
    middle.plot(epochs[dots], np.degrees(t.diam[k] * np.exp(-row["c"] * DT * (dots - k))), "o",
                color=figures.COLOURS[j], markersize=3)
    t, k = tracks[0][j], fit[0, j]
    c = 2 * t.R[k:].min() * np.cos(t.reach[k])
    over = t.diam[k:] / t.diam[k] * np.exp(c * ETA * (KEEP[k:] - KEEP[k]))
    right.plot(KEEP[k:], over, color=figures.COLOURS[j], linestyle=figures.DASHES[j])
right.axhline(1, color=figures.GUIDE, linewidth=0.8)
figures.finish(middle, "epoch", "diameter (degrees)", "(b)", "y")
figures.finish(right, "epoch", "diameter/bound (23)", "(c)", legend=False)
left.set_xticks([50_000, 150_000], ["50,000", "150,000"])
middle.set_xticks([50_000, 80_000], ["50,000", "80,000"])
right.set_xticks([30_000, 50_000, 80_000], ["30,000", "50,000", "80,000"])
figures.plt.show()

# %% [markdown]
# ## What we found besides
#
# ### The lopsided band at work
#
# On the flow from 16,000, with its own groups, late arrivals among them, $T$ is the first record
# from which on, until epoch 80,000, the lopsided band fits. $d_1$ and $d_2$ are the offsets at $T$
# on both sides, or as much as the drift asks for, if that is more. The contraction must then hold
# with $c=2R_0\cos\max(d_1,d_2)$, and the group must stay between $-d_1$ and $d_2$.


# %%
def lopsided_6(t, k, dt):
    """Largest reach over the band's, and largest diameter over its bound, from record k on."""
    R0 = t.R[k:].min()
    enough = np.arcsin(np.abs(t.drift[k:]).max() / (2 * R0))
    low, high = max(-t.off[k].min(), enough), max(t.off[k].max(), enough)
    c = 2 * R0 * np.cos(max(low, high))
    fade = np.exp(-c * dt * np.arange(len(t.R) - k))
    stays = max((-t.off[k:].min(axis=1) / low).max(), (t.off[k:].max(axis=1) / high).max())
    return stays, (t.diam[k:] / (fade * t.diam[k]))[1:].max(), np.degrees(low), np.degrees(high)


lop = np.array([lopsided_6(t, k, DT) for t, k in zip(early_tracks, early_start, strict=True)])
for name, k, k_symmetric, row in zip(NAMES, early_start, map(since, early_tracks), lop,
                                     strict=True):
    print(f"{name:9} since {early_epochs[k]:,} (symmetric: {epoch_of(k_symmetric, early_epochs)}), "
          f"band −{row[2]:.2f}° to {row[3]:.2f}°\n   reach {row[0]:.6f} of it, diameter "
          f"{row[1]:.6f} of its bound")

# %% [markdown]
# ### Two exact laws
#
# ```{prf:proposition} Pairs and fours
# :label: prop-condensation-exact
#
# Balanced neurons of one sign in one cell, with mean offset $\bar\delta$ of a pair, satisfy
#
# $$ \frac d{dt}\ln\tan\tfrac{\theta_i-\theta_j}4=-2R\cos\bar\delta, $$ (eq-condensation-pair)
#
# and for any four of them the cross ratio
# $\frac{\sin\frac{\theta_1-\theta_3}2\sin\frac{\theta_2-\theta_4}2}
# {\sin\frac{\theta_1-\theta_4}2\sin\frac{\theta_2-\theta_3}2}$ does not change.
# ```
#
# ```{prf:proof}
# (52) is $(\theta_i-\theta_j)'=-4R\cos\bar\delta\sin\frac{\theta_i-\theta_j}2$, and
# $(\ln\tan\frac x4)'=1/(2\sin\frac x2)$. In a cell $\theta'=-2s(M_2\cos\theta-M_1\sin\theta)$, so
# $u=\tan\frac\theta2$ obeys the Riccati equation $u'=-s(M_2(1-u^2)-2M_1u)$, with coefficients
# that all neurons share. Its solutions move by Möbius maps, which keep cross ratios.
# ```
#
# So a condensing group has three angular degrees of freedom, however many neurons it has: three of
# them tell where all others are. The law of pairs makes lemma 8 an equality. We predict from three
# neurons (the two outer ones and the middle one) of each group the angles of all others at epoch
# 80,000, from those at 50,000; errors relative to the diameter at the end. Angles carry $10^{-16}$,
# diameters are some $10^{-3}$, and a Möbius map divides by distances to the three references, so we
# ask for $10^{-9}$. Null: the same prediction on the main run, whose neurons are not quite
# balanced. The law of pairs is integrated by the trapezoidal rule, error $(2R\,\Delta t)^2/12$:
# below $10^{-6}$.


# %%
def moebius_error(theta, group):
    """Error of the angles at the last record, predicted from the first and three neurons."""
    centre = theta[-1, group].mean() if np.ptp(theta[-1, group]) < np.pi else theta[-1, group[0]]
    u = np.tan(wrap(theta[[0, -1]][:, group] - centre) / 2)
    order = np.argsort(u[0])
    one, two, three = order[[0, len(group) // 2, -1]]
    rest = np.setdiff1d(order, [one, two, three])
    (x1, x2, x3), (y1, y2, y3) = u[:, [one, two, three]]
    c = (u[0, rest] - x1) * (x2 - x3) / ((u[0, rest] - x3) * (x2 - x1))
    predicted = (y1 * (y2 - y3) - c * y3 * (y2 - y1)) / ((y2 - y3) - c * (y2 - y1))
    return np.abs(predicted - u[1, rest]).max() / np.ptp(u[1])


# %%
def pair_law_error(t, dt):
    """Largest error of ln tan of a quarter of the diameter against the integral of its rate."""
    first, last = t.off[0].argmin(), t.off[0].argmax()
    rate = 2 * t.R * np.cos((t.off[:, first] + t.off[:, last]) / 2)
    fall = np.append(0, np.cumsum((rate[1:] + rate[:-1]) / 2 * dt))
    quarter = np.log(np.tan((t.off[:, last] - t.off[:, first]) / 4))
    return np.abs(quarter - quarter[0] + fall).max(), np.abs(fall[-1] - 2 * t.R.min() * np.cos(
        t.reach[0]) * dt * (len(fall) - 1))


from_T = KEEP >= T
predicted = [moebius_error(late.theta, group) for group in teams[0]]
predicted_main = [moebius_error(main[0].theta[from_T], group) for group in teams[0]]
pair_law = np.array([pair_law_error(t, DT) for t in flow_tracks])
print("angles from three neurons, to 1e-9 of the diameter: "
      + ", ".join(f"{x < 1e-9}" for x in predicted) + ";\n   on the main run off by "
      + ", ".join(f"{x:.1e}" for x in predicted_main))
print(f"law of pairs to 1e-6: {(pair_law[:, 0] < 1e-6).all()}; with the rate of lemma 8 off by "
      + ", ".join(f"{x:.1e}" for x in pair_law[:, 1]))

# %% [markdown]
# ### The run as it is
#
# The main run is not balanced. Then (23) need not hold, even where all other hypotheses do, as
# panel (c) above shows. With $\beta_k=\lvert a_k\rvert/r_k$ the speeds are $-2\beta_kR\sin\delta_k-
# \theta_\star'$, and
#
# $$
# \begin{aligned}
# \operatorname{diam}(t)&\le e^{-\int_T^tc}\operatorname{diam}(T)+\int_T^te^{-\int_s^tc}\,2R\,
#   (\beta_{\max}-\beta_{\min})\sin d(s)\,ds,\\
# c(s)&=2R\,\beta_{\min}\cos d(s),
# \end{aligned}
# $$ (eq-condensation-unbalanced)
#
# where $d(s)=\max\lvert\delta_k(s)\rvert$: write $\beta_i\sin\delta_i-\beta_j\sin\delta_j=
# \bar\beta(\sin\delta_i-\sin\delta_j)+(\beta_i-\beta_j)\frac{\sin\delta_i+\sin\delta_j}2$. It needs
# no balance. We test both on the main runs, from the records of the table above.


# %%
def as_it_is(seed, j):
    """Largest diameter over (23), over the bound with the imbalance, and over its first term."""
    t, k, group = tracks[seed][j], fit[seed, j], teams[seed][j]
    beta = np.abs(main[seed].beta[k:, group])
    low, high, reach, R = beta.min(axis=1), beta.max(axis=1), t.reach[k:], t.R[k:]
    dt = ETA * (KEEP[1] - KEEP[0])
    diam, times = t.diam[k:], dt * np.arange(len(R))
    stated = np.exp(-2 * R.min() * np.cos(reach[0]) * times) * diam[0]
    rate = 2 * R * low * np.cos(reach)
    kept = np.exp(-np.append(0, np.cumsum((rate[1:] + rate[:-1]) / 2 * dt))) * diam[0]
    pushed = memory(rate, 2 * R * (high - low) * np.sin(reach), dt)
    return [(diam / right)[1:].max() for right in (stated, kept + pushed, kept)]


as_run = np.array([[as_it_is(seed, j) for j in PAIRED] for seed in SEEDS])
print("main run, largest diameter over   (23)                bound with imbalance   first term")
for seed in SEEDS:
    print(f"seed {seed}               " + "   ".join(
        "".join(f"{v:8.4f}" for v in as_run[seed, :, n]) for n in range(3)))

# %% [markdown]
# (23) fails for the negative group in every seed, and by a hair for one positive group. The bound
# with the imbalance holds for all. On these runs its first term alone would do: what repairs (23)
# is $\beta_{\min}$ in the rate, since neurons with $\lvert a\rvert<r$ turn more slowly. The second
# term is what the proof needs.
#
# ### The rate, against the exact limit
#
# In the limit $2R=\lambda$ at the positive groups and $2\lambda\sin\beta_{\lim}$ at the maximum
# ({numref}`chapter-exact-limit`). Between epochs 80,000 and 250,000 of the flow the rate of the
# diameter can differ from this by the relative change of $R$ and by $d^2/2$, both at 80,000. Null:
# the rate $2\lambda$ of dead neurons.

# %%
moment = [CELLS.active[home] * least.e @ ROWS / X.size for home in HOMES]
limit_rate = np.array([2 * np.hypot(*v) for v in moment])
measured = np.array([np.log(t.diam[0] / t.diam[-1]) for t in tails]) / (ETA * (LONG - EPOCHS))
rate_error = np.abs(measured / limit_rate - 1)
rate_allowed = np.array([abs(2 * t.R[0] / rate - 1) + t.reach[0] ** 2 / 2
                         for t, rate in zip(tails, limit_rate, strict=True)])
for j, name in enumerate(NAMES):
    print(f"{name:9} {measured[j] / LAM:.6f} λ, exact limit {limit_rate[j] / LAM:.6f} λ, "
          f"error {rate_error[j]:.1e} (allowed {rate_allowed[j]:.1e})")
glue("condensation-chain", f"{CHAIN[0, 0][0]:,}", display=False)
glue("condensation-factor", f"{slack['(20)']:,.0f}", display=False)

# %% [markdown]
# ## Exercises
#
# **1.** Show that $P$ jumps where a neuron crosses a boundary, and by how much.
#
# ```{dropdown} Solution of 1
# If input $i$ is switched on at $\theta_0$, $x_i\cos\theta_0+\sin\theta_0=0$, then $q_e$ is
# continuous there and $p_e$ gains
# $\frac1ne_i(\cos\theta_0-x_i\sin\theta_0)=\pm\frac1ne_i\sqrt{1+x_i^2}$. A neuron crosses only if
# $p$ has the same sign on both sides, and $P$ changes by $A$ times the difference of the squares,
# up or down as $\lvert p\rvert$ grows or shrinks.
# ```
#
# **2.** Two balanced positive neurons stand at $\delta=\pm d$ of a minimum at rest with constant
# $R$. How long until their distance is half?
#
# ```{dropdown} Solution of 2
# By {eq}`eq-condensation-pair`, with $\bar\delta=0$, $\tan\frac d2$ falls as $e^{-2Rt}$, so
# $t=\frac1{2R}\ln\frac{\tan (d/2)}{\tan(d/4)}$: a little more than $\frac{\ln2}{2R}$.
# ```
#
# **3.** Why does the chain of the two theorems close so late? Could a sharper theorem 5 help?
#
# ```{dropdown} Solution of 3
# (20) bounds $\lVert v_A\rVert_n+\lVert v_\theta\rVert_n$, but the drift sees $v_A+v_\theta$,
# which is
# smaller by the factor printed above, and (20) in all is at least {glue:text}`condensation-factor`
# times too large. In seed 0 it is small enough only from epoch {glue:text}`condensation-chain` on.
# A bound that used $e'\approx e_{\rm qs}'$, the derivative of $-\lambda(K+\lambda I)^{-1}y$, would
# keep the cancellation.
# ```
#
# ## The ledger
#
# Order of events. Known from an earlier draft, before anything was computed here: the last crossing
# of seed 0 near epoch 44,000, the records at which the symmetric band fits, that (23) fails on the
# main run, and that the reading of figure 3(e) depends on the window. The limits for figure 3,
# figure 4, D.3 and the bounds were written down before our first run, and none was changed: the one
# for figure 4 failed. What was *not* written down then was what a group is; we saw that seed 0 has
# a straggler, and took the definition of {numref}`chapter-exact-limit`. Trial runs showed the
# bounds, the laws of pairs and fours and the rates before their own limits were set, which are
# argued from rounding and from terms left out. We first thought that the slack of (19) came from a
# cancellation inside $v_A$; the numbers refuted it. The scale of the identities was changed once,
# as told above. After a review the nulls of `B20-masks` and `B20-chain`, which were the negations
# of
# their statements, were replaced by measured ones, and `B20-masks`, `B20-band` and `B20-slack`
# claim
# no more than what is measured.
#
# Where the paper uses a word that needs a cut-off (small, nearly, condense) and prints none, the
# cut-off is ours, and this is the rule: where ours is met the row says *holds*, where it is missed
# the
# row says *open*, since what is printed cannot decide against it. We depart from it once, to be
# stricter: the quarters of figure 3(e) are met, but other windows are not, so that row is open too.

# %%
compare = claims.compare
worst_5 = {name: max(b[name].max() for b in [bounds["from 50,000"], *across]) for name in across[0]}
fixed_text = f"flow from {T:,}, all {len(runs)} seeds to {LONG:,}"
later_note = (f"Masks of the main run change until epoch {max(fixed):,}; from {FIRST:,}, where "
              f"they still change, the bound holds as well.")


def bound_5(name, claim, null=None, note=later_note):
    text = f"at most {worst_5[name]:.3g} of the bound; {fixed_text}"
    if null is None:
        return compare(claim, text, holds=worst_5[name] <= 1 + 1e-12, note=note)
    return compare(claim, text + f"; null {worst_5[null]:.3g}", holds=worst_5[name] <= 1 + 1e-12,
                   null_holds=worst_5[null] <= 1, note=note)


weak_note = (f"Holds with much room: from {T:,} on (19) is too large by {slack['(19)']:,.0f}, (20) "
             f"by {slack['(20)']:,.0f} at least, from {FIRST:,} by {slack_early['(19)']:.0f} and "
             f"{slack_early['(20)']:.0f}, so their first terms alone are bounds too. ")
rows = [
    compare("W-D1-budget", f"λΣA/Φ and Φ/Φ(T) at most 1: {worst_5['budget'] <= 1}; {fixed_text}",
            holds=worst_5["budget"] <= 1),
    compare("W-D2-velocity", f"to 1e-12 at {len(SEEN)} states: {worst['velocity'] < 1e-12}; null "
            f"off by {null['velocity']:.1e}", holds=worst["velocity"] < 1e-12,
            null_holds=null["velocity"] < 1e-12),
    compare("W-D2-slope", f"to 1e-12 at {len(SEEN)} states: {worst['slope'] < 1e-12}; null off by "
            f"{null['slope']:.1e}", holds=worst["slope"] < 1e-12, null_holds=null["slope"] < 1e-12),
]

# %%
rows += [
    compare("W-D2-energy", f"identity to 1e-12: {worst['energy'] < 1e-12}; inequality at "
            f"{sum(row['bound'][0] <= 0 for row in found.values())} of {len(found)} states; "
            f"null fails at {len(grows)} of them",
            holds=worst["energy"] < 1e-12 and worst["bound"] <= 0, null_holds=not grows),
    bound_5("(18)", "W-T5-energy", "no integral"),
    bound_5("(19)", "W-T5-residual", "no P in (19)", weak_note + later_note),
    bound_5("(20)", "W-T5-minimum", "no P in (20)", weak_note + later_note),
    bound_5("(21)", "W-T5-uniform"),
    bound_5("(22)", "W-T5-drift"),
    compare("W-D3-vanish", f"V_A, P, |e'|, |θ*'| at {LONG:,} over {T:,} at most "
            f"{fallen.max():.1e}; with moving targets at least {null_fallen.min():.1e}",
            holds=fallen.max() < 1e-6, null_holds=null_fallen.min() < 1e-6),
]

# %%
held_since = ("Restarted balanced flow. On the main run the band fits since "
              + ", ".join(f"{KEEP[k]:,}" for k in fit[0]) + " (" + ", ".join(NAMES) + ").")


def over(name):
    return [row[name] for row in six[:2]]


def bound_6(name, claim, null, note=held_since):
    return compare(claim, f"at most {max(over(name)):.6f} of the bound in {len(over(name))} "
                   f"groups; null {min(over(null)):.2f}", holds=max(over(name)) <= 1,
                   null_holds=max(over(null)) <= 1, note=note)


rows += [
    compare("W-L7-band", f"at most {max(over('band')):.6f} d until {LONG:,}; test neurons in bands "
            f"too narrow reach {left_by[:2].min():.2f} d", holds=max(over("band")) <= 1,
            null_holds=left_by[:2].max() <= 1, note=held_since),
    bound_6("(49)", "W-L7-tracking", "no integral"),
    compare("W-L7-uniform", f"at most {max(over('(50)')):.6f} of the bound in {len(over('(50)'))} "
            "groups", holds=max(over("(50)")) <= 1, note=held_since),
    compare("W-L8-difference", f"to 1e-12 of 2R for all pairs of {len(NAMES)} groups: "
            f"{pair_error < 1e-12}", holds=pair_error < 1e-12),
    bound_6("(51)", "W-L8-pair", "(51) twice"),
]

# %%
stated = as_run[:, :, 0]
rows += [
    bound_6("(23)", "W-T6-diameter", "(23) twice", held_since + " On the main run, where neurons "
            f"are not balanced, up to {stated.max():.3f} of the bound."),
    compare("W-T6-arrive", f"largest |δ|/d {arrived.max():.1e} at {LONG:,}; from the old place "
            f"at least {old_place.min():.1e}", holds=arrived.max() < 1e-5,
            null_holds=old_place.min() < 1e-5),
    compare("W-T6-negative", f"at most {six[2]['(23)']:.6f} of the bound; null "
            f"{six[2]['(23) twice']:.2f}", holds=six[2]["(23)"] <= 1 and six[2]["band"] <= 1,
            null_holds=six[2]["(23) twice"] <= 1,
            note=f"Balanced flow; main run of seed 0 up to {stated[0, 2]:.3f} of the bound."),
    compare("W-F3-amplitudes", f"V_A/(2λΣA) at most {share[:, after].max():.4f} after 16,000, "
            f"{share[:, -1].max():.1e} at the end of {len(runs)} seeds; before "
            f"{share[:, before].max():.2f}",
            holds=share[:, after].max() < 0.1 and share[:, -1].max() < 0.01,
            null_holds=share[:, before].max() < 0.1),
]

# %%
q3, q2 = quarters["III"], quarters["II"]
rows += [
    compare("W-F3-diameters", f"rates of ln diam: quarters {q3.min():.2f} to {q3.max():.2f} of the "
            f"mean, within a factor of two in {steady['III'].sum()} of {len(q3)} groups (stage II "
            f"{steady['II'].sum()}); eighths in {steady['eighths'].sum()}", verdict="open",
            note="No window and no limit are printed, and the window decides: in eighths the rates "
                 f"are {eighth.min():.2f} to {eighth.max():.2f} of the mean (from epoch 32,000 on "
                 f"{eighth[:, 2:].min():.2f} to {eighth[:, 2:].max():.2f}); with its straggler the "
                 f"right group of seed 0 runs from {with_stray.min():.2f} to "
                 f"{with_stray.max():.2f} of its mean in quarters."),
    compare("W-F3-angles", f"diameters at most {ends[:, :2, 1].max():.2f}° at the end, at least "
            f"{ends[:, :2, 0].min():.0f}° at 16,000; {len(runs)} seeds",
            holds=ends[:, :2, 1].max() < 1, null_holds=ends[:, :2, 0].max() < 1,
            note=f"Beside them {sum(x.size for x in stray)} straggler, in seed 0, with "
                 f"{main[0].A[-1, stray[0]].sum() / main[0].total[-1]:.0e} of ΣA."),
    compare("W-F4-condense", f"within 1° of their extremum at the end: positive at least "
            f"{min(near_plus):.2f}, negative {min(near_minus):.2f}; farthest {far_end:.1f}°; at "
            f"16,000 at most {max(near_start):.2f}; all seeds closer: {closer}", verdict="open",
            note="No cut-off and no epoch are printed. Our one degree, set before the run, is met "
                 "by nearly all positive neurons and not by the negative group, which contracts "
                 "more slowly; in the limit all come to their extrema."),
]

# %%
symmetric, lopsided = KEEP[fit[:, :2]], KEEP[fit_lopsided[:, :2]]
last_chain, first_drift = zip(*CHAIN.values(), strict=True)
lop_since = " and ".join(f"{early_epochs[k]:,}" for k in early_start[:2])
rows += [
    compare("B20-masks", f"main runs: last crossing at {min(fixed):,} to {max(fixed):,}; flow of "
            f"seed {SEEDS[0]} from {FIRST:,}: {crossed.sum()} records with crossings until "
            f"{early_fixed:,}, P jumps by up to {np.abs(jumps).max():.0%} (elsewhere "
            f"{smooth:.1%}), (18) at most "
            f"{bounds['from 16,000']['(18)'].max():.2f}, without its integral "
            f"{bounds['from 16,000']['no integral'].max():.2f}",
            holds=min(fixed) > FIRST and np.abs(jumps).max() > smooth and max(
                b.max() for n, b in bounds["from 16,000"].items() if "no" not in n) <= 1,
            null_holds=bounds["from 16,000"]["no integral"].max() <= 1),
    compare("B20-band", f"positive groups, main runs of {len(runs)} seeds: symmetric band since "
            f"{symmetric.min():,} to {symmetric.max():,}, lopsided since {lopsided.min():,} to "
            f"{lopsided.max():,}; balanced flow of seed {SEEDS[0]}: lopsided since {lop_since}, "
            f"contraction at most {lop[:2, 1].max():.6f} of its bound",
            holds=lopsided.max() < 32_000 and lop[:2, :2].max() <= 1,
            null_holds=symmetric.max() < 32_000),
]

# %%
rows += [
    compare("B20-chain", f"(20) is small enough since {min(last_chain):,} to {max(last_chain):,}; "
            f"the drift itself since {max(first_drift):,} or earlier, {len(first_drift)} groups",
            holds=min(last_chain) > EPOCHS, null_holds=min(first_drift) > EPOCHS),
    compare("B20-slack", f"|v_A + v_θ| at most {lost[1].max():.1e} of |v_A| + |v_θ|; |v_A| at "
            f"least {lost[0].min():.2f} of C_φ V_A", holds=lost[1].max() < 0.01,
            null_holds=lost[0].max() < 0.01),
]

# %%
rows += [
    compare("B20-pairs", f"to 1e-6: {(pair_law[:, 0] < 1e-6).all()}; lemma 8's rate off by "
            f"{pair_law[:, 1].min():.1e} to {pair_law[:, 1].max():.1e}",
            holds=(pair_law[:, 0] < 1e-6).all(), null_holds=(pair_law[:, 1] < 1e-6).all()),
    compare("B20-fours", f"all angles from three to 1e-9 of the diameter: {max(predicted) < 1e-9}; "
            f"main run off by {min(predicted_main):.1e} at least", holds=max(predicted) < 1e-9,
            null_holds=min(predicted_main) < 1e-9),
    compare("B20-imbalance", f"main runs: at most {as_run[:, :, 1].max():.4f} of the bound, "
            f"{as_run[:, :, 2].max():.2f} of its first term, {stated.max():.3f} of (23), which "
            f"fails in {(stated > 1).sum()} of {stated.size} groups",
            holds=as_run[:, :, 1].max() <= 1, null_holds=stated.max() <= 1),
    compare("B20-rate", f"relative error at most {rate_error.max():.1e}, within what is allowed: "
            f"{(rate_error < rate_allowed).all()}", holds=(rate_error < rate_allowed).all(),
            null_holds=(np.abs(measured / (2 * LAM) - 1) < rate_allowed).any()),
]
claims.report(rows)
