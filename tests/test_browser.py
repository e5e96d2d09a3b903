"""The book in a real browser, on wide and narrow screens and on paper, without the network."""

from urllib.parse import urlsplit

import pytest
import yaml
from notebook_guards import CHAPTERS, ROOT
from page_guards import NOT_PROSE, RAW_TEX

from gaugelib import claims

pytestmark = [pytest.mark.book, pytest.mark.browser]

WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
NARROWEST, PAPER = {"width": 320, "height": 568}, {"width": 700, "height": 1000}  # A4 or Letter
AXE = ROOT / "tests" / "vendor" / "axe-core" / "axe.min.js"
# The theme's own: the label of the button that unfolds hidden code, the roles in a bibliography.
THEMES_OWN = ["label-content-name-mismatch"]
THEMES_OWN_ON = {
    "bibliography": ["aria-deprecated-role", "aria-allowed-role", "aria-required-children"],
}

TYPESET = "() => window.MathJax?.startup?.promise === undefined || MathJax.startup.promise"
VISIBLE_PROSE = """notProse => {
  const article = document.querySelector('article').cloneNode(true);
  article.querySelectorAll([...notProse, 'mjx-container']).forEach(e => e.remove());
  return article.textContent;
}"""
# A formula that MathJax cannot read, and a command that it does not know and prints.
NOT_TYPESET = """() => [...document.querySelectorAll(
    'mjx-merror, [data-mjx-error], mjx-container mjx-c.mjx-c5C')]
  .map(e => e.closest('mjx-container').outerHTML.slice(0, 200))"""
OVERFLOW = """() => [...document.querySelectorAll('article *')]
  .filter(e => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
  .filter(e => { for (let p = e.parentElement; p; p = p.parentElement)
    if (p.tagName !== 'BODY' && p.tagName !== 'HTML'
        && ['auto', 'scroll', 'hidden'].includes(getComputedStyle(p).overflowX)) return false;
    return true; })
  .map(e => e.outerHTML.slice(0, 120))"""
# Code, its output and displays that a reader would have to scroll.
CUT_OFF = """() => [...document.querySelectorAll(
    'article .cell pre, article div.math, article mjx-container[display]')]
  .filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.outerHTML.slice(0, 200))"""
OFF_THE_PAPER = """() => [...document.querySelectorAll('article *')]
  .filter(e => e.checkVisibility() && !e.parentElement.closest('mjx-container'))
  .filter(e => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1
    || (e.matches('pre, div.math, mjx-container[display], div:has(> table)')
      && e.scrollWidth > e.clientWidth + 1))
  .map(e => e.outerHTML.slice(0, 200))"""
FOLDED = """() => [...document.querySelectorAll('article details > :not(summary)')]
  .filter(e => !e.checkVisibility({contentVisibilityAuto: true}) || e.offsetHeight === 0)
  .map(e => e.outerHTML.slice(0, 200))"""
CONTROLS = "article :is(input, select, button, details.hide > summary):visible"
PAGE_SCROLLS = "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"
# MathJax's containers are its own, and axe would spend most of its time on their glyphs.
RUN_AXE = """rules => axe.run(
  {include: ['article'], exclude: ['mjx-container']},
  {resultTypes: ['violations'], rules: Object.fromEntries(
    rules.map(rule => [rule, {enabled: false}]))}).then(result => result.violations.flatMap(
  v => v.nodes.map(n => `${v.id}: ${n.html.slice(0, 160)}`)))"""
FIGURES = """() => [...document.querySelectorAll(
  'article svg, article .live-board, .live:has(.live-board) .live-readout'
)].map(e => e.outerHTML).join()"""


def page_names():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    return [toc["root"]] + [c["file"] for part in toc["parts"] for c in part["chapters"]]


class Watched:
    """A page that keeps a list of everything that went wrong on it."""

    def __init__(self, browser, address, size, **options):
        self.address, self.complaints = address, []
        self.context = browser.new_context(viewport=size, **options)
        self.context.route("**/*", self.stay_here)
        self.page = self.context.new_page()
        self.page.set_default_timeout(10_000)
        self.page.on("console", self.note_console)
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.page.on("response", self.note_response)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()

    def stay_here(self, route):
        if urlsplit(route.request.url).hostname == "127.0.0.1":
            route.continue_()
        else:
            self.complaints.append(f"outside: {route.request.url}")
            route.abort()

    def note_console(self, message):
        if message.type in ("error", "warning"):
            self.complaints.append(f"console: {message.text}")

    def note_response(self, response):
        if response.status >= 400:
            self.complaints.append(f"{response.status}: {response.url}")

    def open(self, name):
        self.page.goto(f"{self.address}/{name}.html", wait_until="load")
        self.page.evaluate(TYPESET)
        return self.page

    def accessibility(self, name):
        self.page.add_script_tag(path=AXE)
        return self.page.evaluate(RUN_AXE, THEMES_OWN + THEMES_OWN_ON.get(name, []))


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("name", page_names())
def test_a_page_is_quiet_readable_and_fits(browser, address, name, size):
    with Watched(browser, address, size) as watched:
        page = watched.open(name)
        assert RAW_TEX.findall(page.evaluate(VISIBLE_PROSE, NOT_PROSE)) == []
        assert page.evaluate(NOT_TYPESET) == []
        assert page.evaluate(OVERFLOW) == []
        assert not page.evaluate(PAGE_SCROLLS)
        assert watched.accessibility(name) == []
        assert watched.complaints == []


@pytest.mark.parametrize("name", page_names())
def test_a_page_is_accessible_in_the_dark(browser, address, name):
    with Watched(browser, address, WIDE, color_scheme="dark") as watched:
        page = watched.open(name)
        assert page.evaluate("document.documentElement.dataset.theme") == "dark"
        assert watched.accessibility(name) == []


def test_launch_buttons_wait_for_an_address(browser, address):
    with Watched(browser, address, WIDE) as watched:
        page = watched.open("chapters/02-kernel")
        assert page.locator("a[href*='OWNER'], a[href*='example.org']").count() == 0


@pytest.mark.parametrize("name", page_names())
def test_a_page_fits_a_wide_screen_a_small_telephone_and_paper(browser, address, name):
    with Watched(browser, address, WIDE) as watched:
        page = watched.open(name)
        assert page.evaluate(CUT_OFF) == []
        page.set_viewport_size(NARROWEST)
        assert page.evaluate(OVERFLOW) == []
        assert not page.evaluate(PAGE_SCROLLS)
        page.set_viewport_size(PAPER)
        page.emulate_media(media="print")
        assert page.evaluate(OFF_THE_PAPER) == []
        assert page.evaluate(FOLDED) == []
        assert page.locator(CONTROLS).count() == 0


def test_paper_is_white_and_readable_whatever_the_screen(browser, address):
    with Watched(browser, address, PAPER, color_scheme="dark") as watched:
        page = watched.open("chapters/02-kernel")
        page.emulate_media(media="print")
        colours = page.locator("article :is(p, pre span, h2, a:not(.headerlink))").evaluate_all(
            "all => [...new Set(all.map(e => getComputedStyle(e).color))]")
        assert set(colours) == {"rgb(0, 0, 0)"}
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == (
            "rgb(255, 255, 255)")


def test_mathematics_is_typeset(browser, address):
    with Watched(browser, address, WIDE) as watched:
        page = watched.open("chapters/02-kernel")
        assert page.locator("article mjx-container").count() > 0


@pytest.mark.parametrize("wrong", [r"\frac{1}", r"\unknown{x}", r"\left(x", "a & b"])
def test_a_formula_that_is_not_typeset_is_noticed(browser, address, wrong):
    with Watched(browser, address, WIDE) as watched:
        page = watched.open("index")
        assert page.evaluate(NOT_TYPESET) == []
        page.evaluate("""async tex => {
          document.querySelector('article p').innerHTML =
            '<span class="math notranslate nohighlight">\\\\(' + tex + '\\\\)</span>';
          await MathJax.typesetPromise();
        }""", wrong)
        assert len(page.evaluate(NOT_TYPESET)) >= 1


def test_a_page_without_scripts_says_what_needs_them(browser, address):
    with Watched(browser, address, WIDE, java_script_enabled=False) as watched:
        for name, needs in (
            ("02-kernel", "formulas"), ("07-scoreboard", "filter"), ("gauge-explorer", "sliders"),
            ("two-teachers-explorer", "sliders"),
        ):
            watched.page.goto(f"{address}/chapters/{name}.html")
            text = f"article noscript p:has-text('{needs}')"
            assert watched.page.locator(text).first.is_visible()


def choose(page, label, word):
    """Choose a word of one filter of the scoreboard; the number of rows then shown."""
    page.get_by_label(label, exact=True).select_option(word)
    return page.locator("tbody tr[data-id]:visible").count()


def test_the_scoreboard_is_filtered_as_the_ledger_says(browser, address):
    reported = [row for _, row in claims.collect(sorted(CHAPTERS.glob("*.ipynb")))]
    everything = claims.load().values()
    with Watched(browser, address, WIDE) as watched:
        page = watched.open("chapters/07-scoreboard")
        own = [claim for claim in everything if claim.paper == "beyond"]
        assert choose(page, "Claim of", "This book") == len(own)
        assert choose(page, "Claim of", "") == len(everything)
        weak = [row for row in reported if row.null_passes]
        assert choose(page, "Null", "null passes") == len(weak)
        choose(page, "Null", "")
        for verdict in {row.verdict for row in reported}:
            found = [row for row in reported if row.verdict == verdict]
            assert choose(page, "Verdict", verdict) == len(found)
        choose(page, "Verdict", "")
        first = page.get_by_label("Chapter", exact=True).locator("option").nth(1).inner_text()
        owed = [claim for claim in everything if claim.chapter == first[:2]]
        assert choose(page, "Chapter", first) == len(owed)
        page.get_by_role("button", name="Show all").click()
        page.get_by_label("Text", exact=True).fill(reported[0].id.lower())
        assert page.locator(f"tr[data-id='{reported[0].id}']").is_visible()
        assert watched.complaints == []


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_the_search_finds_a_chapter(browser, address, size):
    with Watched(browser, address, size) as watched:
        page = watched.open("index")
        page.locator("button.search-button__button:visible").first.click()
        box = page.locator("input[type=search]:visible").first
        box.fill("kernel")
        box.press("Enter")
        page.wait_for_selector("#search-results a[href*='02-kernel']")
        assert watched.complaints == []


def test_the_theme_switch_changes_the_colours(browser, address):
    with Watched(browser, address, WIDE) as watched:
        page = watched.open("index")
        seen = set()
        for _ in range(3):
            page.locator("button.theme-switch-button:visible").first.click()
            seen.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        assert len(seen) == 2
        assert watched.complaints == []


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("name", ["gauge-explorer", "two-teachers-explorer"])
def test_every_slider_moves_by_keyboard_and_changes_the_figure(browser, address, size, name):
    with Watched(browser, address, size) as watched:
        page = watched.open(f"chapters/{name}")
        sliders = page.locator("input[type=range]")
        assert sliders.count() > 0
        for place in range(sliders.count()):
            value, figures = sliders.nth(place).input_value(), page.evaluate(FIGURES)
            at_end = value == sliders.nth(place).get_attribute("max")
            sliders.nth(place).press("ArrowLeft" if at_end else "ArrowRight")
            assert sliders.nth(place).input_value() != value
            assert page.evaluate(FIGURES) != figures
        assert watched.complaints == []
