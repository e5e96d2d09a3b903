"""The runner stores a whole chapter or nothing."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import rerun

from gaugelib import claims

TOOLS = Path(rerun.__file__).parent


@pytest.fixture
def chapter(tmp_path):
    source = tmp_path / "01-trial.py"
    source.with_suffix(".ipynb").write_text("what was there before", encoding="utf-8")
    return source


def test_a_chapter_that_writes_to_stderr_is_not_stored(chapter):
    chapter.write_text("# %%\nimport sys\n\nprint('oh', file=sys.stderr)\n", encoding="utf-8")
    with pytest.raises(rerun.StderrError):
        rerun.rerun(chapter)
    assert chapter.with_suffix(".ipynb").read_text(encoding="utf-8") == "what was there before"


def test_a_chapter_that_fails_is_not_stored(chapter):
    chapter.write_text("# %%\n1 / 0\n", encoding="utf-8")
    with pytest.raises(rerun.CellExecutionError):
        rerun.rerun(chapter)
    assert chapter.with_suffix(".ipynb").read_text(encoding="utf-8") == "what was there before"


def test_the_kernel_is_this_python_with_one_thread_and_its_figures(chapter, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    chapter.write_text(
        "# %%\nimport os\nimport sys\n\n"
        "print(sys.executable, os.environ['OMP_NUM_THREADS'])\n"
        "print('agg' in os.environ.get('MPLBACKEND', ''))\n",
        encoding="utf-8",
    )
    notebook = rerun.rerun(chapter)
    assert notebook.cells[0].outputs[0].text == f"{sys.executable} 1\nFalse\n"


def test_equal_cells_have_different_ids_and_an_edit_changes_one_id_only(chapter):
    chapter.write_text("# %%\nx = 1\n\n# %%\nx = 1\n\n# %%\ny = 2\n", encoding="utf-8")
    before = [cell.id for cell in rerun.read_source(chapter).cells]
    chapter.write_text("# %%\nx = 1\n\n# %%\nx = 1\n\n# %%\ny = 3\n", encoding="utf-8")
    after = [cell.id for cell in rerun.read_source(chapter).cells]
    assert len(set(before)) == 3
    assert before[:2] == after[:2] and before[2] != after[2]


def test_readers_of_the_ledger_run_after_the_chapters_and_the_index_last(tmp_path):
    names = ["07-scoreboard", "index", "what-we-found", "how-it-differs", "01-gauge",
             "gauge-explorer", "10-later"]
    ordered = rerun.in_order([tmp_path / f"{name}.py" for name in names])
    assert [path.stem for path in ordered] == [
        "01-gauge", "10-later", "gauge-explorer", "how-it-differs", "what-we-found",
        "07-scoreboard", "index",
    ]


def reporting(path, **measured):
    rows = [{"id": claim, "where": "", "printed": "", "measured": text, "verdict": "holds",
             "null_passes": None} for claim, text in measured.items()]
    cells = [{"outputs": [{"data": {claims.MIME: rows}}]}]
    path.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    return rerun.ledger(path)


def test_a_run_tells_which_rows_of_the_ledger_it_changed(tmp_path):
    before = reporting(tmp_path / "a.ipynb", same="1", moved="2", gone="3")
    after = reporting(tmp_path / "b.ipynb", same="1", moved="4", fresh="5")
    assert rerun.ledger_changes(before, after) == [
        "  moved: holds: 2 -> holds: 4", "  gone: holds: 3 -> gone", "  fresh: new -> holds: 5",
    ]


def test_pages_that_read_the_ledger_are_stale_until_they_run_after_its_last_change():
    assert rerun.stale_readers([("04-a", False), ("05-b", False)]) == []
    assert rerun.stale_readers([("04-a", True), ("05-b", False)]) == [
        "how-it-differs", "what-we-found", "07-scoreboard", "index",
    ]
    assert rerun.stale_readers([("04-a", True), ("07-scoreboard", False)]) == [
        "how-it-differs", "what-we-found", "index",
    ]
    assert rerun.stale_readers([("index", False), ("04-a", True)])[-1] == "index"


def test_a_notebook_that_cannot_be_read_reports_nothing(chapter, tmp_path):
    assert rerun.ledger(chapter.with_suffix(".ipynb")) == {}
    assert rerun.ledger(tmp_path / "missing.ipynb") == {}


def test_an_unknown_prefix_is_refused(tmp_path):
    with pytest.raises(SystemExit, match="no chapter begins with '99'"):
        rerun.chosen(["99"], tmp_path)


def test_an_interrupted_run_stores_nothing_and_says_so(chapter, tmp_path):
    begun = tmp_path / "begun"
    chapter.write_text(f"# %%\nimport time\n\nopen({str(begun)!r}, 'w').close()\ntime.sleep(60)\n",
                       encoding="utf-8")
    script = (f"import sys; sys.path.insert(0, {str(TOOLS)!r}); import rerun; "
              f"rerun.chosen = lambda _: [rerun.Path({str(chapter)!r})]; sys.exit(rerun.main([]))")
    running = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE, text=True,
                               start_new_session=True)
    while not begun.exists() and running.poll() is None:
        time.sleep(0.1)
    os.killpg(running.pid, signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert said == "stopped; 01-trial.ipynb is as it was\n" and running.returncode == 130
    assert chapter.with_suffix(".ipynb").read_text(encoding="utf-8") == "what was there before"
