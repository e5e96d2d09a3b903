"""The transformer of appendix G, reduced, with and without decay: data/transformer.npz.

    make full     or     .venv/bin/python full/transformer.py

Seeds 0 to 7, each once with lambda = 0 and once with 0.8 from the same data, start and batches.
A minute a run on one core; JOBS=2 before the command takes two.  CONTRIBUTING.md: on a cluster.
Both runs of a seed are saved when they are done, and a second start goes on from there.
Arrays (8 seeds, 2 decays, ...), their meaning stands in gaugelib.anchors.follow.

    .venv/bin/python full/transformer.py --full-size

computes seed 0 in the printed size instead, into data/transformer-full-size.npz, and says before
what it costs.  With --cost it only measures that, into data/transformer-cost.npz: seconds (2, 5) of
an update on one core, of the reduced and of the printed size, five times each; two minutes.
"""

import argparse
import os
import time
from pathlib import Path

import numpy as np
import torch
from joblib import Parallel, delayed, parallel_config
from tqdm import tqdm

from gaugelib import anchors, store

TARGET = Path(__file__).parents[1] / "data" / "transformer.npz"
PLAN, SEEDS, DECAYS = anchors.Plan(), 8, (0.0, 0.8)
LARGE = {"PLAN": anchors.FULL, "SEEDS": 1, "TARGET": TARGET.with_stem("transformer-full-size")}
COST = TARGET.with_stem("transformer-cost")


def one_run(plan, seed, lam):
    """The record of one run; the maps at an eighth and at three quarters of its epochs."""
    torch.set_num_threads(1)
    return anchors.follow(plan, seed, lam, keep=(plan.epochs // 8, plan.epochs * 3 // 4))


def main():
    n, qk, matrices = PLAN.epochs + 1, PLAN.qk, (2, 2)
    shapes = {"loss": (n - 1,), "accuracy": (n, 3), "norm": (n, *matrices),
              "directions": (n, *matrices), "imbalance": (n, *matrices),
              "maps": (2, *matrices, qk, qk)}
    found = store.load(TARGET, most={"done": SEEDS}, **{
        name: ("done", len(DECAYS), *shape) for name, shape in shapes.items()})
    stored = {name: list(found.get(name, [])) for name in shapes}
    done = len(stored["loss"])
    for seed in tqdm(range(done, SEEDS), total=SEEDS, initial=done):
        runs = Parallel()(delayed(one_run)(PLAN, seed, lam) for lam in DECAYS)
        for name, rows in stored.items():
            rows.append(np.array([run[name] for run in runs]))
        store.save(TARGET, **stored)


def cost(plan, times=1, steps=3):
    """Seconds an update takes here, measured ``times`` times over ``steps`` updates each."""
    torch.set_num_threads(1)
    trial = anchors.Plan(**vars(plan) | {
        "examples": steps * plan.batch, "epochs": times + 1, "warmup": 1})
    parameters, (tokens, targets), _ = anchors.start(trial, 0)
    seconds = []
    for _ in anchors.training(parameters, tokens, targets, trial, 0.0, np.random.default_rng(0)):
        seconds.append(time.perf_counter())
    return np.diff(seconds) / steps


def announce(plan):
    updates, (seconds,) = plan.steps * plan.epochs, cost(plan)
    days = len(DECAYS) * updates * seconds / 86_400
    print(f"{plan}\n{plan.operations:.3g} floating-point operations and {seconds:.2f} s an update "
          f"here, {updates} updates a run, {len(DECAYS)} runs: {days:.1f} days on one core. "
          "A run that is stopped is lost.", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full-size", action="store_true", help="the printed size: days")
    parser.add_argument("--cost", action="store_true", help="only measure what an update costs")
    asked = parser.parse_args()
    if asked.cost:
        store.save(COST, seconds=np.array([cost(plan, 5) for plan in (PLAN, anchors.FULL)]))
    else:
        if asked.full_size:
            globals().update(LARGE)
            announce(PLAN)
        with parallel_config(n_jobs=int(os.environ.get("JOBS", "1"))):
            main()
