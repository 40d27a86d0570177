from __future__ import annotations

import pytest

from tidegate.text.scores import score_text


@pytest.mark.parametrize(
    ("value", "limit", "shown"),
    [
        (0.825, None, "0.825"),
        (0.825, 0.83, "0.825"),
        (0.82, 0.83, "0.82"),
        (1.0, None, "1.00"),
        (2 / 3, None, "0.67"),
        (0.7999, 0.8, "0.7999"),
        (0.79999999, 0.8, "0.79999999"),
        (0.8 - 1e-12, 0.8, "0.80"),  # a rounding error of the sum
        (0.8, 0.8, "0.80"),
        (0.8049, 0.8, "0.80"),
    ],
)
def test_a_rounded_score_never_contradicts_its_comparison(value: float, limit: float | None, shown: str) -> None:
    assert score_text(value, limit) == shown
