"""Evaluators as scenario files name them, on records that a test writes as short as it can."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from tidegate.checks.evaluators import AnyEvaluator
from tidegate.checks.evaluators.assess import advance
from tidegate.model.evaluator import Evaluator, EvaluatorRecord, Score
from tidegate.model.event import CommandResult, End, Event, Invocation, Message, ToolCall, ToolResult
from tidegate.model.probe import Answer, CommandAnswer

EVALUATOR: TypeAdapter[Evaluator] = TypeAdapter(AnyEvaluator)


def record(
    *tools: str | tuple[str, Any, str], traced: bool = True, said: str = "", target: str = ""
) -> EvaluatorRecord:
    """The record of an agent that called these tools (or `(tool, input, output)`), and the target's subcommands."""
    events: list[Event] = [Message(text=said)] if said else []
    for number, tool in enumerate(tools):
        name, given, output = (tool, {}, "") if isinstance(tool, str) else tool
        events.append(ToolCall(id=str(number), tool=name, input=given, at=number))
        events.append(ToolResult(id=str(number), status="ok", output=output, at=number))
    calls = [
        Invocation(argv=(word, "x"), subcommand=word, exit_code=0, status="ok", started_at=100 + n + 0.5)
        for n, word in enumerate(target.split())
    ]
    events.append(End(end="completed", traced=traced))
    return EvaluatorRecord(
        binary="taskmgr", prompt="p", events=tuple(events), invocations=tuple(calls), agent_started_at=100
    )


def score(record: EvaluatorRecord, *answers: Answer, **fields: Any) -> Score:
    """The score that an evaluator of these fields gives to a record, with these answers."""
    step = advance(EVALUATOR.validate_python(fields), record, answers)
    assert isinstance(step, Score), f"it asks for more: {step}"
    return step


def exited(stdout: str = "", code: int = 0, **fields: Any) -> CommandAnswer:
    """What a command printed that ended by itself."""
    ended = {"command": "x", "end": "exited", "exit_code": code, "stdout": stdout, **fields}
    return CommandAnswer(result=CommandResult.model_validate(ended))
