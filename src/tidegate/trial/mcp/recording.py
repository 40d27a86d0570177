"""Records an MCP server: creates the script that agents start in its place, and reads what that has recorded."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tidegate.model.event import Invocation
from tidegate.model.target import McpServer
from tidegate.trial import recorder
from tidegate.trial.mcp.answer_status import fault_of
from tidegate.trial.mcp.session_notes import GIVEN_UP_STATUS, NOTICES

_NOTES = tuple(Path(__file__).with_name(f"{name}.py") for name in ("answer_status", "session_notes"))
PROXY, HTTP_PROXY = (Path(__file__).with_name(f"{name}.py") for name in ("recorder_proxy", "http_proxy"))
_NOTICED = frozenset((name,) for name in NOTICES)
_READY = b"\0tidegate-ready\0\0\n"


def install(
    folder: Path,
    server: McpServer,
    environment: Mapping[str, str],
    workspace: Path,
    record: Path,
    early: Path,
    port: int = 0,
) -> Path:
    """Create the script below `folder` and return its path. `early`: where a server may wait, see `recorder_proxy`; if
    it has a URL, the socket for Tidegate's own client. `port`: at which agents reach such a server.

    Server, environment, folder and record are written into the script, because agents' MCP clients filter the variables
    that they pass to servers, and the server must not see the agent's key.
    """
    proxy, start = (HTTP_PROXY, "serve") if server.url else (PROXY, "main")
    source = "\n".join(file.read_text(encoding="utf-8") for file in (*_NOTES, proxy))
    at = (server.url, port, str(early)) if server.url else str(early)
    arguments = (server.command, dict(environment), str(workspace), str(record.absolute()), at)
    script = folder.absolute() / re.sub(r"\W", "-", f"mcp-{server.name}")
    folder.mkdir(parents=True, exist_ok=True)
    recorder.write_script(script, os.fsencode(f"{source}\nos._exit({start}(*{arguments!r}))\n"))
    return script


class Conversation(NamedTuple):
    """What was recorded of an agent's session with the server.

    The arguments of a call are the tool's name and its input; of another request, its method comes first. `notices` are
    what the server announced, with the time in seconds since the epoch. `opened` is True if an agent opened a session.
    `lost` says why calls may be missing.
    """

    invocations: tuple[Invocation, ...]
    warnings: tuple[str, ...]
    opened: bool
    lost: str | None = None
    notices: tuple[tuple[float, str], ...] = ()


def read(record: Path, stops: recorder.Stops) -> Conversation:
    """Return what is in the record; never raises, whatever that is."""
    data = recorder.notes(record)
    if data is None:
        return Conversation((), (), opened=True, lost=recorder.GONE)
    plain = data.replace(_READY, b"")
    recorded, lost = recorder.parsed(plain, stops)
    calls = [call for call in recorded if call.argv[:1] not in _NOTICED]
    others = [call for call in recorded if call.argv[:1] in _NOTICED]
    faults = {f"{call.argv[0]}: {why}" for call in calls if call.argv and (why := fault_of(call.exit_code))}
    said = {
        f"{call.argv[1]}: the text of a result without an error begins with `Error:`"
        for call in others
        if call.argv[1:]
    }
    changed = tuple((call.started_at, f"the server sent {call.argv[0]}") for call in others if not call.argv[1:])
    return Conversation(
        tuple(map(_of_tool, calls)), tuple(sorted(faults | said)), opened=_READY in data, lost=lost, notices=changed
    )


def _of_tool(call: Invocation) -> Invocation:
    """Return the call with a tool's status in place of an exit code. A call that the agent gave up is a timeout."""
    late = call.status == "error" and call.exit_code == GIVEN_UP_STATUS
    return call.model_copy(update={"exit_code": None, **({"status": "timeout"} if late else {})})
