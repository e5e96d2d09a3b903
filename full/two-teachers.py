"""Two teachers (4.3, D.6) for seeds 0 to 799: what each run has come to at tau = 4000.

    make full     or     .venv/bin/python full/two-teachers.py

About 6 minutes on one core; JOBS=2 before the command takes two.  CONTRIBUTING.md: on a cluster.

Writes data/two-teachers-ends.npz after every block of twenty seeds and goes on where it stopped;
when it is whole there is nothing left to do.  Delete the file to compute it again.
Arrays of shape (blocks, 20 seeds, 3 D, 3 configurations), D in 16, 32, 64 and configurations
A (1, 4), B (2, 3), same side (1, 2):

    angle, miss (..., 2)  largest angle of the owners to their teachers and largest |q - b|, for
                          owner k with teacher k [0] and the other way round [1]
    rest                  largest |q_j| of the six other students
    loss                  population loss
"""

import os
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed, parallel_config
from tqdm import tqdm

from gaugelib import flows, kernel, store
from gaugelib.problem import two_teachers
from gaugelib.solve import solve

TARGET = Path(__file__).parents[1] / "data" / "two-teachers-ends.npz"
BLOCKS, SEEDS = 40, 20
DS, OWNERS = (16, 32, 64), ((0, 3), (1, 2), (0, 1))
NAMES = ("angle", "miss", "rest", "loss")


def end_of(seed, D, owners):
    """angle (2,), miss (2,), rest, loss of one run."""
    problem = two_teachers(seed, D, owners)
    run = solve(flows.population(problem), [0, 4000], 1e-10, 1e-12)
    q, s, teacher = run.q[-1], run.s[-1, list(owners)], problem.teacher
    pairs = (slice(None), slice(None, None, -1))
    angle = [kernel.angle(s, teacher.u[order]).max() for order in pairs]
    miss = [np.abs(q[list(owners)] - teacher.b[order]).max() for order in pairs]
    return angle, miss, np.abs(np.delete(q, owners)).max(), run.loss[-1]


def block(n):
    cases = [(seed, D, owners) for seed in range(n * SEEDS, (n + 1) * SEEDS)
             for D in DS for owners in OWNERS]
    columns = zip(*Parallel()(delayed(end_of)(*case) for case in cases))
    shape = (SEEDS, len(DS), len(OWNERS))
    arrays = [np.array(column, dtype=np.float32) for column in columns]
    return {name: x.reshape(shape + x.shape[1:]) for name, x in zip(NAMES, arrays)}


def main():
    one = (SEEDS, len(DS), len(OWNERS))
    two, one = ("done", *one, 2), ("done", *one)
    found = store.load(
        TARGET, most={"done": BLOCKS}, angle=two, miss=two, rest=one, loss=one
    )
    stored = {name: list(found.get(name, [])) for name in NAMES}
    for n in tqdm(range(len(stored["loss"]), BLOCKS), total=BLOCKS, initial=len(stored["loss"])):
        for name, rows in block(n).items():
            stored[name].append(rows)
        store.save(TARGET, **stored)


if __name__ == "__main__":
    with parallel_config(n_jobs=int(os.environ.get("JOBS", "1"))):
        main()
