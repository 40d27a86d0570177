"""Trajectories of SWE-agent (`.traj`) and mini-swe-agent (`.traj.json`), which are one JSON object."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pydantic_core import from_json

from tidegate.model.event import End, Event, Message, ToolCall, ToolResult, Warning
from tidegate.streams.damage import bounded
from tidegate.streams.json_lines import status_of
from tidegate.streams.json_values import Json, amount, count, items, mapping, text, words
from tidegate.streams.stream import Stream
from tidegate.text.shorten import last_part

_BLOCK = re.compile(r"```(?:bash|sh|mswea_bash_command)\s*\n(.*?)\n```", re.DOTALL)
_RETURN_CODE = re.compile(r"<returncode>(-?\d{1,3})</returncode>")


def parse(document: str) -> tuple[Event, ...]:
    """Return the events of a trajectory. SWE-agent has no exit codes: the status of its calls is unknown."""
    if not document.strip():
        return ()
    try:
        data = from_json(document.strip(), allow_inf_nan=False)
    except ValueError as error:
        return (Warning(text=f"the trajectory is not JSON: {error}"),)
    if isinstance(data, dict) and "trajectory" in data and items(data, "trajectory"):
        return bounded([*_steps(data), *_end(data)])
    if isinstance(data, dict) and "mini-swe-agent" in text(data, "trajectory_format"):
        return bounded([*_messages(items(data, "messages")), *_end(data)])
    return (Warning(text="this is not a trajectory of SWE-agent or mini-swe-agent"),)


def _steps(data: Json) -> Iterator[Event]:
    asked = next((text(m, "content") for m in items(data, "history") if m.get("role") == "user"), "")
    if asked:
        yield Message(role="user", text=last_part(asked))
    for number, step in enumerate(items(data, "trajectory"), 1):
        if said := text(step, "thought") or text(step, "response"):
            yield Message(text=last_part(said))
        if action := text(step, "action").strip():
            yield ToolCall(id=f"step-{number}", tool="bash", command=action)
            yield ToolResult(id=f"step-{number}", status="unknown", output=last_part(text(step, "observation")))


def _messages(messages: list[Json]) -> Iterator[Event]:
    """Yield the events of a conversation. Observations follow their calls, with or without an id."""
    waiting: list[str] = []
    for number, message in enumerate(messages):
        said, role = words(message.get("content")), message.get("role")
        if role == "assistant":
            if said:
                yield Message(text=last_part(said))
            for identity, command in _actions(message, said, number):
                waiting.append(identity)
                yield ToolCall(id=identity, tool="bash", command=command)
        elif waiting and role in ("tool", "user"):
            named = text(message, "tool_call_id")
            identity = named if named in waiting else waiting[0]
            waiting.remove(identity)
            yield _observation(identity, message, said)
        elif said and role in ("user", "system"):
            yield Message(role="user" if role == "user" else "system", text=last_part(said))
    yield from (ToolResult(id=identity, status="unfinished") for identity in waiting)


def _actions(message: Json, said: str, number: int) -> Iterator[tuple[str, str]]:
    """Yield the id and the command of each call: of `tool_calls`, or of the code blocks in the text."""
    calls = items(message, "tool_calls")
    for place, call in enumerate(calls):
        try:
            given = from_json(text(mapping(call, "function"), "arguments") or "{}")
        except ValueError:
            continue  # the agent is told so, and nothing is run
        if isinstance(given, dict) and (command := text(given, "command")):
            yield text(call, "id") or f"call-{number}-{place}", command
    if not calls:
        yield from ((f"call-{number}-{place}", block) for place, block in enumerate(_BLOCK.findall(said)))


def _observation(identity: str, message: Json, said: str) -> ToolResult:
    extra = mapping(message, "extra")
    told = _RETURN_CODE.search(said)
    code = extra.get("returncode", int(told[1]) if told else None)
    if not isinstance(code, int) or isinstance(code, bool) or code < 0:  # -1: it was not run, or timed out
        return ToolResult(id=identity, status="unknown", output=last_part(said))
    output = text(extra, "raw_output") or said
    return ToolResult(id=identity, status=status_of(code), exit_code=code, output=last_part(output))


def _end(data: Json) -> Iterator[Event]:
    info = mapping(data, "info")
    status, used = text(info, "exit_status"), mapping(info, "model_stats")
    if status:
        done = status.lower().startswith("submitted")
        yield End(
            end="completed" if done else "crashed",
            message="" if done else status[:80],
            turns=count(used, "api_calls"),
            tokens_in=count(used, "tokens_sent"),
            tokens_out=count(used, "tokens_received"),
            cost_usd=amount(used, "instance_cost"),
        )


STREAM = Stream(parse, is_transcript=True, names=("swe-agent",))
