"""The exact empirical flow against a solver with the activations fixed, small steps, and itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from gaugelib import crossings, flows
from gaugelib.problem import Problem, Students, Teacher, duplicates, plane_direction
from gaugelib.solve import SolverError, euler, rk4

PHI = np.pi / 4
TAU = np.arange(201) / 10


def samples(seed, N):
    return np.random.default_rng(seed).standard_normal((N, 2))


def random_case(seed):
    rng = np.random.default_rng(seed)
    N, m = int(rng.integers(1, 12)), int(rng.integers(2, 5))
    X = rng.standard_normal((N, 2))
    return duplicates(m, 8, PHI), X, rng.standard_normal(N) if seed % 2 else None


def frozen_rates(X, y, active, copies, D):
    """The rates with given activations, as plain sums."""

    def rhs(tau, state):
        n = copies.size
        a, w = state[:n], state[n:].reshape(n, 2)
        T = (active * (((X @ w.T) * active) @ (copies * a) - y)[:, None]).T @ X / len(X)
        return np.concatenate([-(w * T).sum(axis=1), (-a[:, None] * T).ravel()]) / D

    return rhs


@pytest.mark.parametrize(("m", "D", "N", "seed"), [(8, 32, 64, 0), (3, 8, 150, 2)])
def test_between_crossings_a_solver_with_fixed_activations_agrees_to_twelve_digits(m, D, N, seed):
    problem, X = duplicates(m, D, PHI), samples(seed, N)
    exact = crossings.follow(problem, X, [0, 30])
    assert exact.slides.shape == (0, 2) and exact.crossings.size > 20
    y, state = np.maximum(X[:, 0], 0), exact.trajectory.state[0]
    copies = np.array([1, m - 1.0])
    active = X @ state[2:].reshape(2, 2).T > 0
    for start, end in zip([0, *exact.crossings], [*exact.crossings, 30]):
        rates = frozen_rates(X, y, active, copies, D)
        options = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-15}
        state = solve_ivp(rates, (start, end), state, **options).y[:, -1]
        w = state[2:].reshape(2, 2)
        sines = X @ w.T / np.linalg.norm(X, axis=1)[:, None] / np.linalg.norm(w, axis=1)
        met = np.abs(sines) < 1e-12
        assert met.sum() == (end < 30)  # one sample lies on one line at each crossing
        assert ((sines > 0) == active)[~met].all()  # and until then no other has changed sides
        active = active ^ met
    assert np.abs(state - exact.trajectory.state[-1]).max() < 1e-12


@pytest.mark.parametrize("seed", [0, 2, 5, 7, 41])
def test_the_record_times_do_not_matter(seed):
    problem, X, y = random_case(seed)
    coarse, fine = (crossings.follow(problem, X, tau, y) for tau in ([0, 7, 20], TAU))
    assert np.abs(coarse.trajectory.state - fine.trajectory.state[[0, 70, 200]]).max() < 1e-13
    assert np.abs(coarse.crossings - fine.crossings).max() < 1e-12
    assert coarse.slides.shape == fine.slides.shape


@pytest.mark.parametrize("seed", [0, 3, 5, 12, 27, 35, 59])  # with and without slides, labels
def test_euler_comes_within_a_step_of_it(seed):
    problem, X, y = random_case(seed)
    exact, flow = (
        crossings.follow(problem, X, [0, 10, 20], y).trajectory,
        flows.empirical(problem, X, y, symmetric=True),
    )
    for h in (0.005, 0.0005):  # order one: a fixed multiple of h
        run = euler(flow, h, round(20 / h), every=round(10 / h))
        assert np.abs(run.state - exact.state).max() < 0.5 * h


def test_runge_kutta_errs_by_less_than_a_step_times_a_jump():
    problem, X = duplicates(8, 32, PHI), samples(0, 512)
    exact = crossings.follow(problem, X, TAU).trajectory
    run = rk4(flows.empirical(problem, X, symmetric=True), 0.05, 400, every=2)
    assert 1e-9 < np.abs(run.q - exact.q).max() < 1e-4


def test_a_line_that_slides_lies_on_its_sample():
    problem, X, y = random_case(3)
    exact = crossings.follow(problem, X, np.linspace(0, 20, 401), y)
    run, (start, end) = exact.trajectory, exact.slides[0]
    inside = (run.tau > start) & (run.tau < end)
    sines = np.abs(run.s[inside] @ X.T) / np.linalg.norm(X, axis=1)
    assert inside.sum() > 5 and (sines.min(axis=(1, 2)) < 1e-14).all()
    outside = np.abs(run.s[run.tau < start] @ X.T) / np.linalg.norm(X, axis=1)
    assert outside.min() > 1e-6


@pytest.mark.parametrize("seed", range(8))
def test_imbalances_stay_and_the_loss_falls_through_crossings_and_slides(seed):
    run = crossings.follow(*_reordered(random_case(seed + 2))).trajectory
    assert np.abs(run.delta - run.delta[0]).max() < 1e-12
    assert (np.diff(run.loss) < 1e-15).all()


def _reordered(case):
    problem, X, y = case
    return problem, X, TAU, y


@pytest.mark.parametrize(("seed", "kind", "since"), [(49, 0, 0.1), (58, 0, 8.0)])
def test_a_student_without_active_samples_rests(seed, kind, since):
    problem, X, y = random_case(seed)
    run = crossings.follow(problem, X, TAU, y).trajectory
    late, k = run.state[run.tau > since], kind
    assert (X @ late[-1, 2 + 2 * k : 4 + 2 * k] < 1e-14).all()
    assert np.ptp(late[:, [k, 2 + 2 * k, 3 + 2 * k]], axis=0).max() == 0  # its a and w
    assert np.ptp(late[:, 1 - k]) > 0


@settings(max_examples=200)
@given(st.integers(0, 10**6))
def test_a_step_never_passes_a_root_of_a_watched_series(seed):
    rng = np.random.default_rng(seed)
    series = rng.standard_normal((3, 7)) * rng.uniform(0.2, 3, 7)
    series[:, 0] = np.abs(series[:, 0]) * rng.choice([1, 0.01])
    roots = np.concatenate([np.roots(c[::-1]) for c in series])
    first = min(roots[(np.abs(roots.imag) < 1e-9) & (roots.real > 0)].real, default=np.inf)
    step, event = crossings._first_root([(c.tolist(), k) for k, c in enumerate(series)], 2.0)
    assert 0 < step <= min(first * (1 + 1e-9), 2)
    if event is not None:
        assert step == pytest.approx(first, rel=1e-9)
        assert np.polyval(series[event][::-1], step) == pytest.approx(0, abs=1e-12)


def test_a_student_that_shrinks_to_nothing_is_reported():
    problem, X, y = random_case(1)
    with pytest.raises(SolverError, match="empirical: w0 vanishes at tau = 4.6154"):
        crossings.follow(problem, X, TAU, y)


def test_a_start_on_a_sample_goes_the_way_of_the_rates():
    """Students at (0, 1), a sample on their line at (1, 0) that is not active at the start."""
    teacher = Teacher(np.ones(1), np.array([[1.0, 0.0]]))
    for sign, met in ((1, 1), (-1, 0)):
        X = np.array([[sign, 0.0], [0.6, 0.8], [0.5, 0.9]])
        problem = Problem(teacher, Students([0.5], [[0.0, 1.0]], 2.0), 2.0)
        exact = crossings.follow(problem, X, [0, 0.1, 2])
        run = euler(flows.empirical(problem, X), 1e-4, 20000, every=1000)
        assert (exact.crossings[:1] == 0).sum() == met
        assert np.abs(exact.trajectory.state[1:] - run.state[[1, 20]]).max() < 2e-4


def one_student(alpha):
    students = Students([0.5], plane_direction(np.array([alpha])), 2.0)
    return Problem(Teacher(np.ones(1), np.eye(2)[:1]), students, 2.0)


@pytest.mark.parametrize("ahead", [1e-9, 1e-11, 1e-13])
def test_a_sample_just_ahead_of_a_line_is_met_when_the_line_gets_there(ahead):
    """Sooner in proportion, and not at once; the other samples lie far from the line."""
    others = [[0.6, 0.8], [0.5, 0.9]]
    near, far = (
        crossings.follow(one_student(np.pi / 2), [[1.0, -e], *others], [0, 0.1]).crossings[0]
        for e in (ahead, 1e-6)
    )
    assert near / far == pytest.approx(ahead / 1e-6, rel=1e-3)


@pytest.mark.parametrize("side", [1, -1])
def test_a_line_may_start_on_a_sample_in_any_direction(side):
    """The product is then a rounding error of either sign."""
    for alpha in np.random.default_rng(0).uniform(-3, 3, 60):
        across = side * plane_direction(alpha + np.pi / 2)
        X = np.vstack([0.3 * across, samples(1, 3)])
        problem = one_student(alpha)
        exact = crossings.follow(problem, X, [0, 0.1]).trajectory
        run = euler(flows.empirical(problem, X), 1e-3, 100, every=100)
        assert np.abs(run.state[-1] - exact.state[-1]).max() < 1e-3


PULLED_BOTH_WAYS = np.array([[1.0, 0.0], [0.6, 0.8]]), np.array([-5.0, 5.0])


def test_a_line_that_begins_to_slide_beside_its_sample_is_put_on_it():
    X, y = PULLED_BOTH_WAYS
    exact = crossings.follow(one_student(np.pi / 2 - 5e-15), X, np.arange(6) / 100, y)
    assert exact.trajectory.s[0, 0] @ X[0] > 4e-15 and exact.slides[0, 0] == 0
    assert np.abs(exact.trajectory.s[1:, 0] @ X[0]).max() < 1e-16


def test_a_slide_that_has_not_ended_ends_with_the_record():
    problem, X, y = random_case(3)
    start, end = crossings.follow(problem, X, [0, 20], y).slides[0]
    middle = (start + end) / 2
    (cut,) = crossings.follow(problem, X, [0, middle], y).slides
    assert cut == pytest.approx([start, middle], abs=1e-12)


def test_between_crossings_a_series_goes_far(monkeypatch):
    roots, steps = crossings._first_root, []
    monkeypatch.setattr(crossings, "_first_root", lambda *a: steps.append(1) or roots(*a))
    exact = crossings.follow(duplicates(3, 8, PHI), samples(0, 5), [0, 20])
    assert len(exact.crossings) == 1 and len(steps) < 25


def test_lines_that_meet_their_samples_without_end_are_reported():
    """Three lines and two samples whose labels pull them both ways."""
    s = plane_direction(np.array([-1.79, 2.83, -1.06]))
    students = Students([0.4, -0.8, 0.6], s, [2.7, -2.2, 2.8])
    problem = Problem(Teacher(np.ones(1), np.eye(2)[:1]), students, 3.0)
    with pytest.raises(SolverError, match="empirical: no way on from tau = 0.108492"):
        crossings.follow(problem, [[1, -2], [-2, -1]], [0, 1], [6.0, -5.9])


def test_a_student_that_shrinks_to_nothing_along_its_sample_is_reported():
    with pytest.raises(SolverError, match="w0 is 0 or missed a sample at 0.351"):
        crossings.follow(duplicates(2, 1, PHI), np.ones((1, 2)), [0, 1], [-0.7])


def test_states_are_those_of_the_symmetric_flow():
    problem, X = duplicates(4, 8, PHI), samples(1, 30)
    exact, flow = crossings.follow(problem, X, TAU), flows.empirical(problem, X, symmetric=True)
    q, s, delta, loss = flow.read(exact.trajectory.state)
    for name, value in zip(("q", "s", "delta", "loss"), (q, s, delta, loss)):
        assert np.array_equal(value, getattr(exact.trajectory, name))
    assert np.array_equal(exact.trajectory.state[0], flow.state0)


@pytest.mark.parametrize(
    ("problem", "tau", "message"),
    [
        (duplicates(2, 8, PHI, d=3), [0, 1], "d must be 2, got 3"),
        (duplicates(2, 8, PHI), [1, 2], "tau must start at 0, got"),
        (duplicates(2, 8, PHI), [0, 0], "tau must be strictly increasing"),
    ],
)
def test_bad_arguments_are_refused(problem, tau, message):
    with pytest.raises(ValueError, match=message):
        crossings.follow(problem, np.ones((3, problem.d)), tau)


@pytest.mark.parametrize("seed", [2, 3, 4, 6, 9])  # with slides
def test_repeated_samples_are_one_sample_with_the_mean_of_their_labels(seed):
    problem, X = duplicates(3, 8, 0.7), samples(seed, 6)
    y = np.random.default_rng(seed + 100).standard_normal((3, 6))
    many = crossings.follow(problem, np.vstack([X, X, X]), [0, 10, 20], y.ravel())
    one = crossings.follow(problem, X, [0, 10, 20], y.mean(axis=0))
    assert np.abs(many.trajectory.state - one.trajectory.state).max() < 1e-11
    assert many.slides.shape == one.slides.shape and len(one.slides) > 0


@settings(max_examples=20)
@given(seed=st.integers(0, 10**4), split=st.floats(0.05, 0.95), labelled=st.booleans())
def test_samples_of_one_direction_act_like_one_with_the_same_moments(seed, split, labelled):
    problem, X = duplicates(3, 8, 0.7), samples(seed, 9)
    y = np.random.default_rng(seed).standard_normal(9) if labelled else None
    part, rest = split**0.5, (1 - split) ** 0.5  # squares add up to one
    apart = np.vstack([part * X[:1], X[1:], rest * X[:1]]) * (10 / 9) ** 0.5
    labels = None
    if labelled:
        labels = np.append([y[0] * part], [*y[1:], y[0] * rest]) * (10 / 9) ** 0.5
    try:
        one = crossings.follow(problem, X, [0, 5], y).trajectory
    except SolverError:  # a student vanishes while it slides
        return
    split_up = crossings.follow(problem, apart, [0, 5], labels).trajectory
    assert np.abs(split_up.state - one.state).max() < 1e-9


@pytest.mark.parametrize("seed", range(8))
def test_an_input_at_the_origin_only_counts_among_the_N(seed):
    problem, X = duplicates(3, 8, 0.7), samples(seed, 20)
    with_zero = crossings.follow(problem, np.vstack([X, [[0.0, 0.0]]]), [0, 10]).trajectory
    scaled = crossings.follow(problem, X * (20 / 21) ** 0.5, [0, 10]).trajectory
    assert np.abs(with_zero.state - scaled.state).max() < 1e-11


@pytest.mark.parametrize("seed", [2, 3, 4, 6])
def test_samples_whose_directions_agree_to_rounding_are_met_together(seed):
    problem, X = duplicates(3, 8, 0.7), samples(seed, 6)
    longer = np.random.default_rng(seed).uniform(0.3, 3, (5, 6, 1))
    longer *= np.sqrt(5 / (longer**2).sum(axis=0))
    one, many = (
        crossings.follow(problem, x, [0, 10]) for x in (X, (longer * X).reshape(-1, 2))
    )
    assert np.abs(many.trajectory.state - one.trajectory.state).max() < 1e-11
    assert many.crossings == pytest.approx(one.crossings, abs=1e-10)
    assert many.slides.shape == one.slides.shape


def test_samples_whose_directions_differ_by_more_are_met_one_after_the_other():
    X = np.vstack([plane_direction(np.array([-0.01, -0.01 - 1e-10])), [[0.6, 0.8], [0.5, 0.9]]])
    first, second = crossings.follow(one_student(np.pi / 2), X, [0, 0.5]).crossings[:2]
    assert 0 < second - first < 1e-7


def test_on_a_grid_with_many_samples_on_each_ray_euler_agrees():
    line = np.arange(-3.0, 4.0)
    problem, X = duplicates(3, 8, 0.7), np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    exact = crossings.follow(problem, X, [0, 5]).trajectory
    run = euler(flows.empirical(problem, X, symmetric=True), 5e-4, 10_000, every=10_000)
    assert np.abs(run.q - exact.q).max() < 1e-4


def test_inputs_at_the_origin_alone_are_refused():
    with pytest.raises(ValueError, match="X must have an input that is not 0"):
        crossings.follow(duplicates(3, 8, 0.7), np.zeros((4, 2)), [0, 1])


@pytest.mark.parametrize("D", [1e8, 1e10, 1e12, 1e20])
def test_large_imbalances_lose_no_digits(D):
    """Beyond D = 1e7 the flow is its own limit to all digits."""
    X = samples(0, 20)
    runs = (crossings.follow(duplicates(3, x, 0.7), X, [0, 5, 20]) for x in (D, 1e7))
    q, limit = (run.trajectory.q for run in runs)
    assert np.abs(q - limit).max() < 1e-12


def test_a_run_that_leaves_the_floats_is_reported():
    with pytest.raises(SolverError, match="not finite"):
        crossings.follow(duplicates(3, 8, 0.7), samples(0, 5) * 1e140, [0, 1])


def test_only_a_problem_can_be_followed():
    with pytest.raises(ValueError, match="problem must be a Problem, got a NoneType"):
        crossings.follow(None, np.ones((3, 2)), [0, 1])
