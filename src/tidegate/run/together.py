"""Waits for several coroutines at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import TypeVar

T = TypeVar("T")
Item = TypeVar("Item")

AT_ONCE = 1_000  # more than trials and judges can do at once


async def together(coroutines: Sequence[Coroutine[None, None, T]]) -> list[T]:
    """Return all results in order. The first failure cancels the others and is raised unwrapped."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(coroutine) for coroutine in coroutines]
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [task.result() for task in tasks]


async def over(function: Callable[[Item], Awaitable[T]], items: Sequence[Item], most: int = AT_ONCE) -> list[T]:
    """Return the results of all items in order, for at most so many at once: each takes memory from its start."""
    results: dict[int, T] = {}
    waiting = iter(enumerate(items))

    async def work() -> None:
        for place, item in waiting:
            results[place] = await function(item)

    await together([work() for _ in range(min(most, len(items)))])
    return [results[place] for place in range(len(items))]
