"""The detection table promises no more than the run's rules can detect."""

from __future__ import annotations

import pytest

from tidegate.procedure.detection import detection


def test_deterministic_rows_drop_to_nothing_or_not_at_all() -> None:
    assert detection([], [True, True, True], 0.02) == {"-1.0": 1.0}


def test_a_flip_that_can_not_be_confirmed_is_not_promised() -> None:
    assert detection([], [True, False], 0.02) == {"-1.0": 0.5}


def test_five_trials_a_side_see_a_collapse_of_one_row_and_little_else() -> None:
    table = detection([(5, 5)], [], 0.02)
    assert table == pytest.approx({"-0.3": 0.3**5, "-0.5": 0.5**5, "-1.0": 1.0})


def test_three_trials_a_side_see_nothing_at_all() -> None:
    assert detection([(3, 3)] * 4, [], 0.02) == {"-0.3": 0, "-0.5": 0, "-1.0": 0}


def test_of_a_mixed_run_small_drops_are_those_of_its_tested_rows() -> None:
    table = detection([(5, 5), (1, 1)], [True, True], 0.02)
    assert table == pytest.approx({"-0.3": 0.3**5 / 2, "-0.5": 0.5**5 / 2, "-1.0": 3 / 4})


def test_without_a_row_there_is_no_table() -> None:
    assert detection([], [], 0.02) == {}
