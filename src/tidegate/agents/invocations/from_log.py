"""Finds the target's calls in the agent's own log, and those that bypassed the recorder."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from tidegate.agents.invocations.shell_grammar import ShellCall, shell_lines
from tidegate.model.event import CallStatus, Event, Invocation, ToolCall, ToolResult
from tidegate.model.target import Target

_NEVER_RAN: frozenset[CallStatus] = frozenset({"denied", "invalid", "not_executed"})


_lines = lru_cache(maxsize=256)(shell_lines)  # a trial's commands are looked at several times
SHORT = 2000  # characters of a command that is kept


class LoggedCall(NamedTuple):
    """One call of the target in a shell command, with that command and its result.

    `alone` is True if the command contains no other call of the target. `status` and `exit_code` are what the shell's
    exit code tells about this call, else `unknown` and None.
    """

    call: ShellCall
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


_EXPANDED = frozenset("$`*?[{~\\")  # characters that a shell may expand
CLOCKS_SECS = 5.0  # tolerance for the log's times: agents buffer, and machines are busy


def bypassed(
    events: Sequence[Event], target: Target, recorded: Sequence[Invocation], started_at: float
) -> tuple[Invocation, ...]:
    """Return the calls that only the agent's log has: calls by a path, or after the agent reset PATH.

    A call by bare name that was not recorded did not happen (`a || b`), unless it was the whole command. To count no
    call twice, each recorded call is matched with one logged call that has the same arguments and ran at that time.
    The exit code is the shell's where its rules say so, else unknown. `started_at` is the start of the log's
    times, in seconds since the epoch.
    """
    left = list(recorded)
    unseen = []
    found = sorted(logged_calls(events, target.binary), key=lambda logged: "/" in logged.call.program)
    for logged in found:  # match bare names first: only they go through the recorder
        answer = next((call for call in left if _may_be(call, logged, started_at)), None)
        if answer is not None:
            left.remove(answer)
            continue
        whole = _is_whole(logged.command.command or "", logged.call)
        if whole or "/" in logged.call.program:
            unseen.append(_invocation(logged, started_at))
    return tuple(sorted(unseen, key=lambda call: call.started_at))


def never_arrived(events: Sequence[Event], server: str, started_at: float) -> tuple[Invocation, ...]:
    """Return the MCP tool calls that never reached the recorder: unknown tools, and calls refused earlier.

    They count in no rate, but show what the agent wanted, such as a tool that the pull request renamed.
    """
    return tuple(_of_log(logged, started_at) for logged in logged_tool_calls(events, server) if not logged.arrived)


def _of_log(logged: LoggedToolCall, started_at: float) -> Invocation:
    at = started_at + logged.call.at
    return Invocation(argv=logged.argv, status=logged.result.status, started_at=at, source="events")


def with_refused(
    recorded: Sequence[Invocation], events: Sequence[Event], server: str, started_at: float
) -> tuple[Invocation, ...]:
    """Return the recorded calls of Tidegate's own client; those whose answers it has refused have failed.

    The official SDK reads answers more strictly than the recorder. A call that the client did not send has failed, too.
    """
    failed = [one for one in logged_tool_calls(events, server) if one.arrived and one.result.status != "ok"]
    refused = Counter(one.argv for one in failed) - Counter(call.argv for call in recorded if call.status != "ok")
    found = list[Invocation]()
    for call in recorded:
        is_refused = call.status == "ok" and refused[call.argv] > 0
        refused[call.argv] -= is_refused
        found.append(call.model_copy(update={"status": "error"}) if is_refused else call)
    for one in failed:
        if refused[one.argv] > 0:
            refused[one.argv] -= 1
            found.append(_of_log(one, started_at))
    return tuple(found)


def was_never_found(invocations: Sequence[Invocation]) -> bool:
    """Return True if the shell never found the target that the agent called: PATH or the place is another one."""
    return bool(invocations) and all(call.source == "events" and call.exit_code == 127 for call in invocations)


def _may_be(recorded: Invocation, logged: LoggedCall, started_at: float) -> bool:
    """Return True if the arguments are equal and the call started while the logged command ran.

    A log that records a command only when it ends has no such time; then the arguments decide.
    """
    if recorded.argv != logged.call.argv:
        return False
    began, ended = logged.command.at, logged.result.at
    if ended <= began or logged.result.status == "background":
        return True
    return began - CLOCKS_SECS <= recorded.started_at - started_at <= ended + CLOCKS_SECS


def _invocation(logged: LoggedCall, started_at: float) -> Invocation:
    whole = _is_whole(logged.command.command or "", logged.call)
    return Invocation(
        argv=logged.call.argv,
        exit_code=logged.result.exit_code if whole else logged.exit_code,
        status=logged.result.status if whole else logged.status,
        started_at=started_at + logged.command.at,
        source="events",
    )


def _is_whole(command: str, call: ShellCall) -> bool:
    """Return True if the command consists of this call only, with its arguments as written."""
    if _EXPANDED & set(command):
        return False
    try:
        return shlex.split(command) == [call.program, *call.argv]
    except ValueError:
        return False
