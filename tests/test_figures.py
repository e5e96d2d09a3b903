"""Figures show exactly what they are given, and read without colour."""

import ast
from itertools import combinations
from pathlib import Path

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib import colors
from numpy.testing import assert_array_equal

import gaugelib
from gaugelib import figures
from gaugelib.measure import loglog_fit

X = np.array([1.0, 2.0, 4.0, 8.0])
LABELS = {"xlabel": "time", "ylabel": "loss"}


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


@pytest.fixture
def ax():
    return figures.panels()[1]


def look(line):
    """What tells one line from another."""
    return colors.to_hex(line.get_color()), str(line._unscaled_dash_pattern), line.get_marker()


def series(n):
    return {f"m = {k}": (k + 1) * X for k in range(n)}


# --- panels ------------------------------------------------------------------------------------


def test_panels_are_as_large_as_asked_and_height_is_that_of_a_row():
    fig, axes = figures.panels(2, 3, width=8.4, height=3.0)
    assert axes.shape == (2, 3)
    assert_array_equal(fig.get_size_inches(), [8.4, 6.0])


def test_panels_pass_on_what_they_do_not_know():
    _, (left, right) = figures.panels(1, 2, sharey=True)
    left.set_ylim(2, 3)
    assert right.get_ylim() == (2, 3)


def test_panels_have_the_book_s_style():
    fig, ax = figures.panels()
    assert fig.dpi == figures.STYLE["figure.dpi"]
    assert type(fig.get_layout_engine()).__name__ == "ConstrainedLayoutEngine"
    assert not ax.spines["top"].get_visible() and not ax.spines["right"].get_visible()
    assert ax.spines["left"].get_visible() and ax.xaxis.get_gridlines()[0].get_visible()


def test_every_setting_of_the_style_is_one_that_matplotlib_knows():
    assert set(figures.STYLE) <= set(plt.rcParams)


# --- curves and points -------------------------------------------------------------------------


def test_curves_draw_the_given_numbers_and_nothing_else(ax):
    own = np.array([3.0, 5.0])
    given = {"a": X**2, "b": (own, own**3)}
    assert figures.curves(ax, X, given, **LABELS) is ax
    a, b = ax.lines
    assert_array_equal(a.get_xydata(), np.column_stack([X, X**2]))
    assert_array_equal(b.get_xydata(), np.column_stack([own, own**3]))
    assert [line.get_label() for line in ax.lines] == ["a", "b"]
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("time", "loss", "")


def test_points_draw_the_given_numbers_as_markers_without_lines(ax):
    figures.measured_points(ax, [1, 2, 4, 8], series(2), **LABELS)
    for line, y in zip(ax.lines, series(2).values(), strict=True):
        assert_array_equal(line.get_xydata(), np.column_stack([X, y]))
        assert line.get_linestyle() == "None" and line.get_marker() != "None"


def test_a_fit_is_the_line_of_its_own_function_in_the_colour_of_its_points(ax):
    data = {"a": 3 * X**-2, "b": 5 * X**-1.0}
    fits = {name: loglog_fit(X, y) for name, y in data.items()}
    figures.measured_points(ax, X, data, fits=fits, **LABELS)
    for name, points, line in zip(data, ax.lines[::2], ax.lines[1::2], strict=True):
        assert_array_equal(points.get_ydata(), data[name])
        assert_array_equal(line.get_xydata(), np.column_stack([X, fits[name](X)]))
        assert line.get_color() == points.get_color()
        assert line.get_marker() == "None" and line.get_linewidth() < points.get_linewidth()


@pytest.mark.parametrize("draw", [figures.curves, figures.measured_points])
def test_six_series_differ_without_colour_and_twelve_with_it(ax, draw):
    draw(ax, X, series(12), **LABELS)
    looks = [look(line) for line in ax.lines]
    assert len({(dash, marker) for _, dash, marker in looks[:6]}) == 6
    assert len(set(looks)) == 12


def test_colours_of_neighbours_differ_in_grey(ax):
    """Luminance (Rec. 709): whatever looks alike in grey has another dash and another marker."""
    grey = [np.dot(colors.to_rgb(c), [0.2126, 0.7152, 0.0722]) for c in figures.COLOURS]
    for i, j in combinations(range(6), 2):
        same = abs(grey[i] - grey[j]) < 0.1
        assert not same or figures.DASHES[i] != figures.DASHES[j]
        assert not same or figures.MARKERS[i] != figures.MARKERS[j]
    assert abs(grey[0] - grey[1]) > 0.05


def test_first_moves_the_styles_on(ax):
    figures.curves(ax, X, series(4), **LABELS)
    figures.curves(ax, X, series(1), first=3, **LABELS)
    assert look(ax.lines[3]) == look(ax.lines[4]) != look(ax.lines[0])


@pytest.mark.parametrize(
    ("log", "scales"),
    [
        ("", ("linear", "linear")),
        ("x", ("log", "linear")),
        ("y", ("linear", "log")),
        ("xy", ("log", "log")),
    ],
)
@pytest.mark.parametrize("draw", [figures.curves, figures.measured_points])
def test_scales_are_those_named(ax, draw, log, scales):
    draw(ax, X, series(1), log=log, **LABELS)
    assert (ax.get_xscale(), ax.get_yscale()) == scales


def test_curves_are_linear_and_points_logarithmic_unless_told():
    _, (left, right) = figures.panels(1, 2)
    figures.curves(left, X, series(1), **LABELS)
    figures.measured_points(right, X, series(1), **LABELS)
    assert left.get_xscale() == left.get_yscale() == "linear"
    assert right.get_xscale() == right.get_yscale() == "log"


@pytest.mark.parametrize("draw", [figures.curves, figures.measured_points])
def test_one_series_needs_no_legend_and_two_have_one(draw):
    for n in (1, 2):
        ax = figures.panels()[1]
        draw(ax, X, series(n), title="(a)", **LABELS)
        legend = ax.get_legend()
        assert (legend is None) == (n == 1)
        assert ax.get_title(loc="left") == "(a)"
    assert [text.get_text() for text in legend.get_texts()] == ["m = 0", "m = 1"]


# --- guide and finish --------------------------------------------------------------------------


def test_a_guide_lies_below_the_data_and_is_named_at_its_end(ax):
    figures.curves(ax, X, series(1), **LABELS)
    figures.guide(ax, X[:2], [7.0, 9.0], "slope")
    line, (name,) = ax.lines[1], ax.texts
    assert_array_equal(line.get_xydata(), [[1, 7], [2, 9]])
    assert line.get_zorder() < ax.lines[0].get_zorder()
    assert line.get_linewidth() < ax.lines[0].get_linewidth()
    assert line.get_label().startswith("_")  # not in a legend
    assert (name.get_text(), tuple(name.xy)) == ("slope", (2.0, 9.0))
    assert name.xyann[0] > 0  # to the right of the end


def test_finish_labels_what_was_drawn_by_hand(ax):
    ax.plot(X, X, label="by hand")
    figures.finish(ax, "x", "y", "title", log="x")
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title(loc="left")) == ("x", "y", "title")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["by hand"]
    assert ax.get_xscale() == "log"


# --- style -------------------------------------------------------------------------------------


def test_what_is_drawn_later_has_the_style_too(ax):
    """Matplotlib reads line widths, title places and frames when it draws, not before."""
    figures.curves(ax, X, series(2), title="(a)", **LABELS)
    assert ax.lines[0].get_linewidth() == figures.STYLE["lines.linewidth"]
    assert ax.get_title(loc="center") == ""
    assert not ax.get_legend().get_frame_on()
    figures.measured_points(ax, X, series(1), **LABELS)
    assert ax.lines[-1].get_markersize() == figures.STYLE["lines.markersize"]


def test_drawing_leaves_the_settings_of_matplotlib_alone(ax):
    before = dict(plt.rcParams)
    figures.curves(ax, X, series(2), **LABELS)
    figures.measured_points(ax, X, series(2), fits=series_fits(2), **LABELS)
    figures.guide(ax, X, X, "")
    assert dict(plt.rcParams) == before


def series_fits(n):
    return {name: loglog_fit(X, y) for name, y in series(n).items()}


def test_drawing_leaves_the_data_alone(ax):
    data = {"a": X.copy(), "b": X.copy()}
    figures.curves(ax, X, data, log="xy", **LABELS)
    assert_array_equal(data["a"], X)
    assert list(data) == ["a", "b"]


def test_no_other_module_imports_matplotlib():
    for path in Path(gaugelib.__file__).parent.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        modules = {
            name.split(".")[0]
            for node in ast.walk(tree)
            if isinstance(node, (ast.Import, ast.ImportFrom))
            for name in [*(alias.name for alias in node.names), getattr(node, "module", "") or ""]
        }
        assert ("matplotlib" in modules) == (path.name == "figures.py"), path.name
