"""Moments of ReLU features under x ~ N(0, I_d) (Wang, appendix A.3).

Everything here is a function of the angle between two directions.  Values are accurate to a few
1e-16; :func:`excess` and :func:`omega` also keep that *relative* accuracy as the angle goes to
zero, where 1/2 - g would cancel.
"""

import numpy as np
from scipy.special import spherical_jn

from gaugelib.checks import common_shape, finite, representable, unit_vectors, vectors

TWO_PI = 2 * np.pi


def _cosine(c):
    c = finite("c", c)
    if np.any(np.abs(c) > 1):
        raise ValueError(f"c must be a cosine in [-1, 1], got {c!r}")
    return c


def _angle(alpha):
    alpha = finite("alpha", alpha)
    if np.any(np.abs(alpha) > np.pi):
        raise ValueError(f"alpha must be an angle in [-pi, pi], got {alpha!r}")
    return alpha


def kappa(c):
    """kappa(c) = (sqrt(1 - c^2) + (pi - arccos c) c) / (2 pi), the arc-cosine kernel (6).

    E [s.x]_+ [v.x]_+ for unit vectors with s.v = c in [-1, 1]; kappa(1) = 1/2.
    """
    c = _cosine(c)
    return (np.sqrt((1 - c) * (1 + c)) + (np.pi - np.arccos(c)) * c) / TWO_PI


def kappa_prime(c):
    """kappa'(c) = (pi - arccos c) / (2 pi), in [0, 1/2], for c in [-1, 1] (A.3)."""
    return (np.pi - np.arccos(_cosine(c))) / TWO_PI


def g(alpha):
    """g(alpha) = kappa(cos alpha) = (sin|alpha| + (pi - |alpha|) cos alpha) / (2 pi)  (B.2).

    Even; alpha in [-pi, pi] radians; values in [0, 1/2].
    """
    a = np.abs(_angle(alpha))
    return (np.sin(a) + (np.pi - a) * np.cos(a)) / TWO_PI


def omega(alpha):
    """omega(alpha) = -g'(alpha) = (pi - |alpha|) sin(alpha) / (2 pi)  (B.3).

    Odd; alpha in [-pi, pi] radians.  It drives every rotation: the torque of a teacher at
    angle alpha.
    """
    a = _angle(alpha)
    return (np.pi - np.abs(a)) * np.sin(a) / TWO_PI


def excess(alpha):
    """1/2 - g(alpha) = sin^2(alpha/2) - alpha^2 j_1(|alpha|) / (2 pi), without cancellation.

    Half the squared distance of two unit features.  j_1 is the spherical Bessel function:
    a^2 j_1(a) = sin a - a cos a.  Relative accuracy holds down to alpha = 0, where
    excess = alpha^2/4 - |alpha|^3/(6 pi) + O(alpha^4).
    """
    a = np.abs(_angle(alpha))
    bessel = spherical_jn(1, np.maximum(a, 1e-300))  # it is NaN at subnormal numbers
    return np.sin(a / 2) ** 2 - a**2 * bessel / TWO_PI


def gram(psi):
    """Gram matrix (3, 3) of what changes of q, theta and P add to f at (q, theta, P) = (1, 0, 0).

        | 1/2        0    g(psi)     |
        |  0        1/2   omega(psi) |                                            (B.5)
        | g(psi)  omega(psi)   1/2   |

    They add [u.x]_+, 1{u.x>0} e.x with e normal to u, and [s.x]_+ with s at the angle psi in
    [0, pi] from u.  It is the Hessian of the loss there; its least eigenvalue
    1/2 - sqrt(g^2 + omega^2) is zero at psi = 0 and positive in (0, pi].
    """
    if np.ndim(psi) or not 0 <= finite("psi", psi) <= np.pi:
        raise ValueError(f"psi must be an angle in [0, pi], got {psi!r}")
    toward, across = g(psi), omega(psi)
    return np.array([[0.5, 0, toward], [0, 0.5, across], [toward, across, 0.5]])


def angle(w, v):
    """Angle in [0, pi] between vectors along the last axis, to a few 1e-16 also when tiny.

    2 atan2(|w^ - v^|, |w^ + v^|) with w^ = w/|w| (Kahan).  arccos of the dot product
    returns 0 for a true angle of 1e-8.  Shapes broadcast: (..., d), (..., d) -> (...).
    Zero vectors raise.
    """
    w, v = _pair(w, v)
    return _unit_angle(direction("w", w), direction("v", v))


def _unit_angle(w, v):
    return 2 * np.arctan2(np.linalg.norm(w - v, axis=-1), np.linalg.norm(w + v, axis=-1))


def length(name, w):
    """Euclidean norm along the last axis, kept as an axis; raises if any is zero."""
    scaled, exponent = _scaled(name, w)
    norm = np.linalg.norm(scaled, axis=-1, keepdims=True)
    return representable(f"|{name}|", lambda: np.ldexp(norm, exponent))


def direction(name, w):
    """w/|w| along the last axis, for vectors of any size; raises if any is zero."""
    scaled, _ = _scaled(name, w)
    return scaled / np.linalg.norm(scaled, axis=-1, keepdims=True)


def _scaled(name, w):
    """w as w 2^-n and n, exactly, with largest entry in [1/2, 1): squares stay in range."""
    w = vectors(name, w)
    mantissa, exponent = np.frexp(np.abs(w).max(axis=-1, keepdims=True))
    if np.any(mantissa == 0):
        raise ValueError(f"{name} must be nonzero: a zero vector has no direction, got {w!r}")
    return np.ldexp(w, -exponent), exponent


def _pair(w, v):
    w, v = vectors("w", w), vectors("v", v)
    if w.shape[-1] != v.shape[-1]:
        raise ValueError(f"w and v must share d, got shapes {w.shape} and {v.shape}")
    common_shape(w=w.shape, v=v.shape)
    return w, v


def inner(w, v):
    """K(w, v) = |w| |v| g(angle) = E [w.x]_+ [v.x]_+ ; (..., d), (..., d) -> (...)  (A.3)."""
    w, v = _pair(w, v)
    sizes = representable("|w| |v|", lambda: length("w", w) * length("v", v))
    return sizes[..., 0] * g(angle(w, v))


def half_moment(w, v):
    """G(w, v) = E x 1{w.x>0} [v.x]_+ = (|v| sin(alpha) w^ + (pi - alpha) v) / (2 pi)  (A.3).

    alpha is the angle of w and v, w^ = w/|w|; G(w, w) = w/2; the gradient of K in its first
    argument.  Tian (2017), theorem 1.  Shapes: (..., d), (..., d) -> (..., d).
    """
    w, v = _pair(w, v)
    alpha = angle(w, v)[..., None]
    along = np.sin(alpha) / TWO_PI * length("v", v)
    return representable("G", lambda: along * direction("w", w) + (np.pi - alpha) / TWO_PI * v)


def pair_angles(directions):
    """Angles between all pairs of vectors: (..., n, d) -> (..., n, n), zero diagonal."""
    directions = vectors("directions", directions)
    if directions.ndim < 2:
        raise ValueError(f"directions must be (..., n, d), got shape {directions.shape}")
    return angle(directions[..., :, None, :], directions[..., None, :, :])


def mixture_loss(c, directions):
    """(1/2) E (sum_i c_i [v_i.x]_+)^2 for unit v_i, stable when the sum nearly vanishes.

    With g = 1/2 - excess this is (1/4)(sum c)^2 - sum_{i<j} c_i c_j excess(alpha_ij):
    pairs of nearly equal directions with opposite signs no longer cancel.
    Shapes: c (..., n), directions (..., n, d) -> (...).
    """
    c, directions = finite("c", c), unit_vectors("directions", directions)
    if c.ndim == 0 or directions.ndim < 2 or c.shape[-1] != directions.shape[-2]:
        raise ValueError(
            f"c must be (..., n) and directions (..., n, d), "
            f"got shapes {c.shape} and {directions.shape}"
        )
    common_shape(c=c.shape, directions=directions.shape[:-1])
    s, (i, j) = direction("directions", directions), np.triu_indices(c.shape[-1], 1)
    apart = excess(_unit_angle(s[..., i, :], s[..., j, :]))

    def loss():
        pairs = c[..., i] * c[..., j] * apart
        return c.sum(axis=-1) ** 2 / 4 - pairs.sum(axis=-1)

    return representable("the loss of c", loss)
