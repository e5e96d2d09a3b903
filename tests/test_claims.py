"""The ledger judges as its docstring says, loses nothing, and prints the same bytes twice."""

import json
import re
from html.parser import HTMLParser

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaugelib import claims


def entry(id, kind, printed="", **more):
    fields = {"id": id, "where": "Table 1", "statement": "x < y & z", "kind": kind}
    return claims.Claim(**(fields | {"chapter": "06", "paper": "trial", "printed": printed} | more))


SLACK = {"tol": 4.3e-12, "tol_reason": "rounding, a hundred times"}
LEDGER = [
    entry("slope", "number", "-1.0019", null="-1"),
    entry("loose", "number", "0.4908", tol=0.02, tol_reason="seed spread", null="0.5"),
    entry("small", "number", "1.9029e-3"),
    entry("zero", "number", "0.00"),
    entry("r2", "bound", "> 0.9999", null="0.99"),
    entry("drift", "bound", "< 4.3e-14", **SLACK),
    entry("below", "bound", "< 2", tol=0.5, tol_reason="grid"),
    entry("above", "bound", "> 0.9", tol=0.05, tol_reason="grid"),
    entry("worded", "bound", "≤ 1.5", null="balanced start"),
    entry("least", "bound", "≥ 1.5"),
    entry("below-or-on", "bound", "≤ 1.5", tol=0.25, tol_reason="grid"),
    entry("above-or-on", "bound", "≥ 1.5", tol=0.25, tol_reason="grid"),
    entry("tiny", "bound", "< 5e-9", tol=1e-9, tol_reason="rounding"),
    entry("tinier", "bound", "< 5e-10", tol=1e-10, tol_reason="rounding"),
    entry("half", "number", "0.5", tol=0.25, tol_reason="grid"),
    entry("inequality", "bound", null="balanced start"),
    entry("count", "count", "20/20", null="20/20"),
    entry("spread", "count", "15/20", tol=3, tol_reason="binomial spread"),
    entry("alike", "property", null="D = 0"),
    entry("plain", "property"),
    entry("ours", "number", paper="beyond"),
]


@pytest.fixture(autouse=True)
def ledger(monkeypatch):
    by_id = {claim.id: claim for claim in LEDGER}
    monkeypatch.setattr(claims, "load", lambda: by_id)
    return by_id


def judged(id, measured, **more):
    row = claims.compare(id, measured, **more)
    return row.verdict, row.measured


@pytest.mark.parametrize(
    ("value", "printed", "shown"),
    [
        (-1.00185001, "-1.0019", "-1.0019"),
        (-1.00184999, "-1.0019", "-1.0018"),
        (0.125, "0.13", "0.12"),  # a tie goes to the even digit
        (0.375, "0.13", "0.38"),
        (2.675, "0.13", "2.67"),  # the binary number lies below the tie
        (0.0019029499, "1.9029e-3", "1.9029e-3"),
        (0.00190295001, "1.9029e-3", "1.9030e-3"),
        (0.00099999, "1.00e-3", "1.00e-3"),
        (12345.0, "1.23e4", "1.23e4"),
        (-0.0004, "0.00", "0.00"),
        (19.6, "20", "20"),
        (1e-300, "5.6e-17", "0.0e-17"),
    ],
)
def test_a_value_is_rounded_to_the_printed_digits(value, printed, shown):
    assert claims.rounded_like(value, printed) == shown


@given(st.floats(-1e6, 1e6), st.integers(0, 8))
def test_rounding_agrees_with_python_formatting(value, places):
    printed = f"{0:.{places}f}"
    shown = claims.rounded_like(value, printed)
    assert float(shown) == float(f"{value:.{places}f}")
    assert len(shown.lstrip("-").partition(".")[2]) == places


def test_a_number_needs_every_printed_digit_or_a_tolerance():
    assert judged("slope", -1.00193) == ("digits", "-1.0019")
    assert judged("loose", 0.5001) == ("within", "0.5001")
    assert judged("loose", 0.4908) == ("digits", "0.4908")
    assert judged("small", 1.90291e-3) == ("digits", "1.9029e-3")
    assert judged("zero", -1e-9) == ("digits", "0.00")
    with pytest.raises(ValueError, match="note must explain"):
        claims.compare("slope", -1.0018)
    assert judged("slope", -1.0018, note="another grid") == ("differs", "-1.0018")
    assert judged("loose", 0.52, note="more seeds") == ("differs", "0.5200")
    assert judged("slope", 1.0019, note="sign")[0] == "differs"


def test_a_printed_bound_is_strict_where_it_says_so():
    assert judged("r2", 0.99995) == ("holds", "0.99995")
    assert judged("r2", 0.9999999) == ("holds", "> 0.999999")
    assert judged("r2", 1.0) == ("holds", "1")
    assert judged("r2", 0.9999, note="on the bound")[0] == "differs"
    assert judged("worded", 1.5, null_holds=False) == ("holds", "1.5")
    assert judged("worded", 1.50001, null_holds=False, note="above")[0] == "differs"
    assert judged("least", 1.5) == ("holds", "1.5")
    assert judged("least", 1.49999, note="below")[0] == "differs"


def test_a_bound_at_rounding_level_is_judged_with_slack_and_shown_without_noise():
    for value in (0.0, 1e-15, 3e-12):
        assert judged("drift", value) == ("within", "< 4.3e-14 + 4.3e-12")
    assert judged("drift", 5e-12, note="too much") == ("differs", "5e-12")


def test_slack_widens_a_bound_on_its_own_side():
    assert judged("below", 2.4) == ("within", "2.4")
    assert judged("below", 2.6, note="too much")[0] == "differs"
    assert judged("above", 0.86) == ("within", "0.86")
    assert judged("above", 0.84, note="too little")[0] == "differs"
    assert judged("below-or-on", 1.75) == ("within", "1.75")
    assert judged("below-or-on", 1.76, note="too much")[0] == "differs"
    assert judged("above-or-on", 1.25) == ("within", "1.25")
    assert judged("above-or-on", 1.24, note="too little")[0] == "differs"


def test_a_number_at_its_tolerance_is_within():
    for value, verdict in ((0.75, "within"), (0.25, "within"), (0.76, "differs")):
        assert judged("half", value, note="-")[0] == verdict


def test_only_a_bound_below_what_any_machine_repeats_hides_the_value():
    assert judged("tiny", 2e-9) == ("within", "2e-09")
    assert judged("tinier", 2e-10) == ("within", "< 5e-10 + 1e-10")


def test_counts_are_compared_as_fractions():
    assert judged("count", "20/20") == ("digits", "20/20")
    assert judged("spread", "18/20") == ("within", "18/20")
    assert judged("spread", "19/20", note="other law")[0] == "differs"
    assert judged("spread", "11/20", note="other law")[0] == "differs"
    assert judged("spread", "15/21", note="other n")[0] == "differs"
    for bad in (20, "20", "twenty", "20/20 "):
        with pytest.raises(ValueError, match="measured must be like"):
            claims.compare("count", bad)


def test_inequalities_and_properties_need_words_and_a_truth_value():
    assert judged("inequality", "0.3 <= 0.5", holds=True, null_holds=False)[0] == "holds"
    assert judged("plain", "8 of 9", holds=False, note="why") == ("differs", "8 of 9")
    with pytest.raises(ValueError, match="measured must be a string"):
        claims.compare("plain", 1.0, holds=True)
    for bad in (None, 0.5, "yes"):
        with pytest.raises(ValueError, match="must be true or false"):
            claims.compare("plain", "8 of 9", holds=bad)
    with pytest.raises(ValueError, match="holds is decided"):
        claims.compare("slope", -1.0019, holds=True)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None, [1.0], True, "1.0"])
@pytest.mark.parametrize("id", ["slope", "r2"])
def test_a_measurement_must_be_a_finite_number(id, value):
    with pytest.raises(ValueError, match="must be a finite number"):
        claims.compare(id, value, note="-")


def test_open_needs_a_note_and_no_other_verdict_can_be_given():
    assert judged("plain", "not printed", verdict="open", note="no law given")[0] == "open"
    assert judged("slope", -1.23456, verdict="open", note="no grid given") == ("open", "-1.235")
    with pytest.raises(ValueError, match="note must explain"):
        claims.compare("plain", "not printed", verdict="open")
    with pytest.raises(ValueError, match="verdict must be"):
        claims.compare("slope", -1.0019, verdict="holds")


def test_a_null_is_judged_like_the_measurement():
    assert claims.compare("slope", -1.0019).null_passes is False
    assert claims.compare("loose", 0.48).null_passes is True
    assert claims.compare("loose", 0.4908).null_passes is False  # it has not every digit
    assert claims.compare("r2", 0.99999).null_passes is False
    assert claims.compare("count", "20/20").null_passes is True
    assert claims.compare("small", 1.9029e-3).null_passes is None
    assert claims.compare("alike", "1 = 1", holds=True, null_holds=True).null_passes is True


def test_a_null_in_words_needs_the_chapters_judgement_and_only_that():
    for id, measured, more in (("alike", "x", {"holds": True}), ("worded", 1.0, {})):
        with pytest.raises(ValueError, match="null_holds must be given"):
            claims.compare(id, measured, **more)
    for id, measured, more in (("slope", -1.0019, {}), ("plain", "x", {"holds": True})):
        with pytest.raises(ValueError, match="null_holds of"):
            claims.compare(id, measured, null_holds=False, **more)


def test_only_a_passing_claim_is_weak():
    assert claims.compare("loose", 0.48).weak
    assert not claims.compare("loose", 0.6, note="far").weak
    assert not claims.compare("slope", -1.0019).weak
    assert not claims.compare("alike", "x", verdict="open", note="why").weak


def test_an_unknown_id_is_refused():
    with pytest.raises(ValueError, match="nowhere"):
        claims.compare("nowhere", 1.0)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"kind": "guess"}, "kind must be"),
        ({"id": "a b"}, "id must be"),
        ({"chapter": "6"}, "chapter must be"),
        ({"where": ""}, "where and statement"),
        ({"tol": 0.1}, "tol and tol_reason"),
        ({"tol_reason": "because"}, "tol and tol_reason"),
        ({"printed": ""}, "printed must not be"),
        ({"printed": "1.9·10⁻³"}, "printed must not be"),
        ({"kind": "count", "printed": "all"}, "printed must not be"),
        ({"kind": "bound", "printed": "0.9999"}, "printed must not be"),
        ({"paper": "beyond"}, "printed must be empty for a finding of our own"),
    ],
)
def test_a_malformed_claim_is_refused(changes, complaint):
    with pytest.raises(ValueError, match=complaint):
        entry(**({"id": "x", "kind": "number", "printed": "1.0"} | changes))


TOML = """[[claim]]
id = "A"
where = "(1)"
statement = "one"
kind = "property"
chapter = "01"
"""


def test_a_ledger_file_is_read_and_its_mistakes_are_refused(tmp_path):
    one, two = tmp_path / "one.toml", tmp_path / "two.toml"
    one.write_text(TOML, encoding="utf-8")
    two.write_text("", encoding="utf-8")
    assert [(c.id, c.paper) for c in claims.read([one, two]).values()] == [("A", "one")]
    two.write_text(TOML, encoding="utf-8")
    with pytest.raises(ValueError, match="'A' appears twice"):
        claims.read([one, two])
    two.write_text(TOML + 'nul = "x"\n', encoding="utf-8")
    with pytest.raises(ValueError, match="'nul'.*'A' of two.toml"):
        claims.read([two])


def test_the_ledgers_of_the_package_are_read(monkeypatch):
    monkeypatch.undo()
    assert len(claims.load()) > 100
    assert {claim.paper for claim in claims.load().values()} == set(claims.PAPERS)


def test_a_reader_is_told_whose_claim_it_is(monkeypatch):
    monkeypatch.undo()
    assert claims.lookup("S1-invariance").source == "Gauge paper, Sections 1, A.1"
    assert claims.lookup("W-F5-above").source == "Weight-decay paper, Figure 5(a), Section E"
    assert claims.lookup("B01-golden").source == "This book, on Section 3.1"


def shown(rows, monkeypatch):
    found = []
    monkeypatch.setattr("IPython.display.display", lambda data, raw: found.append(data))
    claims.report(rows)
    return found[0]


def rows():
    return [
        claims.compare("slope", -1.0018, note="<b> & others"),
        claims.compare("loose", 0.48),
        claims.compare("plain", "1 < 2 & 3", holds=True),
    ]


class Tags(HTMLParser):
    """Open tags must close in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids = [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.ids += [value for name, value in attributes if name == "id"]
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_a_report_is_escaped_well_formed_and_has_an_anchor_for_each_claim(monkeypatch):
    page = shown(rows(), monkeypatch)["text/html"]
    assert Tags(page).ids == ["claim-slope", "claim-loose", "claim-plain"]
    assert "&lt;b&gt; &amp; others" in page and "1 &lt; 2 &amp; 3" in page
    assert "x &lt; y &amp; z" in page
    assert not re.search(r"<th[^>]*></th>", page)


def test_a_report_tells_tolerance_and_null_and_marks_weak_claims(monkeypatch):
    data = shown(rows(), monkeypatch)
    assert "Tolerance 0.02: seed spread." in data["text/html"]
    assert "Null (0.5): passes." in data["text/html"]
    assert "Null (-1): fails." in data["text/html"]
    assert data["text/plain"].count("[weak]") == data["text/html"].count("verdict-weak") == 1


def test_a_report_prints_the_same_bytes_twice(monkeypatch):
    first, second = shown(rows(), monkeypatch), shown(rows(), monkeypatch)
    assert json.dumps(first) == json.dumps(second)


def test_a_report_needs_rows_each_once():
    with pytest.raises(ValueError, match="each once"):
        claims.report([])
    with pytest.raises(ValueError, match="each once"):
        claims.report(rows() + rows())


def stored(path, *bundles):
    outputs = [nbformat.v4.new_output("display_data", data=data) for data in bundles]
    cells = [nbformat.v4.new_markdown_cell("text"), nbformat.v4.new_code_cell(outputs=outputs)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    return path


def test_what_was_reported_is_collected(tmp_path, monkeypatch):
    data = shown(rows(), monkeypatch)
    first = stored(tmp_path / "06-scaling.ipynb", {"text/plain": "1"}, data)
    second = stored(tmp_path / "07-scoreboard.ipynb")
    assert claims.collect([first, second]) == [("06-scaling", row) for row in rows()]


def test_collecting_refuses_unknown_repeated_and_misplaced_claims(tmp_path, monkeypatch, ledger):
    data = shown(rows(), monkeypatch)
    home = stored(tmp_path / "06-scaling.ipynb", data)
    twice = stored(tmp_path / "06-again.ipynb", data)
    with pytest.raises(ValueError, match="slope is reported twice, again in 06-again"):
        claims.collect([home, twice])
    with pytest.raises(ValueError, match="slope is owed by 06, not by 05-other"):
        claims.collect([stored(tmp_path / "05-other.ipynb", data)])
    with pytest.raises(ValueError, match="slope is owed by 06, not by 061-other"):
        claims.collect([stored(tmp_path / "061-other.ipynb", data)])
    del ledger["slope"]
    with pytest.raises(ValueError, match="'slope'"):
        claims.collect([home])


def test_what_is_not_finite_is_not_rounded():
    with pytest.raises(ValueError, match="value must be finite, got nan"):
        claims.rounded_like(float("nan"), "1.0")
