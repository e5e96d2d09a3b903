"""The statements of appendix B, by other routes than the chapter's."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import fsolve

from gaugelib import certify, flows, gauge
from gaugelib.kernel import excess, g, gram, mixture_loss, omega
from gaugelib.measure import tail_rate
from gaugelib.problem import Teacher, duplicates, plane_direction
from gaugelib.solve import crossing, solve

PI = np.pi
angles = st.floats(0.0, PI)
parts = st.floats(0.0, 1.0)
TAU = np.linspace(0, 40, 81)


def F1(phi, x):
    return g(phi) / 2 - g(x) * g(phi - x) + omega(x) * omega(phi - x)


def F2(phi, x):
    return g(phi) / 2 - g(x) * g(phi + x) - omega(x) * omega(phi + x)


def limiting(q, P, theta, phi, M):
    """(q', P', theta') of (B.13)."""
    flow = flows.limit(duplicates(M + 1, 1, phi))
    return np.array(flow.rhs(0.0, np.array([q, P, theta])))


def states(n, seed, top=PI / 3):
    """Random (phi, q, P, theta) in C_phi, phi < top."""
    rng = np.random.default_rng(seed)
    phi, P = rng.uniform(0.05, top, n), rng.uniform(0, 1, n)
    theta = phi - PI * rng.uniform(0, 1, n)
    highest = np.minimum(1, g(phi) / np.maximum(g(phi - theta), 1e-300))
    return zip(phi, highest * rng.uniform(0.01, 1, n), P, theta, strict=True)


# --- kernel inequalities --------------------------------------------------------------------------


@given(angles, parts)
def test_both_margins_are_integrals_of_one_function(phi, part):
    def integral(a, b):
        return float(mp.quad(lambda t: t * (mp.cos(t) - mp.cos(phi)), [a, b]) / (8 * mp.pi**2))

    x, y = part * phi, part * (PI - phi)
    assert abs(F1(phi, x) - integral(abs(phi - 2 * x), phi)) < 1e-14
    assert abs(F2(phi, y) + integral(2 * PI - phi - 2 * y, 2 * PI - phi)) < 1e-14


@given(angles, parts)
def test_both_inequalities_hold_for_every_angle_up_to_pi(phi, part):
    assert F1(phi, part * phi) > -1e-15
    assert F2(phi, part * (PI - phi)) > -1e-15


@given(st.floats(0.1, 3.0), st.floats(0.05, 0.95))
def test_away_from_the_ends_the_margins_agree_with_the_balls(phi, part):
    x, y = part * phi, part * (PI - phi)
    for ball, value in ((certify.first((certify.arb(x), certify.arb(phi - x))), F1(phi, x)),
                        (certify.second((certify.arb(phi), certify.arb(y))), F2(phi, y))):
        assert ball > 0 or value < 1e-14
        assert abs(float(ball.mid()) - value) < 1e-14


def test_the_two_margins_are_not_monotone_copies_of_each_other():
    x = np.linspace(0, PI / 4, 101)
    first, second = F1(PI / 4, x), F2(PI / 4, x)
    assert first[0] == pytest.approx(first[-1], abs=1e-15) and first[50] > 5e-4
    assert np.all(np.diff(second) > 0)


@given(angles, parts)
def test_for_linear_neurons_both_are_equalities(phi, part):
    x, y = part * phi, part * (PI - phi)
    first = np.cos(x) * np.cos(phi - x) - np.sin(x) * np.sin(phi - x)
    second = np.cos(y) * np.cos(phi + y) + np.sin(y) * np.sin(phi + y)
    assert abs(first - np.cos(phi)) < 1e-15 * 4 and abs(second - np.cos(phi)) < 1e-15 * 4


# --- the region -----------------------------------------------------------------------------------


def test_z_falls_on_its_face_at_the_rate_that_contains_the_margins():
    for phi, _, P, theta in states(200, 1):
        if g(phi - theta) <= g(phi):
            continue
        q, step = g(phi) / g(phi - theta), 1e-7
        dq, _, dtheta = limiting(q, P, theta, phi, 5)
        ahead, behind = ((q + s * dq) * g(phi - theta - s * dtheta) for s in (step, -step))
        margin = F1(phi, theta) if theta >= 0 else F2(phi, -theta)
        size = g(phi - theta) ** 2 + omega(phi - theta) ** 2
        assert (ahead - behind) / (2 * step) == pytest.approx(-margin - P * size, abs=1e-6)


def test_p_moves_by_what_our_reading_of_z_says():
    for phi, q, P, theta in states(100, 2):
        Z = q * g(phi - theta) - g(phi)
        assert limiting(q, P, theta, phi, 5)[1] == pytest.approx(-5 * (P / 2 + Z), abs=1e-13)


@pytest.mark.parametrize("phi", [0.4, PI / 4, PI / 3])
def test_random_starts_in_the_region_stay_in_it_and_end_at_the_teacher(phi):
    times = np.concatenate([[0], np.geomspace(1e-2, 2000, 200)])
    for _, q0, P0, turned in states(4, 3):
        theta0 = phi - (turned % PI)
        q0 = min(q0, g(phi) / g(phi - theta0))
        flow = flows.limit(duplicates(6, 1, phi))
        q, P, theta = solve(flow.starting(np.array([q0, P0, theta0])), times).state.T
        Z = q * g(phi - theta) - g(phi)
        assert max(Z.max(), q.max() - 1, P.max() - 1, -P.min(), theta.max() - phi) < 1e-12
        np.testing.assert_allclose([q[-1], P[-1], theta[-1]], [1, 0, 0], atol=1e-8)


def test_the_component_across_grows_as_the_lemma_says_for_every_angle():
    rng = np.random.default_rng(4)
    sharpest = np.inf
    for _ in range(300):
        phi = rng.uniform(0.05, 3.1)
        theta, P, q = phi - PI * rng.uniform(0, 1), rng.uniform(0, 1), rng.uniform(0.05, 1)
        dq, _, dtheta = limiting(q, P, theta, phi, 3)
        y = q * np.sin(phi - theta)
        rate = dq * np.sin(phi - theta) - q * np.cos(phi - theta) * dtheta
        bound = min(phi, PI - phi) * np.sin(phi) / (2 * PI)
        assert rate + y / 2 >= bound - 1e-12
        sharpest = min(sharpest, (rate + y / 2) / bound)
    assert sharpest < 1.2


@pytest.mark.parametrize("m", [2, 8, 128])
def test_the_lower_bound_on_q_does_not_depend_on_the_width(m):
    for phi in (PI / 12, PI / 4, PI / 3):
        q, _, theta = solve(flows.limit(duplicates(m, 1, phi)), TAU).state.T
        y = q * np.sin(phi - theta)
        bound = phi * np.sin(phi) / PI * (1 - np.exp(-TAU / 2))
        assert (y[1:] > bound[1:]).all() and (q >= y - 1e-15).all()


# --- the stationary state -------------------------------------------------------------------------


def test_no_start_of_a_root_search_finds_a_second_stationary_state():
    rng = np.random.default_rng(5)
    ends = []
    for phi in (PI / 4, 1.0, 2.2):
        def field(y, phi=phi):
            q, P, theta = y
            alpha = phi - theta
            if not (abs(theta) < PI and abs(alpha) < PI):
                return np.full(3, 10.0)
            return np.array([q / 2 + P * g(alpha) - g(theta), P / 2 + q * g(alpha) - g(phi),
                             P * omega(alpha) + omega(theta)])

        for _ in range(15):
            start = [rng.uniform(0.05, 1), rng.uniform(0, 1), phi - PI * rng.uniform(0, 1)]
            root, _, found, _ = fsolve(field, start, full_output=True, xtol=1e-12)
            q, P, theta = root
            admissible = q > 1e-3 and -1e-9 <= P <= 1 + 1e-9 and phi - PI <= theta <= phi
            if found == 1 and admissible and np.abs(field(root)).max() < 1e-10:
                ends.append(root)
    assert len(ends) > 15
    np.testing.assert_allclose(ends, np.tile([1, 0, 0], (len(ends), 1)), atol=1e-4)


@given(st.floats(0.2, 3.0), st.floats(0.05, 0.95))
def test_the_ratio_whose_growth_excludes_others_grows_as_its_formula_says(y, part):
    s = part * y

    def ratio(s):
        return (mp.mpf(1) * _g(y - s) / 2 - _g(s) * _g(y) - _omega(s) * _omega(y)) / _omega(s)

    J = s * (PI - s) + np.sin(s) ** 2 - PI * np.sin(s) * np.cos(s)
    c = (2 * PI - y) * np.cos(y) + np.sin(y)
    sign = PI * (2 * PI - y) * np.sin(y) * np.sin(s) ** 2 - J * c
    assert sign > 0 and J > 0
    slope = float(mp.diff(ratio, s))
    assert slope == pytest.approx(sign / (2 * PI * ((PI - s) * np.sin(s)) ** 2), rel=1e-6)


def _g(a):
    return (mp.sin(a) + (mp.pi - a) * mp.cos(a)) / (2 * mp.pi)


def _omega(a):
    return (mp.pi - a) * mp.sin(a) / (2 * mp.pi)


@given(st.floats(0.05, 3.0), st.floats(0.02, 0.98))
def test_eliminating_q_leaves_two_conditions_on_p(phi, part):
    """At theta = -x with q from q' = 0 and P from theta' = 0, P' is the stated remainder."""
    x = part * (PI - phi)
    y = phi + x
    P = omega(x) / omega(y)
    assume(P < 5)
    q = 2 * (g(x) - P * g(y))
    residual = P / 2 + q * g(y) - g(phi)
    stated = 2 * P * (0.25 - g(y) ** 2 - omega(y) ** 2) - 2 * F2(phi, x)
    assert residual == pytest.approx(stated, abs=1e-12)
    assert residual > 0


# --- scaled parameters ----------------------------------------------------------------------------


def test_scaled_parameters_move_at_the_rates_that_the_chapter_states():
    """By the chain rule from the flow of (a, w), at a state on a trajectory."""
    m, D, phi = 5, 12.0, 0.9
    flow = flows.population(duplicates(m, D, phi))
    y = solve(flow, np.array([0.0, 1.5])).state[-1]
    rates = np.asarray(flow.rhs(0.0, y))
    a, w, da, dw = y[:m], y[m:].reshape(m, 2), rates[:m], rates[m:].reshape(m, 2)
    b, z, p, v = a[0] / D**0.5, D**0.5 * w[0], (m - 1) * D**0.5 * a[1], w[1] / D**0.5
    both, weights = np.stack([z, v]), np.array([b, p])
    Tz, Tv = flows.force(weights, both, Teacher(b=np.ones(1), u=plane_direction(np.zeros(1))))
    expected = (-(z @ Tz) / D**2, -b * Tz, -(m - 1) * (v @ Tv), -p * Tv / ((m - 1) * D**2))
    actual = (da[0] / D**0.5, D**0.5 * dw[0], (m - 1) * D**0.5 * da[1], dw[1] / D**0.5)
    for one, other in zip(actual, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-15)


def test_the_distance_from_the_limit_falls_by_four_when_d_doubles():
    """With (a, w) rebuilt from the reduced state by the inverse of the coordinates."""
    gaps = []
    for D in (16.0, 32.0, 64.0):
        q, P, theta, psi = solve(flows.reduced(duplicates(6, D, 0.8)), TAU).state.T
        Q, total, angle = solve(flows.limit(duplicates(6, 1, 0.8)), TAU).state.T
        a, w = gauge.weights(q, plane_direction(theta), D)
        small, v = gauge.weights(P / 5, plane_direction(psi), -D)
        differences = (a / D**0.5 - 1, D**0.5 * w - Q[:, None] * plane_direction(angle),
                       5 * D**0.5 * small - total, v / D**0.5 - plane_direction(0.8))
        gaps.append([np.abs(x).max() for x in differences])
    ratios = np.array(gaps[:-1]) / gaps[1:]
    assert (3.8 < ratios).all() and (ratios < 4.05).all()


# --- near the teacher -----------------------------------------------------------------------------


@given(st.floats(1e-3, PI - 1e-3))
def test_the_gram_matrix_holds_inner_products_and_is_positive(psi):
    least = 0.5 - np.hypot(g(psi), omega(psi))
    np.testing.assert_allclose(np.linalg.eigvalsh(gram(psi)), [least, 0.5, 1 - least], atol=1e-14)
    with mp.workdps(40):
        exact = 0.5 - mp.sqrt(_g(mp.mpf(psi)) ** 2 + _omega(mp.mpf(psi)) ** 2)
    assert exact > 0
    assert float(exact) == pytest.approx(psi**3 / (3 * PI) - psi**4 / (4 * PI**2), abs=psi**5 / 45)


def test_the_gram_matrix_is_that_of_sampled_feature_variations():
    psi, x = 0.9, np.random.default_rng(6).standard_normal((400_000, 2))
    active = x[:, 0] > 0
    features = np.stack([np.maximum(x[:, 0], 0), active * x[:, 1],
                         np.maximum(x @ plane_direction(psi), 0)])
    np.testing.assert_allclose(features @ features.T / len(x), gram(psi), atol=0.006)


@given(st.floats(0.05, 1.5), st.floats(0.05, 1.5), st.floats(-2, 2), st.floats(0.05, PI - 0.05))
def test_the_loss_changes_with_the_redundant_angle_by_at_most_p_root_loss(q, P, theta, psi):
    assume(abs(psi - theta) < PI)
    u, directions = plane_direction(0.0), [plane_direction(theta), plane_direction(psi)]
    loss = mixture_loss(np.array([q, P, -1]), np.stack([*directions, u]))
    slope = abs(P * (omega(psi) - q * omega(psi - theta)))
    assert slope <= P * np.sqrt(loss) + 1e-12


@pytest.mark.parametrize("m", [2, 3, 8, 50])
@pytest.mark.parametrize("phi", [0.2, PI / 4, PI / 3, 2.0])
def test_eigenvalues_of_the_linearized_limit_have_the_closed_form(m, phi):
    step, M = 1e-6, m - 1
    flow = flows.limit(duplicates(m, 1, phi))
    columns = [(np.array(flow.rhs(0, np.array([1.0, 0, 0]) + e))
                - np.array(flow.rhs(0, np.array([1.0, 0, 0]) - e))) / (2 * step)
               for e in step * np.eye(3)]
    gap = 0.25 - g(phi) ** 2 - omega(phi) ** 2
    root = np.sqrt(m**2 - 16 * M * gap)
    expected = sorted([0.5, (m - root) / 4, (m + root) / 4])
    assert tail_rate(m, phi) == pytest.approx(expected[0], abs=1e-14 * m)
    measured = sorted(-np.linalg.eigvals(np.array(columns).T).real)
    np.testing.assert_allclose(measured, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("m", "D"), [(3, 4.0), (8, 32.0)])
def test_the_tail_of_the_loss_decays_at_twice_the_least_eigenvalue(m, D):
    run = solve(flows.reduced(duplicates(m, D, 1.0)), np.array([0.0, 50, 100, 120]))
    rate = np.log(run.loss[2] / run.loss[3]) / 20
    assert rate == pytest.approx(2 * tail_rate(m, run.state[-1, 3], D), rel=2e-4)


@pytest.mark.parametrize(("m", "D", "psi"), [(2, 0.7, 0.9), (5, 3.0, 2.0), (9, 100.0, 0.3)])
def test_the_tail_rate_is_the_least_eigenvalue_of_the_reduced_flow_at_rest(m, D, psi):
    """By one-sided differences: (q, P) and then theta, whose rate has a kink of order h."""
    flow, h, at = flows.reduced(duplicates(m, D, psi)), 1e-7, np.array([1.0, 0, 0, psi])
    columns = [np.array(flow.rhs(0, at + h * e))[:3] / h for e in np.eye(4)[:3]]
    measured = -np.linalg.eigvals(np.array(columns).T).real
    assert tail_rate(m, psi, D) == pytest.approx(measured.min(), abs=1e-6 * m)


def precise_tail_rate(m, psi, D):
    """The least root of the characteristic polynomial at many digits, from below by Newton."""
    with mp.workdps(700):
        psi, D = mp.mpf(psi), mp.mpf(D)
        g = (mp.sin(psi) + (mp.pi - psi) * mp.cos(psi)) / (2 * mp.pi)
        omega = (mp.pi - psi) * mp.sin(psi) / (2 * mp.pi)
        x, z = mp.sqrt(1 + 4 / D**2), m - 1
        y, fourth = (x + 1) / 2, mp.mpf(1) / 4
        c2, c0 = (x + y + z) / 2, x * y * z * (fourth - g**2 - omega**2) / 2
        c1 = x * y / 4 + x * z * (fourth - g**2) + y * z * (fourth - omega**2)
        rate, step = mp.mpf(0), mp.mpf(1)
        while abs(step) > mp.mpf(10) ** -30 * rate:
            value = ((rate - c2) * rate + c1) * rate - c0
            step = -value / ((3 * rate - 2 * c2) * rate + c1)
            rate += step
        return float(rate)


@pytest.mark.parametrize("m", [2, 3, 50, 10**9])
@pytest.mark.parametrize("psi", [1e-90, 1e-12, 1e-5, 0.1, PI / 4, 1.9, 3.1415])
def test_the_tail_rate_keeps_its_digits_at_any_imbalance_and_angle(m, psi):
    for D in (1e-250, 1e-8, 0.3, 2.0, 32.0, 1e12, 1e200):
        assert tail_rate(m, psi, D) == pytest.approx(precise_tail_rate(m, psi, D), rel=2e-14)
    assert tail_rate(m, psi) == pytest.approx(tail_rate(m, psi, 1e200), rel=2e-15)


@pytest.mark.parametrize("bad", [-0.1, 3.2, np.nan, [0.1, 0.2], "a"])
def test_the_gram_matrix_belongs_to_one_angle(bad):
    with pytest.raises(ValueError, match="psi must be"):
        gram(bad)


@pytest.mark.parametrize(
    ("m", "psi", "D"), [(1, 1, 1), (2, 0, 1), (2, 1e-101, 1), (2, PI, 1), (2, 1, 0), (2, 1, 1e-301)]
)
def test_the_tail_rate_names_what_is_out_of_range(m, psi, D):
    with pytest.raises(ValueError, match="must be"):
        tail_rate(m, psi, D)


# --- the barrier ----------------------------------------------------------------------------------


def test_the_redundant_angle_turns_slower_than_the_barrier_needs():
    """|dpsi/dt| = 2 |dE/dpsi| / (M (mu- + D)) <= |dE/dpsi| / (M D), along a run."""
    m, D, phi = 6, 3.0, 0.9
    flow = flows.reduced(duplicates(m, D, phi))
    for q, P, theta, psi in solve(flow, TAU).state:
        speed = abs(flow.rhs(0.0, np.array([q, P, theta, psi]))[3]) * D
        slope, step = [], 1e-6
        for a in (psi + step, psi - step):
            slope.append((q + P - 1) ** 2 / 4 + q * excess(theta) + P * excess(a)
                         - q * P * excess(a - theta))
        derivative = abs(slope[0] - slope[1]) / (2 * step)
        mu = np.hypot(D, 2 * P / (m - 1))
        assert speed == pytest.approx(2 * derivative / ((m - 1) * (mu + D)), rel=1e-4, abs=1e-9)
        assert speed <= derivative / ((m - 1) * D) + 1e-9


@given(st.floats(0.1, 3), st.floats(0.1, 3), st.floats(0.5, 20), st.floats(1e-3, 1))
def test_the_motion_bound_is_attained_when_its_hypotheses_are_equalities(A, rate, D, L0):
    t = np.linspace(0, 12 / (rate * D), 4001)
    motion = np.trapezoid(A * L0 * np.exp(-rate * D * t) / D, t)
    bound = A * L0 / (rate * D**2)
    assert 0.999 * bound < motion * (1 + 1e-5) and motion < bound * (1 + 1e-5)


def test_loss_never_comes_back_above_the_boundary_loss_after_entry():
    """Least loss on the sphere rho = 0.3, by a grid in two angles, against runs at finite D."""
    phi, r = PI / 4, 0.3
    polar, azimuth = np.meshgrid(np.linspace(0, PI, 181), np.linspace(0, 2 * PI, 361))
    q, P = 1 + r * np.cos(polar), r * np.sin(polar) * np.cos(azimuth)
    theta = r * np.sin(polar) * np.sin(azimuth)
    edge = min(((q + P - 1) ** 2 / 4 + q * excess(theta) + P * excess(psi)
                - q * P * excess(psi - theta)).min() for psi in (phi - 0.05, phi, phi + 0.05))
    for m, D in ((2, 8.0), (8, 4.0), (32, 32.0)):
        flow = flows.reduced(duplicates(m, D, phi))

        def distance(y):
            return np.sqrt((y[0] - 1) ** 2 + y[1] ** 2 + y[2] ** 2)

        def event(y, flow=flow, distance=distance):
            return max(distance(y) - r, flow.read(y[None])[3][0] - edge)

        start = crossing(flow, np.linspace(0, 60, 61), event).state
        run = solve(flow.starting(start), np.linspace(0, 200, 401))
        assert max(distance(y) for y in run.state) <= r + 1e-9
        assert np.ptp(run.state[:, 3]) < 0.01 and abs(run.state[-1, 3] - phi) < 0.05


# --- beyond pi/3 ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("m", "phi"), [(2, 1.2), (8, 1.9), (32, 2.35), (200, 2.6)])
def test_the_limit_selects_at_angles_beyond_a_third_of_pi_where_the_start_is_in_the_region(m, phi):
    assert 2 * m * g(phi) >= 1 and phi > PI / 3
    end = solve(flows.limit(duplicates(m, 1, phi)), np.linspace(0, 200, 201)).state[-1]
    np.testing.assert_allclose(end, [1, 0, 0], atol=1e-8)


def test_up_to_a_third_of_pi_every_width_starts_in_the_region():
    phi = np.linspace(0, PI / 3, 1001)
    assert (1 / 4 - g(phi)).max() < 0
    assert 1 / 4 - g(1.25) > 0
