"""Compares values with untrusted JSON Schemas: within limits, and without fetching what a schema refers to."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from tidegate.text.patterns import search

MOST_CHARACTERS = 100_000  # of one schema
MOST_STEPS = 20_000  # of one comparison: a step is a keyword or one of its values
SLOW_STEPS = 100  # that a reference or a search counts as
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_ENDLESS = ("patternProperties", "dependentSchemas", "$dynamicRef", "$recursiveRef")  # below `unevaluated…`
Keyword = Callable[..., Iterable[Any] | None]  # of the library: (validator, the keyword's value, instance, schema)


def first_error(schema: Mapping[str, Any], value: Any) -> str:
    """Return the first place and reason why the value does not fit; '' if it fits.

    Raises LookupError if the schema refers to something outside of it, PatternTooSlowError if a search takes too long,
    and errors of many classes at another limit, and for what is not a schema.
    """
    from jsonschema import Draft202012Validator  # 60 ms
    from jsonschema.validators import extend, validator_for
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    text = json.dumps(schema, default=str)
    draft = validator_for(schema, Draft202012Validator)
    kind: Any = extend(draft, _Limited(draft.VALIDATORS, text).keywords)  # type: ignore[no-untyped-call]
    try:
        own = json.loads(text, object_hook=_without_draft)
        error = next(kind(own, registry=Registry()).iter_errors(value), None)
    except Unresolvable as unresolvable:
        raise LookupError(str(unresolvable)) from None
    return f"{error.json_path}: {error.message}" if error else ""


def _without_draft(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema as one of its parent's draft: at another one, the library would leave our limits."""
    return {key: one for key, one in schema.items() if key != "$schema" or not isinstance(one, str)}


class _Limited:
    """The keywords of a draft for one comparison, which raise ValueError at a limit."""

    def __init__(self, keywords: Mapping[str, Keyword], text: str) -> None:
        ours: dict[str, Keyword] = {"pattern": self._pattern, "patternProperties": self._pattern_properties}
        self.keywords = {name: self._counted(name, ours.get(name, one)) for name, one in keywords.items()}
        self._left = MOST_STEPS if len(text) <= MOST_CHARACTERS else 0
        self._has_endless = any(json.dumps(word) in text for word in _ENDLESS)

    def _counted(self, name: str, keyword: Keyword) -> Keyword:
        def run(validator: Any, value: Any, instance: Any, schema: Any) -> Iterable[Any]:
            size = len(value) if isinstance(value, list | dict) else 0
            self._spend(SLOW_STEPS if name in _REFERENCES else 1 + size)
            if name.startswith("unevaluated") and self._has_endless:
                raise ValueError(f"`{name}` may take for ever")
            if name == "additionalProperties" and isinstance(instance, dict):  # the library searches without limit
                schema = {"properties": {*schema.get("properties", ()), *self._matching(schema, instance)}}
            return keyword(validator, value, instance, schema) or ()

        return run

    def _spend(self, steps: int) -> None:
        self._left -= steps
        if self._left < 0:
            raise ValueError("the comparison takes too long")

    def _found(self, pattern: str, text: str) -> bool:
        self._spend(SLOW_STEPS)
        return search(pattern, text) is not None

    def _matching(self, schema: Mapping[str, Any], instance: Iterable[str]) -> Iterator[str]:
        patterns = schema.get("patternProperties", ())
        return (name for name in instance if any(self._found(pattern, name) for pattern in patterns))

    def _pattern(self, validator: Any, pattern: str, instance: Any, _: Any) -> Iterator[Any]:
        from jsonschema import ValidationError  # loaded by now

        if isinstance(instance, str) and not self._found(pattern, instance):
            yield ValidationError(f"{instance!r} does not match {pattern!r}")

    def _pattern_properties(self, validator: Any, schemas: Mapping[str, Any], instance: Any, _: Any) -> Iterator[Any]:
        for pattern, schema in schemas.items():
            for name, value in instance.items() if isinstance(instance, dict) else ():
                if self._found(pattern, name):
                    yield from validator.descend(value, schema, path=name, schema_path=pattern)
