"""Files that agents leave behind, in the shapes that public copies of such files have."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tidegate.agents.streams import STREAMS, StreamName, described, recognized
from tidegate.model.event import End, Event, Message, ToolCall, ToolResult, Warning


def lines(*objects: dict[str, Any]) -> str:
    return "".join(json.dumps(one) + "\n" for one in objects)


def item(kind: str, **fields: Any) -> dict[str, Any]:
    return {"timestamp": "2026-04-09T10:00:03Z", "type": "response_item", "payload": {"type": kind, **fields}}


def said(role: str, text: str) -> dict[str, Any]:
    return item("message", role=role, content=[{"type": "input_text", "text": text}])


ROLLOUT = lines(
    {"timestamp": "2026-04-09T10:00:00Z", "type": "session_meta", "payload": {"id": "s", "cwd": "/w"}},
    said("user", "<environment_context>\n<cwd>/w</cwd>\n</environment_context>"),
    said("user", "Add a note."),
    item("function_call", name="exec_command", arguments='{"cmd": "notes add x", "workdir": "/w"}', call_id="1"),
    item(
        "function_call_output",
        call_id="1",
        output="Chunk ID: a1\nWall time: 0.2 seconds\nProcess exited with code 2\nOutput:\nexit code: 0\nno list",
    ),
    item("function_call", name="shell", arguments='{"command": ["bash", "-lc", "notes list"]}', call_id="2"),
    item("function_call_output", call_id="2", output='{"output": "one\\n", "metadata": {"exit_code": 0}}'),
    item("custom_tool_call", name="apply_patch", input="*** Begin Patch", call_id="3"),
    item("custom_tool_call_output", call_id="3", output="done"),
    said("assistant", "Done."),
    {
        "type": "event_msg",
        "payload": {"type": "token_count", "info": {"total_token_usage": {"input_tokens": 9, "output_tokens": 4}}},
    },
    {"type": "event_msg", "payload": {"type": "task_complete"}},
)
SESSION = lines(
    {"type": "summary", "summary": "Notes"},
    {"type": "user", "sessionId": "s", "isMeta": True, "message": {"role": "user", "content": "Caveat: …"}},
    {"type": "user", "sessionId": "s", "message": {"role": "user", "content": "Add a note."}},
    {
        "type": "assistant",
        "sessionId": "s",
        "message": {"content": [{"type": "tool_use", "id": "1", "name": "Bash", "input": {"command": "notes add x"}}]},
    },
    {
        "type": "user",
        "sessionId": "s",
        "toolUseResult": "Error: Exit code 2\nno list",
        "message": {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "1", "is_error": True, "content": "Exit code 2\nno list"}
            ],
        },
    },
    {"type": "assistant", "sessionId": "s", "message": {"content": [{"type": "text", "text": "It fails."}]}},
)


def row(index: int, role: str, test: str = "keep", **fields: Any) -> dict[str, Any]:
    capture = {"content": "full", "redaction_level": "none"}
    source = {"kind": "imported_transcript", "provider": "claude", "session_id": "s"}
    about = {"schema_version": "agentv.transcript.v1", "test_id": test, "target": "claude", "message_index": index}
    return {**about, "role": role, **fields, "capture": capture, "source": source}


AGENTV = lines(
    row(0, "user", content="Add a note.", transcript_token_usage={"input": 9, "output": 4}),
    row(
        1,
        "assistant",
        content=[{"type": "text", "text": "I add it."}],
        tool_calls=[
            {"tool": "Bash", "id": "1", "input": {"command": "notes add x"}, "output": "no list", "status": "error"},
            {"tool": "Read", "input": {"file_path": "a"}, "output": {"lines": 2}},
            {"tool": "Wait"},
        ],
    ),
)


def calls(events: tuple[Event, ...]) -> list[str]:
    """Return each call with its result: `notes add x → error 2: no list`."""
    results = {event.id: event for event in events if isinstance(event, ToolResult)}
    return [
        f"{one.command or one.tool} → {results[one.id].status} {results[one.id].exit_code}: {results[one.id].output}"
        for one in events
        if isinstance(one, ToolCall)
    ]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "codex-rollout",
            ROLLOUT,
            [
                "notes add x → error 2: exit code: 0\nno list",
                "notes list → ok 0: one\n",
                "apply_patch → unknown None: done",
            ],
        ),
        ("claude-code", SESSION, ["notes add x → error 2: no list"]),
        (
            "agentv-transcript",
            AGENTV,
            ["notes add x → error None: no list", 'Read → unknown None: {"lines":2}', "Wait → unfinished None: "],
        ),
    ],
)
def test_a_session_file_is_recognized_with_its_task_and_calls(name: str, text: str, expected: list[str]) -> None:
    found = recognized(text)
    assert found is not None
    assert found[0] == name
    asked = [event.text for event in found[1] if isinstance(event, Message) and event.role == "user"]
    assert asked == ["Add a note."]
    assert calls(found[1]) == expected
    assert not any(isinstance(event, Warning) for event in found[1])


@pytest.mark.parametrize(
    ("name", "text", "end", "tokens"),
    [
        ("codex-rollout", ROLLOUT, "completed", 9),
    ],
)
def test_the_end_is_the_one_that_the_file_tells(name: StreamName, text: str, end: str, tokens: int | None) -> None:
    last = STREAMS[name].parse(text)[-1]
    assert isinstance(last, End)
    assert (last.end, last.tokens_in) == (end, tokens)


def test_a_claude_code_session_has_no_end() -> None:
    assert not any(isinstance(event, End) for event in STREAMS["claude-code"].parse(SESSION))


def test_of_a_file_with_several_tests_the_first_is_read() -> None:
    events = STREAMS["agentv-transcript"].parse(AGENTV + lines(row(0, "user", "other", content="Else.")))
    assert [event.text for event in events if isinstance(event, Message)] == ["Add a note.", "I add it."]
    assert [event.text for event in events if isinstance(event, Warning)] == [
        "only the test keep was read; the file has 1 more"
    ]


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ('{"steps": [], "agent": {}}', "a JSON object with the keys steps, agent"),
        ('{"a": 1}\n{"a": 2, "b": 3}\n', "JSON lines with the keys a, b"),
        ("hello\n", "text that is not JSON"),
    ],
)
def test_an_unknown_format_is_described(text: str, seen: str) -> None:
    assert recognized(text) is None
    assert described(text) == seen
