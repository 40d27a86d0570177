"""Which subcommand a call names, and which calls ask for help."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.agents.invocations.metrics import is_help, subcommand

PATTERN = r"taskmgr\s+(\S+)"


@pytest.mark.parametrize(
    ("argv", "pattern", "expected"),
    [
        (["add", "a"], PATTERN, "add"),
        (["--json", "list"], PATTERN, "--json"),
        (["--json", "list"], None, "list"),
        (["--json", "list"], r"taskmgr\s+\S+", "list"),
        (["--json", "list"], r"othertool\s+(\S+)", "list"),
        (["list"], r"taskmgr(?:\s+(--\S+))?", "list"),
        (["--version"], None, None),
        ([], PATTERN, None),
        (["", "-", "x"], None, "x"),
        (["create note"], r"taskmgr\s+'(\w+) note'", "create"),
    ],
)
def test_subcommand(argv: list[str], pattern: str | None, expected: str | None) -> None:
    """The first group on the quoted command line; without group or match, the first argument that is not an option."""
    assert subcommand("taskmgr", argv, pattern) == expected


@given(st.lists(st.text(max_size=5), max_size=4), st.sampled_from([None, PATTERN, r"(x)?"]))
def test_a_subcommand_is_never_empty(argv: list[str], pattern: str | None) -> None:
    assert subcommand("taskmgr", argv, pattern) != ""


@pytest.mark.parametrize("line", ["--help", "add --help", "add x -h", "help", "help add"])
def test_calls_for_help(line: str) -> None:
    assert is_help(shlex.split(line))


@pytest.mark.parametrize("line", ["", "add help", "--helpful", "-help"])
def test_calls_that_are_not_for_help(line: str) -> None:
    assert not is_help(shlex.split(line))
