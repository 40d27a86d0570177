"""ATIF trajectories of others, and our own read back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import make
from tidegate.model.event import ApiRetry, CallStatus, End, Event, Message, ToolCall, ToolResult, Warning
from tidegate.model.measurement import AgentInfo
from tidegate.reports.export_atif import trajectory
from tidegate.streams.atif import parse


def document(*steps: dict[str, Any], version: str = "ATIF-v1.6", **more: Any) -> str:
    numbered = [{"step_id": number, "message": "", "source": "agent", **step} for number, step in enumerate(steps, 1)]
    return json.dumps({"schema_version": version, "agent": {"name": "x", "version": "1"}, "steps": numbered, **more})


def ran(command: str, content: str, extra: dict[str, Any] | None = None, *, name: str = "1") -> dict[str, Any]:
    call = {"tool_call_id": name, "function_name": "bash", "arguments": {"command": command}}
    result = {"source_call_id": name, "content": content, **({"extra": extra} if extra else {})}
    return {"tool_calls": [call], "observation": {"results": [result]}}


@pytest.mark.parametrize(
    ("content", "extra", "expected"),
    [
        ("fine", None, ("unknown", None)),
        ("fine", {"exit_code": 0}, ("ok", 0)),
        ("no", {"exit_code": 2, "is_error": True}, ("error", 2)),
        ("Exit code 3\nno", None, ("error", 3)),
        ("Output: no\nExit Code: 4", None, ("error", 4)),
        ("[exit code: 0]", None, ("ok", 0)),
        ("the exit code 5 is mentioned", None, ("unknown", None)),
        ("no", {"is_error": True}, ("error", None)),
        ("no", {"status": "timeout", "exit_code": 143}, ("timeout", 143)),
    ],
)
def test_exit_codes_are_read_and_never_guessed(
    content: str, extra: dict[str, Any] | None, expected: tuple[CallStatus, int | None]
) -> None:
    call, result, _ = parse(document(ran("ls", content, extra)))
    assert call == ToolCall(id="1", tool="bash", command="ls", input={"command": "ls"})
    assert isinstance(result, ToolResult)
    assert (result.status, result.exit_code) == expected


@pytest.mark.parametrize(
    "version", ["ATIF-v1.2", "ATIF-v1.3", "ATIF-v1.4", "ATIF-v1.5", "ATIF-v1.6", "ATIF-v1.7", "ATIF-v1.8"]
)
def test_versions_from_1_2_on_are_read(version: str) -> None:
    events = parse(document({"source": "user", "message": "Do it."}, {"message": "Done."}, version=version))
    assert events[:2] == (Message(role="user", text="Do it."), Message(text="Done."))


@pytest.mark.parametrize("text", ["{", "[]", "{}", document(version="ATIF-v1.1"), document(version="ATIF-v2.0")])
def test_anything_else_is_a_warning_and_no_end(text: str) -> None:
    (event,) = parse(text)
    assert isinstance(event, Warning)


def test_totals_are_the_ends() -> None:
    totals = {"total_prompt_tokens": 9, "total_completion_tokens": 2, "total_cached_tokens": 4, "total_cost_usd": 0.5}
    end = parse(document({"message": "x"}, final_metrics=totals))[-1]
    assert end == End(end="completed", tokens_in=9, tokens_out=2, tokens_cache_read=4, cost_usd=0.5)


def test_subagents_are_told_where_they_worked_and_copied_context_once() -> None:
    inner = json.loads(document(ran("inner", "x")))
    inner["trajectory_id"] = "t1"
    outer = ran("outer", "x")
    outer["observation"]["results"][0]["subagent_trajectory_ref"] = [{"trajectory_id": "t1"}]
    again = {**ran("outer", "x"), "is_copied_context": True}
    events = parse(document(outer, again, ran("last", "x"), subagent_trajectories=[inner]))
    calls = [event for event in events if isinstance(event, ToolCall)]
    assert [call.command for call in calls] == ["outer", "inner", "last"]
    assert len({call.id for call in calls}) == 3


def test_a_result_without_an_id_is_that_of_the_only_call_or_the_environments_word() -> None:
    one = ran("ls", "a.txt")
    del one["observation"]["results"][0]["source_call_id"]
    word = {"source": "system", "observation": {"results": [{"content": "The time is up."}]}}
    _, result, said, _ = parse(document(one, word))
    assert isinstance(result, ToolResult)
    assert result.output == "a.txt"
    assert said == Message(role="system", text="The time is up.")


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=20)
NOTES = st.one_of(
    st.builds(Message, role=st.sampled_from(["user", "assistant", "system"]), text=TEXTS),
    st.builds(Warning, text=TEXTS),
    st.builds(ApiRetry, text=TEXTS),
)
RESULTS: list[tuple[CallStatus, int | None]] = [("ok", 0), ("error", 2), ("timeout", 143), ("denied", None)]


@st.composite
def histories(draw: st.DrawFn) -> list[Event]:
    """Notes, and calls that may be open while others begin."""
    events: list[Event] = []
    waiting: list[str] = []
    for number in range(draw(st.integers(0, 8))):
        kind = draw(st.sampled_from(["note", "call", "result"]))
        if kind == "note":
            events.append(draw(NOTES))
        elif kind == "call":
            command = draw(TEXTS)
            tool = draw(st.sampled_from(["bash", "my_own_shell"]))
            events.append(ToolCall(id=f"c{number}", tool=tool, command=command, input={"command": command}))
            waiting.append(f"c{number}")
        elif waiting:
            status, code = draw(st.sampled_from(RESULTS))
            events.append(ToolResult(id=waiting.pop(0), status=status, exit_code=code, output=draw(TEXTS)))
    return [*events, End(end=draw(st.sampled_from(["completed", "timeout", "refused"])), tokens_in=3, tokens_out=1)]


@given(histories())
def test_what_is_written_is_read_back(events: list[Event]) -> None:
    """Order may change between steps that overlap; no event is lost, invented or altered."""
    end = events[-1]
    assert isinstance(end, End)
    trial = make.trial(end=end.end, events=tuple(events))
    text = json.dumps(trajectory(trial, "the prompt", AgentInfo(type="command")))
    prompt, *read = parse(text)
    assert prompt == Message(role="user", text="the prompt")
    assert read[-1] == end
    for kind in (Message, ToolCall, ToolResult, Warning, ApiRetry):
        written = [event for event in events if isinstance(event, kind)]
        found = [event for event in read if isinstance(event, kind)]
        key = (lambda event: event.id) if kind is ToolResult else (lambda event: 0)
        assert sorted(found, key=key) == sorted(written, key=key)
