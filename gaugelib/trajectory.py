"""One report for every description and every method."""

from dataclasses import dataclass, replace

import numpy as np

from gaugelib import kernel
from gaugelib.checks import whole
from gaugelib.problem import Problem


@dataclass(frozen=True, eq=False)
class Trajectory:
    """What a flow did, in the coordinates that the network sees.

    Attributes
    ----------
    problem : Problem
    label : str, the description that made it ("limit", "reduced", "population", ...)
    tau : (n,) fast time, tau = D t
    q : (n, m) coefficients
    s : (n, m, d) unit directions
    delta : (n, m) imbalances
    loss : (n,) population loss
    state : (n, k) the flow's own coordinates
    """

    problem: Problem
    label: str
    tau: np.ndarray
    q: np.ndarray
    s: np.ndarray
    delta: np.ndarray
    loss: np.ndarray
    state: np.ndarray

    @property
    def t(self):
        """Training time, tau / D."""
        return self.tau / self.problem.D

    @property
    def owner(self):
        """Index of the student with the largest |q| at the end."""
        return int(np.argmax(np.abs(self.q[-1])))

    @property
    def designated(self):
        """Index of the student with the largest imbalance at the start."""
        return int(np.argmax(self.problem.students.delta))

    @property
    def P(self):
        """Total coefficient of all students but the designated one: (n,)."""
        return np.delete(self.q, self.designated, axis=1).sum(axis=1)

    def angle(self, unit, teacher=0):
        """Angle in [0, pi] between a student and a teacher: (n,)."""
        unit, u = self._pair(unit, teacher)
        return kernel.angle(self.s[:, unit], u)

    def signed_angle(self, unit, teacher=0):
        """:meth:`angle` with a sign, positive on the side where the student started: (n,).

        A student may rotate past its teacher; then this becomes negative, and :meth:`angle` does
        not show it.  Raises ValueError for a student that starts along the teacher: it has no side.
        """
        unit, u = self._pair(unit, teacher)
        s0 = self.problem.students.s[unit]
        if not 1e-15 < kernel.angle(s0, u) < np.pi - 1e-15:
            raise ValueError(f"unit must not start along its teacher, got {unit!r} at s = {s0!r}")
        return np.copysign(self.angle(unit, teacher), self.s[:, unit] @ (s0 - (s0 @ u) * u))

    def _pair(self, unit, teacher):
        """The index of a student and the direction of a teacher, both checked."""
        unit = _index("unit", unit, self.problem.m)
        return unit, self.problem.teacher.u[_index("teacher", teacher, self.problem.teacher.b.size)]

    def at(self, index):
        """The same trajectory restricted to ``index``, a slice, integer or boolean array (k,)."""
        if not isinstance(index, slice):
            index = np.asarray(index)
            if index.ndim != 1 or index.dtype.kind not in "iub":
                raise ValueError(f"index must be a slice or a (k,) index array, got {index!r}")
            if index.dtype != bool and np.any((index < -len(self.tau)) | (index >= len(self.tau))):
                raise ValueError(f"index must be in 0..{len(self.tau) - 1}, got {index!r}")
            if index.dtype == bool and index.shape != self.tau.shape:
                raise ValueError(f"index must be boolean {self.tau.shape}, got {index.shape}")
        rows = ("tau", "q", "s", "delta", "loss", "state")
        return replace(self, **{name: getattr(self, name)[index] for name in rows})


def _index(name, value, count):
    if whole(name, value, 0) >= count:
        raise ValueError(f"{name} must be in 0..{count - 1}, got {value!r}")
    return int(value)
