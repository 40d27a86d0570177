"""Result → result.json, the public contract."""

from __future__ import annotations

from tidegate.model.result import Result


def result_json(result: Result) -> str:
    """The whole result as indented JSON, its keys in the order of the model; ends with a newline."""
    return result.model_dump_json(indent=2) + "\n"
