"""Drops of means in many rows, with moderated variances."""

from __future__ import annotations

import pytest

from tests.make import sure
from tidegate.decide.statistics.means import Drop, mean_shift, moderated_drops


def drops(*rows: tuple[list[float], list[float]], limit: float = 0.03) -> list[Drop]:
    """The drop of each row, from its values on head and on base."""
    return [sure(found) for found in moderated_drops(rows, limit)]


def test_one_row_alone_has_students_interval() -> None:
    """With one row nothing is known about how rows differ, so its own variance counts."""
    head, base = [0.5, 0.6, 0.7], [0.8, 0.9, 1.0]
    (found,) = drops((head, base), limit=0.0001)
    assert found.difference == pytest.approx(-0.3)
    assert found.interval == pytest.approx(sure(mean_shift([(head, base)]))[1])


def test_rows_of_one_value_a_side_have_no_test() -> None:
    assert moderated_drops([([0.2], [0.9]), ([0.9], [0.9])], 0.03) == [None, None]


def test_a_row_without_variance_is_moderated_by_the_others() -> None:
    """Equal scores in three trials do not mean that the judge never errs, where it does in other rows."""
    noisy = [([0.7, 0.8, 0.9], [0.7, 0.8, 0.9])] * 8
    steady = ([0.7] * 3, [0.8] * 3)
    alone, among = drops(steady)[0], drops(steady, *noisy)[0]
    assert alone.interval[1] < 0 < among.interval[1]


def test_a_long_tail_is_no_drop() -> None:
    """Two of base's twenty values are as low as head's two, so that a draw is often as low as head."""
    base = [0.9] * 18 + [0.4] * 2
    head = [0.4, 0.4, 0.9]
    tailed, steady = drops((head, [*base, *base]))[0], drops((head, [0.85, 0.95] * 20))[0]
    assert steady.p < 0.001 < 0.01 < tailed.p


def test_rows_that_never_vary_have_the_least_variance() -> None:
    (found,) = drops(([0.5] * 3, [0.9] * 3))
    assert found.interval[0] < found.difference < found.interval[1] < 0
