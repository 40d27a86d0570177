"""Writes values as JSON that names their classes, so that agents, gates and evaluators are read as what they are."""

from __future__ import annotations

import json
from functools import cache
from importlib import import_module
from typing import Any, TypeVar

from tidegate.model.value import Value

CLASS = "tidegate:class"
V = TypeVar("V", bound=Value)


def dump(value: Value) -> str:
    """Return the value as JSON."""
    return json.dumps(_plain(value), indent=1)


def load(text: str | bytes, kind: type[V]) -> V:
    """Return the value of that class. Raises ValueError if the text is damaged, or is something else."""
    found = json.loads(text, object_hook=_typed)
    if type(found) is not kind:
        raise ValueError(f"it is no {kind.__name__}")
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, Value):
        fields = {name: _plain(getattr(value, name)) for name in type(value).model_fields}
        return {CLASS: _name(type(value)), **fields}
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list | set | frozenset):
        return [_plain(item) for item in value]
    return value


def _typed(found: dict[str, Any]) -> Any:
    name = found.pop(CLASS, None)
    return found if name is None else _class(name).model_validate(found)


def _name(kind: type[Value]) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


@cache
def _class(name: str) -> type[Value]:
    """Return the class of Tidegate's with that name, from its module. Raises ValueError if there is none."""
    module, _, own = name.rpartition(".")
    if module.startswith("tidegate."):
        try:
            found = getattr(import_module(module), own, None)
        except ImportError:
            found = None
        if isinstance(found, type) and issubclass(found, Value):
            return found
    raise ValueError(f"there is no class {name}")
