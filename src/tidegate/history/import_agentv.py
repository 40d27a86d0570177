"""Reads the result JSONL of AgentV, from 1.5 on: one line per case and target."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import AliasChoices, Field, JsonValue, ValidationError

from tidegate.agents.streams import agentv
from tidegate.history.imported_attempt import PastAttempt
from tidegate.model.evaluator import PASS, Score
from tidegate.model.event import End, Event
from tidegate.model.measurement import EvaluatorResult
from tidegate.model.value import Value
from tidegate.text.scores import score_text


class _Evaluator(Value, extra="ignore"):
    name: str
    type: str = ""
    score: float = Field(ge=0, le=1)
    weight: float = 1.0
    reasoning: str | None = None


class _Row(Value, extra="ignore"):
    """The keys that Tidegate reads from a line; the others repeat the case or hold raw model requests."""

    eval_id: str = Field(min_length=1, validation_alias=AliasChoices("eval_id", "test_id", "testId"))
    dataset: str | None = Field(default=None, validation_alias=AliasChoices("dataset", "suite"))
    target: str = "default"
    score: float = Field(ge=0, le=1)
    candidate_answer: str = Field(default="", validation_alias=AliasChoices("candidate_answer", "answer"))
    reasoning: str | None = None
    misses: tuple[str, ...] = ()
    error: str | None = None
    execution_status: str = Field(default="ok", validation_alias=AliasChoices("execution_status", "executionStatus"))
    timestamp: str = ""
    input: str | list[JsonValue] | None = None
    duration_ms: float | None = Field(default=None, validation_alias=AliasChoices("duration_ms", "durationMs"))
    cost_usd: float | None = Field(default=None, validation_alias=AliasChoices("cost_usd", "costUsd"))
    evaluator_results: tuple[_Evaluator, ...] | None = Field(
        default=None, validation_alias=AliasChoices("evaluator_results", "scores")
    )
    agent_provider_request: dict[str, JsonValue] | None = None
    lm_provider_request: dict[str, JsonValue] | None = None
    output_messages: list[JsonValue] | None = Field(
        default=None, validation_alias=AliasChoices("output_messages", "output")
    )
    trace: list[JsonValue] | dict[str, JsonValue] | None = None  # an object is a summary without the calls

    @property
    def problem(self) -> str | None:
        """Why the row was not measured; None if it was."""
        failed = self.execution_status == "execution_error"
        return self.error or ("AgentV reports an execution error" if failed else None)


def read(path: Path) -> list[PastAttempt]:
    """Return one attempt per line, in file order.

    Raises ValueError with the number of the first line that is not an AgentV result.
    """
    attempts = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.strip():
            try:
                attempts.append(_attempt(_Row.model_validate_json(line)))
            except ValidationError as error:
                first = error.errors(include_url=False, include_input=False)[0]
                place = "".join(f"{key}: " for key in first["loc"])
                raise ValueError(f"line {number} is not a result of AgentV: {place}{first['msg']}") from None
    return attempts


def _attempt(row: _Row) -> PastAttempt:
    """Convert a row to an attempt. A row with an error is not measured, although AgentV scores it 0."""
    problem = row.problem
    passed = round(row.score, 9) >= PASS
    said = row.reasoning or "; ".join(row.misses) or f"score {score_text(row.score)}"
    return PastAttempt(
        scenario=f"{row.dataset}/{row.eval_id}" if row.dataset else row.eval_id,
        agent=row.target.replace(":", "-"),
        outcome=None if problem else "pass" if passed else "fail",
        reason=problem or f"case score {score_text(row.score)}: {said}",
        prompt=_prompt(row),
        at=_seconds(row.timestamp),
        score=None if problem else row.score,
        duration_s=None if row.duration_ms is None else row.duration_ms / 1000,
        cost_usd=row.cost_usd,
        events=_events(row),
        evaluators=() if problem else tuple(map(_result, row.evaluator_results or ())),
    )


def _result(evaluator: _Evaluator) -> EvaluatorResult:
    return EvaluatorResult(
        name=evaluator.name,
        type=evaluator.type or "unknown",
        score=evaluator.score,
        verdict=Score(value=evaluator.score).verdict,
        weight=evaluator.weight,
        reason=evaluator.reasoning or "",
    )


def _events(row: _Row) -> tuple[Event, ...]:
    """Return the answer, the tool calls if the row has them (AgentV 1.5 omits them), and the end."""
    output: dict[str, Any] = {"text": row.candidate_answer}
    output |= {} if row.output_messages is None else {"output_messages": row.output_messages}
    output |= {"trace": row.trace} if isinstance(row.trace, list) else {}
    text = json.dumps(output)
    end = "crashed" if row.problem else "completed"
    return (*agentv.parse(text), End(end=end, message=row.problem or "", traced=agentv.is_traced(text)))


def _prompt(row: _Row) -> str:
    """Return the prompt from the row's input or the recorded model request, or "" if there is none."""
    if isinstance(row.input, str):
        return row.input
    for message in row.input or ():
        content = message.get("content") if isinstance(message, dict) and message.get("role") == "user" else None
        if isinstance(content, str):
            return content
    request = row.agent_provider_request or row.lm_provider_request or {}
    texts = (request.get(key) for key in ("question", "prompt"))
    return next((text for text in texts if isinstance(text, str)), "")


def _seconds(timestamp: str) -> float:
    """Return an ISO 8601 timestamp as Unix seconds, or 0.0 if it cannot be parsed."""
    try:
        return datetime.fromisoformat(timestamp).timestamp()
    except ValueError:
        return 0.0
