"""Gradient descent on duplicates, by other routes than the chapter's."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gaugelib import claims, flows, gauge, kernel, measure
from gaugelib.problem import Teacher, duplicates
from gaugelib.solve import crossing, euler, solve

PHI = np.pi / 4
SEVEN = np.array([16, 24, 32, 48, 64, 96, 128])


def descent(m, D, h, until, **kwargs):
    return euler(flows.population(duplicates(m, D, PHI, **kwargs)), h, round(until / h))


def energy(b, z, p, v):
    """Loss of b [z.x]_+ + p [v.x]_+ against [e1.x]_+ in torch, from the kernel g alone."""

    def inner(x, y):
        r, s = x.norm(), y.norm()
        c = (x @ y / (r * s)).clamp(-1 + 1e-15, 1 - 1e-15)
        sine = (1 - c) * (1 + c)
        return r * s * (torch.sqrt(sine) + (torch.pi - torch.arccos(c)) * c) / (2 * torch.pi)

    u = torch.tensor([1.0, 0.0], dtype=torch.float64)
    square = (b**2 * (z @ z) + p**2 * (v @ v) + 1) / 4
    return square + b * p * inner(z, v) - b * inner(z, u) - p * inner(v, u)


def test_gradient_descent_is_an_euler_step_in_the_scaled_parameters():
    """With autograd on the energy in place of the closed gradient."""
    m, D, h = 4, 16.0, 0.3
    M, root = m - 1, D**0.5
    run = descent(m, D, h, 12)
    a, w = run.state[:, :m], run.state[:, m:].reshape(-1, m, 2)
    scaled = [a[:, 0] / root, root * w[:, 0], M * root * a[:, 1], w[:, 1] / root]
    mobility = (1 / D**2, 1, M, 1 / (M * D**2))
    for n in range(5, 40, 7):  # at the start z and v are parallel: arccos has no derivative there
        y = [torch.tensor(x[n], dtype=torch.float64, requires_grad=True) for x in scaled]
        energy(*y).backward()
        for x, now, rate in zip(scaled, y, mobility, strict=True):
            step = h * rate * now.grad.numpy()
            np.testing.assert_allclose(x[n + 1], x[n] - step, rtol=0, atol=1e-11)


finite = st.floats(-2, 2, allow_nan=False)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**31), st.integers(1, 6), st.integers(2, 5), st.floats(1e-3, 0.5),
)
def test_a_step_changes_an_imbalance_by_eta_squared_times_the_gradients(seed, m, d, eta):
    rng = np.random.default_rng(seed)
    a, w = rng.normal(size=m), rng.normal(size=(m, d))
    u = rng.normal(size=(3, d))
    teacher = Teacher(rng.normal(size=3), u / np.linalg.norm(u, axis=1, keepdims=True))
    T = flows.force(a, w, teacher)
    da, dw = (w * T).sum(axis=1), a[:, None] * T
    delta = gauge.coordinates(a, w)[2]
    after = gauge.coordinates(a - eta * da, w - eta * dw)[2]
    expected = eta**2 * (da**2 - (dw**2).sum(axis=1))
    np.testing.assert_allclose(after - delta, expected, rtol=0, atol=1e-12 * (1 + m) ** 2)


def test_one_row_of_table_d5_has_every_printed_digit_in_three_dimensions():
    """d = 3 takes the force over all pairs, not that of the plane."""
    paths = []
    for D in SEVEN:
        run = descent(8, D, 0.2, 80, d=3)
        k = measure.first_entry(run, measure.captured(run, redundant="L2"))
        paths.append(measure.path_length(run.s[:, 5], k))
    fit = measure.loglog_fit(SEVEN, np.array(paths))
    mean = (paths * SEVEN**2).mean()
    assert f"{fit.slope:.4f}" == claims.lookup("D5-h0.20-slope").printed
    assert f"{mean * 1e3:.4f}e-3" == claims.lookup("D5-h0.20-path").printed
    assert fit.r2 > 0.9999


def test_one_iterate_earlier_or_later_changes_the_printed_mean():
    mean = {shift: 0.0 for shift in (-1, 0, 1)}
    for D in SEVEN:
        run = descent(8, D, 0.2, 80)
        k = measure.first_entry(run, measure.captured(run, redundant="L2"))
        for shift in mean:
            mean[shift] += D**2 * measure.path_length(run.s[:, 1], k + shift) / 7
    printed = float(claims.lookup("D5-h0.20-path").printed)
    assert abs(mean[0] - printed) < 5e-8
    assert mean[-1] - printed > 1e-5 and printed - mean[1] > 1e-5


@pytest.mark.parametrize(("m", "D"), [(2, 16), (8, 64)])
def test_halving_a_small_step_halves_the_error_against_the_flow(m, D):
    steps = np.array([0.4, 0.2, 0.1]) / m
    errors = []
    for h in steps:
        run = descent(m, D, h, 8)
        errors.append(measure.trajectory_error(run, solve(flows.population(run.problem), run.tau)))
    ratio = np.array(errors[:-1]) / errors[1:]
    assert (abs(ratio - 2) < 0.06).all()


def solution(m, D):
    """(a, w) of the selected solution with the imbalances of the start."""
    s = np.tile([np.cos(PHI), np.sin(PHI)], (m, 1))
    s[0] = 1, 0
    q = np.zeros(m)
    q[0] = 1
    return gauge.weights(q, s, np.array([D] + (m - 1) * [-D]))


@pytest.mark.parametrize("m", [2, 5, 32])
def test_the_largest_stable_step_is_two_over_the_largest_curvature(m):
    D = 1e4
    a, w = solution(m, D)
    hessian = flows.hessian(a, w, duplicates(m, D, PHI).teacher) / D
    largest = np.linalg.eigvalsh(hessian)[-1]
    r2 = kernel.g(PHI) ** 2 + kernel.omega(PHI) ** 2
    formula = (m + np.sqrt(m**2 - 16 * (m - 1) * (0.25 - r2))) / 4
    assert largest == pytest.approx(formula, rel=1e-6)
    assert 2 / formula < 4 / (m - 1)
    flow = flows.population(duplicates(m, D, PHI))
    near = np.concatenate([a, w.ravel()])
    near[1:m] += 1e-9
    for factor, grows in ((0.99, False), (1.01, True)):
        run = euler(flow.starting(near), factor * 2 / formula, 1200)
        assert (abs(run.P[-1]) > abs(run.P[0])) == grows


def test_above_the_limit_the_gauge_loosens_and_the_designated_student_is_still_selected():
    D, h = 16, 0.6
    run = descent(8, D, h, 1500)
    assert np.abs(run.P).max() > 5
    assert run.q[-1, 0] == pytest.approx(1, abs=1e-3) and abs(run.P[-1]) < 1e-3
    assert -0.84 * D < run.delta[-1, 1] < -0.82 * D
    a, w = run.state[-1, :8], run.state[-1, 8:].reshape(8, 2)
    curvature = np.linalg.eigvalsh(flows.hessian(a, w, run.problem.teacher) / D)[-1]
    assert 1.9 < h * curvature < 2


def test_the_drift_has_the_constant_of_the_flow():
    """Extrapolated to h = 0, against an integral of gradients along the flow at the same D."""
    m, D = 4, 64
    problem = duplicates(m, D, PHI)
    tau = np.concatenate([[0], np.geomspace(1e-3, 40, 4000)])
    run = solve(flows.population(problem), tau)
    squares = []
    for y in run.state:
        a, w = y[:m], y[m:].reshape(m, 2)
        T = flows.force(a, w, problem.teacher)
        squares.append((w * T).sum(axis=1) ** 2 - a**2 * (T**2).sum(axis=1))
    integral = np.trapezoid(np.array(squares), tau, axis=0) / D**2
    one, two = (descent(m, D, h, 40).delta for h in (0.02, 0.04))
    drift = 2 * (one[-1] - one[0]) / 0.02 - (two[-1] - two[0]) / 0.04
    np.testing.assert_allclose(drift, integral, rtol=2e-3)


def test_after_capture_the_loss_falls_by_the_same_factor_for_every_step():
    m, D = 8, 32
    rate = 2 * measure.tail_rate(m, PHI, D)
    for h in (0.4, 0.1):
        run = descent(m, D, h, 60)
        k = measure.first_entry(run, measure.captured(run, redundant="L2"))
        limit = flows.limit(duplicates(m, 1, PHI))
        at = crossing(limit, run.tau, lambda y: max(0.9 - y[0], y[1] / np.sqrt(2) - 0.1))
        assert k * h <= at.tau + 1
        decay = (1 - run.loss[k + 1 :] / run.loss[k:-1]) / h
        assert decay.min() > 0.95 * rate and decay.max() < 1.3 * rate
