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
# - that an attention head has the gauge of part one, a whole matrix of it, with the same law;
# - what eight seeds of a reduced run say about contraction, alignment, and the held-out pairs: the
#   first two are robust, the third is not;
# - what the printed size costs.
#
# It runs for about 15 seconds on one core. The eight seeds are made by `full/transformer.py` in
# about 15 minutes; a part of them is computed again here.

# %%
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import torch
from myst_nb import glue
from torch.nn import functional as F

from gaugelib import anchors, claims, figures, store

torch.set_num_threads(1)

# %% [markdown]
# ## The task
#
# A sequence has nine tokens. Somewhere a key $x\in\{20,\dots,99\}$ is followed by two anchors
# $a,b\in\{1,2,3,4\}$, and the target is $g_a(g_b(x))=x+d_a+d_b$ with $d=(5,1,-2,-8)$: an *anchor
# function* {cite:p}`zhang2024anchor`. The position $p$ of the key is even on $\{0,\dots,6\}$; the
# key is even on those with $x\bmod9\ne p$ in training, and with $x\bmod9=p$ in testing. The other
# six tokens are even on $\{20,\dots,99\}$ and mean nothing. Training uses fourteen of the sixteen
# pairs of anchors; $(3,4)$ and $(4,3)$, with the target $x-10$, are held out. That all pairs are
# equally likely is not printed and is our choice.
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
# With $N=\mathrm{LN}(H)$, $Q=NW_Q$, $K=NW_K$, $V=NW_V$, each of the two layers computes
#
# $$
# U=H+\mathrm{softmax}\Bigl(\frac{QK^\top}{\sqrt{d_k}}\Bigr)VW_O,\qquad
# H\leftarrow\mathrm{LN}(U)+\mathrm{ReLU}(\mathrm{LN}(U)W_1)W_2
# $$ (eq-transformer-layer)
#
# with a causal mask, from $H=W^{em}[\text{tokens}]+X^{pos}$, and the output is $Z=HW^{out}+b^{out}$ at
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
    """Z (N, 120) of sequences (N, 9)."""
    H = z["embed"][tokens] + z["position"]
    for k in (1, 2):
        N = normal(H, z[f"first-gain-{k}"], z[f"first-shift-{k}"])
        Q, K, V = (np.einsum("ntd,qd->ntq", N, z[f"{name}-{k}"])
                   for name in ("query", "key", "value"))
        scores = np.einsum("ntq,nsq->nts", Q, K) / np.sqrt(Q.shape[-1])
        weight = np.exp(np.where(np.tri(9) > 0, scores, -np.inf))
        weight /= weight.sum(-1, keepdims=True)
        U = H + np.einsum("nts,nsq,dq->ntd", weight, V, z[f"out-{k}"], optimize=True)
        N = normal(U, z[f"second-gain-{k}"], z[f"second-shift-{k}"])
        hidden = np.maximum(np.einsum("ntd,fd->ntf", N, z[f"up-{k}"]), 0)
        H = (N if from_normal else U) + np.einsum("ntf,df->ntd", hidden, z[f"down-{k}"])
    return H[:, -1] @ z["logits"].T + z["bias"]


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
# occurs shows it over a whole run.

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
    return float(loss_of(moved).detach())


way = {name: rng.standard_normal(value.shape) for name, value in z.items()}
g = gradients(z)
slope = sum((g[name] * way[name]).sum() for name in z)
difference = (along(way, 1e-5) - along(way, -1e-5)) / 2e-5
print(f"slope {slope:.4g}, by differences {difference:.4g}; equal to 1e-6 of it: "
      f"{abs(difference / slope - 1) < 1e-6}")

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
# The scores contain $W_Q$ and $W_K$ only as the product $W_QW_K^\top$. In the shapes of the paper's
# section G.4, $A=W_Q^\top$ and $B=W_K^\top$ in $\mathbb R^{64\times400}$ with one row for each query
# or key unit, the product is $A^\top B$, and $(A,B)\mapsto(GA,G^{-\top}B)$ changes nothing, for every
# invertible $G$: a neuron's rescaling with a matrix in place of a number. It has a conserved
# quantity, as in {numref}`chapter-gauge`; and the value and output weights have one as well.
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
# The same holds for $W_V^\top$ and $W_O$.
# ```
#
# ```{prf:proof}
# $L$ depends on $A$ and $B$ through $M=A^\top B$. With $G=\partial L/\partial M$ it is $\nabla_AL=
# BG^\top$ and $\nabla_BL=AG$, hence $\nabla_AL\,A^\top=BG^\top A^\top=(\nabla_BL\,B^\top)^\top$. The terms of
# first order in $D$ are $\nabla_AL\,A^\top$ plus its transpose, less the same for $B$, and cancel.
# The terms of second order are those in {eq}`eq-transformer-gauge`.
# ```
#
# ```{prf:lemma} Decay counts singular values
# :label: lem-transformer-nuclear
#
# $\tfrac12(\lVert A\rVert_F^2+\lVert B\rVert_F^2)\ge\lVert A^\top B\rVert_*$, the sum of the singular
# values, with equality for $D=0$; and every $M$ of rank at most the number of rows has such
# factors.
# ```
#
# ```{prf:proof}
# $\lVert A^\top B\rVert_*\le\lVert A\rVert_F\lVert B\rVert_F\le\frac12(\lVert A\rVert_F^2+\lVert
# B\rVert_F^2)$. If $AA^\top=BB^\top$, then $A^\top B$ has the same singular values as
# $(AA^\top)^{1/2}(BB^\top)^{1/2}=AA^\top$, whose trace is $\lVert A\rVert_F^2$. Factors: the singular
# vectors times the roots of the singular values.
# ```
#
# So once the gauge has faded, decay on $W_Q$ and $W_K$ is a penalty on the sum of the singular
# values of what the head uses, as decay on a neuron is one on its amplitude; and that favours few
# of them. Few singular directions are rows in few directions, up to sign: condensation. That is
# an argument, not a theorem: AdamW is not a gradient flow, and {eq}`eq-transformer-gauge` is not its law.
#
# Four hundred steps of descent on the small network; the prediction follows the recursion of
# $D$ alone. Rounding of some hundred steps stays below $10^{-12}$ of $D$. The null is the
# other product, $A^\top A-B^\top B$.

# %%
def pair(z, names, layer):
    A, B = (z[f"{name}-{layer}"] for name in names)
    return (A, B.T) if names[1] == "out" else (A, B)


def first(z, names, layer):
    A, B = pair(z, names, layer)
    return A @ A.T - B @ B.T


def other(z, names, layer):
    A, B = pair(z, names, layer)
    return A.T @ A - B.T @ B


HEADS = [(names, k) for names in (("query", "key"), ("value", "out")) for k in (1, 2)]
ETA, DECAY, STEPS = 0.05, 0.02, 400
state, predicted = dict(z), [{head: D(z, *head) for head in HEADS} for D in (first, other)]
for _ in range(STEPS):
    g = gradients(state)
    state = {name: (1 - ETA * DECAY) * x - ETA * g[name] for name, x in state.items()}
    for D, guess in zip((first, other), predicted):
        guess.update({head: (1 - ETA * DECAY) ** 2 * guess[head] + ETA**2 * D(g, *head)
                      for head in HEADS})
gauge_gap, gauge_null = ([np.linalg.norm(D(state, *head) - guess[head])
                          / np.linalg.norm(D(state, *head)) for head in HEADS]
                         for D, guess in zip((first, other), predicted))

# %%
fade = np.exp(-2 * DECAY * ETA * STEPS)
kept = [np.linalg.norm(first(state, *head)) / np.linalg.norm(first(z, *head)) for head in HEADS]
change = float(loss_of(anchors.tensors(z)) - loss_of(anchors.tensors(state)))
print(f"the loss falls by {change:.2f}; D follows its law to 1e-12 in {len(HEADS)} pairs: "
      f"{max(gauge_gap) < 1e-12}")
print(f"the other product is off by {min(gauge_null):.2f} to {max(gauge_null):.2f}")
print(f"|D| falls to {min(kept):.4f} to {max(kept):.4f}, e^(−2λt) = {fade:.4f}")
one = {name: moved[name].detach().numpy() for name in z}
adamw = [np.linalg.norm(first(one, *head) - (1 - eta * LAM) ** 2 * first(z, *head))
         / (eta * np.linalg.norm(first(z, *head))) for head in HEADS]
print(f"one update of AdamW moves D by {min(adamw):.1f} to {max(adamw):.1f} times η of itself")

# %% [markdown]
# ## Eight seeds of a reduced run
#
# `full/transformer.py` trains a smaller network, each seed with $\lambda=0$ and $0.8$ from the same
# data, start and order of batches. What must be kept is the *dose* $\sum\eta\lambda$ of decay. An
# eighth and three quarters of the epochs, 5 and 30, stand for the paper's 50 and 300.

# %%
FILE = Path("../data/transformer.npz") if Path("../data").exists() else Path("data/transformer.npz")
PLAN, DECAYS, EARLY, LATE = anchors.Plan(), (0.0, 0.8), 5, 30
stored = dict(np.load(FILE))
SEEDS, LAYERS, MATRICES = len(stored["loss"]), (0, 1), ("W_Q", "W_K")
norm, count = stored["norm"].astype(float), stored["directions"]
print("              reduced     printed size")
for name in ("d", "ff", "qk", "examples", "batch", "epochs", "warmup", "peak", "least"):
    print(f"{name:10} {getattr(PLAN, name):10g} {getattr(anchors.FULL, name):16g}")
for name, lam in (("dose", LAM),):
    print(f"{name:10} {PLAN.dose(lam):10.3g} {anchors.FULL.dose(lam):16.3g}")
print(f"{'by early':10} {PLAN.dose(LAM, EARLY):10.3g} {anchors.FULL.dose(LAM, 50):16.3g}")
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
#   $\sigma$ the eigenvalues of $C$ (for the trace of $C$ is $n$ and that of $C^2$ is $\sum C_{ij}^2$),
#   at least halves from epoch 5 to epoch 30, in every seed. It is 1 for rows that are parallel or
#   antiparallel. The null is the same at $\lambda=0$;
# - *substantially higher* accuracy: by a tenth or more. The paper shows one pair of runs. If all
#   seeds gain so much, the claim holds; if none does, it differs; else one pair cannot decide, and
#   the verdict is open;
# - *the gauge fades*: $\lVert D\rVert/(\lVert AA^\top\rVert+\lVert BB^\top\rVert)$ at least halves from
#   start to end, in every seed and both layers.
