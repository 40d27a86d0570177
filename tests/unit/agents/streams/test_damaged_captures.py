"""A truncated or damaged stream is read without an exception, and never reports a success that the whole one lacks."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from random import Random
from typing import Any

import pytest

from tests.unit.agents.streams.captures import CAPTURES, CODING, calls, end, read, results, text
from tidegate.model.event import Event

GARBAGE = [
    "",
    "x",
    "{",
    "[]",
    "null",
    "{}",
    '{"type": 7}',
    '{"type": "result"}',
    '{"type": "turn.completed"',
    "\0\ufffd",
]


def successes(events: tuple[Event, ...]) -> Counter[str]:
    """The calls that went well; an end counts as one, too."""
    told = end(events)
    return Counter(
        [result.id for result in results(events) if result.status == "ok"]
        + ["END"] * (told is not None and told.end == "completed")
    )


@cache
def successes_of_all(capture: str) -> Counter[str]:
    """Those of the whole stream."""
    return successes(read(capture))


def check(capture: str, damaged: str) -> None:
    events = read(capture, damaged)
    for event in events:
        event.model_dump_json()
    assert successes(events) <= successes_of_all(capture)
    assert {result.id for result in results(events)} == {call.id for call in calls(events)}, "a result for every call"


@pytest.mark.parametrize("capture", CAPTURES)
def test_a_stream_that_ends_after_any_line_is_no_success(capture: str) -> None:
    lines = text(capture).splitlines(keepends=True)
    for number in range(len(lines)):
        check(capture, "".join(lines[:number]))
        check(capture, "".join(lines[:number]) + lines[number][: len(lines[number]) // 2])


def test_a_stream_without_its_last_word_has_no_end() -> None:
    for capture in CODING:
        lines = text(capture).splitlines()
        assert end(read(capture, "\n".join(lines[:-1]))) is None


@pytest.mark.parametrize("capture", CAPTURES)
def test_one_damaged_line_invents_no_success(capture: str) -> None:
    lines = text(capture).splitlines()
    for number, line in enumerate(lines):
        for put in [*GARBAGE, line[: len(line) // 2], line[len(line) // 2 :], line.replace('"', "", 1)]:
            check(capture, "\n".join([*lines[:number], put, *lines[number + 1 :]]))


@pytest.mark.parametrize("capture", CAPTURES)
def test_lines_twice_or_in_another_order_do_not_raise(capture: str) -> None:
    lines = text(capture).splitlines()
    read(capture, "\n".join(line for line in lines for _ in range(2)))
    read(capture, "\n".join(reversed(lines)))


def altered(value: Any, chance: Random) -> Any:
    """The same, but for a value here and there, and keys that are missing."""
    if chance.random() < 0.05:
        return chance.choice([None, True, -1, 1.5, 10**30, "", "x", [], [1, "a", {}], {}, {"a": 1}, [[{}]]])
    match value:
        case dict():
            return {key: altered(inner, chance) for key, inner in value.items() if chance.random() > 0.02}
        case list():
            return [altered(inner, chance) for inner in value]
        case _:
            return value


@pytest.mark.parametrize("capture", CAPTURES)
def test_no_field_of_another_kind_makes_a_parser_raise(capture: str) -> None:
    """What real agents have printed, with fields as another version might write them."""
    lines = [json.loads(line) for line in text(capture).splitlines()]
    for seed in range(30):
        chance = Random(f"{capture}/{seed}")
        for event in read(capture, "\n".join(json.dumps(altered(line, chance)) for line in lines)):
            event.model_dump_json()
