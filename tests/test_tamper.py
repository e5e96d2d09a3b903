"""The guards and nbval notice what they are there for."""

import base64
import io
import re
import subprocess
import sys
import zlib

import nbformat
import notebook_guards
import pytest
import rerun
from PIL import Image

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
    source.write_text(TRIAL, encoding="utf-8")
    rerun.rerun(source)
    return source.with_suffix(".ipynb")


def nbval_passes(path):
    command = [sys.executable, "-m", "pytest", "--nbval", "-q", "-p", "no:cacheprovider",
               "-c", str(notebook_guards.ROOT / "pyproject.toml"),
               "--rootdir", str(path.parent), str(path)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8",
                          cwd=path.parent)
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
    copy.with_suffix(".py").write_bytes(path.with_suffix(".py").read_bytes())
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


def repeat_an_execution_count(notebook):
    notebook.cells[1].execution_count = 1


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


def tag_for_nbval(notebook):
    notebook.cells[0].metadata["tags"] = ["nbval-ignore-output"]


def allow_an_exception(notebook):
    notebook.cells[0].metadata["tags"] = ["raises-exception"]


def comment_for_nbval(notebook):
    notebook.cells[0].source += "\n# NBVAL_IGNORE_OUTPUT"


def comment_for_nbval_in_small_letters(notebook):
    notebook.cells[0].source = "#nbval_skip\n" + notebook.cells[0].source


def resize_the_figure(notebook):
    notebook.cells[1].metadata["mystnb"]["image"]["width"] = "1px"


def set_other_options(notebook):
    notebook.cells[1].metadata["mystnb"]["remove_code_outputs"] = True


def store_latex(notebook):
    notebook.cells[0].outputs.append(
        nbformat.v4.new_output("display_data", data={"text/latex": "$1$"}))


def resize_the_output(notebook):
    notebook.cells[1].outputs[0].metadata["image/png"] = {"width": 1}


def store_a_picture(notebook, png):
    notebook.cells[1].outputs[0].data["image/png"] = base64.b64encode(png).decode("ascii")


def picture(notebook):
    return base64.b64decode(notebook.cells[1].outputs[0].data["image/png"])


def store_a_signature_only(notebook):
    store_a_picture(notebook, picture(notebook)[:8])


def cut_the_picture(notebook):
    store_a_picture(notebook, picture(notebook)[:-6])


def change_a_byte_of_the_picture(notebook):
    png = bytearray(picture(notebook))
    png[len(png) // 2] ^= 1
    store_a_picture(notebook, bytes(png))


def store_another_kind_of_picture(notebook):
    gif = io.BytesIO()
    Image.open(io.BytesIO(picture(notebook))).convert("P").save(gif, "GIF")
    store_a_picture(notebook, gif.getvalue())


def drawn(width, height, other=(0, 0, 0)):
    image, png = Image.new("RGB", (width, height), (255, 255, 255)), io.BytesIO()
    image.putpixel((0, 0), other)
    image.save(png, "PNG")
    return png.getvalue()


def spoil_the_pixels(notebook):
    """Every checksum of the file is right, but the pixels do not unpack."""
    png = bytearray(drawn(200, 200))
    end = 41 + int.from_bytes(png[33:37], "big")  # of the one chunk of pixels, after the header
    png[41:45] = b"none"
    png[end:end + 4] = zlib.crc32(png[37:end]).to_bytes(4, "big")
    store_a_picture(notebook, bytes(png))


def store_a_blank_picture(notebook):
    store_a_picture(notebook, drawn(200, 200, other=(255, 255, 255)))


def store_a_tiny_picture(notebook):
    store_a_picture(notebook, drawn(200, 99))


def drop_the_image(notebook):
    notebook.cells[1].outputs = []


def drop_the_caption(notebook):
    del notebook.cells[1].metadata["mystnb"]["figure"]["caption"]


def drop_the_alt_text(notebook):
    del notebook.cells[1].metadata["mystnb"]["image"]


def describe_in_noise(notebook):
    notebook.cells[1].metadata["mystnb"]["image"]["alt"] = "xxxxxxxxxx xxxxxxxxxx 12 34 a b c"


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


def type_a_measurement_into_a_variable(notebook):
    notebook.cells[0].source = 'text = "in all runs"\nclaims.compare("A4-rise", text, holds=True)'


def type_a_count_into_the_last_of_two_texts(notebook):
    first, last = 'text = f"{slack:g}"', 'text = f"in 72 runs, to {slack:g}"'
    notebook.cells[0].source = "\n".join([first, last, 'rows = [("A4-rise", text)]'])


def measure_in_the_caption(notebook):
    notebook.cells[1].metadata["mystnb"]["figure"]["caption"] += " It ends at 0.123."


def measure_in_the_alt_text(notebook):
    notebook.cells[1].metadata["mystnb"]["image"]["alt"] += " It falls to 3e-7."


def part_a_label_from_its_display(notebook):
    notebook.cells.append(nbformat.v4.new_markdown_cell("$$ a=b $$\n(eq-apart)"))


GUARDED = [
    (forget_an_execution_count, notebook_guards.unexecuted),
    (repeat_an_execution_count, notebook_guards.unexecuted),
    (store_stderr, notebook_guards.failed_outputs),
    (store_an_error, notebook_guards.failed_outputs),
    (store_timing, notebook_guards.strange_metadata),
    (tag_for_nbval, notebook_guards.strange_metadata),
    (allow_an_exception, notebook_guards.strange_metadata),
    (resize_the_figure, notebook_guards.strange_metadata),
    (set_other_options, notebook_guards.strange_metadata),
    (comment_for_nbval, notebook_guards.unchecked),
    (comment_for_nbval_in_small_letters, notebook_guards.unchecked),
    (store_latex, notebook_guards.strange_outputs),
    (resize_the_output, notebook_guards.strange_outputs),
    (store_a_signature_only, notebook_guards.broken_images),
    (cut_the_picture, notebook_guards.broken_images),
    (spoil_the_pixels, notebook_guards.broken_images),
    (change_a_byte_of_the_picture, notebook_guards.broken_images),
    (store_another_kind_of_picture, notebook_guards.broken_images),
    (store_a_blank_picture, notebook_guards.broken_images),
    (store_a_tiny_picture, notebook_guards.broken_images),
    (drop_the_image, notebook_guards.bare_figures),
    (drop_the_caption, notebook_guards.bare_figures),
    (drop_the_alt_text, notebook_guards.bare_figures),
    (describe_in_noise, notebook_guards.bare_figures),
    (drop_the_numbers, notebook_guards.bare_figures),
    (glue_a_float, notebook_guards.raw_glue),
    (write_a_long_cell, notebook_guards.long_code),
    (write_a_wide_line, notebook_guards.long_code),
    (print_a_book, notebook_guards.long_outputs),
    (print_a_wide_line, notebook_guards.long_outputs),
    (type_a_measurement, notebook_guards.typed_measurements),
    (type_a_count, notebook_guards.typed_measurements),
    (type_a_measurement_into_a_variable, notebook_guards.typed_measurements),
    (type_a_count_into_the_last_of_two_texts, notebook_guards.typed_measurements),
    (measure_in_the_caption, notebook_guards.measured_descriptions),
    (measure_in_the_alt_text, notebook_guards.measured_descriptions),
    (part_a_label_from_its_display, notebook_guards.loose_labels),
]


@pytest.mark.parametrize(("change", "guard"), GUARDED, ids=lambda function: function.__name__)
def test_a_guard_notices_and_its_complaint_is_among_all(trial, tmp_path, change, guard):
    assert guard(notebook_guards.read(trial)) == []
    copy = tampered(trial, tmp_path, change)
    found = guard(notebook_guards.read(copy))
    assert found != [] and set(found) <= set(notebook_guards.complaints(copy))


def test_every_guard_is_tried():
    assert {guard for _, guard in GUARDED} == set(notebook_guards.GUARDS)


def rename_a_cell(notebook):
    notebook.cells[0].id = "another"


def mark_a_cell(notebook):
    notebook.cells[0].metadata["editable"] = False


def change_the_kernel(notebook):
    notebook.metadata["kernelspec"] = {"display_name": "Another", "name": "another"}


def change_the_language(notebook):
    notebook.metadata.language_info.name = "julia"


@pytest.mark.parametrize("change", [
    edit_a_source, drop_a_cell, drop_the_caption, rename_a_cell, mark_a_cell, change_the_kernel,
    change_the_language,
])
def test_the_pair_guard_notices_and_its_complaint_is_among_all(trial, tmp_path, change):
    copy = tampered(trial, tmp_path, change)
    found = notebook_guards.unpaired(notebook_guards.read(copy), copy.with_suffix(".py"))
    assert found != [] and set(found) <= set(notebook_guards.complaints(copy))


def test_a_mark_for_nbval_in_both_files_is_noticed(trial, tmp_path):
    """Then the pair agrees, and nbval passes whatever is stored."""
    for place, source in enumerate((
        TRIAL.replace("# %%", '# %% tags=["nbval-ignore-output"]', 1),
        TRIAL.replace("# %%", "# %%\n# NBVAL_IGNORE_OUTPUT", 1),
    )):
        chapter = tmp_path / f"{place}-trial.py"
        chapter.write_text(source, encoding="utf-8")
        notebook = rerun.read_source(chapter)
        stored = notebook_guards.read(trial)
        for cell, old in zip(notebook.cells, stored.cells, strict=True):
            cell.outputs, cell.execution_count = old.outputs, old.execution_count
        notebook.metadata.language_info = rerun.LANGUAGE
        notebook.cells[0].outputs[0].text = "values 0\n"
        nbformat.write(notebook, chapter.with_suffix(".ipynb"))
        (complaint,) = notebook_guards.complaints(chapter.with_suffix(".ipynb"))
        assert "nbval" in complaint


def test_the_size_guard_notices(trial, tmp_path):
    def grow(notebook):
        notebook.cells[0].outputs[0].text = "1" * notebook_guards.MAX_BYTES

    copy = tampered(trial, tmp_path, grow)
    (found,) = notebook_guards.oversized(copy)
    assert found in notebook_guards.complaints(copy)
