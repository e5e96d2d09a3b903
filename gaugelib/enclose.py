"""Initial value problems with proof: a set of starts is mapped into a set, one step at a time.

A :class:`Patch` is a parallelepiped X = {c + A v : |v_i| <= r_i} whose centre c, frame A and
radii r are floats, that is, exact rational numbers.  Let F be locally Lipschitz, and f, a *field*,
analytic and close to it:

    y' = F(y),   |F_i - f_i| <= defect_i(B) on every box B.                                (1)

:func:`maps_into` is true only if every solution from the patch X at time 0 exists on [0, h] and is
in the patch Y at h.  The proof has four parts:

1. *Rough enclosure* (:func:`picard`).  If x + [0, h] F(B) lies in the box B for all x in X,
   solutions from X stay in B until h: Picard's iteration maps paths in B to paths in B.
2. *Taylor with remainder.*  With Phi the flow of f and y_k(x) the k-th Taylor coefficient at 0 of
   its solution from x, Phi(c) lies in sum_{k<n} y_k(c) h^k + y_n(B) h^n.
3. *Mean value.*  Phi(X) lies in Phi(c) + Phi'(X) (X - c), and Phi'(X) in sum_{k<n} y_k'(X) h^k +
   y_n'(B) J h^n, where J = I + [-(e^{Lh} - 1), e^{Lh} - 1] encloses Phi' until h and L bounds the
   row sums of |f'(B)|.
4. *Gronwall.*  Solutions of (1) and of y' = f(y) from one start are at most a = e^{Lh} h max_i
   defect_i(B) apart until h, so the i-th coordinates at most h (defect_i(B) + a L_i), with L_i the
   i-th row sum of |f'(B)|.

Everything is computed with balls (python-flint's ``arb``), which round outwards.  The coefficients
y_k come from the recursion (k + 1) y_{k+1} = [f(y_0 + ... + y_k t^k)]_k in truncated power series,
and their derivatives y_k' from the same recursion in :class:`Jet`, a series with its derivatives
by the n coordinates of the start.

A field is a function of a list of n such numbers (balls, series or jets) to a list of n; it may use
+, -, *, /, ``sqrt()`` and ``sin_cos()``.  How a patch Y was found does not matter: :func:`follow`
guesses with floats and then asks :func:`maps_into`.
"""

import math
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from flint import arb, arb_mat, arb_series, ctx

from gaugelib.certify import NotProved, interval
from gaugelib.checks import finite, scalar_in, whole

BITS = 80
ORDER = 12
MOST_TERMS = 64
SWELL = 2.0**-30  # how much a box is blown up between two attempts of picard


@contextmanager
def arithmetic(bits=BITS):
    """Balls of ``bits`` bits inside the block, and series of up to ``MOST_TERMS`` terms."""
    before = ctx.prec, ctx.cap
    ctx.prec, ctx.cap = bits, MOST_TERMS
    try:
        yield
    finally:
        ctx.prec, ctx.cap = before


@dataclass(frozen=True, eq=False)
class Patch:
    """The set {centre + frame v : |v_i| <= radius_i}; floats (n,), (n, n), (n,)."""

    centre: np.ndarray
    frame: np.ndarray
    radius: np.ndarray

    def __post_init__(self):
        centre, frame, radius = (
            finite(name, getattr(self, name)) for name in ("centre", "frame", "radius")
        )
        n = centre.size
        if centre.shape != (n,) or frame.shape != (n, n) or radius.shape != (n,):
            shapes = f"{centre.shape}, {frame.shape}, {radius.shape}"
            raise ValueError(f"centre, frame, radius must be (n,), (n, n), (n,), got {shapes}")
        if np.any(radius < 0):
            raise ValueError(f"radius must be >= 0, got {radius!r}")
        for name, value in (("centre", centre), ("frame", frame), ("radius", radius)):
            own = value.copy()
            own.flags.writeable = False
            object.__setattr__(self, name, own)

    @classmethod
    def box(cls, centre, radius):
        """The box centre +- radius."""
        centre = finite("centre", centre)
        return cls(centre, np.eye(centre.size), np.broadcast_to(radius, centre.shape))

    def balls(self):
        """A box of n balls that contains the patch."""
        return _plus(_exact(self.centre), _times(_exact(self.frame), _symmetric(self.radius)))

    def contains(self, balls):
        """Whether it certainly contains the box ``balls``."""
        return self._holds(_minus(balls, _exact(self.centre)), [], [])

    def _holds(self, shift, matrix, radius):
        """Whether shift + matrix v, |v_i| <= radius_i, certainly lies in the patch less its
        centre: in the coordinates of its frame, (frame^-1 shift)_i + (frame^-1 matrix v)_i."""
        ends = _times(inverse := _inverse(self.frame), shift)
        if matrix:
            ends = _plus(ends, _times(_product(inverse, matrix), _symmetric(radius)))
        return all(abs(end) <= arb(float(r)) for end, r in zip(ends, self.radius, strict=True))


# --- vectors and matrices of balls ---------------------------------------------------------------


def _exact(array):
    return [_exact(row) for row in array] if np.ndim(array) else arb(float(array))


def _symmetric(radius):
    """[-r, r] for floats r."""
    return [interval(-float(r), float(r)) for r in radius]


def _plus(x, y):
    return [a + b for a, b in zip(x, y, strict=True)]


def _minus(x, y):
    return [a - b for a, b in zip(x, y, strict=True)]


def _dot(x, y):
    return sum((a * b for a, b in zip(x, y, strict=True)), arb(0))


def _times(matrix, x):
    return [_dot(row, x) for row in matrix]


def _product(a, b):
    columns = list(zip(*b, strict=True))
    return [[_dot(row, column) for column in columns] for row in a]


def _identity(n):
    return [[arb(int(i == j)) for j in range(n)] for i in range(n)]


def _largest(balls):
    """An upper bound of all |x|, x in the balls; raises NotProved if one is not finite."""
    if not all(ball.is_finite() for ball in balls):
        raise NotProved("a ball is not finite")
    return max((ball.abs_upper() for ball in balls), key=lambda bound: bound.mid())


# --- Taylor coefficients -------------------------------------------------------------------------


class Jet:
    """A power series in t and its derivatives by the coordinates of the start."""

    __slots__ = ("value", "slopes")

    def __init__(self, value, slopes):
        self.value, self.slopes = value, slopes

    def _chain(self, value, slope):
        """h(self) from the series of h and of h' at self."""
        return Jet(value, [slope * s for s in self.slopes])

    def __add__(self, other):
        if isinstance(other, Jet):
            slopes = [a + b for a, b in zip(self.slopes, other.slopes, strict=True)]
            return Jet(self.value + other.value, slopes)
        return Jet(self.value + other, self.slopes)

    def __neg__(self):
        return Jet(-self.value, [-s for s in self.slopes])

    def __sub__(self, other):
        return self + (-other)

    def __rsub__(self, other):
        return -self + other

    def __mul__(self, other):
        if isinstance(other, Jet):
            x, y = self.value, other.value
            slopes = [x * b + y * a for a, b in zip(self.slopes, other.slopes, strict=True)]
            return Jet(x * y, slopes)
        return Jet(self.value * other, [s * other for s in self.slopes])

    def __truediv__(self, other):
        if isinstance(other, Jet):
            inverse = 1 / other.value
            return self * other._chain(inverse, -inverse * inverse)
        return Jet(self.value / other, [s / other for s in self.slopes])

    __radd__, __rmul__ = __add__, __mul__

    def sqrt(self):
        root = self.value.sqrt()
        return self._chain(root, 1 / (root + root))

    def sin_cos(self):
        sin, cos = self.value.sin_cos()
        return self._chain(sin, cos), self._chain(cos, -sin)


def coefficients(field, start, order):
    """[y_0, ..., y_order], lists of n balls: Taylor coefficients of solutions from ``start``."""
    rows = [list(start)]
    for k in range(order):
        y = [arb_series(list(column), k + 1) for column in zip(*rows, strict=True)]
        rows.append([_coefficient(rate, k) / (k + 1) for rate in _rates(field, y)])
    return rows


def _rates(field, y):
    """The field; a division by a series that may vanish is a failed proof and not a crash."""
    try:
        return field(y)
    except (ValueError, ZeroDivisionError) as failure:
        raise NotProved(f"no series of the field: {failure}") from failure


def _coefficient(series, k):
    """That of t^k; raises if the series is not known so far."""
    if series.prec <= k:
        raise NotProved(f"a series ends before its term {k}")
    return series[k]


def jets(field, start, order):
    """(coefficients, [y_0', ..., y_order']): with n x n matrices of balls, derivatives by the
    start."""
    rows, slopes = [list(start)], [_identity(len(start))]
    for k in range(order):
        y = [
            Jet(
                arb_series([row[i] for row in rows], k + 1),
                [arb_series([s[i][j] for s in slopes], k + 1) for j in range(len(start))],
            )
            for i in range(len(start))
        ]
        rates = _rates(field, y)
        rows.append([_coefficient(rate.value, k) / (k + 1) for rate in rates])
        slopes.append([[_coefficient(s, k) / (k + 1) for s in rate.slopes] for rate in rates])
    return rows, slopes


def _polynomial(terms, h):
    """sum_k terms[k] h^k by Horner, for lists of balls."""
    total = terms[-1]
    for term in terms[-2::-1]:
        total = [t + h * s for t, s in zip(term, total, strict=True)]
    return total


# --- one step ------------------------------------------------------------------------------------


def picard(field, start, h, defect=None, attempts=40):
    """Balls B with start + [0, h] (field(B) +- defect(B)) inside B: solutions stay in B until h.

    They are ``start`` made larger until this holds; raises NotProved after ``attempts``, or if the
    field is not finite on B.
    """
    box = list(start)
    for _ in range(attempts):
        rates = field(box)
        if defect is not None:
            rates = _plus(rates, [_around_zero(bound) for bound in defect(box)])
        reach = _plus(start, [arb(0).union(h * rate) for rate in rates])  # [0, h] rate
        if not all(ball.is_finite() for ball in reach):
            break
        if all(b.contains(r) for b, r in zip(box, reach, strict=True)):
            return box
        box = [_stretched(b, r) for b, r in zip(box, reach, strict=True)]
    raise NotProved(f"no rough enclosure of a step h = {float(h):.3g}")


def _stretched(ball, reach):
    """``ball`` made longer where ``reach`` sticks out, by one and a half times as much."""
    below = (ball.lower() - reach.lower()).max(arb(0))
    above = (reach.upper() - ball.upper()).max(arb(0))
    return interval(ball.lower() - 1.5 * below - SWELL, ball.upper() + 1.5 * above + SWELL)


def _around_zero(ball):
    """[-r, r] that contains +-ball; raises NotProved if the ball is not finite."""
    r = _largest([ball])
    return r.union(-r)


@arithmetic()
def image(field, patch, h, order=ORDER, *, defect=None, rough=None):
    """(shift, matrix): every solution of (1) from the patch is at h in shift + matrix v, with
    |v_i| <= radius_i of the patch.

    ``defect``: box -> bounds of |F_i - f_i| there, 0 if not given; ``rough``: box -> True if (1)
    certainly holds there.
    """
    order, h = whole("order", order, 1), scalar_in("h", h, 0, math.inf)
    time, start, centre = arb(h), patch.balls(), _exact(patch.centre)
    box = picard(field, start, time, defect)
    if rough is not None and not rough(box):
        raise NotProved(f"the rough enclosure of a step h = {float(h):.3g} leaves the domain")

    last, last_slopes = jets(field, box, order)
    slopes = jets(field, start, order - 1)[1]
    middle = coefficients(field, centre, order - 1) + [last[order]]

    bound = _largest(_row_sums(last_slopes[1]))  # y_1' = f'
    spread = (bound * time).exp()
    wander = spread - 1
    near_identity = [[x + _around_zero(wander) for x in row] for row in _identity(len(start))]
    final = _product(last_slopes[order], near_identity)
    flat = [[x for row in matrix for x in row] for matrix in [*slopes, final]]
    entries, n = _polynomial(flat, time), len(start)
    turn = [entries[n * i : n * i + n] for i in range(n)]

    shift = _polynomial(middle, time)
    if defect is not None:
        errors = [abs(e) for e in defect(box)]
        apart = _largest(errors) * time * spread
        rows = _row_sums(last_slopes[1])
        pushes = [(e + row * apart) * time for e, row in zip(errors, rows, strict=True)]
        shift = [s + _around_zero(push) for s, push in zip(shift, pushes, strict=True)]
    return shift, _product(turn, _exact(patch.frame))


def _inverse(frame):
    """The inverse of a matrix of floats; raises NotProved if it may be singular."""
    try:
        return arb_mat(_exact(frame)).inv().tolist()
    except ZeroDivisionError:
        raise NotProved("a frame is not certainly invertible") from None


def _row_sums(matrix):
    return [sum((abs(x) for x in row), arb(0)) for row in matrix]


@arithmetic()
def maps_into(field, before, h, after, order=ORDER, *, defect=None, rough=None):
    """Whether all solutions of (1) from the patch ``before`` certainly are in ``after`` at h."""
    shift, matrix = image(field, before, h, order, defect=defect, rough=rough)
    return after._holds(_minus(shift, _exact(after.centre)), matrix, before.radius)


# --- guesses, which maps_into then has to accept -------------------------------------------------


def guess(shift, matrix, radius, parameters=0):
    """A patch around shift + matrix v: its axes by QR, the longest first (Lohner).

    The last ``parameters`` coordinates do not move; the columns that belong to them are kept.
    """
    n = len(shift) - parameters
    centre = np.array([float(s.mid()) for s in shift])
    frame = np.array([[float(x.mid()) for x in row] for row in matrix])
    size = np.linalg.norm(frame[:n, :n], axis=0) * radius[:n]
    frame[:n, :n] = np.linalg.qr(frame[:n, :n][:, np.argsort(-size)])[0]
    inverse = _inverse(frame)
    ends = _plus(
        _times(inverse, _minus(shift, _exact(centre))),
        _times(_product(inverse, matrix), _symmetric(radius)),
    )
    reach = np.array([float(end.abs_upper()) for end in ends]) * (1 + 2.0**-40)
    return Patch(centre, frame, reach)


@arithmetic()
def follow(field, patch, h, order=ORDER, *, parameters=0, defect=None, rough=None):
    """A patch that the step h certainly maps ``patch`` into; raises NotProved.

    ``parameters``: how many of the last coordinates are constants (their rates are 0).
    """
    shift, matrix = image(field, patch, h, order, defect=defect, rough=rough)
    after = guess(shift, matrix, patch.radius, parameters)
    if not after._holds(_minus(shift, _exact(after.centre)), matrix, patch.radius):
        raise NotProved(f"the guess after a step h = {h:.3g} is too small")
    return after


def rates_and_norm(field, centre):
    """(f, largest row sum of |f'|) at a point, in floats: only to choose steps."""
    values, slopes = jets(field, _exact(centre), 1)
    return [float(x.mid()) for x in values[1]], max(float(x.mid()) for x in _row_sums(slopes[1]))
