"""The agent that replays a session of base, step by step."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.trial.agents.conftest import LocalSession
from tidegate.agents.actions import CannotRepeatError, TextEdit, action_of, edited
from tidegate.agents.recorded_session import RecordedSession
from tidegate.model.event import ToolResult
from tidegate.model.trial import SessionRecord, SessionStep


def step(command: str | None = None, output: str = "", tool: str = "Bash", **given: Any) -> SessionStep:
    return SessionStep(tool=tool, command=command, input=given, status="ok", exit_code=0, output=output)


def play(session: LocalSession, *steps: SessionStep, **fields: Any) -> list[ToolResult]:
    made = SessionRecord(scenario="s", agent="a", trial="t", sha="b", at=0, passed=True, steps=steps, **fields)
    end = asyncio.run(RecordedSession(session=made).run(session))
    assert end.message == f"repeated {len(steps)} steps"
    return [event for event in session.events if isinstance(event, ToolResult)]


@pytest.fixture
def session(tmp_path: Any) -> LocalSession:
    return LocalSession(tmp_path)


def test_a_file_outside_of_the_workspace_is_not_written(session: LocalSession) -> None:
    with pytest.raises(CannotRepeatError, match="not in the workspace"):
        play(session, step(tool="Write", file_path="../x", content=""))


@pytest.mark.parametrize("tool", ["Task", "WebFetch", "file_change"])
def test_a_tool_that_cannot_be_repeated_is_named(tool: str) -> None:
    with pytest.raises(CannotRepeatError, match=tool):
        action_of(step(tool=tool), "")


@pytest.mark.parametrize(
    ("text", "edit", "after"),
    [
        ("a b", TextEdit("b", "c"), "a c"),
        ("b b", TextEdit("b", "c"), None),
        ("b b", TextEdit("b", "c", everywhere=True), "c c"),
        (None, TextEdit("", "new"), "new"),
        (None, TextEdit("b", "c"), None),
        ("", TextEdit("", "new"), "new"),
        ("a", TextEdit("", "new"), None),
    ],
)
def test_an_edit_applies_where_its_text_is_found_once(text: str | None, edit: TextEdit, after: str | None) -> None:
    assert edited(text, (edit,)) == after


def test_calls_of_the_server_are_known_by_each_agent_s_name_for_them() -> None:
    names = ("mcp__notes__add", "notes_add", "notes.add")
    calls = [action_of(step(tool=name, text="x"), "notes") for name in names]
    assert [(call.kind, call.text, call.given) for call in calls] == [("call", "add", {"text": "x"})] * 3
