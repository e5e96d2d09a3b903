"""Computer-assisted proofs of selection among duplicates (chapter 16).

    make full     or     .venv/bin/python full/selection-proof.py

About 20 minutes on one core; JOBS=2 before the command takes two.  CONTRIBUTING.md: on a cluster.
Writes data/selection-proof.npz after every AT_ONCE proofs and goes on where it stopped.

    h-{m} (n,), centre-{m} (n + 1, 5), frame-{m} (n + 1, 5, 5), radius-{m} (n + 1, 5)
        m = 2 and 8, D = 32, phi = pi/4: patches of states (q, P, theta, psi, 1/D^2) that begin
        with all starts within 2^-12 of the duplicates, the flow for the time h[k] mapping patch k
        into patch k + 1, and the last one in a basin.  float64, exactly.
    width, imbalance, angle (.., 8)
        rows m, phi_low, phi_high, eps_low, eps_high, steps, tau, rate: all duplicates of m students
        with phi and 1/D^2 in these closed intervals are selected, proved in so many steps to tau,
        after which the loss decays like exp(-2 rate tau).  rate = 0: not proved; the attempt
        ended at tau.  The rows of "angle" cover [pi/4, 2 pi/3] for m = 2 and D >= 32.
"""

import math
import os
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed, parallel_config
from tqdm import tqdm

from gaugelib import store
from gaugelib.certify import NotProved
from gaugelib.selection import STEPS, duplicate_starts, prove

TARGET = Path(__file__).parents[1] / "data" / "selection-proof.npz"
ORDER, REACH, SPREAD = 16, 0.5, 1.01 * 2.0**-12
TUBES, WIDTHS, DS = (2, 8), tuple(range(2, 17)), (32, 16, 8, 4, 2, 1, 0.9, 0.8)
STRONG = (0.0, 2.0**-10)  # all D >= 32
EDGES = [k / 256 for k in range(201, 538)]  # from below pi/4 to above 2 pi/3
NARROWEST, AT_ONCE = 2.0**-13, 8


def around(x):
    """Two floats with the number that x was rounded from between them."""
    return (math.nextafter(x, -math.inf), math.nextafter(x, math.inf))


QUARTER = around(math.pi / 4)


def attempt(m, phi, eps, steps=STEPS):
    """One row."""
    seen = []
    try:
        start = duplicate_starts(m, phi, eps)
        proof = prove(m, start, steps=steps, each=lambda patch, h: seen.append(h))
    except NotProved:
        return [m, *phi, *eps, len(seen), sum(seen), 0.0]
    return [m, *phi, *eps, len(proof.h), proof.tau[-1], proof.basin.rate]


def cover(low, high):
    """Rows for [low, high], bisected until each is proved or narrow."""
    row = attempt(2, (low, high), STRONG, 1000)
    if row[-1] or high - low <= NARROWEST:
        return [row]
    middle = (low + high) / 2
    return cover(low, middle) + cover(middle, high)


def shapes():
    tubes = {}
    for m in TUBES:
        states = f"patches of {m}"
        tubes |= {f"h-{m}": (f"steps of {m}",), f"centre-{m}": (states, 5)}
        tubes |= {f"frame-{m}": (states, 5, 5), f"radius-{m}": (states, 5)}
    return tubes | {name: (name, 8) for name in ("width", "imbalance", "angle")}


def main():
    most = {"width": len(WIDTHS), "imbalance": len(DS)}
    stored = store.load(TARGET, most=most, **shapes())
    for m in TUBES:
        if f"h-{m}" not in stored:
            eps = 2.0**-10
            proof = prove(m, duplicate_starts(m, QUARTER, (eps, eps), SPREAD), ORDER, REACH)
            stored[f"h-{m}"] = np.array(proof.h)
            for part in ("centre", "frame", "radius"):
                stored[f"{part}-{m}"] = np.array([getattr(x, part) for x in proof.patches])
            store.save(TARGET, **stored)
    jobs = {
        "width": [delayed(attempt)(m, QUARTER, STRONG) for m in WIDTHS],
        "imbalance": [delayed(attempt)(2, QUARTER, around(D**-2)) for D in DS],
        "angle": [delayed(cover)(*pair) for pair in zip(EDGES, EDGES[1:])],
    }
    for name, groups in jobs.items():
        rows = list(stored.get(name, np.empty((0, 8))))
        done = len(rows) if name != "angle" else sum(row[2] in EDGES for row in rows)
        for first in tqdm(range(done, len(groups), AT_ONCE), desc=name):
            for found in Parallel()(groups[first : first + AT_ONCE]):
                rows += found if name == "angle" else [found]
            stored[name] = np.array(rows)
            store.save(TARGET, **stored)


if __name__ == "__main__":
    with parallel_config(n_jobs=int(os.environ.get("JOBS", "1"))):
        main()
