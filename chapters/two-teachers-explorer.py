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
# (chapter-two-explorer)=
# # Two-teacher explorer
#
# Eight students and two teachers in ten dimensions ({cite:t}`wang2026gauge`, section 4.3): students
# 1 and 2 start near $u_1$, 3 and 4 near $u_2$, and 5 to 8 between them. Two *designated* students
# have the imbalance $+D$, the six others $-D$. Choose the pair and $D$, and see who learns what.
# The outcomes are those of {numref}`chapter-assignments`; the paths of one start were computed when
# this page was made, in about 20 seconds. Nothing is computed in your browser, and the page works
# without a network.

# %%
from itertools import combinations
from pathlib import Path

import numpy as np
from IPython.display import HTML, display

from gaugelib import flows, interactive
from gaugelib.kernel import angle
from gaugelib.problem import two_teachers
from gaugelib.solve import solve

DS, PAIRS = (1, 2, 4, 8, 16, 32, 64, 128), tuple(combinations(range(8), 2))
B = two_teachers(0, 1, (0, 1)).teacher.b
with np.load(Path("..") / "data" / "assignment-map.npz") as stored:
    q, to = stored["q"].astype(float), stored["to"]  # (D, pair, seed, student)
q, to = q.swapaxes(0, 1), to.swapaxes(0, 1)  # the pair first, as on the page

# %% [markdown]
# ## Who owns which feature, in twenty starts
#
# A column is one start, a row one student, at $\tau=4000$. The stronger the colour, the larger
# $\lvert q\rvert$; the colour says at which teacher the student's direction has arrived (within
# $0.05$). A number marks an *owner*, whose coefficient is that of the teacher to $0.05$ as well
# ({prf:ref}`def-assign-owner`).


# %%
designated = np.array([[i in pair for i in range(8)] for pair in PAIRS])[:, None, None, :]
owner = (to >= 0) & (np.abs(q - np.choose(np.maximum(to, 0), B)) < 0.05)
kinds = np.where(owner, 3, 1) + np.maximum(to, 0)
kinds[to < 0] = 0
signs = np.where(designated, 6, 5) + np.zeros((len(PAIRS), len(DS), 1, 8), dtype=int)
kinds = np.concatenate([signs, kinds], axis=2).swapaxes(2, 3)  # (pair, D, student, column)
shares = np.minimum(np.abs(np.concatenate([0 * signs, q], axis=2)), 1).swapaxes(2, 3)
BLUE, ORANGE, GREY = "#56B4E9", "#E69F00", "#999999"
marks = tuple(interactive.Mark(*mark) for mark in (
    ("in another direction", "", GREY), ("at the first teacher", "", BLUE),
    ("at the second", "", ORANGE), ("owns the first feature", "1", BLUE),
    ("owns the second", "2", ORANGE), ("", "−", GREY), ("", "+", GREY)))

# %%
by_pair = [(owner & (to == k) & designated).any(axis=-1) for k in (0, 1)]  # (pair, D, seed)
by_other = [(owner & (to == k) & ~designated).any(axis=-1) for k in (0, 1)]
both, one = by_pair[0] & by_pair[1], by_pair[0] ^ by_pair[1]
taken = by_other[0] | by_other[1]
counts = np.stack([x.sum(axis=2) for x in (both, one, taken)], axis=-1)  # (pair, D, 3)


def sentence(pair, D, found):
    i, j = (k + 1 for k in pair)
    return (f"Students {i} and {j} have +{D}. They own both features in {found[0]} of 20 starts "
            f"and one of them in {found[1]}; a student with −{D} owns a feature in {found[2]}.")


texts = [[sentence(pair, D, counts[k, n]) for n, D in enumerate(DS)]
         for k, pair in enumerate(PAIRS)]

# %% tags=["hide-input"]
pairs = [f"{i + 1} and {j + 1}" for i, j in PAIRS]
start = PAIRS.index((0, 1)), DS.index(16)
controls = (interactive.Control("Designated students", tuple(pairs), start[0]),
            interactive.Control("Imbalance D", tuple(map(str, DS)), start[1]))
rows = tuple(f"student {k}" for k in range(1, 9))
columns = ("δ", *(str(k) for k in range(20)))
page = interactive.board("outcomes", controls, (rows, columns), marks, kinds, shares, texts,
                         label="Eight students in twenty starts")
display(HTML(page))

# %% [markdown]
# Four things to look at:
#
# - **One near each teacher.** Students 1 and 4: both features from $D=2$ on, in every start.
# - **Same side.** Students 1 and 2, both near $u_1$: at $D=2$ and $4$ a student with $-D$ owns a
#   feature in every start. From $D=16$ on none does; starts in which the pair does not own both
#   are unfinished, shared or cancelled.
# - **Far from both.** Students 5 and 6 start about as far from one teacher as from the other. At
#   $D=4$ they already win in most starts, although four others are nearer.
# - **Too weak.** At $D=1$ several students share the direction of a teacher: blue or orange cells
#   of middle darkness, without a number.
#
# ## The paths of one start
#
# The flow of seed 0, for the two designated students $i<j$ and the largest of the six others.


# %%
tau = np.concatenate([[0], np.geomspace(0.1, 4000, 93)])
FLOOR = 1e-9


def frame(pair, D):
    """q of the pair and largest |q| of the others; angles to u_1; to u_2; log10 loss: (8, n)."""
    run = solve(flows.population(two_teachers(0, D, pair)), tau, 1e-8, 1e-10)
    own, teacher = list(pair), run.problem.teacher
    largest = np.abs(np.delete(run.q, own, axis=1)).max(axis=1)
    angles = [angle(run.s[:, own], u).T for u in teacher.u]
    loss = np.log10(np.maximum(run.loss, FLOOR))
    return np.vstack([run.q[:, own].T, largest, *angles, loss]), run.q[-1]


computed = [frame(pair, D) for pair in PAIRS for D in DS]
frames = np.array([rows[:, 1:] for rows, _ in computed]).reshape(len(PAIRS), len(DS), 8, -1)
ends = np.array([end for _, end in computed]).reshape(len(PAIRS), len(DS), 8)
gap = np.abs(ends - q[:, :, 0]).max()
print(f"{len(computed)} paths; their ends are those of the map to 1e-5: {gap < 1e-5}")

# %% tags=["hide-input"]
parts = [frames[..., k, :] for k in range(8)]
names = ("qᵢ", "qⱼ", "other |q|", "i to u₁", "j to u₁", "i to u₂", "j to u₂", "L")
lines = [interactive.Series(name, part, power=name == "L")
         for name, part in zip(names, parts, strict=True)]
ticks = tuple((v, f"{v:g}".replace("-", "−")) for v in (-0.2, 0, 0.4, 0.8, 1.2))
coefficient = interactive.Axis("coefficient", -0.2, 1.2, ticks)
turn = interactive.Axis("angle (rad)", 0, 2, tuple((v, f"{v:g}") for v in (0, 0.5, 1, 1.5, 2)))
powers = tuple(zip((-9, -6, -3, 0), ("10⁻⁹", "10⁻⁶", "10⁻³", "1"), strict=True))
panels = (
    interactive.Panel("Coefficients", coefficient, tuple(lines[:3])),
    interactive.Panel("Angles to the first teacher", turn, tuple(lines[3:5])),
    interactive.Panel("Angles to the second teacher", turn, tuple(lines[5:7])),
    interactive.Panel("Loss", interactive.Axis("loss L", -9, 0, powers), (lines[7],)),
)

# %% tags=["hide-input"]
shown = tau[1:]
readings = tuple(f"τ = {float(f'{value:.3g}'):g}" for value in shown)
cursor = interactive.Control("Reading line", readings, int(np.argmin(np.abs(shown - 100))))
time_axis = interactive.Axis("fast time τ = Dt", -1, 3.7, tuple(zip(
    range(-1, 4), ("0.1", "1", "10", "10²", "10³"), strict=True)))
page = interactive.slider("paths", controls, cursor, np.log10(shown), time_axis, panels)
display(HTML(page))

# %% [markdown]
# With students 1 and 2 designated, $D=16$, both run to $u_1$ and hold it together for a long time;
# then one of them lets go and turns to $u_2$. {numref}`chapter-assignments` explains when that
# comes too late.
#
# ## The page in numbers
#
# Starts of 20 in which the designated pair owns both features, for six of the pairs:

# %%
print("D              " + "".join(f"{D:6d}" for D in DS))
for pair in ((0, 1), (0, 3), (1, 2), (2, 3), (3, 7), (4, 5)):
    found = counts[PAIRS.index(pair), :, 0]
    print(f"students {pair[0] + 1} and {pair[1] + 1}" + "".join(f"{n:6d}" for n in found))
print("starts in which a student with −D owns a feature, 1 and 2 designated:\n" + 14 * " "
      + "".join(f"{n:6d}" for n in counts[PAIRS.index((0, 1)), :, 2]))
first, second = frames[*start, 0], frames[*start, 1]
print("students 1 and 2, D = 16, seed 0:   τ      q_1     q_2   to u_1:  1      2")
for k in range(0, shown.size, 15):
    print(f"{shown[k]:38.3g}{first[k]:9.3f}{second[k]:8.3f}{frames[*start, 3, k]:11.3f}"
          f"{frames[*start, 4, k]:7.3f}")
