from __future__ import annotations

from tidegate.suite.yaml.document import Problem


def at(line: int, column: int) -> Problem:
    return Problem("a.yaml", line, column, "", "is wrong")


def test_the_caret_is_below_the_word() -> None:
    assert at(2, 4).excerpt("a: 1\nb: word x\n") == "    2 | b: word x\n      |    ^~~~"


def test_a_tab_takes_one_column() -> None:
    assert at(1, 2).excerpt("\tb: 1") == "    1 |  b: 1\n      |  ^"


def test_of_a_long_line_the_part_around_the_place_is_shown() -> None:
    shown, caret = at(1, 301).excerpt("a" * 299 + " word " + "b" * 300).splitlines()
    assert len(shown) <= 110
    assert shown[caret.index("^") : caret.index("^") + 4] == "word"


def test_a_whole_file_and_a_line_that_is_gone_have_none() -> None:
    assert Problem.of_file("a.yaml", "no such file").excerpt("") == ""
    assert at(9, 1).excerpt("one line") == ""
