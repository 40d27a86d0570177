"""The agent `replay`: it repeats a recorded trial in a fresh workspace."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tidegate.agents.replay import Replay
from tidegate.model.event import CallStatus, End, Event, Message, ToolCall, ToolResult
from tidegate.streams import StreamName

if TYPE_CHECKING:
    from tests.agents.conftest import LocalSession


def call(number: int, command: str | None, status: CallStatus = "ok", tool: str = "bash") -> tuple[Event, ...]:
    name = f"c{number}"
    return ToolCall(id=name, tool=tool, command=command), ToolResult(id=name, status=status)


def replay(session: LocalSession, *events: Event, text: str | None = None, form: StreamName = "events") -> End:
    trace = "\n".join(event.model_dump_json() for event in events) if text is None else text
    (session.repo / "trace").write_text(trace)
    return session.run(Replay(type="replay", traces={"tasks": "trace"}, format=form))


def test_commands_run_again_whatever_became_of_them(session: LocalSession) -> None:
    said = Message(text="I try.", at=7.5)
    end = replay(session, said, *call(1, "taskmgr add"), *call(2, "taskmgr add milk", "error"), End(end="killed"))
    assert session.calls == ["add", "add milk"]
    assert (end.end, end.message) == ("completed", "repeated 2 of 2 calls of trace")
    results = [(event.status, event.exit_code) for event in session.events if isinstance(event, ToolResult)]
    assert results == [("error", 2), ("ok", 0)], "what they do now counts, not what they did"
    assert [event for event in session.events if isinstance(event, Message)] == [Message(text="I try.")]


@pytest.mark.parametrize("status", ["denied", "invalid", "not_executed"])
def test_what_never_ran_is_not_run_now(session: LocalSession, status: CallStatus) -> None:
    end = replay(session, *call(1, "taskmgr add milk", status))
    assert (session.calls, end.message) == ([], "repeated 0 of 0 calls of trace")


def test_a_call_without_a_command_is_said_to_be_missing(session: LocalSession) -> None:
    end = replay(session, *call(1, None, tool="Edit"), *call(2, "taskmgr list"))
    assert session.warnings == ["a call of the tool Edit was not repeated: only commands are"]
    assert end.message == "repeated 1 of 2 calls of trace"


def test_the_workspace_of_then_is_the_one_of_now(session: LocalSession) -> None:
    then = "/tmp/tidegate-ab_1/trials/head/tasks/claude/3/workspace"
    replay(session, *call(1, f"cd {then} && pwd > {then}/here.txt"))
    assert (session.workspace / "here.txt").read_text().strip() == str(session.workspace)


def test_a_trajectory_of_others_is_a_trace_too(session: LocalSession) -> None:
    calls = [{"tool_call_id": "1", "function_name": "bash", "arguments": {"command": "taskmgr add milk"}}]
    step = {"step_id": 1, "source": "agent", "message": "", "tool_calls": calls}
    text = json.dumps({"schema_version": "ATIF-v1.5", "agent": {"name": "a", "version": "1"}, "steps": [step]})
    replay(session, text=text, form="atif")
    assert session.calls == ["add milk"]


def test_a_scenario_without_a_trace_completes_with_a_warning(session: LocalSession) -> None:
    end = session.run(Replay(type="replay", traces={}))
    assert (end.end, session.warnings) == ("completed", ["this agent has no trace for the scenario tasks"])


def test_a_trace_that_cannot_be_read_is_no_completed_trial(session: LocalSession) -> None:
    with pytest.raises(ValueError, match="gone"):
        session.run(Replay(type="replay", traces={"tasks": "gone"}))


def test_it_is_deterministic_unless_it_says_otherwise() -> None:
    assert Replay(type="replay", traces={}).is_deterministic
    assert not Replay(type="replay", traces={}, deterministic=False).is_deterministic
