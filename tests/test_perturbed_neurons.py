"""What chapter 08 says about perturbed neurons, by other routes than the chapter's."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from notebook_guards import CHAPTERS
from scipy.integrate import solve_ivp

from gaugelib import claims, flows, gauge, kernel
from gaugelib.measure import captured
from gaugelib.problem import Problem, Students, Teacher, near_duplicates, plane_direction
from gaugelib.solve import euler, solve

PHI = np.pi / 4
U = np.array([1.0, 0.0])


def unit_vectors(rng, n, d):
    s = rng.standard_normal((n, d))
    return s / np.linalg.norm(s, axis=1)[:, None]


def drawn(eps, seed, m=8, D=32.0):
    return near_duplicates(m, D, PHI, *(eps * np.random.default_rng(seed).uniform(-1, 1, (3, m))))


def gram(s, u):
    """The Gram matrix of C.3 from the Hessian in original parameters at a = (1, 0, ..., 0).

    There w_1 = u is the vector h + u, and each a_j, with |w_j| = 1, is beta_j.
    """
    M, d = s.shape
    a, w = np.append(1.0, np.zeros(M)), np.vstack([u, s])
    H = flows.hessian(a, w, Teacher(np.ones(1), u[None]))
    keep = np.append(np.arange(M + 1, M + 1 + d), np.arange(1, M + 1))
    return H[np.ix_(keep, keep)]


def least(s, u):
    return np.linalg.eigvalsh(gram(s, u))[0]


@pytest.mark.parametrize("d", [2, 3, 5])
def test_the_hessian_at_the_selected_state_is_the_gram_matrix_of_the_features(d):
    rng = np.random.default_rng(d)
    u, s = np.eye(d)[0], unit_vectors(rng, 4, d)
    x = rng.standard_normal((400_000, d))
    features = np.concatenate([(x[:, :1] > 0) * x, np.maximum(x @ s.T, 0)], axis=1)
    sampled = features.T @ features / len(x)
    assert np.abs(sampled - gram(s, u)).max() < 0.02  # five standard errors are about 0.01


def exact_least(angles):
    """lambda_min in the plane to 60 digits; angles as mpmath numbers from the teacher."""
    pi = mpmath.pi

    def g(a):
        a = abs(a)
        return (mpmath.sin(a) + (pi - a) * mpmath.cos(a)) / (2 * pi)

    n = len(angles)
    G = mpmath.zeros(n + 2)
    G[0, 0] = G[1, 1] = mpmath.mpf(1) / 2
    for i, a in enumerate(angles):
        G[0, i + 2] = G[i + 2, 0] = g(a)
        G[1, i + 2] = G[i + 2, 1] = (pi - abs(a)) * mpmath.sin(a) / (2 * pi)
        for j, b in enumerate(angles):
            G[i + 2, j + 2] = g(a - b)
    return min(mpmath.eigsy(G, eigvals_only=True))


def test_three_neighbours_have_the_power_three_with_constant_two_over_nine_pi():
    with mpmath.workdps(60):
        for exponent in (4, 6):
            x = mpmath.mpf(10) ** -exponent
            value = exact_least([mpmath.pi / 4 + k * x for k in (-1, 0, 1)])
            assert abs(value / x**3 * 9 * mpmath.pi / 2 - 1) < 10 * x


@pytest.mark.parametrize("psi", [0.3, PHI, 1.5, 2.8])
def test_two_neighbours_have_the_power_two_with_the_constant_of_the_projection(psi):
    """The part of the derivative feature outside of the others, by least squares on the circle."""
    t = (np.arange(200_000) + 0.5) * 2 * np.pi / 200_000
    on = np.cos(t) > 0
    others = np.stack([on * np.cos(t), on * np.sin(t), np.maximum(np.cos(t - psi), 0)], axis=1)
    derivative = (np.cos(t - psi) > 0) * np.sin(t - psi)
    residue = derivative - others @ np.linalg.lstsq(others, derivative, rcond=None)[0]
    constant = (residue**2).mean() * 2 / 2  # E r² = 2, and one half of the square norm
    with mpmath.workdps(50):
        x = mpmath.mpf(10) ** -5
        value = exact_least([psi - x / 2, psi + x / 2]) / x**2
    assert float(value) == pytest.approx(constant, rel=1e-3)


@given(st.integers(2, 5), st.integers(2, 6), st.integers(0, 10**6))
def test_the_least_eigenvalue_lies_below_the_bound_of_the_nearest_pair(d, n, seed):
    s, u = unit_vectors(np.random.default_rng(seed), n, d), np.eye(d)[0]
    theta = kernel.pair_angles(s)[np.triu_indices(n, 1)].min()
    assert 0 < least(s, u) <= kernel.excess(theta) * (1 + 1e-12)


def test_equal_students_make_the_gram_matrix_singular_and_antipodal_ones_do_not():
    s = plane_direction(np.array([PHI, PHI, PHI - np.pi]))
    assert abs(least(s[:2], U)) < 1e-14
    assert least(s[1:], U) > 0.03
    pairs = plane_direction(np.array([0.3, 0.9, 1.7]))
    assert abs(least(np.vstack([pairs, -pairs]), U)) < 1e-14
    assert least(np.vstack([pairs[:2], -pairs[:2]]), U) > 1e-3


def wedge_rate(a, w, X, y):
    """d/dt of a_i a_j - w_i.w_j by the chain rule, and by the formula, on data (X, y)."""
    residual = (np.maximum(X @ w.T, 0) @ a - y) / len(y)
    T = ((X @ w.T > 0) * residual[:, None]).T @ X
    da, dw = -np.einsum("ij,ij->i", w, T), -a[:, None] * T
    chain = da[0] * a[1] + a[0] * da[1] - dw[0] @ w[1] - w[0] @ dw[1]
    return chain, (a[0] * w[1] - a[1] * w[0]) @ (T[0] - T[1]), T


@given(st.integers(1, 5), st.integers(2, 5), st.integers(0, 10**6))
def test_the_cluster_gauge_moves_by_the_inputs_between_the_hyperplanes(d, m, seed):
    rng = np.random.default_rng(seed)
    a, w = rng.standard_normal(m), rng.standard_normal((m, d))
    X, y = rng.standard_normal((30, d)), rng.standard_normal(30)
    chain, formula, _ = wedge_rate(a, w, X, y)
    assert chain == pytest.approx(formula, abs=1e-12)
    same_side = X[(X @ w[0] > 0) == (X @ w[1] > 0)]
    if len(same_side):
        _, rate, T = wedge_rate(a, w, same_side, y[: len(same_side)])
        assert np.array_equal(T[0], T[1])
        assert rate == 0


@pytest.mark.parametrize("share", [0.5, 2.0])
def test_the_pair_ends_where_two_equations_for_coefficient_and_angle_say(share):
    """c' = -k theta² c, theta' = -4 k c² theta/D² with k from the Gram matrix; any k does."""
    D, theta = 8.0, 2e-3
    c = share * D * theta / 2

    def rates(tau, y):
        return -y[1] ** 2 * y[0], -4 / D**2 * y[0] ** 2 * y[1]

    end = solve_ivp(rates, (0, 50 / theta**2), [c, theta], rtol=1e-10, atol=1e-16,
                    method="LSODA").y[:, -1]
    students = Students(np.array([1, c, -c]),
                        plane_direction(np.array([0, PHI + theta / 2, PHI - theta / 2])),
                        D * np.array([1, -1, -1]))
    problem = Problem(Teacher(np.ones(1), U[None]), students, D)
    run = solve(flows.population(problem), np.array([0, 1e6, 3e8]), 1e-9, 1e-12)
    found = run.q[-1, 1], kernel.angle(run.s[-1, 1], run.s[-1, 2])
    assert abs(found[0] ** 2 - end[0] ** 2) < theta * c**2
    assert abs(found[1] ** 2 - end[1] ** 2) < theta * theta**2


@pytest.mark.parametrize(("eps", "seed"), [(1e-4, 0), (0.01, 4), (0.05, 6), (0.05, 9)])
def test_near_duplicates_select_under_gradient_descent_too(eps, seed):
    run = euler(flows.population(drawn(eps, seed)), 0.05, 1000, every=100)
    assert captured(run, redundant="L2")[-1]
    assert run.owner == 0


@pytest.mark.parametrize("seed", range(3))
def test_a_designated_student_of_the_wrong_sign_keeps_it(seed):
    problem = drawn(0.05, seed)
    q = problem.students.q.copy()
    q[0] *= -1
    students = Students(q, problem.students.s, problem.students.delta)
    run = solve(flows.population(Problem(problem.teacher, students, 32.0)),
                np.linspace(0, 200, 41), 1e-9, 1e-11)
    assert np.all(run.q[:, 0] < 0)
    assert not captured(run, redundant="L2").any()


def test_the_error_equation_holds_in_three_dimensions_too():
    """e_P' and c_j' from the weights' own velocities against the terms of lemma C.1."""
    rng = np.random.default_rng(21)
    D, m, u = 16.0, 5, np.eye(3)[0]
    s0 = np.array([np.cos(PHI), np.sin(PHI), 0])
    s = s0 + 0.05 * rng.standard_normal((m, 3))
    s /= np.linalg.norm(s, axis=1)[:, None]
    q = 1 / m + 0.05 * rng.uniform(-1, 1, m)
    delta = D * np.append(1, -np.ones(m - 1))
    problem = Problem(Teacher(np.ones(1), u[None]), Students(q, s, delta), D)
    a, w = problem.weights()
    rates = np.asarray(flows.population(problem).rhs(0, np.concatenate([a, w.ravel()])))[:m]
    b, z, p, v = a[0] / D**0.5, D**0.5 * w[0], D**0.5 * a[1:], w[1:] / D**0.5
    p_rates = D**0.5 * rates[1:]

    x = rng.standard_normal((1_000_000, 3))
    residual = np.maximum(x @ z, 0) * b + np.maximum(x @ v.T, 0) @ p - np.maximum(x[:, 0], 0)
    sampled = -(np.maximum(x @ v.T, 0) * residual[:, None]).mean(axis=0)
    assert np.abs(sampled - p_rates).max() < 5e-3  # the rates of p_j are -E [v_j.x]_+ residual

    reference = -(p.sum() / 2 + kernel.inner(z, s0) - kernel.g(PHI))
    forces = b * kernel.inner(v, z) + kernel.inner(v[:, None], v) @ p - kernel.inner(v, u)
    r = -forces - reference
    P_lim, z_lim = 0.7, np.array([0.2, -0.1, 0.0])
    P_lim_rate = -(m - 1) * (P_lim / 2 + kernel.inner(z_lim, s0) - kernel.g(PHI))
    e_P = p.sum() - P_lim
    pull = (m - 1) * (kernel.inner(z, s0) - kernel.inner(z_lim, s0))
    assert p_rates.sum() - P_lim_rate == pytest.approx(
        -(m - 1) / 2 * e_P - pull + (m - 1) * r.mean(), abs=1e-12
    )
    assert p_rates - p_rates.mean() == pytest.approx(r - r.mean(), abs=1e-12)


@given(st.floats(-3, 3), st.floats(0.5, 50))
def test_a_negative_imbalance_keeps_the_input_weights_away_from_zero(q, D):
    a, w = gauge.weights(q, U, -D)
    assert np.linalg.norm(w) >= np.sqrt(D) * (1 - 1e-15)
    if q:
        a, w = gauge.weights(q, U, D)
        assert a**2 >= D * (1 - 1e-15)


def test_single_coefficients_outlive_their_sum():
    run = solve(flows.population(drawn(0.05, 3)), np.array([0, 100, 1e5]), 1e-11, 1e-13)
    c, s = run.q[-1, 1:], run.s[-1, 1:]
    t = (np.arange(100_000) + 0.5) * 2 * np.pi / 100_000
    f_red = np.maximum(plane_direction(t - np.pi) @ s.T, 0) @ c
    assert np.sqrt(2 * (f_red**2).mean()) < 2e-4  # E r² = 2
    assert np.abs(c).max() > 0.02


def test_the_chapter_reports_every_claim_that_it_owes():
    rows = claims.collect([CHAPTERS / "08-perturbed-neurons.ipynb"])
    owed = {claim.id for claim in claims.load().values() if claim.chapter == "08"}
    assert {row.id for _, row in rows} == owed
