"""Imports results of other tools as a stored run: AgentV's result JSONL and llm-tool-test's run folders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from tidegate import __version__
from tidegate.agents.invocations.metrics import invocation_counts, trial_metrics
from tidegate.agents.streams import TRANSCRIPTS, described, recognized
from tidegate.errors import ConfigurationError
from tidegate.history import import_agentv, import_llm_tool_test
from tidegate.history.imported_attempt import PastAttempt
from tidegate.history.run_folder import RunFolder, write_text, write_value
from tidegate.model.event import End, Message
from tidegate.model.measurement import AgentInfo, Run, TrialResult
from tidegate.model.revision import Revision
from tidegate.model.run_row import RunRow
from tidegate.model.suite import Policy
from tidegate.model.target import Target
from tidegate.model.trial import Trial
from tidegate.model.trial_spec import TrialSpec

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
        attempts = import_llm_tool_test.read(source) if _is_llm_tool_test(source) else _of_file(source)
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
        return import_agentv.read(source)
    except ValueError as error:
        text = source.read_text(encoding="utf-8", errors="replace")
        found = recognized(text)
        if found is None:
            raise ValueError(f"{error}; it is {described(text)}") from None
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


def _is_llm_tool_test(source: Path) -> bool:
    return source.is_dir() or source.name == import_llm_tool_test.EVENTS


def _store(trial: Trial, attempt: PastAttempt, folder: RunFolder) -> TrialResult:
    spec = trial.spec
    record = folder.record_folder(spec)
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
