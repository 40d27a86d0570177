"""Compares values with untrusted JSON Schemas: within limits, and without fetching what a schema refers to."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from functools import cache
from typing import Any

from tidegate.text.patterns import search

MOST_CHARACTERS = 100_000  # of one schema
MOST_STEPS = 20_000  # of one comparison: a step is a keyword or one of its values
SLOW_STEPS = 100  # that a reference or a search counts as
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_ENDLESS = ("patternProperties", "dependentSchemas", "$dynamicRef", "$recursiveRef")  # below `unevaluated…`
_FORMATS = ("date", "email", "ipv4", "ipv6", "uuid")  # which are checked, the same on every machine
_MOMENT = re.compile(r"(?i)\d{4}-\d\d-\d\d[t ]\d\d:\d\d:\d\d(?:\.\d+)?(?:z|[+-]\d\d:\d\d)")  # of RFC 3339
Keyword = Callable[..., Iterable[Any] | None]  # of the library: (validator, the keyword's value, instance, schema)


def first_error(schema: Mapping[str, Any], value: Any) -> str:
    """Return the first place and reason why the value does not fit; '' if it fits.

    Raises LookupError if the schema refers to something outside of it, PatternTooSlowError if a search takes too long,
    and errors of many classes at another limit, and for what is not a schema.
    """
    from jsonschema import Draft202012Validator  # 60 ms
    from jsonschema.validators import validator_for
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    text = json.dumps(schema, default=str)
    kind = _limited(validator_for(schema, Draft202012Validator))
    own, before = json.loads(text, object_hook=_without_draft), _LIMITS.set(_Limits(text))
    try:
        error = next(kind(own, registry=Registry(), format_checker=_formats()).iter_errors(value), None)
    except Unresolvable as unresolvable:
        raise LookupError(str(unresolvable)) from None
    finally:
        _LIMITS.reset(before)
    return f"{error.json_path}: {error.message}" if error else ""


def _without_draft(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema as one of its parent's draft: at another one, the library would leave our limits."""
    return {key: one for key, one in schema.items() if key != "$schema" or not isinstance(one, str)}


@cache
def _formats() -> Any:
    """Return a checker of formats: of those for which the library needs no other one, and of moments."""
    from jsonschema import FormatChecker

    checker = FormatChecker(_FORMATS)
    checker.checkers = {**checker.checkers, "date-time": (_is_moment, ())}
    return checker


def _is_moment(value: Any) -> bool:
    return not isinstance(value, str) or _MOMENT.fullmatch(value) is not None


@cache  # the library compiles a class for it
def _limited(draft: Any) -> Any:
    """Return the draft with keywords that raise ValueError at the limits of the comparison."""
    from jsonschema.validators import extend

    ours: dict[str, Keyword] = {"pattern": _pattern, "patternProperties": _pattern_properties}
    keywords = {name: _counted(name, ours.get(name, one)) for name, one in draft.VALIDATORS.items()}
    return extend(draft, keywords)  # type: ignore[no-untyped-call]


class _Limits:
    """What one comparison may still take."""

    def __init__(self, text: str) -> None:
        self._left = MOST_STEPS if len(text) <= MOST_CHARACTERS else 0
        self.has_endless = any(json.dumps(word) in text for word in _ENDLESS)

    def spend(self, steps: int) -> None:
        """Raise ValueError if so many steps are too many."""
        self._left -= steps
        if self._left < 0:
            raise ValueError("the comparison takes too long")


_LIMITS: ContextVar[_Limits] = ContextVar("limits of the comparison")


def _counted(name: str, keyword: Keyword) -> Keyword:
    def run(validator: Any, value: Any, instance: Any, schema: Any) -> Iterable[Any]:
        limits, size = _LIMITS.get(), len(value) if isinstance(value, list | dict) else 0
        limits.spend(SLOW_STEPS if name in _REFERENCES else 1 + size)
        if name.startswith("unevaluated") and limits.has_endless:
            raise ValueError(f"`{name}` may take for ever")
        if name == "additionalProperties" and isinstance(instance, dict):  # the library searches without limit
            schema = {"properties": {*schema.get("properties", ()), *_matching(schema, instance)}}
        return keyword(validator, value, instance, schema) or ()

    return run


def _found(pattern: str, text: str) -> bool:
    _LIMITS.get().spend(SLOW_STEPS)
    return search(pattern, text) is not None


def _matching(schema: Mapping[str, Any], instance: Iterable[str]) -> Iterator[str]:
    patterns = schema.get("patternProperties", ())
    return (name for name in instance if any(_found(pattern, name) for pattern in patterns))


def _pattern(validator: Any, pattern: str, instance: Any, _: Any) -> Iterator[Any]:
    from jsonschema import ValidationError  # loaded by now

    if isinstance(instance, str) and not _found(pattern, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(validator: Any, schemas: Mapping[str, Any], instance: Any, _: Any) -> Iterator[Any]:
    for pattern, schema in schemas.items():
        for name, value in instance.items() if isinstance(instance, dict) else ():
            if _found(pattern, name):
                yield from validator.descend(value, schema, path=name, schema_path=pattern)
