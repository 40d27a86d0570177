"""What a run of a pull request leaves for the next one to know of each row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tidegate.decide.procedure.observed import RowSeen
from tidegate.decide.procedure.pairs import RowTest
from tidegate.decide.procedure.row_states import Conclusion
from tidegate.decide.statistics.e_process import Pairs
from tidegate.model.plan import RowKey
from tidegate.model.run_row import EarlierPushes


def after_run(
    entries: Sequence[RowSeen],
    conclusions: Sequence[Conclusion],
    tested: Mapping[RowKey, RowTest],
    before: Mapping[RowKey, EarlierPushes],
) -> dict[RowKey, EarlierPushes]:
    """Return what is known of each row after another run, also of those that repeats decided."""
    known = after_push(tested, before)
    for entry, conclusion in zip(entries, conclusions, strict=True):
        key = entry.row.key
        earlier = known.get(key, EarlierPushes(pushes=max((one.pushes for one in known.values()), default=0)))
        row = tested.get(key)
        if (row is None or row.paired is None) and conclusion.kind != "base_fails":
            earlier = _repeated(earlier, entry, conclusion)
        known[key] = earlier.model_copy(update={"failed": earlier.failed or _failed(entry)})
    return known


def after_push(rows: Mapping[RowKey, RowTest], before: Mapping[RowKey, EarlierPushes]) -> dict[RowKey, EarlierPushes]:
    """Return what is known of each row after another push. Rows that were not part of it keep what was known."""
    pushes = max((one.pushes for one in before.values()), default=0)
    pushes += any(row.paired is not None for row in rows.values())
    known = {key: _followed(before.get(key, EarlierPushes()), row) for key, row in rows.items()}
    return {key: one.model_copy(update={"pushes": pushes}) for key, one in {**before, **known}.items()}


def _followed(earlier: EarlierPushes, row: RowTest) -> EarlierPushes:
    """A row that was not tested again, for example as the run ended before, keeps what was known of it."""
    end = row.paired
    if end is None or end.found == "base_fails":  # clears nothing: what head leaves behind can be the reason
        return earlier
    if end.found == "regressed":
        return earlier if end.carried else _red(earlier, end.pairs)
    return EarlierPushes(state="unconfirmed" if end.found == "unconfirmed" else "ok", failed=earlier.failed)


def _repeated(earlier: EarlierPushes, entry: RowSeen, conclusion: Conclusion) -> EarlierPushes:
    """A failed build binds nothing: once it succeeds, all rows that it kept from being tried would be red."""
    head = entry.tally("head")
    if conclusion.state == "regressed" and entry.flip is not None and not entry.build_failed:
        trials = head.measured + head.inside
        return _red(earlier, Pairs(trials, head.passes, trials))
    if entry.cleared:
        return earlier.model_copy(update={"state": "ok", "pairs": (0, 0, 0)})
    return earlier


def _red(earlier: EarlierPushes, shown: Pairs) -> EarlierPushes:
    before = Pairs(*earlier.pairs) if earlier.state == "regressed" else Pairs()
    return earlier.model_copy(update={"state": "regressed", "pairs": tuple(before.plus(*shown))})


def _failed(entry: RowSeen) -> bool:
    base, head = entry.tally("base"), entry.tally("head")
    on_head = entry.row.deterministic and not entry.build_failed and head.fails + head.inside > 0
    return on_head and base.passes > 0 and not base.fails + base.inside
