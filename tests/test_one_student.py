"""One student: the planar system, its interval, times, paths and limits (theorems 3.1, 3.2, A.4-6).

The formulas here are written out in the alignment c and in t, the flows use the angle and tau.
"""

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy.integrate import odeint, quad

from gaugelib import flows
from gaugelib.problem import single
from gaugelib.solve import crossing, solve

coefficients = st.floats(0.05, 4)
alignments = st.floats(-0.98, 0.98)
sizes = st.floats(-0.5, 2).map(lambda x: 10.0**x)  # of D
signs = st.sampled_from([1.0, -1.0])


def kappa(c):
    return (np.sqrt(1 - c**2) + (np.pi - np.arccos(c)) * c) / (2 * np.pi)


def kappa_prime(c):
    return (np.pi - np.arccos(c)) / (2 * np.pi)


def mobilities(q, delta):
    """(mu, chi) per unit of t, from the weights: mu = a^2 + r^2, chi = a/r."""
    mu = np.sqrt(delta**2 + 4 * q**2)
    big = np.sqrt((mu + abs(delta)) / 2)
    a, r = (big, q / big) if delta > 0 else (q / big, big)
    return a**2 + r**2, a / r


def planar(q, c, delta, q_star):
    """(q', c') per unit of t (6)."""
    mu, chi = mobilities(q, delta)
    return -mu * (q / 2 - q_star * kappa(c)), chi * q_star * kappa_prime(c) * (1 - c**2)


def rates(flow, q, c):
    """(q', c') per unit of t of a flow in (q, alpha), by the chain rule."""
    q_rate, alpha_rate = flow.rhs(0.0, np.array([q, np.arccos(c)]))
    return flow.problem.D * q_rate, -flow.problem.D * np.sqrt(1 - c**2) * alpha_rate


def interval(q, c, q_star):
    """(q_low, q_high) of A.4."""
    return min(q, 2 * q_star * kappa(c)), max(q, q_star)


def rise(c, eps):
    """I = artanh(1 - eps) - artanh(c)."""
    return np.log((2 - eps) / eps) / 2 - np.arctanh(c)


def hitting_time(one, eps, describe=flows.reduced):
    """t at which c = 1 - eps, a root on the flow."""
    target, tau = np.arccos(1 - eps), np.append(0, np.geomspace(1e-4, 1e4 * max(1, one.D**2), 120))
    return crossing(describe(one), tau, lambda y: y[-1] - target).tau / one.D


# --- the problem -------------------------------------------------------------------------------


@given(coefficients, alignments, sizes, signs, st.integers(2, 6))
def test_the_start_is_as_named_in_every_gauge_and_dimension(q, c, D, sign, d):
    one = single(q, c, sign * D, q_star=1.7, d=d)
    a, w = one.weights()
    assert (one.m, one.d, one.D) == (1, d, D)
    assert a[0] * np.linalg.norm(w) == pytest.approx(q, rel=1e-14)
    assert one.students.s[0] @ one.teacher.u[0] == pytest.approx(c, abs=1e-15)
    assert a[0] ** 2 - w[0] @ w[0] == pytest.approx(sign * D, abs=1e-13 * (D + q))
    assert np.linalg.norm(one.teacher.b[:, None] * one.teacher.u) == pytest.approx(1.7)


def test_both_signs_start_as_the_same_function():
    x = np.random.default_rng(0).standard_normal((100, 3))
    one, other = (single(0.6, 0.3, delta, d=3) for delta in (16.0, -16.0))
    assert np.abs(one.predict(x) - other.predict(x)).max() < 1e-14


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.0, 0.0, 1.0), r"q0 must be in \(0, inf\), got 0.0"),
        ((np.nan, 0.0, 1.0), "q0 must be in"),
        ((0.6, 1.0, 1.0), r"c0 must be in \(-1, 1\), got 1.0"),
        ((0.6, -1.0, 1.0), r"c0 must be in \(-1, 1\), got -1.0"),
        ((0.6, 0.0, 0.0), "delta must be nonzero"),
        ((0.6, 0.0, np.inf), "delta must be in"),
        ((0.6, 0.0, 1.0, 0.0), r"q_star must be in \(0, inf\), got 0.0"),
        ((0.6, 0.0, 1.0, 1.0, 1), "d must be a whole number >= 2, got 1"),
    ],
)
def test_starts_without_meaning_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        single(*arguments)


# --- the planar system -------------------------------------------------------------------------


@given(coefficients, alignments, sizes, signs, st.floats(0.2, 3))
def test_the_reduced_flow_is_the_planar_system(q, c, D, sign, q_star):
    flow = flows.reduced(single(0.6, 0.0, sign * D, q_star))
    expected, found = planar(q, c, sign * D, q_star), rates(flow, q, c)
    mu, chi = mobilities(q, sign * D)
    assert found[0] == pytest.approx(expected[0], abs=1e-14 * mu * (q + q_star))
    assert found[1] == pytest.approx(expected[1], abs=1e-14 * chi * q_star)


@settings(max_examples=25)
@given(coefficients, alignments, sizes, signs, st.floats(0.5, 2), st.sampled_from([2, 3]))
@example(q=0.6, c=0.0, D=16.0, sign=-1.0, q_star=1.0, d=2)
def test_it_is_the_flow_of_the_original_parameters(q, c, D, sign, q_star, d):
    one = single(q, c, sign * D, q_star, d)
    tau = np.linspace(0, 3 * min(D, 1), 7)  # mu <= 2 (D + 8) a unit of t: some 100 relaxations
    planar_path, path = (
        solve(describe(one), tau) for describe in (flows.reduced, flows.population)
    )
    for name in ("q", "s", "loss"):
        difference = np.abs(getattr(planar_path, name) - getattr(path, name)).max()
        assert difference < 1e-9, name
    assert np.abs(path.delta - sign * D).max() < 1e-9 * max(D, 1)


@given(coefficients, alignments, st.floats(0.2, 3))
def test_the_loss_is_quadratic_in_the_coefficient(q, c, q_star):
    flow = flows.reduced(single(q, c, 2.0, q_star))
    loss = flow.read(flow.state0[None])[3][0]
    expected = (q**2 + q_star**2) / 4 - q * q_star * kappa(c)
    assert loss == pytest.approx(expected, abs=1e-14 * (q + q_star) ** 2)


# --- A.4: interval and convergence -------------------------------------------------------------


@settings(max_examples=50)
@given(coefficients, alignments, sizes, signs, st.floats(0.5, 2))
@example(q=0.6, c=0.0, D=16.0, sign=-1.0, q_star=1.0)
@example(q=4.0, c=-0.98, D=100.0, sign=1.0, q_star=0.5)
def test_the_coefficient_stays_in_the_invariant_interval_and_alignment_rises(q, c, D, sign, q_star):
    low, high = interval(q, c, q_star)
    tau = np.append(0, np.geomspace(1e-3, 1e3 * max(1, D**2), 60))
    path = solve(flows.reduced(single(q, c, sign * D, q_star)), tau)
    assert path.q.min() > low - 1e-11 and path.q.max() < high + 1e-11
    angle = path.angle(0)
    assert np.all(np.diff(angle)[angle[1:] > 1e-9] < 0)
    assert np.all(np.diff(path.loss) < 1e-13)


@pytest.mark.parametrize("delta", [0.5, -0.5, 32.0, -32.0])
@pytest.mark.parametrize(("q", "c"), [(0.05, 0.9), (0.6, 0.0), (3.0, -0.95)])
def test_the_student_learns_the_teacher(q, c, delta):
    one = single(q, c, delta, q_star=1.3)
    path = solve(flows.reduced(one), [0, 2e4 * max(one.D, one.D**2)])
    assert abs(path.q[-1, 0] - 1.3) < 1e-9 and path.angle(0)[-1] < 1e-9 and path.loss[-1] < 1e-16


@pytest.mark.parametrize("delta", [4.0, -4.0])
def test_from_the_opposite_direction_it_never_turns_and_its_coefficient_falls(delta):
    flow = flows.reduced(single(0.6, 0.0, delta)).starting([0.6, np.pi])
    path = solve(flow, [0, 1, 10])
    assert np.all(path.state[:, 1] == np.pi)
    # q' = -mu q/2 with mu between |delta| and sqrt(delta^2 + 4 q0^2)
    slowest, fastest = 0.6 * np.exp(-5), 0.6 * np.exp(-5 * np.hypot(4, 1.2) / 4)
    assert fastest < path.q[-1, 0] < slowest


# --- A.5: times --------------------------------------------------------------------------------


@settings(max_examples=40)
@given(
    coefficients, alignments, st.floats(0, 2), st.floats(-6, -1), st.floats(0.5, 2), st.booleans()
)
@example(q=0.6, c=0.0, log_D=1.2, log_eps=-1.3, q_star=1.0, near=False)
def test_times_lie_within_the_bounds_of_A5(q, c, log_D, log_eps, q_star, near):
    eps, (low, high) = 10.0**log_eps, interval(q, c, q_star)
    assume(1 - eps > c + 1e-3)
    D = high / np.sqrt(2) * (1 if near else 10.0**log_D)  # mu <= 3 D on the interval
    scale, k0 = rise(c, eps) / q_star, kappa_prime(c)
    T_plus = hitting_time(single(q, c, D, q_star), eps)
    T_minus = hitting_time(single(q, c, -D, q_star), eps)
    assert low * scale / D <= T_plus <= high * scale / (D * k0)
    assert 2 * D * scale / high <= T_minus <= 2 * D * scale / (low * k0)


def time_by_integral(q, c, delta, q_star, eps):
    """T = int dc/c' over the path, with Q(c) and T(c) integrated in x = artanh c."""

    def rhs(x, y):
        q_rate, c_rate = planar(y[0], np.tanh(x), delta, q_star)
        jacobian = (1 - np.tanh(x) ** 2) / c_rate
        return q_rate * jacobian, jacobian

    ends = [np.arctanh(c), np.arctanh(1 - eps)]
    return odeint(rhs, [q, 0.0], ends, tfirst=True, rtol=1e-12, atol=1e-14, mxstep=10**5)[-1, 1]


@pytest.mark.parametrize("eps", [0.3, 0.05, 1e-4])
@pytest.mark.parametrize("delta", [16.0, -16.0, 0.7, -0.7])
@pytest.mark.parametrize(("q", "c", "q_star"), [(0.6, 0.0, 1.0), (1.5, -0.5, 0.8)])
def test_the_time_is_the_integral_along_the_path(q, c, q_star, delta, eps):
    found = hitting_time(single(q, c, delta, q_star), eps)
    # arccos(1 - eps) loses eps_machine/eps, the solvers some 1e-11
    assert found == pytest.approx(time_by_integral(q, c, delta, q_star, eps), rel=1e-9)


@pytest.mark.parametrize("q_star", [1.0, 0.6])
def test_the_slow_limit_takes_the_integral_along_the_nullcline(q_star):
    """T/D = int d alpha/(2 q*^2 g omega), for every D."""
    end = np.arccos(0.95)

    def integrand(alpha):
        turning = (np.pi - alpha) * np.sin(alpha) / (2 * np.pi)
        return 1 / (2 * q_star**2 * kappa(np.cos(alpha)) * turning)

    expected = quad(integrand, end, np.pi / 2, epsabs=0, epsrel=1e-12)[0]
    for D in (4.0, 64.0):
        found = hitting_time(single(0.6, 0.0, -D, q_star), 0.05, flows.limit) / D
        assert found == pytest.approx(expected, rel=1e-10)


def test_times_separate_like_D_squared():
    ratios = [
        hitting_time(single(0.6, 0.0, -D), 0.05) / hitting_time(single(0.6, 0.0, D), 0.05)
        for D in (64.0, 128.0)
    ]
    assert np.log2(ratios[1] / ratios[0]) == pytest.approx(2, abs=1e-3)


# --- theorem 3.2: paths ------------------------------------------------------------------------


@given(coefficients, alignments, sizes, st.floats(0.5, 2))
def test_the_fields_of_both_signs_span_the_plane_off_the_nullcline(q, c, D, q_star):
    """det(V_+, V_-) = mu D R A/q."""
    plus, minus = (rates(flows.reduced(single(1.0, 0.0, s * D, q_star)), q, c) for s in (1, -1))
    determinant = plus[0] * minus[1] - plus[1] * minus[0]
    mu, chi = mobilities(q, D)
    R, A = q / 2 - q_star * kappa(c), q_star * kappa_prime(c) * (1 - c**2)
    rounding = 1e-13 * mu * chi * q_star * (q + q_star)
    assert determinant == pytest.approx(mu * D * R * A / q, abs=rounding)


@pytest.mark.parametrize("D", [0.5, 4.0, 64.0])
@pytest.mark.parametrize("c", [-0.5, 0.0, 0.5])
def test_on_the_nullcline_the_paths_share_their_tangent_and_not_their_curvature(c, D):
    """Q'_+ = Q'_- = 0 and Q''_- - Q''_+ = mu D/(q (1 - c^2)), with Q' = q'/c' of the flows."""
    q, q_star, h = 2 * 0.8 * kappa(c), 0.8, 1e-6
    curvature = {}
    for sign in (1, -1):
        flow = flows.reduced(single(1.0, 0.0, sign * D, q_star))

        def slope(c, flow=flow):
            q_rate, c_rate = rates(flow, q, c)
            return q_rate / c_rate

        # Q' = 0 there, so Q'' is the derivative of the slope in c alone: h^2 and eps/h.
        curvature[sign] = (slope(c + h) - slope(c - h)) / (2 * h)
        mu, chi = mobilities(q, sign * D)
        assert slope(c) == pytest.approx(0, abs=1e-14 * mu / chi)
    expected = mobilities(q, D)[0] * D / (q * (1 - c**2))
    assert curvature[-1] - curvature[1] == pytest.approx(expected, rel=1e-8)


# --- A.6: limits -------------------------------------------------------------------------------


@given(coefficients, alignments, st.floats(0.5, 2), st.floats(1e4, 1e7))
def test_the_fast_limit_is_the_flow_at_huge_imbalance(q, c, q_star, D):
    one = single(0.6, 0.0, D, q_star)
    exact, limit = (rates(describe(one), q, c) for describe in (flows.reduced, flows.limit))
    assert limit[0] / D == pytest.approx(-(q / 2 - q_star * kappa(c)), abs=1e-14 * (q + q_star))
    assert limit[1] / D == pytest.approx(q_star * kappa_prime(c) * (1 - c**2) / q, rel=1e-12)
    # mu/D - 1 <= 2 (q/D)^2 and chi q/D - 1 <= (q/D)^2, and rounding
    assert exact == pytest.approx(limit, rel=2 * (q / D) ** 2 + 1e-14)


@given(alignments, st.floats(0.5, 2), st.floats(1e4, 1e7))
def test_the_slow_limit_is_the_flow_on_the_nullcline_at_huge_imbalance(c, q_star, D):
    one = single(0.6, 0.0, -D, q_star)
    flow, alpha, q = flows.limit(one), np.arccos(c), 2 * q_star * kappa(c)
    found_q, s, _, _ = flow.read(np.array([[alpha]]))
    assert found_q[0, 0] == pytest.approx(q, rel=1e-14, abs=1e-15)
    assert s[0, 0] @ one.teacher.u[0] == pytest.approx(c, abs=1e-15)
    (turning,) = flow.rhs(0.0, np.array([alpha]))
    exact = flows.reduced(one).rhs(0.0, np.array([q, alpha]))[1]
    assert exact == pytest.approx(turning, rel=(q / D) ** 2 + 1e-12)


@settings(max_examples=40)
@given(coefficients, alignments, st.floats(0, 2), st.floats(0.5, 2))
@example(q=0.6, c=0.0, log_D=1.2, q_star=1.0)
def test_below_balance_the_coefficient_relaxes_in_a_layer(q, c, log_D, q_star):
    """|e(t)| <= |e(0)| exp(-D t/2) + q_high q*^2/D^2, e = q - h(c)."""
    D, (_, high) = 10.0**log_D, interval(q, c, q_star)
    tau = np.append(0, np.geomspace(1e-3, 1e3 * D**2, 200))
    path = solve(flows.reduced(single(q, c, -D, q_star)), tau)
    e = np.abs(path.q[:, 0] - 2 * q_star * kappa(np.cos(path.angle(0))))
    assert np.all(e <= e[0] * np.exp(-tau / 2) + high * q_star**2 / D**2 + 1e-11)
