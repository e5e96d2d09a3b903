"""The map of assignments: every pair of students designated, from weak to strong imbalance.

    make full     or     .venv/bin/python full/assignment-map.py

About 7 minutes on one core; JOBS=2 before the command takes two.  CONTRIBUTING.md: on a cluster.

Two teachers (4.3), population gradient flow to tau = 4000.  Writes data/assignment-map.npz after
every D and goes on where it stopped; when it is whole there is nothing left to do.

    q (D, 28, 20, 8)     final coefficients, float32; D in DS, pairs in the order of PAIRS,
                         seeds 0 to 19
    to (D, 28, 20, 8)    teacher within 0.05 of the student's final direction, 0 or 1; -1 for none
    even_q, even_to (200, 8)   the same with all imbalances 0, seeds 0 to 199, to t = 4000
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

TARGET = Path(__file__).parents[1] / "data" / "assignment-map.npz"
DS, PAIRS = (1, 2, 4, 8, 16, 32, 64, 128), tuple(combinations(range(8), 2))
SEEDS, EVEN_SEEDS = 20, 200


def end_of(problem):
    """(q, to) (8,) each of the population flow at tau = 4000."""
    run = solve(flows.population(problem), [0, 4000], 1e-9, 1e-11)
    off = np.array([kernel.angle(run.s[-1], u) for u in problem.teacher.u])
    return run.q[-1], np.where(off.min(axis=0) < 0.05, off.argmin(axis=0), -1)


def both(problems):
    q, to = zip(*Parallel()(delayed(end_of)(problem) for problem in tqdm(problems)), strict=True)
    return np.array(q, dtype=np.float32), np.array(to, dtype=np.int8)


def main():
    one = (len(PAIRS), SEEDS, 8)
    even = {"even_q": (EVEN_SEEDS, 8), "even_to": (EVEN_SEEDS, 8)}
    found = store.load(
        TARGET, most={"done": len(DS)}, q=("done", *one), to=("done", *one), **even
    )
    stored = {"q": [], "to": []} | {name: list(rows) for name, rows in found.items()}
    for D in DS[len(stored["q"]) :]:
        problems = [two_teachers(seed, D, pair) for pair in PAIRS for seed in range(SEEDS)]
        for name, rows in zip(("q", "to"), both(problems), strict=True):
            stored[name].append(rows.reshape(one))
        store.save(TARGET, **stored)
    if "even_q" not in stored:
        problems = [two_teachers(seed, 1, (0, 1)).regauged(0) for seed in range(EVEN_SEEDS)]
        stored["even_q"], stored["even_to"] = both(problems)
        store.save(TARGET, **stored)


if __name__ == "__main__":
    with parallel_config(n_jobs=int(os.environ.get("JOBS", "1"))):
        main()
