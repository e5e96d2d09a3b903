"""The heavy scripts on a Dask cluster of two local processes, by the lines of CONTRIBUTING.md."""

import os
import re
import runpy

import numpy as np
import psutil
import pytest
from dask.distributed import Client, LocalCluster
from notebook_guards import ROOT

from gaugelib import anchors

MANUAL = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SNIPPET = re.search(r"```python\n(import runpy\n.*?)```", MANUAL, re.DOTALL)[1]
SCRIPT, SCHEDULER = "full/two-teachers.py", "tcp://scheduler:8786"
NAMES = {  # what one job of the script is called, where it writes, and a smaller size of it
    "full/two-teachers.py": ("end_of", "TARGET", {"BLOCKS": 1, "SEEDS": 1, "DS": (16,)}),
    "full/finite-samples.py": (
        "one_seed",
        "FILE",
        {"MS": (2,), "SEEDS": 2, "SET": 2, "NS": np.array([4, 16]), "ALL": np.arange(2)},
    ),
    "full/assignment-map.py": (
        "end_of",
        "TARGET",
        {"DS": (16,), "PAIRS": ((0, 3),), "SEEDS": 2, "EVEN_SEEDS": 1},
    ),
    "full/selection-threshold.py": (
        "threshold",
        "TARGET",
        {"ANGLES": (np.pi / 4,), "WIDTHS": (2, 4)},
    ),
    "full/selection-proof.py": (
        "attempt",
        "TARGET",
        {"TUBES": (), "WIDTHS": (), "DS": (), "EDGES": [0.9, 0.9001]},
    ),
    "full/transformer.py": (
        "one_run",
        "TARGET",
        {"SEEDS": 1, "PLAN": anchors.Plan(8, 12, 4, examples=40, batch=10, epochs=4, warmup=1)},
    ),
    "full/assignment-threshold.py": ("both", "TARGET", {"PAIRS": ((0, 3),), "SEEDS": 1}),
}


def small(script, file, seen):
    """The script's names, for a short run that writes ``file`` and marks its processes in ``seen``.

    The file ``seen``/12 says that the process 12 did a job.
    """
    names = runpy.run_path(ROOT / script)["main"].__globals__
    job, target, sizes = NAMES[script]
    function = names[job]

    def marked(*arguments):
        (seen / str(os.getpid())).touch()
        return function(*arguments)

    names.update(sizes, **{job: marked, target: file})
    return names


def processes(seen):
    return {int(path.name) for path in seen.iterdir()}


@pytest.fixture(scope="module")
def workers():
    """(address of the scheduler, process ids of its two workers); afterwards they must be gone."""
    local = {"host": "127.0.0.1", "dashboard_address": None, "processes": True}
    with LocalCluster(n_workers=2, threads_per_worker=1, **local) as cluster:
        with Client(cluster) as client:
            ids = set(client.run(os.getpid).values())
        assert len(ids) == 2 and all(map(psutil.pid_exists, ids))
        yield cluster.scheduler_address, ids
    assert not any(map(psutil.pid_exists, ids)), "a worker is still there"


@pytest.mark.parametrize("script", NAMES)
def test_a_cluster_does_the_work_and_gives_the_same_arrays(script, workers, tmp_path, monkeypatch):
    address, ids = workers
    folders = {name: tmp_path / name for name in ("here", "there")}
    for folder in folders.values():
        folder.mkdir()
    files = {name: tmp_path / f"{name}.npz" for name in folders}

    small(script, files["here"], folders["here"])["main"]()
    assert processes(folders["here"]) == {os.getpid()}

    shortened = {script: small(script, files["there"], folders["there"])}
    monkeypatch.setattr(runpy, "run_path", shortened.__getitem__)
    assert SCRIPT in SNIPPET and SCHEDULER in SNIPPET
    exec(SNIPPET.replace(SCRIPT, script).replace(SCHEDULER, address), {})
    assert processes(folders["there"]) <= ids and processes(folders["there"])

    with np.load(files["here"]) as here, np.load(files["there"]) as there:
        assert set(here) == set(there)
        assert all(np.isfinite(here[name]).all() for name in here)
        assert all(np.array_equal(here[name], there[name]) for name in here)


@pytest.mark.parametrize("script", NAMES)
def test_a_second_start_finds_everything_done(script, tmp_path):
    file = tmp_path / "parts.npz"
    small(script, file, tmp_path)["main"]()
    before, seen = file.read_bytes(), tmp_path / "again"
    seen.mkdir()
    small(script, file, seen)["main"]()
    assert processes(seen) == set() and file.read_bytes() == before


def test_every_heavy_script_is_tried():
    assert set(NAMES) == {f"full/{path.name}" for path in ROOT.glob("full/*.py")}


def test_no_loop_of_the_book_fixes_its_number_of_jobs():
    """An explicit number would win over that of the caller's parallel_config."""
    sources = [*ROOT.glob("chapters/*.py"), *ROOT.glob("full/*.py")]
    texts = {path.name: path.read_text(encoding="utf-8") for path in sources}
    loops = {name: re.findall(r"\bParallel\(.?", text) for name, text in texts.items()}
    assert sum(map(len, loops.values())) > 10
    assert all(loop == "Parallel()" for found in loops.values() for loop in found), loops
