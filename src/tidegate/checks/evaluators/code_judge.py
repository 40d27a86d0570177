"""The evaluator `code_judge`, and the document that its script reads."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any, Literal

from pydantic import Field

from tidegate.checks.evaluators.matching import ComparedCall, as_json, calls_of
from tidegate.checks.gates.assertion import parse_json
from tidegate.checks.gates.command_gate import what_went_wrong
from tidegate.checks.gates.fields import NonEmpty, ShellCommand
from tidegate.checks.rubrics.work import candidate_answer
from tidegate.model.evaluator import Evaluation, Evaluator, EvaluatorRecord, Score
from tidegate.model.event import CommandResult, Message, ToolCall, ToolResult
from tidegate.model.probe import Answer, CommandAnswer, RunJudge
from tidegate.text.shorten import excerpt

_CANNOT_BE_RUN = (126, 127)  # the shell's exit codes for a program that it cannot run


class CodeJudge(Evaluator):
    """Scores with your own script. The script reads the case and the answer as JSON on standard input (`question`,
    `expected_outcome`, `reference_answer`, `candidate_answer`, `input_messages`, `expected_messages`,
    `output_messages`, …) and prints `{score, hits, misses, reasoning}`.

    A script that prints nothing scores 1 if it exits with status 0, else 0, so `python -m py_compile x.py` works as a
    script. The evaluator is not measured if the output is anything else, the score is not a number from 0 to 1, or the
    script crashes or times out. A score with another status is a fault: a pass with it on head alone is a failure.

    `script` runs by `sh -c` in `cwd` (default: the scenario's folder) with the script variables in its environment;
    `TIDEGATE_FIXTURE_DIR` is the workspace. It is read in base's checkout, with all that lies beside it. Of a change,
    the comment lists files that the command names.
    """

    type: Literal["code_judge"] = "code_judge"
    script: ShellCommand
    cwd: NonEmpty | None = None
    timeout_secs: float = Field(default=60, gt=0, le=86_400)

    @property
    def scripts(self) -> tuple[tuple[str, str], ...]:
        """The script and its folder."""
        return ((self.script, self.cwd or "."),)

    def evaluate(self, record: EvaluatorRecord) -> Evaluation:
        """Run the script once."""
        answer = yield RunJudge(
            command=self.script,
            stdin=judge_document(record),
            folder=self.cwd or ".",
            timeout_secs=self.timeout_secs,
        )
        return judged(answer)


def judged(answer: Answer) -> Score:
    """Return the score that a judge's script printed."""
    if not isinstance(answer, CommandAnswer):
        return Score.unknown("the script was not run")
    result = answer.result
    if result.end != "exited" or result.exit_code in _CANNOT_BE_RUN:
        return Score.unknown(f"the script crashed: {what_went_wrong(result)}")
    if not result.stdout.strip():
        reason = "" if result.ok else what_went_wrong(result)
        return Score(value=float(result.ok), reason=reason, notes=("prints no score",))
    if result.truncated:
        return Score.unknown("the script's output was cut: print less")
    if not result.ok and result.stderr.strip():
        return Score.unknown(f"the script crashed: {what_went_wrong(result)}")
    return _said(result)


def _said(result: CommandResult) -> Score:
    try:
        said = parse_json(result.stdout)
    except ValueError:
        said = None
    if not isinstance(said, dict) or "score" not in said:
        return Score.unknown(f"the script printed no JSON with a `score`: {excerpt(result.stdout, 120)}")
    score = said["score"]
    if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
        return Score.unknown(f"the script's score is not a number: {excerpt(repr(score), 120)}")
    if not 0 <= score <= 1:
        return Score.unknown(f"the script's score is not between 0 and 1: {score}")
    misses = _texts(said.get("misses"))
    reasoning = said.get("reasoning")
    reason = excerpt(reasoning, 500) if isinstance(reasoning, str) and reasoning else "; ".join(misses)
    notes = [] if not result.exit_code else [f"prints a score and ends with exit {result.exit_code}"]
    notes += ["prints more than one score"] if result.stdout.count('"score"') > 1 else []
    return Score(value=score, reason=reason, hits=_texts(said.get("hits")), misses=misses, notes=tuple(notes))


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(excerpt(text) for text in value if isinstance(text, str)) if isinstance(value, list) else ()


def judge_document(record: EvaluatorRecord) -> str:
    """Return the case and the agent's answer as JSON."""
    case = record.case
    document = {
        "question": case.question or record.prompt,
        "expected_outcome": case.expected_outcome,
        "expected_messages": case.expected_messages,
        "reference_answer": case.reference_answer,
        "candidate_answer": candidate_answer(record.events),
        "output_messages": _output_messages(record),
        "guideline_files": case.guideline_files,
        "input_files": case.input_files,
        "input_messages": case.input_messages,
        "candidate_trace_summary": _summary(record),
    }
    return json.dumps(document, ensure_ascii=False, default=str).encode(errors="replace").decode()


def _output_messages(record: EvaluatorRecord) -> list[dict[str, Any]]:
    """Return the agent's messages, each with the calls that follow it. `toolCalls` is AgentV's older spelling."""
    outputs = {event.id: as_json(event.output) for event in record.events if isinstance(event, ToolResult)}
    messages: list[dict[str, Any]] = []
    for event in record.events:
        if isinstance(event, Message) and event.role == "assistant":
            messages.append({"role": "assistant", "content": event.text, **event.written})
        elif isinstance(event, ToolCall):
            if not messages:
                messages.append({"role": "assistant", "content": ""})
            arguments = event.input if event.command is None else {"command": event.command, **event.input}
            call = {"id": event.id, "tool": event.tool, "input": arguments, "output": outputs.get(event.id)}
            call |= event.written
            calls = messages[-1].setdefault("tool_calls", [])
            calls.append(call)
            messages[-1]["toolCalls"] = calls
    return messages


def _summary(record: EvaluatorRecord) -> dict[str, Any] | None:
    calls: tuple[ComparedCall, ...] | None = calls_of(record, [""])
    if calls is None:
        return None
    failed = sum(isinstance(event, ToolResult) and event.status in ("error", "timeout") for event in record.events)
    counts = Counter(call.tool for call in calls)
    return {
        "eventCount": len(calls),
        "toolNames": sorted(counts),
        "toolCallsByName": dict(counts),
        "errorCount": failed,
    }
