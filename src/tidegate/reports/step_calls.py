"""Match the recorded calls of the tool under test with the agent's own calls that made them."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from functools import lru_cache

from tidegate.agents.invocations.from_log import tool_call
from tidegate.agents.invocations.shell_grammar import shell_lines
from tidegate.model.event import ToolCall
from tidegate.model.measurement import Call


def take(event: ToolCall, left: dict[int, Call]) -> dict[int, Call]:
    """Remove from `left` and return the recorded calls that this call of the agent makes, however they are quoted.

    `left`: the calls that no earlier event made, by their number from 1.
    """
    tool = next(iter(left.values())).command.partition(" ")[0] if left else ""
    found: dict[int, Call] = {}
    for argv in _argvs(event, tool) if tool else ():
        number = next((number for number, call in left.items() if _argv(call.command) == argv), None)
        if number is not None:
            found[number] = left.pop(number)
    return found


def _argvs(event: ToolCall, tool: str) -> Iterable[tuple[str, ...]]:
    """Return the arguments of each call of `tool`, in a command line or as an MCP server."""
    if event.command:
        return _argvs_of_shell(event.command, tool)
    asked = tool_call(event, tool)
    return [asked] if asked else ()


@lru_cache(maxsize=1024)  # trials of a row have many commands in common
def _argvs_of_shell(command: str, tool: str) -> tuple[tuple[str, ...], ...]:
    return tuple(made.argv for line in shell_lines(command, tool) for made in line.calls)


@lru_cache(maxsize=1024)  # each call is compared with every event until it is taken
def _argv(command: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(command)[1:])
    except ValueError:  # the command was truncated inside quotes
        return ()
