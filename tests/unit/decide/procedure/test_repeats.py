"""What counts: how many more trials confirm a flip, what is flaky, and rows for which no agent can be run."""

from __future__ import annotations

import pytest

from tidegate.decide.procedure.row_states import is_flaky
from tidegate.decide.procedure.rules import Enough, Flip, Tally, enough_for, repeats_needed
from tidegate.decide.procedure.steps import next_step, start
from tidegate.model.run_row import RunRow
from tidegate.model.suite import Policy


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


@pytest.mark.parametrize(
    ("base", "flaky"),
    [((0, 0), False), ((0, 9), False), ((0, 10), True), ((7, 10), False), ((27, 40), True), ((31, 40), False)],
)
def test_a_row_is_flaky_if_less_than_7_of_10_trials_of_base_s_whole_history_pass(
    base: tuple[int, int], flaky: bool
) -> None:
    assert is_flaky(base) == flaky


@pytest.mark.parametrize("deterministic", [True, False])
def test_no_trial_is_asked_of_a_row_for_which_no_agent_can_be_run(deterministic: bool) -> None:
    row = RunRow(scenario="add", agent="claude", deterministic=deterministic)
    without = row.model_copy(update={"no_agent": "secret"})
    assert [bool(next_step(start((one,), Policy()))) for one in (row, without)] == [True, False]
