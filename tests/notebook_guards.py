"""What must hold for a stored notebook.  Each guard returns a list of complaints."""

import ast
import re
from pathlib import Path

import jupytext
import nbformat

from gaugelib import claims

ROOT = Path(__file__).resolve().parent.parent
CHAPTERS = ROOT / "chapters"

MAX_BYTES = 1_000_000
MAX_CELL_LINES = 25
MAX_COLUMNS = 100
MAX_TEXT = 20_000
MAX_HTML = 400_000
CELLS_TO_NUMBERS = 2
GLUE_PREFIX = "application/papermill.record/"
TIMING = {"execution", "ExecuteTime", "papermill"}
PAIRED_METADATA = ("tags", "mystnb")
# "6000 states", not "m = 8 only" or "π/6 apart"
TYPED_COUNT = re.compile(r"(?<![\w.=-])(?<!= )(?<!π/)\d+ [a-z]{4,}")


def read(path):
    return nbformat.read(path, as_version=4)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def bundles(cell):
    return [output.data for output in cell.outputs if "data" in output]


def shown_text(cell):
    """What a reader sees of a code cell's output as text, glue apart."""
    streams = [output.text for output in cell.outputs if output.output_type == "stream"]
    shown = [data for data in bundles(cell) if not any(m.startswith(GLUE_PREFIX) for m in data)]
    tables = [data.get("text/html") or data.get("text/plain", "") for data in shown]
    return "\n".join(streams + [text for text in tables if not text.startswith("<Figure size")])


def described(cell):
    metadata = {key: cell.metadata[key] for key in PAIRED_METADATA if key in cell.metadata}
    return cell.cell_type, cell.source, metadata


def unpaired(notebook, source):
    """The .py and the .ipynb hold the same cells, sources, tags and figure metadata."""
    paired = jupytext.read(source, fmt="py:percent")
    if len(paired.cells) != len(notebook.cells):
        return [f"{len(paired.cells)} cells in the .py, {len(notebook.cells)} in the .ipynb"]
    pairs = enumerate(zip(paired.cells, notebook.cells, strict=True))
    return [f"cell {n} differs: {b.source[:60]!r}" for n, (a, b) in pairs
            if described(a) != described(b)]


def unexecuted(notebook):
    """nbval passes over a cell without an execution count, so the counts must be 1..n."""
    counts = [cell.execution_count for cell in code_cells(notebook)]
    if counts == list(range(1, len(counts) + 1)):
        return []
    return [f"execution counts are {counts}"]


def failed_outputs(notebook):
    return [
        f"cell {cell.execution_count} stores {output.get('name', output.output_type)}"
        for cell in code_cells(notebook)
        for output in cell.outputs
        if output.output_type == "error" or output.get("name") == "stderr"
    ]


def timed(notebook):
    return [f"a cell stores {sorted(TIMING & set(cell.metadata))}" for cell in notebook.cells
            if TIMING & set(cell.metadata)]


def oversized(path):
    size = path.stat().st_size
    return [f"{size} bytes"] if size >= MAX_BYTES else []


def long_code(notebook):
    complaints = []
    for cell in code_cells(notebook):
        lines = [line for line in cell.source.splitlines() if line.strip()]
        if len(lines) > MAX_CELL_LINES:
            complaints.append(f"cell {cell.execution_count} has {len(lines)} lines")
        complaints += [f"cell {cell.execution_count} has a line of {len(line)} columns"
                       for line in lines if len(line) > MAX_COLUMNS]
    return complaints


def long_outputs(notebook):
    complaints = []
    for cell in code_cells(notebook):
        streams = [o.text for o in cell.outputs if o.output_type == "stream"]
        texts = streams + [data.get("text/plain", "") for data in bundles(cell)]
        pages = [data.get("text/html", "") for data in bundles(cell)]
        widest = max((len(line) for text in streams for line in text.splitlines()), default=0)
        if widest > MAX_COLUMNS:
            complaints.append(f"cell {cell.execution_count} prints a line of {widest} columns")
        if any(len(t) > MAX_TEXT for t in texts) or any(len(p) > MAX_HTML for p in pages):
            complaints.append(f"cell {cell.execution_count} has an output that is too long")
    return complaints


def images(cell):
    return sum("image/png" in data or "image/svg+xml" in data for data in bundles(cell))


def figure_complaints(cell, next_cells):
    """A figure has one image, a caption, a name, alt text, and its numbers close by."""
    metadata = cell.metadata.get("mystnb", {})
    figure, image = metadata.get("figure", {}), metadata.get("image", {})
    faults = {
        f"{images(cell)} images": images(cell) != 1,
        "no caption": not figure.get("caption", "").strip(),
        "no name": not figure.get("name", "").startswith("fig-"),
        "no alt text": len(image.get("alt", "")) < 10,
        "no printed numbers in it or after it": not any(
            re.search(r"\d", shown_text(near)) for near in [cell, *next_cells]
        ),
    }
    return [fault for fault, present in faults.items() if present]


def bare_figures(notebook):
    cells = code_cells(notebook)
    return [
        f"cell {cell.execution_count}: {fault}"
        for place, cell in enumerate(cells)
        if images(cell) or "figure" in cell.metadata.get("mystnb", {})
        for fault in figure_complaints(cell, cells[place + 1:place + 1 + CELLS_TO_NUMBERS])
    ]


def raw_glue(notebook):
    """Glued values are strings: a glued float would be compared in every digit."""
    return [
        f"cell {cell.execution_count} glues {value}"
        for cell in code_cells(notebook)
        for data in bundles(cell)
        for mime, value in data.items()
        if mime.startswith(GLUE_PREFIX) and not (mime.endswith("text/plain") and value[0] in "'\"")
    ]


def measured_texts(notebook):
    """(claim, expression) of what stands beside the id of a claim in a call, tuple or list."""
    for cell in code_cells(notebook):
        for node in ast.walk(ast.parse(cell.source)):
            beside = getattr(node, "args", None) if isinstance(node, ast.Call) else None
            first, *others = beside or getattr(node, "elts", None) or [None]
            if isinstance(first, ast.Constant) and first.value in claims.load() and others:
                yield first.value, others[0]


def typed_measurements(notebook):
    """The measured text of a claim is computed: no plain string, no count typed into it.

    A text that a variable holds is not looked into.
    """
    complaints = []
    for claim, text in measured_texts(notebook):
        typed = [part.value for part in ast.walk(text)
                 if isinstance(part, ast.Constant) and isinstance(part.value, str)]
        if typed and isinstance(text, ast.Constant):
            complaints.append(f"{claim} is measured by the typed text {typed[0]!r}")
        complaints += [f"{claim} has a typed count in {part!r}" for part in typed
                       if TYPED_COUNT.search(part)]
    return complaints


def complaints(path):
    """Everything that is wrong with a stored notebook and its pair."""
    notebook = read(path)
    guards = (unexecuted, failed_outputs, timed, long_code, long_outputs, bare_figures, raw_glue)
    found = unpaired(notebook, path.with_suffix(".py")) + oversized(path)
    return found + [complaint for guard in guards for complaint in guard(notebook)]
