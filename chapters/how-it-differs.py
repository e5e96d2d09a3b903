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
# (chapter-differs)=
# # How this reproduction differs
#
# Two honest reproductions of one paper can disagree for four reasons: a statement is not fully
# legible and has to be rebuilt; a number is defined in words that allow two definitions; its digits
# belong to a grid, a tolerance or a stopping rule; or they belong to a random draw. This page
# collects every place where {cite:t}`wang2026gauge`, in the text that we worked from, leaves such a
# choice. After it you know what we chose, what each other choice would have given, and which of
# our verdicts would change. {cite:t}`xu2026decay` print hardly a number; what their words leave
# open
# has a section of its own.
#
# The alternatives are computed here, in about 40 seconds; the verdicts are those stored in the
# chapters. Nothing on this page is reported to the scoreboard.

# %%
import re
from html import escape
from pathlib import Path
from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
from IPython.display import HTML, display
from joblib import Parallel, delayed
from myst_nb import glue

from gaugelib import claims, figures, flows, interactive
from gaugelib import condensation as cond
from gaugelib.kernel import angle
from gaugelib.measure import captured, first_entry, loglog_fit, path_length, redundant_norm
from gaugelib.problem import (
    TWO_TEACHERS_OFF,
    Problem,
    Students,
    duplicates,
    near_duplicates,
    two_teachers,
    two_teachers_start,
)
from gaugelib.solve import crossing, euler, solve

PHI, DATA = np.pi / 4, Path("..") / "data"
stored = {row.id: (stem, row) for stem, row in claims.collect(sorted(Path().glob("[0-9]*.ipynb")))}

# %%
def printed(claim_id):
    return claims.lookup(claim_id).printed


def met(claim_id, value):
    """Whether every printed digit of a number comes out."""
    return claims.rounded_like(value, printed(claim_id)) == printed(claim_id)


# %% tags=["hide-input"]
def ledger_table(chosen, label):
    """Rows of the ledger with their notes; links lead to their chapters."""
    lines = []
    for stem, row in chosen:
        claim = claims.lookup(row.id)
        link = f'<a href="{stem}.html#claim-{row.id}">{escape(claim.where)}</a>'
        whose = claims.PAPERS[claim.paper]
        text = f"{whose}, {link}: {escape(claim.statement)}{claims.remarks(row)}"
        shown = escape(row.printed) or "&ndash;", escape(row.measured)
        lines.append(interactive.row((text, claims.badge(row), *shown)))
    headings = ("claim, and why", "verdict", "printed", "measured")
    display(HTML(interactive.table(headings, lines, label)))


paper = [x for x in stored.values() if claims.lookup(x[1].id).paper != "beyond"]
apart = [x for x in paper if x[1].verdict in ("differs", "open")]
for verdict in ("differs", "open"):
    count = sum(row.verdict == verdict for _, row in apart)
    glue(f"differs-{verdict}", str(count), display=False)
glue("differs-reported", str(len(paper)), display=False)

# %% [markdown]
# ## What does not agree
#
# Of {glue:text}`differs-reported` claims of the two papers that the chapters judge,
# {glue:text}`differs-differs` *differs* and {glue:text}`differs-open` are *open*.

# %% tags=["hide-input"]
ledger_table(apart, "Claims that differ or are open")

# %% [markdown]
# ## Statements that we rebuilt
#
# Displays are missing from the text that we worked from, {cite:t}`wang2026gauge`'s theorem 3.3 and
# equations (3) and (4) among them. Where a proof or the prose fixes what must have stood there,
# we rebuilt it and say so in its title. A wrong rebuilding can agree with our computation and
# still not be what the paper claims. These are the claims that rest on one.

# %% tags=["hide-input"]
rebuilt = [x for x in paper if any(
    word in claims.lookup(x[1].id).where for word in ("rebuild", "reading"))]
places = {}
for stem, row in rebuilt:
    where = claims.lookup(row.id).where.split(",")[0]
    places.setdefault((stem, where), []).append(row)
print(f"{len(rebuilt)} claims, all with verdict "
      + " or ".join(sorted({row.verdict for _, row in rebuilt})) + "; null fails in "
      f"{sum(row.null_passes is False for _, row in rebuilt)}, passes in "
      f"{sum(row.null_passes is True for _, row in rebuilt)}, none in "
      f"{sum(row.null_passes is None for _, row in rebuilt)}")
for (stem, where), rows in places.items():
    ids = " ".join(row.id for row in rows)
    print(fill(f"  chapter {stem[:2]}  {where:16} {ids}", 98, subsequent_indent=30 * " "))

# %% [markdown]
# A failing null says that *some* other statement is false, so that ours is not empty. It does not
# say that ours is the paper's.
#
# ## When is a student captured? Tables D.2 and D.5
#
# The paper prints one selection window, (D.4): $q>0.90$, $\lvert\theta\rvert<0.10$ and
# $\lVert f_{\rm red}\rVert_{L^2}=P/\sqrt2<0.10$. The digits of Table D.5 come out with it. Those of
# Table D.2 do not; they come out with $P<0.10$, a reading that was *found* in
# {numref}`chapter-scaling` by trying. Here are the exponents of Table D.2, and after them
# Table D.5, under both windows, the limit error in two norms, and each on four record grids.

# %%
MS, DS = (2, 4, 8, 16, 32), (8, 16, 32, 64, 128)
FINE = np.linspace(0, 80, 3201)  # every 0.025
SPACINGS = {0.2: 8, 0.1: 4, 0.05: 2, 0.025: 1}


def reduced_run(m, D):
    limit = solve(flows.limit(duplicates(m, 1, PHI)), FINE).state
    whole = np.column_stack([limit, np.full(FINE.size, PHI)])
    return solve(flows.reduced(duplicates(m, D, PHI)), FINE), whole


pairs = [(m, D) for m in MS for D in DS]
runs = dict(zip(pairs, Parallel()(delayed(reduced_run)(*pair) for pair in pairs), strict=True))


def entries(m, D, every, redundant, norm):
    """(t_cap, l_red, limit error) of Table D.2 from every so many records."""
    run, limit = runs[m, D][0].at(slice(None, None, every)), runs[m, D][1][::every]
    k = first_entry(run, captured(run, redundant=redundant))
    error = np.linalg.norm(run.state - limit, ord=norm, axis=1).max()
    return run.t[k], path_length(run.state[:, 3], k), error


# %%
COLUMNS = ("tcap", "lred", "limit")


def slopes(every, redundant, norm=np.inf):
    """The fifteen exponents of Table D.2: (5, 3)."""
    table = np.array([[entries(m, D, every, redundant, norm) for D in DS] for m in MS])
    return np.array([[loglog_fit(DS, y).slope for y in rows.T] for rows in table])


def digits(found):
    return [sum(met(f"D2-m{m}-{name}", x) for m, x in zip(MS, column, strict=True))
            for name, column in zip(COLUMNS, found.T, strict=True)]


grids = {(h, window): slopes(every, window)
         for h, every in SPACINGS.items() for window in ("P", "L2")}
agree = {key: digits(found) for key, found in grids.items()}
euclid = digits(slopes(SPACINGS[0.1], "P", 2))[2]
print("Table D.2: exponents with all printed digits, of five")
print("recorded every      P < 0.10               (D.4), P/√2 < 0.10")
print("                    t_cap  l_red           t_cap  l_red           limit error")
for h in SPACINGS:
    (t, path, limit), (t4, path4, _) = agree[h, "P"], agree[h, "L2"]
    print(f"{h:10.3f}{t:12d}{path:7d}{t4:16d}{path4:7d}{limit:16d}")
print(f"limit error as a Euclidean norm, every 0.1: {euclid}")

# %% [markdown]
# Only one line gives the table: $P<0.10$, the largest component, and a record every $0.1$. The
# limit error hardly sees the grid, the selection times do: their third decimal is the
# grid's ({numref}`fig-differs-grid`). The alternatives do not touch any conclusion, only digits.

# %%
def exact_capture(m, D, scale):
    """Fast time at which the flow itself enters the window, by root finding."""
    def outside(y):
        return max(0.9 - y[0], abs(y[2]) - 0.1, y[1] * scale - 0.1)

    return crossing(flows.reduced(duplicates(m, D, PHI)), FINE[::4], outside).tau


def exact_slopes(scale):
    times = Parallel()(delayed(exact_capture)(m, D, scale) for m, D in pairs)
    table = np.reshape(times, (5, 5)) / DS
    return np.array([loglog_fit(DS, row).slope for row in table])


WINDOWS = {"P": ("P < 0.10", 1), "L2": ("P/√2 < 0.10", 0.5**0.5)}
exact = {window: exact_slopes(scale) for window, (_, scale) in WINDOWS.items()}
print("exponent of t_cap                  m =" + "".join(f"{m:9d}" for m in MS))
as_printed = [printed(f"D2-m{m}-tcap") for m in MS]
print("printed" + 31 * " " + "".join(f"{x:>9}" for x in as_printed))
for window, (name, _) in WINDOWS.items():
    for h in SPACINGS:
        print(f"{name:12} every {h:5.3f}              "
              + "".join(f"{x:9.4f}" for x in grids[h, window][:, 0]))
    print(f"{name:12} no grid                  " + "".join(f"{x:9.4f}" for x in exact[window]))

# %% mystnb={"figure": {"caption": "The exponent of the selection time in Table D.2 from records of four spacings (markers), without a grid (line), and as printed (crosses), for both windows.", "name": "fig-differs-grid"}, "image": {"alt": "Two panels over the width m from 2 to 32. In each a smooth line of exponents without a grid, and markers that scatter around it, the more the coarser the record grid. In the left panel, P below 0.10, the crosses of the printed values sit on the markers of the grid with spacing 0.1; in the right panel they sit on none."}}
fig, axes = figures.panels(1, 2, width=8.2, height=3.2, sharey=True)
for ax, (window, (name, _)) in zip(axes, WINDOWS.items(), strict=True):
    series = {f"every {h:g}": grids[h, window][:, 0] for h in SPACINGS}
    ylabel = "exponent of $t_{cap}$" if window == "P" else ""
    figures.measured_points(ax, MS, series, log="x", xlabel="width  m", ylabel=ylabel)
    ax.set_title(name)
    for line in ax.lines:
        line.set(linestyle="none", fillstyle="none")
    ax.plot(MS, exact[window], color=figures.BLACK, linewidth=1, label="no grid")
    ax.plot(MS, np.array(as_printed, dtype=float), "x", color=figures.BLACK,
            markersize=8, label="printed")
    ax.set_xticks(MS, MS)
    ax.minorticks_off()
    ax.get_legend().remove()
fig.legend(*ax.get_legend_handles_labels(), loc="outside right upper", frameon=False)
plt.show()

# %% [markdown]
# Table D.5 sums the path of a redundant direction from the first *iterate* in the window on. There
# the other window fails.

# %%
SEVEN, H3 = (16, 24, 32, 48, 64, 96, 128), (0.2, 0.1, 0.05)


def descent(D, h):
    """Path of a redundant direction after selection by either window."""
    run = euler(flows.population(duplicates(8, D, PHI)), h, round(80 / h))
    entry = [first_entry(run, captured(run, redundant=window)) for window in WINDOWS]
    return [path_length(run.s[:, 1], k) for k in entry]


paths = np.reshape(Parallel()(delayed(descent)(D, h) for h in H3 for D in SEVEN), (3, 7, 2))
agree5 = {}
for j, (window, (name, _)) in enumerate(WINDOWS.items()):
    agree5[window] = sum(
        met(f"D5-h{h:.2f}-slope", loglog_fit(SEVEN, row[:, j]).slope)
        + met(f"D5-h{h:.2f}-path", (row[:, j] * np.square(SEVEN)).mean())
        for h, row in zip(H3, paths, strict=True))
    print(f"Table D.5 with {name:12}: all digits of {agree5[window]} of 6 numbers")

# %% [markdown]
# ## Linear in the step? Table D.4
#
# The claim that *differs* is that the error of gradient descent is linear in $h$ over
# $h=0.025,\dots,0.4$. How much depends on our reading? The error of (D.4) is the largest over all
# students and all times; *linear* we took as: error$/h$ is constant to $5\,\%$.

# %%
H4 = (0.025, 0.05, 0.1, 0.2, 0.4)
flow = flows.population(duplicates(8, 64, PHI))
smooth = solve(flow, 0.025 * np.arange(2001))


def errors(h):
    """Largest difference in (q_i, q_i s_i), by four readings of "largest"."""
    run, ref = euler(flow, h, round(50 / h)), smooth.at(slice(None, None, round(h / 0.025)))
    parts = [np.concatenate([x.q[..., None], x.q[..., None] * x.s], axis=2) for x in (run, ref)]
    gap = np.abs(parts[0] - parts[1]).max(axis=2)  # (n, m)
    return gap.max(), gap[:, 0].max(), gap[run.tau >= 2].max(), gap[-1].max()


READINGS = ("all students, all times (D.4)", "designated student only", "all students, τ ≥ 2",
            "all students, at τ = 50")
rates = np.array([errors(h) for h in H4]).T / H4
TOLERANCES = (0.01, 0.02, 0.05, 0.5, 0.6)
print("error/h over its value at h = 0.025                          on the line within")
print(f"{'h =':29}    0.05     0.1     0.2     0.4  "
      + "".join(f"{100 * t:5.0f} %" for t in TOLERANCES))
on_line = {}
for name, row in zip(READINGS, rates / rates[:, :1], strict=True):
    on_line[name] = [int((np.abs(row - 1) < t).sum()) for t in TOLERANCES]
    print(f"{name:29}" + "".join(f"{x:8.4f}" for x in row[1:]) + "  "
          + "".join(f"{n:5d}/5" for n in on_line[name]))
glue("differs-jump", f"{rates[0, -1] / rates[0, 0]:.2f}", display=False)

# %% [markdown]
# In the definition as printed the last point is off by a factor {glue:text}`differs-jump`; only a
# tolerance of more than $50\,\%$ would accept it. The other readings are linear over more of the
# range: the reason is the first step of the redundant coefficients, at the very start
# ({numref}`chapter-gradient-descent`).
#
# ## The error on samples, (12) and Table D.3
#
# Three things are lost: the definition (12), the list of $N$, and the generator. Since draws decide
# every digit, the question is whether the twelve printed numbers are likely draws. Here are three
# readings of (12) and five lists of $N$: how many of the twelve lie within three standard
# deviations of a set of 20 seeds, and what the constant would be.

# %%
samples = np.load(DATA / "finite-samples.npz")
NS, WIDTHS = samples["N"], samples["m"].tolist()
values = samples["values"].astype(float)  # (m, seed, N, [RMS, largest component, length, ...])
NAMES = ("slope", "r2", "mean")
table_D3 = np.array([[float(printed(f"D3-m{m}-{name}")) for name in NAMES] for m in WIDTHS])


def table_rows(mean_errors, sizes):
    """(slope, R², mean √N Err_N) of mean errors (..., N)."""
    fits = [loglog_fit(sizes, y) for y in mean_errors]
    constant = (np.sqrt(sizes) * mean_errors).mean(axis=1)
    return np.column_stack([[f.slope for f in fits], [f.r2 for f in fits], constant])


def draws(reading, low, high, sets=300):
    """Table D.3 from other sets of 20 seeds: (m, set, 3)."""
    grid, rng = (NS >= low) & (NS <= high), np.random.default_rng(0)
    chosen = np.array([rng.choice(500, 20, replace=False) for _ in range(sets)])
    errors = values[:, :, grid, reading]
    return np.array([table_rows(x[chosen].mean(axis=1), NS[grid]) for x in errors])


# %%
RANGES = ((512, 8192), (128, 8192), (32, 8192), (512, 32768), (2048, 32768))
inside_D3 = {}
print("reading of (12)      N              m = 8: slope        constant         of 12 within 3 sd")
for reading, name in enumerate(("RMS (ours)", "largest component", "largest length")):
    for low, high in RANGES:
        found = draws(reading, low, high)
        middle, sd = np.median(found, axis=1), found.std(axis=1)
        inside_D3[name, low, high] = int((np.abs(table_D3 - middle) < 3 * sd).sum())
        print(f"{name:18} {low:5d}–{high:<6d} {middle[2, 0]:10.3f} ± {sd[2, 0]:.3f}"
              f"{middle[2, 2]:11.3f} ± {sd[2, 2]:.3f}{inside_D3[name, low, high]:12d}")
print(f"printed, m = 8{'':15}{printed('D3-m8-slope'):>8}{printed('D3-m8-mean'):>19}")

# %% [markdown]
# The range of $N$ hardly matters, except for small $N$, where the errors are not small and the
# slope is steeper. The norm decides: only the root mean square gives the printed constants, which
# is why it is our reading. $R^2$ and slopes do not tell the norms apart.
#
# ## Two teachers, Table D.6
#
# Two choices. *Same side* succeeds "ordered", student 1 for $u_1$, or "either way". And the law of
# the starts: eight directions, of which four are near a teacher. Ours is written out in
# {numref}`chapter-two-teachers`; here are five others, with the same twenty seeds.

# %%
def judged(law, seed, owners, D=32, anywhere=False):
    """At τ = 4000: (D.5) ordered, either way, and without its bound on the redundant |q_j|."""
    q, s = two_teachers_start(seed, **law)
    if anywhere:
        drawn = np.random.default_rng([seed, 1]).standard_normal((4, 10))
        s[4:] = drawn / np.linalg.norm(drawn, axis=1)[:, None]
    delta = np.full(8, -float(D))
    delta[list(owners)] = D
    teacher = two_teachers(0, D, owners).teacher
    flow = flows.population(Problem(teacher, Students(q, s, delta), D))
    end = solve(flow, [0, 4000], 1e-8, 1e-10)
    q_own, s_own = end.q[-1, list(owners)], end.s[-1, list(owners)]
    near = [max(angle(s_own, teacher.u[k]).max(), np.abs(q_own - teacher.b[k]).max()) < 0.05
            for k in ([0, 1], [1, 0])]
    small = np.abs(np.delete(end.q[-1], owners)).max() < 0.01
    return near[0] and small, any(near) and small, any(near)


# %%
FIRST, LAST = TWO_TEACHERS_OFF[:4], TWO_TEACHERS_OFF[4:]
ANYWHERE = "students 5 to 8 in any direction"
LAWS = {
    "ours": {},
    "students 1 to 4 at 0.2 and 0.6": {"off": (0.2, 0.6, 0.6, 0.2, *LAST)},
    "students 1 to 4 all at 0.4": {"off": (*4 * [0.4], *LAST)},
    "students 5 to 8 at 0.9": {"off": (*FIRST, *4 * [0.9])},
    ANYWHERE: {},
    "equal coefficients": {"spread": 0},
}


# %%
PAIRS = ((0, 1), (0, 3), (1, 2))  # same side, A, B
work = [(LAWS[law], seed, owners, 32, law == ANYWHERE)
        for law in LAWS for owners in PAIRS for seed in range(20)]
won = np.reshape(Parallel()(delayed(judged)(*each) for each in work), (-1, 3, 20, 3)).sum(axis=2)
print("D = 32, successes of 20              same side:           A     B     A, B without the")
print("                                     ordered, either                bound on |q_j|")
for name, ((ordered, either, _), (a, _, a_near), (b, _, b_near)) in zip(LAWS, won, strict=True):
    print(f"{name:38}{ordered:4d}{either:9d}{a:12d}{b:6d}{a_near:8d}{b_near:6d}")
print(f"{'printed':42}{printed('D6-32-same-count'):>9}{printed('D6-32-A-count'):>12}"
      f"{printed('D6-32-B-count'):>6}")
for name, count in (("least", won[:, 0, 1].min()), ("most", won[:, 0, 1].max())):
    glue(f"differs-{name}-same", str(count), display=False)

# %% [markdown]
# The designated students own both features in all of these runs of A and B. Whether they have
# *succeeded* by $\tau=4000$ is another matter: with redundant students at $0.2$ from the teachers
# the bound on $\lvert q_j\rvert$ is not met in B yet, since such a coefficient decays at a rate of
# only $0.2^3/3\pi$ ({numref}`chapter-two-teachers`). So the 20/20 of the table belong to the
# paper's law too, and the count of same side does so entirely: {glue:text}`differs-least-same` to
# {glue:text}`differs-most-same` of 20 in our six laws.
#
# ## Where the printed numbers lie among our draws
#
# If our law, our reading and our list of $N$ were the paper's, each printed number that depends on
# chance would be an ordinary draw of ours. {numref}`fig-differs-draws` shows the share of our draws
# (300 sets of 20 seeds for Table D.3, 40 blocks of 20 seeds for Tables D.6 and D.7) that lie below
# the printed value; ties count half.

# %%
with np.load(DATA / "two-teachers-ends.npz") as ends:
    turned, missed, rest = (ends[name] for name in ("angle", "miss", "rest"))
wins = ((turned < 0.05) & (missed < 0.05) & (rest[..., None] < 0.01)).any(axis=-1).sum(axis=1)


def share_below(sample, value):
    return ((sample < value).mean() + (sample <= value).mean()) / 2


# %%
ours = draws(0, 512, 8192)
shares = {}
for j, name in enumerate(("slope", "R²", "constant")):
    shares[f"D.3 {name}"] = {f"m = {m}": share_below(ours[i, :, j], table_D3[i, j])
                             for i, m in enumerate(WIDTHS)}
for c, name in enumerate(("A", "B", "same")):
    most = [float(printed(f"D6-{D}-{name}-max")) for D in (16, 32, 64)]
    shares[f"D.6 {name}, largest"] = {
        f"D = {D}": share_below(rest.max(axis=1)[:, j, c], most[j])
        for j, D in enumerate((16, 32, 64))}
counted = [int(printed(f"D6-{D}-same-count").split("/")[0]) for D in (16, 32, 64)]
shares["D.6 same, count"] = {f"D = {D}": share_below(wins[:, j, 2], counted[j])
                             for j, D in enumerate((16, 32, 64))}
angles = turned[:, :, :, :2, 0].max(axis=(1, 2, 3))
shares["D.7 largest angle"] = {"": share_below(angles, float(printed("D7-angle")[1:]))}

# %% mystnb={"figure": {"caption": "For each printed number of Tables D.3, D.6 and D.7 that depends on random draws: the share of our own draws below it, one row for each column of a table. Grey: the middle 95 %.", "name": "fig-differs-draws"}, "image": {"alt": "Eight rows of open dots between 0 and 1, one dot for each printed number. They spread over the whole range. The slopes of Table D.3 and the maxima of A and B lie in the right half; one maximum of same side is at the right edge of the grey band."}}
fig, ax = figures.panels(width=6.4, height=3.0)
ax.axvspan(0.025, 0.975, color="#e4e4e4", linewidth=0)
for k, row in enumerate(shares.values()):
    ax.plot(list(row.values()), len(row) * [-k], "o", color=figures.BLUE, fillstyle="none")
ax.set_yticks(-np.arange(len(shares)), shares)
ax.set_xlim(-0.02, 1.02)
ax.set_xlabel("share of our draws below the printed number")
plt.show()

# %%
flat = [x for row in shares.values() for x in row.values()]
for name, row in shares.items():
    print(f"{name:20}" + "   ".join(f"{k} {x:.2f}" for k, x in row.items()))
print(f"outside the middle 95 %: {sum(not 0.025 <= x <= 0.975 for x in flat)} of {len(flat)}")

# %% [markdown]
# Numbers of one table share their seeds, so they are not independent, and no test is made of them.
# But definitions that were badly wrong would show here, as the largest component for (12) would.
#
# ## Perturbed starts, Table D.4 and theorem C.4
#
# The law of *near duplicates* of size $\epsilon$ is lost; ours moves every coefficient, angle and
# imbalance by independent uniform amounts. And the constants of theorem C.4 are not printed: we
# chose $\nu=1.6$, $a=\frac14$, $A=4$, $r_\star=0.10$, with $T_\star$ the limit's entry into half
# that window. Other laws, and other constants, at $m=8$:

# %%
def near(law, eps, seed, m=8, D=32.0):
    """Near duplicates by four laws: what is moved, and how the numbers are drawn."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((3, m)) if law == "normal" else rng.uniform(-1, 1, (3, m))
    if law == "at the edge":
        x = np.sign(x)
    if law == "directions only":
        x[[0, 2]] = 0
    return near_duplicates(m, D, PHI, *(eps * x))


tau = np.linspace(0, 50, 101)
print("m = 8, D = 32, ten seeds: selected at τ = 50      ε = 0.01   0.03   0.05   0.1")
selected = {}
for law in ("uniform (ours)", "normal", "at the edge", "directions only"):
    for eps in (0.01, 0.03, 0.05, 0.1):
        ends = [solve(flows.population(near(law, eps, n)), tau, 1e-8, 1e-10) for n in range(10)]
        selected[law, eps] = sum(captured(run, redundant="L2")[-1] for run in ends)
    print(f"{law:50}" + "".join(f"{selected[law, eps]:7d}" for eps in (0.01, 0.03, 0.05, 0.1)))
print("the paper: every seed, up to ε = 0.05")

# %%
def entry(m, r):
    """T⋆: when the limiting flow enters the window of radius r."""
    def outside(y):
        return max(1 - r - y[0], abs(y[2]) - r, y[1] / 2**0.5 - r)

    return crossing(flows.limit(duplicates(m, 1, PHI)), np.linspace(0, 200, 401), outside).tau


def pushed(size, m, D):
    """Eight starts of Δ₀ = size: the designated or all other students pushed one way, or fanned."""
    one = np.eye(m)[0]
    fan, turn = np.append(0, np.linspace(-1, 1, m - 1)), 2 * np.arcsin(min(size / 2, 1))
    moves = [(-one, 0, 0), (one - 1, 0, 0), (0, one, 0), (0, one - 1, 0), (0, fan, 0),
             (0, 0, 1 - 2 * one), (0, 0, 2 * one - 1), (1 - one, 0, 0)]
    return [near_duplicates(m, D, PHI, size * dq, turn * turned, size * stretch)
            for dq, turned, stretch in moves]


# %%
print("m = 8: designated student in its window by T⋆, of 8 kinds of perturbation")
print("                  Δ₀ = a m^-1.6:   a = 1/4     1/2     1      2      4")
constants = {}
for A in (2, 4, 8):
    for r in (0.05, 0.1, 0.2):
        D, T = A * 8**0.8, entry(8, r / 2)
        for a in (0.25, 0.5, 1, 2, 4):
            ends = [solve(flows.population(p), [0, T], 1e-8, 1e-10)
                    for p in pushed(a * 8**-1.6, 8, D)]
            constants[A, r, a] = sum(
                bool(run.q[-1, 0] >= 1 - r and run.angle(0)[-1] <= r
                     and redundant_norm(run)[-1] <= r) for run in ends)
        print(f"A = {A} (D = {D:4.1f}), r⋆ = {r:4.2f}" + " " * 9
              + "".join(f"{constants[A, r, a]:7d}" for a in (0.25, 0.5, 1, 2, 4)))

# %% [markdown]
# At the printed sizes, up to $\epsilon=0.05$, every law gives the printed counts; at twice the
# largest they part. The constants of theorem C.4 have room: four times our $a$ passes with every
# $A$ and every window. That our constants work says little about the paper's.
#
# ## Tolerances and thresholds
#
# Where the paper prints a digit that we cannot expect to meet, a tolerance says how near is near
# enough. These are all rows that pass only by their tolerance:

# %%
reasons = {}
for _, row in paper:
    if row.verdict == "within":
        reason = claims.lookup(row.id).tol_reason
        reasons.setdefault(reason, []).append(f"{row.id} {row.printed} ~ {row.measured}")
for reason, rows in reasons.items():
    print(fill(f"{reason}:", 98))
    print(fill(";  ".join(rows), 98, initial_indent="    ", subsequent_indent="    "))

# %% [markdown]
# A bound at rounding level is printed for one machine, and ours has a slack of 100 for that reason
# alone. Claims without a printed number, "of order $D^{-2}$" or "stays near", need a threshold of
# our own; each stands in its chapter, beside the measurement. Not all of these were fixed before
# the first run: those of chapters 1 to 6, and the 5 % of Table D.4 above, were written down when
# first results were known. None was moved afterwards to change the verdict of a claim of the
# paper, except that D3-law and D3-weight were judged anew after a review: more strictly, but the
# range of $N$ for D3-law was chosen with its result in view, and on the sizes of Table D.3 the
# verdict would hang on the last digit ({numref}`chapter-finite-samples`). Of our own findings,
# some criteria were argued anew after a first look, each time for the reason that its chapter
# gives: the band of B11-drift, when trial runs had left a flat 10 %; several round tolerances of
# {numref}`chapter-pytorch`; in {numref}`chapter-assignments` the tolerance of B13-fusion, the
# criterion of B13-fused and the $D$ of B13-new. Which passes were narrow?

# %%
for claim_id in "AB6-rho D2-text-stable D3-m4-slope D6-16-same-count".split():
    row, claim = stored[claim_id][1], claims.lookup(claim_id)
    limit = f" (printed {row.printed}, ±{claim.tol:g})" if claim.tol else ""
    print(fill(f"{claim_id}: {row.verdict}: {row.measured}{limit}", 98))
weak = [row for _, row in stored.values() if row.weak]
print("\nweak rows, whose null passes too:")
for row in weak:
    print(fill(f"{row.id}: {row.measured}; null: {claims.lookup(row.id).null}", 98))

# %% [markdown]
# ## Figures without printed numbers
#
# Ranges of parameters in figures are often not printed, and then no digit depends on them:
#
# - {numref}`chapter-one-student`: the two starts of the trajectories of figure 2, the $D$ and the
#   times of figure D.1(a), and the sense in which a curve "stays near" a value (one per cent);
# - {numref}`chapter-identical-neurons`: which $D$ is large, where the paper says "for $D\ge D_0$";
# - {numref}`chapter-early-advantage`: the compact interval of angles, $[\pi/6,\pi/3]$, and the
#   radii of the barrier argument;
# - {numref}`chapter-gradient-descent`: the outer window $\mathcal V_{\rm mid}$ has twice the
#   margins of (D.4); $a=1$ and $\nu=\frac32$ in the bound on the step;
# - {numref}`chapter-two-teachers`: the solver's tolerances for all 180 runs are those that D.6
#   states for its tighter ones.
#
# ## Words without a number: weight decay
#
# {cite:t}`xu2026decay` show one run and describe it: the residual *stays small* against its
# reference, the kernel decays *early* as $e^{-2\lambda\tau}$, the function *approaches* the target,
# neurons *condense*. Each word needs a cut-off to be tested. Ours stand in their chapters, and
# where
# one of them fails although another would pass, the row is open. Here are the others, on five
# seeds of the main experiment, recorded every 100 epochs; *after fitting* is after the least data
# loss.

# %%
DATA_4, LAM, LAST = cond.four_points(), 1e-3, 80_000
KEPT = np.unique(np.append(np.arange(0, LAST + 1, 100), 447))
LINE = np.linspace(-1, 1, 2001)


def readings(seed):
    """|e − e_qs|/|e_qs| and the kernel's eigenvalues at the records after fitting; distances."""
    start = cond.initial(seed, 200, 0.4)
    run = cond.descend(DATA_4, start, eta=0.1, lam=LAM, steps=LAST, keep=KEPT)
    mismatch, spectrum = [], []
    for z in run.networks[run.epochs > run.loss.argmin()]:
        K = cond.tangent_kernel(z, DATA_4.x)
        e, qs = cond.outputs(z, DATA_4.x) - DATA_4.y, cond.quasi_static(K, DATA_4.y, LAM)
        mismatch.append(np.linalg.norm(e - qs) / np.linalg.norm(qs))
        spectrum.append(np.linalg.eigvalsh(K))
    gaps = [np.abs(cond.outputs(run.at(k), LINE) - cond.two_kinks(LINE))
            for k in (447, 16_000, LAST)]
    return np.array(mismatch), np.array(spectrum), gaps, run.at(LAST)


read = Parallel()(delayed(readings)(seed) for seed in range(5))

# %%
print("small: share of the records after fitting above a limit, largest of five seeds")
print("   " + ", ".join(f"{max(np.mean(m > limit) for m, *_ in read):.2%} above {limit:g}"
                      for limit in (0.02, 0.05, 0.1, 0.15)))


def left_at(spectrum, which, limit):
    """Epochs after the first record until an eigenvalue is off e^(−2λτ) by the limit."""
    passed = 100 * np.arange(len(spectrum))
    ratio = spectrum[:, which] / spectrum[0, which] * np.exp(2 * LAM * 0.1 * passed)[:, None]
    return int(passed[np.abs(ratio - 1).max(axis=1) > limit].min())


print("early: epochs until the law is left, five seeds")
early = {(name, limit): [left_at(spectrum, which, limit) for _, spectrum, *_ in read]
         for name, which in (("two large eigenvalues", [2, 3]), ("all four", [0, 1, 2, 3]))
         for limit in (0.1, 0.2)}
for (name, limit), epochs in early.items():
    print(f"   {name}, {limit:.0%}: " + ", ".join(map(str, epochs)))

# %%
nearer = {}
for name, norm in {"mean square": lambda gap: np.mean(gap**2), "mean distance": np.mean,
                   "largest distance": np.max}.items():
    first, middle, last = np.array([[norm(gap) for gap in gaps] for _, _, gaps, _ in read]).T
    nearer[name] = int((middle < first).sum()), int((last < np.minimum(first, middle)).sum())
    print(f"approaches, {name}: nearer at 16 000 than at 447 in {nearer[name][0]} of {len(read)} "
          f"seeds, nearest at the end in {nearer[name][1]}")
atoms, top = cond.minimiser(DATA_4, LAM).theta, np.array([np.pi / 2])
shares = {}
for limit in (1, 2, 5):
    for sign, places in ((1, atoms), (-1, top)):
        near = []
        for *_, z in read:
            a, _, theta = cond.polar(z)
            mine = cond.features(theta, DATA_4.x).any(axis=1) & (np.sign(a) == sign)
            off = np.abs(np.angle(np.exp(1j * (theta[mine, None] - places)))).min(axis=1)
            near.append(np.mean(np.degrees(off) < limit))
        shares[limit, sign] = min(near)
print("condense: near the exact limit's extrema at epoch 80 000, least share of five seeds")
for limit in (1, 2, 5):
    print(f"   within {limit}°: {shares[limit, 1]:.2f} of the positive, {shares[limit, -1]:.2f} of "
          "the negative")

# %% [markdown]
# *Small* holds with any limit that allows rare bursts. *Early* has one answer for the norm of the
# kernel, which is that of its largest eigenvalue, and another for its small eigenvalues. No
# reading that we tried makes the function approach the target in the middle of the training in all
# seeds, and every one does at the end: that row differs whatever the distance. And neurons condense
# by five degrees, or later. What a *group* is matters where one straggler is left
# ({numref}`chapter-condensation`, {numref}`chapter-starts-targets`).
#
# Three more things are not printed, and our choices stand where they are made: the order in which
# the weights are drawn (all of $a$ first, {numref}`chapter-rapid-fitting`), the inputs of the three
# targets of figure 7, to which the number of condensed directions is not very sensitive and their
# places are ({numref}`chapter-starts-targets`), and for the transformer the size of the training
# set and details of the network ({numref}`chapter-transformer`).
#
# ## All choices at a glance

# %% tags=["hide-input"]
n5, other5 = agree5["L2"], agree5["P"]
found, window = (sum(agree[0.1, w][:2]) for w in ("P", "L2"))
half_grid = sum(agree[0.05, "P"][:2])
spread_same = [int(x) for x in (won[:, 0, 1].min(), won[:, 0, 1].max())]

# %% tags=["hide-input"]
rows = [
    ("Table D.2, selected when", "P < 0.10", f"(D.4): {window} of 10 exponents, ours {found}"),
    ("Table D.2, records", "every 0.1", f"every 0.05: {half_grid} of 10 exponents"),
    ("Table D.2, limit error", "largest component", f"Euclidean: {euclid} of 5, ours "
     f"{agree[0.1, 'P'][2]}"),
    ("Table D.5, selected when", "(D.4)", f"P < 0.10: {other5} of 6 numbers, ours {n5}"),
    ("Table D.4, linear", "error/h within 5 %", "from τ = 2 on: "
     f"{on_line['all students, τ ≥ 2'][2]} of 5 steps, ours {on_line[READINGS[0]][2]}"),
    ("(12), error on samples", "root mean square", "largest component: "
     f"{inside_D3['largest component', 512, 8192]} of 12 numbers, ours "
     f"{inside_D3['RMS (ours)', 512, 8192]}"),
    ("Table D.3, sample sizes", "512 to 8192", "32 to 8192: "
     f"{inside_D3['RMS (ours)', 32, 8192]} of 12 numbers"),
]

# %% tags=["hide-input"]
rows += [
    ("(D.5), order of the owners", "either way", f"ordered: {won[0, 0, 0]} of 20 at D = 32, ours "
     f"{won[0, 0, 1]}, printed {printed('D6-32-same-count')}"),
    ("Section 4.3, starts", "angles 0.3, 0.5, 0.6", "five other laws: same side "
     f"{spread_same[0]} to {spread_same[1]} of 20, B {won[:, 2, 0].min()} to 20"),
    ("Table D.4, near duplicates", "uniform", "three other laws: "
     f"{min(selected[x, e] for x, e in selected if e <= 0.05)} to 10 of 10 up to ε = 0.05"),
    ("Theorem C.4, constants", "A = 4, a = 1/4, r⋆ = 0.10",
     f"{sum(a <= 1 for _, _, a in constants)} with a ≤ 1: "
     f"{min(n for (A, r, a), n in constants.items() if a <= 1)} to 8 of 8 starts"),
]

# %% tags=["hide-input"]
def told(claim_id):
    return stored[claim_id][1].measured


def least(name):
    return min(early[name, 0.1])


burst = max(np.mean(m > 0.15) for m, *_ in read)
crowded = re.search(r"\d+ of \d+(?= at λ = 0.001\b)", told("B21-inputs"))
rows += [
    ("Decay paper, figure 2, draw", "seed 0", told("W-F2-least")),
    ("Decay paper, figure 3(b), small", "below 0.1",
     f"below 0.15: exceeded by {burst:.2%} of the records"),
    ("Decay paper, section E, early", "to one half, all four",
     f"two large: {least('two large eigenvalues')}, "
     f"all four: {least('all four')} epochs"),
    ("Decay paper, figure 4, condensed", "within 1°",
     f"within 5°: {shares[5, 1]:.2f} of positive, "
     f"{shares[5, -1]:.2f} of negative"),
    ("Decay paper, figure 7, inputs", "9 equidistant",
     f"7 to 13, more atoms than directions: {crowded[0]}"),
    ("Decay paper, figure 1, size", "reduced",
     told("W-F1-heldout").split(",")[0]),
]

# %% tags=["hide-input"]
lines = [interactive.row([escape(text) for text in row]) for row in rows]
headings = ("not fixed by the text", "our choice", "what another choice gives")
display(HTML(interactive.table(headings, lines, "All choices")))

# %% [markdown]
# In one sentence: the windows, the grid and the norms decide digits; the laws of the starts decide
# counts and extremes; and no choice made here changes who owns the features in A and B, or who is
# selected among duplicates and near duplicates of the printed sizes. In same side, and for larger
# perturbations, they do.
#
# ## Exercises
#
# **1.** Records every $0.2$ give one of the five printed exponents of $t_{\rm cap}$, and records
# every $0.05$ none, although the latter are nearer to the flow. Why is this no contradiction?
#
# ```{dropdown} Solution of 1
# The printed digits contain the lateness of the records, between 0 and one spacing for each $D$.
# Only the same grid repeats the same lateness. A coarser grid that contains the same entry records
# can repeat it by chance (for one $m$ all five late entries fell on even multiples of $0.1$); a
# finer one moves towards the exponent without a grid, which is not the printed one.
# ```
#
# **2.** Give a reading of the error in Table D.4 for which the claim of linearity holds to $2\,\%$
# at all five steps, and say what a reader would lose by it.
#
# ```{dropdown} Solution of 2
# Any that leaves out the first two units of fast time, for instance the largest error from
# $\tau=2$ on. It loses the part in which the redundant coefficients fall, where the largest error
# of every one of the five steps is found.
# ```
#
# **3.** Write a law of starts for which same side never fails at $D=32$, seeds 0 to 19.
#
# ````{dropdown} Solution of 3
# Redundant students near $u_2$ are the ones that keep the second feature. Move them away:
#
# ```python
# law = {"off": (0.3, 0.5, 0.8, 0.8, 0.9, 0.9, 0.9, 0.9)}
# print(sum(judged(law, seed, (0, 1))[1] for seed in range(20)))
# ```
# ````
