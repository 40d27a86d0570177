from __future__ import annotations

import pytest

from tidegate.agents.streams.events import parse
from tidegate.model.event import ApiRetry, End, Event, Message, ToolCall, ToolResult, Warning

EVENTS: tuple[Event, ...] = (
    Message(text="line\u2028separator"),
    ToolCall(id="1", tool="bash", command="ls", input={"command": "ls"}, at=1.5),
    ToolResult(id="1", status="error", exit_code=2, output="no"),
    ApiRetry(text="529"),
    Warning(text="odd"),
    End(end="completed", tokens_in=3),
)


def test_every_event_is_read_back_as_it_was_written() -> None:
    assert parse("\n\n".join(event.model_dump_json() for event in EVENTS)) == EVENTS


def test_windows_line_ends_are_no_part_of_a_line() -> None:
    assert parse("\r\n".join(event.model_dump_json() for event in EVENTS)) == EVENTS


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("Loading model...", "line 1 is not JSON"),
        ('{"type": "mess', "line 1 is not JSON"),
        ("[1]", "line 1 is not an event"),
        ("{}", "line 1 is not an event"),
        ('{"type": "thought", "text": "x"}', "line 1 is not an event"),
        ('{"type": "message", "text": "x", "extra": 1}', "line 1 is not an event: message.extra: Extra inputs"),
        ('{"type": "message"}', "line 1 is not an event: message.text: Field required"),
        ('{"type": "end", "end": "great"}', "line 1 is not an event: end.end"),
    ],
)
def test_a_line_that_is_no_event_is_a_warning(line: str, problem: str) -> None:
    (warning,) = parse(line)
    assert isinstance(warning, Warning)
    assert warning.text.startswith(problem)
