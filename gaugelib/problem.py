"""What is learned, and from where: a teacher, students, and the fast time scale D."""

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from gaugelib import gauge
from gaugelib.checks import (
    common_shape,
    finite,
    instance,
    representable,
    scalar_in,
    unit_vectors,
    vectors,
    whole,
)


def _store(instance, **arrays):
    """Set the fields of a frozen dataclass to copies that nobody can write to."""
    for name, array in arrays.items():
        array = np.array(array)
        array.setflags(write=False)
        object.__setattr__(instance, name, array)


@dataclass(frozen=True, eq=False)
class Teacher:
    """f*(x) = sum_k b_k [u_k.x]_+ with b of shape (n,) and unit vectors u of shape (n, d)."""

    b: np.ndarray
    u: np.ndarray

    def __post_init__(self):
        b, u = np.atleast_1d(finite("b", self.b)), unit_vectors("u", self.u)
        if u.ndim != 2 or b.shape != u.shape[:1] or b.size == 0 or u.shape[1] < 2:
            raise ValueError(
                f"b must be (n >= 1,) and u (n, d >= 2), got shapes {b.shape} and {u.shape}"
            )
        _store(self, b=b, u=u)


@dataclass(frozen=True, eq=False)
class Students:
    """m neurons at the start: q (m,), unit vectors s (m, d), imbalances delta (m,) or one.

    q = 0 raises where delta >= 0: there w = 0.
    """

    q: np.ndarray
    s: np.ndarray
    delta: np.ndarray

    def __post_init__(self):
        q, s = np.atleast_1d(finite("q", self.q)), unit_vectors("s", self.s)
        delta = finite("delta", self.delta)
        if q.ndim != 1 or q.size == 0 or s.ndim != 2 or s.shape[0] != q.shape[0]:
            raise ValueError(f"q must be (m >= 1,) and s (m, d), got {q.shape} and {s.shape}")
        if delta.shape not in ((), (1,), q.shape):
            raise ValueError(f"delta must be a number or {q.shape}, got shape {delta.shape}")
        if np.any((q == 0) & (delta >= 0)):
            raise ValueError(f"q must be nonzero where delta >= 0 (there w = 0), got q={q!r}")
        _store(self, q=q, s=s, delta=np.broadcast_to(delta, q.shape))


@dataclass(frozen=True, eq=False)
class Problem:
    """A teacher, students at their start, and D, the unit of fast time tau = D t.

    Attributes
    ----------
    teacher : Teacher
    students : Students
    D : float > 0; the size of the imbalances in the paper's set-ups.
    """

    teacher: Teacher
    students: Students
    D: float

    def __post_init__(self):
        object.__setattr__(self, "D", scalar_in("D", self.D, 0, np.inf))
        instance("teacher", self.teacher, Teacher), instance("students", self.students, Students)
        d, dim = self.teacher.u.shape[1], self.students.s.shape[1]
        if d != dim:
            raise ValueError(f"teacher and students must share d, got {d} and {dim}")

    @property
    def m(self):
        """Number of students."""
        return self.students.q.size

    @property
    def d(self):
        """Input dimension."""
        return self.teacher.u.shape[1]

    def weights(self):
        """(a, w) of the students at the start: shapes (m,), (m, d)."""
        return gauge.weights(self.students.q, self.students.s, self.students.delta)

    def regauged(self, delta):
        """The same function with other imbalances: delta scalar or (m,); D stays the unit."""
        return replace(self, students=replace(self.students, delta=delta))

    def predict(self, x):
        """f(x) of the students at the start: x (..., d) -> (...)."""
        x = vectors("x", x)
        if x.shape[-1] != self.d:
            raise ValueError(f"x must have shape (..., {self.d}), got {x.shape}")
        a, w = self.weights()
        return representable("f(x)", lambda: np.maximum(x @ w.T, 0) @ a)


NEAR_OPPOSITE = 1e-6


def plane_direction(alpha, d=2):
    """(cos alpha, sin alpha, 0, ..., 0): shapes (...) -> (..., d)."""
    alpha = finite("alpha", alpha)
    out = np.zeros(alpha.shape + (whole("d", d, 2),))
    out[..., 0], out[..., 1] = np.cos(alpha), np.sin(alpha)
    return out


def duplicates(m, D, phi, d=2, designated=0):
    """m identical students at angle phi from the teacher; one has +D, the others -D (3.3).

    q_i = 1/m, s_i = s_0 with angle(s_0, u) = phi, u = e_1, teacher coefficient 1.
    m >= 2, D > 0, phi in (0, pi - 1e-6) radians, designated in 0..m-1.  Theorem 3.3 is for
    phi <= pi/3.  Opposite to the teacher is an unstable rest point: near it solver errors grow
    like 1/(pi - phi), to 1e-5 in q at phi = 3.1415, and closer than 1e-6 the outcome is noise.
    """
    m, D = whole("m", m, 2), scalar_in("D", D, 0, np.inf)
    phi = scalar_in("phi", phi, 0, np.pi - NEAR_OPPOSITE)
    designated = whole("designated", designated, 0)
    if designated >= m:
        raise ValueError(f"designated must be in 0..{m - 1}, got {designated!r}")
    delta = np.full(m, -D)
    delta[designated] = D
    s = np.tile(plane_direction(phi, d), (m, 1))
    teacher = Teacher(b=np.ones(1), u=plane_direction(np.zeros(1), d))
    return Problem(teacher, Students(np.full(m, 1 / m), s, delta), D)


def near_duplicates(m, D, phi, dq, turn, stretch):
    """The duplicates of (m, D, phi) in the plane, each student moved a little (3.4).

    q_i = 1/m + dq_i, s_i turned by turn_i radians further from the teacher, and
    delta_i = D (1 + stretch_i) for student 1 and -D (1 + stretch_i) for the others.  dq, turn and
    stretch are numbers or of shape (m,), finite; q_1 > 0; stretch > -1.
    """
    even = duplicates(m, D, phi)
    moves = {"dq": dq, "turn": turn, "stretch": stretch}
    common_shape(m=(m,), **{name: np.shape(x) for name, x in moves.items()})
    dq, turn, stretch = (finite(name, x) + np.zeros(m) for name, x in moves.items())
    if not np.all(stretch > -1):
        raise ValueError(f"stretch must be > -1, got {stretch!r}")
    delta = even.students.delta * (1 + stretch)
    return replace(even, students=Students(1 / m + dq, plane_direction(phi + turn), delta))


def single(q0, c0, delta, q_star=1.0, d=2):
    """One student with coefficient q0 > 0 and alignment c0 in (-1, 1) (3.2).

    The teacher is q_star [u.x]_+; fast time is tau = |delta| t.
    """
    q0, q_star = scalar_in("q0", q0, 0, np.inf), scalar_in("q_star", q_star, 0, np.inf)
    phi = np.arccos(scalar_in("c0", c0, -1, 1))
    delta = scalar_in("delta", delta, -np.inf, np.inf)
    if delta == 0:
        raise ValueError(f"delta must be nonzero (|delta| is the unit of time), got {delta!r}")
    students = Students(np.array([q0]), plane_direction(np.array([phi]), d), delta)
    teacher = Teacher(b=np.array([q_star]), u=plane_direction(np.zeros(1), d))
    return Problem(teacher, students, abs(delta))


TWO_TEACHERS = Path(__file__).parents[1] / "data" / "two-teachers.npz"
TWO_TEACHERS_OFF = (0.3, 0.5, 0.5, 0.3, 0.6, 0.6, 0.6, 0.6)  # radians, students 1 to 8


def two_teachers(seed, D, owners):
    """Eight students and two teachers in ten dimensions (4.3, D.6).

    f* = [u_1.x]_+ + 0.8 [u_2.x]_+ with u_{1,2} = cos(0.7) e_1 -+ sin(0.7) e_2.  The two
    ``owners`` (different indices in 0..7) have imbalance +D, the others -D.  Coefficients and
    directions depend on the seed only: seeds 0 to 19 are stored in data/two-teachers.npz, others
    follow from :func:`two_teachers_start`.  D > 0, seed a whole number >= 0.
    """
    seed, D = whole("seed", seed, 0), scalar_in("D", D, 0, np.inf)
    owners = [whole("owners", i, 0) for i in np.ravel(owners)]
    if len(owners) != 2 or owners[0] == owners[1] or max(owners) > 7:
        raise ValueError(f"owners must be two different indices in 0..7, got {owners!r}")
    stored_q, stored_s = _stored_starts()
    stored = seed < len(stored_q)
    q, s = (stored_q[seed], stored_s[seed]) if stored else two_teachers_start(seed)
    delta = np.full(8, -D)
    delta[owners] = D
    return Problem(Teacher(b=np.array([1.0, 0.8]), u=_two_directions()), Students(q, s, delta), D)


def two_teachers_start(seed, off=TWO_TEACHERS_OFF, spread=0.1):
    """(q (8,), s (8, 10)) of a seed, by our law: the paper's is not in the text we have.

    near(u, t) = cos(t) u + sin(t) v with v a uniform direction orthogonal to u.  Student i starts
    near(c_i, off_i), where c = (u_1, u_1, u_2, u_2, e_1, e_1, e_1, e_1); then q_i = (1 + x_i)/8
    with x_i uniform in (-spread, spread).  off (8,) in radians, spread in [0, 1).
    """
    rng, (u1, u2) = np.random.default_rng(whole("seed", seed, 0)), _two_directions()
    off = finite("off", off)
    if off.shape != (8,):
        raise ValueError(f"off must have shape (8,), got {off.shape}")
    if not 0 <= finite("spread", spread) < 1:
        raise ValueError(f"spread must be in [0, 1), got {spread!r}")

    def near(u, t):
        v = rng.standard_normal(10)
        v -= (v @ u) * u
        return np.cos(t) * u + np.sin(t) * v / np.linalg.norm(v)

    centres = [u1, u1, u2, u2] + 4 * [np.eye(10)[0]]
    s = np.array([near(u, t) for u, t in zip(centres, off, strict=True)])
    q = (1 + spread * rng.uniform(-1, 1, 8)) / 8
    return q, s / np.linalg.norm(s, axis=1)[:, None]


def _two_directions():
    return plane_direction(np.array([-0.7, 0.7]), 10)


@cache
def _stored_starts():
    """(q (20, 8), s (20, 8, 10)): the same on every machine, whatever numpy's generator does."""
    with np.load(TWO_TEACHERS) as stored:
        return stored["q"], stored["s"]
