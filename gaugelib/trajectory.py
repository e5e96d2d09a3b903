"""One report for every description and every method."""

from dataclasses import dataclass, replace

import numpy as np

from gaugelib import kernel
from gaugelib.checks import whole
from gaugelib.problem import Problem


@dataclass(frozen=True)
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
        return kernel.angle(self.s[:, self._unit(unit)], self.problem.teacher.u[teacher])

    def signed_angle(self, unit, teacher=0):
        """Angle in (-pi, pi], positive on the side where the student started: (n,).

        A student may rotate past its teacher; then this becomes negative, and
        :meth:`angle` does not show it.
        """
        u = self.problem.teacher.u[teacher]
        s0 = self.problem.students.s[self._unit(unit)]
        across = s0 - (s0 @ u) * u
        across = across / kernel.length("s0 across the teacher", across)
        s = self.s[:, unit]
        return np.arctan2(s @ across, s @ u)

    def _unit(self, unit):
        if whole("unit", unit, 0) >= self.problem.m:
            raise ValueError(f"unit must be in 0..{self.problem.m - 1}, got {unit!r}")
        return int(unit)

    def at(self, index):
        """The same trajectory restricted to ``index``, a slice or integer array."""
        rows = ("tau", "q", "s", "delta", "loss", "state")
        return replace(self, **{name: getattr(self, name)[index] for name in rows})
