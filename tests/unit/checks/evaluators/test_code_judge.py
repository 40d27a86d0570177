"""Judges that are scripts: real ones, and every odd thing that one can print."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.make import typed
from tests.unit.checks.evaluators.records import exited, record, score
from tidegate.agents.streams.agentv import parse
from tidegate.checks.evaluators.assess import advance
from tidegate.checks.evaluators.code_judge import CodeJudge
from tidegate.model.evaluator import Case, EvaluatorRecord
from tidegate.model.probe import RunJudge

JUDGE = {"type": "code_judge", "script": "x"}


@pytest.mark.parametrize(
    ("stdout", "code", "stderr", "value"),
    [
        ('{"score": 0.9}', 0, "", 0.9),
        ('{"score": 0.9}', 1, "", 0.9),  # its word counts, as in AgentV
        ('{"score": 0.9}', 1, "Traceback", None),  # a crash with output
        ('{"score": 1}', 0, "a warning", 1),
        ("", 0, "", 1),
        ("", 1, "SyntaxError", 0),
        ("looks good to me", 0, "", None),
        ('{"verdict": "pass"}', 0, "", None),
        ("[1]", 0, "", None),
        ('{"score": 85}', 0, "", None),
        ('{"score": -0.1}', 0, "", None),
        ('{"score": "0.9"}', 0, "", None),
        ('{"score": true}', 0, "", None),
        ('{"score": null}', 0, "", None),
        ('{"score": NaN}', 0, "", None),
        ("", 127, "sh: no-such: not found", None),
    ],
)
def test_what_a_script_prints(stdout: str, code: int, stderr: str, value: float | None) -> None:
    given = score(record(), exited(stdout, code, stderr=stderr), **JUDGE)
    assert given.value == value
    assert given.missing == ("evaluator" if value is None else None)
    assert value == 1 or given.reason or stdout


@pytest.mark.parametrize(
    "end", [{"end": "timeout"}, {"end": "signal", "signal": 9}, {"end": "limit", "limit": "memory"}]
)
def test_a_script_that_did_not_end_by_itself_says_nothing(end: dict[str, Any]) -> None:
    assert score(record(), exited('{"score": 1}', exit_code=None, **end), **JUDGE).value is None


def test_words_of_the_script_are_kept() -> None:
    said = {"score": 0.5, "hits": ["a", 5], "misses": ["b"], "reasoning": "half of it"}
    given = score(record(), exited(json.dumps(said)), **JUDGE)
    assert (given.hits, given.misses, given.reason) == (("a",), ("b",), "half of it")


def test_the_script_is_told_the_case_and_the_answer() -> None:
    case = Case(expected_outcome="It is written down.", reference_answer="done")
    made = record(("search", {"q": 1}, "found"), said="I have done it").model_copy(update={"case": case})

    request = typed(RunJudge, advance(CodeJudge(type="code_judge", script="./judge.py", cwd="evals"), made, ()))
    assert (request.command, request.folder) == ("./judge.py", "evals")
    told = json.loads(request.stdin)
    assert (told["question"], told["expected_outcome"]) == ("p", "It is written down.")
    assert (told["reference_answer"], told["candidate_answer"]) == ("done", "I have done it")
    (message,) = told["output_messages"]
    assert message["tool_calls"] == message["toolCalls"]
    assert message["tool_calls"] == [{"id": "0", "tool": "search", "input": {"q": 1}, "output": "found"}]
    assert told["candidate_trace_summary"]["toolCallsByName"] == {"search": 1}
    assert told["candidate_trace_summary"]["eventCount"] == 1


def test_the_script_is_told_objects_as_objects() -> None:
    """A screening script reads the decision from the message's content and from a call's output, as in AgentV."""
    content = {"decision": "CLEAR", "riskLevel": "Low"}
    call = {"tool": "aml_screening_check", "input": {"id": 1}, "output": content, "timestamp": "2024-01-15T10:30:00Z"}
    message = {"role": "assistant", "content": content, "timestamp": "2024-01-15T10:31:00Z", "tool_calls": [call]}
    events = parse(json.dumps({"output_messages": [message]}))
    case = Case(question="Screen the customer.")
    made = EvaluatorRecord(binary="", prompt="@[User]:\nScreen the customer.", case=case, events=events)

    request = typed(RunJudge, advance(CodeJudge(type="code_judge", script="./judge.py"), made, ()))
    told = json.loads(request.stdin)
    (said,) = told["output_messages"]
    assert (said["content"], said["timestamp"]) == (content, "2024-01-15T10:31:00Z")
    assert (said["tool_calls"][0]["output"], said["tool_calls"][0]["timestamp"]) == (content, "2024-01-15T10:30:00Z")
    assert json.loads(told["candidate_answer"]) == content
    assert told["question"] == "Screen the customer."
