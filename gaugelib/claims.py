"""The ledger: what a paper prints beside what was measured, and a verdict.

``papers/<paper>.toml`` holds one entry a claim, with what is printed as a string because its
digits matter.  A chapter ends with one call,

    claims.report([claims.compare("D2-m8-tcap", slope), ...])

whose output carries the rows in a MIME type of their own, so that the stored notebook *is* the
record and the scoreboard only collects it.
"""

import html
import json
import re
import tomllib
from dataclasses import asdict, dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np

from gaugelib import interactive
from gaugelib.checks import finite

MIME = "application/vnd.gaugelib.claims+json"
KINDS = ("number", "bound", "count", "property")
VERDICTS = {
    "digits": "every printed digit",
    "within": "within the tolerance that the ledger states",
    "holds": "the bound or property holds",
    "differs": "differs, explained",
    "open": "cannot be decided from what is printed",
}
PASSING = ("digits", "within", "holds")
PAPERS = {  # how a reader is told whose claim it is; another file shows by its own name
    "gauge": "Gauge paper",
    "condensation": "Weight-decay paper",
    "beyond": "This book",
}
ROUNDING = 1e-9  # measured values below it depend on the machine and are not shown
PRINTED = {
    "number": re.compile(r"-?\d+(\.\d+)?(e-?\d+)?"),
    "count": re.compile(r"\d+/\d+"),
    "bound": re.compile(r"([<>≤≥] ?-?\d+(\.\d+)?(e-?\d+)?)?"),
}
COMPARISONS = {
    ">": lambda value, limit: value > limit,
    "<": lambda value, limit: value < limit,
    "≥": lambda value, limit: value >= limit,
    "≤": lambda value, limit: value <= limit,
}


@dataclass(frozen=True)
class Claim:
    """One testable statement of a paper.

    Attributes
    ----------
    id : unique over all papers; where : "Table D.5, h=0.2"; statement : our words
    kind : "number", "bound" (printed "> 0.9999", or an inequality that the chapter evaluates),
        "count" (printed "15/20"), "property" (true or false)
    printed : what the paper prints ("-1.0019", "1.9029e-3"), "" for an inequality or property
    tol, tol_reason : the distance that still counts, argued before the run; for counts the
        distance of the numerators; for printed bounds the slack (a bound at rounding level,
        which depends on the machine, needs one)
    null : the value anyone would guess (a number or count, judged like our measurement), or
        the case in which the statement should fail (judged by the chapter); "" where none
        makes sense
    chapter : the chapter that owes it ("06"); paper : the file's name, "beyond" for findings of
        our own, which have no printed value
    """

    id: str
    where: str
    statement: str
    kind: str
    chapter: str
    paper: str
    printed: str = ""
    tol: float | None = None
    tol_reason: str = ""
    null: str = ""

    def __post_init__(self):
        faults = {
            f"kind must be one of {KINDS}, got {self.kind!r}": self.kind not in KINDS,
            "id must be of letters, digits and ._+-": not re.fullmatch(r"[\w.+-]+", self.id, re.A),
            f"chapter must be two digits, got {self.chapter!r}": not re.fullmatch(
                r"\d\d", self.chapter
            ),
            "where and statement must not be empty": not (self.where and self.statement),
            "tol and tol_reason must come together": (self.tol is None) != (not self.tol_reason),
            f"printed must not be {self.printed!r} for kind {self.kind}": not self._prints_well(),
            f"printed must be empty for a finding of our own, got {self.printed!r}": (
                self.paper == "beyond" and self.printed
            ),
        }
        for fault in (fault for fault, present in faults.items() if present):
            raise ValueError(f"{fault}; in claim {self.id!r} of {self.paper}")

    def _prints_well(self):
        if self.paper == "beyond":
            return True
        return self.kind not in PRINTED or PRINTED[self.kind].fullmatch(self.printed) is not None

    @property
    def source(self):
        """Whose claim it is, and where: "Gauge paper, Table D.5" or "This book, on figure 1"."""
        whose = PAPERS.get(self.paper, self.paper)
        return f"{whose}, on {self.where}" if self.paper == "beyond" else f"{whose}, {self.where}"

    @property
    def decided_by_print(self):
        """Whether a measurement can be judged by ``printed`` alone."""
        return bool(self.printed) and self.kind in PRINTED


@dataclass(frozen=True)
class Row:
    """One line of the ledger; ``null_passes`` is None where nothing was compared with a null."""

    id: str
    where: str
    printed: str
    measured: str
    verdict: str
    null_passes: bool | None
    note: str = ""

    @property
    def weak(self):
        """The claim passes, but so does its null: passing says little."""
        return self.verdict in PASSING and self.null_passes is True


@cache
def load():
    """All claims of all papers by id, in the order of the files."""
    papers = files("gaugelib").joinpath("papers").iterdir()
    return read(sorted((p for p in papers if p.name.endswith(".toml")), key=lambda p: p.name))


def read(paths):
    """The claims of ledger files by id; raises on a repeated id or an unknown field."""
    claims = {}
    for path in paths:
        for entry in tomllib.loads(path.read_text(encoding="utf-8")).get("claim", []):
            try:
                claim = Claim(paper=path.name.removesuffix(".toml"), **entry)
            except TypeError as error:
                raise ValueError(f"{error}; in claim {entry.get('id')!r} of {path.name}") from None
            if claim.id in claims:
                raise ValueError(f"claim ids must be unique, {claim.id!r} appears twice")
            claims[claim.id] = claim
    return claims


def lookup(claim_id):
    """The claim with this id; an unknown id raises."""
    if claim_id not in load():
        raise ValueError(f"id must be a claim in gaugelib/papers, got {claim_id!r}")
    return load()[claim_id]


def compare(claim_id, measured, *, holds=None, null_holds=None, verdict=None, note=""):
    """The ledger row of one claim.

    Parameters
    ----------
    measured : number for kind "number" and for printed bounds ("> 0.9999"); "k/n" for counts;
        otherwise a short string with the numbers that decide ("0.31 <= 0.52 <= 1.07")
    holds : for properties and inequalities without a printed number, whether it holds
    null_holds : whether it also holds in the claim's null case; required if the claim has a
        null that is not itself a number or count
    verdict : only "open", for what the printed text cannot decide
    note : our explanation; required for "differs" and "open"
    """
    claim = lookup(claim_id)
    if verdict not in (None, "open"):
        raise ValueError(f"verdict must be None or 'open', got {verdict!r}")
    if verdict == "open":
        shown = measured if isinstance(measured, str) else f"{_number(claim, measured):.4g}"
        judged, null = "open", None
    else:
        judged, shown = _judge(claim, measured, holds)
        null = _null_passes(claim, judged, null_holds)
    if judged in ("differs", "open") and not note:
        raise ValueError(f"note must explain the verdict {judged!r} of {claim_id}: {shown}")
    return Row(claim.id, claim.where, claim.printed, shown, judged, null, note)


def _judge(claim, measured, holds):
    """(verdict, measured as shown) of a measurement."""
    if claim.decided_by_print:
        if holds is not None:
            raise ValueError(f"holds is decided by what is printed for {claim.id}, got {holds!r}")
        return _verdict(claim, measured), _shown(claim, measured)
    if not isinstance(measured, str):
        raise ValueError(f"measured must be a string for {claim.id}, got {measured!r}")
    return ("holds" if _truth(f"holds of {claim.id}", holds) else "differs"), measured


def _truth(name, value):
    if value is None or value not in (True, False):
        raise ValueError(f"{name} must be true or false, got {value!r}")
    return bool(value)


def _verdict(claim, measured):
    """The verdict on a number or count by what is printed."""
    if claim.kind == "count":
        return _count_verdict(claim, measured)
    value = _number(claim, measured)
    if claim.kind == "bound":
        return _bound_verdict(claim, value)
    if rounded_like(value, claim.printed) == claim.printed:
        return "digits"
    near = claim.tol is not None and abs(value - float(claim.printed)) <= claim.tol
    return "within" if near else "differs"


def _number(claim, measured):
    value = np.asarray(measured)
    if value.ndim or value.dtype.kind not in "fiu" or not np.isfinite(value):
        raise ValueError(f"measured must be a finite number for {claim.id}, got {measured!r}")
    return float(value)


def _count_verdict(claim, measured):
    if not isinstance(measured, str) or not PRINTED["count"].fullmatch(measured):
        raise ValueError(f"measured must be like '15/20' for {claim.id}, got {measured!r}")
    (k, n), (printed_k, printed_n) = (map(int, x.split("/")) for x in (measured, claim.printed))
    if k > n:
        raise ValueError(f"measured must not count more than all for {claim.id}, got {measured!r}")
    if measured == claim.printed:
        return "digits"
    near = claim.tol is not None and n == printed_n and abs(k - printed_k) <= claim.tol
    return "within" if near else "differs"


def _bound(claim):
    """(sign, limit with the slack)."""
    sign, limit = claim.printed[0], float(claim.printed[1:])
    return sign, limit + (claim.tol or 0) * (1 if sign in "<≤" else -1)


def _bound_verdict(claim, value):
    """With a slack the verdict is "within" wherever inside of it the value lies."""
    sign, limit = _bound(claim)
    if not COMPARISONS[sign](value, limit):
        return "differs"
    return "holds" if claim.tol is None else "within"


def _shown(claim, measured):
    if claim.kind == "count":
        return measured
    value = float(measured)
    if claim.kind == "number":
        return rounded_like(value, claim.printed)
    sign, limit = _bound(claim)
    if claim.tol is not None and abs(limit) < ROUNDING and COMPARISONS[sign](value, limit):
        return f"{claim.printed} + {claim.tol:.2g}"
    return "> 0.999999" if 0.9999995 <= value < 1 else f"{value:.6g}"


def rounded_like(value, printed):
    """``value`` rounded to the digits of ``printed`` and written like it ("1.9029e-3").

    Rounds the exact binary value, a tie to the even digit, as Python's own formatting does.
    """
    mantissa, _, exponent = printed.partition("e")
    places = -Decimal(mantissa).as_tuple().exponent
    digits = f"{Decimal(float(finite('value', value))).scaleb(-int(exponent or 0)):.{places}f}"
    if float(digits) == 0:
        digits = digits.removeprefix("-")
    return digits + (f"e{exponent}" if exponent else "")


def _null_passes(claim, judged, null_holds):
    """Whether the null does at least as well as our measurement."""
    decided = claim.decided_by_print and PRINTED["number"].fullmatch(claim.null)
    if claim.kind == "count":
        decided = decided or PRINTED["count"].fullmatch(claim.null)
    if not claim.null or decided:
        if null_holds is not None:
            why = "is judged by its value" if claim.null else "does not exist"
            raise ValueError(f"null_holds of {claim.id}: its null {why}, got {null_holds!r}")
        if not claim.null:
            return None
        null = _verdict(claim, claim.null if claim.kind == "count" else float(claim.null))
        return null == "digits" if judged == "digits" else null in PASSING
    if null_holds is None:
        raise ValueError(f"null_holds must be given for {claim.id}: {claim.null}")
    return _truth(f"null_holds of {claim.id}", null_holds)


def report(rows):
    """Show the rows as a table and store them in the notebook for :func:`collect`."""
    from IPython.display import display

    ids = [row.id for row in rows]
    if not ids or len(set(ids)) < len(ids):
        raise ValueError(f"a chapter must report claims, each once, got {ids}")
    data = {
        "text/plain": _plain(rows),
        "text/html": _html(rows),
        MIME: [asdict(row) for row in rows],
    }
    display(data, raw=True)


def _plain(rows):
    width = max(len(row.id) for row in rows)
    lines = [
        f"{row.id:{width}}  {row.verdict:7}  {row.printed or '-'} | {row.measured}"
        + ("  [weak]" if row.weak else "")
        for row in rows
    ]
    return "\n".join(lines)


def _html(rows):
    lines = [
        interactive.row(
            (
                f"{html.escape(lookup(row.id).source)}: "
                f"{html.escape(lookup(row.id).statement)}{remarks(row)}",
                badge(row),
                html.escape(row.printed) or "&ndash;",
                html.escape(row.measured),
            ),
            f'id="claim-{row.id}"',
        )
        for row in rows
    ]
    headings = ("claim", "verdict", "printed", "measured")
    return interactive.table(headings, lines, "Claims of this chapter")


def badge(row):
    """The verdict as HTML, with a mark if the claim is weak."""
    weak = ' <span class="verdict-weak">weak</span>' if row.weak else ""
    return f'<span class="verdict verdict-{row.verdict}">{row.verdict}</span>{weak}'


def remarks(row):
    """Tolerance, null and note of a row as small print in HTML; "" if there is nothing to say."""
    claim, texts = lookup(row.id), []
    if row.verdict == "within":
        texts.append(f"Tolerance {claim.tol:g}: {claim.tol_reason}.")
    if row.null_passes is not None:
        texts.append(f"Null ({claim.null}): {'passes' if row.null_passes else 'fails'}.")
    texts += [row.note] if row.note else []
    return "".join(f'<br><small class="claim-note">{html.escape(text)}</small>' for text in texts)


def collect(notebooks):
    """Ledger rows of stored notebooks, as (notebook stem, Row) pairs in order.

    Raises on an unknown id, on a claim reported twice, and on a row whose chapter does not owe
    it.  What no notebook reports is missing: ``set(load()) - {row.id ...}``.
    """
    found = {}
    for path in map(Path, notebooks):
        for row in stored_rows(path):
            claim = lookup(row.id)
            if row.id in found:
                raise ValueError(f"claim {row.id} is reported twice, again in {path.name}")
            if not path.name.startswith(f"{claim.chapter}-"):
                raise ValueError(f"claim {row.id} is owed by {claim.chapter}, not by {path.name}")
            found[row.id] = (path.stem, row)
    return list(found.values())


def stored_rows(notebook):
    """The rows that a stored notebook reports, as they stand, in order."""
    for cell in json.loads(Path(notebook).read_text(encoding="utf-8"))["cells"]:
        for output in cell.get("outputs", []):
            yield from (Row(**entry) for entry in output.get("data", {}).get(MIME, []))
