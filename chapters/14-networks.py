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
# (chapter-networks)=
# # Deeper networks and other optimisers
#
# The theorems of {cite:t}`wang2026gauge` are about two layers, one target and gradient flow. The
# gauge itself is not: every hidden ReLU unit of every network has one. After this chapter you know
#
# - how the gauge of a unit changes its gradients, at any depth, for any loss and any data;
# - which quantity gradient flow conserves in a deep network, and how to read and set it with
#   `gaugelib.networks`;
# - a kind of training that cannot see the gauge at all, in two layers and in three;
# - what momentum, Adam and weight decay make of it: all of them select the designated student, and
#   Adam sees the square root of what gradient descent sees;
# - what happens on real data, handwritten digits: the gauge decides which copy of a unit turns
#   and which one is needed, but the other copies do not vanish.
#
# It runs for about 30 seconds on one core.

# %%
import copy
from functools import partial

import numpy as np
import torch
from myst_nb import glue
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F

from gaugelib import claims, figures, flows
from gaugelib.figures import plt
from gaugelib.measure import loglog_fit
from gaugelib.networks import balance, imbalance, regauge
from gaugelib.problem import duplicates
from gaugelib.training import network, train

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
EXACT = 1e-10  # sums of some hundred terms, each right to 1e-16

# %% [markdown]
# ## One unit, rescaled
#
# A hidden unit computes $z=u^\top h+b$ from the values $h$ of the layer before it and sends
# $\sigma(z)$ on, with outgoing weights $v$.
#
# ```{prf:proposition} Rescaling of a hidden unit; paper's Proposition A.3
# :label: thm-unit-rescaling
#
# Let $\sigma$ be the ReLU and $\rho>0$. Then
#
# $$ \sigma\bigl((u/\rho)^\top h+b/\rho\bigr)=\rho^{-1}\sigma(u^\top h+b), $$ (eq-networks-homogeneous)
#
# so that $(u,b,v)\mapsto(u/\rho,b/\rho,\rho v)$ changes neither the network nor the loss $L$. At
# points of differentiability the gradient by $(u,b)$ becomes $\rho$ times and the gradient by $v$
# $1/\rho$ times what it was; all other gradients stay. This holds for any depth, loss and data.
# ```
#
# The text of the paper that we worked from lacks the statement; this is our reading of its three
# displays. *Why it is true.* The ReLU commutes with multiplication by a positive number, and the
# outgoing weights undo the division. So $L(\bar u/\rho,\rho v)=L(\bar u,v)$ with $\bar u=(u,b)$ for
# all weights, and the chain rule gives the factors. Nothing in this uses what comes before or after
# the unit.
#
# We rescale by hand, one unit at a time: a row of a weight and its bias, and the matching columns
# of the next weight, which after `Flatten` are a block.


# %%
def perceptron(sigma):
    return nn.Sequential(nn.Linear(5, 7), sigma(), nn.Linear(7, 6), sigma(), nn.Linear(6, 3))


def convolution(sigma):
    """Images of 10 by 10 pixels: two convolutions, a pool, and one linear layer."""
    return nn.Sequential(nn.Conv2d(1, 4, 3), sigma(), nn.MaxPool2d(2), nn.Conv2d(4, 6, 3), sigma(),
                         nn.Flatten(), nn.Linear(24, 3))


HIDDEN = {perceptron: ((0, 2), (2, 4)), convolution: ((0, 3), (3, 6))}  # (layer, the next one)


def rescaled(model, first, second, unit, rho, bias=True):
    """A copy with (u, b, v) -> (u/rho, b/rho, rho v) for one unit of one layer."""
    moved = copy.deepcopy(model)
    layer, after = moved[first], moved[second]
    block = after.weight.shape[1] // layer.weight.shape[0]
    with torch.no_grad():
        layer.weight[unit] /= rho
        layer.bias[unit] /= rho if bias else 1
        after.weight[:, unit * block : (unit + 1) * block] *= rho
    return moved


# %%
LOSSES = {
    "square": lambda y, t: ((y - F.one_hot(t, 3)) ** 2).mean(),
    "cross-entropy": F.cross_entropy,
    "absolute": lambda y, t: (y - F.one_hot(t, 3)).abs().mean(),
    "fourth power": lambda y, t: ((y - F.one_hot(t, 3)) ** 4).mean(),
}
DATA = {
    "Gaussian": lambda rng, shape: rng.standard_normal(shape),
    "uniform": lambda rng, shape: rng.uniform(0, 1, shape),
    "Cauchy": lambda rng, shape: rng.standard_cauchy(shape),
}


def gradients(model, first, second, unit, loss, x, t):
    """Loss, and its gradients by (u, b) and by v of one unit."""
    model.zero_grad()
    value = loss(model(x), t)
    value.backward()
    layer, after = model[first], model[second]
    block = after.weight.shape[1] // layer.weight.shape[0]
    into = torch.cat([layer.weight.grad[unit].flatten(), layer.bias.grad[unit : unit + 1]])
    out = after.weight.grad[:, unit * block : (unit + 1) * block].flatten()
    return value.item(), into.clone(), out.clone()


def off(value, expected):
    """|value - expected| beside |expected|."""
    value, expected = torch.as_tensor(value), torch.as_tensor(expected)
    return float((value - expected).norm() / expected.norm())


# %%
def worst(sigma, rhos=(0.1, 3.0), seed=0):
    """Relative errors of the three statements, and of two with another power, in all cases."""
    rng, errors = np.random.default_rng(seed), []
    torch.manual_seed(seed)
    for make, pairs in HIDDEN.items():
        model = make(sigma)
        shape = (40, 5) if make is perceptron else (40, 1, 10, 10)
        for draw in DATA.values():
            x, t = torch.tensor(draw(rng, shape)), torch.tensor(rng.integers(0, 3, 40))
            for pair, loss in ((pair, loss) for pair in pairs for loss in LOSSES.values()):
                case = (*pair, 1, loss, x, t)  # unit 1
                L, into, out = gradients(model, *case)
                for rho in rhos:
                    now = gradients(rescaled(model, *pair, 1, rho), *case)
                    errors.append([
                        off(now[0], L), off(now[1], rho * into), off(now[2], out / rho),
                        off(now[1], rho**2 * into), off(now[2], out / rho**2),
                    ])
    return np.array(errors)


relu, tanh = worst(nn.ReLU), worst(nn.Tanh)
cases, (relu, tanh) = len(relu), (errors.max(axis=0) for errors in (relu, tanh))
print(f"{cases} cases of network, data, layer, loss and ρ; largest relative error of")
print("                            loss  ∂/∂(u, b)  ∂/∂v")
print(f"ReLU, below {EXACT:g}:    " + "".join(f"{bool(e < EXACT)!s:>9}" for e in relu[:3]))
print("tanh:                  " + "".join(f"{e:9.3g}" for e in tanh[:3]))
print("ReLU, ρ² and ρ⁻²:               " + "".join(f"{e:9.3g}" for e in relu[3:]))

# %%
rng = np.random.default_rng(1)
h, u, b = rng.standard_normal((1000, 5)), rng.standard_normal(5), rng.standard_normal()
powers = np.geomspace(1e-3, 1e3, 7)
whole = np.maximum(h @ u + b, 0)
uneven = max(np.abs(r * np.maximum(h @ (u / r) + b / r, 0) - whole).max() for r in powers)
unscaled = min(np.abs(r * np.maximum(h @ (u / r) + b, 0) - whole).max() for r in powers if r != 1)
print(f"ρσ((u/ρ)ᵀh + b/ρ) = σ(uᵀh + b) on {len(h)} inputs to {EXACT:g}:", bool(uneven < EXACT))
print(f"bias left unscaled: off by {unscaled:.3g} or more")

# %% [markdown]
# The same for one channel of the first convolution while $\rho$ runs over two powers of ten, with
# the cross-entropy of Gaussian images. Each gradient is a power of $\rho$ as long as the unit is a
# ReLU. With tanh, $\rho$ changes the function, and the gradients follow no power.

# %% mystnb={"figure": {"caption": "Gradient norms of one channel of a convolution against the $\\rho$ by which it was rescaled: incoming weights and bias, and outgoing weights. Grey: slopes $1$ and $-1$.", "name": "fig-networks-gradients"}, "image": {"alt": "Two log-log panels over rho. Left, ReLU: two straight lines, one rising and one falling, on grey guides. Right, tanh: two bent curves."}}
RHOS = np.geomspace(0.1, 10, 9)
rng = np.random.default_rng(2)
images, marks = torch.tensor(rng.standard_normal((40, 1, 10, 10))), torch.arange(40) % 3
fig, axes = figures.panels(1, 2, width=7.6, height=2.9, sharey=True)
norms = {}
for ax, sigma in zip(axes, (nn.ReLU, nn.Tanh)):
    torch.manual_seed(3)
    model = convolution(sigma)
    case = (0, 3, 1, F.cross_entropy, images, marks)
    both = [gradients(rescaled(model, 0, 3, 1, rho), *case)[1:] for rho in RHOS]
    norms[sigma] = np.array([[float(g.norm()) for g in pair] for pair in both])
    series = dict(zip(("incoming (u, b)", "outgoing v"), norms[sigma].T))
    figures.measured_points(ax, RHOS, series, xlabel="rescaling  ρ", ylabel="length of the gradient",
                            title={nn.ReLU: "ReLU", nn.Tanh: "tanh"}[sigma])
for column, power in ((0, 1), (1, -1)):
    figures.guide(axes[0], RHOS, norms[nn.ReLU][4, column] * RHOS**power, f"$ρ^{{{power}}}$")
axes[0].get_legend().remove()
axes[1].set_ylabel("")
plt.show()

# %%
for sigma, name in ((nn.ReLU, "ReLU"), (nn.Tanh, "tanh")):
    slopes = [loglog_fit(RHOS, column).slope for column in norms[sigma].T]
    ends = norms[sigma][[0, 4, 8]]
    print(f"{name}: fitted powers {slopes[0]:+.4f} (u, b), {slopes[1]:+.4f} v; at ρ = 0.1, 1, 10: "
          + ", ".join(f"{into:.3g} and {out:.3g}" for into, out in ends))

# %% [markdown]
# ## The imbalance of a deep network
#
# A unit is *balanced* if its outgoing weights are as long as its incoming ones, with the bias
# among them: $\lVert v\rVert^2=\lVert u\rVert^2+b^2=q$. Its coefficient $q=\lVert v\rVert\,
# \lVert\bar u\rVert$ is what a rescaling keeps, and its imbalance
#
# $$ \delta=\lVert v\rVert^2-\lVert u\rVert^2-b^2 $$ (eq-networks-delta)
#
# is what it moves: from balance to $\delta_\pm=\pm q(\rho^2-\rho^{-2})$ by $\rho$ and $1/\rho$.
# `gaugelib.networks` reads it off any network whose layers are joined by ReLUs (`imbalance`), sets
# it (`regauge`) and sets it to zero (`balance`); [its page](networks-tool.md) says what it
# refuses. We check it against the rescaling by hand. In a layer that stands alone, $\rho$ follows
# from a quadratic equation; neighbouring layers share weights, and their $\rho$ are found together.

# %%
torch.manual_seed(4)
model = balance(convolution(nn.ReLU))
first = imbalance(model)["0"]
gap = gap_null = 0.0
for unit, q in enumerate(first.product):
    for rho in (0.2, 0.9, 1.5, 7.0):
        for sign, r in ((1, rho), (-1, 1 / rho)):
            delta = imbalance(rescaled(model, 0, 3, unit, r))["0"].delta[unit]
            gap = max(gap, abs(delta - sign * q * (rho**2 - rho**-2)) / abs(delta))
            gap_null = max(gap_null, abs(delta - sign * q * (rho - 1 / rho)) / abs(delta))
half = regauge(model, {"0": 5.0, "3": [-5, 5, -5, 5, -5, 5]})
read = {name: found.delta.round(6).tolist() for name, found in imbalance(half).items()}
moved = float((half(images) - model(images)).detach().abs().max())
print(f"δ = ±q(ρ² − ρ⁻²) to {EXACT:g}:", bool(gap < EXACT), f"   with ρ − ρ⁻¹: off by {gap_null:.3g}")
print("imbalances asked for and read back:", read)
print(f"largest change of the outputs below {EXACT:g}:", bool(moved < EXACT))

# %% [markdown]
# ### What gradient flow conserves
#
# ```{prf:proposition} Conservation of the imbalance; paper's sections 2 and A.2
# :label: thm-networks-conserved
#
# Along the Euclidean gradient flow of any loss, the imbalance {eq}`eq-networks-delta` of every
# hidden ReLU unit of a deep network is constant.
# ```
#
# *Why it is true.* By {prf:ref}`thm-unit-rescaling` $L$ does not depend on $\rho$; its derivative
# at $\rho=1$ is $v\cdot\partial_vL-\bar u\cdot\partial_{\bar u}L=0$, and this is $-\dot\delta/2$.
# {cite:t}`du2018` show it for layers of homogeneous networks.
#
# Two routes. The identity itself, by autograd at one point. And the drift of $\delta$ under
# gradient descent with a step $\eta$ to the time $T=2$: every step adds
# $\eta^2(\lVert\partial_vL\rVert^2-\lVert\partial_{\bar u}L\rVert^2)$, so that the drift halves
# with $\eta$, and $2\,\mathrm{drift}(\eta/2)-\mathrm{drift}(\eta)$ is $O(\eta^2)$. That
# is the flow's own drift, extrapolated, and we call $\delta$ conserved if the drift halves to
# within five per cent and the extrapolated one is below a tenth of the last (our choice).


# %%
def deltas(model, pairs):
    """Imbalances of all hidden units of an MLP, also where the tool would refuse."""
    found = [(model[k].weight ** 2).sum(0) - (model[j].weight ** 2).sum(1) - model[j].bias ** 2
             for j, k in pairs]
    return torch.cat(found).detach().numpy()


def rates(model, pairs):
    """d delta/dt = 2 (u.dL/du + b dL/db - v.dL/dv) from the stored gradients."""
    by = [((p.grad * p).sum(axis) for p, axis in ((model[k].weight, 0), (model[j].weight, 1)))
          for j, k in pairs]
    biases = [model[j].bias * model[j].bias.grad for j, _ in pairs]
    found = [into + bias - out for (out, into), bias in zip(by, biases)]
    return 2 * torch.cat(found).detach().numpy()


def drift(sigma, eta, T=2.0, seed=5):
    """Change of every imbalance to the time T by gradient descent, and the rates at the start."""
    torch.manual_seed(seed)
    model, pairs = perceptron(sigma), HIDDEN[perceptron]
    x, t = torch.randn(60, 5), torch.randint(0, 3, (60,))
    start, first = deltas(model, pairs), None
    for _ in range(round(T / eta)):
        model.zero_grad()
        F.cross_entropy(model(x), t).backward()
        first = rates(model, pairs) if first is None else first
        with torch.no_grad():
            for p in model.parameters():
                p -= eta * p.grad
    return deltas(model, pairs) - start, np.abs(first).max()


# %% mystnb={"figure": {"caption": "Largest drift of an imbalance to $T=2$ over the step $\\eta$, for the units of a network with two hidden layers. With ReLUs it vanishes with $\\eta$, with tanh it does not. Grey: slope $1$.", "name": "fig-networks-drift"}, "image": {"alt": "A log-log plot over the step. The markers for ReLU fall along a grey line of slope one as the step shrinks; those for tanh stay level, far above."}}
ETAS = 0.1 / 2 ** np.arange(5)
drifts = {name: [drift(sigma, eta) for eta in ETAS]
          for name, sigma in (("ReLU", nn.ReLU), ("tanh", nn.Tanh))}
size = {name: np.array([np.abs(d).max() for d, _ in runs]) for name, runs in drifts.items()}
fig, ax = figures.panels(width=4.8, height=2.9)
figures.measured_points(ax, ETAS, size, xlabel="step  η", ylabel="largest drift of δ")
figures.guide(ax, ETAS[::-1], size["ReLU"][0] * ETAS[::-1] / ETAS[0], "η")
ax.set_xticks(ETAS, [f"{eta:g}" for eta in ETAS])
ax.minorticks_off()
plt.show()

# %%
HALVES, REST = 0.05, 0.1
steady, conserved, identity, halving, left = [], {}, {}, {}, {}
for name, runs in drifts.items():
    (before, _), (last, rate) = runs[-2:]
    halving[name] = size[name][-2] / size[name][-1]
    left[name] = np.abs(2 * last - before).max() / np.abs(last).max()
    conserved[name] = abs(halving[name] / 2 - 1) < HALVES and left[name] < REST
    identity[name] = rate < EXACT
    print(f"{name}: drift from {size[name][0]:.3e} to {size[name][-1]:.3e}, last halving "
          f"{halving[name]:.3f}, extrapolated / last {left[name]:.4f}, dδ/dt = 0: {identity[name]}")
units = len(drifts["ReLU"][0][0])
glue("networks-units", str(units), display=False)
