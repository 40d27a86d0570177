"""The calls that evaluators compare with an expectation: of the agent's tools, or of the tool under test."""

from __future__ import annotations

import shlex
from collections.abc import Collection
from typing import Any

from tidegate.agents.invocations.metrics import in_order
from tidegate.checks.gates.json_text import parse_json
from tidegate.model.evaluator import Record
from tidegate.model.event import ToolCall, ToolResult, is_traced
from tidegate.model.value import Value

NO_TRACE = "the agent does not tell which tools it called"


class Call(Value):
    """One call: `bash`, `mcp__db__query`, or a subcommand of the tool under test, such as `taskmgr:add`.

    A call of the tool under test has the input `{argv, command}` and the output `{exit_code, status}`.
    """

    tool: str
    input: dict[str, Any] = {}
    output: Any = None
    at: float = 0.0


def calls_of(record: Record, names: Collection[str]) -> tuple[Call, ...] | None:
    """Return the calls of the kinds that the names belong to (agent's tools, tool under test), in order of time.

    None if the agent's tools are needed and the agent does not report its calls, which differs from no calls.
    """
    of_target = {name for name in names if is_of_target(record.binary, name)}
    calls = _target_calls(record) if of_target else []
    if set(names) - of_target:
        if not is_traced(record.events):
            return None
        calls += _agent_calls(record)
    return tuple(sorted(calls, key=lambda call: call.at))


def is_of_target(binary: str, name: str) -> bool:
    """Return True if the name is that of the tool under test, or of one of its subcommands."""
    return bool(binary) and name.partition(":")[0] == binary.rpartition("/")[2]


def _agent_calls(record: Record) -> list[Call]:
    outputs = {event.id: event.output for event in record.events if isinstance(event, ToolResult)}
    return [
        Call(tool=event.tool, input=_input(event), output=as_json(outputs.get(event.id)), at=event.at)
        for event in record.events
        if isinstance(event, ToolCall)
    ]


def _input(call: ToolCall) -> dict[str, Any]:
    return call.input if call.command is None else {"command": call.command, **call.input}


def as_json(text: str | None) -> Any:
    """Return the output parsed as JSON if it is an object or a list, else as text."""
    if text is None or not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return parse_json(text)
    except ValueError:
        return text


def _target_calls(record: Record) -> list[Call]:
    name = record.binary.rpartition("/")[2]
    return [
        Call(
            tool=f"{name}:{call.subcommand}" if call.subcommand else name,
            input={"argv": list(call.argv), "command": shlex.join([name, *call.argv])},
            output={"exit_code": call.exit_code, "status": call.status},
            at=call.started_at - record.agent_started_at,
        )
        for call in in_order(record.invocations)
    ]
