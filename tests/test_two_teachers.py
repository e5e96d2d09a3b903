"""Two teachers (4.3, D.6), by other routes than the chapter's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from notebook_guards import ROOT

from gaugelib import flows, kernel
from gaugelib.problem import TWO_TEACHERS, two_teachers, two_teachers_start
from gaugelib.solve import rk4, solve

A, B, SAME = (0, 3), (1, 2), (0, 1)


def tangent(x, u):
    """The unit vector towards which x is turned from u."""
    across = x - (x @ u) * u
    return across / np.linalg.norm(across)


def test_the_teachers_are_those_of_the_paper():
    teacher = two_teachers(3, 16, A).teacher
    e1, e2 = np.eye(10)[:2]
    assert np.array_equal(teacher.b, [1.0, 0.8])
    assert np.allclose(teacher.u[0], np.cos(0.7) * e1 - np.sin(0.7) * e2, rtol=0, atol=1e-15)
    assert np.allclose(teacher.u[1], np.cos(0.7) * e1 + np.sin(0.7) * e2, rtol=0, atol=1e-15)
    assert kernel.angle(*teacher.u) == pytest.approx(1.4, rel=1e-14)


@given(seed=st.integers(0, 10_000), D=st.floats(0.5, 500), owners=st.sampled_from([A, B, SAME]))
def test_students_start_where_our_law_says(seed, D, owners):
    problem = two_teachers(seed, D, owners)
    students, (u1, u2) = problem.students, problem.teacher.u
    centres = [u1, u1, u2, u2] + 4 * [np.eye(10)[0]]
    angles = [0.3, 0.5, 0.5, 0.3, 0.6, 0.6, 0.6, 0.6]
    found = [kernel.angle(s, u) for s, u in zip(students.s, centres, strict=True)]
    assert np.allclose(found, angles, rtol=0, atol=1e-13)
    assert np.all(np.abs(8 * students.q - 1) < 0.1) and np.ptp(students.q) > 0
    expected = np.where(np.isin(np.arange(8), owners), D, -D)
    assert np.array_equal(students.delta, expected)
    assert (problem.m, problem.d, problem.D) == (8, 10, D)


def test_directions_and_coefficients_of_the_law_are_uniform():
    """Means and second moments over 400 seeds, within five standard deviations."""
    seeds, (u1, _) = range(400), two_teachers(0, 1, A).teacher.u
    q, s = map(np.array, zip(*map(two_teachers_start, seeds), strict=True))
    x = (8 * q - 1) / 0.1
    assert abs(x.mean()) < 5 * (3 * x.size) ** -0.5
    assert abs((x**2).mean() - 1 / 3) < 5 * (4 / 45 / x.size) ** 0.5
    v = np.array([tangent(row[1], u1) for row in s])
    second = v.T @ v / len(v)
    expected = (np.eye(10) - np.outer(u1, u1)) / 9
    assert np.abs(v.mean(axis=0)).max() < 5 * (9 * len(v)) ** -0.5
    assert np.abs(second - expected).max() < 5 * 0.15 * len(v) ** -0.5


def test_students_start_at_the_angles_and_with_the_spread_asked_for():
    off, e1 = np.arange(1, 9) / 8, np.eye(10)[0]
    u1, u2 = two_teachers(0, 1, A).teacher.u
    q, s = two_teachers_start(5, off, spread=0.9)
    centres = np.array([u1, u1, u2, u2, e1, e1, e1, e1])
    assert np.allclose((s * centres).sum(axis=1), np.cos(off), rtol=0, atol=1e-14)
    usual, same = two_teachers_start(5)[0], two_teachers_start(5, spread=0)[0]
    assert np.allclose(8 * q - 1, 9 * (8 * usual - 1), rtol=0, atol=1e-14)
    assert np.array_equal(same, np.full(8, 1 / 8))


def test_the_twenty_stored_starts_are_those_of_the_law():
    with np.load(TWO_TEACHERS) as stored:
        assert stored["q"].shape == (20, 8) and stored["s"].shape == (20, 8, 10)
        for seed, (q, s) in enumerate(zip(stored["q"], stored["s"], strict=True)):
            law = two_teachers_start(seed)
            assert np.allclose(q, law[0], rtol=0, atol=1e-15)
            assert np.allclose(s, law[1], rtol=0, atol=1e-15)
            students = two_teachers(seed, 5, B).students
            assert np.array_equal(students.q, q) and np.array_equal(students.s, s)


def test_stored_starts_are_read_and_not_drawn_again(monkeypatch):
    def refuse(*_):
        raise AssertionError("drawn")

    monkeypatch.setattr(np.random, "default_rng", refuse)
    two_teachers(19, 4, A)
    with pytest.raises(AssertionError, match="drawn"):
        two_teachers(20, 4, A)


@given(seed=st.integers(0, 60), D=st.floats(1, 200))
def test_every_configuration_is_the_same_function(seed, D):
    x = np.random.default_rng(seed).standard_normal((40, 10))
    outputs = [two_teachers(seed, D, owners).predict(x) for owners in (A, B, SAME)]
    assert np.ptp(outputs, axis=0).max() < 1e-13


@pytest.mark.parametrize("owners", [A, B])
def test_the_owners_take_both_features_by_fixed_steps_too(owners):
    """Fixed-step RK4 on the flow, seed 7: the owners' coefficients are near 1 and 0.8."""
    flow = flows.population(two_teachers(7, 32, owners))
    end = rk4(flow, 0.1, 8000, every=8000)
    adaptive = solve(flow, [0, 800], 1e-10, 1e-12)
    assert np.allclose(end.q[-1], adaptive.q[-1], rtol=0, atol=1e-5)
    assert np.allclose(end.q[-1, owners], [1, 0.8], rtol=0, atol=0.1)
    assert np.abs(np.delete(end.q[-1], owners)).max() < 0.1


def test_the_jacobian_is_the_derivative_of_the_rates_at_a_start():
    flow = flows.population(two_teachers(25, 16, SAME))
    y, step = flow.state0, 1e-6
    columns = [(flow.rhs(0, y + step * e) - flow.rhs(0, y - step * e)) / (2 * step)
               for e in np.eye(y.size)]
    assert np.allclose(np.array(columns).T, flow.jacobian(0, y), rtol=0, atol=1e-8)


def test_a_control_with_equal_imbalances_gives_no_pair_the_features():
    problem = two_teachers(2, 32, A)
    for sign in (1, -1):
        q = solve(flows.population(problem.regauged(sign * 32.0)), [0, 4000], 1e-8, 1e-10).q[-1]
        assert all(np.abs(np.delete(q, pair)).max() > 0.01 for pair in (A, B, SAME))


def test_two_students_that_share_close_their_angle_like_two_pi_over_tau():
    """From the rates at a shared state itself, without a solver."""
    for split, eps in ((0.5, 1e-3), (0.2, 1e-3), (0.5, 1e-4)):
        D, q = 1e4, np.array([split, 1 - split])
        angles = np.array([q[1], -q[0]]) * eps  # sum of q x vanishes
        s = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        big = np.sqrt((np.hypot(D, 2 * q) + D) / 2)
        a, w = big, (q / big)[:, None] * s
        T = np.array([
            sum(a[j] * kernel.half_moment(w[i], w[j]) for j in (0, 1))
            - kernel.half_moment(w[i], np.array([1.0, 0.0])) for i in (0, 1)
        ])
        turn = [-(a[i] ** 2 / q[i] / D) * (T[i] @ [-s[i, 1], s[i, 0]]) for i in (0, 1)]
        assert (turn[0] - turn[1]) / -(eps**2 / (2 * np.pi)) == pytest.approx(1, rel=0.02)
        c, v = np.append(q, -1), np.vstack([s, [1.0, 0.0]])
        loss = kernel.mixture_loss(c, v)
        assert loss == pytest.approx(q[0]**2 * q[1]**2 * eps**3 / (3 * np.pi), rel=0.02, abs=1e-17)


def test_the_stored_ends_hold_forty_blocks_and_agree_with_a_run():
    with np.load(ROOT / "data" / "two-teachers-ends.npz") as stored:
        shapes = {name: stored[name].shape for name in stored}
        rest, angle, loss = stored["rest"], stored["angle"], stored["loss"]
    assert shapes == {"angle": (40, 20, 3, 3, 2), "miss": (40, 20, 3, 3, 2),
                      "rest": (40, 20, 3, 3), "loss": (40, 20, 3, 3)}
    problem = two_teachers(123, 64, B)
    end = solve(flows.population(problem), [0, 4000], 1e-12, 1e-14)
    at = (6, 3, 2, 1)
    assert rest[at] == pytest.approx(np.abs(np.delete(end.q[-1], B)).max(), rel=1e-4)
    gap = kernel.angle(end.s[-1, list(B)], problem.teacher.u)
    assert angle[at][0] == pytest.approx(gap.max(), rel=1e-4)
    assert loss[at] == pytest.approx(end.loss[-1], rel=1e-2, abs=1e-14)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: two_teachers(-1, 4, A), "seed must be a whole number >= 0, got -1"),
        (lambda: two_teachers(0.5, 4, A), "seed must be a whole number >= 0, got 0.5"),
        (lambda: two_teachers_start(0, (0.3, 0.5)), r"off must have shape \(8,\), got \(2,\)"),
        (lambda: two_teachers_start(0, np.full(8, np.inf)), "off must be finite"),
        (lambda: two_teachers_start(0, spread=1), r"spread must be in \[0, 1\), got 1"),
        (lambda: two_teachers_start(-1), "seed must be a whole number >= 0, got -1"),
        (lambda: two_teachers(0, 0, A), r"D must be in \(0, inf\), got 0"),
        (lambda: two_teachers(0, np.nan, A), "D must be in"),
        (lambda: two_teachers(0, 4, (0, 0)), r"two different indices in 0..7, got \[0, 0\]"),
        (lambda: two_teachers(0, 4, (0, 8)), r"two different indices in 0..7, got \[0, 8\]"),
        (lambda: two_teachers(0, 4, (0, -1)), "owners must be a whole number >= 0, got"),
        (lambda: two_teachers(0, 4, 1), r"two different indices in 0..7, got \[1\]"),
        (lambda: two_teachers(0, 4, (0, 1, 2)), "two different indices in 0..7"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
