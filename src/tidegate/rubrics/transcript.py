"""A trial's events as the text that a judge reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tidegate.model.event import Event, Message, ToolCall, ToolResult
from tidegate.rubrics.data_block import MAX_PART, cut


def transcript(events: Iterable[Event]) -> str:
    """Return what the agent wrote, did and received, in order. Without times, so that equal trials read the same."""
    return "\n".join(_lines(events)) or "(the agent's work left no record)"


def candidate_answer(events: Iterable[Event]) -> str:
    """Return the agent's last message; '' if there is none."""
    said = [event.text for event in events if isinstance(event, Message) and event.role == "assistant"]
    return said[-1] if said else ""


def _lines(events: Iterable[Event]) -> Iterator[str]:
    for event in events:
        match event:
            case Message(role=role, text=text):
                yield f"[{'agent' if role == 'assistant' else role}] {cut(text, MAX_PART)}"
            case ToolCall(command=str() as command):
                yield f"[call] $ {cut(command, MAX_PART)}"
            case ToolCall(tool=tool, input=arguments):
                yield f"[call] {tool} {cut(str(arguments or ''), MAX_PART)}".rstrip()
            case ToolResult(status=status, exit_code=code, output=output):
                ended = status if code is None else f"exit {code}"
                yield f"[result: {ended}] {cut(output, MAX_PART)}".rstrip()
            case _:
                pass  # retries, warnings and the end are not the agent's work
