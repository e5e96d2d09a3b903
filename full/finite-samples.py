"""Errors of training on N samples against the population flow: data/finite-samples.npz.

    make full     or     .venv/bin/python full/finite-samples.py

m = 2, 4, 8, 16 at D = 32 and angle pi/4: 500 seeds with N = 2^2, ..., 2^15 samples, and the first
20 of them also with 2^16, ..., 2^20.  Width and seed choose the stream, and the samples are
nested: the first N rows of one long draw.  RK4 with h = 0.05 to tau = 60.  About 40 minutes on one
core; JOBS=2 before the command takes two.  CONTRIBUTING.md: on a cluster.  Every 20 seeds are
saved when they are done, and a second start goes on from there.
"""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed, parallel_config
from tqdm import tqdm

from gaugelib import flows, gauge, store
from gaugelib.problem import duplicates
from gaugelib.solve import rk4, solve

FILE = Path(__file__).parents[1] / "data" / "finite-samples.npz"
MS, SEEDS, SET = (2, 4, 8, 16), 500, 20
NS = 2 ** np.arange(2, 21)
FEW, ALL = np.flatnonzero(NS <= 2**15), np.arange(NS.size)
TAU = np.arange(601) / 10


def contributions(q, P, selected, redundant):
    """X = (q, P, q s_sel, P s_red), equation (11): (n,), (n,), (n, 2), (n, 2) -> (n, 6)."""
    return np.column_stack([q, P, q[:, None] * selected, P[:, None] * redundant])


def on_samples(m, x):
    """X at the times TAU on the samples x (N, 2)."""
    flow = flows.empirical(duplicates(m, 32, np.pi / 4), x, symmetric=True)

    def read(y):  # without the loss, which costs a quarter of the whole
        q, s, delta = gauge.coordinates(y[:, :2], y[:, 2:].reshape(-1, 2, 2))
        return q, s, delta, np.zeros(len(y))

    run = rk4(replace(flow, read=read), 0.05, 1200, every=2)
    return contributions(run.q[:, 0], (m - 1) * run.q[:, 1], run.s[:, 0], run.s[:, 1])


def on_population(m):
    run = solve(flows.reduced(duplicates(m, 32, np.pi / 4)), TAU)
    return contributions(run.q[:, 0], run.P, run.s[:, 0], run.s[:, 1])


def measures(off, last):
    """RMS over times and components, largest component, largest norm; selected by (D.4) or not."""
    q, P, along, across = last[:4]
    selected = q > 0.9 and along > np.hypot(along, across) * np.cos(0.1) and abs(P) < 0.1 * 2**0.5
    return np.sqrt((off**2).mean()), abs(off).max(), np.linalg.norm(off, axis=1).max(), selected


def one_seed(m, seed, which, exact):
    """(N, 4) measures on nested samples of one stream."""
    draw = np.random.default_rng([m, seed]).standard_normal((NS[which[-1]], 2))
    found = [on_samples(m, draw[:N]) for N in NS[which]]
    return np.array([measures(x - exact, x[-1]) for x in found])


def main():
    shape = (len(MS), SEEDS, NS.size, 4)
    found = store.load(FILE, gaps=("values",), m=np.array(MS), N=NS, values=shape)
    values = found.get("values", np.full(shape, np.nan, np.float32))
    for i, k in tqdm([(i, k) for k in range(0, SEEDS, SET) for i in range(len(MS))]):
        which = ALL if k == 0 else FEW
        which = which[np.isnan(values[i, k : k + SET, which]).any(axis=(1, 2))]
        if which.size == 0:
            continue
        exact = on_population(MS[i])
        runs = Parallel()(
            delayed(one_seed)(MS[i], seed, which, exact) for seed in range(k, k + SET)
        )
        values[i, k : k + SET, which] = np.array(runs).transpose(1, 0, 2)
        store.save(FILE, m=MS, N=NS, values=values)


if __name__ == "__main__":
    with parallel_config(n_jobs=int(os.environ.get("JOBS", "1"))):
        main()
