"""The map of assignments (chapter 13), by other routes than the chapter's."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from notebook_guards import ROOT

from gaugelib import flows
from gaugelib.kernel import angle, g, omega
from gaugelib.problem import Problem, Students, Teacher, duplicates, two_teachers
from gaugelib.solve import rk4, solve

PAIRS, DS = list(combinations(range(8), 2)), (1, 2, 4, 8, 16, 32, 64, 128)


@pytest.fixture(scope="module")
def stored():
    with np.load(ROOT / "data" / "assignment-map.npz") as one:
        with np.load(ROOT / "data" / "assignment-threshold.npz") as two:
            return {**one, **{f"c-{name}": two[name] for name in two.files}}


def pair_has_both(q, to, pair):
    """Whether the two students of the pair own the two features, from the stored ends."""
    return any(
        to[i] == 0 and to[j] == 1 and abs(q[i] - 1) < 0.05 and abs(q[j] - 0.8) < 0.05
        for i, j in (pair, pair[::-1])
    )


def test_the_stored_arrays_have_the_shapes_that_their_scripts_describe(stored):
    assert stored["q"].shape == stored["to"].shape == (8, 28, 20, 8)
    assert stored["even_q"].shape == stored["even_to"].shape == (200, 8)
    assert stored["c-steps"].shape == stored["c-parted"].shape == (28, 20)
    assert stored["c-q"].shape == (28, 20, 8)
    assert set(np.unique(stored["to"])) == {-1, 0, 1}


def test_every_success_of_the_map_lies_above_its_threshold_and_never_a_failure_above_it(stored):
    for p, pair in enumerate(PAIRS):
        for seed in range(20):
            won = [pair_has_both(stored["q"][i, p, seed], stored["to"][i, p, seed], pair)
                   for i in range(8)]
            assert won == sorted(won)
            first = 2 ** (stored["c-steps"][p, seed] / 16)
            assert all(D >= first for D, x in zip(DS, won, strict=True) if x)


def test_a_stored_end_is_that_of_fixed_steps(stored):
    pair, seed, D = (1, 6), 3, 4
    end = rk4(flows.population(two_teachers(seed, D, pair)), 0.2, 20000, every=20000)
    assert np.allclose(end.q[-1], stored["q"][DS.index(D), PAIRS.index(pair), seed], atol=1e-4)


@given(
    psi=st.floats(0.005, 0.02), share=st.floats(0.002, 0.01),
    D=st.floats(1, 100), m=st.integers(2, 9),
)
def test_the_conserved_quantity_of_the_lemma_has_a_small_derivative_on_the_slow_manifold(
    psi, share, D, m
):
    """d(D² ψ²) and d(C P²) cancel, from the reduced flow's own rates on its slow manifold."""
    M, P = m - 1, share * psi
    fall = 2 * (0.25 - g(psi) ** 2 - omega(psi) ** 2) * P
    kappa = np.hypot(D, 2) / D
    inertia = 1 / M + 4 * g(psi) ** 2 / kappa
    P_rate = -fall / inertia
    theta, q = -2 * P * omega(psi), 1 - 2 * P * g(psi)
    flow = flows.reduced(duplicates(m, D, psi))
    psi_rate = flow.rhs(0.0, np.array([q, P, theta, psi]))[3]
    C = 1.5 / M * (1 / M + 1 / kappa)
    assert 2 * D**2 * psi * psi_rate == pytest.approx(2 * C * P * P_rate, rel=0.05)


@pytest.mark.parametrize(("D", "joined"), [(0.5, True), (2.0, False)])
def test_a_redundant_student_fuses_below_the_threshold_only_in_the_weights_themselves(D, joined):
    """The population flow of two students: √3 P/ψ with its finite-D factor is 0.81 here."""
    psi, P = 0.3, 0.15
    across = [[np.cos(x), np.sin(x)] for x in (-2 * P * omega(psi), psi)]
    students = Students([1 - 2 * P * g(psi), P], across, [D, -D])
    problem = Problem(Teacher(np.ones(1), np.array([[1.0, 0.0]])), students, D)
    end = solve(flows.population(problem), [0, 1e5], 1e-9, 1e-11)
    assert (end.q[-1, 1] > 0.05) == joined
    assert (angle(end.s[-1, 1], [1.0, 0.0]) < 0.05) == joined


def test_balanced_twins_keep_their_ratio_by_fixed_steps_and_others_do_not():
    base = two_teachers(11, 1, (0, 1))
    q = np.append(base.students.q, 2 * base.students.q[6])
    s = np.vstack([base.students.s, base.students.s[6]])
    for delta, kept in ((0.0, True), (4.0, False)):
        problem = Problem(base.teacher, Students(q, s, delta), 1)
        end = rk4(flows.population(problem), 0.02, 1000, every=1000)
        assert (abs(end.q[-1, 8] / end.q[-1, 6] - 2) < 1e-6) == kept
