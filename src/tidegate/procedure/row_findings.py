"""Turn the results of screen, confirm and verify into conclusions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tidegate.model.plan import RowKey
from tidegate.procedure import wording
from tidegate.procedure.conclusion import Conclusion, say
from tidegate.procedure.confirm import Confirmed
from tidegate.procedure.flaky import is_flaky
from tidegate.procedure.observed import RowSeen
from tidegate.procedure.one_shot import IMPROVED
from tidegate.procedure.screened import Screened
from tidegate.statistics.exact import fisher_less
from tidegate.statistics.multiplicity import bh
from tidegate.statistics.sequential import TIES

_CLEARS = "its head trials pass again"
_OUT_OF_BUDGET = "the budget ended before it was confirmed; raise `budget`, or run again to go on"


def found(entries: Sequence[RowSeen], screened: Mapping[RowKey, Screened]) -> dict[RowKey, Conclusion]:
    """Return one conclusion per row. Improvements are tested together, on the screening trials only."""
    rows = [screened[entry.row.key] for entry in entries]
    better = bh([fisher_less(*row.compared_with, *row.head) for row in rows])
    return {entry.row.key: _found(entry, row, q) for entry, row, q in zip(entries, rows, better, strict=True)}


def _found(entry: RowSeen, row: Screened, q_better: float) -> Conclusion:
    if row.confirmed is not None:
        return _confirmed(entry, row, row.confirmed)
    counts = wording.compared(row.head, row.compared_with)
    if row.hit:
        reason = f"{counts}: looks worse, but the {_what_ended(entry)} ended before it was confirmed"
        conclusion = say(entry, "unconfirmed", reason, clears_when=_CLEARS)
    elif entry.cut_short and _worse(row):
        # Another row's regression or the budget ended the run while this row was looking worse: "ok" would be wrong.
        conclusion = say(entry, "unconfirmed", f"looks worse: {counts}{_cut_short(entry)}", clears_when=_CLEARS)
    elif q_better <= IMPROVED * TIES:
        conclusion = say(entry, "improved", counts).model_copy(update={"p": q_better, "level": IMPROVED})
    elif is_flaky(entry.history):
        conclusion = say(entry, "flaky", f"no regression detected, base itself fails often: {counts}")
    else:
        conclusion = say(entry, "ok", f"no regression detected: {counts}{_cut_short(entry)}")
    return conclusion.model_copy(update={"compared": (row.head, row.compared_with)})


def _worse(row: Screened) -> bool:
    """Return True if head's pass rate is lower than the rate that it is compared with, by however little."""
    (head, head_n), (base, base_n) = row.head, row.compared_with
    return head * base_n < base * head_n


def _cut_short(entry: RowSeen) -> str:
    if not entry.cut_short:
        return ""
    return f"; the {_what_ended(entry)} ended after {entry.heads_run} of {entry.screening} trials"


def _what_ended(entry: RowSeen) -> str:
    return "budget" if entry.out_of_budget else "run"


def _confirmed(entry: RowSeen, row: Screened, end: Confirmed) -> Conclusion:
    """Return the conclusion on a row that went through CONFIRM and VERIFY."""
    numbers, counts = wording.confirmed(end), wording.compared(row.head, row.compared_with)
    if end.carried:
        reason = f"regressed at an earlier push, and is not shown to be fixed: {numbers}"
        conclusion = say(entry, "regressed", reason, clears_when="its fresh head trials pass as often as base's")
    elif end.found == "regressed":
        best = f"at least {wording.enough_passes(end)} of {end.head[1]} fresh trials pass on head"
        conclusion = say(entry, "regressed", f"{numbers}, verified in a second batch", clears_when=best)
    elif end.moved and end.found == "ok":
        conclusion = say(
            entry,
            "baseline_changed",
            f"{wording.moved(end, entry.history)}; head performs like base does now: {numbers}",
        )
    elif end.found == "ok":
        conclusion = say(
            entry, "ok", f"no regression detected: looked worse at first, but not on fresh trials: {numbers}"
        )
    else:
        moved = f"; {wording.moved(end, entry.history)}" if end.moved else ""
        settle = _OUT_OF_BUDGET if entry.out_of_budget else wording.to_settle(end, entry.screening)
        seen = numbers if entry.out_of_budget and _within(end) else _doubt(end, counts)
        conclusion = say(entry, "unconfirmed", f"{seen}{moved}; {settle}", clears_when=settle)
    p, level = _decisive(end)
    return conclusion.model_copy(
        update={
            "p": p,
            "level": level,
            "compared": (end.head, end.base) if end.head[1] and end.base[1] else None,
            "baseline_changed": end.moved,
        }
    )


def _doubt(end: Confirmed, counts: str) -> str:
    """Return what an unconfirmed row showed, and why that does not count."""
    if not end.head[1]:
        return f"looks worse: {counts}"
    return wording.seen_once(end) if _within(end) else f"{wording.confirmed(end)}: this may be noise"


def _within(end: Confirmed) -> bool:
    return end.p is not None and end.p <= end.level * TIES


def _decisive(end: Confirmed) -> tuple[float | None, float | None]:
    """Return p and limit of the test that decided: for a drop that was not verified, the one against fresh trials."""
    if end.found != "unconfirmed" or not _within(end):
        return end.p, end.level
    too_weak = end.beside is not None and end.beside[0] > end.beside[1]
    return end.beside if too_weak and end.beside else (None, None)
