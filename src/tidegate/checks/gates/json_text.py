"""Parse JSON that programs print, strictly and within limits."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

MAX_CHARACTERS = 10_000_000  # a document may need thirty times as much memory as its text
MAX_DEPTH = 100
MAX_DIGITS = 1000  # digits of an integer


def parse_json(text: str) -> Any:
    """Return the value of a JSON text.

    Raises ValueError for NaN, infinities, numbers out of range (integers over MAX_DIGITS), nesting over MAX_DEPTH and
    texts over MAX_CHARACTERS.
    """
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"longer than {MAX_CHARACTERS:,} characters")
    try:
        value = json.loads(text, parse_constant=_refuse, parse_float=_finite, parse_int=_written_out)
    except RecursionError:
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels") from None
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [child for parent in level for child in _children(parent)]
    if level:
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
    return value


def _children(value: Any) -> list[Any]:
    match value:
        case dict():
            return list(value.values())
        case list():
            return value
        case _:
            return []


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _written_out(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise ValueError(f"the number {text:.40} is out of range")
    return int(text)


def _finite(text: str) -> float:
    if math.isinf(number := float(text)):
        raise ValueError(f"the number {text:.40} is out of range")
    return number
