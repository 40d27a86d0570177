"""Export trials as OpenTelemetry spans in OTLP JSON, with the semantic conventions for GenAI and for CLI programs.

An `invoke_agent` span has one `execute_tool` child per tool call. The calls of the tool under test are their children.
The GenAI conventions have the status "Development" at OpenTelemetry, so their names may change.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any, NamedTuple

from tidegate import __version__
from tidegate.model.event import End, Invocation, ToolCall, ToolResult
from tidegate.model.measurement import AgentInfo, Outcome
from tidegate.model.trial import Trial

_INTERNAL = 1  # SpanKind
_ERROR = 2  # StatusCode
_Json = dict[str, Any]


class ExportedTrial(NamedTuple):
    """A trial with data that its record does not contain."""

    trial: Trial
    outcome: Outcome | None
    agent: AgentInfo
    binary: str


def traces(trials: Iterable[ExportedTrial]) -> _Json:
    """Return an ExportTraceServiceRequest with one trace per trial whose agent was started."""
    spans = [span for told in trials if told.trial.agent_started_at for span in _spans(told)]
    scope = {"scope": {"name": "tidegate", "version": __version__}, "spans": spans}
    resource = {"attributes": _attributes({"service.name": "tidegate", "service.version": __version__})}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]}


def _spans(told: ExportedTrial) -> Iterator[_Json]:
    trial = told.trial
    trace = sha256(f"{trial.spec.id} {trial.agent_started_at}".encode()).hexdigest()[:32]
    root = _root(told, trace)
    tools = list(_tools(trial, trace, root["spanId"]))
    yield root
    yield from tools
    for number, call in enumerate(trial.invocations):
        # The latest tool call running at that time, else the agent: logs may be late, and processes outlive a call.
        parent = next((tool for tool in reversed(tools) if _holds(tool, call.started_at)), root)
        yield _invocation(call, trace, parent["spanId"], told.binary, number)


def _root(told: ExportedTrial, trace: str) -> _Json:
    trial, agent = told.trial, told.agent
    end = next((event for event in reversed(trial.events) if isinstance(event, End)), None)
    bad = trial.end != "completed"
    return _span(
        trace,
        "agent",
        f"invoke_agent {trial.spec.agent}",
        (trial.agent_started_at, trial.duration_s or 0.0),
        {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": trial.spec.agent,
            "gen_ai.agent.version": agent.version,
            "gen_ai.request.model": agent.model,
            "gen_ai.usage.input_tokens": end.tokens_in if end else None,
            "gen_ai.usage.output_tokens": end.tokens_out if end else None,
            "error.type": trial.end if bad else None,
            "tidegate.trial.id": trial.spec.id,
            "tidegate.agent.type": agent.type,
            "tidegate.outcome": told.outcome or "not_measured",
            "tidegate.cost_usd": end.cost_usd if end else None,
        },
        error=(trial.end_message or trial.end or "the agent was not started") if bad else None,
    )


def _tools(trial: Trial, trace: str, parent: str) -> Iterator[_Json]:
    results = {event.id: event for event in trial.events if isinstance(event, ToolResult)}
    for number, event in enumerate(trial.events):
        if isinstance(event, ToolCall):
            yield _tool(event, results.get(event.id), trial, trace, f"tool-{number}") | {"parentSpanId": parent}


def _tool(call: ToolCall, result: ToolResult | None, trial: Trial, trace: str, name: str) -> _Json:
    status = result.status if result else "unfinished"
    given = call.input or ({"command": call.command} if call.command else {})
    ended = result.at if result else trial.duration_s or call.at
    return _span(
        trace,
        name,
        f"execute_tool {call.tool}",
        (trial.agent_started_at + call.at, max(0.0, ended - call.at)),
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": call.tool,
            "gen_ai.tool.call.id": call.id,
            "gen_ai.tool.call.arguments": json.dumps(given, ensure_ascii=False),
            "gen_ai.tool.call.result": result.output if result else None,
            "process.exit.code": result.exit_code if result else None,
            "error.type": None if status == "ok" else status,
        },
        error=None if status == "ok" else status,
    )


def _invocation(call: Invocation, trace: str, parent: str, binary: str, number: int) -> _Json:
    name = binary.rpartition("/")[2]
    span = _span(
        trace,
        f"invocation-{number}",
        name,
        (call.started_at, call.duration_s or 0.0),
        {
            "process.executable.name": name,
            "process.command_args": [name, *call.argv],
            "process.exit.code": call.exit_code,
            "error.type": None if call.status == "ok" else call.status,
            "tidegate.source": call.source,
        },
        error=None if call.status == "ok" else call.status,
    )
    return span | {"parentSpanId": parent}


def _span(
    trace: str, name: str, title: str, time: tuple[float, float], attributes: _Json, *, error: str | None
) -> _Json:
    """Return one span; `time` is its start, in seconds since the epoch, and its duration in seconds."""
    start, length = time
    span = {
        "traceId": trace,
        "spanId": sha256(f"{trace} {name}".encode()).hexdigest()[:16],
        "name": title,
        "kind": _INTERNAL,
        "startTimeUnixNano": str(round(start * 1e9)),
        "endTimeUnixNano": str(round((start + length) * 1e9)),
        "attributes": _attributes(attributes),
    }
    return span if error is None else span | {"status": {"code": _ERROR, "message": error}}


def _holds(span: _Json, at: float) -> bool:
    return int(span["startTimeUnixNano"]) <= round(at * 1e9) <= int(span["endTimeUnixNano"])


def _attributes(attributes: _Json) -> list[_Json]:
    return [{"key": key, "value": _value(value)} for key, value in attributes.items() if value is not None]


def _value(value: object) -> _Json:
    """Return an OTLP AnyValue. OTLP JSON encodes integers as strings."""
    match value:
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case list():
            return {"arrayValue": {"values": [_value(each) for each in value]}}
        case _:
            return {"stringValue": str(value)}
