"""Converts YAML scalars into Python values."""

from __future__ import annotations

from typing import Any

import yaml
from yaml.constructor import SafeConstructor
from yaml.resolver import Resolver

Scalar = str | int | float | bool | None

MAX_NUMBER = 2**63

_TAG = "tag:yaml.org,2002:"
_TEXT_TAGS = frozenset({"str", "timestamp", "value", "merge"})  # dates stay text, since no key takes a date
_RESOLVER: Any = Resolver()
_CONSTRUCTOR = SafeConstructor()


def scalar_value(event: Any) -> Scalar:
    """Return the value of a scalar event by YAML 1.1, except that dates stay text.

    Raises ValueError with the reason if the value is not allowed.
    """
    tag: str | None = event.tag
    if tag is None:
        tag = str(_RESOLVER.resolve(yaml.ScalarNode, event.value, event.implicit))
    kind = "str" if tag == "!" else tag.removeprefix(_TAG)
    if kind in _TEXT_TAGS:
        return _text(event.value)
    if kind == "null":
        return None
    if kind == "bool" and event.value.lower() in SafeConstructor.bool_values:
        return SafeConstructor.bool_values[event.value.lower()]
    if kind in ("int", "float"):
        return _number(kind, event.value)
    raise ValueError(f"the tag {shown(tag)} is not allowed here")


def is_container_tag(tag: str | None, kind: str) -> bool:
    """Return True if there is no tag, or the default tag of a sequence (`seq`) or mapping (`map`)."""
    return tag in (None, "!", _TAG + kind)


def shown(tag: str) -> str:
    """Return a tag in its short form: `!!python/name`."""
    return f"!!{tag.removeprefix(_TAG)}" if tag.startswith(_TAG) else tag


def _text(value: str) -> str:
    if "\0" in value:
        raise ValueError("must not hold a NUL character")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError("must not hold half of a surrogate pair") from None
    return value


def _number(kind: str, value: str) -> int | float:
    node = yaml.ScalarNode(_TAG + kind, value)
    construct = _CONSTRUCTOR.construct_yaml_int if kind == "int" else _CONSTRUCTOR.construct_yaml_float
    try:
        number: int | float = construct(node)
    except (ValueError, IndexError, OverflowError):
        raise ValueError("is not a number; quote it if it is text") from None
    if not abs(number) <= MAX_NUMBER:  # `not <=` rather than `>`, to reject NaN too
        raise ValueError("is a number too large, or not finite; quote it if it is text")
    return number
