"""Laws of the adjusted p-values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.decide.statistics.rates import TIES, bh, holm

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def rejected(p_values: list[float], alpha: float = 0.05) -> list[bool]:
    return [p <= limit * TIES for p, limit in zip(p_values, holm(p_values, alpha), strict=True)]


@given(P_VALUES)
def test_holm_is_never_kinder_than_bh_and_bh_never_than_p(p_values: list[float]) -> None:
    for p, by_holm, kind in zip(p_values, rejected(p_values), bh(p_values), strict=True):
        assert p <= kind * (1 + 1e-12)
        assert kind <= 0.05 * (1 + 1e-8) or not by_holm


@given(P_VALUES)
def test_the_order_of_the_rows_does_not_matter(p_values: list[float]) -> None:
    backwards = p_values[::-1]
    assert rejected(backwards)[::-1] == rejected(p_values)
    assert bh(backwards)[::-1] == pytest.approx(bh(p_values))


def test_bh_agrees_with_scipy() -> None:
    stats = pytest.importorskip("scipy.stats", reason="scipy is the oracle, and only in the development environment")
    p_values = [0.03, 0.5, 0.001, 0.03, 0.9, 0.04]
    assert bh(p_values) == pytest.approx(list(stats.false_discovery_control(p_values)))


def test_of_nothing_nothing() -> None:
    assert (holm([], 0.05), bh([])) == ([], [])
