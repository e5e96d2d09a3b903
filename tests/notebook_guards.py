"""What must hold for a stored notebook.  Each guard returns a list of complaints."""

import ast
import base64
import io
import re
from pathlib import Path

import nbformat
import rerun
from PIL import Image

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
# "6000 states", not "m = 8 only" or "π/6 apart"
TYPED_COUNT = re.compile(r"(?<![\w.=-])(?<!= )(?<!π/)\d+ [a-z]{4,}")
FRACTION = re.compile(r"(?<![\w.])\d+\.\d+(?![\w.]*\d)|(?<![\w.])\d+e-?\d+")
GLUE = GLUE_PREFIX + "text/plain"
MIMES = {"text/plain", "text/html", "image/png", claims.MIME, GLUE}  # nbval compares all but PNG
LEAST_IMAGE = 100  # pixels, in width and in height
LEAST_ALT_WORDS = 3
TAGS = {"hide-input", "hide-output", "hide-cell"}  # they fold; others change what nbval compares
CELL_METADATA = {"tags", "mystnb", "lines_to_next_cell"}  # the last one is jupytext's
FIGURE_METADATA = {"figure": {"caption", "name"}, "image": {"alt"}}
STORED = ("outputs", "execution_count")


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


def sourced(cell):
    """What the .py decides of a cell: everything but what running it stores."""
    return {key: value for key, value in cell.items() if key not in STORED}


def unpaired(notebook, source):
    """The .py and the .ipynb hold the same cells: sources, ids, tags and all metadata."""
    paired = rerun.read_source(source)
    if len(paired.cells) != len(notebook.cells):
        return [f"{len(paired.cells)} cells in the .py, {len(notebook.cells)} in the .ipynb"]
    pairs = enumerate(zip(paired.cells, notebook.cells, strict=True))
    complaints = [f"cell {n} differs: {b.source[:60]!r}" for n, (a, b) in pairs
                  if sourced(a) != sourced(b)]
    if {**paired.metadata, "language_info": rerun.LANGUAGE} != notebook.metadata:
        complaints.append(f"the notebook's metadata are {dict(notebook.metadata)}")
    return complaints


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


def strange_metadata(notebook):
    """Cells have known tags and keys only: no timing, and nothing that speaks to nbval."""
    complaints = []
    for n, cell in enumerate(notebook.cells):
        mystnb = cell.metadata.get("mystnb", {})
        strange = set(cell.metadata) - CELL_METADATA | set(cell.metadata.get("tags", [])) - TAGS
        strange |= set(mystnb) - set(FIGURE_METADATA)
        for key, known in FIGURE_METADATA.items():
            strange |= set(mystnb.get(key, {})) - known
        complaints += [f"cell {n} is marked {mark!r}" for mark in sorted(strange)]
    return complaints


def unchecked(notebook):
    """A comment such as NBVAL_SKIP would let any output pass."""
    return [f"cell {cell.execution_count} speaks to nbval" for cell in code_cells(notebook)
            if "nbval" in cell.source.lower()]


def strange_outputs(notebook):
    """Outputs are of known kinds, and only glue carries metadata: its own name."""
    complaints = []
    for cell in code_cells(notebook):
        for output in (output for output in cell.outputs if "data" in output):
            strange = set(output.data) - MIMES
            complaints += [f"cell {cell.execution_count} stores {mime}" for mime in sorted(strange)]
            if set(output.metadata) - ({"scrapbook"} if GLUE in output.data else set()):
                complaints.append(f"cell {cell.execution_count} stores {dict(output.metadata)}")
    return complaints


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
    return [data["image/png"] for data in bundles(cell) if "image/png" in data]


def picture_complaint(stored):
    """Why a stored PNG is no picture; None if it decodes to its end and shows something."""
    try:
        png = base64.b64decode(stored, validate=False)
        Image.open(io.BytesIO(png), formats=["PNG"]).verify()
        picture = Image.open(io.BytesIO(png), formats=["PNG"]).convert("RGB")
    except (OSError, SyntaxError, ValueError) as error:
        return f"a broken PNG ({type(error).__name__})"
    if min(picture.size) < LEAST_IMAGE:
        return f"an image of {picture.size} pixels"
    if all(low == high for low, high in picture.getextrema()):
        return "an image of one colour"
    return None


def broken_images(notebook):
    found = [(cell, picture_complaint(png)) for cell in code_cells(notebook)
             for png in images(cell)]
    return [f"cell {cell.execution_count} stores {fault}" for cell, fault in found if fault]


def says_something(alt):
    return len(set(re.findall(r"[^\W\d_]{2,}", alt.lower()))) >= LEAST_ALT_WORDS


def figure_complaints(cell, next_cells):
    """A figure has one image, a caption, a name, alt text, and its numbers close by."""
    metadata = cell.metadata.get("mystnb", {})
    figure, image = metadata.get("figure", {}), metadata.get("image", {})
    faults = {
        f"{len(images(cell))} images": len(images(cell)) != 1,
        "no caption": not figure.get("caption", "").strip(),
        "no name": not figure.get("name", "").startswith("fig-"),
        "no alt text in words": not says_something(image.get("alt", "")),
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
        if mime.startswith(GLUE_PREFIX) and not (mime == GLUE and value[0] in "'\"")
    ]


def measured_texts(notebook):
    """(claim, expression) of what stands beside the id of a claim in a call, tuple or list."""
    for cell in code_cells(notebook):
        for node in ast.walk(ast.parse(cell.source)):
            beside = getattr(node, "args", None) if isinstance(node, ast.Call) else None
            first, *others = beside or getattr(node, "elts", None) or [None]
            if isinstance(first, ast.Constant) and first.value in claims.load() and others:
                yield first.value, last_value_of(others[0], cell.source)


def last_value_of(expression, source):
    """What was assigned last, before it is used, to the name that the expression is; else itself.

    A name that was assigned in another cell is left as it is.
    """
    if not isinstance(expression, ast.Name):
        return expression
    found = [node for node in ast.walk(ast.parse(source))
             if isinstance(node, ast.Assign) and node.lineno <= expression.lineno
             and any(getattr(target, "id", "") == expression.id for target in node.targets)]
    return max(found, key=lambda node: node.lineno).value if found else expression


def typed_measurements(notebook):
    """The measured text of a claim is computed: no plain string, no count typed into it."""
    complaints = []
    for claim, text in measured_texts(notebook):
        typed = [part.value for part in ast.walk(text)
                 if isinstance(part, ast.Constant) and isinstance(part.value, str)]
        if typed and isinstance(text, ast.Constant):
            complaints.append(f"{claim} is measured by the typed text {typed[0]!r}")
        complaints += [f"{claim} has a typed count in {part!r}" for part in typed
                       if TYPED_COUNT.search(part)]
    return complaints


CARRIED = re.compile(r" From \{numref\}`chapter-[\w-]+`\.$")


def measured_descriptions(notebook):
    """Captions and alt texts describe shapes: a fraction in them is a parameter of the code."""
    nodes = [node for cell in code_cells(notebook) for node in ast.walk(ast.parse(cell.source))]
    constants = {float(node.value) for node in nodes
                 if isinstance(node, ast.Constant) and isinstance(node.value, (int, float))}
    complaints = []
    for cell in code_cells(notebook):
        metadata = cell.metadata.get("mystnb", {})
        for kind, key in (("figure", "caption"), ("image", "alt")):
            text = metadata.get(kind, {}).get(key, "")
            if CARRIED.search(text):  # a chapter's caption, guarded there
                continue
            complaints += [f"cell {cell.execution_count}: the {key} gives {number}, which is not "
                           "typed in the code" for number in FRACTION.findall(text)
                           if float(number) not in constants]
    return complaints


LOOSE_LABEL = re.compile(r"^ *(\(eq-[\w-]+\)) *$", re.M)


def loose_labels(notebook):
    """The label of a display stands behind its closing $$: on a line of its own it is text."""
    return [f"cell {n} shows {label}" for n, cell in enumerate(notebook.cells)
            if cell.cell_type == "markdown" for label in LOOSE_LABEL.findall(cell.source)]


GUARDS = (
    unexecuted, failed_outputs, strange_metadata, unchecked, strange_outputs, long_code,
    long_outputs, bare_figures, broken_images, raw_glue, typed_measurements,
    measured_descriptions, loose_labels,
)


def complaints(path):
    """Everything that is wrong with a stored notebook and its pair."""
    notebook = read(path)
    found = unpaired(notebook, path.with_suffix(".py")) + oversized(path)
    return found + [complaint for guard in GUARDS for complaint in guard(notebook)]
