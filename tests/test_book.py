"""The built book holds together: links, anchors, titles, and nothing from elsewhere."""

import page_guards
import pytest

pytestmark = pytest.mark.book

BROKEN = """<html><head><title> </title></head><body>
<a href="#nowhere">a</a> <a href="missing.html">b</a> <a href="page.html#here">c</a>
<p id="here">/tmp/x</p> <p>A price of <span class="math">\\(5 and \\)</span>\\alpha is $6.</p>
<code>$HOME \\n</code> <pre>\\beta</pre> <span class="math">\\(\\gamma\\)</span>
<img src="https://example.org/x.png" alt="\\delta"> <script src="gone.js"></script>
</body></html>"""


@pytest.mark.parametrize("guard", page_guards.GUARDS, ids=lambda guard: guard.__name__)
def test_no_page_has(book, guard):
    complaints = {str(page.relative_to(book)): guard(page) for page in page_guards.pages(book)}
    assert {page: found for page, found in complaints.items() if found} == {}


def test_the_guards_notice_a_bad_page(tmp_path):
    page = tmp_path / "page.html"
    page.write_text(BROKEN, encoding="utf-8")
    assert page_guards.broken_links(page) == [
        "#nowhere: no such anchor", "missing.html: no such page",
    ]
    assert page_guards.outside_resources(page) == ["https://example.org/x.png"]
    assert page_guards.missing_resources(page) == ["gone.js"]
    assert page_guards.raw_tex(page) == ["\\alpha", "$6.", "\\delta"]
    assert page_guards.untitled(page) == ["no title"]
    assert page_guards.paths_of_this_machine(page) == ["/tmp/"]
