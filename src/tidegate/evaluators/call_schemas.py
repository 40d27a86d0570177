"""JSON Schemas of tool calls. Imported when a suite has one: the library takes 50 ms to load."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jsonschema import SchemaError, ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import extend, validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable

from tidegate.text.patterns import search


def schema_problem(schema: dict[str, Any]) -> str:
    """Return why this is not a JSON Schema; '' if it is one."""
    try:
        validator_for(schema).check_schema(schema)
    except SchemaError as error:
        return f"is not a JSON Schema: {error.message}"[:300]
    return ""


def first_error(schema: dict[str, Any], value: Any) -> str:
    """Return the first place and reason why the value does not fit; '' if it fits.

    Raises LookupError if the schema refers to something outside of it.
    """
    try:
        error = next(_validator(schema).iter_errors(value), None)
    except Unresolvable as unresolvable:
        raise LookupError(str(unresolvable)) from None
    return f"{error.json_path}: {error.message}" if error else ""


def _validator(schema: dict[str, Any]) -> Validator:
    """Return a validator that fetches nothing (empty registry) and whose patterns cannot hang the run."""
    limited = {"pattern": _pattern, "patternProperties": _pattern_properties}
    kind: type[Validator] = extend(validator_for(schema), limited)  # type: ignore[no-untyped-call]
    return kind(schema, registry=Registry())


def _pattern(validator: Validator, pattern: str, instance: Any, _: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not search(pattern, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(
    validator: Validator, properties: dict[str, Any], instance: Any, _: Any
) -> Iterator[ValidationError]:
    for pattern, schema in properties.items():
        for name, value in instance.items() if isinstance(instance, dict) else ():
            if search(pattern, name):
                yield from validator.descend(value, schema, path=name, schema_path=pattern)  # type: ignore[attr-defined]
