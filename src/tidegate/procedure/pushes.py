"""What a push of a pull request leaves for the next one to know of each row."""

from __future__ import annotations

from collections.abc import Mapping

from tidegate.model.measurement import EarlierPushes
from tidegate.model.plan import RowKey
from tidegate.procedure.screened import Screened


def after_push(rows: Mapping[RowKey, Screened], before: Mapping[RowKey, EarlierPushes]) -> dict[RowKey, EarlierPushes]:
    """Return what is known of each row after another push. Rows that were not part of it keep what was known."""
    spent = max((one.spent for one in before.values()), default=0)
    spent += sum(row.confirmed is not None for row in rows.values())
    known = {key: _followed(before.get(key, EarlierPushes()), row) for key, row in rows.items()}
    return {key: one.model_copy(update={"spent": spent}) for key, one in {**before, **known}.items()}


def _followed(earlier: EarlierPushes, row: Screened) -> EarlierPushes:
    """A row that was not confirmed again, for example as the run ended before, keeps what was known of it."""
    end = row.confirmed
    if end is None:
        return earlier
    before = earlier.head if earlier.state == "regressed" else (0, 0)
    head = (before[0] + end.head[0], before[1] + end.head[1]) if end.found == "regressed" else (0, 0)
    return EarlierPushes(state=end.found, head=head)
