"""Theorem 3.3 and its chapter: what must hold whenever one of m equal students is designated.

Each statement joins at least two parts of the package: two descriptions of one flow, a flow and a
closed form, or a trajectory and the loss that it removes.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaugelib import flows, gauge, kernel, measure
from gaugelib.problem import Problem, Students, Teacher, duplicates, plane_direction
from gaugelib.solve import crossing, solve

PHI = np.pi / 4
SHORT = np.linspace(0, 6, 13)
WIDTH = st.integers(2, 6)
IMBALANCE = st.floats(0.5, 64)
ANGLE = st.floats(0.1, 3.0)
ALLOWED = st.floats(0.5, np.pi / 3)


def together(one, other):
    """Largest difference of coefficients, directions, imbalances/D and losses."""
    D = one.problem.D
    names = {"q": 1, "s": 1, "delta": D, "loss": 1}
    return max(np.abs(getattr(one, x) - getattr(other, x)).max() / u for x, u in names.items())


# --- three descriptions of one flow ------------------------------------------------------------


@settings(max_examples=25)
@given(m=WIDTH, D=IMBALANCE, phi=ANGLE, d=st.integers(2, 4), seed=st.integers(0, 99))
def test_reduced_and_original_parameters_are_one_flow(m, D, phi, d, seed):
    problem = duplicates(m, D, phi, d=d, designated=seed % m)
    reduced, original = (solve(f(problem), SHORT) for f in (flows.reduced, flows.population))
    assert together(reduced, original) < 1e-9


@settings(max_examples=15)
@given(m=WIDTH, D=IMBALANCE, phi=ANGLE, part=st.sampled_from([-1.0, -0.3, 0.0, 0.4, 1.0]))
def test_one_representative_stands_for_students_of_equal_imbalance(m, D, phi, part):
    """The control of D.7.  To tau = 6 the instability of negative imbalances has no time."""
    problem = duplicates(m, D, phi).regauged(part * D)
    shared, original = (solve(f(problem), SHORT) for f in (flows.reduced, flows.population))
    assert together(shared, original) < 1e-9
    assert np.ptp(shared.q, axis=1).max() == 0


@settings(max_examples=15)
@given(m=WIDTH, phi=ANGLE)
def test_the_limit_is_approached_with_an_error_of_order_two(m, phi):
    """The error is a series in 1/D²: at D = 64 the next term is a few 1/64² beside the first."""
    errors = []
    for D in (64, 128):
        problem = duplicates(m, D, phi)
        run, limiting = (solve(f(problem), SHORT) for f in (flows.reduced, flows.limit))
        errors.append(measure.trajectory_error(run, limiting))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.02)


def test_the_limit_does_not_know_the_imbalance_and_never_turns_the_redundant_students():
    runs = [solve(flows.limit(duplicates(5, D, PHI)), SHORT) for D in (3, 300)]
    assert np.array_equal(runs[0].state, runs[1].state)
    assert np.abs(runs[0].angle(1) - PHI).max() < 1e-15
    assert np.abs(np.diff(runs[0].angle(0))).min() > 0


# --- any unit, any dimension -------------------------------------------------------------------


@settings(max_examples=10)
@given(m=WIDTH, data=st.data(), describe=st.sampled_from([flows.reduced, flows.population]))
def test_designating_another_student_permutes_the_roles(m, data, describe):
    k = data.draw(st.integers(0, m - 1))
    base = solve(describe(duplicates(m, 8, 1.0)), SHORT)
    other = solve(describe(duplicates(m, 8, 1.0, designated=k)), SHORT)
    order = np.arange(m)
    order[[0, k]] = k, 0
    permuted = {name: getattr(other, name)[:, order] for name in ("q", "s", "delta")}
    assert together(base, SimpleNamespace(**permuted, loss=other.loss)) < 1e-10


@pytest.mark.parametrize("describe", [flows.limit, flows.reduced, flows.population])
@pytest.mark.parametrize("d", [3, 9])
def test_the_dimension_changes_neither_coefficients_nor_angles_nor_the_loss(describe, d):
    plane, space = (solve(describe(duplicates(4, 16, PHI, d=n)), SHORT) for n in (2, d))
    assert np.abs(plane.q - space.q).max() < 1e-10
    assert np.abs(plane.loss - space.loss).max() < 1e-10
    for i in range(4):
        assert np.abs(plane.signed_angle(i) - space.signed_angle(i)).max() < 1e-10
    assert np.abs(space.s[..., 2:]).max() < 1e-12


def test_the_plane_of_teacher_and_students_may_lie_anywhere():
    turn, _ = np.linalg.qr(np.random.default_rng(3).standard_normal((4, 4)))
    straight = duplicates(3, 8, 1.0, d=4)
    start = straight.students
    teacher = Teacher(straight.teacher.b, straight.teacher.u @ turn)
    turned = Problem(teacher, Students(start.q, start.s @ turn, start.delta), 8)
    for describe in (flows.reduced, flows.population):
        one, other = solve(describe(straight), SHORT), solve(describe(turned), SHORT)
        assert np.abs(one.s @ turn - other.s).max() < 1e-10
        assert np.abs(one.q - other.q).max() < 1e-10


# --- selection ---------------------------------------------------------------------------------


@settings(max_examples=10)
@given(m=WIDTH, D=st.floats(8, 128), phi=ALLOWED)
def test_the_designated_student_learns_the_teacher_and_the_others_vanish(m, D, phi):
    """Followed to 30 times the slowest linear time: what is left is near exp(-30)."""
    rate = measure.tail_rate(m, phi)
    run = solve(flows.reduced(duplicates(m, D, phi)), np.linspace(0, 30 / rate, 7))
    q, P, theta, psi = run.state[-1]
    assert max(abs(q - 1), abs(P), abs(theta), run.loss[-1]) < 1e-8
    assert 0.95 * phi < psi < phi


@settings(max_examples=10)
@given(m=WIDTH, phi=ALLOWED, D=st.floats(8, 128))
def test_with_equal_scales_the_students_share_the_teacher(m, phi, D):
    run = solve(flows.reduced(duplicates(m, D, phi).regauged(D)), np.linspace(0, 80, 9))
    assert np.abs(run.q[-1] - 1 / m).max() < 1e-10
    assert run.angle(0)[-1] < 1e-10 and run.loss[-1] < 1e-20


def test_both_gauges_start_from_one_function_and_end_at_one():
    mixed = duplicates(8, 32, PHI)
    equal = mixed.regauged(32.0)
    x = np.random.default_rng(0).standard_normal((200, 2))
    assert np.abs(mixed.predict(x) - equal.predict(x)).max() < 1e-14
    ends = [solve(flows.reduced(p), np.linspace(0, 600, 7)) for p in (mixed, equal)]
    f, h = (np.maximum(x @ run.s[-1].T, 0) @ run.q[-1] for run in ends)
    teacher = np.maximum(x[:, 0], 0)
    assert np.abs(f - teacher).max() < 1e-8 and np.abs(h - teacher).max() < 1e-8


def test_the_designated_direction_passes_the_teacher_once_and_returns():
    flow, tau = flows.reduced(duplicates(8, 32, PHI)), np.linspace(0, 60, 601)
    at = crossing(flow, tau, lambda y: y[2])
    theta = solve(flow, tau).state[:, 2]
    assert np.all(theta[tau < at.tau] > 0) and np.all(theta[tau > at.tau] < 0)
    assert theta.min() < -0.3 and abs(theta[-1]) < 0.01


def test_without_a_large_imbalance_the_feature_is_shared():
    run = solve(flows.reduced(duplicates(8, 0.1, PHI)), np.linspace(0, 2000, 21))
    assert run.P[-1] > 0.7 and run.angle(1)[-1] < 0.01
    assert np.ptp(run.P[5:]) < 1e-3  # it no longer moves


def test_the_output_weights_are_what_is_pruned():
    D, m = 16.0, 4
    run = solve(flows.population(duplicates(m, D, PHI)), np.linspace(0, 120, 13))
    a, w = run.state[:, 1:m], run.state[:, m:].reshape(-1, m, 2)[:, 1:]
    root = np.sqrt(D**2 + 4 * run.q[:, 1:] ** 2)
    assert np.abs(a**2 - (root - D) / 2).max() < 1e-11
    assert np.abs((w**2).sum(axis=2) - (root + D) / 2).max() < 1e-11
    assert np.all(np.diff(a, axis=0) < 0) and a[-1].max() < 1e-3 * a[0].min()


# --- what happens near the end -----------------------------------------------------------------


@pytest.mark.parametrize("m", [2, 5, 20])
@pytest.mark.parametrize("phi", [0.3, PHI, 1.0])
def test_the_limit_is_linearized_by_the_gram_matrix(m, phi):
    """By differences at (q, P, theta) = (1, 0, 0); the kink |theta|^3 costs terms of order h."""
    flow, h = flows.limit(duplicates(m, 8, phi)), 1e-6
    steps = h * np.eye(3)
    at = np.array([1.0, 0, 0])
    slopes = [np.subtract(flow.rhs(0, at + e), flow.rhs(0, at - e)) / (2 * h) for e in steps]
    order = [0, 2, 1]  # (q, theta, P), as in the Gram matrix
    jacobian = np.array(slopes).T[np.ix_(order, order)]
    assert np.abs(jacobian + np.diag([1, 1, m - 1]) @ kernel.gram(phi)).max() < 1e-4


def test_the_loss_decays_at_twice_the_slowest_linear_rate():
    for m in (2, 8):
        rate = measure.tail_rate(m, PHI)
        run = solve(flows.reduced(duplicates(m, 512, PHI)), np.array([0, 250.0, 260.0]))
        decay = np.log(run.loss[1] / run.loss[2]) / 10
        assert decay == pytest.approx(2 * rate, rel=1e-3)  # the state is within 1e-4 of the end


def test_the_redundant_directions_turn_no_faster_than_the_loss_allows():
    """|dpsi/dt| (m - 1) D / L after capture: one constant for all widths and imbalances."""
    constants = []
    for m in (2, 8, 32):
        for D in (8, 128):
            flow = flows.reduced(duplicates(m, D, PHI))
            run = solve(flow, np.linspace(0, 80, 161))
            k = measure.first_entry(run, measure.captured(run))
            speed = D * np.abs([flow.rhs(0, y)[3] for y in run.state[k:]])
            constants += [*(speed * (m - 1) * D / run.loss[k:])[[0, -1]]]
    assert max(constants) < 1.1 * min(constants)


@pytest.mark.parametrize("D", [16.0, 64.0])
def test_all_negative_students_part_at_the_rate_omega_over_D(D):
    """The largest eigenvalue of the original flow at the shared state mq = 2g(alpha)."""
    m, alpha = 4, 0.6
    q = np.full(m, 2 * kernel.g(alpha) / m)
    s = plane_direction(np.full(m, alpha))
    problem = Problem(Teacher(np.ones(1), np.eye(2)[:1]), Students(q, s, -D), D)
    flow = flows.population(problem)
    grows = np.linalg.eigvals(flow.jacobian(0, flow.state0)).real.max()
    assert grows == pytest.approx(kernel.omega(alpha) / D, rel=1 / D)


@pytest.mark.parametrize("delta", [16.0, 0.0])
def test_positive_and_balanced_students_stay_together(delta):
    problem = duplicates(4, 16, PHI).regauged(delta)
    start = problem.students
    nudge = 1e-6 * np.array([3, -1, -4, 2])
    a, w = gauge.weights(start.q * (1 + nudge), start.s, start.delta)
    flow = flows.population(problem).starting(np.concatenate([a, w.ravel()]))
    spread = np.ptp(solve(flow, np.linspace(0, 400, 9)).q, axis=1)
    assert spread.max() < 3 * spread[0]


# --- where the loss goes -----------------------------------------------------------------------


@settings(max_examples=12)
@given(
    m=WIDTH,
    D=IMBALANCE,
    phi=ANGLE,
    describe=st.sampled_from([flows.limit, flows.reduced, flows.population]),
)
def test_the_parts_of_the_dissipation_are_the_loss_removed(m, D, phi, describe):
    """In the limit too: it is a gradient flow of the same loss with frozen directions."""
    spent = measure.dissipation(describe(duplicates(m, D, phi)), SHORT)
    removed = (spent.coefficient + spent.direction).sum(axis=1)
    loss = spent.trajectory.loss
    assert np.abs(removed - (loss[0] - loss)).max() < 1e-9


@settings(max_examples=10)
@given(m=WIDTH, D=IMBALANCE, phi=ANGLE)
def test_each_student_removes_the_same_loss_in_both_descriptions(m, D, phi):
    problem = duplicates(m, D, phi, designated=m - 1)
    one, other = (measure.dissipation(f(problem), SHORT) for f in (flows.reduced, flows.population))
    assert np.abs(one.coefficient - other.coefficient).max() < 1e-9
    assert np.abs(one.direction - other.direction).max() < 1e-9


@settings(max_examples=20)
@given(
    m=WIDTH,
    D=IMBALANCE,
    phi=ANGLE,
    describe=st.sampled_from([flows.reduced, flows.population]),
)
def test_rates_of_the_loss_are_mobility_times_squared_torque(m, D, phi, describe):
    """mu_i B_i² and chi_i q_i |P_i T_i|² of each student, from the coordinates (5)."""
    problem = duplicates(m, D, phi)
    start, (a, w) = problem.students, problem.weights()
    T = flows.force(a, w, problem.teacher)
    B = np.einsum("ij,ij->i", start.s, T)
    across = ((T - B[:, None] * start.s) ** 2).sum(axis=1)
    flow = describe(problem)
    coefficient, direction = flow.rates(flow.state0[None])[0]
    mu, chi = gauge.mu(start.q, start.delta), gauge.chi(start.q, start.delta)
    assert coefficient == pytest.approx(mu * B**2 / D, rel=1e-9, abs=1e-13)
    assert direction == pytest.approx(chi * start.q * across / D, rel=1e-9, abs=1e-13)


def test_the_designated_student_turns_and_the_redundant_ones_only_shrink():
    spent = measure.dissipation(flows.reduced(duplicates(8, 32, PHI)), np.linspace(0, 60, 7))
    designated, redundant = spent.direction[-1, 0], spent.direction[-1, 1:].sum()
    assert redundant < 1e-3 * designated
    assert spent.coefficient[-1, 1:].sum() > 1e-2 * spent.trajectory.loss[0]
