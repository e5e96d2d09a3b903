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
# (chapter-pytorch)=
# # Training with PyTorch
#
# The theory of {cite:t}`wang2026gauge` follows a flow of gradients on clean Gaussian data. Training
# is mini-batches, noisy labels, inputs that are not isotropic, momentum and Adam. The paper has no
# numbers on any of these; everything measured here is our own. After this chapter you know
#
# - that full-batch SGD in PyTorch is Euler's method to rounding, in any dimension, and that the
#   designated student needs about two to four samples for each input dimension;
# - how mini-batches move the imbalance: a step law without any approximation, and a drift predicted
#   from one full-batch run;
# - that noisy labels leave redundant coefficients of size $\sigma/\sqrt N$, and that noisy labels
#   *and* mini-batches forget the gauge, as weight decay does, but stop at another point;
# - that isotropic inputs of any radial law with a second moment are as good as Gaussian ones, on
#   another clock, and what a covariance changes;
# - what momentum and Adam do: momentum multiplies the drift by a known factor, Adam takes the square
#   root of the separation. Both select the designated student.
#
# The chapter runs in about 35 seconds on one core.

# %%
import numpy as np
import torch
from myst_nb import glue
from scipy.integrate import odeint
from scipy.linalg import eigh

from gaugelib import claims, figures, flows, kernel
from gaugelib.figures import plt
from gaugelib.measure import captured, loglog_fit
from gaugelib.problem import Problem, Students, Teacher, duplicates, single
from gaugelib.solve import crossing, euler, solve
from gaugelib.training import loss, network, train

torch.set_num_threads(1)
m, D, phi = 8, 32.0, np.pi / 4  # figures 1 and 3; M = m - 1 redundant students


def draw(N, d, *seed):
    return np.random.default_rng(seed).standard_normal((N, d))


def teacher_labels(X, problem):
    return np.maximum(X @ problem.teacher.u.T, 0) @ problem.teacher.b


# %% [markdown]
# ## Full-batch SGD is Euler's method
#
# ```{prf:proposition} A step of torch is a step of Euler's method; ours
# :label: prop-torch-euler
#
# Let $L_N=\frac1{2N}\sum_n(f(x_n)-y_n)^2$. One step of `torch.optim.SGD` with learning rate
# $\eta=h/D$ on all samples is one Euler step of length $h$ in fast time $\tau=Dt$ of the empirical
# flow {eq}`eq-samples-loss`.
# ```
#
# *Why it is true.* SGD without momentum is $\Theta\leftarrow\Theta-\eta\nabla L_N$, and the flow is
# $\Theta'=-\nabla L_N/D$ in fast time. Automatic differentiation returns the gradient of $L_N$ with
# the convention that the derivative of $[\cdot]_+$ at $0$ is $0$, which is that of our sums. So the
# two differ by rounding only; in the plane the flow is even computed by another algorithm, the
# sorted samples of {prf:ref}`lem-samples-arcs`.
#
# The tolerance: 300 steps of a contracting iteration with rounding errors of some $10^{-16}$ of
# weights below 6 stay below $10^{-12}$. The null is SGD on batches of half of the samples.

# %%
euler_gap, euler_null = {}, {}
for d in (2, 10, 50):
    problem, X = duplicates(m, D, phi, d=d), draw(1024, d, d)
    rule = {"h": 0.1, "steps": 300, "every": 10}
    by_torch = train(network(problem), X, **rule)
    by_euler = euler(flows.empirical(problem, X), 0.1, 300, every=10)
    halves = train(network(problem), X, batch=512, seed=0, **rule)
    euler_gap[d] = np.abs(by_torch.state - by_euler.state).max()
    euler_null[d] = np.abs(halves.state - by_euler.state).max()
    print(f"d = {d:2d}: equal to 1e-12 at all records: {euler_gap[d] < 1e-12}; half batches "
          f"differ by {euler_null[d]:.1e}; q = {by_torch.q[-1, 0]:.3f}, P = {by_torch.P[-1]:.3f}")

# %% [markdown]
# A step of autograd costs about 200 µs here, a step of the same map in numpy a fifth of it. Where
# only numbers over many seeds are needed we use `euler`, which is SGD.
#
# ### How many samples?
#
# On the population nothing depends on $d$. The moment $T_i$ is a combination of the $w_j$ and of
# $u$, so a start in a plane stays in this plane. $N$ samples push the students out of it, by
# $\sqrt{d/N}$; and they say nothing about directions in which they do not lie. The designated
# student must find the $d$ components of $a_kw_k$ from those samples that activate it, about half of
# them. The redundant students, which do not turn, add one unknown, $P$. So near the solution
#
# $$ \text{the rows }z_n=\bigl(x_n1\{u\cdot x_n>0\},\,[s_0\cdot x_n]_+\bigr)\in\mathbb R^{d+1}
#    \text{ must have rank } d+1, $$ (eq-torch-rank)
#
# which for large $d$ happens at $N/d=2$. We count runs that are selected (window (D.4)) at
# $\tau=150$, and draws of full rank.

# %%
RATIOS, SEEDS, DIMS = (1, 2, 3, 4, 8), range(20), (10, 40)


def features(X, u, s):
    """Rows z_n: what changes of a w of the owner, and of P, add to f(x_n)."""
    return np.column_stack([X * (X @ u > 0)[:, None], np.maximum(X @ s, 0)])


chosen, owned, full_rank = (np.zeros((len(DIMS), len(RATIOS))) for _ in range(3))
for i, d in enumerate(DIMS):
    problem = duplicates(m, D, phi, d=d)
    u, s0 = problem.teacher.u[0], problem.students.s[0]
    for j, ratio in enumerate(RATIOS):
        draws = [draw(ratio * d, d, d, seed) for seed in SEEDS]
        runs = [euler(flows.empirical(problem, X, symmetric=True), 0.25, 600, every=600)
                for X in draws]
        chosen[i, j] = np.mean([captured(run, redundant="L2")[-1] for run in runs])
        owned[i, j] = np.mean([run.owner == 0 for run in runs])
        full_rank[i, j] = np.mean([np.linalg.matrix_rank(features(X, u, s0)) > d for X in draws])

# %%
print("N/d                       " + "".join(f"{r:6d}" for r in RATIOS))
for i, d in enumerate(DIMS):
    for name, row in (("selected", chosen), ("rank d + 1", full_rank), ("largest |q|", owned)):
        print(f"d = {d:2d}, part {name:13}" + "".join(f"{x:6.2f}" for x in row[i]))
level = [duplicates(m, D, phi, d=d).regauged(+D) for d in DIMS]
samples_null = [
    captured(euler(flows.empirical(p, draw(8 * p.d, p.d, p.d, 0), symmetric=True), 0.25, 600),
             redundant="L2").any() for p in level
]
print("with all imbalances +D at N = 8d selected:", samples_null)

# %% [markdown]
# Below two samples for each dimension nothing is selected; with four nearly everything is; at $2d$
# the problem is just solvable and its least eigenvalue tiny, so that runs are late. And there is a
# surprise: *who* has the largest coefficient at the end is decided by the gauge in almost every run,
# even with $N=d$, where what is learned is not the teacher.
#
# How far do samples push the students out of the plane?

# %%
sizes, outside = np.array([8, 16, 32, 64]), {}
for d in DIMS:
    problem = duplicates(m, D, phi, d=d)
    outside[d] = []
    for ratio in sizes:
        out = []
        for seed in range(8):
            X = draw(ratio * d, d, d, seed)
            run = euler(flows.empirical(problem, X, symmetric=True), 0.25, 60, every=4)
            off_plane = run.q[:, 0, None] * run.s[:, 0, 2:]
            out.append(np.linalg.norm(off_plane, axis=1).max())
        outside[d].append(np.sqrt(np.mean(np.square(out))))
in_plane = euler(flows.population(problem), 0.25, 60)
slope_out = {d: loglog_fit(sizes, outside[d]).slope for d in DIMS}
print("N/d                            " + "".join(f"{r:8d}" for r in sizes))
for d in DIMS:
    print(f"d = {d}: distance × sqrt(N/d)   "
          + "".join(f"{x:8.3f}" for x in outside[d] * np.sqrt(sizes)))
print("exponent of N: " + ", ".join(f"{slope_out[d]:.2f} (d = {d})" for d in DIMS))
print("population, d = 40: below 1e-14:", np.abs(in_plane.s[:, :, 2:]).max() < 1e-14)

# %% [markdown]
# ## Mini-batches and the imbalance
#
# ```{prf:lemma} The imbalance under any batch; ours, for batches, of the paper's (C.43)
# :label: lem-torch-batch
#
# Let $L_B$ be the mean loss of any set of samples with any labels. A step
# $\Theta_{n+1}=\Theta_n-\eta\nabla L_B(\Theta_n)$ changes each imbalance by exactly
#
# $$ \delta_{n+1}-\delta_n=\eta^2\bigl[(\partial_aL_B)^2-\lVert\nabla_wL_B\rVert^2\bigr]. $$ (eq-torch-batch)
# ```
#
# *Why it is true.* $a[w\cdot x]_+$ does not change if $a$ grows and $w$ shrinks by the same factor,
# whatever $x$ is. So $a\,\partial_aL_B=w\cdot\nabla_wL_B$ for every sample and every sum of samples,
# and the terms of order $\eta$ cancel in $a^2-\lVert w\rVert^2$. What is left is of order $\eta^2$:
# noise in the gradients enters only through its square.
#
# Here is a plain loop of PyTorch with the gradients of autograd, four samples at a time, and the two
# sides of {eq}`eq-torch-batch`. $\delta\approx D$ is known to some $10^{-16}D$: tolerance
# $10^{-13}D$. The null is the same loop with momentum $0.9$.


# %%
def step_law(momentum, steps=100, batch=4, eta=0.1 / D):
    """Largest difference of the two sides over all steps, and the largest side."""
    problem, X = duplicates(m, D, phi, d=10), draw(1024, 10, 10)
    model, x = network(problem), torch.tensor(X)
    y = torch.tensor(teacher_labels(X, problem) + 0.5 * draw(1024, 1, 1)[:, 0])
    descent = torch.optim.SGD(model.parameters(), lr=eta, momentum=momentum)
    rng, gaps, sizes = np.random.default_rng(0), [], []
    for _ in range(steps):
        rows, before = torch.tensor(rng.integers(0, 1024, batch)), imbalances(model)
        descent.zero_grad()
        loss(model, x[rows], y[rows]).backward()
        square = (model.a.grad**2 - (model.w.grad**2).sum(dim=1)).numpy()
        descent.step()
        gaps.append(np.abs(imbalances(model) - before - eta**2 * square).max())
        sizes.append(np.abs(eta**2 * square).max())
    return max(gaps), max(sizes)


def imbalances(model):
    return (model.a**2 - (model.w**2).sum(dim=1)).detach().numpy()


(batch_gap, batch_size), (momentum_gap, _) = step_law(0.0), step_law(0.9)
print(f"SGD: both sides equal to 1e-13 D at all steps: {batch_gap < 1e-13 * D}; "
      f"largest side {batch_size:.1e}")
print(f"with momentum they differ by up to {momentum_gap:.1e}")

# %% [markdown]
# Over a fixed time there are $\tau/h$ steps with $\eta=h/D$, so the drift is $O(h)$. Its constant
# follows from one run. The mean square of a batch gradient is the square of the full gradient plus
# the variance over samples divided by $B$ (drawn without replacement from $N$):
#
# $$ \mathrm E[\delta(\tau)-\delta(0)]\approx\frac hD\Bigl[I_0+\frac{N-B}{B(N-1)}I_1\Bigr],\qquad
#    \begin{aligned}I_0&=\tfrac1D\textstyle\int(\partial_aL)^2-\lVert\nabla_wL\rVert^2,\\
#    I_0+I_1&=\tfrac1D\textstyle\int\mathrm E_n\bigl[(\partial_a\ell_n)^2-\lVert\nabla_w\ell_n
#    \rVert^2\bigr],\end{aligned} $$ (eq-torch-drift)
#
# integrals over fast time along the *full-batch* path. They neglect that batches also change the
# path: the noise makes the mean square residual larger by a factor of about
# $1+h(d+M)/4B$, at most 2 % for $B=16$ and $h=0.05$. The ledger allows 10 % and two standard errors.

# %%
d, N, h = 10, 1024, 0.05
problem, X = duplicates(m, D, phi, d=d), draw(N, d, 0)
STEPS = round(60 / h)
path = euler(flows.empirical(problem, X), h, STEPS)
y = teacher_labels(X, problem)
of_mean, of_each = np.zeros(m), np.zeros(m)
for state in path.state[:-1:2]:
    a, w = state[:m], state[m:].reshape(m, d)
    active, features_n = X @ w.T > 0, np.maximum(X @ w.T, 0)
    residual = features_n @ a - y
    T = (active * residual[:, None]).T @ X / N
    of_mean += 2 * h / D * ((features_n.T @ residual / N) ** 2 - a**2 * (T**2).sum(axis=1))
    in_w = active * (residual**2 * (X**2).sum(axis=1))[:, None] * a**2
    of_each += 2 * h / D * ((residual[:, None] * features_n) ** 2 - in_w).mean(axis=0)
I_0, I_1 = of_mean[:2], (of_each - of_mean)[:2]
print(f"I_0 = {I_0[0]:.3f} (designated), {I_0[1]:.5f} (redundant); "
      f"I_1 = {I_1[0]:.2f}, {I_1[1]:.3f}")

# %%
BATCHES, REPEATS = (1, 16, 128), range(6)


def trained(batch, seed, h=h):
    n = round(60 / h)
    return train(network(problem), X, h=h, steps=n, every=n, batch=batch, seed=seed)


by_batch = {B: [trained(B, seed) for seed in REPEATS] for B in BATCHES}
drift_ratio, drift_error, all_selected = {}, {}, {}
print("    B   selected   D/h × drift: designated     predicted   redundant     predicted")
for B, runs in by_batch.items():
    all_selected[B] = [captured(run, redundant="L2")[-1] and run.owner == 0 for run in runs]
    measured = np.array([(run.delta[-1] - run.delta[0])[:2] * D / h for run in runs])
    predicted = I_0 + (N - B) / (B * (N - 1)) * I_1
    mean, error = measured.mean(axis=0), measured.std(axis=0, ddof=1) / np.sqrt(len(runs))
    drift_ratio[B], drift_error[B] = mean / predicted, error / np.abs(predicted)
    print(f"{B:5d}{sum(all_selected[B]):7d}/{len(runs)}"
          f"{mean[0]:15.3f} ± {error[0]:.3f}{predicted[0]:13.3f}"
          f"{mean[1]:13.4f} ± {error[1]:.4f}{predicted[1]:9.4f}")

# %% [markdown]
# The gauge chooses at every batch size, one sample at a time included. The noise pulls both kinds of
# imbalance towards zero, the designated one about $d$ times as fast: in $I_1$ a sample pulls $w$ with
# $a^2\lVert x\rVert^2$ and $a$ with $\lVert w\rVert^2(s\cdot x)^2$.
#
# **How large may a step be?** Near the selected solution the deviation
# $\xi=(a_kw_k-u,\,P)$ obeys $\xi\leftarrow\xi-hK\frac1B\sum z_nz_n^\top\xi$ with the rows
# {eq}`eq-torch-rank` and $K=\operatorname{diag}(1,\dots,1,M)$. Its mean square falls if
#
# $$ \tfrac1B\,\mathrm E\bigl[(z^\top Kz)\,zz^\top\bigr]+\bigl(1-\tfrac1B\bigr)GKG\preceq\tfrac2h\,G,
#    \qquad G=\mathrm E\,zz^\top, $$ (eq-torch-stable)
#
# in the norm of $K^{-1}$: take $\mathrm E\lVert\xi\rVert_{K^{-1}}^2$ after one step. For $B\to\infty$
# this is $h<2/\lambda_{\max}(KG)$. We compute it with 200 000 draws, and try one step below and one above.


# %%
def largest_step(B, d, draws=200_000):
    Z = features(draw(draws, d, 7), np.eye(d)[0], np.eye(d)[0] * np.cos(phi)
                 + np.eye(d)[1] * np.sin(phi))
    K, G = np.append(np.ones(d), m - 1), Z.T @ Z / draws
    A = (Z * (Z**2 @ K)[:, None]).T @ Z / draws / B + (1 - 1 / B) * G * K @ G
    return 2 / eigh(A, G, eigvals_only=True)[-1]


limits = {B: largest_step(B, d) for B in (1, 4, 16, 64, 10**6)}
print("largest step: " + ", ".join(f"{x:.2f} (B = {B:.0f})" for B, x in limits.items()))
above = [trained(1, seed, 0.1) for seed in REPEATS]
above_selected = [captured(run, redundant="L2")[-1] for run in above]
lost = np.mean([1 - run.delta[-1, 0] / D for run in above])
print(f"B = 1, h = {h}: {sum(all_selected[1])} of {len(REPEATS)} selected;  "
      f"B = 1, h = 0.1: {sum(above_selected)} of {len(REPEATS)}")
print(f"   which there loses {100 * lost:.0f} % of the designated imbalance on average")

# %% [markdown]
# Above the limit training does not blow up: the steps loosen the gauge until they are stable again,
# as for large steps on the full batch in {numref}`chapter-gradient-descent`.
#
# ## Noisy labels
#
# Now $y_n=f_\star(x_n)+\sigma\varepsilon_n$ with standard normal $\varepsilon_n$, fixed once. The
# empirical loss is least at some network that also fits noise.
#
# ```{prf:proposition} What noise leaves; ours
# :label: prop-torch-noise
#
# While the redundant directions stand still, full-batch training ends, to first order in $\sigma$, at
# $\xi=\sigma(Z^\top Z)^{-1}Z^\top\varepsilon$ with the rows {eq}`eq-torch-rank`, so for large $N$
#
# $$ P\approx c\,\frac{\sigma}{\sqrt N}\,\mathcal N(0,1),\qquad q_j=\frac PM,\qquad
#    c^{-2}=\tfrac12-2\bigl(g(\phi)^2+\omega(\phi)^2\bigr), $$ (eq-torch-noise)
#
# in every dimension $d$: the redundant coefficients vanish only without noise.
# ```
#
# *Why it is true.* To first order $f-f_\star$ is linear in $\xi$, and the minimum is a least squares
# problem. Its covariance is $\sigma^2(Z^\top Z)^{-1}\to\frac{\sigma^2}NG^{-1}$, with $G$ the Gram matrix of
# {prf:ref}`thm-selection`'s proof ($d-2$ more directions do not couple to $P$). $c^2$ is the
# last entry of $G^{-1}$.
#
# Route one: training, to $\tau=300$. Route two: the linear solve, no training. They are compared
# where the theory is of first order: the next order is about $c^2\sigma/\sqrt N$ relative to it, and the line
# of the owner also passes single samples, each with a weight of order $1/N$ against $\xi\sim\sqrt{1/N}$. For
# $\sigma=0.01$ and $N\ge1024$ we allow 10 % of the root mean square of $P$.

# %%
NS, SIGMAS = (256, 1024, 4096), (0.01, 0.1, 0.5)
c = np.sqrt(np.linalg.inv(kernel.gram(phi))[2, 2])


def noisy(N, sigma, d, seed, D=D, h=0.3, steps=1000, records=1):
    """(run, P of the linear solve) on N samples with noise in the labels."""
    problem, rng = duplicates(m, D, phi, d=d), np.random.default_rng([d, N, seed])
    X, noise = rng.standard_normal((N, d)), sigma * rng.standard_normal(N)
    flow = flows.empirical(problem, X, teacher_labels(X, problem) + noise, symmetric=True)
    run = euler(flow, h, steps, every=steps // records)
    rows = features(X, problem.teacher.u[0], problem.students.s[0])
    return run, np.linalg.lstsq(rows, noise, rcond=None)[0][-1]


def rms(x):
    return np.sqrt(np.mean(np.square(x)))


tables, picked = {}, {}
for N_, sigma, d_ in [(n, x, 2) for n in NS for x in SIGMAS] + [(1024, 0.01, 10)]:
    pairs = [noisy(N_, sigma, d_, seed) for seed in SEEDS]
    ends, linear = np.array([run.P[-1] for run, _ in pairs]), np.array([x for _, x in pairs])
    tables[N_, sigma, d_] = rms(ends), rms(linear), rms(ends - linear) / rms(linear)
    picked[N_, sigma, d_] = sum(captured(run, redundant="L2")[-1] for run, _ in pairs)

# %%
print(f"c = {c:.3f}; 20 seeds each")
print("   N  sigma   d   √N/σ × rms P: trained   linear   difference/rms   selected")
for (N_, sigma, d_), (one, two, gap) in tables.items():
    scale = np.sqrt(N_) / sigma
    print(f"{N_:5d}  {sigma:4.2f}  {d_:3d}{one * scale:20.2f}{two * scale:10.2f}{gap:14.3f}"
          f"{picked[N_, sigma, d_]:12d}/20")
exact_c = {}
for d_ in (2, 10):
    p = duplicates(m, D, phi, d=d_)
    each = [features(draw(4096, d_, 5, k), p.teacher.u[0], p.students.s[0]) for k in range(20)]
    exact_c[d_] = np.sqrt(np.mean([4096 * np.linalg.inv(Z.T @ Z)[-1, -1] for Z in each]))
    print(f"d = {d_}: c from the moments of 4096 samples {exact_c[d_]:.3f}")
clean_P = abs(noisy(1024, 0.0, 2, 0)[0].P[-1])
print("without noise P ends below 1e-6:", clean_P < 1e-6)

# %% mystnb={"figure": {"caption": "What noisy labels leave: root mean square of $P$ over 20 seeds at $\\tau=300$, over the size of the noise $\\sigma/\\sqrt N$, for $d=2$. Grey: $c\\,\\sigma/\\sqrt N$ with $c$ from the Gram matrix.", "name": "fig-torch-noise"}, "image": {"alt": "Log-log plot. Markers for N = 256, 1024 and 4096 rise along one grey line of slope one, over two decades; those with the largest noise at N = 256 lie a little above it."}}
fig, ax = figures.panels(width=5.6, height=3.0)
for k, N_ in enumerate(NS):
    x = np.array(SIGMAS) / np.sqrt(N_)
    ax.plot(x, [tables[N_, sigma, 2][0] for sigma in SIGMAS], figures.MARKERS[k],
            color=figures.COLOURS[k], label=f"N = {N_}")
ends = np.array([1e-4, 0.04])
figures.guide(ax, ends, c * ends, "")
figures.finish(ax, "σ / √N", "rms of P", log="xy")
plt.show()

# %% [markdown]
# The formula in {eq}`eq-torch-noise` says how many noisy samples selection needs: $\sqrt N\gg c\,
# \sigma$. Beyond $\tau\sim D^2$ the redundant students do turn, now that their coefficients do not
# vanish. One run shows what for: they fit noise.

# %%
late, _ = noisy(64, 0.5, 2, 0, D=8.0, h=0.3, steps=50_000, records=50)
k = np.array([1, 5, 50])
print("D = 8, N = 64, σ = 0.5.  τ/D²      loss       P   angle of the redundant   of the owner")
for i in k:
    print(f"{late.tau[i] / 64:31.1f}{late.loss[i]:10.4f}{late.P[i]:8.3f}"
          f"{late.signed_angle(1)[i]:25.3f}{late.signed_angle(0)[i]:15.3f}")

# %% [markdown]
# ### Noise and mini-batches: a temperature
#
# On mini-batches the noise does not end. If every batch consists of new samples, then
# $\xi\leftarrow\xi-hK(G\xi-\zeta)$ with $\operatorname{Cov}\zeta=\sigma^2G/B$.
#
# ```{prf:proposition} Stationary noise; ours
# :label: prop-torch-temperature
#
# For small $h$ the deviations have the stationary covariance
#
# $$ \operatorname{Cov}\xi=\frac{h\sigma^2}{2B}K,\qquad
#    \operatorname{Var}P=\frac{h\sigma^2M}{2B}, $$ (eq-torch-temperature)
#
# whatever the Gram matrix $G$: no slow direction is noisier than another.
# ```
#
# *Why it is true.* The stationary covariance $C$ solves $KGC+CGK=h\,K(\sigma^2G/B)K$, and
# $C=\frac{h\sigma^2}{2B}K$ does. The force towards the minimum and the covariance of the noise are
# both $G$, so they cancel, as friction and noise do at a temperature. With a step of finite length,
# a mode with rate $\lambda$ of $K^{1/2}GK^{1/2}$ has $1/(1-h\lambda/2)$ times as much.
#
# A data loader does not draw new samples: it *shuffles a fixed set before each epoch*. Then
# the noise of an epoch adds up to zero, and modes that are slower than an epoch hardly see
# it. With $T$ the fast time of an epoch and the noise of one epoch a Brownian bridge, a mode
# keeps the part $\rho(\lambda T)$ of its variance, and $\rho\to0$ as $\lambda T\to0$.


# %%
def bridge_part(lam, T):
    """Variance of x' = -lam x + noise, whose integral vanishes every T, over that with free noise."""
    t = np.linspace(0, T, 4001)
    own = (1 - np.exp(-2 * lam * t)) / (2 * lam) - (1 - np.exp(-lam * t)) ** 2 / (lam**2 * T)
    at_start = own[-1] / (1 - np.exp(-2 * lam * T))
    return 2 * lam * np.trapezoid(np.exp(-2 * lam * t) * at_start + own, t) / T


def modes_of(run, burn):
    """Variances of the modes of K^1/2 G K^1/2 after the time ``burn``, least rate first."""
    keep = run.tau > burn
    xi = np.column_stack([run.q[keep, 0, None] * run.s[keep, 0], run.P[keep]])
    return ((xi - xi.mean(axis=0)) / root @ Q).var(axis=0)


root = np.sqrt([1, 1, m - 1])
lam, Q = np.linalg.eigh(root[:, None] * kernel.gram(phi) * root)
h, B, sigma, T_end, burn = 0.1, 16, 0.1, 1000, 150
problem, variances = duplicates(m, D, phi), {}
for N_ in (B * round(T_end / h), 256):
    X = draw(N_, 2, 11)
    y = teacher_labels(X, problem) + sigma * draw(N_, 1, 12)[:, 0]
    run = train(network(problem), X, y, h=h, steps=round(T_end / h), batch=B, seed=1, every=2)
    variances[N_] = modes_of(run, burn)

# %%
white = h * sigma**2 / (2 * B) / (1 - h * lam / 2)
spread = np.sqrt(2 / (lam * (T_end - burn)))  # of a variance over time, relative
part = np.array([bridge_part(x, h * 256 / B) for x in lam])
fresh, shuffled = (x / white for x in variances.values())
print("rate of the mode                       " + "".join(f"{x:8.3f}" for x in lam))
for name, row in (("new samples: variance/predicted", fresh), ("   standard deviation of it", spread),
                  ("256 shuffled: variance/the same", shuffled), ("   predicted, ρ(λT)", part)):
    print(f"{name:39}" + "".join(f"{x:8.2f}" for x in row))
print(f"largest q_j of one redundant student, predicted sd {np.sqrt(white[2] / (m - 1)):.1e}")

# %% [markdown]
# The ledger allows 20 %, which covers the part of the noise that depends on $\xi$ itself ($z_nz_n^\top-G$, of relative
# order $h(d+M)/4B$ with large fourth moments), and three standard deviations. Shuffling is a
# surprise of practical use: the slow mode, which decides how well the redundant
# students are told from the owner, is an order of magnitude quieter under a data loader than under independent
# sampling.
#
# ### Noise and mini-batches forget the gauge
#
# In {eq}`eq-torch-drift` the mean square residual now does not fall below $\sigma^2$, so the drift never
# stops. With the residual independent of $x$, $\mathrm E\lVert x\rVert^21\{s\cdot x>0\}=d/2$ and
# $\mathrm E[s\cdot x]_+^2=\frac12$,
#
# $$ \frac{d\delta}{d\tau}=-\frac{h\,\sigma_{\rm eff}^2}{2BD^2}\bigl(d\,a^2-\lVert w\rVert^2\bigr),
#    \qquad \sigma_{\rm eff}^2=\frac{\sigma^2}{1-h(d+M)/4B}. $$ (eq-torch-forget)
#
# This is like weight decay ({numref}`chapter-gauge`), which pulls $\delta$ to $0$. But it
# stops elsewhere: where $\lVert w\rVert^2=d\,a^2$, for a student with coefficient $q$ at
# $\delta_\star=-q\,(d-1)/\sqrt d$. The factor in $\sigma_{\rm eff}$ is the residual that the noise itself
# makes, $\operatorname{tr}(G\operatorname{Cov}\xi)$ with {eq}`eq-torch-temperature`. For a test: two
# students, small $D$, one sample a step; the null has no noise in the labels.

# %%
forget = {"m": 2, "D": 4.0, "d": 5, "h": 0.05, "N": 4000, "sigma": 0.7}
d, D_, h, M = forget["d"], forget["D"], forget["h"], forget["m"] - 1
problem, faded = duplicates(2, D_, phi, d=d), {}
for seed, sigma in ((1, 0.7), (2, 0.7), (1, 0.0)):
    X = draw(forget["N"], d, seed)
    y = teacher_labels(X, problem) + sigma * draw(forget["N"], 1, seed, 9)[:, 0]
    rule = {"h": h, "steps": 8000, "every": 1000, "batch": 1, "seed": seed}
    faded[seed, sigma] = train(network(problem), X, y, **rule)
tau, strength = faded[1, 0.7].tau, h * 0.7**2 / (1 - h * (d + M) / 4) / (2 * D_**2)


def pull(delta, t, q=1.0):
    """(eq-torch-forget) for the owner, q = 1, and a redundant student, q = 0."""
    mu = np.hypot(delta[0], 2 * q)
    return -strength * np.array([(d * (mu + delta[0]) - (mu - delta[0])) / 2, delta[1]])


foretold = odeint(pull, [D_, -D_], tau)

# %%
print("   τ    designated δ: seeds 1, 2   predicted   no noise | redundant: 1, 2   predicted")
for k in range(0, len(tau), 2):
    one, two, clean = (faded[key].delta[k] for key in ((1, 0.7), (2, 0.7), (1, 0.0)))
    print(f"{tau[k]:5.0f}{one[0]:15.2f}{two[0]:8.2f}{foretold[k, 0]:12.2f}{clean[0]:11.2f}  "
          f"|{one[1]:9.2f}{two[1]:7.2f}{foretold[k, 1]:10.2f}")
moved = np.array([np.mean([D_ - faded[s, 0.7].delta[-1, 0] for s in (1, 2)]),
                  np.mean([faded[s, 0.7].delta[-1, 1] + D_ for s in (1, 2)])])
forget_ratio = moved / np.abs(foretold[-1] - [D_, -D_])
forget_null = abs(faded[1, 0.0].delta[-1, 0] - D_) / abs(foretold[-1, 0] - D_)
print(f"change over predicted change: {forget_ratio[0]:.2f}, {forget_ratio[1]:.2f}; "
      f"without noise {forget_null:.2f}")
print(f"it would stop at δ = {-(d - 1) / np.sqrt(d):.3f}; by the end the owner has "
      f"|δ| below {np.abs(faded[1, 0.7].delta[-1, 0]) + 0.5:.1f} and q within 0.5 of 1: "
      f"{abs(faded[1, 0.7].q[-1, 0] - 1) < 0.5}")
