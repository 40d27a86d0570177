"""Which mutants do the same to recorded calls."""

from __future__ import annotations

from typing import Any

from tidegate.lab.mutants import done_to
from tidegate.model.proof import Mutant
from tidegate.model.surface import ObservedCall

ADD = ObservedCall(argv=("add", "--due", "1", "T"), exit_code=0, stdout="added T\n")
NEW = ObservedCall(argv=("add", "--new-due", "1", "T"), exit_code=2, stderr="unknown\n")
DUE = {"command": "add", "name": "--due", "takes_value": True}


def mutant(kind: str, **fields: Any) -> Mutant:
    return Mutant(**{"kind": kind, "words": "w", "command": "add", "commands": ("add",), **fields})


def test_an_option_that_is_gone_is_like_a_renamed_one_for_calls_of_its_old_name_only() -> None:
    gone, renamed = mutant("option_removed", **DUE), mutant("option_renamed", **DUE)
    assert done_to(gone, [ADD]) == done_to(renamed, [ADD]) is not None
    assert done_to(gone, [ADD, NEW]) != done_to(renamed, [ADD, NEW])


def test_what_a_call_printed_before_it_was_changed_counts() -> None:
    """Otherwise two mutants would be alike for each call that the first one emptied."""
    emptied, cut = mutant("output_emptied"), mutant("line_dropped")
    seen = ObservedCall(argv=("add", "T"), exit_code=0, stdout="", was=(0, "a\nb\n", ""))
    assert done_to(emptied, [seen]) != done_to(cut, [seen])


def test_effects_and_values_are_not_seen_in_calls() -> None:
    kinds = ("effect_lost", "crashes_after", "hangs", "option_ignored")
    assert [done_to(mutant(kind, **DUE), [ADD]) for kind in kinds] == [None] * len(kinds)
