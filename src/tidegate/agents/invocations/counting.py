"""Which calls of the target count, in which order, and what they call."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from tidegate.model.event import COUNTED, CallStatus, Invocation
from tidegate.model.target import Target
from tidegate.text.patterns import PatternTooSlowError, search


def subcommand(binary: str, argv: Sequence[str], pattern: str | None) -> str | None:
    """Return the pattern's first group in the command line, else the first argument that is not an option."""
    try:
        match = search(pattern, shlex.join([binary, *argv])) if pattern else None
    except PatternTooSlowError:
        match = None
    if match and match.re.groups and match[1]:
        return match[1]
    return next((argument for argument in argv if argument and not argument.startswith("-")), None)


def as_defined(invocations: Sequence[Invocation], target: Target) -> tuple[Invocation, ...]:
    """Return the invocations with subcommands by the target's `command_pattern`, and failures by its `ok_statuses`."""
    pattern = None if target.mcp else target.command_pattern  # a server's subcommands are its tools
    return tuple(
        call.model_copy(
            update={"subcommand": subcommand(target.binary, call.argv, pattern), "status": _status(call, target)}
        )
        for call in invocations
    )


def _status(call: Invocation, target: Target) -> CallStatus:
    if call.exit_code is None or call.status not in ("ok", "error"):  # a server's tools have no exit code
        return call.status
    return "ok" if call.exit_code in target.ok_statuses else "error"


def is_help(argv: Sequence[str]) -> bool:
    """Return True if the call asks for help: `--help` or `-h` anywhere, or `help` as the first argument."""
    return "--help" in argv or "-h" in argv or (len(argv) > 0 and argv[0] == "help")


def _only_informs(argv: Sequence[str]) -> bool:
    """Return True if the call asks for help or for the tool's version."""
    return is_help(argv) or (len(argv) == 1 and argv[0] in ("--version", "-V", "-v", "version"))


def is_use(call: Invocation) -> bool:
    """Return True if the call was not denied and does more than print help or the version."""
    return call.status != "denied" and not _only_informs(call.argv)


def in_order(invocations: Sequence[Invocation]) -> tuple[Invocation, ...]:
    """Return the invocations sorted by start time."""
    return tuple(sorted(invocations, key=lambda call: call.started_at))


def counted(invocations: Sequence[Invocation]) -> tuple[Invocation, ...]:
    """Return the invocations that metrics count, sorted by start time: those that ended with a known status."""
    return tuple(call for call in in_order(invocations) if call.status in COUNTED)


def failed(invocation: Invocation) -> bool:
    """Return True if a counted invocation timed out or did not end with one of the target's `ok_statuses`."""
    return invocation.status in ("error", "timeout")
