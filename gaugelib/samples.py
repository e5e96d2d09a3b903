"""Moments of ReLU networks on a finite set of inputs, for training on samples.

With the residual f(x) - y on N inputs,

    L = (1/2N) sum_n (f(x_n) - y_n)^2
    T_i = (1/N) sum_n (f(x_n) - y_n) x_n 1{w_i.x_n > 0}

In the plane f - f* is one linear function r.x on each arc between the lines w_j.x = 0 and
u_k.x = 0.  With the inputs sorted by polar angle and prefix sums of their second moments, L and T
are sums over 2 (m + teachers) + 1 arcs: O(m log m + m log N) instead of O(m N).
"""

import math
from bisect import bisect_left
from cmath import phase

import numpy as np

from gaugelib.checks import finite, instance, vectors
from gaugelib.problem import Teacher

PI, TWO_PI, HALF_PI = math.pi, 2 * math.pi, math.pi / 2
TOUCH = 1e-14  # rad; nearer than this, floating point decides on which side of a line an input is
LARGEST = 1e150  # of an input's components: their squares are floats
FEW = 16  # up to so many students plain Python is faster than numpy


class Samples:
    """N inputs and their labels, for forces and losses of any students.

    Parameters
    ----------
    X : (N, d) inputs, N >= 1
    teacher : Teacher of dimension d
    y : (N,) labels; without them those of the teacher

    In the plane: ``order`` (N,) sorts the inputs by their angle from the direction ``cut``, which
    lies in the widest gap between them, and ``angles`` (N + 1,) are these angles in [0, 2 pi),
    then infinity.

    Students are given by output weights c (m,) and input weights w (m, d).  An input activates
    w if w.x > 0 in floating point.
    """

    def __init__(self, X, teacher, y=None):
        self.x, self.teacher = vectors("X", X), instance("teacher", teacher, Teacher)
        d = teacher.u.shape[1]
        if self.x.ndim != 2 or self.x.shape[1] != d or len(self.x) == 0:
            raise ValueError(f"X must be (N >= 1, {d}), got shape {self.x.shape}")
        largest = np.abs(self.x).max()
        if largest > LARGEST:
            raise ValueError(f"X must be in [-{LARGEST:g}, {LARGEST:g}], got {largest:g}")
        self.rest = None if y is None else self._beside_teacher(finite("y", y))
        if d == 2:
            self._sort()

    def _beside_teacher(self, y):
        """What the labels add to those of the teacher."""
        if y.shape != self.x.shape[:1]:
            raise ValueError(f"y must have shape {self.x.shape[:1]}, got {y.shape}")
        return y - np.maximum(self.x @ self.teacher.u.T, 0) @ self.teacher.b

    def force(self, c, w):
        """T_i of all students: (m, d)."""
        if w.shape[1] != 2:
            return self.force_by_sums(c, w)
        if c.size > FEW:
            return self._force_by_arcs(c, w)
        z = np.ascontiguousarray(w, dtype=float).view(complex)[:, 0]
        T = self.force_of_few(c.tolist(), z.tolist())
        return np.array(T).view(float).reshape(-1, 2)

    def losses(self, c, w):
        """L of n networks c (n, m), w (n, m, d): (n,); accurate relative to their residuals."""
        arcs = self._arcs(c, w) if w.shape[-1] == 2 else None
        if arcs is None:
            pairs = zip(c, w, strict=True)
            return np.array([np.mean(self._residual(*pair) ** 2) for pair in pairs]) / 2
        _, _, r, Sr, E = arcs
        noise = 0.0 if self.rest is None else np.mean(self.rest**2)
        return ((r.conj() * (Sr - 2 * E)).real.sum(axis=-1) + noise) / 2

    # --- sums over all inputs, in any dimension ------------------------------------------------

    def force_by_sums(self, c, w):
        """T_i as the sums that define them, O(m N)."""
        active = self.x @ w.T > 0
        return (active * self._residual(c, w)[:, None]).T @ self.x / len(self.x)

    def _residual(self, c, w):
        weights, vectors = np.append(c, -self.teacher.b), np.vstack([w, self.teacher.u])
        f = np.maximum(self.x @ vectors.T, 0) @ weights
        return f if self.rest is None else f - self.rest

    # --- arcs of the plane, with vectors as complex numbers ------------------------------------

    def _sort(self):
        """Angles from a direction in the widest gap between inputs, and prefix sums by angle.

        x x^T v = (|x|^2 v + x^2 conj(v))/2, so N^-1 sums of |x|^2, x^2 and rest x suffice.
        """
        z, count = np.ascontiguousarray(self.x).view(complex)[:, 0], len(self.x)
        around = np.angle(z)
        order = np.argsort(around, kind="stable")
        around = around[order]
        gaps = np.diff(around, append=around[0] + TWO_PI)
        widest = int(np.argmax(gaps))
        self.cut = float(around[widest] + gaps[widest] / 2)
        self.order = np.roll(order, -1 - widest)
        self.angles = np.append((np.roll(around, -1 - widest) - self.cut) % TWO_PI, np.inf)

        def upto(terms):
            sums = np.cumsum(terms[self.order], dtype=np.result_type(terms, np.longdouble))
            return np.append(0, sums / count).astype(terms.dtype)

        self._sizes, self._squares = upto(np.abs(z) ** 2), upto(z**2)
        self._pulls = None if self.rest is None else upto(self.rest * z)
        self._few = self._plain_tables()

    def _plain_tables(self):
        """The same tables for plain Python; r before the first edge and the edges of the teachers.

        An edge is (angle, sample that follows, source, sign, what r gains); sources of teachers
        are negative.
        """
        pulls = None if self._pulls is None else self._pulls.tolist()
        angles, edges, r = self.angles.tolist(), [], 0j
        directions = self.teacher.u.view(complex)[:, 0].tolist()
        for k, (b, u) in enumerate(zip(self.teacher.b.tolist(), directions)):
            enter = (phase(u) - self.cut - HALF_PI) % TWO_PI
            leave, before = (enter + PI, 0) if enter < PI else (enter - PI, 1)
            for angle, sign in ((enter, -1), (leave, 1)):
                follows = bisect_left(angles, angle - TOUCH)
                edges.append((angle, follows, -1 - k, sign, sign * b * u))
            r -= before * b * u
        return angles, self._sizes.tolist(), self._squares.tolist(), pulls, edges, r

    def _arcs(self, c, w):
        """(places of the edges, sources active before the first, and on the arcs r, S r and E).

        Leading axes of c and w run over networks.  None if an input touches a line.
        """
        many, v = c.shape[:-1], self.teacher.u.view(complex)[:, 0]
        v = np.concatenate([w.view(complex)[..., 0], np.broadcast_to(v, (*many, v.size))], axis=-1)
        b = np.broadcast_to(-self.teacher.b, (*many, self.teacher.b.size))
        p, t = np.concatenate([c, b], axis=-1) * v, np.angle(v) - self.cut
        enter, leave = (t - HALF_PI) % TWO_PI, (t + HALF_PI) % TWO_PI
        edges, before = np.concatenate([enter, leave], axis=-1), enter > leave
        order = np.argsort(edges)
        edges = np.take_along_axis(edges, order, axis=-1)
        ends = np.searchsorted(self.angles, edges - TOUCH)
        if (self.angles[ends] <= edges + TOUCH).any():
            return None
        jumps = np.take_along_axis(np.concatenate([p, -p], axis=-1), order, axis=-1)
        first = (p * before).sum(axis=-1, keepdims=True)
        r = np.cumsum(np.concatenate([first, jumps], axis=-1), axis=-1)

        def on_arcs(upto):
            at = np.concatenate([upto[ends], np.broadcast_to(upto[-1:], first.shape)], axis=-1)
            return np.diff(at, axis=-1, prepend=0)

        E = 0 if self._pulls is None else on_arcs(self._pulls)
        Sr = (on_arcs(self._sizes) * r + on_arcs(self._squares) * r.conj()) / 2
        return np.argsort(order), before, r, Sr, E

    def _force_by_arcs(self, c, w):
        arcs = self._arcs(c, w)
        if arcs is None:
            return self.force_by_sums(c, w)
        at, before, _, Sr, E = arcs
        total, n = np.cumsum(Sr - E), before.size
        T = total[at[n:]] - total[at[:n]] + before * total[-1]
        return T[: c.size].view(float).reshape(-1, 2)

    def force_of_few(self, c, z):
        """T_i from lists: output weights, and input weights as complex numbers; also a list."""
        angles, sizes, squares, pulls, edges, r = self._few
        edges, before, T, cut = edges.copy(), [], [], self.cut + HALF_PI
        for i, zi in enumerate(z):
            p = c[i] * zi
            enter = (phase(zi) - cut) % TWO_PI
            if enter < PI:
                leave = enter + PI
            else:
                leave = enter - PI
                before.append(i)
                r += p
            edges.append((enter, bisect_left(angles, enter - TOUCH), i, -1, p))
            edges.append((leave, bisect_left(angles, leave - TOUCH), i, 1, -p))
            T.append(0j)
        edges.sort()
        total, size, square, pull = 0j, 0.0, 0j, 0j
        for angle, k, i, sign, p in edges:
            if angles[k] <= angle + TOUCH:
                return self._force_of_few_by_sums(c, z)
            ahead, turned = sizes[k], squares[k]
            total += (ahead - size) * r + (turned - square) * r.conjugate()
            size, square = ahead, turned
            if pulls is not None:
                total, pull = total + 2 * (pull - pulls[k]), pulls[k]
            if i >= 0:
                T[i] += sign * total
            r += p
        if before:
            total += (sizes[-1] - size) * r + (squares[-1] - square) * r.conjugate()
            if pulls is not None:
                total += 2 * (pull - pulls[-1])
            for i in before:
                T[i] += total
        return [t / 2 for t in T]

    def _force_of_few_by_sums(self, c, z):
        w = np.array(z).view(float).reshape(-1, 2)
        return self.force_by_sums(np.array(c), w).view(complex)[:, 0].tolist()
