"""Calls of the target that passed the recorder by, from the commands in the agent's own log."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence

from tidegate.agents.shell_lines import Call, shell_lines
from tidegate.interaction import subcommand
from tidegate.model.event import CallStatus, Event, ToolCall, ToolResult
from tidegate.model.suite import Target
from tidegate.model.trial import Invocation

_EXPANDED = frozenset("$`*?[{~\\")  # what a shell may make something else of
_NEVER_RAN: frozenset[CallStatus] = frozenset({"denied", "invalid", "not_executed"})


def passed_by(
    events: Sequence[Event], target: Target, recorded: Sequence[Invocation], started_at: float
) -> tuple[Invocation, ...]:
    """The calls that only the agent's log has: by a path, which PATH does not serve, or where PATH had been reset.

    A call by the bare name that is not in the record did not happen (`a || b`), unless it was all of a command that
    ran. A call is never counted twice: each recorded one answers for one of the log with the same arguments. The exit
    code is the shell's where the call was the whole command; else it is unknown.
    """
    left = Counter(call.argv for call in recorded)
    found = list(_calls(events, target.binary))
    unseen = []
    for call, event, result in sorted(found, key=lambda one: "/" in one[0].program):  # bare names have the first claim
        whole = _is_whole(event.command or "", call)
        if left[call.argv] > 0:
            left[call.argv] -= 1
        elif whole or "/" in call.program:
            unseen.append(
                Invocation(
                    argv=call.argv,
                    subcommand=subcommand(target.binary, call.argv, target.command_pattern),
                    exit_code=result.exit_code if whole else None,
                    status=result.status if whole else "unknown",
                    started_at=started_at + event.at,
                    source="events",
                )
            )
    return tuple(sorted(unseen, key=lambda call: call.started_at))


def _calls(events: Sequence[Event], binary: str) -> Iterator[tuple[Call, ToolCall, ToolResult]]:
    """The calls of the target in the commands that ran."""
    results = {event.id: event for event in events if isinstance(event, ToolResult)}
    name = binary.rpartition("/")[2]
    for event in events:
        if not isinstance(event, ToolCall) or not event.command or name not in event.command:
            continue
        result = results.get(event.id)
        if result is not None and result.status not in _NEVER_RAN:
            for line in shell_lines(event.command, binary):
                yield from ((call, event, result) for call in line.calls)


def _is_whole(command: str, call: Call) -> bool:
    """The call is all that the command does, and its arguments are as they are written."""
    if _EXPANDED & set(command):
        return False
    try:
        return shlex.split(command) == [call.program, *call.argv]
    except ValueError:
        return False
