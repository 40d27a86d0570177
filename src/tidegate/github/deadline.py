"""Limits how long a job waits for GitHub: requests run in a thread that is left behind when the time is up."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from threading import Thread
from typing import TypeVar

from tidegate.errors import TidegateError
from tidegate.github.api import PublishError

T = TypeVar("T")


class Deadline:
    """The time that a job waits for GitHub, in all. Only the time in which something waits for it counts.

    A library's own time limits are for one connect or one read, so a server that sends a byte now and then has no end.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._spent = 0.0

    @property
    def left(self) -> float:
        """The seconds that are left."""
        return max(0.0, self._seconds - self._spent)

    async def ask(self, work: Callable[[], T], share: float = 1.0) -> T:
        """Return what `work` returns. It runs in a thread, so that a cancellation ends the wait at once.

        `share`: the part of the time that is left that it may take. Raises PublishError for every exception other than
        our own, and when the time is up.
        """
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        # A daemon: neither the event loop nor the interpreter waits for it.
        Thread(target=_answer, args=(work, answer), daemon=True).start()
        began = time.monotonic()
        try:
            return await asyncio.wait_for(answer, share * self.left)
        except TimeoutError:
            raise PublishError("outage", f"GitHub did not answer within {share * self._seconds:g} seconds") from None
        except (PublishError, TidegateError):
            raise
        except Exception as error:  # whatever a library raises must not decide how the job ends
            raise PublishError("outage", f"the request failed: {type(error).__name__}: {error}") from error
        finally:
            self._spent += time.monotonic() - began


def _answer(work: Callable[[], T], answer: asyncio.Future[T]) -> None:
    settle: Callable[[], None]
    try:
        settle = partial(answer.set_result, work())
    except Exception as error:
        settle = partial(answer.set_exception, error)
    with suppress(RuntimeError):  # the loop has been closed, so the job has gone on without the answer
        answer.get_loop().call_soon_threadsafe(_unless_left, answer, settle)


def _unless_left(answer: asyncio.Future[T], settle: Callable[[], None]) -> None:
    if not answer.cancelled():
        settle()
