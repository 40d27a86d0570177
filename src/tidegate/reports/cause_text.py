"""The text of a likely cause: what changed, and what to do. Data is between backticks."""

from __future__ import annotations

from tidegate.model.cause import Cause, Place

_MOST_LINE = 160


def cause_diff(cause: Cause) -> str:
    """Return the changed lines as a diff; '' if the cause points to none."""
    lines = [f"-{_cut(cause.removed)}"] if cause.removed else []
    lines += [f"+{_cut(cause.added)}"] if cause.added else []
    return "\n".join(lines)


def changed_at(cause: Cause) -> Place | None:
    """Return the changed line to link to: head's, if it has one."""
    return cause.added or cause.removed


def _cut(place: Place) -> str:
    return place.text if len(place.text) <= _MOST_LINE else f"{place.text[: _MOST_LINE - 1]}…"
