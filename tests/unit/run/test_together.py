"""Many coroutines: how many run at once, the order of their results, and what becomes of them after a failure."""

from __future__ import annotations

import asyncio

import pytest

from tidegate.run.runner import over


def test_at_most_so_many_run_at_once_and_results_keep_the_order() -> None:
    running: list[int] = []
    most: list[int] = []

    async def one(item: int) -> int:
        running.append(item)
        most.append(len(running))
        await asyncio.sleep(0.001 * (10 - item))
        running.remove(item)
        return 2 * item

    assert asyncio.run(over(one, range(10), 3)) == list(range(0, 20, 2))
    assert max(most) == 3
    assert asyncio.run(over(one, [], 3)) == []


def test_after_a_failure_nothing_else_begins() -> None:
    begun: list[int] = []

    async def one(item: int) -> None:
        begun.append(item)
        await asyncio.sleep(0)
        if item == 1:
            raise ValueError("one")
        await asyncio.sleep(10)

    with pytest.raises(ValueError, match="one"):
        asyncio.run(over(one, range(10), 2))
    assert begun == [0, 1]
