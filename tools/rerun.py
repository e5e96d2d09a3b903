"""Execute chapters from their .py sources and store the outputs in the paired notebooks.

    python tools/rerun.py          every chapter, then those that read the ledger
    python tools/rerun.py 04 05    those whose names begin so

The stored file depends on the source and its outputs only: running twice gives the same bytes.
"""

import argparse
import hashlib
import os
import sys
import time
from collections import Counter
from pathlib import Path

import jupytext
import nbformat
from ipykernel.kernelspec import get_kernel_dict
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError

from gaugelib.claims import stored_rows

ROOT = Path(__file__).resolve().parent.parent
LANGUAGE = {"name": "python", "pygments_lexer": "ipython3"}
# In this order, after all others.
READERS_OF_THE_LEDGER = ("how-it-differs", "what-we-found", "07-scoreboard", "index")
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class StderrError(RuntimeError):
    """A cell wrote to stderr, so its notebook is not stored."""


class ThisPythonsKernel(AsyncKernelManager):
    """The kernel of the running interpreter, whatever kernels the machine has registered."""

    @property
    def kernel_spec(self):
        return KernelSpec(**get_kernel_dict())


def kernel_environment():
    """The environment without MPLBACKEND, which would remove figures, and with one thread."""
    kept = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}
    return kept | {name: "1" for name in ONE_THREAD} | {"PYDEVD_DISABLE_FILE_VALIDATION": "1"}


def give_ids(notebook):
    """Name each cell after its source and how often that source came before."""
    seen = Counter()
    for cell in notebook.cells:
        text = f"{cell.cell_type}\n{cell.source}"
        cell.id = hashlib.sha256(f"{seen[text]}\n{text}".encode()).hexdigest()[:12]
        seen[text] += 1


def read_source(source):
    notebook = jupytext.read(source, fmt="py:percent")
    notebook.metadata.pop("language_info", None)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    give_ids(notebook)
    return notebook


def refuse_stderr(notebook, name):
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.output_type == "stream" and output.name == "stderr":
                raise StderrError(f"{name}: a cell wrote to stderr:\n{output.text}\n{cell.source}")


def execute(notebook, folder):
    NotebookClient(
        notebook,
        timeout=None,
        record_timing=False,
        coalesce_streams=True,
        extra_arguments=["--log-level=CRITICAL"],
        kernel_name="python3",
        kernel_manager_class=ThisPythonsKernel,
        resources={"metadata": {"path": str(folder)}},
    ).execute(env=kernel_environment())
    notebook.metadata.language_info = dict(LANGUAGE)


def store(notebook, target):
    """Replace the target in one step, so that an interrupted run leaves it whole."""
    text = nbformat.writes(notebook)
    nbformat.validate(nbformat.reads(text, as_version=4))
    unfinished = target.with_suffix(".ipynb.part")
    unfinished.write_text(text.rstrip("\n") + "\n", encoding="utf-8")
    os.replace(unfinished, target)


def rerun(source):
    """Execute one chapter and store it; return the notebook."""
    notebook = read_source(source)
    execute(notebook, source.parent)
    refuse_stderr(notebook, source.name)
    store(notebook, source.with_suffix(".ipynb"))
    return notebook


def ledger(notebook):
    """What a stored notebook reports: id -> "verdict: measured"; empty without a readable one."""
    try:
        return {row.id: f"{row.verdict}: {row.measured}" for row in stored_rows(notebook)}
    except (OSError, ValueError):
        return {}


def ledger_changes(before, after):
    """Lines that say which rows of the ledger are new, gone or different."""
    return [
        f"  {claim}: {before.get(claim, 'new')} -> {after.get(claim, 'gone')}"
        for claim in {**before, **after}
        if before.get(claim) != after.get(claim)
    ]


def in_order(sources):
    """Chapters first, then their READERS_OF_THE_LEDGER: each reads what those before it store."""
    def place(source):
        late = source.stem in READERS_OF_THE_LEDGER
        return READERS_OF_THE_LEDGER.index(source.stem) if late else -1, source.stem

    return sorted(sources, key=place)


def stale_readers(history):
    """Pages that have not run since the ledger changed; history: (name, whether it changed it)."""
    stale = set()
    for name, changed in history:
        stale.discard(name)
        stale.update(READERS_OF_THE_LEDGER if changed else ())
    return [name for name in READERS_OF_THE_LEDGER if name in stale]


def chosen(prefixes, root=ROOT):
    sources = in_order([*root.glob("chapters/*.py"), *root.glob("index.py")])
    for prefix in prefixes:
        if not any(source.stem.startswith(prefix) for source in sources):
            names = ", ".join(source.stem for source in sources)
            raise SystemExit(f"no chapter begins with {prefix!r}; there are {names}")
    return [s for s in sources if not prefixes or s.stem.startswith(tuple(prefixes))]


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("prefix", nargs="*", help="beginning of a chapter's name, such as 04")
    failed, history = [], []
    for source in chosen(parser.parse_args(arguments).prefix):
        start, notebook = time.perf_counter(), source.with_suffix(".ipynb")
        before, changes = ledger(notebook), []
        try:
            rerun(source)
            changes = ledger_changes(before, ledger(notebook))
            verdict = "stored"
        except (CellExecutionError, StderrError) as error:
            print(error, file=sys.stderr)
            failed.append(source.stem)
            verdict = "NOT stored"
        except (KeyboardInterrupt, DeadKernelError, AssertionError):  # on Ctrl-C, any of the three
            print(f"stopped; {notebook.name} is as it was", file=sys.stderr, flush=True)
            os._exit(130)  # the ordinary way out ends in tracebacks from the kernel's sockets
        print(f"{source.stem:32s} {time.perf_counter() - start:7.1f} s  {verdict}", flush=True)
        print(*changes, sep="\n", end="\n" if changes else "", flush=True)
        history.append((source.stem, bool(changes)))
    names = [f"`make rerun CH={name}`" for name in stale_readers(history)]
    if names:
        print(f"The ledger changed: run {', '.join(names)} as well, in this order.")
    return f"failed: {', '.join(failed)}" if failed else 0


if __name__ == "__main__":
    sys.exit(main())
