"""The sources of the project say what a machine's settings must not decide."""

import ast

import pytest
from notebook_guards import ROOT

FOLDERS = ("gaugelib", "tests", "tools", "_ext", "benchmarks", "full", "chapters")
SOURCES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))


def called(call):
    return call.func.attr if isinstance(call.func, ast.Attribute) else call.func.id


def keywords(call):
    return {keyword.arg: keyword.value for keyword in call.keywords}


def opens_text(call):
    if not isinstance(call.func, ast.Name) or called(call) != "open":
        return False
    modes = [*call.args[1:2], keywords(call).get("mode")]
    return not any("b" in mode.value for mode in modes if isinstance(mode, ast.Constant))


def decided_by_the_machine(source):
    """Lines that read or write text in whatever encoding the machine is set to."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)
             and isinstance(node.func, (ast.Attribute, ast.Name))]
    return [
        call.lineno for call in calls
        if "encoding" not in keywords(call)
        and (called(call) in ("read_text", "write_text") or opens_text(call)
             or {"text", "universal_newlines"} & set(keywords(call)) and called(call) == "run")
    ]


def test_text_is_read_and_written_in_a_named_encoding():
    found = {str(path.relative_to(ROOT)): decided_by_the_machine(path.read_text(encoding="utf-8"))
             for path in [*SOURCES, ROOT / "index.py"]}
    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize(("source", "noticed"), [
    ("path.read_text()", True), ("path.write_text('a')", True), ("open(path)", True),
    ("open(path, 'w')", True), ("subprocess.run(command, text=True)", True),
    ("path.read_text(encoding='utf-8')", False), ("open(path, 'rb')", False),
    ("open(path, mode='wb')", False), ("Image.open(path)", False),
    ("open(path, 'w', encoding='utf-8')", False),
    ("subprocess.run(command, encoding='utf-8')", False),
])
def test_the_check_of_encodings_notices(source, noticed):
    assert decided_by_the_machine(source) == ([1] if noticed else [])
