"""Waits for a model's provider that does not answer, so that a short outage leaves no trial without a measurement."""

from __future__ import annotations

import asyncio
import time

from tidegate.model.progress import Progress

SHARES = (0.1, 0.3, 0.6)  # of the time that the run may wait: most outages are short


class OutageWaits:
    """The waits that a run has in all. Trials that meet the outage at the same time share one wait."""

    def __init__(self, secs: float, deadline: float, progress: Progress) -> None:
        """`secs` is the longest time to wait in all; `deadline` is the run's end on the monotonic clock."""
        self._left = [share * secs for share in SHARES if secs]
        self._deadline = deadline
        self._progress = progress
        self._current: asyncio.Task[None] | None = None

    async def wait(self) -> bool:
        """Wait for the provider; return False at once if the run's waits are used up or its budget would end first."""
        if self._current is None or self._current.done():
            if not self._left or time.monotonic() + self._left[0] >= self._deadline:
                return False
            secs = self._left.pop(0)
            self._progress.say(f"the model's provider does not answer: trying again in {secs:.0f} s")
            self._current = asyncio.create_task(asyncio.sleep(secs))
        await asyncio.shield(self._current)
        return True
