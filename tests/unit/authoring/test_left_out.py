"""What `tidegate init` says about examples that it left out or checks weakly."""

from __future__ import annotations

from tidegate.authoring.examples import Candidate
from tidegate.authoring.observed_gates import CommandRun, left_out, left_out_notes, weak_notes

FAILED = {"tally rm": CommandRun("tally rm", False, "trace\n\x1b[31mtally: unknown command rm\x1b[0m\n\n", "exit 2")}
WORKED = {"tally rm": CommandRun("tally rm", True, "gone\n", "exit 0")}


def candidate(*commands: str) -> Candidate:
    return Candidate("usage", "It works.", commands)


def test_a_line_that_failed_is_named_with_its_exit_code_and_its_last_words() -> None:
    assert left_out(candidate("tally rm", "tally list"), ["tally list"], [FAILED, FAILED]) == [
        "usage: `tally rm`: exit 2, tally: unknown command rm"
    ]


def test_a_line_that_worked_once_is_told_apart() -> None:
    (row,) = left_out(candidate("tally rm"), (), [WORKED, FAILED])
    assert row == "usage: `tally rm`: only in one of two runs, exit 2, tally: unknown command rm"


def test_a_line_that_was_not_run_is_named_too() -> None:
    assert left_out(candidate("tally rm"), (), [{}, {}]) == ["usage: `tally rm`: it was not run, or not twice"]


def test_at_most_ten_lines_are_listed() -> None:
    notes = left_out_notes([f"row {number}" for number in range(12)], 20)
    assert notes[0].startswith("12 of 20 example lines failed")
    assert (notes[1], notes[-2:], len(notes)) == ("  row 0", ("  row 9", "  and 2 more"), 12)
    assert left_out_notes([], 20) == ()


def test_examples_without_a_check_of_their_output_are_counted() -> None:
    works = {"type": "command_succeeds", "command": "tally rm"}
    prints = {"type": "command_output_contains", "command": "tally list", "substring": "milk"}
    own = candidate("tally rm", "tally list > out.txt")
    assert weak_notes([(own, [works, prints])]) == (
        "for 1 example only the exit code is checked: add a check of the output",
        "  usage: `tally rm`",
    )
    assert weak_notes([(own, [works])])[0].startswith("for 2 examples only")
    assert weak_notes([(own, [works, {"type": "file_exists", "path": "out.txt"}])]) == ()
    assert weak_notes([(own._replace(asks_help=True), [works])]) == ()
