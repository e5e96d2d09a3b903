"""The book in a real browser, on a wide and a narrow screen, without the network."""

from urllib.parse import urlsplit

import pytest
import yaml
from notebook_guards import ROOT

pytestmark = [pytest.mark.book, pytest.mark.browser]

WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
AXE = ROOT / "tests" / "vendor" / "axe-core" / "axe.min.js"
# The theme's own: the label of the button that unfolds hidden code, the roles in a bibliography.
THEMES_OWN = ["label-content-name-mismatch"]
THEMES_OWN_ON = {
    "bibliography": ["aria-deprecated-role", "aria-allowed-role", "aria-required-children"],
}

TYPESET = "() => window.MathJax?.startup?.promise === undefined || MathJax.startup.promise"
VISIBLE_PROSE = """() => {
  const article = document.querySelector('article').cloneNode(true);
  article.querySelectorAll('pre, code, script, style, mjx-container').forEach(e => e.remove());
  return article.textContent;
}"""
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
PAGE_SCROLLS = "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"
# MathJax's containers are its own, and axe would spend most of its time on their glyphs.
RUN_AXE = """rules => axe.run(
  {include: ['article'], exclude: ['mjx-container']},
  {resultTypes: ['violations'], rules: Object.fromEntries(
    rules.map(rule => [rule, {enabled: false}]))}).then(result => result.violations.flatMap(
  v => v.nodes.map(n => `${v.id}: ${n.html.slice(0, 160)}`)))"""
FIGURES = """() => [...document.querySelectorAll('article svg')].map(e => e.outerHTML).join()"""


def page_names():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    return [toc["root"]] + [c["file"] for part in toc["parts"] for c in part["chapters"]]


class Watched:
    """A page that keeps a list of everything that went wrong on it."""

    def __init__(self, browser, address, size, color_scheme="light"):
        self.address, self.complaints = address, []
        self.context = browser.new_context(viewport=size, color_scheme=color_scheme)
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
        prose = page.evaluate(VISIBLE_PROSE)
        assert [mark for mark in ("$", r"\(", r"\[", r"\frac", r"\mathbb") if mark in prose] == []
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
def test_code_and_displays_fit_a_wide_screen(browser, address, name):
    with Watched(browser, address, WIDE) as watched:
        assert watched.open(name).evaluate(CUT_OFF) == []


def test_mathematics_is_typeset(browser, address):
    with Watched(browser, address, WIDE) as watched:
        page = watched.open("chapters/02-kernel")
        assert page.locator("article mjx-container").count() > 0


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
def test_every_slider_moves_by_keyboard_and_changes_the_figure(browser, address, size):
    with Watched(browser, address, size) as watched:
        page = watched.open("chapters/gauge-explorer")
        sliders = page.locator("input[type=range]")
        assert sliders.count() > 0
        for place in range(sliders.count()):
            value, figures = sliders.nth(place).input_value(), page.evaluate(FIGURES)
            at_end = value == sliders.nth(place).get_attribute("max")
            sliders.nth(place).press("ArrowLeft" if at_end else "ArrowRight")
            assert sliders.nth(place).input_value() != value
            assert page.evaluate(FIGURES) != figures
        assert watched.complaints == []
