"""A trial's events as text: for judges, and for scripts that read the transcript."""

from __future__ import annotations

from collections.abc import Iterable

from tidegate.model.event import ApiRetry, Event, Message, ToolCall, ToolResult, Warning
from tidegate.rubrics.data_block import MAX_PART
from tidegate.text.shorten import both_ends


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
