"""Find rows whose green state is weak evidence: they could not have failed, or the agent did nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tidegate.decide.procedure.detection import Screening, weakness
from tidegate.decide.procedure.observed import RowSeen
from tidegate.decide.procedure.rules import LEAST_HISTORY
from tidegate.model.comparison import Note, Row
from tidegate.model.measurement import TrialResult, by_row
from tidegate.model.plan import RowKey


def cannot_guard(row: Row) -> bool:
    """Return True if the row passes on neither side, so that it cannot show a regression."""
    compared = row.state in ("ok", "flaky", "baseline_changed")
    return compared and row.head.trials > 0 and row.head.passes == row.base.passes == 0


def fails_from_the_start(row: Row) -> bool:
    """Return True if the row is new and none of its trials passes."""
    return row.state == "added" and row.head.trials > 0 and row.head.passes == 0


def doubts(rows: Iterable[Row], trials: Iterable[TrialResult]) -> Iterator[Note]:
    """Yield one note per kind of weakness, with the rows that have it."""
    measured = by_row(trial for trial in trials if trial.outcome is not None)
    yield from _together((row, note) for row in rows for note in _doubts_of(row, measured[row.key]))


def as_screened(row: Row, entry: RowSeen) -> Screening:
    """Return what the detection power of a screened row depends on."""
    return Screening(row.head.screen[1], row.base.passes / row.base.trials, entry.history[1], entry.most)


def shows_little(rows: Sequence[Row], seen: Sequence[RowSeen], alpha: float) -> Iterator[Note]:
    """Yield one note for screened rows in which a complete failure is missed equally often, with what would help.

    Rows without enough base trials for an estimate of their success rate are left out, as in `tidegate check`.
    """
    weak: list[tuple[Row, Note]] = []
    for row, entry in zip(rows, seen, strict=True):
        compared = row.state in ("ok", "flaky") and entry.sequential and not (row.one_shot or entry.cut_short)
        if not compared or row.purpose != "regression" or row.base.trials < LEAST_HISTORY or cannot_guard(row):
            continue
        if found := weakness(as_screened(row, entry), alpha):
            weak.append((row, Note(code="shows_little", weakness=found)))
    yield from _together(weak)


def _together(notes: Iterable[tuple[Row, Note]]) -> Iterator[Note]:
    """Yield each note once, with the rows that it is about."""
    rows: dict[Note, list[RowKey]] = {}
    for row, note in notes:
        rows.setdefault(note, []).append(row.key)
    return (note.model_copy(update={"rows": tuple(keys)}) for note, keys in rows.items())


def _doubts_of(row: Row, trials: Sequence[TrialResult]) -> Iterator[Note]:
    if cannot_guard(row):
        yield Note(code="never_passes")
    if fails_from_the_start(row):
        yield Note(code="new_fails")
    if trials and row.gates and not any(trial.calls for trial in trials):
        yield Note(code="never_called")
    head = [trial for trial in trials if trial.side == "head"]
    if crashed := sum(trial.end == "crashed" for trial in head):
        yield Note(code="crashed", crashed=(crashed, len(head)))
