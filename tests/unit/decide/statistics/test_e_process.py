"""The e-process is valid: whatever rate both sides share, and whenever one stops, it seldom reaches a limit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from math import exp

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate.decide.statistics.e_process import DROPS, Pairs, e_against_drop, e_of_drop, e_of_fall, log_e

RATES = st.floats(0.0, 1.0)
OUTCOMES = tuple((head, base) for head in (0, 1) for base in (0, 1))


def chance(outcome: tuple[int, int], head: float, base: float) -> float:
    return (head if outcome[0] else 1 - head) * (base if outcome[1] else 1 - base)


@given(RATES, st.sampled_from(DROPS))
def test_one_more_pair_is_not_expected_to_raise_it_at_any_shared_rate(rate: float, drop: tuple[float, float]) -> None:
    base, head = drop
    grown = sum(chance(one, rate, rate) * exp(log_e(Pairs(1, *one), base, head)) for one in OUTCOMES)
    assert grown <= 1 + 1e-9


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40), RATES)
def test_wherever_it_stands_one_more_pair_is_not_expected_to_raise_the_mixture(
    number: int, heads: int, bases: int, rate: float
) -> None:
    pairs = Pairs(number, min(heads, number), min(bases, number))
    grown = sum(chance(one, rate, rate) * e_of_drop(pairs.plus(1, *one)) for one in OUTCOMES)
    assert grown <= e_of_drop(pairs) * (1 + 1e-9)


def crossing(rates: list[tuple[float, float]], limit: float, evidence: Callable[[Pairs], float] = e_of_drop) -> float:
    """Return the exact probability that it ever reaches 1/limit; `rates` are head's and base's in each pair."""
    going, crossed = {(0, 0): 1.0}, 0.0
    for number, rate in enumerate(rates, 1):
        reached: defaultdict[tuple[int, int], float] = defaultdict(float)
        for (heads, bases), share in going.items():
            for one in OUTCOMES:
                if more := share * chance(one, *rate):
                    reached[heads + one[0], bases + one[1]] += more
        over = {counts for counts in reached if evidence(Pairs(number, *counts)) >= 1 / limit}
        crossed += sum(reached[counts] for counts in over)
        going = {counts: share for counts, share in reached.items() if counts not in over}
    return crossed


@settings(max_examples=25)
@given(RATES, st.sampled_from([0.2, 0.05, 0.01, 0.001]))
def test_a_look_after_every_pair_crosses_the_limit_no_more_often_than_it_says(rate: float, limit: float) -> None:
    assert crossing([(rate, rate)] * 25, limit) <= limit


@settings(max_examples=25)
@given(st.lists(RATES, min_size=20, max_size=20), st.sampled_from([0.2, 0.05, 0.01]))
def test_a_drift_that_both_sides_share_makes_it_cross_no_more_often(rates: list[float], limit: float) -> None:
    assert crossing([(rate, rate) for rate in rates], limit) <= limit


def test_a_limit_that_is_too_weak_would_be_seen() -> None:
    assert crossing([(0.8, 0.8)] * 25, 0.2) > 0.03, "the calculation can tell a crossing"


@settings(max_examples=25)
@given(st.floats(0.3, 1.0), st.floats(0.0, 1.0))
def test_a_drop_that_is_there_is_seldom_contradicted(base: float, kept: float) -> None:
    """At any look, by exact calculation; the rates of the largest likelihood are on a grid."""
    drop, limit = 0.3, 0.05
    rates = (max(0.0, base - drop) * kept, base)
    assert crossing([rates] * 20, limit, lambda seen: e_against_drop(seen, drop)) <= limit


@settings(max_examples=25)
@given(st.floats(0.75, 1.0), st.sampled_from([0.05, 0.01]))
def test_a_base_that_fell_by_a_quarter_seldom_seems_to_have_fallen_by_half(rate: float, limit: float) -> None:
    assert crossing([(0.0, rate)] * 41, limit, lambda seen: e_of_fall(seen.base, seen.number, 1.0)) <= limit


@pytest.mark.parametrize(("number", "least"), [(5, 100), (8, 5_000)])
def test_a_complete_failure_is_shown_by_a_handful_of_pairs(number: int, least: float) -> None:
    assert e_of_drop(Pairs(number, 0, number)) > least
    assert e_of_drop(Pairs(number, number, number)) < 1
    assert e_of_drop(Pairs()) == 1
