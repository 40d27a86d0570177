"""How many more trials confirm a flip."""

from __future__ import annotations

import pytest

from tidegate.decide.procedure.rules import Enough, Flip, Tally, enough_for, repeats_needed


@pytest.mark.parametrize(
    ("kind", "base", "head", "needed"),
    [
        ("worse", Tally(passes=1), Tally(fails=1), (1, 2)),
        ("worse", Tally(passes=2), Tally(fails=3), (0, 0)),
        ("worse", Tally(passes=2), Tally(fails=2, lost=1), (0, 0)),  # what head lost counts against it
        ("worse", Tally(passes=2, lost=1), Tally(fails=2, lost=1), (0, 1)),  # unless base loses trials too
        ("better", Tally(fails=2), Tally(passes=2, lost=1), (0, 1)),  # and never in its favour
        ("setup", Tally(passes=2), Tally(setup=3), (0, 0)),
    ],
)
def test_repeats_needed(kind: Flip, base: Tally, head: Tally, needed: tuple[int, int]) -> None:
    assert repeats_needed(kind, base, head, Enough()) == needed


@pytest.mark.parametrize(
    ("kind", "by_chance", "enough"),
    [
        ("unmeasurable", True, (5, 5)),
        ("unmeasurable", False, (2, 3)),
        ("setup", True, (2, 3)),
        ("worse", False, (2, 3)),
    ],
)
def test_more_trials_are_needed_where_both_sides_may_lose_them_at_random(
    kind: Flip, by_chance: bool, enough: tuple[int, int]
) -> None:
    assert enough_for(kind, by_chance=by_chance) == enough
