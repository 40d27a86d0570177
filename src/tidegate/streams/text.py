"""Plain text, of which nothing but the words is known."""

from __future__ import annotations

from tidegate.model.event import Event, Message
from tidegate.streams.excerpt import excerpt


def parse(text: str) -> tuple[Event, ...]:
    """One message with the end of the text; none if there is nothing but white space."""
    words = text.strip()
    return (Message(text=excerpt(words)),) if words else ()
