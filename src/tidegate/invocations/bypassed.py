"""Calls of the target that passed the recorder by, from the commands in the agent's own log."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from tidegate.invocations.from_log import LoggedCall, logged_calls, logged_tool_calls
from tidegate.invocations.metrics import subcommand
from tidegate.invocations.shell_grammar import Call
from tidegate.model.event import Event
from tidegate.model.suite import Target
from tidegate.model.trial import Invocation

_EXPANDED = frozenset("$`*?[{~\\")  # what a shell may make something else of
CLOCKS_SECS = 5.0  # that the log may tell too early or too late: agents buffer, and machines are busy


def bypassed(
    events: Sequence[Event], target: Target, recorded: Sequence[Invocation], started_at: float
) -> tuple[Invocation, ...]:
    """The calls that only the agent's log has: by a path, which PATH does not serve, or where PATH had been reset.

    A call by the bare name that is not in the record did not happen (`a || b`), unless it was all of a command that
    ran. A call is never counted twice: each recorded one answers for one of the log with the same arguments, if it
    was made while that command ran. The exit code is the shell's where the call was the whole command; else it is
    unknown. `started_at`: when the log's times begin, in seconds since the epoch.
    """
    left = list(recorded)
    unseen = []
    found = sorted(logged_calls(events, target.binary), key=lambda logged: "/" in logged.call.program)
    for logged in found:  # bare names have the first claim
        answer = next((call for call in left if _may_be(call, logged, started_at)), None)
        if answer is not None:
            left.remove(answer)
            continue
        whole = _is_whole(logged.command.command or "", logged.call)
        if whole or "/" in logged.call.program:
            unseen.append(_invocation(logged, target, started_at, whole=whole))
    return tuple(sorted(unseen, key=lambda call: call.started_at))


def never_arrived(events: Sequence[Event], server: str, started_at: float) -> tuple[Invocation, ...]:
    """The calls of an MCP server's tools that its recorder cannot have: of a tool that there is not, or refused before.

    They count in no rate, and tell what the agent wanted: a tool that the pull request has renamed.
    """
    return tuple(
        Invocation(
            argv=logged.argv,
            subcommand=logged.argv[0],
            status=logged.result.status,
            started_at=started_at + logged.call.at,
            source="events",
        )
        for logged in logged_tool_calls(events, server)
        if not logged.arrived
    )


def was_never_found(invocations: Sequence[Invocation]) -> bool:
    """The agent has called the target, and its shell did not find it once: it had another PATH than it was given."""
    return bool(invocations) and all(call.source == "events" and call.exit_code == 127 for call in invocations)


def _may_be(recorded: Invocation, logged: LoggedCall, started_at: float) -> bool:
    """The same arguments, at a time when the command ran; a log that tells a command when it ends has no such time."""
    if recorded.argv != logged.call.argv:
        return False
    began, ended = logged.command.at, logged.result.at
    if ended <= began or logged.result.status == "background":
        return True
    return began - CLOCKS_SECS <= recorded.started_at - started_at <= ended + CLOCKS_SECS


def _invocation(logged: LoggedCall, target: Target, started_at: float, *, whole: bool) -> Invocation:
    argv = logged.call.argv
    return Invocation(
        argv=argv,
        subcommand=subcommand(target.binary, argv, target.command_pattern),
        exit_code=logged.result.exit_code if whole else None,
        status=logged.result.status if whole else "unknown",
        started_at=started_at + logged.command.at,
        source="events",
    )


def _is_whole(command: str, call: Call) -> bool:
    """The call is all that the command does, and its arguments are as they are written."""
    if _EXPANDED & set(command):
        return False
    try:
        return shlex.split(command) == [call.program, *call.argv]
    except ValueError:
        return False
