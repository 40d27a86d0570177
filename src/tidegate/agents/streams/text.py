"""Plain text, which reports nothing about the agent's calls."""

from __future__ import annotations

from tidegate.agents.streams.json_lines import Stream
from tidegate.model.event import Event, Message
from tidegate.text.shorten import last_part


def parse(text: str) -> tuple[Event, ...]:
    """Return one message with the end of the text; none if it is blank."""
    words = text.strip()
    return (Message(text=last_part(words)),) if words else ()


STREAM = Stream(parse)
