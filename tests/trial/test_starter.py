"""The process that forks supervisors, with real ones."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tidegate.trial.processes import Command, Supervisor
from tidegate.trial.sandbox.supervisor.messages import Ended


@pytest.fixture
def parent(tmp_path: Path) -> Callable[[Supervisor], asyncio.Future[int]]:
    """Return a function that finds out a supervisor's parent."""

    async def parent_of(supervisor: Supervisor) -> int:
        await ran(supervisor, tmp_path, "echo $PPID")
        supervisor_id = (tmp_path / "out").read_text().strip()
        stat = Path(f"/proc/{supervisor_id}/stat").read_text(encoding="utf-8")
        return int(stat.rpartition(")")[2].split()[1])

    return lambda supervisor: asyncio.ensure_future(parent_of(supervisor))


async def ran(supervisor: Supervisor, folder: Path, line: str) -> Ended:
    command = Command(("/bin/sh", "-c", line), folder, {}, folder / "out", folder / "err")
    return await supervisor.run(command)


def our_children() -> set[int]:
    text = Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text(encoding="utf-8")
    return {int(process) for process in text.split()}


def test_supervisors_have_one_parent_that_ends_with_the_last_of_them(
    parent: Callable[[Supervisor], asyncio.Future[int]],
) -> None:
    before = our_children()

    async def body() -> None:
        first = await Supervisor.start()
        async with await Supervisor.start() as second:
            parents = {await parent(first), await parent(second)}
            assert parents == our_children() - before
            assert len(parents) == 1
            await first.close()
            async with await Supervisor.start() as third:
                assert {await parent(third)} == parents

    asyncio.run(body())
    assert our_children() == before


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_supervisors_work_and_start_after_a_command_has_sent_their_parent_a_signal(
    parent: Callable[[Supervisor], asyncio.Future[int]], number: signal.Signals, tmp_path: Path
) -> None:
    async def body() -> list[int | None]:
        async with AsyncExitStack() as opened:
            supervisors = [await opened.enter_async_context(await Supervisor.start()) for _ in range(2)]
            starter = os.pidfd_open(await parent(supervisors[0]))
            signal.pidfd_send_signal(starter, number)
            os.close(starter)
            supervisors.append(await opened.enter_async_context(await Supervisor.start()))
            return [(await ran(one, tmp_path, "exit 3")).exit_code for one in supervisors]

    before = our_children()
    assert asyncio.run(body()) == [3, 3, 3]
    assert our_children() == before
