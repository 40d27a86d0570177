"""pass@k and pass^k against counting every choice of k trials."""

from __future__ import annotations

from itertools import combinations

import pytest

from tidegate.decide.statistics.rates import pass_at_k, pass_hat_k


@pytest.mark.parametrize("trials", [1, 2, 5, 6])
def test_they_are_the_shares_of_choices_with_a_pass_and_with_nothing_else(trials: int) -> None:
    for passes in range(trials + 1):
        outcomes = [True] * passes + [False] * (trials - passes)
        for k in range(1, trials + 1):
            choices = list(combinations(outcomes, k))
            assert pass_at_k(passes, trials, k) == pytest.approx(sum(map(any, choices)) / len(choices))
            assert pass_hat_k(passes, trials, k) == pytest.approx(sum(map(all, choices)) / len(choices))


@pytest.mark.parametrize("given", [(1, 3, 0), (4, 3, 1), (-1, 3, 1), (0, 0, 1)])
def test_what_cannot_be_is_an_error(given: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="needs 1"):
        pass_at_k(*given)
