"""Finds the target's calls in the agent's own log: in its shell commands and in its MCP tool calls."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from tidegate.agents.invocations.shell_grammar import Call, shell_lines
from tidegate.model.event import CallStatus, Event, ToolCall, ToolResult

_NEVER_RAN: frozenset[CallStatus] = frozenset({"denied", "invalid", "not_executed"})


_lines = lru_cache(maxsize=256)(shell_lines)  # a trial's commands are looked at several times
SHORT = 2000  # characters of a command that is kept


class LoggedCall(NamedTuple):
    """One call of the target in a shell command, with that command and its result.

    `alone` is True if the command contains no other call of the target. `status` and `exit_code` are what the shell's
    exit code tells about this call, else `unknown` and None.
    """

    call: Call
    command: ToolCall
    result: ToolResult
    alone: bool
    status: CallStatus
    exit_code: int | None


def tool_call(event: ToolCall, server: str) -> tuple[str, ...] | None:
    """Return the tool's name and its input as JSON, as the recorder writes them; None if it is not a call to `server`.

    Each agent joins the names of server and tool in its own way.
    """
    for prefix in (f"mcp__{server}__", f"mcp_{server}_", f"{server}_", f"{server}."):
        if event.tool.startswith(prefix):
            given = (json.dumps(event.input, ensure_ascii=False, sort_keys=True),) if event.input else ()
            return event.tool.removeprefix(prefix), *given
    return None


class LoggedToolCall(NamedTuple):
    """One call of an MCP server's tool, with its arguments as the recorder writes them, and its result."""

    argv: tuple[str, ...]
    call: ToolCall
    result: ToolResult

    @property
    def arrived(self) -> bool:
        """Return True if the server received the call, according to the agent's log."""
        return self.result.status not in _NEVER_RAN


def logged_tool_calls(events: Sequence[Event], server: str) -> Iterator[LoggedToolCall]:
    """Yield the calls of an MCP server's tools that have a result."""
    results = {event.id: event for event in events if isinstance(event, ToolResult)}
    for event in events:
        argv = tool_call(event, server) if isinstance(event, ToolCall) and not event.command else None
        if isinstance(event, ToolCall) and argv is not None and event.id in results:
            yield LoggedToolCall(argv, event, results[event.id])


def logged_calls(events: Sequence[Event], binary: str) -> Iterator[LoggedCall]:
    """Yield the target's calls in all executed commands, in order.

    A call in a loop is counted once; calls made by scripts are not seen.
    """
    results = {event.id: event for event in events if isinstance(event, ToolResult)}
    name = binary.rpartition("/")[2]
    for event in events:
        if not isinstance(event, ToolCall) or not event.command or not name or name not in event.command:
            continue
        result = results.get(event.id)
        if result is not None and result.status not in _NEVER_RAN:
            parse = _lines if len(event.command) < SHORT else shell_lines
            calls = [pair for line in parse(event.command, binary) for pair in zip(line.calls, line.tells, strict=True)]
            for call, tells in calls:
                yield LoggedCall(call, event, result, len(calls) == 1, *tells.status(result.exit_code))
