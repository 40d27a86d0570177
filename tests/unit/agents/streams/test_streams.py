from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.agents.streams import STREAMS
from tidegate.agents.streams.json_lines import MAX_WARNINGS
from tidegate.model.event import Event, Message, ToolResult, Warning
from tidegate.text.shorten import MAX_CHARACTERS

Parse = Callable[[str], tuple[Event, ...]]
each_parser = pytest.mark.parametrize("parse", [stream.parse for stream in STREAMS.values()], ids=STREAMS)

OF_MESSAGES = ("output_messages", "role", "content", "text")
KEYS = [*OF_MESSAGES, *("type", "trace", "tool_calls", "tool", "input", "output", "id", "name")]
WORDS = st.sampled_from(["tool_call", "tool_result", "message", "end", "assistant", "bash", "\ud800", ""]) | st.text()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS) | st.text(), inner, max_size=6),
    max_leaves=25,
)


@each_parser
@given(text=st.text() | JSON.map(json.dumps) | st.lists(JSON.map(json.dumps)).map("\n".join))
def test_no_parser_ever_raises_and_every_event_can_be_stored(parse: Parse, text: str) -> None:
    for event in parse(text):
        event.model_dump_json()


@each_parser
@pytest.mark.parametrize(
    "text", ["[" * 100_000, "1" * 10_000, '"\\ud800"', '{"text": "\\ud800"}', '{"type": NaN}', "\0"]
)
def test_hostile_output_is_read_without_an_exception(parse: Parse, text: str) -> None:
    assert len(parse(text)) == 1


@each_parser
@pytest.mark.parametrize("text", ["", " \n\t\n"])
def test_nothing_is_no_event(parse: Parse, text: str) -> None:
    assert parse(text) == ()


def test_text_is_one_message_with_the_end_of_it() -> None:
    (message,) = STREAMS["text"].parse("a" * MAX_CHARACTERS + "the answer\n")
    assert isinstance(message, Message)
    assert message.role == "assistant"
    assert message.text.startswith("[10 characters left out]\n")
    assert message.text.endswith("the answer")


def test_warnings_are_bounded_and_counted() -> None:
    events = STREAMS["events"].parse("x\n" * 1000 + '{"type": "message", "text": "still read"}\n' + "x\n" * 10)
    assert len(events) == MAX_WARNINGS + 2
    assert events[-2] == Message(text="still read")
    assert events[-1] == Warning(text="990 more warnings of this kind were left out", unread=True)


def test_long_output_in_an_event_is_cut() -> None:
    line = ToolResult(id="1", status="ok", output="x" * 100_000).model_dump_json()
    (result,) = STREAMS["events"].parse(line)
    assert isinstance(result, ToolResult)
    assert len(result.output) < MAX_CHARACTERS + 100


@pytest.mark.parametrize(("second", "is_read"), [("taskmgr list", True), ("taskmgr drop", False)])
def test_a_second_call_with_the_id_of_another_one_cannot_be_read(second: str, is_read: bool) -> None:
    """A client that reports one call twice repeats its command."""
    lines = [
        {"type": f"item.{when}", "item": {"id": "1", "type": "command_execution", "command": command}}
        for when, command in (("started", "taskmgr list"), ("started", second))
    ]
    events = STREAMS["codex"].parse("\n".join(map(json.dumps, lines)))
    assert is_read != any(event.unread for event in events if isinstance(event, Warning))
