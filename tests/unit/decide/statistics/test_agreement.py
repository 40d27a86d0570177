"""Agreement of two raters."""

from __future__ import annotations

import pytest

from tidegate.decide.trust import agreement_rate, cohens_kappa


def test_a_table_computed_by_hand() -> None:
    table = {("met", "met"): 20, ("met", "unmet"): 5, ("unmet", "met"): 10, ("unmet", "unmet"): 15}
    assert agreement_rate(table) == 0.7
    assert cohens_kappa(table) == pytest.approx(0.4)  # (.7 − .5) / (1 − .5): .5 = .5·.6 + .5·.4


@pytest.mark.parametrize("table", [{}, {("met", "met"): 9}])
def test_where_chance_agrees_every_time_there_is_no_kappa(table: dict[tuple[str, str], int]) -> None:
    assert cohens_kappa(table) is None
