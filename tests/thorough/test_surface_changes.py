"""`report: {surface: true}`: the comment lists what a pull request changes in what the tool offers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.conftest import Repository
from tests.journeys.conftest import FILES

Make = Callable[..., Any]
HELP = 'case "$*" in *--help*) echo "usage: notes COMMAND"; echo "Commands:"; echo "  add  Adds"; {more}exit 0;; esac\n'
NEW = 'echo "  undo  Undoes"; '


def helpful(more: str) -> str:
    """Return the tool with a help."""
    first, rest = FILES["bin/notes"].split("\n", 1)
    assert first.startswith("#!/bin/sh")
    return f"{first}\n{HELP.format(more=more)}{rest}"


def test_new_subcommands_are_listed_with_what_uses_them(make_repository: Make, tidegate: Make) -> None:
    made: Repository = make_repository()
    suite = FILES["tidegate.yaml"] + "report: {surface: true}\n"
    made.commit({**FILES, "tidegate.yaml": suite, "bin/notes": helpful("")})
    made.branch("pr", {"bin/notes": helpful(NEW)})

    ran = tidegate("pr", "--base", "main", "--head", "pr", "--pause", "0", cwd=made.root)

    line = "New: `undo` of `notes`; no scenario uses it"
    assert (ran.code, ran.result["warnings"]) == (0, [line])
    assert "no scenario uses it" in ran.comment
