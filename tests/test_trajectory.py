"""What a trajectory reports, against the states that made it."""

import numpy as np
import pytest

from gaugelib import flows
from gaugelib.problem import Problem, Students, Teacher, duplicates, plane_direction
from gaugelib.solve import solve

PHI = np.pi / 4


@pytest.fixture(scope="module")
def path():
    return solve(flows.reduced(duplicates(4, 8, PHI, d=3, designated=2)), np.arange(31) / 10)


def test_training_time_is_fast_time_over_D(path):
    assert np.array_equal(path.t * 8, path.tau)


def test_owner_designated_and_P(path):
    assert path.owner == path.designated == 2
    assert np.abs(path.q[:, 2] - path.state[:, 0]).max() == 0
    assert np.abs(path.P - path.state[:, 1]).max() < 1e-15
    early = path.at(slice(0, 1))
    assert early.owner == 0  # equal at the start: the first


def test_owner_has_the_largest_coefficient_of_either_sign():
    students = Students(np.array([0.2, -0.9]), np.eye(2), 1.0)
    problem = Problem(Teacher(np.ones(1), np.eye(2)[:1]), students, 1.0)
    assert solve(flows.population(problem), [0, 1e-3]).owner == 1


def test_angles_are_those_of_the_state_and_the_sign_shows_the_side(path):
    theta, psi = path.state[:, 2], path.state[:, 3]
    assert theta.min() < 0 < theta.max()
    assert np.abs(path.angle(2) - np.abs(theta)).max() < 1e-15
    assert np.abs(path.signed_angle(2) - theta).max() < 1e-15
    assert np.abs(path.signed_angle(0) - psi).max() < 1e-15
    assert path.signed_angle(0)[0] == pytest.approx(PHI, abs=1e-15)


def test_signed_angles_have_the_size_of_the_angle_out_of_the_plane_too():
    rng = np.random.default_rng(0)
    s, u = (x / np.linalg.norm(x, axis=1)[:, None] for x in rng.standard_normal((2, 3, 4)))
    problem = Problem(Teacher(np.array([1.0, -0.5, 0.7]), u), Students(np.ones(3) / 3, s, 2.0), 2.0)
    path = solve(flows.population(problem), [0, 1, 3])
    for unit in range(3):
        for teacher in range(3):
            dot = np.clip(path.s[:, unit] @ u[teacher], -1, 1)
            assert np.abs(path.angle(unit, teacher) - np.arccos(dot)).max() < 1e-12
            signed = path.signed_angle(unit, teacher)
            assert np.array_equal(np.abs(signed), path.angle(unit, teacher)) and signed[0] > 0


def test_at_takes_the_same_rows_of_everything(path):
    thin = path.at(slice(None, None, 10))
    assert np.array_equal(thin.tau, path.tau[::10]) and thin.label == path.label
    for name in ("q", "s", "delta", "loss", "state"):
        assert np.array_equal(getattr(thin, name), getattr(path, name)[::10])
    assert np.array_equal(path.at(np.array([3, 5])).q, path.q[[3, 5]])


@pytest.mark.parametrize("measure", ["angle", "signed_angle"])
@pytest.mark.parametrize("unit", [4, -1, 0.5, True, "a"])
def test_units_and_teachers_out_of_range_raise(path, measure, unit):
    with pytest.raises(ValueError, match="unit must be"):
        getattr(path, measure)(unit)
    with pytest.raises(ValueError, match="teacher must be"):
        getattr(path, measure)(0, unit)


def test_a_student_very_near_the_line_of_its_teacher_has_a_side():
    for start in (1e-12, 1e-6, 1e-3, np.pi - 1e-3, np.pi - 1e-6):
        students = Students(np.array([0.5]), plane_direction(np.array([start])), 1.0)
        problem = Problem(Teacher(np.ones(1), np.eye(2)[:1]), students, 1.0)
        path = solve(flows.population(problem), [0, 1e-3])
        assert path.signed_angle(0)[0] == path.angle(0)[0] == pytest.approx(start, abs=1e-15)


def test_a_student_along_its_teacher_has_no_side():
    teacher = Teacher(np.ones(1), np.array([[0.6, 0.8]]))
    s = np.concatenate([teacher.u, -teacher.u, plane_direction(np.zeros(1))])
    problem = Problem(teacher, Students(np.ones(3), s, 1.0), 1.0)
    path = solve(flows.population(problem), [0, 0.1])
    for unit in (0, 1):
        with pytest.raises(ValueError, match="unit must not start along its teacher"):
            path.signed_angle(unit)
    assert path.signed_angle(2)[0] == pytest.approx(np.arccos(0.6), abs=1e-15)


@pytest.mark.parametrize(
    "index", [True, 3, [1.5], ["a"], [[0, 1]], [0, 99], [-99], np.array([True, False])]
)
def test_an_index_that_selects_no_records_is_refused(path, index):
    with pytest.raises(ValueError, match="index must be"):
        path.at(index)


def test_records_are_chosen_by_slice_numbers_or_truth(path):
    late = path.tau > path.tau[5]
    for index in (slice(6, None), np.arange(6, len(path.tau)), late):
        assert np.array_equal(path.at(index).tau, path.tau[6:])
