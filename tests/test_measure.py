"""Numbers from trajectories: closed forms, brute force and a second route for each."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad_vec
from scipy.stats import linregress

from gaugelib import flows, kernel, measure
from gaugelib.problem import Problem, Students, Teacher, duplicates, plane_direction
from gaugelib.solve import crossing, euler, solve

COORDINATE = st.floats(-10, 10)
POINTS = st.lists(st.tuples(COORDINATE, COORDINATE), min_size=2, max_size=12).map(np.array)
POSITIVE = st.floats(0.1, 100)


@pytest.fixture(scope="module")
def run():
    return solve(flows.reduced(duplicates(3, 16, np.pi / 4)), np.linspace(0, 40, 401))


@pytest.fixture(scope="module")
def spread():
    """Four students in three dimensions, all directions different, two teachers."""
    rng = np.random.default_rng(7)
    s = rng.normal(size=(4, 3))
    s /= np.linalg.norm(s, axis=1, keepdims=True)
    teacher = Teacher(b=np.array([1.0, 0.5]), u=np.eye(3)[:2])
    students = Students(np.array([0.3, -0.2, 0.4, 0.1]), s, np.array([4.0, -4.0, 1.0, -2.0]))
    return Problem(teacher, students, 4.0)


# --- path_length ---------------------------------------------------------------------------------


def test_path_of_a_polygon_inscribed_in_a_circle_is_the_sum_of_its_chords():
    alpha = np.linspace(0, np.pi, 101)
    chords = 100 * 2 * np.sin(np.pi / 200)
    assert_allclose(measure.path_length(3 * plane_direction(alpha)), 3 * chords, rtol=1e-13)


@given(points=POINTS)
def test_path_is_the_sum_of_distances_taken_one_by_one(points):
    slow = sum(np.hypot(*(b - a)) for a, b in zip(points, points[1:], strict=False))
    assert_allclose(measure.path_length(points), slow, rtol=1e-12, atol=1e-12)


@given(points=POINTS, data=st.data())
def test_path_splits_at_every_point_and_is_never_shorter_than_the_chord(points, data):
    k = data.draw(st.integers(0, len(points) - 1))
    whole = measure.path_length(points)
    head = measure.path_length(points[: k + 1])
    assert_allclose(head + measure.path_length(points, k), whole, rtol=1e-12, atol=1e-12)
    assert whole >= np.linalg.norm(points[-1] - points[0]) - 1e-12


@given(points=POINTS)
def test_path_of_numbers_is_that_of_points_on_a_line(points):
    line = points[:, :1] * np.array([0.6, 0.8])
    expected = measure.path_length(line)
    assert_allclose(measure.path_length(points[:, 0]), expected, rtol=1e-12, atol=1e-12)


def test_path_from_the_last_point_is_zero():
    assert measure.path_length([3.0, 1.0, 2.0], 2) == 0


@pytest.mark.parametrize("start", [-1, 3, 1.5])
def test_path_refuses_a_start_that_is_no_record(start):
    with pytest.raises(ValueError, match="start must be"):
        measure.path_length([3.0, 1.0, 2.0], start)


@pytest.mark.parametrize("points", [2.0, np.zeros((2, 2, 2))])
def test_path_refuses_what_is_not_a_sequence_of_points(points):
    with pytest.raises(ValueError, match="points must be"):
        measure.path_length(points)


# --- loglog_fit ----------------------------------------------------------------------------------


@given(slope=st.floats(-3, 3).filter(lambda p: abs(p) > 0.01), factor=POSITIVE)
def test_a_power_law_is_found_exactly(slope, factor):
    x = np.array([8.0, 16, 32, 64, 128])
    fit = measure.loglog_fit(x, factor * x**slope)
    assert_allclose(fit.slope, slope, atol=1e-12)
    assert_allclose(fit.r2, 1, atol=1e-12)
    assert_allclose(fit(2.0), factor * 2**slope, rtol=1e-11)


@given(y=st.lists(POSITIVE, min_size=5, max_size=5, unique=True))
def test_fit_agrees_with_linear_regression_on_logarithms(y):
    x = np.array([1.0, 2, 5, 7, 30])
    fit, other = measure.loglog_fit(x, y), linregress(np.log(x), np.log(y))
    assert_allclose([fit.slope, fit.intercept], [other.slope, other.intercept], atol=1e-11)
    assert_allclose(fit.r2, other.rvalue**2, atol=1e-10)


@given(y=st.lists(POSITIVE, min_size=4, max_size=4, unique=True), a=POSITIVE, b=POSITIVE)
def test_units_change_neither_exponent_nor_determination(y, a, b):
    x = np.array([1.0, 3, 4, 9])
    one, other = measure.loglog_fit(x, y), measure.loglog_fit(a * x, b * np.array(y))
    assert_allclose([one.slope, one.r2], [other.slope, other.r2], atol=1e-9)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([1, 2, 3], [5, 5, 5]),
        ([2, 2, 2], [1, 2, 3]),
        ([1e300, 1e300 * (1 + 1e-15), 1e300], [1, 2, 3]),
        ([1, 2], [1, 2]),
        ([1, 2, 3], [1, 2]),
        ([0, 1, 2], [1, 2, 3]),
        ([1, 2, 3], [1, -2, 3]),
        ([1, 2, 3], [1, np.nan, 3]),
    ],
)
def test_fit_refuses_what_has_no_exponent(x, y):
    with pytest.raises(ValueError, match="must"):
        measure.loglog_fit(x, y)


# --- first_entry and captured --------------------------------------------------------------------


def test_first_entry_is_at_most_one_record_after_the_exact_crossing(run):
    at = crossing(flows.reduced(run.problem), run.tau, lambda y: y[0] - 0.5)
    k = measure.first_entry(run, run.q[:, 0] > 0.5)
    assert run.tau[k - 1] < at.tau <= run.tau[k]


def test_first_entry_finds_the_first_of_several(run):
    inside = np.zeros(401, dtype=bool)
    inside[[7, 9]] = True
    assert measure.first_entry(run, inside) == 7


def test_first_entry_refuses_a_state_never_met_and_what_is_not_boolean(run):
    with pytest.raises(ValueError, match="never"):
        measure.first_entry(run, run.q[:, 0] > 2)
    with pytest.raises(ValueError, match="boolean"):
        measure.first_entry(run, run.q[:, 0])
    with pytest.raises(ValueError, match="boolean"):
        measure.first_entry(run, np.ones(3, dtype=bool))


def test_capture_is_the_three_conditions_on_the_reduced_state(run):
    q, P, theta, _ = run.state.T
    near = (q > 0.9) & (np.abs(theta) < 0.1)
    assert_array_equal(measure.captured(run), near & (P < 0.1))
    by_norm = near & (P / np.sqrt(2) < 0.1)
    assert_array_equal(measure.captured(run, redundant="L2"), by_norm)
    assert measure.captured(run).any() and not measure.captured(run)[0]


@pytest.mark.parametrize("window", [{}, {"r_angle": 0.3}])
def test_the_angle_must_be_less_than_its_radius_on_both_sides_of_the_teacher(run, window):
    r = window.get("r_angle", 0.10)
    alphas = r * np.array([-1.01, -0.99, 0, 0.99, 1.01])
    q, s = np.tile([1.0, 0, 0], (5, 1)), np.tile(plane_direction(alphas)[:, None], (1, 3, 1))
    assert measure.captured(replace(run, q=q, s=s), **window).tolist() == [0, 1, 1, 1, 0]


def test_a_coefficient_beyond_that_of_the_teacher_is_captured(run):
    q, s = np.outer([0.89, 0.91, 1.5], [1, 0, 0]), np.tile([1.0, 0.0], (3, 3, 1))
    assert measure.captured(replace(run, q=q, s=s)).tolist() == [0, 1, 1]


@pytest.mark.parametrize("radius", ["r_q", "r_angle", "r_red"])
def test_each_radius_of_the_window_can_keep_the_student_out(run, radius):
    assert measure.captured(run)[-1]
    assert not measure.captured(run, **{radius: 1e-6})[-1]


def test_a_large_negative_redundant_total_is_not_captured(run):
    other = replace(run, q=run.q * np.array([1, -20, -20]))
    assert other.P[-1] < -0.1
    assert not measure.captured(other)[-1]
    assert not measure.captured(other, redundant="L2")[-1]


@pytest.mark.parametrize("wrong", [{"r_q": 0}, {"r_angle": 1}, {"r_red": -1}, {"redundant": "q"}])
def test_capture_refuses_radii_outside_zero_and_one_and_unknown_readings(run, wrong):
    with pytest.raises(ValueError, match="must be"):
        measure.captured(run, **wrong)


# --- trajectory_error ----------------------------------------------------------------------------


def test_trajectory_error_is_the_largest_of_all_components(run):
    other = solve(flows.limit(run.problem), run.tau)
    slow = 0.0
    for i in range(3):
        slow = max(slow, np.abs(run.q[:, i] - other.q[:, i]).max())
        for c in range(2):
            change = run.q[:, i] * run.s[:, i, c] - other.q[:, i] * other.s[:, i, c]
            slow = max(slow, np.abs(change).max())
    assert measure.trajectory_error(run, other) == measure.trajectory_error(other, run) == slow > 0


def test_trajectory_error_sees_coefficients_and_directions(run):
    moved, turned = run.q.copy(), run.s.copy()
    moved[100, 2] += 0.25
    turned[100, 0] = turned[100, 0, ::-1]
    assert measure.trajectory_error(run, run) == 0
    assert_allclose(measure.trajectory_error(run, replace(run, q=moved)), 0.25)
    swap = abs(run.q[100, 0] * (run.s[100, 0, 0] - run.s[100, 0, 1]))
    assert_allclose(measure.trajectory_error(run, replace(run, s=turned)), swap)


def test_trajectory_error_refuses_other_times_and_other_students(run):
    with pytest.raises(ValueError, match="tau"):
        measure.trajectory_error(run, run.at(slice(0, 400)))
    other = solve(flows.reduced(duplicates(4, 16, np.pi / 4)), run.tau)
    with pytest.raises(ValueError, match="same students"):
        measure.trajectory_error(run, other)


# --- redundant_norm and imbalance_drift ----------------------------------------------------------


def test_redundant_norm_of_equal_directions_is_P_over_root_two(run):
    assert_allclose(measure.redundant_norm(run), run.P / np.sqrt(2), rtol=1e-15)


def test_redundant_norm_of_equal_directions_keeps_its_digits_however_small(run):
    small = replace(run, q=1e-200 * run.q)
    expected = 1e-200 * measure.redundant_norm(run)
    assert_allclose(measure.redundant_norm(small), expected, rtol=1e-14)


def test_redundant_norm_sees_directions_that_begin_equal_and_part():
    """|q_1 [s_1.x]_+ + q_2 [s_2.x]_+|^2 = (q_1 + q_2)^2/2 - 2 q_1 q_2 (1/2 - g(angle))."""
    problem = duplicates(3, 4, 0.7).regauged([4.0, -4.0, -1.0])
    run = solve(flows.population(problem), [0, 5, 20])
    run.s[0] = run.s[0, 0]  # they differ by rounding
    (q1, q2), apart = run.q[:, 1:].T, kernel.angle(run.s[:, 1], run.s[:, 2])
    squared = (q1 + q2) ** 2 / 2 - 2 * q1 * q2 * (0.5 - kernel.g(apart))
    assert apart[0] == 0 and apart[-1] > 0.01
    assert_allclose(measure.redundant_norm(run), np.sqrt(squared), rtol=1e-12)


def test_redundant_norm_is_the_root_mean_square_of_what_the_others_compute(spread):
    start = solve(flows.population(spread), np.array([0, 1e-3])).at(slice(0, 1))
    x = np.random.default_rng(0).normal(size=(400_000, 3))
    features = np.maximum(x @ spread.students.s.T, 0) * spread.students.q
    for unit in range(4):
        others = np.delete(features, unit, axis=1).sum(axis=1) ** 2
        squared, error = others.mean(), others.std() / np.sqrt(len(x))
        assert abs(measure.redundant_norm(start, unit)[0] ** 2 - squared) < 4 * error


def test_redundant_norm_leaves_out_the_designated_unit_unless_told(spread):
    start = solve(flows.population(spread), np.array([0, 1e-3]))
    assert_array_equal(measure.redundant_norm(start), measure.redundant_norm(start, 0))
    assert measure.redundant_norm(start)[0] != measure.redundant_norm(start, 1)[0]
    for unit in (-1, 4):
        with pytest.raises(ValueError, match="unit must be"):
            measure.redundant_norm(start, unit)


def test_redundant_norm_is_zero_where_the_others_cancel():
    """x = [x]_+ - [-x]_+, and three unit vectors at 120 degrees add to zero; their squared norm
    is then a rounding error of either sign."""
    for turn in np.linspace(0, 1, 50):
        thirds = plane_direction(turn + np.array([0, 2, 4]) * np.pi / 3)
        s = np.concatenate([plane_direction(np.zeros(1)), thirds, -thirds])
        q, delta = np.array([1.0, 1, 1, 1, -1, -1, -1]), np.repeat([1.0, -1.0], [1, 6])
        problem = Problem(Teacher(np.ones(1), np.eye(2)[:1]), Students(q, s, delta), 1.0)
        start = solve(flows.population(problem), np.array([0, 1e-3])).at(slice(0, 1))
        assert 0 <= measure.redundant_norm(start)[0] < 1e-7


def test_imbalance_drifts_by_the_square_of_the_step_as_C4_says(spread):
    h, D = 0.05, spread.D
    a, w = spread.weights()
    T = flows.force(a, w, spread.teacher)
    expected = (h / D) ** 2 * (np.einsum("ij,ij->i", w, T) ** 2 - a**2 * (T**2).sum(axis=1))
    drift = measure.imbalance_drift(euler(flows.population(spread), h, 1))
    assert_allclose(drift, np.abs(expected).max() / D, rtol=1e-9)


def test_imbalance_is_kept_by_the_flow(spread):
    run = solve(flows.population(spread), np.linspace(0, 20, 21))
    assert measure.imbalance_drift(run) < 1e-11


# --- dissipation ---------------------------------------------------------------------------------


@pytest.mark.parametrize("describe", [flows.reduced, flows.limit, flows.population])
def test_the_parts_of_the_dissipation_add_up_to_the_loss_removed(describe):
    problem = duplicates(4, 16, np.pi / 4)
    parts = measure.dissipation(describe(problem), np.linspace(0, 30, 31))
    removed = (parts.coefficient + parts.direction).sum(axis=1)
    loss = parts.trajectory.loss
    assert_allclose(removed, loss[0] - loss, atol=1e-10)
    assert (np.diff(parts.coefficient, axis=0) >= 0).all()
    assert (np.diff(parts.direction, axis=0) >= 0).all()


def test_dissipation_is_followed_where_the_solver_wants_a_jacobian():
    """Late in training LSODA turns to its stiff method; the flow's own Jacobian is too small."""
    parts = measure.dissipation(flows.population(duplicates(3, 8, 0.7)), [0, 50, 100])
    loss = parts.trajectory.loss
    assert loss[-1] < 1e-4 * loss[0]
    removed = (parts.coefficient + parts.direction).sum(axis=1)
    assert_allclose(removed, loss[0] - loss, atol=1e-12)


def test_dissipation_is_the_integral_of_the_rates_of_each_unit(spread):
    flow, tau = flows.population(spread), np.array([0.0, 0.5, 1.0])
    parts = measure.dissipation(flow, tau)

    def rates(t):
        return flow.rates(solve(flow, np.array([0, t])).state[-1:])[0]

    coefficient, direction = quad_vec(rates, 1e-12, 1, epsabs=1e-9)[0]
    assert_allclose(parts.coefficient[-1], coefficient, atol=1e-8)
    assert_allclose(parts.direction[-1], direction, atol=1e-8)


def test_dissipation_follows_the_same_trajectory_and_shows_only_its_state(spread):
    flow, tau = flows.population(spread), np.linspace(0, 5, 6)
    parts, alone = measure.dissipation(flow, tau), solve(flow, tau)
    assert_allclose(parts.trajectory.state, alone.state, atol=1e-10)
    assert parts.coefficient.shape == parts.direction.shape == (6, 4)
    assert not parts.coefficient[0].any() and not parts.direction[0].any()


@pytest.mark.parametrize(
    "call",
    [
        lambda x: measure.first_entry(x, np.array([True])),
        lambda x: measure.trajectory_error(x, x),
        measure.redundant_norm,
        measure.imbalance_drift,
        measure.captured,
        lambda x: measure.dissipation(x, [0, 1]),
    ],
)
@pytest.mark.parametrize("wrong", [duplicates(3, 8, 0.7), None])
def test_a_measure_names_what_it_is_given(call, wrong):
    with pytest.raises(ValueError, match=r"must be a (Trajectory|Flow), got a"):
        call(wrong)


def test_a_path_or_a_law_that_leaves_the_floats_is_refused():
    with pytest.raises(ValueError, match="path, too large for a float"):
        measure.path_length([1e308, 0, 1e308])
    law = measure.loglog_fit([1, 2, 4], [1, 2, 4.1])
    bad = {-1: "x must be positive", 1e308: r"fit\(x\), too large", "a": "real numbers"}
    for x, message in bad.items():
        with pytest.raises(ValueError, match=message):
            law(x)
