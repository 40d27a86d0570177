"""The suite as a whole: mean success rates, detection power, and the result of the suite's test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from tidegate.comparison.weak_rows import cannot_guard
from tidegate.model.comparison import (
    Interval,
    Row,
    SuiteEffect,
)
from tidegate.procedure.detection import Screening, detection
from tidegate.procedure.observed import RowSeen
from tidegate.procedure.repeats import BASE_TRIALS, HEAD_TRIALS
from tidegate.procedure.steps import State, suite_finding
from tidegate.procedure.suite_gate import SuiteFinding
from tidegate.statistics.rates import mean_difference, newcombe

# A 90% interval within ±delta is two one-sided tests at 5%: reports call the suite "unchanged" then.
SUITE_CONFIDENCE = 0.90


def suite_effect(rows: Sequence[Row], state: State) -> SuiteEffect:
    """Return means over the rows measured on both sides; a deterministic row adds nothing to the interval's width."""
    both = [(row, entry) for row, entry in zip(rows, state.rows, strict=True) if row.base.trials and row.head.trials]
    if not both:
        return SuiteEffect()
    difference, interval = mean_difference([_difference(row) for row, _ in both])
    finding = suite_finding(state)
    return SuiteEffect(
        base_rate=sum(row.base.passes / row.base.trials for row, _ in both) / len(both),
        head_rate=sum(row.head.passes / row.head.trials for row, _ in both) / len(both),
        difference=difference,
        interval=interval,
        detection=_detection(both, state),
        state=_suite_state(finding),
        p=finding and (finding.midp if finding.p is None else finding.p),
        level=finding and finding.level,
    )


def _suite_state(finding: SuiteFinding | None) -> Literal["ok", "unconfirmed", "regressed"] | None:
    if finding is None:
        return None
    if finding.regressed:
        return "regressed"
    return "unconfirmed" if finding.unconfirmed else "ok"


def _detection(both: Sequence[tuple[Row, RowSeen]], state: State) -> dict[str, float]:
    """Return the run's detection power: drop → probability.

    Rows that are cut short or pass on neither side are left out: no drop of theirs would be reported.
    """
    steady = [(row, entry) for row, entry in both if not (entry.cut_short or cannot_guard(row))]
    return detection(
        tested=[(row.head.trials, row.base.trials) for row, _ in steady if row.one_shot],
        repeated=[_would_confirm(row, entry, state.stored) for row, entry in steady if row.deterministic],
        screened=[
            Screening(row.head.screen[1], row.base.passes / row.base.trials, entry.history[1], entry.most)
            for row, entry in steady
            if not (row.one_shot or row.deterministic)
        ],
        alpha=state.policy.alpha,
    )


def _difference(row: Row) -> tuple[float, Interval]:
    counts = row.head.passes, row.head.trials, row.base.passes, row.base.trials
    difference = row.head.passes / row.head.trials - row.base.passes / row.base.trials
    return difference, (difference, difference) if row.deterministic else newcombe(*counts, SUITE_CONFIDENCE)


def _would_confirm(row: Row, entry: RowSeen, stored: bool) -> bool:
    """Return True if a complete failure of this row would have been confirmed."""
    if stored:
        return row.head.trials >= HEAD_TRIALS and row.base.trials >= BASE_TRIALS
    return entry.confirmable
