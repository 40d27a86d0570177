"""A pool with one supervisor for each trial that runs at the same time."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Self

from tidegate.trial.processes import Supervisor


class SupervisorPool:
    """A pool of supervisors. A trial occupies its agent's weight in slots; one that exceeds the total runs alone.

    `start` returns each new supervisor.
    """

    def __init__(self, jobs: int, start: Callable[[], Awaitable[Supervisor]] = Supervisor.start) -> None:
        self._jobs = float(jobs)
        self._start = start
        self._used = 0.0
        self._waiting: deque[tuple[float, asyncio.Future[None]]] = deque()
        self._idle: list[Supervisor] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close all supervisors, which terminates everything below them."""
        while self._idle:
            await self._idle.pop().close()

    @asynccontextmanager
    async def slot(self, weight: float = 1.0) -> AsyncIterator[Supervisor]:
        """Yield a supervisor for one trial, as soon as there is room; first come, first served."""
        await self._enter(weight)
        try:
            supervisor = self._idle.pop() if self._idle else await self._start()
            try:
                yield supervisor
            finally:
                supervisor.confinement.lift()
                if supervisor.is_usable:
                    self._idle.append(supervisor)
                else:
                    await supervisor.close()
        finally:
            self._leave(weight)

    async def _enter(self, weight: float) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append((weight, turn))
        self._admit()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it was admitted and cancelled at the same time
                self._leave(weight)
            raise

    def _leave(self, weight: float) -> None:
        self._used -= weight
        self._admit()

    def _admit(self) -> None:
        """Admit those who wait, in order, while there is room. Waking only these keeps long queues cheap."""
        while self._waiting and (self._used == 0 or self._used + self._waiting[0][0] <= self._jobs):
            weight, turn = self._waiting.popleft()
            if not turn.done():
                self._used += weight
                turn.set_result(None)
