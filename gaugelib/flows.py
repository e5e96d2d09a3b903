"""The descriptions of training.  They differ in their right-hand side and in nothing else.

Every flow runs in fast time tau = D t and reports the same (q, s, delta, loss):

* :func:`limit`       D -> infinity, redundant directions frozen            (B.13)
* :func:`reduced`     exact at finite D, using the symmetry of duplicates    (B.1)
* :func:`population`  original parameters (a, w) of all students, any d and teacher (1)-(2)

A new description is one more right-hand side returned as a :class:`Flow`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from gaugelib import gauge, kernel
from gaugelib.checks import finite
from gaugelib.problem import Problem, plane_direction

TWO_PI = 2 * math.pi


@dataclass(frozen=True)
class Flow:
    """y' = rhs(tau, y) from y(0) = state0, and how to read y.

    Attributes
    ----------
    problem, label : what is learned, and the name of the description
    names : names of the k state coordinates
    state0 : (k,) the start
    rhs : (tau, y) -> sequence of k rates per unit of fast time
    read : (n, k) states -> (q (n, m), s (n, m, d), delta (n, m), loss (n,))
    rates : (n, k) states -> (n, 2, m): dissipation of the loss per unit of fast time by
        coefficient change (0) and direction change (1) of each student (5)
    jacobian : (tau, y) -> (k, k), where known in closed form
    kink : y -> number whose zero is where the right-hand side is not smooth
    """

    problem: Problem
    label: str
    names: tuple
    state0: np.ndarray
    rhs: Callable
    read: Callable
    rates: Callable
    jacobian: Callable | None = None
    kink: Callable | None = None

    def starting(self, state):
        """The same flow from another state, of the same shape."""
        state = finite("state", state)
        if state.shape != self.state0.shape:
            raise ValueError(f"state must have shape {self.state0.shape}, got {state.shape}")
        return replace(self, state0=state)


def _g(alpha):
    a = abs(alpha)
    return (math.sin(a) + (math.pi - a) * math.cos(a)) / TWO_PI


def _omega(alpha):
    return (math.pi - abs(alpha)) * math.sin(alpha) / TWO_PI


def reduced(problem):
    """The exact finite-D flow of duplicates.

    One unit apart, M = m - 1 equal others: state (q, P, theta, psi), alpha = psi - theta,
    mu+ = sqrt(delta_k^2 + 4 q^2), mu- = sqrt(delta_j^2 + 4 (P/M)^2), chi as in :mod:`gauge`:

        q'     = -(mu+/D) [q/2 + P g(alpha) - g(theta)]
        P'     = -(M mu-/D) [P/2 + q g(alpha) - g(psi)]
        theta' = -(chi+/D) [P omega(alpha) + omega(theta)]
        psi'   = -(chi-/D) [omega(psi) - q omega(alpha)]

    All m units equal (one student, or the equal-scale control of D.7): state (q, alpha) with
    q' = -(mu/D) [m q/2 - q* g(alpha)], alpha' = -(chi/D) q* omega(alpha)  (6).
    theta runs through zero and on to negative angles; omega is odd, so nothing breaks.
    """
    return _shared(problem, _exact) if _all_equal(problem) else _selection(problem)


def limit(problem):
    """The limit D -> infinity on the fast clock (B.13), or on the slow clock for delta = -D.

    Duplicates with one +D: (q, P, theta) of :func:`reduced` with mu/D -> 1, chi+/D -> 1/q and
    psi = phi.  All units +D: q' = -(m q/2 - q* g), alpha' = -q* omega(alpha)/q.  All units -D:
    after a layer of width O(1) in tau, m q = 2 q* g(alpha) and
    alpha' = -q q* omega(alpha)/D^2 (A.6).
    """
    if not _all_equal(problem):
        return _selection_limit(problem)
    sign = np.sign(problem.students.delta[0])
    if sign == 0:
        raise ValueError("delta must be nonzero for a large-imbalance limit, got 0")
    return _shared(problem, _fast) if sign > 0 else _shared_slow(problem)


def _all_equal(problem):
    st = problem.students
    return all(np.all(x == x[:1]) for x in (st.q, st.s, st.delta))


# --- all students equal: state (q, alpha) -----------------------------------------------------


def _start_angle(problem, unit):
    if problem.teacher.b.size != 1:
        raise ValueError(f"the reduced flows take one teacher, got {problem.teacher.b.size}")
    return float(kernel.angle(problem.students.s[unit], problem.teacher.u[0]))


def _in_plane(problem, alphas):
    """Unit vectors at the angles ``alphas`` (...) from u, on the students' side: (..., d)."""
    u = problem.teacher.u[0]
    across = problem.students.s[0] - (problem.students.s[0] @ u) * u
    size = np.linalg.norm(across)
    across = across / size if size > 0 else plane_direction(np.pi / 2, problem.d)
    return np.cos(alphas)[..., None] * u + np.sin(alphas)[..., None] * across


def _exact(delta, D):
    """(mu/D, chi/D) as functions of q at finite D, in plain floats."""
    if delta >= 0:
        return (
            lambda q: math.hypot(delta, 2 * q) / D,
            lambda q: (math.hypot(delta, 2 * q) + delta) / (2 * q * D),
        )
    return (
        lambda q: math.hypot(delta, 2 * q) / D,
        lambda q: 2 * q / ((math.hypot(delta, 2 * q) - delta) * D),
    )


def _fast(delta, D):
    """(mu/D, chi/D) -> (1, 1/q) as delta = +D -> infinity."""
    return (lambda q: 1.0), (lambda q: 1 / q)


def _shared(problem, mobilities):
    m, D, b = problem.m, problem.D, float(problem.teacher.b[0])
    delta = float(problem.students.delta[0])
    mobility, turning = mobilities(delta, D)
    alpha0 = _start_angle(problem, 0)

    def rhs(tau, y):
        q, alpha = float(y[0]), float(y[1])
        return (
            -mobility(q) * (m * q / 2 - b * _g(alpha)),
            -turning(q) * b * _omega(alpha),
        )

    return Flow(
        problem=problem,
        label="reduced" if mobilities is _exact else "limit",
        names=("q", "alpha"),
        state0=np.array([problem.students.q[0], alpha0]),
        rhs=rhs,
        read=lambda y: _read_shared(problem, y[:, 0], y[:, 1]),
        rates=lambda y: _shared_rates(problem, mobilities, y[:, 0], y[:, 1]),
    )


def _shared_slow(problem):
    m, D, b = problem.m, problem.D, float(problem.teacher.b[0])

    def coefficient(alpha):
        return 2 * b * kernel.g(alpha) / m

    def rhs(tau, y):
        alpha = float(y[0])
        return (-2 * b * _g(alpha) / m * b * _omega(alpha) / D**2,)

    def rates(y):
        turning = coefficient(y[:, 0]) / D**2
        direction = turning * coefficient(y[:, 0]) * (b * kernel.omega(y[:, 0])) ** 2
        return np.repeat(np.stack([0 * direction, direction], 1)[:, :, None], m, axis=2)

    return Flow(
        problem=problem,
        label="limit",
        names=("alpha",),
        state0=np.array([_start_angle(problem, 0)]),
        rhs=rhs,
        read=lambda y: _read_shared(problem, coefficient(y[:, 0]), y[:, 0]),
        rates=rates,
    )


def _read_shared(problem, q, alpha):
    m, b = problem.m, problem.teacher.b[0]
    loss = (m * q - b) ** 2 / 4 + m * q * b * kernel.excess(alpha)
    s = np.repeat(_in_plane(problem, alpha)[:, None], m, axis=1)
    return np.repeat(q[:, None], m, axis=1), s, _constant_delta(problem, len(q)), loss


def _shared_rates(problem, mobilities, q, alpha):
    m, b = problem.m, float(problem.teacher.b[0])
    mobility, turning = mobilities(float(problem.students.delta[0]), problem.D)
    mobility = np.array([mobility(v) for v in q.tolist()])
    turning = np.array([turning(v) for v in q.tolist()])
    coefficient = mobility * (m * q / 2 - b * kernel.g(alpha)) ** 2
    direction = turning * q * (b * kernel.omega(alpha)) ** 2
    return np.repeat(np.stack([coefficient, direction], axis=1)[:, :, None], m, axis=2)


def _constant_delta(problem, n):
    return np.tile(problem.students.delta, (n, 1))


# --- one student apart, the others equal: state (q, P, theta, psi) -----------------------------


def _split(problem):
    """(k, j): the unit apart and one of the M = m - 1 equal others."""
    st, m = problem.students, problem.m
    columns = np.column_stack([st.q, st.delta, st.s])
    alike = (columns[:, None] == columns[None]).all(axis=2).sum(axis=1)
    k = int(np.argmin(alike))
    if m < 2 or not np.all(np.delete(alike, k) >= m - 1):
        raise ValueError("the reduced flow needs one unit apart and m - 1 equal others")
    return k, (k + 1) % m


def _selection_start(problem):
    k, j = _split(problem)
    q, s = problem.students.q, problem.students.s
    if problem.teacher.b[0] != 1 or q[k] <= 0:
        raise ValueError(
            f"the reduced flow needs teacher coefficient 1 and q > 0, "
            f"got {problem.teacher.b!r} and {q[k]!r}"
        )
    if np.any(s[k] != s[j]):
        raise ValueError("the reduced flow starts from one common direction; use population")
    psi = _start_angle(problem, j)
    return k, j, np.array([q[k], (problem.m - 1) * q[j], psi, psi])


def _selection(problem):
    k, j, state0 = _selection_start(problem)
    M, D = problem.m - 1, problem.D
    mobility_k, turning_k = _exact(float(problem.students.delta[k]), D)
    mobility_j, turning_j = _exact(float(problem.students.delta[j]), D)

    def rhs(tau, y):
        q, P, theta, psi = y.tolist()
        alpha = psi - theta
        g_alpha, omega_alpha = _g(alpha), _omega(alpha)
        return (
            -mobility_k(q) * (q / 2 + P * g_alpha - _g(theta)),
            -M * mobility_j(P / M) * (P / 2 + q * g_alpha - _g(psi)),
            -turning_k(q) * (P * omega_alpha + _omega(theta)),
            -turning_j(P / M) * (_omega(psi) - q * omega_alpha),
        )

    def rates(y):
        q = np.stack([y[:, 0], y[:, 1] / M])
        delta = problem.students.delta[[k, j], None]
        a_squared = q * gauge.chi(q, delta)
        return _selection_rates(problem, k, y.T, gauge.mu(q, delta) / D, a_squared / D)

    return Flow(
        problem=problem,
        label="reduced",
        names=("q", "P", "theta", "psi"),
        state0=state0,
        rhs=rhs,
        read=lambda y: _read_selection(problem, k, *y.T),
        rates=rates,
        kink=lambda y: y[2],
    )


def _selection_limit(problem):
    k, j, state0 = _selection_start(problem)
    delta, M = problem.students.delta, problem.m - 1
    if not delta[k] > 0 > delta[j] or delta[k] != -delta[j] or delta[k] != problem.D:
        raise ValueError(f"the limit needs one +D and m - 1 times -D, got delta={delta!r}")
    phi = float(state0[3])
    g_phi = _g(phi)

    def rhs(tau, y):
        q, P, theta = y.tolist()
        alpha = phi - theta
        g_alpha = _g(alpha)
        return (
            -(q / 2 + P * g_alpha - _g(theta)),
            -M * (P / 2 + q * g_alpha - g_phi),
            -(P * _omega(alpha) + _omega(theta)) / q,
        )

    def rates(y):
        n = len(y)
        return _selection_rates(
            problem, k, (*y.T, np.full(n, phi)), (np.ones(n), np.ones(n)), (1.0, 0.0)
        )

    return Flow(
        problem=problem,
        label="limit",
        names=("q", "P", "theta"),
        state0=state0[:3],
        rhs=rhs,
        read=lambda y: _read_selection(problem, k, *y.T, np.full(len(y), phi)),
        rates=rates,
        kink=lambda y: y[2],
    )


def _read_selection(problem, k, q, P, theta, psi):
    """E = (q + P - 1)^2/4 + q h(theta) + P h(psi) - q P h(psi - theta), h = 1/2 - g."""
    h = kernel.excess
    loss = (q + P - 1) ** 2 / 4 + q * h(theta) + P * h(psi) - q * P * h(psi - theta)
    coefficients = np.repeat(P[:, None] / (problem.m - 1), problem.m, axis=1)
    coefficients[:, k] = q
    s = np.repeat(_in_plane(problem, psi)[:, None], problem.m, axis=1)
    s[:, k] = _in_plane(problem, theta)
    return coefficients, s, _constant_delta(problem, len(q)), loss


def _selection_rates(problem, k, state, mobility, a_squared):
    """mu B^2/D and a^2 |P T|^2/D of each unit: mobility = mu/D, a_squared = a^2/D (5)."""
    q, P, theta, psi = state
    g, omega, alpha = kernel.g, kernel.omega, psi - theta
    out = np.empty((len(q), 2, problem.m))
    out[:, 0] = (mobility[1] * (P / 2 + q * g(alpha) - g(psi)) ** 2)[:, None]
    out[:, 1] = (a_squared[1] * (omega(psi) - q * omega(alpha)) ** 2)[:, None]
    out[:, 0, k] = mobility[0] * (q / 2 + P * g(alpha) - g(theta)) ** 2
    out[:, 1, k] = a_squared[0] * (P * omega(alpha) + omega(theta)) ** 2
    return out


# --- original parameters of all students: state (a, w) -----------------------------------------


def population(problem):
    """Gradient flow of L in the original parameters (a, w), Gaussian inputs (1)-(2), (A.3).

    T_i = sum_j a_j G(w_i, w_j) - sum_k b_k G(w_i, u_k),
    a_i' = -w_i.T_i / D,   w_i' = -a_i T_i / D.

    State: a (m,), then w (m d,) by rows.  The Jacobian is minus the Hessian of L, over D.
    """
    m, d, D = problem.m, problem.d, problem.D
    a0, w0 = problem.weights()

    def rhs(tau, y):
        a, w = y[:m], y[m:].reshape(m, d)
        T = force(a, w, problem.teacher)
        out = np.empty_like(y)
        out[:m] = -np.einsum("ij,ij->i", w, T) / D
        out[m:] = (-(a / D)[:, None] * T).ravel()
        return out

    def read(y):
        a, w = y[:, :m], y[:, m:].reshape(-1, m, d)
        q, s, delta = gauge.coordinates(a, w)
        return q, s, delta, _network_loss(q, s, problem.teacher)

    def rates(y):
        out = np.empty((len(y), 2, m))
        for row, state in zip(out, y, strict=True):
            a, w = state[:m], state[m:].reshape(m, d)
            T, r2 = force(a, w, problem.teacher), np.einsum("ij,ij->i", w, w)
            wT = np.einsum("ij,ij->i", w, T)
            row[0] = (a**2 + r2) * wT**2 / r2 / D
            across = T - (wT / r2)[:, None] * w
            row[1] = a**2 * np.einsum("ij,ij->i", across, across) / D
        return out

    return Flow(
        problem=problem,
        label="population",
        names=tuple([f"a{i}" for i in range(m)] + [f"w{i},{c}" for i in range(m) for c in range(d)]),
        state0=np.concatenate([a0, w0.ravel()]),
        rhs=rhs,
        read=read,
        rates=rates,
        jacobian=lambda tau, y: -hessian(y[:m], y[m:].reshape(m, d), problem.teacher) / D,
    )


def _network_loss(q, s, teacher):
    n = len(q)
    c = np.concatenate([q, np.tile(-teacher.b, (n, 1))], axis=1)
    directions = np.concatenate([s, np.tile(teacher.u, (n, 1, 1))], axis=1)
    return kernel.mixture_loss(c, directions)


def force(a, w, teacher):
    """T_i = sum_j a_j G(w_i, w_j) - sum_k b_k G(w_i, u_k): a (m,), w (m, d) -> (m, d).

    In the plane by sorted angles, O(m log m); elsewhere over all pairs.
    """
    if w.shape[1] == 2:
        return _force_plane(a, w, teacher)
    return _force_pairs(a, w, teacher)


def _sources(a, w, teacher):
    """Students with weight a, teachers with weight -b: coefficients (n,), vectors (n, d)."""
    return np.concatenate([a, -teacher.b]), np.concatenate([w, teacher.u])


def _unit_rows(w):
    """Row lengths (n,) and unit rows (n, d), without the checks of the public functions."""
    r = np.sqrt(np.einsum("ij,ij->i", w, w))
    return r, w / r[:, None]


def _pair_angles(x, y):
    """Angles of unit rows x (m, d), y (n, d) -> (m, n) by Kahan's formula."""
    minus = x[:, None] - y[None]
    plus = x[:, None] + y[None]
    dots = np.einsum("ijk,ijk->ij", minus, minus), np.einsum("ijk,ijk->ij", plus, plus)
    return 2 * np.arctan2(np.sqrt(dots[0]), np.sqrt(dots[1]))


def _force_pairs(a, w, teacher):
    c, v = _sources(a, w, teacher)
    r, x = _unit_rows(v)
    alpha = _pair_angles(x[: a.size], x)
    along = (np.sin(alpha) @ (c * r))[:, None] * x[: a.size]
    return (along + (np.pi - alpha) @ (c[:, None] * v)) / TWO_PI


def _force_plane(a, w, teacher):
    """The half-turn ahead of w_i and the half-turn behind it are ranges of the sorted angles.

    With t_j the polar angle of v_j and D_ij = t_j - t_i in [-pi, pi),
    2 pi T_i = sum_j c_j (|v_j| sin|D_ij| w^_i + (pi - |D_ij|) v_j): four prefix sums, of c v and
    of t c v, over one turn repeated twice.
    """
    c, v = _sources(a, w, teacher)
    t = np.arctan2(v[:, 1], v[:, 0])
    order = np.argsort(t)
    n, turn = t.size, t[order]
    turns = np.concatenate([turn, turn + TWO_PI])
    cv = (c[:, None] * v)[order]
    sums = np.zeros((2 * n + 1, 4))
    sums[1 : n + 1, :2] = sums[n + 1 :, :2] = cv
    sums[1:, 2:] = sums[1:, :2] * turns[:, None]
    np.cumsum(sums, axis=0, out=sums)

    ti = t[: a.size]
    start, half = np.searchsorted(turn, ti), np.searchsorted(turns, ti + np.pi)
    ahead = sums[half] - sums[start]
    behind = sums[start + n] - sums[half]
    gap = ahead[:, 2:] - behind[:, 2:]  # becomes sum |D_ij| c_j v_j
    gap -= ti[:, None] * ahead[:, :2] - (ti + TWO_PI)[:, None] * behind[:, :2]
    tilt = ahead[:, :2] - behind[:, :2]
    cos, sin = np.cos(ti), np.sin(ti)
    along = cos * tilt[:, 1] - sin * tilt[:, 0]
    out = np.pi * sums[n, :2] - gap
    out[:, 0] += along * cos
    out[:, 1] += along * sin
    return out / TWO_PI


def hessian(a, w, teacher):
    """Second derivatives of L in (a, w): a (m,), w (m, d) -> (m + m d, m + m d), symmetric.

    With alpha the angle of w_i and v_j, s and v^ their directions, n = (v^ - cos alpha s)/sin
    alpha, and the teachers counted as sources with weight -b:

        a_i a_j : K(w_i, w_j)
        a_i w_j : a_j G(w_j, w_i)                                      j != i;  T_i + a_i w_i/2
        w_i w_j : a_i a_j E x x^T 1{w_i.x > 0} 1{w_j.x > 0}            j != i
        w_i w_i : a_i^2 I/2 + sum_j a_i c_j |v_j| sin alpha (I - s s^T + n n^T) / (2 pi |w_i|)
    """
    m, d = w.shape
    c, v = _sources(a, w, teacher)
    r, x = _unit_rows(v)
    alpha = _pair_angles(x[:m], x)
    alpha[np.arange(m), np.arange(m)] = 0.0
    sin, cos = np.sin(alpha), np.cos(alpha)
    s = x[:m]
    across = x[None] - cos[:, :, None] * s[:, None]
    n = across / np.maximum(sin, 1e-300)[:, :, None]
    eye = np.eye(d)
    nn = n[..., :, None] * n[..., None, :]
    ss = s[:, :, None] * s[:, None, :]

    H = np.zeros((m + m * d, m + m * d))
    H[:m, :m] = r[:m, None] * r[:m] * (sin + (np.pi - alpha) * cos)[:, :m] / TWO_PI

    moment = (
        r[None, :, None] * sin[:, :, None] * s[:, None] + (np.pi - alpha)[:, :, None] * v[None]
    ) / TWO_PI  # G(w_i, v_j)
    aw = a[None, :, None] * moment[:, :m].transpose(1, 0, 2)  # a_j G(w_j, w_i)
    T = np.einsum("j,ijk->ik", c, moment)
    diagonal = np.arange(m)
    aw[diagonal, diagonal] = T + a[:, None] * w / 2
    H[:m, m:] = aw.reshape(m, m * d)
    H[m:, :m] = H[:m, m:].T

    sn = s[:, None, :, None] * n[..., None, :]
    both = (np.pi - alpha)[:, :, None, None] * eye + sin[:, :, None, None] * (
        cos[:, :, None, None] * (ss[:, None] - nn)
        + sin[:, :, None, None] * (sn + sn.transpose(0, 1, 3, 2))
    )
    ww = a[:, None, None, None] * a[None, :, None, None] * both[:, :m] / TWO_PI
    turning = (c * r)[None] * sin / (TWO_PI * r[:m, None]) * a[:, None]
    ww[diagonal, diagonal] = a[:, None, None] ** 2 * eye / 2 + np.einsum(
        "ij,ijkl->ikl", turning, eye - ss[:, None] + nn
    )
    H[m:, m:] = ww.transpose(0, 2, 1, 3).reshape(m * d, m * d)
    return H
