"""Writes values as JSON that names their classes, so that agents, gates and evaluators are read as what they are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any, TypeVar

import tidegate.agents.agentv_batch
import tidegate.evaluators
import tidegate.gates  # noqa: F401  (with these three, every class that a plan can contain is loaded)
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
    if name is None:
        return found
    if name not in _classes():
        raise ValueError(f"there is no class {name}")
    return _classes()[name].model_validate(found)


def _name(kind: type[Value]) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


@cache
def _classes() -> dict[str, type[Value]]:
    return {_name(kind): kind for kind in _below(Value)}


def _below(kind: type[Value]) -> Iterator[type[Value]]:
    for one in kind.__subclasses__():
        yield one
        yield from _below(one)
