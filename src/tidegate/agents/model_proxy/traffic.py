"""What passes the model proxy for one trial: whether requests are answered, tokens, and waits for rate limits."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.message import Message
from functools import reduce
from threading import Condition, Lock, RLock
from typing import NamedTuple
from urllib.parse import SplitResult

from tidegate.agents.model_proxy.answers import Answer, Tokens, asked_secs
from tidegate.agents.model_proxy.asked import Asked
from tidegate.agents.streams.json_lines import end_of_api
from tidegate.model.event import End, TrialEnd
from tidegate.model.provider import Access, ModelApi

SLOW_DOWN = (429, 529)  # by these, a provider asks for fewer requests
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
            asked = asked_secs(headers)
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


TOO_MANY = 429
REFUSED = 400  # the status of what is not passed on
MOST_BYTES = 64 << 20  # of all requests of one trial that are read or passed on at once


PAUSE_SECS = 0.5  # between two looks at whether a trial that waits has ended


class TrafficLimits(NamedTuple):
    """When no more requests of a trial are passed on: after `turns` answers of the model, or if `spent` says why.

    `leaves_room` says if an end with so many tokens is within the limits, `may_ask` if a model of that name may be
    asked, `may_fetch` if providers may fetch addresses.
    """

    turns: int | None = None
    spent: Callable[[End], str | None] = lambda _: None
    leaves_room: Callable[[End], bool] = lambda _: True
    may_ask: Callable[[str], bool] = lambda _: True
    may_fetch: bool = True


class Traffic:
    """What has passed for one trial. Its requests are answered in several threads."""

    def __init__(self, limits: TrafficLimits = TrafficLimits()) -> None:  # noqa: B008  (a frozen value)
        self.limits = limits
        self._under_way: list[Asked] = []
        self._turns = 0  # answers of the model without errors
        self._full: tuple[TrialEnd, str] | None = None  # the limit that was reached, and what it was
        self._lock = RLock()
        self._changed = Condition(self._lock)
        self._answered = False
        self._answers: list[Answer] = []  # those under way too
        self._failure: int | None = None  # the status of the last answer, if that was an error
        self._said = ""  # what it was, in words
        self._reserved = 0  # bytes
        self._waited = 0.0  # seconds that requests were held back for that

    def count(self, answer: Answer) -> None:
        """Count the tokens of an answer that begins. They count while it is under way, and if it is cut off."""
        with self._lock:
            self._answered = True
            self._answers.append(answer)

    def note(self, status: int, said: str = "") -> None:
        """Keep how a request was answered: by the provider, by 502 if it did not answer, or by 400 if it was not asked.

        `said` is the reason, if it is known.
        """
        with self._lock:
            self._answered = True
            self._failure = status if status >= 400 else None
            self._said = said or f"the model's provider answered {status}"

    def note_turn(self) -> None:
        """Count an answer in which the model took a turn."""
        with self._lock:
            self._turns += 1

    @contextmanager
    def reserved(self, asked: Asked, is_over: Callable[[], bool]) -> Iterator[str | None]:
        """Yield why the request is not passed on; None if it may be, and then its worst case counts inside the block.

        One that may be too much beside others waits for their ends. One alone is passed on as long as anything is left.
        """
        with self._changed:
            while (why := self.full()) is None and self._under_way and not self._fits(asked) and not is_over():
                self._changed.wait(PAUSE_SECS)
            self._under_way.append(asked)
        try:
            yield why
        finally:
            with self._changed:
                self._under_way.remove(asked)
                self._changed.notify_all()

    def _fits(self, asked: Asked) -> bool:
        """Return True if the request is within the limits even if it and those under way become as long as they may."""
        if self.limits.turns is not None and self._turns + len(self._under_way) >= self.limits.turns:
            return False
        worst, told = (*self._under_way, asked), self.told() or End(end="killed")
        given = (told.tokens_in or 0) + sum(one.given for one in worst)
        said = (told.tokens_out or 0) + sum(one.said for one in worst)
        return self.limits.leaves_room(told.model_copy(update={"tokens_in": given, "tokens_out": said}))

    def full(self) -> str | None:
        """Return why no request of the trial is passed on any more; None if the next one may be."""
        most, told = self.limits.turns, self.told()
        if most is not None and self._turns >= most:
            self._full = "max_turns", f"the model has answered {most} requests (max_turns)"
        elif told is not None and (why := self.limits.spent(told)) is not None:
            self._full = "budget", why
        return self._full[1] if self._full else None

    def note_wait(self, secs: float) -> None:
        """Keep that a request waits so many more seconds, since the provider has asked for fewer."""
        with self._lock:
            self._waited += secs
            self.note(TOO_MANY, f"the model's provider asks for fewer requests: waited {self._waited:.0f} s in all")

    def reserve(self, size: int) -> bool:
        """Return True if the trial may have so many more bytes read; `reserve(-size)` gives them back."""
        with self._lock:
            fits = size <= 0 or self._reserved + size <= MOST_BYTES
            self._reserved += size if fits else 0
            return fits

    def told(self) -> End | None:
        """Return the end that an agent would have that ended now, with its tokens; None if it never asked.

        `auth` and `outage` are what the provider did; the request itself brought a `refused_request` about.
        """
        with self._lock:
            if not self._answered:
                return None
            given, said, read, written = reduce(Tokens.plus, (one.tokens for one in self._answers), Tokens())
            failed = None if self._failure is None else (end_of_api(self._failure), self._said)
            end, message = self._full or failed or ("killed", "")
            return End(
                end=end,
                message=message,
                tokens_in=given,
                tokens_out=said,
                tokens_cache_read=read,
                tokens_cache_write=written,
                tokens_guessed=any(one.is_guessed for one in self._answers),
                waited_s=self._waited,
            )


class Lease(NamedTuple):
    """What one trial was lent: its token, and the address that takes it; and what they stand for."""

    token: str
    address: str
    access: Access
    api: ModelApi
    upstream: SplitResult
    traffic: Traffic
    limit: RateLimit

    def waits(self, since: float, is_over: Callable[[], bool]) -> bool:
        """Wait until the provider takes a request that was made at `since`; return False if its trial ends before."""
        for secs in self.limit.pause(since):
            self.traffic.note_wait(secs)
            time.sleep(secs)
            if is_over():
                return False
        return True
