"""The tests of a one-shot comparison and their error rates."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.decide.procedure.row_states import compare_once, power
from tidegate.decide.statistics.rates import Pair

DEAD = Pair(0, 5, 5, 5)
FINE = Pair(5, 5, 5, 5)


@st.composite
def pairs(draw: st.DrawFn) -> Pair:
    head_n, base_n = draw(st.integers(1, 12)), draw(st.integers(1, 12))
    return Pair(draw(st.integers(0, head_n)), head_n, draw(st.integers(0, base_n)), base_n)


def test_a_dead_scenario_is_found_among_as_many_as_the_level_allows() -> None:
    """0/5 against 5/5 has p = 1/252: at .02 it survives Holm's first limit among 5 rows, and no longer among 6."""
    assert [finding.worse for finding in compare_once([DEAD, *[FINE] * 4], 0.02)] == [True, *[False] * 4]
    assert not any(finding.worse for finding in compare_once([DEAD, *[FINE] * 5], 0.02))


def test_a_p_that_equals_the_limit_counts() -> None:
    """0/3 against 3/3 has p = 1/20 exactly."""
    assert compare_once([Pair(0, 3, 3, 3)], 0.05)[0].worse
    assert not compare_once([Pair(0, 3, 3, 3)], 0.0499)[0].worse


def test_the_limits_shown_are_those_that_holm_compared_with() -> None:
    findings = compare_once([FINE, DEAD, DEAD, FINE], 0.02)
    assert [f.limit for f in findings] == pytest.approx([0.01, 0.005, 0.02 / 3, 0.01])
    assert [f.worse for f in findings] == [False, True, True, False]


@given(st.lists(pairs(), max_size=8), st.sampled_from([0.01, 0.02, 0.05]))
def test_p_within_its_limit_is_what_worse_means(rows: list[Pair], alpha: float) -> None:
    for finding in compare_once(rows, alpha):
        assert finding.worse == (finding.p <= finding.limit * (1 + 1e-9))
        assert not (finding.worse and finding.better)
        assert finding.screen_hit or not finding.worse


def test_an_improvement_is_the_mirror_of_a_drop() -> None:
    finding = compare_once([Pair(5, 5, 0, 5)], 0.02)[0]
    assert (finding.worse, finding.screen_hit, finding.better) == (False, False, True)


def test_a_row_looks_worse_from_a_mid_p_of_a_quarter() -> None:
    """2/3 against 3/3 has a mid-p of 1/4 exactly."""
    assert compare_once([Pair(2, 3, 3, 3)], 0.02)[0].screen_hit
    assert not compare_once([Pair(4, 5, 9, 10)], 0.02)[0].screen_hit


def test_power_is_the_share_of_outcomes_within_the_limit() -> None:
    """5 against 5 at .02: 0 or 1 head passes are within it (p = .004 and .024), so only 0 is."""
    assert power(0.5, 5, 5, 0.02) == pytest.approx(0.5**5)
    assert power(0.5, 5, 5, 0.03) == pytest.approx(6 * 0.5**5)
    assert (power(0.0, 5, 5, 0.02), power(0.0, 3, 3, 0.02)) == (1.0, 0.0)
