"""Limit the warnings about unreadable output to a number that people read."""

from __future__ import annotations

from collections.abc import Iterable

from tidegate.model.event import Event, Warning

MAX_WARNINGS = 20


def bounded(events: Iterable[Event]) -> tuple[Event, ...]:
    """Return the events with the first 20 warnings, and one last warning that counts the others."""
    kept: list[Event] = []
    warnings = 0
    for event in events:
        warnings += isinstance(event, Warning)
        if not isinstance(event, Warning) or warnings <= MAX_WARNINGS:
            kept.append(event)
    if warnings > MAX_WARNINGS:
        kept.append(Warning(text=f"{warnings - MAX_WARNINGS} more warnings of this kind were left out"))
    return tuple(kept)
