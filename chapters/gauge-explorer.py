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
# (chapter-explorer)=
# # Gauge explorer
#
# $m$ identical students start at the angle $\phi$ from one teacher ({cite:t}`wang2026gauge`,
# section 3.3). One has the imbalance $+D$, the others have $-D$. Move the sliders to see who
# learns the teacher, in which order, and by what kind of change. The frames were computed when
# this page was made, from the exact finite-$D$ flow (`gaugelib.flows.reduced`); nothing is
# computed in your browser, and the page works without a network. Making all frames takes about
# 6 seconds.
#
# ## The frames
#
# One frame is one run of the flow. Time is the fast time $\tau = Dt$ on a logarithmic grid. The
# two parts of the dissipation {eq}`eq-dissipation`, coefficient change and direction change, are
# integrated over $\ln\tau$ by a cubic spline, and their sum is compared with the loss itself: two
# routes to one number.

# %%
from dataclasses import replace

import numpy as np
from IPython.display import HTML, display
from myst_nb import glue
from scipy.interpolate import CubicSpline

from gaugelib import flows, interactive, problem
from gaugelib.solve import solve

STRENGTHS = (2, 4, 8, 16, 32, 64, 128, 256)
WIDTHS = (2, 4, 8, 16, 32)
DEGREES = (10, 20, 30, 45, 50, 60, 75, 90)
FLOOR = 1e-9
tau = np.concatenate([[0], np.logspace(-4, 4, 161)])
kept = slice(41, None, 2)  # from tau = 0.01 on, ten points a decade


# %%
def follow(D, m, phi):
    """The trajectory, ended at the first of a few horizons where the loss is below FLOOR."""
    flow = flows.reduced(problem.duplicates(m, D, phi))
    for end in range(112, tau.size + 1, 10):
        run = solve(flow, tau[:end], 1e-11, 1e-13)
        if run.loss[-1] < FLOOR:
            break
    return flow, run


def frame(D, m, phi):
    """Rows q, P, theta, psi, log10 loss, and the shares of the loss removed by each kind."""
    flow, run = follow(D, m, phi)
    rates = flow.rates(run.state).sum(axis=2)[1:]
    by_log = CubicSpline(np.log(run.tau[1:]), run.tau[1:, None] * rates)
    removed = by_log.antiderivative()(np.log(run.tau[1:])) + run.tau[1] * rates[0]
    shares = np.vstack([[0, 0], removed]) / run.loss[0]
    closure = np.abs(shares.sum(axis=1) - (1 - run.loss / run.loss[0])).max()
    rows = np.vstack([run.state.T, np.log10(np.maximum(run.loss, FLOOR)), shares.T])
    return np.pad(rows, ((0, 0), (0, tau.size - run.tau.size)), mode="edge")[:, kept], closure


# %% [markdown]
# Once the loss is below $10^{-9}$ the last state is kept to the right end of the axis. The spline
# and the loss agree in every frame:

# %%
computed = [
    frame(D, m, np.radians(degrees)) for D in STRENGTHS for m in WIDTHS for degrees in DEGREES
]
frames = np.array([rows for rows, _ in computed])
frames = frames.reshape(len(STRENGTHS), len(WIDTHS), len(DEGREES), 7, -1)
closure = max(error for _, error in computed)
print(f"{len(computed)} frames of {frames.shape[-1]} points")
print(f"both dissipation parts add up to the loss removed, to 1e-4 of L(0): {closure < 1e-4}")
q, P, theta, psi = frames[0, 0, 0, :4, -1]
print(f"D = 2, m = 2, φ = 10°: q = {q:.2f}, P = {P:.2f}, ψ = {np.degrees(psi):.1f}° at the end")
glue("explorer-shared", f"{P:.2f}", display=False)

# %% [markdown]
# ## The page
#
# Four things to look at:
#
# - **Strength.** At $\phi = 10°$, $m = 2$ and $D = 2$ the redundant student still turns toward the
#   teacher and keeps {glue:text}`explorer-shared` of it; at larger $D$ its direction stays and its
#   coefficient goes.
# - **Width.** With more students the selected one rotates farther past the teacher ($\theta < 0$)
#   before it comes back.
# - **Angle.** The smaller $\phi$, the longer the redundant part survives.
# - **Beyond $\pi/3$.** The paper's theorem 3.3 assumes $\phi \le \pi/3$. The last two positions lie
#   outside it; what you see there is computed, not proved.

# %% tags=["hide-input"]
x = np.log10(tau[kept])
parts = [frames[..., k, :] for k in range(7)]
names = ("q", "P", "θ", "ψ", "L", "by coefficients", "by directions")
lines = [
    interactive.Series(name, part, power=name == "L")
    for name, part in zip(names, parts, strict=True)
]
one_other = interactive.Series("qⱼ", parts[1] / (np.array(WIDTHS)[:, None, None] - 1))
quarters = tuple((v, f"{v:g}") for v in (0, 0.25, 0.5, 0.75, 1))
coefficient = interactive.Axis("coefficient", 0, 1, quarters)
angles = tuple((v, f"{v:g}".replace("-", "−")) for v in (-0.8, 0, 0.8, 1.6))
angle = interactive.Axis("angle (rad)", -0.8, 1.6, angles)
powers = tuple(zip((-9, -6, -3, 0), ("10⁻⁹", "10⁻⁶", "10⁻³", "1"), strict=True))
loss = interactive.Axis("loss L", -9, 0, powers)
share = replace(coefficient, label="share of L(0)")
about_q = "Coefficients: designated q, one other qⱼ, others together P"
about_angles = "Angles from the teacher: designated θ, others ψ"
panels = (
    interactive.Panel(about_q, coefficient, (*lines[:2], one_other)),
    interactive.Panel(about_angles, angle, tuple(lines[2:4])),
    interactive.Panel("Loss", loss, (lines[4],)),
    interactive.Panel("Loss removed, by kind of change", share, tuple(lines[5:])),
)

# %% tags=["hide-input"]
where = ["" if degrees <= 60 else " (outside the paper's theorem 3.3)" for degrees in DEGREES]
controls = (
    interactive.Control("Imbalance D", tuple(map(str, STRENGTHS)), STRENGTHS.index(32)),
    interactive.Control("Students m", tuple(map(str, WIDTHS)), WIDTHS.index(8)),
    interactive.Control("Angle φ", tuple(
        f"{degrees}° = {np.radians(degrees):.3f} rad{note}"
        for degrees, note in zip(DEGREES, where, strict=True)), DEGREES.index(45)),
)
readings = tuple(f"τ = {float(f'{value:.3g}'):g}" for value in tau[kept])
cursor = interactive.Control("Reading line", readings, int(np.argmin(np.abs(tau[kept] - 10))))
time_axis = interactive.Axis("fast time τ = Dt", -2, 4, tuple(zip(
    range(-2, 5), ("0.01", "0.1", "1", "10", "10²", "10³", "10⁴"), strict=True)))
page = interactive.slider("explorer", controls, cursor, x, time_axis, panels)
display(HTML(page))

# %% [markdown]
# ## The page in numbers
#
# The first frame is the paper's case, $D = 32$, $m = 8$, $\phi = \pi/4$. (On the page itself every
# value is rounded to the digits that stand beside the reading line.)

# %%
here = STRENGTHS.index(32), WIDTHS.index(8), DEGREES.index(45)
print("    tau       q       P    theta     psi   log10 L  coefficient  direction")
for k in range(0, tau[kept].size, 10):
    q, P, theta, psi, log_loss, coefficient, direction = np.round(frames[*here, :, k], 4) + 0.0
    print(f"{tau[kept][k]:7g} {q:7.4f} {P:7.4f} {theta:8.4f} {psi:7.4f} {log_loss:9.4f}"
          f" {coefficient:12.4f} {direction:10.4f}")

# %% [markdown]
# And the first three of the four things to look at:

# %%
print("phi = 10 degrees, m = 2, last point:      D      P     psi")
for D in (2, 8, 32):
    P, psi = frames[STRENGTHS.index(D), 0, 0, [1, 3], -1]
    print(f"{D:42d} {P:6.4f} {psi:7.4f}")
print("D = 32, phi = 45 degrees:                 m   least theta")
for k, m in enumerate(WIDTHS):
    print(f"{m:42d} {frames[here[0], k, here[2], 2].min():13.4f}")
print("D = 32, m = 8:         phi in degrees   first tau with P < 0.001")
for k, degrees in enumerate(DEGREES):
    print(f"{degrees:37d} {tau[kept][frames[here[0], here[1], k, 1] < 1e-3][0]:26.4g}")
