"""The guards and nbval notice what they are there for."""

import re
import subprocess
import sys

import nbformat
import notebook_guards
import pytest
import rerun

TRIAL = '''\
# %%
import matplotlib.pyplot as plt

values = [1.25, 2.5]
print("values", values)

# %% mystnb={"figure": {"caption": "Two values.", "name": "fig-two"}, \
"image": {"alt": "A line through two values."}}
fig, ax = plt.subplots(figsize=(2, 2))
ax.plot(values)
plt.show()

# %%
print("largest", max(values))
'''


@pytest.fixture(scope="module")
def trial(tmp_path_factory):
    """A small chapter, stored by our own runner."""
    source = tmp_path_factory.mktemp("trial") / "01-trial.py"
    source.write_text(TRIAL)
    rerun.rerun(source)
    return source.with_suffix(".ipynb")


def nbval_passes(path):
    command = [sys.executable, "-m", "pytest", "--nbval", "-q", "-p", "no:cacheprovider",
               "-c", str(notebook_guards.ROOT / "pyproject.toml"),
               "--rootdir", str(path.parent), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=path.parent)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.returncode == 0


def change_a_printed_digit(notebook):
    """Change the last digit that the notebook prints as text."""
    for cell in reversed(notebook_guards.code_cells(notebook)):
        for output in cell.outputs:
            if output.output_type == "stream" and re.search(r"\d", output.text):
                output.text = re.sub(
                    r"\d(?=\D*$)", lambda digit: str((int(digit[0]) + 1) % 10), output.text
                )
                return
    raise AssertionError("the notebook prints no digit")


def tampered(path, folder, change):
    notebook = notebook_guards.read(path)
    change(notebook)
    copy = folder / path.name
    nbformat.write(notebook, copy)
    copy.with_suffix(".py").write_text(path.with_suffix(".py").read_text())
    return copy


def test_an_untouched_notebook_passes_nbval_and_the_guards(trial):
    assert nbval_passes(trial)
    assert notebook_guards.complaints(trial) == []


def test_nbval_notices_a_changed_digit(trial, tmp_path):
    assert not nbval_passes(tampered(trial, tmp_path, change_a_printed_digit))


def test_nbval_notices_a_changed_digit_in_a_real_chapter(tmp_path):
    chapter = notebook_guards.CHAPTERS / "02-kernel.ipynb"
    assert not nbval_passes(tampered(chapter, tmp_path, change_a_printed_digit))


def test_running_twice_stores_the_same_bytes(trial):
    before = trial.read_bytes()
    rerun.rerun(trial.with_suffix(".py"))
    assert trial.read_bytes() == before


def forget_an_execution_count(notebook):
    notebook.cells[0].execution_count = None


def edit_a_source(notebook):
    notebook.cells[-1].source += "  # edited"


def drop_a_cell(notebook):
    notebook.cells.pop()


def store_stderr(notebook):
    notebook.cells[0].outputs.append(nbformat.v4.new_output("stream", name="stderr", text="!"))


def store_an_error(notebook):
    notebook.cells[0].outputs.append(nbformat.v4.new_output("error", ename="E", evalue="e"))


def store_timing(notebook):
    notebook.cells[0].metadata["execution"] = {"iopub.status.busy": "now"}


def drop_the_image(notebook):
    notebook.cells[1].outputs = []


def drop_the_caption(notebook):
    del notebook.cells[1].metadata["mystnb"]["figure"]["caption"]


def drop_the_alt_text(notebook):
    del notebook.cells[1].metadata["mystnb"]["image"]


def drop_the_numbers(notebook):
    notebook.cells[2].outputs = []


def print_a_wide_line(notebook):
    notebook.cells[0].outputs[0].text += "x" * 101 + "\n"


def glue_a_float(notebook):
    data = {"application/papermill.record/text/plain": "0.1234567891"}
    notebook.cells[0].outputs.append(nbformat.v4.new_output("display_data", data=data))


def write_a_long_cell(notebook):
    notebook.cells[0].source = "x = 1\n" * 26


def write_a_wide_line(notebook):
    notebook.cells[0].source = "x = " + "1 + " * 30 + "1"


def print_a_book(notebook):
    notebook.cells[0].outputs[0].text = "1\n" * (notebook_guards.MAX_TEXT // 2 + 1)


def type_a_measurement(notebook):
    notebook.cells[0].source = 'claims.compare("A4-rise", "in all runs", holds=True)'


def type_a_count(notebook):
    notebook.cells[0].source = 'rows = [("A4-rise", f"in 72 runs, to {slack:g}", rising)]'


GUARDED = [
    (forget_an_execution_count, notebook_guards.unexecuted),
    (store_stderr, notebook_guards.failed_outputs),
    (store_an_error, notebook_guards.failed_outputs),
    (store_timing, notebook_guards.timed),
    (drop_the_image, notebook_guards.bare_figures),
    (drop_the_caption, notebook_guards.bare_figures),
    (drop_the_alt_text, notebook_guards.bare_figures),
    (drop_the_numbers, notebook_guards.bare_figures),
    (glue_a_float, notebook_guards.raw_glue),
    (write_a_long_cell, notebook_guards.long_code),
    (write_a_wide_line, notebook_guards.long_code),
    (print_a_book, notebook_guards.long_outputs),
    (print_a_wide_line, notebook_guards.long_outputs),
    (type_a_measurement, notebook_guards.typed_measurements),
    (type_a_count, notebook_guards.typed_measurements),
]


@pytest.mark.parametrize(("change", "guard"), GUARDED, ids=lambda function: function.__name__)
def test_a_guard_notices(trial, change, guard):
    notebook = notebook_guards.read(trial)
    assert guard(notebook) == []
    change(notebook)
    assert guard(notebook) != []


@pytest.mark.parametrize("change", [edit_a_source, drop_a_cell, drop_the_caption])
def test_the_pair_guard_notices(trial, change):
    notebook = notebook_guards.read(trial)
    change(notebook)
    assert notebook_guards.unpaired(notebook, trial.with_suffix(".py")) != []


def test_the_size_guard_notices(trial, tmp_path):
    def grow(notebook):
        notebook.cells[0].outputs[0].text = "1" * notebook_guards.MAX_BYTES

    assert notebook_guards.oversized(tampered(trial, tmp_path, grow)) != []
