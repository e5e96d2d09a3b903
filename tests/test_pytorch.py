"""The statements of the chapter on PyTorch, by routes that it does not take."""

import numpy as np
import pytest
import torch
from scipy.linalg import solve_continuous_lyapunov

from gaugelib import flows, kernel
from gaugelib.problem import Problem, Students, Teacher, duplicates, plane_direction
from gaugelib.solve import euler
from gaugelib.training import loss, network

BETA, ETA = 0.8, 0.01
T = 2 * np.pi * (np.arange(200_000) + 0.5) / 200_000  # polar angles of a quadrature
EDGE = 1e-4  # a sample on the wrong side of a line adds 5e-6 times a number below 20


def random_problem(d=3, m=4, seed=0):
    rng = np.random.default_rng(seed)
    s, u = (x / np.linalg.norm(x, axis=1)[:, None]
            for x in (rng.standard_normal((m, d)), rng.standard_normal((1, d))))
    return Problem(Teacher(np.ones(1), u), Students(np.full(m, 0.4), s, rng.normal(size=m)), 1.0)


@pytest.mark.parametrize("nesterov", [False, True])
def test_momentum_changes_the_imbalance_by_a_memory_of_squares(nesterov):
    """delta' - delta = -2 eta b C + eta^2 <U, U>, C' = beta C - eta <U, V>, b = beta (beta^2)."""
    model, rng = network(random_problem()), np.random.default_rng(1)
    x, y = torch.tensor(rng.standard_normal((50, 3))), torch.tensor(rng.standard_normal(50))
    descent = torch.optim.SGD(model.parameters(), lr=ETA, momentum=BETA, nesterov=nesterov)

    def imbalance():
        return (model.a**2 - (model.w**2).sum(dim=1)).detach().numpy()

    def product(p, q):
        return (p[0] * q[0] - (p[1] * q[1]).sum(dim=-1)).numpy()

    C = np.zeros(4)
    for _ in range(30):
        before, start = imbalance(), [p.detach().clone() for p in (model.a, model.w)]
        descent.zero_grad()
        loss(model, x, y).backward()
        descent.step()
        U = [(old - new.detach()) / ETA for old, new in zip(start, (model.a, model.w))]
        V = [descent.state[p]["momentum_buffer"] for p in (model.a, model.w)]
        memory = BETA**2 if nesterov else BETA
        expected = -2 * ETA * memory * C + ETA**2 * product(U, U)
        assert np.abs(imbalance() - before - expected).max() < 1e-13
        C = BETA * C - ETA * product(U, V)
    assert np.abs(C).max() > 1e-4


def test_inputs_that_are_twice_as_long_train_four_times_as_fast():
    problem, X = duplicates(4, 8.0, 0.7, d=5), np.random.default_rng(0).standard_normal((300, 5))
    one, two = (euler(flows.empirical(problem, c * X), 0.2 / c**2, 100) for c in (1, 2))
    assert np.abs(one.state - two.state).max() < 1e-12


@pytest.mark.parametrize("radii", [(1.0, 3.0), (0.2, 0.5)])
def test_two_circles_have_the_gaussian_force_times_half_of_the_mean_square(radii):
    problem = random_problem(d=2)
    a, w = problem.weights()
    X = np.concatenate([r * plane_direction(T) for r in radii])
    force = flows.empirical(problem, X).rhs(0, np.concatenate([a, w.ravel()]))
    gaussian = flows.population(problem).rhs(0, np.concatenate([a, w.ravel()]))
    assert np.abs(force - np.mean(np.square(radii)) / 2 * gaussian).max() < EDGE


def test_a_covariance_is_another_metric_and_its_gram_matrix_follows_from_half_moments():
    S = np.array([[1.6, 0.5], [0.5, 0.4]])
    root = np.linalg.cholesky(S)  # any root serves: x = root g
    problem = random_problem(d=2)
    (a, w), (u,) = problem.weights(), problem.teacher.u
    length = np.linalg.norm(root.T @ u)
    seen = Teacher(np.array([length]), (root.T @ u / length)[None])
    x = np.sqrt(2) * plane_direction(T) @ root.T  # E over radii gives the factor 2
    residual = np.maximum(x @ w.T, 0) @ a - np.maximum(x @ u, 0)
    by_hand = ((x @ w.T > 0) * residual[:, None]).T @ x / len(T)
    assert np.abs(by_hand - flows.force(a, w @ root, seen) @ root.T).max() < EDGE
    s = plane_direction(np.array(0.9))
    rows = np.column_stack([x * (x @ u > 0)[:, None], np.maximum(x @ s, 0)])
    across = root @ kernel.half_moment(root.T @ u, root.T @ s)
    gram = np.block([[S / 2, across[:, None]], [across[None], s @ S @ s / 2]])
    assert np.abs(rows.T @ rows / len(T) - gram).max() < EDGE


@pytest.mark.parametrize("phi", [0.3, np.pi / 4, 1.0])
def test_the_constant_of_noise_is_the_last_entry_of_the_inverse_gram_matrix(phi):
    g, omega = kernel.g(phi), kernel.omega(phi)
    expected = 1 / (0.5 - 2 * (g**2 + omega**2))
    assert np.linalg.inv(kernel.gram(phi))[2, 2] == pytest.approx(expected, rel=1e-12)


def test_the_stationary_covariance_of_noise_is_the_metric_whatever_the_gram_matrix():
    K, G, h = np.diag([1.0, 1, 7]), kernel.gram(0.6), 0.05
    covariance = solve_continuous_lyapunov(K @ G, h * K @ G @ K)
    assert np.abs(covariance - h * K / 2).max() < 1e-12


@pytest.mark.parametrize("lam, n", [(0.1, 8), (2.0, 8), (0.5, 40)])
def test_noise_that_adds_up_to_zero_leaves_the_part_of_the_geometric_sums(lam, n):
    """The chapter's closed form, against powers of the linear map over many epochs."""
    h = 0.1
    r, k = 1 - h * lam, np.arange(n + 1)
    own = (1 - r ** (2 * k)) / (1 - r**2) - ((1 - r**k) / (1 - r)) ** 2 / n
    start = own[-1] / (1 - r ** (2 * n))
    closed = np.mean(r ** (2 * k[1:]) * start + own[1:])
    noise = np.eye(n) - 1 / n
    steps = np.array([[r ** (i - j) if j <= i else 0.0 for j in range(n)] for i in range(n)])
    variance, at_start = np.diag(steps @ noise @ steps.T), 0.0
    for _ in range(4000):
        each = r ** (2 * k[1:]) * at_start + variance
        at_start = each[-1]
    assert closed == pytest.approx(each.mean(), rel=1e-10)


@pytest.mark.parametrize("d", [2, 5])
def test_the_trace_of_the_hessian_at_a_solution_is_least_where_noise_stops(d):
    u = np.eye(d)[:1]

    def trace(a):
        return np.trace(flows.hessian(np.array([a]), u / a, Teacher(np.ones(1), u)))

    assert trace(1.7) == pytest.approx((d * 1.7**2 + 1.7**-2) / 2, rel=1e-12)
    best = d**-0.25
    assert trace(best) < min(trace(0.99 * best), trace(1.01 * best))
    assert best**2 - best**-2 == pytest.approx(-(d - 1) / np.sqrt(d), rel=1e-12)
