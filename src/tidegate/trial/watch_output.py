"""Watches a program's output while it runs, so that a hopeless run is stopped at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from tidegate.model.agent import Watch
from tidegate.trial.step_context import AgentStopped
from tidegate.trial.tail import Tail

T = TypeVar("T")

LOOK_SECS = 0.1  # between two reads of the program's output


async def watched(
    command: Coroutine[Any, Any, T],
    tail: Tail,
    watch: Watch,
    *,
    look: Callable[[], None],
    stopping: Callable[[], None],
) -> T:
    """Return the command's result. Each printed line is passed to `watch` as it arrives; `look` is called in between.

    If `watch` returns an `End`, or `look` raises, the command is stopped; `stopping` is called before that. `watch`
    always gets the last lines.
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
