"""A program that is read while it runs, so that what has no future is stopped at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from tidegate.model.agent import Watch
from tidegate.trial.step_context import AgentStopped
from tidegate.trial.tail import Tail

T = TypeVar("T")

LOOK_SECS = 0.1  # between two looks at what the program has printed


async def watched(
    command: Coroutine[Any, Any, T],
    tail: Tail,
    watch: Watch,
    *,
    look: Callable[[], None],
    stopping: Callable[[], None],
) -> T:
    """What the command returns; each line that it prints is shown to `watch` as it comes, with `look` in between.

    An `End` of the watch, and whatever `look` raises, ends the command; `stopping` is called before that begins. The
    watch sees the last lines in any case.
    """
    running = asyncio.ensure_future(command)
    try:
        while not running.done():
            await asyncio.wait({running}, timeout=LOOK_SECS)
            for line in tail.lines():
                if (end := watch(*line)) is not None:
                    raise AgentStopped(end.end, end.message)
            look()
    finally:
        if not running.done():
            stopping()
            running.cancel()
            await asyncio.wait({running})
        for line in tail.close():
            watch(*line)
    return running.result()
