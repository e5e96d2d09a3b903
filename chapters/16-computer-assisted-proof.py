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
# (chapter-computer-assisted-proof)=
# # A computer-assisted proof of selection
#
# Theorem 3.3 of {cite:t}`wang2026gauge` says that the designated student is selected *if $D$ is
# large enough*, with a bound that has no numbers in it. {numref}`chapter-identical-neurons`
# computes runs at $D=32$, and computed runs prove nothing. This chapter proves that they are right.
# After it you know
#
# - how a computer proves a statement about an ODE: one step of a validated Taylor method, with the
#   four lemmas it rests on;
# - what is done about the kink of the kernel where the designated student crosses the teacher;
# - how a proof about finite time becomes one about all times, with every constant a number;
# - that selection is proved at $\phi=\pi/4$ for every $D\ge32$ and every $m$ from 2 to 16, for
#   $m=2$ also at every angle from $\pi/4$ to $2\pi/3$, and at six $D$ down to $0.9$; and where the
#   method gives out.
#
# It runs for about 30 seconds on one core. The long runs are made by `full/selection-proof.py`;
# this chapter reads its certificate and checks it.

# %%
import inspect
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
from flint import arb, arb_series, ctx
from matplotlib.patches import Circle, Ellipse, Polygon
from myst_nb import glue

from gaugelib import certify, claims, enclose, figures, flows, kernel, selection
from gaugelib.enclose import Patch
from gaugelib.figures import plt
from gaugelib.problem import duplicates
from gaugelib.solve import solve

STORED = np.load(Path("..") / "data" / "selection-proof.npz")
D, PHI, ORDER, SPREAD = 32, np.pi / 4, 16, 2.0**-12
MS = (2, 8)

# %% [markdown]
# ## What is to be proved
#
# $m$ students start as duplicates, $q_i=1/m$, at the angle $\phi$ from the teacher; student $k$ has
# imbalance $+D$, the $M=m-1$ others $-D$.
#
# ```{prf:theorem} Selection at $D=32$, computer-assisted
# :label: thm-selection-proved
#
# Let $m=2$ or $m=8$, $D=32$, $\phi=\pi/4$. Along the gradient flow of the population loss from the
# duplicate start $q_k\to1$, $s_k\to u$, and $q_j\to0$ for all $j\ne k$. The same holds if $q_k$,
# $P=\sum_{j\ne k}q_j$ and the angles of $s_k$ and of the common $s_j$ start at most $2^{-12}$ away.
# ```
#
# ```{prf:lemma} Four numbers are enough
# :label: lem-four-numbers
#
# The flow from the duplicate start is the flow of $y=(q,P,\theta,\psi,\varepsilon)$,
# $\varepsilon=D^{-2}$, with $\alpha=\psi-\theta$ and fast time $\tau=Dt$:
#
# $$ \begin{aligned}
# q'&=-\mu\,[\tfrac q2+Pg(\alpha)-g(\theta)], &
# \theta'&=-\tfrac{\mu+1}{2q}\,[P\omega(\alpha)+\omega(\theta)],\\
# P'&=-M\nu\,[\tfrac P2+qg(\alpha)-g(\psi)], &
# \psi'&=-\tfrac{2\varepsilon P}{M(\nu+1)}\,[\omega(\psi)-q\omega(\alpha)],
# \end{aligned} $$ (eq-proof-flow)
#
# $\varepsilon'=0$, $\mu^2=1+4\varepsilon q^2$, $\nu^2=1+4\varepsilon(P/M)^2$.
# ```
#
# ```{prf:proof}
# In the original parameters the right-hand side is $a_i'=-w_i^\top T_i/D$, $w_i'=-a_iT_i/D$, which
# is locally Lipschitz where no $w_i$ is zero, so solutions are unique there. Exchanging two
# redundant students, or reflecting across the plane of $u$ and $s_0$, maps the solution to a
# solution with the same start, hence to itself: redundant students stay equal, and all stay in the
# plane. What is left are $q,P,\theta,\psi$, and {eq}`eq-proof-flow` is the flow of
# {numref}`chapter-identical-neurons` with $\mu_\pm$ divided by $D$. For the redundant students
# $\lvert w_j\rvert^2=a_j^2+D>0$ always; $w_k\ne0$ as long as $q>0$, which the enclosures
# below show.
# ```
#
# Written like this the right-hand side is smooth in $P$, also where $P$ is zero or negative, and in
# $\varepsilon$, also at $0$, where it is the limit $D\to\infty$. For $m=2$ nothing is lost by the
# symmetry: {eq}`eq-proof-flow` are all states of two students in a plane with these imbalances.
#
# ## One validated step
#
# A *ball* is a midpoint and a radius; python-flint computes with balls so that the result contains
# every value the operation can take {cite:p}`johansson2017`. To enclose the solutions of $y'=f(y)$
# from a set $X$ after a step $h$, four lemmas are enough; the method is Lohner's
# {cite:p}`lohner1987,tucker2011`.
#
# ```{prf:lemma} Rough enclosure
# :label: lem-rough
#
# If $x+[0,h]f(B)\subset B$ for a box $B$ and every $x\in X$, then solutions from $X$ exist and stay
# in $B$ until $h$.
# ```
#
# ```{prf:proof}
# Picard's iteration $y\mapsto x+\int_0^\tau f(y)$ maps continuous paths in $B$ to paths in $B$, and
# its fixed point is the solution, which is unique.
# ```
#
# ```{prf:lemma} Taylor's formula with remainder
# :label: lem-taylor
#
# Let $\Phi_h(x)$ be the solution from $x$ at $h$ and $y_k(x)$ its $k$-th Taylor coefficient at $0$.
# Then $\Phi_h(x)\in\sum_{k<n}y_k(x)h^k+y_n(B)h^n$ in every coordinate, and the Jacobian matrix
# $\Phi_h'(x)\in\sum_{k<n}y_k'(x)h^k+y_n'(B)\,J\,h^n$, with $J=I+[-1,1](e^{Lh}-1)$ and $L$ a bound
# of the row sums of $\lvert f'\rvert$ on $B$.
# ```
#
# ```{prf:proof}
# Lagrange's remainder is the $n$-th coefficient at some time between $0$ and $h$, that is, $y_n$ at
# a point of $B$. Its derivative by $x$ is $y_n'(\Phi_\tau(x))\,\Phi_\tau'(x)$, and from
# $(\Phi_\tau')'=f'(\Phi_\tau)\Phi_\tau'$ and Grönwall, $\lVert\Phi_\tau'-I\rVert_\infty\le
# e^{Lh}-1$.
# ```
#
# The coefficients come from $(k+1)\,y_{k+1}=[f(y_0+\dots+y_kt^k)]_k$. Here is one step by hand, for
# the logistic equation $y'=y(1-y)$ from $y(0)=\frac18$, whose solution at $h$ is
# $e^h/(7+e^h)$; $h=\frac14$, $n=12$, $B=[\frac18,\frac14]$.

# %%
h, n, start = arb(1) / 4, 12, arb(1) / 8


def coefficient(y0, n):
    """[y_0, ..., y_n] of y' = y (1 - y)."""
    y = [y0]
    for k in range(n):
        series = arb_series(y, k + 1)
        y.append((series * (1 - series))[k] / (k + 1))
    return y


before, ctx.cap = ctx.cap, 20
B = certify.interval(0.125, 0.25)
rough = start + arb(0).union(h * B * (1 - B))
taylor = sum(y * h**k for k, y in enumerate(coefficient(start, n)[:n]))
remainder = coefficient(B, n)[n] * h**n
true_logistic, ctx.cap = h.exp() / (7 + h.exp()), before
by_hand, by_hand_holds = taylor + remainder, B.contains(rough)
print("rough enclosure holds:", by_hand_holds)
print("y(h) is enclosed:", by_hand.contains(true_logistic), "  with a radius below 1e-9:",
      bool(by_hand.rad() < 1e-9), "  without remainder:", taylor.contains(true_logistic))

# %% [markdown]
# Without its remainder Taylor's polynomial does *not* enclose the solution.
#
# ### Sets that turn
#
# A single point is no use: after one step it is a set. If that set is put into a box after every
# step, a rotation makes it grow without end, because a turned box does not fit into a box of its
# size (*wrapping*). So we carry *patches* $X=\{c+Av:\lvert v_i\rvert\le r_i\}$.
#
# ```{prf:lemma} Mean value
# :label: lem-mean-value
#
# $\Phi_h(X)\subset\Phi_h(c)+\Phi_h'(\operatorname{box}X)\,A\,[-r,r]$, where
# $\operatorname{box}X\supset X$ and $\Phi_h'(\cdot)$ is an enclosure over this box.
# ```
#
# ```{prf:proof}
# $\Phi_h(x)-\Phi_h(c)=\int_0^1\Phi_h'(c+s(x-c))\,ds\;(x-c)$, and $x-c=Av$.
# ```
#
# The next patch has any centre and any invertible frame; we take the axes of the image by a QR
# decomposition, the longest first. What is checked is only that the image, in the coordinates of
# the new frame, lies within the new radii.

# %%
TURNS, N = 2 * math.pi, 32
box = patch = Patch.box([1.0, 0.0], 0.0625)
boxes, patches = [box], [patch]
for _ in range(N):
    patch = enclose.follow(lambda y: [-y[1], y[0]], patch, TURNS / N)
    balls = enclose.follow(lambda y: [-y[1], y[0]], box, TURNS / N).balls()
    radius = [float(ball.rad()) * (1 + 1e-6) for ball in balls]
    box = Patch.box([float(ball.mid()) for ball in balls], radius)
    boxes.append(box)
    patches.append(patch)
last_ones = {"box": boxes[-1], "patch": patches[-1]}
grown = {name: one.radius.max() / 0.0625 for name, one in last_ones.items()}

# %% mystnb={"figure": {"caption": "A square carried around a circle, $x'=-y$, $y'=x$, in 32 validated steps, every fourth shown. Left: put into a box after every step. Right: as a patch.", "name": "fig-proof-wrapping"}, "image": {"alt": "Two panels with the unit circle. Left, upright squares along the circle that grow steadily and become very large after one turn. Right, small squares of one size that turn with the circle."}}
fig, axes = figures.panels(1, 2, width=7.6, height=3.7)
SQUARE = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
for ax, sets, title in zip(axes, (boxes, patches), ("(a) boxes", "(b) patches")):
    for k, one in enumerate(sets[::4]):
        corners = one.centre + (SQUARE * one.radius) @ one.frame.T
        colour = figures.ORANGE if k == 8 else figures.BLUE
        ax.add_patch(Polygon(corners, fill=False, edgecolor=colour, linewidth=1.3))
    ax.add_patch(Circle((0, 0), 1, fill=False, edgecolor=figures.GUIDE, linestyle=(0, (3, 3))))
    figures.finish(ax, "x", "y", title, legend=False)
    ax.set_aspect("equal")
    reach = 1.3 if sets is patches else 14
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach))
plt.show()

# %%
print(f"one turn in {N} steps: the box has grown {grown['box']:.1f} times, the patch "
      f"{grown['patch']:.4f} times; e^2π is {math.exp(TURNS):.1f}")

# %% [markdown]
# ### The kink
#
# The kernel is analytic on either side of zero but has a kink there:
# $g(\theta)=\frac12-\frac{\theta^2}4+ \frac{\lvert\theta\rvert^3}{6\pi}+\dots$ And $\theta$
# crosses zero: the designated student turns past the teacher and comes back. A Taylor method that
# steps across is wrong, and high order does not help.
#
# ```{prf:lemma} Steps with a defect
# :label: lem-defect
#
# Let the true right-hand side $F$ be locally Lipschitz and $\lvert F_i-f_i\rvert\le d_i$ on $B$,
# where $x+[0,h](f(B)+[-d,d])\subset B$ for all $x\in X$. Then solutions of $y'=F(y)$ and of
# $y'=f(y)$ from one start differ at $h$ by at most $h\,(d_i+aL_i)$ in the $i$-th coordinate,
# $a=e^{Lh}h\max_jd_j$, with $L_i$ the $i$-th row sum of $\lvert f'\rvert$ on $B$ and $L$ the
# largest of them.
# ```
#
# ```{prf:proof}
# Both stay in $B$ by {prf:ref}`lem-rough`. For the difference $\lvert\Delta_i'\rvert\le d_i+
# \sum_jL_{ij}\lvert\Delta_j\rvert$, with $L_{ij}$ a bound of $\lvert\partial_jf_i\rvert$; Grönwall
# in the maximum norm gives $\max_j\lvert\Delta_j\rvert\le a$, and once more integrated this is the
# claim.
# ```
#
# Take for $f$ the analytic continuation from the side on which the centre of the patch lies: with
# $g_\pm(\theta)=(\pm\sin\theta+(\pi\mp\theta)\cos\theta)/2\pi$ and
# $\omega_\pm(\theta)=(\pi\mp\theta)\sin\theta/2\pi$,
#
# $$ \lvert g_+-g_-\rvert=\tfrac1\pi\lvert\sin\theta-\theta\cos\theta\rvert\le
#    \tfrac{\lvert\theta\rvert^3}{3\pi},\qquad
#    \lvert\omega_+-\omega_-\rvert=\tfrac1\pi\lvert\theta\sin\theta\rvert\le\tfrac{\theta^2}\pi. $$ (eq-proof-kink)
#
# So $d$ is zero unless the box reaches over zero, and of the order of the square of how far it
# does. One step is made small enough to cross zero with the whole patch. The kink of $\alpha$ at
# $0$, where the students start, is treated alike.

# %%
rng = np.random.default_rng(16)
states = np.column_stack([rng.uniform(0.1, 1, 400), rng.uniform(-0.2, 1, 400),
                          rng.uniform(-0.6, 0.6, 400), rng.uniform(0.7, 1.5, 400)])
gaps = []
for y in states:
    true = np.array(flows.reduced(duplicates(8, D, PHI)).rhs(0.0, y))
    for side in (1, -1):
        box = [arb(x) for x in y.tolist()] + [arb(1) / D**2]
        field = np.array([float(x.mid()) for x in selection.field(8, side)(box)[:4]])
        bound = np.array([float(x.mid()) for x in selection.kinks(8, side)(box)[:4]])
        gaps.append((side * y[2] > 0, np.abs(field - true), bound))
right = max(gap.max() for own, gap, _ in gaps if own)
wrong = max((gap[2] - 1e-12) / bound[2] for own, gap, bound in gaps if not own)
print(f"field = gaugelib.flows.reduced on its own side, {len(states)} states, to 1e-12:",
      bool(right < 1e-12))
print(f"on the other side the error of θ' is at most {wrong:.3f} of its bound")

# %% [markdown]
# ## From the start into a neighbourhood of the teacher
#
# `full/selection-proof.py` makes steps of order 16 until the patch lies in a neighbourhood that the
# next section describes, and stores every patch as floats, which are rational numbers. *How* it
# found them does not matter. A certificate is checked step by step:
#
# 1. the first patch contains the duplicate start and everything within $2^{-12}$;
# 2. every patch is mapped into the next one.
#
# The script checked every step when it made it. Here we check all of them for $m=2$, and a seeded
# sample for $m=8$.


# %%
def tube(m):
    """(steps h, patches) of the certificate."""
    h, *parts = (STORED[f"{name}-{m}"] for name in ("h", "centre", "frame", "radius"))
    return h, [Patch(*part) for part in zip(*parts, strict=True)]


def first_holds(m, patch):
    """Whether it contains 1/m, M/m, π/4, π/4, 1/D² and all within 2^-12 of the first four."""
    start = [arb(1) / m, arb(m - 1) / m, arb.pi() / 4, arb.pi() / 4]
    corners = np.array(np.meshgrid(*[(-1, 1)] * 4)).reshape(4, -1).T
    return all(
        patch.contains([x + int(s) * arb(SPREAD) for x, s in zip(start, corner)] + [arb(1) / D**2])
        for corner in corners
    )


chosen = {2: np.arange(len(STORED["h-2"])),
          8: np.sort(np.random.default_rng(16).choice(len(STORED["h-8"]), 80, replace=False))}
tubes, steps_hold, starts_hold = {}, {}, {}
for m in MS:
    h, patches = tubes[m] = tube(m)
    assert len(patches) == len(h) + 1
    starts_hold[m] = first_holds(m, patches[0])
    steps_hold[m] = [selection.step_holds(m, patches[k], h[k], patches[k + 1], ORDER)
                     for k in chosen[m]]
    print(f"m = {m}: {len(h)} steps to τ = {h.sum():.4f}; start inside: {starts_hold[m]}; "
          f"{sum(steps_hold[m])} of {len(chosen[m])} steps checked hold")

# %% [markdown]
# A patch is convex, so it contains all of the starts if it contains the sixteen corners.
#
# A check that cannot fail is no check. The same steps are tried with one student more, with another
# imbalance, with linear neurons in place of ReLUs, and with the next patch one per cent smaller.


# %%
def linear_neurons(m, side):
    """The field with ω(a) = sin(a)/2, g(a) = cos(a)/2 in place of the arc-cosine kernel."""
    M = m - 1

    def rates(y):
        q, P, theta, psi, eps = y
        alpha = (psi - theta).sin_cos()
        mu, nu = (4 * eps * q * q + 1).sqrt(), (4 * eps * P * P / arb(M * M) + 1).sqrt()
        (st, ct), (sp, cp) = theta.sin_cos(), psi.sin_cos()
        return [mu * (ct - q - P * alpha[1]) / 2, M * nu * (cp - P - q * alpha[1]) / 2,
                -(mu + 1) * (P * alpha[0] + st) / (4 * q),
                eps * P * (q * alpha[0] - sp) / (M * (nu + 1)), 0 * eps]

    return rates


def smaller(patch, part=0.99):
    radius = patch.radius.copy()
    radius[:4] *= part
    return Patch(patch.centre, patch.frame, radius)


# %%
h, patches = tubes[2]
few = range(4, len(h), 12)
after_dark = [Patch(p.centre + [0, 0, 0, 0, 1e-6], p.frame, p.radius) for p in patches]
nulls = {
    "as it is": [selection.step_holds(2, patches[k], h[k], patches[k + 1], ORDER) for k in few],
    "m = 3": [selection.step_holds(3, patches[k], h[k], patches[k + 1], ORDER) for k in few],
    "1/D² + 10⁻⁶": [selection.step_holds(2, after_dark[k], h[k], after_dark[k + 1], ORDER)
                    for k in few],
    "linear neurons": [enclose.maps_into(linear_neurons(2, 1), patches[k], h[k], patches[k + 1],
                                         ORDER) for k in few],
    "1 % smaller": [selection.step_holds(2, patches[k], h[k], smaller(patches[k + 1]), ORDER)
                    for k in few],
}
for name, found in nulls.items():
    print(f"{name:15} {sum(found):3d} of {len(found)} steps hold")

# %% [markdown]
# The tube and its width, for both $m$. The width is that of the box around the patch.

# %% mystnb={"figure": {"caption": "The certificate at $D=32$, $\\phi=\\pi/4$. Left: centres of the patches for $m=2$ (thick) and $m=8$ (thin). Right: half widths of the boxes around them. Dotted: $\\theta$ crosses zero.", "name": "fig-proof-tube"}, "image": {"alt": "Left: q rises to one, P falls to zero, theta falls through zero and returns from below, psi stays constant; the curves of both widths are alike. Right, on a logarithmic scale: the half widths first grow, those of m = 8 several times and around the crossing of theta, and then fall steadily, that of psi apart, which stays."}}
NAMES = ("q", "P", "θ", "ψ")
fig, axes = figures.panels(1, 2, width=8.2, height=3.3)
widths = {}
for m, line in zip(MS, (2.2, 0.9)):
    h, patches = tubes[m]
    tau = np.concatenate([[0], np.cumsum(h)])
    centre = np.array([p.centre for p in patches])
    widths[m] = np.array([[float(b.rad()) for b in p.balls()[:4]] for p in patches])
    crossing = tau[np.argmax(centre[:, 2] < 0)]
    for k, name in enumerate(NAMES):
        look = {"color": figures.COLOURS[k], "linestyle": figures.DASHES[k], "linewidth": line}
        label = f"${name}$" if m == 2 else None
        axes[0].plot(tau, centre[:, k], label=label, **look)
        axes[1].plot(tau, widths[m][:, k], **look)
    axes[1].axvline(crossing, color=figures.GUIDE, linestyle=":", linewidth=1)
figures.finish(axes[0], "fast time  τ", "centre", "(a) centres")
figures.finish(axes[1], "fast time  τ", "half width", "(b) half widths", "y", legend=False)
plt.show()

# %%
for m in MS:
    h, patches = tubes[m]
    k = int(np.argmax([p.centre[2] < 0 for p in patches]))
    print(f"m = {m}: θ = 0 is crossed in step {k} of length {h[k - 1]:.1e}; half widths of "
          "(q, P, θ, ψ)")
    for name, row in (("start", 0), ("largest", None), ("end", -1)):
        values = widths[m].max(axis=0) if row is None else widths[m][row]
        print(f"    {name:8}" + "".join(f"{x:10.1e}" for x in values))

# %% [markdown]
# A second route shares nothing with the enclosures but the question: the flow of *all* students in
# their original parameters, with floats, by two solvers. It has to run inside the tube, and for a
# start in a corner of the first patch as well.


# %%
def inside(patches, states):
    """Largest |v_i|/r_i over all patches, v the coordinates in the frame; below 1 is inside."""
    found = []
    for patch, state in zip(patches, states, strict=True):
        v = np.linalg.solve(patch.frame, np.append(state, patch.centre[4]) - patch.centre)
        found.append(np.abs(v[:4] / patch.radius[:4]).max())
    return max(found)


def reduced_states(run):
    """(q, P, θ, ψ) of the students of a run: student 0 is designated, 1 is one of the others."""
    turn = np.arctan2(run.s[:, :2, 1], run.s[:, :2, 0])
    return np.column_stack([run.q[:, 0], run.q[:, 1:].sum(axis=1), turn])


# %%
fraction, NEAR = {}, 0.1
for m in MS:
    h, patches = tubes[m]
    tau = np.concatenate([[0], np.cumsum(h)])
    for method in ("LSODA", "DOP853"):
        run = solve(flows.population(duplicates(m, D, PHI)), tau, method=method)
        fraction[m, method] = inside(patches, reduced_states(run))
    flow = flows.reduced(duplicates(m, D, PHI))
    corner = [1 / m + SPREAD, 1 - 1 / m - SPREAD, PHI - SPREAD, PHI + SPREAD]
    fraction[m, "corner"] = inside(patches, solve(flow.starting(np.array(corner)), tau).state)
    print(f"m = {m}: |v|/r below {NEAR:g}: " + ", ".join(
        f"{name} {fraction[m, name] < NEAR}" for name in ("LSODA", "DOP853")) +
        f";  largest from the corner {fraction[m, 'corner']:.3f}")
off = inside(tubes[8][1], reduced_states(solve(flows.population(duplicates(8, 8, PHI)), tau)))
print(f"null, D = 8: {off:.3g}")

# %% [markdown]
# ## From there to the end of time
#
# No finite number of steps reaches $\tau=\infty$. Near the selected state $(q,P,\theta)=(1,0,0)$
# the loss takes over. Write $\xi=(q-1,P,\theta)$ and
#
# $$ E=\tfrac14(q+P-1)^2+q\,h(\theta)+P\,[h(\psi)-q\,h(\alpha)],\qquad h=\tfrac12-g. $$
#
# ```{prf:theorem} A neighbourhood that cannot be left
# :label: thm-proof-basin
#
# Let $R=\{\lvert\xi\rvert\le r\}\times[\psi_-,\psi_+]$ with $r<\frac12$ and $\psi,\alpha\in(0,\pi)$
# on $R$, and let the Hessian of $E$ by $(q,P,\theta)$ satisfy on $R$
#
# $$ H\succeq\kappa I,\qquad H\succeq\lambda\,\mathrm{diag}(1,\tfrac1M,(1+r)^2). $$ (eq-proof-forms)
#
# If a solution is in $R$ at $\tau_0$ with $E\le E_0<\frac12\kappa r^2$ and $\psi$ farther than
# $\Delta=\dfrac{\varepsilon}{M}\sqrt{\dfrac2\kappa}\,\dfrac{E_0}{2\lambda}$ from $\psi_\pm$, then
# it stays in $R$,
#
# $$ E(\tau)\le E_0\,e^{-2\lambda(\tau-\tau_0)},\qquad q\to1,\quad P\to0,\quad\theta\to0, $$
#
# and $\psi$ converges, having moved by at most $\Delta$.
# ```
#
# ```{prf:proof}
# $E$ and its gradient by $\xi$ vanish at $\xi=0$, so $E\ge\frac\kappa2\lvert\xi\rvert^2$ on $R$.
# With $W=\mathrm{diag}(1,M,(1+r)^{-2})$, Taylor's formula from $\xi$ to $0$ gives $0\ge E-\nabla
# E^\top\xi+\frac\lambda2\xi^\top W^{-1}\xi$, hence $2\lambda E\le\nabla E^\top W\nabla E$. The
# mobilities in
# {eq}`eq-proof-flow` are $\mu\ge1$, $M\nu\ge M$ and $(\mu+1)/2q^2\ge(1+r)^{-2}$, so $-E'\ge2\lambda E$. And
# $\psi'=-\frac{2\varepsilon}{M(\nu+1)}\partial_\psi E$ with $\lvert\partial_\psi E\rvert\le\lvert
# P\rvert\sqrt E\le\sqrt{2/\kappa}\,E$ ({prf:ref}`lem-local`). Up to the first exit from $R$,
# therefore, $\frac\kappa2\lvert\xi\rvert^2\le E\le E_0<\frac\kappa2r^2$ and $\psi$ has moved by at
# most $\Delta$: there is no exit. This is the paper's barrier lemma B.7 with numbers.
# ```
#
# $E$ is $C^2$ across $\theta=0$, so the kink does no harm here. Both inequalities
# {eq}`eq-proof-forms` are certified as in {numref}`chapter-early-advantage`: $R$ is bisected until on every box the
# leading minors of $H-\kappa I$ and of the other form are positive balls. At $\xi=0$, $H$ is the
# Gram matrix of {prf:ref}`prop-gram`; $\kappa$ is half its least eigenvalue $\lambda_{\min}$ and
# $r=\min(\frac54\lambda_{\min},0.15)$ (our choice; exercise 3 tries others); $\lambda$
# is half the slow rate.

# %%
basins = {m: selection.basin(m, tubes[m][1][-1]) for m in MS}
for m, found in basins.items():
    low, high = found.psi
    print(f"m = {m}: r = {found.radius:.4f}, κ = {found.coercive:.5f}, λ = {found.rate:.5f}; "
          f"{found.boxes} boxes")
    allowed = found.coercive * found.radius**2 / 2
    print(f"       E0 = {float(found.loss):.3e} < κr²/2 = {allowed:.3e};   Δ = "
          f"{float(found.drift):.2e};   ψ stays in [{low:.5f}, {high:.5f}]")

# %% [markdown]
# With {prf:ref}`thm-proof-basin` on the last patch, {prf:ref}`thm-selection-proved` is proved: all
# starts in the first patch are in the last one at $\tau_0$, and from there everything converges;
# and $q_j=P/M$.
#
# What does it refuse? Constants that are too good, a patch from the middle of the tube, and linear
# neurons, whose Gram matrix has the eigenvalue zero: their Hessian is positive definite nowhere
# near the selected state.


# %%
def refused(m, patch, **constants):
    try:
        selection.basin(m, patch, **constants)
    except certify.NotProved as reason:
        return str(reason).split(":")[0]
    return None


last = tubes[2][1][-1]
least = float(np.linalg.eigvalsh(kernel.gram(PHI))[0])
tries = {
    "κ = λ_min": refused(2, last, coercive=least),
    "λ = λ_min": refused(2, last, rate=least),
    "r = 3 λ_min": refused(2, last, radius=3 * least),
    "patch in the middle": refused(2, tubes[2][1][len(tubes[2][1]) // 2]),
}
for name, reason in tries.items():
    print(f"{name:20} {reason}")
cos, sin = arb(PHI).cos() / 2, arb(PHI).sin() / 2
half = arb(1) / 2
linear_gram = [[half, cos, arb(0)], [cos, half, sin], [arb(0), sin, half]]
linear_positive = selection.exceeds(linear_gram, [arb(0)] * 3)
print(f"{'linear neurons':20} G certainly positive: {linear_positive}")

# %% mystnb={"figure": {"caption": "The end of the proof for $m=2$. (a) Circle: the ball of radius $r$ in the plane of $q-1$ and $P$; shaded: shadow of $\\{E\\le E_0\\}$ from the Gram matrix; line: centres of the patches, ending in the last one (square, far larger than it is). (b) $E$ of a run up to $\\tau_0$ (line), from there the proved bound (dashes) and the run (dots).", "name": "fig-proof-basin"}, "image": {"alt": "Left: a circle around the selected state and a thin slanted ellipse inside it; a curve comes in from the upper left along the ellipse and ends just at its rim. Right, on a logarithmic scale: the loss falls to a threshold, and from there a dashed line falls with a smaller slope than the dotted run below it."}}
fig, axes = figures.panels(1, 2, width=8.2, height=3.5)
h, patches = tubes[2]
found, tau0 = basins[2], float(np.sum(h))
E0, centre = float(found.loss), np.array([p.centre for p in patches])
shadow = 2 * E0 * np.linalg.inv(kernel.gram(centre[-1, 3]))[np.ix_([0, 2], [0, 2])]
axis, turn = np.linalg.eigh(shadow)
axes[0].add_patch(Circle((0, 0), found.radius, fill=False, edgecolor=figures.BLACK, linewidth=1.2))
axes[0].add_patch(Ellipse((0, 0), *(2 * np.sqrt(axis)), color="#cfdfee",
                          angle=np.degrees(np.arctan2(turn[1, 0], turn[0, 0]))))
axes[0].plot(centre[:, 0] - 1, centre[:, 1], color=figures.BLUE)
axes[0].plot(centre[-1, 0] - 1, centre[-1, 1], "s", color=figures.ORANGE, ms=4)
reach = 1.25 * found.radius
axes[0].set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
figures.finish(axes[0], "$q-1$", "$P$", "(a) the neighbourhood", legend=False)
later = np.linspace(0, 120, 13)
run = solve(flows.reduced(duplicates(2, D, PHI)), np.concatenate([[0], tau0 + later]))
on_the_way = solve(flows.reduced(duplicates(2, D, PHI)), np.concatenate([[0], np.cumsum(h)]))
bound = E0 * np.exp(-2 * found.rate * later)
axes[1].plot(on_the_way.tau, on_the_way.loss, color=figures.BLUE)
axes[1].plot(tau0 + later, bound, color=figures.BLACK, linestyle=figures.DASHES[1])
axes[1].plot(run.tau[1:], run.loss[1:], "o", color=figures.ORANGE, ms=3.5)
figures.finish(axes[1], "fast time  τ", "loss  $E$", "(b) loss", "y", legend=False)
plt.show()

# %%
below = bool(np.all(run.loss[1:] <= bound))
half_axes = ", ".join(f"{x:.4f}" for x in np.sqrt(axis))
print(f"half axes of the shadow: {half_axes}; r = {found.radius:.4f}")
print(f"run below the bound at {len(later)} times: {below};  120 later: loss {run.loss[-1]:.2e}, "
      f"bound {bound[-1]:.2e}")

# %% [markdown]
# ## More than one point
#
# $\varepsilon=D^{-2}$ is a coordinate of the patch that does not move. So nothing prevents us from
# starting with $\varepsilon\in[0,2^{-10}]$: *one* tube then holds the flows of all $D\ge32$, with
# the limit $D=\infty$ among them. In the same way a patch may start as the segment
# $\theta=\psi=\phi\in[\phi_-,\phi_+]$.
#
# ```{prf:theorem} Selection without "large enough", computer-assisted
# :label: thm-selection-uniform
#
# From the duplicate start, $q_k\to1$, $s_k\to u$ and $q_j\to0$ for $j\ne k$, in each of the cases
#
# 1. $\phi=\pi/4$, $2\le m\le16$, every $D\ge32$;
# 2. $m=2$, every $\phi\in[\pi/4,2\pi/3]$, every $D\ge32$;
# 3. $m=2$, $\phi=\pi/4$, $D=0.9,1,2,4,8,16$.
# ```
#
# For these $m$ and $\phi$ the constant $D_0(m)=Am^{\nu/2}$ of Theorem 3.3 may be replaced by 32.
# The second case goes beyond the $\phi\le\pi/3$ of the paper. The proof is the run of the script:
# for every row of its tables it has found tube and neighbourhood, as above, and the table holds
# only what was found. We run a sample again.

# %%
COLUMNS = ("m", "low", "high", "eps_low", "eps_high", "steps", "tau", "rate")
table = {name: dict(zip(COLUMNS, STORED[name].T)) for name in ("width", "imbalance", "angle")}
width, strong, angle = table.values()
proved = {name: rows["rate"] > 0 for name, rows in table.items()}
print("all D ≥ 32 at φ = π/4:   m   steps       τ        λ")
for k in (0, 1, 6, 14):
    print(f"{width['m'][k]:26.0f}{width['steps'][k]:8.0f}{width['tau'][k]:8.2f}"
          f"{width['rate'][k]:9.5f}")
print(f"proved: {proved['width'].sum()} of {len(proved['width'])} rows")
whole = [bool(rows["eps_low"].max() <= 0 and rows["eps_high"].min() >= 2.0**-10)
         for rows in (width, angle)]
joined = bool(np.all(angle["low"][1:] == angle["high"][:-1]))
ends = bool(arb(angle["low"][0]) < arb.pi() / 4 and arb(angle["high"][-1]) > 2 * arb.pi() / 3)
print(f"angles, m = 2: {proved['angle'].sum()} of {len(proved['angle'])} intervals proved, "
      f"{angle['steps'].sum():.0f} steps;\n"
      f"no gap: {joined}; [π/4, 2π/3] inside: {ends}; all D ≥ 32: {all(whole)}")

# %%
print("m = 2, φ = π/4:   D    proved   steps       τ   ψ at τ = 10⁴   λ_min there")
turned = {}
for k, one in enumerate(strong["eps_low"]):
    DK = round(one**-0.5, 6)
    turned[DK] = solve(flows.reduced(duplicates(2, DK, PHI)), [0, 1e4]).state[-1, 3]
    least = float(np.linalg.eigvalsh(kernel.gram(turned[DK]))[0])
    print(f"{DK:20g}{proved['imbalance'][k]!s:>9}{strong['steps'][k]:8.0f}{strong['tau'][k]:8.1f}"
          f"{turned[DK]:15.4f}{least:14.2e}")
held = all(Fraction(low) * Fraction(f"{x:g}") ** 2 <= 1 <= Fraction(high) * Fraction(f"{x:g}") ** 2
           for low, high, x in zip(strong["eps_low"], strong["eps_high"], turned))
held &= all(bool(arb(low) < arb.pi() / 4 and arb(high) > arb.pi() / 4)
            for rows in (width, strong) for low, high in zip(rows["low"], rows["high"]))
held &= width["m"].tolist() == list(range(2, 17)) and set(turned) > {16, 8, 4, 2, 1, 0.9}
print("every m, π/4 and 1/D² of these decimal D is in its interval:", held)
lost = [x for x, good in zip(turned, proved["imbalance"]) if not good]
glue("proof-lost", " and ".join(f"{x:g}" for x in lost), display=False)
glue("proof-steps", f"{strong['steps'][~proved['imbalance']].min():.0f}", display=False)
glue("proof-lost-psi", " and ".join(f"{turned[x]:.3f}" for x in lost), display=False)

# %%
rng = np.random.default_rng(16)
picked = [("width", 1), ("imbalance", 3), *(("angle", int(k)) for k in
                                            rng.choice(len(proved["angle"]), 2, replace=False))]
again = []
for name, k in picked:
    row = {key: float(values[k]) for key, values in table[name].items()}
    phi, eps = (row["low"], row["high"]), (row["eps_low"], row["eps_high"])
    start = selection.duplicate_starts(int(row["m"]), phi, eps)
    found = selection.prove(int(row["m"]), start)
    again.append(found.basin.rate > 0)
    print(f"{name:10} m = {row['m']:.0f}, φ in [{phi[0]:.4f}, {phi[1]:.4f}], 1/D² in "
          f"[{eps[0]:.4f}, {eps[1]:.4f}]: again, to τ = {found.tau[-1]:.1f}")

# %% mystnb={"figure": {"caption": "What is proved. (a) $m=2$, all $D\\ge32$: for every interval of $\\phi$ the time $\\tau_0$ at which the tube is in the neighbourhood. (b) Final redundant angle of runs with $m=2$, $\\phi=\\pi/4$ to $\\tau=10^4$ (line); squares: selection proved, cross: not proved.", "name": "fig-proof-range"}, "image": {"alt": "Left: short level segments from pi over four to two pi over three; they fall, and from the middle on stay at one height with small jumps. Right: the final angle of the redundant student over D on a logarithmic axis; it is zero below a threshold under one, then rises steeply and levels off; squares on the rise and beyond it, a cross near its foot."}}
fig, axes = figures.panels(1, 2, width=8.2, height=3.2)
for low, high, tau in zip(angle["low"], angle["high"], angle["tau"]):
    axes[0].plot((low, high), (tau, tau), color=figures.BLUE, linewidth=2.2, solid_capstyle="butt")
for x, text in ((PHI, "π/4"), (np.pi / 3, "π/3"), (np.pi / 2, "π/2"), (2 * np.pi / 3, "2π/3")):
    axes[0].axvline(x, color=figures.GUIDE, linestyle=":", linewidth=1)
    axes[0].annotate(text, (x, angle["tau"].max()), xytext=(3, -2), textcoords="offset points",
                     color=figures.GUIDE_TEXT, fontsize=8.5)
figures.finish(axes[0], "angle  φ", "$τ_0$", "(a) all D ≥ 32", "y", legend=False)
DS = np.geomspace(0.4, 32, 60)
final = [solve(flows.reduced(duplicates(2, x, PHI)), [0, 1e4]).state[-1, 3] for x in DS]
axes[1].plot(DS, final, color=figures.GUIDE, linewidth=1.3)
for (x, psi), good in zip(turned.items(), proved["imbalance"]):
    axes[1].plot(x, psi, "s" if good else "x", ms=6, mew=1.8,
                 color=figures.BLUE if good else figures.ORANGE)
figures.finish(axes[1], "imbalance  D", "final  ψ", "(b) m = 2, φ = π/4", "x", legend=False)
plt.show()

# %%
print("φ from      to        intervals   τ0 at the left end and at the right end")
for low, high in ((PHI, np.pi / 3), (np.pi / 3, np.pi / 2), (np.pi / 2, 2 * np.pi / 3)):
    at = (angle["high"] > low) & (angle["low"] < high)
    first, *_, end = angle["tau"][at]
    print(f"{low:.4f}   {high:.4f}{at.sum():12d}   {first:8.2f}{end:10.2f}")

# %% [markdown]
# ## Where it resists
#
# - *Small $D$.* At $D=$ {glue:text}`proof-lost` the attempt ends after {glue:text}`proof-steps`
#   steps, although the computed run is selected, with $\psi$ near {glue:text}`proof-lost-psi` at
#   the end: the redundant student turns to the teacher too. A small
#   $\lambda_{\min}\approx\psi^3/3\pi$ makes everything small that the proof needs: the ball has a
#   radius of the order of $\lambda_{\min}$, the loss must be below the order of
#   $\lambda_{\min}^3$, and the time to get there is of the order of $1/\lambda_{\min}$. More steps
#   go farther, but where selection is lost ({numref}`fig-proof-range`) $\psi\to0$ and
#   $\lambda_{\min}\to0$, so nothing of this kind can reach that value of $D$.
# - *Small angles*, for the same reason: the intervals of $\phi$ would have to shrink like a power
#   of $\phi$.
# - *Wide networks.* The step is limited by $hL<1$ with $L$ of the order of $M$, so the work grows
#   like $m$; 16 is no limit, but all $m$ at once are out of reach of this method. A uniform
#   statement needs the paper's analysis.
# - *Starts that are not symmetric.* For $m=2$ the first patch holds an open set of pairs of
#   students in the plane with the imbalances $\pm D$. For $m>2$ it holds only redundant students
#   that are equal; {numref}`chapter-perturbed` shows why more cannot be had from this
#   neighbourhood: the Gram matrix of all single students is nearly singular.
# - *Everything else* in the book: samples, steps of gradient descent, two teachers.
#
# ## What has to be trusted
#
# That {eq}`eq-proof-flow` is the flow (proved above, and compared with two independent
# descriptions); that the program does what the lemmas say; Arb, through python-flint; and Python's
# floats only in so far as they are rational numbers that are copied and compared exactly. No result
# of a float operation enters: centres, frames, radii, steps and constants may be anything, because
# all that is claimed of them is checked with balls. The code is short enough to be read:


# %%
def code_lines(*objects):
    """Lines of code, without docstrings, comments and blank lines."""
    total = 0
    for thing in objects:
        lines, quoted = [], False
        for line in inspect.getsource(thing).splitlines():
            starts = line.strip().startswith('"""')
            if not quoted and not starts and line.strip() and not line.strip().startswith("#"):
                lines.append(line)
            quoted ^= starts or (quoted and '"""' in line)
            quoted &= not (starts and line.count('"""') == 2)
        total += len(lines)
    return total


steps_code = code_lines(enclose)
flow_code = code_lines(selection)
cover_code = code_lines(certify.Box, certify.interval, certify.cover)
print(f"validated steps {steps_code}, flow and neighbourhood {flow_code}, bisection {cover_code} "
      "lines of code, with the guesses")

# %% [markdown]
# Its tests let it prove what is known (rotations, the logistic equation, poles), check that exact
# solutions are enclosed, and break it on purpose.
#
# ## Exercises
#
# **1.** Carry a small square around the circle in $N$ steps, and put it into a box after each. By
# which factor does it grow as $N\to\infty$? Compare with {numref}`fig-proof-wrapping`.
#
# ```{dropdown} Solution of 1
# A square turned by the angle $\beta$ fits into one that is $\cos\beta+\sin\beta$ times as large.
# With $\beta=2\pi/N$, $(\cos\beta+\sin\beta)^N\to e^{2\pi}\approx535$. More steps make it worse.
# ```
#
# **2.** Where in {prf:ref}`lem-defect` is it used that $F$ is locally Lipschitz? Is the right-hand
# side of {eq}`eq-proof-flow` differentiable at $\theta=0$?
#
# ```{dropdown} Solution of 2
# For the existence and uniqueness in $B$: Picard's iteration must contract. And it is continuously
# differentiable: $g_\pm$ agree at $0$ up to the second derivative, $\omega_\pm$ up to the first.
# Its second derivative jumps, so that no method gains more than order three by a step across $0$
# that does not know of it.
# ```
#
# **3.** Improve the neighbourhood: which $\kappa$ and $r$ allow the largest $E_0$?
#
# ````{dropdown} Solution of 3
# ```python
# for part in (0.3, 0.4, 0.5, 0.6):
#     for times in (1.0, 1.25, 1.5, 1.75):
#         found = refused(2, last, radius=times * least, coercive=part * least)
#         print(part, times, part * least * (times * least) ** 2 / 2, found)
# ```
# The last patch was made for $\frac12$ and $\frac54$, so that smaller products are refused because
# of its loss. With a larger product an earlier patch is accepted, but not a much earlier one: the
# loss falls like $e^{-2\lambda\tau}$.
# ````
#
# **4.** How large may the set of starts be? Double the spread until the proof fails.
#
# ````{dropdown} Solution of 4
# ```python
# for power in range(12, 5, -1):
#     quarter = (math.nextafter(PHI, 0), math.nextafter(PHI, 1))
#     start = selection.duplicate_starts(2, quarter, (2.0**-10, 2.0**-10), 2.0**-power)
#     print(power, len(selection.prove(2, start, steps=600).h))
# ```
# It ends with `NotProved`. What fails is not the flow but the box around the patch over which the
# Jacobian matrix is enclosed: cut the set into smaller ones.
# ````
#
# ## The ledger
#
# The claims below are ours. Statements that are proved hold or do not; the only tolerance is that
# the solvers stay within a tenth of the radii of the tube: that is far more than the solvers miss,
# and far less than another imbalance would move the run.

# %%
compare = claims.compare
counts = {m: f"{sum(steps_hold[m])}/{len(steps_hold[m])}" for m in MS}
all_hold = all(starts_hold.values()) and all(all(found) for found in steps_hold.values())
none = {name: sum(found) for name, found in nulls.items() if name != "as it is"}
rows = [
    compare("B16-step", f"logistic equation, h = 1/4: enclosed, radius below 1e-9; boxes grow "
            f"{grown['box']:.0f} times a turn, patches {grown['patch']:.3f}",
            holds=by_hand.contains(true_logistic) and by_hand_holds
            and grown["patch"] < 1.01, null_holds=taylor.contains(true_logistic)),
    compare("B16-selection", f"steps checked: {counts[2]} for m = 2, {counts[8]} for m = 8; E0 = "
            + ", ".join(f"{float(basins[m].loss):.3e}" for m in MS),
            holds=all_hold and len(basins) == len(MS), null_holds=any(none.values())),
    compare("B16-tube", f"both solvers within {NEAR:g} of the radii, corner at "
            f"{fraction[2, 'corner']:.2f} and {fraction[8, 'corner']:.2f}; null {off:.3g}",
            holds=max(x for (_, name), x in fraction.items() if name != "corner") < NEAR
            and max(fraction[m, "corner"] for m in MS) < 1, null_holds=off < 1),
    compare("B16-basin", "; ".join(f"r = {b.radius:.4f}, κ = {b.coercive:.4f}, λ = {b.rate:.4f}, "
            f"Δ = {float(b.drift):.1e}" for b in basins.values()),
            holds=below, null_holds=linear_positive or None in tries.values()),
]

# %%
rows += [
    compare("B16-strong", f"m = {width['m'].min():.0f} to {width['m'].max():.0f}, "
            f"{proved['width'].sum()}/{len(proved['width'])} rows",
            holds=bool(proved["width"].all()) and held and whole[0] and all(again)),
    compare("B16-angles", f"{proved['angle'].sum()}/{len(proved['angle'])} intervals without a gap",
            holds=bool(proved["angle"].all()) and joined and ends and whole[1] and all(again)),
    compare("B16-weak", "proved for D = " + ", ".join(
            f"{x:g}" for x, good in zip(turned, proved["imbalance"]) if good) + "; not for "
            + ", ".join(f"{x:g}" for x, good in zip(turned, proved["imbalance"]) if not good),
            holds=held and all(again)
            and all(good for x, good in zip(turned, proved["imbalance"]) if x >= 0.9)),
]
claims.report(rows)
