"""Golden references: reduced flows (B.1) by Taylor series in extended precision.

    python -m venv /somewhere/else && /somewhere/else/bin/pip install heyoka numpy
    /somewhere/else/bin/python benchmarks/golden.py

writes data/golden-reduced.npz (see data/README.md).  heyoka integrates with Taylor series whose
order and step follow from the tolerance; 64-bit mantissas (x86 long double) and tolerance 1e-18
are used, and the states are rounded to float64 at the end.  g contains |theta|^3, which no Taylor
series crosses: an event at theta = 0 ends the step there and flips the sign that stands for
|theta| = sign * theta.  psi and psi - theta stay positive and need no event.

The program stops with an error unless a second run in float64 at tolerance 1e-16 agrees.
"""

from pathlib import Path

import heyoka as hy
import numpy as np

TARGET = Path(__file__).parents[1] / "data" / "golden-reduced.npz"
PHI = np.pi / 4
WIDTHS, IMBALANCES = (2, 4, 8, 16, 32), (8, 16, 32, 64, 128)
AGREEMENT = 2e-14  # of the float64 run: tens of steps of a few 1e-16 each


def integrator(m, D, real, tolerance):
    """Taylor integrator of (q, P, theta, psi) for m duplicates with imbalance D, angle PHI."""
    q, P, theta, psi = hy.make_vars("q", "P", "theta", "psi")
    sign, M, D = hy.par[0], real(m - 1), real(D)

    def g(x, size):
        return (hy.sin(size) + (hy.pi - size) * hy.cos(x)) / (real(2) * hy.pi)

    def omega(x, size):
        return (hy.pi - size) * hy.sin(x) / (real(2) * hy.pi)

    alpha, size = psi - theta, sign * theta
    mu = hy.sqrt(D**2 + real(4) * q**2)
    mu_other = hy.sqrt(D**2 + real(4) * (P / M) ** 2)
    rates = [
        (q, -mu / D * (q / real(2) + P * g(alpha, alpha) - g(theta, size))),
        (P, -M * mu_other / D * (P / real(2) + q * g(alpha, alpha) - g(psi, psi))),
        (theta, -(mu + D) / (real(2) * q * D) * (P * omega(alpha, alpha) + omega(theta, size))),
        (
            psi,
            -real(2) * P / (M * (mu_other + D) * D) * (omega(psi, psi) - q * omega(alpha, alpha)),
        ),
    ]

    def flip(ta, d_sgn):
        ta.pars[0] = -ta.pars[0]
        crossings.append(float(ta.time))
        return True

    crossings = []
    start = [real(1) / real(m), M / real(m), real(PHI), real(PHI)]
    ta = hy.taylor_adaptive(
        rates,
        np.array(start, dtype=real),
        pars=np.array([1], dtype=real),
        t_events=[hy.t_event(theta, callback=flip, fp_type=real)],
        tol=real(tolerance),
        fp_type=real,
    )
    return ta, crossings


def follow(m, D, tau, real=np.longdouble, tolerance=1e-18):
    """States (n, 4) at tau (n,), and the times at which theta vanished."""
    ta, crossings = integrator(m, D, real, tolerance)
    outcome, *_, states = ta.propagate_grid(np.asarray(tau, dtype=real))
    if outcome != hy.taylor_outcome.time_limit or not np.isfinite(states).all():
        raise RuntimeError(f"m={m}, D={D}: {outcome}")
    return states.astype(float), crossings


def main():
    short, long = np.arange(601) / 10, np.arange(801) / 10
    stored = {"tau-one": short, "tau-table": long[::10]}
    crossed, worst = [], 0.0
    for m in WIDTHS:
        for D in IMBALANCES:
            states, crossings = follow(m, D, long)
            double, _ = follow(m, D, long, float, 1e-16)
            difference = np.abs(states - double).max()
            worst = max(worst, difference)
            print(f"m={m:2d} D={D:3d} theta=0 at {crossings} float64 differs by {difference:.1e}")
            crossed.append(crossings[0] if len(crossings) == 1 else np.nan)
            stored[f"m{m}-D{D}"] = states[::10]
            if (m, D) == (8, 32):
                stored["one"] = states[: short.size]
    if worst > AGREEMENT:
        raise RuntimeError(f"long double and float64 differ by {worst:.1e} > {AGREEMENT}")
    stored["crossing"] = np.reshape(crossed, (len(WIDTHS), len(IMBALANCES)))
    TARGET.parent.mkdir(exist_ok=True)
    np.savez_compressed(TARGET, **stored)
    print(f"wrote {TARGET.name}: {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
