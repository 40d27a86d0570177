"""Starts the MCP server under test before the agent, since agents do not wait for a server that starts slowly."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from tidegate.trial.directories import Attempt
from tidegate.trial.mcp import recording
from tidegate.trial.processes import Command

LONGEST_SOCKET = 107  # bytes of a Unix socket's path
OFTEN_SECS = 0.02


@asynccontextmanager
async def early_server(
    attempt: Attempt, environment: Mapping[str, str], ready_secs: float
) -> AsyncIterator[Path | None]:
    """Yield the recorder's script; None without a server. If the agent's program would start the server, it runs by
    then, and waits for the agent. `ready_secs`: how long it took to answer in the check.

    Nothing is sent to it, since servers decide by the first message which version of the protocol they speak.
    """
    server, folders = attempt.scenario.target.mcp, attempt.folders
    if server is None:
        yield None
        return
    early = folders.early_server
    where = (folders.scratch / "recorder", server, environment, folders.workspace, folders.calls, early)
    script = recording.install(*where)
    if not attempt.row.agent.starts_server or len(os.fsencode(early)) > LONGEST_SOCKET:
        yield script
        return
    output = folders.record / "output"
    output.mkdir(parents=True, exist_ok=True)
    command = Command(
        argv=(str(script), "--early"),
        cwd=folders.workspace,
        env=environment,
        stdout=Path(os.devnull),
        stderr=output / "server.stderr",
        limits=attempt.place.limits,
    )
    async with attempt.supervisor.beside() as other:
        running = asyncio.ensure_future(other.run(command))
        try:
            while not (early.is_socket() or running.done()):
                await asyncio.sleep(OFTEN_SECS)
            await asyncio.wait({running}, timeout=ready_secs)
            yield script
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
