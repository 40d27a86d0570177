"""The grammar and the meaning of assertions."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.checks.gates.assertion import MAX_CHARACTERS, parse_assertion, parse_json, same

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("assertion", "value"),
    [
        ("exists", 0),
        ("exists", False),
        ("exists", ""),
        ("equals 3", 3),
        ("equals 3", 3.0),
        ("equals 3.0", 3),
        ('equals "3"', "3"),
        ("equals open", "open"),
        ("equals two words", "two words"),
        ("equals true", True),
        ("equals null", None),
        ('equals ""', ""),
        ('equals {"a": [1, 2.0]}', {"a": [1.0, 2]}),
        ("equals NaN", "NaN"),
        ("equals 007", "007"),
        ("contains ilk", "milk"),
        ("contains  buy milk ", "to buy milk today"),
        ("contains 3", [1, 3.0]),
        ('contains "3"', ["3"]),
        ("contains open", ["open"]),
        ('contains {"a": 1}', [{"a": 1}]),
        ("len == 2", [1, 2]),
        ("len>=1", {"a": 1}),
        ("len < 4", "abc"),
        ("len != 0", [0]),
        (">5", 6),
        (">= 5", 5.0),
        ("< -1.5", -2),
        ("!= 1e3", 999),
        ("== 12345678901234567890123", 12345678901234567890123),
    ],
)
def test_holds(assertion: str, value: Any) -> None:
    assert parse_assertion(assertion)(value) is None


@pytest.mark.parametrize(
    ("assertion", "value", "problem"),
    [
        ("exists", None, "is null"),
        ("equals 3", "3", 'is "3", expected 3 (a string, not a number)'),
        ("equals 1", True, "is true, expected 1 (a boolean, not a number)"),
        ("equals true", 1, "is 1, expected true (a number, not a boolean)"),
        ("equals [1]", [True], "is [true], expected [1]"),
        ("equals 0", None, "is null, expected 0 (null, not a number)"),
        ("equals 9007199254740993", 9007199254740992.0, "is 9007199254740992.0, expected 9007199254740993"),
        ("contains milk", "bread", 'does not contain milk: "bread"'),
        ("contains 1", [True, "1"], 'does not contain 1: [true, "1"]'),
        ("contains ope", ["open"], 'does not contain ope: ["open"]'),
        ("contains a", {"a": 1}, "is an object, `contains` needs a string or an array"),
        ("len > 2", [1, 2], "has len 2, expected > 2"),
        ("len > 2", 5, "is a number, `len` needs an array, an object or a string"),
        ("len == 0", None, "is null, `len` needs an array, an object or a string"),
        ("> 0", True, "is a boolean (true), `>` needs a number"),
        ("!= 0", "a", 'is a string ("a"), `!=` needs a number'),
        ("> 5", 5, "is 5, expected > 5"),
    ],
)
def test_does_not_hold_and_says_why(assertion: str, value: Any, problem: str) -> None:
    assert parse_assertion(assertion)(value) == problem


@pytest.mark.parametrize(
    "assertion",
    [
        *("", "exist", "exists now", "EXISTS", "equals", "contains ", "count > 5"),
        *("len", "len 3", "len > x", "len >= -1", "len == 1.0"),
        *("=> 3", "= 3", "> five", "> 05", "> 1 2", "> NaN", "> ٣"),
    ],
)
def test_what_is_no_assertion_is_refused(assertion: str) -> None:
    with pytest.raises(ValueError, match=r"write one of exists, equals|len needs a whole number|out of range"):
        parse_assertion(assertion)


@given(json_values)
def test_every_value_equals_its_own_json(value: Any) -> None:
    assert parse_assertion(f"equals {json.dumps(value)}")(value) is None
    assert parse_assertion(f"contains {json.dumps(value)}")([0, value]) is None


@given(json_values, json_values)
def test_same_is_symmetric_and_stricter_than_python(left: Any, right: Any) -> None:
    assert same(left, right) == same(right, left)
    assert left == right or not same(left, right)


@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False), st.integers(-5, 5))
def test_operators_agree_with_each_other(value: float, number: int) -> None:
    holds = {op: parse_assertion(f"{op} {number}")(value) is None for op in ("==", "!=", ">=", "<=", ">", "<")}
    assert holds["=="] != holds["!="]
    assert holds["<"] != holds[">="]
    assert holds[">"] != holds["<="]
    assert holds["=="] == (holds[">="] and holds["<="])


@given(st.text(max_size=20), json_values)
def test_nothing_but_value_errors_are_raised(text: str, value: Any) -> None:
    try:
        check = parse_assertion(text)
    except ValueError:
        return
    check(value)


def test_an_integer_too_long_to_be_written_is_named_by_its_type() -> None:
    assert parse_assertion("equals 1")(10**5000) == "is a number, expected 1"


# --- strict JSON


@pytest.mark.parametrize(
    "text",
    [
        '[{"a": 1, "b": 2, "a": 1}]',
        "NaN",
        "[Infinity]",
        '{"a": -Infinity}',
        "1e999",
        "9007199254740993.0",
        "1.00000000000000001",
        "[1e-999]",
        "",
        "{",
        "'a'",
        "9" * 5000,
        "[" + " " * MAX_CHARACTERS + "]",
    ],
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
