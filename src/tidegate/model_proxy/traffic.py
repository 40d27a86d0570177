"""What passes the model proxy for one trial: whether its requests are answered, tokens, and what is under way."""

from __future__ import annotations

from threading import Lock
from typing import NamedTuple
from urllib.parse import SplitResult

from tidegate.model.agent import Provider
from tidegate.model.event import End
from tidegate.model_proxy.token_usage import Tokens
from tidegate.streams.json_lines import end_of_api

REFUSED = 400  # the status of what is not passed on
MOST_BYTES = 64 << 20  # of all requests of one trial that are read or passed on at once


class Traffic:
    """What has passed for one trial. Its requests are answered in several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._answers = 0
        self._tokens = Tokens()
        self._failure: int | None = None  # the status of the last answer, if that was an error
        self._said = ""  # what it was, in words
        self._reserved = 0  # bytes

    def note(self, status: int, tokens: Tokens, words: str = "") -> None:
        """Count an answer of the provider; 502 if it gave none. `words` is its message about an error."""
        with self._lock:
            self._answers += 1
            self._tokens = self._tokens.plus(tokens)
            self._failure = status if status >= 400 else None
            self._said = f"the model's provider answered {status}" + (f": {words}" if words else "")

    def note_refusal(self, why: str) -> None:
        """Count a request that was not passed on, because of what it asked for: the provider has no part in that."""
        with self._lock:
            self._answers += 1
            self._failure = REFUSED
            self._said = why

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
            if not self._answers:
                return None
            given, said, read, written = self._tokens
            return End(
                end="killed" if self._failure is None else end_of_api(self._failure),
                message="" if self._failure is None else self._said,
                tokens_in=given,
                tokens_out=said,
                tokens_cache_read=read,
                tokens_cache_write=written,
            )


class Lease(NamedTuple):
    """What one trial was lent: its token, and the address that takes it; and what they stand for."""

    token: str
    address: str
    key: str
    provider: Provider
    upstream: SplitResult
    traffic: Traffic
