"""Theorems 5 and 6 of the weight-decay paper, and our two exact laws, on flows of their own."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from gaugelib import condensation as cond

DATA, LAM = cond.four_points(), 1e-3
X, ROWS, CELLS = DATA.x, DATA.rows, cond.Cells.of(DATA.x)
SEEDS = st.integers(0, 2**32 - 1)


def norm(v):
    return np.sqrt(np.mean(v**2))


def one_cell(seed, m=7):
    """Residual e, m angles in one open cell, its p at them, and its M."""
    rng = np.random.default_rng(seed)
    e, cell = rng.normal(size=4), int(rng.integers(8))
    low = CELLS.bounds[cell]
    width = (CELLS.bounds[(cell + 1) % 8] - low) % (2 * np.pi)
    theta = low + width * np.sort(rng.uniform(0.05, 0.95, m))
    return e, theta, cond.field_slope(e, theta, X), CELLS.moments(e)[cell]


def ride(theta, M, s, t=1.0):
    """Balanced neurons of sign s in a frozen field M.(cos, sin): theta' = -2 s p."""
    def speed(_, x):
        return -2 * s * (M[1] * np.cos(x) - M[0] * np.sin(x))
    return solve_ivp(speed, (0, t), theta, rtol=1e-12, atol=1e-13, dense_output=True)


@given(SEEDS, st.sampled_from([1, -1]))
@settings(max_examples=40, deadline=None)
def test_differences_of_balanced_neurons_in_a_cell_do_not_see_where_the_extremum_goes(seed, s):
    """(52): (theta_i - theta_j)' = -2 R (sin delta_i - sin delta_j)."""
    _, theta, p, M = one_cell(seed)
    R, star = np.hypot(*M), np.arctan2(*(-s * M[::-1]))
    left = np.subtract.outer(-2 * s * p, -2 * s * p)
    right = -2 * R * np.subtract.outer(np.sin(theta - star), np.sin(theta - star))
    np.testing.assert_allclose(left, right, atol=1e-13)


@given(SEEDS, st.sampled_from([1, -1]))
@settings(max_examples=25, deadline=None)
def test_cross_ratios_of_balanced_neurons_in_one_field_are_conserved(seed, s):
    """Also while the field changes: two fields one after the other."""
    _, theta, _, M = one_cell(seed)
    last = ride(ride(theta, M, s).y[:, -1], np.array([M[1], 2 * M[0]]), s).y[:, -1]

    def cross(x, shift=0):
        a, b, c, d = x[0], x[2], x[4], x[6] + shift
        return (np.sin((a - c) / 2) * np.sin((b - d) / 2)
                / np.sin((a - d) / 2) / np.sin((b - c) / 2))

    assert abs(cross(last) / cross(theta) - 1) < 1e-6
    assert abs(cross(last, 0.1 * (last[6] - last[4])) / cross(theta) - 1) > 1e-6


@given(SEEDS)
@settings(max_examples=25, deadline=None)
def test_the_law_of_pairs_gives_the_distance_at_all_times(seed):
    _, theta, _, M = one_cell(seed)
    R, star = np.hypot(*M), np.arctan2(-M[1], -M[0])
    run, t = ride(theta[[0, -1]], M, 1), np.linspace(0, 1, 2001)
    i, j = run.sol(t)
    rate = 2 * R * np.cos((i + j) / 2 - star)
    fall = np.sum((rate[1:] + rate[:-1]) / 2) * (t[1] - t[0])
    change = np.log(np.tan((j[-1] - i[-1]) / 4) / np.tan((j[0] - i[0]) / 4))
    assert change == pytest.approx(-fall, abs=1e-5)


@given(SEEDS, st.floats(0.1, 1.4), st.floats(0.0, 0.99))
@settings(max_examples=40, deadline=None)
def test_neurons_in_a_band_around_a_slow_minimum_stay_and_contract(seed, d, share):
    """Lemmas 7 and 8 with R(t) >= 1/2 and a drift below 2 R0 sin d; faster, one leaves."""
    rng = np.random.default_rng(seed)
    R0, phase = 0.5, rng.uniform(0, 6)
    omega = 2 * R0 * np.sin(d)

    def leave(factor, delta):
        def speed(t, x):
            return -2 * R0 * np.sin(x) - factor * omega
        return solve_ivp(speed, (0, 20), delta, rtol=1e-9, atol=1e-11).y

    def speed(t, x):
        return -2 * (R0 + np.sin(t + phase) ** 2) * np.sin(x) - share * omega * np.cos(3 * t)

    delta = rng.uniform(-d, d, 5)
    run = solve_ivp(speed, (0, 6), delta, rtol=1e-9, atol=1e-11)
    assert np.abs(run.y).max() <= d
    c = 2 * R0 * np.cos(d)
    bound = np.exp(-c * run.t) * np.ptp(delta)
    assert (np.ptp(run.y, axis=0) <= bound * (1 + 1e-7) + 1e-9).all()
    assert np.abs(leave(1.05, np.array([-d]))).max() > d


@given(SEEDS)
@settings(max_examples=30, deadline=None)
def test_the_energy_obeys_its_identity_by_automatic_differentiation(seed):
    """(45) for random balanced networks, and the inequality with C_phi = 1."""
    rng = np.random.default_rng(seed)
    root, theta = rng.uniform(0.1, 1, 12), rng.uniform(0, 2 * np.pi, 12)
    s = np.where(rng.integers(2, size=12), 1.0, -1.0)
    z = np.array([s * root, root * np.cos(theta), root * np.sin(theta)])
    x, y = torch.tensor(X), torch.tensor(DATA.y)

    def outputs(z):
        return torch.relu(x[:, None] * z[1] + z[2]) @ z[0]

    def energy(z):
        a, w, b = z
        turned = torch.atan2(b, w)
        psi = (x[:, None] * w + b > 0) * (torch.cos(turned) - x[:, None] * torch.sin(turned))
        p = (outputs(z) - y) @ psi / 4
        return (a.abs() * torch.hypot(w, b) * p**2).sum()

    def gradient(function):
        at = torch.tensor(z, requires_grad=True)
        return torch.autograd.grad(function(at), at)[0].numpy()

    force = gradient(lambda z: ((outputs(z) - y) ** 2).mean() + LAM / 2 * (z**2).sum())
    dP = -np.sum(gradient(energy) * force)
    e, A = cond.outputs(z, X) - DATA.y, root**2
    phi, psi = cond.features(theta, X), cond.slopes(theta, X)
    q, p = phi @ e / 4, psi @ e / 4
    dA = -2 * A * (LAM + 2 * s * q)
    v_A, v_theta = (s * dA) @ phi, -2 * (A * p) @ psi
    P = (A * p**2).sum()
    exact = -2 * LAM * P - norm(v_theta) ** 2 - np.mean(v_A * v_theta)
    assert dP == pytest.approx(exact, rel=1e-10, abs=1e-12)
    assert dP <= -2 * LAM * P + np.abs(dA).sum() ** 2 / 4
