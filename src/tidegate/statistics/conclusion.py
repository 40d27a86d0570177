"""What is said of one row."""

from __future__ import annotations

from tidegate.model.comparison import Counts, Kind
from tidegate.model.plan import RowKey
from tidegate.model.suite import RowState
from tidegate.model.trial import NotMeasured
from tidegate.model.value import Value
from tidegate.statistics.seen import RowSeen


class Conclusion(Value):
    """What is said of one row. `reason` is one plain sentence with numbers.

    `not_measured` says what kept a row of that state from being measured.
    `p` is one-sided, `level` its limit: of a confirmation, or Holm's in a one-shot comparison; of `improved` rows it is
    the mirrored test's, adjusted for all rows. Both are None where a few repeats decided, or nothing was confirmed.
    `compared`: head's and base's counts that the numbers are of; None: of all trials.
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
    """A conclusion without numbers of a test."""
    return Conclusion(
        key=entry.row.key,
        state=state,
        reason=reason,
        kind=kind,
        deterministic=entry.row.deterministic and not entry.demoted,
        clears_when=clears_when,
    )
