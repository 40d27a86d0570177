"""Find rows whose green state is weak evidence: they could not have failed, or the agent did nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tidegate.model.comparison import Row
from tidegate.model.measurement import TrialResult
from tidegate.model.plan import by_row

_NAMED = 5  # rows that a warning names


def cannot_guard(row: Row) -> bool:
    """Return True if the row passes on neither side, so that it cannot show a regression."""
    return row.state == "ok" and row.head.trials > 0 and row.head.passes == row.base.passes == 0


def fails_from_the_start(row: Row) -> bool:
    """Return True if the row is new and none of its trials passes."""
    return row.state == "added" and row.head.trials > 0 and row.head.passes == 0


def doubts(rows: Iterable[Row], trials: Iterable[TrialResult]) -> Iterator[str]:
    """Yield one warning per kind of weakness, with the names of the rows that have it."""
    measured = by_row(trial for trial in trials if trial.outcome is not None)
    doubted: dict[str, list[str]] = {}
    for row in rows:
        for doubt in _doubts_of(row, measured[row.key]):
            doubted.setdefault(doubt, []).append(str(row.key))
    for doubt, names in doubted.items():
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        yield f"{', '.join(names[:_NAMED])}{more}: {doubt}"


def _doubts_of(row: Row, trials: Sequence[TrialResult]) -> Iterator[str]:
    if cannot_guard(row):
        yield "passes on neither side, so it cannot show a regression"
    if fails_from_the_start(row):
        yield "new, and no trial passes"
    if trials and row.gates and not any(trial.calls for trial in trials):
        yield "the target was never called"
    head = [trial for trial in trials if trial.side == "head"]
    if crashed := sum(trial.end == "crashed" for trial in head):
        yield f"the agent crashed in {crashed} of {len(head)} trials on head"
