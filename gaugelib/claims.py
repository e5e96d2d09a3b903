"""The ledger: what a paper prints beside what was measured, and a verdict.

``papers/<paper>.toml`` holds one entry a claim, with what is printed as a string because its
digits matter.  A chapter ends with one call,

    claims.report([claims.compare("D2-m8-tcap", slope), ...])

whose output carries the rows in a MIME type of their own, so that the stored notebook *is* the
record and the scoreboard only collects it.
"""

import html
import json
import tomllib
from dataclasses import asdict, dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files
from pathlib import Path

MIME = "application/vnd.gaugelib.claims+json"
KINDS = ("number", "bound", "count", "property")
VERDICTS = {
    "digits": "every printed digit",
    "within": "within the stated tolerance",
    "holds": "the bound or property holds",
    "differs": "differs, explained",
    "open": "cannot be decided from what is printed",
}
PASSING = ("digits", "within", "holds")
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
    printed : what the paper prints, "" for an inequality or property
    tol, tol_reason : for numbers, the distance that still counts, argued before the run
    null : the value anyone would guess (numbers, counts), or the case in which the statement
        should fail (bounds, properties); "" where none makes sense
    chapter : the chapter that owes it ("06"); paper : the file's name
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
        if self.kind not in KINDS:
            raise ValueError(f"kind must be one of {KINDS}, got {self.kind!r} in claim {self.id}")
        if (self.tol is None) != (self.tol_reason == ""):
            raise ValueError(f"tol and tol_reason must come together in claim {self.id}")
        if self.kind in ("number", "count") and not self.printed and self.paper != "beyond":
            raise ValueError(f"printed must not be empty in claim {self.id}")


@dataclass(frozen=True)
class Row:
    """One line of the ledger; ``null_passes`` is None where the claim has no null."""

    id: str
    where: str
    printed: str
    measured: str
    verdict: str
    null_passes: bool | None
    note: str = ""


@cache
def load():
    """All claims of all papers by id; raises on a repeated id or an unknown field."""
    claims = {}
    for path in sorted(files("gaugelib").joinpath("papers").iterdir(), key=lambda p: p.name):
        if not path.name.endswith(".toml"):
            continue
        paper = path.name.removesuffix(".toml")
        for entry in tomllib.loads(path.read_text(encoding="utf-8"))["claim"]:
            claim = Claim(paper=paper, **entry)
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
    null_holds : whether it also holds in the claim's null case; required if the claim has one
        and no printed number
    verdict : only "open", for what the printed text cannot decide
    note : our explanation; required for "differs" and "open"
    """
    claim = lookup(claim_id)
    if verdict not in (None, "open"):
        raise ValueError(f"verdict must be None or 'open', got {verdict!r}")
    judged, shown = _judge(claim, measured, holds)
    judged = verdict or judged
    if judged in ("differs", "open") and not note:
        raise ValueError(f"note must explain the verdict {judged!r} of {claim_id}: {shown}")
    null = None if judged == "open" else _null_passes(claim, null_holds)
    return Row(claim.id, claim.where, claim.printed, shown, judged, null, note)


def _judge(claim, measured, holds):
    """(verdict, measured as shown) of a measurement."""
    decided_by_print = claim.kind in ("number", "count") or claim.printed[:1] in COMPARISONS
    if decided_by_print and holds is not None:
        raise ValueError(f"holds is decided by what is printed for {claim.id}, got {holds!r}")
    if not decided_by_print or not claim.printed:
        if holds is None or not isinstance(measured, str):
            raise ValueError(f"{claim.id} needs measured as a string and holds, got {measured!r}")
        return ("holds" if holds else "differs"), measured
    if claim.kind == "count":
        return ("digits" if measured == claim.printed else "differs"), str(measured)
    value = float(measured)
    if not abs(value) < float("inf"):
        raise ValueError(f"measured must be finite for {claim.id}, got {measured!r}")
    if claim.kind == "number":
        shown = rounded_like(value, claim.printed)
        return _number_verdict(claim, value), shown
    sign, limit = claim.printed[0], float(claim.printed[1:])
    return ("holds" if COMPARISONS[sign](value, limit) else "differs"), f"{value:.6g}"


def _number_verdict(claim, value):
    if rounded_like(value, claim.printed) == claim.printed:
        return "digits"
    near = claim.tol is not None and abs(value - float(claim.printed)) <= claim.tol
    return "within" if near else "differs"


def rounded_like(value, printed):
    """``value`` rounded to the digits of ``printed`` and written like it ("1.9029e-3")."""
    mantissa, _, exponent = printed.partition("e")
    places = -Decimal(mantissa).as_tuple().exponent
    power = int(exponent or 0)
    digits = f"{float(Decimal(repr(float(value))).scaleb(-power)):.{places}f}"
    return digits + (f"e{exponent}" if exponent else "")


def _null_passes(claim, null_holds):
    if not claim.null:
        return None
    if claim.kind == "number":
        return _number_verdict(claim, float(claim.null)) in PASSING
    if claim.kind == "count":
        return claim.null == claim.printed
    if claim.printed[:1] in COMPARISONS:
        return COMPARISONS[claim.printed[0]](float(claim.null), float(claim.printed[1:]))
    if null_holds is None:
        raise ValueError(f"null_holds must be given for {claim.id}: {claim.null}")
    return bool(null_holds)


def report(rows):
    """Show the rows as a table and store them in the notebook for :func:`collect`."""
    from IPython.display import display

    ids = [row.id for row in rows]
    if len(set(ids)) < len(ids):
        raise ValueError(f"a claim must be reported once in a chapter, got {ids}")
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
        + ("  [weak]" if row.null_passes else "")
        for row in rows
    ]
    return "\n".join(lines)


def _html(rows):
    cells = "".join(
        f'<tr id="claim-{row.id}"><td>{html.escape(row.where)}: '
        f"{html.escape(lookup(row.id).statement)}{_remark(row)}</td>"
        f"<td>{html.escape(row.printed) or '&ndash;'}</td><td>{html.escape(row.measured)}</td>"
        f'<td><span class="verdict verdict-{row.verdict}">{row.verdict}</span>'
        f"{' (weak)' if row.null_passes else ''}</td></tr>"
        for row in rows
    )
    head = "".join(f'<th scope="col">{x}</th>' for x in ("claim", "printed", "measured", "verdict"))
    return (
        '<div class="wide-table" tabindex="0" role="region" aria-label="Claims of this chapter">'
        f'<table class="claims"><thead><tr>{head}</tr></thead><tbody>{cells}</tbody></table></div>'
    )


def _remark(row):
    return f'<br><small class="claim-note">{html.escape(row.note)}</small>' if row.note else ""


def collect(notebooks):
    """Ledger rows of stored notebooks, as (notebook stem, Row) pairs in order.

    Raises on an unknown id, on a claim reported twice, and on a row whose chapter does not owe
    it.  What no notebook reports is missing: ``set(load()) - {row.id ...}``.
    """
    found = {}
    for path in map(Path, notebooks):
        for entry in _stored_rows(json.loads(path.read_text(encoding="utf-8"))):
            row = Row(**entry)
            claim = lookup(row.id)
            if row.id in found:
                raise ValueError(f"claim {row.id} is reported twice, again in {path.name}")
            if not path.name.startswith(claim.chapter):
                raise ValueError(f"claim {row.id} belongs to chapter {claim.chapter}, not {path.name}")
            found[row.id] = (path.stem, row)
    return list(found.values())


def _stored_rows(notebook):
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            yield from output.get("data", {}).get(MIME, [])
