"""The lines in which two texts first differ."""

from __future__ import annotations

import pytest

from tidegate.text.first_difference import first_difference
from tidegate.text.noise import without_noise

SAME = "an output in one line that begins with a great many words that are the same on both sides"
HELP = "usage: t add [--due DATE]\n\nOptions:\n  --due DATE   when\n  --loud       with an exclamation mark\n"


@pytest.mark.parametrize(
    ("base", "head", "shown"),
    [
        ("a\nb\nc\n", "a\nx\nc\n", ("b", "x")),
        ("a\nb\n", "a\n", ("b", "")),
        ("a\n", "new\na\n", ("", "new")),
        ("a\nb\nold\n", "new\na\nb\n", ("", "new")),
        (HELP, HELP.replace("when", "until"), ("--due DATE   when", "--due DATE   until")),
        (SAME, f"{SAME}, and more", ("the same on both sides", "the same on both sides, and more")),
        ("a\n  b\n", "a\n    b\n", ("  b", "    b")),
        ("took 0.3 s\nb\n", "took 0.4 s\nx\n", ("b", "x")),
        ("took 0.3 s\n", "took 0.4 s\n", ("took 0.3 s", "took 0.4 s")),
        ("a\nb\n", "b\na\n", ("a", "b")),
        ("a\n", "a\na\n", ("", "a")),
        ("a\n", "a\n", ("", "")),
    ],
)
def test_the_first_line_that_differs_is_shown(base: str, head: str, shown: tuple[str, str]) -> None:
    assert first_difference(base, head, without_noise) == shown


def test_a_line_that_is_elsewhere_is_no_difference_beside_one_that_is_not() -> None:
    assert first_difference("a\nb\nold\n", "b\na\nnew\n", str) == ("old", "new")


def test_of_long_texts_only_lines_after_the_first_difference_are_aligned() -> None:
    """To align 20,000 repeated lines would take hours."""
    base, head = ("".join(f"{number % several}\n" for number in range(20_000)) for several in (7, 5))
    same = "the same\n" * 20_000
    assert first_difference(f"{same}old\n{base}", f"{same}new\n{head}", str) == ("old", "new")
