"""Every stored chapter is whole: paired, executed, quiet, small, with captioned figures."""

import base64
import io

import numpy as np
import pytest
import yaml
from notebook_guards import CARRIED, CHAPTERS, ROOT, code_cells, complaints, images, read
from PIL import Image

CHAPTER_NOTEBOOKS = sorted(CHAPTERS.glob("*.ipynb"))
NOTEBOOKS = [*CHAPTER_NOTEBOOKS, ROOT / "index.ipynb"]


def pixels(stored):
    """(height, width, 3) of a stored PNG, in 0..255."""
    picture = Image.open(io.BytesIO(base64.b64decode(stored))).convert("RGB")
    return np.array(picture, dtype=float)


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


def caption(cell):
    return cell.metadata.get("mystnb", {}).get("figure", {}).get("caption", "")


def test_the_figures_of_what_we_found_are_those_of_their_chapters():
    """Each picture is one of a chapter, in fewer colours, with its caption: none is outdated."""
    page = CHAPTERS / "what-we-found.ipynb"
    made = [pixels(image) for path in CHAPTER_NOTEBOOKS if path != page
            for cell in code_cells(read(path)) for image in images(cell)]
    shown = [pixels(image) for cell in code_cells(read(page)) for image in images(cell)]
    assert len(shown) > 5
    written = {caption(cell) for path in CHAPTER_NOTEBOOKS if path != page
               for cell in code_cells(read(path))}
    assert {CARRIED.sub("", caption(cell)) for cell in code_cells(read(page))} <= written | {""}
    for picture in shown:
        same_size = [other for other in made if other.shape == picture.shape]
        assert min(np.abs(other - picture).mean() for other in same_size) < 0.4
