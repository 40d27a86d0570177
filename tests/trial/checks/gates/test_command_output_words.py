"""The gate `command_output_words`."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.unit.checks.gates.test_command_output_words import GATE
from tidegate.checks.gates.text_gates import CommandOutputWords
from tidegate.model.gate import GateDecision, GateInput


def test_passes_when_the_output_has_every_word(shell: Callable[[str], GateInput]) -> None:
    decision = GATE.decide(shell("echo 'add   Adds a task'; echo '[--prio=P]'"))
    assert decision == GateDecision(passed=True, message="the output has all 2 words")


@pytest.mark.parametrize("printed", ["add --priority", "add x--prio", "add --prio-high"])
def test_names_the_words_that_are_missing_as_a_whole(shell: Callable[[str], GateInput], printed: str) -> None:
    decision = GATE.decide(shell(f"echo '{printed}'"))
    assert decision == GateDecision(passed=False, message="the output lacks `--prio`", missing=("--prio",))


@pytest.mark.parametrize(
    ("printed", "has"),
    [
        ("  --due DATE  When", True),
        ("--due=DATE", True),
        ("  -d, --due DATE", True),
        ("  -d DATE, --due DATE", True),
        ("  -d|--due", True),
        ("  --no-due / --due", True),
        ("  --end E  As with --due", False),
        ("usage: t [--due DATE]", False),
        ("  --due-by DATE", False),
    ],
)
def test_a_listed_word_begins_a_line(shell: Callable[[str], GateInput], printed: str, *, has: bool) -> None:
    decision = CommandOutputWords(command="x", words=("--due",), listed=True).decide(shell(f"echo '{printed}'"))
    message = "the output lists the word" if has else "the output does not list `--due`"
    assert (decision.passed, decision.message, decision.missing) == (has, message, () if has else ("--due",))


def test_of_many_missing_words_it_names_the_first_and_counts_the_rest(shell: Callable[[str], GateInput]) -> None:
    gate = CommandOutputWords(command="x", words=tuple(f"-{letter}" for letter in "abcdefghijk"))
    assert gate.decide(shell("true")).message.endswith("`-g`, `-h` and 3 more")


def test_fails_when_the_command_fails(shell: Callable[[str], GateInput]) -> None:
    assert not GATE.decide(shell("echo add --prio; exit 1")).passed
