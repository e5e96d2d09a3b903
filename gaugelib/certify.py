"""What is proved, not sampled: inequalities between arc-cosine kernels by interval arithmetic.

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

from dataclasses import dataclass
from fractions import Fraction
from math import comb

from flint import arb

HALF = Fraction(1, 2)
DEPTH = 40


class NotProved(RuntimeError):
    """Some box was still undecided after the allowed bisections; the message says which."""


@dataclass(frozen=True)
class Box:
    """[left, right] x [bottom, top]; the ends are dyadic floats, so bisection is exact."""

    left: float
    right: float
    bottom: float
    top: float

    def ball(self):
        """Enclosures of the two coordinates."""
        return interval(self.left, self.right), interval(self.bottom, self.top)

    def halves(self):
        """The two halves across the longer side."""
        if self.right - self.left >= self.top - self.bottom:
            middle = (self.left + self.right) / 2
            return Box(self.left, middle, self.bottom, self.top), Box(
                middle, self.right, self.bottom, self.top
            )
        middle = (self.bottom + self.top) / 2
        return Box(self.left, self.right, self.bottom, middle), Box(
            self.left, self.right, middle, self.top
        )


@dataclass(frozen=True)
class Certificate:
    """A proved statement and the accepted boxes by the rule that accepted them."""

    statement: str
    accepted: dict

    @property
    def boxes(self):
        """Number of boxes in the cover."""
        return sum(self.accepted.values())


def interval(low, high):
    """A ball that contains [low, high]."""
    return arb((low + high) / 2, (high - low) / 2)


def cover(root, outside, rules, depth=DEPTH):
    """Accepted boxes by rule; raises NotProved if a box stays undecided after ``depth`` bisections.

    ``outside(box)`` must be true only if the box certainly misses the domain; ``rules`` maps
    names to tests that are true only if the statement certainly holds on the box within the
    domain.  Then every point of the domain in ``root`` lies in an accepted box.
    """
    accepted = dict.fromkeys(rules, 0)
    todo = [(root, 0)]
    while todo:
        box, level = todo.pop()
        if outside(box):
            continue
        rule = next((name for name, accepts in rules.items() if accepts(box)), None)
        if rule is not None:
            accepted[rule] += 1
        elif level < depth:
            todo += [(half, level + 1) for half in box.halves()]
        else:
            raise NotProved(f"undecided after {depth} bisections: {box}")
    return accepted


# --- derivatives of g and omega -----------------------------------------------------------------


def omega_derivatives(a, order):
    """[omega, omega', ..., omega^(order)](a): ((pi - a) sin^(k) a - k sin^(k-1) a)/(2 pi)."""
    sine = (a.sin(), a.cos(), -a.sin(), -a.cos())
    return [
        ((arb.pi() - a) * sine[k % 4] - k * sine[(k - 1) % 4]) / (2 * arb.pi())
        for k in range(order + 1)
    ]


def g_derivatives(a, order):
    """[g, g', ..., g^(order)](a), with g' = -omega."""
    g = (a.sin() + (arb.pi() - a) * a.cos()) / (2 * arb.pi())
    return [g] + [-value for value in omega_derivatives(a, order)[:order]]


def product(f, h):
    """Derivatives of f h from those of f and h, up to the shorter list (Leibniz)."""
    return [
        sum((comb(n, k) * f[k] * h[n - k] for k in range(n + 1)), arb(0))
        for n in range(min(len(f), len(h)))
    ]


def partial(f, h, i, j):
    """d^i/dx^i d^j/dphi^j of f(x) h(phi + x), from the derivatives of f at x and h at phi + x."""
    return sum((comb(i, k) * f[k] * h[i - k + j] for k in range(i + 1)), arb(0))


# --- the functions whose signs are certified ----------------------------------------------------


def first(x, y, i=0, j=0, half=HALF):
    """d^i/dx^i d^j/dy^j of F1(x, y) = half g(x + y) - g(x) g(y) + omega(x) omega(y).

    F1 >= 0 with half = 1/2 and y = phi - x is the first inequality of (B.3).
    """
    gx, gy = g_derivatives(x, i), g_derivatives(y, j)
    ox, oy = omega_derivatives(x, i), omega_derivatives(y, j)
    joint = g_derivatives(x + y, i + j)[i + j]
    return _ball(half) * joint - gx[i] * gy[j] + ox[i] * oy[j]


def second(phi, x, i=0, j=0, half=HALF):
    """d^i/dx^i d^j/dphi^j of F2 = half g(phi) - g(x) g(phi + x) - omega(x) omega(phi + x).

    F2 >= 0 with half = 1/2 is the second inequality of (B.3).
    """
    n = i + j
    value = _ball(half) * g_derivatives(phi, j)[j] if i == 0 else arb(0)
    value -= partial(g_derivatives(x, i), g_derivatives(phi + x, n), i, j)
    return value - partial(omega_derivatives(x, i), omega_derivatives(phi + x, n), i, j)


def stationary(phi, x, i=0, j=0):
    """d^i/dx^i d^j/dphi^j of the function whose zeros are stationary states at theta = -x.

    H(phi, x) = omega(y) g(phi)/2 - g(x) g(y) omega(y) - omega(x) (1/4 - g(y)^2), y = phi + x.
    Where q' = P' = theta' = 0 with theta = -x, eliminating q = 2 (g(x) - P g(y)) and
    P omega(y) = omega(x) leaves H = 0.
    """
    n = i + j
    gy, oy = g_derivatives(phi + x, n), omega_derivatives(phi + x, n)
    squares = [-value for value in product(gy, gy)]
    squares[0] += arb(1) / 4
    gphi = g_derivatives(phi, j)
    value = sum((comb(j, k) * gphi[k] * oy[n - k] for k in range(j + 1)), arb(0)) / 2
    value -= partial(g_derivatives(x, i), product(gy, oy), i, j)
    return value - partial(omega_derivatives(x, i), squares, i, j)


def _ball(fraction):
    fraction = Fraction(fraction)
    return arb(fraction.numerator) / fraction.denominator


# --- the certificates ---------------------------------------------------------------------------


def kernel_first(phi_max=None, half=HALF, depth=DEPTH):
    """Proof of g(x) g(phi - x) - omega(x) omega(phi - x) <= half g(phi), 0 <= x <= phi <= phi_max.

    In x and y = phi - x the claim is F1 >= 0 on the triangle x, y >= 0, x + y <= phi_max
    (pi/3 unless given).  Rule "d4 > 0", for half = 1/2 only:

        F1(x, 0) = (half - g(0)) g(x) + omega(0) omega(x) = 0,
        dF1/dy(x, 0) = (omega'(0) - half) omega(x) + omega(0) g(x) = 0,

    and the same with x and y exchanged, hence

        F1(x, y) = integral over [0, x] x [0, y] of (x - s)(y - t) d^4F1/dx^2dy^2 (s, t).

    The rectangle lies in the triangle, so d^4F1/dx^2dy^2 > 0 on a cover of the whole triangle
    proves F1 >= 0, with equality only for x = 0 or y = 0.  For another half the zeros are gone
    and only the rule "F1 > 0" remains.
    """
    phi_max = arb.pi() / 3 if phi_max is None else arb(phi_max)
    if Fraction(half) == HALF:
        rules = {"d4 > 0": lambda box: first(*box.ball(), 2, 2) > 0}
    else:
        rules = {"F1 > 0": lambda box: first(*box.ball(), half=half) > 0}
    accepted = cover(
        Box(0, 4, 0, 4), lambda box: arb(box.left) + box.bottom > phi_max, rules, depth
    )
    return Certificate("g(x) g(φ−x) − ω(x) ω(φ−x) ≤ g(φ)/2", accepted)


def kernel_second(phi_max=None, half=HALF, depth=DEPTH):
    """Proof of g(x) g(phi + x) + omega(x) omega(phi + x) <= half g(phi), 0 <= x <= pi - phi.

    phi in [0, phi_max] (pi/3 unless given).  A box of (phi, x) is accepted by

    * "F2 > 0" on the box;
    * "d2 > 0", half = 1/2: d^2F2/dx^2 > 0 for x from 0 to the top of the box.  As
      F2(phi, 0) = (half - g(0)) g(phi) - omega(0) omega(phi) = 0 and
      dF2/dx(phi, 0) = (g(0) - omega'(0)) omega(phi) + omega(0) (g - omega')(phi) = 0,
      F2 >= 0 follows, with equality only at x = 0;
    * "corner", half = 1/2: the box contains phi = 0 and x = 0, and d^3F2/dx^3 > 0 and
      d^3F2/dx^2dphi > 0 on it.  As d^2F2/dx^2 (0, 0) = 2 omega'(0)^2 half... = 0, integrating
      along the segment from (0, 0) gives d^2F2/dx^2 > 0 away from it, and F2 >= 0 as before.
    """
    phi_max = arb.pi() / 3 if phi_max is None else arb(phi_max)

    def curved(box):
        return second(interval(box.left, box.right), interval(0, box.top), 2, 0) > 0

    def corner(box):
        at_corner = box.left == 0 and box.bottom == 0
        return at_corner and second(*box.ball(), 3, 0) > 0 and second(*box.ball(), 2, 1) > 0

    rules = {"F2 > 0": lambda box: second(*box.ball(), half=half) > 0}
    if Fraction(half) == HALF:
        rules |= {"d2 > 0": curved, "corner": corner}
    accepted = cover(Box(0, 4, 0, 4), lambda box: _beyond(box, phi_max, arb.pi()), rules, depth)
    return Certificate("g(x) g(φ+x) + ω(x) ω(φ+x) ≤ g(φ)/2", accepted)


def no_other_stationary_state(phi_max=None, depth=DEPTH):
    """Proof that (1, 0, 0) is the only stationary state of (B.13) in C_phi, 0 < phi <= phi_max.

    theta > 0 is impossible, since P omega(phi - theta) + omega(theta) > 0; theta = 0 gives
    P = 0, q = 1.  For theta = -x < 0, P = omega(x)/omega(phi + x).  If x >= pi/2, omega decreases
    from x on and P > 1 is outside C_phi.  What remains is :func:`stationary` H < 0 for
    0 < phi <= phi_max (pi/3 unless given), 0 < x <= pi/2, phi + x <= pi.  A box is accepted by

    * "H < 0" on the box;
    * "dx < 0": dH/dx < 0 for x from 0 to the top, because H(phi, 0) = 0;
    * "dphi < 0": dH/dphi < 0 for phi from 0 to the right end, because H(0, x) = 0;
    * "corner": the box contains (0, 0) and d^4H/dphi^3dx, d^4H/dphi^2dx^2, d^4H/dphi dx^3 < 0 on
      it.  At (0, 0) d^2H/dphi dx vanishes with its gradient, so it is negative on the rest of the
      box, and H = integral of d^2H/dphi dx over [0, phi] x [0, x].
    """
    phi_max = arb.pi() / 3 if phi_max is None else arb(phi_max)

    def from_axis(box):
        return stationary(interval(box.left, box.right), interval(0, box.top), 1, 0) < 0

    def from_zero(box):
        return stationary(interval(0, box.right), interval(box.bottom, box.top), 0, 1) < 0

    def corner(box):
        orders = ((1, 3), (2, 2), (3, 1))
        at_corner = box.left == 0 and box.bottom == 0
        return at_corner and all(stationary(*box.ball(), i, j) < 0 for i, j in orders)

    rules = {
        "H < 0": lambda box: stationary(*box.ball()) < 0,
        "dx < 0": from_axis,
        "dphi < 0": from_zero,
        "corner": corner,
    }
    accepted = cover(Box(0, 4, 0, 2), lambda box: _beyond(box, phi_max, arb.pi() / 2), rules, depth)
    return Certificate("(1, 0, 0) is the only stationary state in C(φ)", accepted)


def _beyond(box, phi_max, x_max):
    """Whether a box of (phi, x) certainly misses phi <= phi_max, x <= x_max, phi + x <= pi."""
    phi, x = arb(box.left), arb(box.bottom)
    return phi > phi_max or x > x_max or phi + x > arb.pi()
