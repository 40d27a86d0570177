"""JSONPath: what is one, what it finds, and which ones can match many."""

from __future__ import annotations

import contextlib
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.checks.gates import json_path
from tidegate.checks.gates.json_path import can_match_many, check_path, find

DOCUMENT: dict[str, Any] = {"a-b": 1, "a b": 2, "items": [{"n": 1}, {"n": "x"}, {"m": None}], "s": "text", "true": 5}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("$", [DOCUMENT]),
        ("$.a-b", [1]),
        ("$['a-b']", [1]),
        ("$['a b']", [2]),
        ("$.true", [5]),
        ("$.items[0].n", [1]),
        ("$.items[-1]", [{"m": None}]),
        ("$.items[2].m", [None]),
        ("$.items[3]", []),
        ("$.items.n", []),
        ("$.s[0]", []),
        ("$.s.n", []),
        ("$.items.`len`", [3]),
    ],
)
def test_a_definite_path_finds_one_value_or_none(path: str, found: list[Any]) -> None:
    assert find(path, DOCUMENT) == found
    assert not can_match_many(path)


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("$.items[*].n", [1, "x"]),
        ("$..n", [1, "x"]),
        ("$.items[0:2].n", [1, "x"]),
        ("$.items[0,1].n", [1, "x"]),
        ("$.items[?(@.n == 'x')]", [{"n": "x"}]),
        ("$.items[?(@.n > 5)]", []),
        ("$['s','a b']", ["text", 2]),
        ("($.s) | (a-b)", ["text", 1]),
        ("$.`keys`", list(DOCUMENT)),
    ],
)
def test_a_path_that_can_match_many_finds_all(path: str, found: list[Any]) -> None:
    assert find(path, DOCUMENT) == found
    assert can_match_many(path)


@given(st.text(alphabet="$.[]*?@()'\"`-+/\\,:|&!<>=~ anwhere019_{}\n", max_size=14) | st.text(max_size=8))
def test_checking_raises_nothing_but_value_errors(path: str) -> None:
    with contextlib.suppress(ValueError):
        assert check_path(path) == path
        find(path, DOCUMENT)


def test_a_very_deep_path_is_refused_not_crashed_on() -> None:
    with contextlib.suppress(ValueError):
        find("$" + ".a" * 20_000, DOCUMENT)


def test_sub_is_refused() -> None:
    with pytest.raises(ValueError, match="`sub` is not supported"):
        check_path("$.s.`sub(/a/, b)`")


def test_a_path_that_makes_too_many_calls_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_path, "MOST_CALLS", 100_000)
    document: object = {}
    for _ in range(60):
        document = {"a": document, "b": 1}
    with pytest.raises(ValueError, match="too much to do: given up after 100,000 steps"):
        find("$..*..*..*..*..*", document)


def test_paths_are_read_in_several_threads() -> None:
    """The library's parser is one for all of them."""
    paths = [f"$.a{number}[?(@.b == {number})].c[*]" for number in range(200)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(check_path, paths)) == paths
