"""The README keeps its word: its code runs, its targets and its paths exist."""

import doctest
import re

import pytest
from notebook_guards import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
PROSE = re.sub(r"```.*?```", "", README, flags=re.DOTALL)


def targets():
    return set(re.findall(r"^([a-z]+):", MAKEFILE, flags=re.MULTILINE))


def named_paths():
    """What stands in backquotes and looks like a file or a folder, and every relative link."""
    quoted = re.findall(r"`([\w./*-]+)`", PROSE)
    linked = re.findall(r"\]\(([^)#:]+)\)", PROSE)
    return sorted({name for name in quoted if "/" in name or "." in name} | set(linked))


@pytest.mark.parametrize("code", re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL))
def test_the_code_prints_what_it_says(code):
    example = doctest.DocTestParser().get_doctest(code, {}, "README.md", "README.md", 0)
    assert example.examples
    assert doctest.DocTestRunner().run(example).failed == 0


@pytest.mark.parametrize("target", sorted(set(re.findall(r"make ([a-z]+)", README))))
def test_a_named_target_is_in_the_makefile(target):
    assert target in targets()


@pytest.mark.parametrize("name", named_paths())
def test_a_named_path_exists(name):
    made_by_the_user = (".venv", "_build")
    assert name.startswith(made_by_the_user) or list(ROOT.glob(name.rstrip("/")))
