"""The gauge: parameters (a, w) of a ReLU neuron and its coordinates (q, s, delta) (A.1).

r = |w|, s = w/r, q = a r (coefficient), delta = a^2 - r^2 (imbalance).  The network sees only
(q, s); the flow conserves delta.  Every formula is written so that no two nearly equal numbers
are subtracted: the relative error is a few 1e-16 for both signs of delta and any |delta| <= 1e8.
The one exception is delta of a neuron near balance, a^2 - |w|^2 << a^2: rounding |w| already
changes it, so its error is a few 1e-16 of a^2.
"""

import numpy as np

from gaugelib import kernel
from gaugelib.checks import common_shape, finite, representable, unit_vectors, vectors


def mu(q, delta):
    """mu = a^2 + |w|^2 = sqrt(delta^2 + 4 q^2), the mobility of the coefficient (3).

    Shapes broadcast: q (...), delta (...) -> (...).
    """
    q, delta = _state(q, delta)
    return representable("mu(q, delta)", lambda: np.hypot(delta, 2 * q))


def chi(q, delta):
    """chi = a/|w|, the mobility of the direction (4).

    chi = (mu + delta)/(2 q) for delta >= 0 and 2 q/(mu - delta) for delta < 0: the same number,
    each form without cancellation.  It has the sign of q.  q = 0 raises for delta >= 0, where
    w = 0 and no direction exists; for delta < 0 it is 0.  Shapes: q (...), delta (...) -> (...).
    """
    q, delta = _state(q, delta)
    _require_direction(q, delta)
    positive = delta >= 0

    def value():
        total = mu(q, delta) + np.abs(delta)
        return np.where(positive, total / np.where(positive, 2 * q, 1), 2 * q / total)

    return representable("chi(q, delta)", value)


def weights(q, s, delta):
    """(a, w) from (q, s, delta): the inverse of :func:`coordinates` (A.6).

    big = sqrt((mu + |delta|)/2), small = |q|/big; |a| is the big one when delta >= 0, and a has
    the sign of q.  Shapes broadcast: q (...), s (..., d) unit vectors, delta (...) -> (...),
    (..., d).  q = 0 raises for delta >= 0 (there w = 0), and so do q and delta so small, or so
    unequal, that w or the larger of a and |w| would round to 0.
    """
    q, delta = _state(q, delta)
    _require_direction(q, delta)
    s = unit_vectors("s", s)
    shape = common_shape(q=q.shape, s=s.shape[:-1])
    big = np.sqrt(mu(q, delta) / 2 + np.abs(delta) / 2)
    if np.any(big == 0):
        raise ValueError(f"q and delta must not both be below 1e-323, got {q!r} and {delta!r}")
    small = np.abs(q) / big
    size_a, r = np.where(delta >= 0, (big, small), (small, big))
    if np.any(r == 0):
        raise ValueError(f"q must be large enough for w != 0 at delta = {delta!r}, got {q!r}")
    a = np.broadcast_to(np.copysign(size_a, q), shape)
    return a.copy()[()], r[..., None] * s


def coordinates(a, w):
    """(q, s, delta) of a neuron: q = a|w|, s = w/|w|, delta = (a - |w|)(a + |w|)  (A.1).

    Shapes: a (...), w (..., d) -> (...), (..., d), (...).  w = 0 raises, and so do q or delta
    too large for a float.
    """
    a, w = _neurons(a, w)
    r = kernel.length("w", w)[..., 0]
    q = representable("q = a|w|", lambda: a * r)
    delta = representable("delta = a^2 - |w|^2", lambda: (a - r) * (a + r))
    return q, kernel.direction("w", w), delta


def rescale(a, w, rho):
    """The gauge transformation (a, w) -> (rho a, w/rho), rho > 0: the function stays the same.

    Shapes: a (...), w (..., d), rho () or (...) -> (...), (..., d).  A rho with which an entry
    would leave the floats, or round to 0, raises.
    """
    (a, w), rho = _neurons(a, w), finite("rho", rho)
    if np.any(rho <= 0):
        raise ValueError(f"rho must be positive, got {rho!r}")
    common_shape(a=a.shape, rho=rho.shape)
    new_a = representable("rho a", lambda: rho * a)
    new_w = representable("w/rho", lambda: w / rho[..., None])
    if np.any((new_a == 0) != (a == 0)) or np.any((new_w == 0) != (w == 0)):
        raise ValueError(f"rho must not round a or w to 0, got {rho!r}")
    return new_a, new_w


def _state(q, delta):
    q, delta = finite("q", q), finite("delta", delta)
    shape = common_shape(q=q.shape, delta=delta.shape)
    return np.broadcast_to(q, shape), np.broadcast_to(delta, shape)


def _require_direction(q, delta):
    if np.any((q == 0) & (delta >= 0)):
        raise ValueError(f"q must be nonzero where delta >= 0 (there w = 0), got q={q!r}")


def _neurons(a, w):
    a, w = finite("a", a), vectors("w", w)
    if a.shape != w.shape[:-1]:
        raise ValueError(f"a must be (...) and w (..., d), got shapes {a.shape} and {w.shape}")
    return a, w
