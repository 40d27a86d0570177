"""Render result.json, the public contract, and its JSON Schema."""

from __future__ import annotations

from typing import Any

from tidegate.model.result import Result


def result_json(result: Result) -> str:
    """Return the whole result as indented JSON, with keys in the model's order and a final newline."""
    return result.model_dump_json(indent=2) + "\n"


def result_schema() -> dict[str, Any]:
    """Return the JSON Schema of result.json. It allows unknown fields, since a version may add fields."""
    schema: dict[str, Any] = _open(Result.model_json_schema(mode="serialization"))
    return schema


def _open(schema: Any) -> Any:
    """Return the schema without `additionalProperties: false`."""
    match schema:
        case dict():
            return {
                name: _open(part)
                for name, part in schema.items()
                if not (name == "additionalProperties" and part is False)
            }
        case list():
            return [_open(part) for part in schema]
        case _:
            return schema
