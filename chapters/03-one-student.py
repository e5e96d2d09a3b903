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
# - why it reaches the teacher for either sign (appendix A.4 of {cite:t}`wang2026gauge`),
# - how long it takes: a time of order $D^{-1}$ for $+D$ and of order $D$ for $-D$, with constants
#   (theorem 3.1, A.5, figure 2),
# - why the two paths differ as curves, not only in speed (theorem 3.2),
# - and which simpler flow each of them follows when $D$ is large (A.6, figure D.1(a)).
#
# Two guesses accompany us as nulls. The first is that the scales do not matter, so that a
# *balanced* student ($\delta=0$) does the same. The second is that $\delta$ only changes the
# *clock*. The chapter runs in about 10 seconds.

# %%
import math

import numpy as np
from myst_nb import glue
from scipy.integrate import odeint, quad

from gaugelib import claims, figures, flows, gauge, kernel, measure, problem, solve
from gaugelib.figures import plt

q0, c0, q_star = 0.6, 0.0, 1.0  # the start of figure 2 (D.7)
D_values = np.array([8.0, 16.0, 32.0, 64.0, 128.0])

plus, minus = problem.single(q0, c0, +16.0), problem.single(q0, c0, -16.0)
balanced = plus.regauged(0.0)
for name, one in {"+D": plus, "-D": minus, "balanced": balanced}.items():
    a, w = one.weights()
    r = np.linalg.norm(w)
    print(f"{name:8s}  a = {a[0]:.4f}   |w| = {r:.4f}   a|w| = {a[0] * r:.4f}")
x = np.random.default_rng(0).standard_normal((1000, 2))
gap = np.abs(plus.predict(x) - minus.predict(x)).max()
print("same function at the start, to 1e-14:", bool(gap < 1e-14))

# %% [markdown]
# ## The closed system
#
# The teacher is $q_\star[s_\star^\top x]_+$ with $q_\star>0$. The student has coefficient $q>0$,
# direction $s$ and alignment $c=s^\top s_\star=\cos\alpha$. In the coordinates of
# {numref}`chapter-gauge`, with the kernel of {numref}`chapter-kernel`, population gradient flow
# is a planar system:
#
# $$
# \dot q=-\mu(q,\delta)\,R(q,c),\qquad \dot c=\chi(q,\delta)\,A(c),\qquad
# R=\frac q2-q_\star\kappa(c),\qquad A=q_\star\kappa'(c)(1-c^2),
# $$ (eq-single-flow)
#
# with $\mu=\sqrt{\delta^2+4q^2}$ and $\chi=(\mu+\delta)/(2q)$. The residual of the coefficient
# vanishes on the **nullcline** $q=h(c)$, $h(c)=2q_\star\kappa(c)$.
# The imbalance enters through $\mu$, which does not depend on its sign, and through $\chi$, which
# does. Three identities carry the whole chapter:
#
# $$
# \chi(q,+D)\,\chi(q,-D)=1,\qquad \chi(q,+D)-\chi(q,-D)=\frac Dq,\qquad
# \frac Dq\le\chi(q,+D)=\frac{\mu+D}{2q}.
# $$ (eq-single-chi)
#
# We integrate the angle, $\dot\alpha=-\chi q_\star(\pi-\alpha)\sin\alpha/(2\pi)$, never $c$ itself:
# near the teacher $1-c=2\sin^2(\alpha/2)$ keeps all its digits, and $c$ does not.

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
# Moreover $q(t)\to q_\star$, $c(t)\to1$ and $\mathcal L\to0$.
# ```
#
# ```{prf:proof}
# While $q>0$ and $\lvert c\rvert<1$ we have $\dot c>0$, so $h(c)$ increases from $h(c_0)$ towards
# at most $h(1)=q_\star$. Where $q=\underline q$, $q\le h(c_0)\le h(c)$ gives $\dot q\ge0$; where
# $q=\overline q$, $q\ge q_\star\ge h(c)$ gives $\dot q\le0$: the interval cannot be left. Within it
# $\chi$ is bounded below by a positive number, so $c$ could only stop at $c=1$. Then
# $h(c)\to q_\star$, and $\dot q=-\tfrac12\mu(q-h(c))$ with $\mu\ge2\underline q$ drags $q$ along.
# ```
#
# Note what the interval is *not*: the student may leave the interval between its start and its end.
# From $(0.6,0)$ it can fall to $h(0)=1/\pi$ before it rises to 1. We follow a grid of starts on
# both sides of the nullcline, small and large, nearly opposite and nearly aligned, for both signs
# and for $D$ below and above 1. The horizon in fast time is $2\cdot10^4\max(D,D^2)$.

# %%
def q_interval(q, c):
    """The ends of the invariant interval of A.4."""
    return min(q, 2 * q_star * kernel.kappa(c)), max(q, q_star)


starts = [(q, c) for q in (0.05, 0.6, 3.0) for c in (-0.95, -0.5, 0.0, 0.9)]
runs, inside, naive, rising, learned = 0, True, True, True, True
for D in (0.5, 4.0, 32.0):
    tau = np.append(0, np.geomspace(1e-3 * min(1, D), 2e4 * max(D, D**2), 120))
    for q, c in starts:
        low, high = q_interval(q, c)
        for sign in (+1, -1):
            path = solve.solve(flows.reduced(problem.single(q, c, sign * D)), tau)
            coefficient, angle = path.q[:, 0], path.state[:, 1]
            runs += 1
            inside &= bool(np.all((coefficient > low - 1e-12) & (coefficient < high + 1e-12)))
            naive &= bool(np.all(coefficient > min(q, q_star) - 1e-12))
            rising &= bool(np.all(np.diff(angle) < 1e-14) and np.all(np.diff(path.loss) < 1e-14))
            end = max(abs(coefficient[-1] - q_star), abs(angle[-1]), path.loss[-1])
            learned &= bool(end < 1e-10)
print(f"{runs} runs.  in the invariant interval: {inside},  between q0 and q*: {naive}")
print(f"alignment rises and loss falls: {rising},  |q - 1|, angle, loss end below 1e-10: {learned}")
glue("single-runs", f"{runs}", display=False)

# %% [markdown]
# The interval is closed, so a trajectory may sit on its end; the slack $10^{-12}$ is ten times
# the solver's relative tolerance. All {glue:text}`single-runs` runs stay inside and learn the
# teacher. The interval between start and end, which one might have guessed, is left.
#
# The one excluded start is $c_0=-1$. There $A(c)=0$, the direction never turns, and the
# coefficient dies instead, since $h(-1)=0$.

# %%
opposite = flows.reduced(minus).starting([q0, np.pi])
stuck = solve.solve(opposite, np.append(0, np.geomspace(0.01, 1e4, 60)))
stays_opposite = bool(stuck.state[-1, 1] == np.pi and stuck.q[-1, 0] < 1e-10)
print("from c0 = -1 the direction stays and the coefficient vanishes:", stays_opposite)
print(f"loss at the end: {stuck.loss[-1]:.4f}, that of predicting zero: {q_star**2 / 4:.4f}")

# %% mystnb={"figure": {"caption": "Paths in the plane of alignment $c$ and coefficient $q$ for $D=4$, from eight starts (dots). With $+D$ (solid) the direction turns at once; with $-D$ (dashed) the coefficient first falls or rises onto the nullcline $q=h(c)$ and then follows it to the teacher (star).", "name": "fig-single-region"}, "image": {"alt": "Phase plane. Solid paths bend smoothly from the starts to the point one, one. Dashed paths run almost vertically from the starts to a rising curve and then along it to the same point."}}
fig, ax = figures.panels(width=6.2, height=3.6)
tau = np.append(0, np.geomspace(1e-3, 1e5, 1500))
shown = [(q, c) for q in (0.05, 0.6, 1.4) for c in (-0.8, -0.2, 0.5) if (q, c) != (0.6, 0.5)]
for q, c in shown:
    for sign, colour, dash in ((+1, figures.BLUE, "-"), (-1, figures.ORANGE, (0, (4, 1.5)))):
        path = solve.solve(flows.reduced(problem.single(q, c, sign * 4.0)), tau)
        label = f"δ = {sign * 4:+d}" if (q, c) == shown[0] else None
        ax.plot(np.cos(path.state[:, 1]), path.q[:, 0], color=colour, linestyle=dash, label=label)
    ax.plot(c, q, "o", color=figures.BLACK, markersize=4)
grid = np.linspace(-1, 1, 300)
ax.plot(grid, 2 * kernel.kappa(grid), color=figures.BLACK, linewidth=1, label="nullcline h(c)")
ax.plot(1, 1, "*", color=figures.GREEN, markersize=13, clip_on=False, label="teacher", zorder=5)
figures.finish(ax, "alignment c", "coefficient q")
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
#    \qquad \frac{2D\,I}{\overline q\,q_\star}\le T_{-D}\le\frac{2D\,I}{\underline q\,q_\star k_0}. $$
# ```
#
# ```{prf:proof}
# Since $c$ increases we may use it as the variable, and with $x=\operatorname{artanh}c$,
# $\mathrm dx=\mathrm dc/(1-c^2)$,
#
# $$ T_\delta(\varepsilon)=\int_{c_0}^{1-\varepsilon}\frac{\mathrm dc}{\chi\,A(c)}
#    =\int_{x_0}^{x_0+I}\frac{\mathrm dx}{\chi(Q_\delta(x),\delta)\,q_\star\kappa'(c)}, $$ (eq-single-time)
#
# where $Q_\delta$ is the coefficient along the path. Now $k_0\le\kappa'\le\tfrac12$,
# $D/q\le\chi(q,+D)\le2D/q$ (the upper bound is $\mu\le3D$), and $\chi(q,-D)$ is the reciprocal.
# ```
#
# The condition $\mu\le3D$ means $D\ge\overline q/\sqrt2$; the paper's text allows every large $D$.
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
low, high = q_interval(q0, c0)
k0 = kernel.kappa_prime(c0)


def bounds(D, eps, q=q0, c=c0):
    """The four explicit bounds of A.5: (T+ from, T+ to, T- from, T- to)."""
    low, high = q_interval(q, c)
    k0, rise = kernel.kappa_prime(c), artanh_of_alignment(eps) - np.arctanh(c)
    return np.array([low / D, high / (D * k0), 2 * D / high, 2 * D / (low * k0)]) * rise / q_star


eps_values = [0.05, 1e-3, 1e-6, 1e-9]
cases = [(D, eps) for D in (1.0, *D_values) for eps in eps_values]
T_plus = np.array([hitting_time(problem.single(q0, c0, +D), eps) for D, eps in cases])
T_minus = np.array([hitting_time(problem.single(q0, c0, -D), eps) for D, eps in cases])
box = np.array([bounds(D, eps) for D, eps in cases])
print("   D    eps        from      T+        to       |  from      T-        to")
for (D, eps), tp, tm, b in zip(cases, T_plus, T_minus, box, strict=True):
    if D in (1, 16, 128) and eps in (0.05, 1e-6):
        print(f"{D:4.0f}  {eps:.0e}  {b[0]:9.4g} {tp:9.4g} {b[1]:9.4g}  |"
              f"{b[2]:9.4g} {tm:9.4g} {b[3]:9.4g}")
plus_inside = bool(np.all((box[:, 0] <= T_plus) & (T_plus <= box[:, 1])))
minus_inside = bool(np.all((box[:, 2] <= T_minus) & (T_minus <= box[:, 3])))
print(f"{len(cases)} cases.  T+ within its bounds: {plus_inside},  T- within: {minus_inside}")

# %% [markdown]
# The bounds must also hold from other starts, and the integral must give the same times. Here the
# 12 starts above (for $D=4$ and $32$, both at least $\overline q/\sqrt2$), three thresholds each,
# all by the integral; and the main start by both routes, plus one run in the original parameters
# $(a,w)$ with another solver (DOP853). The tolerance $10^{-8}$ for the agreement is far above what
# the solvers ask for ($10^{-13}$ a step) and far below every difference we draw a conclusion from.

# %%
slack = []
for q, c in starts:
    for D in (4.0, 32.0):
        eps = np.array([0.05, 1e-3, 1e-6])
        x = np.append(np.arctanh(c), artanh_of_alignment(eps))
        times = [along_alignment(sign * D, x, q)[1:, 1] for sign in (+1, -1)]
        for k in range(3):
            b, (tp, tm) = bounds(D, eps[k], q, c), (times[0][k], times[1][k])
            slack.append([tp / b[0], b[1] / tp, tm / b[2], b[3] / tm])
slack = np.array(slack)
within = bool(np.all(slack >= 1))
print(f"{slack.shape[0]} cases by the integral, all within the bounds: {within}")
print("closest approach to each bound, as a ratio:", " ".join(f"{r:.4g}" for r in slack.min(axis=0)))

x_end = np.array([np.arctanh(c0), artanh_of_alignment(0.05)])
by_integral = np.array([along_alignment(s * D, x_end)[-1, 1] for D in D_values for s in (1, -1)])
at_95 = np.array([(D >= 8 and eps == 0.05) for D, eps in cases])
plus_95, minus_95 = T_plus[at_95], T_minus[at_95]  # to c = 0.95, over D_values
mismatch = np.abs(np.stack([plus_95, minus_95], axis=1).ravel() / by_integral - 1).max()
print("root on the flow = integral over c, to 1e-8:", bool(mismatch < 1e-8))

# %%
def alignment(y):  # y = (a, w1, w2), teacher along the first axis
    return y[1] / np.hypot(y[1], y[2]) - 0.95


flow, tau = flows.population(plus), np.linspace(0, 6, 61)
original = solve.crossing(flow, tau, alignment, method="DOP853").tau / 16
agree = bool(abs(original / plus_95[1] - 1) < 1e-8)
frozen = [
    quad(lambda x: 1 / (gauge.chi(q0, delta) * kernel.kappa_prime(np.tanh(x))), *x_end)[0]
    for delta in (+16.0, -16.0)
]
print("original parameters with DOP853 give the same T+ to 1e-8:", agree)
print(f"D = 16, c = 0.95:  T+ = {plus_95[1]:.5f},  T- = {minus_95[1]:.2f}")
print(f"with q frozen at q0: T+ = {frozen[0]:.5f},  T- = {frozen[1]:.2f}")

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
#
# Close to the teacher $\dot c\approx\chi(q_\star,\delta)\,q_\star\,(1-c)$, so a further factor
# $e^{-1}$ in $\varepsilon$ costs the time $1/(q_\star\chi(q_\star,\delta))$; by
# {eq}`eq-single-chi` these two costs multiply to $1/q_\star^2$ for every $D$.

# %%
fast_flow = flows.limit(plus)
tau = np.linspace(0, 40, 81)
fast_constant = solve.crossing(fast_flow, tau, lambda y: y[1] - np.arccos(0.95)).tau
alpha_95 = np.arccos(0.95)
slow_constant = quad(lambda a: 1 / (2 * kernel.g(a) * kernel.omega(a)), alpha_95, np.pi / 2)[0]
print("   D     D T+      T-/D     T-/(D^2 T+)")
for D, tp, tm in zip(D_values, plus_95, minus_95, strict=True):
    print(f"{D:4.0f}  {D * tp:8.5f}  {tm / D:8.5f}  {tm / tp / D**2:8.5f}")
print(f" inf  {fast_constant:8.5f}  {slow_constant:8.5f}  {slow_constant / fast_constant:8.5f}")
gaps = {"D T+": np.abs(plus_95 * D_values / fast_constant - 1),
        "T-/D": np.abs(minus_95 / D_values / slow_constant - 1)}
for name, gap in gaps.items():
    print(f"{name} approaches its limit like D^{measure.loglog_fit(D_values, gap).slope:.3f}")
glue("single-ratio-constant", f"{slow_constant / fast_constant:.4f}", display=False)

# %%
last = {}  # exponent over the last doubling of D, 64 -> 128
for name, T in {"T+": plus_95, "T-": minus_95, "T-/T+": minus_95 / plus_95}.items():
    fit = measure.loglog_fit(D_values, T)
    last[name] = np.log2(T[-1] / T[-2])
    print(f"{name:6s} exponent in D: {fit.slope:8.4f} (five values), {last[name]:8.4f} (64 to 128)")
    glue(f"single-exponent-{name.replace('/', '-over-')}", f"{fit.slope:.4f}", display=False)

deep = 10.0 ** -np.arange(1, 13)
cost = {}
for D in (1.0, 16.0, 1e4):
    for sign in (+1, -1):
        one = problem.single(q0, c0, sign * D)
        T = np.array([hitting_time(one, e) for e in deep])
        cost[sign * D] = T
        ratio = np.diff(T)[-1] / np.log(10) * gauge.chi(q_star, sign * D)
        print(f"delta = {sign * D:+8.0f}: cost of a factor e in eps times chi(q*): {ratio:.4f}")

# %% [markdown]
# With $c_0=0$ and $\varepsilon\le\frac12$ we have
# $\frac12\log(1/\varepsilon)\le I\le\log(1/\varepsilon)$, so the theorem's $\Theta$ has explicit
# constants: $D\,T_{+D}/\log(1/\varepsilon)$ lies in $[\underline q/2q_\star,\ \overline q/q_\star k_0]$
# and $T_{-D}/(D\log(1/\varepsilon))$ in $[1/\overline qq_\star,\ 2/\underline qq_\star k_0]$.
# A balanced student takes one time $T_0$ whatever $D$ is, and leaves these intervals as soon as
# $D$ is large.

# %%
logs = np.log(1 / deep)
theta = {name: np.array([f(D, cost[s * D]) for D in (1.0, 16.0, 1e4)]) for name, s, f in (
    ("+", +1, lambda D, T: D * T / logs), ("-", -1, lambda D, T: T / (D * logs)))}
T_balanced = np.array([hitting_time(balanced, e) for e in deep])
ends = {"+": (low / (2 * q_star), high / (q_star * k0)),
        "-": (1 / (high * q_star), 2 / (low * q_star * k0))}
theta_null = {"+": 1e4 * T_balanced / logs, "-": T_balanced / (1e4 * logs)}
for sign, values in theta.items():
    a, b = ends[sign]
    print(f"T{sign}: {a:.4f} <= {values.min():.4f} ... {values.max():.4f} <= {b:.4f};  "
          f"balanced at D = 1e4: {theta_null[sign].min():.4g} ... {theta_null[sign].max():.4g}")

# %% mystnb={"figure": {"caption": "Hitting times. Left: time to $c=0.95$ over $D$, inside the bands of A.5; the thin line is the balanced student, which does not depend on $D$. Right: the same times in their own units, $D\\,T_{+D}$ and $T_{-D}/D$ at $D=16$, grow linearly in $\\log(1/\\varepsilon)$.", "name": "fig-single-times"}, "image": {"alt": "Left: on logarithmic axes the times for minus D rise and those for plus D fall as straight lines within shaded bands. Right: two straight lines rising with each decade of epsilon, parallel to each other."}}
fig, (left, right) = figures.panels(1, 2, width=7.2, height=3.2)
band = np.array([bounds(D, 0.05) for D in D_values])
left.fill_between(D_values, band[:, 0], band[:, 1], color=figures.BLUE, alpha=0.15, linewidth=0)
left.fill_between(D_values, band[:, 2], band[:, 3], color=figures.ORANGE, alpha=0.15, linewidth=0)
figures.measured_points(left, D_values, {"δ = +D": plus_95, "δ = −D": minus_95},
                        xlabel="imbalance D", ylabel="time t to c = 0.95")
T_0 = hitting_time(balanced, 0.05)
figures.guide(left, D_values[[0, -1]], [T_0, T_0], "")
left.annotate("δ = 0", (8, T_0), xytext=(0, 3), textcoords="offset points", color="#555555")
left.legend(loc="center right", bbox_to_anchor=(1, 0.36))
rescaled = {"D T₊, δ = +16": 16 * cost[16.0], "T₋/D, δ = −16": cost[-16.0] / 16}
figures.curves(right, deep, rescaled,
               xlabel="ε", ylabel="rescaled time", log="x")
right.invert_xaxis()
plt.show()
print(f"T(c = 0.95): {plus_95[0]:.4g} to {plus_95[-1]:.4g} for +D, "
      f"{minus_95[0]:.4g} to {minus_95[-1]:.4g} for -D, {T_0:.4g} balanced")
print("at eps = 1e-12, D = 16:", ", ".join(f"{k} {v[-1]:.2f}" for k, v in rescaled.items()))

# %% [markdown]
# The exponents over the five values are {glue:text}`single-exponent-T+` and
# {glue:text}`single-exponent-T-`; the theorem's $-1$ and $+1$ are limits, and the last doubling is
# closer. What is measured here is one start and a range of $D$; what holds for every start is
# proved by the bounds.

# %% [markdown]
# ## The quadratic separation (figure 2)
#
# Figure 2 of the paper compares the two students from $(q_0,c_0)=(0.6,0)$: their phase curves at
# $D=16$ up to $c=0.95$, and the ratio $T_{-D}/T_{+D}$ at the same threshold over $D$. The values of
# $D$ are said to be in a table D.1 that the text does not contain; we take the five of table D.2
# (our choice). No digit of the figure is printed, so its claims are properties: the paths differ,
# and the ratio grows like $D^2$.
#
# A pure change of clock by the ratio of mobilities would give $\chi(q,+D)/\chi(q,-D)\approx
# D^2/q^2$ at *one* coefficient; since the two students cross the same alignments with different
# coefficients, the constant is {glue:text}`single-ratio-constant`, the ratio of the two limits in
# {eq}`eq-single-constants`.

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
c_widest = c_shown[distance[16].argmax()]
tau = np.append(0, np.geomspace(1e-4, 1e4, 100))
q_there = [solve.crossing(flows.reduced(one), tau, lambda y: np.cos(y[1]) - c_widest).state[0]
           for one in (plus, minus)]
sup_distance = distance[16].max()
on_flow = bool(abs(abs(q_there[1] - q_there[0]) - sup_distance) < 1e-8)
print("the flow in time gives the same distance at D = 16, to 1e-8:", on_flow)
glue("single-sup-distance", f"{sup_distance:.4f}", display=False)

# %% mystnb={"figure": {"caption": "The paper's figure 2, recomputed. Left: phase curves at $D=16$ from $(0.6,0)$ to $c=0.95$, with the balanced student and the nullcline for comparison. Right: ratio of the times to $c=0.95$; the thin line is the predicted limit, a constant times $D^2$.", "name": "fig-single-paths"}, "image": {"alt": "Left: the curve for minus D drops vertically from 0.6 to 0.32 and then rises along the nullcline; the curve for plus D dips only to about 0.54 and rises to 0.7; the balanced one lies between. Right: five points on a straight line of slope two on logarithmic axes."}}
fig, (left, right) = figures.panels(1, 2, width=7.2, height=3.2)
Q_balanced = along_alignment(0.0, x_shown)[:, 0]
figures.curves(left, c_shown, {"δ = +16": curve[16][0], "δ = −16": curve[16][1], "δ = 0": Q_balanced},
               xlabel="alignment c", ylabel="coefficient q")
left.plot(c_shown, 2 * kernel.kappa(c_shown), color=figures.BLACK, linewidth=0.8, label="nullcline")
left.plot(c0, q0, "o", color=figures.BLACK, clip_on=False)
left.legend()
right.plot(D_values, slow_constant / fast_constant * D_values**2, color="#777777", linewidth=1,
           label="limit")
figures.measured_points(right, D_values, {"measured": minus_95 / plus_95},
                        xlabel="imbalance D", ylabel="T₋ / T₊ to c = 0.95")
right.legend()
plt.show()
print("ratios:", " ".join(f"{r:.4g}" for r in minus_95 / plus_95),
      f"   q at c = 0.95: {curve[16][0][-1]:.4f} (+16), {curve[16][1][-1]:.4f} (-16)")

# %% [markdown]
# The largest distance of the two curves at $D=16$ is {glue:text}`single-sup-distance`, and for
# large $D$ it tends to $\lvert q_0-h(c_0)\rvert$: with $-D$ the coefficient has gone all the way to
# the nullcline before the direction moves. "First the coefficient, then the direction" can be
# made exact. Let $e=q-h(c)$, and stop when $\lvert e\rvert$ has fallen to 1 % of its first value.

# %%
def at_relaxation(delta, fraction=0.01):
    """Alignment when |q - h(c)| first equals this fraction of its initial value."""
    e0 = abs(q0 - 2 * q_star * kernel.kappa(c0))
    tau = np.append(0, np.geomspace(1e-3, 1e3, 120))
    event = solve.crossing(flows.reduced(problem.single(q0, c0, delta)), tau,
                           lambda y: abs(y[0] - 2 * q_star * kernel.g(y[1])) - fraction * e0)
    return event.tau / abs(delta), np.cos(event.state[1])


moved = np.array([[at_relaxation(sign * D)[1] for D in D_values] for sign in (+1, -1)])
relax_time, relax_c = at_relaxation(-16.0)
allowed = high * q_star * relax_time / (2 * 16)
moved_exponent = np.log2(moved[1, -1] / moved[1, -2])
print("   D   c moved while q relaxed:  +D        -D")
for D, a, b in zip(D_values, *moved, strict=True):
    print(f"{D:4.0f} {a:28.4f} {b:12.3e}")
print(f"exponent in D for -D, 64 to 128: {moved_exponent:.4f}")
print(f"-D, D = 16: moved {relax_c:.4f}, at most {allowed:.4f} (from c' <= q_high q*/(2D))")

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
# $$ \det(V_{+D},V_{-D})=\mu RA\,\bigl(\chi(q,+D)-\chi(q,-D)\bigr)=\frac{\mu D}{q}\,RA, $$ (eq-single-det)
#
# which vanishes only where $R=0$. A common path would therefore have to stay on the nullcline;
# there $\dot q=0$, so $q$ is constant, while $h(c)$ grows strictly: impossible. For the curvature,
# $Q'=F_\delta(Q,c)=-\mu R/(\chi A)$. Where $R=0$, $Q'=0$ and
# $Q''=\partial_cF_\delta=\mu q_\star\kappa'/(\chi A)=\mu/(\chi(1-c^2))$; subtract, using that
# $\chi(q,-D)=1/\chi(q,+D)$.
# ```
#
# We check the determinant from the two flows' own right-hand sides at random states (in the
# coordinates $(q,\alpha)$, where $A$ becomes $-q_\star\omega$).

# %%
rng = np.random.default_rng(3)
states = np.column_stack([rng.uniform(0.05, 3, 2000), rng.uniform(0.01, np.pi - 0.01, 2000)])
worst, signs_agree, largest_balanced = 0.0, True, 0.0
for D in (0.5, 4.0, 64.0):
    fields = [flows.reduced(problem.single(q0, c0, s * D)).rhs for s in (+1, -1)]
    V = np.array([[np.multiply(D, f(0.0, y)) for f in fields] for y in states])  # per unit of t
    determinant = np.linalg.det(V)
    q, alpha = states.T
    R = q / 2 - q_star * kernel.g(alpha)
    formula = -gauge.mu(q, D) * D / q * R * q_star * kernel.omega(alpha)
    scale = np.linalg.norm(V, axis=2).prod(axis=1)
    worst = max(worst, np.max(np.abs(determinant - formula) / scale))
    signs_agree &= bool(np.all(np.sign(determinant) == -np.sign(R)))
collinear_on_nullcline = [
    np.cross(*[f(0.0, (2 * q_star * kernel.g(a), a)) + (0.0,) for f in fields])[2]
    for a in (0.3, 1.0, 2.0, 3.0)
]
on_nullcline = bool(np.max(np.abs(collinear_on_nullcline)) < 1e-12)
print("determinant = formula, relative to |V+||V-|, to 1e-13:", bool(worst < 1e-13))
print(f"its sign is that of -R at {3 * len(states)} states: {signs_agree}")
print("on the nullcline the two fields are parallel:", on_nullcline)

# %% [markdown]
# For the curvature we again use two routes, neither of which knows the formula. The first is a
# finite difference of the *integrated* curves: $Q_\pm(c_0\pm\eta)$ by integrating $Q'=F_\delta$
# forwards and backwards, with one Richardson step. The second differentiates $Q'$ once along the
# slope field by a complex step, $Q''=\operatorname{Im}F_\delta(q_0+i\eta F_\delta,\,c_0+i\eta)/\eta$ with
# $\eta=10^{-20}$, which has no cancellation.
#
# The step of the finite difference has to follow the curve: $Q_\delta$ relaxes to the nullcline
# over the length $\ell=2\chi A/\mu$, and with $\eta=\ell/5$ the error after Richardson is
# about $(\eta/\ell)^4/1440\approx10^{-6}$ relative. We ask for $10^{-5}$.

# %%
def slope(delta, q, c):
    """F = dq/dc = -mu R/(chi A); q and c may be complex."""
    mu = np.sqrt(delta**2 + 4 * q**2)
    chi = (mu + delta) / (2 * q) if delta > 0 else 2 * q / (mu - delta)
    beta = np.pi - np.arccos(c)
    R = q / 2 - q_star * (np.sqrt(1 - c**2) + beta * c) / (2 * np.pi)
    return -mu * R / (chi * q_star * beta / (2 * np.pi) * (1 - c**2))


def second_difference(delta, q, c, step):
    """(Q(c + step) - 2 Q(c) + Q(c - step))/step^2 along the curve through (q, c)."""
    ends = [odeint(lambda x, y: slope(delta, y[0], x), [q], [c, c + e], tfirst=True,
                   rtol=1e-13, atol=1e-16)[-1, 0] for e in (step, -step)]
    return (ends[0] - 2 * q + ends[1]) / step**2


def complex_step(delta, q, c, eta=1e-20):
    """dF/dc along the curve: Q'' at (q, c)."""
    F = slope(delta, q + 0j, c + 0j).real
    return slope(delta, q + 1j * eta * F, c + 1j * eta).imag / eta


# %%
curvature_ok, rows = True, []
for D in (4.0, 16.0, 64.0):
    for c in (-0.5, 0.0, 0.5):
        q = 2 * q_star * kernel.kappa(c)
        formula = gauge.mu(q, D) * D / (q * (1 - c**2))
        exact, differenced = [], []
        for delta in (-D, +D):
            A = q_star * kernel.kappa_prime(c) * (1 - c**2)
            step = 0.2 * min(2 * gauge.chi(q, delta) * A / gauge.mu(q, D), 1 - abs(c))
            fine, coarse = (second_difference(delta, q, c, h) for h in (step / 2, step))
            differenced.append((4 * fine - coarse) / 3)
            exact.append(complex_step(delta, q, c))
        rows.append((D, c, *exact, exact[0] - exact[1], formula))
        errors = [abs((x[0] - x[1]) / formula - 1) for x in (exact, differenced)]
        curvature_ok &= bool(errors[0] < 1e-12 and errors[1] < 1e-5)
print("   D     c       Q-''        Q+''     difference    formula")
for row in rows:
    print("{:4.0f}  {:5.1f}  {:10.4f}  {:9.4f}  {:11.4f}  {:11.4f}".format(*row))
print("complex step to 1e-12 and finite difference to 1e-5 of the formula:", curvature_ok)

# %% [markdown]
# What the two cases mean near the start: off the nullcline the curves part *linearly*,
# $Q_--Q_+\approx-\mu RD/(q_0A)\,(c-c_0)$; on it *quadratically*, with half of
# {eq}`eq-single-curvature`. In both cases at once, and for every $D>0$; under a pure change of clock
# they would not part at all. As a control for the last statement we run the $+D$ flow on the clock
# $t+t^2$ and compare its curve.

# %%
near = np.geomspace(1e-7, 1e-2, 11)
part, predicted = {}, {}
for name, q in {"off the nullcline": q0, "on the nullcline": 2 * q_star * kernel.kappa(c0)}.items():
    ends = [odeint(lambda c, y, d=d: slope(d, y[0], c), [q], np.append(0, near), tfirst=True,
                   rtol=1e-13, atol=1e-16)[1:, 0] for d in (-16.0, 16.0)]
    part[name] = np.abs(ends[0] - ends[1])
mu, A, R = gauge.mu(q0, 16.0), kernel.kappa_prime(c0), q0 / 2 - kernel.kappa(c0)
q_null = 2 * q_star * kernel.kappa(c0)
predicted["off the nullcline"] = mu * abs(R) * 16 / (q0 * A) * near
predicted["on the nullcline"] = gauge.mu(q_null, 16.0) * 16 / (2 * q_null) * near**2
early = {"off the nullcline": near < 1e-6, "on the nullcline": (near > 1e-6) & (near < 1e-4)}
parting = {k: measure.loglog_fit(near[m], part[k][m]).slope for k, m in early.items()}

flow, end = flows.reduced(plus), 3.0
t = np.linspace(0, end / 16, 40)
clocked = odeint(lambda t, y: np.multiply(16 * (1 + 2 * t), flow.rhs(0, y)), flow.state0, t,
                 tfirst=True, rtol=1e-13, atol=1e-15)
plain = solve.solve(flow, 16 * (t + t**2)).state
clock_distance = np.abs(clocked - plain).max()
print("exponents of the distance:", ", ".join(f"{k} {v:.4f}" for k, v in parting.items()))
print("+D on another clock runs through the same states, to 1e-11:", bool(clock_distance < 1e-11))

# %% mystnb={"figure": {"caption": "How the two phase curves part at $D=16$, $c_0=0$. Off the nullcline ($q_0=0.6$) linearly, on it ($q_0=h(0)$) quadratically; the thin lines are the predictions of theorem 3.2's proof, with no fit.", "name": "fig-single-apart"}, "image": {"alt": "Two rows of points on logarithmic axes, of slopes one and two, on thin predicted lines; both bend away only at the largest distances."}}
fig, ax = figures.panels(width=5.6, height=3.2)
for k, (name, line) in enumerate(predicted.items()):
    ax.plot(near, line, color=figures.COLOURS[k], linewidth=1, linestyle=figures.DASHES[k])
figures.measured_points(ax, near, part, xlabel="distance c − c₀ from the start",
                        ylabel="distance |Q₋ − Q₊|")
plt.show()
for name in part:
    print(f"{name}: measured/predicted at c - c0 = 1e-6: {(part[name] / predicted[name])[2]:.4f}")

# %% [markdown]
# ## Two limits
#
# ```{prf:theorem} Fast and slow limits; paper's appendix A.6
# :label: thm-single-limits
#
# As $D\to\infty$, from a fixed start:
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
# $O(D^{-2})$. For $-D$, $\lvert D\chi-q\rvert=4q^3/(\sqrt{D^2+4q^2}+D)^2\le\overline q^3/D^2$. Further
# $\dot e_D=-\tfrac\mu2e_D-h'(c)\dot c$ with $\mu\ge D$, $0\le h'\le q_\star$ and
# $0\le\dot c=\chi A\le(\overline q/D)(q_\star/2)$, and Gronwall's inequality gives the layer bound.
# ```
#
# The paper does not print $C_{\rm tr}$, but its inequalities do: with $\lvert h'\dot c\rvert\le
# \overline q\,q_\star^2/(2D)$ and the rate $D/2$,
#
# $$ C_{\rm tr}=\overline q\,q_\star^2 $$ (eq-single-layer-constant)
#
# will do. It is not sharp: for large $D$ the coefficient lags behind the moving nullcline by
# $\lvert e_D\rvert\approx2h'\dot c/D$, so $D^2\lvert e_D\rvert\to2h'(c)\,h(c)\,A(c)$, whose maximum
# over $c$ is what one should measure. First the elementary inequalities.

# %%
q_grid = np.linspace(0.01, high, 400)[:, None]
D_grid = np.geomspace(0.5, 1e6, 60)
mu, chi_minus = gauge.mu(q_grid, D_grid), gauge.chi(q_grid, -D_grid)
remainder = 4 * q_grid**3 / (mu + D_grid) ** 2
rounding = 4 * np.finfo(float).eps * q_grid
identity = bool(np.all(np.abs(q_grid - D_grid * chi_minus - remainder) <= rounding))
remainder_ok = bool(np.all(remainder <= high**3 / D_grid**2))
balanced_off = np.abs(D_grid * gauge.chi(q_grid, 0.0) - q_grid)
remainder_null = bool(np.all(balanced_off <= high**3 / D_grid**2))
excess_mu = 4 * q_grid**2 / (D_grid * (mu + D_grid))  # mu/D - 1 without cancellation
mu_ok = bool(np.all(excess_mu <= 2 * q_grid**2 / D_grid**2 * (1 + 1e-15)))
chi_excess = excess_mu / (2 * q_grid)  # chi(q, +D)/D - 1/q
chi_ok = bool(np.all(chi_excess <= q_grid / D_grid**2 * (1 + 1e-15)))
c_grid = np.linspace(-1, 1, 2001)
A_grid = q_star * kernel.kappa_prime(c_grid) * (1 - c_grid**2)
h_prime = 2 * q_star * kernel.kappa_prime(c_grid)
simple_ok = bool(h_prime.max() <= q_star and A_grid.min() >= 0 and A_grid.max() <= q_star / 2
                 and np.all(chi_minus <= high / D_grid))
print("|D chi(q,-D) - q| = 4q^3/(mu + D)^2 to rounding:", identity, "  and <= q_high^3/D^2:", remainder_ok)
print("mu/D - 1 <= 2q^2/D^2:", mu_ok, "   chi(q,+D)/D - 1/q <= q/D^2:", chi_ok)
print(f"h' <= q*, 0 <= A <= q*/2, chi(q,-D) <= q_high/D: {simple_ok}  (max A = {A_grid.max():.4f})")

# %% [markdown]
# Now the flows. The fast one is compared on $0\le\tau\le40$ and the slow one on
# $0\le t/D\le40$, where every curve has come to the teacher (the range is our choice; the paper's is
# lost). The coefficient of the slow limit is compared after the time $t=4\log(D)/D$, at which
# $e^{-Dt/2}=D^{-2}$.

# %%
fast_tau = np.linspace(0, 40, 801)
slow_time = np.append(0, np.geomspace(1e-6, 40, 600))
fast_limit = solve.solve(flows.limit(plus), fast_tau)
errors = {"fast: q": [], "fast: c": [], "slow: c": [], "slow: q after the layer": []}
layer_constant, layer_null = [], []
for D in D_values:
    fast = solve.solve(flows.reduced(problem.single(q0, c0, +D)), fast_tau)
    errors["fast: q"].append(np.abs(fast.q - fast_limit.q).max())
    errors["fast: c"].append(np.abs(np.cos(fast.angle(0)) - np.cos(fast_limit.angle(0))).max())
    one = problem.single(q0, c0, -D)
    slow, limit = (solve.solve(f(one), D**2 * slow_time) for f in (flows.reduced, flows.limit))
    errors["slow: c"].append(np.abs(np.cos(slow.angle(0)) - np.cos(limit.angle(0))).max())
    late = slow.t >= 4 * np.log(D) / D
    errors["slow: q after the layer"].append(np.abs(slow.q - limit.q)[late].max())
    for path, found in ((slow, layer_constant), (fast, layer_null)):
        e = np.abs(path.q[:, 0] - 2 * q_star * kernel.g(path.angle(0)))
        found.append(D**2 * np.max(e - e[0] * np.exp(-D * path.t / 2)))
errors = {name: np.array(values) for name, values in errors.items()}

# %%
exponents = {name: np.log2(e[-1] / e[-2]) for name, e in errors.items()}
print("sup error" + " " * 17 + "".join(f"D = {D:<8.0f}" for D in D_values) + "exponent (all)  (last)")
for name, e in errors.items():
    fit = measure.loglog_fit(D_values, e)
    cells = "".join(f"{v:<12.3e}" for v in e)
    print(f"{name:26s}{cells}{fit.slope:8.4f}  {exponents[name]:12.4f}")
sharp = np.max(2 * h_prime * 2 * q_star * kernel.kappa(c_grid) * A_grid)
explicit = high * q_star**2
print("least C_tr that holds, by D:", " ".join(f"{C:.4f}" for C in layer_constant))
print(f"its limit max 2 h' h A = {sharp:.4f};  the explicit C_tr = {explicit:.4f}")
print("for +D the same bound would need:", " ".join(f"{C:.4g}" for C in layer_null))
initial_gap = abs(q0 - 2 * q_star * kernel.kappa(c0))
glue("single-layer-measured", f"{layer_constant[-1]:.4f}", display=False)
glue("single-layer-sharp", f"{sharp:.4f}", display=False)
glue("single-layer-explicit", f"{explicit:.4g}", display=False)
glue("single-initial-gap", f"{initial_gap:.4f}", display=False)

# %% [markdown]
# All four errors fall like $D^{-2}$. From time zero, the coefficient of the slow limit is off by
# $\lvert q_0-h(c_0)\rvert=$ {glue:text}`single-initial-gap` for every $D$, which is why the paper
# compares it only after the layer. The constant of the layer bound is measured as
# {glue:text}`single-layer-measured`, its predicted limit is {glue:text}`single-layer-sharp`, and
# the explicit one is {glue:text}`single-layer-explicit`. The layer bound is special to $-D$: with $+D$
# the direction moves while the coefficient relaxes, and the constant it would need grows like $D^2$.

# %% mystnb={"figure": {"caption": "The paper's figure D.1(a), recomputed at $D=16$. Left: $+D$ on the fast clock against its limit. Middle: $-D$ on the slow clock; the alignment agrees from time zero, the coefficient after its layer. Right: $\lvert e_D\rvert$ in the layer, and the bound with $C_{\rm tr}=\overline q\,q_\star^2$.", "name": "fig-single-limits"}, "image": {"alt": "Left: coefficient and alignment over fast time lie on their limits. Middle: over logarithmic slow time the coefficient falls from 0.6 to the limit curve and then follows it, while the alignment follows its limit throughout. Right: the gap falls exponentially to a plateau that stays below the bound."}}
fig, axes = figures.panels(1, 3, width=9.6, height=3.1)
one = problem.single(q0, c0, -16.0)
fast = solve.solve(flows.reduced(plus), fast_tau)
slow, limit = (solve.solve(f(one), 256 * slow_time) for f in (flows.reduced, flows.limit))
views = ((axes[0], fast_tau, fast, fast_limit, "fast time τ = Dt", (0, 12)),
         (axes[1], slow_time, slow, limit, "slow time t/D", (1e-4, 40)))
for ax, time, exact, approximate, label, window in views:
    series = {"q": exact.q[:, 0], "c": np.cos(exact.angle(0)), "q, limit": approximate.q[:, 0],
              "c, limit": np.cos(approximate.angle(0))}
    figures.curves(ax, time, series, xlabel=label, ylabel="coefficient q, alignment c")
    ax.set(xlim=window, ylim=(-0.03, 1.05))
axes[1].set_xscale("log")
axes[1].get_legend().remove()
early = slow.tau < 30
gap = np.abs(slow.q[:, 0] - 2 * kernel.g(slow.angle(0)))
bound = gap[0] * np.exp(-slow.tau / 2) + explicit / 256
figures.curves(axes[2], slow.tau[early], {"|q − h(c)|": gap[early], "bound": bound[early]},
               xlabel="fast time τ = Dt", ylabel="gap to the nullcline", log="y")
plt.show()
print(f"at D = 16: fast errors {errors['fast: q'][1]:.2e} (q), {errors['fast: c'][1]:.2e} (c); "
      f"slow {errors['slow: c'][1]:.2e} (c), {errors['slow: q after the layer'][1]:.2e} (q, late)")

# %% mystnb={"figure": {"caption": "Errors of the two limits over $D$, with the least-squares lines; the guide has slope $-2$.", "name": "fig-single-errors"}, "image": {"alt": "Four rows of points on logarithmic axes, all falling with slope minus two."}}
fig, ax = figures.panels(width=5.6, height=3.2)
fits = {name: measure.loglog_fit(D_values, e) for name, e in errors.items()}
figures.measured_points(ax, D_values, errors, fits=fits, xlabel="imbalance D", ylabel="sup error")
figures.guide(ax, D_values, 2 * D_values**-2.0, "2 D⁻²")
plt.show()
print("exponents:", ", ".join(f"{name} {fit.slope:.4f}" for name, fit in fits.items()))

# %% [markdown]
# ## Exercises
#
# **1.** Show that the condition $\mu\le3D$ is needed in {prf:ref}`thm-single-times`: find a $D$ for which the
# lower bound of $T_{+D}$ fails from $(0.6,0)$.
#
# ```{dropdown} Solution of 1
# As $D\to0$ the bound $\underline qI/(Dq_\star)$ grows without limit, while $T_{+D}$ tends to the
# time of the balanced student, $\int\mathrm dx/(q_\star\kappa')\le I/(q_\star k_0)$. So it fails
# at the latest for $D<\underline qk_0$, here $1/(4\pi)$. The condition asks for
# $D\ge\overline q/\sqrt2$, and is only sufficient.
# ```
#
# **2.** Starting on the nullcline, which of the two students leaves it first, and to which side?
#
# ```{dropdown} Solution of 2
# Both have $Q'=0$ there, and $Q''_\pm=\mu/(\chi_\pm(1-c^2))$ while the nullcline has slope
# $h'(c)>0$. So both fall below the nullcline at once. The $-D$ curve has the larger curvature
# and turns upwards first: it stays closer to the nullcline, at a distance of order $D^{-2}$ in
# $q$ by {prf:ref}`thm-single-limits`.
# ```
#
# **3.** Derive the cost of a further factor $e^{-1}$ in $\varepsilon$ for both signs, and show that
# the product of the two costs is $1/q_\star^2$.
#
# ```{dropdown} Solution of 3
# Near the teacher $\kappa'\to\frac12$ and $1-c^2\approx2(1-c)$, so
# $\dot c\approx\chi(q_\star,\delta)q_\star(1-c)$ and $1-c$ decays with the rate $\chi q_\star$. By
# {eq}`eq-single-chi` $\chi(q_\star,+D)\chi(q_\star,-D)=1$. The corrections are of order
# $\sqrt\varepsilon$, since $\kappa'(c)=\frac12-\alpha/(2\pi)$ and $\alpha\approx\sqrt{2\varepsilon}$.
# ```
#
# **4.** Where is the lag $2h'(c)h(c)A(c)$ of the coefficient behind the nullcline largest, and why
# does it vanish at both ends?
#
# ```{dropdown} Solution of 4
# It equals $8q_\star^3\kappa\,\kappa'^2(1-c^2)$. At $c=-1$ the torque $\kappa'$ and the target $\kappa$
# vanish; at $c=1$ the direction no longer moves. Its maximum over a grid is the number the chapter
# compares with the measured constant; it does not depend on the start as long as the start lies
# below the maximising alignment.
# ```
