"""Foreign text on one line."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.text.shorten import clipped, complaint, error_line, error_lines, excerpt, few, first_and_last


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("  two\n\twords  ", "two words"),
        ("\x1b[1;31merror\x1b[0m: bad", "error: bad"),
        ("50%\r100%", "50% 100%"),
        ("a\u202eb\u200bc\x00d", "abcd"),
        ("grün 🎉", "grün 🎉"),
    ],
)
def test_one_clean_line(text: str, line: str) -> None:
    assert excerpt(text) == line


LOADER = """\
starting
node:internal/modules/cjs/loader:1143
  throw err;
  ^

Error: Cannot find module 'x'
    at Module._resolveFilename (node:internal/modules/cjs/loader:1140:15)
    at throwError (/x.js:1:1) {
  code: 'MODULE_NOT_FOUND'
}

Node.js v20.20.2
"""
NODE = """\
/x/cli.js:3
    throw new Error("no such table")
Error: no such table
    at main (/x/cli.js:3:11)

Node.js v20.11.0
"""
PYTHON = """\
starting
Traceback (most recent call last):
  File "/x/bin/tool", line 8, in <module>
    sys.exit(cli())
             ^^^^^

  File "/x/lib/core.py", line 1653, in __call__
    return self.main(*args)
sqlite3.OperationalError: no such table: dogs
"""
NO_TABLE = "sqlite3.OperationalError: no such table: dogs"


@pytest.mark.parametrize(
    ("text", "line", "lines"),
    [
        (
            LOADER,
            "Error: Cannot find module 'x'",
            ["^", "Error: Cannot find module 'x'", "code: 'MODULE_NOT_FOUND'", "}"],
        ),
        (PYTHON, NO_TABLE, ["starting", NO_TABLE]),
        ("panic: no key\n\ngoroutine 1 [running]:\nmain.main()", "panic: no key", None),
        ("error: first\na\nb\nc\nerror: last\nd\ne\nf", "error: last", ["c", "error: last", "d", "e"]),
        ("a\nb\nc\nd\nno key\n", "no key", ["b", "c", "d", "no key"]),
        ("", "", []),
    ],
    ids=["Node", "Python", "Go", "the last", "without a name", "nothing"],
)
def test_of_a_failed_programs_output_the_line_with_the_error_is_quoted(
    text: str, line: str, lines: list[str] | None
) -> None:
    assert error_line(text) == line
    assert lines is None or error_lines(text) == lines


def test_a_long_text_keeps_both_ends() -> None:
    assert excerpt("error: " + "x" * 1000 + " exit 2", 30) == "error: xxxxxxxx…xxxxxxx exit 2"


@given(st.text(), st.integers(2, 40))
def test_never_longer_than_asked_and_always_printable(text: str, limit: int) -> None:
    line = excerpt(text, limit)
    assert len(line) <= limit
    assert all(unicodedata.category(character) not in ("Cc", "Cf", "Cs") for character in line)
    line.encode()


@given(st.text())
def test_what_is_clean_stays_as_it_is(text: str) -> None:
    assert excerpt(excerpt(text)) == excerpt(text)


@pytest.mark.parametrize(
    ("lines", "kept"),
    [
        ("abcde", ["a", "… 3 lines left out …", "e"]),
        ("ab", ["a", "b"]),
        ("abc", ["a", "b", "c"]),  # a note would take the place of the one line too many
    ],
)
def test_the_first_and_last_of_many_lines_are_kept(lines: str, kept: list[str]) -> None:
    assert first_and_last([*lines], 2) == kept


def test_long_output_is_cut_between_lines() -> None:
    error = "tool: error: unrecognized arguments: " + " ".join(f"--start-{number}" for number in range(20))
    usage = [f"  --option-{number} VALUE  does a thing" for number in range(100)]
    shown = clipped("\n".join(("usage: tool", *usage, error)), 800).split("\n")
    assert (shown[0], shown[-1]) == ("usage: tool", error)
    assert shown.count("… lines left out …") == 1
    assert set(shown) - {"… lines left out …"} <= {"usage: tool", *usage, error}
    assert 500 < len("\n".join(shown)) < 830


def test_an_error_of_300_characters_is_whole_after_megabytes_of_output() -> None:
    error = "error: " + "x" * 293
    shown = clipped("start\n" + "noise\n" * 200_000 + error + "\n\n", 800).split("\n")
    assert (shown[0], shown[-1]) == ("start", error)


def test_a_single_long_line_keeps_its_start_and_end() -> None:
    shown = clipped("error: " + "x" * 9000 + " --option", 800)
    assert (len(shown), shown.count("…")) == (800, 1)
    assert shown.startswith("error: ")
    assert shown.endswith(" --option")


def test_a_complaint_has_no_call_stack() -> None:
    assert complaint(PYTHON) == "starting sqlite3.OperationalError: no such table: dogs"
    assert complaint(NODE) == '/x/cli.js:3 throw new Error("no such table") Error: no such table Node.js v20.11.0'


def test_a_call_stack_that_was_cut_off_is_shown_for_want_of_better() -> None:
    assert complaint("Traceback (most recent call last):\n  File x\n").startswith("Traceback")


@given(st.text(alphabet="ab:x \n\t"))
def test_a_complaint_without_a_call_stack_is_an_excerpt(text: str) -> None:
    assert complaint(text) == excerpt(text)


def test_a_byte_of_a_name_that_is_no_text_is_shown_as_its_number() -> None:
    assert few(["\udcff\\x", "\ud800"]) == "\\xff\\x, \ud800"
