"""What must hold for the built pages.  Each guard returns a list of complaints."""

import re
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup
from notebook_guards import ROOT

RESOURCES = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
OUTSIDE = ("http:", "https:", "//")
RAW_TEX = re.compile(r"\\(?:[A-Za-z]+|[()\[\]])|\$\S*")
NOT_PROSE = ["pre", "code", "script", "style", "noscript"]
READ_ALOUD = ("alt", "title", "aria-label")


@lru_cache(maxsize=None)
def parse(path):
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def pages(book):
    return sorted(path for path in book.rglob("*.html") if "_static" not in path.parts)


@lru_cache(maxsize=None)
def anchors(path):
    return {tag["id"] for tag in parse(path).find_all(id=True)} | {""}


def target(page, link):
    """The file and the anchor that an internal link leads to."""
    parts = urlsplit(link)
    file = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    return file, unquote(parts.fragment)


def broken_links(page):
    links = [tag["href"] for tag in parse(page).find_all("a", href=True)]
    internal = [link for link in links if not urlsplit(link).scheme]
    complaints = []
    for link in internal:
        file, anchor = target(page, link)
        if not file.is_file():
            complaints.append(f"{link}: no such page")
        elif file.suffix == ".html" and anchor not in anchors(file):
            complaints.append(f"{link}: no such anchor")
    return complaints


def outside_resources(page):
    return [
        tag[attribute]
        for name, attribute in RESOURCES.items()
        for tag in parse(page).find_all(name)
        if tag.get(attribute, "").startswith(OUTSIDE)
        and tag.get("rel") not in (["canonical"], ["license"])
    ]


def missing_resources(page):
    named = [
        tag[attribute]
        for name, attribute in RESOURCES.items()
        for tag in parse(page).find_all(name)
        if tag.get(attribute) and not tag[attribute].startswith((*OUTSIDE, "data:"))
    ]
    return [name for name in named if not target(page, name)[0].is_file()]


def untitled(page):
    title = parse(page).title
    return [] if title and title.get_text(strip=True) else ["no title"]


def raw_tex(page):
    """Marks of TeX where MathJax does not look: in prose, titles and what is read aloud."""
    prose = [
        text for text in parse(page).find_all(string=True)
        if not text.find_parent(NOT_PROSE) and not text.find_parent(class_="math")
    ]
    spoken = [tag[name] for name in READ_ALOUD for tag in parse(page).find_all(**{name: True})]
    return [mark for text in prose + spoken for mark in RAW_TEX.findall(text)]


def paths_of_this_machine(page):
    text = page.read_text(encoding="utf-8")
    return [path for path in (str(ROOT), str(Path.home()) + "/", "/tmp/") if path in text]


GUARDS = (
    broken_links, outside_resources, missing_resources, untitled, raw_tex, paths_of_this_machine,
)
