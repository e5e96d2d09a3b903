"""Every right-hand side by two routes: torch autograd, finite differences, other descriptions."""

import mpmath as mp
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gaugelib import flows, gauge, kernel
from gaugelib.problem import Problem, Students, Teacher, duplicates, plane_direction, single
from gaugelib.solve import RTOL, solve

PHI = np.pi / 4

TWO_TEACHERS = Problem(
    Teacher(np.ones(2), np.eye(2)), Students(np.ones(2), np.eye(2)[[0, 0]], 1.0), 1.0
)


def unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def random_problem(seed, m=4, d=3, n=2, D=8.0):
    """Students and teachers with both signs of everything."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(0.2, 1, m) * rng.choice([-1, 1], m)
    students = Students(q, unit(rng.standard_normal((m, d))), rng.uniform(-D, D, m))
    return Problem(Teacher(rng.uniform(-1, 1, n), unit(rng.standard_normal((n, d)))), students, D)


def torch_loss(y, problem):
    """L in float64 torch from (a, w), by the arc-cosine kernel of pairs i < j."""
    m = problem.m
    b, u = torch.tensor(problem.teacher.b), torch.tensor(problem.teacher.u)
    c, v = torch.cat([y[:m], -b]), torch.cat([y[m:].reshape(m, -1), u])
    size = v.norm(dim=1)
    i, j = torch.triu_indices(len(c), len(c), 1)
    cos = (v[i] * v[j]).sum(dim=1) / (size[i] * size[j])
    alpha = torch.arccos(cos)
    K = size[i] * size[j] * (torch.sin(alpha) + (torch.pi - alpha) * cos) / (2 * torch.pi)
    return (c**2 * size**2).sum() / 4 + (c[i] * c[j] * K).sum()


def loss_at(flow, y):
    return flow.read(np.asarray(y)[None])[3][0]


def slopes(function, y, h):
    """Central differences of a function of y along each coordinate: (k, ...)."""
    steps = h * np.eye(y.size)
    return np.array([(function(y + e) - function(y - e)) / (2 * h) for e in steps])


def moved(flow, seed=0, size=0.1):
    """A state away from the start."""
    rng = np.random.default_rng(seed)
    return flow.state0 * (1 + size * rng.uniform(-1, 1, flow.state0.size))


# --- original parameters -----------------------------------------------------------------------


@pytest.mark.parametrize(("m", "d", "n"), [(1, 2, 1), (5, 2, 3), (4, 3, 1), (3, 10, 2)])
def test_population_rates_are_minus_the_autograd_gradient_over_D(m, d, n):
    flow = flows.population(random_problem(1, m, d, n))
    y = torch.tensor(flow.state0, requires_grad=True)
    loss = torch_loss(y, flow.problem)
    (gradient,) = torch.autograd.grad(loss, y)
    assert loss_at(flow, flow.state0) == pytest.approx(loss.item(), abs=1e-13)
    assert np.abs(flow.rhs(0, flow.state0) + gradient.numpy() / flow.problem.D).max() < 1e-14


@pytest.mark.parametrize("d", [2, 3])
def test_population_rates_are_minus_the_slope_of_the_loss(d):
    flow = flows.population(random_problem(2, d=d))
    slope = slopes(lambda y: loss_at(flow, y), flow.state0, 1e-5)
    assert np.abs(flow.rhs(0, flow.state0) + slope / flow.problem.D).max() < 1e-9  # h^2, eps/h


@pytest.mark.parametrize(("m", "d", "n"), [(1, 2, 1), (4, 2, 2), (3, 3, 1), (3, 6, 2)])
def test_population_jacobian_is_minus_the_autograd_hessian_over_D(m, d, n):
    flow = flows.population(random_problem(3, m, d, n))
    hessian = torch.autograd.functional.hessian(
        lambda y: torch_loss(y, flow.problem), torch.tensor(flow.state0)
    )
    found = flow.jacobian(0, flow.state0)
    assert np.abs(found + hessian.numpy() / flow.problem.D).max() < 1e-13
    assert np.abs(found - found.T).max() < 1e-15


@pytest.mark.parametrize("d", [2, 4])
def test_jacobian_is_right_where_directions_coincide_or_oppose(d):
    rng = np.random.default_rng(4)
    w = rng.standard_normal((4, d))
    w[1], w[2] = 2 * w[0], -w[0]
    a, teacher = rng.standard_normal(4), Teacher(np.array([0.7, -0.4]), unit(w[[0, 3]]))
    assert kernel.angle(w[0], w[1]) == 0 and kernel.angle(w[0], w[2]) == np.pi

    def gradient(y):
        a, w = y[:4], y[4:].reshape(4, d)
        T = flows.force(a, w, teacher)
        return np.concatenate([(w * T).sum(axis=1), (a[:, None] * T).ravel()])

    y = np.concatenate([a, w.ravel()])
    found = flows.hessian(a, w, teacher)
    # The gradient has a |alpha|^2-kink in its slope there, so differences are of order h.
    assert np.abs(found - slopes(gradient, y, 1e-6)).max() < 1e-5
    assert np.abs(found - found.T).max() < 1e-14
    turned = w + 1e-9 * rng.standard_normal(w.shape)
    assert np.abs(found - flows.hessian(a, turned, teacher)).max() < 1e-7


@pytest.mark.parametrize("alpha", [1e-5, 1e-8, 1e-12])
def test_hessian_keeps_its_digits_at_tiny_angles(alpha):
    """One student, one teacher: d2L/dw2 = a^2 I/2 - (a b sin(alpha)/pi) n n^T, n across w."""
    a, b, w = alpha, 2.0, np.array([[1.0, 0.0]])  # so that both terms are of one size
    teacher = Teacher(np.array([b]), plane_direction(np.array([alpha])))
    found = flows.hessian(np.array([a]), w, teacher)[1:, 1:]
    expected = np.diag([a**2 / 2, a**2 / 2 - a * b * np.sin(alpha) / np.pi])
    assert np.abs(found - expected).max() < 1e-13 * a**2


def precise_force(a, w, teacher, digits=40):
    """T_i with mpmath: the angle from the cosine, whose errors do not matter at 40 digits."""
    with mp.workdps(digits):
        v = [[mp.mpf(x) for x in row] for row in np.vstack([w, teacher.u]).tolist()]
        c = [mp.mpf(x) for x in np.append(a, -teacher.b).tolist()]
        size = [mp.sqrt(mp.fdot(x, x)) for x in v]
        T = np.zeros(w.shape, dtype=object)
        for i in range(len(a)):
            for cj, vj, rj in zip(c, v, size, strict=True):
                cos = mp.fdot(v[i], vj) / (size[i] * rj)
                alpha = mp.acos(max(-1, min(1, cos)))
                along = mp.sin(alpha) * rj / size[i]
                both = zip(v[i], vj, strict=True)
                T[i] += [cj * (along * x + (mp.pi - alpha) * y) / (2 * mp.pi) for x, y in both]
        return T.astype(float)


@pytest.mark.parametrize("d", [2, 3, 10])
@pytest.mark.parametrize("apart", [0.3, 1e-3, 1e-6, 1e-8, 1e-9, 1e-12, 0.0])
def test_forces_are_right_to_rounding_at_tiny_angles_and_near_opposite(apart, d):
    turn, _ = np.linalg.qr(np.random.default_rng(d).standard_normal((d, d)))
    v = plane_direction(np.array([0, apart, -2 * apart, np.pi - apart, np.pi, 1.0]), d) @ turn
    a, w = np.array([1.0, -0.7, 0.4, 1.3]), np.array([[0.1], [3.0], [1.0], [0.5]]) * v[:4]
    teacher = Teacher(np.array([1.0, 0.8]), unit(v[4:]))
    assert np.abs(flows.force(a, w, teacher) - precise_force(a, w, teacher)).max() < 4e-15


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_forces_are_right_for_students_exactly_across_their_teacher(zero):
    """A first coordinate of 0 has no sign of its own."""
    w = np.array([[zero, 1.0], [zero, -2.0], [1.0, zero], [-1.0, zero]])
    teacher = TWO_TEACHERS.teacher
    a = np.array([1.0, -0.7, 0.4, 0.3])
    assert np.abs(flows.force(a, w, teacher) - precise_force(a, w, teacher)).max() < 4e-15


BOTH_DERIVATIVES = pytest.mark.parametrize("compute", [flows.force, flows.hessian])


@BOTH_DERIVATIVES
def test_forces_take_lists_and_whole_numbers(compute):
    teacher = TWO_TEACHERS.teacher
    expected = compute(np.array([1.0, 2.0]), np.array([[1.0, 0.0], [1.0, 2.0]]), teacher)
    assert np.array_equal(compute([1, 2], [[1, 0], [1, 2]], teacher), expected)


@BOTH_DERIVATIVES
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"w": [[1.0, 0, 0], [0, 0, 0]]}, r"\|w_i\| must be in"),
        ({"w": [[1.0, 0, 0], [0, 1e-151, 0]]}, r"\|w_i\| must be in \[1e-150, 1e\+150\]"),
        ({"w": [[1.0, 0, 0], [0, 1e151, 0]]}, r"\|w_i\| must be in \[1e-150, 1e\+150\]"),
        ({"w": [[1.0, 0, 0], [0, np.nan, 0]]}, "w must be finite"),
        ({"w": "x"}, "w must be an array of real numbers"),
        ({"w": [[1.0, 0]] * 2}, r"a must be \(m >= 1,\) and w \(m, 3\), got shapes"),
        ({"w": [[1.0, 0, 0]] * 3}, "got shapes"),
        ({"w": [1.0, 0, 0]}, "got shapes"),
        ({"a": [], "w": np.zeros((0, 3))}, "got shapes"),
        ({"a": [1.0, np.inf]}, "a must be finite"),
        ({"a": [1e300, 1e300], "w": [[1e100, 0, 0]] * 2}, "too large for a float"),
        ({"teacher": None}, "teacher must be a Teacher"),
    ],
)
def test_what_has_no_force_is_refused(compute, change, message):
    given = {"a": [1.0, 2.0], "w": np.eye(3)[:2], "teacher": Teacher(np.ones(1), np.eye(3)[:1])}
    with pytest.raises(ValueError, match=message):
        compute(**{**given, **change})


@pytest.mark.parametrize("apart", [1.0, 1e-3, 1e-8, 1e-12, 0.0, np.pi])
def test_second_derivatives_of_a_pair_are_those_of_its_plane(apart):
    """E x x^T over two half-spaces at the angle alpha, in coordinates with the first normal at e_1.

    In the plane, polar coordinates: integrals of (1, cos 2 phi, sin 2 phi)/2 pi over phi from
    alpha - pi/2 to pi/2.  Across it, the chance (pi - alpha)/2 pi of both half-spaces.
    """
    turn, _ = np.linalg.qr(np.random.default_rng(1).standard_normal((5, 5)))
    w = plane_direction(np.array([0.0, apart]), 5) @ turn
    a, teacher = np.array([0.7, -1.3]), Teacher(np.ones(1), turn[:1])
    found = turn @ flows.hessian(a, w, teacher)[2:7, 7:] @ turn.T / (a[0] * a[1])
    cos, sin = np.cos(apart), np.sin(apart)
    expected = np.eye(5) * (np.pi - apart)
    expected[:2, :2] += sin * np.array([[cos, sin], [sin, -cos]])
    assert np.abs(found - expected / (2 * np.pi)).max() < 2e-15


@settings(max_examples=60)
@given(st.integers(1, 12), st.integers(1, 4), st.integers(0, 10**6), st.booleans())
def test_force_in_the_plane_by_sorting_equals_that_over_pairs(m, n, seed, on_axes):
    rng = np.random.default_rng(seed)
    angles = rng.uniform(-np.pi, np.pi, m + n)
    if on_axes:  # coincident and opposite directions, and the ends of the sorted range
        angles = rng.integers(-4, 5, m + n) * np.pi / 4
    v = plane_direction(angles)
    a, w = rng.standard_normal(m), rng.uniform(0.1, 3, (m, 1)) * v[:m]
    teacher = Teacher(rng.standard_normal(n), v[m:])
    sizes = np.abs(a) @ np.linalg.norm(w, axis=1) + np.abs(teacher.b).sum()
    difference = flows.force(a, w, teacher) - flows._force_pairs(a, w, teacher)
    assert np.abs(difference).max() < 4e-15 * sizes


@pytest.mark.parametrize("d", [2, 5])
def test_force_is_the_sum_of_half_moments(d):
    problem = random_problem(5, m=4, d=d)
    a, w = problem.weights()
    expected = [
        sum(a[j] * kernel.half_moment(w[i], w[j]) for j in range(4))
        - sum(b * kernel.half_moment(w[i], u) for b, u in zip(*_parts(problem), strict=True))
        for i in range(4)
    ]
    assert np.abs(flows.force(a, w, problem.teacher) - expected).max() < 1e-14


def _parts(problem):
    return problem.teacher.b, problem.teacher.u


@pytest.mark.parametrize("d", [2, 4])
def test_permuting_students_permutes_their_forces(d):
    problem = random_problem(6, m=5, d=d)
    a, w = problem.weights()
    order = np.array([3, 0, 4, 1, 2])
    difference = flows.force(a[order], w[order], problem.teacher)
    assert np.abs(difference - flows.force(a, w, problem.teacher)[order]).max() < 1e-14


@pytest.mark.parametrize("d", [2, 4])
def test_rotating_everything_rotates_the_forces(d):
    problem = random_problem(7, m=5, d=d)
    a, w = problem.weights()
    turn, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((d, d)))
    turned = Teacher(problem.teacher.b, problem.teacher.u @ turn)
    expected = flows.force(a, w, problem.teacher) @ turn
    assert np.abs(flows.force(a, w @ turn, turned) - expected).max() < 1e-14


@pytest.mark.parametrize("d", [2, 3])
def test_the_gauge_changes_neither_the_loss_nor_the_forces(d):
    problem = random_problem(8, m=4, d=d)
    a, w = problem.weights()
    b, v = gauge.rescale(a, w, np.array([0.1, 1.0, 3.0, 50.0]))
    difference = flows.force(b, v, problem.teacher) - flows.force(a, w, problem.teacher)
    assert np.abs(difference).max() < 1e-14
    one, other = flows.population(problem), flows.population(problem.regauged(-3.0))
    assert loss_at(one, one.state0) == pytest.approx(loss_at(other, other.state0), abs=1e-15)


def test_coordinates_move_at_their_mobilities():
    """q' = -mu B, s' = -chi P T, delta' = 0 (3)-(4), by differences along the flow."""
    flow = flows.population(random_problem(9, m=3, d=3))
    rate, h = flow.rhs(0, flow.state0), 1e-5
    ahead, behind = (flow.read((flow.state0 + sign * h * rate)[None]) for sign in (1, -1))
    q_rate, s_rate, delta_rate = ((x[0] - y[0]) / (2 * h) for x, y in zip(ahead[:3], behind[:3]))
    start, D = flow.problem.students, flow.problem.D
    T = flows.force(*flow.problem.weights(), flow.problem.teacher)
    B = (start.s * T).sum(axis=1)
    assert np.abs(q_rate + gauge.mu(start.q, start.delta) * B / D).max() < 1e-8
    chi = gauge.chi(start.q, start.delta)[:, None]
    assert np.abs(s_rate + chi * (T - B[:, None] * start.s) / D).max() < 1e-8
    assert np.abs(delta_rate).max() < 1e-8


# --- every description -------------------------------------------------------------------------

DESCRIPTIONS = {
    "reduced": flows.reduced(duplicates(4, 8, PHI)),
    "reduced, d=5": flows.reduced(duplicates(4, 8, PHI, d=5, designated=2)),
    "limit": flows.limit(duplicates(4, 8, PHI)),
    "population": flows.population(random_problem(10)),
    "population in the plane": flows.population(random_problem(10, d=2)),
    "one +D": flows.reduced(single(0.6, 0.1, 4.0, q_star=1.3)),
    "one -D": flows.reduced(single(0.6, 0.1, -4.0, q_star=1.3)),
    "equal scale": flows.reduced(duplicates(4, 8, PHI).regauged(0.0)),
    "fast limit": flows.limit(single(0.6, 0.1, 4.0, q_star=1.3)),
    "slow limit": flows.limit(single(0.6, 0.1, -4.0, q_star=1.3)),
    "slow limit of three": flows.limit(duplicates(3, 8, PHI).regauged(-8.0)),
}
EACH = pytest.mark.parametrize("flow", DESCRIPTIONS.values(), ids=DESCRIPTIONS)


@EACH
def test_the_loss_falls_by_the_sum_of_the_dissipation_rates(flow):
    y, h = moved(flow), 1e-4
    rate = np.asarray(flow.rhs(0, y))
    ahead, behind = loss_at(flow, y + h * rate), loss_at(flow, y - h * rate)
    rates = flow.rates(y[None])
    assert rates.shape == (1, 2, flow.problem.m) and np.all(rates >= 0)
    # Differences are good to h^2 and to eps/h = 2e-12.
    assert (behind - ahead) / (2 * h) == pytest.approx(rates.sum(), rel=2e-6, abs=1e-11)


@EACH
def test_read_is_consistent_with_the_loss_of_the_network_it_reports(flow):
    states = np.array([flow.state0, moved(flow, 1), moved(flow, 2)])
    q, s, delta, loss = flow.read(states)
    teacher, m, d = flow.problem.teacher, flow.problem.m, flow.problem.d
    assert q.shape == delta.shape == (3, m) and s.shape == (3, m, d) and loss.shape == (3,)
    assert len(flow.names) == flow.state0.size
    assert np.abs(np.linalg.norm(s, axis=2) - 1).max() < 1e-14
    for i in range(3):
        c, v = np.concatenate([q[i], -teacher.b]), np.concatenate([s[i], teacher.u])
        assert loss[i] == pytest.approx(kernel.mixture_loss(c, v), abs=1e-15)


@pytest.mark.parametrize("name", ["reduced", "reduced, d=5", "limit", "population"])
def test_the_start_is_the_problem(name):
    flow = DESCRIPTIONS[name]
    q, s, delta, _ = flow.read(flow.state0[None])
    for found, given_ in zip((q, s, delta), vars(flow.problem.students).values(), strict=True):
        assert np.abs(found[0] - given_).max() < 1e-14


def embedded(flow, y):
    """The state of the population flow that a reduced state stands for."""
    q, s, delta, _ = flow.read(y[None])
    a, w = gauge.weights(q[0], s[0], delta[0])
    return np.concatenate([a, w.ravel()])


EXACT = [name for name, flow in DESCRIPTIONS.items() if flow.label == "reduced"]


@pytest.mark.parametrize("name", EXACT)
def test_reduced_rates_are_those_of_the_original_parameters(name):
    """Push the reduced rates through the embedding, and compare rates and dissipation by unit."""
    reduced = DESCRIPTIONS[name]
    population, y, h = flows.population(reduced.problem), moved(reduced), 1e-5
    for sign in (1, -1):  # theta on both sides of the teacher
        if reduced.state0.size == 4:
            y[2] = sign * 0.3
        rate = np.asarray(reduced.rhs(0, y))
        pushed = (embedded(reduced, y + h * rate) - embedded(reduced, y - h * rate)) / (2 * h)
        there = embedded(reduced, y)
        assert np.abs(pushed - population.rhs(0, there)).max() < 1e-8
        assert np.abs(reduced.rates(y[None]) - population.rates(there[None])).max() < 1e-13


@pytest.mark.parametrize("designated", [0, 2])
@pytest.mark.parametrize("d", [2, 3])
def test_reduced_and_population_follow_one_trajectory(d, designated):
    problem, tau = duplicates(3, 8, 1.0, d=d, designated=designated), np.linspace(0, 10, 21)
    one, other = (solve(describe(problem), tau) for describe in (flows.reduced, flows.population))
    assert one.owner == other.owner == designated
    for name in ("q", "s", "delta", "loss"):
        difference = np.abs(getattr(one, name) - getattr(other, name)).max()
        assert difference < (1e-10 if name == "delta" else 1e-11), name


@pytest.mark.parametrize("method", ["LSODA", "DOP853"])
@pytest.mark.parametrize("D", [1e4, 1e12, 1e80, 1e298])
def test_at_large_imbalances_the_original_parameters_lose_no_digits(D, method):
    """There one of a and |w| is far below 1, and an error of it is a larger one of q."""
    for problem in (duplicates(3, D, PHI), single(0.6, 0.1, D), single(0.6, 0.1, -D)):
        tau = np.linspace(0, 40, 5)
        one = solve(flows.reduced(problem), tau)
        other = solve(flows.population(problem), tau, method=method)
        assert np.abs(one.q - other.q).max() < 20 * RTOL
        angles = (np.abs(one.angle(i) - other.angle(i)).max() for i in range(problem.m))
        assert max(angles) < 20 * RTOL


def test_up_to_imbalances_of_800_absolute_tolerances_are_those_of_a_and_w():
    for delta, ones in ((0.0, 9), (800.0, 9), (-800.0, 9), (1000.0, 3), (-1000.0, 6)):
        units = flows.population(duplicates(3, 8, PHI).regauged(delta)).units
        assert units.shape == (9,) and (units == 1).sum() == ones


def test_imbalances_whose_weights_have_no_squares_are_refused():
    with pytest.raises(ValueError, match=r"\|w_i\| must be in \[1e-150, 1e\+150\]"):
        flows.population(duplicates(3, 1e301, PHI))


@pytest.mark.parametrize("m", [2, 4])
def test_reduced_tends_to_the_limit_like_one_over_D_squared(m):
    tau = np.linspace(0, 20, 41)
    limit = solve(flows.limit(duplicates(m, 1, PHI)), tau)
    errors = []
    for D in (32, 64, 128):
        reduced = solve(flows.reduced(duplicates(m, D, PHI)), tau)
        errors.append(np.abs(reduced.state[:, :3] - limit.state).max())
        assert np.abs(reduced.state[:, 3] - PHI).max() < 5 / D**2
    assert np.diff(np.log2(errors)) == pytest.approx(-2, abs=0.05)


@pytest.mark.parametrize("m", [1, 3])
def test_shared_flows_tend_to_their_limits(m):
    """Fast for +D; slow for -D after the layer, on the clock tau/D^2: errors fall like D^-2."""
    for sign, clock in ((1, lambda D: 1.0), (-1, lambda D: D**2)):
        errors = []
        for D in (16.0, 32.0):
            students = Students(np.full(m, 0.8 / m), plane_direction(np.ones(m)), sign * D)
            problem = Problem(Teacher(np.ones(1), plane_direction(np.zeros(1))), students, D)
            tau = clock(D) * np.linspace(0, 6, 13)
            a, b = (solve(make(problem), tau) for make in (flows.reduced, flows.limit))
            errors.append(np.abs(a.angle(0) - b.angle(0)).max())
            assert np.abs(a.q[2:] - b.q[2:]).max() < 20 / D**2
        assert np.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.15)


def test_angle_times_follow_the_closed_form_of_the_fast_limit_on_its_nullcline():
    """alpha' = -b omega/q with q kept at any value is -(pi - alpha) sin alpha/(2 pi q)."""
    flow = flows.limit(single(0.5, 0.0, 4.0))
    q, alpha = 0.5, 0.9
    expected = -(np.pi - alpha) * np.sin(alpha) / (2 * np.pi * q)
    assert flow.rhs(0, np.array([q, alpha]))[1] == pytest.approx(expected, rel=1e-15)


def test_students_along_or_against_their_teacher_stay_there():
    teacher = Teacher(np.ones(1), np.array([[0.6, 0.8, 0.0]]))
    for side in (1, -1):
        students = Students(np.array([0.5]), side * teacher.u, -2.0)
        path = solve(flows.reduced(Problem(teacher, students, 2.0)), [0, 5])
        assert np.abs(path.s[-1, 0] - side * teacher.u[0]).max() < 1e-15


def test_of_two_students_the_unit_apart_is_the_one_with_the_larger_imbalance():
    for designated in (0, 1):
        problem = duplicates(2, 8, PHI, designated=designated)
        for describe in (flows.reduced, flows.limit):
            assert solve(describe(problem), [0, 30]).owner == designated


def test_starting_changes_the_start_and_nothing_else():
    flow = DESCRIPTIONS["reduced"]
    other = flow.starting([0.5, 0.4, 0.1, 0.7])
    assert np.array_equal(other.state0, [0.5, 0.4, 0.1, 0.7]) and other.rhs is flow.rhs
    with pytest.raises(ValueError, match=r"state must have shape \(4,\), got \(3,\)"):
        flow.starting([1, 2, 3])
    with pytest.raises(ValueError, match="state must be finite"):
        flow.starting([1, 2, 3, np.nan])


def _with(problem, **change):
    parts = {**vars(problem.students), **change}
    return Problem(problem.teacher, Students(**parts), problem.D)


THREE = duplicates(3, 4, PHI)


@pytest.mark.parametrize(
    ("describe", "problem", "message"),
    [
        (flows.reduced, TWO_TEACHERS, "one teacher, got 2"),
        (flows.limit, TWO_TEACHERS, "one teacher, got 2"),
        (flows.reduced, _with(THREE, delta=np.array([4.0, -4.0, -3.0])), "one apart"),
        (flows.reduced, _with(THREE, q=np.array([-0.3, 0.3, 0.3])), "q must be positive"),
        (flows.reduced, _with(THREE, s=plane_direction(np.array([1, 0.7, 0.7]))), "one direction"),
        (
            flows.reduced,
            Problem(Teacher(np.array([2.0]), np.eye(2)[:1]), THREE.students, 4.0),
            r"b must be 1 .*2\.0",
        ),
        (flows.limit, THREE.regauged(0.0), "delta must be D or -D = 4 in the limit"),
        (flows.limit, THREE.regauged([4.0, -4.0, -3.0]), "delta must be D or -D = 4 in the limit"),
        (flows.limit, THREE.regauged([4.0, 4.0, -4.0]), r"delta must be \+D once"),
    ],
)
def test_problems_without_the_symmetry_raise(describe, problem, message):
    with pytest.raises(ValueError, match=message):
        describe(problem)
