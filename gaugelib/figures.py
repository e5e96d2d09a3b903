"""How the book draws.  The only module that imports matplotlib; it computes nothing.

Every function draws on a given ``ax``, in the book's style, and leaves matplotlib's own settings
alone.  Series differ in colour *and* in dash or marker, so that a figure reads in grey and for
colour-blind readers (Okabe and Ito's palette).
"""

from functools import wraps

import matplotlib.pyplot as plt
import numpy as np

BLUE, ORANGE, GREEN, PINK, BLACK, SKY = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#222222",
    "#56B4E9",
)
COLOURS = (BLUE, ORANGE, GREEN, PINK, BLACK, SKY)
DASHES = ("-", (0, (5, 2)), (0, (1, 1.2)), (0, (6, 2, 1, 2)), (0, (2, 2)), (0, (8, 2)))
MARKERS = ("o", "s", "^", "D", "v", "P")
GUIDE, GUIDE_TEXT = "#777777", "#555555"

STYLE = {
    "figure.dpi": 144,
    "savefig.dpi": 144,
    "figure.constrained_layout.use": True,
    "figure.facecolor": "white",
    "axes.facecolor": "white",
    "font.size": 9.5,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
    "legend.frameon": False,
    "legend.handlelength": 2.6,
}


def _in_style(draw):
    """Matplotlib reads its settings as it draws, so each function draws inside the style."""

    @wraps(draw)
    def styled(*args, **kwargs):
        with plt.rc_context(STYLE):
            return draw(*args, **kwargs)

    return styled


def _cycle(k, styles):
    """Colour k, and a style that moves on by one each time the six colours are used up."""
    return COLOURS[k % 6], styles[(k + k // 6) % 6]


@_in_style
def panels(rows=1, columns=1, *, width=7.0, height=2.9, **kwargs):
    """A figure and its axes in the book's style; ``height`` is that of one row, in inches."""
    return plt.subplots(rows, columns, figsize=(width, height * rows), **kwargs)


@_in_style
def curves(ax, x, series, *, xlabel, ylabel, title=None, first=0, log=""):
    """Lines over x, one for each name in ``series`` (name -> (n,) values, or (x, values)).

    ``first`` is the first colour and dash used, ``log`` any of "x", "y", "xy".
    """
    for k, (name, values) in enumerate(series.items(), first):
        abscissa, ordinate = values if isinstance(values, tuple) else (x, values)
        colour, dash = _cycle(k, DASHES)
        ax.plot(abscissa, ordinate, label=name, color=colour, linestyle=dash)
    return finish(ax, xlabel, ylabel, title, log, legend=len(series) > 1)


@_in_style
def measured_points(ax, x, series, *, xlabel, ylabel, title=None, fits=None, log="xy"):
    """Markers for measured values and, for each name in ``fits``, the line fit(x) through them."""
    x = np.asarray(x, dtype=float)
    for k, (name, values) in enumerate(series.items()):
        colour, marker = _cycle(k, MARKERS)
        ax.plot(x, values, marker, color=colour, label=name)
        if fits is not None:
            ax.plot(x, fits[name](x), color=colour, linewidth=1, linestyle=_cycle(k, DASHES)[1])
    return finish(ax, xlabel, ylabel, title, log, legend=len(series) > 1)


@_in_style
def guide(ax, x, y, text):
    """A thin grey reference line with its name at its right end."""
    ax.plot(x, y, color=GUIDE, linewidth=1, linestyle=(0, (3, 3)), zorder=1)
    place = {"xytext": (3, 0), "textcoords": "offset points"}
    ax.annotate(text, (x[-1], y[-1]), color=GUIDE_TEXT, fontsize=8.5, **place)


@_in_style
def finish(ax, xlabel, ylabel, title=None, log="", legend=True):
    """Labels, scales, and a legend where there is more than one series; returns ``ax``."""
    if "x" in log:
        ax.set_xscale("log")
    if "y" in log:
        ax.set_yscale("log")
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    if title:
        ax.set_title(title)
    if legend:
        ax.legend()
    return ax
