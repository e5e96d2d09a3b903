"""Following a flow: adaptive solvers with outputs that are steps, RK4, and Euler.

Accuracy notes, measured in the benchmarks: LSODA with plain-float right-hand sides is both
cheaper and more accurate than DOP853 here, and DOP853's dense output is its weak point, so
:func:`solve` makes every requested time the end of a step.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.integrate import DOP853, ODEintWarning, odeint
from scipy.optimize import brentq

from gaugelib.checks import finite, increasing, scalar_in, whole
from gaugelib.trajectory import Trajectory

RTOL, ATOL = 1e-13, 1e-15
METHODS = ("LSODA", "DOP853")


class SolverError(RuntimeError):
    """A solver failed, or a state became infinite or NaN; the message says where."""


@dataclass(frozen=True)
class Crossing:
    """Where an event function vanished: fast time tau and the state (k,) there."""

    tau: float
    state: np.ndarray


def solve(flow, tau, rtol=RTOL, atol=ATOL, *, method="LSODA", until=None):
    """Follow ``flow`` to the increasing fast times ``tau`` (first entry 0); a Trajectory.

    Parameters
    ----------
    method : "LSODA" (with the flow's Jacobian where it has one) or "DOP853"
    until : state -> number, optional.  The trajectory ends where it first vanishes; that time
        is the last entry of ``tau``, exact to the solver's accuracy.

    Where the flow has a kink (a state at which its right-hand side is not smooth), the crossing
    is located and the solver restarted there.  Raises SolverError on failure or if a number is
    not finite, ValueError for bad arguments.
    """
    tau = increasing("tau", tau)
    if tau[0] != 0:
        raise ValueError(f"tau must start at 0, got {tau[0]!r}")
    states = _states(flow, flow.state0, tau, _tolerances(rtol, atol), _stepper(method))
    if until is not None:
        stop = _first_crossing(flow, tau, states, until, rtol, atol, method)
        if stop is not None:
            before = tau < stop.tau
            tau = np.append(tau[before], stop.tau)
            states = np.vstack([states[before], stop.state])
    return trajectory(flow, tau, states)


def crossing(flow, tau, event, rtol=RTOL, atol=ATOL, *, method="LSODA"):
    """First zero of ``event`` (state -> number) along the flow, as a :class:`Crossing`.

    The grid ``tau`` only brackets it; the time is found by root finding on the flow itself,
    integrated from the grid point before.  Raises ValueError if there is none on the grid.
    """
    tau = increasing("tau", tau)
    states = _states(flow, flow.state0, tau, _tolerances(rtol, atol), _stepper(method))
    found = _first_crossing(flow, tau, states, event, rtol, atol, method)
    if found is None:
        raise ValueError(f"event must vanish for some tau in [{tau[0]:g}, {tau[-1]:g}]; it does not")
    return found


def trajectory(flow, tau, states):
    """The Trajectory of states (n, k) of ``flow`` at fast times ``tau`` (n,)."""
    bad = ~np.isfinite(states).all(axis=1)
    if bad.any():
        raise SolverError(f"{flow.label}: state not finite at tau = {tau[np.argmax(bad)]:g}")
    q, s, delta, loss = flow.read(states)
    return Trajectory(flow.problem, flow.label, tau, q, s, delta, loss, states)


def _tolerances(rtol, atol):
    return scalar_in("rtol", rtol, 0, 1), scalar_in("atol", atol, 0, 1)


def _stepper(method):
    if method not in METHODS:
        raise ValueError(f"method must be one of {METHODS}, got {method!r}")
    return {"LSODA": _lsoda, "DOP853": _dop853}[method]


def _states(flow, y0, tau, tolerances, stepper):
    states = stepper(flow, y0, tau, tolerances)
    if flow.kink is None:
        return states
    values = np.array([flow.kink(y) for y in states])
    k = _sign_change(values)
    if k is None:
        return states
    at = _locate(flow, tau[k], states[k], tau[k + 1], flow.kink, tolerances, stepper)
    if not tau[k] < at.tau < tau[k + 1]:
        return states
    after = stepper(flow, at.state, np.append(at.tau, tau[k + 1 :]), tolerances)
    return np.vstack([states[: k + 1], after[1:]])


def _sign_change(values):
    """First k where values change sign between k and k + 1, or None."""
    flips = np.flatnonzero((values[:-1] != 0) & (values[:-1] * values[1:] <= 0))
    return int(flips[0]) if flips.size else None


def _first_crossing(flow, tau, states, event, rtol, atol, method):
    values = finite("event", [event(y) for y in states])
    k = _sign_change(values)
    if k is None:
        return None
    return _locate(flow, tau[k], states[k], tau[k + 1], event, (rtol, atol), _stepper(method))


def _locate(flow, t0, y0, t1, event, tolerances, stepper):
    """Zero of event on (t0, t1], by root finding on the flow integrated from (t0, y0)."""

    def state(t):
        if t <= t0:
            return y0
        return stepper(flow, y0, np.array([t0, t]), tolerances)[-1]

    if event(state(t1)) == 0:
        return Crossing(float(t1), state(t1))
    t = brentq(lambda t: event(state(t)), t0, t1, xtol=4e-16 * max(1.0, abs(t1)), rtol=1e-15)
    return Crossing(float(t), state(t))


def _lsoda(flow, y0, tau, tolerances):
    rtol, atol = tolerances
    with warnings.catch_warnings():
        warnings.simplefilter("error", ODEintWarning)
        try:
            return odeint(
                flow.rhs, y0, tau, tfirst=True, rtol=rtol, atol=atol, Dfun=flow.jacobian, mxstep=50000
            )
        except ODEintWarning as failure:
            raise SolverError(f"{flow.label}: LSODA failed: {failure}") from None


def _dop853(flow, y0, tau, tolerances):
    rtol, atol = tolerances

    def rhs(t, y):
        return np.asarray(flow.rhs(t, y))

    solver = DOP853(rhs, tau[0], y0, tau[1], rtol=max(rtol, 1e-13), atol=atol)
    states = [np.asarray(y0, dtype=float)]
    for bound in tau[1:]:
        solver.t_bound, solver.status = bound, "running"
        while solver.status == "running":
            message = solver.step()
        if solver.status == "failed":
            raise SolverError(f"{flow.label}: DOP853 failed at tau = {solver.t:g}: {message}")
        states.append(solver.y.copy())
    return np.array(states)


def euler(flow, h, steps, *, every=1):
    """y <- y + h y' for ``steps`` steps of fast time h; a Trajectory with every ``every``-th state.

    On :func:`gaugelib.flows.population` this *is* full-batch gradient descent on (a, w) with
    learning rate eta = h/D (C.4).
    """
    return _fixed_step(flow, h, steps, every, lambda tau, y: h * np.asarray(flow.rhs(tau, y)))


def rk4(flow, h, steps, *, every=1):
    """Classical fourth-order Runge-Kutta with step h of fast time; a Trajectory."""

    def increment(tau, y):
        k1 = np.asarray(flow.rhs(tau, y))
        k2 = np.asarray(flow.rhs(tau + h / 2, y + h / 2 * k1))
        k3 = np.asarray(flow.rhs(tau + h / 2, y + h / 2 * k2))
        k4 = np.asarray(flow.rhs(tau + h, y + h * k3))
        return h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    return _fixed_step(flow, h, steps, every, increment)


def _fixed_step(flow, h, steps, every, increment):
    h, steps = scalar_in("h", h, 0, np.inf), whole("steps", steps, 1)
    every = whole("every", every, 1)
    if steps % every:
        raise ValueError(f"every must divide steps={steps}, got {every!r}")
    y, states = np.array(flow.state0, dtype=float), [flow.state0]
    for n in range(1, steps + 1):
        y = y + increment((n - 1) * h, y)
        if not np.all(np.isfinite(y)):
            raise SolverError(f"{flow.label}: state not finite at step {n} (tau = {n * h:g})")
        if n % every == 0:
            states.append(y)
    return trajectory(flow, h * np.arange(0, steps + 1, every), np.array(states))
