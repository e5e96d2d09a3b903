"""Filter, sliders and boards do what they say, in a browser, on pages of their own."""

import numpy as np
import pytest

from gaugelib import interactive

pytestmark = pytest.mark.browser

LINES = [
    interactive.Line(("all -D fail", "1"), ("01 The gauge", "holds", "null fails"), "T3.3-select"),
    interactive.Line(("ALL −D pass", "2"), ("01 The gauge", "differs", "no null"), "T3.3-prune"),
    interactive.Line(("error 10⁻⁹", "3"), ("02 Kernel", "holds", "no null"), "K-error"),
    interactive.Line(("<b>q</b>ⱼ", "4"), ("02 Kernel", "holds", "null fails"), "K-q"),
    interactive.Line(("holds <i>not</i>", "5"), ("10 Kernel", "holds x", "null fails"), "L"),
]
UNIT = "lines `${1}` \\ <i>"  # nothing of it is code
TABLE = interactive.filter_table(
    "trial", ("claim", "n"), LINES, ("Chapter", "Verdict", "Null"), label="All", unit=UNIT
)
ROWS = "rows => rows.filter(row => row.checkVisibility()).map(row => row.cells[1].textContent)"


class Filter:
    """A table in a page, worked like a reader does."""

    def __init__(self, page):
        self.page = page
        page.set_content(TABLE)

    def shown(self):
        """The rows that are visible; the count line must agree."""
        found = "".join(self.page.locator("tbody tr").evaluate_all(ROWS))
        assert self.page.get_by_role("status").inner_text() == f"{len(found)} of 5 {UNIT}"
        return found

    def after(self, text=None, **choices):
        if text is not None:
            self.page.get_by_label("Text").fill(text)
        for label, word in choices.items():
            self.page.get_by_label(label).select_option(word)
        return self.shown()


@pytest.fixture(scope="module")
def page(browser):
    page = browser.new_page()
    page.set_default_timeout(10_000)
    page.on("pageerror", lambda error: pytest.fail(str(error)))
    yield page
    page.close()


@pytest.fixture
def table(page):
    return Filter(page)


def test_a_table_starts_whole_and_its_controls_are_there(table):
    assert table.shown() == "12345"
    assert table.page.get_by_role("group", name="Filter").is_visible()


@pytest.mark.parametrize(("text", "found"), [
    ("fail", "1"), ("FAIL", "1"), ("all", "12"), (" all ", "12"), ("-d", "12"), ("−D", "12"),
    ("10-9", "3"), ("qj", "4"), ("<b>", ""), ("not", "5"), ("T3.3-select", "1"), ("t3.3", "12"),
    ("k-", "34"), ("01 The gauge", ""), ("nowhere", ""), (" ", "12345"),
])
def test_a_text_is_found_whatever_its_case_and_minus_sign_and_in_ids(table, text, found):
    assert table.after(text) == found


def test_each_choice_filters_by_its_own_word(table):
    assert table.after(Chapter="01 The gauge") == "12"
    assert table.after(Chapter="02 Kernel") == "34"
    assert table.after(Chapter="") == "12345"
    assert table.after(Verdict="holds") == "134"  # and not "holds x"
    assert table.after(Verdict="differs") == "2"
    assert table.after(Verdict="", Null="null fails") == "145"


def test_choices_and_text_are_combined_and_the_button_shows_all_again(table):
    assert table.after(Chapter="01 The gauge", Verdict="holds") == "1"
    assert table.after(Null="no null") == ""
    assert table.after(Chapter="") == "3"
    assert table.after("all") == ""
    assert table.after(Verdict="differs") == "2"
    table.page.get_by_role("button", name="Show all").click()
    assert table.shown() == "12345"
    controls = table.page.locator("select, input[type=search]")
    assert controls.evaluate_all("all => all.map(e => e.value)") == [""] * 4
    assert table.after(Verdict="differs") == "2"


def test_a_table_without_scripts_is_whole_and_says_why_it_cannot_be_filtered(browser, tmp_path):
    (tmp_path / "table.html").write_text(TABLE, encoding="utf-8")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((tmp_path / "table.html").as_uri())
    assert page.locator("tbody tr:visible").count() == 5
    assert not page.locator(".filter-controls").is_visible()
    assert page.locator("noscript p:has-text('The filter needs JavaScript')").is_visible()
    context.close()


PARTS = np.array([-0.8, -0.1745, -0.0004, 0.0, 0.0004, 0.17453, 0.6, 1.6])
POWERS = np.array([-9.0, -8.99, -6.5, -3.21, -1.0, -0.3, -0.004, 0.0])


def live(page):
    """PARTS in frames of six sizes, POWERS in all of them."""
    angles = interactive.Axis("angle", -0.8, 1.6, ((0, "0"),))
    powers = interactive.Axis("loss", -9, 0, ((-9, "10⁻⁹"),))
    factor = np.array([0.5, 1.0])
    panels = (
        interactive.Panel("Angle", angles, (
            interactive.Series("ψ", np.multiply.outer(factor, np.tile(PARTS, (3, 1)))
                               * np.array([1, 0.5, 0.25])[:, None]),)),
        interactive.Panel("Loss", powers, (
            interactive.Series("L", np.stack([np.tile(POWERS, (3, 1))] * 2), power=True),)),
    )
    controls = (interactive.Control("D", ("2", "4"), 1), interactive.Control("m", ("1", "2", "4")))
    cursor = interactive.Control("time", tuple(f"t = {k}" for k in range(8)), 3)
    page.set_content(interactive.slider(
        "trial", controls, cursor, range(8), interactive.Axis("t", 0, 7, ()), panels))


READ = """places => {
  const inputs = [...document.querySelectorAll('input')];
  places.forEach((place, k) => { inputs[k].value = place; });
  inputs[0].dispatchEvent(new Event('input'));
  return document.querySelector('.live-readout').textContent;
}"""


def written(value):
    text = f"{np.round(value, 3) + 0.0:.3f}"
    return text.replace("-", "−")


def test_every_position_reads_its_own_frame_with_every_digit_right_and_no_minus_zero(page):
    live(page)
    for D, factor in enumerate((0.5, 1)):
        for m, part in enumerate((1, 0.5, 0.25)):
            for k in range(8):
                psi, loss = factor * part * PARTS[k], f"= {10**POWERS[k]:.1e}"
                shown = page.evaluate(READ, [D, m, k])
                head, tail = shown.removesuffix(".").split(", ")
                assert head == f"t = {k}: ψ = {written(psi)}"
                if POWERS[k] == -9:
                    assert tail == "L ≤ 1e-9"
                else:
                    assert f"= {float(tail.removeprefix('L = ')):.1e}" == loss


def test_curves_labels_and_the_reading_line_follow_the_sliders(page):
    live(page)
    page.evaluate(READ, [0, 1, 5])
    data = interactive.TOP, interactive.HEIGHT - interactive.TOP - interactive.BOTTOM
    drawn = page.locator(".live-curve").first.get_attribute("d")[1:].split("L")
    heights = np.array([float(point.split()[1]) for point in drawn])
    share = (0.25 * PARTS + 0.8) / 2.4
    assert np.abs(heights - (data[0] + data[1] * (1 - share))).max() < 0.15
    starts = {path.get_attribute("d").split()[0] for path in page.locator(".live-cursor").all()}
    assert starts == {"M" + drawn[5].split()[0]}
    assert page.locator(".live-value").all_inner_texts() == ["2", "2", "t = 5"]
    texts = [e.get_attribute("aria-valuetext") for e in page.locator("input").all()]
    assert texts == ["2", "2", "t = 5"]


SHARES = np.linspace(0, 1, 36).reshape(2, 3, 2, 3)
KINDS = np.arange(36).reshape(2, 3, 2, 3) % 3
SENTENCES = [[f"D = {2 + 2 * i}, pair {k} & \"x\"." for k in range(3)] for i in range(2)]
MARKS = (interactive.Mark("<none>", "", "#999999"), interactive.Mark("one", "1", "#0072B2"),
         interactive.Mark("", "&", "#D55E00"))
BOARD = interactive.board(
    "trial",
    (interactive.Control("D", ("2", "4"), 1), interactive.Control("pair", tuple("abc"), 2)),
    (("row <1>", "2"), ("x", "y", "z")), MARKS, KINDS, SHARES, SENTENCES, label="Trial <board>")
CELLS = """cells => cells.map(cell => [cell.textContent, cell.style.getPropertyValue('--hue'),
  cell.style.getPropertyValue('--level'), cell.style.color, cell.ariaLabel])"""


def board_shows(page, i, k):
    """Cells and sentence are those of frame (i, k)."""
    expected = []
    for kind, share in zip(KINDS[i, k].flat, SHARES[i, k].flat, strict=True):
        level = int(np.rint(9 * share))
        ink = "rgb(0, 0, 0)" if level > 4 else ""
        mark = MARKS[kind]
        read_out = mark.meaning or mark.letter
        expected.append([mark.letter, mark.colour, str(level), ink, read_out])
    assert page.locator("tbody td").evaluate_all(CELLS) == expected
    assert page.locator(".live-readout").text_content() == SENTENCES[i][k]


def test_every_position_of_a_board_shows_its_own_cells_and_sentence(page):
    page.set_content(BOARD)
    board_shows(page, 1, 2)
    for i in range(2):
        for k in range(3):
            assert page.evaluate(READ, [i, k]) == SENTENCES[i][k]
            board_shows(page, i, k)
    assert page.locator(".live-value").all_inner_texts() == ["4", "c"]


def test_a_board_is_a_table_with_headings_and_a_legend(page):
    page.set_content(BOARD)
    assert page.locator("th[scope=col]").all_inner_texts() == ["x", "y", "z"]
    assert page.locator("th[scope=row]").all_inner_texts() == ["row <1>", "2"]
    assert [x.strip() for x in page.locator("li").all_inner_texts()] == ["<none>", "1 one"]
    assert page.get_by_role("region", name="Trial <board>").is_visible()


def test_a_board_without_scripts_shows_its_first_frame(browser, tmp_path):
    (tmp_path / "board.html").write_text(BOARD, encoding="utf-8")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((tmp_path / "board.html").as_uri())
    board_shows(page, 1, 2)
    assert page.locator("input").first.is_disabled()
    assert page.locator("noscript p:has-text('The sliders need JavaScript')").is_visible()
    context.close()
