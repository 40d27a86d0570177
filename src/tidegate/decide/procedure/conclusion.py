"""The procedure's conclusion on one row."""

from __future__ import annotations

from tidegate.decide.procedure.observed import RowSeen
from tidegate.model.comparison import Counts, Kind
from tidegate.model.plan import RowKey
from tidegate.model.suite import RowState
from tidegate.model.trial_spec import NotMeasured
from tidegate.model.value import Value


class Conclusion(Value):
    """The state of one row, and why. `reason` is one sentence with numbers.

    `not_measured`: what kept the row from being measured, if its state is `not_measured`.
    `p` is one-sided, `level` the limit that it is compared with: the confirmation's, or Holm's in a one-shot
    comparison. For `improved` rows, `p` is from the opposite test, adjusted for all rows. Both are None if repeats
    decided or no test was done.
    `compared`: the counts of head and base that were tested; None means all trials.
    """

    key: RowKey
    state: RowState
    reason: str
    kind: Kind = "outcome"
    p: float | None = None
    level: float | None = None
    one_shot: bool = False
    deterministic: bool = False
    compared: tuple[Counts, Counts] | None = None
    clears_when: str = ""
    not_measured: NotMeasured | None = None
    warnings: tuple[str, ...] = ()


def say(entry: RowSeen, state: RowState, reason: str, kind: Kind = "outcome", clears_when: str = "") -> Conclusion:
    """Return a conclusion that has no p-value."""
    return Conclusion(
        key=entry.row.key,
        state=state,
        reason=reason,
        kind=kind,
        deterministic=entry.row.deterministic and not entry.demoted,
        clears_when=clears_when,
    )
