"""Weight decay on every flow: by autograd, by the exact law of the imbalance, by other flows."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from test_flows import random_problem, slopes, torch_loss

from gaugelib import flows, gauge
from gaugelib.measure import dissipation
from gaugelib.problem import Problem, Students, Teacher, duplicates, plane_direction, single
from gaugelib.solve import SolverError, euler, solve

PHI, LAM = np.pi / 4, 0.03
TAU = np.linspace(0, 300, 31)


def shared(m=3, delta=5.0):
    students = Students(np.full(m, 0.3), plane_direction(np.ones(m)), delta)
    return Problem(Teacher(np.ones(1), plane_direction(np.zeros(1))), students, 5.0)


def samples(d, n=200):
    return np.random.default_rng(7).standard_normal((n, d))


@pytest.mark.parametrize(("m", "d", "n"), [(1, 2, 1), (5, 2, 3), (4, 3, 1)])
def test_in_original_parameters_rates_are_minus_the_gradient_of_loss_and_penalty(m, d, n):
    flow = flows.weight_decay(flows.population(random_problem(1, m, d, n)), LAM)
    y = torch.tensor(flow.state0, requires_grad=True)
    objective = torch_loss(y, flow.problem) + LAM / 2 * (y**2).sum()
    (gradient,) = torch.autograd.grad(objective, y)
    assert np.abs(flow.rhs(0, flow.state0) + gradient.numpy() / flow.problem.D).max() < 1e-14


def test_the_jacobian_is_the_slope_of_the_rates():
    flow = flows.weight_decay(flows.population(random_problem(3)), LAM)
    slope = slopes(lambda y: np.array(flow.rhs(0, y)), flow.state0, 1e-5)
    assert np.abs(flow.jacobian(0, flow.state0) - slope.T).max() < 1e-9  # h^2 and eps/h


def penalised(flow, y):
    """L + (lam/2) sum mu of a reduced state, mu = a^2 + |w|^2."""
    q, _, delta, loss = flow.read(np.asarray(y)[None])
    return loss[0] + LAM / 2 * gauge.mu(q, delta).sum()


def mobilities(flow, y):
    """dq_i/dt over minus the slope of the penalised loss in q_i, at faded imbalances."""
    q, _, delta, _ = flow.read(np.asarray(y)[None])
    return gauge.mu(q[0], delta[0]), gauge.chi(q[0], delta[0]) / q[0]


@settings(deadline=None, max_examples=40)
@given(
    q=st.floats(0.05, 1.2), P=st.floats(0.02, 1), theta=st.floats(0.05, 0.7),
    psi=st.floats(0.75, 2), log_fade=st.floats(-8, 0), m=st.integers(2, 6),
)
def test_reduced_rates_are_downhill_in_the_penalised_loss(q, P, theta, psi, log_fade, m):
    """q' = -mu dPhi/dq, P' = -M mu dPhi/dP, theta' = -(chi/q) dPhi/dtheta, psi' likewise."""
    flow = flows.weight_decay(flows.reduced(duplicates(m, 4.0, PHI)), LAM)
    y, M = np.array([q, P, theta, psi, log_fade]), m - 1
    slope = slopes(lambda z: penalised(flow, z), y, 1e-5)[:4]
    mu, turn = mobilities(flow, y)
    expected = -np.array([mu[0], M * mu[1], turn[0], turn[1] / M]) * slope / 4
    rates = np.array(flow.rhs(0, y))
    assert rates[:4] == pytest.approx(expected, rel=1e-6, abs=1e-7)
    assert rates[4] == -2 * LAM / 4


@settings(deadline=None, max_examples=20)
@given(lam=st.floats(1e-3, 1), m=st.integers(2, 5), D=st.floats(1, 50))
def test_imbalances_fade_at_the_rate_2_lambda(lam, m, D):
    problem, tau = duplicates(m, D, PHI), D / lam * np.linspace(0, 3, 7)
    for describe, near in ((flows.reduced, 1e-12), (flows.population, 1e-7)):
        run = solve(flows.weight_decay(describe(problem), lam), tau, 1e-9, 1e-11)
        law = np.exp(-2 * lam * run.t)[:, None] * problem.students.delta
        assert np.abs(run.delta - law).max() < near * D


@pytest.mark.parametrize("lam", [1e-3, 0.05, 0.7])
@pytest.mark.parametrize("make", [lambda: duplicates(3, 4.0, PHI), shared, lambda: shared(2, -5.0)])
def test_reduced_and_original_parameters_agree(lam, make):
    one, two = (solve(flows.weight_decay(describe(make()), lam), TAU, 1e-11, 1e-13)
                for describe in (flows.reduced, flows.population))
    assert np.abs(one.q - two.q).max() < 1e-8
    assert np.abs(one.q[..., None] * (one.s - two.s)).max() < 1e-8
    assert np.abs(one.loss - two.loss).max() < 1e-8


@pytest.mark.parametrize("d", [2, 3])
def test_empirical_and_population_shrink_alike(d):
    """What decay adds to the rates is -(lam/D) y in both, and the samples do not matter."""
    problem = random_problem(5, d=d)
    for flow in (flows.population(problem), flows.empirical(problem, samples(d))):
        decayed = flows.weight_decay(flow, LAM)
        added = np.array(decayed.rhs(0, flow.state0)) - np.array(flow.rhs(0, flow.state0))
        assert np.abs(added + LAM / problem.D * flow.state0).max() < 1e-15


def test_two_decays_in_original_parameters_add_up():
    flow = flows.population(random_problem(6))
    twice = flows.weight_decay(flows.weight_decay(flow, 0.1), 0.2)
    once = flows.weight_decay(flow, 0.1 + 0.2)
    assert np.abs(np.subtract(twice.rhs(0, flow.state0), once.rhs(0, flow.state0))).max() < 1e-15


def test_gradient_descent_shrinks_the_imbalance_by_the_square_of_1_minus_eta_lambda():
    """delta <- (1 - eta lam)^2 delta + eta^2 [(dL/da)^2 - |dL/dw|^2], exactly."""
    problem = random_problem(8)
    flow, eta = flows.population(problem), 0.1 / problem.D
    a, w = flow.state0[:4], flow.state0[4:].reshape(4, -1)
    gradient = -problem.D * flow.rhs(0, flow.state0)
    step = eta**2 * (gradient[:4] ** 2 - (gradient[4:].reshape(4, -1) ** 2).sum(axis=1))
    found = euler(flows.weight_decay(flow, LAM), 0.1, 1).delta[-1]
    law = (1 - eta * LAM) ** 2 * (a**2 - (w**2).sum(axis=1)) + step
    assert np.abs(found - law).max() < 1e-13


def test_small_decays_tend_to_none():
    plain = solve(flows.reduced(duplicates(3, 4.0, PHI)), TAU)
    gaps = []
    for lam in (1e-4, 1e-5):
        run = solve(flows.weight_decay(flows.reduced(duplicates(3, 4.0, PHI)), lam), TAU)
        gaps.append(np.abs(run.q - plain.q).max())
    assert gaps[0] / gaps[1] == pytest.approx(10, rel=0.05)


def test_balanced_students_along_the_teacher_keep_their_shares():
    q, s = np.array([0.5, 0.2, 0.05]), plane_direction(np.zeros(3))
    problem = Problem(Teacher(np.ones(1), s[:1]), Students(q, s, 0.0), 1.0)
    run = solve(flows.weight_decay(flows.population(problem), LAM), [0, 2000.0])
    assert run.q[-1] == pytest.approx((1 - 2 * LAM) * q / q.sum(), abs=1e-10)


def test_one_student_ends_with_1_minus_2_lambda_or_dies():
    for lam, end in ((0.01, 0.98), (0.3, 0.4), (0.6, 0.0)):
        run = solve(flows.weight_decay(flows.reduced(single(0.5, 0.2, 2.0)), lam), [0, 200 / lam],
                    1e-9, 1e-11)
        assert run.q[-1, 0] == pytest.approx(end, abs=1e-7)


def test_original_parameters_follow_students_that_die():
    flow = flows.weight_decay(flows.population(single(0.5, 0.2, 2.0)), 5.0)
    run = solve(flow, [0, 20.0])
    assert abs(run.q[-1, 0]) < 1e-10 and abs(run.delta[-1, 0]) < 1e-10


def test_what_decay_does_not_describe_raises():
    flow = flows.reduced(duplicates(3, 4.0, PHI))
    for lam in (0, -1, np.inf, np.nan):
        with pytest.raises(ValueError, match="lam must be in"):
            flows.weight_decay(flow, lam)
    for refused in (flows.limit(duplicates(3, 4.0, PHI)), flows.weight_decay(flow, 0.1)):
        with pytest.raises(ValueError, match="flow must have finite imbalances"):
            flows.weight_decay(refused, 0.1)
    with pytest.raises(ValueError, match="flow must be a Flow"):
        flows.weight_decay("reduced", 0.1)
    for describe in (flows.reduced, flows.population):
        decayed = flows.weight_decay(describe(duplicates(3, 4.0, PHI)), 0.1)
        with pytest.raises(SolverError, match="rates must be taken without weight decay"):
            dissipation(decayed, [0, 1])
