"""Drops of means in many rows, with moderated variances."""

from __future__ import annotations

import pytest

from tidegate.decide.statistics.means import mean_shift, moderated_drops


def test_one_row_alone_has_students_interval() -> None:
    """With one row nothing is known about how rows differ, so its own variance counts."""
    head, base = [0.5, 0.6, 0.7], [0.8, 0.9, 1.0]
    (found,) = moderated_drops([(head, base)], 0.0001)
    known = mean_shift([(head, base)])
    assert found is not None
    assert known is not None
    assert found.difference == pytest.approx(-0.3)
    assert found.interval == pytest.approx(known[1])


def test_rows_of_one_value_a_side_have_no_test() -> None:
    assert moderated_drops([([0.2], [0.9]), ([0.9], [0.9])], 0.03) == [None, None]


def test_a_row_without_variance_is_moderated_by_the_others() -> None:
    """Equal scores in three trials do not mean that the judge never errs, where it does in other rows."""
    noisy = [([0.7, 0.8, 0.9], [0.7, 0.8, 0.9])] * 8
    steady = ([0.7] * 3, [0.8] * 3)
    alone, among = moderated_drops([steady], 0.03)[0], moderated_drops([steady, *noisy], 0.03)[0]
    assert alone is not None
    assert among is not None
    assert alone.interval[1] < 0 < among.interval[1]


def test_a_long_tail_is_no_drop() -> None:
    """Two of base's twenty values are as low as head's two, so that a draw is often as low as head."""
    base = [0.9] * 18 + [0.4] * 2
    (tailed,) = moderated_drops([([0.4, 0.4, 0.9], [*base, *base])], 0.03)
    (steady,) = moderated_drops([([0.4, 0.4, 0.9], [0.85, 0.95] * 20)], 0.03)
    assert tailed is not None
    assert steady is not None
    assert steady.p < 0.001 < 0.01 < tailed.p


def test_rows_that_never_vary_have_the_least_variance() -> None:
    (found,) = moderated_drops([([0.5] * 3, [0.9] * 3)], 0.03)
    assert found is not None
    assert found.interval[0] < found.difference < found.interval[1] < 0
