from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.agents.streams.captures import CODING
from tidegate.agents.streams import STREAMS
from tidegate.agents.streams.json_lines import MAX_WARNINGS
from tidegate.model.event import Event, Message, ToolResult, Warning
from tidegate.text.shorten import MAX_CHARACTERS

CAPTURES = Path(__file__).with_name("captures")
Parse = Callable[[str], tuple[Event, ...]]

KEYS = [
    "type",
    "text",
    "trace",
    "output_messages",
    "role",
    "content",
    "tool_calls",
    "tool",
    "input",
    "output",
    "id",
    "name",
]
WORDS = st.sampled_from(["tool_call", "tool_result", "message", "end", "assistant", "bash", "\ud800", ""]) | st.text()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS) | st.text(), inner, max_size=6),
    max_leaves=25,
)


@pytest.mark.parametrize("parse", [stream.parse for stream in STREAMS.values()], ids=STREAMS)
@given(text=st.text() | JSON.map(json.dumps) | st.lists(JSON.map(json.dumps)).map("\n".join))
def test_no_parser_ever_raises_and_every_event_can_be_stored(parse: Parse, text: str) -> None:
    for event in parse(text):
        event.model_dump_json()


def altered(value: Any, chance: Random) -> Any:
    """The same, but for a value here and there, and keys that are missing."""
    if chance.random() < 0.05:
        return chance.choice([None, True, -1, 1.5, 10**30, "", "x", [], [1, "a", {}], {}, {"a": 1}])
    match value:
        case dict():
            return {key: altered(inner, chance) for key, inner in value.items() if chance.random() > 0.02}
        case list():
            return [altered(inner, chance) for inner in value]
        case _:
            return value


@pytest.mark.parametrize("agent", CODING)
def test_no_field_of_another_kind_makes_a_parser_raise(agent: str) -> None:
    """What real agents have printed, with fields as another version might write them."""
    for capture in sorted(CAPTURES.glob(f"{agent}*.jsonl")):
        lines = [json.loads(line) for line in capture.read_text(encoding="utf-8").splitlines() if line[:1] == "{"]
        for seed in range(30):
            chance = Random(f"{capture.name}/{seed}")
            for event in STREAMS[agent].parse("\n".join(json.dumps(altered(line, chance)) for line in lines)):  # type: ignore[index]
                event.model_dump_json()


@pytest.mark.parametrize("parse", [stream.parse for stream in STREAMS.values()], ids=STREAMS)
@pytest.mark.parametrize(
    "text", ["[" * 100_000, "1" * 10_000, '"\\ud800"', '{"text": "\\ud800"}', '{"type": NaN}', "\0"]
)
def test_hostile_output_is_read_without_an_exception(parse: Parse, text: str) -> None:
    assert len(parse(text)) == 1


@pytest.mark.parametrize("parse", [stream.parse for stream in STREAMS.values()], ids=STREAMS)
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
    assert events[-1] == Warning(text="990 more warnings of this kind were left out")


def test_long_output_in_an_event_is_cut() -> None:
    line = ToolResult(id="1", status="ok", output="x" * 100_000).model_dump_json()
    (result,) = STREAMS["events"].parse(line)
    assert isinstance(result, ToolResult)
    assert len(result.output) < MAX_CHARACTERS + 100
