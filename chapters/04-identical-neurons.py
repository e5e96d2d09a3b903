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
# (chapter-identical-neurons)=
# # Identical neurons
#
# $m$ students start with the same direction and the same coefficient, so nothing that the network
# computes tells them apart. Their imbalances do. After this chapter you know
#
# - the main result of {cite:t}`wang2026gauge`, its theorem 3.3: with one imbalance $+D$ and all
#   others $-D$, the designated student learns the teacher and every other coefficient vanishes;
# - what its constants are when they are measured, and where its hypotheses $D\ge D_0(m)$ and
#   $\phi\le\pi/3$ matter;
# - figures 1 and 3 and the control run of D.7, in three descriptions of training: the limit
#   $D\to\infty$, the exact reduced equations, and the original parameters of every student. (The
#   fourth curve of figure 3, training on finitely many samples, is not part of this chapter.)
# - what the other gauges do: all $+D$, all balanced, all $-D$. The last one hides an instability.
#
# The chapter runs in about 30 seconds.

# %%
import numpy as np
from myst_nb import glue
from scipy.integrate import cumulative_trapezoid, quad, solve_ivp

from gaugelib import claims, flows, gauge, kernel, measure
from gaugelib.figures import BLACK, curves, guide, measured_points, panels, plt
from gaugelib.problem import duplicates
from gaugelib.solve import crossing, euler, solve

m, D, phi = 8, 32.0, np.pi / 4  # of figures 1 and 3; text, tables and grids below are about these
mixed = duplicates(m, D, phi)  # δ = (+D, −D, …, −D)
equal = mixed.regauged(+D)  # δ = (+D, …, +D)
for name, problem in {"designated, +D": mixed, "redundant, −D": mixed.regauged(-D)}.items():
    a, w = problem.weights()
    r = np.linalg.norm(w[0])
    print(f"{name:15s} a = {a[0]:.4e}  |w| = {r:.4e}  q = a|w| = {a[0] * r:.4f}")

# %% [markdown]
# ## The theorem
#
# Teacher $f_\star(x)=[u^\top x]_+$, inputs $x\sim\mathcal N(0,I_d)$ with $d\ge2$, and students
# $f(x)=\sum_i a_i[w_i^\top x]_+$ with coefficient $q_i=a_i\lVert w_i\rVert$, direction $s_i$ and
# imbalance $\delta_i=a_i^2-\lVert w_i\rVert^2$ ({numref}`chapter-gauge`). They start alike,
#
# $$ q_i(0)=\frac1m,\qquad s_i(0)=s_0,\qquad \angle(s_0,u)=\phi . $$ (eq-identical-start)
#
# One student $k$ is *designated*, $\delta_k=+D$; the $m-1$ *redundant* ones have $\delta_j=-D$.
#
# ```{prf:theorem} Selection of the designated student; paper's Theorem 3.3
# :label: thm-selection
#
# Let $I_\phi$ be a compact subset of $(0,\pi/3]$. There are $A>0$ and $\nu>3/2$ that depend on
# $I_\phi$ only, such that for every $m\ge2$, $\phi\in I_\phi$ and $D\ge D_0(m)=Am^{\nu/2}$,
# population gradient flow from {eq}`eq-identical-start` satisfies
#
# $$ q_k(t)\to1,\qquad s_k(t)\to u,\qquad q_j(t)\to0\quad(j\ne k). $$
#
# The designated student is *selected*, that is, $q_k$ comes near $1$, $s_k$ near $u$ and
# $P=\sum_{j\ne k}q_j$ near $0$ (within a small fixed window), at a time $t_{\rm cap}=O(1/D)$. From
# then on, with $\psi$ the angle of the redundant students from $u$, $L$ the loss and constants
# $c,C>0$,
#
# $$ L(t)\le L(t_{\rm cap})\,e^{-cD(t-t_{\rm cap})},\qquad
#    \lvert\dot\psi\rvert\le\frac{C\,L}{(m-1)D} . $$
# ```
#
# The text of the paper that we worked from lacks the statement of its theorem 3.3, except for its
# first display; the rest is what sections 3.3.1 and C.2 prove.
#
# *Why it is true.* A student's direction moves with mobility $\chi=a/\lVert w\rVert$, which is of
# order $D/q_k$ for the designated student and $q_j/D$ for the others: on the fast clock
# $\tau=Dt$ only one direction turns, and as $D\to\infty$ the others stand still. In that limit
# the flow has a single stationary state in an invariant region that contains the start, namely
# the teacher's direction for the designated student and $P=\sum_{j\ne k}q_j=0$. At finite $D$ the
# trajectory follows the limit until the loss is small; from there on the loss decays exponentially,
# and since the speed of $\psi$ is bounded by the loss, the redundant directions have only a total
# angle of order $D^{-2}/(m-1)$ left to turn. They stay apart from the teacher, and a student
# that points elsewhere has to vanish for the loss to vanish. {numref}`chapter-early-advantage`
# takes these steps one by one. The constants $A,\nu,c,C$ are not explicit in the paper; what
# follows measures what can be measured of them.
#
# ## The same function at the start
#
# The paper's inverse of $(q,\delta)\mapsto(a,\lVert w\rVert)$ for a redundant student is
#
# $$ a_j^2=\frac{\sqrt{D^2+4q_j^2}-D}2,\qquad
#    \lVert w_j\rVert^2=\frac{\sqrt{D^2+4q_j^2}+D}2 , $$ (eq-identical-weights)
#
# so $q_j\to0$ means $a_j\to0$ while $\lVert w_j\rVert\to\sqrt D$: the output weight is what
# is pruned. First the start: two gauges, one function.

# %%
START, x = 1e-14, np.random.default_rng(0).standard_normal((1000, 2))
gap = np.abs(mixed.predict(x) - equal.predict(x)).max()
a, w = mixed.weights()
doubled = np.maximum(x @ w.T, 0) @ (2 * a)  # what happens if |w| is not rescaled with a
gap_null = np.abs(doubled - equal.predict(x)).max()
inputs = len(x)
print(f"largest |f_mixed − f_equal| on {inputs} inputs below {START:g}:", bool(gap < START))
print(f"largest change if only the output weights are doubled: {gap_null:.4g}")

# %% [markdown]
# The tolerance is argued, not fitted: a sum of eight terms below 1, each right to a few
# units in the last place, is right to about $10^{-15}$.
#
# ## Figure 1: equal scale against one $+D$
#
# With one $+D$ the symmetric state is $(q,P,\theta,\psi)$, with $q=q_k$, $\theta$ and $\psi$ the
# signed angles of $s_k$ and $s_j$ from $u$, and $\alpha=\psi-\theta$. In fast time,
#
# $$ \begin{aligned}
# q'&=-\tfrac{\mu_+}{D}\bigl[\tfrac q2+Pg(\alpha)-g(\theta)\bigr], &
# \theta'&=-\tfrac{\mu_++D}{2Dq}\bigl[P\omega(\alpha)+\omega(\theta)\bigr],\\
# P'&=-\tfrac{(m-1)\mu_-}{D}\bigl[\tfrac P2+qg(\alpha)-g(\psi)\bigr], &
# \psi'&=-\tfrac{2P}{(m-1)D(\mu_-+D)}\bigl[\omega(\psi)-q\omega(\alpha)\bigr],
# \end{aligned} $$ (eq-identical-flow)
#
# with $\mu_+=\sqrt{D^2+4q^2}$, $\mu_-=\sqrt{D^2+4P^2/(m-1)^2}$ and $g,\omega$ of
# {numref}`chapter-kernel`. With all imbalances equal the students never differ, and two numbers
# suffice: the common coefficient and angle.

# %%
tau = np.linspace(0, 60, 601)  # the record grid of figure 1
fine = np.concatenate([[0], np.geomspace(0.01, 60, 400)])  # for drawing
one, plus = solve(flows.reduced(mixed), tau), solve(flows.reduced(equal), tau)
one_fine, plus_fine = solve(flows.reduced(mixed), fine), solve(flows.reduced(equal), fine)


def distance(f, h):
    """|f − h| in L² of the Gaussian at the common times of two trajectories."""
    c, s = np.concatenate([f.q, -h.q], axis=1), np.concatenate([f.s, h.s], axis=1)
    return np.sqrt(np.maximum(2 * kernel.mixture_loss(c, s), 0))


apart = distance(one, plus)


# %% mystnb={"figure": {"caption": "Figure 1 of the paper: the same start, two gauges. With all imbalances $+D$ the eight students share the feature; with one $+D$ and seven $-D$ the designated student takes it and the others vanish without turning. $m=8$, $D=32$, $\\phi=\\pi/4$.", "name": "fig-equal-scale"}, "image": {"alt": "Three panels over fast time on a logarithmic axis. Coefficients: all curves start together; the designated one rises towards 1, the redundant ones fall to zero, the equal-scale ones return to their start. Angles: the designated one drops through zero, overshoots and returns, the redundant one stays where it is, the equal-scale one drops to zero. Loss: the equal-scale curve falls off the axis while the mixed one has hardly fallen."}}
fig, (left, middle, right) = panels(1, 3, width=8.4, height=3.3)
theta, psi, shared = one_fine.state[:, 2], one_fine.state[:, 3], plus_fine.state[:, 1]
q = {
    "designated, +D": one_fine.q[:, 0],
    "redundant, −D": one_fine.q[:, 1],
    "all eight +D": plus_fine.q[:, 0],
}
clock = {"xlabel": "fast time τ = Dt", "log": "x"}
curves(left, fine, q, ylabel="coefficient $q_i$", title="(a) coefficients", **clock)
angles = dict(zip(q, (theta, psi, shared)))
curves(middle, fine, angles, ylabel="angle from the teacher", title="(b) angles", **clock)
clock["log"] = "xy"
curves(right, fine, {"one +D": one_fine.loss}, ylabel="loss L", **clock)
curves(right, fine, {"all +D": plus_fine.loss}, ylabel="loss L", title="(c) loss", first=2, **clock)
right.set_ylim(1e-10, 1)
right.text(5, 3e-2, "one +D")
right.text(0.2, 1e-6, "all +D")
left.get_legend().remove()
middle.get_legend().remove()
for ax in (left, middle, right):
    ax.set_xlim(0.02, 60)
fig.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
plt.show()

# %%
print("  τ     q_k       q_j     angle_k  angle_j  |  q_all +D  |angle|   distance of functions")
for i in (0, 10, 20, 50, 100, 300, 600):
    q, P, theta, psi = one.state[i]
    common, angle = plus.state[i]
    print(
        f"{tau[i]:4.0f}  {q:.4f}  {P / 7:9.6f}  {theta:7.4f}  {psi:.4f}   |  "
        f"{common:.4f}    {abs(angle):7.4f}    {apart[i]:.4f}"
    )
NO_LOSS = 1e-20
print(f"loss at τ = 60: one +D {one.loss[-1]:.3e}; all +D below {NO_LOSS:g}:",
      plus.loss[-1] < NO_LOSS)
lowest = one_fine.state[:, 2].min()
glue("q-designated", f"{one.q[-1, 0]:.4f}", display=False)
glue("q-redundant", f"{one.q[-1, 1]:.2e}", display=False)
glue("distance-60", f"{apart[-1]:.2e}", display=False)
glue("distance-max", f"{apart.max():.3f}", display=False)
glue("angle-lowest", f"{lowest:.3f}", display=False)

# %% [markdown]
# The two networks begin with the same function, part by up to {glue:text}`distance-max` in
# $L^2$, and come together again: their distance is {glue:text}`distance-60` at $\tau=60$. By then
# the designated coefficient is {glue:text}`q-designated` and each redundant one
# {glue:text}`q-redundant`. Two things in this figure are not in the paper's text. The equal-scale
# network is far faster: no student has to wait until another one has vanished, and a coefficient
# that is $m$ times smaller turns $m$ times faster (exercise 1). And the designated student
# *overshoots*: it passes the teacher, to an angle of {glue:text}`angle-lowest`, and returns from
# the other side, while the redundant coefficients, which point to the first side, fade away.
#
# To see the limits and not only the state at $\tau=60$, the next cell follows the flow to
# $\tau=600$, and finds the crossing of zero as a root on the flow. It also checks the distance by a
# second route, Monte Carlo on a million inputs.

# %%
REST = 1e-8
zero = crossing(flows.reduced(mixed), tau, lambda y: y[2])
late = np.linspace(0, 600, 601)
end, end_equal = solve(flows.reduced(mixed), late), solve(flows.reduced(equal), late)
far = distance(end, end_equal)[-1]
theta = np.concatenate([one_fine.state[:, 2], end.state[61:, 2]])  # records to τ = 60, then to 600
side = np.sign(theta[np.abs(theta) > REST])
print(f"θ crosses zero at τ = {zero.tau:.4f}; lowest θ = {lowest:.4f}")
print("changes of sign of θ on the records up to τ = 600:", int((np.diff(side) != 0).sum()))
rest = {"|q_k − 1|": abs(end.q[-1, 0] - 1), "|θ|": abs(theta[-1]), "P": end.P[-1], "distance": far}
for name, value in rest.items():
    print(f"at τ = {late[-1]:g}: {name} below {REST:g}:", bool(abs(value) < REST))

# %%
i = int(np.argmax(apart))
x = np.random.default_rng(1).standard_normal((1_000_000, 2))
f_one, f_plus = (np.maximum(x @ run.s[i].T, 0) @ run.q[i] for run in (one, plus))
square = (f_one - f_plus) ** 2
error = square.std() / 1000 / (2 * apart[i])  # standard error of the root of the mean
print(f"largest distance, at τ = {tau[i]:.1f}: closed form {apart[i]:.4f}")
print(f"Monte Carlo: {np.sqrt(square.mean()):.4f} ± {error:.4f}")

# %% [markdown]
# ## The equal-scale control of D.7
#
# The paper integrates the original parameters $(a,w)$ of one representative student, with the
# contributions of all eight in the residual, by DOP853 at relative and absolute tolerances
# $10^{-11}$ and $10^{-13}$ with steps of at most $0.1$. It reports that both tolerances divided by
# ten change the recorded parameters by less than $1.1\times10^{-13}$, and that the imbalance
# drifts by less than $4.3\times10^{-14}$.


# %%
def control(rtol, atol, copies=m, max_step=0.1):
    """(a, w) of one of ``copies`` equal students on the record grid, as D.7 describes it."""

    def rates(tau, y):
        a, w = y[:1], y[None, 1:]
        T = flows.force(copies * a, w, equal.teacher)[0]  # all contributions in the residual
        return np.array([-w[0] @ T, *(-a * T)]) / D

    a0, w0 = equal.weights()
    options = {"method": "DOP853", "t_eval": tau, "max_step": max_step}
    return solve_ivp(rates, (0, 60), [a0[0], *w0[0]], rtol=rtol, atol=atol, **options).y


def drift_of(y):
    return np.abs(y[0] ** 2 - (y[1:] ** 2).sum(axis=0) - D).max()


def coefficient(y):
    return y[0] * np.hypot(y[1], y[2])


# %%
paper_run = control(1e-11, 1e-13)
change = np.abs(paper_run - control(1e-12, 1e-14)).max()
default = [control(rtol, atol, max_step=np.inf) for rtol, atol in ((1e-3, 1e-6), (1e-4, 1e-7))]
change_null = np.abs(default[0] - default[1]).max()
drift, AGREE = drift_of(paper_run), 1e-10
drift_null = D * measure.imbalance_drift(euler(flows.population(equal), 0.1, 600))
off_all = np.abs(coefficient(paper_run) - plus.q[:, 0])
off = off_all.max()
off_null = np.abs(coefficient(control(1e-9, 1e-11, copies=1)) - plus.q[:, 0]).max()
printed = [claims.lookup(f"D7-control-{name}").printed[2:] for name in ("change", "drift")]
most_change, most_drift = (100 * float(x) for x in printed)
print(f"change under tighter tolerances below 100 × {printed[0]}:", bool(change < most_change))
first = np.abs(control(1e-7, 1e-9) - control(1e-8, 1e-10)).max()
print("the first null within a factor 2 of this limit:", bool(0.5 < first / most_change < 2))
print(f"imbalance drift below 100 × {printed[1]}:", bool(drift < most_drift))
print(f"same coefficient as the flow in (q, α), to {AGREE:g}:", bool(off < AGREE))
print(f"scipy's default tolerances, tightened likewise: change {change_null:.1e}")
print(f"Euler with step 0.1: drift {drift_null:.1e}")
print(f"one contribution only: coefficient off by {off_null:.3f}")

# %% [markdown]
# Numbers of $10^{-13}$ beside parameters of size $\sqrt D$ are about a hundred units in the last
# place: they depend on the machine, the library versions and the order in which a sum is formed.
# So the printed bounds are judged with a slack of 100, **our choice**, and the measured values are
# not printed, because no reader could compare them. A slack of 100 still says something: the
# solver's default tolerances and Euler's method miss it by far. (Our first null for the change had
# `rtol=1e-7, atol=1e-9` and the same steps. It missed the limit, but by so little, as printed, that
# the machine would have decided: steps of at most $0.1$ hold the error down whatever the tolerance
# is. It made way for the defaults; the limit stayed.)
#
# ## Other gauges, and an instability
#
# With equal imbalances the symmetric solution always shares the feature, whatever the common
# $\delta$ is. Whether it can be *seen* is another matter. Give the eight coefficients a relative
# difference of $10^{-6}$ and follow the original parameters of all students.
#
# Along the shared solution with $\delta=-D$ let one student differ by $(\varepsilon_q,
# \varepsilon_\alpha)$, with all differences summing to zero so that the residual does not feel
# them. The common coefficient has relaxed to $mq=2g(\alpha)$, and to leading order in $1/D$
#
# $$ \varepsilon_q'=-\omega(\alpha)\,\varepsilon_\alpha,\qquad
#    \varepsilon_\alpha'=-\frac{\omega(\alpha)}{D^2}\,\varepsilon_q , $$
#
# since a student with a larger coefficient turns faster, and one that is ahead in angle gains
# coefficient. One eigenvalue is $+\omega(\alpha)/D$. The common angle falls only at the rate
# $\omega(\alpha)\,2g(\alpha)/(mD^2)$, so that over the whole run the difference would grow by
#
# $$ \exp\Bigl(\int\frac{\omega(\alpha)}{D}\,d\tau\Bigr)
#    \approx\exp\Bigl(mD\int_0^\phi\frac{d\alpha}{2g(\alpha)}\Bigr) , $$ (eq-identical-unstable)
#
# with these $m$ and $D$ far beyond what rounding at $10^{-16}$ can stand. The other gauges do not
# do this. With $+D$ the differences move at rates of order $1/q$, but so does the common angle:
# before it has reached the teacher they have time for a factor of order one, whatever $D$ is.
# Balanced directions have $\chi=1$ whatever their coefficient is, so equal directions stay equal.

# %%
nudge = 1e-6 * np.array([3, -1, -4, 1, -5, 9, -2, -1]) / 9  # sums to zero


def nudged(delta, until):
    """All students with the same δ, coefficients (1 + nudge_i)/m, original parameters."""
    problem = mixed.regauged(delta)
    a, w = gauge.weights(problem.students.q * (1 + nudge), problem.students.s, delta)
    flow = flows.population(problem).starting(np.concatenate([a, w.ravel()]))
    return solve(flow, np.concatenate([[0], np.geomspace(0.1, until, 300)]))


runs = {
    "all −D": nudged(-D, 6000),
    "all balanced": nudged(0.0, 4000),
    "all +D": nudged(+D, 60),
}
spread = {name: np.ptp(run.q, axis=1) for name, run in runs.items()}
grown = {name: values.max() / values[0] for name, values in spread.items()}

# %% [markdown]
# To compare with {eq}`eq-identical-unstable`, integrate $\omega(\alpha)/D$ along the shared
# solution, which has one state for all students and so cannot break up. The slope of $\log$ spread
# over this integral should be 1, up to terms of relative order $1/D$. It is fitted where the spread
# is between $10^{-5}$ and $10^{-3}$: fifty times the start, so that the growing mode is alone, and
# small against the coefficients.

# %%
split = runs["all −D"]
symmetric = solve(flows.reduced(mixed.regauged(-D)), split.tau)
rate = kernel.omega(symmetric.state[:, 1]) / D
exponent = cumulative_trapezoid(rate, split.tau, initial=0)
growing = (spread["all −D"] > 1e-5) & (spread["all −D"] < 1e-3)
slope = np.polyfit(exponent[growing], np.log(spread["all −D"][growing]), 1)[0]
total = m * D * quad(lambda alpha: 1 / (2 * kernel.g(alpha)), 0, phi)[0]
for name, factor in grown.items():
    print(f"{name:12s}: largest spread / first spread = {factor:.4g}")
print(f"all −D: log(spread) over ∫ω dτ/D has slope {slope:.3f} (predicted 1)")
print(f"growth over the whole run, had it stayed linear: e^{total:.1f}")
print("coefficients at the end of the −D run:", " ".join(f"{v:.2f}" for v in split.q[-1]))
glue("growth-slope", f"{slope:.3f}", display=False)
glue("growth-total", f"{total:.0f}", display=False)

# %% mystnb={"figure": {"caption": "Eight students with equal imbalances whose coefficients differ by one part in a million. Left: the spread of the coefficients stays as it is for $+D$ and for balanced students, and grows as $\\exp(\\int\\omega\\,d\\tau/D)$ (circles) for $-D$. Right: what becomes of the eight coefficients when all are $-D$. $m=8$, $D=32$.", "name": "fig-gauges"}, "image": {"alt": "Left, on logarithmic axes: two flat curves that lie low, and one that leaves them and rises by many decades along the circles, then bends. Right: eight coefficients lie on each other for most of the first half, then fan out to both signs and slowly come back."}}
fig, (left, right) = panels(1, 2, width=8.0, height=3.1)
clock = "fast time τ = Dt"
series = {name: (run.tau[1:], spread[name][1:]) for name, run in runs.items()}
labels = {"xlabel": clock, "ylabel": "largest − smallest $q_i$"}
curves(left, None, series, title="(a) spread of the coefficients", log="xy", **labels)
first = int(np.argmax(growing))
shown = np.flatnonzero(growing | (spread["all −D"] > 1e-3) & (split.tau < 2000))[::5]
predicted = spread["all −D"][first] * np.exp(exponent[shown] - exponent[first])
left.plot(split.tau[shown], predicted, "o", color=BLACK, mfc="none", label="predicted growth")
left.legend(frameon=False)
each = {f"{i}": split.q[:, i] for i in range(m)}
curves(right, split.tau, each, xlabel=clock, ylabel="coefficient $q_i$", title="(b) all −D")
right.get_legend().remove()
plt.show()

# %%
print("all −D:   τ     spread     predicted")
for k in shown[::3]:
    value = spread["all −D"][first] * np.exp(exponent[k] - exponent[first])
    print(f"     {split.tau[k]:7.1f}   {spread['all −D'][k]:.3e}   {value:.3e}")

# %% [markdown]
# The measured slope is {glue:text}`growth-slope` where {eq}`eq-identical-unstable` predicts 1; the
# exponent over the whole run would be about {glue:text}`growth-total`. So identical students that
# are all $-D$ share the feature only in exact arithmetic: in floating point they break up, into
# coefficients of both signs. This book integrates them as *one* shared state. The paper's choice
# of $+D$ for its control is the good one: there, and for balanced students, differences do not
# grow.
#
# ## Figure 3: three descriptions of the same selection
#
# `limit` is the system for $D\to\infty$ with $\psi=\phi$ fixed, `reduced` is
# {eq}`eq-identical-flow`, and `original` (the flow `population`) follows all $a_i,w_i$ by the
# gradient of the population loss, without using the symmetry. Panel (d) shows the two
# terms of {eq}`eq-dissipation`, which split the decay of the loss into a coefficient term
# $\mu_iB_i^2$ and a direction term $a_i^2\lVert(I-s_is_i^\top)T_i\rVert^2$ of each student, summed
# over the students and divided by $D$.

# %%
describe = {"limit": flows.limit, "reduced": flows.reduced, "original": flows.population}
on_fine = {name: solve(make(mixed), fine) for name, make in describe.items()}
on_grid = {name: solve(make(mixed), tau) for name, make in describe.items()}
rates = {
    name: make(mixed).rates(on_fine[name].state).sum(axis=2) for name, make in describe.items()
}


def across(run):
    """|P sin ψ|: the redundant part perpendicular to the teacher."""
    return np.abs(run.P * np.sin(run.angle(1)))


# %% mystnb={"figure": {"caption": "Figure 3 of the paper in three of its four descriptions, which coincide within the line width: (a) coefficients, (b) loss, (c) the designated angle and the redundant part across the teacher, (d) the two terms of the loss decomposition (5), divided by $D$. $(m,D)=(8,32)$.", "name": "fig-descriptions"}, "image": {"alt": "Four panels over fast time; in each, a dashed and a dotted curve lie on a solid one. (a) The designated coefficient rises towards 1, the redundant one falls to zero. (b) The loss falls by several decades. (c) The designated angle dips sharply where it crosses zero, comes back and falls; the redundant part falls slowly, then along with it. (d) The two terms are of the same size early on; later the coefficient term is larger, and the direction term dips sharply once."}}
fig, ((ax_q, ax_loss), (ax_angle, ax_rate)) = panels(2, 2, width=8.0, height=2.9)
for k, (name, run) in enumerate(on_fine.items()):
    style = {"xlabel": clock, "first": k}
    for y in run.q.T[:2]:
        curves(ax_q, fine, {name: y}, ylabel="coefficient $q_i$", title="(a)", log="x", **style)
    curves(ax_loss, fine, {name: run.loss}, ylabel="loss L", title="(b)", log="xy", **style)
    for y in (run.angle(0), across(run)):
        labels = {"ylabel": "|θ| and |P sin ψ|", "title": "(c)"}
        curves(ax_angle, fine, {name: y}, log="xy", **labels, **style)
    for y in rates[name].T:
        curves(ax_rate, fine, {name: y}, ylabel="−dL/dτ", title="(d)", log="xy", **style)
ax_q.legend(ax_q.lines[::2], on_fine, frameon=False)
ax_q.text(8, 0.55, "designated")
ax_q.text(3, 0.13, "redundant")
ax_angle.text(0.12, 0.05, "|θ|")
ax_angle.text(0.5, 0.65, "|P sin ψ|")
ax_rate.text(3, 3e-2, "coefficient")
ax_rate.text(2.5, 2e-6, "direction")
for ax in fig.axes:
    ax.set_xlim(0.02, 60)
plt.show()

# %%
print("at τ = 60        q_k      q_j          L        |θ|   |P sin ψ|   owner, P and L fall")
selects = {}
for name, run in on_grid.items():
    falls = bool(np.all(np.diff(run.P) < 0) and np.all(np.diff(run.loss) < 0))
    selects[name] = run.owner == 0 and run.P[-1] < 0.01 and falls
    print(
        f"{name:10s}   {run.q[-1, 0]:.5f}  {run.q[-1, 1]:.6f}  {run.loss[-1]:.4e}  "
        f"{run.angle(0)[-1]:.5f}  {across(run)[-1]:.5f}     {run.owner}      {falls}"
    )
print("   τ      coefficient   direction   (terms of −dL/dτ, reduced)")
on_records = flows.reduced(mixed).rates(on_grid["reduced"].state).sum(axis=2)
for k in (0, 1, 2, 5, 10, 20, 50, 100, 300, 600):
    print(f"{tau[k]:6.1f}   {on_records[k, 0]:10.3e}   {on_records[k, 1]:10.3e}")

# %% [markdown]
# All three select the designated student, and $P$ falls together with the loss at every record.
# Why does the redundant part across the teacher shrink, because its coefficient does or because it
# turns? $\log\lvert P\sin\psi\rvert=\log P+\log\sin\psi$, so the share of the second term in the
# whole fall is the answer. In the null case the redundant students are balanced, $\delta_j=0$.


# %%
def share_of_turning(run):
    """Part of the fall of log|P sin ψ| from the first to the last record that is due to ψ."""
    by_turning = np.log(np.sin(run.angle(1)[0]) / np.sin(run.angle(1)[-1]))
    return by_turning / np.log(across(run)[0] / across(run)[-1])


designated = np.arange(m) == 0
balanced = mixed.regauged(np.where(designated, D, 0.0))
free = solve(flows.reduced(balanced), tau)
share, share_null = share_of_turning(on_grid["reduced"]), share_of_turning(free)
turned, turned_null = (phi - run.angle(1)[-1] for run in (on_grid["reduced"], free))
print("redundant students     turn by (rad)   share of turning in the fall of |P sin ψ|")
print(f"δ_j = −D               {turned:.3e}       {share:.1e}")
print(f"δ_j = 0                {turned_null:.3e}       {share_null:.2f}")
glue("turned", f"{turned:.1e}", display=False)
glue("share-null", f"{share_null:.2f}", display=False)

# %% [markdown]
# The direction turns by {glue:text}`turned` rad only: the coefficient does it. Balanced redundant
# students turn to the teacher, and a part {glue:text}`share-null` of the fall is theirs.
#
# ### Which unit removes the loss, and by which change
#
# Integrated along the flow, the terms of {eq}`eq-dissipation` of all students must add up to
# $L(0)-L(\tau)$; the loss itself is the second route.

# %%
PARTS = 1e-11
spent = measure.dissipation(flows.reduced(mixed), fine)
lost = spent.trajectory.loss[0] - spent.trajectory.loss
parts = {
    "designated, by growing": spent.coefficient[:, 0],
    "designated, by turning": spent.direction[:, 0],
    "redundant, by shrinking": spent.coefficient[:, 1:].sum(axis=1),
    "redundant, by turning": spent.direction[:, 1:].sum(axis=1),
}
missing_part = np.abs(sum(parts.values()) - lost).max()
missing_null = np.abs(spent.coefficient.sum(axis=1) - lost).max()
print(f"sum of all parts equals the loss removed, to {PARTS:g}:", bool(missing_part < PARTS))
print(f"coefficient terms alone miss up to {missing_null:.4f} of it")

# %% mystnb={"figure": {"caption": "Where the loss goes: the part of the initial loss that each kind of change has removed up to each time, in the run of {numref}`fig-equal-scale` with one $+D$. The grey line is their sum.", "name": "fig-removed"}, "image": {"alt": "Four rising curves over fast time and their sum. At first the shrinking of the redundant students and the turning of the designated one remove about the same; the first levels off low, the second higher; then the growing of the designated student sets in, overtakes both and ends as the largest part. The turning of the redundant students stays at zero. The sum reaches 1."}}
fig, ax = panels(width=6.4, height=3.3)
initial = spent.trajectory.loss[0]
shares = {name: part / initial for name, part in parts.items()}
curves(ax, fine, shares, xlabel=clock, ylabel="part of L(0) removed", log="x")
ax.plot(fine, sum(shares.values()), color="#777777", linewidth=1, label="all")
ax.set_xlim(0.02, 60)
ax.legend(frameon=False, loc="upper left")
plt.show()

# %%
print("part of L(0) removed up to τ =      0.1       1      10      60")
at = [int(np.argmin(np.abs(fine - time))) for time in (0.1, 1, 10, 60)]
for name, values in shares.items():
    print(f"{name:28s}" + "".join(f"{v:8.4f}" for v in values[at]))
by_growing = shares["designated, by growing"][-1]
by_turning = shares["designated, by turning"][-1]
glue("removed-by-growing", f"{by_growing / (by_growing + by_turning):.2f}", display=False)
glue("removed-by-turning", f"{by_turning / (by_growing + by_turning):.2f}", display=False)

# %% [markdown]
# The designated student removes most of the loss, a part {glue:text}`removed-by-growing` of its
# share by growing and {glue:text}`removed-by-turning` by turning; the redundant students
# contribute by shrinking, and next to nothing by turning.
#
# ## Agreement of the descriptions
#
# Reduced and original parameters describe the same flow, so they may differ by solver error only:
# both run at a relative tolerance of $10^{-13}$, and $10^{-10}$ leaves room for its growth over
# several hundred steps. The limit is another flow, at distance $O(D^{-2})$. All 25 pairs $(m,D)$ of
# Table D.2 are followed, compared in the largest difference of any $q_i$ or $q_is_i$.

# %%
ms, Ds = (2, 4, 8, 16, 32), np.array([8.0, 16.0, 32.0, 64.0, 128.0])
long, coarse = np.linspace(0, 80, 801), slice(None, None, 10)
grid = {(n, d): solve(flows.reduced(duplicates(n, d, phi)), long) for n in ms for d in Ds}
to_limit, between, spreads = np.empty((5, 5)), np.empty((5, 5)), np.empty((5, 5))
for i, n in enumerate(ms):
    for j, d in enumerate(Ds):
        limiting = solve(flows.limit(duplicates(n, d, phi)), long)
        original = solve(flows.population(duplicates(n, d, phi)), long[coarse])
        to_limit[i, j] = measure.trajectory_error(grid[n, d], limiting)
        between[i, j] = measure.trajectory_error(grid[n, d].at(coarse), original)
        spreads[i, j] = np.ptp(original.q[:, 1:], axis=1).max()
fits = {f"m = {n}": measure.loglog_fit(Ds, row) for n, row in zip(ms, to_limit)}

# %% mystnb={"figure": {"caption": "Distance between the limit and the flow at finite $D$: the largest difference of any $q_i$ or $q_is_i$ up to $\\tau=80$, with fitted lines.", "name": "fig-to-limit"}, "image": {"alt": "Five nearly parallel lines of points on logarithmic axes, falling with slope minus two; m = 4 lies lowest, m = 32 highest."}}
fig, ax = panels(width=5.6, height=3.3)
series = {f"m = {n}": row for n, row in zip(ms, to_limit)}
labels = {"xlabel": "imbalance D", "ylabel": "distance from the limit"}
measured_points(ax, Ds, series, fits=fits, **labels)
ax.set_xticks(Ds, [f"{d:.0f}" for d in Ds])
ax.minorticks_off()
plt.show()

# %%
scaled = to_limit * Ds**2
print("D² × distance from the limit")
print("  m   " + "".join(f"   D = {d:3.0f}" for d in Ds) + "     slope")
for n, row in zip(ms, scaled):
    print(f"{n:3d}   " + "".join(f"{v:10.5f}" for v in row) + f"    {fits[f'm = {n}'].slope:.3f}")
variation = (scaled.max(axis=1) / scaled.min(axis=1)).max()
print(f"largest over smallest in a row: at most {variation:.3f}")
SPREAD = 1e-12
agreeing, alike = (between < AGREE).sum(), (spreads < SPREAD).sum()
print(f"reduced and original agree to {AGREE:g} on {agreeing} of {between.size} pairs")
print(f"redundant students equal to {SPREAD:g} on {alike} of {spreads.size} pairs")

# %% [markdown]
# ## The constants of the theorem
#
# For all 25 pairs the record gives the capture time (first record with $q>0.9$,
# $\lvert\theta\rvert<0.1$ and $P<0.1$; {numref}`chapter-scaling` discusses this window), the
# slowest mean decay $\log(L(\tau_{\rm cap})/L(\tau))/(\tau-\tau_{\rm cap})$, and the largest
# $\lvert\dot\psi\rvert(m-1)D/L$ after capture. If the theorem holds, the three are bounded over
# the grid: the first two say $t_{\rm cap}=O(1/D)$ and $c>0$, the third is $C$. The slowest linear
# rate of the limiting flow at its rest point, $\lambda(\phi,m)$ (`measure.tail_rate`), is beside
# them: in the end the loss falls like $e^{-2\lambda\tau}$. As *bounded* we accept a factor below
# two (our choice): $D$ grows sixteenfold, so that a power of $D$ too much shows.


# %%
def decay(run, k):
    """The largest c with L ≤ L_k exp(−c(τ − τ_k)) on all records after k."""
    return (np.log(run.loss[k] / run.loss[k + 1 :]) / (run.tau[k + 1 :] - run.tau[k])).min()


def motion(run, k):
    """|dψ/dt| (m − 1) D / L on the records from k on; the bound C of the theorem."""
    n, d = run.problem.m, run.problem.D
    flow = flows.reduced(run.problem)
    speed = d * np.abs([flow.rhs(0, y)[3] for y in run.state[k:]])  # in t, not in τ
    return speed * (n - 1) * d / run.loss[k:]


# %%
entry = {key: measure.first_entry(run, measure.captured(run)) for key, run in grid.items()}
caps = np.array([[long[entry[n, d]] for d in Ds] for n in ms])
cs = np.array([[decay(grid[n, d], entry[n, d]) for d in Ds] for n in ms])
motions = {key: motion(run, entry[key]) for key, run in grid.items()}
Cs = np.array([[motions[n, d].max() for d in Ds] for n in ms])
linear = np.array([2 * measure.tail_rate(n, phi) for n in ms])
print(" m    D·t_cap over D    c over D            2λ(φ, m)    C over D")
for n, cap, c, C, two_lambda in zip(ms, caps, cs, Cs, linear):
    print(
        f"{n:2d}    {cap.min():.1f} to {cap.max():.1f}      {c.min():.4f} to {c.max():.4f}    "
        f"{two_lambda:.4f}      {C.min():.3f} to {C.max():.3f}"
    )
glue("c-low", f"{cs.min():.4f}", display=False)
glue("C-high", f"{Cs.max():.3f}", display=False)

# %% [markdown]
# On the grid, $c=$ {glue:text}`c-low` and $C=$ {glue:text}`C-high` do for every $m$ and $D$. The
# decay approaches, from above, twice the least eigenvalue of the linearized limiting flow,
# $\operatorname{diag}(1,1,m-1)\,G_\phi$ ({numref}`chapter-early-advantage`), which is the fourth
# column; half of that column is the least $c$ that the ledger accepts. This is a measurement over
# one angle, five widths and five imbalances; that the constants exist for all of them is what the
# theorem adds.
#
# The nulls: a *balanced designated* student is still selected, but on its own clock, so $D\,t_{\rm
# cap}$ grows with $D$; *balanced redundant* students turn without waiting for the loss to fall, and
# the ratio that should be $C$ grows with $D$ and with time.

# %%
cap_null, C_null, ends = [], {}, (8.0, 128.0)
for d in ends:
    lazy = duplicates(m, d, phi).regauged(np.where(designated, 0.0, -d))  # null: δ_k = 0
    run = solve(flows.reduced(lazy), np.linspace(0, 30 * d, 1201))
    inside = (run.q[:, 0] > 0.9) & (run.angle(0) < 0.1) & (run.q[:, 1] * (m - 1) < 0.1)
    cap_null.append(run.tau[measure.first_entry(run, inside)])
    loose = duplicates(m, d, phi).regauged(np.where(designated, d, 0.0))  # null: δ_j = 0
    C_null[d] = motion(solve(flows.reduced(loose), long), 200)  # τ = 20 to 80
print("balanced designated student: D·t_cap = " + " and ".join(f"{t:.0f}" for t in cap_null))
for d in ends:
    print(f"balanced redundant, D = {d:3.0f}: ratio {C_null[d][0]:.0f} to {C_null[d][-1]:.0f}")

# %% mystnb={"figure": {"caption": "After capture, at $D=32$. Left: the loss, with the slope $2\\lambda$ of the linearized limit at $m=8$ (thin line). Right: the ratio that the paper's theorem 3.3 bounds by $C$; balanced redundant students (here at $D=8$) are the null.", "name": "fig-constants"}, "image": {"alt": "Left: three nearly straight lines on a logarithmic axis, m = 2 falling slowest; the thin line is parallel to that of m = 8. Right: three flat curves that lie on each other and, far above them, for balanced redundant students, one that rises."}}
fig, (left, right) = panels(1, 2, width=8.0, height=3.1)
after = {n: grid[n, D].at(slice(entry[n, D], None)) for n in (2, 8, 32)}
losses = {f"m = {n}": (run.tau - run.tau[0], run.loss / run.loss[0]) for n, run in after.items()}
curves(left, None, losses, xlabel="τ − $τ_{cap}$", ylabel="$L / L(t_{cap})$", log="y")
line = np.array([30.0, 56.0])
guide(left, line, 1.7 * np.exp(-linear[2] * line), "2λ")
ratios = {f"m = {n}": (run.tau, motions[n, D]) for n, run in after.items()}
ratios["m = 8, $δ_j = 0$"] = (long[200:], C_null[8.0])
curves(right, None, ratios, xlabel=clock, ylabel="|dψ/dt| (m − 1) D / L", log="y")
right.set_ylim(1, 2e4)
right.legend(frameon=False, loc="center", bbox_to_anchor=(0.5, 0.4))
plt.show()

# %%
for n, run in after.items():
    print(
        f"m = {n:2d}: L/L_cap at τ = 80: {run.loss[-1] / run.loss[0]:.3e}; "
        f"ratio between {motions[n, D].min():.3f} and {motions[n, D].max():.3f}"
    )

# %% [markdown]
# ## Any unit, any dimension, individual coefficients
#
# Nothing in the theorem depends on which student is designated, or on $d$: the dynamics stays in
# the plane of $u$ and $s_0$. Both are checked on the original parameters. The individual
# coefficients vanish because the redundant students stay identical, and the output weights are what
# vanishes, as {eq}`eq-identical-weights` says.

# %%
base, seconds = on_grid["original"], np.linspace(0, 60, 61)
records = base.at(slice(None, None, 10))
third = solve(flows.population(duplicates(m, D, phi, designated=3)), seconds)
tens = solve(flows.population(duplicates(m, D, phi, d=10)), seconds)
swap = [3, 1, 2, 0, 4, 5, 6, 7]
swapped = max(
    np.abs(third.q[:, swap] - records.q).max(),
    np.abs(third.s[:, swap] - records.s).max(),
)
in_ten = max(
    np.abs(tens.q - records.q).max(),
    *(np.abs(tens.angle(i) - records.angle(i)).max() for i in range(m)),
)
print("designating student 3 selects student 3:", third.owner == 3)
print(f"and permutes the roles, to {AGREE:g}:", bool(swapped < AGREE))
print(f"d = 10 gives the coefficients and angles of d = 2, to {AGREE:g}:", bool(in_ten < AGREE))

# %%
a, w = base.state[:, :m], base.state[:, m:].reshape(-1, m, 2)
squares = np.stack([a**2, (w**2).sum(axis=2)])[:, :, 1:]  # of the redundant students
mu = gauge.mu(base.q, D)[:, 1:]
weights_gap = np.abs(squares - np.stack([mu - D, mu + D]) / 2).max()
weights_null = np.abs(squares - np.stack([mu + D, mu - D]) / 2).max()  # null: +D for −D
print(f"a_j², |w_j|² as in the formula at every record, to {AGREE:g}:", bool(weights_gap < AGREE))
print(f"with the sign of D reversed, off by {weights_null:.4g}")
print(f"a_j falls from {a[0, 1]:.3e} to {a[-1, 1]:.3e}")
print(f"|w_j|² − D falls from {squares[1, 0, 0] - D:.3e} to below 1e-6:",
      bool(squares[1, -1].max() - D < 1e-6))

# %% [markdown]
# ## Where the hypotheses matter
#
# The theorem asks for $\phi\le\pi/3$ and for $D\ge D_0(m)=Am^{\nu/2}$. First the angle: four values
# in the allowed range, four beyond it, each followed until $e^{-\lambda\tau}=e^{-30}$ with the
# slowest linear rate $\lambda(\phi,m)$, so that what remains should be near $10^{-13}$. It is
# judged against $10^{-8}$, which leaves room for the time before the decay begins and for the
# solver. The limiting flow is followed as well: section 3.3.1 says that it converges to $(1,0,0)$.

# %%
allowed, beyond = np.pi * np.array([[1 / 12, 1 / 6, 1 / 4, 1 / 3], [5 / 12, 1 / 2, 2 / 3, 5 / 6]])
widths = (2, 8, 32)


def rest_of(describe, n, angle):
    """Largest of |q_k − 1|, |P|, |θ| when e^(−λτ) = e^(−30)."""
    horizon = np.linspace(0, 30 / measure.tail_rate(n, angle), 5)
    y = solve(describe(duplicates(n, D, angle)), horizon).state[-1]
    return np.abs(y[:3] - [1, 0, 0]).max()


rests = {
    (name, n, angle): rest_of(describe[name], n, angle)
    for name in ("limit", "reduced") for n in widths for angle in (*allowed, *beyond)
}
print(f"  φ/π   30/λ (m = 2, 8, 32)    |q_k − 1|, |P|, |θ| < {REST:g} for m = 2, 8, 32 "
      "(limit, reduced)")
for angle in (*allowed, *beyond):
    times = [30 / measure.tail_rate(n, angle) for n in widths]
    small = [bool(rests[name, n, angle] < REST) for name in ("limit", "reduced") for n in widths]
    print(f"{angle / np.pi:.4f}" + "".join(f"{t:8.0f}" for t in times) + f"   {small}")

# %% [markdown]
# At every angle the designated student is selected, beyond $\pi/3$ too: there it is even quicker.
# In these runs the angle condition is what the proof needs, not what the dynamics needs.
#
# Now the size of $D$. The paper does not say how large $A$ is, nor what happens below $D_0$. The
# reduced flow can be followed at any $D$, here to $\tau=2000$. We call the feature *selected* if
# $P<10^{-6}$ by then, *shared* if $P>0.05$ and the redundant students have come to within a tenth
# of their initial angle, and leave the rest *open* (our choice).

# %%
small_D = np.array([0.01, 0.03, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 0.8, 0.9, 1, 1.5, 2, 5, 32])
final = {}
for n in widths:
    problems = [duplicates(n, d, phi) for d in small_D]
    ends_at = [solve(flows.reduced(p), np.linspace(0, 2000, 21)).state[-1] for p in problems]
    final[n] = np.array(ends_at)


def verdict(q, P, theta, psi):
    if P < 1e-6:
        return "selected"
    return "shared" if P > 0.05 and psi < phi / 10 else "open"


verdicts = {n: np.array([verdict(*y) for y in states]) for n, states in final.items()}
highest_shared = [small_D[verdicts[n] == "shared"].max() for n in widths]
lowest_selected = [small_D[verdicts[n] == "selected"].min() for n in widths]

# %% mystnb={"figure": {"caption": "The designated coefficient (left) and the redundant angle (right) at $\\tau=2000$, over the imbalance. For large $D$ the designated student takes the feature and the others keep their direction; for small $D$ all turn to the teacher and share it. The wider the network, the smaller the $D$ that suffices.", "name": "fig-threshold"}, "image": {"alt": "Left: markers of the designated coefficient rise from 1/m on the left to 1, which m = 32 reaches first, then m = 8, then m = 2. Right: the redundant angle rises from 0 at small D towards its start, in the same order."}}
fig, (left, right) = panels(1, 2, width=8.0, height=3.1)
late_q = {f"m = {n}": final[n][:, 0] for n in widths}
late_psi = {f"m = {n}": final[n][:, 3] for n in widths}
labels = {"xlabel": "imbalance D", "log": "x"}
measured_points(left, small_D, late_q, ylabel="late coefficient $q_k$", **labels)
measured_points(right, small_D, late_psi, ylabel="late angle ψ", **labels)
guide(right, np.array([0.01, 32]), np.array([phi, phi]), "φ")
left.get_legend().remove()
right.legend(frameon=False, loc="upper left", bbox_to_anchor=(0, 0.9))
plt.show()

# %%
print("   D   " + "".join(f"   q_k, ψ (m = {n:2d})          " for n in widths))
for i, d in enumerate(small_D):
    cells = [f"{final[n][i, 0]:.4f}  {final[n][i, 3]:.4f}  {verdicts[n][i]:8s}" for n in widths]
    print(f"{d:6.2f}     " + "     ".join(cells))
weak = solve(flows.reduced(duplicates(m, 0.1, phi)), np.linspace(0, 2000, 2001))
weak_rate = {k: np.log(weak.loss[k] / weak.loss[k + 1]) for k in (40, 400, 1900)}
text = ", ".join(f"{rate:.5f} at τ = {k}" for k, rate in weak_rate.items())
print(f"D = 0.1, m = 8: −d log L/dτ = {text}")
print(f"its q_k moves by less than 1e-4 from τ = 400 on: {np.ptp(weak.q[400:, 0]) < 1e-4}")
glue("q-shared", f"{weak.q[-1, 0]:.4f}", display=False)
glue("P-shared", f"{weak.P[-1]:.4f}", display=False)
for n, low, high in zip(widths, highest_shared, lowest_selected):
    glue(f"between-{n}", f"{low:g} and {high:g}", display=False)

# %% [markdown]
# At $m=8$ and $D=0.1$ the designated student ends with {glue:text}`q-shared` of the feature and the
# others hold {glue:text}`P-shared` of it: they have turned to the teacher before the loss was gone.
# The decay of the loss is then algebraic, not exponential: its logarithmic rate falls like
# $1/\tau$. So some condition on $D$ is needed. At this angle the change from shared to selected
# happens between $D=$ {glue:text}`between-2` at $m=2$, {glue:text}`between-8` at $m=8$ and
# {glue:text}`between-32` at $m=32$: far below the imbalances of the paper's experiments, and it
# *falls* with the width, while the sufficient $D_0(m)=Am^{\nu/2}$ rises. That is plausible: what
# counts is $D$ beside the coefficients, and those of the redundant students start at $1/m$.
#
# ## Exercises
#
# **1.** Let all students have imbalance $+D$ and $D\to\infty$. Linearize the shared flow at
# $(q,\alpha)=(1/m,0)$ and find the two decay rates in $\tau$. Why is the equal-scale network of
# {numref}`fig-equal-scale` faster than the selected student alone?
#
# ```{dropdown} Solution of 1
# With $g(\alpha)=\tfrac12+O(\alpha^2)$ and $\omega(\alpha)=\alpha/2+O(\alpha^2)$,
# $q'=-(mq/2-g)$ and $\alpha'=-\omega(\alpha)/q$ give the rates $m/2$ and $m/2$: both are four at
# $m=8$. The selected student alone would turn at rate $1/2$ near $q=1$: a coefficient that is $m$
# times smaller turns $m$ times faster at the same $D$.
# ```
#
# **2.** Let the teacher have coefficient $b>0$ and the students start at $q_i=b/m$. Which rescaling
# of time and of $D$ maps this to $b=1$?
#
# ```{dropdown} Solution of 2
# Put $q=b\tilde q$. Then $\mu(q,D)=b\,\mu(\tilde q,D/b)$ and $\chi(q,D)=\chi(\tilde q,D/b)$, while
# the residual scales by $b$. So $\tilde q$ follows the same equations in the time $bt$ with
# $\tilde D=D/b$: a larger teacher is a smaller imbalance.
# ```
#
# **3.** In {eq}`eq-identical-flow`, show that at $P=0$, $q=1$, $\theta=0$ nothing moves, for every
# $\psi$. What does this say about the redundant directions at the end of training?
#
# ```{dropdown} Solution of 3
# $q'\propto\tfrac12-g(0)=0$, $\theta'\propto\omega(0)=0$, $P'\propto g(\psi)-g(\psi)=0$, and
# $\psi'\propto P=0$. The stationary states form a line: the redundant direction is not determined
# by the loss, and where it stops depends on the whole history. That is why a bound on the total
# motion of $\psi$ is needed.
# ```
#
# **4.** Give *two* of the eight students the imbalance $+D$. What do you expect, and what happens?
#
# ````{dropdown} Solution of 4
# By symmetry the two remain identical and each takes half of the feature, while the six others
# vanish:
# ```python
# two = mixed.regauged([D, D] + 6 * [-D])
# print(solve(flows.population(two), np.array([0.0, 300.0])).q[-1].round(6))
# ```
# The reduced flow refuses this problem, because it knows one unit apart from the others only.
# ````
#
# ## The ledger
#
# Statements about limits $t\to\infty$ are judged at a finite time against $10^{-8}$, as argued
# above; agreement of two routes against $10^{-10}$; the bounds at rounding level of D.7 with the
# slack that its section states. *Near* is within one per cent (our choice); $D^2$ times a distance
# is *constant* if it varies by less than $1.1$, where $D^{-2}$ at $D=8$ is $0.016$ and one power of
# $D$ more would be a factor 16.

# %%
compare = claims.compare
worst = {
    name: max(rests[name, n, angle] for n in widths for angle in allowed)
    for name in ("limit", "reduced")
}
outside = max(rests["reduced", n, angle] for n in widths for angle in beyond)
equal_rest = abs(end_equal.q[-1, 0] - 1)
where = f"m = {', '.join(map(str, widths))}, {allowed.size} angles φ ≤ π/3"
theorem = [
    compare("T3.3-weights", f"equal to {AGREE:g} at {squares[0].size} pairs (a_j, |w_j|)",
            holds=weights_gap < AGREE, null_holds=weights_null < AGREE),
    compare("T3.3-select", f"|q_k − 1|, |θ| < {REST:g} at {where}, D = {D:g}",
            holds=worst["reduced"] < REST, null_holds=equal_rest < REST),
    compare("T3.3-prune", f"P < {REST:g} at {where}, D = {D:g}; null {weak.P[-1]:.4f}",
            holds=worst["reduced"] < REST, null_holds=weak.P[-1] < REST),
    compare("S331-limit", f"within {REST:g} of (1, 0, 0) at {where}",
            holds=worst["limit"] < REST, null_holds=equal_rest < REST),
]

# %%
FACTOR = 2
C_range = f"{Cs.min():.3f} ≤ C ≤ {Cs.max():.3f} on {Cs.size} pairs (m, D); factor below {FACTOR}"
cap_range = f"{caps.min():.1f} ≤ D t_cap ≤ {caps.max():.1f} on {caps.size} pairs (m, D)"
C_nulls = np.array([C_null[d].max() for d in ends])
theorem += [
    compare("T3.3-time", f"{cap_range}; factor below {FACTOR}",
            holds=caps.max() < FACTOR * caps.min(), null_holds=cap_null[1] < FACTOR * cap_null[0]),
    compare("T3.3-rate", f"c = {cs.min():.4f} on {cs.size} pairs (m, D), above λ(φ, m) at each",
            holds=np.all(cs > linear[:, None] / 2),
            null_holds=bool(weak_rate[1900] > linear[2] / 2)),
    compare("T3.3-motion", C_range, holds=Cs.max() < FACTOR * Cs.min(),
            null_holds=C_nulls.max() < FACTOR * C_nulls.min()),
    compare("T3.3-dimension", f"d = 2 and d = 10: to {AGREE:g} at {len(tens.q)} records",
            holds=in_ten < AGREE),
    compare("T3.3-any-unit", f"units 0 and {third.owner} permuted, equal to {AGREE:g}",
            holds=third.owner == 3 and swapped < AGREE),
]

# %%
NEAR = 0.01
q_end, psi_end, kept = one.q[-1], one.state[-1, 3], (1 - NEAR) * phi
uneven = np.abs(plus.q[-1] - 1 / m).max()
figure1 = [
    compare("F1-start", f"equal to {START:g} on {inputs} inputs; null off by {gap_null:.4g}",
            holds=gap < START, null_holds=gap_null < START),
    compare("F1-equal", f"q_i = 1/{m} to {AGREE:g} and L < {NO_LOSS:g} at τ = 60",
            holds=uneven < AGREE and plus.loss[-1] < NO_LOSS, null_holds=np.ptp(q_end) < AGREE),
    compare("F1-mixed", f"q_k = {q_end[0]:.4f}, q_j = {q_end[1]:.6f} at τ = 60, within {NEAR}",
            holds=q_end[0] > 1 - NEAR and q_end[1] < NEAR, null_holds=plus.q[-1, 0] > 1 - NEAR),
    compare("F1-separate", f"ψ = {psi_end:.4f} at τ = 60, φ = {phi:.4f}", holds=psi_end > kept,
            null_holds=plus.angle(1)[-1] > kept),
    compare("F1-end", f"distance {apart[-1]:.4f} at τ = 60, below {REST:g} at τ = {late[-1]:g}",
            holds=far < REST, null_holds=apart[10] < REST),
    compare("D7-control-change", change, null_holds=change_null < most_change),
    compare("D7-control-drift", drift, null_holds=drift_null < most_drift),
    compare("D7-symmetric", f"equal to {AGREE:g} at {off_all.size} times; null off by "
            f"{off_null:.3f}", holds=off < AGREE, null_holds=off_null < AGREE),
]

# %%
cubed, CONSTANT = to_limit * Ds**3, 1.1
of_3 = f"{sum(selects.values())} of {len(selects)} descriptions"
figure3 = [
    compare("F3-all-select", f"{of_3}, P and L fall throughout",
            holds=all(selects.values()), null_holds=plus.P[-1] < NEAR),
    compare("F3-angles", f"{share:.1e} of the fall is due to turning; null {share_null:.2f}",
            holds=share < NEAR, null_holds=share_null < NEAR),
    compare("F3-dissipation", f"parts add up to L(0) − L(τ), to {PARTS:g} at {lost.size} times",
            holds=missing_part < PARTS, null_holds=missing_null < PARTS),
    compare("F3-limit", f"D² × distance varies by {variation:.3f}; constant: below {CONSTANT}",
            holds=variation < CONSTANT,
            null_holds=np.all(cubed.max(axis=1) < CONSTANT * cubed.min(axis=1))),
    compare("D1-agree", f"below {AGREE:g} on {agreeing} of {between.size} pairs (m, D)",
            holds=between.max() < AGREE, null_holds=to_limit.min() < AGREE),
    compare("D1-duplicates", f"q_j equal to {SPREAD:g} on {alike} of {spreads.size} pairs (m, D)",
            holds=spreads.max() < SPREAD, null_holds=spread["all −D"].max() < SPREAD),
]

# %%
fall = ", ".join(f"{high:g}" for high in lowest_selected)
at_angles = ", ".join(f"{angle / np.pi:.3g}π" for angle in beyond)
own = [
    compare("B04-overshoot", f"θ = 0 at τ = {zero.tau:.4f}, lowest {lowest:.3f}",
            holds=lowest < -0.1, null_holds=plus_fine.state[:, 1].min() < -0.1),
    compare("B04-unstable", f"slope {slope:.3f} of 1, within 1/D; largest q_i {split.q.max():.1f}",
            holds=abs(slope - 1) < 1 / D, null_holds=grown["all +D"] > 10),
    compare("B04-threshold", f"q_k = {weak.q[-1, 0]:.4f}, P = {weak.P[-1]:.4f} at τ = 2000",
            holds=weak.P[-1] > 0.5, null_holds=one.P[-1] > 0.5),
    compare("B04-wide", f"selected from D = {fall} on at m = {', '.join(map(str, widths))}",
            holds=np.all(np.diff(lowest_selected) < 0) and np.all(
                np.array(highest_shared[:-1]) > lowest_selected[1:]),
            null_holds=np.all(np.diff(lowest_selected) > 0)),
    compare("B04-angle", f"|q_k − 1|, P, |θ| < {REST:g} at {at_angles}; {len(widths)} widths",
            holds=outside < REST, null_holds=equal_rest < REST),
]
claims.report(theorem + figure1 + figure3 + own)
