"""The gauge: parameters (a, w) of a ReLU neuron and its coordinates (q, s, delta) (A.1).

r = |w|, s = w/r, q = a r (coefficient), delta = a^2 - r^2 (imbalance).  The network sees only
(q, s); the flow conserves delta.  One formula is used for both signs of delta, written so that
no two nearly equal numbers are subtracted: relative accuracy holds up to |delta| = 1e8.
"""

import numpy as np

from gaugelib.checks import finite


def mu(q, delta):
    """mu = a^2 + |w|^2 = sqrt(delta^2 + 4 q^2), the mobility of the coefficient (3)."""
    return np.hypot(finite("delta", delta), 2 * finite("q", q))


def chi(q, delta):
    """chi = a/|w|, the mobility of the direction (4).

    chi = (mu + delta)/(2 q) for delta >= 0 and 2 q/(mu - delta) for delta < 0: the same number,
    each form without cancellation.  It has the sign of q.  q = 0 raises for delta >= 0, where
    w = 0 and no direction exists; for delta < 0 it is 0.
    """
    q, delta = np.broadcast_arrays(finite("q", q), finite("delta", delta))
    positive = delta >= 0
    if np.any(positive & (q == 0)):
        raise ValueError(f"q must be nonzero where delta >= 0 (there w = 0), got q={q!r}")
    total = mu(q, delta) + np.abs(delta)
    return np.where(positive, total / np.where(positive, 2 * q, 1), 2 * q / total)


def weights(q, s, delta):
    """(a, w) from (q, s, delta): the inverse of :func:`coordinates` (A.6).

    big = sqrt((mu + |delta|)/2), small = |q|/big; |a| is the big one when delta >= 0, and a has
    the sign of q.  Shapes: q (...), s (..., d) unit vectors, delta (...) -> (...), (..., d).
    """
    q, delta = np.broadcast_arrays(finite("q", q), finite("delta", delta))
    s = finite("s", s)
    big = np.sqrt((mu(q, delta) + np.abs(delta)) / 2)
    if np.any((q == 0) & (delta >= 0)):
        raise ValueError(f"q must be nonzero where delta >= 0 (there w = 0), got q={q!r}")
    small = np.abs(q) / big
    size_a, r = np.where(delta >= 0, (big, small), (small, big))
    return np.copysign(size_a, q), r[..., None] * s


def coordinates(a, w):
    """(q, s, delta) of a neuron: q = a|w|, s = w/|w|, delta = (a - |w|)(a + |w|)  (A.1).

    Shapes: a (...), w (..., d) -> (...), (..., d), (...).  w = 0 raises.
    """
    a, w = finite("a", a), finite("w", w)
    r = np.linalg.norm(w, axis=-1)
    if np.any(r == 0):
        raise ValueError(f"w must be nonzero: a zero vector has no direction, got {w!r}")
    return a * r, w / r[..., None], (a - r) * (a + r)


def rescale(a, w, rho):
    """The gauge transformation (a, w) -> (rho a, w/rho), rho > 0: the function stays the same."""
    a, w, rho = finite("a", a), finite("w", w), finite("rho", rho)
    if np.any(rho <= 0):
        raise ValueError(f"rho must be positive, got {rho!r}")
    return rho * a, w / rho[..., None]
