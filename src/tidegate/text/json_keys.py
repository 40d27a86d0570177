"""Keys that occur twice in an object of JSON: parsers disagree on which of them counts."""

from __future__ import annotations

from typing import Any

from tidegate.text.shorten import excerpt


class DoubledKeyError(ValueError):
    """A key occurs twice in one object."""


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object, as an `object_pairs_hook` of `json`. Raises DoubledKeyError."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise DoubledKeyError(f"`{excerpt(next(name for name in names if names.count(name) > 1), 60)}` is there twice")
    return found
