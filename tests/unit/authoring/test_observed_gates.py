"""Which checks are proposed from what commands printed and changed in two trials."""

from __future__ import annotations

import re

import pytest

from tidegate.authoring.observed_gates import (
    MOST_GATES,
    CommandRun,
    change_gates,
    commands_of,
    distinct,
    help_gates,
    is_help,
    output_gates,
    printing,
    spread,
    weaker,
)
from tidegate.model.event import Event, ToolCall, ToolResult

HELP = """\
Usage: tally [OPTIONS] COMMAND

Options:
  -q, --quiet      Print less, see also --silent-mode
  --format TEXT    json or text

Commands:
  add [TITLE]   Adds a thing
  list          Lists all
"""


def ran(output: str, command: str = "tally list", ok: bool = True) -> CommandRun:
    return CommandRun(command, ok, output)


def test_options_and_subcommands_that_the_help_lists_are_one_check_and_names_in_a_sentence_another() -> None:
    """A help that no longer lists an option may still name it in a sentence."""
    rows, others = help_gates(HELP, "tally --help")
    assert {gate["type"] for gate in (rows, others)} == {"command_output_words"}
    assert (rows["command"], rows["words"]) == ("tally --help", ["-q", "--quiet", "--format", "add", "list"])
    assert (rows["listed"], others["words"], "listed" in others) == (True, ["--silent-mode"], False)
    less = weaker({**rows, "command": "tally --help 2>&1"})
    assert less == {
        **others,
        "command": "tally --help 2>&1",
        "words": rows["words"],
        "description": rows["description"],
    }


@pytest.mark.parametrize(
    ("output", "expected"),
    [("invalid", False), ("usage: tally add NAME", True), ("add: adds a row", True), ("", False)],
)
def test_a_subcommand_that_takes_help_for_an_argument_has_no_help(output: str, *, expected: bool) -> None:
    assert is_help(CommandRun("tally add --help", ok=True, output=output)) is expected


def test_a_help_without_options_is_checked_by_its_first_line() -> None:
    (gate,) = help_gates("\nusage: tally add | list\n", "tally -h")
    assert (gate["type"], gate["substring"]) == ("command_output_contains", "usage: tally add | list")


def test_only_lines_that_both_trials_printed_are_checked() -> None:
    (gate,) = output_gates(ran("took a while\nbuy milk\n"), ran("took long\nbuy milk\n"))
    assert gate["substring"] == "buy milk"


@pytest.mark.parametrize(
    "line",
    [
        "made 2026-11-22",
        "at 12:30",
        "tally 1.2.3",
        "id 5f3a9c1",
        "in /tmp/x",
        "0.3 s",
        "12",
        "x" * 200,
        "no 1234567890",
    ],
)
def test_lines_that_will_not_last_or_say_nothing_are_not_checked(line: str) -> None:
    (gate,) = output_gates(ran(line), ran(line))
    assert gate["type"] == "command_succeeds"


@pytest.mark.parametrize("command", ["tally --version", "tally add --help", "tally help"])
def test_the_words_of_help_and_version_may_change(command: str) -> None:
    (gate,) = output_gates(ran("tally by me", command), ran("tally by me", command))
    assert gate["type"] == "command_succeeds"


def test_what_the_docs_show_of_the_output_is_checked_first() -> None:
    output = ran("Tasks of this week:\n[ ] 1 buy milk\n[ ] 2 call the insurance about the car\n")
    (gate, _) = output_gates(output, output, shown={"$ tally list", "[ ] 1 buy milk"})
    assert gate["substring"] == "[ ] 1 buy milk"


def test_a_command_that_printed_one_line_must_print_nothing_else() -> None:
    """A filter that no longer filters still prints what it should keep."""
    (gate,) = output_gates(ran("buy (milk)\n"), ran("buy (milk)\n"))
    assert gate["type"] == "command_output_matches"
    assert re.search(gate["pattern"], "buy (milk)\n")
    assert not re.search(gate["pattern"], "buy (milk)\nbuy eggs\n")


def test_after_a_failure_less_is_asked_for() -> None:
    (only,) = output_gates(ran("1 buy the milk."), ran("1 buy the milk."))
    contains = weaker(only)
    assert contains is not None
    assert (contains["command"], contains["substring"]) == ("tally list", "1 buy the milk.")
    (gate,) = output_gates(ran("1 buy the milk\nx"), ran("1 buy the milk\ny"))
    both = weaker(gate)
    assert both is not None
    assert (both["command"], both["substring"]) == ("tally list 2>&1", "1 buy the milk")
    less = weaker(both)
    assert less is not None
    assert less["substring"] == "buy the milk"
    last = weaker(less)
    assert last is not None
    assert last["type"] == "command_succeeds"
    assert weaker(last) is None


def diff(path: str, line: str) -> str:
    return f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+{line}\n"


def test_only_changes_that_both_trials_made_alike_are_checked() -> None:
    first = diff("a.txt", "buy milk") + diff("b.txt", "on 2026-11-22") + diff("c-4f2a9c1.txt", "x")
    second = diff("a.txt", "buy milk") + diff("b.txt", "on 2026-11-22")
    assert list(change_gates([first, second])) == [{"type": "file_contains", "path": "a.txt", "substring": "buy milk"}]


def test_the_checks_are_taken_from_each_command_in_turn() -> None:
    many = {name: [{"of": name, "number": number} for number in range(MOST_GATES)] for name in "ab"}
    chosen = spread(many)
    assert [sum(gate["of"] == name for gate in chosen) for name in "ab"] == [MOST_GATES // 2] * 2


def test_the_first_run_of_a_command_counts() -> None:
    events: list[Event] = [
        ToolCall(id="1", tool="shell", command="tally"),
        ToolResult(id="1", status="error", exit_code=1, output="no"),
        ToolCall(id="2", tool="shell", command="tally"),
        ToolResult(id="2", status="ok", exit_code=0, output="yes"),
    ]
    assert commands_of(events) == {"tally": CommandRun("tally", False, "no", "exit 1")}


def test_a_line_with_colours_is_checked_by_the_parts_between_them() -> None:
    """A gate searches what the command prints, and colours are a part of that."""
    line = "2007: \x1b[0m▇▇▇▇▇▇ 183.32\n"
    gates = list(output_gates(ran(line), ran(line)))
    assert [gate["substring"] for gate in gates] == ["2007:", "▇▇▇▇▇▇ 183.32"]


@pytest.mark.parametrize("line", ["2007: ▇▇ 183.32", "pi is 3.14159265", "no 123456", "it has 512 bytes"])
def test_numbers_that_are_equal_in_both_trials_are_checked_if_nothing_else_is(line: str) -> None:
    (gate,) = output_gates(ran(f"{line}\nx"), ran(f"{line}\ny"))
    assert gate["substring"] == line


def test_a_line_without_long_numbers_comes_first() -> None:
    (gate,) = output_gates(ran("no 123456\nbuy milk"), ran("no 123456\nbuy milk"))
    assert gate["substring"] == "buy milk"


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("tally list > out.txt", "tally list"),
        ("cat a.csv | tally '.b' >out/c.txt", "cat a.csv | tally '.b'"),
        ("tally list >> out.txt", None),
        ("tally list 2> errors.txt", None),
        ("tally list &> all.txt", None),
        ("tally 'a > 3'", None),
        ("tally list", None),
    ],
)
def test_a_command_that_writes_its_output_into_a_file_can_be_run_without(command: str, shown: str | None) -> None:
    assert printing(command) == shown


def test_no_gate_repeats_another() -> None:
    (prints,) = output_gates(ran("buy milk"), ran("buy milk"))
    (works,) = output_gates(ran(""), ran(""))
    (other,) = output_gates(ran("", "tally add"), ran("", "tally add"))
    assert distinct([works, works]) == [works]
    assert distinct([works, prints, other, prints | {"description": "again"}]) == [
        prints | {"description": "again"},
        other,
    ]
