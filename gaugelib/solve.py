"""Following a flow: adaptive solvers, the time of an event, RK4, and Euler.

Accuracy, measured in ``benchmarks/``: LSODA with right-hand sides in plain floats is cheaper than
DOP853 and ends within about 20 times ``rtol`` on the reduced flows to tau = 80.  The dense output
of DOP853 is its weak point, so here every requested time is the end of one of its steps.  The
kink of the reduced flows, |theta|^3 in g at theta = 0, is left to the step control: restarting the
solver there costs three times as much and changes no digit that LSODA has.
"""

import warnings
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from scipy.integrate import DOP853, ODEintWarning, odeint
from scipy.optimize import brentq

from gaugelib.checks import fast_times, finite, instance, scalar_in, whole
from gaugelib.flows import Flow
from gaugelib.trajectory import Trajectory

RTOL, ATOL = 1e-13, 1e-15
LEAST_RTOL = 1e-13  # both solvers fail or stop listening a little below
MAX_STEPS = 50_000  # of LSODA between two requested times


class SolverError(RuntimeError):
    """A solver failed, or a number became infinite or NaN; the message says where."""


@dataclass(frozen=True, eq=False)
class Crossing:
    """Where an event function vanished: fast time tau and the state (k,) there."""

    tau: float
    state: np.ndarray


def solve(flow, tau, rtol=RTOL, atol=ATOL, *, method="LSODA", until=None):
    """Follow ``flow`` to the increasing fast times ``tau`` (first entry 0); a Trajectory.

    Parameters
    ----------
    rtol, atol : in [1e-13, 1) and (0, 1); a coordinate's absolute tolerance is atol times its
        unit in ``flow.units``
    method : "LSODA" (with the flow's Jacobian where it has one) or "DOP853"
    until : state -> number, optional.  The trajectory ends at the first :func:`crossing` of it,
        whose time becomes the last entry of ``tau``; without a crossing it ends where ``tau`` does.

    Raises SolverError on failure or if a number is not finite, ValueError for bad arguments.
    """
    tau, follow = fast_times(tau), _follower(flow, rtol, atol, method)
    states = follow(flow.state0, tau)
    stop = None if until is None else _first_crossing(follow, tau, states, until)
    if stop is not None:
        before = tau < stop.tau
        tau, states = np.append(tau[before], stop.tau), np.vstack([states[before], stop.state])
    return trajectory(flow, tau, states)


def crossing(flow, tau, event, rtol=RTOL, atol=ATOL, *, method="LSODA"):
    """First zero of ``event`` (state -> number) along the flow, as a :class:`Crossing`.

    The grid ``tau`` (first entry 0) only brackets it: two zeros between neighbouring grid points
    go unseen.  Its time is a root found on the flow itself, integrated from the grid point before.
    An event that is zero at the start counts from when it has left zero.  Raises ValueError if
    there is none on the grid, and otherwise as :func:`solve`.
    """
    tau, follow = fast_times(tau), _follower(flow, rtol, atol, method)
    found = _first_crossing(follow, tau, follow(flow.state0, tau), event)
    if found is None:
        raise ValueError(f"event must vanish for some tau in (0, {tau[-1]:g}]; it does not")
    return found


def trajectory(flow, tau, states):
    """The Trajectory of states (n, k) of ``flow`` at fast times ``tau`` (n,)."""
    _check_finite(instance("flow", flow, Flow), tau, states)
    q, s, delta, loss = flow.read(states)
    return Trajectory(flow.problem, flow.label, tau, q, s, delta, loss, states)


def _check_finite(flow, tau, states):
    bad = ~np.isfinite(states).all(axis=1)
    if bad.any():
        raise SolverError(f"{flow.label}: state not finite at tau = {tau[np.argmax(bad)]:g}")


def _follower(flow, rtol, atol, method):
    """(y0, tau) -> states (n, k) of the flow that is at y0 at the time tau[0]."""
    instance("flow", flow, Flow)
    methods = {"LSODA": _lsoda, "DOP853": _dop853}
    if not isinstance(method, str) or method not in methods:
        raise ValueError(f"method must be one of {tuple(methods)}, got {method!r}")
    rtol, atol = scalar_in("rtol", rtol, 0, 1), scalar_in("atol", atol, 0, 1)
    if rtol < LEAST_RTOL:
        raise ValueError(f"rtol must be in [{LEAST_RTOL:g}, 1), got {rtol!r}")

    def follow(y0, tau):
        with _arithmetic_errors(flow):
            states = methods[method](flow, y0, tau, rtol, atol)
        _check_finite(flow, tau, states)
        return states

    return follow


@contextmanager
def _arithmetic_errors(flow):
    """Division by zero, overflow, sin(inf) and the like in a right-hand side: a SolverError."""
    try:
        with np.errstate(divide="raise", over="raise", invalid="raise"):
            yield
    except (ArithmeticError, ValueError) as failure:
        raise SolverError(f"{flow.label}: {failure} in the right-hand side") from failure


def _lsoda(flow, y0, tau, rtol, atol):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ODEintWarning)  # the message is read below
        states, info = odeint(
            flow.rhs,
            y0,
            tau,
            tfirst=True,
            rtol=rtol,
            atol=atol * flow.units,
            Dfun=flow.jacobian,
            mxstep=MAX_STEPS,
            full_output=True,
        )
    if info["message"] != "Integration successful.":
        reached = info["tcur"].max()
        raise SolverError(f"{flow.label}: LSODA stopped near tau = {reached:g}: {info['message']}")
    return states


def _dop853(flow, y0, tau, rtol, atol):
    def rhs(t, y):
        rates = np.asarray(flow.rhs(t, y))
        if not np.isfinite(rates).all():  # the solver would try NaN steps for ever
            raise SolverError(f"{flow.label}: rates not finite at tau = {t:g}")
        return rates

    solver = DOP853(rhs, tau[0], y0, tau[1], rtol=rtol, atol=atol * flow.units)
    states = [np.array(y0, dtype=float)]
    for bound in tau[1:]:
        solver.t_bound, solver.status = bound, "running"
        while solver.status == "running":
            message = solver.step()
        if solver.status == "failed":
            raise SolverError(f"{flow.label}: DOP853 failed at tau = {solver.t:g}: {message}")
        states.append(solver.y.copy())
    return np.array(states)


def _first_crossing(follow, tau, states, event):
    if not callable(event):
        raise ValueError(f"event must be a function of the state, got {event!r}")
    values = finite("event", [event(y) for y in states])
    if values.ndim != 1:
        raise ValueError(f"event must return one number, got shape {values.shape[1:]}")
    changes = np.flatnonzero((values[:-1] != 0) & (np.sign(values[:-1]) != np.sign(values[1:])))
    if changes.size == 0:
        return None
    k = changes[0]
    start, end = tau[k], tau[k + 1]

    def state(t):
        """The grid's own states at its ends, so that the bracket's signs hold."""
        if t >= end:
            return states[k + 1]
        if t - start <= 4 * np.spacing(t):  # LSODA refuses such a step
            return states[k]
        return follow(states[k], np.array([start, t]))[-1]

    t = brentq(lambda t: event(state(t)), start, end, xtol=1e-300)
    return Crossing(float(t), state(t))


def euler(flow, h, steps, *, every=1):
    """y <- y + h y' for ``steps`` steps of fast time h; a Trajectory with every ``every``-th state.

    On :func:`gaugelib.flows.population` this *is* full-batch gradient descent on (a, w) with
    learning rate eta = h/D (C.4).  h > 0; ``every`` divides ``steps``.  Raises SolverError if a
    number is not finite.
    """
    return _fixed_step(flow, h, steps, every, lambda tau, y: h * np.asarray(flow.rhs(tau, y)))


def rk4(flow, h, steps, *, every=1):
    """Classical fourth-order Runge-Kutta; arguments, result and errors as in :func:`euler`."""

    weights = np.array([1, 2, 2, 1]) / 6

    def increment(tau, y):
        k = np.empty((4, y.size))
        k[0] = flow.rhs(tau, y)
        k[1] = flow.rhs(tau + h / 2, y + h / 2 * k[0])
        k[2] = flow.rhs(tau + h / 2, y + h / 2 * k[1])
        k[3] = flow.rhs(tau + h, y + h * k[2])
        return h * (weights @ k)

    return _fixed_step(flow, h, steps, every, increment)


def _fixed_step(flow, h, steps, every, increment):
    instance("flow", flow, Flow)
    h, steps = scalar_in("h", h, 0, np.inf), whole("steps", steps, 1)
    every = whole("every", every, 1)
    if steps % every:
        raise ValueError(f"every must divide steps={steps}, got {every!r}")
    y, states = np.array(flow.state0, dtype=float), [flow.state0]
    with _arithmetic_errors(flow):
        for n in range(1, steps + 1):
            y = y + increment((n - 1) * h, y)
            if not np.isfinite(y).all():
                raise SolverError(f"{flow.label}: state not finite at step {n} (tau = {n * h:g})")
            if n % every == 0:
                states.append(y)
    return trajectory(flow, h * np.arange(0, steps + 1, every), np.array(states))
