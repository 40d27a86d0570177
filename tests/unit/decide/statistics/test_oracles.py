"""Random tables against scipy and statsmodels, which are no dependencies: other implementations of the same."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from random import Random
from typing import Any

import pytest

from tidegate.decide.procedure.suite_gate import p_of_drop
from tidegate.decide.statistics.means import mean_shift, t_above, t_quantile, van_elteren
from tidegate.decide.statistics.rates import TIES, Pair, bh, fisher_less, fisher_midp_less, holm, newcombe, wilson

TABLES = 250


@pytest.fixture(scope="module")
def stats() -> Any:
    return pytest.importorskip("scipy.stats", reason="scipy is the oracle, and only in the development environment")


@pytest.fixture(scope="module")
def proportion() -> Any:
    return pytest.importorskip("statsmodels.stats.proportion", reason="only in the development environment")


def tables(count: int = TABLES, most: int = 40) -> Iterator[Pair]:
    chance = Random(7)
    for _ in range(count):
        head_n, base_n = chance.randint(1, most), chance.randint(1, most)
        yield Pair(chance.randint(0, head_n), head_n, chance.randint(0, base_n), base_n)


def test_fisher_and_mid_p(stats: Any) -> None:
    for head, head_n, base, base_n in tables():
        null = stats.hypergeom(head_n + base_n, head + base, head_n)
        assert fisher_less(head, head_n, base, base_n) == pytest.approx(null.cdf(head), abs=1e-10)
        midp = null.cdf(head) - null.pmf(head) / 2
        assert fisher_midp_less(head, head_n, base, base_n) == pytest.approx(midp, abs=1e-10)


def test_student_s_t(stats: Any) -> None:
    for t, freedom in product((-9, -2.5, 0, 0.3, 1, 4, 20), (1, 2, 3, 4, 5, 30, 201)):
        assert t_above(t, freedom) == pytest.approx(stats.t.sf(t, freedom), abs=1e-12)
    for share, freedom in product((0.6, 0.9, 0.975, 0.995), (1, 2, 5, 30, 200)):
        assert t_quantile(share, freedom) == pytest.approx(stats.t.ppf(share, freedom), rel=1e-8)
        assert t_quantile(1 - share, freedom) == -t_quantile(share, freedom)


def test_rank_sums_of_one_scenario_are_mann_and_whitney_s(stats: Any) -> None:
    chance = Random(9)
    for _ in range(TABLES):
        head = [chance.randint(0, 6) for _ in range(chance.randint(2, 12))]
        base = [chance.randint(0, 6) for _ in range(chance.randint(2, 12))]
        if len({*head, *base}) > 1:
            how = {"alternative": "greater", "method": "asymptotic", "use_continuity": False}
            assert van_elteren([(head, base)]) == pytest.approx(stats.mannwhitneyu(head, base, **how).pvalue, abs=1e-9)


def test_the_shift_of_one_scenario_is_student_s(stats: Any) -> None:
    chance = Random(10)
    for _ in range(TABLES):
        head = [chance.gauss(2, 1) for _ in range(chance.randint(2, 12))]
        base = [chance.gauss(1, 3) for _ in range(chance.randint(2, 12))]
        shift, interval = mean_shift([(head, base)]) or (0, None)
        expected = stats.ttest_ind(head, base).confidence_interval(0.95)
        assert shift == pytest.approx(sum(head) / len(head) - sum(base) / len(base))
        assert interval == pytest.approx((expected.low, expected.high), abs=1e-8)


def test_intervals_of_a_rate_are_statsmodels_s(proportion: Any) -> None:
    for passes, n, *_ in tables():
        expected = proportion.proportion_confint(passes, n, 0.05, "wilson")
        assert wilson(passes, n) == pytest.approx(expected, abs=1e-8)


def test_the_interval_of_a_difference_is_statsmodels_s(proportion: Any) -> None:
    for table in tables():
        expected = proportion.confint_proportions_2indep(*table, method="newcomb", compare="diff")
        assert newcombe(*table) == pytest.approx(tuple(expected), abs=1e-9)


def test_many_p_values_are_adjusted_as_by_statsmodels() -> None:
    multitest: Any = pytest.importorskip("statsmodels.stats.multitest")
    chance = Random(12)
    for number in range(TABLES // 4):  # theirs take 20 ms
        some = (chance.random(), chance.random() / 50, 0.01, 1.0)
        p_values = [chance.choice(some) for _ in range(chance.randint(1, 30))]  # with ties
        if number % 10 == 0:  # its Holm takes 80 ms
            rejected = [p <= limit * TIES for p, limit in zip(p_values, holm(p_values, 0.05), strict=True)]
            assert rejected == list(multitest.multipletests(p_values, 0.05, method="holm")[0])
        assert bh(p_values) == pytest.approx(list(multitest.multipletests(p_values, method="fdr_bh")[1]), abs=1e-12)


def test_metrics_without_values_on_both_sides_say_nothing() -> None:
    assert van_elteren([([], [1.0]), ([1.0], [])]) == 1
    assert van_elteren([([1.0, 1.0], [1.0])]) == 1
    assert mean_shift([([], [1.0])]) is None
    assert mean_shift([([2.0], [1.0])]) == (1.0, None)


def test_the_suite_s_p_of_one_row_is_that_of_cochran_mantel_and_haenszel(stats: Any) -> None:
    for table in tables():
        head, head_n, base, base_n = table
        passes, trials = head + base, head_n + base_n
        if passes in (0, trials):
            assert p_of_drop([table]) == 1
            continue
        counts = [[head, head_n - head], [base, base_n - base]]
        chi = stats.chi2_contingency(counts, correction=False).statistic * (trials - 1) / trials
        sign = 1 if head / head_n >= base / base_n else -1
        assert p_of_drop([table]) == pytest.approx(stats.norm.cdf(sign * chi**0.5), abs=1e-9)


def test_the_suite_s_p_adds_up_rows_and_ignores_those_without_a_failure() -> None:
    worse = Pair(2, 3, 39, 40)
    assert p_of_drop([worse] * 4) < p_of_drop([worse] * 2) < p_of_drop([worse]) < 0.5
    assert p_of_drop([worse, Pair(3, 3, 40, 40)]) == pytest.approx(p_of_drop([worse]), rel=1e-9)
    assert p_of_drop([Pair(3, 3, 36, 40)]) > 0.5
