"""Files that agents leave behind, in the shapes that public copies of such files have."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tidegate.agents.streams import STREAMS, recognized
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


def test_the_end_is_the_one_that_the_file_tells() -> None:
    last = STREAMS["codex-rollout"].parse(ROLLOUT)[-1]
    assert isinstance(last, End)
    assert (last.end, last.tokens_in) == ("completed", 9)


def test_a_claude_code_session_has_no_end() -> None:
    assert not any(isinstance(event, End) for event in STREAMS["claude-code"].parse(SESSION))


@pytest.mark.parametrize("text", ['{"steps": [], "agent": {}}', "hello\n"])
def test_an_unknown_format_is_not_recognized(text: str) -> None:
    assert recognized(text) is None
