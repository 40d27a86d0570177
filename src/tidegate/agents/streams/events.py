"""Tidegate's own stream, one event as a JSON object per line; and plain text, which reports no calls."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from tidegate.agents.streams.json_lines import Stream, bounded
from tidegate.model.event import Event, Message, ToolResult, Warning
from tidegate.text.shorten import last_part

_EVENT: TypeAdapter[Event] = TypeAdapter(Event)


def parse(text: str) -> tuple[Event, ...]:
    """Return the events of the lines, in order. Invalid lines become warnings, blank ones are skipped."""
    return bounded(_events(text))


def _events(text: str) -> Iterator[Event]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            yield _short(_EVENT.validate_python(from_json(line, allow_inf_nan=False)))
        except ValidationError as error:
            yield Warning(text=f"line {number} is not an event: {_first_problem(error)}", unread=True)
        except ValueError as error:
            yield Warning(text=f"line {number} is not JSON ({error}): {line[:80]}", unread=True)


def _short(event: Event) -> Event:
    match event:
        case ToolResult(output=output):
            return event.model_copy(update={"output": last_part(output)})
        case Message(text=text):
            return event.model_copy(update={"text": last_part(text)})
        case _:
            return event


def _first_problem(error: ValidationError) -> str:
    problem = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, problem["loc"]))
    words = problem["msg"][:200]  # cut, as it may quote the line
    return f"{place}: {words}" if place else words


def plain(text: str) -> tuple[Event, ...]:
    """Return one message with the end of a plain text; none if it is blank."""
    said = text.strip()
    return (Message(text=last_part(said)),) if said else ()


STREAM = Stream(parse, is_transcript=True)
TEXT = Stream(plain)
