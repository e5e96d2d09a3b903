"""Live HTML is well formed, keeps its numbers, needs nothing from elsewhere, and is repeatable."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaugelib import interactive

VOID = {"br", "input", "path"}


class Elements(HTMLParser):
    """Every element with its attributes; tags must close in order."""

    def __init__(self, text):
        super().__init__()
        self.found, self.open, self.scripts = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        assert len(set(names)) == len(names)
        self.found.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)

    def of(self, tag):
        return [attributes for name, attributes in self.found if name == tag]


VALUES = np.linspace(0, 1, 24).reshape(2, 3, 4)


def live(values=VALUES, name="trial"):
    ticks = ((0, "0"), (1, "1 < 2"))
    panels = (
        interactive.Panel("Up", interactive.Axis("y", 0, 1, ticks), (
            interactive.Series("a & b", values), interactive.Series("half", values / 2))),
        interactive.Panel("Powers", interactive.Axis("L", -9, 0, ticks), (
            interactive.Series("L", values - 5, power=True),)),
    )
    controls = (
        interactive.Control("D", ("2", "</script>"), 1), interactive.Control("m", ("2", "4", "8")),
    )
    cursor = interactive.Control("time", ("0", "1", "2", "3"), 2)
    return interactive.slider(
        name, controls, cursor, [0, 1, 2, 3], interactive.Axis("x", 0, 3, ticks), panels
    )


def lists_ids_once(elements):
    ids = [attributes["id"] for _, attributes in elements.found if "id" in attributes]
    return len(set(ids)) == len(ids)


@given(st.lists(st.floats(-9, 9), min_size=1, max_size=20))
def test_a_value_survives_to_half_a_step(values):
    decoded = interactive.decode(interactive.encode(values, -9, 9), -9, 9)
    assert np.abs(decoded - values).max() <= 18 / (2 * interactive.LEVELS) * (1 + 1e-12)


def test_the_parts_of_one_are_kept_exactly():
    values = 1 / np.array([1, 2, 4, 8, 16, 32])
    assert np.array_equal(interactive.decode(interactive.encode(values, 0, 1), 0, 1), values)


def test_values_outside_go_to_the_nearer_end_and_infinite_ones_are_refused():
    assert interactive.decode(interactive.encode([-1, 2], 0, 1), 0, 1).tolist() == [0, 1]
    with pytest.raises(ValueError, match="values must be finite"):
        interactive.encode([np.nan], 0, 1)


AXES = st.tuples(st.integers(-20, 20), st.integers(1, 80)).map(
    lambda ends: interactive.Axis("y", ends[0] / 10, (ends[0] + ends[1]) / 10, ())
)


@given(AXES, st.floats(0, 1))
def test_a_number_is_read_with_every_digit_right(axis, part):
    value = axis.low + part * (axis.high - axis.low)
    digits, shown = interactive.digits_shown(axis), interactive.rounded(value, axis)
    assert abs(shown - value) <= 0.5 * 10.0**-digits * (1 + 1e-9)
    (read,) = interactive.decode(
        interactive.encode([shown], axis.low, axis.high), axis.low, axis.high)
    ends = np.round([axis.low, axis.high], digits)
    assert float(f"{read:.{digits}f}") == min(max(float(f"{shown:.{digits}f}"), ends[0]), ends[1])


@given(AXES, st.floats(0, 1))
def test_a_power_is_read_with_every_digit_right(axis, part):
    value = axis.low + part * (axis.high - axis.low)
    digits, shown = (f(*a, power=True) for f, a in (
        (interactive.digits_shown, (axis,)), (interactive.rounded, (value, axis))))
    assert abs(10.0**shown - 10.0**value) <= 0.5 * 10.0 ** (np.floor(value) + 1 - digits) * 1.001
    (read,) = interactive.decode(
        interactive.encode([shown], axis.low, axis.high), axis.low, axis.high)
    if axis.low <= shown <= axis.high:
        assert f"{10.0**read:.{digits - 1}e}" == f"{10.0**shown:.{digits - 1}e}"


def test_a_power_above_the_low_end_is_never_read_as_at_most():
    axis = interactive.Axis("L", -9, 0, ())
    shown = interactive.rounded([-9.0, -9 + 1e-6, -8.99], axis, power=True)
    read = interactive.decode(interactive.encode(shown, -9, 0), -9, 0)
    assert (read > -9).tolist() == [False, True, True]


def test_the_explorers_axes_show_three_decimals_and_two_digits():
    def axis(low, high):
        return interactive.Axis("y", low, high, ())

    assert [interactive.digits_shown(axis(*ends)) for ends in ((0, 1), (-0.8, 1.6))] == [3, 3]
    assert interactive.digits_shown(axis(0, 4)) == 2  # where half a step is half a unit
    assert interactive.digits_shown(axis(-9, 0), power=True) == 2
    assert interactive.rounded([np.radians(10), -0.0004], axis(-0.8, 1.6)).tolist() == [0.175, 0]
    for far, power in ((4000, False), (400, True)):
        with pytest.raises(ValueError, match="axis must be short enough"):
            interactive.digits_shown(axis(0, far), power)


def test_every_frame_decodes_to_its_numbers():
    data = json.loads(Elements(live()).scripts[0])
    expected = [VALUES, VALUES / 2, VALUES - 5]
    assert len(data["frames"]) == 6
    for place, index in enumerate(np.ndindex(2, 3)):
        for k, (curve, values) in enumerate(zip(data["curves"], expected, strict=True)):
            text = data["frames"][place][8 * k : 8 * (k + 1)]
            decoded = interactive.decode(text, curve["low"], curve["high"])
            if curve["power"]:
                assert [f"{10**v:.1e}" for v in decoded] == [f"{10**v:.1e}" for v in values[index]]
            else:
                assert np.round(decoded, 3).tolist() == np.round(values[index], 3).tolist()


def test_the_first_frame_is_drawn_without_scripts():
    data, page = json.loads(Elements(live()).scripts[0]), live()
    drawn = re.findall(r'class="live-curve" d="M([^"]+)"', page)
    assert len(drawn) == 3 and "<noscript>" in page
    for text, values in zip(drawn, (VALUES, VALUES / 2, (VALUES - 5 + 9) / 9), strict=True):
        points = np.array([pair.split() for pair in text.split("L")], dtype=float)
        assert points[:, 0].tolist() == data["x"]
        share = 1 - (points[:, 1] - data["top"]) / data["height"]
        assert np.abs(share - values[1, 0]).max() < 1e-3


def test_ticks_stand_where_curves_take_their_values():
    """A curve through the ticks of a skew axis meets their grid lines, on paper and in scripts."""
    ticks_x, ticks_y = (-1.0, 0.5, 2.0), (3.0, 10.0, 11.0)
    x_axis = interactive.Axis("x", -2, 3, tuple((v, f"x{v}") for v in ticks_x))
    y_axis = interactive.Axis("y", 1, 11, tuple((v, f"y{v}") for v in ticks_y))
    panel = interactive.Panel("Trial", y_axis, (interactive.Series("s", np.array(ticks_y)),))
    cursor = interactive.Control("x", ("a", "b", "c"), 1)
    page = interactive.slider("trial", (), cursor, ticks_x, x_axis, (panel,))
    curve = re.search(r'class="live-curve" d="M([^"]+)"', page)[1].split("L")
    points = np.array([point.split() for point in curve], dtype=float)
    upright = re.findall(r'<path d="M([\d.]+) (\d+)V(\d+)" stroke', page)
    level = re.findall(r'<path d="M(\d+) ([\d.]+)H(\d+)" stroke', page)
    assert points[:, 0].tolist() == [float(at) for at, *_ in upright]
    assert points[:, 1].tolist() == [float(at) for _, at, _ in level]
    (top, bottom), (left, right) = map(int, upright[0][1:]), (int(level[0][0]), int(level[0][2]))
    share_x, share_y = (np.array(ticks_x) + 2) / 5, (np.array(ticks_y) - 1) / 10
    assert points[:, 0] == pytest.approx(left + (right - left) * share_x, abs=0.051)
    assert points[:, 1] == pytest.approx(bottom - (bottom - top) * share_y, abs=0.051)
    assert 0 < left < right <= interactive.WIDTH and 0 < top < bottom < interactive.HEIGHT
    data = json.loads(Elements(page).scripts[0])
    assert (data["top"], data["height"]) == (top, bottom - top)
    texts = dict(re.findall(r'<text x="([\d.]+)" y="[\d.]+" text-anchor="middle">(x[^<]+)', page))
    assert [texts[at] for at, *_ in upright] == [f"x{v}" for v in ticks_x]
    heights = dict(re.findall(r'y="([\d.]+)" text-anchor="end">(y[^<]+)', page))
    assert {float(at) - 4: text for at, text in heights.items()} == {
        float(at): f"y{v}" for (_, at, _), v in zip(level, ticks_y, strict=True)
    }


def test_a_legend_has_each_series_in_its_own_place_with_its_own_stroke():
    page = live().split("</svg>")[0]
    keys = re.findall(r'<path d="M(\d+) 12h26" (stroke="[^"]+" stroke-width="2" [^/]+)/>', page)
    names = re.findall(r'<text x="(\d+)" y="16">([^<]+)</text>', page)
    drawn = re.findall(r'fill="none" (stroke="#[^/]+)/>', page)
    assert [stroke for _, stroke in keys] == drawn
    assert [name for _, name in names] == ["a &amp; b", "half"]
    starts = [int(at) for at, _ in keys]
    assert starts[0] == interactive.LEFT and starts[1] - starts[0] >= 100
    assert [int(at) - start for (at, _), start in zip(names, starts, strict=True)] == [31, 31]


def test_the_page_is_well_formed_and_labelled_and_asks_for_nothing_outside():
    elements = Elements(live())
    assert lists_ids_once(elements)
    labelled = {attributes["for"] for attributes in elements.of("label")}
    assert {attributes["id"] for attributes in elements.of("input")} == labelled
    assert all(attributes["aria-valuetext"] for attributes in elements.of("input"))
    assert all(attributes["aria-label"] for attributes in elements.of("svg"))
    assert not re.search(r'(src|href)=|https?:|url\(', live())
    assert elements.scripts[0].count("</") == 0 and len(elements.scripts) == 2


def test_the_same_input_gives_the_same_bytes():
    assert live() == live() and table() == table()


def test_wrong_shapes_are_refused():
    with pytest.raises(ValueError, match="values of a & b must have shape"):
        live(VALUES[:, :2])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: interactive.Control("D", ("2", "4"), 2), r"start must be in 0\.\.1, got 2"),
        (lambda: interactive.Control("D", ()), "texts of 'D' must not be empty"),
        (lambda: interactive.Axis("y", 1, 1, ()), "low must be less than high, got 1 and 1"),
        (lambda: interactive.Axis("y", np.nan, 1, ()), "low must be finite"),
        (lambda: interactive.Panel("P", None, ()), "series must be 1 to 3, got 0"),
        (lambda: interactive.Panel("P", None, (1,) * 4), "series must be 1 to 3, got 4"),
        (lambda: interactive.decode("AAA", 0, 1), "text must be pairs of letters"),
        (lambda: interactive.decode("A!", 0, 1), "text must be pairs of letters"),
        (lambda: interactive.decode("AA", 1, 0), "low must be less than high"),
    ],
)
def test_what_cannot_be_drawn_or_read_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


LINES = [
    interactive.Line(("<b>one</b>", "1"), ("01 The gauge", "holds"), "it's"),
    interactive.Line(("two", "2"), ("02 It's \"quoted\"", "holds")),
]


def table(lines=LINES, name="trial", unit="lines"):
    return interactive.filter_table(
        name, ("name", "value"), lines, ("Chapter", "Verdict"), label="All", unit=unit
    )


def test_a_table_is_well_formed_whole_and_labelled():
    elements = Elements(table())
    assert lists_ids_once(elements)
    labelled = {attributes["for"] for attributes in elements.of("label")}
    controls = elements.of("select") + elements.of("input")
    assert {attributes["id"] for attributes in controls} == labelled
    assert len(elements.of("tr")) == 3 and not any("hidden" in row for row in elements.of("tr"))
    assert "2 of 2 lines" in table()


def test_a_table_offers_each_word_once_and_keeps_it_with_its_line():
    elements = Elements(table())
    assert len(elements.of("option")) == (1 + 2) + (1 + 1)
    kept = [json.loads(row["data-words"]) for row in elements.of("tr")[1:]]
    assert kept == [list(line.words) for line in LINES]
    assert [row["data-id"] for row in elements.of("tr")[1:]] == ["it's", ""]


def test_a_table_refuses_lines_of_another_length():
    with pytest.raises(ValueError, match="a line needs 2 cells and 2 words"):
        table([interactive.Line(("one",), ("a", "b"))])


@pytest.mark.parametrize("width", [1, 3])
def test_a_table_refuses_rows_of_another_width(width):
    rows = [interactive.row(["a", "b"]), interactive.row(["c"] * width)]
    with pytest.raises(ValueError, match="a row needs 2 cells, got '<tr><td>c"):
        interactive.table(("one", "two"), iter(rows), "trial")


@pytest.mark.parametrize("name", ['a"b', "a b", "", "1a", "<i>", "aé", None])
def test_names_that_are_no_element_ids_are_refused(name):
    for make in (lambda: live(name=name), lambda: table(name=name)):
        with pytest.raises(ValueError, match="name must be a letter, then letters, digits"):
            make()


def test_a_unit_of_any_characters_stays_text_in_the_page_and_in_its_script():
    unit = "a`b${c}\\ </script><b>"
    elements = Elements(table(unit=unit))
    assert not elements.of("b")[1:]  # the one of LINES
    (script,) = elements.scripts
    written = re.search(r"\$\{rows.length\} (.*)`;", script)[1]
    assert re.sub(r"\\x(..)", lambda match: chr(int(match[1], 16)), written) == unit
    assert not set("`$<") & set(written)


@pytest.mark.parametrize(
    ("values", "low", "high", "message"),
    [([0.5], 1, 1, "low must be less than high"), ([0.5], 2, 1, "low must be less than high"),
     (0.5, 0, 1, r"values must be \(n,\)"), ([np.nan], 0, 1, "values must be finite")],
)
def test_what_cannot_be_encoded_is_refused(values, low, high, message):
    with pytest.raises(ValueError, match=message):
        interactive.encode(values, low, high)


def board(name="b", **other):
    controls = (interactive.Control("D", ("2", "4")),)
    marks = (interactive.Mark("none", "", "#999999"), interactive.Mark("one", "1", "#0072B2"))
    given = {
        "kinds": np.zeros((2, 1, 3), dtype=int),
        "shares": np.zeros((2, 1, 3)),
        "texts": ["two", "four"],
    } | other
    return interactive.board(name, controls, (("r",), tuple("xyz")), marks, **given, label="trial")


def test_a_board_holds_two_figures_for_each_cell_of_each_frame():
    shares = np.array([[[0, 0.5, 1]], [[0.05, 0.06, 0.94]]])
    page = board(kinds=np.array([[[0, 1, 0]], [[1, 1, 1]]]), shares=shares)
    data = json.loads(re.search(r'application/json">(.*?)</script>', page, re.DOTALL)[1])
    assert data["frames"] == ["001409", "101118"]
    assert data["sentences"] == ["two", "four"]


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"kinds": np.zeros((2, 3))}, r"must be \(2, 1, 3\) and texts \(2,\), got \(2, 3\)"),
        ({"shares": np.zeros((2, 1, 2))}, r"got \(2, 1, 3\), \(2, 1, 2\) and \(2,\)"),
        ({"texts": ["two"]}, r"and \(1,\)"),
        ({"kinds": np.full((2, 1, 3), 2)}, r"kinds must be in 0..1, got array\(\[2\]\)|got \[2\]"),
        ({"kinds": np.full((2, 1, 3), 0.5)}, r"kinds must be in 0..1"),
        ({"shares": np.full((2, 1, 3), 1.1)}, r"shares must be in \[0, 1\], got 1.1 to 1.1"),
        ({"shares": np.full((2, 1, 3), np.nan)}, "shares must be finite"),
        ({"name": "b'"}, r"name must be a letter, then letters, digits, - and _, got"),
    ],
)
def test_a_board_that_does_not_fit_is_refused(other, message):
    with pytest.raises(ValueError, match=message):
        board(**other)
