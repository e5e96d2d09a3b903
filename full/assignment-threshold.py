"""The imbalance from which on each designated pair has both features; and the limit of large D.

    make full     or     .venv/bin/python full/assignment-threshold.py

About 12 minutes on one core; JOBS=2 before the command takes two.  CONTRIBUTING.md: on a cluster.

Two teachers (4.3), population gradient flow, all 28 pairs in the order of PAIRS, seeds 0 to 19.
Writes data/assignment-threshold.npz after every pair and goes on where it stopped.

    steps (28, 20)       the pair has both features at D = 2^(steps/16) and not at 2^((steps-1)/16),
                         by bisection between D = 1/2 (step -16) and 512 (step 144), each run to
                         tau = 4000 + 250 D^2; int16; 145 if not even at D = 512
    parted (28, 20)      the limit D -> infinity (D = 10^5): the first record from which on each
                         designated student is within 0.1 of its own teacher, in either order;
                         records are spaced by 2.9 % up to tau = 10^5; inf if never; float32
    q (28, 20, 8)        the coefficients in that limit, then (or at tau = 10^5); float32
"""

import os
from itertools import combinations
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed, parallel_config
from tqdm import tqdm

from gaugelib import flows, kernel, store
from gaugelib.problem import two_teachers
from gaugelib.solve import solve

TARGET = Path(__file__).parents[1] / "data" / "assignment-threshold.npz"
PAIRS, SEEDS, LOW, HIGH = tuple(combinations(range(8), 2)), 20, -16, 144
RECORDS = np.concatenate([[0], np.geomspace(1, 1e5, 400)])


def matched(run, pair, off, missed):
    """Whether at each record the pair is within ``off`` of the teachers' directions and ``missed``
    of their coefficients, in either order."""
    u, b = run.problem.teacher.u, run.problem.teacher.b
    found = np.zeros(len(run.tau), dtype=bool)
    for order in (list(pair), list(pair)[::-1]):
        near = kernel.angle(run.s[:, order], u) < off
        found |= (near & (np.abs(run.q[:, order] - b) < missed)).all(axis=1)
    return found


def owned(seed, pair, step):
    D = 2 ** (step / 16)
    flow = flows.population(two_teachers(seed, D, pair))
    return matched(solve(flow, [0, 4000 + 250 * D**2], 1e-8, 1e-10), pair, 0.05, 0.05)[-1]


def threshold(seed, pair):
    low, high = LOW, HIGH
    if owned(seed, pair, low) or not owned(seed, pair, high):
        return LOW if owned(seed, pair, low) else HIGH + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if owned(seed, pair, middle) else (middle, high)
    return high


def limit(seed, pair):
    """(time of parting, coefficients then) for D -> infinity."""
    run = solve(flows.population(two_teachers(seed, 1e5, pair)), RECORDS, 1e-8, 1e-10)
    apart = matched(run, pair, 0.1, np.inf)
    if not apart[-1]:
        return np.inf, run.q[-1]
    k = len(apart) - np.argmin(apart[::-1])
    return run.tau[k], run.q[k]


def both(seed, pair):
    return threshold(seed, pair), *limit(seed, pair)


def main():
    names, kinds = ("steps", "parted", "q"), (np.int16, np.float32, np.float32)
    shapes = {"steps": ("done", SEEDS), "parted": ("done", SEEDS), "q": ("done", SEEDS, 8)}
    found = store.load(TARGET, most={"done": len(PAIRS)}, **shapes)
    stored = {name: list(found.get(name, [])) for name in names}
    for pair in tqdm(PAIRS[len(stored["q"]) :]):
        rows = zip(*Parallel()(delayed(both)(seed, pair) for seed in range(SEEDS)), strict=True)
        for name, kind, row in zip(names, kinds, rows, strict=True):
            stored[name].append(np.array(row, dtype=kind))
        store.save(TARGET, **stored)


if __name__ == "__main__":
    with parallel_config(n_jobs=int(os.environ.get("JOBS", "1"))):
        main()
