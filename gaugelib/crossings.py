"""Training on samples in the plane, exact from one crossing to the next.

The rates of :func:`gaugelib.flows.empirical` jump where a line w_i.x = 0 crosses a sample; between
crossings they are cubic polynomials in (a, w), so Taylor series follow them to rounding.  A step
ends at the first root of any w_i.x_n, x_n a neighbour of the line; it is known to be the first,
because up to there each of these series is bounded away from zero or monotone.

Where the rates on both sides of a sample point towards it, the line stays on the sample and slides
(Filippov): T_i loses its component along x_n, until one of the two rates turns round.  Samples of
one direction are crossed at once, and are one sample here.
"""

import cmath
from collections import deque
from dataclasses import dataclass
from operator import mul

import numpy as np

from gaugelib import flows
from gaugelib.checks import fast_times, instance
from gaugelib.problem import Problem
from gaugelib.samples import HALF_PI, TWO_PI, Samples
from gaugelib.solve import SolverError, trajectory
from gaugelib.trajectory import Trajectory

ORDER = 20  # of the Taylor series, at most
TINY = 1e-17  # what the last terms of a series change in a w, relative to |a||w| and the teacher
ON_LINE = 1e-14  # |w.x| / |w||x| of a sample that has just been met
ON_RAY = 1e-14  # rad; samples whose directions are no farther apart are met together
SHORTEST = 1e-13  # fast time in which no more than MANY events a student may happen
MANY = 50


@dataclass(frozen=True, eq=False)
class Exact:
    """A trajectory and its meetings with samples.

    Attributes
    ----------
    trajectory : Trajectory, with the state of ``flows.empirical(..., symmetric=True)``
    crossings : (k,) fast times at which a line crossed a sample, or all samples of one direction
    slides : (j, 2) fast times from which and to which a line lay on a sample
    """

    trajectory: Trajectory
    crossings: np.ndarray
    slides: np.ndarray


def follow(problem, X, tau, y=None):
    """The empirical flow in the plane at the fast times ``tau`` (first entry 0); an Exact.

    Arguments as in :func:`gaugelib.flows.empirical`.  Students that start equal move as one.
    Raises SolverError where the flow has no unique continuation that it can follow.
    """
    tau = fast_times(tau)
    if instance("problem", problem, Problem).d != 2:
        raise ValueError(f"d must be 2, got {problem.d}")
    flow = flows.empirical(problem, X, y, symmetric=True)
    samples = Samples(*_one_on_each_ray(X, problem.teacher, y))
    path = _Path(flow, samples, len(X), np.bincount(flows.classes(problem)))
    states = [flow.state0] + [path.advance(end) for end in tau[1:].tolist()]
    held = [(since, path.t) for since, k in zip(path.since, path.stuck) if k is not None]
    slides = np.array(path.slides + held, dtype=float).reshape(-1, 2)
    return Exact(trajectory(flow, tau, np.array(states)), np.array(path.crossings), slides)


def _one_on_each_ray(X, teacher, y):
    """(X, teacher, y) without inputs at 0 and with one input for all of one direction e.

    Inputs r_n e with labels y_n pull every student like R e with the label sum r_n y_n / R, where
    R^2 = sum r_n^2, since its line crosses them together.
    """
    x, labels = np.asarray(X, dtype=float), None if y is None else np.asarray(y, dtype=float)
    r, around = np.linalg.norm(x, axis=1), np.arctan2(x[:, 1], x[:, 0])
    order = np.flatnonzero(r)[np.argsort(around[r > 0], kind="stable")]
    if order.size == 0:
        raise ValueError("X must have an input that is not 0, got none")
    far = np.diff(around[order], prepend=around[order[-1]] - TWO_PI) > ON_RAY
    if far.all() and order.size == len(x):
        return x, teacher, labels
    if far.any():
        order, far = (np.roll(values, -np.argmax(far)) for values in (order, far))
    first = np.flatnonzero(far) if far.any() else np.zeros(1, dtype=int)
    length = np.sqrt(np.add.reduceat(r[order] ** 2, first))
    x = x[order[first]] * (length / r[order[first]])[:, None]
    if labels is not None:
        labels = np.add.reduceat(r[order] * labels[order], first) / length
    return x, teacher, labels


class _Path:
    """The moving state: parameters, which samples are active, and the moments of these."""

    def __init__(self, flow, samples, N, copies):
        n = copies.size
        self.D, self.N, self.copies = flow.problem.D, N, copies.astype(float).tolist()
        self.target = float(np.abs(samples.teacher.b).max())
        self.t, self.reach = 0.0, 0.1
        self.crossings, self.slides, self.latest = [], [], deque(maxlen=MANY * n)
        self.a, self.w = flow.state0[:n].tolist(), flow.state0[n:].view(complex).tolist()
        self.met = [None] * n  # the sample that line i has just met, and the order of that root
        self.stuck, self.since = [None] * n, [0.0] * n  # the sample it slides on, and from when
        self._load(samples)

    def _load(self, samples):
        order, teacher = samples.order, samples.teacher
        x = samples.x[order]
        z = x.view(complex)[:, 0]
        rest = np.zeros(len(x)) if samples.rest is None else samples.rest[order]
        w = np.array(self.w)
        own = x @ w.view(float).reshape(-1, 2).T > 0
        theirs = x @ teacher.u.T > 0
        toward = (theirs * -teacher.b) @ teacher.u.view(complex)[:, 0]  # -f* as a function of x
        self.z, self.toward, self.rest = z.tolist(), toward.tolist(), rest.tolist()
        self.on = [bytearray(column.tobytes()) for column in own.T.copy()]
        sizes, squares = np.abs(z) ** 2 / self.N, z**2 / self.N
        pairs = own[:, :, None] & own[:, None]
        self.A = np.tensordot(sizes, pairs, 1).tolist()
        self.B = np.tensordot(squares, pairs, 1).tolist()
        self.C = [complex(sum(self._alone(n) for n in np.flatnonzero(c))) for c in own.T]
        enter = (np.angle(w) - samples.cut - HALF_PI) % TWO_PI
        self.low = np.searchsorted(samples.angles, enter).tolist()
        self.high = [low + sum(on) for low, on in zip(self.low, self.on)]

    def _alone(self, n):
        """What sample n adds to T_i where no student is active: -y_n x_n / N."""
        z, u = self.z[n], self.toward[n]
        return ((u.conjugate() * z).real - self.rest[n]) * z / self.N

    # --- one step ------------------------------------------------------------------------------

    def advance(self, end):
        """The state at the fast time ``end``."""
        while self.t < end:
            self._step(end - self.t)
        return np.concatenate([self.a, np.array(self.w).view(float)])

    def _step(self, longest):
        a, w, T = self._series()
        watched = self._watched(a, w, T)
        step, event = _first_root(watched, min(longest, self.reach))
        self.reach = max(4 * step, self.reach / 4) if event else 2 * self.reach
        self.t = self.t + step
        self.a = [_value(series, step) for series in a]
        self.w = [_value(series, step) for series in w]
        self.met = [m if step == 0 else None for m in self.met]
        if event:
            self._meet(*event)
            self._check_progress()

    def _check_progress(self):
        """Lines that meet their samples again and again without end have no way on."""
        self.latest.append(self.t)
        if len(self.latest) == self.latest.maxlen and self.t - self.latest[0] < SHORTEST:
            raise SolverError(f"empirical: no way on from tau = {self.t:.17g}")

    def _series(self):
        """Taylor series of a and w (stuck students slide) and of T with no sliding, in tau."""
        n, D = len(self.a), self.D
        a, w, w_, p = [[x] for x in self.a], [[x] for x in self.w], [], []
        w_ = [[x.conjugate()] for x in self.w]
        p, T, felt = [[] for _ in a], [[] for _ in a], [[] for _ in a]
        sides = [None if k is None else 1j * self.z[k] / abs(self.z[k]) for k in self.stuck]
        power, small, sizes = 1.0, 0, [(abs(x), abs(y)) for x, y in zip(self.a, self.w)]
        for k in range(ORDER):
            for i in range(n):
                p[i].append(self.copies[i] * sum(map(mul, a[i], reversed(w[i]))))
            size = 0.0
            for i in range(n):
                force = self.C[i] if k == 0 else 0j
                for A, B, pj in zip(self.A[i], self.B[i], p):
                    force += (A * pj[k] + B * pj[k].conjugate()) / 2
                T[i].append(force)
                side = sides[i]
                felt[i].append(force if side is None else side * (side.conjugate() * force).real)
                rate = -1 / (D * (k + 1))
                da = rate * sum(map(mul, w_[i], reversed(felt[i]))).real
                dw = rate * sum(map(mul, a[i], reversed(felt[i])))
                a[i].append(da)
                w[i].append(dw)
                w_[i].append(dw.conjugate())
                a_i, w_i = sizes[i]
                size = max(size, (abs(da) * w_i + a_i * abs(dw)) / (a_i * w_i + self.target))
            power *= self.reach
            if not all(cmath.isfinite(x[-1]) for x in w):
                raise SolverError(f"empirical: state not finite at tau = {self.t:g}")
            small = small + 1 if size * power < TINY else 0
            if small == 2:
                return a, w, T
        if size > 0:
            self.reach = min(self.reach, (TINY / size) ** (1 / ORDER))
        return a, w, T

    def _watched(self, a, w, T):
        """(student, sample, sign, series) with series > 0 until the event."""
        found = []
        for i, k in enumerate(self.stuck):
            if k is not None:
                along = self.w[i].conjugate() / abs(self.w[i])
                found.append(([(along * c).real for c in w[i]], (i, k, None)))
                found += self._holding(i, k, a, w, T[i])
                continue
            for n in self._neighbours(i):
                sign, z = (1 if self.on[i][n] else -1), self.z[n].conjugate()
                series = [sign * (z * c).real for c in w[i]]
                drop = 0
                if self.met[i] is not None and self.met[i][0] == n:
                    drop = self.met[i][1]
                elif series[0] < ON_LINE * abs(z) * abs(self.w[i]):
                    if series[0] < -ON_LINE * abs(z) * abs(self.w[i]):
                        raise SolverError(f"empirical: w{i} is 0 or missed a sample at {self.t:g}")
                    drop = 1
                if any(series[drop:]):  # else the line is at rest: nothing is active
                    found.append((series[drop:], (i, n, None)))
        return found

    def _neighbours(self, i):
        """The samples on both sides of both ends of the line of student i."""
        low, high, N = self.low[i], self.high[i], len(self.z)
        return {n % N for n in (low - 1, low, high - 1, high)}

    def _holding(self, i, n, a, w, T):
        """The speeds of w_i.x_n from its two sides, while both of them hold the line on x_n."""
        z, count = self.z[n], len(T)
        f = [0j] * count
        f[0] = self.toward[n]
        for j, on in enumerate(self.on):
            if on[n]:  # not i itself: a sliding line counts as inactive
                f = [c + self.copies[j] * d for c, d in zip(f, _product(a[j], w[j], count))]
        residual = [(z.conjugate() * c).real for c in f]
        residual[0] -= self.rest[n]
        off = [(z.conjugate() * c).real for c in T]
        on = [c + abs(z) ** 2 / self.N * r for c, r in zip(off, residual)]
        speeds = (_product(a[i], off, count), _product(a[i], on, count))
        return [([-c for c in speeds[0]], (i, n, False)), (speeds[1], (i, n, True))]

    # --- at a sample ---------------------------------------------------------------------------

    def _meet(self, i, n, release):
        """Line i meets sample n; or, if ``release`` is not None, leaves it, True if active."""
        if release is not None:
            self.slides.append((self.since[i], self.t))
            self.stuck[i], self.met[i] = None, (n, 2)
            if release:
                self._toggle(i, n)
            return
        if self.stuck[i] is not None:
            raise SolverError(f"empirical: w{i} vanishes at tau = {self.t:g}")
        was_on, self.met[i] = self.on[i][n], (n, 1)
        if was_on:
            self._toggle(i, n)
        a, w = [[x] for x in self.a], [[x] for x in self.w]
        off, on = (series[0] for series, _ in self._holding(i, n, a, w, [self._force(i)]))
        if off > 0 and on > 0:
            side = 1j * self.z[n] / abs(self.z[n])
            self.w[i] = side * (side.conjugate() * self.w[i]).real
            self.stuck[i], self.since[i] = n, self.t
            return
        self.crossings.append(self.t)
        if not was_on:
            self._toggle(i, n)

    def _force(self, i):
        """T_i at the present state."""
        p = [k * a * w for k, a, w in zip(self.copies, self.a, self.w)]
        terms = (A * x + B * x.conjugate() for A, B, x in zip(self.A[i], self.B[i], p))
        return self.C[i] + sum(terms) / 2

    def _toggle(self, i, n):
        """Sample n becomes active for student i, or inactive."""
        z, sign = self.z[n], -1 if self.on[i][n] else 1
        size, square = sign * abs(z) ** 2 / self.N, sign * z**2 / self.N
        for j, on in enumerate(self.on):
            if j == i or on[n]:
                self.A[i][j] += size
                self.B[i][j] += square
                if j != i:
                    self.A[j][i] += size
                    self.B[j][i] += square
        self.C[i] += sign * self._alone(n)
        self.on[i][n] = sign > 0
        if (z.conjugate() * -1j * self.w[i]).real > 0:  # at the lower end of the arc
            self.low[i] -= sign
        else:
            self.high[i] += sign
        if self.high[i] == self.low[i]:  # none is left: no rounding error either
            self.A[i], self.B[i], self.C[i] = [0.0] * len(self.a), [0j] * len(self.a), 0j


def _product(x, y, count):
    """The first ``count`` coefficients of a product of series."""
    return [sum(map(mul, x[: k + 1], y[k::-1])) for k in range(count)]


def _value(series, t):
    total = 0.0
    for c in reversed(series):
        total = total * t + c
    return total


def _first_root(watched, step):
    """(step, None), or the first root of a watched series before ``step`` and whose it is.

    ``step`` shrinks until each series c_0 + c_1 t + ... is without a root on [0, step], since
    |c_0| exceeds all that the rest can add, or monotone, since |c_1 t| does.
    """
    for series, event in watched:
        if series[0] <= 0:
            return 0.0, event
    falling = [-c[0] / c[1] for c, _ in watched if len(c) > 1 and c[1] < 0]
    step = min([step, *(2 * t for t in falling)])
    series = [[abs(c) for c in s] for s, _ in watched]
    while not all(_is_plain(s, step) for s in series):
        step /= 2
    first, meets = step, None
    for s, event in watched:
        if _value(s, first) <= 0:
            first, meets = _root(s, first), event
    return first, meets


def _is_plain(sizes, step):
    power, values, slopes = 1.0, 0.0, 0.0
    for k, size in enumerate(sizes[1:], 1):
        power *= step
        values += size * power
        if k > 1:
            slopes += k * size * power
    return values < sizes[0] or slopes < sizes[1] * step


def _root(series, high):
    """The root in (0, high] of a series that falls from plus to minus: Newton, kept inside."""
    low, slope = 0.0, [k * c for k, c in enumerate(series)][1:]
    t = high
    for _ in range(100):
        value, rate = _value(series, t), _value(slope, t)
        low, high = (t, high) if value > 0 else (low, t)
        ahead = t - value / rate if rate < 0 else low
        if not low < ahead < high:
            ahead = (low + high) / 2
        if abs(ahead - t) <= 4e-16 * high:
            return ahead
        t = ahead
    return t
