"""Values out of JSON that may hold anything: the value if it is of the wanted kind, else nothing."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def mapping(data: object, *keys: str) -> Json:
    """The object at the path of keys; an empty one if there is none."""
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else {}


def items(data: Json, key: str) -> list[Json]:
    """The objects in the list at the key."""
    value = data.get(key)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text(data: Json, key: str) -> str:
    """The text at the key, or ''."""
    value = data.get(key)
    return value if isinstance(value, str) else ""


def texts(data: Json, key: str) -> list[str]:
    """The texts in the list at the key."""
    value = data.get(key)
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def count(data: Json, key: str) -> int | None:
    """The whole number at the key, if it is one and not negative."""
    value = data.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def amount(data: Json, key: str) -> float | None:
    """The number at the key, if it is one and not negative."""
    value = data.get(key)
    return (
        float(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e15 else None
    )


def total(*counts: int | None) -> int | None:
    """The sum of what is there; None if nothing is."""
    there = [number for number in counts if number is not None]
    return sum(there) if there else None


def words(content: object) -> str:
    """The text of a message's content: a string, or the `text` of its parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(text(part, "text") for part in parts if isinstance(part, dict) and text(part, "text"))
