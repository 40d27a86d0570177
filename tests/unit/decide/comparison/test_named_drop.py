"""The size of a named drop: its bound holds though the row was named because its drop looked large."""

from __future__ import annotations

from random import Random

import pytest

from tidegate.decide.comparison.one_row import NAMED_CONFIDENCE
from tidegate.decide.statistics.rates import newcombe
from tidegate.lab.simulate import Gate, Situation, drawn_history, judge


@pytest.mark.parametrize(("base", "drop"), [(1.0, 0.2), (1.0, 0.3), (0.8, 0.3)])
def test_the_true_drop_is_at_least_what_a_named_row_is_said_to_drop_by(base: float, drop: float) -> None:
    """An interval of 95 % covers 44 to 93 % of these."""
    gate, chance, covered, named = Gate(), Random(1), 0, 0
    situation = Situation.of("one row", (base,), (base - drop,))
    while named < 60:
        end = judge(situation, gate, drawn_history(situation.past, gate, chance), chance).report.rows[0].paired
        if end is not None and end.found == "regressed":
            named += 1
            covered += newcombe(*end.head, *end.base, NAMED_CONFIDENCE)[1] >= -drop
    assert covered >= 0.97 * named
