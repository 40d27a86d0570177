"""A row becomes flaky below 7 in 10 and stops at 9 in 10; in between it keeps its state."""

from __future__ import annotations

import pytest

from tidegate.procedure.flaky import is_flaky

STEADY, BAD = [True] * 18 + [False] * 2, [True, False] * 10


@pytest.mark.parametrize(
    ("past", "flaky"),
    [
        ([], False),
        ([False] * 9, False),
        ([False] * 10, True),
        ([True] * 7 + [False] * 3, False),
        (BAD, True),
        (BAD + [True] * 14, True),
        (BAD + STEADY, False),
        (STEADY + BAD, False),
    ],
)
def test_base_alone_decides(past: list[bool], flaky: bool) -> None:
    assert is_flaky(past) == flaky
