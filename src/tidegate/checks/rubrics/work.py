"""What an agent left behind, besides its transcript, as texts for the judge."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from tidegate.checks.rubrics.prompts import MAX_PART, MAX_TEXT
from tidegate.model.event import ApiRetry, Event, Invocation, Message, ToolCall, ToolResult, Warning
from tidegate.text.shorten import both_ends

MAX_CALLS = 10_000  # characters
MAX_CHANGES = 20_000  # characters of the diff, and of all named files


class Work(NamedTuple):
    """The texts that a judge reads. `room` is what is left for the transcript, which is cut first if all are long."""

    transcript: str
    calls: str = ""
    changes: str = ""
    files: str = ""

    @property
    def room(self) -> int:
        """Return how many characters of the transcript are shown."""
        return MAX_TEXT - min(len(self.calls), MAX_CALLS) - sum(min(len(text), MAX_CHANGES) for text in self[2:])


def work_of(
    events: Iterable[Event], calls: Iterable[Invocation], diff: str = "", files: Mapping[str, str | None] | None = None
) -> Work:
    """Return the work as texts. A named file without text is said to be missing."""
    texts = {name: "(there is no such text file)" if text is None else text for name, text in (files or {}).items()}
    named = (f"== {name} ==\n{text}" for name, text in texts.items())
    return Work(transcript(events), "\n".join(map(call_line, calls)), diff, "\n".join(named))


def call_line(call: Invocation) -> str:
    """Return a recorded call and how it ended: `add first [exit 0]`."""
    ended = call.status if call.exit_code is None else f"exit {call.exit_code}"
    return f"{shlex.join(call.argv)} [{ended}]"


def transcript(events: Iterable[Event]) -> str:
    """Return what the agent wrote, did and received, in order. Without times, so that equal trials read the same."""
    # Retries, warnings and the end are not the agent's work.
    work = (event for event in events if isinstance(event, Message | ToolCall | ToolResult))
    return "\n".join(map(line, work)) or "(the agent's work left no record)"


def candidate_answer(events: Iterable[Event]) -> str:
    """Return the agent's last message; '' if there is none."""
    said = [event.text for event in events if isinstance(event, Message) and event.role == "assistant"]
    return said[-1] if said else ""


def line(event: Event) -> str:
    """Return the event as one paragraph of a transcript: `[agent] …`, `[call] $ …`, `[result: exit 0] …`."""
    match event:
        case Message(text=text):
            kind = event.by
        case ToolCall():
            kind, text = "call", event.line
        case ToolResult(output=text):
            kind = f"result: {event.ended}"
        case ApiRetry(text=text) | Warning(text=text):
            kind = event.type
        case _:
            kind, text = f"end: {event.end}", event.message
    return f"[{kind}] {both_ends(text, MAX_PART)}".rstrip()
