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
# (chapter-transformer)=
# # A transformer
#
# The theory of {cite:t}`xu2026decay` is about two-layer ReLU networks. Their first figure shows a
# transformer: with weight decay the weights that make its queries and keys shrink, their rows
# align, and compositions that were never trained come out right more often. There is no theorem
# here, one pair of runs is shown, and its size is days of work on a CPU. After this chapter you
# will know
#
# - the task and the network to the last printed detail, each computed on a second route, and the
#   list of what is not printed;
# - that an attention head has the gauge of part one, a whole matrix of it, with the same law, and
#   that the maps of the paper's figures depend on it;
# - what eight seeds of a reduced run say about contraction, alignment, and the held-out pairs: the
#   first two are in every seed, the size of the third depends on the draw;
# - what the printed size costs.
#
# It runs for about 35 seconds on one core. The eight seeds are made by `full/transformer.py` in
# about 15 minutes; a part of them is computed again here.

# %%
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import torch
from myst_nb import glue
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.stats import binom
from torch.nn import functional as F

from gaugelib import anchors, claims, figures, store

torch.set_num_threads(1)

# %% [markdown]
# ## The task
#
# A sequence has nine tokens. Somewhere a key $x\in\{20,\dots,99\}$ is followed by two anchors
# $a,b\in\{1,2,3,4\}$, and the target is $g_a(g_b(x))=x+d_a+d_b$ with $d=(5,1,-2,-8)$: an *anchor
# function* {cite:p}`zhang2024anchor`. The position $p$ of the key is uniform on $\{0,\dots,6\}$;
# the key is uniform on those with $x\bmod9\ne p$ in training, and with $x\bmod9=p$ in testing. The
# other six tokens are uniform on $\{20,\dots,99\}$ and mean nothing. Training uses fourteen of the
# sixteen pairs of anchors; $(3,4)$ and $(4,3)$, with the target $x-10$, are held out. That all
# pairs are equally likely is not printed and is our choice.
#
# *Why it is true.* Translations commute, so the order of the anchors does not matter, and $-2-8=
# -10$. The residue and the position decide alone whether a combination trains or tests, so no
# combination does both. And $y\ge20-16$ and $y\le99+10$ are tokens of a vocabulary of 120.
#
# The null of the first claim must be able to fail: a fourth anchor that reflects, $x\mapsto -x-8$,
# does not commute with translations.

# %%
def shift(d):
    return lambda x: x + d


def all_commute(functions):
    """Ordered pairs whose two orders agree at every key, of all ordered pairs."""
    agree = [(f(g(anchors.KEYS)) == g(f(anchors.KEYS))).all()
             for f, g in product(functions, repeat=2)]
    return sum(agree), len(agree)


def minus_ten(functions):
    return (functions[2](functions[3](anchors.KEYS)) == anchors.KEYS - 10).all() and (
        functions[3](functions[2](anchors.KEYS)) == anchors.KEYS - 10).all()


stated = [shift(d) for d in anchors.SHIFTS.values()]
reflected = [*stated[:3], lambda x: -x - 8]
commuting, commuting_null = all_commute(stated), all_commute(reflected)
print("commuting ordered pairs: {} of {}; with a reflection {} of {}".format(
    *commuting, *commuting_null))
print(f"(3, 4) and (4, 3) give x − 10: {minus_ten(stated)}; with a reflection "
      f"{minus_ten(reflected)}")

# %%
rng = np.random.default_rng(0)
train_set = anchors.examples(rng, 10_000, pairs=anchors.SEEN, training=True)
test_set = anchors.examples(rng, 10_000, pairs=anchors.PAIRS, training=False)


def read(tokens):
    """Position, key and anchors of each sequence, found as a reader would: by the anchors."""
    p = (tokens < 5).argmax(1) - 1
    at = np.arange(len(tokens))
    return p, *(tokens[at, p + k] for k in range(3))


def combinations(tokens):
    p, x, *_ = read(tokens)
    return set(zip(p.tolist(), x.tolist()))


p, x, a, b = read(test_set[0])
D = np.array([0, *anchors.SHIFTS.values()])
right = (x + D[a] + D[b] == test_set[1]).all() and (x % 9 == p).all()
p, x, a, b = read(train_set[0])
right &= (x + D[a] + D[b] == train_set[1]).all() and (x % 9 != p).all()
both = combinations(train_set[0]) & combinations(test_set[0])
every = [target for pair in anchors.PAIRS for target in anchors.target(anchors.KEYS, *pair)]
print(f"combinations of position and key: {len(combinations(train_set[0]))} train, "
      f"{len(combinations(test_set[0]))} test, {len(both)} in both; all as printed: {right}")
print(f"targets {min(every)} to {max(every)}, vocabulary 0 to {anchors.VOCABULARY - 1}")

# %% [markdown]
# Every allowed combination occurs in ten thousand sequences. A target may be 4, which is an anchor
# too; nothing forbids it.
#
# ## The network
#
# With $\tilde H=\mathrm{LN}(H)$, $Q=\tilde HW_Q$, $K=\tilde HW_K$, $V=\tilde HW_V$, each of the two
# layers computes
#
# $$
# U=H+\mathrm{softmax}\Bigl(\frac{QK^\top}{\sqrt{d_k}}\Bigr)VW_O,\qquad
# H\leftarrow\mathrm{LN}(U)+\mathrm{ReLU}(\mathrm{LN}(U)W_1)W_2
# $$ (eq-transformer-layer)
#
# with a causal mask, from $H=W^{em}[\text{tokens}]+X^{pos}$, and the output is
# $Z=HW^{out}+b^{out}$ at
# the last position. Two details are unusual and we keep them: the second residual starts from the
# *normalised* $\mathrm{LN}(U)$, and no LayerNorm stands at the end. Weights start as
# $N(0,d_{in}^{-2\gamma})$ with $\gamma=0.48$; the loss is the cross entropy of the target; training
# is AdamW {cite:p}`loshchilov2019` with gradients cut to the norm 1 and decay on *every* parameter,
#
# $$
# \theta\leftarrow(1-\eta\lambda)\,\theta-\eta\,\frac{\hat m}{\sqrt{\hat v}+10^{-8}} .
# $$ (eq-transformer-adamw)
#
# Not printed, and our choices: gain, shift and $10^{-5}$ of the LayerNorms, one of each per place;
# the start of $X^{pos}$ ($d_{in}=9$, as for a one-hot position), of $b^{out}$ (0); AdamW's
# $(0.9,0.999)$; the rate changes once an epoch; what is left of an epoch after whole batches is
# not used; the size of the training set.
#
# `gaugelib.anchors` computes it in torch, the last layer at the last position only, since nothing
# else reaches the output. Here is a second route: numpy's `einsum`, at every position of every
# layer. The null starts the residual from $U$, as most transformers do.

# %%
def normal(x, gain, shift):
    centred = x - x.mean(-1, keepdims=True)
    return gain * centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) + shift


def by_einsum(z, tokens, from_normal=True):
    """Z (size, 120) of sequences (size, 9)."""
    H = z["embed"][tokens] + z["position"]
    for k in (1, 2):
        normed = normal(H, z[f"first-gain-{k}"], z[f"first-shift-{k}"])
        Q, K, V = (np.einsum("ntd,qd->ntq", normed, z[f"{name}-{k}"])
                   for name in ("query", "key", "value"))
        scores = np.einsum("ntq,nsq->nts", Q, K) / np.sqrt(Q.shape[-1])
        weight = np.exp(np.where(np.tri(9) > 0, scores, -np.inf))
        weight /= weight.sum(-1, keepdims=True)
        U = H + np.einsum("nts,nsq,dq->ntd", weight, V, z[f"out-{k}"], optimize=True)
        normed = normal(U, z[f"second-gain-{k}"], z[f"second-shift-{k}"])
        hidden = np.maximum(np.einsum("ntd,fd->ntf", normed, z[f"up-{k}"]), 0)
        H = (normed if from_normal else U) + np.einsum("ntf,df->ntd", hidden, z[f"down-{k}"])
    return H[:, -1] @ z["logits"].T + z["bias"]


# %%
SMALL = anchors.Plan(d=24, ff=48, qk=8, examples=128, batch=64, epochs=5, warmup=1, single=False)
z = {name: value + 0.1 * rng.standard_normal(value.shape)
     for name, value in anchors.initial(SMALL, rng).items()}
few = [part[:128] for part in train_set]
tokens, targets = map(torch.from_numpy, few)
by_torch = anchors.logits(anchors.tensors(z), tokens).detach().numpy()
forward_gap, forward_null = (np.abs(by_einsum(z, few[0], start) - by_torch).max()
                             for start in (True, False))
print(f"numpy is torch to 1e-12: {forward_gap < 1e-12}; residual from U: off by {forward_null:.2f}")

# %% [markdown]
# The same for the training: the gradient by central differences along a random direction, and
# one update of {eq}`eq-transformer-adamw` written out. At the first update $\hat m=g$ and $\hat
# v=g^2$, so each weight moves by $\eta$ against the sign of its gradient, and shrinks. A weight
# without gradient only shrinks, by $\prod(1-\eta\lambda)$: the embedding of a token that never
# occurs shows it over a whole run. The differences need a small $h$: along a way through all
# weights the loss bends strongly and some neurons cross their kink.

# %%
def loss_of(z, tokens=tokens, targets=targets):
    return F.cross_entropy(anchors.logits(z, tokens), targets)


def gradients(z, lam=0.0):
    """{name: array} of the loss, plus lam times the weight."""
    z = anchors.tensors(z)
    loss_of(z).backward()
    return {name: (x.grad + lam * x).detach().numpy() for name, x in z.items()}


def along(way, h):
    moved = anchors.tensors({name: value + h * way[name] for name, value in z.items()})
    return loss_of(moved).item()


way = {name: rng.standard_normal(value.shape) for name, value in z.items()}
g = gradients(z)
slope = sum((g[name] * way[name]).sum() for name in z)
difference = {h: (along(way, h) - along(way, -h)) / (2 * h) for h in (1e-5, 1e-6, 1e-7)}
for h, found in difference.items():
    print(f"h = {h:g}: slope {slope:.4g}, by differences {found:.4g}; equal to 1e-6 of it: "
          f"{abs(found / slope - 1) < 1e-6}")

# %%
LAM = 0.8
once = replace(SMALL, batch=128, epochs=2)
moved = anchors.tensors(z)
next(anchors.training(moved, *few, once, LAM, np.random.default_rng(0)))
size = np.sqrt(sum((x**2).sum() for x in g.values()))
cut = {name: x * min(1, 1 / size) for name, x in g.items()}
eta = once.rate(0)
update_gap = max(np.abs((1 - eta * LAM) * z[name] - eta * cut[name] / (np.abs(cut[name]) + 1e-8)
                        - moved[name].detach().numpy()).max() / eta for name in z)
run = anchors.tensors(z)
list(anchors.training(run, *few, SMALL, LAM, np.random.default_rng(0)))
idle = np.setdiff1d(np.arange(anchors.VOCABULARY), few[0])
factor = np.prod([(1 - SMALL.rate(e) * LAM) ** SMALL.steps for e in range(SMALL.epochs)])
shrunk = run["embed"].detach().numpy()[idle] / z["embed"][idle]
idle_gap = np.abs(shrunk / factor - 1).max()
print(f"first update as written, to 1e-4 η: {update_gap < 1e-4}")
print(f"{idle.size} tokens that never occur shrink by ∏(1 − ηλ) = {factor:.5f} to 1e-12: "
      f"{idle_gap < 1e-12}")

# %% [markdown]
# The cut of torch divides by the norm plus $10^{-6}$; that and the $10^{-8}$ explain the $10^{-4}$.
#
# ## The gauge of a head
#
# The scores contain $A=W_Q$ and $B=W_K$, in the shapes of the paper's section G.4 with one row in
# $\mathbb R^d$ for each query or key unit, only as the product $A^\top B$. So $(A,B)\mapsto(GA,
# G^{-\top}B)$ changes nothing, for every invertible $G$: a neuron's rescaling, with a matrix in
# place of a number. It has a conserved quantity, as in {numref}`chapter-gauge`, and the value and
# output weights have one as well.
#
# ```{prf:proposition} The gauge of an attention head; ours
# :label: prop-transformer-gauge
#
# Let $L$ be any loss of the transformer, $A,B$ as above, and $D=AA^\top-BB^\top$. Under
# $\dot\theta=-\nabla L-\lambda\theta$ it is $\dot D=-2\lambda D$, and descent
# $\theta\leftarrow(1-\eta\lambda)\theta-\eta\nabla L$ obeys
#
# $$
# D\leftarrow(1-\eta\lambda)^2D+\eta^2\bigl(\nabla_{\!A}L\,\nabla_{\!A}L^\top
# -\nabla_{\!B}L\,\nabla_{\!B}L^\top\bigr).
# $$ (eq-transformer-gauge)
#
# The same holds for $W_V$ and $W_O^\top$, one row a value unit.
# ```
#
# ```{prf:proof}
# $L$ depends on $A$ and $B$ through $M=A^\top B$. With $S=\partial L/\partial M$ it is $\nabla_AL=
# BS^\top$ and $\nabla_BL=AS$, hence $\nabla_AL\,A^\top=BS^\top A^\top=(\nabla_BL\,B^\top)^\top$.
# The terms of first order in $D$ are $\nabla_AL\,A^\top$ plus its transpose, less the same for $B$,
# and cancel. The terms of second order are those in {eq}`eq-transformer-gauge`.
# ```
#
# ```{prf:lemma} Decay counts singular values
# :label: lem-transformer-nuclear
#
# $\tfrac12(\lVert A\rVert_F^2+\lVert B\rVert_F^2)\ge\lVert A^\top B\rVert_*$, the sum of the
# singular
# values, with equality for $D=0$; and every $M$ of rank at most the number of rows has such
# factors.
# ```
#
# ```{prf:proof}
# $\lVert A^\top B\rVert_*\le\lVert A\rVert_F\lVert B\rVert_F\le\frac12(\lVert A\rVert_F^2+\lVert
# B\rVert_F^2)$. If $AA^\top=BB^\top$, then $A^\top B$ has the same singular values as
# $(AA^\top)^{1/2}(BB^\top)^{1/2}=AA^\top$, whose trace is $\lVert A\rVert_F^2$. Factors: the
# singular
# vectors times the roots of the singular values.
# ```
#
# So once the gauge has faded, decay on $W_Q$ and $W_K$ is a penalty on the sum of the singular
# values of what the head uses, as decay on a neuron is one on its amplitude; and that favours few
# of them. Few singular directions are rows in few directions, up to sign: condensation. That is
# an argument, not a theorem: AdamW is not a gradient flow, and {eq}`eq-transformer-gauge` is not
# its law.
#
# Four hundred steps of descent on the small network; the prediction follows the recursion of
# $D$ alone. Rounding of some hundred steps stays below $10^{-12}$ of $D$. The null is the
# other product, $A^\top A-B^\top B$.

# %%
def pair(z, names, layer):
    A, B = (z[f"{name}-{layer}"] for name in names)
    return (A, B.T) if names[1] == "out" else (A, B)


def gauge(z, names, layer):
    A, B = pair(z, names, layer)
    return A @ A.T - B @ B.T


def wrong_gauge(z, names, layer):
    A, B = pair(z, names, layer)
    return A.T @ A - B.T @ B


HEADS = [(names, k) for names in (("query", "key"), ("value", "out")) for k in (1, 2)]
ETA, DECAY, STEPS = 0.05, 0.02, 400
state, predicted = dict(z), [{head: D(z, *head) for head in HEADS} for D in (gauge, wrong_gauge)]
for _ in range(STEPS):
    g = gradients(state)
    state = {name: (1 - ETA * DECAY) * x - ETA * g[name] for name, x in state.items()}
    for D, guess in zip((gauge, wrong_gauge), predicted):
        guess.update({head: (1 - ETA * DECAY) ** 2 * guess[head] + ETA**2 * D(g, *head)
                      for head in HEADS})
gauge_gap, gauge_null = ([np.linalg.norm(D(state, *head) - guess[head])
                          / np.linalg.norm(D(state, *head)) for head in HEADS]
                         for D, guess in zip((gauge, wrong_gauge), predicted))

# %%
fade = np.exp(-2 * DECAY * ETA * STEPS)
kept = [np.linalg.norm(gauge(state, *head)) / np.linalg.norm(gauge(z, *head)) for head in HEADS]
fall = -np.diff([loss_of(anchors.tensors(w)).item() for w in (z, state)])[0]
print(f"the loss falls by {fall:.2f}; D follows its law to 1e-12 in {len(HEADS)} pairs: "
      f"{max(gauge_gap) < 1e-12}")
print(f"the other product is off by {min(gauge_null):.2f} to {max(gauge_null):.2f}")
print(f"|D| falls to {min(kept):.4f} to {max(kept):.4f}, e^(−2λt) = {fade:.4f}")
one = {name: moved[name].detach().numpy() for name in z}
adamw = [np.linalg.norm(gauge(one, *head) - (1 - eta * LAM) ** 2 * gauge(z, *head))
         / (eta * np.linalg.norm(gauge(z, *head))) for head in HEADS]
print(f"one update of AdamW moves D by {min(adamw):.1f} to {max(adamw):.1f} times η of itself")

# %% [markdown]
# ### What a map of cosines can say
#
# The cosines of the rows belong to $A$ and not to the function. With $G=I+\frac cn
# \mathbf 1\mathbf 1^\top$ every row gets $c$ times the mean row added, and for large $c$ all rows
# align, while no output changes. Only the singular values of $A^\top B$ are the head's own; rows of
# rank one are aligned in every gauge. So maps compare runs of one kind of start and training, as
# here and in the paper. The null is a $G$ that rescales rows, which no cosine sees.

# %%
def turned(G):
    """(largest change of an output, N before, N after) of the first head under (GA, G^(-T) B)."""
    A, B = pair(z, ("query", "key"), 1)
    same = anchors.tensors({**z, "query-1": G @ A, "key-1": np.linalg.solve(G.T, B)})
    moved_by = np.abs(anchors.logits(same, tokens).detach().numpy() - by_torch).max()
    return moved_by, *(anchors.directions(anchors.cosines(W)) for W in (A, G @ A))


n, c = SMALL.qk, 100
turn, scaling = turned(np.eye(n) + c / n * np.ones((n, n))), turned(np.diag(np.arange(1.0, n + 1)))
for name, (gap, before, after) in {"mean row added": turn, "rows rescaled": scaling}.items():
    print(f"{name}: outputs the same to 1e-10: {gap < 1e-10}; N from {before:.2f} to {after:.2f} "
          f"of {n}")

# %% [markdown]
# ## Eight seeds of a reduced run
#
# `full/transformer.py` trains a smaller network, each seed with $\lambda=0$ and $0.8$ from the same
# data, start and order of batches. What must be kept is the *dose* $\sum\eta\lambda$ of decay. An
# eighth and three quarters of the epochs, 5 and 30, stand for the paper's 50 and 300.

# %%
PLAN, DECAYS, EARLY, LATE = anchors.Plan(), (0.0, 0.8), 5, 30
stored = store.load(Path("..") / "data" / "transformer.npz", loss=("done", 2, PLAN.epochs),
                    maps=("done", 2, 2, 2, 2, PLAN.qk, PLAN.qk), **{
    name: ("done", 2, PLAN.epochs + 1, *shape) for name, shape in {
        "accuracy": (3,), "norm": (2, 2), "directions": (2, 2), "imbalance": (2, 2)}.items()})
SEEDS, LAYERS, MATRICES = len(stored["loss"]), (0, 1), ("W_Q", "W_K")
norm, count = stored["norm"].astype(float), stored["directions"]
print("              reduced     printed size")
for name in ("d", "ff", "qk", "examples", "batch", "epochs", "warmup", "peak", "least"):
    print(f"{name:10} {getattr(PLAN, name):10g} {getattr(anchors.FULL, name):16g}")
print(f"{'dose':10} {PLAN.dose(LAM):10.3g} {anchors.FULL.dose(LAM):16.3g}")
print(f"{'by 1/8':10} {PLAN.dose(LAM, EARLY):10.3g} {anchors.FULL.dose(LAM, 50):16.3g}")
print(f"seeds stored: {SEEDS}")

# %% [markdown]
# ### What would count as the paper's effects
#
# Before the file was read we settled, by argument:
#
# - *norms contract*: the Frobenius norm is smaller at the end than at the start, in every seed; the
#   null is the same at $\lambda=0$;
# - *rows align*: with the cosines $C_{ij}$ of the $n$ rows, the effective number of directions
#
#   $$ N=\frac{n^2}{\sum_{ij}C_{ij}^2}=\frac{(\sum\sigma)^2}{\sum\sigma^2}\in[1,n], $$ (eq-transformer-directions)
#
#   $\sigma$ the eigenvalues of $C$ (for the trace of $C$ is $n$ and that of $C^2$ is $\sum
#   C_{ij}^2$),
#   at least halves from epoch 5 to epoch 30, in every seed. It is 1 for rows that are parallel or
#   antiparallel. The null is the same at $\lambda=0$;
# - *substantially higher* accuracy: by a tenth or more. The paper shows one pair of runs. If all
#   seeds gain so much, the claim holds; if none does, it differs; else one pair cannot decide, and
#   the verdict is open;
# - *the gauge fades*: $\lVert D\rVert/(\lVert AA^\top\rVert+\lVert BB^\top\rVert)$ at least halves
#   from
#   start to end, in every seed and both layers.
#
# ### A part of the file again
#
# The first epoch of seed 0, with and without decay. The stored runs are in single precision, which
# rounds at $6\cdot10^{-8}$; the updates of an epoch multiply that. Here the epoch is computed in
# double precision, so that no rounding is shared, and asked for $10^{-3}$. Accuracies are counts: a
# sequence changes its answer only if its two largest outputs are as close as the outputs agree, to
# about $10^{-3}$ where their gaps are of order 1, which is one sequence or two in a thousand; we
# allow five in each thousand. Later epochs cannot be asked for digits on another machine, and what
# follows speaks of all seeds.

# %%
double = replace(PLAN, single=False)
again = [anchors.follow(double, 0, lam, epochs=1) for lam in DECAYS]
spot = {name: max(np.abs(run[name] / stored[name][0, k][: len(run[name])] - 1).max()
                  for k, run in enumerate(again))
        for name in ("loss", "norm", "directions", "imbalance")}
answers = max(np.abs(run["accuracy"] - stored["accuracy"][0, k][:2]).max()
              for k, run in enumerate(again))
print(f"an epoch of seed 0 again, equal to 1e-3 in {', '.join(spot)}: "
      f"{max(spot.values()) < 1e-3}\naccuracies to 0.005: {answers <= 0.005}")
change = np.abs(again[1]["norm"][1] / again[0]["norm"][1] - 1).max()
print(f"the two decays differ by {change:.3f} after this epoch")

# %% [markdown]
# ### Figures 1 and 8: norms
#
# *Why it may be true.* Decay alone would multiply every weight by $\prod(1-\eta\lambda)$; the
# gradient holds up what the task needs.

# %% mystnb={"figure": {"caption": "Frobenius norms of $W_Q$ and $W_K$ in both layers, eight seeds; solid without decay, dashed with $\\lambda=0.8$, dotted what decay alone would leave.", "name": "fig-transformer-norms"}, "image": {"alt": "Four panels. The solid lines stay nearly level. The dashed lines follow the dotted curve of pure decay at first and then leave it, level off and in part rise again; all end well below their start and well above the dotted curve."}}
fig, axes = figures.panels(2, 2, width=7.2, height=2.3, sharex=True)
epochs = np.arange(PLAN.epochs + 1)
alone = np.cumprod([1, *((1 - PLAN.rate(e) * LAM) ** PLAN.steps for e in range(PLAN.epochs))])
for (layer, k), ax in zip(product(LAYERS, range(2)), axes.flat):
    for j, (colour, dash) in enumerate(((figures.BLUE, "-"), (figures.ORANGE, (0, (5, 2))))):
        lines = ax.plot(epochs, norm[:, j, :, layer, k].T, color=colour, linestyle=dash,
                        linewidth=1)
        lines[0].set_label(f"λ = {DECAYS[j]:g}")
    ax.plot(epochs, norm[:, 0, 0, layer, k].mean() * alone, color=figures.GUIDE_TEXT,
            linestyle=":", label="decay alone")
    ax.set_ylim(0, 8)
    figures.finish(ax, "epoch" if layer else "", "" if k else "Frobenius norm",
                   f"layer {layer + 1}, ${MATRICES[k]}$", legend=False)
axes[0, 0].legend(loc="upper center", ncols=3, fontsize=8, handlelength=2, columnspacing=1,
                  frameon=False)
figures.plt.show()

# %%
def span(values):
    return f"{values.min():.3f} to {values.max():.3f}"


left = norm[:, :, -1] / norm[:, :, 0]  # seeds, decays, layers, matrices
print(f"norm at the end over norm at the start, {SEEDS} seeds; decay alone leaves {alone[-1]:.3f}")
for layer, k in product(LAYERS, range(2)):
    print(f"layer {layer + 1} {MATRICES[k]}: λ = 0 {span(left[:, 0, layer, k])}, "
          f"λ = {LAM} {span(left[:, 1, layer, k])}")

# %% [markdown]
# All norms contract under decay. Without it they change by some percent, up in some matrices and
# down in others, so that no common sign is left.
#
# ### Figures 1 and 8: alignment
#
# The rows of each map are grouped by their cosines: average linkage on $1-C$, leaves in the order
# that puts similar rows next to each other. How the paper groups them is not printed; the order
# changes the picture and not $N$. The maps without decay are sorted in the same way, and show how
# much of a pattern the sorting makes.

# %%
def ordered(C):
    """C with rows and columns in the order of its tree (average linkage on 1 - C)."""
    tree = linkage(1 - C[np.triu_indices(len(C), 1)], "average", optimal_ordering=True)
    return C[np.ix_(leaves_list(tree), leaves_list(tree))]


def draw_maps(seed, layer):
    fig, axes = figures.panels(2, 4, width=7.2, height=1.95)
    for (j, k, t), ax in zip(product(range(2), repeat=3), axes.flat):
        C = stored["maps"][seed, j, t, layer, k] / 100
        image = ax.imshow(ordered(C), cmap="RdBu_r", vmin=-1, vmax=1, interpolation="nearest")
        ax.grid(False)
        ax.set_xticks([])
        ax.set_yticks([])
        ax.set_title(f"λ = {DECAYS[j]:g}, ${MATRICES[k]}$, {(EARLY, LATE)[t]}", fontsize=9)
        for side in ax.spines.values():
            side.set_visible(True)
    fig.colorbar(image, ax=axes, shrink=0.8, label="cosine of two rows", ticks=[-1, 0, 1])
    figures.plt.show()


def print_counts(seed, layer):
    for j, k in product(range(2), repeat=2):
        early, late = count[seed, j, [EARLY, LATE], layer, k]
        print(f"λ = {DECAYS[j]:g} {MATRICES[k]}: N = {early:.2f} at epoch {EARLY}, {late:.2f} at "
              f"{LATE}, of {PLAN.qk} rows")


# %% mystnb={"figure": {"caption": "Cosines of the rows of $W_Q$ and $W_K$ in layer 1 at epochs 5 and 30, seed 0, without decay (top) and with $\\lambda=0.8$ (bottom), grouped as said in the text. In grey both ends are dark: aligned rows, whatever their sign.", "name": "fig-transformer-layer-1"}, "image": {"alt": "Eight square maps. All maps at the early epoch and all without decay are pale but for the diagonal. The two maps at the late epoch with decay show a broad dark band along the diagonal and dark patches of the other sign beside it, which change gradually; there are no sharp blocks."}}
draw_maps(0, 0)

# %%
print_counts(0, 0)

# %% mystnb={"figure": {"caption": "The same in layer 2.", "name": "fig-transformer-layer-2"}, "image": {"alt": "Eight square maps. Those without decay stay pale but for the diagonal. The two at the late epoch with decay are two dark blocks of one sign on the diagonal and two of the other sign beside it, with a narrow pale seam between."}}
draw_maps(0, 1)

# %%
print_counts(0, 1)

# %% mystnb={"figure": {"caption": "The effective number of directions of the 32 rows, eight seeds, $W_Q$ and $W_K$ in one colour; solid without decay, dashed with $\\lambda=0.8$. Vertical lines at epochs 5 and 30.", "name": "fig-transformer-directions"}, "image": {"alt": "Two panels. The solid lines fall little from their common start. The dashed lines drop steeply in the first half; in layer 1 they end at a few directions, in layer 2 close to one."}}
fig, axes = figures.panels(1, 2, width=7.2, height=2.8, sharey=True)
for layer, ax in enumerate(axes):
    for j, (colour, dash) in enumerate(((figures.BLUE, "-"), (figures.ORANGE, (0, (5, 2))))):
        lines = ax.plot(epochs, np.concatenate(count[:, j, :, layer].transpose(0, 2, 1)).T,
                        color=colour, linestyle=dash, linewidth=1)
        lines[0].set_label(f"λ = {DECAYS[j]:g}")
    for epoch in (EARLY, LATE):
        ax.axvline(epoch, color=figures.GUIDE, linewidth=0.7)
    ax.set_yticks([1, 5, 10, 15, 20])
    figures.finish(ax, "epoch", "" if layer else "directions N", f"layer {layer + 1}",
                   legend=layer == 0)
figures.plt.show()

# %%
fell = count[:, :, LATE] / count[:, :, EARLY]  # seeds, decays, layers, matrices
random_rows = PLAN.qk**2 / (PLAN.qk + PLAN.qk * (PLAN.qk - 1) / PLAN.d)
for layer, k in product(LAYERS, range(2)):
    print(f"layer {layer + 1} {MATRICES[k]}: N({LATE})/N({EARLY}) λ = 0 "
          f"{span(fell[:, 0, layer, k])}, λ = {LAM} {span(fell[:, 1, layer, k])}; last N "
          f"{span(count[:, 1, -1, layer, k])}")
print(f"N at the start {count[:, 0, 0].mean():.2f} on average, {random_rows:.2f} for random rows")

# %% [markdown]
# By the criterion that we had settled, the rows align in every seed, in both layers and both
# matrices, and without decay in none. What we did not expect is how different the two layers are,
# and $N$ does not tell all of it: few dimensions are not yet few directions. Count the pairs of
# rows that are close to one line. The file has hundredths; close is 91 of them or more, which is
# $\lvert C_{ij}\rvert\ge0.905$, an angle of $25°$. Lines that are spread evenly in a plane would
# have the share $\frac2\pi\arccos0.905$ of such pairs.

# %%
off_diagonal = np.triu_indices(PLAN.qk, 1)
close = (np.abs(stored["maps"][..., *off_diagonal]) >= 91).mean(-1)  # seeds, decays, times, ...
even = 2 / np.pi * np.arccos(0.905)
for layer in LAYERS:
    print(f"layer {layer + 1}, epoch {LATE}: share of close pairs λ = 0 "
          f"{span(close[:, 0, 1, layer])}, λ = {LAM} {span(close[:, 1, 1, layer])}")
print(f"evenly spread in a plane: {even:.3f}")

# %% [markdown]
# In layer 2 the rows gather on one line, with both signs: condensation as in the two-layer
# networks. In layer 1, the one of figure 1, they lose dimensions but stay spread over those that
# are
# left, and form no tight groups. Whether they would at the printed size we cannot say.
#
# ### The gauge under AdamW
#
# We had expected that the gauge fades: that the share $\lVert D\rVert/(\lVert AA^\top\rVert+\lVert
# BB^\top\rVert)$ at least halves. In every seed it does so for $W_Q,W_K$ of layer 1 and $W_V,W_O$
# of
# layer 2 only, see below. The law of
# {prf:ref}`prop-transformer-gauge` would leave $e^{-2\sum\eta\lambda}$ of $D$ itself. What AdamW
# leaves can be bounded from the file. With $s$ the share, and because
# $\lVert AA^\top\rVert$ lies between $\lVert A\rVert_F^2/\sqrt n$ and $\lVert A\rVert_F^2$,
#
# $$
# \frac{\lVert D_{end}\rVert}{\lVert D_0\rVert}\ \ge\ \frac{s_{end}}{\sqrt n\,s_0}\cdot
# \frac{\lVert A\rVert_F^2+\lVert B\rVert_F^2\ \text{at the end}}{\text{the same at the start}} .
# $$ (eq-transformer-left)
#
# The file has the norms of $W_Q$ and $W_K$, so we bound these pairs.
#
# The null is descent, and it must get the same dose to be able to fail: by
# {eq}`eq-transformer-gauge` a term of second order, proportional to $\eta$ at a given dose, is left
# when $e^{-2\sum\eta\lambda}$ has become small, and with a large step it would be most of what is
# left. So the small network descends with the decay of these runs, $\lambda=0.8$, and a step
# about as large as the mean rate of AdamW in them, until the dose is the same.

# %%
STEP = 1.25e-3
state, count_steps = dict(z), round(PLAN.dose(LAM) / (STEP * LAM))
for _ in range(count_steps):
    g = gradients(state)
    state = {name: (1 - STEP * LAM) * x - STEP * g[name] for name, x in state.items()}
kept_dose = [np.linalg.norm(gauge(state, *head)) / np.linalg.norm(gauge(z, *head))
             for head in HEADS]
over_law = np.array(kept_dose) / np.exp(-2 * STEP * LAM * count_steps)
mean_rate = PLAN.dose(1) / (PLAN.steps * PLAN.epochs)
print(f"descent, {count_steps} steps of {STEP:g} (mean rate of AdamW {mean_rate:.3g}), dose "
      f"{STEP * LAM * count_steps:.3g}:\n   D over what its law leaves {span(over_law)}")

# %%
share = stored["imbalance"]  # seeds, decays, epochs, layers, (query and key, value and out)
halved = share[:, 1, -1] < share[:, 1, 0] / 2
for layer, k in product(LAYERS, range(2)):
    begin, end = (span(share[:, 1, t, layer, k]) for t in (0, -1))
    name = ("W_Q, W_K", "W_V, W_O")[k]
    print(f"layer {layer + 1} {name}: share {begin}, then {end}; halved in "
          f"{halved[:, layer, k].sum()} of {SEEDS}")
squares = (norm**2).sum(-1)  # of A and B together
bound = (share[:, 1, -1, :, 0] / share[:, 1, 0, :, 0] * squares[:, 1, -1] / squares[:, 1, 0]
         / PLAN.qk**0.5)
law = np.exp(-2 * PLAN.dose(LAM))
print(f"descent with this dose leaves {law:.4f} of D; AdamW at least {span(bound)}, "
      f"{(bound / law).min():.1f} times as much or more")

# %% [markdown]
# So the rows condense although the gauge does not fade as under descent, and the lemma can be a
# part of the reason at most. AdamW divides each gradient by its own size, and
# the terms of first order no longer cancel.
#
# ### Figure 1(c): the held-out pairs
#
# The accuracy is that on 1000 sequences of each held-out pair, and on 2000 of the others, with
# keys of the test; a binomial standard error is at most $\frac12/\sqrt{2000}$, about a hundredth.
# All runs get the seen pairs right nearly always; the question is what they make of compositions
# they never saw.

# %% mystnb={"figure": {"caption": "Left: accuracy on the held-out pairs together; lines are medians over eight seeds, shaded from the least to the largest. Right: the last epoch by seed; without decay (circles) and with $\\lambda=0.8$ (squares).", "name": "fig-transformer-held-out"}, "image": {"alt": "Left, two bands that rise and overlap at first; the one with decay ends higher. Right, eight pairs of markers joined by vertical lines; every square stands above its circle, by very different lengths."}}
fig, (ax, pairs) = figures.panels(1, 2, width=7.2, height=2.9, sharey=True)
held = stored["accuracy"][..., :2].mean(-1)  # seeds, decays, epochs
for j, (colour, dash, marker) in enumerate(((figures.BLUE, "-", "o"),
                                            (figures.ORANGE, (0, (5, 2)), "s"))):
    ax.fill_between(epochs, held[:, j].min(0), held[:, j].max(0), color=colour, alpha=0.18, lw=0)
    ax.plot(epochs, np.median(held[:, j], axis=0), color=colour, linestyle=dash,
            label=f"λ = {DECAYS[j]:g}")
    pairs.plot(range(SEEDS), held[:, j, -1], marker, color=colour)
pairs.vlines(range(SEEDS), held[:, 0, -1], held[:, 1, -1], color=figures.GUIDE, lw=0.8, zorder=1)
figures.finish(ax, "epoch", "accuracy on (3, 4) and (4, 3)")
figures.finish(pairs, "seed", "", legend=False)
figures.plt.show()

# %%
gain = held[:, 1, -1] - held[:, 0, -1]
enough, seen = gain >= 0.1, stored["accuracy"][:, :, -1, 2]
settled = (held[:, 1, -5:] - held[:, 0, -5:]).mean(-1)
print(f"last epoch: λ = 0 {span(held[:, 0, -1])}, λ = {LAM} {span(held[:, 1, -1])}")
print(f"gain {span(gain)}, median {np.median(gain):.3f}; a tenth or more in {enough.sum()} of "
      f"{SEEDS} seeds, positive in {(gain > 0).sum()}\nby chance with probability "
      f"{binom.sf((gain > 0).sum() - 1, SEEDS, 0.5):.4f}")
print(f"mean over the last five epochs: gain {span(settled)}, a tenth or more in "
      f"{(settled >= 0.1).sum()}")
print(f"seen pairs, test keys: at least {seen.min():.3f}; last training loss at most "
      f"{stored['loss'][:, 0, -1].max():.1e} and {stored['loss'][:, 1, -1].max():.1e}")

# %%
glue("gains", f"{gain.min():.2f} to {gain.max():.2f}", display=False)
glue("enough", f"{enough.sum()} of {SEEDS}", display=False)
glue("positive", f"{(gain > 0).sum()} of {SEEDS}", display=False)
glue("contraction", span(left[:, 1]), display=False)

# %% [markdown]
# The gain is positive in {glue:text}`positive` seeds and a tenth or more in {glue:text}`enough`; it
# ranges over {glue:text}`gains`. By the rule that we settled before, the claim is open: what one
# pair
# of runs shows is one draw from such a range, at a size that is not ours. The direction agrees with
# the paper's. That decay causes the gain *through* the alignment is not shown by this,
# there or here.
#
# ## The printed size
#
# What the configuration of Table 1 costs. The operations are those of the matrix products, counted;
# the seconds of an update were measured once, on one core of an ordinary server, by
# `full/transformer.py --cost`. The command `.venv/bin/python full/transformer.py --full-size`
# measures a few updates where it runs, says how many days they amount to, and then runs both
# decays. The number of examples, and with it the dose, is our guess.

# %%
cost = store.load(Path("..") / "data" / "transformer-cost.npz", seconds=(2, 5))["seconds"]
second = {PLAN: np.median(cost[0]), anchors.FULL: np.median(cost[1])}
print("                     reduced     printed size")
for name, value in {
    "weights": lambda q: sum(x.size for x in anchors.initial(q, rng).values()),
    "updates of a run": lambda q: q.steps * q.epochs,
    "operations an update": lambda q: q.operations,
    "operations, two runs": lambda q: 2 * q.operations * q.steps * q.epochs,
    "seconds an update": lambda q: second[q],
    "operations a second": lambda q: q.operations / second[q],
    "hours, two runs": lambda q: 2 * q.steps * q.epochs * second[q] / 3600,
}.items():
    print(f"{name:21} {value(PLAN):10.3g} {value(anchors.FULL):12.3g}")
ratio = cost.max(axis=1) / cost.min(axis=1)
print(f"slowest over fastest of five measurements: {ratio[0]:.2f}, {ratio[1]:.2f}")

# %% [markdown]
# ## Exercises
#
# 1. Which keys are never tested at any position, and how many combinations of key and position are
#    there for testing?
#
# ```{dropdown} Solution of 1
# Those with $x\bmod9\in\{7,8\}$, since $p\le6$. Of the 80 keys, 72 fill eight periods; the last
# eight have every residue but 1. So there are nine keys at six positions and eight at one: 62.
# ```
#
# 2. Why is $N$ about $n^2/(n+n(n-1)/d)$ at the start?
#
# ```{dropdown} Solution of 2
# The cosine of two independent random directions in $\mathbb R^d$ has the mean square $1/d$, and
# the diagonal contributes $n$. For $n=32$, $d=64$ it is the number printed under the figure.
# ```
#
# 3. Does {prf:ref}`prop-transformer-gauge` survive the LayerNorms, the mask, and the unusual
#    residual? Does it survive several heads, or a bias in $Q$?
#
# ```{dropdown} Solution of 3
# It uses only that $L$ depends on $A$ and $B$ through $A^\top B$: everything around them is
# arbitrary. With several heads each has its own $D$. With biases the columns $b_Q$, $b_K$ join $A$
# and $B$.
# ```
#
# 4. Change `Plan(d=32)` in the script. Which of the effects are left? (A smaller network fits less
#    well; decide first what you would call an effect.)
#
# ## The ledger
#
# Order of events: the criteria for norms, rows, held-out pairs and the fading of the gauge were
# written down after a trial of one epoch of another seed and before the file was read. We knew from
# earlier work that such runs show contraction and alignment, and that the gain varies between
# seeds; hence the three outcomes of the rule for the gain. The expectation that the gauge fades
# failed and is told as such. The findings on AdamW, on the two layers and on the spread of the gain
# were seen first; their limits, round numbers, and the null of the last were chosen with the result
# in sight. The null of the finding on AdamW was first taken at a fraction of its dose, where it
# could not fail; a review found that, and it is judged at the same dose now, where it can. For
# close pairs we had counted 91 hundredths or more and compared with even lines at 0.9; their share
# is now that of 0.905, which is less and so harder to stay below.

# %%
compare = claims.compare


def contracts(j, layers):
    return left[:, j, layers] < 1


def aligns(j, layers):
    return fell[:, j, layers] <= 0.5


def tally(test, layers):
    with_decay, without = test(1, layers), test(0, layers)
    return {"holds": with_decay.all(), "null_holds": without.all()}, (
        f"{with_decay.sum()} of {with_decay.size} matrices; λ = 0: {without.sum()}")


ONE, TWO = slice(0, 1), slice(0, 2)
judged = {id: tally(test, layers) for id, test, layers in (
    ("W-F1-norms", contracts, ONE), ("W-F1-aligned", aligns, ONE),
    ("W-F8-norms", contracts, TWO), ("W-F8-aligned", aligns, TWO))}
rows = [
    compare("W-G1-commute", "{} of {} ordered pairs, x − 10: {}; with a reflection {}".format(
        *commuting, minus_ten(stated), commuting_null[0]),
        holds=commuting[0] == commuting[1] and minus_ten(stated),
        null_holds=commuting_null[0] == commuting_null[1] and minus_ten(reflected)),
    compare("W-G1-split", f"{len(both)} combinations in both sets; targets {min(every)} to "
            f"{max(every)}", holds=not both and right and min(every) >= 0
            and max(every) < anchors.VOCABULARY),
]

# %%
rows += [
    compare("W-F1-norms", f"{span(left[:, 1, 0])} of the start, {judged['W-F1-norms'][1]}",
            **judged["W-F1-norms"][0]),
    compare("W-F1-aligned", f"directions fall to {span(fell[:, 1, 0])} of those at epoch {EARLY}, "
            f"{judged['W-F1-aligned'][1]}", **judged["W-F1-aligned"][0],
            note="The rows lose dimensions; at this size they form no tight groups in layer 1, "
                 f"{close[:, 1, 1, 0].mean():.2f} of the pairs are within 25 degrees of a line."),
    compare("W-F8-norms", f"{span(left[:, 1])} of the start, {judged['W-F8-norms'][1]}",
            **judged["W-F8-norms"][0]),
    compare("W-F8-aligned", f"directions fall to {span(fell[:, 1])} of those at epoch {EARLY}, "
            f"{judged['W-F8-aligned'][1]}", **judged["W-F8-aligned"][0]),
]
rule = {"holds": enough.all()} if enough.all() or not enough.any() else {"verdict": "open"}
rows += [
    compare("W-F1-heldout", f"gain of a tenth or more in {enough.sum()} of {SEEDS} seeds, positive "
            f"in {(gain > 0).sum()}; {span(gain)}", **rule,
            note="The paper shows one pair of runs; the gain of a reduced run depends on its seed, "
                 f"from {gain.min():.2f} to {gain.max():.2f}."),
]

# %%
def gathered(j):
    """In every matrix of layer 2 most pairs are close, in layer 1 fewer than of even lines."""
    return (close[:, j, 1, 1] > 0.5).all() and (close[:, j, 1, 0] < even).all()


lost = 1 - np.sqrt(squares[:, 1, -1].sum(-1) / squares[:, 1, 0].sum(-1))
spread = gain.max() / gain.min(), lost.max() / lost.min()
rows += [
    compare("B22-forward", f"to 1e-12: {forward_gap < 1e-12}; residual from U off by "
            f"{forward_null:.2f}", holds=forward_gap < 1e-12, null_holds=forward_null < 1e-12),
    compare("B22-gauge", f"to 1e-12 over {STEPS} steps in {len(HEADS)} pairs: "
            f"{max(gauge_gap) < 1e-12}; null off by {min(gauge_null):.2f} or more",
            holds=max(gauge_gap) < 1e-12, null_holds=min(gauge_null) < 1e-12),
    compare("B22-map", f"outputs the same to 1e-10: {turn[0] < 1e-10}; N from {turn[1]:.2f} to "
            f"{turn[2]:.2f}; rescaled {scaling[2]:.2f}",
            holds=turn[0] < 1e-10 and turn[2] < turn[1] / 2,
            null_holds=scaling[0] < 1e-10 and scaling[2] < scaling[1] / 2),
    compare("B22-adamw", f"at least {(bound / law).min():.1f} times the law in {bound.size} heads; "
            f"descent with this dose {span(over_law)} times",
            holds=(bound / law).min() > 2 * over_law.max(), null_holds=over_law.max() > 2),
    compare("B22-layers", f"close pairs {span(close[:, 1, 1, 1])} in layer 2, "
            f"{span(close[:, 1, 1, 0])} in layer 1; even lines in a plane {even:.3f}",
            holds=gathered(1), null_holds=gathered(0)),
    compare("B22-spread", f"largest gain over least {spread[0]:.1f}; contraction {spread[1]:.2f}",
            holds=gain.min() <= 0 or spread[0] > 2, null_holds=spread[1] > 2),
]
claims.report(rows)
