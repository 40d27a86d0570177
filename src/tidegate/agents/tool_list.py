"""What the APIs of models refuse in a server's list of tools: one such tool breaks every request of an agent. Pure.

Also what the schema of a listed tool does not allow in an input.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from tidegate.text.json_schema import MOST_CHARACTERS, first_error

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_PARAMETER = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_REFERENCE = re.compile(r'"\$ref": "([^"\\]*)"')  # in JSON
_CHOICES = ("oneOf", "allOf", "anyOf", "enum", "not")  # APIs accept these only below the top level


def refused(tools: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return why APIs refuse this list, each reason with the first tool that it is true of."""
    found: dict[str, str] = {}
    taken = set[str]()
    for tool in tools:
        name = str(tool.get("name"))
        if name in taken:
            found.setdefault("two tools have the same name", name)
        if not _NAME.fullmatch(name):
            found.setdefault("a tool's name is empty, too long, or not made of letters, digits, `_` and `-`", name)
        if fault := schema_fault(tool.get("inputSchema")):
            found.setdefault(f"an input schema {fault}", name)
        elif _lacks_items(tool.get("inputSchema")):
            found.setdefault("a list in an input schema has no `items`, without which some APIs refuse it", name)
        taken.add(name)
    return found


def _lacks_items(schema: Any) -> bool:
    waiting = [schema]
    while waiting:
        match waiting.pop():
            case {"type": "array", **more} if not {"items", "prefixItems"} & more.keys():
                return True
            case dict() as own:
                waiting += own.values()
            case list() as several:
                waiting += several
            case _:
                pass
    return False


def schema_fault(schema: Any) -> str:
    """Return what APIs refuse in the input schema of a tool; "" if they accept it."""
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return "is not of type `object`"
    if any(key in schema for key in _CHOICES):
        return "has `oneOf`, `allOf`, `anyOf`, `enum` or `not` at its top level"
    properties = schema.get("properties", {})
    if not isinstance(properties, dict) or not all(map(_PARAMETER.fullmatch, properties)):
        return "has a parameter whose name is empty, too long, or not made of letters, digits, `_`, `-` and `.`"
    try:
        text = json.dumps(schema, allow_nan=False, ensure_ascii=False)
        text.encode()
        is_valid = len(text) <= MOST_CHARACTERS and _is_valid(text)
    except (ValueError, RecursionError):  # NaN, half of a character, or nested without end
        return "is not JSON"
    return "" if is_valid else "is not a JSON Schema of 2020-12, refers to what is not in it, or is very long"


@lru_cache(maxsize=1024)  # each trial lists the same ones
def _is_valid(schema: str) -> bool:
    from jsonschema import Draft202012Validator  # 60 ms
    from referencing import Registry
    from referencing.jsonschema import DRAFT202012

    read = json.loads(schema)
    resolver = Registry().with_resource("", DRAFT202012.create_resource(read)).resolver()
    try:
        for reference in _REFERENCE.findall(schema):
            resolver.lookup(reference)
        return Draft202012Validator(Draft202012Validator.META_SCHEMA).is_valid(read)
    except Exception:  # the library raises errors of many classes for what is not a schema
        return False


def input_fault(schema: Any, given: Mapping[str, Any]) -> str:
    """Return why a model that knows this schema does not send this input; "" if it may.

    A model sends no parameter that is not listed, and APIs read every schema as one of 2020-12.
    """
    try:
        listed = {"properties": dict.fromkeys(schema.get("properties", {}), True), "additionalProperties": False}
        own = {key: one for key, one in schema.items() if key != "$schema"}
        return first_error(listed, dict(given)) or first_error(own, dict(given))
    except Exception:  # the library raises errors of many classes for what is not a schema
        return "they cannot be compared"
