"""The output of an AgentV 1.5 provider in each of its forms, and AgentV's transcripts, `agentv.transcript.v1`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from typing import Any, get_args

from pydantic_core import from_json, to_json

from tidegate.agents.streams.events import plain
from tidegate.agents.streams.json_lines import Stream, bounded
from tidegate.model.event import Event, Message, ToolCall, ToolResult, Warning
from tidegate.text.json_keys import DoubledKeyError, unique_keys
from tidegate.text.shorten import MAX_CHARACTERS, last_part

_ROLES = get_args(Message.model_fields["role"].annotation)
_SHELLS = frozenset({"bash", "sh", "shell"})
_Json = dict[str, Any]


def parse(text: str) -> tuple[Event, ...]:
    """Return the messages, calls and results of the output, in order.

    A call without output has no result. A result's status is `unknown`, since the format does not have it.
    """
    try:
        output = from_json(text.strip(), allow_inf_nan=False)
    except ValueError:
        return plain(text)
    if not isinstance(output, dict) or not output.keys() & {"text", "output_messages", "trace"}:
        return plain(text)
    doubled = () if _is_unique(text) else (Warning(text="a key is twice in one object", unread=True),)
    return bounded((*doubled, *_events(output)))


def _is_unique(text: str) -> bool:
    try:
        json.loads(text, object_pairs_hook=unique_keys)
    except DoubledKeyError:
        return False
    return True


def is_traced(text: str) -> bool:
    """Return True if the output reports the agent's calls, even none: it has `output_messages` or a `trace`."""
    try:
        output = from_json(text.strip(), allow_inf_nan=False)
    except ValueError:
        return False
    return isinstance(output, dict) and any(isinstance(output.get(key), list) for key in ("output_messages", "trace"))


def _events(output: _Json) -> Iterator[Event]:
    numbers = count(1)
    said: str | None = None
    for number, message in enumerate(_list(output, "output_messages"), start=1):
        for event in _message(message, f"output_messages[{number - 1}]", numbers):
            said = event.text if isinstance(event, Message) else said
            yield event
    yield from _trace(_list(output, "trace"), numbers)
    for event in plain(_words(output.get("text"))):
        if isinstance(event, Message) and event.text != said:
            yield event


def _list(output: _Json, key: str) -> list[Any]:
    """Return the list at the key. Any other value becomes one invalid item, which later causes a warning."""
    value = output.get(key)
    return value if isinstance(value, list) else [] if value is None else [None]


def _message(message: object, place: str, numbers: Iterator[int]) -> Iterator[Event]:
    if not isinstance(message, dict):
        yield Warning(text=f"{place} is not a message", unread=True)
        return
    role, words = message.get("role", "assistant"), _words(message.get("content"))
    if role not in _ROLES:
        yield Warning(text=f"{place} has an unknown role", unread=True)
    elif words:
        kept = {key: value for key, value in message.items() if key not in ("role", "tool_calls")}
        if isinstance(kept.get("content"), str):
            del kept["content"]
        too_long = len(to_json(kept)) > MAX_CHARACTERS
        yield Message(role=role, text=last_part(words), written={} if too_long else kept)
        if too_long:
            yield Warning(text=f"{place} has fields that are too long, and are left out", unread=True)
    for number, call in enumerate(_list(message, "tool_calls")):
        yield from _call(call, "tool", f"{place}.tool_calls[{number}]", numbers)


def _trace(trace: list[Any], numbers: Iterator[int]) -> Iterator[Event]:
    """Yield the events of the older form: calls and results are separate entries, joined by id or else by order."""
    latest = ""
    for number, entry in enumerate(trace):
        place = f"trace[{number}]"
        kind = entry.get("type") if isinstance(entry, dict) else None
        if kind == "tool_call":
            for event in _call(entry, "name" if "name" in entry else "tool", place, numbers):
                latest = event.id if isinstance(event, ToolCall) else latest
                yield event
        elif kind == "tool_result":
            identity = entry.get("id")
            yield _result(identity if isinstance(identity, str) else latest, entry.get("output"))
        elif kind == "message":
            yield from plain(_words(entry.get("text")))
        else:
            yield Warning(text=f"{place} is neither a tool call nor a tool result", unread=True)


def _call(call: object, key: str, place: str, numbers: Iterator[int]) -> Iterator[Event]:
    """Yield a call, and its result if it has output."""
    number = next(numbers)
    if not isinstance(call, dict) or not isinstance(tool := call.get(key), str):
        yield Warning(text=f"{place} is not a tool call", unread=True)
        return
    identity = call.get("id")
    identity = identity if isinstance(identity, str) else f"call-{number:03d}"
    given = call.get("input")
    arguments: _Json = given if isinstance(given, dict) else {} if given is None else {"input": given}
    line = arguments.get("command") if tool.lower() in _SHELLS else None
    stamp = {"timestamp": call["timestamp"]} if isinstance(call.get("timestamp"), str) else {}
    command = line if isinstance(line, str) else None
    yield ToolCall(id=identity, tool=tool, input=arguments, command=command, written=stamp)
    if call.get("output") is not None:
        yield _result(identity, call["output"])


def _result(identity: str, output: object) -> ToolResult:
    return ToolResult(id=identity, status="unknown", output=last_part(_words(output)))


def _words(content: object) -> str:
    """Return content as text: a string unchanged, a list of typed parts as their values, anything else as JSON."""
    match content:
        case None:
            return ""
        case str():
            return content
        case list() if content and all(isinstance(part, dict) and isinstance(_value(part), str) for part in content):
            return "\n".join(_value(part) for part in content)
        case _:
            return to_json(content).decode()


def _value(part: _Json) -> Any:
    return part.get("value", part.get("text"))


STREAM = Stream(parse, names=("agentv",))
