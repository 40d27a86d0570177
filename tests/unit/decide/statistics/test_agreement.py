"""Agreement of two raters, against statsmodels, which is no dependency."""

from __future__ import annotations

import warnings
from collections import Counter
from math import isnan
from random import Random
from typing import Any

import pytest

from tidegate.decide.trust import agreement_rate, cohens_kappa

SETS = 200


def test_a_table_computed_by_hand() -> None:
    table = {("met", "met"): 20, ("met", "unmet"): 5, ("unmet", "met"): 10, ("unmet", "unmet"): 15}
    assert agreement_rate(table) == 0.7
    found = cohens_kappa(table)
    assert found is not None
    assert found[0] == pytest.approx(0.4)  # (.7 − .5) / (1 − .5): .5 = .5·.6 + .5·.4


@pytest.mark.parametrize("table", [{}, {("met", "met"): 9}])
def test_where_chance_agrees_every_time_there_is_no_kappa(table: dict[tuple[str, str], int]) -> None:
    assert cohens_kappa(table) is None


def test_kappa_and_its_interval_on_random_label_sets() -> None:
    rater: Any = pytest.importorskip("statsmodels.stats.inter_rater")
    chance = Random(11)
    compared = 0
    for _ in range(SETS):
        words = ["met", "unmet", "unsure"][: chance.randint(2, 3)]
        bias = chance.random()
        human = [chance.choice(words) for _ in range(chance.randint(5, 120))]
        judge = [word if chance.random() < bias else chance.choice(words) for word in human]
        table = Counter(zip(human, judge, strict=True))
        found = cohens_kappa(table)
        assert agreement_rate(table) == pytest.approx(
            sum(a == b for a, b in zip(human, judge, strict=True)) / len(human)
        )
        if found is None:
            continue
        square = [[table[one, other] for other in words] for one in words]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # its own, of a word that nobody used
            expected = rater.cohens_kappa(square)
        kappa, (low, high) = found
        assert kappa == pytest.approx(expected.kappa, abs=1e-12)
        if isnan(expected.kappa_low):  # its variance of perfect agreement is a round-off below 0
            assert (low, high) == pytest.approx((1, 1))
        else:
            assert (low, high) == pytest.approx((expected.kappa_low, expected.kappa_upp), abs=1e-7)
        compared += 1
    assert compared > SETS * 0.9
