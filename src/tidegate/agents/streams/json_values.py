"""Read values from untrusted JSON: the value if it has the expected type, else an empty one."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def mapping(data: object, *keys: str) -> Json:
    """Return the object at the path of keys; an empty one if there is none."""
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else {}


def items(data: Json, key: str) -> list[Json]:
    """Return the objects in the list at the key."""
    value = data.get(key)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text(data: Json, key: str) -> str:
    """Return the text at the key; '' if there is none."""
    value = data.get(key)
    return value if isinstance(value, str) else ""


def texts(data: Json, key: str) -> list[str]:
    """Return the texts in the list at the key."""
    value = data.get(key)
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def count(data: Json, key: str) -> int | None:
    """Return the whole number at the key; None if there is none or it is negative."""
    value = data.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def amount(data: Json, key: str) -> float | None:
    """Return the number at the key; None if there is none, or it is negative or implausibly large."""
    value = data.get(key)
    return (
        float(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e15 else None
    )


def total(*counts: int | None) -> int | None:
    """Return the sum of the values that are not None; None if all are."""
    there = [number for number in counts if number is not None]
    return sum(there) if there else None


def words(content: object) -> str:
    """Return the text of a message's content: a string, or the `text` of its parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(text(part, "text") for part in parts if isinstance(part, dict) and text(part, "text"))
