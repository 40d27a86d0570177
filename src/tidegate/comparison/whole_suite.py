"""The suite as a whole: mean success, what the run would have caught, and the finding of the suite's own test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from tidegate.comparison.doubts import cannot_guard
from tidegate.model.comparison import (
    Interval,
    Row,
    SuiteEffect,
)
from tidegate.procedure import State, suite_finding
from tidegate.statistics.detection import Screening, detection
from tidegate.statistics.rates import mean_difference, newcombe
from tidegate.statistics.repeats import BASE_TRIALS, HEAD_TRIALS
from tidegate.statistics.seen import RowSeen
from tidegate.statistics.suite_gate import SuiteFinding

SUITE_CONFIDENCE = 0.90  # of the suite's interval: "unchanged" is a claim of equivalence (verdict.md, States)


def suite_effect(rows: Sequence[Row], state: State) -> SuiteEffect:
    """Means over the rows that were measured on both sides; a deterministic row has no chance error of its own."""
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


def _suite_state(finding: SuiteFinding | None) -> Literal["ok", "suspicious", "regressed"] | None:
    if finding is None:
        return None
    if finding.regressed:
        return "regressed"
    return "suspicious" if finding.hit and finding.p is None else "ok"


def _detection(both: Sequence[tuple[Row, RowSeen]], state: State) -> dict[str, float]:
    """Flaky rows, those that the run's end cut short, and those that pass on neither side are left out.

    Nothing of theirs would have been named.
    """
    steady = [(row, entry) for row, entry in both if not (row.state == "flaky" or entry.cut_short or cannot_guard(row))]
    return detection(
        tested=[(row.head.trials, row.base.trials) for row, _ in steady if row.one_shot],
        repeated=[_would_confirm(row, entry, state.stored) for row, entry in steady if row.deterministic],
        screened=[
            Screening(row.head.screen[1], entry.history[1] > 0, entry.most)
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
    """Whether a scenario that had stopped working would have been confirmed."""
    if stored:
        return row.head.trials >= HEAD_TRIALS and row.base.trials >= BASE_TRIALS
    return entry.confirmable
