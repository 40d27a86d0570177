"""The task of a draft, in the words of the tool's help."""

from __future__ import annotations

import pytest

from tidegate.authoring.draft_words import Help, sentence, task, usage
from tidegate.model.surface import Part

PAGE = """\
t - notes for teams

Usage: t <command>

Commands:
  new [title] [options]   Creates a note, prints its ID
  close <id>              Set status to closed
  add-text <id> [text]    Appends text (or reads stdin)
  --due DATE              The day it is due
  -q, --quiet             Print nothing
                          but errors
"""
PARTS = (
    *(Part(kind="subcommand", name=name) for name in ("new", "close", "add-text")),
    Part(kind="option", name="--due", takes_value=True),
    Part(kind="option", name="--quiet", aliases=("-q",)),
)
NOTES = Help("t", {"": PAGE}, PARTS)


def test_a_task_says_what_the_calls_do_and_gives_their_values() -> None:
    lines = ("id=$(t new 'Write the changelog')", "t add-text \"$id\" 'Ask first'")
    assert task(lines, NOTES).splitlines() == [
        "Use `t` for this:",
        "",
        "1. Create a note: “Write the changelog”.",
        "2. Append text: “Ask first”, for the result of step 1.",
    ]


def test_options_are_told_by_their_help_or_their_name() -> None:
    line = "t new --due 2030-01-31 -q tide"
    assert task([line], NOTES) == (
        "Use `t`. Create a note: “tide”, with the due “2030-01-31”, print nothing but errors."
    )


def test_a_task_names_the_input_and_the_file_for_the_result() -> None:
    help_of_keys = Help("k", {"": "Usage: k [options]\n\n  -k, --keys  Output the keys.\n"}, PARTS[:0])
    assert task(["echo '{}' | k --keys"], help_of_keys, "output.txt") == (
        "Use `k`. Output the keys, for the input “{}”. Write the result to output.txt."
    )


@pytest.mark.parametrize(
    ("text", "request_"),
    [
        ("Shows all tasks (of today). Twice.", "show all tasks"),
        ("Displays names and exit", "display names"),
        ("Tickets that are ready", "Tickets that are ready"),
        ("Reset; unstages all", "reset"),
    ],
)
def test_a_description_becomes_a_request_if_it_begins_with_a_verb(text: str, request_: str) -> None:
    assert sentence(text) == request_


def test_a_noun_that_could_be_a_verb_is_the_name_of_a_value() -> None:
    page = "Usage: c FILE\n\nDraws charts.\n\n  --start-dt DATE  Start date of the chart\n  --tall  Vertical graph\n"
    parts = (Part(kind="option", name="--start-dt", takes_value=True), Part(kind="option", name="--tall"))
    assert task(["c --start-dt 2030-01-31 --tall a.dat"], Help("c", {"": page}, parts)) == (
        "Use `c`. Draw charts: “a.dat”, with the start dt “2030-01-31”, with the option tall."
    )


def test_a_subcommand_without_help_is_told_by_its_name() -> None:
    assert Help("t", {}, PARTS).command("add-text") == "add text"
    assert usage("x\nusage: t [-h]\n   [FILE]\n\nmore") == "usage: t [-h]\n   [FILE]"
