"""The JSON document that a judge script reads on standard input, with AgentV 1.5's field names."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from tidegate.checks.evaluators.matching import ComparedCall, as_json, calls_of
from tidegate.checks.rubrics.work import candidate_answer
from tidegate.model.evaluator import EvaluatorRecord
from tidegate.model.event import Message, ToolCall, ToolResult


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
