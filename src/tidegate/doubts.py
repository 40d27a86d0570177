"""What a green row does not tell: that it could not have turned red, or that its agent did nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tidegate.model.comparison import Row
from tidegate.model.measurement import TrialResult


def cannot_guard(row: Row) -> bool:
    """It passes on neither side, so nothing that head does can make it worse."""
    return row.state == "ok" and row.head.trials > 0 and row.head.passes == row.base.passes == 0


def fails_from_the_start(row: Row) -> bool:
    """A new scenario that no trial has passed."""
    return row.state == "added" and row.head.trials > 0 and row.head.passes == 0


def doubts(rows: Iterable[Row], trials: Iterable[TrialResult]) -> Iterator[str]:
    """A sentence for each row that is green for a reason that its owner will not like."""
    measured = [trial for trial in trials if trial.outcome is not None]
    for row in rows:
        own = [trial for trial in measured if trial.key == row.key]
        name = f"{row.scenario} × {row.agent}"
        if cannot_guard(row):
            yield f"{name} passes on neither side, so it cannot show a regression"
        if fails_from_the_start(row):
            yield f"{name} is new, and no trial passes"
        if own and row.gates and not any(trial.calls for trial in own):
            yield f"{name}: the target was never called"
        head = [trial for trial in own if trial.side == "head"]
        if crashed := sum(trial.end == "crashed" for trial in head):
            yield f"{name}: the agent crashed in {crashed} of {len(head)} trials on head"
