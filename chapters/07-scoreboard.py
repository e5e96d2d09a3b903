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
# (chapter-scoreboard)=
# # Scoreboard
#
# Every claim of the two papers that can be tested, what is printed, what was measured, and a
# verdict. After this page you know which parts of {cite:t}`wang2026gauge` (chapters 01 to 16) and
# of {cite:t}`xu2026decay` (from 17 on) this book confirms, to how many digits, and where it
# disagrees. It runs for a few seconds: nothing is measured here, the rows are those stored in the
# chapters.
#
# ## How verdicts are given
#
# A claim is entered in a ledger, `gaugelib/papers/*.toml`, from the paper's text, with the
# printed number as a string, because its digits matter. A chapter measures it and hands the
# result to `claims.compare`, which alone gives the verdict:

# %%
from html import escape
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from IPython.display import HTML, display
from myst_nb import glue

from gaugelib import claims, figures, interactive

VERDICTS = {**claims.VERDICTS, "missing": "measured by no stored chapter"}
for verdict, meaning in VERDICTS.items():
    print(f"{verdict:8} {meaning}")

# %% [markdown]
# - A tolerance stands in the ledger with its reason (rounding, a record grid, the spread of
#   seeds). `within` always shows it.
# - A **null** is the value that anyone would guess, or a case in which the statement should fail.
#   A claim that passes although its null passes too is marked *weak*: it says little.
# - `differs` and `open` need an explanation, which is shown with the row.
# - A claim for which no chapter has stored a row is `missing`.
#
# ## Counts

# %%
TITLES = {
    "01": "The gauge", "02": "Kernel", "03": "One student", "04": "Identical neurons",
    "05": "Early advantage", "06": "Scaling laws", "08": "Perturbed neurons",
    "09": "Gradient descent", "10": "Finite samples", "11": "PyTorch", "12": "Two teachers",
    "13": "Assignments", "14": "Deeper networks", "15": "How large must D be?",
    "16": "Proof by computer", "17": "Rapid fitting", "18": "The exact limit",
    "19": "Compression", "20": "Condensation", "21": "Starts and targets",
    "22": "A transformer", "23": "The gauge is forgotten",
}
home = {row.id: (stem, row) for stem, row in claims.collect(sorted(Path().glob("*.ipynb")))}
paper = [claim for claim in claims.load().values() if claim.paper != "beyond"]
own = [claim for claim in claims.load().values() if claim.paper == "beyond"]


def verdict_of(claim):
    return home[claim.id][1].verdict if claim.id in home else "missing"


chapters = sorted({claim.chapter for claim in paper})
counts = np.array([
    [sum(c.chapter == chapter and verdict_of(c) == v for c in paper) for v in VERDICTS]
    for chapter in chapters
])
passing = sum(verdict_of(claim) in claims.PASSING for claim in paper)
weak = sum(row.weak for _, row in home.values())

# %% tags=["hide-input"]
reported = sum(verdict_of(claim) != "missing" for claim in paper)
own_passing = sum(verdict_of(claim) in claims.PASSING for claim in own)
for name, number in {
    "claims-all": len(paper), "claims-reported": reported, "claims-passing": passing,
    "claims-weak": weak, "claims-own": len(own), "claims-own-passing": own_passing,
}.items():
    glue(name, str(number), display=False)

# %% [markdown]
# The ledger holds {glue:text}`claims-all` claims of the papers. The stored chapters report
# {glue:text}`claims-reported` of them, and {glue:text}`claims-passing` pass. Of all rows,
# {glue:text}`claims-weak` are weak. Findings of this book's own, which no paper prints, are kept
# apart: {glue:text}`claims-own` entered, {glue:text}`claims-own-passing` of them pass.

# %% tags=["hide-input"] mystnb={"figure": {"caption": "Claims of the papers by chapter and verdict.", "name": "fig-scoreboard"}, "image": {"alt": "Stacked horizontal bars, one for each chapter, divided by verdict. The same numbers are printed in the table below the figure."}}
fig, ax = figures.panels(height=0.28 * len(chapters) + 1.2)
left = np.zeros(len(chapters))
fills = (figures.BLUE, figures.SKY, figures.GREEN, figures.ORANGE, figures.PINK, "white")
for k, (verdict, colour) in enumerate(zip(VERDICTS, fills, strict=True)):
    ax.barh(range(len(chapters)), counts[:, k], left=left, color=colour, label=verdict,
            edgecolor=figures.BLACK, linewidth=0.7, hatch=("", "//", "..", "xx", "++", "")[k])
    left += counts[:, k]
ax.set_yticks(range(len(chapters)), [f"{c} {TITLES[c]}" for c in chapters])
ax.invert_yaxis()
ax.grid(axis="y", visible=False)
ax.set_xlim(0, 1.05 * left.max())
ax.set_xlabel("number of claims")
ax.legend(ncols=6, loc="lower center", bbox_to_anchor=(0.4, 1.0), columnspacing=1.2)
plt.show()

# %% tags=["hide-input"]
print(f"{'chapter':22}" + "".join(f"{verdict:>9}" for verdict in VERDICTS) + f"{'all':>7}")
for chapter, line in zip(chapters, counts, strict=True):
    print(f"{chapter + ' ' + TITLES[chapter]:22}" + "".join(f"{n:9d}" for n in line)
          + f"{line.sum():7d}")
print(f"{'all':22}" + "".join(f"{n:9d}" for n in counts.sum(axis=0)) + f"{counts.sum():7d}")

# %% [markdown]
# ## Every claim
#
# Choose a chapter, a verdict, what became of the null, or type a part of the text or of a claim's
# id in the ledger. The link in the last column leads to the row in its chapter, below the code
# that measured it.


# %% tags=["hide-input"]
def null_word(row):
    return {None: "no null", False: "null fails", True: "null passes"}[row.null_passes]


def line(claim):
    """One line of the table: from a stored row, or missing."""
    owed = f"{claim.chapter} {TITLES[claim.chapter]}"
    missing = claims.Row(claim.id, claim.where, claim.printed, "", "missing", None)
    stem, row = home.get(claim.id, ("", missing))
    link = f'<a href="{stem}.html#claim-{claim.id}">chapter {claim.chapter}</a>'
    cells = (
        f"{escape(claim.source)}: {escape(claim.statement)}{claims.remarks(row)}",
        claims.badge(row), escape(row.printed) or "&ndash;", escape(row.measured) or "&ndash;",
        link if stem else f"owed by chapter {claim.chapter}",
    )
    source = claims.PAPERS[claim.paper]
    words = (owed, row.verdict, null_word(row) if stem else "not yet judged", source)
    return interactive.Line(cells, words, claim.id)


# %% tags=["hide-input"]
in_order = sorted(paper + own, key=lambda claim: claim.chapter)
lines = [line(claim) for claim in in_order]
display(HTML(interactive.filter_table(
    "all-claims", ("claim", "verdict", "printed", "measured", "chapter"), lines,
    ("Chapter", "Verdict", "Null", "Claim of"), label="Every claim of the ledger", unit="claims",
)))
