"""The imbalance D_0(m, phi) that divides sharing from selection, for duplicates of one teacher.

    make full     or     .venv/bin/python full/selection-threshold.py

One and a half minutes on one core; JOBS=2 before the command takes two.  CONTRIBUTING.md: on a
cluster.

One student of imbalance +D, M = m - 1 equal ones of -D, all at the angle phi from the teacher and
of coefficient 1/m; reduced flow (B.1).  Writes data/selection-threshold.npz after every angle and
goes on where it stopped.

    phi (15,)            initial angles
    m (14,)              widths, 2 to 2^40; the equations know m as a number only
    D0 (n, 14)           geometric bisection to one part in 10^5; float64

A run is followed until X = D^2 psi^2 / (C P^2), C = (3/2M)(1/M + D/sqrt(D^2 + 4)), tells its fate:
X grows without bound if the designated student is selected and falls to 0 if all share (chapter
13, lemma on fusion).  It is read only once the residual is that of the slow motion,
|q + P - 1| < 0.2 and |q theta + P sin psi| < 0.3 q psi, and where the lemma holds, P < 0.05 M D or
psi < phi/30; or once psi < phi/1000.  Selected: X > 4 or P
gone, shared: X < 1/4, and X > 1 or not if psi < phi/30 comes first.  The lemma leaves out terms of
relative order psi^2 + P, so that this last rule and the bisection are right to 1e-4 in D.
"""

import math
import os
import warnings
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed, parallel_config
from scipy.integrate import ODEintWarning, odeint
from tqdm import tqdm

from gaugelib import store

TARGET = Path(__file__).parents[1] / "data" / "selection-threshold.npz"
NEAR_PI = (0.3, 0.1, 0.03, 0.01)
ANGLES = (
    *(np.pi / x for x in (64, 32, 16, 8, 6, 4, 3, 2.4, 2, 1.5, 1.2)),
    *(np.pi - x for x in NEAR_PI),
)
WIDTHS = tuple(2**k for k in (*range(1, 9), 10, 12, 16, 20, 30, 40))
RTOLS, ATOL, ACCURACY, MAX_STEPS = (1e-8, 1e-9, 1e-7, 1e-10, 1e-6), 1e-11, 1e-5, 5000


def g_omega(alpha):
    sin, rest = math.sin(alpha), math.pi - abs(alpha)
    return (abs(sin) + rest * math.cos(alpha)) / (2 * math.pi), rest * sin / (2 * math.pi)


def rates(y, tau, M, D):
    q, P, theta, psi = y.tolist()
    mu, mu_j = math.hypot(D, 2 * q), math.hypot(D, 2 * P / M)
    g, omega = g_omega(psi - theta)
    g_theta, omega_theta = g_omega(theta)
    g_psi, omega_psi = g_omega(psi)
    return (
        -mu / D * (q / 2 + P * g - g_theta),
        -M * mu_j / D * (P / 2 + q * g - g_psi),
        -(mu + D) / (2 * q * D) * (P * omega + omega_theta),
        -2 * P / (M * D * (mu_j + D)) * (omega_psi - q * omega),
    )


def advance(y, dt, M, D, atol):
    """The state after dt; where rounding holds LSODA's steps down, another tolerance frees them."""
    options = {"args": (M, D), "atol": atol, "mxstep": MAX_STEPS, "full_output": True}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ODEintWarning)
        for rtol in RTOLS:
            states, info = odeint(rates, y, [0, dt], rtol=rtol, **options)
            if info["message"] == "Integration successful.":
                return states[-1]
    raise RuntimeError(f"LSODA: {info['message']} at M = {M}, D = {D!r}, state {y!r}")


def selects(m, D, phi):
    M, dt = m - 1, 1 / m
    y, tau = np.array([1 / m, 1 - 1 / m, phi, phi]), 0.0
    C = 1.5 / M * (1 / M + D / math.hypot(D, 2))
    atol = [ATOL * min(1, 100 / m), ATOL, ATOL, ATOL]
    while tau < 1e12 / phi**3:
        y = advance(y, dt, M, D, atol)
        tau += dt
        dt = 0.3 * tau
        q, P, theta, psi = y.tolist()
        if P < 1e-8:
            return True
        slow = abs(q + P - 1) < 0.2 and abs(q * theta + P * math.sin(psi)) < 0.3 * q * psi
        slow = slow and (P < 0.05 * M * D or psi < phi / 30)
        if slow or psi < phi / 1000:
            X = D**2 * psi**2 / (C * P**2)
            if not 0.25 < X < 4 or psi < phi / 30:
                return X > 1
    raise RuntimeError(f"no verdict for m = {m}, D = {D!r}, phi = {phi!r}")


def threshold(m, phi):
    low = high = math.log(m) / (phi * (m - 1))
    while selects(m, low, phi):
        low /= 4
    while not selects(m, high, phi):
        high *= 4
    while high > (1 + ACCURACY) * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if selects(m, middle, phi) else (middle, high)
    return math.sqrt(low * high)


def main():
    axes, count = {"phi": np.array(ANGLES), "m": np.array(WIDTHS)}, len(WIDTHS)
    found = store.load(TARGET, most={"done": len(ANGLES)}, **axes, D0=("done", count))
    rows = list(found.get("D0", []))
    for phi in tqdm(ANGLES[len(rows) :]):
        rows.append(np.array(Parallel()(delayed(threshold)(m, phi) for m in WIDTHS)))
        store.save(TARGET, **axes, D0=np.array(rows))


if __name__ == "__main__":
    with parallel_config(n_jobs=int(os.environ.get("JOBS", "1"))):
        main()
