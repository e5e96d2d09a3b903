"""The statements of the chapter on compression, by routes that it does not take."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from gaugelib import condensation as cond

MAIN, LAM = cond.four_points(), 1e-3
SEEDS = st.integers(0, 2**32 - 1)


def random_field(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9))
    return rng.normal(size=n), rng.normal(size=n)


def flow(data, network, lam, times):
    """Networks (k, 3, m) on the gradient flow of Phi, its gradient by torch."""
    x, y = torch.tensor(data.x), torch.tensor(data.y)

    def phi(z):
        f = torch.relu(x[:, None] * z[1] + z[2]) @ z[0]
        return ((f - y) ** 2).mean() + lam / 2 * (z**2).sum()

    def velocity(_, z):
        return -torch.func.grad(phi)(torch.tensor(z.reshape(3, -1))).numpy().ravel()

    path = solve_ivp(velocity, (0, times[-1]), network.ravel(), "DOP853", times,
                     rtol=1e-12, atol=1e-14)
    return path.y.T.reshape(len(times), 3, -1)


def gram(network, x):
    """K = J J^T/n by automatic differentiation."""
    x = torch.tensor(x)
    jacobian = torch.func.jacrev(lambda z: torch.relu(x[:, None] * z[1] + z[2]) @ z[0])(
        torch.tensor(network)).reshape(x.numel(), -1).numpy()
    return jacobian @ jacobian.T / x.numel()


def rate_by_parts(network, data):
    """Sum of E_k (35), entry by entry."""
    a, r, theta = cond.polar(network)
    n = data.x.size
    phi, psi = cond.features(theta, data.x), cond.slopes(theta, data.x)
    e = cond.outputs(network, data.x) - data.y
    q, p = phi @ e / n, psi @ e / n
    E = np.zeros((n, n))
    for k in range(a.size):
        f, g = phi[k], psi[k]
        S = np.outer(f, f) + np.outer(g, g)
        E -= 4 * a[k] * r[k] * q[k] / n * (np.outer(f, f) + S)
        E -= 2 * a[k] * r[k] * p[k] / n * (np.outer(g, f) + np.outer(f, g))
    return E, q, p


# --- extrema ------------------------------------------------------------------------------------


@given(SEEDS)
@settings(max_examples=150, deadline=None)
def test_extrema_are_at_most_4n_minus_3_and_one_less_from_three_inputs_on(seed):
    x, e = random_field(seed)
    ends, n = cond.Cells.of(x).extrema(e), x.size
    smooth = np.count_nonzero(ends.smooth)
    assert 1 <= ends.theta.size <= 4 * n - 3 - (n >= 3)
    assert smooth <= 2 * n - 1 - (n >= 3) and ends.theta.size - smooth <= 2 * n - 2


@pytest.mark.parametrize(("x", "e"), [([0.3], [1.0]), ([-2.5, 3.0], [1.51, 1.0])])
def test_4n_minus_3_extrema_exist_for_one_and_two_inputs(x, e):
    assert cond.Cells.of(x).extrema(np.array(e)).theta.size == 4 * len(x) - 3


def outer_cells_with_an_extremum(x, e):
    """How many of the two live cells next to the dead one hold a smooth extremum."""
    cells = cond.Cells.of(x)
    dead = int(np.flatnonzero(~cells.active.any(axis=1))[0])
    outer = [(dead + side) % cells.bounds.size for side in (1, -1)]
    assert (cells.active[outer].sum(axis=1) == 1).all()
    ends = cells.extrema(e)
    return int(np.isin(outer, cells.containing(ends.theta[ends.smooth])).sum())


@given(SEEDS, st.floats(-2, 2))
@settings(max_examples=150, deadline=None)
def test_from_three_inputs_on_an_outer_live_cell_has_no_extremum(seed, scale):
    """Its own input must be more than a right angle from the next one; both cannot be."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    x, e = np.sort(rng.normal(size=n)) * 10**scale, rng.normal(size=n)
    alpha = np.sort(np.arctan2(1, x))
    wide = sum(gap > np.pi / 2 for gap in (alpha[1] - alpha[0], alpha[-1] - alpha[-2]))
    assert outer_cells_with_an_extremum(x, e) == wide <= (1 if n >= 3 else 2)


def test_with_two_inputs_both_outer_live_cells_can_have_one():
    assert outer_cells_with_an_extremum(np.array([-2.5, 3.0]), np.array([1.51, 1.0])) == 2


@given(SEEDS)
@settings(max_examples=60, deadline=None)
def test_one_cell_is_dead_and_each_boundary_switches_one_input(seed):
    x, _ = random_field(seed)
    cells = cond.Cells.of(x)
    assert np.count_nonzero(~cells.active.any(axis=1)) == 1
    switched = cells.active != np.roll(cells.active, 1, axis=0)
    assert (switched.sum(axis=1) == 1).all() and (switched.sum(axis=0) == 2).all()


@given(SEEDS)
@settings(max_examples=60, deadline=None)
def test_the_slope_jumps_at_both_boundaries_by_the_residual_of_their_input(seed):
    x, e = random_field(seed)
    for xi, ei in zip(x, e, strict=True):
        for side in (1, -1):
            bound = np.arctan2(1, xi) + side * np.pi / 2
            gap = np.abs(np.angle(np.exp(1j * (cond.Cells.of(x).bounds - bound))))
            near = min(np.sort(gap)[1] / 2, 1e-3) if x.size > 1 else 1e-3
            before, after = cond.field_slope(e, bound + np.array([-near, near]), x)
            assert abs(after - before - np.hypot(xi, 1) * ei / x.size) < 10 * near * (
                np.abs(e) @ np.hypot(x, 1))


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("seed", range(8))
def test_a_smooth_extremum_attracts_where_a_q_is_negative(seed, sign):
    x, e = random_field(seed)
    ends = cond.Cells.of(x).extrema(e)
    for star, value, smooth in zip(ends.theta, ends.value, ends.smooth, strict=True):
        if not smooth:
            continue
        end = solve_ivp(lambda _, t: -2 * sign * cond.field_slope(e, t, x),
                        (0, 1 / abs(2 * value)), [star + 1e-6], rtol=1e-10, atol=1e-14)
        factor = (end.y[0, -1] - star) / 1e-6
        assert abs(factor - np.exp(np.sign(sign * value))) < 1e-3


# --- the kernel ---------------------------------------------------------------------------------


def safe_network(seed, m=6):
    """Random data and network, no neuron within 1e-3 of a boundary."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    data = cond.Data(rng.normal(size=n), rng.normal(size=n))
    while True:
        z = rng.normal(size=(3, m))
        if np.abs(data.rows @ z[1:]).min() > 1e-2:
            return data, z


@pytest.mark.parametrize("seed", range(6))
def test_the_rate_of_the_kernel_is_minus_2_lam_K_plus_E(seed):
    data, z = safe_network(seed)
    h = 1e-4
    later = flow(data, z, 0.3, np.array([0, h, 2 * h]))
    K = [gram(y, data.x) for y in later]
    rate = (K[2] - K[0]) / (2 * h)
    E, *_ = rate_by_parts(later[1], data)
    assert np.abs(rate - (E - 0.6 * K[1])).max() < 1e-5 * (1 + np.abs(rate).max())


@given(SEEDS)
@settings(max_examples=60, deadline=None)
def test_plus_and_minus_E_are_below_4_B_epsilon_lam_K(seed):
    data, z = safe_network(seed)
    E, q, p = rate_by_parts(z, data)
    a, r, _ = cond.polar(z)
    B = np.maximum(np.abs(a) / r, r / np.abs(a)).max()
    K = 4 * B * (np.abs(q) + np.abs(p)).max() * gram(z, data.x)
    for sign in (1, -1):
        assert np.linalg.eigvalsh(K - sign * E)[0] > -1e-12 * np.abs(K).max()


def test_the_bound_on_E_is_attained_in_the_exact_limit():
    least = cond.minimiser(MAIN, LAM)
    size = np.sqrt(least.c)
    z = np.stack([size, size * np.cos(least.theta), size * np.sin(least.theta)])
    E, q, p = rate_by_parts(z, MAIN)
    assert np.allclose(E, 2 * LAM * gram(z, MAIN.x), rtol=1e-9, atol=1e-14)
    assert np.allclose(4 * (np.abs(q) + np.abs(p)).max(), 2 * LAM, rtol=1e-9)


def test_a_neuron_that_becomes_active_adds_the_square_of_its_weight():
    bound = np.arctan2(1, 1 / 3) + np.pi / 2
    K = []
    for theta in bound + np.array([1e-9, -1e-9]):
        z = np.array([[0.7], [np.cos(theta)], [np.sin(theta)]])
        K.append(gram(z, MAIN.x))
    gained = K[1] - K[0]
    assert abs(gained[2, 2] - 0.49 * (1 + 1 / 9) / 4) < 1e-8


# --- tracking -----------------------------------------------------------------------------------


@given(SEEDS)
@settings(max_examples=30, deadline=None)
def test_the_quasi_static_residual_scales_by_the_exact_comparison(seed):
    """(38) for any positive K_*, F and alpha."""
    rng = np.random.default_rng(seed)
    K, F = (y @ y.T + 0.1 * np.eye(4) for y in rng.normal(size=(2, 4, 4)))
    alpha, lam = rng.uniform(0.1, 1), rng.uniform(0.01, 1)
    start, now = (cond.quasi_static(k, MAIN.y, lam) for k in (K, alpha * F))
    A0, D = K + lam * np.eye(4), F - K + lam * (1 / alpha - 1) * np.eye(4)
    right = -np.linalg.solve(A0 + D, D @ start) / alpha
    assert np.abs(now - start / alpha - right).max() < 1e-10 * np.abs(now).max()


def test_the_lag_is_half_the_inverse_kernel_on_the_motion_of_the_reference():
    """e' = -2(K + lam) e - 2 lam y with K = e^(-2 lam t) K_0, whose motion is known."""
    errors = []
    for size in (40.0, 80.0, 160.0):
        K0 = size * np.diag([1.0, 1.5, 2.0, 3.0])

        def kernel(t, K0=K0):
            return np.exp(-2 * t) * K0

        end = solve_ivp(
            lambda t, e, kernel=kernel: -2 * (kernel(t) @ e + e) - 2 * MAIN.y, (0, 0.5),
            cond.quasi_static(K0, MAIN.y, 1.0), "Radau", rtol=1e-11, atol=1e-14).y[:, -1]
        K = kernel(0.5)
        qs = cond.quasi_static(K, MAIN.y, 1.0)
        inverse = np.linalg.inv(K + np.eye(4))
        lag = -0.5 * inverse @ (-inverse @ (-2 * K) @ qs)
        errors.append(np.linalg.norm(end - qs - lag) / np.linalg.norm(end - qs))
    assert errors[0] < 0.3
    assert 1.6 < errors[0] / errors[1] < 2.4 and 1.6 < errors[1] / errors[2] < 2.4


# --- the run ------------------------------------------------------------------------------------


def test_the_kernel_of_the_run_follows_its_law_until_epoch_5000_and_not_to_16000():
    run = cond.descend(MAIN, cond.initial(0, 200, 0.4), eta=0.1, lam=LAM, steps=16_000,
                       keep=(447, 5000))
    K = [gram(z, MAIN.x) for z in run.networks]
    off = [np.linalg.norm(np.exp(2 * LAM * 0.1 * (epoch - 447)) * k - K[0], 2)
           / np.linalg.norm(K[0], 2) for epoch, k in zip(run.epochs, K, strict=True)]
    assert abs(off[1] - 0.04177) < 1e-4 and abs(off[2] - 1.516) < 1e-2


def test_the_minima_of_the_run_double_and_move_in_compression():
    run = cond.descend(MAIN, cond.initial(0, 200, 0.4), eta=0.1, lam=LAM, steps=16_000,
                       keep=(1000,))
    lows = []
    for z in run.networks:
        theta = np.linspace(0, 2 * np.pi, 100_001)[:-1]
        q = cond.field(cond.outputs(z, MAIN.x) - MAIN.y, theta, MAIN.x)
        low = (q < np.roll(q, 1)) & (q < np.roll(q, -1)) & (q < 0)
        lows.append((np.degrees(theta[low]), q[low] * 2 / LAM))
    assert np.allclose(lows[0][0], [166.90, 343.35], atol=0.02)
    assert np.allclose(lows[1][0], [193.32, 346.02], atol=0.02)
    assert np.allclose(lows[0][1], [-0.189, -0.210], atol=1e-3)
    assert np.allclose(lows[1][1], [-0.975, -0.987], atol=1e-3)
