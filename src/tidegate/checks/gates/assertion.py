"""JSON values that programs print: parse, compare and show them; and the assertions of `command_json_path`."""

from __future__ import annotations

import json
import math
import operator
import re
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Any

from pydantic_core import from_json

from tidegate.text.json_keys import unique_keys
from tidegate.text.shorten import excerpt

MAX_CHARACTERS = 10_000_000  # a document may need thirty times as much memory as its text


def parse_json(text: str) -> Any:
    """Return the value of a JSON text.

    Raises ValueError for what is not JSON, is too long, is nested too deep, has a key twice in one object, or a number
    that a float cannot hold.
    """
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"longer than {MAX_CHARACTERS:,} characters")
    value = from_json(text, allow_inf_nan=False)
    # An integer may be longer than Python's limit.
    json.loads(text, object_pairs_hook=unique_keys, parse_int=len, parse_float=_in_range)
    return value


def _in_range(number: str) -> float:
    value = float(number)
    if math.isinf(value) or (not value and re.search("[1-9]", re.split("[eE]", number)[0])):
        raise ValueError(f"{excerpt(number, 40)} is out of range")
    if value and value.is_integer() and Decimal(number) not in (value, Decimal(repr(value))):
        raise ValueError(f"{excerpt(number, 40)} would be rounded to {value}")
    return value


Check = Callable[[Any], str | None]
"""Returns why a value does not meet the assertion; None if it does."""

FORMS = "exists, equals <JSON or text>, contains <text>, len OP N, OP N (OP is ==, !=, >=, <=, > or <)"

_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_COMPARISON = re.compile(
    r"(?P<len>len\s*)?(?P<op>==|!=|>=|<=|>|<)\s*(?P<number>-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)", re.ASCII
)
_TYPES = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "null"}


def parse_assertion(text: str) -> Check:
    """Return the check for an assertion. Raises ValueError, naming the valid forms, if the text is not an assertion."""
    word, _, rest = text.strip().partition(" ")
    rest = rest.strip()
    if word == "exists" and not rest:
        return _exists
    if word == "equals" and rest:
        return partial(_equals, _json_or_text(rest))
    if word == "contains" and rest:
        return partial(_contains, rest)
    if comparison := _COMPARISON.fullmatch(text.strip()):
        return _comparison(comparison)
    raise ValueError(f"{excerpt(text, 80)!r} is not an assertion: write one of {FORMS}")


def same(left: Any, right: Any) -> bool:
    """Return True if two JSON values are equal, including their types: 3 equals 3.0, but not "3"; true is not 1."""
    match left, right:
        case (list(), list()):
            return len(left) == len(right) and all(map(same, left, right))
        case (dict(), dict()):
            return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
        case _:
            return ((_is_number(left) and _is_number(right)) or type(left) is type(right)) and bool(left == right)


def shown(value: Any) -> str:
    """Return a value as messages show it."""
    try:
        return excerpt(json.dumps(value, ensure_ascii=False, default=str), 120)
    except ValueError:  # Python refuses to print very long integers
        return kind(value)


def kind(value: Any) -> str:
    """Return the type of a JSON value in words."""
    return _TYPES.get(type(value), "a number")


def _exists(value: Any) -> str | None:
    return "is null" if value is None else None


def _equals(expected: Any, value: Any) -> str | None:
    if same(value, expected):
        return None
    types = f" ({kind(value)}, not {kind(expected)})" if kind(value) != kind(expected) else ""
    return f"is {shown(value)}, expected {shown(expected)}{types}"


def _contains(text: str, value: Any) -> str | None:
    match value:
        case str():
            met = text in value
        case list():
            expected = _json_or_text(text)
            met = any(same(element, expected) for element in value)
        case _:
            return f"is {kind(value)}, `contains` needs a string or an array"
    return None if met else f"does not contain {excerpt(text, 120)}: {shown(value)}"


def _comparison(match: re.Match[str]) -> Check:
    number = parse_json(match["number"])
    if not match["len"]:
        return partial(_compares, match["op"], number)
    if type(number) is not int or number < 0:
        raise ValueError(f"len needs a whole number that is not negative, not {match['number']}")
    return partial(_has_length, match["op"], number)


def _has_length(op: str, number: int, value: Any) -> str | None:
    if not isinstance(value, dict | list | str):
        return f"is {kind(value)}, `len` needs an array, an object or a string"
    return None if _OPERATORS[op](len(value), number) else f"has len {len(value)}, expected {op} {number}"


def _compares(op: str, number: float, value: Any) -> str | None:
    if not _is_number(value):
        return f"is {kind(value)} ({shown(value)}), `{op}` needs a number"
    return None if _OPERATORS[op](value, number) else f"is {shown(value)}, expected {op} {number}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _json_or_text(text: str) -> Any:
    try:
        return parse_json(text)
    except ValueError:
        return text
