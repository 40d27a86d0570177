"""Export a trial as an ATIF v1.7 trajectory, for other tools (Harbor, RFC 0001).

Data without a field in the format goes to `extra`: exit codes and statuses with each result; how the agent ended and
the recorded calls of the tool under test at the root. `tidegate.streams.atif` reads all of it back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tidegate import __version__
from tidegate.model.event import ApiRetry, End, Event, Message, ToolCall, ToolResult, Warning
from tidegate.model.measurement import AgentInfo
from tidegate.model.trial import Trial
from tidegate.streams.atif import EXTRA

SCHEMA = "ATIF-v1.7"
_Json = dict[str, Any]


def trajectory(trial: Trial, prompt: str, agent: AgentInfo) -> _Json:
    """Return the trial as an ATIF document; `prompt` is its first step."""
    steps = [_step(1, "user", prompt), *_steps(trial.events)]
    end = next((event for event in reversed(trial.events) if isinstance(event, End)), None)
    return {
        "schema_version": SCHEMA,
        "session_id": trial.spec.id,
        "agent": _there(name=agent.type, version=agent.version or "unknown", model_name=agent.model),
        "steps": steps,
        "final_metrics": _totals(end, len(steps)),
        "extra": {EXTRA: _own(trial, end)},
    }


def _own(trial: Trial, end: End | None) -> _Json:
    calls = [
        _there(argv=list(call.argv), exit_code=call.exit_code, status=call.status, source=call.source)
        for call in trial.invocations
    ]
    ended = {"end": trial.end, "end_message": trial.end_message, "turns": end.turns if end else None}
    return _there(version=__version__, not_measured=trial.not_measured, **ended, invocations=calls)


def _totals(end: End | None, steps: int) -> _Json:
    if end is None:
        return {"total_steps": steps}
    return _there(
        total_prompt_tokens=end.tokens_in,
        total_completion_tokens=end.tokens_out,
        total_cached_tokens=end.tokens_cache_read,
        total_cost_usd=end.cost_usd,
        total_steps=steps,
    )


def _steps(events: Iterable[Event]) -> Iterator[_Json]:
    """Yield the steps. An agent's message and the calls after it are one step; a call after a result begins another."""
    steps: list[_Json] = []
    of_call: dict[str, _Json] = {}
    for event in events:
        match event:
            case Message(role=role, text=said):
                steps.append(_step(len(steps) + 2, "agent" if role == "assistant" else role, said))
            case ToolCall():
                if not steps or steps[-1]["source"] != "agent" or "observation" in steps[-1]:
                    steps.append(_step(len(steps) + 2, "agent", ""))
                steps[-1].setdefault("tool_calls", []).append(_call(event))
                of_call[event.id] = steps[-1]
            case ToolResult() if event.id in of_call:
                observed = of_call[event.id].setdefault("observation", {"results": []})
                observed["results"].append(_result(event))
            case Warning(type=kind, text=said) | ApiRetry(type=kind, text=said):
                steps.append(_step(len(steps) + 2, "system", said) | {"extra": {EXTRA: {"type": kind}}})
            case _:
                pass
    yield from steps


def _step(number: int, source: str, said: str) -> _Json:
    return {"step_id": number, "source": source, "message": said}


def _call(call: ToolCall) -> _Json:
    given = call.input or ({"command": call.command} if call.command else {})
    extra = _there(command=call.command, at=call.at)
    return {"tool_call_id": call.id, "function_name": call.tool, "arguments": given, "extra": extra}


def _result(result: ToolResult) -> _Json:
    extra = _there(status=result.status, exit_code=result.exit_code, at=result.at)
    return {"source_call_id": result.id, "content": result.output, "extra": extra}


def _there(**fields: object) -> _Json:
    return {name: value for name, value in fields.items() if value is not None}
