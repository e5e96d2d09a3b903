"""Selection among duplicates at given (m, D, phi), proved: steps with balls, then convexity.

The state is y = (q, P, theta, psi, eps), eps = 1/D^2: one student of imbalance +D and M = m - 1
equal ones of imbalance -D, in fast time,

    q'     = -mu [q/2 + P g(alpha) - g(theta)],        mu = sqrt(1 + 4 eps q^2)
    P'     = -M nu [P/2 + q g(alpha) - g(psi)],        nu = sqrt(1 + 4 eps (P/M)^2)
    theta' = -(mu + 1)/(2 q) [P omega(alpha) + omega(theta)],      alpha = psi - theta         (1)
    psi'   = -2 eps P/(M (nu + 1)) [omega(psi) - q omega(alpha)],  eps' = 0

which is the finite-D flow of :func:`gaugelib.flows.reduced`; eps = 0 is its limit, and the sign
of P does not matter.  g and omega are even and odd with a kink at 0.  :func:`field` continues them
analytically from one side of theta = 0 and from alpha > 0, and :func:`kinks` bounds what this
changes where the state is on the other side.  The right-hand side itself is C^1 for q > 0, |theta|,
|alpha| < pi and 0 < psi < pi.

:func:`basin` certifies a neighbourhood of the selected states (1, 0, 0, psi) that cannot be left.
"""

import math
from dataclasses import dataclass

import numpy as np
from flint import arb

from gaugelib import enclose
from gaugelib.certify import Box, NotProved, cover, g_derivatives, interval, omega_derivatives
from gaugelib.checks import finite, scalar_in, whole
from gaugelib.enclose import Patch

REACH = 0.3  # a step times the largest row sum of |f'|
STEPS = 20_000


def kernel(a, side=1):
    """(g, omega) on the side ``side`` a >= 0, continued analytically; balls, series or jets."""
    sin, cos = a.sin_cos()
    rest, scale = arb.pi() - side * a, 1 / (2 * arb.pi())
    return (side * sin + rest * cos) * scale, rest * sin * scale


def field(m, side):
    """The right-hand side of (1) for alpha >= 0 and side theta >= 0, continued analytically."""
    M = arb(whole("m", m, 2) - 1)

    def rates(y):
        q, P, theta, psi, eps = y
        mu, nu = _mobilities(q, P, eps, M)
        (g, omega), (g_psi, omega_psi) = kernel(psi - theta), kernel(psi)
        g_theta, omega_theta = kernel(theta, side)
        return [
            mu * (g_theta - q / 2 - P * g),
            M * nu * (g_psi - P / 2 - q * g),
            -(mu + 1) * (P * omega + omega_theta) / (2 * q),
            2 / M * eps * P * (q * omega - omega_psi) / (nu + 1),
            0 * eps,
        ]

    return rates


def _mobilities(q, P, eps, M):
    return (4 * eps * q * q + 1).sqrt(), (4 / (M * M) * eps * P * P + 1).sqrt()


def kinks(m, side):
    """box -> bounds of |right-hand side of (1) - field(m, side)| in every coordinate.

    On the wrong side, at |a| = t, g is off by (sin t - t cos t)/pi <= t^3/(3 pi) and omega by
    t sin(t)/pi <= t^2/pi.
    """
    M = arb(whole("m", m, 2) - 1)

    def bounds(box):
        q, P, theta, psi, eps = box
        mu, nu = _mobilities(q, P, eps, M)
        g, omega = _jumps(side * theta)
        g_alpha, omega_alpha = _jumps(psi - theta)
        return [
            mu * (g + abs(P) * g_alpha),
            M * nu * abs(q) * g_alpha,
            (mu + 1) * (omega + abs(P) * omega_alpha) / abs(2 * q),
            2 / M * eps * abs(P * q) * omega_alpha / (nu + 1),
            arb(0),
        ]

    return bounds


def _jumps(angle):
    t = (-angle).max(arb(0)).abs_upper()
    return t**3 / (3 * arb.pi()), t**2 / arb.pi()


def in_domain(box):
    """Whether certainly q > 0, 0 < psi < pi and |theta|, |alpha| < pi on the box."""
    q, _, theta, psi, _ = box
    angles = (abs(theta), abs(psi - theta), psi)
    return q > 0 and psi > 0 and all(angle < arb.pi() for angle in angles)


def _terms(m, patch):
    """The field for the side on which the centre is, and its errors; any side would do."""
    side = 1 if patch.centre[2] > 0 else -1
    return field(m, side), {"defect": kinks(m, side), "rough": in_domain}


def step_holds(m, before, h, after, order=enclose.ORDER):
    """Whether the flow (1) certainly maps the patch ``before`` into ``after`` in the time h."""
    rates, errors = _terms(m, before)
    return enclose.maps_into(rates, before, h, after, order, **errors)


def step(m, before, h, order=enclose.ORDER):
    """A patch into which the flow (1) certainly maps ``before`` in the time h, or NotProved."""
    rates, errors = _terms(m, before)
    return enclose.follow(rates, before, h, order, parameters=1, **errors)


@enclose.arithmetic()
def duplicate_starts(m, phi, eps, spread=0.0):
    """The patch of all starts q = 1/m, P = M/m, theta = psi = phi in an interval ``phi`` and eps in
    ``eps`` (pairs of floats, eps >= 0), with q, P, theta, psi moved freely by up to ``spread``."""
    m, spread = whole("m", m, 2), float(finite("spread", spread))
    phi, eps = finite("phi", phi).tolist(), finite("eps", eps).tolist()
    for name, pair in (("phi", phi), ("eps", eps)):
        if np.shape(pair) != (2,) or pair[0] > pair[1]:
            raise ValueError(f"{name} must be (low, high) with low <= high, got {pair!r}")
    if eps[0] < 0:
        raise ValueError(f"eps must be in [0, inf), got {eps!r}")
    centre, radius = np.empty(5), np.empty(5)
    ranges = [arb(1) / m, arb(m - 1) / m, arb(0), interval(*phi), interval(*eps)]
    for k, (ball, free) in enumerate(zip(ranges, (spread, spread, 2 * spread, spread, 0.0))):
        centre[k] = float(ball.mid())
        radius[k] = _float_above((ball - arb(centre[k])).abs_upper() + arb(free))
    frame = np.eye(5)
    frame[2, 3] = 1.0  # the columns: q, P, theta alone, theta and psi together, eps
    centre[2] = centre[3]
    return Patch(centre, frame, radius)


def _float_above(ball):
    value = float(ball.mid())
    while not ball <= arb(value):
        value = math.nextafter(value, math.inf) if value else 2.0**-1000
    return value


# --- the neighbourhood of the selected states ----------------------------------------------------


def loss(balls):
    """A ball that contains the values of the loss E on a box (q, P, theta, psi, ...).

    With h = 1/2 - g, E = (q + P - 1)^2/4 + q h(theta) + P [h(psi) - q h(alpha)].  From h' = omega
    and 0 <= omega(a) <= a/2 for a >= 0 follow 0 <= h(theta) <= theta^2/4 and, where alpha and psi
    are not negative, h(psi) - h(alpha) = theta omega(a) for some a between them.
    """
    q, P, theta, psi, *_ = balls
    alpha = psi - theta
    turned = arb(0).union((theta * theta).abs_upper() / 4)
    between = kernel(abs(psi.union(alpha)))[1]
    h_alpha = arb(1) / 2 - kernel(abs(alpha))[0]
    return (q + P - 1) ** 2 / 4 + q * turned + P * ((1 - q) * h_alpha + theta * between)


def curvature(balls):
    """Hessian of E by (q, P, theta) on a box (q, P, theta, psi) with 0 < psi - theta < pi."""
    q, P, theta, psi = balls
    (omega, omega_1), g = omega_derivatives(psi - theta, 1), g_derivatives(psi - theta, 0)[0]
    size, torque_1 = omega_derivatives(abs(theta), 1)  # omega' is even, omega odd
    torque = size if theta >= 0 else -size if theta <= 0 else arb(0).union(size).union(-size)
    half, turn = arb(1) / 2, P * omega + torque
    return [[half, g, turn], [g, half, q * omega], [turn, q * omega, q * (torque_1 - P * omega_1)]]


def exceeds(matrix, diagonal):
    """Whether matrix - diag(diagonal) is certainly positive definite, by its leading minors."""
    (a, b, c), (_, d, e), (_, _, f) = matrix
    a, d, f = (x - y for x, y in zip((a, d, f), diagonal, strict=True))
    return a > 0 and a * d - b * b > 0 and (
        a * (d * f - e * e) - b * (b * f - c * e) + c * (b * e - c * d) > 0
    )


@dataclass(frozen=True)
class Basin:
    """Constants of :func:`basin`; ``psi`` holds every later redundant direction."""

    psi: tuple
    radius: float
    coercive: float
    rate: float
    loss: arb
    drift: arb
    boxes: int


@enclose.arithmetic()
def basin(m, patch, radius=None, coercive=None, rate=None, depth=24):
    """Proof that the flow (1) from the patch tends to (1, 0, 0, psi_infinity, eps), as a Basin.

    Said of the states of the patch with eps >= 0, the only ones that a gauge has.

    Let R be the ball (q - 1)^2 + P^2 + theta^2 <= radius^2 times an interval of psi, and H the
    Hessian of E by (q, P, theta).  Certified by bisection of R:

        H >= coercive I,   H >= rate diag(1, 1/M, (1 + radius)^2),   psi - theta in (0, pi),

    and on the patch: |xi| < radius, E <= E0 < coercive radius^2/2, and psi more than ``drift`` away
    from the ends of the interval, where

        drift = E0 eps sqrt(2/coercive)/(2 M rate).

    Then: E = 0 and dE = 0 at (1, 0, 0), so E >= coercive |xi|^2/2 with xi = (q - 1, P, theta), and
    by strong convexity 2 rate E <= E_q^2 + M E_P^2 + E_theta^2/(1 + radius)^2 <= -E'.  |psi'| =
    2 eps |E_psi|/(M (nu + 1)) <= (eps/M) |P| sqrt(E), so that psi moves by at most ``drift`` before
    the state leaves R, which it therefore never does.  Hence E <= E0 e^(-2 rate tau), xi -> 0, and
    psi converges.
    """
    M, box = whole("m", m, 2) - 1, patch.balls()
    if len(box) != 5:
        raise ValueError(f"patch must be of (q, P, theta, psi, eps), got {len(box)} coordinates")
    if not box[4].upper() >= 0:
        raise NotProved("eps is negative")
    psi, eps = box[3], box[4].abs_upper()
    least = _least_eigenvalue(float(psi.mid()))
    radius = min(1.25 * least, 0.15) if radius is None else scalar_in("radius", radius, 0, 0.5)
    coercive = least / 2 if coercive is None else scalar_in("coercive", coercive, 0, 0.5)
    away = [x.abs_upper() for x in (box[0] - 1, box[1], box[2])]
    if not sum((x * x for x in away), arb(0)) < arb(radius) ** 2:
        raise NotProved("the patch is not in the ball")
    E0 = loss(box).abs_upper()
    if not E0 < arb(coercive) * arb(radius) ** 2 / 2:
        raise NotProved(f"the loss {float(E0):.3g} is not below {coercive * radius**2 / 2:.3g}")
    least_rate = 0.5 * _least_eigenvalue(float(psi.mid()), M)
    rate = least_rate if rate is None else scalar_in("rate", rate, 0, math.inf)
    drift = E0 * eps * (2 / arb(coercive)).sqrt() / (2 * M * arb(rate))
    ends = float((psi - drift).lower()) - 2.0**-40, float((psi + drift).upper()) + 2.0**-40
    if not (arb(ends[0]) < psi - drift and psi + drift < arb(ends[1])):
        raise NotProved("psi may leave its interval")

    forms = [arb(coercive)] * 3, [arb(rate), arb(rate) / M, arb(rate) * (1 + arb(radius)) ** 2]
    side = math.ldexp(1, math.frexp(radius)[1])  # above the radius, and 1 +- side exact
    root = Box(((1 - side, 1 + side), (-side, side), (-side, side), ends))

    def outside(box):
        q, P, theta, _ = box.balls()
        nearest = [abs(x).abs_lower() for x in (q - 1, P, theta)]
        return sum((x * x for x in nearest), arb(0)) > arb(radius) ** 2

    def convex(box):
        q, P, theta, psi = box.balls()
        H, alpha = curvature((q, P, theta, psi)), psi - theta
        return alpha > 0 and alpha < arb.pi() and all(exceeds(H, form) for form in forms)

    boxes = len(cover(root, outside, {"H > forms": convex}, depth))
    return Basin(ends, radius, coercive, rate, E0, drift, boxes)


def _least_eigenvalue(psi, M=1):
    """Of diag(1, M, 1) G_psi, in floats: only used to choose constants."""
    g, omega = (float(ball) for ball in kernel(arb(psi)))
    root = np.diag([1, math.sqrt(M), 1])
    gram = [[0.5, g, 0], [g, 0.5, omega], [0, omega, 0.5]]  # order q, P, theta
    return float(np.linalg.eigvalsh(root @ gram @ root)[0])


# --- the whole way -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Proof:
    """Patches X_0, ..., X_n, steps h with X_k mapped into X_{k+1}, and a Basin that holds X_n."""

    m: int
    patches: tuple
    h: tuple
    basin: Basin

    @property
    def tau(self):
        """Fast times (n + 1,) of the patches, rounded."""
        return np.concatenate([[0], np.cumsum(self.h)])


def prove(m, patch, order=enclose.ORDER, reach=REACH, steps=STEPS, each=None):
    """The :class:`Proof` that all starts in ``patch`` are selected; raises NotProved.

    ``each``: called with every new patch and the step h to it.
    """
    patches, times = [patch], []
    while len(times) < steps:
        found = _basin_or_none(m, patches[-1])
        if found is not None:
            return Proof(m, tuple(patches), tuple(times), found)
        times.append(_step_size(m, patches[-1], reach))
        patches.append(step(m, patches[-1], times[-1], order))
        if each is not None:
            each(patches[-1], times[-1])
    raise NotProved(f"no basin after {steps} steps, tau = {sum(times):.4g}")


def _basin_or_none(m, patch):
    try:
        return basin(m, patch)
    except NotProved:
        return None


@enclose.arithmetic()
def _step_size(m, patch, reach):
    """``reach`` over the largest row sum of |f'|, to 12 bits; less where a rough enclosure would
    reach over a kink: one step only takes the whole patch across theta = 0, and the first ones are
    short if psi falls so fast that boxes of theta and psi overlap."""
    rates, _ = _terms(m, patch)
    (_, _, speed, turn, _), norm = enclose.rates_and_norm(rates, patch.centre)
    h, (_, _, theta, psi, _) = reach / norm, patch.centre
    margin = 1.2 * float(patch.balls()[2].rad()) + 1e-6
    if theta > 0 and speed < 0:
        before, across = 0.7 * (theta - margin) / -speed, (theta + margin) / -speed
        h = min(h, before if theta > 3 * margin else across)
    if turn * h < -1e-3:
        h = min(h, max(0.7 * (psi - theta), 10 * margin) / -turn)
    mantissa, exponent = math.frexp(h)
    return math.ldexp(math.ceil(mantissa * 4096) / 4096, exponent)
