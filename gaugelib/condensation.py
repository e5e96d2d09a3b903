"""Two-layer ReLU networks of one variable under weight decay: kernel, field, exact limit.

After C. Xu, P. Lin, Z. Zhou and Z.-Q. J. Xu, "Weight Decay and Neuron Condensation" (2026,
arXiv 2610.04533), whose numbers stand in brackets: f(x) = sum_k a_k ReLU(w_k x + b_k) (1), inputs
x~ = (x, 1), objective (2)

    Phi = (1/n) sum_i e_i^2 + (lam/2) sum_k (a_k^2 + w_k^2 + b_k^2),   e_i = f(x_i) - y_i.

A network is an array (3, m) with rows a, w, b.  Its neurons have v = (w, b) = r (cos theta,
sin theta) and the amplitude |a| r.  Angles are in radians, and ReLU'(0) = 0.

This is the teacher-student problem of the other modules in the plane, with inputs x~ and a loss
twice as large: (a, v) with :func:`gaugelib.gauge.coordinates` gives (q, s, delta), where q = +-A
and delta is the paper's imbalance B.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from gaugelib import kernel
from gaugelib.checks import finite, instance, scalar_in, whole
from gaugelib.solve import SolverError

PI, TWO_PI = np.pi, 2 * np.pi
CUTS, NEWTON = 200, 20  # most rounds of half-planes, and most Newton steps, of a minimiser
CLOSE, OPTIMAL = 1e-6, 1e-12  # of max |q_e|/(lam/2) to 1: after the cuts, and after Newton
TOUCHING = 1e-4  # extrema of |q_e|/(lam/2) within it of 1 after the cuts may hold atoms


@dataclass(frozen=True, eq=False)
class Data:
    """n >= 1 training inputs x (n,), all different, and their targets y (n,)."""

    x: np.ndarray
    y: np.ndarray

    def __post_init__(self):
        x, y = finite("x", self.x), finite("y", self.y)
        if x.ndim != 1 or x.size == 0 or y.shape != x.shape:
            raise ValueError(f"x and y must be (n >= 1,), got shapes {x.shape} and {y.shape}")
        if np.unique(x).size < x.size:
            raise ValueError(f"x must be different numbers, got {self.x!r}")
        object.__setattr__(self, "x", x)
        object.__setattr__(self, "y", y)

    @property
    def rows(self):
        """x~ = (x, 1): (n, 2)."""
        return np.column_stack([self.x, np.ones(self.x.size)])


def two_kinks(x):
    """The target 0.2 ReLU(x - 1/3) + 0.2 ReLU(-x - 1/3) of the main experiment (53)."""
    x = finite("x", x)
    return 0.2 * np.maximum(x - 1 / 3, 0) + 0.2 * np.maximum(-x - 1 / 3, 0)


def four_points():
    """The training data of the main experiment (E.1): -1, -1/3, 1/3, 1 and :func:`two_kinks`."""
    return Data(np.array([-1, -1 / 3, 1 / 3, 1]), np.array([2, 0, 0, 2]) / 15)


def initial(seed, m, gamma):
    """Network (3, m) with independent N(0, m^(-2 gamma)) entries: all of a, of w, then of b.

    m >= 1; gamma >= 0 (below 1/2 the paper calls the initialization large).
    """
    m, gamma = whole("m", m, 1), scalar_in("gamma", gamma, 0, np.inf, closed_low=True)
    return np.random.default_rng(seed).normal(0, m**-gamma, (3, m))


# --- training -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Descent:
    """Gradient descent: networks (k, 3, m) kept before the updates ``epochs`` (k,), and the data
    loss (steps + 1,) before every update and after the last."""

    data: Data
    eta: float
    lam: float
    epochs: np.ndarray
    networks: np.ndarray
    loss: np.ndarray

    def at(self, epoch):
        """The network (3, m) kept at an epoch."""
        kept = np.flatnonzero(self.epochs == epoch)
        if kept.size == 0:
            raise ValueError(f"epoch must be one of those kept, {self.epochs}, got {epoch!r}")
        return self.networks[kept[0]]


def descend(data, network, *, eta, lam, steps, keep=()):
    """Full-batch descent Theta <- (1 - eta lam) Theta - eta grad L (E.2); a :class:`Descent`.

        da L = 2 r q = 2 v.M,   dv L = 2 a M,   M = (1/n) sum_i e_i x~_i 1{v.x~_i > 0}    (24)

    Parameters
    ----------
    network : (3, m)
    eta : in (0, inf); lam : in [0, 1/eta); steps : >= 1
    keep : epochs in 0..steps whose networks are kept; the last always is

    Raises SolverError if a number is not finite, where eta is too large.
    """
    instance("data", data, Data)
    eta, steps = scalar_in("eta", eta, 0, np.inf), whole("steps", steps, 1)
    lam = scalar_in("lam", lam, 0, 1 / eta, closed_low=True)
    epochs = np.unique(np.append(finite("keep", keep), steps))
    if epochs[0] < 0 or epochs[-1] > steps or np.any(epochs % 1):
        raise ValueError(f"keep must be whole numbers in 0..{steps}, got {keep!r}")
    theta, loss = _one_network(network).copy(), np.empty(steps + 1)
    kept = {int(epoch): None for epoch in epochs}
    with np.errstate(over="ignore", invalid="ignore"):
        for epoch, squares in enumerate(_updates(data, theta, eta, lam, steps)):
            loss[epoch] = squares
            if epoch in kept:
                kept[epoch] = theta.copy()
    if not np.isfinite(loss).all():  # infinite and NaN stay so
        epoch = np.argmax(~np.isfinite(loss))
        raise SolverError(f"descent: loss not finite at epoch {epoch} with eta = {eta:g}")
    return Descent(data, eta, lam, epochs.astype(int), np.array(list(kept.values())), loss)


def _updates(data, theta, eta, lam, steps):
    """Update ``theta`` (3, m) in place ``steps`` times; yields the loss before each and at last.

    One product for each of Z = X~ v, f, M and their like, all into arrays that are there already.
    """
    rows, n, m = data.rows, data.x.size, theta.shape[1]
    columns, shrink, scale = rows.T.copy(), 1 - eta * lam, 2 * eta / n
    a, v = theta[0], theta[1:]
    z, hidden, active = (np.empty((n, m)) for _ in range(3))
    e, weighted, change = np.empty(n), np.empty((2, n)), np.empty((3, m))
    for epoch in range(steps + 1):
        np.dot(rows, v, out=z)
        np.maximum(z, 0, out=hidden)
        np.dot(hidden, a, out=e)
        e -= data.y
        yield e.dot(e) / n
        if epoch == steps:
            return
        e *= scale
        np.greater(z, 0, out=active)
        np.dot(e, hidden, out=change[0])
        np.multiply(columns, e, out=weighted)
        np.dot(weighted, active, out=change[1:])
        change[1:] *= a
        theta *= shrink
        theta -= change


def velocity(data, network, lam):
    """-grad Phi, the velocity of the gradient flow: network (3, m), lam in [0, inf) -> (3, m).

        a' = -2 v.M - lam a,   v' = -2 a M - lam v,   M = (1/n) sum_i e_i x~_i 1{v.x~_i > 0}  (24)
    """
    instance("data", data, Data)
    lam = scalar_in("lam", lam, 0, np.inf, closed_low=True)
    with np.errstate(over="ignore", invalid="ignore"):
        speed = _velocity(data.rows, data.y, _one_network(network), lam)
    if not np.isfinite(speed).all():
        size = np.abs(network).max()
        raise ValueError(f"network must be small enough for a finite velocity, got {size:g}")
    return speed


def _velocity(rows, y, network, lam):
    z = rows @ network[1:]
    active = z > 0
    e = np.where(active, z, 0) @ network[0] - y
    M = rows.T @ (e[:, None] * active) / len(rows)
    return -2 * np.vstack([(network[1:] * M).sum(axis=0), network[0] * M]) - lam * network


def follow(data, network, lam, *, h, steps, every=1, targets=None):
    """The gradient flow by RK4: networks (1 + steps/every, 3, m) at the times 0, every h, ...

    Parameters
    ----------
    network : (3, m); lam : in [0, inf)
    h : step, not 0; a negative one follows the flow backwards
    steps : >= 1; every : divides it
    targets : t -> (n,), in place of data.y where the targets move

    A step across a kink errs in the second order in h.  Raises SolverError if a number is not
    finite.
    """
    instance("data", data, Data)
    lam = scalar_in("lam", lam, 0, np.inf, closed_low=True)
    h, z = float(finite("h", h)), _one_network(network)
    steps, every = whole("steps", steps, 1), whole("every", every, 1)
    if h == 0 or steps % every:
        raise ValueError(f"h must not be 0 and every divide steps={steps}, got {h!r}, {every!r}")

    def target(t):
        y = finite("targets(t)", targets(t))
        if y.shape != data.y.shape:
            raise ValueError(f"targets(t) must be {data.y.shape} like y, got shape {y.shape}")
        return y

    rows, fixed, path = data.rows, [data.y] * 3, [z]
    with np.errstate(over="ignore", invalid="ignore"):
        for n in range(1, steps + 1):
            y = fixed if targets is None else [target((n - 1 + s) * h) for s in (0, 0.5, 1)]
            k1 = _velocity(rows, y[0], z, lam)
            k2 = _velocity(rows, y[1], z + h / 2 * k1, lam)
            k3 = _velocity(rows, y[1], z + h / 2 * k2, lam)
            z = z + h / 6 * (k1 + 2 * k2 + 2 * k3 + _velocity(rows, y[2], z + h * k3, lam))
            if n % every == 0:
                path.append(z)
    path = np.array(path)
    if not np.isfinite(path).all():
        first = every * np.argmax(~np.isfinite(path).all(axis=(1, 2)))
        raise SolverError(f"follow: network not finite at step {first} with h = {h:g}")
    return path


def outputs(network, x):
    """f(x) = sum_k a_k ReLU(w_k x + b_k) (1): network (..., 3, m), x (n,) -> (..., n)."""
    a, w, b = np.moveaxis(_network(network), -2, 0)
    x = finite("x", x)
    hidden = np.maximum(w[..., None, :] * x[:, None] + b[..., None, :], 0)
    return (hidden @ a[..., None])[..., 0]


def polar(network):
    """(a, r, theta) of all neurons: v = r (cos theta, sin theta), r >= 0, theta in (-pi, pi].

    network (..., 3, m) -> three arrays (..., m).
    """
    a, w, b = np.moveaxis(_network(network), -2, 0)
    return a, np.hypot(w, b), np.arctan2(b, w)


# --- the residual correlation field ---------------------------------------------------------------


def features(theta, x):
    """phi_theta(x) = ReLU(x cos theta + sin theta) (3): (k,), (n,) -> (k, n)."""
    theta, x = finite("theta", theta), finite("x", x)
    return np.maximum(_preactivations(theta, x), 0)


def slopes(theta, x):
    """psi_theta(x) = d phi_theta(x)/d theta = 1{x cos + sin > 0} (cos theta - x sin theta) (3)."""
    theta, x = finite("theta", theta), finite("x", x)
    turned = np.cos(theta)[..., None] - np.sin(theta)[..., None] * x
    return np.where(_preactivations(theta, x) > 0, turned, 0.0)


def _preactivations(theta, x):
    return np.cos(theta)[..., None] * x + np.sin(theta)[..., None]


def field(e, theta, x):
    """q_e(theta) = (1/n) sum_i e_i phi_theta(x_i) (4): e (n,), theta (k,), x (n,) -> (k,)."""
    return features(theta, x) @ _residual(e, x) / np.size(x)


def field_slope(e, theta, x):
    """p_e(theta) = dq_e/dtheta (4), with ReLU'(0) = 0: shapes as in :func:`field`."""
    return slopes(theta, x) @ _residual(e, x) / np.size(x)


@dataclass(frozen=True, eq=False)
class Cells:
    """The at most 2n activation cells of the circle, for different inputs x (n,).

    Attributes
    ----------
    bounds : (2n,) sorted angles in [0, 2 pi) at which some x~_i.(cos, sin) vanishes; cell c lies
        between bounds[c] and bounds[c + 1], the last one around 2 pi
    active : (2n, n), the inputs at which the neurons of each cell are active
    """

    x: np.ndarray
    bounds: np.ndarray
    active: np.ndarray

    @classmethod
    def of(cls, x):
        x = Data(x, np.zeros(np.shape(x))).x
        normal = np.arctan2(1, x)  # x~ points there, and boundaries lie a quarter turn away
        bounds = np.sort(np.concatenate([normal + PI / 2, normal - PI / 2]) % TWO_PI)
        middles = (bounds + np.append(bounds[1:], bounds[0] + TWO_PI)) / 2
        return cls(x, bounds, _preactivations(middles, x) > 0)

    def containing(self, theta):
        """The cell of each angle: (k,) -> (k,) whole numbers; a bound belongs to the cell after."""
        theta = finite("theta", theta) % TWO_PI
        return (np.searchsorted(self.bounds, theta, side="right") - 1) % self.bounds.size

    def moments(self, e):
        """M_c = (1/n) sum over the active i of e_i x~_i (13): q_e = M_c.(cos, sin) in cell c."""
        weighted = _residual(e, self.x)[:, None] * _rows(self.x)
        return self.active @ weighted / self.x.size

    def extrema(self, e):
        """All strict local extrema of q_e on the circle; an :class:`Extrema`.

        Inside a cell |M| cos(theta - arg M) has one at arg M or opposite, where p_e changes its
        sign between the bounds, or none. At a bound there is one where p_e changes its sign
        strictly. A p_e that is 0 at a bound has the sign of the rest of its cell.
        """
        M = self.moments(e)
        size, towards = np.hypot(*M.T), np.arctan2(M[:, 1], M[:, 0])
        start, end = self.bounds - towards, np.roll(self.bounds, -1) - towards
        value = size * np.cos(start)
        steep = (np.sin(turn) != 0 for turn in (start, end))
        after = -np.sign(np.where(next(steep), np.sin(start), np.cos(start))) * (size > 0)
        last = np.sign(np.where(next(steep), -np.sin(end), np.cos(end))) * (size > 0)
        before = np.roll(last, 1)
        inside, at = after * last < 0, before * after < 0
        first = np.where(after > 0, towards, towards + PI)[inside]
        theta = np.concatenate([first % TWO_PI, self.bounds[at]])
        value = np.concatenate([(after * size)[inside], value[at]])
        peak = np.concatenate([after[inside] > 0, before[at] > 0])
        order = np.argsort(theta)
        inner = np.arange(theta.size) < np.count_nonzero(inside)
        return Extrema(theta[order], value[order], peak[order], inner[order])


@dataclass(frozen=True, eq=False)
class Extrema:
    """Strict local extrema of a field, by angle: ``theta``, ``value``, whether each is a maximum
    (``peak``) and whether it lies inside a cell (``smooth``), all (k,)."""

    theta: np.ndarray
    value: np.ndarray
    peak: np.ndarray
    smooth: np.ndarray


def suprema(x):
    """(C_phi, C_psi): suprema over theta of |phi_theta|_n and |psi_theta|_n, for inputs x (n,).

    |v|_n^2 = (1/n) sum_i v_i^2.  In a cell |phi|_n^2 = u.S u with u = (cos theta, sin theta) and
    S = (1/n) sum x~_i x~_i' over its active inputs; |psi|_n^2 is the same form a quarter turn on,
    and its supremum may be a limit at a bound.
    """
    cells, rows = Cells.of(x), _rows(x)
    ends = np.append(cells.bounds, cells.bounds[0] + TWO_PI)
    forms = [rows[on].T @ rows[on] / len(rows) for on in cells.active]
    arcs = list(zip(forms, ends, ends[1:]))
    squares = (max(_largest(S, a + turn, b + turn) for S, a, b in arcs) for turn in (0, PI / 2))
    return tuple(float(np.sqrt(square)) for square in squares)


def _largest(S, low, high):
    """Largest u.S u over u = (cos theta, sin theta), theta in [low, high], below 5 pi/2."""
    axis = np.arctan2(2 * S[0, 1], S[0, 0] - S[1, 1]) / 2
    inside = [theta for theta in axis + PI * np.arange(6) / 2 if low < theta < high]
    u = np.array([[np.cos(theta), np.sin(theta)] for theta in [low, high, *inside]])
    return np.einsum("ki,ij,kj->k", u, S, u).max()


# --- the tangent kernel ---------------------------------------------------------------------------


def tangent_kernel(network, x):
    """K_ij = (1/n) sum_k [ReLU(v_k.x~_i) ReLU(v_k.x~_j) + a_k^2 1_ki 1_kj x~_i.x~_j].

    K = J J^T/n with the Jacobian J of the outputs; network (3, m), x (n,) -> (n, n).
    """
    network, rows = _one_network(network), _rows(x)
    z = rows @ network[1:]
    hidden, active = np.maximum(z, 0), (z > 0) * network[0]
    return (hidden @ hidden.T + (active @ active.T) * (rows @ rows.T)) / len(rows)


def limiting_kernel(x):
    """lim K_0/m^(1 - 2 gamma) as m grows (31): (n,) -> (n, n).

    |x~_i| |x~_j| [sin alpha + 2 (pi - alpha) cos alpha]/(2 pi n), alpha the angle of x~_i, x~_j.
    """
    rows = _rows(x)
    one, other = rows[:, None, :], rows[None, :, :]
    both = 1 / 2 - kernel.angle(one, other) / TWO_PI  # probability that both are active
    return (kernel.inner(one, other) + both * (rows @ rows.T)) / len(rows)


def quasi_static(K, y, lam):
    """e_qs = -lam (K + lam I)^-1 y (8): K (n, n) symmetric, y (n,), lam in (0, inf) -> (n,)."""
    K, y, lam = finite("K", K), finite("y", y), scalar_in("lam", lam, 0, np.inf)
    if y.ndim != 1 or K.shape != (y.size, y.size):
        raise ValueError(f"K must be (n, n) and y (n,), got shapes {K.shape} and {y.shape}")
    return -lam * np.linalg.solve(K + lam * np.eye(y.size), y)


# --- groups and the exact limit -------------------------------------------------------------------


def groups(theta, gap):
    """Neighbours on the circle: angles (k,) are split where two of them are ``gap`` rad apart.

    Returns a list of arrays of indices, each in the order of its angles, gap in (0, 2 pi).
    """
    theta, gap = finite("theta", theta) % TWO_PI, scalar_in("gap", gap, 0, TWO_PI)
    if theta.ndim != 1:
        raise ValueError(f"theta must be (k,), got shape {theta.shape}")
    order = np.argsort(theta)
    steps = np.diff(theta[order], append=theta[order[:1]] + TWO_PI)
    ends = np.flatnonzero(steps > gap)
    if ends.size == 0:
        return [order] if order.size else []
    order = np.roll(order, -ends[-1] - 1)
    return np.split(order, ends[:-1] + order.size - ends[-1])


@dataclass(frozen=True, eq=False)
class Minimum:
    """The least (1/n)|e|^2 + lam sum_j |c_j| over all e = sum_j c_j phi_theta_j - y.

    Attributes
    ----------
    theta, c : (k,) angles in [0, 2 pi) and signed amplitudes of the atoms
    smooth : (k,) whether the atom lies inside a cell
    e : (n,) residual; value : the minimum
    height : max |q_e|/(lam/2) over the circle; optimality needs it to be 1
    """

    theta: np.ndarray
    c: np.ndarray
    smooth: np.ndarray
    e: np.ndarray
    value: float
    height: float

    def outputs(self, x):
        """f(x) = sum_j c_j phi_theta_j(x): (n,) -> (n,)."""
        return self.c @ features(self.theta, x)


def minimiser(data, lam):
    """The exact limit: :class:`Minimum` of Phi over networks of any width.

    At balance lam/2 (a^2 + r^2) = lam |a| r, so over signed measures of directions Phi is convex.
    Its dual: u = -2e/(lam n) is the point nearest to 2y/(lam n) of the convex set
    |u.phi_theta(X)| <= 1 for all theta.  Half-planes are added at all extrema of the nearest
    point's field that break it; then Newton's method solves q = -sign lam/2 at all atoms and
    p = 0 at those inside a cell.  Raises SolverError if either does not converge: if max |q_e| is
    above lam/2, or Phi above the dual value, by more than 1e-12 and the rounding of their sums.
    """
    instance("data", data, Data)
    lam = scalar_in("lam", lam, 0, np.inf)
    cells, goal = Cells.of(data.x), 2 * data.y / (lam * data.x.size)
    theta, sign = np.empty(0), np.empty(0)
    for _ in range(CUTS):
        half_planes = sign[:, None] * features(theta, data.x)
        u = _nearest(goal, half_planes)
        ends = cells.extrema(u * data.x.size)
        broken = np.abs(ends.value) > 1 + CLOSE
        if not broken.any():
            break
        theta = np.append(theta, ends.theta[broken])
        sign = np.append(sign, np.sign(ends.value[broken]))
    else:
        raise SolverError(f"minimiser: not within {CLOSE:g} after {CUTS} cuts at lam = {lam:g}")
    return _polished(data, lam, cells, ends, u)


def _nearest(goal, half_planes):
    """The u nearest to ``goal`` with half_planes @ u <= 1.

    Lawson and Hanson's least distance programming, chapter 23: one nonnegative least squares.
    """
    if len(half_planes) == 0:
        return goal
    beyond = half_planes @ goal - 1
    scale = np.abs(beyond).max()
    system = np.vstack([-half_planes.T, beyond / scale])
    target = np.append(np.zeros(goal.size), 1.0)
    solution, _ = nnls(system, target, maxiter=100 * len(beyond))
    return goal - scale * (solution @ half_planes) / (1 - system[-1] @ solution)


def _polished(data, lam, cells, ends, u):
    """The :class:`Minimum` by Newton's method from extrema of the nearly optimal field of u."""
    n, touching = data.x.size, np.abs(ends.value) > 1 - TOUCHING
    theta, smooth, sign = (x[touching] for x in (ends.theta, ends.smooth, np.sign(ends.value)))
    seen = sign[:, None] * features(theta, data.x)
    c = sign * (nnls(seen.T, data.y - u * lam * n / 2)[0] if theta.size else 1)
    theta, smooth, sign, c = (x[c != 0] for x in (theta, smooth, sign, c))
    for _ in range(NEWTON):
        phi, psi = features(theta, data.x), slopes(theta, data.x)[smooth]
        e = c @ phi - data.y
        q, p = phi @ e / n, psi @ e / n
        wrong = np.concatenate([q + sign * lam / 2, p])
        both = np.vstack([phi, c[smooth, None] * psi])
        jacobian = np.vstack([phi, psi]) @ both.T / n
        bent = np.arange(theta.size, len(jacobian))
        jacobian[np.flatnonzero(smooth), bent] += p
        jacobian[bent, bent] -= q[smooth]
        step = np.linalg.lstsq(jacobian, -wrong, rcond=1e-12)[0]
        c = c + step[: theta.size]
        theta[smooth] += step[theta.size :]
        if np.abs(wrong).max(initial=0) < 1e-14 * lam:
            break
    phi = features(theta, data.x)
    e = c @ phi - data.y
    height = np.abs(cells.extrema(e).value).max(initial=0) * 2 / lam
    value = float(e @ e / n + lam * np.abs(c).sum())
    gap = value + (e @ e + 2 * e @ data.y) / n  # to the dual value of e
    summed = np.abs(c) @ phi + np.abs(data.y)  # what rounds in e, and then in its products
    rounding = np.finfo(float).eps * (c.size + n + 2) * summed @ np.hypot(1, data.x) / n
    allowed = OPTIMAL + rounding * 2 / lam
    if height > 1 + allowed or gap > allowed * value:
        raise SolverError(
            f"minimiser: height {height:.17g} and gap {gap:g} at {theta} with lam = {lam:g}"
        )
    return Minimum(theta % TWO_PI, c, smooth, e, value, float(height))


def _one_network(network):
    network = _network(network)
    if network.ndim != 2:
        raise ValueError(f"network must be (3, m), got shape {network.shape}")
    return network


def _network(network):
    network = finite("network", network)
    if network.ndim < 2 or network.shape[-2] != 3:
        raise ValueError(f"network must be (..., 3, m), got shape {network.shape}")
    return network


def _residual(e, x):
    e = finite("e", e)
    if e.shape != np.shape(x):
        raise ValueError(f"e must be {np.shape(x)} like x, got shape {e.shape}")
    return e


def _rows(x):
    return Data(x, np.zeros(np.shape(x))).rows
