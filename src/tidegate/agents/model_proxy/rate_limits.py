"""Holds requests back while a provider asks for fewer: a rate limit slows trials down, and ends none."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from email.message import Message
from threading import Lock

SLOW_DOWN = (429, 529)  # by these, a provider asks for fewer requests
LEAST_SECS = 0.1  # of a pause
LONGEST_SECS = 60.0  # a provider that asks for a longer pause has a limit by the hour or the day
FIRST_SECS, MOST_SECS = 1.0, 30.0  # of a pause whose length the provider does not name; each is twice the one before
ROUNDS = 7  # pauses after which no request was answered: then the provider is out of order, or has refused for good
PATIENCE_SECS = 180.0  # that one request is held back; agents' clients wait for 300 seconds or more


class RateLimit:
    """The pauses of one provider, for all requests of this process with the same key."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._free_at = 0.0  # on the monotonic clock
        self._last_secs = 0.0  # the length of the last pause
        self._rounds = 0  # pauses since the provider last answered

    def pause(self, since: float) -> Iterator[float]:
        """Yield the seconds to sleep next, until a request that was made at `since` may be sent."""
        # Not all at once: what waits for the same pause starts within a quarter of it.
        spread = random.random() * self._last_secs / 4
        while (left := self._free_at + spread - time.monotonic()) > 0 and time.monotonic() < since + PATIENCE_SECS:
            yield min(left, 0.2)

    def saw(self, status: int, headers: Message, since: float) -> bool:
        """Learn from an answer; return True if its request, which was made at `since`, is to be sent again."""
        now = time.monotonic()
        with self._lock:
            if status not in SLOW_DOWN:
                self._rounds = self._rounds if status >= 400 else 0
                return False
            asked = _asked_secs(headers)
            secs = min(FIRST_SECS * 2**self._rounds, MOST_SECS) if asked is None else asked
            if secs > LONGEST_SECS or now - since > PATIENCE_SECS:
                return False
            if now >= self._free_at:  # else its request was sent before this pause began
                self._rounds += 1
            elif asked is None:
                return True
            if self._rounds > ROUNDS:
                return False
            self._last_secs, self._free_at = secs, max(self._free_at, now + secs)
            return True


def _asked_secs(headers: Message) -> float | None:
    """Return the seconds after which the provider wants to be asked again; None if it does not name them."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            return max(LEAST_SECS, float(headers.get(name) or "") * unit)
        except ValueError:  # absent, or a date
            continue
    return None
