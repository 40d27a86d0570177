from __future__ import annotations

import json
from typing import Any

import pytest

from tidegate.agents.streams.agentv import parse
from tidegate.model.event import Event, Message, ToolCall, ToolResult, Warning
from tidegate.text.shorten import MAX_CHARACTERS


def read(output: object) -> tuple[Event, ...]:
    return parse(json.dumps(output))


def test_messages_calls_and_results_in_order() -> None:
    search = {"tool": "search", "input": {"query": "REST"}, "output": {"results": [1]}, "id": "c1", "timestamp": "t"}
    parts = [{"type": "text", "value": "REST"}, {"type": "text", "text": "wins"}]
    messages = [
        {"role": "user", "content": "Compare."},
        {"role": "assistant", "content": "I'll search.", "tool_calls": [search, {"tool": "rank", "input": {}}]},
        {"role": "assistant", "content": parts},
    ]
    assert read({"id": "eval-001", "output_messages": messages}) == (
        Message(role="user", text="Compare."),
        Message(text="I'll search."),
        ToolCall(id="c1", tool="search", input={"query": "REST"}, written={"timestamp": "t"}),
        ToolResult(id="c1", status="unknown", output='{"results":[1]}'),
        ToolCall(id="call-002", tool="rank"),
        Message(text="REST\nwins", written={"content": parts}),
    )


LIST = {"command": "taskmgr list"}


@pytest.mark.parametrize(
    ("written", "call"),
    [
        ({"tool": "Bash", "input": LIST}, ToolCall(id="call-001", tool="Bash", input=LIST, command="taskmgr list")),
        ({"tool": "robot", "input": LIST}, ToolCall(id="call-001", tool="robot", input=LIST)),
        ({"tool": "echo", "input": "hi"}, ToolCall(id="call-001", tool="echo", input={"input": "hi"})),
    ],
    ids=["a shell's command line", "another tool's argument", "an input that is no object"],
)
def test_only_a_shell_s_command_is_a_command_line(written: dict[str, Any], call: ToolCall) -> None:
    assert read({"output_messages": [{"tool_calls": [written]}]}) == (call,)


def test_the_older_trace() -> None:
    trace = [
        {"type": "tool_call", "name": "search", "input": {"q": 1}},
        {"type": "tool_result", "output": "found"},
        {"type": "tool_call", "tool": "open", "id": "b", "output": "text"},
        {"type": "tool_call", "name": "close", "id": "c"},
        {"type": "tool_result", "id": "b", "output": "late"},
    ]
    assert read({"text": "done", "trace": trace}) == (
        ToolCall(id="call-001", tool="search", input={"q": 1}),
        ToolResult(id="call-001", status="unknown", output="found"),
        ToolCall(id="b", tool="open"),
        ToolResult(id="b", status="unknown", output="text"),
        ToolCall(id="c", tool="close"),
        ToolResult(id="b", status="unknown", output="late"),
        Message(text="done"),
    )


@pytest.mark.parametrize("text", ["The answer is 4.", '"quoted"', "[1, 2]", '{"answer": 4}', "{broken", "4"])
def test_what_is_not_this_format_is_plain_text(text: str) -> None:
    assert parse(text) == (Message(text=text),)


@pytest.mark.parametrize("messages", [[], [{"role": "assistant", "content": "The answer."}]])
def test_a_text_is_a_message_unless_it_repeats_the_last_one(messages: list[Any]) -> None:
    assert read({"text": "The answer.", "output_messages": messages}) == (Message(text="The answer."),)


def test_damaged_parts_are_warnings_that_name_their_place() -> None:
    output = {
        "output_messages": [
            7,
            {"role": "robot", "content": "x"},
            {"role": "user", "content": "y", "tool_calls": [{}, 1]},
        ],
        "trace": [{"type": "step"}, "x"],
    }
    assert [event.text for event in read(output) if isinstance(event, Warning) and event.unread] == [
        "output_messages[0] is not a message",
        "output_messages[1] has an unknown role",
        "output_messages[2].tool_calls[0] is not a tool call",
        "output_messages[2].tool_calls[1] is not a tool call",
        "trace[0] is neither a tool call nor a tool result",
        "trace[1] is neither a tool call nor a tool result",
    ]


def test_a_list_that_is_none_is_a_warning() -> None:
    assert read({"output_messages": {"role": "assistant"}, "trace": "x"}) == (
        Warning(text="output_messages[0] is not a message", unread=True),
        Warning(text="trace[0] is neither a tool call nor a tool result", unread=True),
    )


def test_fields_that_are_too_long_are_left_out_with_a_warning() -> None:
    message = {"role": "assistant", "content": "Done.", "metadata": {"log": "x" * MAX_CHARACTERS}}
    said, warning = read({"output_messages": [message]})
    assert said == Message(text="Done.")
    assert isinstance(warning, Warning)
    assert warning.unread


def test_a_key_that_is_twice_in_an_object_is_a_warning() -> None:
    warning, said = parse('{"output_messages": [{"content": "stale", "content": "fine"}]}')
    assert (isinstance(warning, Warning) and warning.unread, said) == (True, Message(text="fine"))
