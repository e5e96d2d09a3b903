"""Moments of ReLU features: closed forms against integrals, digits kept as angles vanish."""

import mpmath
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gaugelib import kernel
from gaugelib.problem import plane_direction

EPS = np.finfo(float).eps
NODES, WEIGHTS = np.polynomial.legendre.leggauss(40)
E1 = plane_direction(0.0)

angles = st.floats(0, np.pi)
small_angles = st.floats(-150, 0).map(lambda x: 10.0**x)
signs = st.sampled_from([-1.0, 1.0])


def plane_mean(integrand, *directions):
    """E integrand(x), x ~ N(0, I_2), 2-homogeneous, smooth between the kinks of ``directions``."""
    across = [a + side * np.pi / 2 for a in directions for side in (-1, 1)]
    starts = np.unique(np.mod(across, 2 * np.pi))
    half = np.diff(np.append(starts, starts[0] + 2 * np.pi))[:, None] / 2
    t = starts[:, None] + half * (1 + NODES)
    x = np.stack([np.cos(t), np.sin(t)], axis=-1)
    return np.tensordot(half * WEIGHTS / np.pi, integrand(x), axes=2)


def relu(x, v):
    return np.maximum(x @ v, 0)


def exact_g(alpha):
    a = abs(mpmath.mpf(alpha))
    return (mpmath.sin(a) + (mpmath.pi - a) * mpmath.cos(a)) / (2 * mpmath.pi)


def relative_error(value, reference):
    return float(abs(mpmath.mpf(float(value)) / reference - 1))


def rotation(rng, d):
    return np.linalg.qr(rng.standard_normal((d, d)))[0]


@given(alpha=angles)
def test_kappa_and_g_are_the_correlation_of_two_features(alpha):
    s = plane_direction(alpha)
    # sums of 160 terms below 1 with weights that add up to 2: a few dozen eps
    mean = plane_mean(lambda x: relu(x, s) * relu(x, E1), 0, alpha)
    assert abs(kernel.g(alpha) - mean) < 1e-14
    assert abs(kernel.kappa(np.cos(alpha)) - mean) < 1e-14
    assert abs(kernel.inner(s, E1) - mean) < 1e-14


@given(alpha=angles)
def test_kappa_prime_and_omega_are_the_torque_on_a_feature(alpha):
    s, across = plane_direction(alpha), plane_direction(alpha + np.pi / 2)
    torque = plane_mean(lambda x: relu(x, E1) * (x @ across) * (x @ s > 0), 0, alpha)
    assert abs(kernel.omega(alpha) + torque) < 1e-14
    assert abs(kernel.kappa_prime(np.cos(alpha)) * (across @ E1) - torque) < 1e-14


def test_values_at_the_ends_and_in_the_middle():
    assert kernel.kappa(1) == 0.5 and kernel.g(0) == 0.5 and kernel.excess(0) == 0
    assert abs(kernel.kappa(0) - 1 / (2 * np.pi)) < EPS and abs(kernel.kappa(-1)) < EPS
    assert kernel.kappa_prime(1) == 0.5 and abs(kernel.kappa_prime(-1)) < EPS
    assert kernel.kappa_prime(0) == pytest.approx(0.25, rel=EPS)
    assert kernel.omega(0) == 0 and abs(kernel.omega(np.pi)) < EPS
    assert kernel.omega(np.pi / 2) == pytest.approx(0.25, rel=2 * EPS)


@given(alpha=angles)
def test_g_is_even_omega_odd_and_both_positive(alpha):
    assert kernel.g(-alpha) == kernel.g(alpha) and kernel.omega(-alpha) == -kernel.omega(alpha)
    assert kernel.excess(-alpha) == kernel.excess(alpha)
    assert -EPS < kernel.g(alpha) <= 0.5 and 0 <= kernel.omega(alpha) < 0.29


@given(c=st.floats(-0.9, 0.9), alpha=st.floats(0.01, 3.13))
def test_derivatives_by_central_differences(c, alpha):
    h = 1e-5  # h^2/6 times a third derivative below 27, and eps/h
    slope = (kernel.kappa(c + h) - kernel.kappa(c - h)) / (2 * h)
    assert abs(slope - kernel.kappa_prime(c)) < 1e-9
    slope = (kernel.g(alpha + h) - kernel.g(alpha - h)) / (2 * h)
    assert abs(slope + kernel.omega(alpha)) < 1e-9
    slope = (kernel.excess(alpha + h) - kernel.excess(alpha - h)) / (2 * h)
    assert abs(slope - kernel.omega(alpha)) < 1e-9


@example(alpha=1e-16)
@example(alpha=1.0)
@given(alpha=small_angles)
def test_excess_and_omega_keep_their_digits_down_to_zero(alpha):
    with mpmath.workdps(360):  # 1/2 - g cancels 300 of them at 1e-150
        half = mpmath.mpf(1) / 2
        omega = (mpmath.pi - mpmath.mpf(alpha)) * mpmath.sin(alpha) / (2 * mpmath.pi)
        # about eight roundings; the Bessel term is below a third of the other
        assert relative_error(kernel.excess(alpha), half - exact_g(alpha)) < 8 * EPS
        assert relative_error(kernel.omega(alpha), omega) < 4 * EPS


@example(alpha=0.0)
@example(alpha=5e-324)
@example(alpha=2e-311)
@given(alpha=angles)
def test_excess_is_half_minus_g_at_every_angle(alpha):
    assert abs(kernel.excess(alpha) + kernel.g(alpha) - 0.5) < 4 * EPS


def test_excess_begins_with_a_square_and_a_cube_of_the_absolute_value():
    for alpha in (1e-3, -1e-3):
        series = alpha**2 / 4 - abs(alpha) ** 3 / (6 * np.pi) - alpha**4 / 48
        assert abs(kernel.excess(alpha) - series) < abs(alpha) ** 5 / 100


@given(alpha=st.floats(-300, 0).map(lambda x: 10.0**x), seed=st.integers(0, 20))
def test_angles_are_exact_at_any_size_in_the_plane(alpha, seed):
    scale = 10.0 ** np.random.default_rng(seed).uniform(-250, 250, 2)
    found = kernel.angle(scale[0] * plane_direction(alpha), scale[1] * E1)
    assert found == pytest.approx(alpha, rel=8 * EPS)


@given(alpha=angles, d=st.integers(2, 20), seed=st.integers(0, 100))
def test_angles_do_not_depend_on_rotations_or_lengths(alpha, d, seed):
    rng = np.random.default_rng(seed)
    turn = rotation(rng, d)
    w, v = plane_direction([alpha, 0.0], d) @ turn
    # rotated vectors are off by d eps or so, and so is their angle
    assert abs(kernel.angle(3.7 * w, 0.2 * v) - alpha) < 10 * d * EPS


def test_angle_of_equal_and_opposite_vectors():
    w = np.array([0.3, -1.2, 4.0])
    assert kernel.angle(w, w) == 0 and kernel.angle(w, -w) == np.pi
    assert kernel.angle(w, 2 * w) == 0 and kernel.angle([1, 0], [0, 5]) == pytest.approx(np.pi / 2)


def test_lengths_and_directions_of_vectors_of_any_size():
    for scale in (1e-300, 1.0, 1e300):
        w = scale * np.array([[3.0, 4.0], [0.0, -5.0]])
        assert np.allclose(kernel.length("w", w), 5 * scale, rtol=4 * EPS, atol=0)
        assert np.allclose(kernel.direction("w", w), [[0.6, 0.8], [0, -1]], rtol=4 * EPS, atol=0)
    assert kernel.length("w", np.ones((4, 3, 2))).shape == (4, 3, 1)


@given(alpha=angles)
def test_half_moment_by_quadrature(alpha):
    s = plane_direction(alpha)
    moment = plane_mean(lambda x: (relu(x, E1) * (x @ s > 0))[..., None] * x, 0, alpha)
    assert np.abs(kernel.half_moment(s, E1) - moment).max() < 1e-14


@given(d=st.integers(2, 20), seed=st.integers(0, 1000))
def test_homogeneity_of_inner_and_half_moment(d, seed):
    rng = np.random.default_rng(seed)
    w, v = rng.standard_normal((2, d))
    x, y = 10 ** rng.uniform(-2, 2, 2)
    size = np.linalg.norm(w) * np.linalg.norm(v)
    G, K = kernel.half_moment(w, v), kernel.inner(w, v)
    tolerance = 20 * d * EPS  # sums of d products
    assert abs(w @ G - K) < tolerance * size
    assert abs(v @ kernel.half_moment(v, w) - K) < tolerance * size
    assert abs(kernel.inner(x * w, y * v) - x * y * K) < tolerance * x * y * size
    scaled = kernel.half_moment(x * w, y * v)
    assert np.abs(scaled - y * G).max() < tolerance * y * np.linalg.norm(v)
    assert np.abs(kernel.half_moment(w, w) - w / 2).max() < tolerance * np.linalg.norm(w)
    assert np.abs(kernel.half_moment(w, -w)).max() < tolerance * np.linalg.norm(w)


@given(seed=st.integers(0, 200))
def test_half_moment_is_the_gradient_of_inner(seed):
    rng = np.random.default_rng(seed)
    w, v, along = rng.standard_normal((3, 4))
    w, along, h = w / np.linalg.norm(w), along / np.linalg.norm(along), 1e-5
    slope = (kernel.inner(w + h * along, v) - kernel.inner(w - h * along, v)) / (2 * h)
    # third derivatives of K at unit w are below 10 |v|
    assert abs(slope - along @ kernel.half_moment(w, v)) < 1e-9 * max(1, np.linalg.norm(v))


def test_moments_agree_with_gaussian_samples_in_six_dimensions():
    """Means of 200 000 samples within four standard errors (seven numbers: 1 in 2000)."""
    rng = np.random.default_rng(11)
    w, v = rng.standard_normal((2, 6))
    x = rng.standard_normal((200_000, 6))
    inner = relu(x, w) * relu(x, v)
    moment = x * ((x @ w > 0) * relu(x, v))[:, None]
    for samples, value in ((inner, kernel.inner(w, v)), (moment, kernel.half_moment(w, v))):
        error = samples.std(axis=0) / np.sqrt(len(x))
        assert np.all(np.abs(samples.mean(axis=0) - value) < 4 * error)


def test_pair_angles_are_all_angles_with_a_zero_diagonal():
    rng = np.random.default_rng(12)
    vectors = rng.standard_normal((3, 5, 4))
    pairs = kernel.pair_angles(vectors)
    assert pairs.shape == (3, 5, 5) and np.all(pairs == np.swapaxes(pairs, -1, -2))
    assert np.all(np.diagonal(pairs, axis1=-2, axis2=-1) == 0)
    assert pairs[1, 0, 3] == kernel.angle(vectors[1, 0], vectors[1, 3])


@given(n=st.integers(1, 5), seed=st.integers(0, 200))
def test_mixture_loss_is_half_the_mean_square(n, seed):
    rng = np.random.default_rng(seed)
    t, c = rng.uniform(0, 2 * np.pi, n), rng.standard_normal(n)
    mean = plane_mean(lambda x: (np.maximum(x @ plane_direction(t).T, 0) @ c) ** 2 / 2, *t)
    # directions closer than rounding merge their kinks, which is harmless; terms add up to n c^2
    assert abs(kernel.mixture_loss(c, plane_direction(t)) - mean) < 1e-14 * (1 + c @ c) * n


@given(size=st.floats(-12, -1).map(lambda x: 10.0**x), seed=st.integers(0, 500))
def test_mixture_loss_has_the_accuracy_that_rounded_arguments_allow(size, seed):
    """Relative error of order eps/sqrt(L), and never negative, near convergence."""
    rng = np.random.default_rng(seed)
    q, P, theta = 1 + size * rng.uniform(-1, 1), size * rng.uniform(0.5, 1), size
    c, t = [q, P, -1.0], [theta, 0.7, 0.0]
    with mpmath.workdps(60):
        cs, ts = [mpmath.mpf(x) for x in c], [mpmath.mpf(x) for x in t]
        exact = sum(x * y * exact_g(a - b) for x, a in zip(cs, ts) for y, b in zip(cs, ts)) / 2
        found = kernel.mixture_loss(c, plane_direction(t))
        assert found > 0
        assert relative_error(found, exact) < 8 * EPS / float(mpmath.sqrt(exact))


def test_mixture_loss_broadcasts():
    rng = np.random.default_rng(13)
    c, v = rng.standard_normal((7, 3)), kernel.direction("v", rng.standard_normal((7, 3, 5)))
    losses = kernel.mixture_loss(c, v)
    assert losses.shape == (7,) and losses[2] == pytest.approx(kernel.mixture_loss(c[2], v[2]))
    assert kernel.mixture_loss(c, v[0]).shape == (7,)


def test_shapes_broadcast():
    w, v = np.ones((4, 1, 3)), np.ones((5, 3))
    assert kernel.angle(w, v).shape == kernel.inner(w, v).shape == (4, 5)
    assert kernel.half_moment(w, v).shape == (4, 5, 3)
    assert kernel.g(np.zeros((2, 3))).shape == (2, 3)


NAN = np.nan


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: kernel.kappa(1.1), r"c must be a cosine in \[-1, 1\], got array\(1.1\)"),
        (lambda: kernel.kappa_prime([0, -1.1]), r"c must be a cosine in \[-1, 1\]"),
        (lambda: kernel.kappa(NAN), "c must be finite"),
        (lambda: kernel.g(3.2), r"alpha must be an angle in \[-pi, pi\], got array\(3.2\)"),
        (lambda: kernel.omega(-3.2), r"alpha must be an angle in \[-pi, pi\]"),
        (lambda: kernel.excess([0, 4]), r"alpha must be an angle in \[-pi, pi\]"),
        (lambda: kernel.omega(np.inf), "alpha must be finite"),
        (lambda: kernel.angle([0, 0], [1, 0]), "w must be nonzero"),
        (lambda: kernel.angle([1, 0], [[1, 0], [0, 0]]), "v must be nonzero"),
        (lambda: kernel.inner([0, 0], [1, 0]), "w must be nonzero"),
        (lambda: kernel.half_moment([1, 0], [0, 0]), "v must be nonzero"),
        (lambda: kernel.half_moment([1, 0], [1, 0, 0]), r"share d, got shapes \(2,\) and \(3,\)"),
        (lambda: kernel.inner(np.ones((2, 3)), np.ones((4, 3))), "shapes must fit together"),
        (lambda: kernel.inner(1.0, [1.0]), "w must have shape"),
        (lambda: kernel.pair_angles([1.0, 2.0]), r"directions must be \(..., n, d\)"),
        (lambda: kernel.mixture_loss([1], [[1, 1]]), "directions must be unit vectors"),
        (lambda: kernel.mixture_loss([1, 2], [[1, 0]]), r"got shapes \(2,\) and \(1, 2\)"),
        (lambda: kernel.mixture_loss(1.0, [[1, 0]]), r"c must be \(..., n\)"),
        (lambda: kernel.mixture_loss([NAN], [[1, 0]]), "c must be finite"),
        (lambda: kernel.mixture_loss([1e160, -1e160], np.eye(2)), "the loss of c, too large"),
        (lambda: kernel.inner([1e160, 0], [1e160, 0]), r"\|w\| \|v\|, too large for a float"),
        (lambda: kernel.half_moment([1, 0], [1.7e308, 1.7e308]), r"\|v\|, too large for a float"),
        (lambda: kernel.direction("w", [NAN, 1]), "w must be finite"),
        (lambda: kernel.length("w", 3.0), "w must have shape"),
        (
            lambda: kernel.mixture_loss(np.ones((2, 1)), np.ones((3, 1, 1))),
            "shapes must fit together",
        ),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
