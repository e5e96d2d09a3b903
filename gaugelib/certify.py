"""What is proved, not sampled: by interval arithmetic.

Two parts: inequalities between arc-cosine kernels, of which the following speaks, and
:func:`exact_limit`, which proves that a guess is next to the limit of training with weight decay.

A *ball* (python-flint's ``arb``) encloses a real number, and every operation rounds outwards: if
the ball of F over a box is positive, F is positive at every point of the box.  :func:`cover`
bisects a domain into boxes until each is accepted by such a test, so what it returns is a proof
as long as the rules mean what their docstrings say and the arithmetic encloses.

Near the zeros of F no ball is positive.  There the sign of a *derivative* is certified, and F is
recovered by integration from a line on which F vanishes identically.  The identities used are
consequences of g' = -omega and the exact values at 0

    g(0) = 1/2,   omega(0) = 0,   omega'(0) = 1/2.

Angles are in [0, pi]; there g and omega are the entire functions

    g(a) = (sin a + (pi - a) cos a)/(2 pi),   omega(a) = (pi - a) sin(a)/(2 pi),

so a box that sticks out of the domain only makes the test harder to pass.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb, arb_mat, ctx

from gaugelib.checks import finite, scalar_in, whole

HALF = Fraction(1, 2)
DEPTH = 40
BITS = 128  # of the balls of exact_limit
NEAR = 2.0**-30  # a guessed direction this close to a boundary of an input is taken to be on it


class NotProved(RuntimeError):
    """Some box was still undecided after the allowed bisections; the message says which."""


@dataclass(frozen=True)
class Box:
    """A product of intervals ``sides`` ((low, high), ...); dyadic ends are bisected exactly."""

    sides: tuple

    def balls(self):
        """Enclosures of the coordinates."""
        return tuple(interval(low, high) for low, high in self.sides)

    def halves(self):
        """The two halves across the longest side."""
        lengths = [high - low for low, high in self.sides]
        k = lengths.index(max(lengths))
        low, high = self.sides[k]
        middle = (low + high) / 2
        return tuple(
            Box(self.sides[:k] + (side,) + self.sides[k + 1 :])
            for side in ((low, middle), (middle, high))
        )

    @property
    def at_origin(self):
        """Whether every coordinate starts at 0."""
        return all(low == 0 for low, _ in self.sides)


@dataclass(frozen=True)
class Certificate:
    """A proved statement and the accepted boxes, as (rule, Box) pairs."""

    statement: str
    accepted: tuple

    @property
    def boxes(self):
        """Number of boxes in the cover."""
        return len(self.accepted)

    @property
    def by_rule(self):
        """Number of boxes by the rule that accepted them, most used first."""
        rules = [rule for rule, _ in self.accepted]
        return {rule: rules.count(rule) for rule in sorted(set(rules), key=rules.count)[::-1]}


def interval(low, high):
    """A ball that contains [low, high]."""
    return arb(low).union(arb(high))


def cover(root, outside, rules, depth=DEPTH):
    """Accepted (rule, Box) pairs; raises NotProved for a box undecided after ``depth`` bisections.

    ``outside(box)`` must be true only if the box certainly misses the domain; ``rules`` maps
    names to tests that are true only if the statement certainly holds on the box within the
    domain.  Then every point of the domain in ``root`` lies in an accepted box.
    """
    accepted, todo, depth = [], [(root, 0)], whole("depth", depth, 0)
    while todo:
        box, level = todo.pop()
        if outside(box):
            continue
        rule = next((name for name, accepts in rules.items() if accepts(box)), None)
        if rule is not None:
            accepted.append((rule, box))
        elif level < depth:
            todo += [(half, level + 1) for half in box.halves()]
        else:
            raise NotProved(f"undecided after {depth} bisections: {box.sides}")
    return tuple(accepted)


def mean_value(f, balls, orders):
    """d^orders f over a box by the mean value theorem: f(c) + sum_k d_k f(box) (x_k - c_k).

    c is the centre.  The width of the result shrinks with the square of the box, that of
    ``f(balls, orders)`` only linearly.
    """
    value = f(tuple(ball.mid() for ball in balls), orders)
    for k, ball in enumerate(balls):
        higher = orders[:k] + (orders[k] + 1,) + orders[k + 1 :]
        value += f(balls, higher) * (ball - ball.mid())
    return value


def positive(f, balls, orders):
    """Whether d^orders f is certainly positive over the box, by either enclosure."""
    return f(balls, orders) > 0 or mean_value(f, balls, orders) > 0


# --- derivatives of g and omega -----------------------------------------------------------------


def sine_derivatives(a, order):
    """[sin, sin', ..., sin^(order)](a)."""
    sine = (a.sin(), a.cos(), -a.sin(), -a.cos())
    return [sine[k % 4] for k in range(order + 1)]


def omega_derivatives(a, order):
    """[omega, omega', ..., omega^(order)](a): ((pi - a) sin^(k) a - k sin^(k-1) a)/(2 pi)."""
    sine = sine_derivatives(a, order + 3)
    return [((arb.pi() - a) * sine[k] - k * sine[k + 3]) / (2 * arb.pi()) for k in range(order + 1)]


def g_derivatives(a, order):
    """[g, g', ..., g^(order)](a), with g' = -omega."""
    g = (a.sin() + (arb.pi() - a) * a.cos()) / (2 * arb.pi())
    return [g] + [-value for value in omega_derivatives(a, order)[:order]]


def product(f, h):
    """Derivatives of f h from those of f and h, up to the shorter list (Leibniz)."""
    return [
        sum((math.comb(n, k) * f[k] * h[n - k] for k in range(n + 1)), arb(0))
        for n in range(min(len(f), len(h)))
    ]


# --- the functions whose signs are certified ----------------------------------------------------


def first(balls, orders=(0, 0), half=HALF):
    """d^i/dx^i d^j/dy^j of F1(x, y) = half g(x + y) - g(x) g(y) + omega(x) omega(y).

    F1 >= 0 with half = 1/2 and y = phi - x is the first inequality of (B.3).
    """
    (x, y), (i, j) = balls, orders
    gx, gy, joint = g_derivatives(x, i)[i], g_derivatives(y, j)[j], g_derivatives(x + y, i + j)[-1]
    return _ball(half) * joint - gx * gy + omega_derivatives(x, i)[i] * omega_derivatives(y, j)[j]


def second(balls, orders=(0, 0), half=HALF):
    """d^i/dphi^i d^j/dx^j of F2 = half g(phi) - g(x) g(phi + x) - omega(x) omega(phi + x).

    F2 >= 0 with half = 1/2 is the second inequality of (B.3).
    """
    (phi, x), (i, j) = balls, orders
    value = _ball(half) * g_derivatives(phi, i)[i] if j == 0 else arb(0)
    for derivatives in (g_derivatives, omega_derivatives):
        at_x, at_sum = derivatives(x, j), derivatives(phi + x, i + j)
        value -= product(at_x, at_sum[i:])[j]
    return value


def stationary(balls, orders=(0,)):
    """d^n/dx^n of N(x) = pi sin^3 x - J(x) (cos x + sin(x)/4), J = x (pi - x) + sin^2 x
    - pi sin x cos x; see :func:`no_other_stationary_state`.
    """
    (x,), (n,) = balls, orders
    sine = sine_derivatives(x, n + 1)
    sin, cos = sine[:-1], sine[1:]
    parabola = [x * (arb.pi() - x), arb.pi() - 2 * x, arb(-2)] + [arb(0)] * n
    square, mixed = product(sin, sin), product(sin, cos)
    J = [p + s - arb.pi() * m for p, s, m in zip(parabola, square, mixed, strict=False)]
    torque = [c + s / 4 for c, s in zip(cos, sin, strict=True)]
    return arb.pi() * product(sin, square)[n] - product(J, torque)[n]


def _ball(fraction):
    fraction = Fraction(fraction)
    return arb(fraction.numerator) / fraction.denominator


# --- the certificates ---------------------------------------------------------------------------


def kernel_first(phi_max=None, half=HALF, depth=DEPTH):
    """Proof of g(x) g(phi - x) - omega(x) omega(phi - x) <= half g(phi), 0 <= x <= phi <= phi_max.

    In x and y = phi - x the claim is F1 >= 0 on the triangle x, y >= 0, x + y <= phi_max
    (pi/3 unless given), of which y <= x is enough by symmetry.  A box of (x, y) is accepted by

    * "F1 > 0" on the box;
    * "dy2 > 0", half = 1/2: d^2F1/dy^2 > 0 for y from 0 to the top of the box, because

        F1(x, 0) = (half - g(0)) g(x) + omega(0) omega(x) = 0,
        dF1/dy(x, 0) = (omega'(0) - half) omega(x) + omega(0) g(x) = 0;

    * "dx2dy2 > 0", half = 1/2: d^4F1/dx^2dy^2 > 0 on the rectangle from (0, 0) to the upper right
      corner of the box, because these identities and
      the same with x and y exchanged give

        F1(x, y) = integral over [0, x] x [0, y] of (x - s)(y - t) d^4F1/dx^2dy^2 (s, t).

    With half = 1/2 equality holds for x = 0 or y = 0 only.
    """
    phi_max = _largest_angle(phi_max)

    def above(box):
        return positive(lambda b, n: first(b, n, half), box.balls(), (0, 0))

    def from_x_axis(box):
        (x, _), (_, (_, top)) = box.balls(), box.sides
        return positive(first, (x, interval(0, top)), (0, 2))

    def from_origin(box):
        rectangle = tuple(interval(0, high) for _, high in box.sides)
        return positive(first, rectangle, (2, 2))

    rules = {"F1 > 0": above}
    if Fraction(half) == HALF:
        rules = {"dx2dy2 > 0": from_origin, "dy2 > 0": from_x_axis} | rules

    def outside(box):
        (_, right), (bottom, _) = box.sides
        return bottom > right or _corner_sum(box) > phi_max

    accepted = cover(_square(), outside, rules, depth)
    return Certificate("g(x) g(φ−x) − ω(x) ω(φ−x) ≤ g(φ)/2", accepted)


def kernel_second(phi_max=None, half=HALF, depth=DEPTH):
    """Proof of g(x) g(phi + x) + omega(x) omega(phi + x) <= half g(phi), 0 <= x <= pi - phi.

    phi in [0, phi_max] (pi/3 unless given).  A box of (phi, x) is accepted by

    * "F2 > 0" on the box;
    * "dx2 > 0", half = 1/2: d^2F2/dx^2 > 0 for x from 0 to the top of the box, because

        F2(phi, 0) = (half - g(0)) g(phi) - omega(0) omega(phi) = 0,
        dF2/dx(phi, 0) = (g(0) - omega'(0)) omega(phi) + omega(0) (g - omega')(phi) = 0;

    * "corner", half = 1/2: the box contains phi = x = 0, and d^3F2/dx^3 > 0 and d^3F2/dphidx^2 > 0
      on it.  With g'' = -omega', omega''(0) = -1/pi and (g - omega')(phi) = sin(phi)/pi,

        d^2F2/dx^2(phi, 0) = (g - omega')(phi)/2 + omega(phi)/pi = (2 pi - phi) sin(phi)/(2 pi^2),

      which is 0 at phi = 0.  Along the segment from (0, 0) to (phi, x) the derivative of
      d^2F2/dx^2 is phi d^3F2/dphidx^2 + x d^3F2/dx^3 > 0, so d^2F2/dx^2 > 0 on the box except
      at (0, 0), and F2 >= 0 follows as before.

    With half = 1/2 and phi > 0 equality holds for x = 0 only.
    """
    phi_max = _largest_angle(phi_max)

    def above(box):
        return positive(lambda b, n: second(b, n, half), box.balls(), (0, 0))

    def from_axis(box):
        (phi, _), (_, (_, top)) = box.balls(), box.sides
        return positive(second, (phi, interval(0, top)), (0, 2))

    def corner(box):
        third = ((0, 3), (1, 2))
        return box.at_origin and all(positive(second, box.balls(), n) for n in third)

    rules = {"F2 > 0": above}
    if Fraction(half) == HALF:
        rules = {"corner": corner, "dx2 > 0": from_axis} | rules

    def outside(box):
        return arb(box.sides[0][0]) > phi_max or _corner_sum(box) > arb.pi()

    accepted = cover(_square(), outside, rules, depth)
    return Certificate("g(x) g(φ+x) + ω(x) ω(φ+x) ≤ g(φ)/2", accepted)


def no_other_stationary_state(depth=DEPTH):
    """Proof that (1, 0, 0) is the only stationary state of (B.13) with q > 0, 0 <= P <= 1 and
    phi - pi <= theta <= phi, for every 0 < phi < pi.

    At theta > 0, P omega(phi - theta) + omega(theta) > 0; theta = 0 gives P = 0, q = 1.  So let
    theta = -x < 0 and y = phi + x in (x, pi].  Eliminating q from q' = P' = theta' = 0 leaves

        P omega(y) = omega(x)   and   P (1/4 - g(y)^2 - omega(y)^2) = F2(y - x, x),

    that is R(x) = R(y) for R(s) = F2(y - s, s)/omega(s), because 1/4 - g^2 - omega^2 is F2(0, y).
    Now R increases on (0, y).  Its derivative has the sign of

        pi (2 pi - y) sin y sin^2 s - J(s) c(y),   c(y) = (2 pi - y) cos y + sin y,

    where J > 0.  For y >= 2, c(y) < 0.  For s <= y <= 2, cot y <= cot s and 2 pi - y > 4, so the
    sign is positive if pi sin^3 s > J(s) (cos s + sin(s)/4), which is N(s) > 0.  Hence the claim
    is N > 0 on (0, 2].  A box is accepted by

    * "N > 0" on the box;
    * "corner": the box contains 0 and N''' > 0 on it, because N(0) = N'(0) = N''(0) = 0.
    """

    def corner(box):
        return box.at_origin and positive(stationary, box.balls(), (3,))

    def above(box):
        return positive(stationary, box.balls(), (0,))

    rules = {"corner": corner, "N > 0": above}
    accepted = cover(Box(((0.0, 2.0),)), lambda box: False, rules, depth)
    return Certificate("(1, 0, 0) is the only stationary state, 0 < φ < π", accepted)


def _largest_angle(phi_max):
    """phi_max as a ball, pi/3 unless given; raises if it is not in (0, pi]."""
    if phi_max is None:
        return arb.pi() / 3
    return arb(scalar_in("phi_max", phi_max, 0, math.pi, closed_high=True))


def _square():
    """A dyadic square that contains [0, pi]^2."""
    return Box(((0.0, 4.0), (0.0, 4.0)))


def _corner_sum(box):
    """The least sum of the coordinates over a box of two."""
    return arb(box.sides[0][0]) + box.sides[1][0]


# --- the exact limit under weight decay ----------------------------------------------------------


@dataclass(frozen=True)
class ExactLimit:
    """Balls around the only minimiser of :func:`exact_limit`.

    theta, c : angles and signed amplitudes of its atoms; e : residual, one ball an input
    value : the minimum
    rules : for each cell of the circle the rule that accepted it
    """

    theta: tuple
    c: tuple
    e: tuple
    value: arb
    rules: tuple


def exact_limit(x, y, lam, theta, c, radius=2.0**-40):
    """Proof that (1/n)|e|^2 + lam sum_j |c_j|, e = sum_j c_j phi_theta_j(x) - y, has one minimiser
    over all numbers of atoms, within ``radius`` of a guess; an :class:`ExactLimit`.

    phi_theta(x) = ReLU(x cos theta + sin theta).  In the notation of :mod:`gaugelib.condensation`,

    1. *Existence.*  The equations q = -sign(c) lam/2 at all atoms and p = 0 at those that are not
       on a boundary, where some x_i cos theta + sin theta = 0, have one solution z in the box Z of
       this radius around the guess m, if (Krawczyk) with any matrix Y, here about F'(m)^-1,

           m - Y F(m) + (I - Y F'(Z)) (Z - m)  is in the interior of Z,

       and all atoms keep their active inputs in Z.  Directions on a boundary do not vary.
    2. *Optimality.*  The objective is convex, so q = -sign(c) lam/2 at the atoms and |q| <= lam/2
       everywhere suffice.  q = M.(cos, sin) in a cell, which is accepted by

       * "atom" inside it: there q = -+lam/2 and p = 0, so |M| = lam/2 and |q| < lam/2 elsewhere;
       * "small": |M| < lam/2;
       * "monotone": p has one strict sign at both ends, so none of its zeros, pi apart, is inside,
         and at both ends either |q| < lam/2 or there is an atom.

    3. *Uniqueness.*  All minimisers have the same e, by strict convexity, hence the same q, and
       atoms only where |q| = lam/2: these ones.  Their phi_theta_j(x) are linearly independent,
       because 1 proves F' regular, and with p = 0 the same combination of its rows would vanish.

    Parameters
    ----------
    x, y : (n,) all x different; lam > 0; numbers that are taken exactly, Fractions for 1/3
    theta, c : (k,) the guess; directions within 2^-30 of a boundary are taken to be on it

    Raises NotProved if a step fails.
    """
    x, y, lam = [Fraction(v) for v in x], [Fraction(v) for v in y], Fraction(lam)
    theta, c, radius = finite("theta", theta), finite("c", c), scalar_in("radius", radius, 0, 1)
    if not x or len(y) != len(x) or len(set(x)) < len(x):
        raise ValueError(f"x must be different numbers, as many as y, got {x} and {y}")
    if lam <= 0:
        raise ValueError(f"lam must be in (0, inf), got {lam}")
    if theta.ndim != 1 or c.shape != theta.shape or not np.all(c):
        raise ValueError(f"theta and c must be (k,), and no c be 0, got {theta!r} and {c!r}")
    with ctx.workprec(BITS):
        stationary = _Stationarity(x, y, lam, theta, np.sign(c))
        box = stationary.solved(c, theta[stationary.smooth], radius)
        return stationary.certified(*box)


class _Stationarity:
    """The equations of :func:`exact_limit` and the cells of the circle, by exact order of x."""

    def __init__(self, x, y, lam, theta, sign):
        self.x, self.y, self.half = [_ball(v) for v in x], [_ball(v) for v in y], _ball(lam) / 2
        self.lam, self.sign, self.n = _ball(lam), sign, len(x)
        order = sorted(range(self.n), key=lambda i: x[i], reverse=True)
        ends = [(i, s) for s in (1, -1) for i in order]  # where x_i becomes active, then inactive
        self.bounds = [self._direction(i, s) for i, s in ends]
        ranks = range(self.n)
        self.cells = [frozenset(order[: k + 1]) for k in ranks]
        self.cells += [frozenset(order[k + 1 :]) for k in ranks]
        self.at, self.active = [], []
        for angle in theta:
            gaps = [math.hypot(math.cos(angle) - float(u[0].mid()),
                               math.sin(angle) - float(u[1].mid())) for u in self.bounds]
            k = int(np.argmin(gaps)) if min(gaps) < NEAR else None
            self.at.append(k)
            if k is not None:
                i, s = ends[k]
                self.active.append(frozenset(j for j in ranks if s * (x[j] - x[i]) > 0))
            else:
                self.active.append(None)
        self.smooth = np.array([k is None for k in self.at], dtype=bool)

    def _direction(self, i, s):
        size = (1 + self.x[i] * self.x[i]).sqrt()
        return s / size, -s * self.x[i] / size

    def _atoms(self, theta):
        """(phi, psi), each [atom][input], and the active inputs of all atoms, for balls theta of
        those inside cells."""
        phi, psi, active, moving = [], [], [], iter(theta)
        for bound, fixed in zip(self.at, self.active, strict=True):
            if bound is None:
                sin, cos = next(moving).sin_cos()
                on = self._active(cos, sin)
            else:
                (cos, sin), on = self.bounds[bound], fixed
            none = arb(0)
            phi.append([v * cos + sin if i in on else none for i, v in enumerate(self.x)])
            psi.append([cos - v * sin if i in on else none for i, v in enumerate(self.x)])
            active.append(on)
        return phi, psi, active

    def _active(self, cos, sin):
        on = set()
        for i, v in enumerate(self.x):
            z = v * cos + sin
            if z > 0:
                on.add(i)
            elif not z < 0:
                raise NotProved(f"an atom may be on the boundary of the input {float(v):.4g}")
        return frozenset(on)

    def _mean(self, f, g):
        return sum((a * b for a, b in zip(f, g, strict=True)), arb(0)) / self.n

    def residual(self, c, phi):
        fits = zip(*phi, strict=True) if phi else [()] * self.n
        pairs = zip(fits, self.y, strict=True)
        return [sum((a * f for a, f in zip(c, fit, strict=True)), -y) for fit, y in pairs]

    def equations(self, c, theta):
        """F, n_c + n_theta balls, and its Jacobian matrix."""
        phi, psi, _ = self._atoms(theta)
        e = self.residual(c, phi)
        turning = [j for j, smooth in enumerate(self.smooth) if smooth]
        rows = phi + [psi[j] for j in turning]
        moves = phi + [[c[j] * f for f in psi[j]] for j in turning]
        F = [self._mean(e, row) for row in rows]
        jacobian = [[self._mean(row, move) for move in moves] for row in rows]
        for k, j in enumerate(turning, len(phi)):
            jacobian[j][k] += F[k]  # dq/dtheta = p, and dp/dtheta = -q
            jacobian[k][k] -= F[j]
        for j, sign in enumerate(self.sign):
            F[j] += int(sign) * self.half
        return F, jacobian

    def solved(self, c, theta, radius):
        """Balls (c, theta) with the only solution of F = 0 in the box; Krawczyk's operator."""
        middle = [arb(float(v)) for v in (*c, *theta)]
        if not middle:
            return [], []
        k, wide = len(c), [interval(-radius, radius)] * len(middle)
        F, slope = self.equations(middle[:k], middle[k:])
        box = [m + w for m, w in zip(middle, wide, strict=True)]
        slopes = arb_mat(self.equations(box[:k], box[k:])[1])
        try:
            inverse = np.linalg.inv([[float(v.mid()) for v in row] for row in slope])
        except np.linalg.LinAlgError:
            raise NotProved("the equations are singular at the guess") from None
        Y = arb_mat([[arb(float(v)) for v in row] for row in inverse])
        identity = arb_mat([[int(i == j) for j in range(len(wide))] for i in range(len(wide))])
        shift = (identity - Y * slopes) * _column(wide) - Y * _column(F)
        shift = [shift[i, 0] for i in range(len(wide))]
        if not all(abs(s) < arb(radius) for s in shift):
            raise NotProved(f"no solution is proved within {radius:.3g} of the guess")
        found = [m + s for m, s in zip(middle, shift, strict=True)]
        return found[:k], found[k:]

    def certified(self, c, theta):
        if not all(int(s) * a > 0 for s, a in zip(self.sign, c, strict=True)):
            raise NotProved("an amplitude may change its sign")
        phi, _, active = self._atoms(theta)
        e = self.residual(c, phi)
        hosts = {on for on, bound in zip(active, self.at, strict=True) if bound is None}
        rules = tuple(self._rule(k, e, hosts) for k in range(len(self.cells)))
        value = self._mean(e, e) + self.lam * sum((abs(a) for a in c), arb(0))
        return ExactLimit(tuple(self._angles(theta)), tuple(c), tuple(e), value, rules)

    def _rule(self, k, e, hosts):
        on = self.cells[k]
        if on in hosts:
            return "atom"
        weights = [a if i in on else arb(0) for i, a in enumerate(e)]
        M = self._mean(weights, self.x), self._mean(weights, [arb(1)] * self.n)
        if M[0] * M[0] + M[1] * M[1] < self.half * self.half:
            return "small"
        ends = [(b % len(self.bounds), self.bounds[b % len(self.bounds)]) for b in (k, k + 1)]
        slopes = [M[1] * u[0] - M[0] * u[1] for _, u in ends]
        free = [M[0] * u[0] + M[1] * u[1] for b, u in ends if b not in self.at]
        one_sign = all(p > 0 for p in slopes) or all(p < 0 for p in slopes)
        if one_sign and all(abs(q) < self.half for q in free):
            return "monotone"
        raise NotProved(f"|q| may exceed lam/2 in the cell of the inputs {sorted(on)}")

    def _angles(self, theta):
        moving = iter(theta)
        for bound in self.at:
            if bound is None:
                yield next(moving)
            else:
                cos, sin = self.bounds[bound]
                angle = arb.atan2(sin, cos)
                yield angle if angle > 0 else angle + 2 * arb.pi()


def _column(balls):
    return arb_mat([[ball] for ball in balls])
