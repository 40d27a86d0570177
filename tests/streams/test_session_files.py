"""Files that agents leave behind, in the shapes that public copies of such files have."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tidegate.model.event import End, Event, Message, ToolCall, ToolResult, Warning
from tidegate.streams import STREAMS, StreamName
from tidegate.streams.recognize import described, recognized


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
COPILOT = lines(
    {"type": "session.start", "data": {"sessionId": "a", "context": {"cwd": "/w"}}},
    {"type": "user.message", "data": {"content": "Add a note."}},
    {"type": "assistant.message", "data": {"content": "I add it.", "toolRequests": [{"name": "bash"}]}},
    {
        "type": "tool.execution_start",
        "data": {"toolCallId": "1", "toolName": "bash", "arguments": {"command": "notes add x"}},
    },
    {
        "type": "tool.execution_complete",
        "data": {"toolCallId": "1", "success": True, "result": {"content": "no list\n<exited with exit code 2>"}},
    },
    {"type": "tool.execution_start", "data": {"toolCallId": "2", "toolName": "view", "arguments": {"path": "a"}}},
    {"type": "tool.execution_complete", "data": {"toolCallId": "2", "success": False, "error": {"message": "no file"}}},
    {
        "type": "session.shutdown",
        "data": {"shutdownType": "normal", "modelMetrics": {"m": {"usage": {"inputTokens": 7, "outputTokens": 3}}}},
    },
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
SWE_AGENT = json.dumps(
    {
        "environment": "main",
        "trajectory": [
            {"action": "notes add x\n", "observation": "no list", "thought": "I add it.", "response": "I add it."}
        ],
        "history": [{"role": "system", "content": "You are"}, {"role": "user", "content": "Add a note."}],
        "info": {"exit_status": "submitted", "model_stats": {"instance_cost": 0.1, "tokens_sent": 5, "api_calls": 1}},
    },
    indent=2,
)


def mini(*messages: dict[str, Any], status: str = "Submitted") -> str:
    info = {"exit_status": status, "model_stats": {"instance_cost": 0.5, "api_calls": 2}}
    start = [{"role": "system", "content": "You are"}, {"role": "user", "content": "Add a note."}]
    return json.dumps({"info": info, "messages": [*start, *messages], "trajectory_format": "mini-swe-agent-1.1"})


def call(identity: str, command: str) -> dict[str, Any]:
    return {"id": identity, "function": {"name": "bash", "arguments": json.dumps({"command": command})}}


BLOCKS = mini(
    {"role": "assistant", "content": "I add it.\n\n```mswea_bash_command\nnotes add x\n```"},
    {"role": "user", "content": "<returncode>2</returncode>\n<output>\nno list\n</output>"},
)
CALLS = mini(
    {"role": "assistant", "content": "", "tool_calls": [call("a", "notes add x"), call("b", "notes list")]},
    {"role": "tool", "tool_call_id": "b", "content": "…", "extra": {"returncode": 0, "raw_output": "one"}},
    {"role": "tool", "tool_call_id": "a", "content": "…", "extra": {"returncode": 2, "raw_output": "no list"}},
    status="LimitsExceeded",
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
        (
            "copilot",
            COPILOT,
            ["notes add x → error 2: no list\n<exited with exit code 2>", "view → error None: no file"],
        ),
        ("claude-code", SESSION, ["notes add x → error 2: no list"]),
        (
            "agentv-transcript",
            AGENTV,
            ["notes add x → error None: no list", 'Read → unknown None: {"lines":2}', "Wait → unfinished None: "],
        ),
        ("swe-agent", SWE_AGENT, ["notes add x → unknown None: no list"]),
        ("swe-agent", BLOCKS, ["notes add x → error 2: <returncode>2</returncode>\n<output>\nno list\n</output>"]),
        ("swe-agent", CALLS, ["notes add x → error 2: no list", "notes list → ok 0: one"]),
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
        ("copilot", COPILOT, "completed", 7),
        ("swe-agent", SWE_AGENT, "completed", 5),
        ("swe-agent", CALLS, "crashed", None),
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


def test_a_call_without_result_is_unfinished() -> None:
    cut = mini({"role": "assistant", "content": "", "tool_calls": [call("a", "notes add x")]})
    assert calls(STREAMS["swe-agent"].parse(cut)) == ["notes add x → unfinished None: "]


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
