"""A pool with one supervisor for each trial that runs at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Self

from tidegate.trial.processes import Account, Supervisor


class SupervisorPool:
    """A pool of supervisors. A trial occupies its agent's weight in slots; one that exceeds the total runs alone.

    `account` returns the user for each new supervisor.
    """

    def __init__(self, jobs: int, account: Callable[[], Account | None] = lambda: None) -> None:
        self._jobs = float(jobs)
        self._account = account
        self._used = 0.0
        self._changed = asyncio.Condition()
        self._idle: list[Supervisor] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close all supervisors, which terminates everything below them."""
        while self._idle:
            await self._idle.pop().close()

    @asynccontextmanager
    async def slot(self, weight: float = 1.0) -> AsyncIterator[Supervisor]:
        """Yield a supervisor for one trial, as soon as there is room."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._used == 0 or self._used + weight <= self._jobs)
            self._used += weight
        try:
            supervisor = self._idle.pop() if self._idle else await Supervisor.start(self._account())
            try:
                yield supervisor
            finally:
                if supervisor.is_usable:
                    self._idle.append(supervisor)
                else:
                    await supervisor.close()
        finally:
            async with self._changed:
                self._used -= weight
                self._changed.notify_all()
