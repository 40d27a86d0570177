"""Imports results of other tools as a stored run: AgentV's result JSONL and llm-tool-test's run folders."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import AliasChoices, Field, JsonValue, ValidationError

from tidegate import __version__
from tidegate.agents.invocations.from_log import logged_invocations
from tidegate.agents.invocations.metrics import invocation_counts, trial_metrics
from tidegate.agents.streams import TRANSCRIPTS, agentv, recognized
from tidegate.agents.streams import llm_tool_test as stream
from tidegate.agents.streams.events import plain
from tidegate.errors import ConfigurationError
from tidegate.history.run_folder import RunFolder, write_text, write_value
from tidegate.model.evaluator import PASS, Score
from tidegate.model.event import End, Event, Message
from tidegate.model.measurement import AgentInfo, EvaluatorResult, GateResult, Outcome, Revision, Run, TrialResult
from tidegate.model.run_row import RunRow
from tidegate.model.suite import Policy
from tidegate.model.target import Target
from tidegate.model.trial import Trial
from tidegate.model.trial_spec import TrialSpec
from tidegate.model.value import Value
from tidegate.text.scores import score_text


class PastAttempt(Value):
    """An imported attempt. Without an outcome it was not measured, and `reason` says why. `at` is in Unix seconds."""

    scenario: str
    agent: str
    model: str | None = None
    outcome: Outcome | None
    reason: str
    prompt: str = ""
    at: float = 0.0
    duration_s: float | None = None
    score: float | None = None
    cost_usd: float | None = None
    events: tuple[Event, ...] = ()
    gates: tuple[GateResult, ...] = ()
    evaluators: tuple[EvaluatorResult, ...] = ()

    def trial(self, spec: TrialSpec, target: Target | None = None) -> Trial:
        """Return the attempt as a trial record without answers to gates or evaluators.

        The calls of `target` are read from the events. What the log does not tell stays unknown.
        """
        end = next((event for event in reversed(self.events) if isinstance(event, End)), None)
        calls = logged_invocations(self.events, target, self.at) if target else None
        return Trial(
            spec=spec,
            end=end and end.end,
            end_message=end.message if end else "",
            duration_s=self.duration_s,
            invocations=calls or (),
            calls_known=calls is not None,
            not_measured=None if self.outcome else "infrastructure",
            reason="" if self.outcome else self.reason,
            started_at=self.at,
            agent_started_at=self.at,
            events=self.events,
        )


EVENTS = "events.jsonl"
TRANSCRIPT = "transcript.raw.txt"
# <time>-<tool>-<model>-<scenario>. Tool names with a hyphen are listed; scenario names have none.
_NAME = re.compile(
    r"(?P<time>\d{8}-\d{6})-(?P<tool>claude-code|opencode|codex|gemini-cli|mock|[^-]+)-(?:(?P<model>.+)-)?(?P<scenario>[^-]+)"
)


class _Gate(Value, extra="ignore"):
    gate_type: str
    passed: bool
    message: str = ""


class _Metrics(Value, extra="ignore"):
    gates_passed: int = Field(ge=0)
    gates_total: int = Field(ge=0)
    details: tuple[_Gate, ...] = ()


def _read_llm_tool_test(source: Path) -> list[PastAttempt]:
    """Return all runs below a folder, sorted by path, or the single run whose `events.jsonl` is given."""
    files = sorted({*source.rglob(EVENTS), *_transcripts_alone(source)}) if source.is_dir() else [source]
    return [_llm_tool_test_attempt(file) for file in files]


def _transcripts_alone(source: Path) -> Iterator[Path]:
    """Yield the transcripts of runs that have no events."""
    for found in source.rglob(TRANSCRIPT):
        if not any((folder / EVENTS).is_file() for folder in (found.parent, found.parent.parent)):
            yield found


def _llm_tool_test_attempt(events: Path) -> PastAttempt:
    folder = events.parent.parent if events.parent.name == "artifacts" else events.parent
    named = _NAME.fullmatch(folder.name)
    metrics, problem = _metrics(folder)
    gates = tuple(_gates(metrics)) if metrics else ()
    failed = [gate for gate in gates if not gate.passed]
    passed = metrics is not None and metrics.gates_passed == metrics.gates_total
    reason = f"{failed[0].label}: {failed[0].message}" if failed else "all gates passed" if passed else problem
    text = events.read_text(encoding="utf-8", errors="replace")
    told = stream.LlmToolTest().parse(text) if events.name == EVENTS else plain(text)
    return PastAttempt(
        scenario=named["scenario"] if named else folder.name,
        agent=named["tool"] if named else "unknown",
        model=named["model"] if named else None,
        outcome=None if metrics is None else "pass" if passed else "fail",
        reason=reason or "a gate failed",
        prompt=_text(events.parent / "prompt.txt") or _text(folder / "fixture" / "prompt.txt"),
        at=datetime.strptime(named["time"], "%Y%m%d-%H%M%S").replace(tzinfo=UTC).timestamp() if named else 0.0,
        duration_s=next((event.at or None for event in told if isinstance(event, End)), None),
        events=told,
        gates=gates,
    )


def _gates(metrics: _Metrics) -> Iterator[GateResult]:
    """Yield the recorded gate results. Gate types are CamelCase there and become snake_case: CommandSucceeds."""
    for gate in metrics.details:
        kind = re.sub(r"(?<!^)(?=[A-Z])", "_", gate.gate_type).lower()
        yield GateResult(type=kind, label=kind, passed=gate.passed, message=gate.message)


def _metrics(folder: Path) -> tuple[_Metrics | None, str]:
    """Return the metrics, or None and the reason why there are none."""
    for place in (folder / "metrics.json", folder / "artifacts" / "metrics.json"):
        if place.is_file():
            try:
                return _Metrics.model_validate_json(place.read_bytes()), ""
            except ValidationError:
                return None, "its metrics.json cannot be read"
    return None, "it has no metrics.json, so no gate was decided"


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


IMPORTED = "imported"  # the agent type of imported trials


def import_run(source: Path, out: Path, binary: str | None = None) -> Run:
    """Store another tool's results as a run in `out` and return it. Raises ConfigurationError if there are none.

    `binary` is the tool under test. Without it, its calls are not counted.
    """
    target = Target(binary=binary) if binary else None
    attempts = _read(source)
    folder = RunFolder(out)
    counts: Counter[tuple[str, str]] = Counter()
    results = []
    for attempt in attempts:
        counts[attempt.scenario, attempt.agent] += 1
        index = counts[attempt.scenario, attempt.agent]
        spec = TrialSpec(side="head", scenario=attempt.scenario, agent=attempt.agent, index=index)
        results.append(_store(attempt.trial(spec, target), attempt, folder))
    run = _run(source, attempts, results)
    folder.finish_run(run)
    return run


def _read(source: Path) -> list[PastAttempt]:
    if not (source.is_dir() or source.is_file()):
        raise ConfigurationError(f"{source} is neither a file nor a folder.", "Name a file or folder with results.")
    try:
        attempts = _read_llm_tool_test(source) if (source.is_dir() or source.name == EVENTS) else _of_file(source)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{source} cannot be read: {error}", "Name a file or folder with results.") from None
    except ValueError as error:
        raise ConfigurationError(f"{source}: {error}", _WANTED) from None
    if not attempts:
        raise ConfigurationError(f"{source} contains no results.", _WANTED)
    return attempts


def _of_file(source: Path) -> list[PastAttempt]:
    """Return the attempts of AgentV's results, or the one of an agent's transcript."""
    try:
        return read(source)
    except ValueError as error:
        text = source.read_text(encoding="utf-8", errors="replace")
        found = recognized(text)
        if found is None:
            raise error
    name, events = found
    asked = next((event.text for event in events if isinstance(event, Message) and event.role == "user"), "")
    end = next((event for event in reversed(events) if isinstance(event, End)), None)
    return [
        PastAttempt(
            scenario=source.stem,
            agent=name,
            outcome=None,
            reason="a transcript has no gates",
            prompt=asked,
            duration_s=end.at or None if end else None,
            cost_usd=end.cost_usd if end else None,
            events=events,
        )
    ]


_WANTED = (
    "It has to be AgentV's result JSONL (`agentv eval --out FILE`), a folder of llm-tool-test with "
    "artifacts/events.jsonl, the folder that holds such folders, or a transcript: " + ", ".join(TRANSCRIPTS) + "."
)


def _store(trial: Trial, attempt: PastAttempt, folder: RunFolder) -> TrialResult:
    spec = trial.spec
    record = folder.trial_folder(spec)
    write_value(record / "trial.json", trial)
    write_text(record / "prompt.txt", attempt.prompt)
    write_text(record / "events.jsonl", "".join(f"{event.model_dump_json()}\n" for event in trial.events))
    result = TrialResult(
        **spec.model_dump(),
        id=spec.id,
        outcome=attempt.outcome,
        decides=attempt.outcome,
        reason=attempt.reason,
        not_measured=None if attempt.outcome else "infrastructure",
        end=trial.end,
        metrics=trial_metrics(trial, None).model_copy(
            update={"cost_usd": attempt.cost_usd, "case_score": attempt.score}
        ),
        invocations=invocation_counts(trial.invocations, known=trial.calls_known),
        gates=attempt.gates,
        evaluators=attempt.evaluators,
        case_score=attempt.score,
    )
    folder.finish_trial(result)
    return result


def _run(source: Path, attempts: Iterable[PastAttempt], results: list[TrialResult]) -> Run:
    agents = {attempt.agent: AgentInfo(type=IMPORTED, model=attempt.model) for attempt in attempts}
    keys = dict.fromkeys(result.key for result in results)
    return Run(
        tidegate_version=__version__,
        side="head",
        revision=Revision(sha="", ref=source.name),
        suite_file=source.name,
        suite_hash="",
        policy=Policy(),
        rows=tuple(RunRow(scenario=key.scenario, agent=key.agent, deterministic=False) for key in keys),
        agents=agents,
        started_at=min(attempt.at for attempt in attempts),
        seconds=0.0,
        trials=tuple(results),
    )


class _Evaluator(Value, extra="ignore"):
    name: str
    type: str = ""
    score: float = Field(ge=0, le=1)
    weight: float = 1.0
    reasoning: str | None = None


class _Line(Value, extra="ignore"):
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
                attempts.append(_attempt(_Line.model_validate_json(line)))
            except ValidationError as error:
                first = error.errors(include_url=False, include_input=False)[0]
                place = "".join(f"{key}: " for key in first["loc"])
                raise ValueError(f"line {number} is not a result of AgentV: {place}{first['msg']}") from None
    return attempts


def _attempt(row: _Line) -> PastAttempt:
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


def _events(row: _Line) -> tuple[Event, ...]:
    """Return the answer, the tool calls if the row has them (AgentV 1.5 omits them), and the end."""
    output: dict[str, Any] = {"text": row.candidate_answer}
    output |= {} if row.output_messages is None else {"output_messages": row.output_messages}
    output |= {"trace": row.trace} if isinstance(row.trace, list) else {}
    text = json.dumps(output)
    end = "crashed" if row.problem else "completed"
    return (*agentv.parse(text), End(end=end, message=row.problem or "", traced=agentv.is_traced(text)))


def _prompt(row: _Line) -> str:
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
