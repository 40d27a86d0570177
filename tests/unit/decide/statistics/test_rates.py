"""Rates: what has no value, the laws of the mean difference, and its coverage computed exactly."""

from __future__ import annotations

from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.decide.statistics.rates import Pair, bh, fisher_less, holm, mean_difference, wilson

COUNTS = st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(COUNTS, COUNTS)
def test_an_interval_holds_the_difference_and_changes_its_sign_with_the_sides(
    head: tuple[int, int], base: tuple[int, int]
) -> None:
    mean, (low, high) = mean_difference([Pair(*head, *base)])
    assert mean == pytest.approx(head[0] / head[1] - base[0] / base[1])
    assert -1 <= low <= mean <= high <= 1
    assert mean_difference([Pair(*base, *head)])[1] == pytest.approx((-high, -low))


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


@pytest.mark.parametrize("k", range(1, 12))
def test_the_smallest_p_of_k_against_k(k: int) -> None:
    assert fisher_less(0, k, k, k) == 1 / comb(2 * k, k)


@pytest.mark.parametrize("table", [(4, 3, 1, 1), (-1, 3, 1, 1), (0, 1, 2, 1)])
def test_impossible_counts_are_errors(table: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError, match="no table"):
        fisher_less(*table)


def test_without_p_values_there_is_nothing_to_adjust() -> None:
    assert (holm([], 0.05), bh([])) == ([], [])
