"""Find rows whose green state is weak evidence: they could not have failed, or the agent did nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from tidegate.decide.procedure.detection import Screening, weakness
from tidegate.decide.procedure.observed import RowSeen
from tidegate.decide.procedure.rules import LEAST_HISTORY
from tidegate.model.comparison import Row
from tidegate.model.measurement import TrialResult
from tidegate.model.plan import by_row

_NAMED = 5  # rows that a warning names


def cannot_guard(row: Row) -> bool:
    """Return True if the row passes on neither side, so that it cannot show a regression."""
    compared = row.state in ("ok", "flaky", "baseline_changed")
    return compared and row.head.trials > 0 and row.head.passes == row.base.passes == 0


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
    yield from _told(doubted)


def screening_of(row: Row, entry: RowSeen) -> Screening:
    """Return what the detection power of a screened row depends on."""
    return Screening(row.head.screen[1], row.base.passes / row.base.trials, entry.history[1], entry.most)


def shows_little(rows: Sequence[Row], seen: Sequence[RowSeen], alpha: float) -> Iterator[str]:
    """Yield one warning for screened rows in which a complete failure is missed equally often, with what would help.

    Rows without enough base trials for an estimate of their success rate are left out, as in `tidegate check`.
    """
    weak: dict[str, list[str]] = {}
    for row, entry in zip(rows, seen, strict=True):
        compared = row.state in ("ok", "flaky") and entry.sequential and not (row.one_shot or entry.cut_short)
        if not compared or row.purpose != "regression" or row.base.trials < LEAST_HISTORY or cannot_guard(row):
            continue
        if said := weakness(screening_of(row, entry), alpha):
            weak.setdefault(said, []).append(str(row.key))
    yield from _told(weak)


def _told(said: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield each sentence once, after the first rows that it is about."""
    for sentence, names in said.items():
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        yield f"{', '.join(names[:_NAMED])}{more}: {sentence}"


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
