"""Every stored chapter is whole: paired, executed, quiet, small, with captioned figures."""

import pytest
import yaml
from notebook_guards import CHAPTERS, ROOT, code_cells, complaints, images, read

CHAPTER_NOTEBOOKS = sorted(CHAPTERS.glob("*.ipynb"))
NOTEBOOKS = [*CHAPTER_NOTEBOOKS, ROOT / "index.ipynb"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_stored_chapter_passes_every_guard(path):
    assert complaints(path) == []


def test_every_source_has_a_notebook_and_every_notebook_a_source():
    assert {p.stem for p in CHAPTERS.glob("*.py")} == {p.stem for p in CHAPTER_NOTEBOOKS}


def test_the_table_of_contents_lists_every_chapter():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    listed = {entry["file"] for part in toc["parts"] for entry in part["chapters"]}
    assert {f"chapters/{path.stem}" for path in CHAPTER_NOTEBOOKS} == {
        file for file in listed if file.startswith("chapters/")
    }


def test_the_figures_of_what_we_found_are_those_of_their_chapters():
    """Every picture of the page is stored in a chapter too: none is left from an older run."""
    page = CHAPTERS / "what-we-found.ipynb"
    others = [path for path in CHAPTER_NOTEBOOKS if path != page]
    made = {image for path in others for cell in code_cells(read(path)) for image in images(cell)}
    shown = [image for cell in code_cells(read(page)) for image in images(cell)]
    assert len(shown) > 5 and {image.strip() for image in shown} <= {x.strip() for x in made}
