"""Stores how base's rows performed over its commits, in one small file that spans changes of definitions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from tidegate.history.run_folder import write_text
from tidegate.model.measurement import PastTrial
from tidegate.model.plan import by_row
from tidegate.model.trend import TREND_METRICS, Mean, RowTrend, TrendPoint
from tidegate.model.value import Value

MOST_COMMITS = 60  # per row; a small chart shows no more
FEWEST_COMMITS = 10  # per row, if there are many rows
MOST_POINTS = 30_000  # of all rows, about 10 MB; those measured last stay


class Kept(Value):
    """The contents of the file."""

    schema_version: Literal[1] = 1
    rows: tuple[RowTrend, ...] = ()


class Trends:
    """The trends in a folder. They are only displayed and decide nothing, so a damaged file counts as empty."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "trends.json"

    def read(self) -> tuple[RowTrend, ...]:
        """Return every row ever measured on base, with its points from oldest to newest."""
        try:
            return Kept.model_validate_json(self._path.read_text(encoding="utf-8")).rows
        except (OSError, UnicodeDecodeError, ValidationError):
            return ()

    def add(self, trials: Iterable[PastTrial]) -> None:
        """Add these measured base trials to the points of their commits."""
        new = by_row(trials)
        if not new:
            return
        rows = {row.key: row.points for row in self.read()}
        for key, more in new.items():
            rows[key] = _with(rows.get(key, ()), more)
        most = max(FEWEST_COMMITS, min(MOST_COMMITS, MOST_POINTS // len(rows)))
        newest = set(sorted(rows, key=lambda key: rows[key][-1].at, reverse=True)[: MOST_POINTS // most])
        kept = (
            RowTrend(scenario=key.scenario, agent=key.agent, points=rows[key][-most:]) for key in rows if key in newest
        )
        write_text(self._path, Kept(rows=tuple(kept)).model_dump_json() + "\n")


def _with(points: Sequence[TrendPoint], trials: Sequence[PastTrial]) -> tuple[TrendPoint, ...]:
    """Return the points with the trials added: the newest MOST_COMMITS, oldest first."""
    by_commit = {point.sha: point for point in points}
    for trial in trials:
        by_commit[trial.sha] = _counted(by_commit.get(trial.sha), trial)
    return tuple(sorted(by_commit.values(), key=lambda point: point.at)[-MOST_COMMITS:])


def _counted(point: TrendPoint | None, trial: PastTrial) -> TrendPoint:
    """Return the point (or a new one) with one more trial counted."""
    before = point or TrendPoint(sha=trial.sha, at=trial.at, passes=0, trials=0)
    values = {name: getattr(trial.metrics, name) for name in TREND_METRICS}
    metrics = {name: _mean(before.metrics.get(name), value) for name, value in values.items() if value is not None}
    return TrendPoint(
        sha=trial.sha,
        at=min(before.at, trial.at),
        passes=before.passes + (trial.decides == "pass"),
        trials=before.trials + 1,
        metrics={**before.metrics, **metrics},
    )


def _mean(before: Mean | None, value: float) -> Mean:
    """Return the running mean with one more value."""
    if before is None:
        return Mean(mean=value, trials=1)
    trials = before.trials + 1
    return Mean(mean=before.mean + (value - before.mean) / trials, trials=trials)
