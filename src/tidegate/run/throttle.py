"""Limits how many batches run at the same time: fewer while a provider asks for fewer requests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Throttle:
    """Halves its limit after each batch that a provider slowed down, and raises it by one after every other."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.limit = most
        self._running = 0
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait until another batch may run."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._running < self.limit)
            self._running += 1
        try:
            yield
        finally:
            self._running -= 1
            async with self._changed:
                self._changed.notify_all()

    def saw(self, *, slowed: bool) -> None:
        """Learn from a batch that has ended."""
        self.limit = max(1, self.limit // 2) if slowed else min(self._most, self.limit + 1)
