"""How many batches run at once, by what providers answered."""

from __future__ import annotations

import asyncio

from tidegate.run.batches import Throttle


def test_the_limit_halves_and_comes_back_one_by_one() -> None:
    throttle = Throttle(8)
    limits = []
    for slowed in (True, True, True, True, False, False, True, False):
        throttle.saw(slowed=slowed)
        limits.append(throttle.limit)
    assert limits == [4, 2, 1, 1, 2, 3, 1, 2]
    for _ in range(9):
        throttle.saw(slowed=False)
    assert throttle.limit == 8


def test_no_more_run_at_once_than_the_limit_allows_and_all_get_their_turn() -> None:
    throttle, running, seen = Throttle(4), set[int](), list[int]()

    async def one(number: int) -> None:
        async with throttle.turn():
            running.add(number)
            seen.append(len(running))
            await asyncio.sleep(0)
            running.remove(number)
            if number == 3:
                throttle.saw(slowed=True)

    async def all_of_them() -> None:
        async with asyncio.timeout(5), asyncio.TaskGroup() as group:
            for number in range(12):
                group.create_task(one(number))

    asyncio.run(all_of_them())
    assert (len(seen), max(seen), max(seen[6:])) == (12, 4, 2)
