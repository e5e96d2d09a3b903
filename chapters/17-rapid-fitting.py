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
# (chapter-rapid-fitting)=
# # Rapid fitting
#
# Without weight decay the imbalance $a^2-\lVert w\rVert^2$ of a neuron never changes, and the first
# sixteen chapters are about what it decides. {cite:t}`xu2026decay` switch weight decay on. Then the
# imbalance fades, and a wide network that starts in the lazy regime, where features hardly move,
# ends with all its neurons in a few directions: it *condenses*, in three stages. This second part
# of the book takes their paper claim by claim. Here is its first stage, the fitting of the data.
# After this chapter you will know
#
# - the equations of one neuron under weight decay, what remains of the conservation law, in
#   continuous time and for gradient descent;
# - the experiment that the rest of this part takes apart, and how much of its course depends on
#   the draw of the start: the epoch 447 of the paper among fifty seeds, and the distance to the
#   target, which first *grows*;
# - the tangent kernel at the start, its limit for wide networks, and how fast theorem 2's orders
#   appear as the width grows.
#
# It runs for about 50 seconds on one core. The parallel parts go through `joblib`.

# %%
import matplotlib.pyplot as plt
import numpy as np
import torch
from joblib import Parallel, delayed
from myst_nb import glue
from scipy.integrate import dblquad

from gaugelib import claims, figures
from gaugelib import condensation as cond
from gaugelib.measure import loglog_fit

torch.set_default_dtype(torch.float64)

# %% [markdown]
# ## The model
#
# A network of one variable, $f(x)=\sum_{k=1}^m a_k[w_kx+b_k]_+$, is fitted to $n$ points
# $(x_i,y_i)$. Put $\tilde x=(x,1)$ and $v=(w,b)=r(\cos\theta,\sin\theta)$; then the neuron is
# $a\,[v\cdot\tilde x]_+$, a student of {numref}`chapter-gauge` in the plane. Its *amplitude* is
# $A=\lvert a\rvert r$ (there $\lvert q\rvert$), its *direction* $\theta$, its imbalance $B=a^2-r^2$
# (there $\delta$). With the residual $e_i=f(x_i)-y_i$, training follows
#
# $$
# \dot\Theta=-\nabla\Phi,\qquad
# \Phi=\mathcal L+\frac\lambda2\sum_k(a_k^2+w_k^2+b_k^2),\qquad
# \mathcal L=\frac1n\sum_ie_i^2 .
# $$ (eq-decay-objective)
#
# There is no factor $\frac12$ before the loss, so this is the flow of part one at twice its speed.
# What acts on a neuron is the *residual correlation field* on the circle of directions,
#
# $$
# q_e(\theta)=\frac1n\sum_ie_i\,\varphi_\theta(x_i),\qquad p_e=\partial_\theta q_e,\qquad
# \varphi_\theta(x)=[x\cos\theta+\sin\theta]_+,\quad \psi_\theta=\partial_\theta\varphi_\theta .
# $$ (eq-decay-field)
#
# The kink of a neuron sits at $x=-\tan\theta$. All angles are in radians unless marked, and
# $\mathrm{ReLU}'(0)=0$.
#
# ```{prf:proposition} One neuron under weight decay; the paper's proposition 1
# :label: prop-decay-flow
#
# Where $r>0$, with $q=q_e(\theta)$, $p=p_e(\theta)$ and $K=JJ^\top/n$, $J$ the Jacobian of the $n$
# outputs in all parameters,
#
# $$
# \dot a=-2rq-\lambda a,\quad \dot r=-2aq-\lambda r,\quad \dot\theta=-2\tfrac ar\,p,\qquad
# \dot e=-2(K+\lambda I)e-2\lambda y,
# $$ (eq-decay-flow)
#
# and $B(t)=e^{-2\lambda t}B(0)$.
# ```
#
# ```{prf:proof}
# The gradient of $\mathcal L$ is $2rq$ in $a$ and $2aM$ in $v$, with $M=\frac1n\sum e_i\tilde x_i
# 1\{v\cdot\tilde x_i>0\}$, whose components along and across $v$ are $q$ and $p$. In $\dot B=2a\dot
# a-2r\dot r$ the terms $4arq$ cancel, which is the conservation law of part one; decay leaves
# $-2\lambda B$. Finally $\dot e=J\dot\Theta=-2Ke-\lambda J\Theta$, and $J\Theta=2f$ because every
# neuron is homogeneous of degree two.
# ```
#
# From these follow the laws of the ratio $\beta=a/r$ and of the amplitude, with $s$ the sign of
# $a$:
#
# $$
# \dot\beta=2q(\beta^2-1),\qquad \frac{d\ln A}{dt}=-2\lambda-2q(\beta+1/\beta),\qquad
# \frac{d\Phi}{dt}=-\lvert\dot\Theta\rvert^2 ,
# $$ (eq-decay-ratio)
#
# and where $\lvert a\rvert=r$ at one time, then for ever: $\dot A=-2A(\lambda+2sq)$,
# $\dot\theta=-2sp$.
#
# ### Checked along a run
#
# The run is the paper's main experiment (appendix E): four points, $m=200$ neurons with independent
# normal $a$, $w$, $b$ of standard deviation $m^{-\gamma}$, $\gamma=0.4$; 80 000 steps of gradient
# descent on all data with $\eta=0.1$ and $\lambda=10^{-3}$. One epoch is one step, and
# $t=\eta\cdot$
# epoch. Our choice: seed 0, all of $a$ drawn first, then $w$, then $b$. The same start without
# decay
# runs beside it.

# %%
ETA, LAM, STEPS, M = 0.1, 1e-3, 80_000, 200
KEEP = np.unique(np.concatenate([
    [0, 447], np.geomspace(1, 1000, 41).astype(int), np.arange(1000, STEPS + 1, 1000)]))
data = cond.four_points()
start = cond.initial(0, M, 0.4)
run, free = (cond.descend(data, start, eta=ETA, lam=lam, steps=STEPS, keep=KEEP)
             for lam in (LAM, 0.0))


def residual(network):
    return cond.outputs(network, data.x) - data.y


def live(network):
    """Neurons that are active at one of the inputs at least."""
    return cond.features(cond.polar(network)[2], data.x).any(axis=1)


print(f"{run.epochs.size} networks kept; inputs {np.round(data.x, 4)}, targets {data.y.round(4)}")
print(f"live neurons at epochs 0, 447, 80 000: "
      f"{[int(live(run.at(k)).sum()) for k in (0, 447, STEPS)]} of {M}")

# %% [markdown]
# The identities say what the velocity $\dot\Theta=-\nabla\Phi$ does to $a$, $r$, $\theta$, $e$,
# $\beta$,
# $A$, $\Phi$. We take the velocity from automatic differentiation of {eq}`eq-decay-objective` in
# torch, and $\dot e=J\dot\Theta$ from a forward derivative; the right-hand sides are those above,
# with $K$ from {eq}`eq-decay-kernel`. Errors are relative to the largest term of each identity. A
# sum of some hundred terms rounds at $10^{-14}$, and $10^{-12}$ leaves room.

# %%
X, Y = torch.tensor(data.x), torch.tensor(data.y)


def outputs(z):
    return torch.relu(X[:, None] * z[1] + z[2]) @ z[0]


def objective(z):
    return ((outputs(z) - Y) ** 2).mean() + LAM / 2 * (z**2).sum()


def moving(network):
    """(velocity (3, m), d outputs/dt (n,), J Theta (n,)) by automatic differentiation."""
    z = torch.tensor(network)
    velocity = -torch.func.grad(objective)(z)
    along = [torch.func.jvp(outputs, (z,), (u,))[1].numpy() for u in (velocity, z)]
    return velocity.numpy(), *along


def off(left, right, *terms):
    """Largest difference, relative to the largest term."""
    return np.abs(left - right).max() / max(np.abs(x).max() for x in (left, right, *terms))


# %%
def identities(network):
    """name -> error of the identities of proposition 1 and section A, and of their nulls."""
    velocity, de, homogeneous = moving(network)
    da, dw, db = velocity[:, live(network)]
    a, r, theta = np.array(cond.polar(network))[:, live(network)]
    e, beta, A = residual(network), a / r, np.abs(a) * r
    q, p = cond.field(e, theta, data.x), cond.field_slope(e, theta, data.x)
    cos, sin = np.cos(theta), np.sin(theta)
    dr, turn = cos * dw + sin * db, (cos * db - sin * dw) / r
    dbeta, dlnA = (da - beta * dr) / r, da / a + dr / r
    B, f, decay = a**2 - r**2, e + data.y, 2 * a * da - 2 * r * dr
    Ke, flow = cond.tangent_kernel(network, data.x) @ e, np.concatenate([da, dr, turn])
    stated = np.concatenate([-2 * r * q - LAM * a, -2 * a * q - LAM * r, -2 * beta * p])
    halved = np.concatenate([-r * q - LAM * a, -a * q - LAM * r, -beta * p])
    ratio, grown = 2 * q * (beta**2 - 1), -2 * LAM - 2 * q * (beta + 1 / beta)
    return {"flow": (off(flow, stated), off(flow, halved)),
            "residual": (off(de, -2 * (Ke + LAM * f), Ke), off(de, -2 * (Ke + LAM * e), Ke)),
            "imbalance": (off(decay, -2 * LAM * B, 4 * A * q), off(decay, 0 * B, 4 * A * q)),
            "homogeneous": (off(homogeneous, 2 * f), off(homogeneous, f)),
            "ratio": (off(dbeta, ratio), off(dbeta, ratio - 2 * LAM * beta)),
            "amplitude": (off(dlnA, grown), off(dlnA, -2 * LAM - 4 * np.sign(a) * q))}

# %%
SEEN = (0, 447, 5000, 16_000, STEPS)
found = [identities(run.at(epoch)) for epoch in SEEN]
error = {name: max(at[name][0] for at in found) for name in found[0]}
null = {name: min(at[name][1] for at in found) for name in found[0]}
print("identity      holds to 1e-12 at all 5 epochs   least error of its null")
for name in error:
    print(f"{name:12}  {error[name] < 1e-12!s:32}  {null[name]:.1e}")

# %% [markdown]
# The nulls: the equations of a loss with the factor $\frac12$; no forcing $-2\lambda y$; an
# imbalance that is conserved; $J\Theta=f$, as for one layer; a decay term in $\dot\beta$; the
# balanced
# amplitude law for unbalanced neurons. Each is off by far more than rounding at every epoch, least
# where the imbalance counts, in the last network, which has hardly any left.
#
# ### The imbalance in continuous time, and in steps
#
# RK4 with steps of $h=0.02$ follows the flow itself over the first 100 units of time (1000 epochs).
# A step across a kink of the ReLU errs in the second order, and most crossings come early: the
# first 10 units have steps of $h/8$. Beside it stands the law of gradient descent, in which the
# mixed terms cancel too, exactly. A balanced start is followed as well. Its conserved quantity is
# $B=0$, which is asked for like $B$ of the others, to $10^{-7}$ of the largest square;
# $\lvert a\rvert-r$ of a small neuron may err by $\sqrt{\lvert B\rvert}$.
#
# $$
# B\leftarrow(1-\eta\lambda)^2B+\eta^2\bigl[(\partial_a\mathcal L)^2-\lVert\partial_v\mathcal
# L\rVert^2\bigr].
# $$ (eq-decay-discrete)

# %%
def followed(network, h=0.02, parts=50):
    """Networks (parts + 1, 3, m) on the gradient flow from t = 0 to 100."""
    path = [network]
    for part in range(parts):
        step = h / 8 if part < parts / 10 else h
        path.append(cond.follow(data, path[-1], LAM, h=step, steps=round(100 / parts / step))[-1])
    return np.array(path)


# %%
def imbalance(z):
    return z[..., 0, :] ** 2 - z[..., 1, :] ** 2 - z[..., 2, :] ** 2


agree = max(off(cond.velocity(data, run.at(k), LAM), moving(run.at(k))[0]) for k in SEEN)
print(f"numpy's velocity is torch's to 1e-13: {agree < 1e-13}")

# %%
times = np.linspace(0, 100, 51)
flow = followed(start)
fade = np.exp(-2 * LAM * times)[:, None]
B = imbalance(flow)
B_error = np.abs(B - fade * B[0]).max() / np.abs(B[0]).max()
B_null = np.abs(B - B[0]).max() / np.abs(B[0]).max()
a, r, _ = cond.polar(flow)
scale = (np.abs(a) - r) ** 2 / (fade * np.abs(B[0]))
phi_of = np.array([float(objective(torch.tensor(z))) for z in flow])
balance = flow[0] * np.stack([np.ones(M), np.abs(a[0]) / r[0], np.abs(a[0]) / r[0]])
balanced = followed(balance)
stays = np.abs(imbalance(balanced)).max() / (balanced[0, 0] ** 2).max()
FINE = 1e-7
print(f"flow: B e^(2λt) within {FINE:.0e} of B(0): {B_error < FINE}; "
      f"B itself moves by {B_null:.3f}")
print(f"largest (|a| − r)²/|B|: {scale.max():.4f} (bound 1)")
print(f"B = 0 stays to {FINE:.0e}: {stays < FINE}; "
      f"Φ falls at all times: {(np.diff(phi_of) < 0).all()}")
loss_of = np.array([np.mean(residual(z) ** 2) for z in flow])
print(f"the data loss alone falls at all times: {(np.diff(loss_of) < 0).all()}")

# %%
def one_step(epoch):
    """Relative error of the discrete law over one update, and of the same law without η²."""
    z = run.at(epoch)
    after = cond.descend(data, z, eta=ETA, lam=LAM, steps=1).networks[-1]
    g = -cond.velocity(data, z, 0.0)
    shrunk = (1 - ETA * LAM) ** 2 * imbalance(z)
    size = (z**2).max()
    step = ETA**2 * imbalance(g)
    return np.abs(imbalance(after) - shrunk - step).max() / size, np.abs(step).max() / size


step_error, step_missed = (max(x) for x in zip(*map(one_step, SEEN), strict=True))
late = imbalance(run.at(STEPS)) / (np.exp(-2 * LAM * ETA * STEPS) * imbalance(start))
print(f"one update, discrete law to 1e-12: {step_error < 1e-12}; "
      f"without the η² term off by up to {step_missed:.1e}")
print(f"B at epoch 80 000 over e^(−2λt)B(0), 5, 50, 95 % of all neurons: "
      f"{np.percentile(late, [5, 50, 95]).round(3)}")

# %% [markdown]
# Errors are relative to the largest squared weight. The gradients are small once the data are
# fitted, and what the steps add is little: for most neurons $B$ falls by $e^{-16}$ in the run, as
# the flow has it, to about a thousandth, which is the difference of $(1-\eta\lambda)^{2E}$ and
# $e^{-2\lambda t}$.
#
# A neuron that is inactive at every input only decays: it stays inactive, keeps its angle and loses
# its amplitude as $e^{-2\lambda t}$, in descent as $(1-\eta\lambda)^{2E}$ exactly.

# %%
first, last = run.at(0), run.at(STEPS)
dead = ~live(first)
A = np.array([np.abs(a) * r for a, r, _ in map(cond.polar, (first, last))])
turned = np.abs(cond.polar(last)[2] - cond.polar(first)[2])
shrunk = (1 - ETA * LAM) ** (2 * STEPS)
dead_error = np.abs(A[1, dead] / (shrunk * A[0, dead]) - 1).max()
flow_factor = shrunk / np.exp(-2 * LAM * ETA * STEPS)
live_error = np.abs(A[1, live(last)] / (shrunk * A[0, live(last)]) - 1).min()
print(f"{dead.sum()} neurons dead at the start, dead at the end: {not live(last)[dead].any()}")
print(f"A follows (1 − ηλ)^(2E) to 1e-9: {dead_error < 1e-9}; turned by at most 1e-9: "
      f"{turned[dead].max() < 1e-9}")
print(f"(1 − ηλ)^(2E) over e^(−2λt): {flow_factor:.6f}; nearest live neuron: {live_error:.2g} off")

# %% [markdown]
# ## The experiment
#
# Figure 2 of the paper shows the whole run: losses and penalty, the function at three epochs, and
# the neurons.

# %%
GRID = np.linspace(-1, 1, 10_000)
TARGET = cond.two_kinks(GRID)


def test_losses(networks):
    return np.array([np.mean((cond.outputs(z, GRID) - TARGET) ** 2) for z in networks])


least = int(run.loss.argmin())
test, test_free = test_losses(run.networks), test_losses(free.networks)
penalty = LAM / 2 * (run.networks**2).sum(axis=(1, 2))
SHOWN = (447, 16_000, STEPS)
STYLES = {447: (figures.BLUE, "o", "-"), 16_000: (figures.ORANGE, "s", (0, (5, 2))),
          STEPS: (figures.GREEN, "^", (0, (1, 1.2)))}

# %% mystnb={"figure": {"caption": "The main experiment, seed 0 (figure 2 of the paper). Left: data loss, penalty, objective and test loss; vertical lines at epochs 447 and 16 000. Middle: the function at three epochs, the target (grey) and the four points. Right: amplitude over direction of all 200 neurons; open markers have a negative output weight.", "name": "fig-decay-overview"}, "image": {"alt": "Left, log-log: the data loss falls to its minimum within a few hundred epochs and then rises to a plateau; the test loss stays high long after and then falls by almost two decades. Middle: three curves through four points; the last is nearly the grey target with its flat middle part. Right: markers of the early epoch are scattered over all angles, those of the last stand in a few columns."}}
fig, axes = figures.panels(1, 3, width=10.2, height=3.3)
after = run.epochs[1:]
series = {"data loss": run.loss[after], "penalty": penalty[1:], "Φ": run.loss[after] + penalty[1:],
          "test loss": test[1:]}
figures.curves(axes[0], after, series, xlabel="epoch", ylabel="loss", log="xy")
for epoch in SHOWN[:2]:
    axes[0].axvline(epoch, color=figures.GUIDE, linewidth=0.8)
axes[1].plot(GRID, TARGET, color=figures.GUIDE, linewidth=4, alpha=0.5, label="target")
for epoch, (colour, marker, dash) in STYLES.items():
    axes[1].plot(GRID, cond.outputs(run.at(epoch), GRID), color=colour, linestyle=dash,
                 label=f"epoch {epoch}")
    a, r, theta = cond.polar(run.at(epoch))
    axes[2].scatter(np.degrees(theta) % 360, np.abs(a) * r, 14, marker=marker, linewidth=0.8,
                    edgecolor=colour, facecolor=np.where(a > 0, colour, "none"))
axes[1].plot(data.x, data.y, "o", color=figures.BLACK)
axes[2].set_xticks(range(0, 361, 90))
figures.finish(axes[1], "x", "f(x)", "functions")
figures.finish(axes[2], "direction θ (degrees)", "amplitude  A", "neurons", legend=False)
plt.show()

# %%
def scattered(network):
    """Sectors of 5 degrees, of 72, that hold live neurons."""
    degrees = np.degrees(cond.polar(network)[2][live(network)]) % 360
    return np.unique(np.floor(degrees / 5)).size


def total(network):
    a, r, _ = cond.polar(network)
    return (np.abs(a) * r)[live(network)].sum()


at = {int(epoch): k for k, epoch in enumerate(run.epochs)}
glue("decay-rise", f"{run.loss[-1] / run.loss[least]:.0f}", display=False)
print(f"data loss: least at epoch {least}, {run.loss[least]:.2e}; at the end {run.loss[-1]:.2e}")
print("epoch      data loss  test loss   without decay   sum of live A   sectors")
for epoch in SEEN:
    k = at[epoch]
    print(f"{epoch:6d} {run.loss[epoch]:12.2e} {test[k]:10.2e} {test_free[k]:13.2e} "
          f"{total(run.at(epoch)):14.3f} {scattered(run.at(epoch)):10d}")
spread_free = [scattered(free.at(epoch)) for epoch in (447, STEPS)]
to_lose = total(run.at(447)) - total(last)
remaining, remaining_half = ((total(run.at(k)) - total(last)) / to_lose for k in (16_000, 8000))
print(f"sectors without decay: {spread_free[0]} at 447, {spread_free[1]} at the end; "
      f"live A still to lose: {remaining:.1%} at 16 000, {remaining_half:.1%} at 8000")

# %% [markdown]
# Our criteria, of which the ledger's last remark says what was known before: the test loss is
# *delayed* if it falls to less than half after the data loss has passed its minimum, from
# which it has risen; epoch 16 000 is *near the plateau* if less than a tenth of the amplitude lost
# since rapid fitting is still to be lost; neurons are *scattered* if they occupy more than half of
# the 72 sectors, and
# *grouped* if they occupy at most six (three groups, each of which may lie across a border).
#
# ## The epoch 447, and the way to the target
#
# The least data loss at epoch 447 belongs to the paper's own draw. What can be said about it is
# where it lies among other draws, and what another draw would have shown in figure 2(b).

# %%
def fitting(seed):
    return int(cond.descend(data, cond.initial(seed, M, 0.4), eta=ETA, lam=LAM,
                            steps=3000).loss.argmin())


def way(seed):
    """(4, 2): test loss, and largest distance to the target, at four epochs."""
    path = cond.descend(data, cond.initial(seed, M, 0.4), eta=ETA, lam=LAM, steps=STEPS,
                        keep=(447, 16_000, 25_000))
    gap = np.abs([cond.outputs(z, GRID) - TARGET for z in path.networks])
    return np.column_stack([np.mean(gap**2, axis=1), gap.max(axis=1)])


bottoms = np.array(Parallel()(delayed(fitting)(seed) for seed in range(50)))
ways, far = np.moveaxis(Parallel()(delayed(way)(seed) for seed in range(10)), 2, 0)
low, middle, high = np.percentile(bottoms, [5, 50, 95])
print(f"epoch of the least data loss, 50 seeds: {bottoms.min()} to {bottoms.max()}, median "
      f"{middle:.0f}, central nine tenths {low:.0f} to {high:.0f}")
rank = int((bottoms < 447).sum())
print(f"447 has {rank} of 50 seeds below it; all before epoch 3000: {(bottoms < 3000).all()}")
inside = {epoch: bool(low <= epoch <= high) for epoch in (447, 447 // 2, 894)}
print(f"in the central nine tenths: {inside}")

# %%
print("test loss at epochs    447      16 000     25 000     80 000   (10 seeds: least, largest)")
for name, row in (("least", ways.min(axis=0)), ("largest", ways.max(axis=0))):
    print(f"{name:18}" + "".join(f"{x:11.2e}" for x in row))
farther = int((ways[:, 1] > ways[:, 0]).sum())
nearer = int((ways[:, 3] < ways[:, :3].min(axis=1)).sum())
farther_max = int((far[:, 1] > far[:, 0]).sum())
print(f"farther from the target at 16 000 than at 447, of {len(ways)} seeds: mean square "
      f"{farther}, largest distance {farther_max}")
glue("decay-farther", f"{farther} of {len(ways)}", display=False)

# %% mystnb={"figure": {"caption": "Left: the epoch of the least data loss for 50 seeds; the line marks the paper's 447. Right: test loss of 10 seeds at epochs 447, 16 000, 25 000 and 80 000; seed 0 dark.", "name": "fig-decay-seeds"}, "image": {"alt": "Left: a histogram with most seeds between 400 and 700 and a long tail to the right; the vertical line lies in its bulk, left of the median. Right: ten lines that differ widely at the first epoch, rise to about the same value at the second, and all fall by two decades to one common end."}}
fig, axes = figures.panels(1, 2, width=8.4, height=2.9)
axes[0].hist(bottoms, np.arange(250, 1450, 50), color=figures.SKY, edgecolor=figures.BLACK)
axes[0].axvline(447, color=figures.ORANGE, linestyle="--")
axes[0].annotate("447", (447, 11), xytext=(-26, 0), textcoords="offset points")
figures.finish(axes[0], "epoch of the least data loss", "seeds", legend=False)
for seed, path in enumerate(ways):
    axes[1].plot(range(4), path, "o-", color=figures.BLUE if seed == 0 else figures.GUIDE,
                 linewidth=1.8 if seed == 0 else 0.8, markersize=4, zorder=3 - (seed > 0))
axes[1].set_xticks(range(4), ["447", "16 000", "25 000", "80 000"])
figures.finish(axes[1], "epoch", "test loss", log="y", legend=False)
plt.show()

# %% [markdown]
# The paper's epoch lies where many of ours do. But the learned function does not come nearer to the
# target all the way: in {glue:text}`decay-farther` runs the test loss is *larger* at epoch 16 000
# than after rapid fitting. The approach to the target is the work of the last stage, and all seeds
# end at the same test loss, which {numref}`chapter-exact-limit` computes without any run.
#
# ## The residual that decay leaves
#
# While $K$ hardly moves, {eq}`eq-decay-flow` pulls $e$ to the *quasi-static residual*
#
# $$
# e_{\rm qs}=-\lambda(K+\lambda I)^{-1}y .
# $$ (eq-decay-qs)
#
# The data cannot be fitted exactly: the pull of decay on the outputs balances that of the data.

# %%
norms = np.array([
    [np.linalg.norm(x) for x in (e, s, e - s)]
    for z in run.networks
    for e, s in [(residual(z), cond.quasi_static(cond.tangent_kernel(z, data.x), data.y, LAM))]
])
mismatch = norms[:, 2] / norms[:, 1]
close = run.epochs[mismatch > 0.1].max()
print("epoch     |e|       |e_qs|    |e − e_qs|/|e_qs|")
for epoch in (0, 100, 447, 1000):
    k = np.flatnonzero(run.epochs >= epoch)[0]
    print(f"{run.epochs[k]:5d} {norms[k, 0]:10.2e} {norms[k, 1]:10.2e} {mismatch[k]:12.3f}")
print(f"within a tenth at every record after epoch {close}")

# %% mystnb={"figure": {"caption": "Left: $|e|$, $|e_{\\rm qs}|$ and their distance over the full run (figure 3(b) of the paper). Right: the four eigenvalues of the tangent kernel (figure 5); grey: $\\lambda=10^{-3}$.", "name": "fig-decay-residual"}, "image": {"alt": "Left, log-log: the norm of the residual falls by two decades, meets the rising curve of the quasi-static one at a few hundred epochs and stays on it; the distance lies one to several decades below. Right, log-log: four eigenvalues, flat at first, fall together between epochs one thousand and sixteen thousand and become two pairs of flat lines, all above the grey line."}}
spectrum = np.array([np.linalg.eigvalsh(cond.tangent_kernel(z, data.x)) for z in run.networks])
fig, axes = figures.panels(1, 2, width=8.6, height=3.1)
pair = dict(zip(("|e|", "|e_qs|", "|e − e_qs|"), norms[1:].T, strict=True))
figures.curves(axes[0], after, pair, xlabel="epoch", ylabel="norm", log="xy")
values = {f"eigenvalue {k + 1}": spectrum[1:, 3 - k] for k in range(4)}
figures.curves(axes[1], after, values, xlabel="epoch", ylabel="eigenvalue of K", log="xy")
figures.guide(axes[1], np.array([1.0, 3e4]), np.array([LAM, LAM]), "λ")
axes[1].get_legend().remove()
plt.show()

# %%
logs = np.log(spectrum[[at[k] for k in (0, 1000, 8000, 16_000, STEPS)]])
first_, half, second, rest = np.abs(np.diff(logs, axis=0))
rates = (half + second) / 15, rest / 64, half / 7, second / 8
next_thousand = np.abs(np.log(spectrum[at[2000]] / spectrum[at[1000]]))
fallen = spectrum[at[447]] / spectrum[at[16_000]]
glue("decay-fallen", f"{fallen.min():.1f} to {fallen.max():.1f}", display=False)
print(f"least eigenvalue over all records, over λ: {spectrum.min() / LAM:.1f}")
print(f"|change of log| epochs 0–1000: {first_.round(2)}; 1000–16 000: {(half + second).round(2)}")
print(f"epochs 1000–2000: {next_thousand.round(2)}")
print(f"rate of epochs 16 000–80 000 over that of 1000–16 000: {(rates[1] / rates[0]).round(3)}")
print(f"second half of the latter over its first half:     {(rates[3] / rates[2]).round(3)}")

# %% [markdown]
# A curve is *close* to its reference where the two differ by less than a tenth; this is reached
# before the data loss is least. An eigenvalue has a *plateau* if its logarithm changes at less than
# a tenth of its rate in stage II, and changes *comparatively little* in the first 1000 epochs if
# it does so by less than half of what it does in the following 15 000. But so it does in *any*
# thousand of those, and the two small eigenvalues fall faster in the first than in the next:
# that row is weak. The large ones fall by $e^{-2\lambda t}$, a fifth, already in the first 1000
# epochs: "nearly unchanged" is a matter of the scale on which one looks.

# %% [markdown]
# ## The kernel at the start
#
# $$
# K_{ij}=\frac1n\sum_k\bigl([v_k\cdot\tilde x_i]_+[v_k\cdot\tilde x_j]_+
#   +a_k^2\,1_{ki}1_{kj}\,\tilde x_i\cdot\tilde x_j\bigr),\qquad 1_{ki}=1\{v_k\cdot\tilde x_i>0\}.
# $$ (eq-decay-kernel)
#
# ```{prf:lemma} The kernel of a wide network at its start; the paper's (31) and section B.1
# :label: lem-decay-kernel
#
# Let $\rho=m^{1-2\gamma}$ and let $\alpha$ be the angle between $\tilde x_i$ and $\tilde x_j$. As
# $m\to\infty$, $K_0/\rho\to\bar K$ in probability,
#
# $$
# \bar K_{ij}=\frac{\lvert\tilde x_i\rvert\lvert\tilde x_j\rvert}{2\pi n}
#   \bigl[\sin\alpha+2(\pi-\alpha)\cos\alpha\bigr],
# $$ (eq-decay-limit-kernel)
#
# and $\bar K$ is positive definite if the inputs are different. The outputs have variance
# $(1+x^2)m^{1-4\gamma}/2$.
# ```
#
# ```{prf:proof}
# By the law of large numbers the two sums become Gaussian means: the first is the arc-cosine kernel
# $K(w,v)$ of {numref}`chapter-kernel`, the second the probability $(\pi-\alpha)/2\pi$ that both
# inputs see the neuron. If a combination $\sum z_i[g\cdot\tilde x_i]_+$ vanishes for every $g$, so
# does each jump $z_i\tilde x_i$ of its gradient.
# ```
#
# Below: the Gaussian means against cubature, $K_0/\rho$ against $\bar K$ for widths up to a hundred
# thousand ($K_0/\rho$ has one law for all $\gamma$), the kernel against the Jacobian of automatic
# differentiation, and the variance over many draws.

# %%
def mean(function):
    """Mean over a normal g in the plane, by cubature in polar coordinates."""
    return dblquad(lambda r, t: function(r * np.array([np.cos(t), np.sin(t)])) * r
                   * np.exp(-(r**2) / 2) / (2 * np.pi), 0, 2 * np.pi, 0, 9, epsabs=1e-6)[0]


rows = data.rows
i, j = 0, 2
alpha = np.arccos(rows[i] @ rows[j] / np.linalg.norm(rows[i]) / np.linalg.norm(rows[j]))
size = np.linalg.norm(rows[i]) * np.linalg.norm(rows[j])
both = mean(lambda g: float(g @ rows[i] > 0 and g @ rows[j] > 0))
product = mean(lambda g: max(g @ rows[i], 0) * max(g @ rows[j], 0))
moment = [size / (2 * np.pi) * (np.sin(t) + (np.pi - t) * np.cos(alpha))
          for t in (alpha, np.pi - alpha)]
moment_error = max(abs(both - (np.pi - alpha) / 2 / np.pi), abs(product - moment[0]))
print(f"α = {alpha:.4f}: cubature {both:.4f}, {product:.4f}; closed form "
      f"{(np.pi - alpha) / 2 / np.pi:.4f}, {moment[0]:.4f}")
jacobian = torch.func.jacrev(outputs)(torch.tensor(start)).reshape(4, -1).numpy()
K0 = cond.tangent_kernel(start, data.x)
hidden = np.maximum(rows @ start[1:], 0)
kernel_error, kernel_null = (off(jacobian @ jacobian.T / 4, K) for K in (K0, hidden @ hidden.T / 4))
print(f"K = JJᵀ/n to 1e-13: {kernel_error < 1e-13}; the output weights' part alone is off by "
      f"{kernel_null:.2f}")

# %%
K_BAR = cond.limiting_kernel(data.x)
widths = np.array([100, 1000, 10_000, 100_000])


def apart(m, K):
    """Root mean square over 20 seeds of |K_0/ρ − K|."""
    found = [np.linalg.norm(cond.tangent_kernel(cond.initial(seed, m, 0.5), data.x) - K, 2)
             for seed in range(20)]
    return np.sqrt(np.mean(np.square(found)))


distance = np.array(Parallel()(delayed(apart)(m, K_BAR) for m in widths))
z = np.hypot(*rows.T)
alphas = np.arccos(np.clip(rows @ rows.T / np.outer(z, z), -1, 1))
outer = np.outer(z, z) * (np.sin(alphas) + (np.pi - alphas) * np.cos(alphas)) / (8 * np.pi)
distance_null = apart(widths[-1], outer)
law = loglog_fit(widths, distance)
print("m         ", *(f"{m:9d}" for m in widths))
print("|K_0/ρ − K̄|", *(f"{x:9.4f}" for x in distance), f"  exponent {law.slope:.3f}")
print(f"output weights' part for K̄: {distance_null:.2f}; eigenvalues of K̄: "
      f"{np.linalg.eigvalsh(K_BAR).round(4)}")
twice = np.linalg.eigvalsh(np.kron(K_BAR[:2, :2], np.ones((2, 2))))[0]
DRAWS, WIDTH = 200_000, 50
draws = cond.outputs(np.random.default_rng(0).normal(0, WIDTH**-0.4, (DRAWS, 3, WIDTH)), data.x)
variance = draws.var(axis=0) / ((1 + data.x**2) * WIDTH ** (1 - 1.6) / 2)
spread = np.sqrt((2 + 15 / WIDTH) / DRAWS)
print(f"variance of f over its formula: {variance.round(4)}, standard error {spread:.4f}")

# %% [markdown]
# Independent terms make the distance fall like $m^{-1/2}$. The summands $a[v\cdot\tilde x]_+$ have
# the kurtosis $3\cdot\frac32/(\frac12)^2=18$, so a sum of $m$ of them has $3+15/m$, and the
# variance
# from $N$ draws a relative error of $\sqrt{(2+15/m)/N}$; we ask for four of these.
#
# For $\gamma<\frac12$ the least eigenvalue at the start is of order $\rho$, which grows with the
# width, while $\lambda$ stays:

# %%
print("least eigenvalue of K_0 over λ, medians of 20 seeds")
ratio = {}
for gamma in (0.4, 0.6):
    ratio[gamma] = [np.median([
        np.linalg.eigvalsh(cond.tangent_kernel(cond.initial(s, m, gamma), data.x))[0]
        for s in range(20)]) / LAM for m in widths[:3]]
    print(f"γ = {gamma}: " + ", ".join(f"{x:.1f} (m = {m})"
                                       for x, m in zip(ratio[gamma], widths, strict=False)))

# %% [markdown]
# ## Theorem 2: equilibrium before the kernel moves
#
# ```{prf:theorem} Residual equilibration; the paper's theorem 2
# :label: thm-decay-equilibration
#
# Let the inputs be different, $\lambda>0$, $\frac14\le\gamma<\frac12$, $\varepsilon=\lambda/\rho$,
# $\kappa=\lambda_{\min}(K_0)$ and $T_I=\log(\log m/\varepsilon)/(2(\kappa+\lambda))$. As
# $m\to\infty$, in probability,
#
# $$
# \begin{aligned}
# T_I&=O(\rho^{-1}\log(\rho/\lambda)),&
# \sup_{t\le T_I}\lvert K_t-K_0\rvert/\rho&=O(\rho^{-1}(\log m)^{3/2}),\\
# e(T_I)&=-\varepsilon\bar K^{-1}y+o(\varepsilon),&
# \lvert e(T_I)-e_{\rm qs}(T_I)\rvert&=o(\varepsilon).
# \end{aligned}
# $$ (eq-decay-equilibration)
# ```
#
# ```{prf:proof}
# The residual grows at most like $2\lambda\lvert y\rvert t$, so every neuron moves by a factor
# $e^{Ct}-1$ only, and few change their activity at an input; the kernel has moved by $O(\rho
# T_I\log m)$ when $T_I=O(\log(\rho/\lambda)/\rho)$ is over. With a kernel that hardly moves,
# $e-e_{\rm qs}(0)$ decays like $e^{-2(\kappa+\lambda)t}$, and $T_I$ is the time that takes it to
# $\varepsilon/\log m$ of its start.
# ```
#
# At $\gamma=0.4$ the scale $\rho=m^{0.2}$ grows too slowly for anything to be seen, so we take
# $\gamma=\frac14$, $\rho=\sqrt m$, five seeds a width, and follow the *flow* by RK4 with steps
# of half the inverse of the largest eigenvalue of $2K_0$.

# %%
RHO, GAMMA = np.sqrt, 0.25


def fitted(m, seed, fraction=2, parts=32):
    """Networks on the flow at parts + 1 times of [0, T_I], with T_I and the spectrum of K_0."""
    z = cond.initial(seed, m, GAMMA)
    spectrum = np.linalg.eigvalsh(cond.tangent_kernel(z, data.x))
    T = np.log(np.log(m) * RHO(m) / LAM) / (2 * (spectrum[0] + LAM))
    steps = int(np.ceil(T / parts * 2 * spectrum[-1] * fraction))
    path = cond.follow(data, z, LAM, h=T / parts / steps, steps=parts * steps, every=steps)
    return path, T, spectrum


# %%
Y_NORM = np.linalg.norm(data.y)


def quantities(m, seed, fraction=2):
    """What theorem 2 and its proof bound, for one start."""
    path, T, spectrum = fitted(m, seed, fraction)
    kernels = [cond.tangent_kernel(z, data.x) for z in path]
    e = np.array([residual(z) for z in path])
    qs = np.array([cond.quasi_static(K, data.y, LAM) for K in kernels])
    moved = [np.linalg.norm(K - kernels[0], 2) for K in kernels]
    t, Delta, kappa, z0 = np.linspace(0, T, len(path)), max(moved), spectrum[0], e[0] - qs[0]
    norm = np.linalg.norm(e, axis=1)
    left = kappa + LAM - Delta
    frozen = [np.exp(-2 * left * T) * np.linalg.norm(z0), Delta / left * np.linalg.norm(qs[0])]
    eps = LAM / RHO(m)
    limit = -eps * np.linalg.solve(K_BAR, data.y)
    return {"T": T, "Delta": Delta / RHO(m), "limit": np.linalg.norm(e[-1] - limit) / eps,
            "track": np.linalg.norm(e[-1] - qs[-1]) / eps, "e": norm[-1] / eps,
            "half": np.linalg.norm(e[16] - qs[16]) / eps, "z0": np.linalg.norm(z0),
            "growth": (norm - norm[0] - 2 * LAM * Y_NORM * t).max(),
            "frozen": np.linalg.norm(e[-1] - qs[0]) / sum(frozen),
            "first": np.linalg.norm(e[-1] - qs[0]) / frozen[0], "gap": left,
            "shift": np.linalg.norm(qs - qs[0], axis=1).max()
            / (LAM * Delta * Y_NORM / left / (kappa + LAM)), **drift(path, t, norm.max())}


# %%
def drift(path, t, largest):
    """The bound on the motion of each neuron, and the contacts with activation boundaries.

    |M| <= C_x |e|_n with C_x^2 the mean of |x~|^2, and |eta'| <= (2 |M| + lam) |eta|."""
    start, n = path[0], len(rows)
    C = 2 * np.sqrt((rows**2).sum() / n) * largest / np.sqrt(n) + LAM
    size = np.sqrt((start**2).sum(axis=0))
    moved = np.sqrt(((np.array(path) - start) ** 2).sum(axis=1))[1:]
    worst = [(moved / np.expm1(c * t[1:])[:, None] / size).max() for c in (C, C / 10)]
    preactivation = rows @ start[1:]
    changed = np.zeros(preactivation.shape, dtype=bool)
    reach = np.zeros(start.shape[1])
    for z in path[1:]:
        changed |= (rows @ z[1:] > 0) != (preactivation > 0)
        reach = np.maximum(reach, np.hypot(*(z - start)[1:]))
    near = np.abs(preactivation) <= reach * np.hypot(*rows.T)[:, None]
    return {"motion": worst[0], "motion/10": worst[1], "contacts": changed.mean(),
            "near": near.mean(), "only near": bool((near | ~changed).all())}


WIDTHS = (200, 1000, 5000, 20_000)
cases = [(m, seed) for m in WIDTHS for seed in range(5)]
results = Parallel()(delayed(quantities)(*case) for case in cases)
table = {name: np.array([r[name] for r in results]).reshape(4, 5) for name in results[0]}

# %%
m = np.array(WIDTHS)[:, None]
rho, log_m = RHO(m), np.log(m)
scaled = {"T_I ρ/log(ρ/λ)": table["T"] * rho / np.log(rho / LAM), "T_I ρ": table["T"] * rho,
          "ρ sup|ΔK|/ρ /(log m)^(3/2)": table["Delta"] * rho / log_m**1.5,
          "ρ² sup|ΔK|/ρ": table["Delta"] * rho**2,
          "|e + εK̄⁻¹y|/ε": table["limit"], "|e|/ε": table["e"],
          "log m |e − e_qs|/(ε |z_0|)": log_m * table["track"] / table["z0"],
          "the same at T_I/2": log_m * table["half"] / table["z0"]}
print(f"{'median (largest) of 5 seeds; m =':32}" + "".join(f"{k:16d}" for k in WIDTHS))
for name, values in scaled.items():
    print(f"{name:32}" + "".join(f"{np.median(v):8.3g} ({v.max():5.3g})" for v in values))
finer = quantities(200, 0, 4)
moved = max(abs(finer[k] / results[0][k] - 1) for k in ("T", "Delta", "limit", "e"))
print(f"half the step moves these at m = 200, seed 0 by less than 1e-3: {moved < 1e-3}")

# %% mystnb={"figure": {"caption": "Theorem 2 at $\\gamma=1/4$, five seeds a width. Left: how far the kernel has moved at $T_I$, over the order of the theorem. Middle: distance of the residual at $T_I$ from its limit, in $\\varepsilon$; squares: $|e|$ itself. Right: distance from the quasi-static residual over $\\varepsilon|e(0)-e_{\\rm qs}(0)|/\\log m$; squares: at half of $T_I$.", "name": "fig-decay-equilibration"}, "image": {"alt": "Three log-log panels over the width. Left: circles that fall slowly. Middle: circles fall by more than a decade, squares stay level. Right: circles scatter below one without a trend, squares rise."}}
fig, axes = figures.panels(1, 3, width=9.6, height=3.0)
pairs = [("ρ sup|ΔK|/ρ /(log m)^(3/2)", None), ("|e + εK̄⁻¹y|/ε", "|e|/ε"),
         ("log m |e − e_qs|/(ε |z_0|)", "the same at T_I/2")]
titles = ("motion of the kernel", "the limit of e", "tracking")
ylabels = ("$\\sup|ΔK|$ over its order", "distance over ε", "distance over its order")
for ax, names, title, ylabel in zip(axes, pairs, titles, ylabels, strict=True):
    for name, colour, marker in zip(names, (figures.BLUE, figures.ORANGE), "os", strict=True):
        if name:
            ax.plot(np.repeat(WIDTHS, 5), scaled[name].ravel(), marker, color=colour,
                    markersize=4, fillstyle="full" if marker == "o" else "none")
    figures.finish(ax, "width m", ylabel, title, "xy", legend=False)
plt.show()

# %%
met = table["gap"] > 0
print(f"{'largest over 5 seeds; m =':42}" + "".join(f"{k:10d}" for k in WIDTHS))
for name, text in {"growth": "|e(t)| − |e(0)| − 2λ|y|t", "motion": "|Δη|/((e^(Ct) − 1)|η|)",
                   "motion/10": "the same with C/10", "frozen": "(33), left over right",
                   "first": "(33) with its first term alone", "shift": "(34), left over right",
                   "contacts": "share of (k, i) that change", "near": "share that can"}.items():
    print(f"{text:42}" + "".join(f"{v.max():10.3g}" for v in table[name]))
print(f"every change is at a neuron that can: {table['only near'].all()}; "
      f"κ + λ − Δ > 0 in {met.sum(axis=1)} of 5 runs")

# %% [markdown]
# Bounded in probability is a statement about a limit. What four widths can show: a quantity
# divided by its order does not grow (its largest value at the largest width is not above that at
# the smallest). The residual comes to its limit as $K_0/\rho$ does, like $m^{-1/2}$, which is a
# tenth for a hundred times the width: we ask that the median falls to less than a fifth. The last
# statement is another matter: $T_I$ is made so that $e-e_{\rm qs}$ has decayed to
# $\varepsilon/\log m$ of its start, and
# that is what it does, seed by seed. So $o(\varepsilon)$ means $1/\log m$ here, and no practical
# width makes it small; what one sees is that the seeds differ by more than the widths do, and at
# $T_I/2$ five seeds show no growth either: that row is weak. The proof of (33) and (34) needs
# $\Delta<\kappa+\lambda$, which the narrow networks do not meet: there the kernel moves by more
# than its own least eigenvalue during fitting, and the conclusion holds all the same.
#
# ## Exercises
#
# **1.** Why does the data loss rise again after its minimum, by a factor of
# {glue:text}`decay-rise`?
#
# ```{dropdown} Solution of 1
# After rapid fitting $e\approx-\lambda(K+\lambda I)^{-1}y$, and the kernel shrinks: with
# $K\propto e^{-2\lambda t}$ the norm of the residual grows like $e^{2\lambda t}$ until the
# amplitudes
# stop to shrink. From epoch 447 to 16 000 the four eigenvalues fall by factors of
# {glue:text}`decay-fallen`; the rise lies between the squares of these.
# ```
#
# **2.** Let $\gamma<\frac14$. Which step of theorem 2 fails, and what would a run show?
#
# ```{dropdown} Solution of 2
# The outputs at the start have variance of order $m^{1-4\gamma}$, which then grows: $\lvert
# e(0)\rvert$ is not bounded, the neurons have to move farther, and with $C\propto\lvert e\rvert$
# the
# kernel's change over $T_I$ gets the factor $m^{1/2-2\gamma}$. It stays lazy as long as this is
# small against $\rho$.
# ```
#
# **3.** What sign has the second-order term of {eq}`eq-decay-discrete`, and where does it
# vanish?
#
# ```{dropdown} Solution of 3
# {eq}`eq-decay-discrete` adds $\eta^2[(\partial_a\mathcal L)^2-\lVert\partial_v\mathcal L\rVert^2]
# =4\eta^2[r^2q^2-a^2(q^2+p^2)]=-4\eta^2[Bq^2+a^2p^2]$. It vanishes with the residual. A balanced
# neuron that is off its equilibrium direction ($p\ne0$) loses $4\eta^2a^2p^2$ in a step: descent
# drives $B$ to negative values, input weights longer than output weights.
# ```
#
# **4.** How does a neuron's part of the trace of $K$ depend on its gauge, at fixed $A$ and
# $\theta$? Which gauge fits slowest?
#
# ```{dropdown} Solution of 4
# With $\beta=\lvert a\rvert/r$ it is $\frac An\sum_i1_i\bigl[\varphi_\theta(x_i)^2/\beta
# +\beta\lvert\tilde x_i\rvert^2\bigr]$, large for both signs of a large imbalance and least at
# $\beta^2=\sum\varphi_\theta^2/\sum1_i\lvert\tilde x_i\rvert^2\le1$: a neuron that is balanced or a
# little heavier in its input weights fits slowest. Start from `balance` to see it.
# ```
#
# ## The ledger
#
# Order of events: the losses, amplitudes, sectors, spectrum and tracking error of seed 0, the
# epochs of the fifty seeds, the test losses of some seeds, and first values of theorem 2's
# quantities were seen before these criteria were written down. The half, the tenths and the six
# sectors are round numbers chosen by argument; that scattered means more than half of the sectors,
# and that the residual is judged at epoch 447, was chosen with the result in sight, as were the
# scaling of the tracking error by $\log m$ and the fifth for the residual. The balanced start was
# first judged by $\lvert a\rvert-r$ and followed with $h$ throughout; it failed, and the early
# steps were made smaller until $B$ met the $10^{-7}$ that was asked for. The nulls of the kernel's
# motion (two powers of $\rho$), of the plateau and of the first thousand epochs were replaced:
# the first was too dear to follow, the others could not have passed.

# %%
compare = claims.compare
tiny = 1e-12


IDENTITIES = {"flow": "W-P1-flow", "residual": "W-P1-residual", "ratio": "W-A2-ratio",
              "homogeneous": "W-A1-homogeneous", "amplitude": "W-A2-amplitude"}


rows_of = [
    compare(claim, f"≤ {tiny:.0e} at {len(SEEN)} epochs: {error[name] < tiny}; null off by "
            f"{null[name]:.1e} or more", holds=error[name] < tiny, null_holds=null[name] < tiny)
    for name, claim in IDENTITIES.items()
]
rows_of += [
    compare("W-P1-imbalance", f"flow to {FINE:.0e}: {B_error < FINE}, identity to {tiny:.0e}: "
            f"{error['imbalance'] < tiny}; B itself moves by {B_null:.2f}",
            holds=B_error < FINE and error["imbalance"] < tiny, null_holds=B_null < FINE),
    compare("W-A1-scale", f"largest share of the bound {scale.max():.4f}",
            holds=scale.max() <= 1, null_holds=scale.max() <= 0.5),
    compare("W-A1-dead", f"{dead.sum()} neurons, A to 1e-9 after {STEPS} steps; a live neuron is "
            f"off by {live_error:.2g} at least",
            holds=dead_error < 1e-9 and turned[dead].max() < 1e-9 and not live(last)[dead].any(),
            null_holds=live_error < 1e-9),
    compare("W-A1-dissipation", f"Φ falls at {phi_of.size} times: {(np.diff(phi_of) < 0).all()}",
            holds=(np.diff(phi_of) < 0).all(), null_holds=(np.diff(loss_of) < 0).all()),
]

# %%
a, r, theta = cond.polar(balanced[-1])
s, some = np.sign(a), live(balanced[-1])
e = residual(balanced[-1])
(da, dw, db), *_ = moving(balanced[-1])
dA = s * da * r + np.abs(a) * (np.cos(theta) * dw + np.sin(theta) * db)
A_law = -2 * np.abs(a) * r * (LAM + 2 * s * cond.field(e, theta, data.x))
law_error = off(dA, A_law)
amplitude_null = found[0]["amplitude"][1]
rows_of += [
    compare("W-A2-balanced", f"B = 0 to {FINE:.0e}: {stays < FINE}, A' to {10 * FINE:.0e}: "
            f"{law_error < 10 * FINE}; unbalanced off by {amplitude_null:.2f}",
            holds=stays < FINE and law_error < 10 * FINE, null_holds=amplitude_null < FINE),
]

# %%
rows_of += [
    compare("W-S3-kernel", f"to 1e-13: {kernel_error < 1e-13}; null off by {kernel_null:.2f}",
            holds=kernel_error < 1e-13, null_holds=kernel_null < 1e-13),
    compare("W-B1-variance", f"ratios {variance.min():.4f} to {variance.max():.4f}, "
            f"standard error {spread:.4f}",
            holds=np.abs(variance - 1).max() < 4 * spread,
            null_holds=np.abs(variance / 2 - 1).max() < 4 * spread),
    compare("W-B1-moments", f"cubature within 1e-3: {moment_error < 1e-3}; null off by "
            f"{abs(product - moment[1]):.2f}", holds=moment_error < 1e-3,
            null_holds=abs(product - moment[1]) < 1e-3),
    compare("W-B1-kernel", f"distance {distance[0]:.3f} to {distance[-1]:.4f}, exponent "
            f"{law.slope:.2f} (−1/2); null stays at {distance_null:.2f}",
            holds=abs(law.slope + 0.5) < 0.1, null_holds=distance_null <= distance[0]),
    compare("W-B1-positive", f"least eigenvalue {np.linalg.eigvalsh(K_BAR)[0]:.4f}; with equal "
            f"inputs below 1e-12: {abs(twice) < tiny}",
            holds=np.linalg.eigvalsh(K_BAR)[0] > 1e-3, null_holds=twice > 1e-3),
    compare("W-S41-scale", f"medians {ratio[0.4][0]:.0f} to {ratio[0.4][-1]:.0f} times λ; "
            f"at γ = 0.6 {ratio[0.6][0]:.0f} to {ratio[0.6][-1]:.1f}",
            holds=ratio[0.4][0] > 10 and ratio[0.4][-1] > ratio[0.4][0],
            null_holds=ratio[0.6][0] > 10 and ratio[0.6][-1] > ratio[0.6][0]),
]

# %%
def grows(name):
    return scaled[name][-1].max() > scaled[name][0].max()


def ends(name):
    first, last = scaled[name][[0, -1]].max(axis=1)
    return f"{first:.3g} at m = {WIDTHS[0]}, {last:.3g} at {WIDTHS[-1]}"


def unbounded(stated, null):
    return {"holds": not grows(stated), "null_holds": not grows(null)}


def medians(name):
    return np.median(scaled[name], axis=1)


time, motion, track = "T_I ρ/log(ρ/λ)", "ρ sup|ΔK|/ρ /(log m)^(3/2)", "log m |e − e_qs|/(ε |z_0|)"
falls = {name: medians(name)[-1] < medians(name)[0] / 5 for name in ("|e + εK̄⁻¹y|/ε", "|e|/ε")}
T_limit = np.log(log_m * rho / LAM) / (2 * np.linalg.eigvalsh(K_BAR)[0] * rho)
T_error = np.abs(table["T"] / T_limit - 1)[-1].max()

# %%
rows_of += [
    compare("W-T2-time", f"T_I ρ/log(ρ/λ) at most {ends(time)}; there within {T_error:.2f} of "
            "log(ρ log m/λ)/2λ̄ log(ρ/λ)",
            holds=not grows(time) and T_error < 0.1, null_holds=not grows("T_I ρ")),
    compare("W-T2-kernel", f"over its order at most {ends(motion)}",
            **unbounded(motion, "ρ² sup|ΔK|/ρ")),
    compare("W-T2-residual", f"median distance {medians('|e + εK̄⁻¹y|/ε')[0]:.2f} ε to "
            f"{medians('|e + εK̄⁻¹y|/ε')[-1]:.2f} ε, |e| {medians('|e|/ε')[-1]:.2f} ε",
            holds=falls["|e + εK̄⁻¹y|/ε"], null_holds=falls["|e|/ε"]),
    compare("W-T2-tracking", f"log m |e − e_qs|/(ε|z_0|) at most {ends(track)}",
            **unbounded(track, "the same at T_I/2")),
]

# %%
rows_of += [
    compare("W-B2-growth", f"left − right ≤ 0 to rounding in {table['growth'].size} runs",
            holds=table["growth"].max() < 1e-12),
    compare("W-B2-parameters", f"at most {table['motion'].max():.3f} of the bound; with C/10 "
            f"{table['motion/10'].max():.2f}", holds=table["motion"].max() <= 1,
            null_holds=table["motion/10"].max() <= 1),
    compare("W-B2-contacts", f"share that changes {table['contacts'][0].max():.3f} to "
            f"{table['contacts'][-1].max():.4f}; all where the bound allows: "
            f"{table['only near'].all()}", holds=table["only near"].all()
            and table["contacts"][-1].max() < table["contacts"][0].max()),
]

# %%
rows_of += [
    compare("W-B3-frozen", f"at most {table['frozen'][met].max():.3f} of the bound in {met.sum()} "
            f"runs with Δ < κ + λ; first term alone {table['first'][met].max():.3g}",
            holds=table["frozen"][met].max() <= 1, null_holds=table["first"][met].max() <= 1,
            note=f"The hypothesis Δ < κ + λ fails in {(~met).sum()} runs."),
    compare("W-B3-moved", f"at most {table['shift'][met].max():.3f} of the bound in {met.sum()} "
            "runs",
            holds=table["shift"][met].max() <= 1,
            note=f"The hypothesis Δ < κ + λ fails in {(~met).sum()} runs."),
    compare("W-F2-least", f"{low:.0f} to {high:.0f}, median {middle:.0f}, of {bottoms.size} seeds; "
            f"seed 0 {least}",
            holds=inside[447], null_holds=inside[223] and inside[894]),
    compare("W-F2-delayed", f"test loss {test[at[447]]:.1e} at 447, {test[-1]:.1e} at the end; "
            f"λ = 0: {test_free[at[447]]:.1e}, {test_free[-1]:.1e}",
            holds=test[-1] < test[at[447]] / 2 and run.loss[-1] > run.loss[least],
            null_holds=test_free[-1] < test_free[at[447]] / 2),
]

# %%
rows_of += [
    compare("W-F2-plateau", f"{remaining:.1%} of the amplitude lost since 447 is still to be lost, "
            f"{remaining_half:.1%} at half that epoch",
            holds=remaining < 0.1, null_holds=remaining_half < 0.1),
    compare("W-F2-function", f"the test loss grows at first in {farther}, is least at the end in "
            f"{nearer} of {len(ways)} seeds", holds=farther == 0 and nearer == len(ways),
            null_holds=test_free[-1] < test_free[at[447]],
            note="Nearness is read as the mean square over the test points; the largest "
                 f"distance grows from 447 to 16 000 in {farther_max} seeds. The target appears in "
                 "stage III."),
    compare("W-F2-scattered", f"sectors: {scattered(run.at(447))} at epoch 447, {scattered(last)} "
            f"at the end; λ = 0: {spread_free[1]}",
            holds=scattered(run.at(447)) > 36 and scattered(last) <= 6,
            null_holds=spread_free[1] <= 6),
]

# %%
rows_of += [
    compare("W-F3-reference", f"|e − e_qs|/|e_qs| below 0.1 after epoch {close}; "
            f"{mismatch[at[447]]:.3f} at 447", holds=mismatch[at[447]] < 0.1,
            null_holds=mismatch[0] < 0.1),
    compare("W-F5-above", f"least eigenvalue {spectrum.min() / LAM:.1f} λ at {len(spectrum)} "
            "records", holds=spectrum.min() > LAM),
    compare("W-F5-plateau", f"rate in stage III at most {(rates[1] / rates[0]).max():.3f} of that "
            "in stage II", holds=(rates[1] / rates[0]).max() < 0.1,
            null_holds=(rates[3] / rates[2]).max() < 0.1),
    compare("W-F5-fitting", f"log changes by {first_.min():.2f} to {first_.max():.2f}, then by "
            f"{(half + second).min():.2f} to {(half + second).max():.2f}; in epochs 1000 to 2000 "
            f"by {next_thousand.max():.2f} at most",
            holds=(first_ < (half + second) / 2).all(),
            null_holds=(next_thousand < (half + second) / 2).all()),
]
claims.report(rows_of)
