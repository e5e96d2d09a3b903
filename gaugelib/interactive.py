"""Live HTML without a server: sliders over computed frames, and tables that can be filtered.

Everything is one string of HTML with inline SVG, data and a few lines of JavaScript.  It asks
nothing of the network or a kernel, is worked by keyboard, and shows its first frame (or the
whole table) where scripts do not run.  Colours: Okabe and Ito's, readable on white and on black;
all else is drawn in the colour of the text.
"""

import html
import json
import math
import re
from dataclasses import dataclass

import numpy as np

from gaugelib.checks import finite, whole

LEVELS = 4000  # steps of an axis, of the 4095 that two letters can count
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
COLOURS = ("#0072B2", "#D55E00", "#009E73")
DASHES = ("none", "7 4", "2 3")
LEVEL_OF_LEGEND = 6  # of 9, how dark the colours of a legend are
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 340, 210, 46, 12, 26, 40


@dataclass(frozen=True)
class Control:
    """A slider: its label, the text of each position, and the position it starts at."""

    label: str
    texts: tuple
    start: int = 0

    def __post_init__(self):
        if not self.texts:
            raise ValueError(f"texts of {self.label!r} must not be empty")
        if whole("start", self.start, 0) >= len(self.texts):
            raise ValueError(f"start must be in 0..{len(self.texts) - 1}, got {self.start!r}")


@dataclass(frozen=True)
class Axis:
    """A linear axis from low to high with ticks (position, text).  For a logarithmic one give
    logarithms as positions."""

    label: str
    low: float
    high: float
    ticks: tuple

    def __post_init__(self):
        _check_range(self.low, self.high)


@dataclass(frozen=True)
class Series:
    """A curve in every frame: values (n_1, ..., n_k, points) for k controls.

    ``power`` says that the values are decimal logarithms, so that the numbers shown are 10^v.
    """

    name: str
    values: np.ndarray
    power: bool = False


@dataclass(frozen=True)
class Panel:
    """One small figure: title, vertical axis and at most three curves."""

    title: str
    axis: Axis
    series: tuple

    def __post_init__(self):
        if not 1 <= len(self.series) <= len(COLOURS):
            raise ValueError(f"series must be 1 to {len(COLOURS)}, got {len(self.series)}")


def _check_range(low, high):
    if not finite("low", low) < finite("high", high):
        raise ValueError(f"low must be less than high, got {low!r} and {high!r}")


def encode(values, low, high):
    """Values (n,) in [low, high] as two letters each: the nearest of LEVELS + 1 equal steps.

    Values outside are moved to the nearer end.  low < high.
    """
    values = finite("values", values)
    if values.ndim != 1:
        raise ValueError(f"values must be (n,), got shape {values.shape}")
    _check_range(low, high)
    share = (np.clip(values, low, high) - low) / (high - low)
    steps = np.rint(LEVELS * share).astype(int)
    return "".join(ALPHABET[k // 64] + ALPHABET[k % 64] for k in steps)


def decode(text, low, high):
    """The values (n,) of :func:`encode`, each within (high - low)/(2 LEVELS)."""
    _check_range(low, high)
    if len(text) % 2 or not set(text) <= set(ALPHABET):
        raise ValueError(f"text must be pairs of letters from {ALPHABET}, got {text!r}")
    letters = np.array([ALPHABET.index(letter) for letter in text]).reshape(-1, 2)
    return low + (high - low) * (letters @ [64, 1]) / LEVELS


def digits_shown(axis, power=False):
    """How many digits :func:`encode` carries: of v after the point, or with ``power`` of 10^v.

    A value rounded to so many is read back as it was rounded, because half a step of the axis
    is less than half a unit of the last digit.
    """
    half_step = (axis.high - axis.low) / (2 * LEVELS)
    error = 10**half_step - 1 if power else half_step  # of 10^v: relative
    digits = math.ceil(-math.log10(2 * error)) - 1
    if digits < power:
        raise ValueError(f"axis must be short enough to show a digit, got {axis!r}")
    return digits


def rounded(values, axis, power=False):
    """Values (...) rounded to :func:`digits_shown`; with ``power`` it is 10^v that is rounded.

    A power above the low end of the axis, which is read as "at most", stays a step above it.
    """
    values, digits = finite("values", values), digits_shown(axis, power)
    if not power:
        return np.round(values, digits)
    exponent = np.floor(values)
    near = exponent + np.log10(np.round(10 ** (values - exponent), digits - 1))
    first = axis.low + (axis.high - axis.low) / LEVELS
    return np.where(values > axis.low, np.maximum(near, first), near)


def slider(name, controls, cursor, x, x_axis, panels):
    """HTML of panels whose curves follow sliders; one more slider moves the reading line.

    What is drawn and read is rounded to :func:`digits_shown`, every digit right.

    Parameters
    ----------
    name : prefix of the element ids, unique in its page: a letter, then letters, digits, - and _
    controls : k controls; the shape (n_1, ..., n_k) of every series counts their positions
    cursor : a Control with one text for each point
    x : (points,) positions on ``x_axis``, common to all frames
    panels : what is drawn
    """
    x, name = finite("x", x), _element_id(name)
    shape = tuple(len(control.texts) for control in controls)
    for panel in panels:
        for series in panel.series:
            if np.shape(series.values) != (*shape, x.size):
                raise ValueError(
                    f"values of {series.name} must have shape {(*shape, x.size)}, "
                    f"got {np.shape(series.values)}"
                )
    if len(cursor.texts) != x.size:
        raise ValueError(f"cursor needs {x.size} texts, got {len(cursor.texts)}")
    curves = [(panel.axis, series) for panel in panels for series in panel.series]
    exact = [(rounded(s.values, axis, s.power), axis) for axis, s in curves]
    frames = [
        "".join(encode(values[index], axis.low, axis.high) for values, axis in exact)
        for index in np.ndindex(shape)
    ]
    data = {
        "alphabet": ALPHABET,
        "levels": LEVELS,
        "shape": shape,
        "x": [_place_x(v, x_axis) for v in x],
        "top": TOP,
        "height": HEIGHT - TOP - BOTTOM,
        "curves": [
            {"name": s.name, "low": axis.low, "high": axis.high, "power": s.power,
             "digits": digits_shown(axis, s.power)}
            for axis, s in curves
        ],
        "frames": frames,
    }
    first = frames[np.ravel_multi_index([c.start for c in controls], shape) if shape else 0]
    drawn = f'<div class="live-panels">{_drawn(panels, first, x, x_axis, cursor.start)}</div>'
    return _live(name, (*controls, cursor), "", drawn, data, _SLIDER_SCRIPT)


def _live(name, controls, readout, drawn, data, script):
    """Sliders, a line that is read out, what is drawn, and the script that keeps them together."""
    choose = "".join(_control(name, k, control) for k, control in enumerate(controls))
    data = data | {"texts": [list(control.texts) for control in controls]}
    whole = _LIVE_SCRIPT.replace("SHOW", script).replace("NAME", name)
    return (
        f'<div class="live" id="{name}">'
        f'<fieldset disabled><legend>Choose</legend><div class="live-controls">{choose}</div>'
        "</fieldset><noscript><p>The sliders need JavaScript; this is the first frame.</p>"
        f'</noscript><p class="live-readout" aria-live="polite">{html.escape(readout)}</p>{drawn}'
        f'<script type="application/json">{_script_json(data)}</script>'
        f"<script>{whole}</script></div>"
    )


def _script_json(data):
    """JSON without "<", so that it can neither end the script element it stands in nor open one."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _control(name, k, control):
    text = html.escape(control.texts[control.start])
    return (
        f'<div><label for="{name}-{k}">{html.escape(control.label)}: '
        f'<span class="live-value">{text}</span></label>'
        f'<input type="range" id="{name}-{k}" min="0" max="{len(control.texts) - 1}" step="1" '
        f'value="{control.start}" aria-valuetext="{text}"></div>'
    )


def _place_x(value, axis):
    return round(LEFT + (WIDTH - LEFT - RIGHT) * (value - axis.low) / (axis.high - axis.low), 1)


def _place_y(share):
    return round(TOP + (HEIGHT - TOP - BOTTOM) * (1 - share), 1)


def _drawn(panels, frame, x, x_axis, cursor):
    places = [_place_x(v, x_axis) for v in x]
    pieces, rest = [], frame
    for panel in panels:
        paths = ""
        for k in range(len(panel.series)):
            text, rest = rest[: 2 * len(places)], rest[2 * len(places) :]
            points = zip(places, map(_place_y, decode(text, 0, 1)), strict=True)
            paths += (
                f'<path class="live-curve" d="M{"L".join(f"{a} {b}" for a, b in points)}" '
                f'fill="none" stroke="{COLOURS[k]}" stroke-width="2" '
                f'stroke-dasharray="{DASHES[k]}"/>'
            )
        pieces.append(
            f"<figure><figcaption>{html.escape(panel.title)}</figcaption>"
            f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" font-size="11" fill="currentColor" '
            f'aria-label="{html.escape(panel.title)}: {html.escape(_names(panel))}">'
            f"{_axes(x_axis, panel.axis)}{paths}"
            f'<path class="live-cursor" d="M{places[cursor]} {TOP}V{HEIGHT - BOTTOM}" '
            f'stroke="currentColor" stroke-width="1" opacity="0.6"/>{_legend(panel)}</svg></figure>'
        )
    return "".join(pieces)


def _names(panel):
    return ", ".join(series.name for series in panel.series)


def _axes(x_axis, y_axis):
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    pieces = [f'<path d="M{LEFT} {TOP}V{bottom}H{right}" fill="none" stroke="currentColor"/>']
    for position, text in x_axis.ticks:
        at = _place_x(position, x_axis)
        pieces.append(
            f'<path d="M{at} {TOP}V{bottom}" stroke="currentColor" opacity="0.15"/>'
            f'<text x="{at}" y="{bottom + 15}" text-anchor="middle">{html.escape(text)}</text>'
        )
    for position, text in y_axis.ticks:
        at = _place_y((position - y_axis.low) / (y_axis.high - y_axis.low))
        pieces.append(
            f'<path d="M{LEFT} {at}H{right}" stroke="currentColor" opacity="0.15"/>'
            f'<text x="{LEFT - 5}" y="{at + 4}" text-anchor="end">{html.escape(text)}</text>'
        )
    middle = _place_y(0.5)
    return "".join(pieces) + (
        f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 6}" text-anchor="middle">'
        f"{html.escape(x_axis.label)}</text>"
        f'<text transform="translate(11 {middle}) rotate(-90)" text-anchor="middle">'
        f"{html.escape(y_axis.label)}</text>"
    )


def _legend(panel):
    step = (WIDTH - LEFT - RIGHT) / len(panel.series)
    return "".join(
        f'<path d="M{LEFT + k * step:.0f} 12h26" stroke="{COLOURS[k]}" stroke-width="2" '
        f'stroke-dasharray="{DASHES[k]}"/>'
        f'<text x="{LEFT + k * step + 31:.0f}" y="16">{html.escape(series.name)}</text>'
        for k, series in enumerate(panel.series)
    )


_LIVE_SCRIPT = """
(() => {
  const root = document.getElementById("NAME");
  const data = JSON.parse(root.querySelector("script[type='application/json']").textContent);
  const inputs = [...root.querySelectorAll("input")];
  const labels = [...root.querySelectorAll(".live-value")];
  const readout = root.querySelector(".live-readout");
SHOW
  const choose = () => {
    const places = inputs.map(input => Number(input.value));
    inputs.forEach((input, k) => {
      labels[k].textContent = data.texts[k][places[k]];
      input.setAttribute("aria-valuetext", data.texts[k][places[k]]);
    });
    show(data.shape.reduce((n, size, k) => n * size + places[k], 0), places.at(-1));
  };
  inputs.forEach(input => input.addEventListener("input", choose));
  root.querySelector("fieldset").disabled = false;
  choose();
})();
"""

_SLIDER_SCRIPT = """  const curves = [...root.querySelectorAll(".live-curve")];
  const cursors = [...root.querySelectorAll(".live-cursor")];
  const points = data.x.length;
  const digit = letter => data.alphabet.indexOf(letter);
  const share = (frame, curve, point) => {
    const at = 2 * (curve * points + point);
    return (64 * digit(frame[at]) + digit(frame[at + 1])) / data.levels;
  };
  const written = (curve, part) => {
    const value = curve.low + (curve.high - curve.low) * part;
    if (curve.power && part === 0) return `${curve.name} \\u2264 1e${curve.low}`;
    const digits = curve.digits;
    const text = curve.power ? (10 ** value).toPrecision(digits) : value.toFixed(digits);
    const signed = Number(text) === 0 ? text.replace("-", "") : text.replace(/^-/, "\\u2212");
    return `${curve.name} = ${signed}`;
  };
  const show = (at, cursor) => {
    const frame = data.frames[at];
    curves.forEach((path, k) => path.setAttribute("d", "M" + data.x.map((x, point) =>
      `${x} ${(data.top + data.height * (1 - share(frame, k, point))).toFixed(1)}`).join("L")));
    cursors.forEach(path => path.setAttribute("d",
      `M${data.x[cursor]} ${data.top}v${data.height}`));
    readout.textContent = `${labels.at(-1).textContent}: ` + data.curves.map((curve, k) =>
      written(curve, share(frame, k, cursor))).join(", ") + ".";
  };"""


@dataclass(frozen=True)
class Mark:
    """What a cell of a :func:`board` can be: what it means, the letter in it, and its colour."""

    meaning: str
    letter: str
    colour: str


def board(name, controls, headings, marks, kinds, shares, texts, *, label):
    """HTML of a table of coloured cells that follow sliders, with a sentence about each frame.

    Parameters
    ----------
    name : as in :func:`slider`
    controls : k Controls with n_1, ..., n_k positions
    headings : (rows, columns), two tuples of texts
    marks : at most ten Marks; ``kinds`` counts them
    kinds : (n_1, ..., n_k, rows, columns) whole numbers, the mark of each cell
    shares : the same shape, in [0, 1]: how dark the cell is, rounded to ninths
    texts : (n_1, ..., n_k) sentences, shown and read out
    label : describes the table
    """
    shape = tuple(len(control.texts) for control in controls)
    size = tuple(len(heading) for heading in headings)
    name, kinds, texts = _element_id(name), np.asarray(kinds), np.asarray(texts)
    shares = finite("shares", shares)
    if kinds.shape != (*shape, *size) or shares.shape != kinds.shape or texts.shape != shape:
        raise ValueError(
            f"kinds and shares must be {(*shape, *size)} and texts {shape}, "
            f"got {kinds.shape}, {shares.shape} and {texts.shape}"
        )
    whole = kinds.dtype.kind in "iu" and np.isin(kinds, range(len(marks))).all()
    if not (len(marks) <= 10 and whole):
        raise ValueError(f"kinds must be in 0..{min(len(marks), 10) - 1}, got {np.unique(kinds)}")
    if not np.all((shares >= 0) & (shares <= 1)):
        raise ValueError(f"shares must be in [0, 1], got {shares.min():g} to {shares.max():g}")
    levels = np.rint(9 * shares).astype(int)
    frames = [
        "".join(f"{k}{level}" for k, level in zip(kinds[i].flat, levels[i].flat, strict=True))
        for i in np.ndindex(shape)
    ]
    data = {
        "shape": shape,
        "colours": [mark.colour for mark in marks],
        "letters": [mark.letter for mark in marks],
        "meanings": [_spoken(mark) for mark in marks],
        "frames": frames,
        "sentences": texts.ravel().tolist(),
    }
    start = np.ravel_multi_index([control.start for control in controls], shape)
    drawn = _cells(headings, marks, frames[start], label)
    return _live(name, controls, data["sentences"][start], drawn, data, _BOARD_SCRIPT)


def _cells(headings, marks, frame, label):
    rows, columns = headings
    pairs = [(marks[int(a)], int(b)) for a, b in zip(frame[::2], frame[1::2], strict=True)]
    head = "".join(f'<th scope="col">{html.escape(text)}</th>' for text in columns)
    body = ""
    for i, text in enumerate(rows):
        cells = "".join(
            f'<td style="{_look(mark, level)}" aria-label="{html.escape(_spoken(mark))}">'
            f"{html.escape(mark.letter)}</td>"
            for mark, level in pairs[i * len(columns) : (i + 1) * len(columns)]
        )
        body += f'<tr><th scope="row">{html.escape(text)}</th>{cells}</tr>'
    legend = "".join(
        f'<li><span style="{_look(mark, LEVEL_OF_LEGEND)}">{html.escape(mark.letter)}</span> '
        f"{html.escape(mark.meaning)}</li>"
        for mark in marks
        if mark.meaning
    )
    return (
        f'<div class="wide-table" tabindex="0" role="region" aria-label="{html.escape(label)}">'
        f'<table class="live-board"><thead><tr><td></td>{head}</tr></thead>'
        f'<tbody>{body}</tbody></table></div><ul class="live-legend">{legend}</ul>'
    )


def _spoken(mark):
    return mark.meaning or mark.letter


def _look(mark, level):
    """The style of a cell: its colour, as dark as the level in 0..9; black letters on dark ones."""
    ink = "color:#000" if level > 4 else ""
    return f"--hue:{html.escape(mark.colour)};--level:{level};{ink}"


_BOARD_SCRIPT = """  const cells = [...root.querySelectorAll("tbody td")];
  const show = at => {
    cells.forEach((cell, k) => {
      const kind = data.frames[at][2 * k], level = data.frames[at][2 * k + 1];
      cell.textContent = data.letters[kind];
      cell.setAttribute("aria-label", data.meanings[kind]);
      cell.style.setProperty("--hue", data.colours[kind]);
      cell.style.setProperty("--level", level);
      cell.style.color = level > 4 ? "#000" : "";
    });
    readout.textContent = data.sentences[at];
  };"""


@dataclass(frozen=True)
class Line:
    """A line of a table: its cells as HTML, one word for each filter, and an id to search for."""

    cells: tuple
    words: tuple
    id: str = ""


def row(cells, attributes=""):
    """A row of :func:`table`; the cells, and the attributes if any, are HTML."""
    opening = f"<tr {attributes}>" if attributes else "<tr>"
    return opening + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def table(headings, rows, label):
    """HTML of a table that scrolls sideways where it must; ``label`` describes it.

    ``rows`` : from :func:`row`, with a cell for each heading
    """
    rows = list(rows)
    for line in rows:
        if line.count("<td>") != len(headings):
            raise ValueError(f"a row needs {len(headings)} cells, got {line!r}")
    head = "".join(f'<th scope="col">{html.escape(text)}</th>' for text in headings)
    return (
        f'<div class="wide-table" tabindex="0" role="region" aria-label="{html.escape(label)}">'
        f'<table class="claims"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody>'
        "</table></div>"
    )


def filter_table(name, headings, lines, filters, *, label, unit):
    """HTML of a table with one choice for each filter, a search of its text, and a live count.

    The search knows no case and one minus sign, and looks into the ids of the lines as well.
    ``filters`` names what ``Line.words`` hold; the choices are the words in order of appearance.
    ``label`` describes the table, ``unit`` is what its lines are called ("claims"), ``name`` is as
    in :func:`slider`.
    """
    name = _element_id(name)
    for line in lines:
        if len(line.cells) != len(headings) or len(line.words) != len(filters):
            raise ValueError(
                f"a line needs {len(headings)} cells and {len(filters)} words, got {line!r}"
            )
    choices = "".join(
        _choice(f"{name}-{k}", filtered, dict.fromkeys(line.words[k] for line in lines))
        for k, filtered in enumerate(filters)
    )
    body = [
        row(
            line.cells,
            f"data-words='{html.escape(json.dumps(line.words, ensure_ascii=False))}' "
            f"data-id='{html.escape(line.id)}'",
        )
        for line in lines
    ]
    script = _FILTER_SCRIPT.replace("UNIT", _in_template(unit)).replace('"NAME"', f'"{name}"')
    return (
        f'<div class="filter" id="{name}"><div class="filter-controls" role="group" '
        f'aria-label="Filter" hidden>{choices}'
        f'<div><label for="{name}-text">Text</label>'
        f'<input type="search" id="{name}-text" autocomplete="off"></div>'
        f'<button type="button">Show all</button></div>'
        "<noscript><p>The filter needs JavaScript; this is the whole table.</p></noscript>"
        f'<p role="status" aria-live="polite">{len(lines)} of {len(lines)} {html.escape(unit)}</p>'
        f"{table(headings, body, label)}"
        f"<script>{script}</script></div>"
    )


def _element_id(name):
    """``name``, which needs no escape in HTML, CSS and JavaScript."""
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z][\w-]*", name, re.A):
        raise ValueError(f"name must be a letter, then letters, digits, - and _, got {name!r}")
    return name


def _in_template(text):
    """Text for a template literal of JavaScript: it ends neither the literal nor the script."""
    return re.sub(r"[\\`$<]", lambda match: f"\\x{ord(match[0]):02x}", text)


def _choice(id, label, words):
    options = "".join(f"<option>{html.escape(word)}</option>" for word in words)
    return (
        f'<div><label for="{id}">{html.escape(label)}</label><select id="{id}">'
        f'<option value="">all</option>{options}</select></div>'
    )


_FILTER_SCRIPT = """
(() => {
  const root = document.getElementById("NAME");
  const controls = root.querySelector(".filter-controls");
  const selects = [...root.querySelectorAll("select")];
  const search = root.querySelector("input"), count = root.querySelector("[role=status]");
  const plain = text =>
    text.normalize("NFKC").toLowerCase().replace(/[\\u2010-\\u2015\\u2212]/g, "-");
  const rows = [...root.querySelectorAll("tbody tr")].map(row => ({
    row,
    words: JSON.parse(row.dataset.words),
    text: plain(`${row.textContent} ${row.dataset.id}`),
  }));
  const show = () => {
    const sought = plain(search.value.trim());
    for (const {row, words, text} of rows)
      row.hidden = !text.includes(sought)
        || selects.some((select, k) => select.value && select.value !== words[k]);
    const shown = rows.filter(({row}) => !row.hidden).length;
    count.textContent = `${shown} of ${rows.length} UNIT`;
  };
  [...selects, search].forEach(control => control.addEventListener("input", show));
  root.querySelector("button").addEventListener("click", () => {
    [...selects, search].forEach(control => { control.value = ""; });
    show();
  });
  controls.hidden = false;
  show();
})();
"""
