"""Turn a trial's events into the steps of a transcript: messages, and calls with their output."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from tidegate.model.event import ApiRetry, End, Event, Message, ToolCall, ToolResult, Warning
from tidegate.model.measurement import Call
from tidegate.model.value import Value
from tidegate.reports.step_calls import take


class Step(Value):
    """One step. Steps of two trials match if kind and title are equal. `ok` is None for steps that cannot fail.

    `calls` are the numbers, from 1, of the recorded calls of the tool under test that this step makes. These numbers
    are the steps of a divergence.
    """

    kind: Literal["message", "call", "note", "end"]
    title: str
    at: float | None = None  # seconds since the agent was started
    until: float | None = None  # when a call was answered
    ended: str = ""
    ok: bool | None = None
    text: str = ""
    calls: tuple[int, ...] = ()


def steps(events: Iterable[Event], calls: Sequence[Call]) -> tuple[Step, ...]:
    """Return the trial's steps; if the agent's log has no calls, the recorded calls take their place."""
    found = tuple(events)
    left = dict(enumerate(calls, 1))
    answers = {event.id: event for event in found if isinstance(event, ToolResult)}
    told = tuple(_step(event, answers, left) for event in found if not isinstance(event, ToolResult))
    if any(step.kind == "call" for step in told):
        return told
    recorded = (_called(number, call) for number, call in enumerate(calls, 1))
    return *(step for step in told if step.kind != "end"), *recorded, *(s for s in told if s.kind == "end")


def _step(event: Event, answers: dict[str, ToolResult], left: dict[int, Call]) -> Step:
    match event:
        case ToolCall():
            return _asked(event, answers.get(event.id), tuple(take(event, left)))
        case Message(at=at, text=text):
            return Step(kind="message", at=at, title=event.by, text=text)
        case ApiRetry(at=at, text=text):
            return Step(kind="note", at=at, title="the model was asked again", text=text)
        case Warning(at=at, text=text):
            return Step(kind="note", at=at, title="warning", text=text)
        case End(at=at, end=end, message=message):
            return Step(kind="end", at=at, title=f"ended: {end}", ok=end == "completed", text=message)
        case ToolResult():
            raise AssertionError("an answer belongs to its call")


def _asked(call: ToolCall, answer: ToolResult | None, made: tuple[int, ...]) -> Step:
    step = Step(kind="call", at=call.at, title=call.line, ended="no answer", calls=made)
    if answer is None:
        return step
    ended = {"ended": answer.ended, "ok": answer.status in ("ok", "background"), "text": answer.output}
    return step.model_copy(update={**ended, "until": answer.at if answer.at > call.at else None})


def _called(number: int, call: Call) -> Step:
    ok = call.status == "ok"
    return Step(kind="call", title=f"$ {call.command}", ended=call.ended, ok=ok, text=call.message, calls=(number,))
