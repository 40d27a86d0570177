"""Who gets a slot, and when."""

from __future__ import annotations

import asyncio

import pytest

from tidegate.trial.processes import SupervisorPool


async def use(pool: SupervisorPool, name: str, weight: float, order: list[str]) -> None:
    async with pool.slot(weight):
        order.append(name)
        await asyncio.sleep(0.01)


def test_trials_start_in_the_order_in_which_they_asked() -> None:
    async def run() -> list[str]:
        order: list[str] = []
        async with SupervisorPool(2) as pool:
            weights = {"a": 1.0, "b": 1.0, "heavy": 2.0, "c": 1.0, "too heavy": 9.0, "d": 1.0}
            await asyncio.gather(*(use(pool, name, weight, order) for name, weight in weights.items()))
        return order

    order = asyncio.run(run())
    assert sorted(order[:2]) == ["a", "b"]
    assert order[2:] == ["heavy", "c", "too heavy", "d"]


def test_one_that_is_cancelled_while_it_waits_takes_no_slot() -> None:
    async def run() -> list[str]:
        order: list[str] = []
        async with SupervisorPool(1) as pool:
            async with pool.slot():
                waiting = asyncio.ensure_future(use(pool, "cancelled", 1, order))
                admitted = asyncio.ensure_future(use(pool, "cancelled too", 1, order))
                await asyncio.sleep(0)
                waiting.cancel()
            admitted.cancel()  # it has got the slot, and has not begun
            with pytest.raises(asyncio.CancelledError):
                await admitted
            async with asyncio.timeout(10):
                await use(pool, "last", 1, order)
        return order

    assert asyncio.run(run()) == ["last"]
