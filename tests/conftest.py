"""The built book, its server and the browser, each once a run; repeatable property tests."""

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import serve
from filelock import FileLock
from hypothesis import settings
from notebook_guards import ROOT
from xdist.scheduler import LoadScopeScheduling

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BROWSER_FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


class ByFile(LoadScopeScheduling):
    """Keeps each file's tests, and each notebook's cells, on one worker, in order; only the pages
    of the browser tests are shared out one by one."""

    def _split_scope(self, nodeid):
        file = nodeid.split("::")[0]
        return nodeid if file.endswith("test_browser.py") else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return ByFile(config, log)


def build_book(target):
    jupyter_book = Path(sys.executable).with_name("jupyter-book")
    command = [jupyter_book, "build", ROOT, "--all", "-W", "-n", "--keep-going",
               "--path-output", target]
    done = subprocess.run(command, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]


def folder_of_the_run(tmp_path_factory, worker_id):
    """A folder that the workers of one run share."""
    own = tmp_path_factory.getbasetemp()
    return own if worker_id == "master" else own.parent


@pytest.fixture(scope="session")
def book(tmp_path_factory, worker_id):
    """The folder of the book's pages, built without a warning."""
    target = folder_of_the_run(tmp_path_factory, worker_id) / "book"
    html, built = target / "_build" / "html", target / "built"
    with FileLock(f"{target}.lock"):
        if not target.exists():
            build_book(target)
            built.touch()
    assert built.exists(), "the book did not build; the first test that needed it says why"
    return html


@pytest.fixture(scope="session")
def address(book):
    """Where the built book is served."""
    with serve.server(book) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield serve.address(running)
        running.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def browser():
    """Chromium; without one the browser tests are skipped, but in CI they fail."""
    executable = next(filter(None, map(shutil.which, BROWSERS)), None)
    if executable is None:
        missing = "no Chromium on this machine"
        pytest.fail(missing) if os.environ.get("CI") else pytest.skip(missing)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable, args=BROWSER_FLAGS)
        yield chromium
        chromium.close()
