"""Chapter 21: the formulas of its text, with the functions of the chapter itself."""

import ast
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaugelib import condensation as cond
from gaugelib.condensation import features, field, field_slope, slopes

SOURCE = Path(__file__).parents[1] / "chapters" / "21-starts-and-targets.py"
SEEDS = st.integers(0, 2**32 - 1)
LAM = 1e-3


def from_chapter(**given):
    """Functions and classes of the chapter, none of its runs, in a namespace with ``given``."""
    kinds = (ast.FunctionDef, ast.ClassDef)
    tree = ast.parse(SOURCE.read_text(encoding="utf-8"))
    tree.body = [node for node in tree.body if isinstance(node, kinds)]
    names = {"np": np, "cond": cond, "features": features, "field": field, "LAM": LAM, "X": None,
             "field_slope": field_slope, "NamedTuple": NamedTuple} | given
    exec(compile(tree, SOURCE.name, "exec"), names)
    return names


def random_problem(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    return rng, cond.Data(rng.normal(size=n), rng.normal(size=n))


def line_target(name, x):
    """(54) as piecewise linear interpolation, from its values at the kinks and ends."""
    values = {"A": [0.09, 0.0675, 0.045, 0.09, 0.135], "B": [0, 0, 0.225, 0.075, 0.125],
              "C": [0.4, 0.3, 0.15, 0.3, 0.25]}[name]
    return np.interp(x, [-1, -0.75, 0, 0.75, 1], values)


def nine(name):
    x = np.linspace(-1, 1, 9)
    return cond.Data(x, line_target(name, x))


@given(SEEDS)
@settings(max_examples=40, deadline=None)
def test_misfit_misplaced_amplitude_and_imbalance_are_the_excess_and_not_negative(seed):
    rng, data = random_problem(seed)
    try:
        m = cond.minimiser(data, LAM)
    except cond.SolverError:
        return
    book = from_chapter(X=data.x, DATA={"P": data}, least={"P": m})
    network = rng.normal(size=(3, 12))
    terms = book["account"](network, "P")
    direct = book["cost"](network, "P") - m.value
    assert sum(terms) == pytest.approx(direct, rel=1e-9)
    assert min(terms) > -1e-12 * direct


def slid(p_after, p_before, eta, steps):
    """A balanced neuron at the boundary of x = 0, direction 0, a > 0, in a field that is held:
    offsets, slopes seen, and (a, r) after ``steps`` updates of descent with q = -lam/2 on the way.

    The moment is M = (-lam/2, p) on each side: at direction (1, 0), q = -lam/2 and p.
    """
    a, v, offsets = 1.0, np.array([1.0, 3e-5]), np.empty(steps)
    for k in range(steps):
        offsets[k] = np.arctan2(v[1], v[0])
        M = np.array([-LAM / 2, p_after if v[1] > 0 else p_before])
        shrink = 1 - eta * LAM
        a, v = shrink * a - 2 * eta * v @ M, shrink * v - 2 * eta * a * M
    return offsets, a, np.hypot(*v)


@pytest.mark.parametrize("eta", [0.05, 0.1, 0.2])
@pytest.mark.parametrize(("after", "before"), [(2.194, 1.032), (1.0, np.sqrt(2))])
def test_a_neuron_on_a_boundary_rotates_within_the_stated_ends(eta, after, before):
    off, a, r = slid(after * LAM, -before * LAM, eta, round(6000 / eta))
    last = off[-50_000:]
    assert last.min() == pytest.approx(-2 * eta * after * LAM, rel=5e-3)
    assert last.max() == pytest.approx(2 * eta * before * LAM, rel=5e-3)
    assert (last > 0).mean() == pytest.approx(before / (after + before), rel=5e-3)
    cost = np.where(last > 0, 2 * after * LAM * last, -2 * before * LAM * last).mean()
    assert cost == pytest.approx(2 * eta * after * before * LAM**2, rel=5e-3)
    imbalance = -2 * eta * after * before * LAM
    assert (a**2 - r**2) / a**2 == pytest.approx(imbalance, rel=1e-2)


@given(SEEDS)
@settings(max_examples=40, deadline=None)
def test_the_slope_jumps_at_a_boundary_by_residual_times_input_over_n(seed):
    rng, data = random_problem(seed)
    e = rng.normal(size=data.x.size)
    i = int(rng.integers(data.x.size))
    theta = np.arctan2(-data.x[i], 1.0) + np.pi * rng.integers(2)
    near = theta + np.array([1e-7, -1e-7])
    jump = abs(np.subtract(*field_slope(e, near, data.x)))
    size = abs(e[i]) * np.hypot(1, data.x[i]) / data.x.size
    others = np.abs(data.x[:, None] - data.x[None]) + np.eye(data.x.size)
    if others.min() > 1e-4:
        assert jump == pytest.approx(size, abs=1e-5)


@given(SEEDS)
@settings(max_examples=40, deadline=None)
def test_opposite_features_differ_by_an_affine_function(seed):
    rng, data = random_problem(seed)
    theta = rng.uniform(0, 2 * np.pi, 5)
    turned = features(theta, data.x) - features(theta + np.pi, data.x)
    affine = np.cos(theta)[:, None] * data.x + np.sin(theta)[:, None]
    assert np.abs(turned - affine).max() < 1e-12 * (1 + np.abs(data.x).max())


@pytest.mark.parametrize(("data", "lam"), [
    (cond.Data(np.array([-1.0, 1.0]) * np.sqrt(3), np.array([0.2, 0.2])), 1e-3),
    (cond.Data(np.array([-1.0, 1.0]) * np.sqrt(3), np.array([1.0, 1.0])), 0.1),
    (nine("B"), 1e-4)])
def test_limits_with_other_atoms_cost_the_same(data, lam):
    book = from_chapter()
    theta, *both = book["two_ends"](data, lam)
    made = [book["network_of"](theta, c) for c in both]
    fits = [cond.outputs(z, data.x) for z in made]
    phi = [np.mean((f - data.y) ** 2) + lam / 2 * (z**2).sum()
           for f, z in zip(fits, made, strict=True)]
    assert phi == pytest.approx([cond.minimiser(data, lam).value] * 2, rel=1e-10)
    assert np.abs(np.subtract(*fits)).max() < 1e-12
    assert np.abs(np.subtract(*both)).max() > 0.01
    assert all((np.abs(c) < 1e-9).any() for c in both), "each end of the segment lacks an atom"


def test_two_inputs_at_other_places_have_one_limit():
    """The null: the touches at 30, 90 and 150 degrees are a coincidence of the root of 3."""
    data = cond.Data(np.array([-1.6, 1.6]), np.array([0.2, 0.2]))
    ends = cond.Cells.of(data.x).extrema(cond.minimiser(data, LAM).e)
    assert np.sum(np.abs(ends.value) * 2 / LAM > 1 - 1e-9) == 1


def test_touches_beyond_the_rank_leave_one_limit_if_the_atoms_do_not_have_it():
    """One atom at 30 degrees, touches at 30, 90 and 150: the combination of the three gives one of
    the two touches without an atom the wrong sign, whichever way it is added."""
    data = cond.Data(np.array([-1.0, 1.0]) * np.sqrt(3), np.array([LAM / 2, 0.2]))
    atoms, _, touches, rank, rank_of_atoms = from_chapter()["shape_of"](data, LAM)
    assert (atoms, touches, rank, rank_of_atoms) == (1, 3, 2, 1)
    m = cond.minimiser(data, LAM)
    assert np.degrees(m.theta) == pytest.approx([30]) and m.c[0] > 0
    z = np.linalg.svd(features(np.radians([30, 90, 150]), data.x).T)[2][-1]
    assert field(m.e, np.radians([90, 150]), data.x) == pytest.approx([-LAM / 2] * 2)
    assert z[1] * z[2] < 0


@pytest.mark.parametrize(("name", "atoms", "boundary"), [("A", 5, 0), ("B", 4, 4), ("C", 5, 2)])
def test_the_three_limits_have_the_stated_atoms(name, atoms, boundary):
    m = cond.minimiser(nine(name), LAM)
    assert (m.c.size, (~m.smooth).sum()) == (atoms, boundary)
    angles = np.sort(np.degrees(m.theta[~m.smooth])).round(2)
    known = {"A": [], "B": [0, 36.87, 143.13, 180], "C": [180, 323.13]}[name]
    assert np.array_equal(angles, known)


def test_the_exchange_is_the_linear_flow_of_amplitudes_with_directions_held():
    data = nine("B")
    m = cond.minimiser(data, LAM)
    s, phi, n = np.sign(m.c), features(m.theta, data.x), data.x.size

    def flow(A):
        q = phi @ (s * A @ phi - data.y) / n
        return -2 * A * (LAM + 2 * s * q)

    A = np.abs(m.c)
    assert np.abs(flow(A)).max() < 1e-12
    steps = 1e-6 * np.eye(4)
    J = np.array([(flow(A + d) - flow(A - d)) / 2e-6 for d in steps]).T
    law = -4 / n * A[:, None] * np.outer(s, s) * (phi @ phi.T)
    assert np.abs(J - law).max() < 1e-9
    assert np.linalg.eigvals(-law).real.min() / LAM == pytest.approx(0.2174, abs=1e-4)


def test_groups_split_by_sign_and_at_a_degree_and_leave_dead_neurons_out():
    book = from_chapter()
    degrees = np.array([30, 30.5, 31.2, 33, 30, 270, 359.8, 0.3])
    a = np.array([1, 1, 1, 1, -1, 5, 1, 1.0])
    network = np.vstack([a, np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])
    x = np.linspace(-1, 1, 4)
    found = book["grouped"](network, x)
    sizes = sorted((g.size, np.sign(g.c)) for g in found)
    assert sizes == [(1, -1), (1, 1), (2, 1), (3, 1)]
    assert found[0].diameter == pytest.approx(1.2) and found[0].c == pytest.approx(3)
    around = next(g for g in found if g.size == 2)
    assert around.diameter == pytest.approx(0.5) and min(around.angle, 360 - around.angle) < 0.1
    assert not book["narrow"](found) and book["narrow"]([found[0]])
    assert len(book["loose"](found)) == 2


def test_the_share_in_narrow_groups_leaves_out_loose_neurons_and_wide_chains():
    book = from_chapter(X=np.linspace(-1, 1, 4))
    theta = np.radians([10, 10.5, 60, *np.arange(100, 107, 0.9)])  # a pair, one alone, a chain
    network = np.vstack([np.ones(theta.size), np.cos(theta), np.sin(theta)])
    assert book["in_groups"](network) == pytest.approx(2 / theta.size)


def test_only_the_strongest_neurons_count_as_appreciable():
    book = from_chapter()
    theta = np.radians([10, 10, 50, 100])
    r = np.sqrt([1.0, 0.98, 0.0199, 0.0001])
    network = np.vstack([r, r * np.cos(theta), r * np.sin(theta)])
    found = book["grouped"](network, np.linspace(-1, 1, 4), share=0.99)
    assert [g.size for g in found] == [2]
    assert sum(g.size for g in book["grouped"](network, np.linspace(-1, 1, 4))) == 4


def test_slopes_vanish_in_the_mean_of_a_sliding_neuron():
    """mu p+ + (1 - mu) p- = 0 with mu = |p-|/(|p+| + |p-|), in the limit of B at its boundaries."""
    data = nine("B")
    m = cond.minimiser(data, LAM)
    book = from_chapter(e_B=m.e, CELLS=cond.Cells.of(data.x))
    for theta, c in zip(m.theta, m.c, strict=True):
        after, before = book["sides"](theta)
        assert np.sign(c) * after > 0 > np.sign(c) * before
        direct = [slopes(np.array([theta + h]), data.x)[0] @ m.e / 9 for h in (1e-9, -1e-9)]
        assert [after, before] == pytest.approx(direct, abs=1e-9)
