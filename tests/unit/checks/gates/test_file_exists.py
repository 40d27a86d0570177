"""The gate `file_exists`, and what all gates with a file have in common."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.unit.checks.gates.seen import file, sees
from tidegate.checks.gates.text_gates import FileExists
from tidegate.model.gate import GateDecision, GateInput
from tidegate.model.probe import ReadFile

GATE = FileExists(path="out/tasks.json")


def test_asks_for_the_file() -> None:
    assert GATE.request() == ReadFile(path="out/tasks.json")


@pytest.mark.parametrize("answer", [{"text": "{}"}, {"text": ""}, {"text": None}, {"state": "too_large"}])
def test_passes_for_a_file_whatever_is_in_it(answer: dict[str, str]) -> None:
    assert GATE.decide(file(**answer)) == GateDecision(passed=True, message="`out/tasks.json` exists")


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ("missing", "`out/tasks.json` does not exist"),
        ("escapes", "`out/tasks.json` leads out of the workspace through a link"),
        ("not_a_file", "`out/tasks.json` is not a file"),
        ("unreadable", "`out/tasks.json` could not be read"),
    ],
)
def test_fails_for_anything_else(state: str, message: str) -> None:
    assert GATE.decide(file(state=state)) == GateDecision(passed=False, message=message)


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../../x", "a/b/../../../x", ".."])
def test_a_path_that_leaves_the_workspace_is_refused(path: str) -> None:
    with pytest.raises(ValidationError, match="leaves the workspace"):
        FileExists(path=path)


@pytest.mark.parametrize("path", [".", "./", "a/.."])
def test_the_workspace_itself_is_no_file(path: str) -> None:
    with pytest.raises(ValidationError, match="names the workspace itself"):
        FileExists(path=path)


@pytest.mark.parametrize("path", ["", "  ", "a\0b"])
def test_what_is_no_path_at_all_is_refused(path: str) -> None:
    with pytest.raises(ValidationError, match="must not"):
        FileExists(path=path)


@pytest.mark.parametrize("path", ["a", "./a", ".hidden/x", "a/../b", "..a", "a b/ü"])
def test_paths_inside_are_taken_as_they_are(path: str) -> None:
    assert FileExists(path=path).label == f"file_exists: {path}"


def test_without_an_answer_nothing_passes() -> None:
    assert not GATE.decide(GateInput()).passed
    assert not GATE.decide(sees()).passed


@given(st.lists(st.sampled_from(["..", "a", "b", "."]), min_size=1).map("/".join))
def test_no_path_that_is_taken_leaves_the_workspace(path: str) -> None:
    depth = lowest = 0
    for part in path.split("/"):
        depth += {"..": -1, ".": 0}.get(part, 1)
        lowest = min(lowest, depth)
    try:
        FileExists(path=path)
    except ValidationError:
        assert lowest < 0 or depth == 0
    else:
        assert lowest >= 0
