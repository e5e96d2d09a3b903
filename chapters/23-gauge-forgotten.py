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
# (chapter-forgotten)=
# # The gauge is forgotten
#
# In part one the imbalance $\delta=a^2-\lVert w\rVert^2$ of a student never changes, and one
# student with a large positive imbalance among $m$ duplicates takes the whole feature of the
# teacher
# ({numref}`chapter-identical-neurons`). With weight decay the imbalance fades
# ({numref}`chapter-rapid-fitting`). What becomes of the selection? {cite:t}`wang2026gauge` mention
# decay in appendix A.2 and leave it there, {cite:t}`xu2026decay` start from independent weights;
# neither asks. After this chapter you will know
#
# - that the selection survives in part: the designated student keeps the largest share, but when
#   the gauge is gone the others turn to the teacher too and take a share that is proportional to
#   $\lambda$ where it is small;
# - that share in closed form for small start angles $\phi$: $\frac{45\pi}{32}\,\lambda/\phi^5$,
#   so that the designated student keeps most of the feature only for $\lambda\ll\phi^5$;
# - the window of $\lambda$ in which one student dominates, at any time and for ever;
# - why the end is a point in a continuum of minima, chosen by the history alone;
# - what changes if the duplicates are not quite identical.
#
# It runs for about 30 seconds on one core. Everything here is our own; neither paper has a number
# to compare with.

# %%
import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from gaugelib import claims, figures, flows
from gaugelib.kernel import g, omega
from gaugelib.measure import tail_rate
from gaugelib.problem import Problem, Students, duplicates, near_duplicates, plane_direction
from gaugelib.solve import crossing, solve

PHI, LAMS = np.pi / 4, (1e-4, 1e-3, 1e-2, 1e-1)
RTOL, ATOL = 1e-10, 1e-12

# %% [markdown]
# ## The law of fading
#
# The objective is $\Phi=L+\frac\lambda2\sum_i(a_i^2+\lVert w_i\rVert^2)$, with the loss $L$ of part
# one. Then, with $B_i$ and $T_i$ of {eq}`eq-B-T` and $\mu_i$, $\chi_i$ of {eq}`eq-mobilities`,
#
# $$ \dot q_i=-\mu_iB_i-2\lambda q_i,\qquad \dot s_i=-\chi_i(I-s_is_i^\top)T_i,\qquad
#    \dot\delta_i=-2\lambda\delta_i, $$ (eq-forgotten-flow)
#
# so $\delta_i(t)=e^{-2\lambda t}\delta_i(0)$, while $\mu_i$ and $\chi_i$ are taken at the faded
# imbalance. The directions do not see the decay, because $\dot w=-\lambda w$ only shrinks. In
# `gaugelib` this is `flows.weight_decay(flow, lam)`, for the original parameters
# and for the reduced coordinates $(q,P,\theta,\psi)$ of the duplicates: the designated student has
# $q$ and the angle $\theta$, the $M=m-1$ others together $P$ and the angle $\psi$. The two are
# programmed differently: the first adds $-\lambda(a,w)$ to the gradient, the second knows
# {eq}`eq-forgotten-flow`.
#
# Solved at relative tolerance $10^{-10}$, over some thousand steps; we ask for $10^{-7}$.


# %%
def forgotten_for(m, D, lam, extra=12.0):
    """Fast time at which λt is ``extra`` beyond the point where M δ is of the size of λ."""
    return (np.log(D * m / lam) / 2 + extra) * D / lam


def run(m, D, phi, lam, extra=12.0, describe=flows.reduced, rtol=RTOL):
    """The duplicates under decay, from the start to the end."""
    flow = flows.weight_decay(describe(duplicates(m, D, phi)), lam)
    tau = np.geomspace(1, forgotten_for(m, D, lam, extra), 60)
    return solve(flow, np.append(0, tau), rtol, rtol / 100)


AGREE, cases = 1e-7, [(2, 32.0, 1e-2), (4, 32.0, 1e-3), (4, 8.0, 1e-1), (8, 32.0, 1e-2)]
fade_error, fade_null, half_null, apart, apart_null = [], [], [], [], []
for m, D, lam in cases:
    full, small = (run(m, D, PHI, lam, describe=x) for x in (flows.population, flows.reduced))
    start = full.problem.students.delta
    for rate, errors in ((2 * lam, fade_error), (0, fade_null), (lam, half_null)):
        law = np.exp(-rate * full.t)[:, None] * start
        errors.append(np.abs(full.delta - law).max() / D)
    both = [np.column_stack([x.q, (x.q[..., None] * x.s).reshape(len(x.q), -1)])
            for x in (full, small)]
    apart.append(np.abs(both[0] - both[1]).max())
    plain = solve(flows.reduced(full.problem), [0, 200.0], RTOL, ATOL)
    apart_null.append(np.abs(plain.q[-1] - full.q[-1]).max())
    print(f"m = {m}, D = {D:g}, λ = {lam:g}: δ = exp(−2λt) δ(0) to {AGREE:g}: "
          f"{fade_error[-1] < AGREE}; reduced = original: {apart[-1] < AGREE}")
print(f"nulls: conserved, off by {min(fade_null):.3f} D; fading at λ, by {min(half_null):.3f} D; "
      f"no decay, q off by {min(apart_null):.4f}")

# %% [markdown]
# ## One run
#
# Four phases can be told apart (times for small $\lambda$):
#
# 1. *Selection*, $t=O(1/D)$ at fixed $\phi$: as without decay. The designated student takes the
#    feature, $P$ falls, the others rest at $\psi_0$, a little below $\phi$.
# 2. *Plateau*: decay leaves a residual $\propto\lambda$, and $P$ follows it: it is small but not
#    zero, and grows as $\delta$ fades to 1.
# 3. *The turn*, when $\delta$ has faded to the order of $\lambda$, at
#    $t\approx\log(D/\lambda)/2\lambda$: the others are now mobile enough to turn to the teacher.
# 4. *Frozen shares*: all directions agree, all students are balanced, and nothing moves any more.

# %% mystnb={"figure": {"caption": "Eight duplicates, $D=32$, $\\phi=\\pi/4$, $\\lambda=10^{-3}$, over training time. Left: coefficient $q$ of the designated student, $P$ of the seven others together, and the size of the imbalance. Right: the angle of the others over that of the start.", "name": "fig-forgotten-run"}, "image": {"alt": "Left, log-log: q rises to one and stays; P falls, reaches a low plateau, rises slowly, and ends at about a hundredth; the imbalance is flat and then drops. Right: the angle stays at one for a long time and late falls to zero."}}
D, LAM = 32.0, 1e-3
flow = flows.weight_decay(flows.reduced(duplicates(8, D, PHI)), LAM)
one = solve(flow, np.append(0, np.geomspace(1e-2, forgotten_for(8, D, LAM, 5), 400)), RTOL, ATOL)
fig, (left, right) = figures.panels(1, 2, width=8.4, height=3.0)
figures.curves(left, one.t[1:], {"q": one.q[1:, 0], "P": one.P[1:], "|δ|": one.delta[1:, 0]},
               xlabel="time t", ylabel="coefficient, imbalance", title="(a)", log="xy")
left.set_ylim(1e-5, 60)
figures.curves(right, one.t[1:], {"others": one.state[1:, 3] / PHI}, xlabel="time t",
               ylabel="angle ψ/φ", title="(b)", log="x")
plt.show()

# %%
print("      t         q         P          ψ/φ         |δ|")
for t in (1, 10, 100, 1000, 3000, 5000, 7000, 9000):
    k = np.searchsorted(one.t, t)
    if k < one.t.size:
        print(f"{one.t[k]:9.1f}{one.q[k, 0]:11.5f}{one.P[k]:12.3e}{one.state[k, 3] / PHI:11.4f}"
              f"{one.delta[k, 0]:12.3e}")

# %% [markdown]
# ## Many runs
#
# One balanced student along the teacher rests where $\frac{1-q}2=\lambda$, at $q=1-2\lambda$; for
# $\lambda\ge\frac12$ it dies. At a finite imbalance it would be
# $\sqrt{\delta^2+4q^2}\,(1-q)=4\lambda q$. Duplicates along the teacher add up, so we expect
# $q+P=1-2\lambda$. Criterion for the total: $10^{-7}$, as above. *Survives* means that the
# designated student has the largest share and more than $\frac1m$ by $0.01$; that the others keep
# something means $P>0$ by more than $10^{-6}$. The null starts the same students balanced. Then
# decay has nothing to forget, and all must end with $\frac1m$.

# %%
WIDTHS, IMBALANCES = (2, 8, 32), (4.0, 32.0, 128.0)
ends = {(m, D, lam): run(m, D, PHI, lam) for m in WIDTHS for D in IMBALANCES for lam in LAMS}
share = {key: x.P[-1] / (x.P[-1] + x.q[-1, 0]) for key, x in ends.items()}
print("share of the others at the end, by λ       " + "".join(f"{lam:10g}" for lam in LAMS))
for m in WIDTHS:
    for D in IMBALANCES:
        print(f"   m = {m:2d}, D = {D:5g}                        "
              + "".join(f"{share[m, D, lam]:10.6f}" for lam in LAMS))
total_error = max(abs(x.q[-1].sum() - 1 + 2 * key[2]) for key, x in ends.items())
total_nulls = [max(abs(x.q[-1].sum() - 1 + c * key[2]) for key, x in ends.items()) for c in (0, 1)]
turned = max(max(x.state[-1, 3], abs(x.state[-1, 2])) for x in ends.values())
lead = min(1 - x - 1 / key[0] for key, x in share.items())
least_share = min(share.values())
even = duplicates(8, 32.0, PHI).regauged(0.0)
even = solve(flows.weight_decay(flows.reduced(even), 1e-2), [0, 60 * 32 / 1e-2], RTOL, ATOL)
even_share = even.q[-1] / even.q[-1].sum()
print(f"q + P = 1 − 2λ to {AGREE:g}: {total_error < AGREE}; all angles below 1e-4: {turned < 1e-4}")
print(f"least lead over 1/m: {lead:.4f}; least share of the others {least_share:.2e}")
print(f"balanced start, m = 8: shares {even_share.min():.4f} to {even_share.max():.4f}")

# %% [markdown]
# For small $\lambda$ the share is proportional to $\lambda$ and hardly depends on $m$ and $D$.
#
# ## The slow flow
#
# Put $P=\lambda p$, $\delta=\lambda\Delta$, $X=M\Delta$ and measure time in $s=\lambda t$. While
# $\lambda\to0$ with these fixed, the designated student is fast, and follows: its two equations,
# $\partial_qL=-\lambda$ and $\partial_\theta L=0$, give to first order $\theta=-2\lambda
# p\,\omega(\psi)$ and $q=1-2\lambda(1+p\,g(\psi))$. What is left is
#
# $$ \begin{aligned}
# p'&=-\sqrt{X^2+4p^2}\,\bigl[2pK(\psi)-2g(\psi)\bigr]-2p, & X'&=-2X,\\
# \psi'&=-\frac{4p}{\sqrt{X^2+4p^2}+X}\;\omega(\psi)\Bigl[1+\frac{p\sin\psi}\pi\Bigr],
#   & K&=\tfrac14-g^2-\omega^2.
# \end{aligned} $$ (eq-forgotten-slow)
#
# ($g$ and $\omega$ are those of {eq}`eq-g-omega`, this $K$ is a number and no kernel, and
# $g-\omega'=\frac1\pi\sin\psi$ was used.) At $X=\infty$ the angle does not move and $p$ is
# $p_{\mathrm{eq}}=g/K$: the plateau. From there {eq}`eq-forgotten-slow` has one solution for each
# $\psi_0$; a shift of time moves $X$. So the end $p_\infty$ is a function of $\psi_0$ alone: $m$,
# $D$ and $\lambda$ have disappeared, and
#
# $$ P\to\lambda\,p_\infty(\psi_0)\,(1+O(\lambda)). $$ (eq-forgotten-law)
#
# Late, $\psi\propto e^{-s}$ and $(\log p)'=-4(pK+\frac12-g)=O(\psi^2)$: that is why $p$ ends at a
# positive number. We integrate $(\log p,\log\psi)$ with two solvers, from
# $X=10^6\,p_{\mathrm{eq}}/\psi_0^2$ in place of infinity; ten times that tells the error of it.


# %%
def K(psi):
    """1/4 − g² − ω² as a function of u = ψ − sin ψ cos ψ; its first term below 1e-4."""
    u = psi - np.sin(psi) * np.cos(psi)
    exact = (u * (2 * np.pi - u) - np.sin(psi) ** 4) / (4 * np.pi**2)
    return np.where(psi > 1e-4, exact, psi**3 / (3 * np.pi))


def p_plateau(psi):
    return g(psi) / K(psi)


def slow(psi0, method="LSODA", start=1e6, rtol=1e-10):
    """(p∞, X at which ψ has fallen to ψ₀/2) by the slow flow."""
    X0 = start * p_plateau(psi0) / psi0**2

    def rates(s, y):
        p, psi, X = *np.exp(y), X0 * np.exp(-2 * s)
        root = np.hypot(X, 2 * p)
        turn = 4 * p / (root + X) * omega(psi) * (1 + p * np.sin(psi) / np.pi)
        return [-root * (2 * K(psi) - 2 * g(psi) / p) - 2, -turn / psi]

    found = solve_ivp(rates, (0, np.log(X0) / 2 + 18), np.log([p_plateau(psi0), psi0]),
                      method=method, rtol=rtol, atol=1e-12,
                      events=lambda s, y: y[1] - np.log(psi0 / 2))
    return np.exp(found.y[0, -1]), X0 * np.exp(-2 * found.t_events[0][0])


# %%
def rest_angle(m, D, phi):
    """ψ₀: where the others rest without decay."""
    flow = flows.reduced(duplicates(m, D, phi))
    return solve(flow, [0, 20 / tail_rate(m, phi)], RTOL, ATOL).state[-1, 3]


ANGLES = np.pi / np.array([2, 3, 4, 6, 8, 16, 32, 64])
table = np.array([slow(psi0) for psi0 in ANGLES])
radau = np.array([slow(psi0, "Radau") for psi0 in ANGLES])
solvers = np.abs(radau / table - 1).max()
later = max(abs(slow(psi0, start=1e7)[0] / slow(psi0)[0] - 1) for psi0 in ANGLES[:5])
print("   ψ₀        p on the plateau     p∞          p∞ ψ₀⁵      X at half the angle")
for psi0, (p, X) in zip(ANGLES, table, strict=True):
    print(f"{psi0:8.4f}{p_plateau(psi0):16.4g}{p:16.4g}{p * psi0**5:14.4f}{X:16.4g}")
print(f"LSODA and Radau agree to 1e-6: {solvers < 1e-6}; ten times X at the start changes p∞ "
      f"by less than 1e-5: {later < 1e-5}\n45π/32 = {45 * np.pi / 32:.4f}")

# %% [markdown]
# The full flow must approach this at first order in $\lambda$: the relative error falls tenfold
# with $\lambda$ from $10^{-4}$ to $10^{-5}$. We accept 9 to 11. And at $10^{-5}$ the ratio
# $P/(\lambda p_\infty)$ must be 1 within $10^{-2}$ at all $m$, $D$, $\phi$. Its error is a multiple
# of $\lambda p_\infty$, at most $4\cdot10^{-3}$ here. Nulls: the value on the plateau
# instead of $p_\infty$, and $P/\lambda$ itself, which must *not* be the same everywhere.

# %%
PAIRS = [(2, 32.0, PHI), (8, 32.0, PHI), (32, 128.0, PHI), (8, 8.0, PHI), (8, 2.0, PHI),
         (8, 32.0, np.pi / 3), (2, 8.0, np.pi / 3), (8, 32.0, np.pi / 8)]
falls, ratios, null_falls, raw, turn_error, turn_null = [], [], [], [], [], []


def half_imbalance(m, D, phi, psi0, lam=1e-5):
    """δ of the designated student when the others have turned to ψ₀/2."""
    flow = flows.weight_decay(flows.reduced(duplicates(m, D, phi)), lam)
    grid = np.append(0, np.geomspace(1, forgotten_for(m, D, lam), 60))
    return D * np.exp(crossing(flow, grid, lambda y: y[3] - psi0 / 2, RTOL, ATOL).state[4])


# %%
print("  m     D      φ       ψ₀       P/λ at 1e-5    p∞      relative error at 1e-5, 1e-4, 1e-3")
for m, D, phi in PAIRS:
    psi0 = rest_angle(m, D, phi)
    p, X = slow(psi0)
    P = [run(m, D, phi, lam).P[-1] / lam for lam in (1e-5, 1e-4, 1e-3)]
    error = np.array(P) / p - 1
    falls.append(error[1] / error[0])
    ratios.append(P[0] / p)
    null_error = np.array(P) / p_plateau(psi0) - 1
    null_falls.append(null_error[1] / null_error[0])
    raw.append(P[0])
    half = half_imbalance(m, D, phi, psi0)
    turn_error.append((m - 1) * half / 1e-5 / X - 1)
    turn_null.append(half - 1)
    print(f"{m:3d}{D:6g}{phi:9.4f}{psi0:9.4f}{P[0]:13.4f}{p:12.4f}    "
          + "".join(f"{x:11.2e}" for x in error))
print(f"errors fall by {min(falls):.2f} to {max(falls):.2f} from λ = 1e-4 to 1e-5; against the "
      f"plateau by {min(null_falls):.2f} to {max(null_falls):.2f}")
print(f"turn: M δ/λ at half the angle over its law, off by at most {np.abs(turn_error).max():.1e}")

# %% [markdown]
# At large angles $P$ falls while the others turn ($p_\infty$ is below its plateau), at small ones
# it grows. The last line is the answer to *how long*: the others keep their angle until
#
# $$ t\approx\frac1{2\lambda}\log\frac{MD}{\lambda X_{1/2}(\psi_0)}, $$ (eq-forgotten-time)
#
# with $X_{1/2}$ from the column "X at half the angle" of the table of $p_\infty$. The width enters
# through a logarithm only. We ask for $10^{-2}$ in
# the argument of the logarithm, for the same reason as above; as null, $\delta=1$ there.
#
# ## Small angles: the fifth power
#
# ```{prf:proposition} The end at small angles; derived, not proved
# :label: prop-forgotten-fifth
#
# For $\psi_0\to0$, $\;p_\infty\simeq\dfrac{45\pi}{32}\,\psi_0^{-5}$. If $\lambda\to0$ with
# $\lambda/\psi_0^5$ fixed, and $D\gg1$, the share $x$ of the others at the end is given by
#
# $$ \frac{8M\psi_0^5}{45\pi\lambda}=\frac1{\delta_*}-\frac12\arctan\frac2{\delta_*},\qquad
#    \frac{M(1-x)}x=\frac{2+\sqrt{4+\delta_*^2}}{\delta_*}. $$ (eq-forgotten-window)
# ```
#
# Here $\delta_*$ is the imbalance at the turn. Three steps. *(i)* $K\simeq\psi^3/3\pi$, so the
# plateau has $P=\frac{3\pi}{2\psi^3}\lambda\kappa$, with $\kappa=2/\sqrt{\delta^2+4}$ for the
# residual of a designated student at imbalance $\delta$. *(ii)* The torque on the others is
# $\psi^2P/\pi$ and their mobility $P/M\delta$, so with $dt=-d\delta/2\lambda\delta$
#
# $$ \frac{d(\psi^5)}{d\delta}=\frac{45\pi\lambda}{8M}\,\frac4{\delta^2(\delta^2+4)} :$$
#
# the angle collapses at a finite $\delta_*$, where the integral from $\delta_*$ to $\infty$ has
# used up $\psi_0^5$. The collapse is faster than $P$ can follow, hence $P\approx0$ there compared
# with what follows. *(iii)* All students now point to the teacher and feel one force $F(t)$: $\dot
# a=Fr-\lambda a$, $\dot r=Fa-\lambda r$ is a hyperbolic rotation by the same angle for all, and
# $2e^{2\lambda t}q_i=\lvert\delta_{i*}\rvert\sinh(2\sigma+2\sigma_i)$. The others start at
# $\sigma_i=0$, the designated one at $\sinh2\sigma_i=2/\delta_*$. The ratio of the coefficients
# tends to $e^{2\sigma_i}$, the right side of the second equation. The first statement is the limit
# $\delta_*\to0$: $P\simeq M\delta_*/4$.
#
# So the fifth power is the third power of the plateau, driven up by the collapse. We allow a
# relative error of $\psi_0$, the size of the terms left out of $K$, as in
# {numref}`chapter-how-large`.

# %%
SMALL = ANGLES[ANGLES < 0.8]
fifth = table[ANGLES < 0.8, 0] * SMALL**5 / (45 * np.pi / 32) - 1
third = table[ANGLES < 0.8, 0] / p_plateau(SMALL) - 1
powers = np.diff(np.log(table[:, 0])) / np.diff(np.log(ANGLES))
print("ψ₀                  " + "".join(f"{x:10.4f}" for x in SMALL))
print("relative error / ψ₀ " + "".join(f"{x:10.4f}" for x in fifth / SMALL))
print("local exponents of p∞: " + ", ".join(f"{x:.3f}" for x in powers))


# %% [markdown]
# ## The window
#
# *One student dominates* if the others hold less than a tenth (our choice). For ever: from the end
# of the selection on. Their share can pass the end's while they turn; that this is nothing for
# $\phi\le\frac\pi6$, to $10^{-4}$, is checked below, so there the end decides.
# {eq}`eq-forgotten-window` with $x=0.1$ gives the upper end $\lambda_{\mathrm{up}}=c_m
# \phi^5$, since $\psi_0\to\phi$ for large $D$; $c_m$ falls from $m=2$ to $\frac{32}{405\pi}$ for
# wide networks. There is no lower end: the share falls with $\lambda$ all the way. We find the
# upper end on the full reduced flow by root finding in $\log\lambda$, at $D=32$. The criterion is
# again a relative error of $\phi$. We wrote it down for all angles, and at large ones it fails, as
# the table shows: $\phi^5$ is a law for small angles, and a student beside one other feels more
# than the first order in $\lambda p_\infty$. With the table in view we restricted it to
# $\phi\le\frac\pi6$; to have a test that was not set with results in view, the second table has
# widths and angles at which we had not looked before, and the same criterion.


# %%
def c(m, x=0.1):
    """λ_up/φ⁵ for the share x."""
    R, M = (m - 1) * (1 - x) / x, m - 1
    at = 4 / (R - 1 / R)
    return 8 * M / (45 * np.pi * (1 / at - np.arctan(2 / at) / 2))


def end_share(lam, m, D, phi):
    end = run(m, D, phi, lam, extra=6, rtol=1e-9)
    return end.P[-1] / end.q[-1].sum()


def upper_end(m, D, phi):
    low, high = np.log([1e-3 * phi**5, 0.4])
    return np.exp(brentq(lambda x: end_share(np.exp(x), m, D, phi) - 0.1, low, high, xtol=1e-6))


STARTS = np.pi / np.array([3, 4, 6, 8, 12, 16])
upper = {m: np.array([upper_end(m, 32.0, phi) for phi in STARTS]) for m in WIDTHS}
law_error = np.array([(upper[m] / c(m) / STARTS**5 - 1) / STARTS for m in WIDTHS])
cube = np.array([np.ptp(np.log(upper[m] / STARTS**3)) for m in WIDTHS])
falling = np.array([share[m, D, lam] for m in WIDTHS for D in IMBALANCES for lam in LAMS])
no_lower = np.all(np.diff(falling.reshape(-1, len(LAMS)), axis=1) > 0)
print("upper end at φ =     " + "".join(f"{x:11.4f}" for x in STARTS) + "     c_m")
for m in WIDTHS:
    print(f"   m = {m:2d}            " + "".join(f"{x:11.3e}" for x in upper[m]) + f"{c(m):9.5f}")
for m, row in zip(WIDTHS, law_error, strict=True):
    slopes = np.diff(np.log(upper[m])) / np.diff(np.log(STARTS))
    print(f"   m = {m:2d}: error/φ " + ", ".join(f"{x:.3f}" for x in row)
          + "; exponents " + ", ".join(f"{x:.2f}" for x in slopes))

# %%
BLIND = [(m, phi) for m in (4, 128) for phi in np.pi / np.array([7, 10, 20])]
blind = np.array([(upper_end(m, 32.0, phi) / c(m) / phi**5 - 1) / phi for m, phi in BLIND])
print("not looked at before, error/φ:")
for x, (m, phi) in zip(blind, BLIND, strict=True):
    print(f"   m = {m:3d}, φ = {phi:.4f}: {x:.3f}")
print(f"the share falls with λ at every (m, D) above: {no_lower}")


# %%
def peak(m, phi, lam, D=32.0):
    """(largest share of the others after its first minimum below a tenth, its time, the end)."""
    flow = flows.weight_decay(flows.reduced(duplicates(m, D, phi)), lam)
    path = solve(flow, np.append(0, np.geomspace(1, forgotten_for(m, D, lam), 500)), 1e-9, 1e-11)
    x = path.P / (path.P + path.q[:, 0])
    start = np.argmax(x < 0.1)
    start += np.argmax(np.append(np.diff(x[start:]) > 0, True))
    top = start + x[start:].argmax()
    return x[top], path.t[top], x[-1]


peaks = {(m, n): peak(m, np.pi / n, 0.99 * upper[m][k])
         for k, n in enumerate((3, 4, 6, 8)) for m in (2, 8)}
print("largest share at 0.99 of the upper end:")
for (m, n), (top, t, last) in peaks.items():
    print(f"   m = {m}, φ = π/{n}: {top:.5f} at t = {t:8.0f}, {last:.5f} in the end")
overshoot = max(top - last for (_, n), (top, _, last) in peaks.items() if n >= 6)

# %%
TIMES, DECAYS = np.geomspace(0.1, 1e5, 121), np.geomspace(1e-5, 0.4, 47)


def share_over_time(lam):
    flow = flows.weight_decay(flows.reduced(duplicates(8, 32.0, PHI)), lam)
    path = solve(flow, np.append(0, 32 * TIMES), 1e-9, 1e-11)
    return path.P[1:] / path.q[1:].sum(axis=1)


over_time = np.array([share_over_time(lam) for lam in DECAYS])

# %% mystnb={"figure": {"caption": "Left: $p_\\infty$ over the angle at which the others rest (dots), its law for small angles and the plateau. Middle: upper end of the window at $D=32$ and its law. Right: share of the others over time and $\\lambda$ for $m=8$, $D=32$, $\\phi=\\pi/4$; contours at 0.001, 0.01, 0.1 (thick) and 0.3.", "name": "fig-forgotten-window"}, "image": {"alt": "Left, log-log: dots bend onto a straight dashed line of slope minus five as the angle falls; a dotted curve of slope minus three runs below. Middle: three rows of markers rise with slope five and slightly more. Right: a contour map over time and decay; four nested contours; each rises steeply at an early time, has a peak, falls and ends in a horizontal line."}}
fig, (left, middle, right) = figures.panels(1, 3, width=9.6, height=3.2)
left.plot(ANGLES, table[:, 0], "o", color=figures.BLUE, label="$p_∞$")
left.plot(ANGLES, 45 * np.pi / 32 / ANGLES**5, color=figures.ORANGE, linestyle=figures.DASHES[1],
          label="$45π/(32ψ_0^5)$", linewidth=1.4)
left.plot(ANGLES, p_plateau(ANGLES), color=figures.GREEN, linestyle=figures.DASHES[2],
          label="plateau")
figures.finish(left, "resting angle $ψ_0$", "$P/λ$", "(a)", "xy")
for k, m in enumerate(WIDTHS):
    middle.plot(STARTS, upper[m], figures.MARKERS[k], color=figures.COLOURS[k], label=f"m = {m}")
    middle.plot(STARTS, c(m) * STARTS**5, color=figures.COLOURS[k], linewidth=1,
                linestyle=figures.DASHES[k])
figures.finish(middle, "start angle φ", "upper end of λ", "(b)", "xy")
middle.set_xticks(STARTS, [f"π/{n}" for n in (3, 4, 6, 8, 12, 16)])
middle.set_xticks([], minor=True)
LEVELS = (1e-3, 1e-2, 0.1, 0.3)
right.contour(TIMES, DECAYS, over_time, LEVELS, colors=figures.BLACK,
              linewidths=[0.8, 0.8, 2, 0.8], linestyles=["dotted", "dashed", "solid", "dashdot"])
for level in LEVELS:
    at = np.exp(np.interp(level, over_time[:, -1], np.log(DECAYS)))
    right.annotate(f"{level:g}", (TIMES[-1], at), xytext=(-2, 2), textcoords="offset points",
                   ha="right", fontsize=8)
figures.finish(right, "time t", "decay λ", "(c)", "xy", legend=False)
plt.show()

# %%
print("m = 8, D = 32, φ = π/4: largest λ of the grid with a share below 0.1")
for t in (0.1, 1, 3, 10, 30, 100, 230, 1000, 1e4, 1e5):
    inside = over_time[:, np.abs(np.log(TIMES / t)).argmin()] < 0.1
    text = f"{DECAYS[inside].max():.3e}" if inside.any() else "none"
    print(f"   t = {t:8g}: {text}; all smaller ones too: {bool(np.all(np.diff(inside * 1) <= 0))}")
print(f"   in the end: {upper[8][1]:.3e}")

# %% [markdown]
# At the earliest time no $\lambda$ helps, because the selection itself is not over. Then the
# window is widest, and it shrinks as the gauge fades; while the others turn it is a little smaller
# than in the end, at this angle. The dependence on $D$ is in $\psi_0$ and in the duration of the
# plateau.
#
# ## A continuum of minima
#
# A balanced student costs $\lambda q$, so $\Phi\ge L+\lambda\sum_iq_i$. Over all networks this is
# least where the field of the residual is at most $\lambda$ in every direction
# ({prf:ref}`lem-exact-optimal`). With $1-2\lambda$ on the teacher the field is $2\lambda g(\psi)
# \le\lambda$, with equality at the teacher only. So the minimum is $\lambda-\lambda^2$, and *every*
# split of $1-2\lambda$ among balanced students along the teacher attains it. Along the teacher the
# balanced students obey $\dot q_i/q_i=-2(B+\lambda)$, the same for all: shares are conserved. The
# end is chosen by the history alone, and a perturbation of the shares is never repaired.
#
# Checked: $\Phi$ at all ends above; the Hessian of $\Phi$ at the end of one run, which must have
# $m-1$ zero eigenvalues for $m-1$ free shares, and no negative one; and restarts along the teacher
# with random shares. As null, the same shares with imbalances: there the shares move.

# %%
value_error = 0.0
for (_, _, lam), end in ends.items():
    penalty = lam / 2 * np.hypot(end.delta[-1], 2 * end.q[-1]).sum()
    value_error = max(value_error, abs(end.loss[-1] + penalty - lam + lam**2))
end = run(4, 32.0, PHI, 1e-2, describe=flows.population)
decayed = flows.weight_decay(flows.population(end.problem), 1e-2)
spectrum = np.linalg.eigvalsh(-32.0 * decayed.jacobian(0, end.state[-1]))
zeros = int(np.count_nonzero(np.abs(spectrum) < 1e-5))
rng, kept, lost = np.random.default_rng(23), [], []
for _ in range(5):
    shares = rng.dirichlet(np.ones(4))
    for delta, moves in ((0.0, kept), (np.array([1.0, -1, -1, -1]), lost)):
        students = Students(0.7 * shares, plane_direction(np.zeros(4)), delta)
        again = Problem(end.problem.teacher, students, 1.0)
        again = solve(flows.weight_decay(flows.population(again), 1e-2), [0, 2500.0], RTOL, ATOL)
        moves.append(np.abs(again.q[-1] / again.q[-1].sum() - shares).max())
print(f"Φ = λ − λ² to {AGREE:g} at {len(ends)} ends: {value_error < AGREE}")
print(f"Hessian at m = 4: {zeros} of {spectrum.size} eigenvalues below 1e-5 in size; the next is "
      f"{spectrum[zeros]:.4f}; none below −1e-5: {spectrum[0] > -1e-5}")
print(f"restarted shares stay to {AGREE:g}: {max(kept) < AGREE}; with imbalances they move by "
      f"{min(lost):.3f} to {max(lost):.3f}")

# %% [markdown]
# ## Near duplicates
#
# Let every student start at its own angle, $\phi+\varepsilon x_i$ with $x_i$ uniform in $(-1,1)$.
# On the plateau the others then are *different* features, and their Gram matrix is nearly
# singular: single coefficients of both signs can grow far beyond $P$ while their sum reduces the
# residual. How far they come before the gauge has faded is a question of $D$, $\lambda$ and
# $\varepsilon$. Five seeds each.

# %%
def spread_run(eps, lam, seed, m=4, D=32.0):
    """(share of the others, P/λ, least coefficient of any student on the way)."""
    turn = eps * np.random.default_rng(seed).uniform(-1, 1, m)
    flow = flows.weight_decay(flows.population(near_duplicates(m, D, PHI, 0, turn, 0)), lam)
    path = solve(flow, np.append(0, np.geomspace(1, forgotten_for(m, D, lam), 60)), 1e-9, 1e-11)
    q = path.q[-1]
    return 1 - q[0] / q.sum(), q[1:].sum() / lam, path.q.min(), q.argmax() == 0


SPREADS, SEEDS = (0.0, 1e-6, 1e-4, 1e-2, 1e-1), range(5)
spread = {(eps, lam): np.array([spread_run(eps, lam, seed) for seed in SEEDS])
          for lam in (1e-2, 1e-3) for eps in SPREADS}
print("    λ        ε       share of the others     P/λ                 least q on the way   kept")
for (eps, lam), x in spread.items():
    low, high = x.min(axis=0), x.max(axis=0)
    print(f"{lam:7g}{eps:9g}    {low[0]:.5f} to {high[0]:.5f}   {low[1]:8.3f} to {high[1]:7.3f}"
          f"   {low[2]:12.5f}      {int(x[:, 3].sum())}/{len(x)}")
same, wide = spread[0.0, 1e-3], spread[1e-1, 1e-3]
more = spread[1e-1, 1e-2][:, 1] / spread[0.0, 1e-2][0, 1]
tiny = max(np.abs(spread[1e-6, lam][:, 1] / spread[0.0, lam][:, 1] - 1).max()
           for lam in (1e-2, 1e-3))
print(f"ε = 1e-6 changes P/λ by at most {tiny:.1e} of itself")

# %% [markdown]
# A spread that is small beside $\lambda$ changes nothing. A large one leaves the winner in place in
# these runs, but others are negative for a while, and the limit $\lambda p_\infty$ is not theirs:
# they end with a multiple of it. The law of this chapter is one for identical students.
#
# ## Exercises
#
# **1.** For which $\lambda$ does nothing survive?
#
# ```{dropdown} Solution of 1
# $1-2\lambda=0$: for $\lambda\ge\frac12$ the field of the whole teacher, $g(0)=\frac12$, cannot pay
# for a balanced student. While $\delta\gg1$, students with larger $\lambda$ live on: the field is
# multiplied by $\mu\gg2q$.
# ```
#
# **2.** Give *two* of eight students $+D$. What is the share of the six others in the limit of
# small angles?
#
# ```{dropdown} Solution of 2
# The two share the feature equally. The residual on the plateau is that of two students at
# $q=\frac12$, $\kappa=2q/\mu=1/\sqrt{\delta^2+1}$, and at the turn
# $\sinh2\sigma=2q/\delta_*=1/\delta_*$, so that $P/(q_1+q_2)=\frac62e^{-2\sigma}\simeq
# \frac32\delta_*$ for small $\delta_*$. This is $M\delta_*/4$ with $M=6$, as for one student.
# ```
#
# **3.** Why does the width drop out of $p_\infty$?
#
# ```{dropdown} Solution of 3
# In {eq}`eq-forgotten-slow` it stands in $X=M\Delta$ only, and $X'=-2X$ has no scale: another $M$
# is another origin of time.
# ```
#
# ## The ledger
#
# Order of events: that $P$ is proportional to $\lambda$, and that the window goes like about the
# fifth power of the angle, we knew from earlier trials. The slow flow was derived before this
# chapter's runs. The constant $\frac{45\pi}{32}$ was derived before
# {eq}`eq-forgotten-slow` was integrated, and {eq}`eq-forgotten-window` after first values of the
# upper end were on the screen, but without using them: nothing in it is fitted. All criteria were
# written down after trial runs had been seen. They follow from the orders stated beside them, but
# they are no blind predictions. For the spread we had no prediction, only the picture of a
# singular Gram matrix; its criteria (the winner kept in all seeds, a negative coefficient, twice
# the $P$ at least for $\lambda=10^{-3}$) describe what we saw. After a review four criteria became
# stricter: the null of the slow flow is judged like the statement, the window asks for all times,
# the Hessian for no negative eigenvalue, the spread for more at both $\lambda$.

# %%
compare = claims.compare
ok = {"fade": max(fade_error) < AGREE, "routes": max(apart) < AGREE, "total": total_error < AGREE}
ratio_off = np.abs(np.array(ratios) - 1).max()
rows = [
    compare("B23-fading", f"to {AGREE:g} D in {len(cases)} runs of all (a, w)", holds=ok["fade"],
            null_holds=min(fade_null + half_null) < AGREE),
    compare("B23-routes", f"(q, q s) equal to {AGREE:g} in {len(cases)} runs; null off by "
            f"{min(apart_null):.4f}", holds=ok["routes"], null_holds=min(apart_null) < AGREE),
    compare("B23-total", f"to {AGREE:g} at {len(ends)} ends; nulls off by {min(total_nulls):.2f}",
            holds=ok["total"] and turned < 1e-4, null_holds=min(total_nulls) < AGREE),
    compare("B23-survives", f"lead over 1/m at least {lead:.4f}, others at least "
            f"{least_share:.1e}, at {len(ends)} ends", holds=lead > 0.01 and least_share > 1e-6,
            null_holds=even_share.max() - 1 / even.q.shape[1] > 0.01),
    compare("B23-slow", f"relative errors fall {min(falls):.2f} to {max(falls):.2f} times from "
            f"λ = {LAMS[0]:g} to {LAMS[0] / 10:g}", holds=min(falls) > 9 and max(falls) < 11,
            null_holds=min(null_falls) > 9 and max(null_falls) < 11),
    compare("B23-universal", f"P/(λ p∞) off its limit by {ratio_off:.1e} at {len(PAIRS)} "
            f"(m, D, φ); P/λ from {min(raw):.3f} to {max(raw):.1f}",
            holds=ratio_off < 0.01,
            null_holds=max(raw) / min(raw) - 1 < 0.01),
]

# %%
turn_off = np.abs(turn_error).max()
checked = np.append(law_error[:, STARTS < np.pi / 5], blind)
bound, outside = np.abs(checked).max(), np.abs(law_error[:, STARTS > np.pi / 5]).max()
rows += [
    compare("B23-fifth", f"error/ψ₀ at most {np.abs(fifth / SMALL).max():.3f} at {SMALL.size} "
            "angles",
            holds=np.all(np.abs(fifth) < SMALL) and solvers < 1e-6,
            null_holds=bool(np.all(np.abs(third) < SMALL))),
    compare("B23-turn", f"M δ/λ at half the angle within {turn_off:.1e} at {len(PAIRS)} (m, D, φ)",
            holds=turn_off < 0.01, null_holds=np.abs(turn_null).max() < 0.01),
    compare("B23-window", f"error/φ at most {bound:.3f} at {checked.size} (m, φ), up to "
            f"{outside:.2f} beyond π/6; share falls with λ: {no_lower}",
            holds=bound < 1 and no_lower and overshoot < 1e-4,
            null_holds=cube.max() < np.log(1 + STARTS.max())),
]

# %%
rows += [
    compare("B23-continuum", f"Φ to {AGREE:g} at {len(ends)} ends; {zeros} zero modes; null moves "
            f"shares by {min(lost):.3f}", null_holds=max(lost) < AGREE,
            holds=value_error < AGREE and max(kept) < AGREE and zeros == len(shares) - 1
            and spectrum[0] > -1e-5),
    compare("B23-spread", f"kept in {sum(int(x[:, 3].sum()) for x in spread.values())} of "
            f"{sum(map(len, spread.values()))}; P/λ {same[0, 1]:.1f} becomes "
            f"{wide[:, 1].min():.1f} to {wide[:, 1].max():.1f}, {more.min():.2f} to "
            f"{more.max():.2f} times as much at λ = 0.01",
            null_holds=bool(same[:, 2].min() < 0),
            holds=all(x[:, 3].all() for x in spread.values()) and wide[:, 2].max() < 0
            and wide[:, 1].min() > 2 * same[0, 1] and more.min() > 1),
]
claims.report(rows)
