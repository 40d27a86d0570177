"""YAML as plain data with source positions."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tidegate.suite.document import MAX_DEPTH, Document, Position, parse, read_document

TEXT = """\
a: 1
list:
  - x
  - key: [yes, 1.5, ~, 2026-04-12, "1"]
    é: |
      text
"""


def data(text: str) -> object:
    document = parse(text, "f.yaml")
    assert not document.problems
    return document.data


def test_the_data_is_plain_and_dates_stay_text() -> None:
    assert data(TEXT) == {"a": 1, "list": ["x", {"key": [True, 1.5, None, "2026-04-12", "1"], "é": "text\n"}]}


def test_every_key_and_value_knows_its_place() -> None:
    document = parse(TEXT, "f.yaml")

    assert document.key_at(("list",)) == Position(2, 1)
    assert document.value_at(("list",)) == Position(3, 3)
    assert document.key_at(("list", 1, "key")) == Position(4, 5)
    assert document.value_at(("list", 1, "key", 1)) == Position(4, 16)
    assert document.key_at(("list", 1, "é")) == Position(5, 5)
    assert document.key_at(("list", 0)) == Position(3, 5)


def test_a_place_that_is_not_there_is_that_of_what_is_around_it() -> None:
    document = parse(TEXT, "f.yaml")

    assert document.key_at(("list", 1, "key", 9, "no")) == Position(4, 5)
    assert document.value_at(("a", "no")) == Position(1, 4)
    assert document.key_at(("no",)) == document.key_at(()) == Position(1, 1)


def test_an_alias_stands_where_its_anchor_is() -> None:
    document = parse("a: &x {k: 1}\nb: *x\n", "f.yaml")

    assert document.data == {"a": {"k": 1}, "b": {"k": 1}}
    assert document.value_at(("b", "k")) == Position(1, 11)


def test_a_mappings_own_keys_win_over_merged_ones_and_earlier_merges_over_later() -> None:
    text = "a: &a {k: 1, l: 1}\nb: &b {l: 2, m: 2}\nc: {k: 0, <<: [*a, *b]}\n"

    assert parse(text, "f").data == {"a": {"k": 1, "l": 1}, "b": {"l": 2, "m": 2}, "c": {"k": 0, "l": 1, "m": 2}}


def test_a_merge_key_in_quotes_is_a_key() -> None:
    assert data('"<<": 1') == {"<<": 1}


def test_merging_what_is_no_mapping_is_a_problem() -> None:
    assert [str(problem) for problem in parse("<<: 1\n", "f").problems] == [
        "f:1:5: `<<` takes a mapping, or a list of mappings"
    ]


@pytest.mark.parametrize("text", ["!!str 5", "'5'", "!!str '5'"])
def test_tags_of_plain_text_are_allowed(text: str) -> None:
    assert data(text) == "5"


def test_depth_is_limited_also_where_aliases_make_it() -> None:
    inside = "[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1)
    assert data(f"a: {inside}")

    folded = "".join(f"k{n}: &k{n} [[[*k{n - 1}]]]\n" for n in range(1, 40))
    (problem,) = parse("k0: &k0 x\n" + folded, "f").problems
    assert problem.what == f"is nested more than {MAX_DEPTH} levels deep"


def test_one_long_text_repeated_by_aliases_is_refused() -> None:
    (problem,) = parse(f"a: &a {'x' * 100_000}\nb: [{', '.join(['*a'] * 30)}]\n", "f").problems

    assert problem.what == "holds too many values (aliases count as what they stand for)"


def test_a_byte_order_mark_and_other_line_ends_are_no_trouble(tmp_path: Path) -> None:
    (tmp_path / "f.yaml").write_bytes(b"\xef\xbb\xbfa: 1\r\nb: 2\r\n")

    document = read_document(tmp_path / "f.yaml", "f.yaml")

    assert document.data == {"a": 1, "b": 2}
    assert document.key_at(("b",)) == Position(2, 1)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["pipe", "folder"])
def test_what_is_no_file_is_not_opened(make: object, tmp_path: Path) -> None:
    assert callable(make)
    make(tmp_path / "f.yaml")

    assert _lines(read_document(tmp_path / "f.yaml", "f.yaml"))[0].startswith("f.yaml: is ")


def test_a_name_that_cannot_be_a_file(tmp_path: Path) -> None:
    assert _lines(read_document(tmp_path / ("x" * 300), "f.yaml")) == ["f.yaml: cannot be read (File name too long)"]


def _lines(document: Document) -> list[str]:
    assert document.root is None
    return [str(problem) for problem in document.problems]
