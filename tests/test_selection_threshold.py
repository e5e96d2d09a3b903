"""The threshold between sharing and selection (chapter 15), by other routes than the chapter's."""

import runpy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from notebook_guards import ROOT
from scipy.integrate import quad

from gaugelib import flows
from gaugelib.kernel import excess, g, omega
from gaugelib.measure import tail_rate
from gaugelib.problem import duplicates
from gaugelib.solve import rk4, solve

SCRIPT = runpy.run_path(ROOT / "full" / "selection-threshold.py")


@pytest.fixture(scope="module")
def stored():
    with np.load(ROOT / "data" / "selection-threshold.npz") as file:
        return dict(file)


def threshold(stored, m, phi):
    row = int(np.abs(stored["phi"] - phi).argmin())
    assert abs(stored["phi"][row] - phi) < 1e-9
    return stored["D0"][row, stored["m"].tolist().index(m)]


def c(m):
    """c_m by quadrature of x (1 - x)/(2 - x)."""
    return np.sqrt(6 * m * quad(lambda x: x * (1 - x) / (2 - x), 0, 1 - 1 / m)[0]) / (m - 1)


def test_the_stored_arrays_are_those_that_the_script_describes(stored):
    assert stored["D0"].shape == (stored["phi"].size, stored["m"].size) == (15, 14)
    assert np.isfinite(stored["D0"]).all() and (stored["D0"] > 0).all()
    assert (np.diff(stored["m"]) > 0).all() and (np.diff(stored["phi"]) > 0).all()


@pytest.mark.parametrize(("m", "phi"), [(2, np.pi / 4), (16, np.pi / 3), (4, np.pi / 2)])
def test_loss_decays_exponentially_above_the_threshold_and_algebraically_below(stored, m, phi):
    """Rates at T and 2T have the ratio 1, or 1/2 for a rate 1/τ; T is twice the slow time of a
    redundant student that rests at half of its initial angle.  No use of the lemma."""
    T = 2 / tail_rate(m, phi / 2, threshold(stored, m, phi))
    for factor, expected, scale in ((2.0, 1.0, T), (0.5, 0.5, 20 * T)):
        flow = flows.reduced(duplicates(m, factor * threshold(stored, m, phi), phi))
        tau = scale * np.array([0, 1, 1.1, 2, 2.2])
        loss = solve(flow, tau, 1e-11, 1e-15).loss
        rates = [np.log(loss[k] / loss[k + 1]) / (tau[k + 1] - tau[k]) for k in (1, 3)]
        assert rates[1] / rates[0] == pytest.approx(expected, abs=0.15)


def test_ten_per_cent_beside_a_stored_threshold_fixed_steps_go_to_the_stored_sides(stored):
    at = threshold(stored, 4, np.pi / 3)
    ends = {}
    for factor in (0.9, 1.1):
        flow = flows.population(duplicates(4, factor * at, np.pi / 3))
        run = rk4(flow, 0.1, 20_000, every=20_000)
        ends[factor] = run.P[-1], run.signed_angle(1)[-1]
    assert ends[1.1][0] < 0.01 < 0.2 < ends[1.1][1]
    assert ends[0.9][0] > 0.1 > 0.05 > ends[0.9][1]


@given(P=st.floats(0.05, 0.9), psi=st.floats(1e-4, 1e-3))
def test_on_the_fast_surface_the_loss_is_the_cubic_energy(P, psi):
    q, theta = 1 - P, -P * psi / (1 - P)
    energy = q * excess(theta) + P * excess(psi) - q * P * excess(psi - theta)
    assert energy == pytest.approx(psi**3 * P**2 / (3 * np.pi * q), rel=0.03)


@pytest.mark.parametrize("m", [2, 4, 8])
def test_stored_thresholds_at_the_smallest_angle_are_c_over_phi(stored, m):
    phi = stored["phi"][0]
    assert threshold(stored, m, phi) * phi == pytest.approx(c(m), rel=phi)
    assert threshold(stored, m, phi) * phi != pytest.approx(c(2 * m), rel=phi)


def test_the_wide_constants_are_those_of_the_kernel():
    """γ ≈ ψ max ω at small ψ, and the largest ω is where π − x = tan x."""
    grid = np.linspace(0, np.pi, 400_001)
    top = omega(grid).max()
    best = grid[omega(grid).argmax()]
    assert np.tan(best) == pytest.approx(np.pi - best, rel=1e-4)
    psi = 1e-3
    x = np.linspace(psi - np.pi, 0, 200_001)
    assert (g(x) - 2 * g(psi) * g(psi - x)).max() == pytest.approx(psi * top, rel=0.01)
    assert quad(lambda x: x / (2 - x), 0, 1)[0] == pytest.approx(2 * np.log(2) - 1)


def test_every_state_with_equal_directions_and_unit_sum_rests_and_no_other_sum_does():
    for share in (0.1, 0.5, 0.9):
        flow = flows.reduced(duplicates(3, 0.7, 0.5))
        rest = np.abs(flow.rhs(0.0, np.array([1 - share, share, 0.0, 0.0]))).max()
        moved = np.abs(flow.rhs(0.0, np.array([0.9 - share + 0.01, share, 0.0, 0.0]))).max()
        assert rest < 1e-14 < 0.01 < moved


@given(
    m=st.integers(2, 64),
    D=st.floats(0.1, 100),
    q=st.floats(0.01, 1.2),
    P=st.floats(0.01, 1.2),
    theta=st.floats(-3, 3),
    psi=st.floats(0.01, 3),
)
def test_the_heavy_script_follows_the_reduced_flow(m, D, q, P, theta, psi):
    """Above m = 256 it is the only one that runs: its equations know m as a number."""
    state = np.array([q, P, theta, psi])
    theirs = SCRIPT["rates"](state, 0.0, m - 1, D)
    ours = flows.reduced(duplicates(m, D, 1.0)).rhs(0.0, state)
    assert np.allclose(theirs, ours, rtol=1e-11, atol=1e-13)
