"""JSONPath and JSON on what a hostile program prints."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tidegate.checks.gates import json_path
from tidegate.checks.gates.json_path import check_path, find
from tidegate.checks.gates.json_text import MAX_CHARACTERS, parse_json


def test_a_path_that_takes_too_much_memory_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """`$..*` keeps an object for each of the document's values."""
    monkeypatch.setattr(json_path, "MOST_BYTES", 1_000_000)
    document: list[object] = [[] for _ in range(300_000)]
    with pytest.raises(ValueError, match="it takes more than 1 MB"):
        find("$..*", document)


def test_a_path_that_makes_too_many_calls_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_path, "MOST_CALLS", 100_000)
    document: object = {}
    for _ in range(60):
        document = {"a": document, "b": 1}
    with pytest.raises(ValueError, match="too much to do: given up after 100,000 steps"):
        find("$..*..*..*..*..*", document)


def test_a_text_that_is_too_long_is_not_read() -> None:
    with pytest.raises(ValueError, match="longer than 10,000,000 characters"):
        parse_json("[" + " " * MAX_CHARACTERS + "]")


def test_paths_are_read_in_several_threads() -> None:
    """The library's parser is one for all of them."""
    paths = [f"$.a{number}[?(@.b == {number})].c[*]" for number in range(200)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(check_path, paths)) == paths
