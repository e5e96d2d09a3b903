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


def test_every_frame_decodes_to_its_numbers():
    data = json.loads(Elements(live()).scripts[0])
    expected = [VALUES, VALUES / 2, VALUES - 5]
    assert len(data["frames"]) == 6
    for place, index in enumerate(np.ndindex(2, 3)):
        for k, (curve, values) in enumerate(zip(data["curves"], expected, strict=True)):
            text = data["frames"][place][8 * k : 8 * (k + 1)]
            decoded = interactive.decode(text, curve["low"], curve["high"])
            step = (curve["high"] - curve["low"]) / interactive.LEVELS
            assert np.abs(decoded - values[index]).max() <= 0.5001 * step


def test_the_first_frame_is_drawn_without_scripts():
    data, page = json.loads(Elements(live()).scripts[0]), live()
    drawn = re.findall(r'class="live-curve" d="M([^"]+)"', page)
    assert len(drawn) == 3 and "<noscript>" in page
    for text, values in zip(drawn, (VALUES, VALUES / 2, (VALUES - 5 + 9) / 9), strict=True):
        points = np.array([pair.split() for pair in text.split("L")], dtype=float)
        assert points[:, 0].tolist() == data["x"]
        share = 1 - (points[:, 1] - data["top"]) / data["height"]
        assert np.abs(share - values[1, 0]).max() < 1e-3


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


LINES = [
    interactive.Line(("<b>one</b>", "1"), ("01 The gauge", "holds")),
    interactive.Line(("two", "2"), ("02 It's \"quoted\"", "holds")),
]


def table(lines=LINES):
    return interactive.filter_table(
        "trial", ("name", "value"), lines, ("Chapter", "Verdict"), label="All", unit="lines"
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


def test_a_table_refuses_lines_of_another_length():
    with pytest.raises(ValueError, match="a line needs 2 cells and 2 words"):
        table([interactive.Line(("one",), ("a", "b"))])
