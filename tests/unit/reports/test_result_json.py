from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema

from tidegate.model.result import Result
from tidegate.reports.result_json import result_json, result_schema

FIELDS = Path(__file__).parent / "golden/result_v1.txt"


@cache
def closed_schema() -> jsonschema.Draft202012Validator:
    """What result.json has to be like: `tidegate schema result`, but with no field that we do not know."""
    return jsonschema.Draft202012Validator(Result.model_json_schema(mode="serialization"))


def test_every_result_is_valid_by_its_own_schema(story: tuple[str, Result]) -> None:
    _, result = story
    closed_schema().validate(json.loads(result_json(result)))


def test_the_schema_refuses_what_is_no_result() -> None:
    assert not closed_schema().is_valid({"schema_version": 2})
    assert not jsonschema.Draft202012Validator(result_schema()).is_valid({"schema_version": 2})


def test_a_reader_minds_no_field_that_a_later_release_adds(stories: dict[str, Callable[[], Result]]) -> None:
    later = json.loads(result_json(next(iter(stories.values()))()))
    later["verdict"]["mood"] = "calm"
    jsonschema.Draft202012Validator(result_schema()).validate(later)
    assert not closed_schema().is_valid(later)


def test_fields_are_added_and_never_renamed() -> None:
    """The file names the fields of version 1 with their types; TIDEGATE_UPDATE_GOLDEN=1 adds to it, never takes."""
    known = FIELDS.read_text(encoding="utf-8").splitlines() if FIELDS.exists() else []
    now = list(_fields(result_schema(), result_schema()["$defs"], ""))
    if os.environ.get("TIDEGATE_UPDATE_GOLDEN"):
        known = sorted({*known, *now})
        FIELDS.write_text("\n".join(known) + "\n", encoding="utf-8")
    assert sorted(set(known) - set(now)) == [], "a reader of version 1 looks for these"


def _fields(schema: dict[str, Any], defs: dict[str, Any], path: str) -> Iterator[str]:
    """`rows[].base.passes: integer`, and so on, of every object that can be reached."""
    for part in _alternatives(schema, defs):
        if "type" in part and part["type"] not in ("object", "array"):
            yield f"{path}: {part['type']}"
        for name, inner in part.get("properties", {}).items():
            yield from _fields(inner, defs, f"{path}.{name}".lstrip("."))
        if isinstance(part.get("additionalProperties"), dict):
            yield from _fields(part["additionalProperties"], defs, f"{path}.*")
        for inner in part.get("patternProperties", {}).values():
            yield from _fields(inner, defs, f"{path}.*")
        for inner in (part["items"],) if isinstance(part.get("items"), dict) else part.get("prefixItems", []):
            yield from _fields(inner, defs, f"{path}[]")


def _alternatives(schema: dict[str, Any], defs: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "$ref" in schema:
        yield from _alternatives(defs[schema["$ref"].rpartition("/")[2]], defs)
    elif "anyOf" in schema:
        for one in schema["anyOf"]:
            yield from _alternatives(one, defs)
    else:
        yield schema


def test_what_is_read_back_is_what_was_written(story: tuple[str, Result]) -> None:
    _, result = story
    text = result_json(result)
    assert Result.model_validate_json(text) == result
    assert result_json(Result.model_validate_json(text)) == text


def test_the_text_is_indented_and_ends_with_a_newline(story: tuple[str, Result]) -> None:
    _, result = story
    lines = result_json(result).split("\n")
    assert lines[1] == '  "schema_version": 1,'
    assert lines[-2:] == ["}", ""]
