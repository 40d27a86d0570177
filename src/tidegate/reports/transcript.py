"""The steps of a trial: the agent's messages and calls, each with the recorded calls of the tool that it makes."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal

from tidegate.agents.invocations.from_log import tool_call
from tidegate.agents.invocations.shell_grammar import shell_lines
from tidegate.model.event import ApiRetry, End, Event, Message, ToolCall, ToolResult, Warning
from tidegate.model.measurement import Call
from tidegate.model.value import Value


class TranscriptStep(Value):
    """One step. Steps of two trials match if kind and title are equal. `ok` is None for steps that cannot fail.

    `calls` are the numbers, from 1, of the recorded calls of the tool under test that this step makes. These numbers
    are the steps of a divergence.
    """

    kind: Literal["message", "call", "note", "end"]
    title: str
    at: float | None = None  # seconds since the agent was started
    ended: str = ""
    ok: bool | None = None
    text: str = ""
    calls: tuple[int, ...] = ()


def steps(events: Iterable[Event], calls: Sequence[Call]) -> tuple[TranscriptStep, ...]:
    """Return the trial's steps; if the agent's log has no calls, the recorded calls take their place."""
    found = tuple(events)
    left = dict(enumerate(calls, 1))
    answers = {event.id: event for event in found if isinstance(event, ToolResult)}
    told = tuple(_step_of_event(event, answers, left) for event in found if not isinstance(event, ToolResult))
    if any(step.kind == "call" for step in told):
        return told
    recorded = (_called(number, call) for number, call in enumerate(calls, 1))
    return *(step for step in told if step.kind != "end"), *recorded, *(s for s in told if s.kind == "end")


def _step_of_event(event: Event, answers: dict[str, ToolResult], left: dict[int, Call]) -> TranscriptStep:
    match event:
        case ToolCall():
            return _asked(event, answers.get(event.id), tuple(take(event, left)))
        case Message(at=at, text=text):
            return TranscriptStep(kind="message", at=at, title=event.by, text=text)
        case ApiRetry(at=at, text=text):
            return TranscriptStep(kind="note", at=at, title="the model was asked again", text=text)
        case Warning(at=at, text=text):
            return TranscriptStep(kind="note", at=at, title="warning", text=text)
        case End(at=at, end=end, message=message):
            title = f"the agent ended: {end.replace('_', ' ')}"
            return TranscriptStep(kind="end", at=at, title=title, ok=end == "completed", text=message)
        case ToolResult():
            raise AssertionError("an answer belongs to its call")


def _asked(call: ToolCall, answer: ToolResult | None, made: tuple[int, ...]) -> TranscriptStep:
    step = TranscriptStep(kind="call", at=call.at, title=call.line, ended="no answer", calls=made)
    if answer is None:
        return step
    ok = answer.status in ("ok", "background")
    return step.model_copy(update={"ended": answer.ended, "ok": ok, "text": answer.output})


def _called(number: int, call: Call) -> TranscriptStep:
    ok = call.status == "ok"
    return TranscriptStep(
        kind="call", title=f"$ {call.command}", ended=call.ended, ok=ok, text=call.message, calls=(number,)
    )


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
