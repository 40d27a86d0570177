"""Flaky is a label: base's whole history passes in less than 7 of 10 trials."""

from __future__ import annotations

import pytest

from tidegate.decide.procedure.row_states import is_flaky


@pytest.mark.parametrize(
    ("base", "flaky"),
    [((0, 0), False), ((0, 9), False), ((0, 10), True), ((7, 10), False), ((27, 40), True), ((31, 40), False)],
)
def test_the_whole_history_decides(base: tuple[int, int], flaky: bool) -> None:
    assert is_flaky(base) == flaky
