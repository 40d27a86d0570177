"""Result → result.json, the public contract, and its JSON Schema."""

from __future__ import annotations

from typing import Any

from tidegate.model.result import Result


def result_json(result: Result) -> str:
    """The whole result as indented JSON, its keys in the order of the model; ends with a newline."""
    return result.model_dump_json(indent=2) + "\n"


def result_schema() -> dict[str, Any]:
    """The schema of result.json. Within a version fields are added, so it allows those that it does not know."""
    schema: dict[str, Any] = _open(Result.model_json_schema(mode="serialization"))
    return schema


def _open(schema: Any) -> Any:
    """Without the rule that an object has no other fields."""
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
