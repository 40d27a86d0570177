"""Strict JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.checks.gates.json_text import MAX_DEPTH, parse_json


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", '{"a": -Infinity}', "1e999", "", "{", "'a'", "9" * 5000])
def test_what_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 (each has its own words)
        parse_json(text)


def test_nesting_has_one_limit_however_deep_the_caller_stands() -> None:
    assert parse_json(nested(MAX_DEPTH)) == json.loads(nested(MAX_DEPTH))
    for depth in (MAX_DEPTH + 1, 100_000):
        with pytest.raises(ValueError, match="nested deeper than 100 levels"):
            parse_json(nested(depth))


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x), max_leaves=8))
def test_json_is_read_as_it_is_written(value: Any) -> None:
    assert parse_json(json.dumps(value)) == value
