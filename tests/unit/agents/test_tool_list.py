"""Which lists of tools the APIs of models refuse."""

from __future__ import annotations

from typing import Any

import pytest

from tidegate.agents.tool_list import input_fault, refused

TEXT = {"type": "string"}
GOOD = {"type": "object", "properties": {"title": {"$ref": "#/$defs/Title"}}, "$defs": {"Title": TEXT}}


def tool(name: str = "add", schema: Any = GOOD) -> dict[str, Any]:
    return {"name": name, "inputSchema": schema}


def test_a_usual_list_is_accepted() -> None:
    assert refused([tool("add"), tool("list-all_2", {"type": "object"})]) == {}


def test_a_reason_is_given_once_with_the_first_tool() -> None:
    found = refused([tool(), tool("a.b"), tool("c d"), tool()])
    assert list(found.values()) == ["a.b", "add"]
    assert list(found)[1] == "two tools have the same name"


@pytest.mark.parametrize("name", ["", "a.b", "a b", "läuft", "x" * 65])
def test_a_name_that_no_request_may_have_is_a_reason(name: str) -> None:
    assert list(refused([tool(name)]).values()) == [name]


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        (None, "is not of type `object`"),
        ({"properties": {}}, "is not of type `object`"),
        ({**GOOD, "oneOf": [{"required": ["title"]}]}, "has `oneOf`, `allOf`, `anyOf`, `enum` or `not` at its top"),
        ({**GOOD, "not": {"required": ["x"]}}, "has `oneOf`, `allOf`, `anyOf`, `enum` or `not` at its top level"),
        ({**GOOD, "enum": [{"title": "a"}]}, "has `oneOf`, `allOf`, `anyOf`, `enum` or `not` at its top level"),
        ({"type": "object", "properties": {"$my key": TEXT}}, "has a parameter whose name is"),
        ({"type": "object", "properties": {"title": {"type": "strng"}}}, "is not a JSON Schema of 2020-12"),
        ({"type": "object", "properties": {"title": {"items": [TEXT]}}}, "is not a JSON Schema of 2020-12"),
        ({"type": "object", "properties": {"title": {"$ref": "#/$defs/Gone"}}}, "is not a JSON Schema of 2020-12"),
        ({"type": "object", "properties": {"a": {"$ref": "#/$defs/x/y"}}, "$defs": {"x": []}}, "is not a JSON Schema"),
        ({"type": "object", "description": "x" * 100_000}, "is not a JSON Schema of 2020-12"),
        ({"type": "object", "x": float("nan")}, "is not JSON"),
    ],
)
def test_a_schema_that_no_request_may_have_is_a_reason(schema: Any, why: str) -> None:
    (reason,) = refused([tool(), tool("bad", schema)])
    assert reason.startswith(f"an input schema {why}")


@pytest.mark.parametrize(
    ("part", "accepted"),
    [
        ({"type": "array"}, False),
        ({"anyOf": [TEXT, {"type": "array", "minItems": 1}]}, False),
        ({"type": "array", "items": {"type": "array"}}, False),
        ({"type": "array", "items": TEXT}, True),
        ({"type": "array", "prefixItems": [TEXT]}, True),
        ({"type": ["array", "null"]}, True),
    ],
)
def test_a_list_needs_items(part: Any, *, accepted: bool) -> None:
    found = refused([tool("bad", {"type": "object", "properties": {"tags": part}})])
    assert list(found.values()) == ([] if accepted else ["bad"])


def test_choices_below_the_top_level_are_accepted() -> None:
    assert (
        refused([tool("add", {"type": "object", "properties": {"title": {"anyOf": [TEXT, {"type": "null"}]}}})]) == {}
    )


@pytest.mark.parametrize(
    "change",
    [
        {"maxProperties": 0},
        {"properties": {"title": {"not": TEXT}}},
        {"properties": {"title": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}},
        {"$defs": {"Title": {"type": "string", "maxLength": 1}}},
        {"if": {"required": ["title"]}, "then": False},
        {"dependentRequired": {"title": ["author"]}},
        {"$defs": {"Title": {"type": "string", "pattern": "^[0-9]+$"}}},
        {"patternProperties": {"^t": {"type": "integer"}}},
        {"$schema": "http://json-schema.org/draft-04/schema#", "propertyNames": {"const": "author"}},
    ],
)
def test_an_input_is_compared_with_all_of_a_schema(change: dict[str, Any]) -> None:
    sent = {"title": "Emma"}
    assert not input_fault(GOOD, sent)
    assert input_fault(GOOD | change, sent)


def test_what_cannot_be_compared_is_a_fault() -> None:
    assert input_fault({"type": "object", "properties": {}, "$ref": "#/$defs/gone"}, {}) == "they cannot be compared"


@pytest.mark.parametrize(
    ("kind", "fits", "wrong"),
    [
        ("date-time", "2024-02-29T10:30:00Z", "2024-02-29"),
        ("date", "2024-02-29", "tomorrow"),
        ("uuid", "4b0c2f6e-1d3a-4c57-9e8f-7a6b5c4d3e2f", "first"),
        ("of-ours", "anything", 1),
    ],
)
def test_an_input_has_the_format_that_a_schema_names(kind: str, fits: str, wrong: Any) -> None:
    schema = {"type": "object", "properties": {"at": {"type": "string", "format": kind}}}
    assert input_fault(schema, {"at": fits}) == ""
    assert input_fault(schema, {"at": wrong}) != ""
