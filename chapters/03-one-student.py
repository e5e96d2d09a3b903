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
# (chapter-one-student)=
# # One student
#
# A single ReLU student learns a single ReLU teacher. It starts twice from the same function, once
# with imbalance $\delta=+D$ and once with $\delta=-D$. After this chapter you know
#
# - why it reaches the teacher for either sign (appendix A.4 of {cite:t}`wang2026gauge`);
# - how long it takes: a time of order $D^{-1}$ for $+D$ and of order $D$ for $-D$, with constants
#   (the paper's theorem 3.1, A.5, figure 2);
# - why the two paths differ as curves, not only in speed (the paper's theorem 3.2);
# - which simpler flow each of them follows when $D$ is large (A.6, figure D.1(a)).
#
# Two guesses go with us as nulls: that the scales do not matter, so that a *balanced* student
# ($\delta=0$) does the same; and that $\delta$ only changes the *clock*. The chapter runs for about
# 10 seconds on one core.

# %%
import math

import numpy as np
from myst_nb import glue
from scipy.integrate import odeint, quad

from gaugelib import claims, figures, flows, gauge, kernel, measure, problem, solve
from gaugelib.figures import plt

q0, c0, q_star = 0.6, 0.0, 1.0  # the start of figure 2 (D.7)
D_values = np.array([8.0, 16.0, 32.0, 64.0, 128.0])
START = 1e-14

plus, minus = problem.single(q0, c0, +16.0), problem.single(q0, c0, -16.0)
balanced = plus.regauged(0.0)
for name, one in {"+D": plus, "-D": minus, "balanced": balanced}.items():
    a, w = one.weights()
    r = np.linalg.norm(w)
    print(f"{name:8s}  a = {a[0]:.4f}   |w| = {r:.4f}   a|w| = {a[0] * r:.4f}")
x = np.random.default_rng(0).standard_normal((1000, 2))
start_gap = np.abs(plus.predict(x) - minus.predict(x)).max()
a, w = plus.weights()
doubled_gap = np.abs(np.maximum(x @ w.T, 0) @ (2 * a) - minus.predict(x)).max()
inputs = len(x)
print(f"same function at the start, to {START:g}:", bool(start_gap < START))
print(f"with the output weight alone doubled it would differ by up to {doubled_gap:.4g}")

# %% [markdown]
# ## The closed system
#
# The teacher is $q_\star[s_\star^\top x]_+$ with $q_\star>0$. The student has coefficient $q>0$,
# direction $s$ and alignment $c=s^\top s_\star=\cos\alpha$. In the coordinates of
# {numref}`chapter-gauge`, with the kernel of {numref}`chapter-kernel`, population gradient flow
# is a planar system, in every dimension:
#
# $$
# \dot q=-\mu(q,\delta)\,R(q,c),\qquad \dot c=\chi(q,\delta)\,A(c),\qquad
# R=\frac q2-q_\star\kappa(c),\qquad A=q_\star\kappa'(c)(1-c^2),
# $$ (eq-single-flow)
#
# with $\mu=\sqrt{\delta^2+4q^2}$ and $\chi=(\mu+\delta)/(2q)$. The residual $R$ of the coefficient
# vanishes on the **nullcline** $q=h(c)$, $h(c)=2q_\star\kappa(c)$. The imbalance enters through
# $\mu$, which does not depend on its sign, and through $\chi$, which does:
#
# $$
# \chi(q,+D)\,\chi(q,-D)=1,\qquad \chi(q,+D)-\chi(q,-D)=\frac Dq,\qquad
# \frac Dq\le\chi(q,+D)=\frac{\mu+D}{2q}.
# $$ (eq-single-chi)
#
# We integrate the angle, $\dot\alpha=-\chi q_\star(\pi-\alpha)\sin\alpha/(2\pi)$, never $c$ itself:
# near the teacher $1-c=2\sin^2(\alpha/2)$ keeps all its digits, and $c$ does not.
#
# Is the system really closed? We follow both students in their original parameters $(a,w)$, in
# three dimensions, with another solver (DOP853), and compare all records. Both solvers keep a
# relative tolerance near $10^{-13}$ a step; $10^{-8}$ is far above what that can add up to, and
# far below every difference of two flows from which we draw a conclusion.

# %%
def apart(one, other):
    """Largest difference of coefficient or angle at common times."""
    return max(np.abs(one.q - other.q).max(), np.abs(one.angle(0) - other.angle(0)).max())


ROUTES, records = 1e-8, 0
closed, closed_null, kept = True, True, True
for delta, tau in ((+16.0, np.linspace(0, 10, 51)), (-16.0, np.linspace(0, 2000, 51))):
    spatial = flows.population(problem.single(q0, c0, delta, d=3))
    original = solve.solve(spatial, tau, method="DOP853")
    planar = solve.solve(flows.reduced(problem.single(q0, c0, delta)), tau)
    closed &= bool(apart(planar, original) < ROUTES)
    closed_null &= bool(apart(solve.solve(flows.reduced(balanced), tau), original) < ROUTES)
    kept &= measure.imbalance_drift(original) < ROUTES
    records += original.tau.size
    print(f"δ = {delta:+.0f}, τ = {tau[-1]:.0f}: q = {original.q[-1, 0]:.4f}, "
          f"angle = {original.angle(0)[-1]:.4f}")
print(f"(a, w) = planar system to {ROUTES:g}:", closed, "   = the balanced one:", closed_null)
print(f"imbalance kept, relative to D, to {ROUTES:g}:", kept)

# %% [markdown]
# ## An interval for the coefficient, and convergence
#
# ```{prf:theorem} Invariant interval and convergence; paper's appendix A.4
# :label: thm-single-region
#
# Let $q_0>0$, $-1<c_0<1$ and $\delta\in\mathbb R$. Then $c$ increases, and for all times
#
# $$ \underline q\le q(t)\le\overline q,\qquad \underline q=\min\{q_0,h(c_0)\},\qquad
#    \overline q=\max\{q_0,q_\star\}. $$
#
# Moreover $q(t)\to q_\star$, $c(t)\to1$ and $L\to0$.
# ```
#
# ```{prf:proof}
# While $q>0$ and $\lvert c\rvert<1$ we have $\dot c>0$, so $h(c)$ increases from $h(c_0)$ towards
# at most $h(1)=q_\star$. Where $q=\underline q$, $q\le h(c_0)\le h(c)$ gives $\dot q\ge0$; where
# $q=\overline q$, $q\ge q_\star\ge h(c)$ gives $\dot q\le0$: the interval cannot be left. Within it
# $\chi$ is bounded below by a positive number, so $c$ could only stop at $c=1$, and
# $h(c)\to q_\star$. Once $\lvert h-q_\star\rvert<\eta$, outside $[q_\star-2\eta,q_\star+2\eta]$
# the drift $\dot q=-\tfrac12\mu(q-h)$ points to that interval and is at least
# $\tfrac12\eta\,\mu(\underline q,\delta)$: $q$ enters it in finite time and stays.
# ```
#
# Note what the interval is *not*: the one between start and end. From $(0.6,0)$ the coefficient can
# fall to $h(0)=1/\pi$ before it rises to 1 ({numref}`fig-single-region`). We follow starts on both
# sides of the nullcline, small and large, nearly opposite and nearly aligned, for both signs and
# for $D$ below and above 1, to the fast time $2\cdot10^4\max(D,D^2)$. The slack $10^{-12}$ is ten
# times the solver's relative tolerance: a trajectory may sit on an end of the interval.


# %%
def q_interval(q, c):
    """The ends of the invariant interval of A.4."""
    return min(q, 2 * q_star * kernel.kappa(c)), max(q, q_star)


starts = [(q, c) for q in (0.05, 0.6, 3.0) for c in (-0.95, -0.5, 0.0, 0.9)]
paths = []  # (invariant interval, flow, trajectory)
for D in (0.5, 4.0, 32.0):
    tau = np.append(0, np.geomspace(1e-3 * min(1, D), 2e4 * max(D, D**2), 120))
    for q, c in starts:
        for delta in (+D, -D):
            flow = flows.reduced(problem.single(q, c, delta))
            paths.append((q_interval(q, c), flow, solve.solve(flow, tau)))


# %%
TEACHER, SLACK = 1e-10, 1e-12


def ends_at_teacher(path):
    """q, angle and loss at the last record."""
    return max(abs(path.q[-1, 0] - q_star), path.angle(0)[-1], path.loss[-1]) < TEACHER


def rises(path):
    """The angle falls strictly until it is TEACHER, and the loss falls to rounding."""
    alpha = path.state[:, 1]
    falls = np.diff(alpha)[alpha[1:] > TEACHER] < 0
    return bool(np.all(falls) and np.all(np.diff(path.loss) < 1e-14))


# %%
inside, naive, rising, learned = True, True, True, True
for (low, high), _, path in paths:
    q, alpha = path.state.T
    inside &= bool(np.all((q > low - SLACK) & (q < high + SLACK)))
    naive &= bool(np.all((q > min(q[0], q_star) - SLACK) & (q < high + SLACK)))
    rising &= rises(path)
    learned &= bool(ends_at_teacher(path))
opposite = flows.reduced(minus).starting([q0, np.pi])
stuck = solve.solve(opposite, np.append(0, np.geomspace(0.01, 1e4, 60)))
all_records = sum(path.tau.size for _, _, path in paths)
print(f"{len(paths)} runs.  in the invariant interval: {inside},  between q0 and q*: {naive}")
print(f"alignment rises and loss falls: {rising},  |q - 1|, angle, loss end below {TEACHER:g}: "
      f"{learned}")
print(f"from c0 = -1: at the teacher {bool(ends_at_teacher(stuck))}, still opposite "
      f"{bool(stuck.state[-1, 1] == np.pi)}, q below {TEACHER:g} {bool(stuck.q[-1, 0] < TEACHER)}, "
      f"loss {stuck.loss[-1]:.4f}")
glue("single-runs", f"{len(paths)}", display=False)

# %% [markdown]
# All {glue:text}`single-runs` runs stay inside and learn the teacher; the interval between start
# and end is left. The one excluded direction is $c_0=-1$: there $A(c)=0$, the student never
# turns, and its coefficient dies, since $h(-1)=0$: the loss ends at $q_\star^2/4$, that of
# predicting zero.
#
# The drift of the proof is an inequality about every state, so we evaluate it at every record. It
# needs $\lvert h-q_\star\rvert<\eta$: before that, $q$ may well move away from $q_\star$.

# %%
drift, drift_null, returned, etas, drifting = True, True, True, (0.3, 0.1, 0.03), 0
for (low, _), flow, path in paths:
    q, alpha = path.state.T
    rate = flow.problem.D * np.array([flow.rhs(0, y)[0] for y in path.state])
    inward = -np.sign(q - q_star) * rate
    for eta in etas:
        least = eta * gauge.mu(low, path.delta[0, 0]) / 2
        far = np.abs(q - q_star) > 2 * eta
        settled = np.abs(2 * q_star * kernel.g(alpha) - q_star) < eta
        drifting += int((far & settled).sum())
        drift &= bool(np.all(inward[far & settled] >= least))
        drift_null &= bool(np.all(inward[far] >= least))
        returned &= bool(np.all(np.diff(far[settled].astype(int)) <= 0))  # once near, near for good
print(f"drift towards q* as in the proof, {drifting} times: {drift}   without |h - q*| < η: "
      f"{drift_null}")
print("q stays once it has come within 2η:", returned)

# %% mystnb={"figure": {"caption": "Paths in the plane of alignment $c$ and coefficient $q$ for $D=4$, from eight starts (dots). With $+D$ (solid) the direction turns at once; with $-D$ (dashed) the coefficient first falls or rises onto the nullcline $q=h(c)$ and then follows it to the teacher (star).", "name": "fig-single-region"}, "image": {"alt": "Phase plane. Solid paths bend smoothly from the starts to the point one, one. Dashed paths run almost vertically from the starts to a rising curve and then along it to the same point."}}
fig, ax = figures.panels(width=7.4, height=3.6)
tau = np.append(0, np.geomspace(1e-3, 1e5, 1500))
shown = [(q, c) for q in (0.05, 0.6, 1.4) for c in (-0.8, -0.2, 0.5) if (q, c) != (0.6, 0.5)]
for q, c in shown:
    for sign, colour, dash in ((+1, figures.BLUE, "-"), (-1, figures.ORANGE, (0, (4, 1.5)))):
        path = solve.solve(flows.reduced(problem.single(q, c, sign * 4.0)), tau)
        label = ("δ = +4" if sign > 0 else "δ = −4") if (q, c) == shown[0] else None
        ax.plot(np.cos(path.state[:, 1]), path.q[:, 0], color=colour, linestyle=dash, label=label)
    ax.plot(c, q, "o", color=figures.BLACK, markersize=4)
grid = np.linspace(-1, 1, 300)
ax.plot(grid, 2 * kernel.kappa(grid), color=figures.BLACK, linewidth=1, label="nullcline h(c)")
ax.plot(1, 1, "*", color=figures.GREEN, markersize=13, clip_on=False, label="teacher", zorder=5)
figures.finish(ax, "alignment c", "coefficient q", legend=False)
fig.legend(*ax.get_legend_handles_labels(), loc="outside right upper", frameon=False)
plt.show()
print(f"h(-0.8) = {2 * kernel.kappa(-0.8):.4f}, h(-0.2) = {2 * kernel.kappa(-0.2):.4f}, "
      f"h(0.5) = {2 * kernel.kappa(0.5):.4f}, h(1) = {2 * kernel.kappa(1.0):.4f}")

# %% [markdown]
# ## How long it takes
#
# Let $T_\delta(\varepsilon)=\inf\{t:c_\delta(t)\ge1-\varepsilon\}$ with $1-\varepsilon>c_0$.
#
# ```{prf:theorem} Quadratic separation of times; paper's theorem 3.1 and appendix A.5
# :label: thm-single-times
#
# For fixed $(q_0,c_0)$: $T_{+D}(\varepsilon)=\Theta(D^{-1}\log(1/\varepsilon))$ and
# $T_{-D}(\varepsilon)=\Theta(D\log(1/\varepsilon))$. With
# $I=\operatorname{artanh}(1-\varepsilon)-\operatorname{artanh}c_0$, $k_0=\kappa'(c_0)$, and $D$ so
# large that $\mu\le3D$ on the invariant interval,
#
# $$ \frac{\underline q\,I}{D\,q_\star}\le T_{+D}\le\frac{\overline q\,I}{D\,q_\star k_0},
#    \qquad
#    \frac{2D\,I}{\overline q\,q_\star}\le T_{-D}\le\frac{2D\,I}{\underline q\,q_\star k_0}. $$
# ```
#
# ```{prf:proof}
# Since $c$ increases we may use it as the variable, and with $x=\operatorname{artanh}c$,
# $\mathrm dx=\mathrm dc/(1-c^2)$,
#
# $$ T_\delta(\varepsilon)=\int_{c_0}^{1-\varepsilon}\frac{\mathrm dc}{\chi\,A(c)}
#    =\int_{x_0}^{x_0+I}\frac{\mathrm dx}{\chi(Q_\delta(x),\delta)\,q_\star\kappa'(c)},
# $$ (eq-single-time)
#
# where $Q_\delta$ is the coefficient along the path. Now $k_0\le\kappa'\le\tfrac12$,
# $D/q\le\chi(q,+D)\le2D/q$ (the upper bound is $\mu\le3D$), and $\chi(q,-D)$ is the reciprocal.
# ```
#
# The condition $\mu\le3D$ means $D\ge\overline q/\sqrt2$ and is our reading: the text that we
# worked from lacks the theorem's displayed hypothesis, and the four bounds follow from this one.
# Two routes to the time: a root on the flow in time, and the integral {eq}`eq-single-time`, where
# the angle is $\alpha=2\arctan e^{-x}$, so that no digit is lost near the teacher.


# %%
def hitting_time(one, eps, **how):
    """t with 1 - cos(alpha) = 2 sin^2(alpha/2) = eps, a root found on the flow itself."""
    target = 2 * np.arcsin(np.sqrt(eps / 2))
    tau = np.append(0, np.geomspace(1e-3, 1e3 * max(1, one.D**2), 80))
    # Tiny angles matter here, so the tolerance on alpha is relative only.
    event = solve.crossing(flows.reduced(one), tau, lambda y: y[1] - target, atol=1e-22, **how)
    return event.tau / one.D


def artanh_of_alignment(eps):
    """artanh(1 - eps) without forming 1 - eps."""
    return 0.5 * (np.log(2 - eps) - np.log(eps))


def along_alignment(delta, x, q=q0):
    """Coefficient Q and time t as functions of x = artanh c: shape (len(x), 2)."""

    def rhs(x, y):
        alpha, mu = 2 * math.atan(math.exp(-x)), math.hypot(delta, 2 * y[0])
        chi = ((mu + abs(delta)) / (2 * y[0])) ** math.copysign(1, delta)
        g = (math.sin(alpha) + (math.pi - alpha) * math.cos(alpha)) / (2 * math.pi)
        turning = chi * q_star * (math.pi - alpha) / (2 * math.pi)
        return -mu * (y[0] / 2 - q_star * g) / turning, 1 / turning

    return odeint(rhs, [q, 0.0], x, tfirst=True, rtol=1e-13, atol=1e-16, mxstep=50000)


# %%
def bounds(D, eps, q=q0, c=c0):
    """The four explicit bounds of A.5: (T+ from, T+ to, T- from, T- to)."""
    low, high = q_interval(q, c)
    k0, rise = kernel.kappa_prime(c), artanh_of_alignment(eps) - np.arctanh(c)
    return np.array([low / D, high / (D * k0), 2 * D / high, 2 * D / (low * k0)]) * rise / q_star


eps_values = [0.05, 1e-3, 1e-6, 1e-9]
cases = [(D, eps) for D in (1.0, *D_values) for eps in eps_values]
T_plus = np.array([hitting_time(problem.single(q0, c0, +D), eps) for D, eps in cases])
T_minus = np.array([hitting_time(problem.single(q0, c0, -D), eps) for D, eps in cases])
T_balanced = np.tile([hitting_time(balanced, eps) for eps in eps_values], 1 + D_values.size)
box = np.array([bounds(D, eps) for D, eps in cases])
print("   D    eps       from        T+        to  |     from        T-        to")
for (D, eps), tp, tm, b in zip(cases, T_plus, T_minus, box, strict=True):
    if D in (1, 16, 128) and eps in (0.05, 1e-6):
        print(f"{D:4.0f}  {eps:.0e}  {b[0]:9.4g} {tp:9.4g} {b[1]:9.4g}  |"
              f"{b[2]:9.4g} {tm:9.4g} {b[3]:9.4g}")
within = {"+D": (box[:, 0] <= T_plus) & (T_plus <= box[:, 1]),
          "-D": (box[:, 2] <= T_minus) & (T_minus <= box[:, 3]),
          "balanced in +D's": (box[:, 0] <= T_balanced) & (T_balanced <= box[:, 1]),
          "balanced in -D's": (box[:, 2] <= T_balanced) & (T_balanced <= box[:, 3])}
closest = {name: min((T / box[:, k]).min(), (box[:, k + 1] / T).min())
           for name, T, k in (("+D", T_plus, 0), ("-D", T_minus, 2))}  # ratio to the nearer bound
print("times within the bounds:", ", ".join(f"{k} {v.sum()}/{v.size}" for k, v in within.items()))

# %% [markdown]
# The bounds must hold from other starts too, and the integral must give the same times. Here are
# the 12 starts above (for $D=4$ and $32$, both at least $\overline q/\sqrt2$), three thresholds
# each, all by the integral, and the main start by both routes. Two controls: the integral with $Q$
# frozen at $q_0$, and a bound at $D=0.05$, where the condition $\mu\le3D$ fails (exercise 1).

# %%
slack = []
for q, c in starts:
    for D in (4.0, 32.0):
        eps = np.array([0.05, 1e-3, 1e-6])
        x = np.append(np.arctanh(c), artanh_of_alignment(eps))
        pair = [along_alignment(sign * D, x, q)[1:, 1] for sign in (+1, -1)]
        for k in range(3):
            b, (tp, tm) = bounds(D, eps[k], q, c), (pair[0][k], pair[1][k])
            slack.append([tp / b[0], b[1] / tp, tm / b[2], b[3] / tm])
slack = np.array(slack)
print(f"{len(slack)} cases by the integral within the bounds: +D {bool(np.all(slack[:, :2] >= 1))},"
      f" -D {bool(np.all(slack[:, 2:] >= 1))}")
print("closest approach to each bound, as a ratio:", *(f"{r:.4g}" for r in slack.min(axis=0)))

x_end = np.array([np.arctanh(c0), artanh_of_alignment(0.05)])
by_integral = np.array([along_alignment(s * D, x_end)[-1, 1] for s in (1, -1) for D in D_values])
at_95 = np.array([(D >= 8 and eps == 0.05) for D, eps in cases])
plus_95, minus_95 = T_plus[at_95], T_minus[at_95]  # to c = 0.95, over D_values
mismatch = np.abs(np.concatenate([plus_95, minus_95]) / by_integral - 1).max()
print(f"root on the flow = integral over c, to {ROUTES:g}:", bool(mismatch < ROUTES))


# %%
def frozen_time(delta):
    """The integral with Q frozen at q0."""
    chi = gauge.chi(q0, delta)
    return quad(lambda x: 1 / (chi * q_star * kernel.kappa_prime(np.tanh(x))), *x_end)[0]


frozen = np.array([frozen_time(s * D) for s in (1, -1) for D in D_values])
off = np.abs(frozen / by_integral - 1)
print(f"D = 16, c = 0.95:    T+ = {plus_95[1]:.4g},  T- = {minus_95[1]:.4g}")
print(f"with q frozen at q0: T+ = {frozen[1]:.4g},  T- = {frozen[6]:.4g}")
print(f"relative distance {off[:5].min():.4f} to {off[:5].max():.4f} (T+), "
      f"{off[5:].min():.4f} to {off[5:].max():.4f} (T-)")
tiny = 0.05
bare = hitting_time(problem.single(q0, c0, tiny), 0.05)
print(f"D = {tiny}: T+ = {bare:.4g}, but the lower bound says {bounds(tiny, 0.05)[0]:.4g}")

# %% [markdown]
# ### The constants, and the growth with $\log(1/\varepsilon)$
#
# The theorem leaves a factor between its bounds. For a fixed start the constants have limits.
# The $+D$ time tends to that of the fast limit flow (see {prf:ref}`thm-single-limits`), and the
# $-D$ time to a plain integral along the nullcline:
#
# $$ D\,T_{+D}\to T_{\rm fast}(\varepsilon),\qquad
#    \frac{T_{-D}}D\to\int_{\alpha_\varepsilon}^{\alpha_0}
#    \frac{\mathrm d\alpha}{2q_\star^2\,g(\alpha)\,\omega(\alpha)}. $$ (eq-single-constants)

# %%
alpha_95 = np.arccos(0.95)
tau = np.linspace(0, 40, 81)
fast_constant = solve.crossing(flows.limit(plus), tau, lambda y: y[1] - alpha_95).tau
slow_constant = quad(lambda a: 1 / (2 * kernel.g(a) * kernel.omega(a)), alpha_95, np.pi / 2)[0]
print("   D     D T+      T-/D     T-/(D^2 T+)")
for D, tp, tm in zip(D_values, plus_95, minus_95, strict=True):
    print(f"{D:4.0f}  {D * tp:8.4f}  {tm / D:8.4f}  {tm / tp / D**2:8.4f}")
print(f" inf  {fast_constant:8.4f}  {slow_constant:8.4f}  {slow_constant / fast_constant:8.4f}")
distance = {
    "D T+": np.abs(plus_95 * D_values / fast_constant - 1),
    "T-/D": np.abs(minus_95 / D_values / slow_constant - 1),
}
approach = {name: measure.loglog_fit(D_values, gap).slope for name, gap in distance.items()}
print("approach to the limit:", ", ".join(f"{k} like D^{v:.3f}" for k, v in approach.items()))
times = {"T+": plus_95, "T-": minus_95, "T-/T+": minus_95 / plus_95}
exponent = {name: measure.loglog_fit(D_values, T).slope for name, T in times.items()}
local = {name: np.log2(T[-1] / T[-2]) for name, T in times.items()}
for name in times:
    print(f"{name:6s} exponent in D: {exponent[name]:8.4f} (five), {local[name]:8.4f} (64 to 128)")
    glue(f"single-exponent-{name.replace('/', '-over-')}", f"{exponent[name]:.4f}", display=False)
glue("single-ratio-constant", f"{slow_constant / fast_constant:.4f}", display=False)

# %% [markdown]
# The exponents over the five values are {glue:text}`single-exponent-T+` and
# {glue:text}`single-exponent-T-` ({numref}`fig-single-times`, left); the theorem's $-1$ and $+1$
# are limits, and the last doubling is closer.
#
# Now the other factor, $\log(1/\varepsilon)$. Close to the teacher
# $\dot c\approx\chi(q_\star,\delta)\,q_\star\,(1-c)$, so a further factor $e^{-1}$ in $\varepsilon$
# costs the time $1/(q_\star\chi(q_\star,\delta))$; by {eq}`eq-single-chi` the two costs
# multiply to $1/q_\star^2$ for every $D$. And $\Theta$ has explicit constants: with $c_0=0$,
# $\tfrac12\log(1/\varepsilon)\le I\le\log(1/\varepsilon)$, so $D\,T_{+D}/\log(1/\varepsilon)$ lies
# in $[\underline q/2q_\star,\ \overline q/q_\star k_0]$ and $T_{-D}/(D\log(1/\varepsilon))$ in
# $[1/\overline qq_\star,\ 2/\underline qq_\star k_0]$. A balanced student takes one time
# whatever $D$ is, and must leave these intervals when $D$ is large.

# %%
deep, Ds = 10.0 ** -np.arange(1, 13), (1.0, 16.0, 1e4)
low, high, k0 = *q_interval(q0, c0), kernel.kappa_prime(c0)
ends = {+1: (low / 2, high / k0), -1: (1 / high, 2 / (low * k0))}  # q* = 1
T_deep = {s * D: np.array([hitting_time(problem.single(q0, c0, s * D), e) for e in deep])
          for D in Ds for s in (+1, -1)}
T_deep[0.0] = np.array([hitting_time(balanced, e) for e in deep])
theta, theta_null = {}, {}
for s, (a, b) in ends.items():
    scaled = np.array([D**s * T_deep[s * D] for D in Ds]) / np.log(1 / deep)
    scaled_null = np.array([D**s * T_deep[0.0] for D in Ds]) / np.log(1 / deep)
    theta[s] = bool(np.all((a <= scaled) & (scaled <= b)))
    theta_null[s] = bool(np.all((a <= scaled_null) & (scaled_null <= b)))
    print(f"{s:+d}: {a:.4f} <= {scaled.min():.4f} ... {scaled.max():.4f} <= {b:.4f};  "
          f"balanced {scaled_null.min():.4g} ... {scaled_null.max():.4g}")
cost = {delta: (T[-1] - T[-2]) / np.log(10) for delta, T in T_deep.items()}
for delta, value in cost.items():
    print(f"δ = {delta:+8.0f}: a factor e in ε costs {value:.4g}, "
          f"times q* χ(q*, δ): {value * gauge.chi(q_star, delta):.4f}")

# %% mystnb={"figure": {"caption": "Hitting times. Left: time to $c=0.95$ over $D$, inside the bands of A.5; the grey line is the balanced student, which does not depend on $D$. Right: at $D=16$ the times in their own units, $D\\,T_{+D}$ and $T_{-D}/D$, grow linearly in $\\log(1/\\varepsilon)$.", "name": "fig-single-times"}, "image": {"alt": "Left: on logarithmic axes the times for minus D rise and those for plus D fall as straight lines within shaded bands; a horizontal line between them. Right: two nearly straight lines rising with each decade of epsilon, parallel to each other."}}
fig, (left, right) = figures.panels(1, 2, width=7.2, height=3.2)
band = np.array([bounds(D, 0.05) for D in D_values])
left.fill_between(D_values, band[:, 0], band[:, 1], color=figures.BLUE, alpha=0.15, linewidth=0)
left.fill_between(D_values, band[:, 2], band[:, 3], color=figures.ORANGE, alpha=0.15, linewidth=0)
series = {"δ = +D": plus_95, "δ = −D": minus_95}
figures.measured_points(left, D_values, series, xlabel="imbalance D", ylabel="time t to c = 0.95")
T_0 = T_balanced[0]
figures.guide(left, D_values[[0, -1]], [T_0, T_0], "")
for name, place in {"δ = −D": (8, 1500), "δ = 0": (8, 1.3 * T_0), "δ = +D": (64, 0.3)}.items():
    left.annotate(name, place, color=figures.BLACK)
left.set_xticks(D_values, D_values.astype(int))
left.minorticks_off()
left.get_legend().remove()
series = {"D T₊, δ = +16": 16 * T_deep[16.0], "T₋/D, δ = −16": T_deep[-16.0] / 16}
figures.curves(right, deep, series, xlabel="ε", ylabel="rescaled time", log="x")
right.invert_xaxis()
plt.show()
print(f"T(c = 0.95): {plus_95[0]:.4g} to {plus_95[-1]:.4g} for +D, "
      f"{minus_95[0]:.4g} to {minus_95[-1]:.4g} for -D, {T_0:.4g} balanced")
print("at ε = 1e-12, D = 16:", ", ".join(f"{k} {v[-1]:.2f}" for k, v in series.items()))

# %% [markdown]
# ## The quadratic separation (figure 2)
#
# Figure 2 of the paper compares the two students from $(q_0,c_0)=(0.6,0)$: their phase curves at
# $D=16$ up to $c=0.95$, and the ratio $T_{-D}/T_{+D}$ at the same threshold over $D$. The values of
# $D$ are those of a table D.1 that the text we worked from does not contain; we take the five of
# Table D.2 (our choice). No digit of the figure is printed, so its claims are properties: the paths
# differ, and the ratio grows like $D^2$.
#
# At *one* coefficient the ratio of the mobilities is $\chi(q,+D)/\chi(q,-D)\approx D^2/q^2$. But
# the two students pass the same alignments with different coefficients, so the constant of
# $T_{-D}/T_{+D}$ is none of these: it is {glue:text}`single-ratio-constant`, the ratio of the two
# limits in {eq}`eq-single-constants`. The null for the exponent 2 is the balanced student in place
# of either sign: then one factor $D$ is missing.

# %%
x_shown = np.append(0, np.geomspace(1e-6, np.arctanh(0.95), 400))
c_shown = np.tanh(x_shown)
curve = {D: [along_alignment(sign * D, x_shown)[:, 0] for sign in (+1, -1)] for D in D_values}
distance = {D: np.abs(a - b) for D, (a, b) in curve.items()}
print("  D    sup |Q- - Q+|   at c")
for D, gap in distance.items():
    print(f"{D:4.0f}  {gap.max():10.4f}   {c_shown[gap.argmax()]:10.5f}")
print(f"|q0 - h(c0)| = {abs(q0 - 2 * kernel.kappa(c0)):.4f}")

# The same distance on the flow in time, at the alignment where it is largest.
widest = c_shown[distance[16].argmax()]
tau = np.append(0, np.geomspace(1e-4, 1e4, 100))
there = [solve.crossing(flows.reduced(one), tau, lambda y: np.cos(y[1]) - widest).state[0]
         for one in (plus, minus)]
on_flow = bool(abs(abs(there[1] - there[0]) - distance[16].max()) < ROUTES)
print(f"the flow in time gives the same distance at D = 16, to {ROUTES:g}:", on_flow)
against_balanced = {"T-/T0": minus_95 / T_0, "T0/T+": T_0 / plus_95}
null_exponent = {k: measure.loglog_fit(D_values, v).slope for k, v in against_balanced.items()}
print(f"exponent of T-/T+: {exponent['T-/T+']:.4f}; with a balanced student in place of one:",
      ", ".join(f"{k} {v:.4f}" for k, v in null_exponent.items()))
glue("single-sup-distance", f"{distance[16].max():.4f}", display=False)

# %% mystnb={"figure": {"caption": "The paper's figure 2, recomputed. Left: phase curves at $D=16$ from $(0.6,0)$ to $c=0.95$, with the balanced student and the nullcline for comparison. Right: ratio of the times to $c=0.95$; the thin line is the predicted limit, a constant times $D^2$.", "name": "fig-single-paths"}, "image": {"alt": "Left: the curve for minus D drops vertically onto the nullcline and then rises along it; the curve for plus D dips least and stays below the other two at the end; the balanced one lies between. Right: five points on a straight line of slope two on logarithmic axes."}}
fig, (left, right) = figures.panels(1, 2, width=7.2, height=3.2)
series = {"δ = +16": curve[16][0], "δ = −16": curve[16][1],
          "δ = 0": along_alignment(0.0, x_shown)[:, 0]}
figures.curves(left, c_shown, series, xlabel="alignment c", ylabel="coefficient q")
left.plot(c_shown, 2 * kernel.kappa(c_shown), color=figures.BLACK, linewidth=0.8, label="nullcline")
left.plot(c0, q0, "o", color=figures.BLACK, clip_on=False)
left.legend(frameon=False)
limit_line = slow_constant / fast_constant * D_values**2
right.plot(D_values, limit_line, color="#777777", linewidth=1, label="limit")
labels = {"xlabel": "imbalance D", "ylabel": "T₋ / T₊ to c = 0.95"}
figures.measured_points(right, D_values, {"measured": minus_95 / plus_95}, **labels)
right.set_xticks(D_values, D_values.astype(int))
right.minorticks_off()
right.legend(frameon=False)
plt.show()
print("ratios:", " ".join(f"{r:.4g}" for r in minus_95 / plus_95),
      f"   q at c = 0.95: {curve[16][0][-1]:.4f} (+16), {curve[16][1][-1]:.4f} (-16)")

# %% [markdown]
# The largest distance of the two curves in {numref}`fig-single-paths` is
# {glue:text}`single-sup-distance`, and for large $D$ it tends to $\lvert q_0-h(c_0)\rvert$: with
# $-D$ the coefficient has gone all the way to the nullcline before the direction moves. "First the
# coefficient, then the direction" can be made exact: stop when $q-h(c)$ has fallen to 1 % of its
# first value (our choice). With $-D$ this takes a time of about $2\log(100)/D$, and
# $\dot c\le\overline q\,q_\star/(2D)$: the alignment has moved by at most the product, which is of
# order $D^{-2}$.


# %%
def at_relaxation(delta, fraction=0.01):
    """(t, c) when q - h(c) first equals this fraction of its initial value."""

    def gap(y):
        return y[0] - 2 * q_star * kernel.g(y[1])

    flow = flows.reduced(problem.single(q0, c0, delta))
    tau, level = np.append(0, np.geomspace(1e-3, 1e3, 120)), fraction * gap(flow.state0)
    event = solve.crossing(flow, tau, lambda y: gap(y) - level)
    return event.tau / abs(delta), np.cos(event.state[1])


relaxed = np.array([[at_relaxation(sign * D) for D in D_values] for sign in (+1, -1)])
moved, allowed = relaxed[:, :, 1] - c0, high * q_star / (2 * D_values) * relaxed[1, :, 0]
print("   D   c moved while q relaxed:  +D       -D      at most")
for D, a, b, most in zip(D_values, *moved, allowed, strict=True):
    print(f"{D:4.0f} {a:28.4f}   {b:.3e}  {most:.3e}")
moved_exponent = np.log2(moved[1, -1] / moved[1, -2])
print(f"exponent in D for -D, 64 to 128: {moved_exponent:.4f}")

# %% [markdown]
# ## Two different paths
#
# ```{prf:theorem} No common path; paper's theorem 3.2 and corollary A.11
# :label: thm-single-paths
#
# Let $D>0$, $q_0>0$, $-1<c_0<1$. No strictly increasing $C^1$ change of time makes the
# trajectories of {eq}`eq-single-flow` with $\delta=+D$ and $\delta=-D$ from $(q_0,c_0)$ agree on
# an interval. Off the nullcline the two vector fields are not collinear. On it they have the same
# tangent, but the phase curves $Q_\pm(c)$ have different curvature:
#
# $$ Q_-''(c_0)-Q_+''(c_0)=\frac{\mu(q_0,D)\,D}{q_0\,(1-c_0^2)}>0. $$ (eq-single-curvature)
# ```
#
# ```{prf:proof}
# With $V_\delta=(-\mu R,\chi A)$ and {eq}`eq-single-chi`,
#
# $$ \det(V_{+D},V_{-D})=\mu RA\,\bigl(\chi(q,+D)-\chi(q,-D)\bigr)=\frac{\mu D}{q}\,RA,
# $$ (eq-single-det)
#
# which vanishes only where $R=0$. A common path would therefore have to stay on the nullcline;
# there $\dot q=0$, so $q$ is constant, while $h(c)$ grows strictly: impossible. For the curvature,
# $Q'=F_\delta(Q,c)=-\mu R/(\chi A)$. Where $R=0$, $Q'=0$ and
# $Q''=\partial_cF_\delta=\mu q_\star\kappa'/(\chi A)=\mu/(\chi(1-c^2))$; subtract, using that
# $\chi(q,-D)=1/\chi(q,+D)$.
# ```
#
# We check the determinant from the two flows' own right-hand sides at random states (in the
# coordinates $(q,\alpha)$, where $A$ becomes $-q_\star\omega$), and that a start on the nullcline
# leaves it at once. The flows know $R$ to about $10^{-16}$, and among a few thousand random states
# $\lvert R\rvert$ is hardly below $10^{-4}$; so we ask for $10^{-11}$, relative to $\lvert
# V_+\rvert\lvert V_-\rvert$, ten times the worst. On the nullcline "parallel" means $\dot q=0$ for
# both fields, to four roundings.

# %%
def fields(D, states):
    """(q', alpha') per unit of t for +D and -D, from the flows: (n, 2, 2)."""
    both = [flows.reduced(problem.single(q0, c0, s * D)).rhs for s in (+1, -1)]
    return D * np.array([[f(0.0, y) for f in both] for y in states])


rng, FIELDS, ROUNDINGS = np.random.default_rng(3), 1e-11, 4
q, alpha = rng.uniform(0.05, 3, 2000), rng.uniform(0.01, np.pi - 0.01, 2000)
R, at_random, parallel = q / 2 - q_star * kernel.g(alpha), [], []
for D in (0.5, 4.0, 64.0):
    V = fields(D, np.column_stack([q, alpha]))
    formula = -gauge.mu(q, D) * D / q * R * q_star * kernel.omega(alpha)
    scale = np.linalg.norm(V, axis=2).prod(axis=1)
    at_random.append([np.abs(np.linalg.det(V) - formula) / scale < FIELDS,
                      np.sign(np.linalg.det(V)) == -np.sign(R)])
    on = np.column_stack([2 * q_star * kernel.g(alpha), alpha])
    zero = ROUNDINGS * np.finfo(float).eps * gauge.mu(on[:, :1], D)
    parallel.append(np.abs(fields(D, on)[:, :, 0]) <= zero)
determinant, transversal = np.all(at_random, axis=(0, 2))
tangent = bool(np.all(parallel))
tested, on_curve = np.shape(at_random)[0] * np.shape(at_random)[2], sum(map(len, parallel))
print(f"at {tested} states: determinant = formula, to {FIELDS:g}: {bool(determinant)}, "
      f"with the sign of -R: {bool(transversal)}")
print(f"at {on_curve} states on the nullcline: parallel: {tangent}")

# %%
def leaves_nullcline(delta, angle):
    """Whether q < h(c) at all times after a start on the nullcline, up to t = 1/|delta|."""
    flow = flows.reduced(problem.single(q0, c0, delta))
    flow = flow.starting([2 * q_star * kernel.g(angle), angle])
    q, alpha = solve.solve(flow, np.linspace(0, 1, 11)).state.T
    return bool(np.all(2 * q_star * kernel.g(alpha) - q > 1e-12, where=np.arange(11) > 0))


deltas = [s * D for s in (1, -1) for D in (0.5, 4.0, 64.0)]
below = [leaves_nullcline(delta, angle) for delta in deltas for angle in (0.3, 1.0, 2.0)]
below_null = [leaves_nullcline(delta, 0.0) for delta in deltas]
print(f"starts on the nullcline fall below it: {sum(below)}/{len(below)}; "
      f"the teacher itself: {sum(below_null)}/{len(below_null)}")

flow, end, CLOCK = flows.reduced(plus), 3.0, 1e-10
t = np.linspace(0, end / 16, 40)
clocked = odeint(lambda t, y: np.multiply(16 * (1 + 2 * t), flow.rhs(0, y)), flow.state0, t,
                 tfirst=True, rtol=1e-13, atol=1e-15)
plain = solve.solve(flow, 16 * (t + t**2)).state
same_path = bool(np.abs(clocked - plain).max() < CLOCK)
print(f"+D on the clock t + t² runs through the states of +D, to {CLOCK:g}:", same_path)

# %% [markdown]
# For the curvature two routes that do not know the formula. The first differentiates $Q'$ once
# along the slope field by a complex step, $Q''=\operatorname{Im}F_\delta(q_0+i\eta
# F_\delta,\,c_0+i\eta)/\eta$ with $\eta=10^{-20}$, which has no cancellation. The second
# integrates the two curves to a small distance $x=c-c_0$: they part *linearly* off the nullcline
# and *quadratically* on it,
#
# $$ Q_--Q_+\approx-\frac{\mu RD}{q_0A}\,x\quad(R\ne0),\qquad
#    Q_--Q_+\approx\tfrac12\,\frac{\mu D}{q_0(1-c_0^2)}\,x^2\quad(R=0). $$ (eq-single-parting)
#
# Relatively, the next terms are of order $x/\ell$ and $(x/\ell)^2$, where $\ell=2\chi A/\mu$ (for
# $-D$) is the length over which $Q$ relaxes to the nullcline. At $x=\ell/50$ we combine $x$, $x/2$
# and $x/4$ so that both drop out, and ask for $10^{-5}$, about $(x/\ell)^3$.


# %%
def slope(delta, q, c):
    """F = dq/dc = -mu R/(chi A); q and c may be complex."""
    mu = np.sqrt(delta**2 + 4 * q**2)
    chi = (mu + delta) / (2 * q) if delta > 0 else 2 * q / (mu - delta)
    beta = np.pi - np.arccos(c)
    R = q / 2 - q_star * (np.sqrt(1 - c**2) + beta * c) / (2 * np.pi)
    return -mu * R / (chi * q_star * beta / (2 * np.pi) * (1 - c**2))


def second_derivative(delta, q, c, eta=1e-20):
    """Q'' at (q, c), the derivative of F along the curve."""
    F = slope(delta, q + 0j, c + 0j).real
    return slope(delta, q + 1j * eta * F, c + 1j * eta).imag / eta


def parting(D, q, c, x):
    """Q_-(c + x) - Q_+(c + x) for increasing x > 0; y = Q - q is integrated, to keep its digits.

    F is a difference of rounded numbers near R = 0, too noisy for a tolerance near 1e-9.
    """
    steps, accuracy = np.append(0, x), {"rtol": 1e-7, "atol": 1e-8 * x[0] ** 2}
    minus, plus = (
        odeint(lambda x, y, d=d: slope(d, q + y[0], c + x), [0.0], steps, tfirst=True, **accuracy)
        for d in (-D, D)
    )
    return (minus - plus)[1:, 0]


# %%
curved, parted = [], []
print("   D     c       Q-''        Q+''     difference    formula")
for D in (4.0, 16.0, 64.0):
    for c in (-0.5, 0.0, 0.5):
        q, A = 2 * q_star * kernel.kappa(c), q_star * kernel.kappa_prime(c) * (1 - c**2)
        formula = gauge.mu(q, D) * D / (q * (1 - c**2))
        Q2 = [second_derivative(delta, q, c) for delta in (-D, +D)]
        x = 2 * gauge.chi(q, -D) * A / gauge.mu(q, D) / 50 * np.array([0.25, 0.5, 1])
        fine, half, whole = 2 * parting(D, q, c, x) / x**2
        curved.append([Q2[0] - Q2[1], formula, formula * (1 - c**2)])
        parted.append((4 * (2 * fine - half) - (2 * half - whole)) / 3)
        print(f"{D:4.0f}  {c:5.1f}  {Q2[0]:10.5g}  {Q2[1]:9.4g}  "
              f"{Q2[0] - Q2[1]:11.5g}  {formula:11.5g}")
difference, formula, without = np.transpose(curved)
STEP, PARTING = 1e-12, 1e-5
complex_ok = bool(np.abs(difference / formula - 1).max() < STEP)
parting_ok = bool(np.abs(np.array(parted) / formula - 1).max() < PARTING)
without_ok = bool(np.abs(difference / without - 1).max() < PARTING)
print(f"formula by complex step to {STEP:g}:", complex_ok)
print(f"formula by integrated curves to {PARTING:g}:", parting_ok)
print(f"without 1/(1 - c²), to {PARTING:g}:", without_ok)

# %%
near, q_null = np.array([1e-6, 1e-4, 1e-2]), 2 * q_star * kernel.kappa(c0)
A, R = q_star * kernel.kappa_prime(c0), q0 / 2 - q_star * kernel.kappa(c0)
first = gauge.mu(q0, 16.0) * R * 16 / (q0 * A) * near
second = gauge.mu(q_null, 16.0) * 16 / (2 * q_null) * near**2
distances = {"off": np.abs(parting(16.0, q0, c0, near)),
             "on": np.abs(parting(16.0, q_null, c0, near))}
print("D = 16, c0 = 0:  |Q- - Q+| at a distance of" + "".join(f"{x:11.0e}" for x in near))
for (place, values), predicted in zip(distances.items(), (first, second), strict=True):
    print(f"{place:3s} the nullcline, measured" + " " * 18 + "".join(f"{v:11.3e}" for v in values))
    print("    leading term" + " " * 28 + "".join(f"{v:11.3e}" for v in predicted))

# %% [markdown]
# ## Two limits
#
# ```{prf:theorem} Fast and slow limits; paper's appendix A.6
# :label: thm-single-limits
#
# As $D\to\infty$, from a fixed start and on a bounded interval of the clock named:
#
# - $\delta=+D$, fast time $\tau=Dt$: $(q,c)$ follows
#   $q'=-(q/2-q_\star\kappa(c))$, $c'=A(c)/q$, with an error $O(D^{-2})$.
# - $\delta=-D$, slow time $t/D$: $c$ follows $c'=h(c)A(c)$ from time zero, with an error
#   $O(D^{-2})$. The coefficient follows $h(c)$ after a layer: $e_D=q-h(c)$ obeys
#   $\lvert e_D(t)\rvert\le\lvert e_D(0)\rvert e^{-Dt/2}+C_{\rm tr}D^{-2}$.
# ```
#
# ```{prf:proof}
# $\mu/D-1\le2q^2/D^2$ and $\chi(q,+D)/D-1/q=(\mu-D)/(2qD)\le q/D^2$ perturb the fast field by
# $O(D^{-2})$. For $-D$, $\lvert D\chi-q\rvert=4q^3/(\sqrt{D^2+4q^2}+D)^2\le\overline q^3/D^2$.
# Further $\dot e_D=-\tfrac\mu2e_D-h'(c)\dot c$ with $\mu\ge D$, $0\le h'\le q_\star$ and
# $0\le\dot c=\chi A\le(\overline q/D)(q_\star/2)$, and Grönwall's inequality gives the layer bound.
# ```
#
# The value of $C_{\rm tr}$ is not printed, but the inequalities give one: with $\lvert
# h'\dot c\rvert\le\overline q\,q_\star^2/(2D)$ and the rate $D/2$,
#
# $$ C_{\rm tr}=\overline q\,q_\star^2 $$ (eq-single-layer-constant)
#
# will do. It is not sharp: for large $D$ the coefficient lags behind the moving nullcline by
# $\lvert e_D\rvert\approx2h'\dot c/D$, so $D^2\lvert e_D\rvert\to2h'(c)\,h(c)\,A(c)$, whose maximum
# over $c$ is what one should measure. First the elementary inequalities, on a grid of $q$ in
# the invariant interval, all $c$, and $D$ from $0.5$ to $10^6$.

# %%
q, D = np.linspace(0.01, high, 400)[:, None], np.geomspace(0.5, 1e6, 60)
mu, chi_minus, c = gauge.mu(q, D), gauge.chi(q, -D), np.linspace(-1, 1, 2001)
rounding = 4 * np.finfo(float).eps
remainder = 4 * q**3 / (mu + D) ** 2
remainder_ok = [
    bool(np.all(np.abs(np.abs(D * chi - q) - remainder) <= rounding * (q + D * chi)))
    and bool(np.all(np.abs(D * chi - q) <= high**3 / D**2 + rounding * q))
    for chi in (chi_minus, np.ones_like(mu))  # -D, and balanced: chi = 1
]
mobility_ok = [
    bool(np.all(np.abs(mu / D - 1) <= 2 * q**2 / D**2 + rounding))
    and bool(np.all(np.abs(chi / D - 1 / q) <= q / D**2 + rounding / q))
    for chi in (gauge.chi(q, D), chi_minus)  # +D, and -D
]
grid = f"{mu.size} pairs (q, D), D = {D.min():g} to {D.max():g}"
A = q_star * kernel.kappa_prime(c) * (1 - c**2)
h_prime = 2 * q_star * kernel.kappa_prime(c)
simple_ok = [
    bool(max(h_prime.max(), 2 * A.max()) <= q_star and A.min() >= 0 and np.all(chi <= high / D))
    for chi in (chi_minus, np.ones_like(mu))
]
print("|Dχ - q| = 4q³/(μ + D)² <= high³/D²: for -D", remainder_ok[0], "  balanced", remainder_ok[1])
print("μ/D - 1 <= 2q²/D², χ/D - 1/q <= q/D²: for +D", mobility_ok[0], "  for -D", mobility_ok[1])
print("h' <= q*, 0 <= A <= q*/2, χ <= high/D: for -D", simple_ok[0], "  balanced", simple_ok[1])

# %% [markdown]
# Now the flows. The fast one is compared on $0\le\tau\le40$ and the slow one on
# $0\le t/D\le40$, where every curve has come to the teacher (our choice; the paper's range is not
# in the text). The coefficient of the slow limit is compared after the time $t=4\log(D)/D$, at
# which $e^{-Dt/2}=D^{-2}$, and, as a null, from time zero.

# %%
fast_tau, slow_time = np.linspace(0, 40, 801), np.append(0, np.geomspace(1e-6, 40, 600))
fast_limit = solve.solve(flows.limit(plus), fast_tau)
names = ("fast: q", "fast: c", "slow: c", "slow: q after the layer", "slow: q from time zero")
errors, layer = {name: [] for name in names}, {"-D": [], "+D": []}


def cosine(path):
    return np.cos(path.angle(0))


for D in D_values:
    fast = solve.solve(flows.reduced(problem.single(q0, c0, +D)), fast_tau)
    one = problem.single(q0, c0, -D)
    slow, slow_limit = (solve.solve(f(one), D**2 * slow_time) for f in (flows.reduced, flows.limit))
    gap, late = np.abs(slow.q - slow_limit.q)[:, 0], slow.t >= 4 * np.log(D) / D
    found = (np.abs(fast.q - fast_limit.q).max(), np.abs(cosine(fast) - cosine(fast_limit)).max(),
             np.abs(cosine(slow) - cosine(slow_limit)).max(), gap[late].max(), gap.max())
    for name, value in zip(names, found, strict=True):
        errors[name].append(value)
    for sign, path in (("-D", slow), ("+D", fast)):
        e = np.abs(path.q[:, 0] - 2 * q_star * kernel.g(path.angle(0)))
        layer[sign].append(D**2 * np.max(e - e[0] * np.exp(-D * path.t / 2)))


# %%
order = {name: np.log2(e[-1] / e[-2]) for name, e in errors.items()}  # from D = 64 to 128
print("sup error" + " " * 17 + "".join(f"D = {D:<8.0f}" for D in D_values) + "exponent")
for name, e in errors.items():
    print(f"{name:26s}" + "".join(f"{v:<12.3e}" for v in e) + f"{order[name]:8.4f}")
sharp = np.max(2 * h_prime * 2 * q_star * kernel.kappa(c) * A)
explicit = high * q_star**2
print("least C_tr that holds, by D:", " ".join(f"{C:.4f}" for C in layer["-D"]))
print(f"its limit max 2 h' h A = {sharp:.4f};  the explicit C_tr = {explicit:.4f}")
print("for +D the same bound would need:", " ".join(f"{C:.4g}" for C in layer["+D"]))
glue("single-layer-measured", f"{layer['-D'][-1]:.4f}", display=False)
glue("single-layer-sharp", f"{sharp:.4f}", display=False)
glue("single-layer-explicit", f"{explicit:.4g}", display=False)
glue("single-initial-gap", f"{errors['slow: q from time zero'][-1]:.4f}", display=False)

# %% [markdown]
# The first four errors fall like $D^{-2}$. From time zero, the coefficient of the slow limit is off
# by $\lvert q_0-h(c_0)\rvert=$ {glue:text}`single-initial-gap` for every $D$, which is why the
# paper compares it only after the layer. The constant of the layer bound is measured as
# {glue:text}`single-layer-measured`, its predicted limit is {glue:text}`single-layer-sharp`, and
# the explicit one is {glue:text}`single-layer-explicit`. The layer bound is special to $-D$: with
# $+D$ the direction moves while the coefficient relaxes, and the constant would grow like $D^2$.
# {numref}`fig-single-limits` shows all this at one $D$.

# %% mystnb={"figure": {"caption": "The paper's figure D.1(a), recomputed at $D=16$ (our choice). Left: $+D$ on the fast clock against its limit. Middle: $-D$ on the slow clock; the alignment agrees from time zero, the coefficient after its layer. Right: $\\lvert e_D\\rvert$ in the layer, and the bound with $C_{\\rm tr}=\\overline q\\,q_\\star^2$; at the dip $q$ passes the nullcline and begins to lag behind it.", "name": "fig-single-limits"}, "image": {"alt": "Left: coefficient and alignment over fast time lie on their dotted limits. Middle: over logarithmic slow time the coefficient falls from its start to the limit curve and then follows it, while the alignment follows its limit throughout. Right: the gap falls exponentially, dips to zero once, and ends on a plateau below that of the bound."}}
fig, axes = figures.panels(1, 3, width=9.6, height=3.1)
fast = solve.solve(flows.reduced(plus), fast_tau)
slow, slow_limit = (solve.solve(f(minus), 256 * slow_time) for f in (flows.reduced, flows.limit))
views = ((axes[0], fast_tau, fast, fast_limit, "fast time τ = Dt", (0, 12)),
         (axes[1], slow_time, slow, slow_limit, "slow time t/D", (1e-4, 40)))
for ax, time, exact, limit, label, window in views:
    series = {"q": exact.q[:, 0], "c": cosine(exact)}
    figures.curves(ax, time, series, xlabel=label, ylabel="coefficient q, alignment c")
    for values, name in ((limit.q[:, 0], "limits"), (cosine(limit), None)):
        ax.plot(time, values, ":", color=figures.BLACK, linewidth=1.8, label=name)
    ax.set(xlim=window, ylim=(-0.03, 1.05))
axes[0].legend(frameon=False)
axes[1].set_xscale("log")
axes[1].minorticks_off()
axes[1].get_legend().remove()
early = slow.tau < 30
gap = np.abs(slow.q[:, 0] - 2 * kernel.g(slow.angle(0)))
bound = gap[0] * np.exp(-slow.tau / 2) + explicit / 256
series = {"|q − h(c)|": gap[early], "bound": bound[early]}
labels = {"xlabel": "fast time τ = Dt", "ylabel": "gap to the nullcline"}
figures.curves(axes[2], slow.tau[early], series, log="y", **labels)
plt.show()
print("sup errors at D = 16:", *(f"  {name} {e[1]:.2e}" for name, e in errors.items()), sep="\n")

# %% [markdown]
# ## Exercises
#
# **1.** Show that some lower bound on $D$, such as $\mu\le3D$, is needed in
# {prf:ref}`thm-single-times`: find a $D$ for which the lower bound of $T_{+D}$ fails from
# $(0.6,0)$.
#
# ```{dropdown} Solution of 1
# As $D\to0$ the bound $\underline qI/(Dq_\star)$ grows without limit, while $T_{+D}$ tends to the
# time of the balanced student, $\int\mathrm dx/(q_\star\kappa')\le I/(q_\star k_0)$. So it fails
# at the latest for $D<\underline qk_0$, here $1/(4\pi)$. The condition asks for
# $D\ge\overline q/\sqrt2$, and is only sufficient.
# ```
#
# **2.** Starting on the nullcline, to which side does each of the two students leave it, and which
# of them stays closer to it?
#
# ```{dropdown} Solution of 2
# Both have $Q'=0$ there while the nullcline has slope $h'(c)>0$: both fall below it at once. Since
# $Q''_\pm=\mu/(\chi_\pm(1-c^2))$, the $-D$ curve has the larger curvature and turns upwards
# first: it stays closer, at a distance of order $D^{-2}$ in $q$ by {prf:ref}`thm-single-limits`.
# ```
#
# **3.** Derive the cost of a further factor $e^{-1}$ in $\varepsilon$ for both signs, and show that
# the product of the two costs is $1/q_\star^2$.
#
# ```{dropdown} Solution of 3
# Near the teacher $\kappa'\to\frac12$ and $1-c^2\approx2(1-c)$, so
# $\dot c\approx\chi(q_\star,\delta)q_\star(1-c)$ and $1-c$ decays with the rate $\chi q_\star$. By
# {eq}`eq-single-chi` $\chi(q_\star,+D)\chi(q_\star,-D)=1$. The corrections are of order
# $\sqrt\varepsilon$: $\kappa'(c)=\frac12-\alpha/(2\pi)$ with $\alpha\approx\sqrt{2\varepsilon}$.
# ```
#
# ## The ledger
#
# Tolerances not yet argued: an order in $D$ counts as met if the rescaled quantity changes by less
# than a factor 2 over the sixteenfold range of $D$; an exponent between $D=64$ and $128$ may be off
# by $10^{-3}$, a correction $O(D^{-2})$ with a constant up to 4, and one of all five values by
# $0.02$, such a correction at $D=8$; a constant is reached to $10^{-4}$ where $D^{-2}$ is
# $6\cdot10^{-5}$; the cost at $\varepsilon=10^{-12}$ to ten times $\sqrt\varepsilon$; and a limit
# "captures" a curve if no more than $0.01$ of the axis separates them, which a drawn line hides.

# %%
def same_order(values, power):
    """Whether D^power times the values changes by less than a factor 2."""
    return np.ptp(np.log(np.asarray(values) * D_values**power)) < np.log(2)


on_fast = solve.solve(flows.reduced(balanced), fast_tau)
on_slow = solve.solve(flows.reduced(balanced), 256 * slow_time)
captured = max(errors[name][1] for name in names[:4])
captured_null = [np.abs(cosine(on_fast) - cosine(fast_limit)).max(),
                 np.abs(cosine(on_slow) - cosine(slow_limit)).max()]
# %%
sup = distance[16].max()
clock = f"sup |Q₋ − Q₊| = {sup:.4f} at D = 16; on another clock below {CLOCK:g}"
least = min(values.min() for values in distances.values())
start = f"equal to {START:g} on {inputs} inputs; null off by {doubled_gap:.4g}"
every = f"at {all_records} records of {len(paths)} runs"
ledger = [
    ("S32-start", start, start_gap < START, doubled_gap < START),
    ("S32-closed", f"q, angle, δ equal to {ROUTES:g} at {records} records", closed and kept,
     closed_null),
    ("A4-rise", f"{every}, until the angle is {TEACHER:g}", rising, rises(stuck)),
    ("A4-interval", f"{every}, to {SLACK:g}", inside, naive),
    ("A4-converge", f"to {TEACHER:g} in {len(paths)} runs", learned, ends_at_teacher(stuck)),
    ("A4-drift", f"{drifting} times, η = {', '.join(map(str, etas))}", drift and returned,
     drift_null),
    ("F2-paths", clock, sup > ROUTES and on_flow, not same_path),
    ("T3.2-clock", f"apart by {least:.1e} at c − c₀ = {near[0]:g}", least > 0, not same_path),
    ("A11-nullcline", f"{sum(below)}/{len(below)} starts leave it", all(below), any(below_null)),
]

# %%
in_box = {name: inside.all() for name, inside in within.items()}
wide = slack[:, :2].min(), slack[:, 2:].min()
nearest = [f"{T_plus.size} + {len(slack)} cases, off the bounds by factors of {min(x):.4g} and more"
           for x in zip(closest.values(), wide, strict=True)]
from_to = f"D = {D_values[0]:g} to {D_values[-1]:g}"
scaled = {s: D_values**s * T for s, T in ((1, plus_95), (-1, minus_95))}
text = {s: f"{x.min():.4g} to {x.max():.4g} at c = 0.95, {from_to}" for s, x in scaled.items()}
SHIFT, ends = 1e-3, [f"{x['T-/T+']:.4f}" for x in (local, exponent)]
ratio = f"exponent {ends[0]} (64 to 128), within {SHIFT:g} of 2; {ends[1]} (all)"
null_local = [np.log2(v[-1] / v[-2]) for v in against_balanced.values()]
sequence = f"c moves by {moved[1, 1]:.2e} ≤ {allowed[1]:.2e} at D = 16; +D: {moved[0, 1]:.4f}"
sequence_null = np.all(moved[0] <= allowed) and same_order(moved[0], 2)

# %%
ledger += [
    ("T3.1-plus", "D T₊: " + text[1], theta[1] and same_order(plus_95, 1), theta_null[1]),
    ("T3.1-minus", "T₋/D: " + text[-1], theta[-1] and same_order(minus_95, -1), theta_null[-1]),
    ("A5-plus", nearest[0], in_box["+D"] and wide[0] >= 1, in_box["balanced in +D's"]),
    ("A5-minus", nearest[1], in_box["-D"] and wide[1] >= 1, in_box["balanced in -D's"]),
    ("A5-integral", f"to {ROUTES:g} in {by_integral.size} cases; frozen off by {off.min():.4f} and "
     "more", mismatch < ROUTES, off.min() < ROUTES),
    ("F2-ratio", ratio, abs(local["T-/T+"] - 2) < SHIFT,
     min(abs(np.array(null_local) - 2)) < SHIFT),
    ("S32-sequence", sequence, np.all(moved[1] <= allowed) and same_order(moved[1], 2),
     sequence_null),
    ("T3.2-collinear", f"{tested} states: determinant to {FIELDS:g}, with the sign of −R",
     determinant and transversal, not tangent),
    ("T3.2-tangent", f"{on_curve} states: dq/dt = 0 to {ROUNDINGS} roundings", tangent,
     not transversal),
    ("T3.2-curvature", f"{difference.size} states: to {STEP:g} and {PARTING:g}, least "
     f"{difference.min():.4g}", complex_ok and parting_ok and np.all(difference > 0), without_ok),
]

# %%
parts = {}
for claim, which in (("A6-fast", names[:2]), ("A6-slow", names[2:3])):
    text = "D² error ≤ " + f"{max(np.max(errors[n] * D_values**2) for n in which):.4g}"
    parts[claim] = text, *(all(same_order(errors[n], p) for n in which) for p in (2, 3))
late, zero = names[3:]
late_text = f"D² error ≤ {np.max(errors[late] * D_values**2):.4g}; from time zero {q0 - low:.4f}"
layer_text = f"C_tr = {explicit:.4g}; least that holds: {max(layer['-D']):.4f} over {from_to}"
DRAWN = 0.01
caught = f"sup errors at D = 16 up to {captured:.2e}, limit {DRAWN}; null {min(captured_null):.4f}"
ledger += [
    ("A6-mobilities", grid, *mobility_ok),
    ("A6-remainder", grid, *remainder_ok),
    ("A6-inequalities", f"max A = {A.max():.4f}, max h' = {h_prime.max():.4f}", *simple_ok),
    ("A6-fast", *parts["A6-fast"]),
    ("A6-slow", *parts["A6-slow"]),
    ("A6-layer", layer_text, max(layer["-D"]) <= explicit, max(layer["+D"]) <= explicit),
    ("FD1a-order", late_text, same_order(errors[late], 2), same_order(errors[zero], 2)),
    ("FD1a-capture", caught, captured < DRAWN, min(captured_null) < DRAWN),
]

# %%
limits = np.array([fast_constant, slow_constant])
near_limit = np.abs([scaled[1][-1], scaled[-1][-1]] / limits - 1)
near_frozen = np.abs([128 * frozen[4], frozen[9] / 128] / limits - 1)
product = cost[1e4] * cost[-1e4]
at_start = [cost[d] * gauge.chi(q0, d) for d in (1e4, -1e4)]
sharp_off = [abs(layer[sign][-1] / sharp - 1) for sign in ("-D", "+D")]
REACHED, POWER, COST = 1e-4, 0.02, 1e-5
constants = (f"within {max(near_limit):.1e} of {limits[0]:.4f} and {limits[1]:.4f} at D = 128, "
             f"error like D^{approach['D T+']:.3f}, D^{approach['T-/D']:.3f}")
ledger += [
    ("B03-constants", constants,
     max(near_limit) < REACHED and max(abs(v + 2) for v in approach.values()) < POWER,
     min(near_frozen) < REACHED),
    ("B03-cost", f"{len(cost)} costs to {COST:g}; product {product:.4f}",
     max(abs(v * gauge.chi(q_star, d) - 1) for d, v in cost.items()) < COST,
     max(abs(v - 1) for v in at_start) < COST),
    ("B03-layer", f"{layer['-D'][-1]:.4f} at D = 128, limit {sharp:.4f}, within {SHIFT:g}",
     sharp_off[0] < SHIFT, sharp_off[1] < SHIFT),
    ("B03-condition", f"D = {tiny}: T₊ = {bare:.4g} < {bounds(tiny, 0.05)[0]:.4g}",
     bare < bounds(tiny, 0.05)[0], plus_95[0] < bounds(8.0, 0.05)[0]),
]
claims.report([
    claims.compare(claim, text, holds=holds, null_holds=null)
    for claim, text, holds, null in ledger
])
