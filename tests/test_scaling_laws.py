"""What the definition behind Table D.2 says, by other routes than the chapter's."""

import numpy as np
import pytest

from gaugelib import claims, flows, kernel
from gaugelib.measure import captured, first_entry, loglog_fit, path_length
from gaugelib.problem import duplicates
from gaugelib.solve import crossing, solve

PHI = np.pi / 4
DS = np.array([8, 16, 32, 64, 128])
TAU = np.linspace(0, 80, 801)


def entries(run, limit, **window):
    """(D t_cap, l_red, limit error) of a run by its angles, without its reduced state."""
    k = first_entry(run, captured(run, **window))
    theta, psi = run.signed_angle(0), run.signed_angle(1)
    q, P, limit_theta = limit.state.T
    gaps = (run.q[:, 0] - q, run.P - P, theta - limit_theta, psi - PHI)
    return run.tau[k], path_length(psi, k), np.abs(gaps).max()


@pytest.fixture(scope="module")
def row():
    """The row m = 4 of Table D.2 from the original parameters of all students."""
    limit = solve(flows.limit(duplicates(4, 1, PHI)), TAU)
    runs = [solve(flows.population(duplicates(4, D, PHI)), TAU) for D in DS]
    return limit, runs, np.array([entries(run, limit) for run in runs])


@pytest.fixture(scope="module")
def exact():
    """D t_cap and the path from there, with exact times; the flow in (q, P, theta, psi)."""
    out = []
    for D in DS:
        flow = flows.reduced(duplicates(4, D, PHI))
        at = crossing(flow, TAU, lambda y: max(0.9 - y[0], abs(y[2]) - 0.1, y[1] - 0.1))
        out.append((at.tau, at.state[3] - solve(flow, TAU).state[-1, 3]))
    return np.array(out)


def test_one_row_of_table_d2_has_every_printed_digit_in_original_parameters(row):
    taus, paths, errors = row[2].T
    for name, values in (("tcap", taus / DS), ("lred", paths), ("limit", errors)):
        fit = loglog_fit(DS, values)
        assert f"{fit.slope:.4f}" == claims.lookup(f"D2-m4-{name}").printed
        assert fit.r2 > 0.9999


def test_the_printed_window_gives_other_digits(row):
    limit, runs, _ = row
    taus, paths, _ = np.array([entries(run, limit, redundant="L2") for run in runs]).T
    for name, values in (("tcap", taus / DS), ("lred", paths)):
        assert f"{loglog_fit(DS, values).slope:.4f}" != claims.lookup(f"D2-m4-{name}").printed


def test_records_are_late_by_less_than_one_record(row, exact):
    late = row[2][:, 0] - exact[:, 0]
    assert (late >= 0).all() and (late < 0.1).all() and late.max() > 0.01


def test_the_record_grid_moves_the_exponent_by_less_than_its_bound(row, exact):
    on_records, timed = (loglog_fit(DS, tau / DS).slope for tau in (row[2][:, 0], exact[:, 0]))
    bound = 0.3 / np.log(2) * 0.1 / exact[:, 0].min()
    assert 1e-4 < abs(on_records - timed) < bound


def test_corrections_to_the_integer_exponents_fall_like_the_square_of_D(exact):
    products = exact * np.array([np.ones(5), DS**2]).T
    steps = np.diff(products, axis=0)
    np.testing.assert_allclose(steps[-2] / steps[-1], 4, rtol=0.02)


def test_the_redundant_path_has_the_constant_of_the_limiting_flow(exact):
    flow = flows.limit(duplicates(4, 1, PHI))
    at = crossing(flow, TAU, lambda y: max(0.9 - y[0], abs(y[2]) - 0.1, y[1] - 0.1))
    tail = np.linspace(0, 80 - at.tau, 4001)
    q, P, theta = solve(flow.starting(at.state), tail).state.T
    rate = P * np.abs(kernel.omega(PHI) - q * kernel.omega(PHI - theta))
    scaled = exact * np.array([np.ones(5), 3 * DS**2]).T
    endless = scaled[-1] + (scaled[-1] - scaled[-2]) / 3  # removes the term in D^-2
    np.testing.assert_allclose(endless, [at.tau, np.trapezoid(rate, tail)], rtol=1e-5)


@pytest.mark.parametrize(("m", "D"), [(2, 32), (32, 32), (256, 64)])
def test_an_unequal_start_is_selected_and_an_equal_one_is_not(m, D):
    tau, problem = np.linspace(0, 50, 51), duplicates(m, D, 0.8)
    assert captured(solve(flows.reduced(problem), tau), redundant="L2")[-1]
    equal = solve(flows.reduced(problem.regauged(D)), tau)
    assert not captured(equal, redundant="L2").any()
