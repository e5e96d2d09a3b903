"""The descriptions of training.  They differ in their right-hand side and in nothing else.

Every flow runs in fast time tau = D t and reports the same (q, s, delta, loss):

* :func:`limit`       D -> infinity, redundant directions frozen            (B.13)
* :func:`reduced`     exact at finite D, using the symmetry of duplicates    (B.1)
* :func:`population`  original parameters (a, w) of all students, any d and teacher (1)-(2)
* :func:`empirical`   the same on N samples instead of Gaussian inputs            (D.3)

:func:`weight_decay` adds to any of them, except the limit, a penalty on the parameters.
A new description is one more right-hand side returned as a :class:`Flow`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from operator import mul, sub

import numpy as np

from gaugelib import gauge, kernel
from gaugelib.checks import finite, instance, representable, scalar_in, vectors
from gaugelib.problem import Problem, Teacher
from gaugelib.samples import FEW, Samples

TWO_PI = 2 * math.pi
LEAST, LARGEST = 1e-150, 1e150  # lengths of input weights: their squares are floats
SHARE = 30  # with it the default atol adds less to errors than rtol does, at little cost


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
    units : (k,) or one, what absolute tolerances of the coordinates are multiples of
    decayed : (flow, lam) -> the same flow under weight decay, where there is one; it is called
        by :func:`weight_decay`
    """

    problem: Problem
    label: str
    names: tuple
    state0: np.ndarray
    rhs: Callable
    read: Callable
    rates: Callable
    jacobian: Callable | None = None
    units: np.ndarray | float = 1.0
    decayed: Callable | None = None

    def starting(self, state):
        """The same flow from another state, of the same shape."""
        state = finite("state", state)
        if state.shape != self.state0.shape:
            raise ValueError(f"state must have shape {self.state0.shape}, got {state.shape}")
        return replace(self, state0=state)


def _g_omega(alpha):
    """(g, omega) of :mod:`kernel` at one angle, in plain floats: cheaper than one numpy call."""
    sin, rest = math.sin(alpha), math.pi - abs(alpha)
    return (abs(sin) + rest * math.cos(alpha)) / TWO_PI, rest * sin / TWO_PI


def _exact(delta, D):
    """(q, fade) -> (mu/D, chi/D) at the imbalance fade * delta, in plain floats.

    See :func:`gauge.mu`, :func:`gauge.chi`; fade is 1 without weight decay.
    """

    def positive(q, fade=1.0):
        mu = math.hypot(fade * delta, 2 * q)
        return mu / D, (mu + fade * delta) / (2 * q * D)

    def negative(q, fade=1.0):
        mu = math.hypot(fade * delta, 2 * q)
        return mu / D, 2 * q / ((mu - fade * delta) * D)

    return positive if delta >= 0 else negative


def _fast(q, fade=1.0):
    """(mu/D, chi/D) as delta = +D -> infinity."""
    return 1.0, 1 / q


def _frozen(q, fade=1.0):
    """(mu/D, chi/D) as delta = -D -> infinity, in fast time."""
    return 1.0, 0.0


def reduced(problem):
    """The exact finite-D flow of duplicates.

    One unit apart, M = m - 1 equal others: state (q, P, theta, psi), alpha = psi - theta,
    mu+ and chi+ of the unit apart at q, mu- and chi- of the others at P/M  (B.1):

        q'     = -(mu+/D) [q/2 + P g(alpha) - g(theta)]
        P'     = -(M mu-/D) [P/2 + q g(alpha) - g(psi)]
        theta' = -(chi+/D) [P omega(alpha) + omega(theta)]
        psi'   = -(chi-/D) [omega(psi) - q omega(alpha)]

    All m units equal (one student, or the equal-scale control of D.7): state (q, alpha) with
    q' = -(mu/D) [m q/2 - q* g(alpha)], alpha' = -(chi/D) q* omega(alpha)  (6).
    theta runs through zero and on to negative angles; omega is odd, so nothing breaks.
    """
    if _all_equal(problem):
        delta = float(problem.students.delta[0])
        return _shared(problem, "reduced", _exact(delta, problem.D))
    k, j = _split(problem)
    delta = problem.students.delta.tolist()
    return _selection(problem, "reduced", _exact(delta[k], problem.D), _exact(delta[j], problem.D))


def limit(problem):
    """The limit D -> infinity on the fast clock (B.13), or on the slow clock for delta = -D.

    Duplicates with one +D: (q, P, theta) of :func:`reduced` with mu/D -> 1, chi+/D -> 1/q and
    psi = phi.  All units +D: q' = -(m q/2 - q* g), alpha' = -q* omega(alpha)/q.  All units -D:
    after a layer of width O(1) in tau, m q = 2 q* g(alpha) and
    alpha' = -q q* omega(alpha)/D^2 (A.6).  Other imbalances raise ValueError.
    """
    delta, D = instance("problem", problem, Problem).students.delta, problem.D
    if np.any(np.abs(delta) != D):
        raise ValueError(f"delta must be D or -D = {D:g} in the limit, got {delta!r}")
    if _all_equal(problem):
        return _shared(problem, "limit", _fast) if delta[0] > 0 else _shared_slow(problem)
    if (delta > 0).sum() != 1:
        raise ValueError(f"delta must be +D once and else -D in the limit, got {delta!r}")
    return _third_state_only(_selection(problem, "limit", _fast, _frozen))


def _all_equal(problem):
    st = instance("problem", problem, Problem).students
    return all(np.all(x == x[:1]) for x in (st.q, st.s, st.delta))


def _start_angle(problem):
    if problem.teacher.b.size != 1:
        raise ValueError(f"the reduced flows take one teacher, got {problem.teacher.b.size}")
    return float(kernel.angle(problem.students.s[0], problem.teacher.u[0]))


def _in_plane(problem, alphas):
    """Unit vectors at the angles ``alphas`` (...) from u, on the students' side: (..., d)."""
    u, s = problem.teacher.u[0], problem.students.s[0]
    across = s - (s @ u) * u
    size = np.linalg.norm(across)
    across = across / size if size > 0 else across  # s stays at u or -u
    return np.cos(alphas)[..., None] * u + np.sin(alphas)[..., None] * across


def _constant_delta(problem, n):
    return np.tile(problem.students.delta, (n, 1))


# --- weight decay -----------------------------------------------------------------------------


def weight_decay(flow, lam):
    """Gradient flow of L + (lam/2) sum_i (a_i^2 + |w_i|^2), described as ``flow`` is (A.2).

    Per unit of t the decay adds -lam a_i and -lam w_i, hence

        q_i' = -mu_i B_i - 2 lam q_i,   s_i' as before,   delta_i' = -2 lam delta_i:

    the imbalances fade as delta_i(0) exp(-2 lam t), t = tau/D.  In original parameters the state
    stays (a, w); a reduced state gets the coordinate "log fade" = -2 lam t, and mu, chi are taken
    at the faded imbalances.  ``loss`` is still L alone.  The dissipation (5) has no term for the
    decay, so ``rates`` raises.  lam > 0; a limit D -> infinity has no finite imbalance that could
    fade and raises.  Where students die, for lam of 1/2 and more per unit teacher, reduced
    coordinates end (chi ~ 1/q) and the solver may give up: take the original parameters.
    """
    lam = scalar_in("lam", lam, 0, np.inf)
    if instance("flow", flow, Flow).decayed is None:
        raise ValueError(f"flow must have finite imbalances that can fade, got {flow.label!r}")
    return flow.decayed(flow, lam)


def _no_rates(y):
    raise ValueError("rates must be taken without weight decay: (5) has no term for it")


def _shrinking(flow, lam):
    """In original parameters: y' = rhs - (lam/D) y."""
    c, k = lam / flow.problem.D, flow.state0.size

    def jacobian(tau, y):
        return flow.jacobian(tau, y) - c * np.eye(k)

    return replace(
        flow,
        label=f"{flow.label}, weight decay",
        rhs=lambda tau, y: np.asarray(flow.rhs(tau, y)) - c * y,
        rates=_no_rates,
        jacobian=None if flow.jacobian is None else jacobian,
    )


def _fading(flow, lam):
    """In reduced coordinates: coefficients shrink by 2 lam, and so do all imbalances."""
    c, k = lam / flow.problem.D, flow.state0.size
    shrinks = [2 * c * (name in ("q", "P")) for name in flow.names]

    def rhs(tau, y):
        rates = flow.rhs(tau, y[:k], math.exp(y[k]))
        shrunk = (x * rate for x, rate in zip(y.tolist(), shrinks))
        return *map(sub, rates, shrunk), -2 * c

    def read(y):
        q, s, delta, loss = flow.read(y[:, :k])
        return q, s, delta * np.exp(y[:, k:]), loss

    return replace(
        flow,
        label=f"{flow.label}, weight decay",
        names=(*flow.names, "log fade"),
        state0=np.append(flow.state0, 0.0),
        rhs=rhs,
        read=read,
        rates=_no_rates,
        decayed=None,
    )


# --- all students equal: state (q, alpha) -----------------------------------------------------


def _shared(problem, label, mobilities):
    m, b = problem.m, float(problem.teacher.b[0])

    def rhs(tau, y, fade=1.0):
        q, alpha = float(y[0]), float(y[1])
        coefficient, direction = mobilities(q, fade)
        g, omega = _g_omega(alpha)
        return -coefficient * (m * q / 2 - b * g), -direction * b * omega

    def rates(y):
        q, alpha = y.T
        mu, chi = np.array([mobilities(value) for value in q.tolist()]).T
        coefficient = mu * (m * q / 2 - b * kernel.g(alpha)) ** 2
        direction = chi * q * (b * kernel.omega(alpha)) ** 2
        return _for_each_unit(m, coefficient, direction)

    return Flow(
        problem=problem,
        label=label,
        names=("q", "alpha"),
        state0=np.array([problem.students.q[0], _start_angle(problem)]),
        rhs=rhs,
        read=lambda y: _read_shared(problem, *y.T),
        rates=rates,
        decayed=_fading if label == "reduced" else None,
    )


def _shared_slow(problem):
    m, D, b = problem.m, problem.D, float(problem.teacher.b[0])

    def rhs(tau, y):
        g, omega = _g_omega(float(y[0]))
        return (-2 * b * g / m * b * omega / D**2,)

    def coefficient(alpha):
        return 2 * b * kernel.g(alpha) / m

    def rates(y):
        alpha = y[:, 0]
        direction = (coefficient(alpha) * b * kernel.omega(alpha) / D) ** 2
        return _for_each_unit(m, np.zeros_like(direction), direction)

    return Flow(
        problem=problem,
        label="limit",
        names=("alpha",),
        state0=np.array([_start_angle(problem)]),
        rhs=rhs,
        read=lambda y: _read_shared(problem, coefficient(y[:, 0]), y[:, 0]),
        rates=rates,
    )


def _for_each_unit(m, coefficient, direction):
    return np.repeat(np.stack([coefficient, direction], axis=1)[:, :, None], m, axis=2)


def _read_shared(problem, q, alpha):
    """E = (m q - b)^2/4 + m q b h(alpha), h = 1/2 - g."""
    m, b = problem.m, problem.teacher.b[0]
    loss = (m * q - b) ** 2 / 4 + m * q * b * kernel.excess(alpha)
    s = np.repeat(_in_plane(problem, alpha)[:, None], m, axis=1)
    return np.repeat(q[:, None], m, axis=1), s, _constant_delta(problem, len(q)), loss


# --- one student apart, the others equal: state (q, P, theta, psi) -----------------------------


def _split(problem):
    """(k, j): the unit apart (of two, that with the larger imbalance) and one of the others."""
    st, m = problem.students, problem.m
    columns = np.column_stack([st.q, st.delta, st.s])
    alike = (columns[:, None] == columns[None]).all(axis=2).sum(axis=1)
    k = int(np.lexsort((-st.delta, alike))[0])
    if not np.all(np.delete(alike, k) == m - 1):
        raise ValueError("students must be one apart and m - 1 equal others; use population")
    return k, (k + 1) % m


def _selection(problem, label, mobilities_k, mobilities_j):
    k, j = _split(problem)
    q0, s, M, phi = problem.students.q, problem.students.s, problem.m - 1, _start_angle(problem)
    if problem.teacher.b[0] != 1:
        raise ValueError(f"b must be 1 in the reduced flow, got {problem.teacher.b[0]!r}")
    if np.any(q0 <= 0):
        raise ValueError(f"q must be positive in the reduced flow, got {q0!r}")
    if np.any(s[k] != s[j]):
        raise ValueError("students must start in one direction in the reduced flow; use population")

    def rhs(tau, y, fade=1.0):
        q, P, theta, psi = y.tolist()
        mu_k, chi_k = mobilities_k(q, fade)
        mu_j, chi_j = mobilities_j(P / M, fade)
        g, omega = _g_omega(psi - theta)
        g_theta, omega_theta = _g_omega(theta)
        g_psi, omega_psi = _g_omega(psi)
        return (
            -mu_k * (q / 2 + P * g - g_theta),
            -M * mu_j * (P / 2 + q * g - g_psi),
            -chi_k * (P * omega + omega_theta),
            -chi_j * (omega_psi - q * omega),
        )

    def rates(y):
        q, P, theta, psi = y.T
        g, omega, alpha = kernel.g, kernel.omega, psi - theta
        mu_k, chi_k = np.array([mobilities_k(value) for value in q.tolist()]).T
        mu_j, chi_j = np.array([mobilities_j(value) for value in (P / M).tolist()]).T
        coefficient = mu_j * (P / 2 + q * g(alpha) - g(psi)) ** 2
        direction = chi_j * P / M * (omega(psi) - q * omega(alpha)) ** 2
        out = _for_each_unit(problem.m, coefficient, direction)
        out[:, 0, k] = mu_k * (q / 2 + P * g(alpha) - g(theta)) ** 2
        out[:, 1, k] = chi_k * q * (P * omega(alpha) + omega(theta)) ** 2
        return out

    return Flow(
        problem=problem,
        label=label,
        names=("q", "P", "theta", "psi"),
        state0=np.array([q0[k], M * q0[j], phi, phi]),
        rhs=rhs,
        read=lambda y: _read_selection(problem, k, *y.T),
        rates=rates,
        decayed=_fading if label == "reduced" else None,
    )


def _third_state_only(flow):
    """The flow of (q, P, theta) that is left where psi does not move."""
    psi = flow.state0[3:]

    def complete(y):
        return np.column_stack([y, np.full(len(y), psi)])

    return replace(
        flow,
        names=flow.names[:3],
        state0=flow.state0[:3],
        rhs=lambda tau, y: flow.rhs(tau, np.concatenate([y, psi]))[:3],
        read=lambda y: flow.read(complete(y)),
        rates=lambda y: flow.rates(complete(y)),
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


# --- original parameters of all students: state (a, w) -----------------------------------------


def population(problem):
    """Gradient flow of L in the original parameters (a, w), Gaussian inputs (1)-(2), (A.3).

    T_i = sum_j a_j G(w_i, w_j) - sum_k b_k G(w_i, u_k),
    a_i' = -w_i.T_i / D,   w_i' = -a_i T_i / D.

    State: a (m,), then w (m d,) by rows.  The Jacobian is minus the Hessian of L, over D.
    """
    m, d, D = instance("problem", problem, Problem).m, problem.d, problem.D
    teacher = problem.teacher

    def losses(a, w):
        q, s, _ = gauge.coordinates(a, w)
        return _network_loss(q, s, teacher)

    return replace(
        _original(problem, "population", np.arange(m), lambda a, w: _force(a, w, teacher), losses),
        jacobian=lambda tau, y: -_hessian(y[:m], y[m:].reshape(m, d), teacher) / D,
    )


def empirical(problem, X, y=None, *, symmetric=False):
    """Gradient flow of L = (1/2N) sum_n (f(x_n) - y_n)^2 in the original parameters (D.3).

    T_i = (1/N) sum_n (f(x_n) - y_n) x_n 1{w_i.x_n > 0},  a_i' = -w_i.T_i/D,  w_i' = -a_i T_i/D.

    X (N, d) inputs, y (N,) labels; without labels those of the teacher.  State: a, then w by
    rows.  With ``symmetric`` one student stands for all that start equal, which stay equal: the
    state is that of these representatives, in the order in which they first appear.

    The loss and the two dissipation rates are averages over the samples too.  T jumps where a
    line w_i.x = 0 crosses a sample: use fixed steps (:func:`gaugelib.solve.rk4`) or
    :func:`gaugelib.crossings.follow`.  In the plane a rate costs O(m log m + m log N).
    """
    samples = Samples(X, instance("problem", problem, Problem).teacher, y)
    kinds = classes(problem) if symmetric else np.arange(problem.m)
    copies = np.bincount(kinds).astype(float)
    flow = _original(
        problem,
        "empirical",
        kinds,
        force=lambda a, w: samples.force(copies * a, w),
        losses=lambda a, w: samples.losses(copies * a, w),
    )
    if problem.d == 2 and copies.size <= FEW:
        return replace(flow, rhs=_plain_rates(samples, copies.tolist(), problem.D))
    return flow


def classes(problem):
    """(m,): for each student the number of its class of equal ones, by first appearance."""
    st = instance("problem", problem, Problem).students
    rows = np.column_stack([st.q, st.delta, st.s])
    _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    rank = np.empty_like(first)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[inverse]


def _plain_rates(samples, copies, D):
    """rhs of few students in the plane, in plain Python."""
    n, unit = len(copies), -1 / D

    def rhs(tau, y):
        values = y.tolist()
        if len(values) != 3 * n:
            raise ValueError(f"y must have shape ({3 * n},), got {y.shape}")
        a, w = values[:n], list(map(complex, values[n::2], values[n + 1 :: 2]))
        T = samples.force_of_few(list(map(mul, copies, a)), w)
        a_rates, w_rates = [], []
        for ai, wi, pull in zip(a, w, T):
            pull *= unit
            a_rates.append(wi.real * pull.real + wi.imag * pull.imag)
            pull *= ai
            w_rates += pull.real, pull.imag
        return a_rates + w_rates

    return rhs


def _original(problem, label, classes, force, losses):
    """The flow a_i' = -w_i.T_i / D, w_i' = -a_i T_i / D of one student for each class.

    classes (m,): the class 0, 1, ... of each student; force: (a, w) -> T; losses: records of
    (a, w) of all classes -> (n,).
    """
    d, D = problem.d, problem.D
    first = np.unique(classes, return_index=True)[1]
    n = first.size
    a0, w0 = _students(*(parameter[first] for parameter in problem.weights()), problem.teacher)
    names = [f"a{i}" for i in range(n)] + [f"w{i},{c}" for i in range(n) for c in range(d)]

    def rhs(tau, y):
        a, w = y[:n], y[n:].reshape(n, d)
        pull, out = force(a, w) * (-1 / D), np.empty_like(y)
        np.einsum("ij,ij->i", w, pull, out=out[:n])
        np.multiply(a[:, None], pull, out=out[n:].reshape(n, d))
        return out

    def read(y):
        a, w = y[:, :n], y[:, n:].reshape(-1, n, d)
        coordinates = (x[:, classes] for x in gauge.coordinates(a, w))
        return *coordinates, losses(a, w)

    def rates(y):
        out = np.empty((len(y), 2, n))
        for row, state in zip(out, y, strict=True):
            a, w = state[:n], state[n:].reshape(n, d)
            T, r2 = force(a, w), np.einsum("ij,ij->i", w, w)
            wT = np.einsum("ij,ij->i", w, T)
            row[0] = (a**2 + r2) * wT**2 / r2 / D
            across = T - (wT / r2)[:, None] * w
            row[1] = a**2 * np.einsum("ij,ij->i", across, across) / D
        return out[:, :, classes]

    return Flow(
        problem=problem,
        label=label,
        names=tuple(names),
        state0=np.concatenate([a0, w0.ravel()]),
        rhs=rhs,
        read=read,
        rates=rates,
        units=_units(problem, first, d),
        decayed=_shrinking,
    )


def _units(problem, first, d):
    """SHARE times the sizes of a and |w| where q = 1, but at most 1.

    Of a coordinate far below 1, as one of a and |w| is where |delta| is large, an absolute error
    is a larger one of q and s.  Up to |delta| = 800 all units are 1.
    """
    delta = problem.students.delta[first]
    big = np.sqrt(gauge.mu(1, delta) / 2 + np.abs(delta) / 2)
    a, r = np.where(delta >= 0, (big, 1 / big), (1 / big, big))
    return np.minimum(SHARE * np.concatenate([a, np.repeat(r, d)]), 1)


def _network_loss(q, s, teacher):
    n = len(q)
    c = np.concatenate([q, np.tile(-teacher.b, (n, 1))], axis=1)
    directions = np.concatenate([s, np.tile(teacher.u, (n, 1, 1))], axis=1)
    return kernel.mixture_loss(c, directions)


def force(a, w, teacher):
    """T_i = sum_j a_j G(w_i, w_j) - sum_k b_k G(w_i, u_k): a (m,), w (m, d) -> (m, d).

    In the plane by sorted angles, O(m log m); elsewhere over all pairs.  Raises ValueError unless
    each |w_i| is in [1e-150, 1e150].
    """
    a, w = _students(a, w, teacher)
    return representable("force", lambda: _force(a, w, teacher))


def _students(a, w, teacher):
    """a (m,) and w (m, d) as float arrays; raises if they have no force of this teacher."""
    a, w, d = finite("a", a), vectors("w", w), instance("teacher", teacher, Teacher).u.shape[1]
    if a.ndim != 1 or a.size == 0 or w.shape != (a.size, d):
        raise ValueError(f"a must be (m >= 1,) and w (m, {d}), got shapes {a.shape} and {w.shape}")
    squares = np.einsum("ij,ij->i", w, w)
    if squares.min() < LEAST**2 or squares.max() > LARGEST**2:
        raise ValueError(f"|w_i| must be in [{LEAST:g}, {LARGEST:g}], got w = {w!r}")
    return a, w


def _force(a, w, teacher):
    """:func:`force` as the flows call it, without checks."""
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
    """By the angles of all pairs, from their cosines.

    Such an angle is wrong by about eps/sin(alpha).  With a sine that belongs to it this moves G,
    whose slope is sin(alpha) |v|, by eps |v| only.
    """
    c, v = _sources(a, w, teacher)
    r, x = _unit_rows(v)
    s, p = x[: a.size], c * r
    cos = s @ x.T
    sin = np.sqrt(np.abs(1 - cos * cos))  # rounding takes cosines beyond 1
    along = (sin @ p)[:, None] * s
    return (along + np.arctan2(sin, -cos) @ (p[:, None] * x)) / TWO_PI


def _force_plane(a, w, teacher):
    """Sorted lines and prefix sums, with vectors of the plane as complex numbers.

    v_j = sigma_j |v_j| e_j with sigma_j = +-1, e_j = exp(i t_j) and t_j in [-pi/2, pi/2].  The
    angle of v_i and v_j is |t_i - t_j|, or pi - |t_i - t_j| where the signs differ, so with
    p_j = c_j |v_j| e_j

        2 pi T_i = sigma_i [e_i Im(conj(e_i) R_i) + pi/2 sum_j p_j - sum_j |t_i - t_j| p_j]
                   + pi/2 sum_j c_j v_j
        R_i = sum_{t_j > t_i} p_j - sum_{t_j < t_i} p_j,    Q_i: the same of the t_j p_j,
        sum_j |t_i - t_j| p_j = Q_i - t_i R_i.

    Equal t_j add zero and may be counted on either side.
    """
    c, v = _sources(a, w, teacher)
    z = v.view(complex)[:, 0]
    sigma = np.copysign(1.0, z.real)
    y = sigma * z
    t, p, e = np.arctan2(y.imag, y.real), c * y, y / np.abs(y)
    order = t.argsort()
    R, Q = np.empty_like(p), np.empty_like(p)
    for after, terms in ((R, p), (Q, t * p)):
        upto = terms[order].cumsum()
        after[order] = upto[-1] - 2 * upto
    turned = e * (e.conj() * R).imag + np.pi / 2 * p.sum() - (Q - t * R)
    T = (sigma * turned + np.pi / 2 * (c @ z)) / TWO_PI
    return T[: a.size].view(float).reshape(-1, 2)


def hessian(a, w, teacher):
    """Second derivatives of L in (a, w): a (m,), w (m, d) -> (m + m d, m + m d), symmetric.

    Teachers count as sources v_j with weight -b.  With alpha the angle of w_i and v_j, s_i the
    direction of w_i, and n_ij the unit vector across s_i towards v_j:

        a_i a_j : K(w_i, w_j)
        a_i w_j : a_j G(w_j, w_i)                                      j != i;  T_i + a_i w_i/2
        w_i w_j : a_i a_j [(pi - alpha) I + sin alpha (s_i s_j^T + n_ij n_ji^T)] / (2 pi)   j != i
        w_i w_i : a_i^2 I/2 + sum_j a_i c_j |v_j| sin alpha (I - s s^T + n n^T) / (2 pi |w_i|)

    Raises as :func:`force`.
    """
    a, w = _students(a, w, teacher)
    return representable("hessian", lambda: _hessian(a, w, teacher))


def _hessian(a, w, teacher):
    """:func:`hessian` as the flows call it, without checks."""
    m, d = w.shape
    c, v = _sources(a, w, teacher)
    r, x = _unit_rows(v)
    s, eye, own = x[:m], np.eye(d), np.arange(m)
    alpha = _pair_angles(s, x)
    sin, rest = np.sin(alpha)[:, :, None], (np.pi - alpha)[:, :, None]
    across = x - np.cos(alpha)[:, :, None] * s[:, None]
    n = across / np.maximum(np.linalg.norm(across, axis=2, keepdims=True), 1e-300)

    G = (sin * r[:, None] * s[:, None] + rest * v) / TWO_PI  # G(w_i, v_j)
    aa = np.einsum("ik,ijk->ij", w, G[:, :m])
    aw = a[:, None] * G[:, :m].transpose(1, 0, 2)
    aw[own, own] = np.einsum("j,ijk->ik", c, G) + a[:, None] * w / 2

    turns = _outer(s[:, None], s) + _outer(n[:, :m], n[:, :m].transpose(1, 0, 2))
    both = rest[:, :m, :, None] * eye + sin[:, :m, :, None] * turns
    ww = (a[:, None] * a)[:, :, None, None] * both / TWO_PI
    pull = (c * r)[:, None] * sin
    turned = pull.sum(axis=1)[:, :, None] * (eye - _outer(s, s)) + n.transpose(0, 2, 1) @ (pull * n)
    own_turn = (a / r[:m])[:, None, None] * turned / TWO_PI
    ww[own, own] = a[:, None, None] ** 2 * eye / 2 + own_turn

    aw = aw.reshape(m, m * d)
    return np.block([[aa, aw], [aw.T, ww.transpose(0, 2, 1, 3).reshape(m * d, m * d)]])


def _outer(x, y):
    return x[..., :, None] * y[..., None, :]
