"""Comparing values with untrusted JSON Schemas."""

from __future__ import annotations

from typing import Any

import pytest

from tidegate.text.json_schema import first_error

SLOW = {"pattern": "(a|aa)+$"}
LONG = "a" * 60 + "b"


@pytest.mark.parametrize(
    ("schema", "fits", "does_not"),
    [
        ({"patternProperties": {"^n": {"type": "integer"}}}, {"n1": 1}, {"n1": "1"}),
        ({"patternProperties": {"^n": True}, "additionalProperties": False}, {"n1": 1}, {"m": 1}),
        ({"patternProperties": {"^n": True}, "additionalProperties": {"type": "null"}}, {"m": None}, {"m": 1}),
        ({"properties": {"a": True}, "unevaluatedProperties": False}, {"a": 1}, {"b": 1}),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "dependencies": {"a": ["b"]}}, {"b": 1}, {"a": 1}),
        ({"additionalProperties": {"type": "null"}}, 1, {"a": 1}),
    ],
)
def test_a_value_that_does_not_fit_has_an_error(schema: dict[str, Any], fits: Any, does_not: Any) -> None:
    assert first_error(schema, fits) == ""
    assert first_error(schema, does_not)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (SLOW, LONG),
        ({"patternProperties": {SLOW["pattern"]: True}}, {LONG: 1}),
        ({"patternProperties": {SLOW["pattern"]: True}, "additionalProperties": False}, {LONG: 1}),
        ({"additionalProperties": False, "patternProperties": {SLOW["pattern"]: True}}, {LONG: 1}),
        ({"unevaluatedProperties": False, "patternProperties": {SLOW["pattern"]: True}}, {LONG: 1}),
        ({"items": {"$schema": "http://json-schema.org/draft-07/schema#", **SLOW}}, [LONG]),
        ({"items": {"pattern": "b"}}, ["b"] * 300),
    ],
)
def test_a_comparison_that_takes_long_is_given_up(
    schema: dict[str, Any], value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tidegate.text.patterns.MOST_SECONDS", 0.05)
    with pytest.raises(ValueError, match=r"takes too long|given up|for ever"):
        first_error(schema, value)


@pytest.mark.parametrize("keyword", ["allOf", "unevaluatedProperties", "unevaluatedItems"])
def test_references_that_multiply_are_given_up(keyword: str) -> None:
    def below(number: int) -> dict[str, Any]:
        twice = [{"$ref": f"#/$defs/d{number}"}] * 2
        return (
            {"allOf": twice}
            if keyword == "allOf"
            else {keyword: False, "dependentSchemas": dict(zip("ab", twice, strict=True))}
        )

    schema = {**below(0), "$defs": {**{f"d{n}": below(n + 1) for n in range(60)}, "d60": {}}}
    with pytest.raises(ValueError, match=r"takes too long|for ever"):
        first_error(schema, {"a": 1, "b": 2})
