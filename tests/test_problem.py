"""Teachers, students and set-ups: what they compute, and what is refused."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaugelib import kernel
from gaugelib.problem import (
    Problem,
    Students,
    Teacher,
    duplicates,
    near_duplicates,
    plane_direction,
    single,
)

EPS = np.finfo(float).eps
TEN = 10 * EPS
S, U = [[0.6, 0.8]], [[1.0, 0.0]]


def random_problem(seed, m=5, d=4):
    rng = np.random.default_rng(seed)
    teacher = Teacher(rng.standard_normal(2), kernel.direction("u", rng.standard_normal((2, d))))
    s = kernel.direction("s", rng.standard_normal((m, d)))
    q = rng.choice([-1, 1], m) * rng.uniform(0.1, 2, m)
    return Problem(teacher, Students(q, s, 50 * rng.standard_normal(m)), 50.0)


@given(seed=st.integers(0, 500))
def test_the_function_is_that_of_coefficients_and_directions(seed):
    problem, rng = random_problem(seed), np.random.default_rng(seed)
    x, students = rng.standard_normal((20, problem.d)), problem.students
    features = np.maximum(x @ students.s.T, 0)
    sizes = features @ np.abs(students.q)
    assert np.all(np.abs(problem.predict(x) - features @ students.q) <= 20 * EPS * (1 + sizes))


@given(seed=st.integers(0, 500))
def test_the_weights_have_the_coefficients_and_imbalances_to_full_accuracy(seed):
    problem = random_problem(seed)
    a, w = problem.weights()
    for i, (q, delta) in enumerate(zip(problem.students.q, problem.students.delta, strict=True)):
        with mpmath.workdps(60):
            q, delta = mpmath.mpf(float(q)), mpmath.mpf(float(delta))
            mu = mpmath.sqrt(delta**2 + 4 * q**2)
            exact_a = mpmath.sign(q) * mpmath.sqrt((mu + delta) / 2)
            exact_r = mpmath.sqrt((mu - delta) / 2)
            assert abs(float(a[i] / exact_a) - 1) < TEN
            assert abs(float(np.linalg.norm(w[i]) / exact_r) - 1) < TEN
    assert np.allclose(kernel.direction("w", w), problem.students.s, rtol=0, atol=TEN)


@given(seed=st.integers(0, 500), delta=st.floats(-1e3, 1e3))
def test_another_gauge_is_the_same_function_teacher_and_unit_of_time(seed, delta):
    problem, x = random_problem(seed), np.random.default_rng(seed).standard_normal((20, 4))
    other = problem.regauged(delta)
    assert np.all(other.students.delta == delta) and other.students.delta.shape == (5,)
    assert np.allclose(other.predict(x), problem.predict(x), rtol=0, atol=1e-13)
    assert other.D == problem.D and other.teacher is problem.teacher
    each = problem.regauged(np.arange(5.0))
    assert np.array_equal(each.students.delta, np.arange(5.0))
    assert np.array_equal(problem.students.delta, random_problem(seed).students.delta)


@given(m=st.integers(2, 40), D=st.floats(0.1, 1e4), phi=st.floats(0.01, 3.1), d=st.integers(2, 9))
def test_duplicates_start_as_one_feature_with_one_designated(m, D, phi, d):
    problem = duplicates(m, D, phi, d, designated=m - 1)
    students, u = problem.students, problem.teacher.u
    assert (problem.m, problem.d, problem.D) == (m, d, D)
    assert np.array_equal(students.q, np.full(m, 1 / m)) and np.all(students.s == students.s[0])
    assert np.array_equal(students.delta, [-D] * (m - 1) + [D])
    assert np.array_equal(u, np.eye(1, d)) and np.array_equal(problem.teacher.b, [1.0])
    assert kernel.angle(students.s[0], u[0]) == pytest.approx(phi, rel=TEN)


def test_the_first_of_the_duplicates_is_designated_unless_told():
    assert np.array_equal(duplicates(3, 4, 1).students.delta, [4, -4, -4])
    assert np.array_equal(duplicates(3, 4, 1, designated=1).students.delta, [-4, 4, -4])


def test_near_duplicates_are_moved_by_what_was_asked_for():
    dq, turn, stretch = np.array([[0.01, -0.02, 0.5], [0.1, -0.2, 0.0], [0.3, -0.5, 0.1]])
    problem, even = near_duplicates(3, 4, 0.7, dq, turn, stretch), duplicates(3, 4, 0.7)
    students = problem.students
    assert np.allclose(students.q - 1 / 3, dq, rtol=0, atol=1e-15)
    angles = np.arctan2(students.s[:, 1], students.s[:, 0])
    assert np.allclose(angles, [0.8, 0.5, 0.7], rtol=0, atol=1e-15)
    assert np.allclose(students.delta, [5.2, -2, -4.4], rtol=0, atol=1e-14)
    assert problem.D == 4 and np.array_equal(problem.teacher.u, even.teacher.u)


def test_near_duplicates_that_are_not_moved_are_duplicates():
    ours, even = near_duplicates(5, 4, 0.7, 0, 0, 0).students, duplicates(5, 4, 0.7).students
    assert all(np.array_equal(getattr(ours, x), getattr(even, x)) for x in ("q", "s", "delta"))


def test_duplicates_of_any_width_make_the_same_function():
    x = np.random.default_rng(1).standard_normal((50, 2))
    feature = np.maximum(x @ plane_direction(0.7), 0)
    for m in (2, 5, 64):
        assert np.allclose(duplicates(m, 8, 0.7).predict(x), feature, rtol=0, atol=1e-14)


@given(q0=st.floats(0.01, 10), c0=st.floats(-0.99, 0.99), delta=st.floats(0.1, 1e4))
def test_a_single_student_has_its_coefficient_alignment_and_clock(q0, c0, delta):
    for sign in (1, -1):
        problem = single(q0, c0, sign * delta, q_star=2.5, d=3)
        students, teacher = problem.students, problem.teacher
        assert problem.D == delta and np.array_equal(students.delta, [sign * delta])
        assert np.array_equal(students.q, [q0]) and np.array_equal(teacher.b, [2.5])
        assert abs(students.s[0] @ teacher.u[0] - c0) < TEN and problem.d == 3
    assert np.array_equal(single(q0, c0, delta).teacher.b, [1.0])


def test_directions_in_the_plane():
    alpha = np.array([[0.0, np.pi / 2], [np.pi, -0.3]])
    s = plane_direction(alpha, 5)
    assert s.shape == (2, 2, 5) and np.all(s[..., 2:] == 0)
    assert np.allclose(s[..., 0], np.cos(alpha)) and np.allclose(s[..., 1], np.sin(alpha))
    assert plane_direction(0.3).shape == (2,)


def test_a_problem_keeps_copies_that_nobody_can_change():
    b, q = np.ones(1), np.ones(1)
    teacher, students = Teacher(b, U), Students(q, S, 0.0)
    b[0] = q[0] = 7.0
    assert teacher.b[0] == students.q[0] == 1.0
    for array in (teacher.b, teacher.u, students.q, students.s, students.delta):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(AttributeError):
        teacher.b = np.zeros(1)


def test_one_number_serves_as_everybodys_imbalance():
    assert np.array_equal(Students([1, 2], S * 2, 3.0).delta, [3.0, 3.0])
    assert np.array_equal(Students([1, 2], S * 2, [3.0]).delta, [3.0, 3.0])
    assert Students(1.0, S, -1.0).q.shape == (1,) and Teacher(2.0, U).b.shape == (1,)
    assert Students(0.0, S, -1.0).q[0] == 0


NAN = np.nan
T2, T3 = Teacher(1.0, U), Teacher(1.0, [[1.0, 0.0, 0.0]])
ONE = Students(1.0, S, 2.0)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: Teacher([1, 2], U), r"u \(n, d >= 2\), got shapes \(2,\) and \(1, 2\)"),
        (lambda: Teacher([], np.ones((0, 2))), r"b must be \(n >= 1,\)"),
        (lambda: Teacher(1.0, [[1.0]]), r"d >= 2"),
        (lambda: Teacher(1.0, [1.0, 0.0]), r"b must be \(n >= 1,\)"),
        (lambda: Teacher(NAN, U), "b must be finite"),
        (lambda: Teacher(1.0, [[1.0, 1.0]]), "u must be unit vectors"),
        (lambda: Students([1, 2], S, 0), r"q must be \(m >= 1,\) and s \(m, d\)"),
        (lambda: Students([], np.ones((0, 2)), 0), r"q must be \(m >= 1,\)"),
        (lambda: Students([[1]], S, 0), r"q must be \(m >= 1,\)"),
        (lambda: Students(1, [[1, 1]], 0), "s must be unit vectors"),
        (lambda: Students(1, S, [1, 2]), r"delta must be a number or \(1,\), got shape \(2,\)"),
        (lambda: Students(0, S, 0), "q must be nonzero where delta >= 0"),
        (lambda: Students([1, 0], S * 2, [-1, 2]), "q must be nonzero where delta >= 0"),
        (lambda: Students(1, S, NAN), "delta must be finite"),
        (lambda: Problem(T3, ONE, 1), "teacher and students must share d, got 3 and 2"),
        (lambda: Problem(T2, ONE, 0), r"D must be in \(0, inf\), got 0"),
        (lambda: Problem(T2, ONE, np.inf), r"D must be in \(0, inf\)"),
        (lambda: Problem(T2, ONE, 1).predict([1, 2, 3]), r"x must have shape \(..., 2\)"),
        (lambda: Problem(T2, ONE, 1).predict([1, NAN]), "x must be finite"),
        (lambda: Problem(T2, ONE, 1).predict([1.7e308, 1.7e308]), r"f\(x\), too large for a float"),
        (lambda: Problem(T2, ONE, 1).regauged([1, 2]), "delta must be a number or"),
        (lambda: plane_direction(0.1, 1), "d must be a whole number >= 2, got 1"),
        (lambda: plane_direction(NAN), "alpha must be finite"),
        (lambda: duplicates(1, 4, 1), "m must be a whole number >= 2, got 1"),
        (lambda: duplicates(2.5, 4, 1), "m must be a whole number >= 2, got 2.5"),
        (lambda: near_duplicates(2, 4, 1, 0, 0, -1), r"stretch must be > -1, got array\(\[-1"),
        (lambda: near_duplicates(2, 4, 1, np.nan, 0, 0), "dq must be finite, got nan"),
        (lambda: near_duplicates(2, 4, 1, 0, np.zeros(3), 0), r"fit together, got m \(2,\), dq"),
        (lambda: near_duplicates(2, 4, 1, -0.5, 0, 0), "q must be nonzero where delta >= 0"),
        (lambda: duplicates(2, -4, 1), r"D must be in \(0, inf\), got -4"),
        (lambda: Problem(None, duplicates(2, 4, 1).students, 4), "teacher must be a Teacher"),
        (lambda: Problem(duplicates(2, 4, 1).teacher, None, 4), "students must be a Students"),
        (lambda: duplicates(2, 4, 0), r"phi must be in \(0, 3.14159\), got 0"),
        (lambda: duplicates(2, 4, np.pi - 1e-7), r"phi must be in \(0, 3.14159\)"),
        (lambda: duplicates(2, 4, 1, designated=2), r"designated must be in 0..1, got 2"),
        (lambda: duplicates(2, 4, 1, designated=-1), "designated must be a whole number >= 0"),
        (lambda: single(0, 0, 1), r"q0 must be in \(0, inf\), got 0"),
        (lambda: single(1, 1, 1), r"c0 must be in \(-1, 1\), got 1"),
        (lambda: single(1, -1, 1), r"c0 must be in \(-1, 1\), got -1"),
        (lambda: single(1, 0, 0), "delta must be nonzero"),
        (lambda: single(1, 0, np.inf), r"delta must be in \(-inf, inf\)"),
        (lambda: single(1, 0, 1, q_star=0), r"q_star must be in \(0, inf\), got 0"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
