"""Intervals: their laws, and their coverage computed exactly."""

from __future__ import annotations

from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.decide.statistics.rates import Pair, mean_difference, newcombe, wilson

COUNTS = st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(COUNTS)
def test_wilson_holds_the_rate_and_stays_within_0_and_1(counts: tuple[int, int]) -> None:
    low, high = wilson(*counts)
    assert 0 <= low <= counts[0] / counts[1] <= high <= 1
    assert (low == 0) == (counts[0] == 0)
    assert (high == 1) == (counts[0] == counts[1])


@given(COUNTS)
def test_wilson_of_failures_is_the_mirror(counts: tuple[int, int]) -> None:
    passes, n = counts
    low, high = wilson(passes, n)
    assert wilson(n - passes, n) == pytest.approx((1 - high, 1 - low))


@given(COUNTS, COUNTS)
def test_an_interval_holds_the_difference_and_changes_its_sign_with_the_sides(
    head: tuple[int, int], base: tuple[int, int]
) -> None:
    mean, (low, high) = mean_difference([Pair(*head, *base)])
    assert mean == pytest.approx(head[0] / head[1] - base[0] / base[1])
    assert -1 <= low <= mean <= high <= 1
    assert mean_difference([Pair(*base, *head)])[1] == pytest.approx((-high, -low))


@given(COUNTS, COUNTS)
def test_newcombe_holds_the_difference_and_changes_its_sign_with_the_sides(
    head: tuple[int, int], base: tuple[int, int]
) -> None:
    low, high = newcombe(*head, *base)
    assert -1 - 1e-12 <= low <= head[0] / head[1] - base[0] / base[1] <= high <= 1 + 1e-12
    assert newcombe(*base, *head) == pytest.approx((-high, -low))


def test_wilson_agrees_with_scipy() -> None:
    stats = pytest.importorskip("scipy.stats", reason="scipy is the oracle, and only in the development environment")
    for passes, n in ((0, 1), (1, 1), (2, 7), (38, 40)):
        interval = stats.binomtest(passes, n).proportion_ci(0.9, method="wilson")
        assert wilson(passes, n, 0.9) == pytest.approx((interval.low, interval.high), abs=1e-12)


@pytest.mark.parametrize("counts", [(0, 0), (2, 1), (-1, 3)])
def test_no_trials_have_no_rate(counts: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="no rate"):
        wilson(*counts)


def test_certain_differences_have_a_certain_mean() -> None:
    assert mean_difference([], [-1.0, 0.0]) == (-0.5, (-0.5, -0.5))


def test_a_certain_difference_moves_the_mean_and_narrows_its_interval() -> None:
    pair = Pair(2, 3, 36, 40)
    _, alone = mean_difference([pair])
    mean, (low, high) = mean_difference([pair], [0.0])
    centre = 2 / 3 - 36 / 40
    assert mean == pytest.approx(centre / 2)
    assert (low - mean, high - mean) == pytest.approx(((alone[0] - centre) / 2, (alone[1] - centre) / 2))


def test_more_rows_make_the_mean_more_certain() -> None:
    (_, one), (_, four) = mean_difference([Pair(2, 4, 2, 4)]), mean_difference([Pair(2, 4, 2, 4)] * 4)
    assert one[0] < four[0] < 0 < four[1] < one[1]


def test_rows_that_passed_in_all_of_a_few_trials_are_no_certainty() -> None:
    _, (low, high) = mean_difference([Pair(3, 3, 40, 40)] * 20)
    assert low < -0.03
    assert high >= 0


def test_the_mean_of_nothing_is_an_error() -> None:
    with pytest.raises(ValueError, match="no differences"):
        mean_difference([])


@pytest.mark.parametrize("rate", [0.5, 0.8, 0.95])
def test_the_interval_of_two_rows_holds_nearly_what_it_says(rate: float) -> None:
    """Coverage summed over all outcomes of 2 rows × 2 sides × 3 trials at equal rates: 90 % is said, 85 % the least."""
    outcomes = [(x, comb(3, x) * rate**x * (1 - rate) ** (3 - x)) for x in range(4)]
    covered = 0.0
    for a, pa in outcomes:
        for b, pb in outcomes:
            for c, pc in outcomes:
                for d, pd in outcomes:
                    _, (low, high) = mean_difference([Pair(a, 3, b, 3), Pair(c, 3, d, 3)])
                    covered += pa * pb * pc * pd * (low <= 0 <= high)
    assert covered >= 0.85
