"""The target's calls as the agent's own log tells them: in the command lines of its shell, and what came back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tidegate.invocations.shell_grammar import Call, shell_lines
from tidegate.model.event import CallStatus, Event, ToolCall, ToolResult

_NEVER_RAN: frozenset[CallStatus] = frozenset({"denied", "invalid", "not_executed"})


class LoggedCall(NamedTuple):
    """One call of the target as it is written in a command, with that command and what became of it.

    `alone`: the command calls the target nowhere else.
    """

    call: Call
    command: ToolCall
    result: ToolResult
    alone: bool


def tool_call(event: ToolCall, server: str) -> tuple[str, ...] | None:
    """The call of an MCP server's tool as the recorder writes it: the tool, and its input as JSON. None: it is none.

    Every agent puts the server's name before the tool's in a way of its own.
    """
    for prefix in (f"mcp__{server}__", f"mcp_{server}_", f"{server}_", f"{server}."):
        if event.tool.startswith(prefix):
            given = (json.dumps(event.input, ensure_ascii=False, sort_keys=True),) if event.input else ()
            return event.tool.removeprefix(prefix), *given
    return None


class LoggedToolCall(NamedTuple):
    """One call of an MCP server's tool: its arguments as the recorder writes them, and what became of it."""

    argv: tuple[str, ...]
    call: ToolCall
    result: ToolResult

    @property
    def arrived(self) -> bool:
        """The server has got it, as far as the agent knows."""
        return self.result.status not in _NEVER_RAN


def logged_tool_calls(events: Sequence[Event], server: str) -> Iterator[LoggedToolCall]:
    """The calls of an MCP server's tools that have an end."""
    results = {event.id: event for event in events if isinstance(event, ToolResult)}
    for event in events:
        argv = tool_call(event, server) if isinstance(event, ToolCall) and not event.command else None
        if isinstance(event, ToolCall) and argv is not None and event.id in results:
            yield LoggedToolCall(argv, event, results[event.id])


def logged_calls(events: Sequence[Event], binary: str) -> Iterator[LoggedCall]:
    """The calls in all commands that ran, in order; loops count once, and what a script calls is not seen."""
    results = {event.id: event for event in events if isinstance(event, ToolResult)}
    name = binary.rpartition("/")[2]
    for event in events:
        if not isinstance(event, ToolCall) or not event.command or not name or name not in event.command:
            continue
        result = results.get(event.id)
        if result is not None and result.status not in _NEVER_RAN:
            calls = [call for line in shell_lines(event.command, binary) for call in line.calls]
            yield from (LoggedCall(call, event, result, alone=len(calls) == 1) for call in calls)
