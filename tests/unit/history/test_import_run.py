"""Results of other tools, imported as a stored run."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tidegate.errors import ConfigurationError
from tidegate.history.import_run import import_run
from tidegate.history.report_files import compare_runs
from tidegate.history.run_folder import RunFolder, load_run
from tidegate.model.event import End, Message, ToolCall, ToolResult
from tidegate.reports.comment import comment_body
from tidegate.reports.terminal import score_table

ROW: dict[str, Any] = {
    "timestamp": "2026-01-02T03:04:05Z",
    "eval_id": "tides",
    "dataset": "research",
    "score": 0.9,
    "hits": ["the moon"],
    "misses": [],
    "candidate_answer": "The moon.",
    "target": "default",
    "reasoning": "Names it.",
    "agent_provider_request": {"question": "What makes tides?"},
    "evaluator_results": [{"name": "answer", "type": "llm_judge", "score": 0.9, "weight": 2, "verdict": "pass"}],
    "trace_summary": {"eventCount": 0, "toolNames": [], "toolCallsByName": {}, "errorCount": 0},
}


def write(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_results_of_agentv(tmp_path: Path) -> None:
    low = ROW | {"score": 0.79, "reasoning": None, "misses": ["the sun"]}
    broken = ROW | {"eval_id": "storms", "score": 0, "error": "the target was not there"}
    source = write(tmp_path / "results.jsonl", ROW, low, broken)

    run = import_run(source, tmp_path / "run")

    assert load_run(tmp_path / "run") == run
    first, second, third = run.trials
    assert [(trial.scenario, trial.agent, trial.index) for trial in run.trials] == [
        ("research/tides", "default", 1),
        ("research/tides", "default", 2),
        ("research/storms", "default", 1),
    ]
    assert (first.outcome, first.case_score, first.reason) == ("pass", 0.9, "case score 0.90: Names it.")
    assert [(one.name, one.type, one.score, one.weight) for one in first.evaluators] == [
        ("answer", "llm_judge", 0.9, 2)
    ]
    assert (second.outcome, second.reason) == ("fail", "case score 0.79: the sun")
    assert (third.outcome, third.not_measured, third.reason) == (None, "infrastructure", "the target was not there")
    assert run.started_at == 1767323045
    folder = RunFolder(tmp_path / "run")
    assert folder.prompt(first.spec) == "What makes tides?"
    assert list(folder.events(first.spec)) == [Message(text="The moon."), End(end="completed", traced=False)]


def test_calls_that_a_line_tells_are_a_trace(tmp_path: Path) -> None:
    calls = [{"tool": "search", "input": {"q": "tides"}, "output": "found"}]
    row = ROW | {"output_messages": [{"role": "assistant", "content": "The moon.", "tool_calls": calls}]}
    run = import_run(write(tmp_path / "results.jsonl", row), tmp_path / "run")
    events = list(RunFolder(tmp_path / "run").events(run.trials[0].spec))
    assert [event.tool for event in events if isinstance(event, ToolCall)] == ["search"]
    assert events[-1] == End(end="completed")


EVENTS = """\
{"ts": 1, "event": "spawn", "command": "agent"}
{"ts": 2, "event": "tool_call", "tool": "bash", "command": "taskmgr add x"}
{"ts": 3, "event": "tool_result", "output": "no such list", "exit_code": 2}
{"ts": 4, "event": "output", "text": "Done."}
{"ts": 5, "event": "complete", "exit_code": 0, "duration_secs": 3}
"""
METRICS = {
    "gates_passed": 1,
    "gates_total": 2,
    "details": [
        {"gate_type": "CommandSucceeds", "passed": True, "message": "exit 0"},
        {"gate_type": "FileExists", "passed": False, "message": "no out.txt"},
    ],
}


def leave(root: Path, name: str, events: str = EVENTS, metrics: dict[str, Any] | None = METRICS) -> Path:
    (root / name / "artifacts").mkdir(parents=True)
    (root / name / "artifacts/events.jsonl").write_text(events)
    if metrics is not None:
        (root / name / "metrics.json").write_text(json.dumps(metrics))
    return root / name


def test_metrics_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    leave(tmp_path / "results", "20260206-121314-mock-m-create_tasks", metrics={"gates_total": "many"})

    (trial,) = import_run(tmp_path / "results", tmp_path / "run").trials

    assert (trial.outcome, trial.reason) == (None, "its metrics.json cannot be read")


def test_folders_of_llm_tool_test(tmp_path: Path) -> None:
    results = tmp_path / "results"
    leave(results, "20260206-101112-claude-code-claude-haiku-4-5-create_tasks")
    leave(results, "20260206-111213-opencode-create_tasks", metrics=METRICS | {"gates_passed": 2, "details": []})
    leave(results, "20260206-121314-mock-m-create_tasks", metrics=None)

    run = import_run(results, tmp_path / "run")

    first, second, third = run.trials
    assert [(trial.scenario, trial.agent) for trial in run.trials] == [
        ("create_tasks", "claude-code"),
        ("create_tasks", "opencode"),
        ("create_tasks", "mock"),
    ]
    assert run.agents["claude-code"].model == "claude-haiku-4-5"
    assert (first.outcome, first.reason) == ("fail", "file_exists: no out.txt")
    assert [(gate.type, gate.passed) for gate in first.gates] == [("command_succeeds", True), ("file_exists", False)]
    assert second.outcome == "pass"
    assert (third.outcome, third.reason) == (None, "it has no metrics.json, so no gate was decided")
    assert list(RunFolder(tmp_path / "run").events(first.spec)) == [
        ToolCall(id="call-001", tool="bash", command="taskmgr add x"),
        ToolResult(id="call-001", status="error", exit_code=2, output="no such list"),
        Message(text="Done."),
        End(end="completed", at=3),
    ]


SPECIFIED = """\
{"ts": 1705500000.123, "event": "spawn", "command": "opencode", "args": ["--prompt", "..."]}
{"ts": 1705500001.456, "event": "output", "text": "I'll work on this task...\\n"}
{"ts": 1705500005.789, "event": "tool_call", "tool": "bash", "command": "my-tool create \\"Main Concept\\""}
{"ts": 1705500006.012, "event": "tool_result", "output": "Created item abc123\\n", "exit_code": 0}
{"ts": 1705500030.000, "event": "complete", "exit_code": 0, "duration_secs": 30.0}
"""


def test_the_event_log_of_the_specification_gives_its_metrics(tmp_path: Path) -> None:
    one = leave(tmp_path, "20260206-101112-opencode-s", SPECIFIED)
    (trial,) = import_run(one, tmp_path / "run", binary="my-tool").trials
    metrics = trial.metrics
    assert (metrics.command_count, metrics.error_count, metrics.completed, metrics.duration_s) == (1, 0, True, 30.0)
    assert (metrics.error_rate, metrics.first_try_success_rate) == (0, 1)
    assert trial.invocations.events == 1


def test_what_an_imported_log_does_not_tell_is_none(tmp_path: Path) -> None:
    """Neither a number of calls, without the tool's name, nor an end."""
    cut = "".join(SPECIFIED.splitlines(keepends=True)[:4])
    (trial,) = import_run(leave(tmp_path, "20260206-101112-opencode-s", cut), tmp_path / "run").trials
    metrics = trial.metrics
    assert (metrics.command_count, metrics.error_count, metrics.help_count) == (None, None, None)
    assert (metrics.completed, metrics.duration_s, trial.end) == (None, None, None)
    assert trial.invocations.not_counted is None


def test_a_run_that_left_its_transcript_alone(tmp_path: Path) -> None:
    one = tmp_path / "20260206-101112-opencode-s/artifacts"
    one.mkdir(parents=True)
    (one / "transcript.raw.txt").write_text("$ my-tool create a\nno\nexit code 1\n")
    (trial,) = import_run(tmp_path, tmp_path / "run", binary="my-tool").trials
    assert (trial.scenario, trial.metrics.command_count) == ("s", None)


def test_what_llm_tool_test_really_writes_tells_no_calls(tmp_path: Path) -> None:
    lines = [
        {"type": "setup_command", "index": 0, "command": "x", "exit_code": 0, "output": "", "success": True},
        {"type": "execution", "tool": "mock", "output": "I am done.", "exit_code": 1},
    ]
    one = leave(tmp_path, "20260206-101112-mock-m-s", "".join(json.dumps(line) + "\n" for line in lines))
    run = import_run(one / "artifacts/events.jsonl", tmp_path / "run")
    assert list(RunFolder(tmp_path / "run").events(run.trials[0].spec)) == [
        Message(text="I am done."),
        End(end="crashed", message="exit 1", traced=False),
    ]


def test_two_imports_are_compared_without_a_word_on_how_to_run_them_again(tmp_path: Path) -> None:
    for name, score in (("base", 0.9), ("head", 0.2)):
        rows = [ROW | {"score": score}] * 5
        import_run(write(tmp_path / f"{name}.jsonl", *rows), tmp_path / name)
    result = compare_runs(tmp_path / "base", tmp_path / "head", None)
    (row,) = result.rows
    assert (row.state, row.base.passes, row.head.passes) == ("regressed", 5, 0)
    assert row.evidence is not None
    assert row.evidence.reproduce == ""
    assert "Reproduce" not in comment_body(result)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "contains no results"),
        ("hello\n", "line 1 is not a result of AgentV: Invalid JSON"),
        (json.dumps(ROW) + '\n{"a": 1}\n', "line 2 is not a result of AgentV: eval_id: Field required"),
        (json.dumps(ROW | {"score": 85}), "line 1 is not a result of AgentV: score: "),
    ],
)
def test_what_is_no_result_is_told(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "results.jsonl").write_text(content)
    with pytest.raises(ConfigurationError) as caught:
        import_run(tmp_path / "results.jsonl", tmp_path / "run")
    assert said in caught.value.message
    assert "AgentV's result JSONL" in caught.value.advice


def test_a_folder_without_results_and_a_file_that_is_not_there(tmp_path: Path) -> None:
    for source in (tmp_path, tmp_path / "no.jsonl"):
        with pytest.raises(ConfigurationError):
            import_run(source, tmp_path / "run")


def test_moves_of_scores_below_every_threshold_are_compared(tmp_path: Path) -> None:
    """All trials pass, and the case's score falls from 0.95 to 0.85."""
    for name, score in (("base", 0.95), ("head", 0.85)):
        rows = [ROW | {"score": score}, ROW | {"score": 0.9, "eval_id": "storms"}]
        import_run(write(tmp_path / f"{name}.jsonl", *rows), tmp_path / name)
    table = score_table(compare_runs(tmp_path / "base", tmp_path / "head", None))
    assert table is not None
    console = Console(file=io.StringIO(), width=100)
    console.print(table)
    assert isinstance(console.file, io.StringIO)
    assert [line.split() for line in console.file.getvalue().splitlines()[1:]] == [
        ["research/tides", "default", "0.95", "0.85", "−0.10"],
        ["research/storms", "default", "0.90", "0.90", "0.00"],
        ["mean", "0.925", "0.875", "−0.05"],
    ]


def test_results_of_newer_versions_of_agentv(tmp_path: Path) -> None:
    """Their keys have other names, and `trace` is a summary without the calls, which are in `output`."""
    calls = [{"tool": "search", "input": {"q": "tides"}, "output": "found"}]
    row = {
        "test_id": "tides",
        "suite": "research",
        "score": 0.9,
        "target": "default",
        "input": [{"role": "system", "content": "Be short."}, {"role": "user", "content": "What makes tides?"}],
        "answer": "The moon.",
        "output": [{"role": "assistant", "content": "The moon.", "tool_calls": calls}],
        "trace": {"eventCount": 1, "toolCalls": {"search": 1}, "errorCount": 0},
        "scores": [{"name": "answer", "type": "llm-grader", "score": 0.9, "weight": 1, "verdict": "pass"}],
        "durationMs": 1234,
        "costUsd": 0.5,
        "executionStatus": "ok",
    }
    camel = row | {"testId": "storms", "executionStatus": "execution_error", "score": 0}
    del camel["test_id"]
    run = import_run(write(tmp_path / "index.jsonl", row, camel), tmp_path / "run")
    first, second = run.trials
    assert (first.scenario, first.outcome, first.case_score) == ("research/tides", "pass", 0.9)
    assert (first.metrics.duration_s, first.metrics.cost_usd) == (1.234, 0.5)
    assert [one.name for one in first.evaluators] == ["answer"]
    folder = RunFolder(tmp_path / "run")
    assert folder.prompt(first.spec) == "What makes tides?"
    assert [event.tool for event in folder.events(first.spec) if isinstance(event, ToolCall)] == ["search"]
    assert (second.outcome, second.reason) == (None, "AgentV reports an execution error")


def test_a_transcript_becomes_a_trial_without_outcome(tmp_path: Path) -> None:
    lines = (
        {"type": "message", "role": "user", "text": "Add a note."},
        {"type": "tool_call", "id": "1", "tool": "bash", "command": "notes add x"},
        {"type": "tool_result", "id": "1", "status": "unknown", "output": "no"},
    )
    (tmp_path / "incident.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (trial,) = import_run(tmp_path / "incident.jsonl", tmp_path / "run", binary="notes").trials
    assert (trial.scenario, trial.agent, trial.outcome) == ("incident", "events", None)
    assert trial.reason == "a transcript has no gates"
    assert trial.invocations.not_counted == {"unknown": 1}
    assert RunFolder(tmp_path / "run").prompt(trial.spec) == "Add a note."


def test_a_printed_stream_tells_how_long_the_agent_worked(tmp_path: Path) -> None:
    """Without times of its own: the results say it, each for its part."""
    capture = Path(__file__).parents[1] / "agents/streams/captures/claude-code_bg.jsonl"
    (trial,) = import_run(capture, tmp_path / "run").trials
    assert (trial.metrics.completed, trial.metrics.duration_s) == (True, 2.297)
