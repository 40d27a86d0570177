"""Strict JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.checks.gates.assertion import MAX_CHARACTERS, parse_json


@pytest.mark.parametrize(
    "text", ["NaN", "[Infinity]", '{"a": -Infinity}', "", "{", "'a'", "9" * 5000, "[" + " " * MAX_CHARACTERS + "]"]
)
def test_what_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 (each has its own words)
        parse_json(text)


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(ValueError, match="recursion limit"):
        parse_json("[" * 100_000 + "]" * 100_000)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x), max_leaves=8))
def test_json_is_read_as_it_is_written(value: Any) -> None:
    assert parse_json(json.dumps(value)) == value
