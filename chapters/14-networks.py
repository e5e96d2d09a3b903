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
# - what other optimisers make of it: momentum and Adam select the designated student as gradient
#   descent does, though Adam sees only the square root of the difference, and weight decay selects
#   it if the gauge fades slowly enough;
# - what happens on handwritten digits: the gauge decides which copies of a unit turn, and a single
#   copy of positive imbalance becomes the largest; but the other copies do not vanish, and a single
#   copy of negative imbalance is not redundant either.
#
# It runs for about 25 seconds on one core.

# %%
import copy
from functools import partial

import numpy as np
import torch
from myst_nb import glue
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F

from gaugelib import claims, figures, flows, training
from gaugelib.figures import plt
from gaugelib.measure import loglog_fit
from gaugelib.networks import balance, imbalance, regauge
from gaugelib.problem import duplicates

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


# %%
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
    title = {nn.ReLU: "(a) ReLU", nn.Tanh: "(b) tanh"}[sigma]
    words = {"xlabel": "rescaling  ρ", "ylabel": "length of the gradient", "title": title}
    figures.measured_points(ax, RHOS, series, **words)
for column, power in ((0, 1), (1, -1)):
    reach = np.array([0.1, 16])
    figures.guide(axes[0], reach, norms[nn.ReLU][4, column] * reach**power, f"$ρ^{{{power}}}$")
axes[0].get_legend().remove()
axes[1].set_ylabel("")
plt.show()

# %%
for sigma, name in ((nn.ReLU, "ReLU"), (nn.Tanh, "tanh")):
    slopes = [loglog_fit(RHOS, column).slope for column in norms[sigma].T]
    ends = norms[sigma][[0, 4, 8]]
    print(f"{name}: powers {slopes[0]:+.4f}, {slopes[1]:+.4f}; lengths at ρ = 0.1, 1, 10: "
          + "; ".join(f"{into:.2g}, {out:.2g}" for into, out in ends))

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
# it (`regauge`) and sets it to zero (`balance`); {ref}`its page <chapter-networks-tool>` says what it
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
read = [found.delta.round(6).tolist() for found in imbalance(half).values()]
moved = float((half(images) - model(images)).detach().abs().max())
print(f"δ = ±q(ρ² − ρ⁻²) to {EXACT:g}: {bool(gap < EXACT)};   ρ − ρ⁻¹: off by {gap_null:.3g}")
print("imbalances asked for, read back:", *read)
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


# %%
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
conserved, identity, halving, left = {}, {}, {}, {}
for name, runs in drifts.items():
    (before, _), (last, rate) = runs[-2:]
    halving[name] = size[name][-2] / size[name][-1]
    left[name] = np.abs(2 * last - before).max() / np.abs(last).max()
    conserved[name] = abs(halving[name] / 2 - 1) < HALVES and left[name] < REST
    identity[name] = rate < EXACT
    print(f"{name}: drift {size[name][0]:.2e} to {size[name][-1]:.2e}, last halving "
          f"{halving[name]:.3f}, extrapolated/last {left[name]:.4f}, dδ/dt = 0: {identity[name]}")
units = len(drifts["ReLU"][0][0])
glue("networks-units", str(units), display=False)

# %% [markdown]
# Both routes agree on all {glue:text}`networks-units` hidden units. From here on the tool does the
# rescaling.
#
# ## Training that cannot see the gauge
#
# ```{prf:remark} Scale-equivariant updates; paper's Remark A.6
# :label: thm-networks-equivariant
#
# Let $g_\rho$ be the rescaling of {prf:ref}`thm-unit-rescaling`, and let one step of training be
# $\Theta\mapsto\mathcal U(\Theta)$. If $\mathcal U(g_\rho\Theta)=g_\rho\,\mathcal U(\Theta)$ for all
# $\Theta$ and $\rho$, then two starts that differ by their gauge keep one predictor for ever.
# Path-normalised descent {cite:p}`neyshabur2015` is such an update; for one unit with output weight
# $a$ and input weights $w$ it divides the gradients by $\kappa_a=\lVert w\rVert^2$ and
# $\kappa_w=a^2$, so that in continuous time
#
# $$ \dot q=-2B,\qquad \dot s=-\frac1q\,(I-ss^\top)\,T . $$ (eq-networks-path)
# ```
#
# *Why it is true.* By induction $\Theta_n'=g_\rho\Theta_n$ at every step, which is the same
# function. For path normalisation $\partial_aL$ becomes $\rho^{-1}$ and $\kappa_a$ becomes
# $\rho^{-2}$ times what it was, so that the step in $a$ becomes $\rho$ times, as $a$ itself does;
# likewise for $w$. With $\dot a=-B/\lVert w\rVert$ and $\dot w=-T/a$, $\delta$ drops out of
# $q=a\lVert w\rVert$ and $s=w/\lVert w\rVert$, where $\mu$ and $\chi$ used to stand (the display of
# the paper is lost; {eq}`eq-networks-path` is our reading).
#
# The negative control of this book: the duplicates of {numref}`chapter-identical-neurons`, $m=8$,
# $D=32$, on the population loss, once in the gauge $(+D,-D,\dots,-D)$ and once balanced. A second
# equivariant update, *relative* descent, multiplies the gradients by $a^2$ and $\lVert w\rVert^2$
# instead. The null is Euclidean gradient descent. Equal "to rounding" is judged against $10^{-10}$.

# %%
m, D, phi = 8, 32.0, np.pi / 4
mixed = duplicates(m, D, phi)
even = mixed.regauged(0.0)
SCALES = {  # what multiplies the gradients by a and by w
    "path": lambda a, w: (1 / (w**2).sum(axis=1), 1 / a**2),
    "relative": lambda a, w: (a**2, (w**2).sum(axis=1)),
    "Euclidean": lambda a, w: (np.full(m, 1 / D), np.full(m, 1 / D)),
}


def update(a, w, scale, h):
    """One step of length h: (a, w) -> (a, w)."""
    T = flows.force(a, w, mixed.teacher)
    by_a, by_w = scale(a, w)
    return a - h * by_a * (T * w).sum(axis=1), w - h * (by_w * a)[:, None] * T


def coefficients(a, w):
    return a * np.linalg.norm(w, axis=1)


# %%
x = np.random.default_rng(6).standard_normal((1000, 2))
apart, ends = {}, {}
for name, scale in SCALES.items():
    states, far = [mixed.weights(), even.weights()], 0.0
    for _ in range(2000):
        states = [update(*state, scale, 0.05) for state in states]
        f, g = (np.maximum(x @ w.T, 0) @ a for a, w in states)
        far = max(far, np.abs(f - g).max())
    apart[name], ends[name] = far, [coefficients(*state) for state in states]
    same = f"below {EXACT:g}" if far < EXACT else f"{far:.4g}"
    q = "; ".join(f"{q[0]:.4f}, {q[1]:.4f}" for q in ends[name])
    print(f"{name:9}  apart: {same:12}  q of first, others, mixed; balanced: {q}")

# %% [markdown]
# And the equations {eq}`eq-networks-path`: the velocity of $(q, s)$ under a small step, at five
# random states in the plane. The step is $10^{-6}$, so that the error is of this size.

# %%
rng, SMALL = np.random.default_rng(7), 1e-6
law = law_null = equivariance = 0.0
for _ in range(5):
    a, w = rng.uniform(0.5, 2, m), rng.standard_normal((m, 2))
    q, s = coefficients(a, w), w / np.linalg.norm(w, axis=1)[:, None]
    T = flows.force(a, w, mixed.teacher)
    B = (T * s).sum(axis=1)
    across = T - B[:, None] * s
    new_a, new_w = update(a, w, SCALES["path"], SMALL)
    dq = (coefficients(new_a, new_w) - q) / SMALL
    ds = (new_w / np.linalg.norm(new_w, axis=1)[:, None] - s) / SMALL
    law = max(law, np.abs(dq + 2 * B).max(), np.abs(ds + across / q[:, None]).max())
    euclidean = -(a**2 + (w**2).sum(axis=1)) * B
    law_null = max(law_null, np.abs(dq - euclidean).max())
    rho = rng.uniform(0.2, 5, m)
    moved_a, moved_w = update(rho * a, w / rho[:, None], SCALES["path"], 0.05)
    plain_a, plain_w = update(a, w, SCALES["path"], 0.05)
    equivariance = max(equivariance, np.abs(moved_a - rho * plain_a).max(),
                       np.abs(moved_w - plain_w / rho[:, None]).max())
LAW = 100 * SMALL
print(f"q̇ = −2B, ṡ = −P T/q to {LAW:g}:", bool(law < LAW), f"   q̇ = −μB: off by {law_null:.3g}")
print(f"U(gΘ) = gU(Θ) to {EXACT:g}:", bool(equivariance < EXACT))

# %% [markdown]
# The same in a deep network. Path normalisation there divides the gradient by each weight by
# $\kappa=\partial\gamma^2/\partial(\theta^2)$, where $\gamma^2$, the sum over all paths of the
# products of squared weights, is what the network with squared weights makes of an input of ones.
# A network with two hidden layers learns 300 handwritten digits from two gauges of one function:
# balanced, and imbalances of random sign.

# %%
digits = load_digits()
pixels, labels = torch.tensor(digits.data / 16), torch.tensor(digits.target)


def path_scales(model):
    """kappa of every parameter."""
    squared = copy.deepcopy(model)
    with torch.no_grad():
        for p in squared.parameters():
            p.square_()
    squared.zero_grad()
    squared(torch.ones(64)).sum().backward()
    return [p.grad for p in squared.parameters()]


def descend(model, lr, path):
    """One step; the outputs before it."""
    outputs = model(pixels[:300])
    model.zero_grad()
    F.cross_entropy(outputs, labels[:300]).backward()
    kappas = path_scales(model) if path else [1.0] * 6
    with torch.no_grad():
        for p, kappa in zip(model.parameters(), kappas):
            p -= lr * p.grad / kappa
    return outputs.detach()


# %%
torch.manual_seed(8)
deep = balance(nn.Sequential(nn.Linear(64, 16), nn.ReLU(), nn.Linear(16, 12), nn.ReLU(),
                             nn.Linear(12, 10)))
rng = np.random.default_rng(8)
signs = {name: rng.choice([-4.0, 4.0], found.delta.size) for name, found in imbalance(deep).items()}
deep_apart = {}
for name, lr, path in (("path", 1.0, True), ("Euclidean", 0.05, False)):
    pair, far = [copy.deepcopy(deep), regauge(deep, signs)], 0.0
    for _ in range(150):
        f, g = (descend(model, lr, path) for model in pair)
        far = max(far, float((f - g).abs().max()))
    deep_apart[name] = far
    losses = [float(F.cross_entropy(out, labels[:300])) for out in (f, g)]
    text = f"below {EXACT:g}" if far < EXACT else f"{far:.3g}"
    print(f"{name:9}  outputs apart: {text:12}  losses after 150 steps: "
          f"{losses[0]:.4f} and {losses[1]:.4f}")

# %% [markdown]
# Under both equivariant updates the eight students remain equal, whatever their gauge: none is
# selected. Under Euclidean descent the gauge decides, and in the deep network it decides about
# speed as well.
#
# ## What other optimisers see
#
# Momentum, Adam and weight decay are what networks are trained with. None of them is
# scale-equivariant, so none of them is blind; but they need not see what gradient descent sees. Take the
# *first* step, and compare how far it turns a student of imbalance $+D$ and one of $-D$, with the
# same $q$ and $s$:
#
# - gradient descent turns a direction by $\eta\chi\lVert P_sT\rVert$, momentum likewise, and
#   $\chi_+/\chi_-=((\sqrt{D^2+4q^2}+D)/2q)^2$ is of order $D^2/q^2$;
# - Adam's first step moves every weight by the learning rate, whatever the size of its gradient.
#   The gradients by $w$ differ by $a$ only, so that the step in $w$ is the same for both, and the
#   *angle* differs by $\lVert w_-\rVert/\lVert w_+\rVert=\sqrt{\chi_+/\chi_-}$, of order $D/q$;
# - path-normalised descent turns both alike.
#
# So Adam should see the square root of what gradient descent sees. We measure powers of $D$ from
# $16$ to $256$. The exact ratios differ from $D^2/q^2$ and $D/q$ by factors
# $1+O(q^2/D^2)$, with $q=1/8$; a step that turns $+D$ by $10^{-4}$ is linear to about that; Adam's
# $\epsilon=10^{-8}$ is small beside the gradients. So we ask for the ratios to within one per
# cent, and for the powers to $0.01$.

# %%
DS = np.array([16.0, 32, 64, 128, 256])
X = np.random.default_rng(9).standard_normal((1000, 2))
inputs, targets = torch.tensor(X), torch.relu(torch.tensor(X[:, 0]))  # the teacher is e_1
FIRST = {  # optimiser, and the learning rate with which +D turns by about 1e-4
    "SGD": (torch.optim.SGD, lambda D: 1e-3 / (m * D)),
    "Adam": (torch.optim.Adam, lambda D: 1e-4 / (m * D**0.5)),
    "path": (None, lambda D: 1e-3 / m),
}


def turn_ratio(name, D):
    """How far a first step turns the student of +D, beside one of -D."""
    model, (optimizer, lr) = training.network(duplicates(m, D, phi)), FIRST[name]
    training.loss(model, inputs, targets).backward()
    a, w = model.a.detach().clone(), model.w.detach().clone()
    if optimizer:
        optimizer(model.parameters(), lr=lr(D)).step()
    else:
        with torch.no_grad():
            model.w -= lr(D) * model.w.grad / a[:, None] ** 2
    angles = [torch.atan2(v[:, 1], v[:, 0])[:2] for v in (w, model.w.detach())]
    turned = (angles[1] - angles[0]).numpy()
    return turned[0] / turned[1]


def exact_ratio(D, power):
    """(chi_+/chi_-)^(power/2) at q = 1/m."""
    return ((np.sqrt(D**2 + 4 / m**2) + D) / (2 / m)) ** power


ratios = {name: np.array([turn_ratio(name, D) for D in DS]) for name in FIRST}

# %% mystnb={"figure": {"caption": "How much farther the first step of an optimiser turns a student of imbalance $+D$ than one of $-D$, with the same coefficient $q=1/8$ and direction. Lines: the exact ratio of the mobilities $\\chi$, its square root, and $1$.", "name": "fig-networks-first-step"}, "image": {"alt": "A log-log plot over the imbalance D: markers for SGD rise along a line of slope two, those for Adam along one of slope one, those for path-normalised descent stay at one."}}
POWERS = {"SGD": 2, "Adam": 1, "path": 0}
fig, ax = figures.panels(width=5.2, height=3.0)
exactly = {name: partial(exact_ratio, power=power) for name, power in POWERS.items()}
figures.measured_points(ax, DS, ratios, fits=exactly, xlabel="imbalance  D",
                        ylabel="turn of +D / turn of −D")
ax.set_xticks(DS, [f"{D:g}" for D in DS])
ax.minorticks_off()
plt.show()

# %%
fitted, miss, NEAR = {}, {}, 0.01
for name, power in POWERS.items():
    fitted[name] = loglog_fit(DS, ratios[name]).slope
    miss[name] = np.abs(ratios[name] / exact_ratio(DS, power) - 1).max()
    print(f"{name:5} power of D {fitted[name]:.3f}; at D = 32, 256: {ratios[name][1]:.4g} and "
          f"{ratios[name][-1]:.4g}; within 1 % of the formula: {bool(miss[name] < NEAR)}")

# %% [markdown]
# ### Who is selected
#
# The duplicates once more, now trained to $\tau=60$ by steps $h=0.1$ on $1000$ samples, five draws
# of them. Momentum $0.9$ gets a tenth of the learning rate; Adam the same one, $h/D$; weight decay
# $\lambda$ is such that over the run the gauge should fall to $1/e$, for decay turns
# $\dot\delta=0$ into $\dot\delta=-2\lambda\delta$ (the paper's proposition A.2). *Selected* means
# that at the end the designated coefficient is more than nine times the sum of all others
# (our choice). As null, the same students with equal imbalances $+D$, and to show
# that it is the sign that decides, the opposite gauge: $-D$ for the designated student, $+D$ for
# the others.

# %%
LAMBDA = 1 / (2 * 60 / D)
OPTIMIZERS = {
    "SGD": torch.optim.SGD,
    "momentum": lambda p, lr: torch.optim.SGD(p, lr / 10, momentum=0.9),
    "Adam": torch.optim.Adam,
    "weight decay": partial(torch.optim.SGD, weight_decay=LAMBDA),
}
GAUGES = {"+": mixed, "opposite": mixed.regauged(-mixed.students.delta), "equal": mixed.regauged(D)}


def trained(problem, optimizer, seed):
    """Coefficients and imbalances at the end."""
    X = np.random.default_rng(seed).standard_normal((1000, 2))
    model = training.network(problem)
    run = training.train(model, X, h=0.1, steps=600, every=600, optimizer=optimizer)
    return run.q[-1], run.delta[-1]


# %%
SEEDS = range(20, 25)
selected, final = {}, {}
print("                 selected            q of first and of each other      δ of the first")
for name, optimizer in OPTIMIZERS.items():
    for gauge, problem in GAUGES.items():
        seeds = SEEDS if gauge == "+" else SEEDS[:2]
        runs = [trained(problem, optimizer, seed) for seed in seeds]
        chosen = [q[0] > 9 * np.abs(q[1:]).sum() for q, _ in runs]
        selected[name, gauge] = np.array(chosen)
        q, delta = final[name, gauge] = np.mean([q for q, _ in runs], 0), runs[0][1]
        q = q.round(4) + 0.0  # no -0.0000
        print(f"{name:13} {gauge:9} {sum(chosen)} of {len(chosen)}   "
              f"{q[0]:12.4f}  {q[1]:9.4f}  {delta[0]:18.2f}")

# %% [markdown]
# Momentum and Adam select the designated student from every draw, as gradient descent does; with
# equal imbalances none is selected, and in the opposite gauge it is the designated student that
# vanishes while the seven others share the feature. Weight decay of this strength does *not* select
# by our criterion: the gauge fades while the others are still being pruned. How slowly must it
# fade?

# %%
FADES = np.array([0.1, 0.25, 0.5, 1, 2])
by_fade = []
for fade in FADES:
    decayed = partial(torch.optim.SGD, weight_decay=fade * LAMBDA)
    by_fade.append(trained(mixed, decayed, SEEDS[0]))
decay_law = max(abs(delta[0] / D / np.exp(-fade) - 1) for fade, (_, delta) in zip(FADES, by_fade))
print("2λt at the end   " + "".join(f"{fade:8g}" for fade in FADES))
print("δ/D at the end   " + "".join(f"{delta[0] / D:8.4f}" for _, delta in by_fade))
print("q, designated    " + "".join(f"{q[0]:8.4f}" for q, _ in by_fade))
print("P, all others    " + "".join(f"{q[1:].sum():8.4f}" for q, _ in by_fade))
print(f"δ/D = exp(−2λt) to 1 %: {bool(decay_law < NEAR)}")
whole_at = FADES[[q[0] > 9 * q[1:].sum() for q, _ in by_fade]]
glue("networks-fade", f"{whole_at.max():g}", display=False)

# %% [markdown]
# By our criterion the designated student is selected up to $2\lambda t=$
# {glue:text}`networks-fade`. Two reasons may be at work, and these runs do not tell them apart: a
# gauge that fades separates less, and the penalty itself weighs on every coefficient.
#
# ## Handwritten digits
#
# The teacher of the theorems is a single unit, and a student can become it. What is left of this on
# data that have no teacher? The 1797 handwritten digits that come with scikit-learn, 8 by 8
# pixels, 1297 of them for training; one hidden layer. Eight random units are *copied* four times
# each: every copy gets a quarter of the outgoing weights, and its incoming weights are disturbed
# by two per cent, so that ties can be broken. `balance` and `regauge` then give the 32 units their
# gauge. All gauges of one seed are the same function:
#
# - **+**: the first copy of each unit has $+D$, the other three $-D$;
# - **opposite**: the first copy has $-D$, the other three $+D$;
# - **balanced**: $\delta=0$ for all, the null;
# - **all −D**, for plain SGD only, to see what copies that do not turn are worth.
#
# $D=8$ is about twenty times a copy's coefficient. Training is 600 steps of cross-entropy on
# batches of 100, with learning rate $1/D$ for the variants of SGD and Adam's default of $0.001$;
# decay such that the gauge falls to $1/e$. These numbers, the measures below and the limits in the
# ledger were settled on trials with seeds 0 to 9 and 100 to 109; the ten seeds here were run
# once, after that.
#
# ```{prf:definition} Owner, turned, vanished, needed; our choice
# :label: def-networks-survival
#
# The *owner* among four copies is the one with the largest coefficient
# $\lVert v\rVert\,\lVert(u,b)\rVert$ at the end. A copy has *turned* if its incoming weights are
# farther than $60^\circ$ from their start. It has *vanished*, as in the paper, if its coefficient
# is below a tenth of its owner's. How much a copy is *needed* is what the accuracy on the 500 other
# digits loses when it is removed from each of the eight groups, without further training.
# ```


# %%
GROUPS, COPIES, STRONG = 8, 4, 8.0
order = np.random.default_rng(0).permutation(len(labels))
seen, unseen = order[:1297], order[1297:]
centred = pixels - pixels[seen].mean(0)


def start(seed):
    """Eight random units, four copies of each, balanced."""
    rng = torch.Generator().manual_seed(seed)
    base = torch.randn(GROUPS, 64, generator=rng) * (2 / 64) ** 0.5
    noise = torch.randn(GROUPS * COPIES, 64, generator=rng) * (2 / 64) ** 0.5
    out = torch.randn(10, GROUPS, generator=rng) * (1 / GROUPS) ** 0.5
    units = GROUPS * COPIES
    model = nn.Sequential(nn.Linear(64, units), nn.ReLU(), nn.Linear(units, 10))
    with torch.no_grad():
        model[0].weight.copy_(base.repeat_interleave(COPIES, 0) + 0.02 * noise)
        model[2].weight.copy_(out.repeat_interleave(COPIES, 1) / COPIES)
        model[0].bias.zero_()
        model[2].bias.zero_()
    return balance(model)


# %%
favoured = np.tile([1.0, -1, -1, -1], GROUPS)
SIGNS = {"+": favoured, "opposite": -favoured, "balanced": 0 * favoured, "all −D": -abs(favoured)}
TRIALS = range(200, 210)
starts = [start(seed) for seed in TRIALS]
typical = np.mean([imbalance(model)["0"].product for model in starts])
same = max(float((regauge(starts[0], STRONG * signs)(centred) - starts[0](centred)).detach().abs()
                 .max()) for signs in SIGNS.values())
print(f"mean coefficient at the start {typical:.3f}, so D is {STRONG / typical:.1f} times as large")
print(f"all gauges of a seed are one function to {EXACT:g}:", bool(same < EXACT))

# %% [markdown]
# The ten networks of the ten seeds are trained side by side, as stacked arrays.


# %%
def outputs(weights, x):
    w, b, v, c = weights
    return torch.relu(x @ w.transpose(1, 2) + b[:, None]) @ v.transpose(1, 2) + c[:, None]


def fit(signs, optimizer, steps=600, batch=100, seed=0):
    """Weights (w, b, v, c) before and after training; the first axis of each is the trials."""
    models = [regauge(model, STRONG * signs) for model in starts]
    weights = [torch.stack(p).detach() for p in zip(*(model.parameters() for model in models))]
    before = [p.clone() for p in weights]
    descent, rng = optimizer([p.requires_grad_() for p in weights]), np.random.default_rng(seed)
    for _ in range(steps):
        rows = torch.from_numpy(rng.choice(seen, batch, replace=False))
        y = outputs(weights, centred[rows]).flatten(0, 1)
        descent.zero_grad()
        (F.cross_entropy(y, labels[rows].repeat(len(models))) * len(models)).backward()
        descent.step()
    return before, [p.detach() for p in weights]


# %%
def accuracy(weights, kept):
    """On the unseen digits, with only the copies in ``kept``: one number a trial."""
    w, b, v, c = weights
    mask = torch.zeros(GROUPS, COPIES)
    mask[:, kept] = 1
    y = outputs((w, b, v * mask.flatten(), c), centred[unseen])
    return (y.argmax(2) == labels[unseen]).double().mean(1).numpy()


def measure(before, after):
    """Coefficients and cosines (trials, groups, copies), and accuracies."""
    w, b, v, _ = after
    q = v.norm(dim=1) * torch.cat([w, b[..., None]], 2).norm(dim=2)
    cosine = F.cosine_similarity(before[0], w, dim=2)
    shape = (len(starts), GROUPS, COPIES)
    kept = {"all": [0, 1, 2, 3], "without first": [1, 2, 3], "without second": [0, 2, 3],
            "only first": [0], "only second": [1]}
    return (q.reshape(shape).numpy(), cosine.reshape(shape).numpy(),
            {name: accuracy(after, which) for name, which in kept.items()})


# %%
FADE = STRONG / (2 * 600)  # lambda with 2 lambda t = 1 at the end
RECIPES = {
    "SGD": partial(torch.optim.SGD, lr=1 / STRONG),
    "momentum": partial(torch.optim.SGD, lr=0.1 / STRONG, momentum=0.9),
    "Adam": partial(torch.optim.Adam, lr=1e-3),
    "weight decay": partial(torch.optim.SGD, lr=1 / STRONG, weight_decay=FADE),
}
ARMS = [(name, arm) for name in RECIPES for arm in SIGNS if arm != "all −D" or name == "SGD"]
results = {(name, arm): measure(*fit(SIGNS[arm], RECIPES[name])) for name, arm in ARMS}

# %%
KINDS = {"first": slice(0, 1), "others": slice(1, None)}
owned, turned, gone = {}, {}, {}
print("                                         turned       vanished      q beside balanced")
print("                         first owns   first others  first others   first  others")
for (name, arm), (q, cosine, _) in results.items():
    case, level = (name, arm), results[name, "balanced"][0].mean()
    owned[case] = (q.argmax(2) == 0).mean()
    turned[case] = [(cosine < 0.5)[..., kind].mean() for kind in KINDS.values()]
    gone[case] = [(q < q.max(2, keepdims=True) / 10)[..., kind].mean() for kind in KINDS.values()]
    beside = [q[..., kind].mean() / level for kind in KINDS.values()]
    print(f"{name:13} {arm:9}{owned[case]:10.2f}  " + "".join(
        f"{value:7.2f}" for value in [*turned[case], *gone[case], *beside]))

# %%
kept = list(results["SGD", "+"][2])
print("accuracy on unseen digits, mean over the trials, with the copies")
print("                       " + "".join(f"{name:>15}" for name in kept))
for (name, arm), (_, _, right) in results.items():
    print(f"{name:13} {arm:9}" + "".join(f"{right[k].mean():15.3f}" for k in kept))
error = max(right["all"].std(ddof=1) for _, _, right in results.values()) / len(starts) ** 0.5
print(f"standard error of the first column at most {error:.4f}")

# %% mystnb={"figure": {"caption": "Digits, plain SGD: ten seeds (small markers) and their mean, eight units of four copies each. (a) Cosine between the incoming weights before and after training. (b) Coefficient, beside the mean of the balanced networks. (c) Accuracy on unseen digits with all copies, and when one copy of each unit is removed. In gauge + the first copy has $+D$ and the three others $-D$; opposite is the reverse.", "name": "fig-networks-digits"}, "image": {"alt": "Three panels over the four gauges. Cosines: copies of plus D lie near zero, copies of minus D near one, balanced ones between. Coefficients: in gauge plus the first copy lies far above the others, in every other gauge all are alike. Accuracy: without the first copies it collapses in gauge plus, falls in the opposite gauge, and hardly changes when balanced; without the second copies it hardly changes anywhere."}}
fig, axes = figures.panels(1, 3, width=8.6, height=3.5)
level = results["SGD", "balanced"][0].mean()
by_arm = [results["SGD", arm] for arm in SIGNS]
views = {
    "(a) cosine with the start": {f"{kind} (a, b)": [cosine[..., rows].mean((1, 2)) for _, cosine, _
                                                     in by_arm] for kind, rows in KINDS.items()},
    "(b) coefficient": {kind: [q[..., rows].mean((1, 2)) / level for q, _, _ in by_arm]
                        for kind, rows in KINDS.items()},
    "(c) accuracy": {f"{kind} (c)": [right[kind] for *_, right in by_arm] for kind in kept[:3]},
}
for ax, (title, series) in zip(axes, views.items()):
    for k, (label, seeds) in enumerate(series.items()):
        style = k + 2 * (title[1] == "c")
        look = {"color": figures.COLOURS[style], "marker": figures.MARKERS[style], "ls": ""}
        at = np.arange(len(SIGNS)) + 0.2 * (k - (len(series) - 1) / 2)
        ax.plot(np.repeat(at, len(starts)), np.concatenate(seeds), ms=2.5, alpha=0.4, **look)
        ax.plot(at, np.mean(seeds, axis=1), label=label if title[1] != "b" else None, **look)
    figures.finish(ax, "gauge", "", title, legend=False)
    ax.set_xticks(range(len(SIGNS)), [arm.replace("opposite", "opp.") for arm in SIGNS])
fig.legend(loc="outside lower center", ncols=5, frameon=False)
plt.show()

# %%
ODD = {case: right["without second"].mean() - right["without first"].mean()
       for case, (_, _, right) in results.items()}
plus, opposite, null = ([case for case in results if case[1] == arm]
                        for arm in ("+", "opposite", "balanced"))
print("accuracy that removing the first copies costs beyond removing the second ones")
for name, group in (("+", plus), ("opposite", opposite), ("balanced", null)):
    print(f"{name:9} {min(ODD[case] for case in group):.3f} to "
          f"{max(ODD[case] for case in group):.3f}")
scores = {case: right["all"].mean() for case, (_, _, right) in results.items()}
glue("networks-owned", f"{min(owned[case] for case in plus):.2f}", display=False)
glue("networks-owned-null", f"{max(owned[case] for case in null):.2f}", display=False)
fractions = [owned[case] for case in opposite]
glue("networks-owned-opposite", f"{min(fractions):.2f} to {max(fractions):.2f}", display=False)
widest = max(abs(scores[name, "+"] - scores[name, "opposite"]) for name in RECIPES)
glue("networks-accuracy", f"{widest:.3f}", display=False)

# %% [markdown]
# What the gauge decides here, and what it does not:
#
# - *Turning.* Copies of $+D$ turn, copies of $-D$ keep their direction, in both gauges and under
#   all four optimisers. This is what $\chi$ says, and it needs no teacher.
# - *Owning.* A single copy of $+D$ among three of $-D$ owns at least
#   {glue:text}`networks-owned` of the groups; a copy of balanced ones owns at most
#   {glue:text}`networks-owned-null`, and a quarter by chance. But in the opposite gauge the single
#   copy of $-D$ owns {glue:text}`networks-owned-opposite`, more than a quarter: it does not lose against three
#   copies of $+D$ that share what they learn. Coefficients of both signs move at the same rate, for $\mu$ depends
#   on $\lvert\delta\rvert$.
# - *Vanishing.* No copy of $-D$ vanishes. In the theorem a student that does not turn must vanish,
#   because the target is a single feature and the student does not have it. Here every direction is of some use
#   to ten classes, and a copy that stays where it was is a random feature with a trained output.
# - *Being needed.* It is the *odd* copy, of either sign, whose removal costs accuracy: the single
#   $+D$, because nothing else has learned its feature, but also the single $-D$, because the three
#   others replace each other and not it.
#
# All this at nearly equal accuracy: with all copies the gauges + and opposite differ by at most
# {glue:text}`networks-accuracy`. So the answer to the question whether the favourable gauge decides
# which of several copies survives is: it decides which one *learns*, and a single one that does
# becomes the largest and the needed one; the others stay in use, as fixed features.
#
# ## Exercises
#
# **1.** For which functions $\sigma$ does {eq}`eq-networks-homogeneous` hold for every $\rho>0$?
# Which of ReLU, leaky ReLU, ReLU6, GELU, absolute value and identity are among them?
#
# ```{dropdown} Solution of 1
# $\sigma(z/\rho)=\sigma(z)/\rho$ at $z=\pm1$ gives $\sigma(z)=\sigma(1)\,z$ for $z>0$ and
# $\sigma(z)=-\sigma(-1)\,z$ for $z<0$, and $\sigma(0)=0$: two straight pieces that meet at the
# origin. ReLU, leaky ReLU, absolute value and identity are of this kind; ReLU6 bends again at 6,
# and GELU is curved. `regauge` refuses the last two.
# ```
#
# **2.** Two neighbouring hidden layers share the weights between them. Show that the $\log\rho$ of
# all units for which every imbalance is a given $\delta$ minimise a convex function, so that there
# is at most one solution if every unit is connected to input and output.
#
# ```{dropdown} Solution of 2
# Let $\theta=\log\rho$. A weight from unit $j$ to unit $i$ becomes
# $e^{\theta_j-\theta_i}$ times what it was, and with $\theta=0$ for inputs and outputs this holds
# for every weight. So $F(\theta)=\tfrac12\sum(\text{all weights})^2-\sum_i\delta_i\theta_i$ is a sum
# of exponentials and a linear function: convex. Its derivative by $\theta_i$ is
# $\lVert v_i\rVert^2-\lVert\bar u_i\rVert^2-\delta_i$. $F$ is constant along no line,
# because along a chain of nonzero weights from the input to the output no exponent could change. For $\delta=0$ the solution
# has the least sum of squares of all networks in the orbit.
# ```
#
# **3.** *Normalised* gradient descent divides the gradient by its length,
# $\Theta-\eta\nabla L/\lVert\nabla L\rVert$. Is it scale-equivariant? Which power of $D$ does its first
# step see in {numref}`fig-networks-first-step`?
#
# ```{dropdown} Solution of 3
# It is not: one common factor cannot turn $\rho$ into $1/\rho$. Within one step it is
# gradient descent with another learning rate, so that the ratio is that of gradient descent and
# the power is 2.
# ```
#
# **4.** Give the four copies of each unit different imbalances, $\delta=8,4,-4,-8$, and train with
# SGD. Predict the order of their cosines and of their coefficients before you run it.
#
# ````{dropdown} Solution of 4
# ```python
# q, cosine, right = measure(*fit(np.tile([1, 0.5, -0.5, -1], GROUPS), RECIPES["SGD"]))
# print(cosine.mean((0, 1)), q.mean((0, 1)), right["all"].mean())
# ```
# The mobility $\chi$ falls from copy to copy, and the cosines rise in this order. The coefficients
# move at the rate $\mu$, which is the same for $\delta=\pm8$ and smaller for $\pm4$; what orders them
# besides is how much of the feature each has learned.
# ````
#
# ## The ledger
#
# Statements about exact identities are judged against $10^{-10}$. For the digits: *decides* means
# in at least nine tenths of the groups or copies, *needed* means that removal costs at least a
# tenth more accuracy, and *equal* accuracies differ by at most $0.01$, three standard errors; like
# the definitions, our choice, and settled on the trial seeds.

# %%
compare = claims.compare
holds = dict(zip(("loss", "in", "out"), (bool(e < EXACT) for e in relu[:3])))
rows = [
    compare("A3-loss", f"to {EXACT:g} in {cases} cases, two networks; tanh off by {tanh[0]:.3g}",
            holds=holds["loss"], null_holds=tanh[0] < EXACT),
    compare("A3-gradient-in", f"to {EXACT:g} in {cases} cases; ρ² off by {relu[3]:.3g}",
            holds=holds["in"], null_holds=relu[3] < EXACT),
    compare("A3-gradient-out", f"to {EXACT:g} in {cases} cases; ρ⁻² off by {relu[4]:.3g}",
            holds=holds["out"], null_holds=relu[4] < EXACT),
    compare("A3-any", f"losses: {', '.join(LOSSES)}; data: {', '.join(DATA)}",
            holds=all(holds.values()), null_holds=tanh.max() < EXACT),
    compare("A3-homogeneous", f"to {EXACT:g}, ρ from {powers[0]:g} to {powers[-1]:g}; null off by "
            f"{unscaled:.3g}", holds=uneven < EXACT, null_holds=unscaled < EXACT),
    compare("A3-imbalance", f"to {EXACT:g} for {first.delta.size} units; null off by "
            f"{gap_null:.3g}", holds=gap < EXACT, null_holds=gap_null < EXACT),
]

# %%
rows += [
    compare("A3-conserved", f"drift/η: halving {halving['ReLU']:.3f}, extrapolated "
            f"{left['ReLU']:.4f} of the last; tanh {halving['tanh']:.3f}, {left['tanh']:.3f}",
            holds=conserved["ReLU"] and identity["ReLU"],
            null_holds=conserved["tanh"] or identity["tanh"]),
    compare("A6-equivariant", f"path, relative, deep path: predictors equal to {EXACT:g}; "
            f"Euclidean apart by {apart['Euclidean']:.3g} and {deep_apart['Euclidean']:.3g}",
            holds=max(apart["path"], apart["relative"], deep_apart["path"]) < EXACT,
            null_holds=min(apart["Euclidean"], deep_apart["Euclidean"]) < EXACT),
    compare("A6-path", f"U(gΘ) = gU(Θ) to {EXACT:g}, q̇ = −2B to {LAW:g}; −μB off by "
            f"{law_null:.3g}", holds=equivariance < EXACT and law < LAW, null_holds=law_null < LAW),
]

# %%
MOST, COSTS, EQUAL = 0.9, 0.1, 0.01
powers_met = {name: abs(fitted[name] - power) < NEAR for name, power in POWERS.items()}
text = ", ".join(f"{name} {slope:.3f}" for name, slope in fitted.items())
rows.append(compare("B14-first-step", f"powers {text}; ratios within {NEAR:g}",
                    holds=all(powers_met.values()) and max(miss.values()) < NEAR,
                    null_holds=all(abs(slope - 2) < NEAR for slope in fitted.values())))
others = ("momentum", "Adam")
text = ", ".join(f"{name} {selected[name, '+'].sum()}/{len(SEEDS)}" for name in others)
rows.append(compare("B14-select", f"{text}; equal gauges none",
                    holds=all(selected[name, "+"].all() for name in others),
                    null_holds=any(selected[name, "equal"].any() for name in others)))
slow, fast = by_fade[0][0], by_fade[list(FADES).index(1)][0]
text = "; ".join(f"q = {q[0]:.4f}, P = {q[1:].sum():.4f}" for q in (slow, fast))
rows.append(compare("B14-decay", f"at 2λt = {FADES[0]:g} and 1: {text}",
                    holds=slow[0] > 9 * slow[1:].sum() and fast[0] < 9 * fast[1:].sum()))

# %%
first_turns = [turned[case] for case in plus] + [turned[case][::-1] for case in opposite]
text = f"+D: {min(x for x, _ in first_turns):.2f}, −D: {max(x for _, x in first_turns):.2f}"
balanced = [turned[case] for case in null]
rows.append(compare("B14-turn", f"fractions of copies that turned, at worst {text}",
                    holds=all(x >= MOST and y <= 1 - MOST for x, y in first_turns),
                    null_holds=all(x >= MOST and y <= 1 - MOST for x, y in balanced)))
low, high = min(owned[case] for case in plus), max(owned[case] for case in null)
text = f"share of {len(TRIALS) * GROUPS} groups at least {low:.2f}; balanced at most {high:.2f}"
rows.append(compare("B14-owner", text, holds=low >= MOST, null_holds=high >= MOST))
vanished = max(max(gone[case]) for case in results)
q_theorem, _ = final["SGD", "+"]
rows.append(compare("B14-vanish", f"fraction that vanished: {vanished:.2f}",
                    holds=vanished == 0, null_holds=q_theorem[1] > q_theorem[0] / 10))
text = ", ".join(f"{arm} {min(ODD[case] for case in group):.3f}"
                 for arm, group in (("+", plus), ("opposite", opposite)))
rows.append(compare("B14-odd", f"costs at least {text} more; balanced at most "
                    f"{max(ODD[case] for case in null):.3f}",
                    holds=min(ODD[case] for case in plus + opposite) >= COSTS,
                    null_holds=min(ODD[case] for case in null) >= COSTS))
frozen = abs(scores["SGD", "all −D"] - scores["SGD", "+"])
rows.append(compare("B14-accuracy", f"differ by at most {widest:.3f}; all −D by {frozen:.3f}",
                    holds=widest <= EQUAL, null_holds=frozen <= EQUAL))
claims.report(rows)
