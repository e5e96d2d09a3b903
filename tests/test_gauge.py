"""The gauge: exact, stable coordinates; the network's function and the flow know only them."""

import mpmath
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gaugelib import gauge

EPS = np.finfo(float).eps
TEN = 10 * EPS  # about ten operations of relative error eps/2 each, square roots halve theirs

signs = st.sampled_from([-1.0, 1.0])
sizes = st.floats(-8, 8).map(lambda x: 10.0**x)
coefficients = st.builds(lambda sign, x: sign * x, signs, st.floats(-6, 3).map(lambda x: 10.0**x))
imbalances = st.one_of(st.just(0.0), st.builds(lambda sign, x: sign * x, signs, sizes))
hard = example(q=1.0, delta=-200.0), example(q=0.6, delta=1e7), example(q=-1e-6, delta=-1e8)


def exact(q, delta):
    """(mu, chi, a, r) to 60 digits from the textbook formulas."""
    with mpmath.workdps(60):
        q, delta = mpmath.mpf(q), mpmath.mpf(delta)
        mu = mpmath.sqrt(delta**2 + 4 * q**2)
        a = mpmath.sign(q) * mpmath.sqrt((mu + delta) / 2)
        r = mpmath.sqrt((mu - delta) / 2)
        return mu, (mu + delta) / (2 * q), a, r


def relative_error(value, reference):
    with mpmath.workdps(60):
        return float(abs((mpmath.mpf(float(value)) - reference) / reference))


def hard_cases(test):
    for case in hard:
        test = case(test)
    return test


@hard_cases
@given(q=coefficients, delta=imbalances)
def test_mobilities_have_full_relative_accuracy_for_both_signs(q, delta):
    mu, chi, _, _ = exact(q, delta)
    assert relative_error(gauge.mu(q, delta), mu) < TEN
    assert relative_error(gauge.chi(q, delta), chi) < TEN


@hard_cases
@given(q=coefficients, delta=imbalances)
def test_weights_have_full_relative_accuracy_for_both_signs(q, delta):
    _, _, a_exact, r_exact = exact(q, delta)
    a, w = gauge.weights(q, [0.6, -0.8], delta)
    assert relative_error(a, a_exact) < TEN
    assert relative_error(np.linalg.norm(w), r_exact) < TEN


@hard_cases
@given(q=coefficients, delta=imbalances)
def test_coordinates_invert_weights(q, delta):
    a, w = gauge.weights(q, [0.6, -0.8], delta)
    q2, s2, delta2 = gauge.coordinates(a, w)
    assert abs(q2 / q - 1) < TEN
    assert np.allclose(s2, [0.6, -0.8], rtol=TEN, atol=0)
    assert abs(delta2 - delta) < TEN * gauge.mu(q, delta)


@given(a=st.floats(-1e4, 1e4), w=st.lists(st.floats(-1e4, 1e4), min_size=2, max_size=5))
def test_imbalance_of_given_parameters_keeps_its_digits_near_balance(a, w):
    w = np.array(w)
    if np.linalg.norm(w) < 1e-100:
        return
    _, _, delta = gauge.coordinates(a, w)
    with mpmath.workdps(60):
        r = mpmath.sqrt(sum(mpmath.mpf(x) ** 2 for x in w.tolist()))
        exact_delta = mpmath.mpf(a) ** 2 - r**2
        wrong = abs(mpmath.mpf(float(delta)) - exact_delta)
        # Rounding |w| by a few eps moves a^2 - r^2 by 2 r^2 of that; the two factors and their
        # product add eps/2 each of delta itself.
        assert wrong <= TEN * r**2 + 2 * EPS * abs(exact_delta)


@given(n=st.integers(1, 2**20), exponent=st.integers(-50, -1), sign=signs)
def test_imbalance_keeps_all_its_digits_where_the_norm_is_exact(n, exponent, sign):
    """|(3, 4) n| = 5 n is a float and so is a: only three roundings remain."""
    a = 5.0 * n * (1 + sign * 2.0**exponent)
    _, _, delta = gauge.coordinates(a, 1.0 * n * np.array([3, 4]))
    with mpmath.workdps(60):
        assert relative_error(delta, mpmath.mpf(a) ** 2 - 25 * mpmath.mpf(n) ** 2) < 3 * EPS


def test_mobilities_of_states_whose_squares_are_no_floats():
    for size in (1e-200, 1e200):
        assert np.isclose(gauge.mu(size, size), 5**0.5 * size, rtol=TEN)
        assert np.isclose(gauge.chi(size, size), (5**0.5 + 1) / 2, rtol=TEN)


def test_the_textbook_inverse_loses_what_ours_keeps():
    """sqrt((mu - |delta|)/2) inherits the rounding of mu, half an ulp of |delta|.

    At delta = -200 and q near 1 that is up to 1.4e-14 of a difference 2 q^2/200, so up to 7e-13
    of its root, and over a hundred q some come near.  At |delta| = 1e8 and q = 0.6 the
    difference 7.2e-9 is below half an ulp: mu is rounded to |delta| and everything is lost.
    """
    errors, ours = [], []
    for q in np.linspace(0.9, 1.1, 101):
        _, _, a_exact, _ = exact(q, -200.0)
        errors.append(relative_error(np.sqrt((np.hypot(200.0, 2 * q) - 200) / 2), a_exact))
        ours.append(relative_error(gauge.weights(q, [1.0, 0.0], -200.0)[0], a_exact))
    assert max(errors) > 1e-13 and max(ours) < TEN
    assert np.hypot(1e8, 1.2) == 1e8 and np.linalg.norm(gauge.weights(0.6, [1.0, 0.0], 1e8)[1]) > 0


def test_rescaling_moves_only_the_imbalance():
    rng = np.random.default_rng(0)
    a, w, x = rng.normal(size=5), rng.normal(size=(5, 4)), rng.normal(size=(100, 4))
    rho = np.exp(rng.normal(size=5))
    a2, w2 = gauge.rescale(a, w, rho)
    assert np.allclose(
        np.maximum(x @ w.T, 0) @ a, np.maximum(x @ w2.T, 0) @ a2, rtol=0, atol=100 * EPS
    )
    q, s, delta = gauge.coordinates(a, w)
    q2, s2, delta2 = gauge.coordinates(a2, w2)
    assert np.allclose(q2, q, rtol=TEN) and np.allclose(s2, s, rtol=TEN)
    r = np.linalg.norm(w, axis=1)
    assert np.allclose(delta2, (rho * a) ** 2 - (r / rho) ** 2, rtol=1e-12)
    assert np.abs(delta2 - delta).min() > 1e-3


@given(q=coefficients, delta=imbalances, rho=st.floats(-2, 2).map(lambda x: 10.0**x))
def test_rescaling_acts_on_chi_by_rho_squared(q, delta, rho):
    a, w = gauge.weights(q, [1.0, 0.0], delta)
    q2, _, delta2 = gauge.coordinates(*gauge.rescale(a, w, rho))
    a2, w2 = gauge.rescale(a, w, rho)
    assert np.isclose(a2 / np.linalg.norm(w2), rho**2 * gauge.chi(q, delta), rtol=1e-13)
    assert np.isclose(q2, q, rtol=1e-14)


@given(q=coefficients, delta=imbalances)
def test_the_mobilities_are_those_of_the_parameters(q, delta):
    a, w = gauge.weights(q, [0.6, 0.8], delta)
    r = np.linalg.norm(w)
    assert np.isclose(gauge.mu(q, delta), a * a + r * r, rtol=TEN)
    assert np.isclose(gauge.chi(q, delta), a / r, rtol=TEN)
    assert np.isclose(gauge.chi(q, delta) * gauge.chi(q, -delta), 1, rtol=TEN)


def test_gradient_flow_in_parameters_is_the_flow_in_coordinates():
    """A small step of a' = -r B, w' = -a T moves (q, s, delta) by the rates of (3)-(4)."""
    rng = np.random.default_rng(1)
    for delta in (-50.0, -1.0, 0.0, 3.0, 400.0):
        q, s, T = rng.normal(), np.array([0.6, 0.0, 0.8]), rng.normal(size=3)
        B, across = s @ T, T - (s @ T) * s
        a, w = gauge.weights(q, s, delta)
        mu, chi, r = gauge.mu(q, delta), gauge.chi(q, delta), np.linalg.norm(w)
        fastest = max(mu, abs(chi))  # the step changes a and w by 1e-5 of themselves at most
        h = 1e-5 / fastest

        def at(sign, a=a, w=w, r=r, B=B, T=T, h=h):
            return gauge.coordinates(a - sign * h * r * B, w - sign * h * a * T)

        rates = [(x - y) / (2 * h) for x, y in zip(at(1), at(-1), strict=True)]
        # Central differences: truncation (1e-5)^2 and rounding eps/1e-5 of the rates' scales,
        # with |T|^3 of order 10.  delta is quadratic along the step: no truncation at all.
        assert abs(rates[0] + mu * B) < 1e-8 * mu
        assert np.all(np.abs(rates[1] + chi * across) < 1e-8 * fastest)
        assert abs(rates[2]) < 1e-8 * mu * fastest


def test_shapes_broadcast():
    s = np.tile([0.6, 0.8], (4, 3, 1))
    a, w = gauge.weights(np.ones(3), s, 2.0)
    assert a.shape == (4, 3) and w.shape == (4, 3, 2)
    q, s2, delta = gauge.coordinates(a, w)
    assert q.shape == delta.shape == (4, 3) and np.allclose(s, s2)
    assert gauge.mu(np.ones((5, 1)), np.ones(2)).shape == (5, 2)
    assert gauge.chi(np.ones((5, 1)), np.ones(2)).shape == (5, 2)


def test_zero_coefficient_has_a_direction_only_below_balance():
    a, w = gauge.weights(0.0, [0.6, 0.8], -4.0)
    assert a == 0 and np.allclose(w, [1.2, 1.6]) and gauge.chi(0.0, -4.0) == 0
    for delta in (0.0, 4.0):
        with pytest.raises(ValueError, match="q must be nonzero where delta >= 0"):
            gauge.chi(0.0, delta)
        with pytest.raises(ValueError, match="q must be nonzero where delta >= 0"):
            gauge.weights(0.0, [0.6, 0.8], delta)


NAN, S = np.nan, [0.6, 0.8]


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: gauge.mu(NAN, 1), "q must be finite"),
        (lambda: gauge.mu(1, np.inf), "delta must be finite"),
        (lambda: gauge.mu([1, 2], [1, 2, 3]), "shapes must fit together"),
        (lambda: gauge.chi(1, NAN), "delta must be finite"),
        (lambda: gauge.chi(1e-320, 1.0), r"chi\(q, delta\), too large for a float"),
        (lambda: gauge.chi([1, 0], [1, 1]), "q must be nonzero"),
        (lambda: gauge.weights(NAN, S, 1), "q must be finite"),
        (lambda: gauge.weights(1, [0.6, NAN], 1), "s must be finite"),
        (lambda: gauge.weights(1, [1, 1], 1), "s must be unit vectors"),
        (lambda: gauge.weights(1, 1.0, 1), "s must have shape"),
        (lambda: gauge.weights([1, 2, 3], [S, S], 1), r"got q \(3,\), s \(2,\)"),
        (lambda: gauge.coordinates(1, [0, 0]), "w must be nonzero"),
        (lambda: gauge.coordinates([1, 1], [S, [0, 0]]), "w must be nonzero"),
        (lambda: gauge.coordinates(NAN, S), "a must be finite"),
        (lambda: gauge.coordinates(1, [1, NAN]), "w must be finite"),
        (lambda: gauge.coordinates([1, 2], S), r"a must be \(...\) and w \(..., d\)"),
        (lambda: gauge.coordinates(1, 2.0), "w must have shape"),
        (lambda: gauge.coordinates(1e300, S), r"delta = a\^2 - \|w\|\^2, too large for a float"),
        (lambda: gauge.coordinates(1e300, [0, 1e300]), r"q = a\|w\|, too large for a float"),
        (lambda: gauge.mu(1e308, 0), r"mu\(q, delta\), too large for a float"),
        (lambda: gauge.weights(1e308, S, 0), r"mu\(q, delta\), too large for a float"),
        (lambda: gauge.rescale(1, S, 0), "rho must be positive, got array"),
        (lambda: gauge.rescale(1, S, -1), "rho must be positive"),
        (lambda: gauge.rescale(1, S, NAN), "rho must be finite"),
        (lambda: gauge.rescale([1, 1], [S, S], [1, 1, 1]), "shapes must fit together"),
        (lambda: gauge.rescale(1e300, S, 1e300), "rho a, too large for a float"),
        (lambda: gauge.rescale(1, S, 1e-310), "w/rho, too large for a float"),
        (lambda: gauge.rescale(1e-300, S, 1e-30), "rho must not round a or w to 0"),
        (lambda: gauge.rescale(1, [1e-300, 0.0], 1e30), "rho must not round a or w to 0"),
        (lambda: gauge.weights(0.0, S, -5e-324), "q and delta must not both be below"),
        (lambda: gauge.weights(5e-324, S, 1e8), "q must be large enough for w != 0"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_neurons_of_extreme_size_keep_their_direction():
    """Down to 1e-300 and up to where |w|^2, and so delta, is still a float."""
    for scale in (1e-300, 1e-160, 1e150):
        q, s, delta = gauge.coordinates(1.0, scale * np.array([3.0, 4.0]))
        assert np.allclose(s, [0.6, 0.8], rtol=TEN) and np.isclose(q, 5 * scale, rtol=TEN)
        assert np.isclose(delta, 1 - 25 * scale**2, rtol=TEN)
