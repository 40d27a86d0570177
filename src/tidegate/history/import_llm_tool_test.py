"""Reads the run folders of llm-tool-test: the `events.jsonl` and `metrics.json` of each run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from pydantic import Field, ValidationError

from tidegate.agents.streams import llm_tool_test as stream
from tidegate.agents.streams import text as plain
from tidegate.history.imported_attempt import PastAttempt
from tidegate.model.event import End
from tidegate.model.measurement import GateResult
from tidegate.model.value import Value

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


def read(source: Path) -> list[PastAttempt]:
    """Return all runs below a folder, sorted by path, or the single run whose `events.jsonl` is given."""
    files = sorted({*source.rglob(EVENTS), *_transcripts_alone(source)}) if source.is_dir() else [source]
    return [_attempt(file) for file in files]


def _transcripts_alone(source: Path) -> Iterator[Path]:
    """Yield the transcripts of runs that have no events."""
    for found in source.rglob(TRANSCRIPT):
        if not any((folder / EVENTS).is_file() for folder in (found.parent, found.parent.parent)):
            yield found


def _attempt(events: Path) -> PastAttempt:
    folder = events.parent.parent if events.parent.name == "artifacts" else events.parent
    named = _NAME.fullmatch(folder.name)
    metrics, problem = _metrics(folder)
    gates = tuple(_gates(metrics)) if metrics else ()
    failed = [gate for gate in gates if not gate.passed]
    passed = metrics is not None and metrics.gates_passed == metrics.gates_total
    reason = f"{failed[0].label}: {failed[0].message}" if failed else "all gates passed" if passed else problem
    text = events.read_text(encoding="utf-8", errors="replace")
    read = stream.parse(text) if events.name == EVENTS else plain.parse(text)
    return PastAttempt(
        scenario=named["scenario"] if named else folder.name,
        agent=named["tool"] if named else "unknown",
        model=named["model"] if named else None,
        outcome=None if metrics is None else "pass" if passed else "fail",
        reason=reason or "a gate failed",
        prompt=_text(events.parent / "prompt.txt") or _text(folder / "fixture" / "prompt.txt"),
        at=_seconds(named["time"]) if named else 0.0,
        duration_s=next((event.at or None for event in read if isinstance(event, End)), None),
        events=read,
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


def _seconds(written: str) -> float:
    return datetime.strptime(written, "%Y%m%d-%H%M%S").replace(tzinfo=UTC).timestamp()
