"""Numbers from trajectories."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import spherical_jn

from gaugelib import kernel
from gaugelib.checks import finite, instance, representable, scalar_in, whole
from gaugelib.flows import Flow
from gaugelib.solve import ATOL, RTOL, solve
from gaugelib.trajectory import Trajectory


def first_entry(trajectory, inside):
    """Index of the first recorded state for which ``inside`` is true.

    ``inside`` is a boolean array (n,).  What is found depends on the record grid; exact times
    come from :func:`gaugelib.solve.crossing`.  Raises ValueError if it is never true.
    """
    instance("trajectory", trajectory, Trajectory)
    inside = np.asarray(inside)
    if inside.dtype != bool or inside.shape != trajectory.tau.shape:
        raise ValueError(f"inside must be boolean {trajectory.tau.shape}, got {inside!r}")
    if not inside.any():
        raise ValueError(f"inside must hold at some tau <= {trajectory.tau[-1]:g}; it never does")
    return int(np.argmax(inside))


def path_length(points, start=0):
    """sum_n |x_{n+1} - x_n| of points (n,) or (n, d) from index ``start`` in 0..n-1 on.

    0 from the last point on.  A sum over records is at most the length of the curve between them.
    """
    points = finite("points", points)
    if points.ndim not in (1, 2):
        raise ValueError(f"points must be (n,) or (n, d), got shape {points.shape}")
    if whole("start", start, 0) >= len(points):
        raise ValueError(f"start must be in 0..{len(points) - 1}, got {start!r}")
    along = points.reshape(len(points), -1)[start:]
    steps = representable("steps", lambda: np.diff(along, axis=0))
    return float(representable("path", lambda: np.linalg.norm(steps, axis=1).sum()))


def trajectory_error(one, other):
    """Largest difference of any (q_i, q_i s_i) at the common times of two trajectories (D.4)."""
    instance("one", one, Trajectory), instance("other", other, Trajectory)
    if not np.array_equal(one.tau, other.tau):
        raise ValueError("tau of both trajectories must agree; solve both on one grid")
    if one.s.shape != other.s.shape:
        raise ValueError(f"both must have the same students: {one.s.shape} and {other.s.shape}")
    contribution = one.q[..., None] * one.s - other.q[..., None] * other.s
    return float(max(np.abs(one.q - other.q).max(), np.abs(contribution).max()))


def redundant_norm(trajectory, unit=None):
    """|f_red| in L2 of the Gaussian: all students but ``unit`` (the designated one), (n,).

    |sum_j q_j [s_j.x]_+|^2 = 2 mixture_loss(q, s); |P|/sqrt(2) for equal directions (D.4).
    """
    instance("trajectory", trajectory, Trajectory)
    unit = trajectory.designated if unit is None else whole("unit", unit, 0)
    if unit >= trajectory.problem.m:
        raise ValueError(f"unit must be in 0..{trajectory.problem.m - 1}, got {unit!r}")
    q, s = (np.delete(x, unit, axis=1) for x in (trajectory.q, trajectory.s))
    if np.all(s == s[:, :1]):
        return np.abs(q.sum(axis=1)) / np.sqrt(2)
    return np.sqrt(np.maximum(2 * kernel.mixture_loss(q, s), 0))


def imbalance_drift(trajectory):
    """Largest |delta_i(tau) - delta_i(0)| / D over units and times; zero for an exact flow (3)."""
    instance("trajectory", trajectory, Trajectory)
    drift = np.abs(trajectory.delta - trajectory.delta[:1]).max()
    return float(drift / trajectory.problem.D)


@dataclass(frozen=True)
class Dissipation:
    """How much loss each unit has removed up to each time, and by which kind of change.

    Attributes
    ----------
    trajectory : Trajectory, solved in the same pass
    coefficient, direction : (n, m) cumulative loss removed (5); both grow from 0
    """

    trajectory: Trajectory
    coefficient: np.ndarray
    direction: np.ndarray


def dissipation(flow, tau, rtol=RTOL, atol=ATOL, *, method="LSODA"):
    """Integrate dL/dtau = -sum_i [mu_i B_i^2 + a_i^2 |P_i T_i|^2]/D term by term (5).

    Returns a :class:`Dissipation`: the trajectory at ``tau``, and what the coefficient and the
    direction of each unit have removed up to then, (n, m) each.  The 2 m terms are integrated
    with the state, so their sum is an independent value of L(0) - L(tau): compare it with
    ``trajectory.loss``.  The layer of width O(1/m) at the start is the reason for not
    differencing the loss.
    """
    k, m = instance("flow", flow, Flow).state0.size, flow.problem.m

    def rhs(t, y):
        return np.concatenate([flow.rhs(t, y[:k]), flow.rates(y[None, :k])[0].ravel()])

    grown = replace(
        flow,
        state0=np.concatenate([flow.state0, np.zeros(2 * m)]),
        rhs=rhs,
        jacobian=None,
        units=np.append(np.broadcast_to(flow.units, k), np.ones(2 * m)),
        read=lambda y: flow.read(y[:, :k]),
    )
    solved = solve(grown, tau, rtol, atol, method=method)
    parts = solved.state[:, k:].reshape(-1, 2, m)
    return Dissipation(replace(solved, state=solved.state[:, :k]), parts[:, 0], parts[:, 1])


@dataclass(frozen=True)
class LogLogFit:
    """y ~ exp(intercept) x^slope by least squares in logarithms; r2 is the determination."""

    slope: float
    intercept: float
    r2: float

    def __call__(self, x):
        x = finite("x", x)
        if np.any(x <= 0):
            raise ValueError(f"x must be positive, got {x!r}")
        return representable("fit(x)", lambda: np.exp(self.intercept) * x**self.slope)


def tail_rate(m, psi, D=None):
    """lambda, the least eigenvalue of diag(mu/D, (mu + D)/(2D), m - 1) G_psi, mu^2 = D^2 + 4.

    The loss of m >= 2 identical students of imbalance (+D, -D, ..., -D) ends like
    exp(-2 lambda tau) when the redundant direction rests at psi, in (0, pi), and the rest at
    (q, theta, P) = (1, 0, 0) (B.5).  Without D: the limiting flow, diag(1, 1, m - 1), psi = phi.

    Relative accuracy 2e-14 for every m, for psi from 1e-100 on and D from 1e-300 on, because it
    is one over the *largest* eigenvalue of the inverse matrix, cofactors over the determinant,
    and det G_psi = (1/4 - g^2 - omega^2)/2 is taken without cancellation.
    """
    mobilities = np.array([1, 1, whole("m", m, 2) - 1.0])
    if D is not None:
        mu = np.hypot(1, 2 / scalar_in("D", D, 1e-300, np.inf))
        mobilities[:2] = mu, (mu + 1) / 2
    psi = scalar_in("psi", psi, 1e-100, np.pi)
    g, omega = kernel.g(psi), kernel.omega(psi)
    cofactors = np.array(
        [
            [0.25 - omega**2, g * omega, -g / 2],
            [g * omega, 0.25 - g**2, -omega / 2],
            [-g / 2, -omega / 2, 0.25],
        ]
    )
    root = 1 / np.sqrt(mobilities)
    return float(_gap(psi) / 2 / np.linalg.eigvalsh(root[:, None] * cofactors * root)[-1])


def _gap(psi):
    """1/4 - g(psi)^2 - omega(psi)^2 without cancellation; psi^3/(3 pi) for small psi.

    With u = psi - sin psi cos psi it is (u (2 pi - u) - sin^4 psi)/(4 pi^2).
    """
    sin, cos = np.sin(psi), np.cos(psi)
    u = psi * sin**2 - psi**2 * spherical_jn(1, psi) * cos  # x^2 j_1(x) = sin x - x cos x
    return (u * (2 * np.pi - u) - sin**4) / (4 * np.pi**2)


def loglog_fit(x, y):
    """Least-squares line through (log x, log y); x and y positive, at least 3 points.

    y must not be constant, or R^2 has no value, and x must vary by more than 1e-8 of itself, or
    the rounding of its logarithms shows in the slope.
    """
    x, y = finite("x", x), finite("y", y)
    if x.shape != y.shape or x.ndim != 1 or x.size < 3 or np.any(x <= 0) or np.any(y <= 0):
        raise ValueError(f"x and y must be positive, (n >= 3,), got {x!r} and {y!r}")
    if np.ptp(np.log(x)) < 1e-8:
        raise ValueError(f"x must vary by more than 1e-8 of itself, got {x!r}")
    if np.all(y == y[0]):
        raise ValueError(f"y must not be constant, got {y!r}")
    slope, intercept = np.polyfit(np.log(x), np.log(y), 1)
    residual = np.log(y) - (slope * np.log(x) + intercept)
    r2 = 1 - residual @ residual / np.sum((np.log(y) - np.log(y).mean()) ** 2)
    return LogLogFit(float(slope), float(intercept), float(r2))


def captured(trajectory, r_q=0.10, r_angle=0.10, r_red=0.10, *, redundant="P"):
    """Whether the designated unit is selected, (n,) booleans: q > 1 - r_q, angle < r_angle,
    and the redundant part below r_red, measured as |P| ("P", found to be Table D.2's reading)
    or as |f_red| in L2 ("L2", the printed window (D.4)).
    """
    for name, r in (("r_q", r_q), ("r_angle", r_angle), ("r_red", r_red)):
        scalar_in(name, r, 0, 1)
    if redundant not in ("P", "L2"):
        raise ValueError(f"redundant must be 'P' or 'L2', got {redundant!r}")
    k = instance("trajectory", trajectory, Trajectory).designated
    size = np.abs(trajectory.P) if redundant == "P" else redundant_norm(trajectory)
    return (trajectory.q[:, k] > 1 - r_q) & (trajectory.angle(k) < r_angle) & (size < r_red)
