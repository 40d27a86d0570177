"""What a run of a pull request leaves for the next one to know of each row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tidegate.model.plan import RowKey
from tidegate.model.run_row import EarlierPushes
from tidegate.procedure.conclusion import Conclusion
from tidegate.procedure.observed import RowSeen
from tidegate.procedure.screened import Screened


def after_run(
    entries: Sequence[RowSeen],
    conclusions: Sequence[Conclusion],
    screened: Mapping[RowKey, Screened],
    before: Mapping[RowKey, EarlierPushes],
) -> dict[RowKey, EarlierPushes]:
    """Return what is known of each row after another run, also of those that repeats decided."""
    known = after_push(screened, before)
    for entry, conclusion in zip(entries, conclusions, strict=True):
        key = entry.row.key
        earlier = known.get(key, EarlierPushes(spent=max((one.spent for one in known.values()), default=0)))
        row = screened.get(key)
        if row is None or row.confirmed is None:
            earlier = _repeated(earlier, entry, conclusion)
        if conclusion.kind == "base_fails":  # clears nothing: what head leaves behind can be the reason
            old = before.get(key, EarlierPushes())
            earlier = earlier.model_copy(update={"state": old.state, "head": old.head})
        known[key] = earlier.model_copy(update={"failed": earlier.failed or _failed(entry)})
    return known


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
    head = _added(earlier, end.head) if end.found == "regressed" else (0, 0)
    return EarlierPushes(state=end.found, head=head, failed=earlier.failed)


def _repeated(earlier: EarlierPushes, entry: RowSeen, conclusion: Conclusion) -> EarlierPushes:
    """A failed build binds nothing: once it succeeds, all rows that it kept from being tried would be red."""
    head = entry.tally("head")
    if conclusion.state == "regressed" and entry.flip is not None and not entry.build_failed:
        shown = head.passes, head.measured + head.inside
        return earlier.model_copy(update={"state": "regressed", "head": _added(earlier, shown)})
    if entry.cleared:
        return earlier.model_copy(update={"state": "ok", "head": (0, 0)})
    return earlier


def _added(earlier: EarlierPushes, shown: tuple[int, int]) -> tuple[int, int]:
    before = earlier.head if earlier.state == "regressed" else (0, 0)
    return before[0] + shown[0], before[1] + shown[1]


def _failed(entry: RowSeen) -> bool:
    base, head = entry.tally("base"), entry.tally("head")
    on_head = entry.row.deterministic and not entry.build_failed and head.fails + head.inside > 0
    return on_head and base.passes > 0 and not base.fails + base.inside
