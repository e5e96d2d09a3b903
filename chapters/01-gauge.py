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
# (chapter-gauge)=
# # The gauge
#
# Multiply the output weight of a ReLU neuron by $\rho>0$, divide its input weights by $\rho$: the
# network computes the same function. Gradient descent does not do the same afterwards. After this
# chapter you will know
#
# - the coordinates of {cite:t}`wang2026gauge` that separate what the network sees, coefficient $q$
#   and direction $s$, from what it does not see, the imbalance $\delta$;
# - how gradient flow moves them, equations (3)–(5), for any data, and that $\delta$ is conserved;
# - that the sign of $\delta$ decides between turning quickly and turning slowly, by a factor of
#   order $D^2/q^2$;
# - the same for a measure over neurons (A.1), for unequal learning rates, and under weight decay,
#   which forgets the gauge;
# - how to go back from $(q,s,\delta)$ to weights without losing digits.
#
# Nothing here is special to Gaussian inputs. It runs for about 10 seconds.

# %%
from dataclasses import replace

import matplotlib.pyplot as plt
import mpmath
import numpy as np
import torch
from myst_nb import glue

from gaugelib import claims, figures, flows, gauge, kernel, measure
from gaugelib.problem import Problem, Students, Teacher, single
from gaugelib.solve import solve

EPS = np.finfo(float).eps
torch.set_num_threads(1)

# %% [markdown]
# ## One function, many weights
#
# The network is $f(x)=\sum_{i=1}^m a_i[w_i^\top x]_+$, and it minimises
# $L=\frac12\mathbb E\,(f(x)-y(x))^2$ over inputs and labels of any kind.
#
# ```{prf:definition} Coordinates of a neuron; paper's A.1
# :label: def-coordinates
#
# For $a\in\mathbb R$, $w\in\mathbb R^d\setminus\{0\}$
#
# $$ r=\lVert w\rVert,\qquad s=\frac wr,\qquad q=a\,r,\qquad\delta=a^2-r^2. $$ (eq-coordinates)
#
# $q$ is the *coefficient*, $s$ the *direction*, $\delta$ the *imbalance*. A neuron with $\delta=0$
# is *balanced*. Two functions of them will be its mobilities:
#
# $$ \mu(q,\delta)=a^2+r^2=\sqrt{\delta^2+4q^2},\qquad
#    \chi(q,\delta)=\frac ar=\frac{\mu+\delta}{2q}. $$ (eq-mobilities)
# ```
#
# ```{prf:proposition} The gauge; paper's sections 1 and A.1
# :label: prop-gauge
#
# (i) $(a,w)\mapsto(\rho a,w/\rho)$ with $\rho>0$ keeps $q$ and $s$, and the function. (ii) Given
# $q\ne0$ and a direction $s$, every real $\delta$ occurs, for exactly one $(a,w)$:
#
# $$ a^2=\frac{\mu+\delta}2,\qquad r^2=\frac{\mu-\delta}2,\qquad\operatorname{sign}a=
#    \operatorname{sign}q. $$ (eq-inverse)
# ```
#
# ```{prf:proof}
# (i) $a\,[w^\top x]_+=a\,r\,[s^\top x]_+=q\,[s^\top x]_+$ contains only $q$ and $s$, and the factor
# leaves $ar$ and $w/r$ alone. (ii) Sum and difference of $a^2$ and $r^2$ are $\mu$ and $\delta$,
# and $\mu^2=\delta^2+4a^2r^2$.
# ```
#
# So $\rho$ moves a neuron along a hyperbola $ar=q$, and $\delta$ says where on it the neuron is.
# First a random network of seven neurons in five dimensions, with seven random factors. A sum of
# seven terms, each right to a few roundings, is right to $10^{-14}$ of their sizes.

# %%
ROUNDING = 1e-14
rng = np.random.default_rng(0)
a, w, x = rng.normal(size=7), rng.normal(size=(7, 5)), rng.normal(size=(1000, 5))
rho = np.exp(rng.normal(size=7))
a2, w2 = gauge.rescale(a, w, rho)


def network(a, w, x):
    return np.maximum(x @ w.T, 0) @ a


sizes = np.maximum(x @ w.T, 0) @ np.abs(a)
same_function = (np.abs(network(a2, w2, x) - network(a, w, x)) <= ROUNDING * sizes).all()
outputs_only = np.abs(network(rho * a, w, x) - network(a, w, x)).max()
before, after = gauge.coordinates(a, w), gauge.coordinates(a2, w2)
same_q, same_s = (np.allclose(before[k], after[k], rtol=0, atol=ROUNDING) for k in (0, 1))
inputs, gauge_moves = len(x), np.abs(after[2] - before[2]).max()
print(f"same function: {same_function}; same q: {same_q}; same s: {same_s}")
print("δ before: " + " ".join(f"{value:8.3f}" for value in before[2]))
print("δ after:  " + " ".join(f"{value:8.3f}" for value in after[2]))
print(f"with the outputs multiplied only, f changes by up to {outputs_only:.4g}")

# %% [markdown]
# Now one student at $q=0.6$ in two gauges, $\delta=\pm4$, and where gradient flow takes it when the
# teacher is $[u^\top x]_+$ with Gaussian inputs ({numref}`chapter-one-student`). Both arrive at
# $q=1$. They move on hyperbolas of the other family, $a^2-r^2=\delta$, which is what the next
# section proves. The one with $\delta=-4$ gives up coefficient first: it turns so slowly that $q$
# settles to what suits its present direction.

# %% mystnb={"figure": {"caption": "The plane of input norm and output weight. Grey, dashed: one function each, $ar=q$. Thin, dotted: one imbalance each. The two starts compute the same function; gradient flow leads both to $q=1$ on their own hyperbola of constant $\\delta$.", "name": "fig-gauge-plane"}, "image": {"alt": "Falling hyperbolas for q of 0.2, 0.6 and 1, crossed by rising hyperbolas for imbalances minus 4, 0 and 4. Two marked points lie on the hyperbola q = 0.6, one high on the left with imbalance plus 4, one low on the right with minus 4. From each, a thick path follows its rising hyperbola to the curve q = 1; the one on the right dips below its start first."}}
starts = {delta: single(0.6, 0.0, delta) for delta in (4.0, -4.0)}
paths = {delta: solve(flows.population(start), np.linspace(0, 800, 401))
         for delta, start in starts.items()}
fig, ax = figures.panels(width=5.2, height=4.2)
norms, heights = np.linspace(0.05, 3, 400), np.linspace(0, 3, 400)
box = {"facecolor": "white", "edgecolor": "none", "pad": 1}
near = {"textcoords": "offset points", "color": "#444444", "bbox": box}
for value in (0.2, 0.6, 1.0):
    ax.plot(norms, value / norms, color="#777777", linewidth=1, linestyle=(0, (5, 3)))
    ax.annotate(f"q = {value:g}", (1.35, value / 1.35), xytext=(0, -3), **near)
dotted = {"color": "#555555", "linewidth": 1, "linestyle": (0, (1, 2))}
ax.plot(norms, np.sqrt(norms**2 + 4), norms, norms, np.sqrt(heights**2 + 4), heights, **dotted)
ax.annotate("δ = 4", (1.4, 2.44), xytext=(-12, 8), **near)
ax.annotate("δ = 0", (2.2, 2.2), xytext=(-32, 4), **near)
ax.annotate("δ = −4", (2.83, 2.0), xytext=(-42, 2), **near)
for k, path in enumerate(paths.values()):
    a_t, w_t = path.state[:, 0], path.state[:, 1:]
    r_t = np.linalg.norm(w_t, axis=1)
    ax.plot(r_t, a_t, color=figures.COLOURS[k], linewidth=3.5)
    ax.plot(r_t[0], a_t[0], figures.MARKERS[k], color=figures.COLOURS[k], markersize=8)
    ax.annotate("start", (r_t[0], a_t[0]), xytext=(8, 8 - 21 * k), **near)
figures.finish(ax, "input norm  r = |w|", "output weight  a", legend=False)
ax.set(xlim=(0, 3), ylim=(0, 3))
plt.show()

# %%
for delta, path in paths.items():
    ends = [(path.state[k, 0], np.linalg.norm(path.state[k, 1:])) for k in (0, -1)]
    (a0, r0), (a1, r1) = ends
    print(f"δ = {delta:+.0f}: a {a0:.4f} → {a1:.4f}, r {r0:.4f} → {r1:.4f}, "
          f"q {a0 * r0:.4f} → {a1 * r1:.4f}")
    print(f"        least q {path.q.min():.4f}, δ at the end {a1**2 - r1**2:+.4f}")

# %% [markdown]
# ## The exact dynamics
#
# Write $e=f-y$ for the residual and
#
# $$ B(s)=\mathbb E\,e\,[s^\top x]_+,\quad T(s)=\mathbb E\,e\,x\,\mathbf 1_{\{s^\top x>0\}},\quad
#    B=s^\top T. $$ (eq-B-T)
#
# ```{prf:theorem} Coefficient, direction, imbalance; paper's (3)–(5) and A.1
# :label: thm-exact
#
# Under gradient flow $\dot a_i=-\partial L/\partial a_i=-r_iB(s_i)$ and
# $\dot w_i=-\partial L/\partial w_i=-a_iT(s_i)$. Hence, with $P_s=I-ss^\top$,
#
# $$ \dot q_i=-\mu(q_i,\delta_i)\,B(s_i),\qquad\dot\delta_i=0, $$ (eq-q-dot)
#
# $$ \dot s_i=-\chi(q_i,\delta_i)\,P_{s_i}T(s_i), $$ (eq-s-dot)
#
# $$ \frac{dL}{dt}=-\sum_i\Bigl[\underbrace{\mu_i\,B(s_i)^2}_{\text{coefficient}}
#    +\underbrace{\tfrac12(\mu_i+\delta_i)\,\lVert P_{s_i}T(s_i)\rVert^2}_{\text{direction}}\Bigr].
# $$ (eq-dissipation)
#
# The residual, and so $B$ and $T$, depends on the $(q_i,s_i)$ only. (Inputs exactly across some
# $w_i$, where the ReLU has no derivative, are assumed to have probability zero.) The displays of
# (3) and (4) are missing in our text of the paper; this is how its A.1 and its figures use them.
# ```
#
# ```{prf:proof}
# The gradients are the chain rule: $\partial f/\partial a=[w^\top x]_+=r[s^\top x]_+$ and
# $\partial f/\partial w=a\,x\,\mathbf 1_{\{w^\top x>0\}}$. From $\dot r=s^\top\dot w=-aB$ follow
# $\dot q=\dot ar+a\dot r=-(r^2+a^2)B$ and $\dot\delta=2a\dot a-2r\dot r=-2arB+2arB=0$. The
# direction moves with $\dot s=P_s\dot w/r=-\frac arP_sT$. Finally
# $-\dot L=\lVert\nabla L\rVert^2=r^2B^2+a^2\lVert T\rVert^2$, and
# $\lVert T\rVert^2=B^2+\lVert P_sT\rVert^2$ because $B=s^\top T$; $a^2=\frac12(\mu+\delta)$.
# ```
#
# The proof used one property of the ReLU, $[rz]_+=r[z]_+$. So the null is a network with $\tanh$,
# to which every step but that one applies. The check: random networks with up to eight neurons in
# 2 to 20 dimensions, inputs with heavy tails (Student's $t$ with five degrees of freedom), random
# labels, imbalances up to $10^3$. PyTorch differentiates the loss, then pushes the velocity
# $(\dot a,\dot w)$ through {eq}`eq-coordinates`. On the other side stand sample means for
# $B$, $T$ and the mobilities of `gauge`.

# %%
def loss(a, w, x, y, activation=torch.relu):
    return ((activation(x @ w.T) @ a - y) ** 2).mean() / 2


def torch_coordinates(a, w):
    r = w.norm(dim=1)
    return a * r, w / r[:, None], a**2 - r**2


def by_autograd(a, w, x, y, activation=torch.relu):
    """(a', w'), (q', s', delta') of gradient flow, and dL/dt."""
    a, w, x, y = (torch.tensor(z, dtype=torch.float64) for z in (a, w, x, y))
    grads = torch.func.grad(loss, argnums=(0, 1))(a, w, x, y, activation)
    velocity = tuple(-grad for grad in grads)
    _, moved = torch.func.jvp(torch_coordinates, (a, w), velocity)
    _, decay = torch.func.jvp(lambda a, w: loss(a, w, x, y, activation), (a, w), velocity)
    return [z.numpy() for z in velocity], [z.numpy() for z in moved], decay.item()


def residual_moments(q, s, x, y):
    """(B, T) of every neuron from (q, s) alone: shapes (m,), (m, d)."""
    z = x @ s.T
    e = np.maximum(z, 0) @ q - y
    B = (e[:, None] * np.maximum(z, 0)).mean(axis=0)
    return B, (e[:, None] * (z > 0)).T @ x / len(x)


# %%
def random_case(rng, N=200):
    d, m = int(rng.choice([2, 3, 5, 10, 20])), int(rng.integers(1, 9))
    s = kernel.direction("s", rng.standard_normal((m, d)))
    q = rng.choice([-1, 1], m) * 10 ** rng.uniform(-1, 0.5, m)
    delta = rng.choice([-1, 1], m) * 10 ** rng.uniform(-1, 3, m)
    return q, s, delta, rng.standard_t(5, (N, d)), rng.standard_normal(N)


def across(s, T):
    return T - (s * T).sum(axis=1, keepdims=True) * s


def instant(q, s, delta, x, y):
    """Both routes for one network at one instant."""
    a, w = gauge.weights(q, s, delta)
    rates = by_autograd(a, w, x, y)
    B, T = residual_moments(q, s, x, y)
    return a, w, rates, B, T, across(s, T), np.linalg.norm(T, axis=1)


# %%
def compare(q, s, delta, x, y):
    """Largest gaps, each relative to the size of its terms."""
    a, w, ((da, dw), (dq, ds, ddelta), decay), B, T, PT, size = instant(q, s, delta, x, y)
    mu, chi, r = gauge.mu(q, delta), gauge.chi(q, delta), np.linalg.norm(w, axis=1)
    spent = (mu * B**2 + (mu + delta) / 2 * (PT**2).sum(axis=1)).sum()
    first_form = (r**2 * B**2 + a**2 * size**2).sum()
    return {
        "a', w'": max((np.abs(da + r * B) / (r * size)).max(),
                      (np.abs(dw + a[:, None] * T) / np.abs(a * size)[:, None]).max()),
        "q'": (np.abs(dq + mu * B) / (mu * size)).max(),
        "s'": (np.abs(ds + chi[:, None] * PT) / np.abs(chi * size)[:, None]).max(),
        "δ'": (np.abs(ddelta) / (np.abs(q) * size)).max(),
        "dL/dt": abs(decay + spent) / abs(decay),
        "two forms": abs(first_form - spent) / first_form,
    }


# %%
def compare_nulls(q, s, delta, x, y):
    """The same gaps if one believes the nulls."""
    a, w, (_, (dq, ds, _), decay), B, T, PT, size = instant(q, s, delta, x, y)
    mu, chi, wrong = gauge.mu(q, delta), gauge.chi(q, delta), gauge.chi(q, -delta)
    _, (_, _, tanh_delta), _ = by_autograd(a, w, x, y, torch.tanh)
    return {
        "q', μ = 2|q|": (np.abs(dq + 2 * np.abs(q) * B) / (mu * size)).max(),
        "s', χ(−δ)": (np.abs(ds + wrong[:, None] * PT) / np.abs(chi * size)[:, None]).max(),
        "δ', tanh": (np.abs(tanh_delta) / (np.abs(q) * size)).max(),
        "dL/dt, μ twice": abs(decay + (mu * size**2).sum()) / abs(decay),
    }


# %%
RATES = 1e-11
rng = np.random.default_rng(1)
cases = [random_case(rng) for _ in range(100)]
gaps, null_gaps = [compare(*case) for case in cases], [compare_nulls(*case) for case in cases]
exact = {name: max(gap[name] for gap in gaps) < RATES for name in gaps[0]}
null = {name: max(gap[name] for gap in null_gaps) < RATES for name in null_gaps[0]}
off = {name: f"{np.median([gap[name] for gap in null_gaps]):.3g}" for name in null}
print(f"equal to {RATES:g} in all of {len(gaps)} networks:")
for name, holds in exact.items():
    print(f"  {name:10} {holds}")
print("the nulls, median of the relative error:")
for name, value in off.items():
    print(f"  {name:15} {value}")

# %% [markdown]
# The tolerance: a mean of 200 products has rounding errors of at most $200\,\epsilon$ of their
# average size, about $4\cdot10^{-14}$; the terms may exceed $\lVert T\rVert$, to which we compare,
# by a factor of a hundred where $T$ happens to be small.
#
# Rates at one instant are one thing, a trajectory another. Six students with imbalances $\pm8$
# learn two teachers in five dimensions, Gaussian inputs, from the start to $\tau=Dt=100$. The
# solver works on $(a,w)$ and knows nothing of $\delta$; its local tolerance of $10^{-11}$ and some
# hundred steps allow a drift of $10^{-8}$ of $D$. And the two integrals of {eq}`eq-dissipation`
# must account for the loss.

# %%
DRIFT = 1e-8
rng = np.random.default_rng(2)
teacher = Teacher(b=[1.0, 0.7], u=kernel.direction("u", rng.standard_normal((2, 5))))
s = kernel.direction("s", rng.standard_normal((6, 5)))
students = Students(q=rng.uniform(0.1, 0.3, 6), s=s, delta=[8.0, -8.0, -8.0, 8.0, -8.0, -8.0])
problem = Problem(teacher, students, D=8.0)
tau = np.linspace(0, 100, 201)
spent = measure.dissipation(flows.population(problem), tau)
run = spent.trajectory
drift = measure.imbalance_drift(run)
accounted = spent.coefficient.sum(axis=1) + spent.direction.sum(axis=1) - (run.loss[0] - run.loss)
print(f"loss {run.loss[0]:.4f} → {run.loss[-1]:.4e}")
print(f"spent on coefficients {spent.coefficient[-1].sum():.4f}, on directions "
      f"{spent.direction[-1].sum():.4f}")
unaccounted = np.abs(accounted).max()
print(f"imbalances drift by less than {DRIFT:g} of D: {drift < DRIFT}")
print(f"the two integrals account for the loss to {DRIFT:g}: {unaccounted < DRIFT}")
turned = kernel.angle(run.s[-1], run.s[0])
print("unit   δ    turned by (rad)   share of its dissipation that is direction")
for i in range(6):
    share = spent.direction[-1, i] / (spent.direction[-1, i] + spent.coefficient[-1, i])
    print(f"{i:3d}   {students.delta[i]:+.0f}   {turned[i]:10.4f}   {share:20.4f}")
glue("gauge-turned-plus", f"{turned[students.delta > 0].min():.4f}", display=False)
glue("gauge-turned-minus", f"{turned[students.delta < 0].max():.4f}", display=False)

# %% [markdown]
# The conserved imbalance is visible in what the students do: those with $+8$ turn by
# {glue:text}`gauge-turned-plus` or more, the others by {glue:text}`gauge-turned-minus` at most, and
# most of what they spend, they spend on their coefficients.
#
# ## Fast or slow to turn
#
# ```{prf:proposition} Ratio of mobilities; paper's sections 3.1 and A.1
# :label: prop-ratio
#
# For $q\neq0$ and $D>0$: (i) $\mu(q,+D)=\mu(q,-D)$, whereas
#
# $$ \frac{\chi(q,+D)}{\chi(q,-D)}=\Bigl(\frac{\sqrt{D^2+4q^2}+D}{2q}\Bigr)^2
#    =\Theta\Bigl(\frac{D^2}{q^2}\Bigr). $$ (eq-ratio)
#
# (ii) The relative directional weight $a^2/(a^2+r^2)=\frac12\bigl(1+\delta/\sqrt{\delta^2+4q^2}
# \bigr)$ increases with $\delta$ from $0$ to $1$.
# ```
#
# *Why.* $\mu$ contains $\delta^2$ only, and
# $\chi(q,\delta)\,\chi(q,-\delta)=\frac{\mu^2-\delta^2}{4q^2}=1$, so the ratio is $\chi(q,+D)^2$.
# For $D\ge\lvert q\rvert$ we can replace $\Theta$ by numbers (ours):
#
# $$ 1\le\frac{\chi(q,+D)}{\chi(q,-D)}\cdot\frac{q^2}{D^2}
#    \le\Bigl(\frac{1+\sqrt5}2\Bigr)^2, $$ (eq-golden)
#
# since $\frac12(1+\sqrt{1+4q^2/D^2})$ falls from the golden ratio to 1 as $D/\lvert q\rvert$ grows
# from 1. (ii) is $a^2=\frac12(\mu+\delta)$. As second route, the weights themselves: $a/r$ of the
# neurons that `gauge.weights` makes.

# %%
FEW, MANY, ENDS = 10 * EPS, 100 * EPS, 1e-15
D, q = np.meshgrid(10.0 ** np.linspace(-1, 3, 41), 10.0 ** np.linspace(-3, 1, 41))
formula = ((np.sqrt(D**2 + 4 * q**2) + D) / (2 * q)) ** 2
chi_plus, chi_minus = gauge.chi(q, D), gauge.chi(q, -D)
weights = [gauge.weights(q, [1.0, 0.0], sign * D) for sign in (1, -1)]
from_weights = np.divide(*[a / w[..., 0] for a, w in weights])
ratio_equal = max(np.abs(chi_plus / chi_minus / formula - 1).max(),
                  np.abs(from_weights / formula - 1).max()) < MANY
even = (gauge.mu(q, D) == gauge.mu(q, -D)).all()
large = D >= q
scaled, guess = (formula * (q / D) ** power for power in (2, 1))
golden = ((1 + 5**0.5) / 2) ** 2
theta = (scaled[large] > 1 - 1e-14).all() and (scaled[large] < golden + 1e-14).all()
share = [a**2 / (a**2 + w[..., 0] ** 2) for a, w in weights]
share_formula = [(1 + sign * D / np.hypot(D, 2 * q)) / 2 for sign in (1, -1)]
share_equal = np.abs(np.array(share) - share_formula).max() < FEW
deltas = np.concatenate([-(10.0 ** np.arange(8, -3, -0.1)), 10.0 ** np.arange(-3, 8, 0.1)])
a, w = gauge.weights(1.0, [1.0, 0.0], deltas)
weight = 1 / (1 + (w[:, 0] / a) ** 2)
rising = (np.diff(weight) >= 0).all() and weight[0] < ENDS and weight[-1] > 1 - ENDS
print(f"ratio of χ by three routes equal: {ratio_equal}; μ even in δ, exactly: {even}")
print(f"ratio × (q/D)² for D ≥ q: {scaled[large].min():.4f} to {scaled[large].max():.4f} "
      f"(bounds 1 and {golden:.4f})")
print(f"ratio × (q/D) for D ≥ q: {guess[large].min():.4g} to {guess[large].max():.4g}")
print(f"directional weight equal: {share_equal}; rising from 0 to 1: {rising}")

# %% mystnb={"figure": {"caption": "Left: the mobilities of coefficient, $\\mu$, and of direction, $\\chi$, for $q=1$. Right: the relative directional weight for three coefficients.", "name": "fig-mobilities"}, "image": {"alt": "Left panel, logarithmic vertical axis: mu is a symmetric valley with its lowest value 2 at zero imbalance; chi rises throughout, and is 1 at zero. Right panel: three rising curves from 0 to 1 through one half; the smaller the coefficient, the steeper."}}
line = np.linspace(-20, 20, 401)
fig, (left, right) = figures.panels(1, 2, width=7.6, height=3.0)
figures.curves(left, line, {"μ  (coefficient)": gauge.mu(1.0, line), "χ  (direction)":
               gauge.chi(1.0, line)}, xlabel="imbalance δ", ylabel="mobility", log="y")
series = {f"q = {q:g}": (1 + line / np.hypot(line, 2 * q)) / 2 for q in (0.3, 1.0, 4.0)}
figures.curves(right, line, series, xlabel="imbalance δ", ylabel="$a^2/(a^2+r^2)$")
left.legend(loc="lower right", frameon=False)
plt.show()

# %%
print("q = 1\n   δ        μ         χ      a²/(a²+r²)")
for value in (-20.0, -4.0, 0.0, 4.0, 20.0):
    mu = gauge.mu(1.0, value)
    print(f"{value:5.0f}   {mu:7.4f}   {gauge.chi(1.0, value):7.4f}   {(1 + value / mu) / 2:8.4f}")

# %% [markdown]
# ## A measure over neurons
#
# ```{prf:theorem} Continuity equation; paper's A.1
# :label: thm-continuity
#
# Let $\rho_t$ be a measure on coordinates $(q,s,\delta)$ and $f_\rho(x)=\int q\,[s^\top
# x]_+\,d\rho$. Gradient flow of its particles is
#
# $$ \partial_t\rho+\partial_q(V_q\rho)+\operatorname{div}_{\mathbb S^{d-1}}(V_s\rho)=0,\qquad
#    V_q=-\mu B_\rho(s),\quad V_s=-\chi P_sT_\rho(s),\quad V_\delta=0, $$ (eq-continuity)
#
# in the weak sense: $\frac d{dt}\int\varphi\,d\rho_t=\int(V_q\,\partial_q\varphi+V_s\cdot\nabla_s
# \varphi)\,d\rho_t$ for smooth $\varphi$. The loss falls by the integral of the bracket in
# {eq}`eq-dissipation`.
# ```
#
# *Why.* A particle of mass $p$ adds $p\,a[w^\top x]_+$ to $f$, so its gradient carries a factor
# $p$, which the metric of particles divides out: $\dot a=-rB_\rho$, $\dot w=-aT_\rho$ as before.
# The weak form is then the chain rule for $\sum_ip_i\varphi(q_i,s_i,\delta_i)$, and $\delta$ is
# carried along as a label. A finite network is the case $p_i=1$.
#
# We give the particles unequal masses, take the derivative of $\sum_ip_i\varphi$ along gradient
# flow in $(a,w)$ by automatic differentiation, and compare with the right-hand side, where
# $\varphi$ is differentiated in $(q,s)$ only. As null the direction stands still, $V_s=0$.

# %%
TESTS = {
    "φ = q² s₁": lambda q, s, delta: q**2 * s[:, 0],
    "φ = sin(q) (s₁+s₂)³": lambda q, s, delta: torch.sin(q) * (s[:, 0] + s[:, 1]) ** 3,
    "φ = δ cos(q s₁)": lambda q, s, delta: delta * torch.cos(q * s[:, 0]),
    "φ = tanh δ": lambda q, s, delta: torch.tanh(delta),
}


def weak_form(phi, q, s, delta, x, y, p):
    """(left, right, right with V_s = 0), size of the terms."""
    a, w = gauge.weights(q, s, delta)
    ta, tw, tx, ty, tp = (torch.tensor(z, dtype=torch.float64) for z in (a, w, x, y, p))
    grads = torch.func.grad(lambda a, w: loss(tp * a, w, tx, ty), argnums=(0, 1))(ta, tw)
    velocity = -grads[0] / tp, -grads[1] / tp[:, None]
    _, left = torch.func.jvp(
        lambda a, w: (tp * phi(*torch_coordinates(a, w))).sum(), (ta, tw), velocity)
    B, T = residual_moments(p * q, s, x, y)
    V_q, V_s = -gauge.mu(q, delta) * B, -gauge.chi(q, delta)[:, None] * across(s, T)
    tq, ts, td = (torch.tensor(z) for z in (q, s, delta))
    gq, gs = torch.func.grad(lambda q, s: (tp * phi(q, s, td)).sum(), argnums=(0, 1))(tq, ts)
    in_q, in_s = gq.numpy() * V_q, gs.numpy() * V_s
    size = np.abs(in_q).sum() + np.abs(in_s).sum() + p @ np.abs(delta * q * B)
    return left.item(), in_q.sum() + in_s.sum(), in_q.sum(), size


# %%
rng = np.random.default_rng(3)
weak_gaps, still_gaps = ({name: [] for name in TESTS} for _ in range(2))
for _ in range(30):
    q, s, delta, x, y = random_case(rng)
    p = 10 ** rng.uniform(-1, 1, q.size)
    for name, phi in TESTS.items():
        left, right, still, size = weak_form(phi, q, s, delta, x, y, p)
        weak_gaps[name].append(abs(left - right) / size)
        still_gaps[name].append(abs(left - still) / size)
weak_gap, still_gap = ({name: max(gap) for name, gap in found.items()}
                       for found in (weak_gaps, still_gaps))
measures, weak = len(weak_gaps["φ = tanh δ"]), all(gap < RATES for gap in weak_gap.values())
print(f"{measures} measures; equal to {RATES:g} of the terms, and off by so much with V_s = 0:")
for name in TESTS:
    away = f"{still_gap[name]:.2g}" if still_gap[name] > RATES else "0: both sides vanish"
    print(f"  {name:20} {weak_gap[name] < RATES}   {away}")
q, s, delta, x, y = random_case(rng)
as_measure = np.maximum(x @ s.T, 0) @ q  # point masses of mass one
as_network = network(*gauge.weights(q, s, delta), x)
points = np.allclose(as_network, as_measure, rtol=0, atol=1e-12)
print(f"a finite network is its sum of point masses: {points}")

# %% [markdown]
# The last test function depends on $\delta$ alone: both sides vanish, $V_\delta=0$.
#
# ## Unequal learning rates
#
# ```{prf:remark}
# :label: rem-rates
#
# With learning rates $\eta_a$ and $\eta_w$, $\dot a=-\eta_arB$ and $\dot w=-\eta_waT$. Then
# $\delta_\eta=\eta_wa^2-\eta_ar^2$ is conserved, and with
# $K=\sqrt{\delta_\eta^2+4\eta_a\eta_wq^2}$
#
# $$ \dot q=-K\,B,\qquad\dot s=-\frac{K+\delta_\eta}{2q}\,P_sT. $$ (eq-rates)
# ```
#
# The proof of {prf:ref}`thm-exact` goes through with $K=\eta_wa^2+\eta_ar^2$. The paper names
# {cite:t}`kunin2024`, whose equations with two learning rates give its own when both are one. So
# scale and learning rate are one freedom, not two: in $\tilde a=a/\sqrt{\eta_a}$ and
# $\tilde w=w/\sqrt{\eta_w}$ the rates are equal, and the network is
# $\sqrt{\eta_a\eta_w}\,\tilde a\,[\tilde w^\top x]_+$.

# %%
rng = np.random.default_rng(4)
rate_gaps = []  # of q', s', δ_η'; and how fast a² − r² changes
for _ in range(50):
    q, s, delta, x, y = random_case(rng)
    a, w = gauge.weights(q, s, delta)
    (da, dw), _, _ = by_autograd(a, w, x, y)
    eta_a, eta_w = 10 ** rng.uniform(-1, 1, 2)
    tensors = [torch.tensor(z) for z in (a, w, eta_a * da, eta_w * dw)]
    _, moved = torch.func.jvp(torch_coordinates, tuple(tensors[:2]), tuple(tensors[2:]))
    dq, ds, ddelta = (z.numpy() for z in moved)
    r, (B, T) = np.linalg.norm(w, axis=1), residual_moments(q, s, x, y)
    unit = np.linalg.norm(T, axis=1)
    d_eta = eta_w * a**2 - eta_a * r**2
    K = np.sqrt(d_eta**2 + 4 * eta_a * eta_w * q**2)
    speed = eta_w * a / r  # (K + d_eta)/(2 q) without cancellation
    turning = np.abs(ds + speed[:, None] * across(s, T)) / np.abs(speed * unit)[:, None]
    change = 2 * eta_w * a * eta_a * da - 2 * eta_a * r * eta_w * (s * dw).sum(axis=1)
    rate_gaps.append([(np.abs(dq + K * B) / (K * unit)).max(), turning.max(),
                      (np.abs(change) / (eta_a * eta_w * np.abs(q) * unit)).max(),
                      (np.abs(ddelta) / (np.abs(q) * unit)).max()])
*rate_gap, kept = np.max(rate_gaps, axis=0)
rates_hold = max(rate_gap) < RATES
print(f"{len(rate_gaps)} networks, learning rates 0.1 to 10: q', s', δ_η' equal to {RATES:g}: "
      f"{rates_hold}")
print(f"a² − r² itself is conserved: {kept < RATES}")

# %% [markdown]
# ## Weight decay forgets the gauge
#
# ```{prf:proposition} Weight decay; the paper's A.1 and proposition A.2, as we rebuild it
# :label: prop-decay
#
# Under gradient flow of $L+\frac\lambda2\sum_i(a_i^2+\lVert w_i\rVert^2)$
#
# $$ \dot q=-\mu B-2\lambda q,\qquad\dot s=-\chi P_sT,\qquad
#    \dot\delta=-2\lambda\delta. $$ (eq-decay)
# ```
#
# *Why.* The penalty adds $-\lambda a$ and $-\lambda w$ to the velocities: $q$, $r^2$ and $a^2$
# shrink at rate $2\lambda$, $s$ is not touched. So $\delta(t)=\delta(0)e^{-2\lambda t}$, whatever
# the data: a neuron remembers its gauge for a time $\frac1{2\lambda}$. Without decay, in
# {prf:ref}`thm-exact`, it remembers for ever. We follow the six students again.


# %%
def with_decay(flow, lam):
    """The flow of L + lam/2 (|a|^2 + |w|^2); fast time, hence lam/D."""
    rate = lam / flow.problem.D
    return replace(flow, rhs=lambda tau, y: flow.rhs(tau, y) - rate * y, jacobian=None)


lam, plain, DECAY = 0.4, flows.population(problem), 1e-5
decayed = solve(with_decay(plain, lam), tau)
law = students.delta * np.exp(-2 * lam * decayed.t)[:, None]
forgotten = np.abs(decayed.delta / law - 1).max() < DECAY
remembered = np.abs(run.delta[-1] / students.delta - np.exp(-2 * lam * run.t[-1])).max() < DECAY
velocity = with_decay(plain, lam).rhs(0.0, plain.state0) - plain.rhs(0.0, plain.state0)
a, w = plain.state0[:6], plain.state0[6:].reshape(6, 5)
moved = [z.numpy() for z in torch.func.jvp(
    torch_coordinates, (torch.tensor(a), torch.tensor(w)),
    (torch.tensor(velocity[:6]), torch.tensor(velocity[6:].reshape(6, 5))))[1]]
q = students.q
terms = (np.abs(moved[0] * problem.D + 2 * lam * q).max() < 1e-14 and np.abs(moved[1]).max() < 1e-14
         and np.abs(moved[2] * problem.D + 2 * lam * students.delta).max() < 1e-13)
print(f"δ follows exp(−2λt) to {DECAY:g} at all times and units: {forgotten}; "
      f"q', s' as stated: {terms}")
print("  t      largest |δ|   2 × largest |q|   with decay λ = 0.4")
for k in (0, 20, 50, 100, 200):
    print(f"{decayed.t[k]:5.2f}   {np.abs(decayed.delta[k]).max():10.4g}   "
          f"{2 * np.abs(decayed.q[k]).max():12.4f}")

# %% [markdown]
# The tolerance: at the end $\lvert\delta\rvert=8e^{-10}\approx4\cdot10^{-4}$, the difference of
# $a^2$ and $r^2$ below 1, to which the solver adds some hundred local errors of $10^{-11}$ at
# most. Once $\lvert\delta\rvert\ll2\lvert q\rvert$ the neurons are balanced, and the two signs
# behave alike.
#
# ## Back to weights without losing digits
#
# For $\lvert\delta\rvert\gg\lvert q\rvert$ the textbook forms {eq}`eq-inverse` and
# {eq}`eq-mobilities` subtract nearly equal numbers: $\mu-\lvert\delta\rvert\approx
# 2q^2/\lvert\delta\rvert$ is the difference of two numbers of size $\lvert\delta\rvert$, one of
# them rounded by up to $\epsilon\lvert\delta\rvert$. So $\chi$ at $\delta<0$ has a relative error
# of up to $\epsilon\,\delta^2/2q^2$, and the smaller of $\lvert a\rvert$ and $r$ half of that. From
# $\lvert\delta\rvert\approx10^8\lvert q\rvert$ on nothing is left. `gauge` never subtracts:
#
# $$ \begin{aligned}
#    {\rm big}&=\sqrt{\tfrac12(\mu+\lvert\delta\rvert)},\qquad
#    {\rm small}=\lvert q\rvert/{\rm big},\\
#    \chi&=\frac{\mu+\delta}{2q}\ \text{ if }\delta\ge0,\qquad
#    \chi=\frac{2q}{\mu-\delta}\ \text{ if }\delta<0.
#    \end{aligned} $$ (eq-safe)
#
# All redundant students of the paper have $\delta=-D$, and their output weight is the small one.
# About ten operations of one rounding each: our errors should stay below $10\,\epsilon$. Reference:
# 60 digits.

# %%
sizes = 10.0 ** np.linspace(0, 8, 81)
rng = np.random.default_rng(5)
qs = rng.choice([-1, 1], 81) * 10 ** rng.uniform(-0.3, 0.3, 81)


def textbook(q, delta, sqrt=np.sqrt, sign=np.sign):
    """(a, r, chi) as the definitions say."""
    mu = sqrt(delta**2 + 4 * q**2)
    return sign(q) * sqrt((mu + delta) / 2), sqrt((mu - delta) / 2), (mu + delta) / (2 * q)


def reference(q, delta):
    q, delta = mpmath.mpf(float(q)), mpmath.mpf(float(delta))
    return textbook(q, delta, mpmath.sqrt, mpmath.sign)


def relative_errors(values, sign):
    """(81, 3) relative errors of (a, r, chi)."""
    with mpmath.workdps(60):
        exact = [reference(q, sign * D) for q, D in zip(qs, sizes, strict=True)]
        return np.array([[float(abs(mpmath.mpf(float(x)) / y - 1)) for x, y in zip(row, ref)]
                         for row, ref in zip(np.transpose(values), exact, strict=True)])


def safe(q, delta):
    a, w = gauge.weights(q, [1.0, 0.0], delta)
    return a, w[..., 0], gauge.chi(q, delta)


ours = {sign: relative_errors(safe(qs, sign * sizes), sign) for sign in (1, -1)}
theirs = {sign: relative_errors(textbook(qs, sign * sizes), sign) for sign in (1, -1)}

# %% mystnb={"figure": {"caption": "Relative errors of the textbook inverse and of ours for coefficients near 1. Left: input norm at $\\delta=+D$ (the small one). Middle: output weight at $\\delta=-D$. Right: $\\chi$ at $\\delta=-D$. Grey: $\\epsilon D^2/2q^2$ at $q=1$. Errors below $10^{-17}$ are drawn there.", "name": "fig-inverse"}, "image": {"alt": "Three log-log panels over D from 1 to ten to the eight. In each the textbook errors rise below a grey line of slope two, from rounding level until no digit is left; ours stay at rounding level throughout."}}
fig, axes = figures.panels(1, 3, width=8.4, height=3.0, sharey=True)
cases = {"r,  δ = +D": (1, 1), "a,  δ = −D": (-1, 0), "χ,  δ = −D": (-1, 2)}
for ax, (title, (sign, k)) in zip(axes, cases.items(), strict=True):
    shown = {"textbook": theirs[sign][:, k], "ours": ours[sign][:, k]}
    shown = {name: np.maximum(values, 1e-17) for name, values in shown.items()}
    figures.guide(ax, sizes[:78], EPS * sizes[:78] ** 2 / 2, "")
    figures.measured_points(ax, sizes, shown, title=title, xlabel="imbalance  D",
                            ylabel="relative error" if ax is axes[0] else "")
    for line in ax.lines:
        line.set_markersize(3)
    ax.set_xticks([1e0, 1e2, 1e4, 1e6, 1e8])
plt.show()

# %%
ours_keep = max(errors.max() for errors in ours.values()) < FEW
bound = 2 * EPS * (sizes / qs) ** 2 + FEW
theirs_within = all((theirs[sign][:, k] < bound).all() for sign, k in cases.values())
theirs_keep = max(theirs[sign][:, k].max() for sign, k in cases.values()) < FEW
far, q_far = 1e8, 0.4  # 1e16 + 0.64 is 1e16
lost = textbook(q_far, -far)[0] == 0 and textbook(q_far, far)[1] == 0
print(f"ours: all of a, r, χ below {FEW / EPS:.0f} ε for both signs up to |δ| = {sizes[-1]:g}: "
      f"{ours_keep}")
print(f"textbook: below 2 ε D²/q² + 10 ε: {theirs_within}; it is 0 at {far:g}, "
      f"q = {q_far}: {lost}")
print("D        digits that the textbook's small weight may keep, q = 1;  its value by ours")
for D in (1e2, 1e4, 1e6, 1e8):
    digits = max(0.0, -np.log10(EPS * D**2 / 4))
    print(f"{D:.0e}   {digits:5.1f}   {gauge.weights(1.0, [1.0, 0.0], -D)[0]:.4e}")

# %% [markdown]
# ## Exercises
#
# **1.** A balanced neuron with coefficient $q>0$ is rescaled by $\rho$. What is its $\delta$? Which
# $\rho$ gives $\delta=D$ for large $D$?
#
# ```{dropdown} Solution of 1
# $a=r=\sqrt q$ become $\rho\sqrt q$ and $\sqrt q/\rho$, so $\delta=q(\rho^2-\rho^{-2})$. For large
# $D$, $\rho\approx\sqrt{D/q}$; exactly, $\rho^2=\chi(q,D)$, since $\chi=a/r$ scales with $\rho^2$
# and is 1 at balance.
# ```
#
# **2.** Show that a neuron with $\delta<0$ can change the sign of its coefficient, and that one
# with $\delta>0$ loses its direction if $q$ reaches zero.
#
# ```{dropdown} Solution of 2
# $q=ar$. For $\delta<0$, $r^2=a^2-\delta\ge\lvert\delta\rvert$, so $q=0$ means $a=0$ and nothing
# is singular there: $\chi=a/r=0$, $\mu=\lvert\delta\rvert$, and $\dot q=-\lvert\delta\rvert B$
# carries it through. For $\delta>0$, $a^2\ge\delta$ and $q=0$ means $w=0$, which has no direction;
# $\chi=a/r$ is infinite. That is why `gauge.weights` refuses $q=0$ unless $\delta<0$.
# ```
#
# **3.** Replace the ReLU by $[z]_+^k$, homogeneous of degree $k$. What is conserved?
#
# ```{dropdown} Solution of 3
# Now $w^\top\partial f/\partial w=k\,a\,\partial f/\partial a$, so $\frac d{dt}\lVert w\rVert^2=
# k\frac d{dt}a^2$: conserved is $k\,a^2-\lVert w\rVert^2$.
# ```
#
# **4.** Gradient descent with step $\eta$ instead of the flow: how does $\delta$ change in one
# step?
#
# ````{dropdown} Solution of 4
# By the terms of second order only, the first cancel as in the proof:
# $\delta^+-\delta=\eta^2\bigl[(\partial_aL)^2-\lVert\nabla_wL\rVert^2\bigr]$.
# ```python
# q, s, delta, x, y = random_case(np.random.default_rng(9))
# a, w = gauge.weights(q, s, delta)
# (da, dw), _, _ = by_autograd(a, w, x, y)
# eta = 1e-3
# after = gauge.coordinates(a + eta * da, w + eta * dw)[2]
# print(after - delta, eta**2 * (da**2 - (dw**2).sum(axis=1)))
# ```
# ````
#
# ## The ledger

# %%
equal = f"equal to {RATES:g} in {len(gaps)} networks"
off_q, off_s, off_delta, off_loss = off.values()
rows = [
    claims.compare("S1-invariance", f"equal to {ROUNDING:g} on {inputs} inputs; δ moves by up to "
                   f"{gauge_moves:.3g}; null off by {outputs_only:.3g}",
                   holds=same_function and same_q and same_s, null_holds=outputs_only < ROUNDING),
    claims.compare("A1-parameters", equal, holds=exact["a', w'"]),
    claims.compare("S31-coefficient", f"{equal}; null off by {off_q}",
                   holds=exact["q'"], null_holds=null["q', μ = 2|q|"]),
    claims.compare("S31-direction", f"{equal}; null off by {off_s}",
                   holds=exact["s'"], null_holds=null["s', χ(−δ)"]),
    claims.compare("S31-conserved", f"rate below {RATES:g}, drift to τ = {tau[-1]:g} below "
                   f"{DRIFT:g} of D; null off by {off_delta}", holds=exact["δ'"] and drift < DRIFT,
                   null_holds=null["δ', tanh"]),
    claims.compare("S31-dissipation", f"rate equal to {RATES:g}, loss removed to {DRIFT:g} at "
                   f"{run.loss.size} times; null off by {off_loss}",
                   holds=exact["dL/dt"] and unaccounted < DRIFT,
                   null_holds=null["dL/dt, μ twice"]),
    claims.compare("A1-two-forms", equal, holds=exact["two forms"]),
]

# %%
few = f"{FEW / EPS:.0f} ε"
rows += [
    claims.compare("S31-ratio", f"χ and weights give the formula to {MANY / EPS:.0f} ε on "
                   f"{formula.size} pairs (q, D)", holds=ratio_equal,
                   null_holds=np.allclose(chi_plus / chi_minus, formula**0.5, rtol=0.01)),
    claims.compare("S31-theta", f"ratio·q²/D² in [{scaled[large].min():.3f}, "
                   f"{scaled[large].max():.3f}] for D ≥ q", holds=theta,
                   null_holds=guess[large].max() / guess[large].min() < golden),
    claims.compare("A1-weight", f"formula to {few} on {np.size(share)} pairs (q, δ); rises over "
                   f"{deltas.size} δ, ends within {ENDS:g} of 0 and 1",
                   holds=share_equal and rising, null_holds=np.abs(weight - 0.5).max() < FEW),
    claims.compare("A1-sign", f"μ(q, ±D) equal, χ(q, D) χ(q, −D) = 1 to {few} on "
                   f"{formula.size} pairs (q, D)",
                   holds=even and np.abs(chi_plus * chi_minus - 1).max() < FEW,
                   null_holds=np.allclose(chi_plus, chi_minus, rtol=0.01)),
    claims.compare("A1-inverse", f"a, r to {few} at {2 * sizes.size} values of δ up to "
                   f"±{sizes[-1]:g}", holds=ours_keep,
                   null_holds=relative_errors(safe(qs, -sizes), 1).max() < FEW),
]

# %%
rows += [
    claims.compare("A1-measure", f"{measures} measures, {len(TESTS)} test functions, equal to "
                   f"{RATES:g}; null off by up to {max(still_gap.values()):.2g}",
                   holds=weak and points, null_holds=max(still_gap.values()) < RATES),
    claims.compare("A2-weight-decay", f"δ(t)/δ(0) = exp(−2λt) to {DECAY:g} at {law.size} values",
                   holds=forgotten and terms, null_holds=remembered),
    claims.compare("B01-rates", f"equal to {RATES:g} in {len(rate_gaps)} networks; the rate of "
                   f"a² − r² is up to {kept:.3g}", holds=rates_hold, null_holds=kept < RATES),
    claims.compare("B01-inverse", f"below {few}; textbook 0 at |δ| = {far:g}, q = {q_far}",
                   holds=ours_keep and lost, null_holds=theirs_keep),
    claims.compare("B01-golden", f"largest {scaled[large].max():.4f}, bound {golden:.4f}",
                   holds=theta),
]
claims.report(rows)
