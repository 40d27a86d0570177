"""Starts the MCP server under test before the agent: one with a URL, and one that agents would not wait for."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

from tidegate.model.agent import ServerScript
from tidegate.model.target import McpServer
from tidegate.trial.directories import Attempt
from tidegate.trial.mcp import recording
from tidegate.trial.processes import Command, Ended

LONGEST_SOCKET = 107  # bytes of a Unix socket's path
OFTEN_SECS = 0.02


@asynccontextmanager
async def early_server(
    attempt: Attempt, environment: Mapping[str, str], ready_secs: float
) -> AsyncIterator[ServerScript | None]:
    """Yield how the agent reaches the server on stdio; None without one. If the agent's program would start it, it runs
    by then, and waits for the agent. `ready_secs`: how long it took to answer in the check.

    Nothing is sent to it, since servers decide by the first message which version of the protocol they speak.
    """
    server, folders = attempt.scenario.target.mcp, attempt.folders
    if server is None or server.url:
        yield None
        return
    early = folders.early_server
    where = (folders.scratch / "recorder", server, environment, folders.workspace, folders.calls, early)
    script = ServerScript(server.name, recording.install(*where))
    if not attempt.row.agent.starts_server or len(os.fsencode(early)) > LONGEST_SOCKET:
        yield script
        return
    async with _running(attempt, environment, (str(script.program), "--early"), "server") as running:
        await asyncio.wait({running}, timeout=ready_secs)
        yield script


@asynccontextmanager
async def server_at_url(
    attempt: Attempt, environment: Mapping[str, str], server: McpServer, record: Path, name: str
) -> AsyncIterator[ServerScript]:
    """Run a server with a URL and the recorder in front of it, and yield how agents reach it.

    Tidegate's own client reaches it at the socket `early_server` of the trial's folders. `name`: of its output.
    """
    folders = attempt.folders
    port = attempt.server_port
    where = (folders.scratch / "recorder", server, environment, folders.workspace, record, folders.early_server, port)
    script = recording.install(*where)
    url = urlsplit(server.url)._replace(netloc=f"127.0.0.1:{port}").geturl()
    async with _running(attempt, environment, (str(script),), name):
        yield ServerScript(server.name, script, url, server.is_sse)


@asynccontextmanager
async def _running(
    attempt: Attempt, environment: Mapping[str, str], argv: tuple[str, ...], name: str
) -> AsyncIterator[asyncio.Future[Ended]]:
    """Run a server that listens at the trial's socket, beside the trial's other commands."""
    folders = attempt.folders
    folders.early_server.unlink(missing_ok=True)
    output = folders.record / "output"
    output.mkdir(parents=True, exist_ok=True)
    command = Command(
        argv=argv,
        cwd=folders.workspace,
        env=environment,
        stdout=Path(os.devnull),
        stderr=output / f"{name}.stderr",
        limits=attempt.place.limits,
    )
    async with attempt.supervisor.beside() as other:
        running = asyncio.ensure_future(other.run(command))
        try:
            while not (folders.early_server.is_socket() or running.done()):
                await asyncio.sleep(OFTEN_SECS)
            yield running
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
