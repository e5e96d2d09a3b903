"""The proof of selection: its field is the flow, its constants hold, and lies are refused."""

import math
import runpy
from dataclasses import replace

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from notebook_guards import ROOT

from gaugelib import enclose, flows, kernel, selection
from gaugelib.certify import NotProved, interval
from gaugelib.enclose import Patch
from gaugelib.problem import duplicates
from gaugelib.solve import solve

EPS = 2.0**-10
QUARTER = math.pi / 4
states = st.tuples(
    st.floats(0.05, 1.2), st.floats(-0.5, 1.2), st.floats(-1.0, 1.0), st.floats(1.0, 2.0)
)


@pytest.fixture(autouse=True)
def precise():
    with enclose.arithmetic():
        yield


def exact(y):
    return [arb(float(x)) for x in y]


def flow_rates(m, D, y):
    """The right-hand side of gaugelib.flows.reduced, in floats."""
    return np.array(flows.reduced(duplicates(m, D, 1.0)).rhs(0.0, np.array(y)))


@given(states, st.integers(2, 12), st.floats(0.5, 100.0))
@settings(max_examples=60, deadline=None)
def test_the_field_is_that_of_the_reduced_flow(y, m, D):
    side = 1 if y[2] >= 0 else -1
    found = selection.field(m, side)(exact(y) + [1 / arb(D) ** 2])
    expected = flow_rates(m, D, y)
    scale = 1 + np.abs(expected).max()
    assert all(abs(float(a.mid()) - b) < 1e-12 * scale for a, b in zip(found, expected))
    assert found[4] == 0


@given(states, st.sampled_from([1, -1]), st.integers(2, 12))
@settings(max_examples=60, deadline=None)
def test_the_other_side_is_off_by_no_more_than_the_kinks(y, side, m):
    box = exact(y) + [arb(EPS)]
    true = flow_rates(m, 32.0, y)
    found = selection.field(m, side)(box)
    bounds = selection.kinks(m, side)(box)
    for a, b, bound in zip(found, true, bounds):
        assert abs(float(a.mid()) - b) <= float(bound.abs_upper()) + 1e-12


@given(st.floats(-0.3, 0.3), st.floats(0.2, 1.0))
@settings(max_examples=40, deadline=None)
def test_the_kink_of_alpha_is_bounded_too(alpha, psi):
    y = (0.4, 0.8, psi - alpha, psi)
    true = flow_rates(3, 2.0, y)
    box = exact(y) + [arb(0.25)]
    side = 1 if y[2] >= 0 else -1
    found, bounds = selection.field(3, side)(box), selection.kinks(3, side)(box)
    for a, b, bound in zip(found, true, bounds):
        assert abs(float(a.mid()) - b) <= float(bound.abs_upper()) + 1e-12
    if alpha > 0:
        assert all(bound == 0 for bound in bounds)


def test_kinks_vanish_on_the_right_side_only():
    box = exact((0.5, 0.5, 0.25, 0.75, EPS))
    assert all(bound == 0 for bound in selection.kinks(2, 1)(box))
    assert selection.kinks(2, -1)(box)[2] > 0
    across = [*box[:2], interval(-0.125, 0.25), *box[3:]]
    assert selection.kinks(2, 1)(across)[2] > 0 and selection.kinks(2, -1)(across)[2] > 0


def test_a_step_across_zero_is_close_to_a_solver():
    start = np.array([0.5, 0.5, 0.01, 0.785])
    flow = flows.reduced(duplicates(2, 32.0, QUARTER)).starting(start)
    end = solve(flow, [0, 0.0625]).state[-1]
    for side in (1, -1):
        patch = Patch.box([*start, EPS], 1e-9)
        after = enclose.follow(selection.field(2, side), patch, 0.0625, parameters=1,
                               defect=selection.kinks(2, side), rough=selection.in_domain)
        assert end[2] < 0 < start[2]
        assert after.contains([arb(float(x)) + arb(0, 1e-12) for x in end] + [arb(EPS)])


@pytest.mark.parametrize("box", [
    (interval(-0.1, 0.1), 0.5, 0.5, 1.0, EPS), (0.5, 0.5, 0.5, interval(-0.1, 1.0), EPS),
    (0.5, 0.5, -1.0, interval(2.0, 2.5), EPS), (0.5, 0.5, interval(3.0, 3.2), 1.0, EPS),
    (0.5, 0.5, 0.5, interval(3.0, 3.2), EPS), (0.5, 0.5, 3.0, -0.5, EPS),
])
def test_boxes_that_leave_the_domain_are_seen(box):
    assert not selection.in_domain([arb(x) for x in box])
    assert selection.in_domain(exact((0.5, 0.5, 0.5, 1.0, EPS)))


@pytest.mark.parametrize("m", [2, 3, 7])
@pytest.mark.parametrize("spread", [0.0, 2.0**-20])
def test_the_starts_hold_the_duplicates_and_what_is_near(m, spread):
    ends = (math.nextafter(QUARTER, 0), math.nextafter(QUARTER, 1))
    patch = selection.duplicate_starts(m, ends, (EPS, EPS), spread)
    start = [arb(1) / m, arb(m - 1) / m, arb.pi() / 4, arb.pi() / 4, arb(EPS)]
    if spread:
        assert patch.contains(start)
        for signs in np.ndindex(2, 2, 2, 2):
            moved = [x + (2 * s - 1) * arb(spread) * 0.999 for x, s in zip(start, signs)]
            assert patch.contains(moved + start[4:])
        assert not patch.contains([start[0] + 1.01 * spread, *start[1:]])
    assert all(b.overlaps(s) for b, s in zip(patch.balls(), start))
    for k in (0, 1):  # radii are rounded up
        reach = (start[k] - arb(patch.centre[k])).abs_upper() + arb(spread)
        assert reach <= arb(patch.radius[k])


def test_an_interval_of_angles_and_imbalances_is_held_as_a_segment():
    patch = selection.duplicate_starts(2, (0.75, 0.8), (0.0, EPS))
    for phi in (0.75, 0.7625, 0.8):
        for eps in (0.0, EPS / 3, EPS):
            v = np.linalg.solve(patch.frame, np.array([0.5, 0.5, phi, phi, eps]) - patch.centre)
            assert np.all(np.abs(v) <= patch.radius + 1e-15)
    v = np.linalg.solve(patch.frame, np.array([0.5, 0.5, 0.8, 0.75, 0.0]) - patch.centre)
    assert abs(v[2]) > 0.04 and patch.radius[2] == 0


# --- the basin ------------------------------------------------------------------------------------


def energy(q, P, theta, psi):
    h = kernel.excess
    return (q + P - 1) ** 2 / 4 + q * h(theta) + P * h(psi) - q * P * h(psi - theta)


small = st.floats(-0.3, 0.3)
near = st.tuples(st.floats(0.7, 1.3), small, small, st.floats(0.5, 2.5))


@given(near, st.floats(0.0, 0.05))
@settings(max_examples=60, deadline=None)
def test_the_ball_of_the_loss_contains_it(y, width):
    balls = [arb(x, width) for x in map(float, y)]
    rng = np.random.default_rng(0)
    for _ in range(5):
        value = energy(*(np.array(y) + width * rng.uniform(-1, 1, 4)))
        ball = selection.loss(balls)
        assert float(ball.lower()) - 1e-13 <= value <= float(ball.upper()) + 1e-13


@given(near)
@settings(max_examples=60, deadline=None)
def test_the_curvature_is_the_second_derivative_of_the_loss(y):
    H, step, e = selection.curvature(exact(y)), 1e-4, 1e-4 * np.eye(4)
    y = np.array(y)
    for i in range(3):
        for j in range(3):
            ends = [energy(*(y + s * e[i] + t * e[j])) * s * t for s in (1, -1) for t in (1, -1)]
            assert abs(sum(ends) / (4 * step**2) - float(H[i][j].mid())) < 3e-4


@given(near, st.floats(0.0, 0.1))
@settings(max_examples=40, deadline=None)
def test_the_curvature_over_a_box_contains_that_at_its_points(y, width):
    rng = np.random.default_rng(1)
    box = selection.curvature([arb(x, width) for x in map(float, y)])
    for _ in range(4):
        point = selection.curvature(exact(np.array(y) + width * rng.uniform(-1, 1, 4)))
        assert all(b.overlaps(p) for row, other in zip(box, point) for b, p in zip(row, other))


@given(st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_positive_definite_is_said_of_such_matrices_only(seed):
    rng = np.random.default_rng(seed)
    A = rng.uniform(-1, 1, (3, 3))
    A, d = A + A.T + 1.5 * np.eye(3), rng.uniform(0, 0.5, 3)
    least = np.linalg.eigvalsh(A - np.diag(d))[0]
    if abs(least) > 1e-6:
        assert selection.exceeds([exact(row) for row in A], exact(d)) == (least > 0)


def end_patch(width=1e-4, m=2, psi=QUARTER, eps=EPS):
    """On the slow direction, where the loss is about 1e-5."""
    soft = np.linalg.eigh(kernel.gram(psi))[1][:, 0]  # (q, theta, P)
    q, theta, P = 0.02 * soft * np.sign(soft[2])
    return Patch.box([1 + q, P, theta, psi, eps], [width] * 4 + [0.0])


@pytest.mark.parametrize("m", [2, 8])
def test_a_basin_has_the_constants_that_it_claims(m):
    patch = end_patch()
    patch = replace(patch, radius=patch.radius + [0, 0, 0, 0, EPS / 2])
    found, eps = selection.basin(m, patch), 1.5 * EPS
    rng = np.random.default_rng(2)
    x = rng.standard_normal((2000, 3))
    x *= found.radius * rng.uniform(0, 1, (2000, 1)) / np.linalg.norm(x, axis=1)[:, None]
    psi = rng.uniform(*found.psi, 2000)
    q, P, theta = 1 + x[:, 0], x[:, 1], x[:, 2]
    E, g, omega = energy(q, P, theta, psi), kernel.g, kernel.omega
    slopes = (q / 2 + P * g(psi - theta) - g(theta), P / 2 + q * g(psi - theta) - g(psi),
              P * omega(psi - theta) + omega(theta))
    assert np.all(E >= found.coercive / 2 * (x**2).sum(axis=1))
    assert np.all(slopes[0]**2 + (m - 1) * slopes[1]**2 + slopes[2]**2 >= 2 * found.rate * E)
    turning = np.abs(P * (omega(psi) - q * omega(psi - theta)))
    assert np.all(turning <= np.abs(P) * np.sqrt(E) + 1e-15)
    drift = found.loss * eps * (2 / arb(found.coercive)).sqrt() / (2 * (m - 1) * arb(found.rate))
    assert 0 <= float(found.drift - drift) < 1e-8 * float(drift)  # radii of balls have 30 bits
    assert found.psi[0] < QUARTER - 1e-4 - drift and QUARTER + 1e-4 + drift < found.psi[1]


def test_the_curvature_is_compared_with_both_forms_of_the_proof(monkeypatch):
    seen, exceeds = set(), selection.exceeds

    def spy(matrix, form):
        seen.add(tuple(float(x) for x in form))
        return exceeds(matrix, form)

    monkeypatch.setattr(selection, "exceeds", spy)
    found = selection.basin(8, end_patch())
    c, rate, r = found.coercive, found.rate, found.radius
    (least, same), (whole, part, turned) = sorted(seen)[0][:2], sorted(seen)[1]
    assert len(seen) == 2 and least == same == c
    assert math.isclose(whole, rate) and math.isclose(part, rate / 7)
    assert math.isclose(turned, rate * (1 + r) ** 2)


def test_the_boxes_of_a_basin_reach_over_the_whole_ball_and_interval(monkeypatch):
    ends, curvature = np.full((4, 2), [np.inf, -np.inf]), selection.curvature

    def spy(balls):
        for k, ball in enumerate(balls):
            low, high = float(ball.lower()), float(ball.upper())
            ends[k] = min(ends[k, 0], low), max(ends[k, 1], high)
        return curvature(balls)

    monkeypatch.setattr(selection, "curvature", spy)
    found = selection.basin(2, end_patch())
    r = found.radius
    wanted = np.array([(1 - r, 1 + r), (-r, r), (-r, r), found.psi])
    assert np.all(ends[:, 0] <= wanted[:, 0]) and np.all(ends[:, 1] >= wanted[:, 1])


def test_a_loss_that_the_ball_does_not_hold_is_refused():
    """Half the coercive constant counts: E >= coercive r^2/2 on the sphere."""
    found = selection.basin(2, end_patch())
    for share, held in ((0.99, False), (1.01, True)):
        coercive = 2 * share * float(found.loss) / found.radius**2
        if held:
            selection.basin(2, end_patch(), coercive=coercive)
        else:
            with pytest.raises(NotProved, match="is not below"):
                selection.basin(2, end_patch(), coercive=coercive)


@pytest.mark.parametrize("change, message", [
    ({"coercive": 0.0384}, "undecided"), ({"rate": 0.0384}, "undecided"),
    ({"rate": 0.033, "radius": 0.035}, "undecided"), ({"radius": 0.2}, "undecided"),
    ({"radius": 0.1}, "undecided"), ({"coercive": 1e-3}, "is not below"),
    ({"radius": 0.015}, "ball"),
])
def test_constants_that_are_too_good_are_refused(change, message):
    with pytest.raises(NotProved, match=message):
        selection.basin(2, end_patch(), **change)


@pytest.mark.parametrize("call, message", [
    (lambda: selection.basin(2, end_patch(), rate=-1e-5), r"rate must be in \(0, inf\)"),
    (lambda: selection.basin(2, Patch.box([1.0, 0.0], 0.0)), "got 2 coordinates"),
    (lambda: selection.duplicate_starts(2, (1, 1), (-EPS, EPS)), r"eps must be in \[0, inf\)"),
    (lambda: selection.duplicate_starts(2, (1, 1), (EPS, -EPS)), r"eps must be \(low, high\)"),
    (lambda: selection.duplicate_starts(2, 1.0, (0, EPS)), r"phi must be \(low, high\)"),
    (lambda: selection.duplicate_starts(2, (1, np.nan), (0, EPS)), "phi must be finite"),
    (lambda: selection.duplicate_starts(2, (1, 1), (0, np.nan)), "eps must be finite"),
    (lambda: selection.duplicate_starts(2, (1, 1), (0, EPS), np.nan), "spread must be finite"),
])
def test_bad_arguments_of_a_proof_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_no_basin_is_found_where_no_gauge_is():
    """eps = 1/D^2 is not negative."""
    with pytest.raises(NotProved, match="eps is negative"):
        selection.basin(2, end_patch(eps=-0.2))


def test_a_patch_that_is_too_far_away_is_in_no_basin():
    patch = end_patch()
    for centre in ([0.9, *patch.centre[1:]], [*patch.centre[:3], 0.3, EPS]):
        with pytest.raises(NotProved):
            selection.basin(2, replace(patch, centre=np.array(centre)))
    with pytest.raises(NotProved):
        selection.basin(2, end_patch(width=0.03))


def test_another_state_of_small_loss_is_no_basin():
    """Where the redundant students have learned the feature: q = 0, P = 1, psi = 0."""
    patch = Patch.box([1e-3, 1.0, 1e-3, 2e-3, EPS], [1e-6] * 4 + [0.0])
    with pytest.raises(NotProved):
        selection.basin(2, patch, radius=0.4, coercive=0.1)


# --- the whole ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def proof():
    start = selection.duplicate_starts(2, (1.0, 1.0), (EPS, EPS), 2.0**-20)
    return selection.prove(2, start, reach=0.5)


def test_the_proof_is_a_chain_of_steps_that_hold(proof):
    assert len(proof.patches) == len(proof.h) + 1 == len(proof.tau)
    for k in range(0, len(proof.h), 7):
        before, after = proof.patches[k : k + 2]
        assert selection.step_holds(2, before, proof.h[k], after)
        assert not selection.step_holds(2, before, proof.h[k] * 1.01, after)
        small = replace(after, radius=after.radius * [1, 0.5, 1, 1, 1])
        assert not selection.step_holds(2, before, proof.h[k], small)
        assert not selection.step_holds(3, before, proof.h[k], after)


def test_runs_from_the_patch_stay_in_the_tube(proof):
    rng, first = np.random.default_rng(3), proof.patches[0]
    flow = flows.reduced(duplicates(2, 32.0, 1.0))
    for _ in range(3):
        y = first.centre + first.frame @ (first.radius * rng.uniform(-0.9, 0.9, 5))
        states = solve(flow.starting(y[:4]), proof.tau).state
        for patch, state in zip(proof.patches, states, strict=True):
            v = np.linalg.solve(patch.frame, np.append(state, y[4]) - patch.centre)
            assert np.all(np.abs(v) <= patch.radius)


def test_the_end_of_a_long_run_is_where_the_proof_says(proof):
    q, P, theta, psi = solve(flows.reduced(duplicates(2, 32.0, 1.0)), [0, 600]).state[-1]
    assert abs(q - 1) < 1e-8 and abs(P) < 1e-8 and abs(theta) < 1e-8
    assert proof.basin.psi[0] < psi < proof.basin.psi[1]


def test_equal_imbalances_are_not_proved():
    """At D = 1/2 the redundant students turn to the teacher too."""
    with pytest.raises(NotProved):
        selection.prove(2, selection.duplicate_starts(2, (QUARTER,) * 2, (4.0, 4.0)), steps=80)


# --- the stored certificate -----------------------------------------------------------------------


@pytest.mark.parametrize("m", [2, 8])
def test_stored_steps_hold_and_a_changed_digit_does_not(m):
    with np.load(ROOT / "data" / "selection-proof.npz") as file:
        h, *parts = (file[f"{name}-{m}"] for name in ("h", "centre", "frame", "radius"))
    patches = [Patch(*part) for part in zip(*parts, strict=True)]
    for k in np.random.default_rng(m).choice(len(h), 5, replace=False):
        assert selection.step_holds(m, patches[k], h[k], patches[k + 1], order=16)
        moved = patches[k + 1].centre + 2 * patches[k + 1].radius * [1, 0, 0, 0, 0]
        elsewhere = replace(patches[k + 1], centre=moved, radius=patches[k + 1].radius / 2)
        assert not selection.step_holds(m, patches[k], h[k], elsewhere, order=16)
    assert selection.basin(m, patches[-1]).rate > 0
    with pytest.raises(NotProved):
        selection.basin(m, patches[len(patches) // 2])


def test_the_script_bisects_what_it_cannot_prove_at_once(monkeypatch):
    names = runpy.run_path(ROOT / "full" / "selection-proof.py")
    monkeypatch.setitem(names["cover"].__globals__, "attempt",
                        lambda m, phi, eps, steps: [m, *phi, *eps, 1, 1.0, phi[1] - phi[0] < 0.3])
    rows = names["cover"](0.0, 1.0)
    assert [row[1] for row in rows] == [0, 0.25, 0.5, 0.75]
    assert all(a[2] == b[1] for a, b in zip(rows, rows[1:]))
    monkeypatch.setitem(names["cover"].__globals__, "attempt",
                        lambda m, phi, eps, steps: [m, *phi, *eps, 1, 1.0, 0.0])
    assert len(names["cover"](0.0, 2.0**-12)) == 2


def test_the_roots_of_the_script_reach_from_one_end_to_the_other():
    edges = runpy.run_path(ROOT / "full" / "selection-proof.py")["EDGES"]
    assert arb(edges[0]) < arb.pi() / 4 and arb(edges[-1]) > 2 * arb.pi() / 3
    assert len(edges) == len(set(edges)) and edges == sorted(edges)
