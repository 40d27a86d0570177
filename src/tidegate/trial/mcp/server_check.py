"""Starts the MCP server before the agent where needed, and checks that it opens a session and offers something."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tidegate.model.agent import ServerScript
from tidegate.model.event import CommandEnd, CommandResult
from tidegate.model.probe import AskServer
from tidegate.model.target import McpServer
from tidegate.model.trial import TOOLS_MARK
from tidegate.text.shorten import error_lines, excerpt
from tidegate.trial.directories import Attempt
from tidegate.trial.mcp import recording
from tidegate.trial.mcp.mcp_client import McpClient, NoAnswerFromServerError
from tidegate.trial.mcp.server_headers import give_headers
from tidegate.trial.processes import Command
from tidegate.trial.safe_files import read_output
from tidegate.trial.sandbox.supervisor.messages import Ended

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
    where = (folders.shared, server, environment, folders.workspace, folders.calls, early)
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
    Raises OSError if the server's OAuth gives no token.
    """
    folders = attempt.folders
    port = attempt.server_port
    where = (folders.shared, server, environment, folders.workspace, record, folders.early_server, port)
    script = recording.install(*where)
    url = urlsplit(server.url)._replace(scheme="http", netloc=f"127.0.0.1:{port}").geturl()
    async with _running(attempt, environment, (str(script),), name):
        if server.headers or server.oauth:
            await give_headers(server.with_secrets(attempt.place.of_server), folders.early_server)
        yield ServerScript(server.name, script, url, server.is_sse)


@asynccontextmanager
async def _running(
    attempt: Attempt, environment: Mapping[str, str], argv: tuple[str, ...], name: str
) -> AsyncIterator[asyncio.Future[Ended]]:
    """Run a server that listens at the trial's socket, beside the trial's other commands."""
    folders = attempt.folders
    folders.early_server.unlink(missing_ok=True)
    command = Command(
        argv=argv,
        cwd=folders.workspace,
        env=environment,
        stdout=Path(os.devnull),
        stderr=folders.record / f"{name}.stderr",
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


MOST_READ = 64 << 10  # bytes of a file that is quoted
MOST_SHOWN = 60  # characters of its command


async def check_server(opened: AbstractAsyncContextManager[McpClient], attempt: Attempt, name: str) -> CommandResult:
    """Open a session and return what the server offers: the names of its tools and a hash of their descriptions.

    Its duration is that of the start. Its status is 1 if no agent could use the server, with the reason at the end of
    stderr. `name`: of the server's output in the record. Why agents cannot use its lists is added to `attempt.faults`.
    """

    began = answered = time.monotonic()
    offered: dict[str, Any] = {}
    why, late = "it offers no tools, no resources and no prompts", False
    try:
        async with opened as client:
            answered = time.monotonic()
            offered = await client.interface()
            attempt.on_offer(offered)
            attempt.faults.update(client.faults())
    except NoAnswerFromServerError as error:
        why, late = error.why, error.status == "timeout"
    is_usable = any(offered.get(kind) for kind in ("tools", "resources", "resourceTemplates", "prompts"))
    said = read_output(attempt.folders.record / f"{name}.stderr", MOST_READ)[0]
    attempt.supervisor.confinement.note_output(said)
    return CommandResult(
        command=name,
        end="timeout" if late else "exited",
        exit_code=None if late else int(not is_usable),
        stdout=_described(offered, str(attempt.folders.workspace)),
        stderr=said if is_usable else f"{said.rstrip()}\n{why}".lstrip(),
        duration_s=round(answered - began, 3),
    )


async def asked_server(
    opened: AbstractAsyncContextManager[McpClient], request: AskServer, attempt: Attempt
) -> CommandResult:
    """Ask the server once, in a session of its own, and return the answer as `AskServer` says.

    Why agents would not ask for it, unless it must fail, is added to `attempt.faults`.
    """
    began = time.monotonic()
    end: CommandEnd = "exited"
    try:
        async with opened as client:
            if not request.must_fail:
                await client.lists(request.what, request.name)
                client.compare(request.what, request.name, request.input)
            status, text = await client.ask(request.what, request.name, request.input, request.timeout_secs)
            if not request.must_fail:
                attempt.faults.update(client.faults())
    except NoAnswerFromServerError as error:
        status, text = error.status, f"the MCP server did not start: {error.why}"
        end = "not_started"
    if status not in ("ok", "error"):
        end = "timeout" if status == "timeout" else "not_started"
    return CommandResult(
        command=f"{request.what} {request.name}",
        end=end,
        exit_code=int(status != "ok") if end == "exited" else None,
        stdout=text if status == "ok" else "",
        stderr="" if status == "ok" else text,
        duration_s=round(time.monotonic() - began, 3),
    )


def why_not(command: str, result: CommandResult) -> str:
    """Return why no agent could use the server, with what it wrote of an error."""
    said, _, why = (result.stderr.strip() or result.how_it_ended()).rpartition("\n")
    return f"the MCP server `{excerpt(command, MOST_SHOWN)}` did not start: {why}{_quoted(said)}"


def quoted(stderr: Path) -> str:
    """Return what a server wrote of an error to this file, for the end of a message; "" if it wrote nothing."""
    return _quoted(read_output(stderr, MOST_READ)[0])


def _quoted(text: str) -> str:
    lines = error_lines(text)
    return f"; it wrote: {' / '.join(lines)}" if lines else ""


def _described(offered: dict[str, Any], folder: str) -> str:
    """Return the names of the tools, one per line, and a hash of all that clients are given of them."""
    tools = offered.get("tools", [])
    given = json.dumps([tools, offered.get("instructions")], sort_keys=True).replace(folder, ".")
    return "\n".join(
        [*(str(tool.get("name")) for tool in tools), TOOLS_MARK + hashlib.sha256(given.encode()).hexdigest()]
    )
