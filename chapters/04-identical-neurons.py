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
# - the main result of {cite:t}`wang2026gauge`, theorem 3.3: with one imbalance $+D$ and all others
#   $-D$, the designated student learns the teacher and every other coefficient vanishes;
# - what its constants are when they are measured, and where its hypothesis $D\ge D_0(m)$ matters;
# - figures 1 and 3 and the control run of D.7, in three descriptions of training: the limit
#   $D\to\infty$, the exact reduced equations, and the original parameters of every student. (The
#   fourth curve of figure 3, training on finitely many samples, is not part of this chapter.)
# - what the other gauges do: all $+D$, all balanced, all $-D$. The last one hides an instability.
#
# The chapter runs in about 15 seconds.

# %%
import numpy as np
from myst_nb import glue
from scipy.integrate import solve_ivp

from gaugelib import claims, flows, gauge, kernel, measure
from gaugelib.figures import curves, guide, measured_points, panels, plt
from gaugelib.problem import duplicates
from gaugelib.solve import crossing, euler, solve

m, D, phi = 8, 32.0, np.pi / 4  # figures 1 and 3
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
# $$ q_i(0)=\frac1m,\qquad s_i(0)=s_0,\qquad \angle(s_0,u)=\phi . $$ (eq-duplicates)
#
# One student $k$ is *designated*, $\delta_k=+D$; the $m-1$ *redundant* ones have $\delta_j=-D$.
#
# ```{prf:theorem} Selection of the designated student; paper's Theorem 3.3
# :label: thm-selection
#
# Let $I_\phi$ be a compact subset of $(0,\pi/3]$. There are $A>0$ and $\nu>3/2$ that depend on
# $I_\phi$ only, such that for every $m\ge2$, $\phi\in I_\phi$ and $D\ge D_0(m)=Am^{\nu/2}$,
# population gradient flow from {eq}`eq-duplicates` satisfies
#
# $$ q_k(t)\to1,\qquad s_k(t)\to u,\qquad q_j(t)\to0\quad(j\ne k). $$
#
# The designated student is selected at a time $t_{\rm cap}=O(1/D)$. From then on, with $\psi$ the
# angle of the redundant students from $u$, $L$ the loss and constants $c,C>0$,
#
# $$ L(t)\le L(t_{\rm cap})\,e^{-cD(t-t_{\rm cap})},\qquad
#    \lvert\dot\psi\rvert\le\frac{C\,L}{(m-1)D} . $$
# ```
#
# *Why it is true.* A student's direction moves with mobility $\chi=a/\lVert w\rVert$, so that of
# the designated student is of order $D/q_k$ and that of the others of order $q_j/D$: on the fast
# clock $\tau=Dt$ only one direction turns, and as $D\to\infty$ the others stand still. In that limit
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
#    \lVert w_j\rVert^2=\frac{\sqrt{D^2+4q_j^2}+D}2 , $$ (eq-redundant-weights)
#
# so $q_j\to0$ means $a_j\to0$ while $\lVert w_j\rVert\to\sqrt D$: the output weight is what
# is pruned. First the start: two gauges, one function.

# %%
x = np.random.default_rng(0).standard_normal((1000, 2))
gap = np.abs(mixed.predict(x) - equal.predict(x)).max()
a, w = mixed.weights()
doubled = np.maximum(x @ w.T, 0) @ (2 * a)  # what happens if |w| is not rescaled with a
gap_null = np.abs(doubled - equal.predict(x)).max()
print("largest |f_mixed − f_equal| on 1000 inputs below 1e-14:", bool(gap < 1e-14))
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
# \end{aligned} $$ (eq-reduced)
#
# with $\mu_+=\sqrt{D^2+4q^2}$, $\mu_-=\sqrt{D^2+4P^2/(m-1)^2}$ and $g,\omega$ of
# {numref}`chapter-kernel`. With all imbalances equal the students never differ, and two numbers
# suffice: the common coefficient and angle.

# %%
tau = np.linspace(0, 60, 601)  # the record grid of figure 1
fine = np.concatenate([[0], np.geomspace(0.01, 60, 400)])  # for drawing
one, all_plus = solve(flows.reduced(mixed), fine), solve(flows.reduced(equal), fine)
one_grid, plus_grid = solve(flows.reduced(mixed), tau), solve(flows.reduced(equal), tau)


def distance(f, h):
    """|f − h| in L² of the Gaussian at the common times of two trajectories."""
    c, s = np.concatenate([f.q, -h.q], axis=1), np.concatenate([f.s, h.s], axis=1)
    return np.sqrt(np.maximum(2 * kernel.mixture_loss(c, s), 0))


apart = distance(one_grid, plus_grid)


# %% mystnb={"figure": {"caption": "Figure 1 of the paper: the same start, two gauges. With all imbalances $+D$ the eight students share the feature; with one $+D$ and seven $-D$ the designated student takes it and the others vanish without turning. $m=8$, $D=32$, $\\phi=\\pi/4$.", "name": "fig-equal-scale"}, "image": {"alt": "Three panels over fast time on a logarithmic axis. Coefficients: all curves start at 0.125; the designated one rises to 0.99, the redundant ones fall to zero, the equal-scale ones return to 0.125. Angles: the designated one drops from 0.79 through zero to minus 0.38 and returns, the redundant one stays at 0.79, the equal-scale one drops to zero. Loss: the equal-scale curve falls at fast time 2, the mixed one much later."}}
fig, axes = panels(1, 3, width=8.4, height=3.1)
x_axis = {"xlabel": "fast time τ = Dt", "log": "x"}
shared = {"designated, +D": one.q[:, 0], "redundant, −D": one.q[:, 1], "all +D": all_plus.q[:, 0]}
curves(axes[0], fine, shared, ylabel="coefficient $q_i$", title="(a) coefficients", **x_axis)
angles = {"designated, +D": one.state[:, 2], "redundant, −D": one.state[:, 3],
          "all +D": all_plus.state[:, 1]}
curves(axes[1], fine, angles, ylabel="angle from the teacher", title="(b) angles", **x_axis)
axes[1].get_legend().remove()
losses = {"one +D": one.loss, "": np.full_like(fine, np.nan), "all +D": all_plus.loss}
curves(axes[2], fine, losses, ylabel="loss L", title="(c) loss", xlabel="fast time τ = Dt", log="xy")
axes[2].set_ylim(1e-10, 1)
axes[2].legend([axes[2].lines[0], axes[2].lines[2]], ["one +D", "all +D"], loc="lower left")
for ax in axes:
    ax.set_xlim(0.02, 60)
plt.show()

# %%
print("  τ     q_k       q_j     angle_k  angle_j  |  q_all +D  angle    distance of functions")
for i in (0, 10, 20, 50, 100, 300, 600):
    print(f"{tau[i]:4.0f}  {one_grid.q[i, 0]:.4f}  {one_grid.q[i, 1]:9.6f}  "
          f"{one_grid.state[i, 2]:7.4f}  {one_grid.state[i, 3]:.4f}   |  {plus_grid.q[i, 0]:.4f}    "
          f"{plus_grid.state[i, 1]:7.4f}    {apart[i]:.4f}")
print(f"loss at τ = 60: one +D {one_grid.loss[-1]:.3e}; all +D below 1e-25:",
      bool(plus_grid.loss[-1] < 1e-25))
glue("q-designated", f"{one_grid.q[-1, 0]:.4f}", display=False)
glue("q-redundant", f"{one_grid.q[-1, 1]:.2e}", display=False)
glue("distance-60", f"{apart[-1]:.2e}", display=False)
glue("distance-max", f"{apart.max():.3f}", display=False)
glue("angle-lowest", f"{one.state[:, 2].min():.3f}", display=False)

# %% [markdown]
# The two networks begin with the same function, part by up to {glue:text}`distance-max` in
# $L^2$, and come together again: their distance is {glue:text}`distance-60` at $\tau=60$. By then the
# designated coefficient is {glue:text}`q-designated` and each redundant one
# {glue:text}`q-redundant`. Two things in this figure are not in the paper's text. The equal-scale
# network is far faster, because eight directions turn together. And the designated student
# *overshoots*: it passes the teacher, to an angle of {glue:text}`angle-lowest`, and returns from the
# other side, while the redundant coefficients, which point to the first side, fade away. The
# crossing time below is found as a root on the flow itself.
#
# To see the limits and not only the state at $\tau=60$, the next cell follows the flow to
# $\tau=600$. It also checks the distance by a second route, Monte Carlo on a million inputs.

# %%
zero = crossing(flows.reduced(mixed), tau, lambda y: y[2])
late = np.linspace(0, 600, 601)
end, end_equal = solve(flows.reduced(mixed), late), solve(flows.reduced(equal), late)
far = distance(end, end_equal)
signs = np.sign(np.where(np.abs(end.state[:, 2]) > 1e-8, end.state[:, 2], 0))
print(f"θ crosses zero at τ = {zero.tau:.4f}; lowest θ = {one.state[:, 2].min():.4f}")
print("θ changes sign exactly once up to τ = 600:",
      bool((signs[:10] == 1).sum() + 1 <= 10 and np.all(np.diff(signs[signs != 0]) <= 0)))
print("at τ = 600, |q_k − 1|, |θ|, 8 q_j, distance of the two functions below 1e-8:",
      [bool(v < 1e-8) for v in (abs(end.q[-1, 0] - 1), abs(end.state[-1, 2]),
                                 8 * end.q[-1, 1], far[-1])])

i = int(np.argmax(apart))
x = np.random.default_rng(1).standard_normal((1_000_000, 2))
values = [np.maximum(x @ f.s[i].T, 0) @ f.q[i] for f in (one_grid, plus_grid)]
square = (values[0] - values[1]) ** 2
error = square.std() / 1000 / (2 * apart[i])
print(f"largest distance, at τ = {tau[i]:.1f}: closed form {apart[i]:.4f}, "
      f"Monte Carlo {np.sqrt(square.mean()):.4f} ± {error:.4f}")

# %% [markdown]
# ## The equal-scale control of D.7
#
# The paper integrates the original parameters $(a,w)$ of one representative student, with the
# contributions of all eight in the residual, by DOP853 at relative and absolute tolerances
# $10^{-11}$ and $10^{-13}$ with steps of at most $0.1$. It reports that both tolerances divided by
# ten change the recorded parameters by less than $1.1\times10^{-13}$, and that the imbalance
# drifts by less than $4.3\times10^{-14}$.


# %%
def control(rtol, atol, copies=m):
    """(a, w) of one of ``copies`` equal students on the record grid, as D.7 describes it."""

    def rates(tau, y):
        a, w = np.repeat(y[0], copies), np.tile(y[1:], (copies, 1))
        T = flows.force(a, w, equal.teacher)[0]  # all contributions are in the residual
        return np.array([-y[1:] @ T, *(-y[0] * T)]) / D

    a0, w0 = equal.weights()
    return solve_ivp(rates, (0, 60), [a0[0], *w0[0]], method="DOP853", t_eval=tau,
                     rtol=rtol, atol=atol, max_step=0.1).y


paper_run = control(1e-11, 1e-13)
change = np.abs(paper_run - control(1e-12, 1e-14)).max()
change_null = np.abs(control(1e-7, 1e-9) - control(1e-8, 1e-10)).max()
drift = np.abs(paper_run[0] ** 2 - (paper_run[1:] ** 2).sum(axis=0) - D).max()
drift_null = D * measure.imbalance_drift(euler(flows.population(equal), 0.1, 600))
q_control = paper_run[0] * np.hypot(*paper_run[1:])
q_alone = np.prod([v[0] for v in (np.hypot(*control(1e-9, 1e-11, 1)[1:])[-1:], [1])])
off = np.abs(q_control - plus_grid.q[:, 0]).max()
off_null = abs(control(1e-9, 1e-11, 1)[0, -1] * q_alone - plus_grid.q[-1, 0])
print("change under tighter tolerances below 100 × 1.1e-13:", bool(change < 1.1e-11))
print("imbalance drift below 100 × 4.3e-14:", bool(drift < 4.3e-12))
print("same coefficient as the flow in (q, α), to 1e-10:", bool(off < 1e-10))
print(f"a looser run: {change_null:.1e}; drift of Euler: {drift_null:.2g}; "
      f"one contribution only: q off by {off_null:.3f}")

# %% [markdown]
# Numbers of $10^{-13}$ beside parameters of size $\sqrt D$ are a few units in the last place: they
# depend on the machine, the library versions and the order in which a sum is formed. So the printed
# bounds are judged with a slack of 100, **our choice**, and the measured values are not printed,
# because no reader could compare them. A slack of 100 still says something: the run at looser
# tolerances and Euler's method miss it by far.
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
#    \approx\exp\Bigl(mD\int_0^\phi\frac{d\alpha}{2g(\alpha)}\Bigr) , $$ (eq-instability)
#
# for $mD=256$ far beyond what rounding at $10^{-16}$ can stand.

# %%
nudge = 1e-6 * np.array([3, -1, -4, 1, -5, 9, -2, -1]) / 9  # sums to zero


def nudged(delta, tau):
    """All students with the same δ, coefficients (1 + nudge_i)/m, original parameters."""
    problem = mixed.regauged(delta)
    a, w = problem.weights()
    b = gauge.weights(problem.students.q * (1 + nudge), problem.students.s, delta)
    flow = flows.population(problem)
    return solve(flow.starting(np.concatenate([b[0], b[1].ravel()])), tau)


runs = {
    "all −D": nudged(-D, np.concatenate([[0], np.geomspace(0.1, 6000, 300)])),
    "all balanced": nudged(0.0, np.concatenate([[0], np.geomspace(0.1, 4000, 200)])),
    "all +D": nudged(+D, np.concatenate([[0], np.geomspace(0.1, 60, 100)])),
}
spread = {name: np.ptp(run.q, axis=1) for name, run in runs.items()}
split = runs["all −D"]
slow = solve(flows.reduced(mixed.regauged(-D)), split.tau)  # one shared state: stays symmetric
rate = kernel.omega(slow.state[:, 1]) / D
exponent = np.concatenate([[0], np.cumsum(np.diff(split.tau) * (rate[1:] + rate[:-1]) / 2)])
small = (spread["all −D"] > 1e-5) & (spread["all −D"] < 1e-3)
growth = np.polyfit(exponent[small], np.log(spread["all −D"][small]), 1)

# %% mystnb={"figure": {"caption": "Eight students with equal imbalances whose coefficients differ by one part in a million. Left: the spread of the coefficients stays as it is for $+D$ and for balanced students, and grows as $\\exp(\\int\\omega\\,d\\tau/D)$ for $-D$ (thin line). Right: what becomes of the eight coefficients when all are $-D$. $m=8$, $D=32$.", "name": "fig-gauges"}, "image": {"alt": "Left, on logarithmic axes: two flat lines near 2e-7 and one that rises to about 4 along a thin dashed line. Right: eight coefficients agree up to fast time about 1500, then fan out to values between minus 1.4 and 2.8."}}
fig, (left, right) = panels(1, 2, width=8.0, height=3.1)
curves(left, None, {name: (runs[name].tau[1:], spread[name][1:]) for name in runs},
       xlabel="fast time τ = Dt", ylabel="largest − smallest $q_i$", log="xy",
       title="(a) spread of the coefficients")
shown = small | ((spread["all −D"] > 3e-6) & (spread["all −D"] < 1e-1))
guide(left, split.tau[shown], np.exp(growth[1] + exponent[shown]), "")
curves(right, split.tau, {f"{i}": split.q[:, i] for i in range(m)},
       xlabel="fast time τ = Dt", ylabel="coefficient $q_i$", title="(b) all −D")
right.get_legend().remove()
plt.show()

# %%
for name, run in runs.items():
    print(f"{name:12s}: largest spread / first spread = {spread[name].max() / spread[name][0]:.4g}")
print(f"all −D: log(spread) over ∫ω dτ/D has slope {growth[0]:.3f} (predicted 1)")
alpha = np.linspace(0, phi, 2001)
inverse = 1 / (2 * kernel.g(alpha))
total = m * D * np.sum(np.diff(alpha) * (inverse[1:] + inverse[:-1]) / 2)
print(f"growth over the whole run, had it stayed linear: e^{total:.1f}")
print("coefficients at the end of the −D run:", " ".join(f"{v:.2f}" for v in split.q[-1]))
glue("growth-slope", f"{growth[0]:.3f}", display=False)
glue("growth-total", f"{total:.0f}", display=False)

# %% [markdown]
# The measured slope is {glue:text}`growth-slope` where {eq}`eq-instability` predicts 1; the exponent
# over the whole run would be about {glue:text}`growth-total`. So identical students that are all
# $-D$ share the feature only in exact arithmetic: in floating point they break up, into
# coefficients of both signs. This book integrates them as *one* shared state. The paper's choice
# of $+D$ for its control is the good one: there, and for balanced students, differences do not
# grow.
#
# ## Figure 3: three descriptions of the same selection
#
# `limit` is the system for $D\to\infty$ with $\psi=\phi$ fixed, `reduced` is {eq}`eq-reduced`, and
# `population` follows all $a_i,w_i$ by the gradient of the population loss, without using the
# symmetry.

# %%
descriptions = {
    name: solve(make(mixed), fine)
    for name, make in {"limit": flows.limit, "reduced": flows.reduced,
                       "original (a, w)": flows.population}.items()
}
rates = {name: make(mixed).rates(descriptions[name].state).sum(axis=2)
         for name, make in {"limit": flows.limit, "reduced": flows.reduced,
                            "original (a, w)": flows.population}.items()}


def across(run):
    """|P sin ψ|: the redundant part perpendicular to the teacher."""
    return np.abs(run.P * np.sin(run.angle(1)))


# %% mystnb={"figure": {"caption": "Figure 3 of the paper in three of its four descriptions, which coincide within the line width: (a) coefficients, (b) loss, (c) the designated angle and the redundant part across the teacher, (d) the two terms of the loss decomposition (5), divided by $D$. $(m,D)=(8,32)$.", "name": "fig-descriptions"}, "image": {"alt": "Four panels over fast time. Coefficients separate to 1 and 0. The loss falls from 0.12 to 2e-6. The designated angle has a sharp dip where it crosses zero near fast time 0.8 and then falls slowly, the redundant part falls slowly too. The direction term of the loss decay is the larger one at the start and the coefficient term from about fast time 3 on, with several crossings in between. In every panel three dashed curves lie on each other."}}
fig, axes = panels(2, 2, width=8.0, height=2.8)
for k, (name, run) in enumerate(descriptions.items()):
    common = {"xlabel": "fast time τ = Dt", "first": k}
    curves(axes[0, 0], fine, {name: run.q[:, 0]}, ylabel="coefficient $q_i$", log="x", **common)
    axes[0, 0].plot(fine, run.q[:, 1], color=axes[0, 0].lines[-1].get_color(),
                    linestyle=axes[0, 0].lines[-1].get_linestyle())
    curves(axes[0, 1], fine, {name: run.loss}, ylabel="loss L", log="xy", **common)
    curves(axes[1, 0], fine, {"": run.angle(0)}, ylabel="|θ| and |P sin ψ|", log="xy", **common)
    curves(axes[1, 0], fine, {"": across(run)}, ylabel="|θ| and |P sin ψ|", log="xy", **common)
    for kind in (0, 1):
        curves(axes[1, 1], fine, {"": rates[name][:, kind]}, ylabel="−dL/dτ", log="xy", **common)
axes[0, 0].legend(loc="center left")
marks = ((axes[0, 0], 30, 0.85, "designated"), (axes[0, 0], 8, 0.09, "redundant"),
         (axes[1, 0], 0.05, 0.95, "|θ|"), (axes[1, 0], 0.03, 0.25, "|P sin ψ|"),
         (axes[1, 1], 0.03, 0.3, "direction"), (axes[1, 1], 0.03, 0.005, "coefficient"))
for ax, at, height, text in marks:
    ax.text(at, height, text, fontsize=8.5)
for ax, letter in zip(axes.flat, "abcd", strict=True):
    ax.set(title=f"({letter})", xlim=(0.02, 60))
plt.show()

# %%
on_grid = {name: solve(make(mixed), tau) for name, make in
           {"limit": flows.limit, "reduced": flows.reduced, "original": flows.population}.items()}
for name, run in on_grid.items():
    print(f"{name:9s} q_k {run.q[-1, 0]:.5f}  q_j {run.q[-1, 1]:.6f}  L {run.loss[-1]:.4e}  "
          f"|θ| {run.angle(0)[-1]:.5f}  |P sin ψ| {across(run)[-1]:.5f}")
    assert run.owner == 0
red = on_grid["reduced"]
share = np.log(np.sin(red.angle(1)[0]) / np.sin(red.angle(1)[-1])) / np.log(
    across(red)[0] / across(red)[-1])
loose = np.zeros(m)
loose[0] = D
free = solve(flows.reduced(mixed.regauged(loose)), tau)  # null: δ_j = 0, redundant units turn
share_null = np.log(np.sin(phi) / np.sin(free.angle(1)[-1])) / np.log(
    across(free)[0] / across(free)[-1])
turned = phi - red.angle(1)[-1]
print(f"redundant students turn by {turned:.4g} rad; part of the fall of log|P sin ψ| "
      f"that is due to this: {share:.2g}")
print(f"with balanced redundant students: turn by {phi - free.angle(1)[-1]:.4g}, part {share_null:.2g}")
glue("turned", f"{turned:.2e}", display=False)

# %% [markdown]
# All three select the designated student. The redundant part across the teacher shrinks because
# its coefficient does: the direction turns by {glue:text}`turned` rad only. With balanced redundant
# students the opposite holds, and they turn to the teacher.
#
# ### Which unit removes the loss, and by which change
#
# Equation (5) splits the decay of the loss into a coefficient term $\mu_iB_i^2$ and a direction
# term $a_i^2\lVert\mathsf P_i^\perp T_i\rVert^2$ of each student. Integrated along the flow, they must
# add up to $L(0)-L(\tau)$; the loss itself is the second route.

# %%
spent = measure.dissipation(flows.reduced(mixed), tau)
removed = spent.coefficient.sum(axis=1) + spent.direction.sum(axis=1)
lost = spent.trajectory.loss[0] - spent.trajectory.loss
imbalance_of_sums = np.abs(removed - lost).max()
print(f"{'':22s} coefficient  direction   (share of L(0) − L(60) = {lost[-1]:.5f})")
for name, unit in {"designated student": [0], "seven redundant ones": range(1, m)}.items():
    parts = [part[-1, unit].sum() / lost[-1] for part in (spent.coefficient, spent.direction)]
    print(f"{name:22s} {parts[0]:10.5f}  {parts[1]:10.2e}" if unit != [0]
          else f"{name:22s} {parts[0]:10.5f}  {parts[1]:10.5f}")
print("sum of all parts equals the loss removed, to 1e-11:", bool(imbalance_of_sums < 1e-11))

# %% [markdown]
# The designated student removes most of the loss, about two thirds of it by growing and one third
# by turning; the redundant students contribute by shrinking, and next to nothing by turning.
#
# ## Agreement of the descriptions
#
# Reduced and original parameters describe the same flow, so they may differ by solver error only:
# both run at a relative tolerance of $10^{-13}$, and $10^{-10}$ leaves room for its growth over
# several hundred steps. The limit is another flow, at distance $O(D^{-2})$. The reduced flow covers
# Table D.2's grid of $(m,D)$; the original parameters are followed at its corners and its middle
# (our choice, for time).

# %%
ms, Ds = (2, 4, 8, 16, 32), np.array([8.0, 16.0, 32.0, 64.0, 128.0])
long = np.linspace(0, 80, 801)
grid = {(n, d): solve(flows.reduced(duplicates(n, d, phi)), long) for n in ms for d in Ds}
to_limit = np.array([
    [measure.trajectory_error(grid[n, d], solve(flows.limit(duplicates(n, d, phi)), long))
     for d in Ds] for n in ms])
subset = [(2, 8.0), (2, 128.0), (8, 32.0), (32, 8.0), (32, 128.0)]
coarse, gaps, spreads = long[::10], {}, []
for n, d in subset:
    explicit = solve(flows.population(duplicates(n, d, phi)), coarse)
    gaps[n, d] = measure.trajectory_error(explicit, grid[n, d].at(slice(None, None, 10)))
    spreads.append(max(np.ptp(explicit.q[:, 1:], axis=1).max(), 0.0))
fits = {f"m = {n}": measure.loglog_fit(Ds, to_limit[k]) for k, n in enumerate(ms)}

# %% mystnb={"figure": {"caption": "Distance between the limit and the flow at finite $D$: the largest difference of any $q_i$ or $q_is_i$ up to $\\tau=80$, with fitted lines.", "name": "fig-limit-error"}, "image": {"alt": "Five nearly parallel lines of points on logarithmic axes, falling with slope minus two; m = 4 lies lowest, m = 32 highest."}}
fig, ax = panels(width=5.2, height=3.3)
measured_points(ax, Ds, {f"m = {n}": to_limit[k] for k, n in enumerate(ms)}, fits=fits,
                xlabel="imbalance D", ylabel="distance from the limit")
ax.set_xticks(Ds, [f"{d:.0f}" for d in Ds])
ax.minorticks_off()
plt.show()

# %%
print("slope of the distance:", ", ".join(f"{n} {fit.slope:.3f}" for n, fit in fits.items()))
scaled = to_limit * Ds**2
print(f"D² × distance: {scaled.min():.4f} to {scaled.max():.4f}; "
      f"largest variation over D at one m: {(scaled.max(1) / scaled.min(1)).max():.3f}")
for (n, d), gap_here in gaps.items():
    print(f"m = {n:2d}, D = {d:3.0f}: reduced and original agree to 1e-10: {bool(gap_here < 1e-10)}")
print("redundant students stay identical, to 1e-12:", bool(max(spreads) < 1e-12))

# %% [markdown]
# ## The constants of the theorem
#
# For all 25 pairs the record gives the capture time (first record with $q>0.9$, $\lvert\theta\rvert<0.1$
# and $P<0.1$; {numref}`chapter-scaling-laws` discusses this window), the slowest mean decay
# $\log(L(\tau_{\rm cap})/L(\tau))/(\tau-\tau_{\rm cap})$, and the largest
# $\lvert\dot\psi\rvert(m-1)D/L$ after capture. If the theorem holds, the three are bounded over the grid:
# the first two say $t_{\rm cap}=O(1/D)$ and $c>0$, the third is $C$.


# %%
def constants(flow, run, start=None):
    """(τ_cap, smallest mean decay of log L, and |dψ/dt|(m − 1)D/L at each record from then on)."""
    n, d = run.problem.m, run.problem.D
    k = measure.first_entry(run, measure.captured(run)) if start is None else start
    decay = np.log(run.loss[k] / run.loss[k + 1:]) / (run.tau[k + 1:] - run.tau[k])
    turning = np.array([abs(flow.rhs(0.0, y)[3]) for y in run.state[k:]]) * d  # in time t
    return run.tau[k], decay.min(), turning * (n - 1) * d / run.loss[k:]


found = {key: constants(flows.reduced(run.problem), run) for key, run in grid.items()}
print(" m   D·t_cap over D   decay c    2λ(φ, m)   C")
for n in ms:
    rows = [found[n, d] for d in Ds]
    g, o = kernel.g(phi), kernel.omega(phi)
    gram = np.diag([1, 1, n - 1]) @ np.array([[0.5, 0, g], [0, 0.5, o], [g, o, 0.5]])
    slowest = 2 * np.linalg.eigvals(gram).real.min()
    print(f"{n:2d}   {min(r[0] for r in rows):.1f} to {max(r[0] for r in rows):.1f}     "
          f"{min(r[1] for r in rows):.4f}     {slowest:.4f}    {max(r[2].max() for r in rows):.3f}")
c_low = min(r[1] for r in found.values())
C_high = max(r[2].max() for r in found.values())
glue("c-low", f"{c_low:.4f}", display=False)
glue("C-high", f"{C_high:.3f}", display=False)

# %% [markdown]
# On the grid, $c=$ {glue:text}`c-low` and $C=$ {glue:text}`C-high` do for every $m$ and $D$. The
# decay approaches twice the least eigenvalue of the linearized limiting flow,
# $\operatorname{diag}(1,1,m-1)\,G_\phi$ ({numref}`chapter-early-advantage`), which is the fourth
# column. This is a measurement over one angle, five widths and five imbalances; that the constants
# exist for all of them is what the theorem adds.
#
# The nulls: a *balanced designated* student is still selected, but on its own clock, so $D\,t_{\rm
# cap}$ grows with $D$; *balanced redundant* students turn without waiting for the loss to fall, and
# the ratio that should be $C$ grows without bound.

# %%
unit0 = np.arange(m) == 0
t_null = []
for d in (8.0, 128.0):
    lazy = duplicates(m, d, phi).regauged(np.where(unit0, 0.0, -d))  # null: δ_k = 0
    run = solve(flows.reduced(lazy), np.linspace(0, 30 * d, 1201))
    inside = (run.q[:, 0] > 0.9) & (run.angle(0) < 0.1) & (run.q[:, 1] * (m - 1) < 0.1)
    t_null.append(run.tau[measure.first_entry(run, inside)])
turning = mixed.regauged(np.where(unit0, D, 0.0))  # null: δ_j = 0
turning_run = solve(flows.reduced(turning), long)
C_null = constants(flows.reduced(turning), turning_run, start=200)[2]
print(f"balanced designated student: D·t_cap = {t_null[0]:.0f} at D = 8, {t_null[1]:.0f} at D = 128")
print(f"balanced redundant students: ratio {C_null[0]:.0f} at τ = 20, {C_null[-1]:.0f} at τ = 80")

# %% mystnb={"figure": {"caption": "After capture, at $D=32$. Left: the loss, with the slope $2\\lambda$ of the linearized limit at $m=8$ (thin line). Right: the ratio that theorem 3.3 bounds by $C$; balanced redundant students are the null.", "name": "fig-constants"}, "image": {"alt": "Left: three straight lines on a logarithmic axis, m = 2 falling slowest. Right: three flat curves near 3 and, for balanced redundant students, one that grows from about 850 to 1700."}}
fig, (left, right) = panels(1, 2, width=8.0, height=3.1)
after = {f"m = {n}": grid[n, D].at(slice(int(round(10 * found[n, D][0])), None)) for n in (2, 8, 32)}
curves(left, None, {name: (run.tau - run.tau[0], run.loss / run.loss[0])
                    for name, run in after.items()},
       xlabel="fast time after capture, τ − τ_cap", ylabel="L / L(t_cap)", log="y")
g, o = kernel.g(phi), kernel.omega(phi)
gram = np.diag([1, 1, m - 1]) @ np.array([[0.5, 0, g], [0, 0.5, o], [g, o, 0.5]])
slope = 2 * np.linalg.eigvals(gram).real.min()
guide(left, np.array([5.0, 45.0]), 0.3 * np.exp(-slope * np.array([0.0, 40.0])), "2λ")
ratios = {f"m = {n}": (after[f"m = {n}"].tau, found[n, D][2]) for n in (2, 8, 32)}
ratios["m = 8, δ_j = 0"] = (long[200:], C_null)
curves(right, None, ratios, xlabel="fast time τ = Dt", ylabel="|dψ/dt| (m − 1) D / L", log="y")
right.set_ylim(1, 1e5)
plt.show()

# %%
for n in (2, 8, 32):
    ratio = found[n, D][2]
    print(f"m = {n:2d}: C between {ratio.min():.3f} and {ratio.max():.3f}; "
          f"L / L_cap at the end {after[f'm = {n}'].loss[-1] / after[f'm = {n}'].loss[0]:.3e}")

# %% [markdown]
# ## Any unit, any dimension, individual coefficients
#
# Nothing in the theorem depends on which student is designated, or on $d$: the dynamics stays in
# the plane of $u$ and $s_0$. Both are checked on the original parameters. The individual
# coefficients vanish because the redundant students stay identical, and the output weights are what
# vanishes, as {eq}`eq-redundant-weights` says.

# %%
base = on_grid["original"]
third = solve(flows.population(duplicates(m, D, phi, designated=3)), coarse[:61])
tens = solve(flows.population(duplicates(m, D, phi, d=10)), coarse[:61])
records = base.at(slice(None, None, 10))
swap = [3, 1, 2, 0, 4, 5, 6, 7]
swapped = max(np.abs(third.q[:, swap] - records.q[:len(third.tau)]).max(),
              np.abs(third.s[:, swap] - records.s[:len(third.tau)]).max())
in_ten = max(np.abs(tens.q - records.q).max(),
             np.abs(tens.angle(1) - records.angle(1)).max())
a, w = base.state[:, :m], base.state[:, m:].reshape(-1, m, 2)
r2 = (w**2).sum(axis=2)
formula = {sign: np.stack([gauge.mu(base.q, D) - sign * D, gauge.mu(base.q, D) + sign * D]) / 2
           for sign in (+1, -1)}  # −D, and the null +D
weights_gap = {sign: np.abs(np.stack([a**2, r2]) - value)[:, :, 1:].max()
               for sign, value in formula.items()}
print("designating student 3 permutes the roles, to 1e-10:", third.owner == 3, bool(swapped < 1e-10))
print("d = 10 gives the coefficients and angles of d = 2, to 1e-10:", bool(in_ten < 1e-10))
print("a_j², |w_j|² as in the formula, to 1e-10:", bool(weights_gap[1] < 1e-10))
print(f"a_j from {a[0, 1]:.4e} to {a[-1, 1]:.4e}, |w_j|² − D from {r2[0, 1] - D:.3e} to below 1e-6:",
      bool(abs(r2[-1, 1] - D) < 1e-6))

# %% [markdown]
# ## Where the hypothesis matters
#
# The paper proves selection for $D\ge D_0(m)=Am^{\nu/2}$ and does not say how large $A$ is, nor what
# happens below. The reduced flow can be followed at any $D$, here until $t=2000$ or $\tau=2000$,
# whichever comes first (our choice).

# %%
Ds_small = np.array([0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 2.0, 5.0, 10.0, 32.0])
final = {}
for n in (2, 8, 32):
    states = [solve(flows.reduced(duplicates(n, d, phi)),
                    np.array([0, 2000 * min(d, 1.0)])).state[-1] for d in Ds_small]
    final[f"m = {n}"] = np.array(states)

# %% mystnb={"figure": {"caption": "The designated coefficient (left) and the redundant angle (right) late in training, over the imbalance. Above $D\\approx1$ the designated student takes the feature and the others keep their direction; far below, all turn to the teacher and share it.", "name": "fig-threshold"}, "image": {"alt": "Left: the designated coefficient rises from small values at D = 0.01 to 1 near D = 0.5 for all three m. Right: the redundant angle rises from 0 to 0.79 over the same range."}}
fig, (left, right) = panels(1, 2, width=8.0, height=3.0)
curves(left, Ds_small, {name: y[:, 0] for name, y in final.items()}, log="x",
       xlabel="imbalance D", ylabel="late coefficient $q_k$")
curves(right, Ds_small, {name: y[:, 3] for name, y in final.items()}, log="x",
       xlabel="imbalance D", ylabel="late angle ψ")
guide(right, np.array([0.01, 32]), np.array([phi, phi]), "φ")
plt.show()

# %%
print("   D   " + "".join(f"   q_k, ψ ({name})" for name in final))
for i, d in enumerate(Ds_small):
    print(f"{d:6.2f}" + "".join(f"    {y[i, 0]:.4f}  {y[i, 3]:.4f} " for y in final.values()))
weak_case = solve(flows.reduced(duplicates(m, 0.1, phi)), np.linspace(0, 400, 801))
slope_of = [np.log(weak_case.loss[i] / weak_case.loss[i + 1]) / 0.5 for i in (80, 799)]
print(f"D = 0.1, m = 8: −d log L/dτ = {slope_of[0]:.4f} at τ = 40, {slope_of[1]:.4f} at τ = 400")
glue("q-shared", f"{weak_case.q[-1, 0]:.4f}", display=False)
glue("P-shared", f"{weak_case.P[-1]:.4f}", display=False)

# %% [markdown]
# At $m=8$ and $D=0.1$ the designated student ends with {glue:text}`q-shared` of the feature and the
# others hold {glue:text}`P-shared` of it: they have turned to the teacher before the loss was gone.
# The decay of the loss is then algebraic, not exponential. So some condition on $D$ is needed. At
# this angle a value near 1 suffices for all three widths, well below the imbalances of the paper's
# experiments; values between 0.1 and 0.5 are not settled by this run, because directions there
# move slowly.
#
# ## Exercises
#
# **1.** Let all students have imbalance $+D$ and $D\to\infty$. Linearize the shared flow at
# $(q,\alpha)=(1/m,0)$ and find the two decay rates in $\tau$. Why is the equal-scale network of
# {numref}`fig-equal-scale` faster than the selected student alone?
#
# ```{dropdown} Solution of 1
# With $\omega(\alpha)=\alpha/2+O(\alpha^2)$, $q'=-(mq/2-g)$ and $\alpha'=-\omega(\alpha)/q$ give
# the rates $m/2$ and $m/2$: both are four at $m=8$. The selected student alone would turn at rate
# $1/2$ near $q=1$: a coefficient that is $m$ times smaller turns $m$ times faster at the same $D$.
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
# **3.** In {eq}`eq-reduced`, show that at $P=0$, $q=1$, $\theta=0$ nothing moves, for every $\psi$.
# What does this say about the redundant directions at the end of training?
#
# ```{dropdown} Solution of 3
# $q'\propto\tfrac12-g(0)=0$, $\theta'\propto\omega(0)=0$, $P'\propto g(\psi)-g(\psi)=0$, and
# $\psi'\propto P=0$. The stationary states form a line: the redundant direction is not determined by
# the loss, and where it stops depends on the whole history. That is why a bound on the total
# motion of $\psi$ is needed.
# ```
#
# **4.** Change `designated` and the imbalances in the first cell so that *two* of the eight
# students have $+D$. What do you expect, and what happens?
#
# ```{dropdown} Solution of 4
# By symmetry the two remain identical and each takes half of the feature, while the six others
# vanish. `mixed.regauged([D, D] + 6 * [-D])` with `flows.population` shows it; the reduced flow
# refuses, because it knows one unit apart from the others only.
# ```
#
# ## The ledger
#
# Rounding-level statements are judged against tolerances that the text above argues. A claim about
# a limit $t\to\infty$ is judged at $\tau=600$ against $10^{-8}$: with the slowest measured decay,
# {glue:text}`c-low` for the loss and half of it for the coefficients, the rest at that time is
# near $10^{-10}$.

# %%
reach = {n: solve(flows.reduced(duplicates(n, 32.0, phi)), np.array([0.0, 600.0])).state[-1]
         for n in ms}
missing = max(max(abs(y[0] - 1), abs(y[2])) for y in reach.values())
left_over = max(abs(y[1]) for y in reach.values())
caps = [r[0] for r in found.values()]
C_low = min(r[2].max() for r in found.values())
shared_at_end = np.abs(plus_grid.q[-1] - 1 / m).max()
falls = {name: bool(np.all(np.diff(np.minimum.accumulate(run.P)) <= 0)) and run.owner == 0
         and run.P[-1] < 0.01 for name, run in on_grid.items()}
one_sign = np.all(all_plus.state[:, 1] > -1e-12)

# %%
compare = claims.compare
theorem = [
    compare("T3.3-weights", "difference below 1e-10", holds=weights_gap[1] < 1e-10,
            null_holds=weights_gap[-1] < 1e-10),
    compare("T3.3-select", "|q_k − 1|, |θ| < 1e-8 at τ = 600, m = 2 to 32, D = 32",
            holds=missing < 1e-8, null_holds=abs(plus_grid.q[-1, 0] - 1) < 1e-8),
    compare("T3.3-prune", "P < 1e-8 at τ = 600, m = 2 to 32, D = 32",
            holds=left_over < 1e-8, null_holds=weak_case.P[-1] < 1e-8),
    compare("T3.3-time", f"{min(caps):.1f} ≤ D t_cap ≤ {max(caps):.1f} on 25 pairs (m, D)",
            holds=max(caps) < 2 * min(caps), null_holds=t_null[1] < 2 * t_null[0]),
    compare("T3.3-rate", f"c = {c_low:.4f} on 25 pairs (m, D)", holds=c_low > 0.05,
            null_holds=slope_of[1] > 0.05),
    compare("T3.3-motion", f"C = {C_low:.3f} to {C_high:.3f} on 25 pairs (m, D)",
            holds=C_high < 2 * C_low, null_holds=C_null.max() < 2 * C_null.min()
            and C_null.max() < 2 * C_high),
    compare("T3.3-dimension", "d = 2 and d = 10 equal to 1e-10", holds=in_ten < 1e-10),
    compare("T3.3-any-unit", "units 0 and 3: permuted, equal to 1e-10",
            holds=third.owner == 3 and swapped < 1e-10),
]

# %%
figure1 = [
    compare("F1-start", "equal to 1e-14 on 1000 inputs", holds=gap < 1e-14,
            null_holds=gap_null < 1e-14),
    compare("F1-equal", "q_i = 1/8 and loss 0 to 1e-12 at τ = 60",
            holds=shared_at_end < 1e-12 and plus_grid.loss[-1] < 1e-12,
            null_holds=np.ptp(one_grid.q[-1]) < 1e-12),
    compare("F1-mixed", f"q_k = {one_grid.q[-1, 0]:.4f}, q_j = {one_grid.q[-1, 1]:.6f} at τ = 60",
            holds=one_grid.q[-1, 0] > 0.99 and one_grid.q[-1, 1] < 0.01,
            null_holds=plus_grid.q[-1, 0] > 0.99),
    compare("F1-separate", f"ψ = {one_grid.state[-1, 3]:.4f}, φ = {phi:.4f}",
            holds=one_grid.state[-1, 3] > 0.99 * phi, null_holds=plus_grid.angle(1)[-1] > 0.99 * phi),
    compare("F1-end", f"distance {apart[-1]:.4f} at τ = 60, below 1e-8 at τ = 600",
            holds=far[-1] < 1e-8, null_holds=apart[10] < 1e-8),
    compare("D7-control-change", "below 1.1e-11", holds=change < 1.1e-11,
            null_holds=change_null < 1.1e-11, note="slack 100 at rounding level, our choice"),
    compare("D7-control-drift", "below 4.3e-12", holds=drift < 4.3e-12,
            null_holds=drift_null < 4.3e-12, note="slack 100 at rounding level, our choice"),
    compare("D7-symmetric", "equal to 1e-10", holds=off < 1e-10, null_holds=off_null < 1e-10),
]

# %%
equal_d3 = (to_limit * Ds**3).max(axis=1) / (to_limit * Ds**3).min(axis=1)
figure3 = [
    compare("F3-all-select", "3 of 3 descriptions", holds=all(falls.values()),
            null_holds=plus_grid.P[-1] < 0.01),
    compare("F3-angles", f"{share:.2g} of the fall is due to turning", holds=share < 0.01,
            null_holds=share_null < 0.01),
    compare("F3-dissipation", "parts add up to L(0) − L(τ), to 1e-11",
            holds=imbalance_of_sums < 1e-11,
            null_holds=np.abs(spent.coefficient.sum(axis=1) - lost).max() < 1e-11),
    compare("F3-limit", f"D² × distance varies by {(scaled.max(1) / scaled.min(1)).max():.3f} over D",
            holds=np.all(scaled.max(axis=1) < 1.1 * scaled.min(axis=1)),
            null_holds=np.all(equal_d3 < 1.1)),
    compare("D1-agree", "below 1e-10 on 5 pairs (m, D)", holds=max(gaps.values()) < 1e-10,
            null_holds=to_limit.min() < 1e-10),
    compare("D1-duplicates", "spread of q_j below 1e-12", holds=max(spreads) < 1e-12,
            null_holds=spread["all −D"].max() < 1e-12),
]
own = [
    compare("B04-overshoot", f"θ = 0 at τ = {zero.tau:.4f}, lowest {one.state[:, 2].min():.3f}",
            holds=one.state[:, 2].min() < -0.1, null_holds=not one_sign),
    compare("B04-unstable", f"slope {growth[0]:.3f} of 1; spread reaches {split.q[-1].max():.1f}",
            holds=abs(growth[0] - 1) < 0.02,
            null_holds=spread["all +D"].max() > 10 * spread["all +D"][0]),
    compare("B04-threshold", f"q_k = {weak_case.q[-1, 0]:.4f}, P = {weak_case.P[-1]:.4f}",
            holds=weak_case.P[-1] > 0.5, null_holds=one_grid.P[-1] > 0.5),
]

# %%
claims.report(theorem + figure1 + figure3 + own)
