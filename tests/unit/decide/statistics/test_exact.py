"""Fisher's test against scipy, and its laws."""

from __future__ import annotations

from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.decide.statistics.rates import fisher_less, fisher_midp_less


@st.composite
def tables(draw: st.DrawFn) -> tuple[int, int, int, int]:
    head_n, base_n = draw(st.integers(1, 25)), draw(st.integers(1, 25))
    return draw(st.integers(0, head_n)), head_n, draw(st.integers(0, base_n)), base_n


def test_it_agrees_with_scipy_on_every_small_table() -> None:
    stats = pytest.importorskip("scipy.stats", reason="scipy is the oracle, and only in the development environment")
    for head_n, base_n in ((1, 1), (3, 3), (3, 2), (5, 4), (2, 7)):
        for head in range(head_n + 1):
            for base in range(base_n + 1):
                odds = [[head, head_n - head], [base, base_n - base]]
                exact = stats.hypergeom(head_n + base_n, head + base, head_n)
                assert fisher_less(head, head_n, base, base_n) == pytest.approx(
                    stats.fisher_exact(odds, alternative="less").pvalue, abs=1e-12
                )
                assert fisher_midp_less(head, head_n, base, base_n) == pytest.approx(
                    exact.cdf(head) - exact.pmf(head) / 2, abs=1e-12
                )


@given(tables())
def test_it_is_a_probability_and_the_mid_p_is_smaller(table: tuple[int, int, int, int]) -> None:
    assert 0 < fisher_midp_less(*table) < fisher_less(*table) <= 1


@given(tables())
def test_head_lower_and_base_higher_are_one_question(table: tuple[int, int, int, int]) -> None:
    """Counting failures instead of passes, with the sides exchanged, gives the same p exactly."""
    head, head_n, base, base_n = table
    assert fisher_less(*table) == fisher_less(base_n - base, base_n, head_n - head, head_n)


@given(tables())
def test_a_further_pass_on_head_never_lowers_p(table: tuple[int, int, int, int]) -> None:
    head, head_n, base, base_n = table
    if head < head_n:
        assert fisher_less(head + 1, head_n, base, base_n) >= fisher_less(*table)


@pytest.mark.parametrize("k", range(1, 12))
def test_the_smallest_p_of_k_against_k(k: int) -> None:
    assert fisher_less(0, k, k, k) == 1 / comb(2 * k, k)


@pytest.mark.parametrize("table", [(4, 3, 1, 1), (-1, 3, 1, 1), (0, 1, 2, 1)])
def test_impossible_counts_are_errors(table: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError, match="no table"):
        fisher_less(*table)
