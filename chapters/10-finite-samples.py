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
# (chapter-finite-samples)=
# # Finite samples
#
# The theory of {cite:t}`wang2026gauge` is about Gaussian inputs, infinitely many of them. Networks
# are trained on $N$. After this chapter you know
#
# - how training on $N$ samples differs from the population flow: by $N^{-1/2}$, with a constant
#   that can be computed *without drawing a sample*;
# - what Table D.3 says about it, what its twelve numbers owe to its 20 seeds, and which reading of
#   its lost definition of the error is possible;
# - why solvers of high order lose their order on samples, and how to follow the flow exactly from
#   one sample to the next;
# - the fourth curve of figure 3, and from how few samples the designated student is still selected.
#
# The chapter runs in about 40 seconds; 500 seeds come from a stored file.

# %%
import matplotlib.pyplot as plt
import numpy as np
from myst_nb import glue
from scipy.integrate import solve_ivp

from gaugelib import claims, crossings, figures, flows, gauge
from gaugelib.measure import captured, imbalance_drift, loglog_fit
from gaugelib.problem import Problem, Students, duplicates, plane_direction
from gaugelib.samples import Samples
from gaugelib.solve import rk4, solve

m, D, N, phi = 8, 32.0, 8192, np.pi / 4  # figure 3
TAU = np.arange(601) / 10
problem = duplicates(m, D, phi)


def draw(m, seed, N):
    """The first N samples of a stream that belongs to the width and the seed."""
    return np.random.default_rng([m, seed]).standard_normal((N, 2))


# %% [markdown]
# ## Training on samples
#
# Draw $x_1,\dots,x_N\sim\mathcal N(0,I_2)$ once and train on all of them (full batch), with the
# teacher's labels, free of noise:
#
# $$ L_N=\frac1{2N}\sum_n\bigl(f(x_n)-f_\star(x_n)\bigr)^2,\qquad
#    T_i=\frac1N\sum_n\bigl(f(x_n)-f_\star(x_n)\bigr)\,x_n\,1\{w_i\cdot x_n>0\}, $$ (eq-samples-loss)
#
# and $\dot a_i=-w_i\cdot T_i$, $\dot w_i=-a_iT_i$ as before: only the moments $T_i$ changed.
# A sum over $N$ samples costs $O(mN)$. In the plane there is a shorter way.
#
# ```{prf:lemma} Forces from sorted samples; ours
# :label: lem-samples-arcs
#
# Let $d=2$, and let $0\le t_1\le\dots\le t_N<2\pi$ be the polar angles of the samples and
# $S_N(t)=\frac1N\sum_{t_n<t}x_nx_n^\top$. The lines $w_i\cdot x=0$ and $u\cdot x=0$ cut the plane
# into at most $2(m+1)$ sectors. On each of them $f-f_\star$ is one linear function
# $r\cdot x$, so a sector from angle $t$ to $t'$ adds $[S_N(t')-S_N(t)]\,r$ to the $T_i$ of every
# student that is active there, and $\frac12\,r\cdot[S_N(t')-S_N(t)]\,r$ to $L_N$.
# ```
#
# *Why it is true.* ReLU networks without biases are linear between their lines, and which student
# is active does not change inside a sector. $S_N$ is a table of prefix sums, made once; every
# later force takes $2(m+1)$ binary searches in it, $O(m\log m+m\log N)$ together. Labels of any kind
# need prefix sums of $y_nx_n$ as well.
#
# `flows.empirical` does this; the plain sums are the second route. With `symmetric=True` it follows
# one student of each set of equal ones.

# %%
X = draw(m, 0, N)
full, small = flows.empirical(problem, X), flows.empirical(problem, X, symmetric=True)
samples, rng = Samples(X, problem.teacher), np.random.default_rng(0)
y = rng.standard_normal(N)  # labels that no network fits
labelled, gaps = Samples(X, problem.teacher, y), []
for _ in range(100):
    a, w = rng.standard_normal(m), rng.standard_normal((m, 2))
    w[1], w[2] = -w[0], 2 * w[0]  # students opposite to and along another
    for each in (samples, labelled):
        gaps.append(np.abs(each.force(a, w) - each.force_by_sums(a, w)).max())
print(f"sectors equal plain sums to 1e-12 in {np.sum(np.array(gaps) < 1e-12)} of {len(gaps)} cases")


# %% [markdown]
# All that the samples tell the flow in the plane is the function $S_N$. Its population is
# $S(t)=\frac1{2\pi}\bigl(\begin{smallmatrix}t+\frac12\sin2t&\frac12(1-\cos2t)\\
# \frac12(1-\cos2t)&t-\frac12\sin2t\end{smallmatrix}\bigr)$, and the difference is a sum of $N$
# independent terms: $\sqrt N(S_N-S)$ has the same size for every $N$. For the trace, which counts
# $\lvert x\rvert^2$ up to the angle $t$, the variance is
# $N\operatorname{Var}=8p-4p^2$ with $p=t/2\pi$, since $\mathrm E\lvert x\rvert^2=2$ and
# $\mathrm E\lvert x\rvert^4=8$.


# %%
def trace_noise(X, t):
    """sqrt(N) (tr S_N(t) - tr S(t))."""
    around = np.arctan2(X[:, 1], X[:, 0]) % (2 * np.pi)
    order = np.argsort(around)
    upto = np.concatenate([[0], np.cumsum((X[order] ** 2).sum(axis=1))]) / len(X)
    return np.sqrt(len(X)) * (upto[np.searchsorted(around[order], t)] - t / np.pi)


t = np.linspace(0, 2 * np.pi, 721)
noise = {n: trace_noise(draw(m, 0, 2**20)[:n], t) for n in (512, 8192, 2**20)}
deviation = np.sqrt(8 * t / (2 * np.pi) - 4 * (t / (2 * np.pi)) ** 2)

# %% mystnb={"figure": {"caption": "What samples add to the moments: $\\sqrt N$ times the deviation of $\\operatorname{tr}S_N(t)$, the mean of $\\lvert x\\rvert^2$ over inputs up to the polar angle $t$, for the first $N$ samples of one stream. Grey: one and two standard deviations.", "name": "fig-sample-moments"}, "image": {"alt": "Three rough curves over the polar angle from 0 to 2 pi, for N = 512, 8192 and 1048576. All start at zero, wander within a grey band that widens to about plus and minus two, and look alike in size; the one for N = 512 moves in visible jumps."}}
fig, ax = figures.panels(width=6.4, height=3.0)
for k in (2, 1):
    ax.fill_between(t, -k * deviation, k * deviation, color="#dddddd", alpha=0.7, linewidth=0)
series = {f"N = {n}": values for n, values in noise.items()}
figures.curves(ax, t, series, xlabel="polar angle t", ylabel="√N (tr $S_N$ − tr S)")
for line in ax.lines:
    line.set(linewidth=1.1)
plt.show()

# %%
print("standard deviation at t = π/2, π, 2π: " + ", ".join(f"{deviation[k]:.3f}" for k in (180, 360, 720)))
for n, values in noise.items():
    print(f"N = {n:7d}: " + ", ".join(f"{values[k]:6.3f}" for k in (180, 360, 720)))

# %% [markdown]
# ## What training on samples keeps
#
# Three properties of the population flow do not depend on the inputs. Equal students have equal
# rates, so **they stay equal**; hence the full system in $3m$ parameters **agrees with its
# symmetry-reduced form**, which follows one redundant student and counts it $m-1$ times; and
# $a_i\dot a_i=w_i\cdot\dot w_i$ holds for any $T_i$, so **the imbalances are conserved** (3).
#
# For the first two the null is a start that is a duplicate only nearly: coefficients and
# angles perturbed by up to $10^{-6}$, against a reduced form that takes them for equal. For the
# third it is weight decay with $\lambda=0.01$, under which $\dot\delta=-2\lambda\delta$.

# %%
all_students, representatives = (rk4(flow, 0.05, 1200, every=2) for flow in (full, small))
nudge = 1e-6 * np.random.default_rng(1).uniform(-1, 1, (2, m))
near = Problem(problem.teacher, Students(
    (1 + nudge[0]) / m, plane_direction(phi + nudge[1]), problem.students.delta), D)
nearly = rk4(flows.empirical(near, X), 0.05, 1200, every=2)


def apart(run, other):
    return max(np.abs(getattr(run, x) - getattr(other, x)).max() for x in ("q", "s", "loss"))


def unlike(run):
    """Largest difference between two redundant students at any time."""
    return max(np.ptp(run.q[:, 1:], axis=1).max(), np.ptp(run.s[:, 1:], axis=1).max())


symmetric, symmetric_null = apart(all_students, representatives), apart(nearly, representatives)
identical, identical_null = unlike(all_students), unlike(nearly)
print("full system and reduced form differ by less than 1e-12:", symmetric < 1e-12)
print("redundant students differ by less than 1e-12:", identical < 1e-12)
print(f"near duplicates: {symmetric_null:.1e} from the reduced form, {identical_null:.1e} apart")

# %% [markdown]
# $10^{-12}$ is argued: 1200 steps of a stable flow, with a few rounding errors of $10^{-16}$ in each
# rate. Near duplicates stay *near*: their differences do not grow, but they do not vanish either.
#
# ## Rates that jump
#
# $T_i$ is a sum over active samples. When the line $w_i\cdot x=0$ passes over a sample, one term
# enters or leaves, and $T_i$ jumps by $\frac1N(f-f_\star)(x_n)\,x_n$. A designated student that turns by
# an angle $\beta$ meets about $\beta N/\pi$ samples (both ends of its line move). Methods of order
# $p$ assume $p$ continuous derivatives; the flow on samples has none.

# %%
RTOLS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)


def evaluations(flow, rtol, method="DOP853"):
    done = solve_ivp(flow.rhs, (0, 10), flow.state0, method, rtol=rtol, atol=rtol / 100)
    return done.nfev


few = flows.empirical(problem, X[:512], symmetric=True)
cost = {
    name: [evaluations(flow, rtol) for rtol in RTOLS]
    for name, flow in (("population", flows.population(problem)), ("N = 512", few),
                       ("N = 8192", small))
}

# %%
window = np.linspace(1, 1.5, 2001)
turning = {}
for name, flow in (("N = 512", few), ("N = 8192", small)):
    path = crossings.follow(problem, X[: 512 if flow is few else N], np.append(0, window))
    states = path.trajectory.state[1:]
    rates = np.array([flow.rhs(0, y) for y in states])[:, [2, 3]]
    w = states[:, 2:4]
    turning[name] = (w[:, 0] * rates[:, 1] - w[:, 1] * rates[:, 0]) / (w**2).sum(axis=1)

# %% mystnb={"figure": {"caption": "Left: angular speed of the designated student's direction over half a unit of fast time; it jumps at every sample that its line meets. Right: evaluations of the rates that DOP853 needs up to $\\tau=10$, over its tolerance.", "name": "fig-jumps"}, "image": {"alt": "Left: two curves of angular speed that rise slowly; the one for N = 512 is a staircase of visible jumps, the one for N = 8192 a rough line. Right: on logarithmic axes the count for the population rises slowly from about 300 to 700 as the tolerance falls from 1e-3 to 1e-8; the counts on samples rise to about 20000 and 50000."}}
fig, (left, right) = figures.panels(1, 2, width=7.8, height=3.1)
labels = {"xlabel": "fast time τ", "ylabel": "angular speed (rad per τ)"}
figures.curves(left, window, turning, **labels)
for line in left.lines:
    line.set(linewidth=1.0, linestyle="-")
figures.measured_points(right, RTOLS, cost, xlabel="relative tolerance", ylabel="evaluations")
right.invert_xaxis()
plt.show()

# %%
print("evaluations of DOP853 to τ = 10, to one digit")
print("rtol          " + "".join(f"{rtol:8.0e}" for rtol in RTOLS))
for name, counts in cost.items():
    print(f"{name:12}  " + "".join(f"{float(f'{c:.0e}'):8.0f}" for c in counts))
growth = {name: counts[-1] / counts[2] for name, counts in cost.items()}
print("from 1e-5 to 1e-8, more than tenfold: "
      + ", ".join(f"{name}: {ratio > 10}" for name, ratio in growth.items()))
largest = np.abs(np.diff(turning["N = 512"])).max()
print(f"largest jump of the speed shown at N = 512: {largest:.3f}")

# %% [markdown]
# At loose tolerances the solver steps over the jumps and does not notice. Once the tolerance is
# below their size it can accept a step only if the step ends next to a sample, and it finds each
# sample by rejected steps, again and again: the cost grows with the number of samples and with
# every digit, where on the population it hardly changes. High accuracy by step control is not
# impossible on samples, only wasteful.
#
# ## From sample to sample
#
# Between two such meetings nothing jumps, and the rates are polynomials in $(a,w)$ of degree three.
#
# ```{prf:algorithm} Exact empirical flow in the plane; ours
# :label: alg-samples-exact
#
# Keep, for each student, which samples are active, and the second moments $M_{ij}=\frac1N\sum
# x_nx_n^\top$ over those that are active for both $i$ and $j$. Repeat:
#
# 1. Expand $a$ and $w$ in Taylor series of $\tau$: with $p_j=a_jw_j$, $T_i=\sum_jM_{ij}p_j-\dots$ is
#    linear in $p$, so coefficients follow from products of series.
# 2. Only neighbours of a line can be met next. For each form the series of $w_i\cdot x_n$, and
#    halve the step until each of them is bounded away from zero on it or monotone.
# 3. Step to the first root. There, compare the rates of $w_i\cdot x_n$ on both sides: if both
#    point away from where the line came, let the sample enter or leave; if they point *towards*
#    each other, the line slides on the sample, until one of the rates turns round.
# ```
#
# Step 2 makes the first root certain, up to rounding; step 3 is Filippov's solution of a
# differential equation with jumps. `crossings.follow` does all this. The next cell runs it for
# figure 3 and checks it against LSODA at a tolerance of $10^{-11}$ on 512 samples, at the price
# that the last section explained.

# %%
fine = np.concatenate([[0], np.geomspace(0.01, 60, 300)])  # for drawing
both = np.union1d(TAU, fine)
exact = crossings.follow(problem, X, both)
on_fine, on_grid = (exact.trajectory.at(np.searchsorted(both, x)) for x in (fine, TAU))
print(f"N = {N}: {exact.crossings.size} crossings, {len(exact.slides)} slides; "
      f"{(exact.crossings < 1).sum()} of them before τ = 1")
checked = crossings.follow(problem, X[:512], [0, 10])
tight = {"method": "LSODA", "rtol": 1e-11, "atol": 1e-13}
brute = solve_ivp(few.rhs, (0, 10), few.state0, **tight)
agrees = np.abs(brute.y[:, -1] - checked.trajectory.state[-1]).max()
per_crossing = brute.nfev / checked.crossings.size
print(f"N = 512: agrees with LSODA to 1e-9: {agrees < 1e-9}; evaluations for each of the "
      f"{checked.crossings.size} crossings: more than 50: {per_crossing > 50}")
drift = imbalance_drift(exact.trajectory)
decayed = 1 - np.exp(-2 * 0.01 * 60 / D)  # weight decay: δ(τ) = δ(0) exp(−2 λ τ / D)
print(f"largest drift of an imbalance, over D, below 1e-12: {drift < 1e-12}; "
      f"with weight decay {decayed:.3f}")

# %% [markdown]
# No slide here: a line slides only where the jump at one sample is larger than the rate itself,
# and the jump has a factor $1/N$. They do occur on a handful of samples (exercise 3).
#
# The exact path also says what a simple method is worth. RK4 with a fixed step takes the jumps as
# they come: a crossing inside a step costs an error of the order of the step times the jump,
# $O(h/N)$, and the many crossings partly cancel. For each $N$, the error against the exact path:


# %%
def contributions(run):
    """X = (q, P, q s_sel, P s_red), (11): (n, 6)."""
    P, q = run.P, run.q[:, 0]
    return np.column_stack([q, P, q[:, None] * run.s[:, 0], P[:, None] * run.s[:, 1]])


def rms(off):
    return np.sqrt((off**2).mean())


SIZES, STEPS = (128, 512, 2048, 8192), (0.1, 0.05, 0.025)
population = contributions(solve(flows.reduced(problem), TAU))
by_step, sampling = {}, {}
for n in SIZES:
    path = crossings.follow(problem, X[:n], TAU).trajectory if n < N else on_grid
    flow, truth = flows.empirical(problem, X[:n], symmetric=True), contributions(path)
    runs = [rk4(flow, h, round(60 / h), every=round(0.1 / h)) for h in STEPS]
    by_step[n] = [rms(contributions(run) - truth) for run in runs]
    sampling[n] = rms(truth - population)
print("      N   RMS error of RK4 / that of sampling, h = " + ", ".join(f"{h:g}" for h in STEPS))
for n in SIZES:
    ratios = "".join(f"{100 * error / sampling[n]:11.2f} %" for error in by_step[n])
    print(f"{n:7d}{ratios}")
worst = max(by_step[n][1] / sampling[n] for n in SIZES)
print(f"h = 0.05 errs by less than one per cent of what sampling does: {worst < 0.01}")

# %% [markdown]
# From here on, RK4 with $h=0.05$ is good enough for every statistical statement. (Its order is one,
# not four, so smaller steps buy little.)
#
# ## Figure 3: the fourth description
#
# {numref}`chapter-identical-neurons` shows the limit, the reduced equations and the original
# parameters. The fourth curve is the exact path on 8192 samples. For panel (d) the expectations in
# the two terms of (5) become sample averages, as the paper says.

# %%
four = {name: make(problem) for name, make in
        (("limit", flows.limit), ("reduced", flows.reduced), ("original", flows.population))}
shown = {name: solve(flow, fine) for name, flow in four.items()} | {"samples": on_fine}
terms = {name: flow.rates(shown[name].state).sum(axis=2) for name, flow in four.items()}
terms["samples"] = small.rates(on_fine.state).sum(axis=2)


def across(run):
    """|P sin ψ|: the redundant part perpendicular to the teacher."""
    return np.abs(run.P * np.sin(run.angle(1)))


# %% mystnb={"figure": {"caption": "Figure 3 of the paper with all four descriptions, $(m,D,N)=(8,32,8192)$: (a) coefficients, (b) loss, (c) the designated angle $\\lvert\\theta\\rvert$ and the redundant part across the teacher, (d) the two terms of the loss decomposition (5) over $D$. For training on samples, loss and terms are sample averages.", "name": "fig-four-descriptions"}, "image": {"alt": "Four panels over fast time on a logarithmic axis. Three curves coincide; the fourth, training on samples, lies next to them: coefficients differ by less than the width of a line, the loss is slightly lower at first and slightly higher at the end, the angle dips at the same places. The direction term of the samples dips at a slightly different time."}}
fig, ((ax_q, ax_loss), (ax_angle, ax_rate)) = figures.panels(2, 2, width=8.0, height=2.9)
clock = "fast time τ = Dt"
for k, (name, run) in enumerate(shown.items()):
    style = {"xlabel": clock, "first": k}
    for values in run.q.T[:2]:
        figures.curves(ax_q, fine, {name: values}, ylabel="$q_i$", title="(a)", log="x", **style)
    figures.curves(ax_loss, fine, {name: run.loss}, ylabel="loss", title="(b)", log="xy", **style)
    for values in (run.angle(0), across(run)):
        labels = {"ylabel": "|θ| and |P sin ψ|", "title": "(c)", "log": "xy"}
        figures.curves(ax_angle, fine, {name: values}, **labels, **style)
    for values in terms[name].T:
        labels = {"ylabel": "−dL/dτ", "title": "(d)", "log": "xy"}
        figures.curves(ax_rate, fine, {name: values}, **labels, **style)
ax_q.legend(ax_q.lines[::2], shown, frameon=False)
for ax, x, y, text in ((ax_q, 8, 0.55, "designated"), (ax_q, 3, 0.13, "redundant"),
                       (ax_angle, 0.12, 0.05, "|θ|"), (ax_angle, 0.5, 0.65, "|P sin ψ|"),
                       (ax_rate, 3, 3e-2, "coefficient"), (ax_rate, 2.5, 2e-6, "direction")):
    ax.text(x, y, text)
for ax in fig.axes:
    ax.set_xlim(0.02, 60)
plt.show()

# %%
print("at τ = 60        q_k      q_j          L        |θ|   |P sin ψ|  φ − ψ     owner  selected")
for name, run in shown.items():
    print(f"{name:10s}   {run.q[-1, 0]:.4f}  {run.q[-1, 1]:.6f}  {run.loss[-1]:.3e}  "
          f"{run.angle(0)[-1]:.5f}  {across(run)[-1]:.5f}  {phi - run.angle(1)[-1]:9.2e}"
          f"   {run.owner}     {captured(run, redundant='L2')[-1]}")
equal = rk4(flows.empirical(problem.regauged(+D), X, symmetric=True), 0.05, 1200, every=2)
print(f"equal scales on the same samples: q_i = {equal.q[-1, 0]:.4f}, angle "
      f"{equal.angle(1)[-1]:.1e}, selected {captured(equal, redundant='L2').any()}")
away = rms(contributions(on_grid) - population)
print(f"RMS distance of the samples from the population, in X: {away:.2e}")

# %% [markdown]
# The samples select the designated student, on a path that is close to the others but visibly not
# the same: the distance is of order $N^{-1/2}$. The null, on the same samples, has all imbalances
# $+D$: nobody is selected, no coefficient decays, and the common direction turns all the way.
#
# For panel (d) the two terms must add up to the rate at which *the sample loss* falls. Its
# derivative along the path comes from losses a little before and behind. The null are the
# population's terms, evaluated on the same path. We accept a relative difference of $10^{-3}$ up to
# $\tau=30$: the difference quotient with $\varepsilon=10^{-5}$ is good to $10^{-16}/\varepsilon$ of
# a loss, which is less than $10^{-5}$ of the rate there, and a jump inside it adds a part $1/N$.


# %%
def falling_of(flow, states, eps=1e-5):
    """−dL/dτ of the flow's own loss at its states, by central differences."""
    rates = np.array([flow.rhs(0, y) for y in states])
    behind, ahead = (flow.read(states + sign * eps * rates)[3] for sign in (-1, 1))
    return (behind - ahead) / (2 * eps)


upto = on_grid.at(slice(1, 301))
a, w = gauge.weights(upto.q, upto.s, upto.delta)
all_states = np.column_stack([a, w.reshape(len(a), -1)])
falling = falling_of(small, upto.state)
total, total_null = (flow.rates(states).sum(axis=(1, 2)) for flow, states in (
    (small, upto.state), (flows.population(problem), all_states)))
miss, miss_null = (np.abs(x / falling - 1) for x in (total, total_null))
print(f"two terms as sample averages: within 1e-3 at {np.sum(miss < 1e-3)} of {miss.size} records")
print(f"population's terms on this path: within 1e-3 at {np.sum(miss_null < 1e-3)}, "
      f"off by up to {100 * miss_null.max():.0f} %")
