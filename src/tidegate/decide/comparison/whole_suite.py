"""The suite as a whole: mean success rates, detection power, its test, and rows that are weak evidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from tidegate.decide.procedure.detection import DROPS, Screening, detection, weakness
from tidegate.decide.procedure.observed import RowSeen
from tidegate.decide.procedure.row_states import power
from tidegate.decide.procedure.rules import BASE_TRIALS, HEAD_TRIALS, LEAST_HISTORY
from tidegate.decide.procedure.steps import State
from tidegate.decide.procedure.suite_gate import SuiteFinding
from tidegate.decide.statistics.rates import Pair, mean_difference
from tidegate.model.comparison import Note, Row, SuiteEffect
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
    if crashed := sum(trial.end in ("crashed", "killed") for trial in head):
        yield Note(code="crashed", crashed=(crashed, len(head)))


# A 90% interval within ±delta is two one-sided tests at 5%: reports call the suite "unchanged" then.
SUITE_CONFIDENCE = 0.90


def suite_effect(rows: Sequence[Row], state: State, *, holds: bool = True) -> SuiteEffect:
    """Return the effect on the suite as a whole, over the rows measured on both sides.

    Unless it `holds`, base's history is out of date, so that success is not compared.
    """
    both = [row for row in rows if row.base.trials and row.head.trials]
    if not both:
        return SuiteEffect()
    finding = state.played.report.suite
    effect = success_over([Successes.of(row) for row in both]) if holds else SuiteEffect()
    return effect.model_copy(
        update={
            "detection": _mean_power(both),
            "state": _suite_state(finding),
            "p": finding and finding.p,
            "level": finding and finding.level,
        }
    )


class Successes(NamedTuple):
    """Passes and trials of a row that its success is estimated from."""

    head: tuple[int, int]
    base: tuple[int, int]
    deterministic: bool = False

    @classmethod
    def of(cls, row: Row) -> Successes:
        """Return the row's screening trials, with base's history. In a one-shot comparison, all trials count.

        Later trials are run because the screening looked bad, so that they would bias the rates.
        """
        if row.one_shot:
            return cls((row.head.passes, row.head.trials), (row.base.passes, row.base.trials))
        return cls(row.head.screen, row.base.history if row.base.history[1] else row.base.screen, row.deterministic)


def success_over(rows: Sequence[Successes]) -> SuiteEffect:
    """Return mean success rates with an interval; a deterministic row adds nothing to the interval's width."""
    known = [row for row in rows if row.head[1] and row.base[1]]
    if not known:
        return SuiteEffect()
    difference, interval = mean_difference(
        [Pair(*row.head, *row.base) for row in known if not row.deterministic],
        [row.head[0] / row.head[1] - row.base[0] / row.base[1] for row in known if row.deterministic],
        SUITE_CONFIDENCE,
    )
    return SuiteEffect(
        base_rate=sum(row.base[0] / row.base[1] for row in known) / len(known),
        head_rate=sum(row.head[0] / row.head[1] for row in known) / len(known),
        difference=difference,
        interval=interval,
    )


def _suite_state(finding: SuiteFinding | None) -> Literal["ok", "unconfirmed", "regressed"] | None:
    if finding is None:
        return None
    if finding.regressed:
        return "regressed"
    return "unconfirmed" if finding.unconfirmed else "ok"


def with_power(rows: Sequence[Row], state: State) -> tuple[Row, ...]:
    """Return the rows with the run's detection power in each: drop → probability.

    Rows that are cut short or pass on neither side have none: no drop of theirs would be reported.
    """
    shown = [
        bool(row.base.trials and row.head.trials) and not (entry.cut_short or cannot_guard(row))
        for row, entry in zip(rows, state.rows, strict=True)
    ]
    together = sum(row.one_shot and shows for row, shows in zip(rows, shown, strict=True))
    return tuple(
        row.model_copy(update={"detection": _power(row, entry, state, together)}) if shows else row
        for row, entry, shows in zip(rows, state.rows, shown, strict=True)
    )


def _power(row: Row, entry: RowSeen, state: State, together: int) -> dict[str, float]:
    """Return one row's power. `together`: rows that are tested in one shot, of which only this one has dropped.

    A deterministic row can only drop to 0.
    """
    if row.one_shot:
        limit = state.policy.alpha / together
        return {f"-{drop}": power(1 - drop, row.head.trials, row.base.trials, limit) for drop in DROPS}
    if row.deterministic:
        return {"-1.0": float(_would_confirm(row, entry, state.stored))}
    return detection(as_screened(row, entry), state.policy.alpha)


def _mean_power(rows: Sequence[Row]) -> dict[str, float]:
    """Return the mean power over the rows that can drop so far, the smallest drop first."""
    drops = sorted({drop for row in rows for drop in row.detection}, key=float, reverse=True)
    found = {drop: [row.detection[drop] for row in rows if drop in row.detection] for drop in drops}
    return {drop: sum(shares) / len(shares) for drop, shares in found.items()}


def _would_confirm(row: Row, entry: RowSeen, stored: bool) -> bool:
    """Return True if a complete failure of this row would have been confirmed."""
    if stored:
        return row.head.trials >= HEAD_TRIALS and row.base.trials >= BASE_TRIALS
    return entry.confirmable
