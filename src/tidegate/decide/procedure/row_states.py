"""Determine the state of each row from its observed trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from tidegate.decide.procedure import wording
from tidegate.decide.procedure.conclusion import Conclusion, say
from tidegate.decide.procedure.flaky import is_flaky
from tidegate.decide.procedure.observed import RowSeen
from tidegate.decide.procedure.one_shot import IMPROVED, Finding, compare_once
from tidegate.decide.procedure.pairs import Paired, RowTest
from tidegate.decide.procedure.repeats import NO_START, Tally
from tidegate.decide.procedure.rules import TIES
from tidegate.decide.statistics.exact import fisher_less
from tidegate.decide.statistics.multiplicity import bh
from tidegate.decide.statistics.pair import Pair
from tidegate.model.plan import RowKey
from tidegate.model.trial_spec import NotMeasured, Side

_SETUP_WORDS: dict[NotMeasured | None, str] = {
    "setup": "the setup",
    "health_check": "the health check",
    "build": "the build",
    "refused_request": "the agent's request to its model",
}


def conclusions(entries: Sequence[RowSeen], alpha: float, tests: Mapping[RowKey, RowTest]) -> tuple[Conclusion, ...]:
    """Return one conclusion per row, in order. Rows not in `tests` are tested together, at family level `alpha`."""
    settled = {entry.row.key: conclusion for entry in entries if (conclusion := _settled(entry)) is not None}
    open_ones = [entry for entry in entries if entry.row.key not in settled]
    once = _compared_once([entry for entry in open_ones if entry.row.key not in tests], alpha)
    said = settled | once | _screened([entry for entry in open_ones if entry.row.key in tests], tests)
    doubted = ((entry, _doubting_loss(entry, _doubting_base(entry, said[entry.row.key]))) for entry in entries)
    return tuple(_warned(entry, _without_key(entry, conclusion)) for entry, conclusion in doubted)


def _warned(entry: RowSeen, conclusion: Conclusion) -> Conclusion:
    if not entry.demoted:
        return conclusion
    warning = "declared deterministic, but its repeats disagree: compared by its pass rates instead"
    return conclusion.model_copy(update={"warnings": (*conclusion.warnings, warning)})


def _settled(entry: RowSeen) -> Conclusion | None:
    """Return the conclusion for a row that needs no statistical test; None if its pass rates have to be compared."""
    row, base, head = entry.row, entry.tally("base"), entry.tally("head")
    if entry.skipped and row.replay is not None:
        return say(entry, "unchanged", wording.replayed(row.replay))
    if row.presence == "removed":
        return say(entry, "removed", "is no longer in the suite")
    if row.no_agent is not None:
        return _replayed_only(entry, row.no_agent)
    if entry.flip in NO_START:
        return _unmeasurable(entry)
    if row.presence == "both" and base.inside and not base.measured and head.measured and not entry.history[1]:
        reason = f"{_what_failed(entry, 'base')} on base alone, so there is nothing to compare with"
        return say(entry, "not_comparable", f"{reason}; {wording.passes_on(head)}")
    if unmeasured := [side for side in _sides(entry) if not entry.tally(side).measured]:
        return _unmeasured(entry, unmeasured)
    if row.presence == "added":
        return say(entry, "added", f"new in the suite; {wording.passes_on(head)}")
    if entry.by_chance:
        return None
    return _repeated(entry)


def _replayed_only(entry: RowSeen, why: NotMeasured) -> Conclusion:
    """Return the conclusion on a row for which no agent may be run, and whose sessions do not replay alike."""
    found = entry.row.replay
    if found is not None and found.difference is not None:
        return say(entry, "unconfirmed", wording.needs_agent(found, found.difference), clears_when="an agent passes")
    reason = f"no agent may be run ({why.replace('_', ' ')}), and {wording.not_replayed(found, doubted=entry.doubted)}"
    return say(entry, "not_measured", reason).model_copy(update={"not_measured": why})


def _sides(entry: RowSeen) -> tuple[Side, ...]:
    """Return the sides that need a measured trial; history replaces base's."""
    return ("head",) if entry.row.presence == "added" or entry.history[1] else ("base", "head")


def _repeated(entry: RowSeen) -> Conclusion:
    """Return the conclusion on a deterministic row whose repeats all agree."""
    base, head = entry.tally("base"), entry.tally("head")
    counts = wording.passes_on(head, base)
    if entry.flip is None and entry.row.earlier.state == "regressed" and not entry.cleared:
        needed = f"at least {entry.passes_to_clear} of its trials pass on head"
        reason = f"regressed in an earlier run, and is not shown to be fixed: {counts}; this takes {needed}"
        return say(entry, "regressed", reason, clears_when=needed)
    if entry.flip is None:
        return say(entry, "ok", wording.nothing_detected(head, base))
    confirmed = entry.flip_is_confirmed
    if entry.flip == "better":
        reason = (
            counts
            if confirmed
            else f"no regression detected: {counts}; {wording.unconfirmed(entry.enough, entry.most)}"
        )
        return say(entry, "improved" if confirmed else "ok", reason)
    lost = f"; {_what_failed(entry, 'head')} in {head.inside} more" if head.inside else ""
    reason = f"{counts}{lost}" if confirmed else f"{counts}{lost}; {wording.unconfirmed(entry.enough, entry.most)}"
    return say(entry, "regressed" if confirmed else "unconfirmed", reason)


def _unmeasurable(entry: RowSeen) -> Conclusion:
    """Return the conclusion on a row that head never measured, for a cause that head can bring about."""
    base, head = entry.tally("base"), entry.tally("head")
    confirmed = entry.flip_is_confirmed
    total, what = len(entry.of("head")), _what_failed(entry, "head")
    reason = f"{what} in {head.inside} of {total} trials on head, in 0 of {base.measured} on base"
    if not confirmed:
        reason = f"{reason}; {wording.unconfirmed(entry.enough, entry.most)}"
    return say(entry, "regressed" if confirmed else "unconfirmed", reason, _kind(head), _clears(entry))


def _doubting_loss(entry: RowSeen, conclusion: Conclusion) -> Conclusion:
    """State that head has trials without an outcome, for an inside cause; if only head has, they leave no row green."""
    base, head = entry.tally("base"), entry.tally("head")
    if not head.inside or base.inside:
        return conclusion
    total, what = len(entry.of("head")), _what_failed(entry, "head")
    if entry.sequential and head.measured and conclusion.state in ("regressed", "unconfirmed"):
        reason = f"{conclusion.reason}; {what} in {head.inside} of {total} trials on head, which count as failed"
        kind = _kind(head) if head.inside > head.fails else conclusion.kind
        return conclusion.model_copy(update={"reason": reason, "kind": kind})
    if conclusion.state not in ("ok", "improved", "flaky"):
        return conclusion
    reason = f"{what} in {head.inside} of {total} trials on head and never on base; {wording.passes_on(head, base)}"
    doubt = {"state": "unconfirmed", "kind": _kind(head), "reason": reason, "clears_when": _clears(entry)}
    return conclusion.model_copy(update=doubt)


def _doubting_base(entry: RowSeen, conclusion: Conclusion) -> Conclusion:
    """Return `base_fails` if a deterministic base fails like head although its history passes."""
    if entry.by_chance or not entry.base_fails or conclusion.state not in ("ok", "unconfirmed"):
        return conclusion
    return _base_fails(entry)


def _base_fails(entry: RowSeen) -> Conclusion:
    reason = wording.base_fails(entry.tally("head"), entry.tally("base"), entry.past)
    clears = "base passes again, it passes on head, or the history records that base fails"
    return say(entry, "baseline_changed", reason, "base_fails", clears)


def _without_key(entry: RowSeen, conclusion: Conclusion) -> Conclusion:
    """Return `not_measured` if the agent's key was refused before the row's trials were done, unless it regressed."""
    refused = [trial for trial in entry.trials if trial.not_measured == "auth"]
    if not refused or conclusion.state in ("regressed", "removed"):
        return conclusion
    reason = f"the agent's key was refused ({refused[0].reason}) in {len(refused)} of {len(entry.trials)} trials"
    return say(entry, "not_measured", reason).model_copy(update={"not_measured": "auth"})


def _kind(head: Tally) -> Literal["setup", "unmeasurable"]:
    return "setup" if head.setup >= head.lost else "unmeasurable"


def _clears(entry: RowSeen) -> str:
    if _kind(entry.tally("head")) == "unmeasurable":
        return "its trials have an outcome on head"
    return f"{_what_failed(entry, 'head').partition(' fails')[0]} succeeds on head"


def _what_failed(entry: RowSeen, side: Side) -> str:
    """`the setup fails`, or `no outcome (record lost: the list of calls is empty)`."""
    tally = entry.tally(side)
    if tally.setup >= tally.lost:
        first = next(t for t in entry.of(side) if t.not_measured in _SETUP_WORDS)
        said = f" ({first.reason})" if first.not_measured == "refused_request" and first.reason else ""
        return f"{_SETUP_WORDS[first.not_measured]} fails{said}"
    first = next(t for t in entry.of(side) if t.lost)
    cause = (first.not_measured or "unfinished").replace("_", " ")
    return f"no outcome ({cause}: {first.reason})" if first.reason else f"no outcome ({cause})"


def _unmeasured(entry: RowSeen, sides: Sequence[Side]) -> Conclusion:
    """Return `not_measured`, with its cause and the first reason given for that cause."""
    trials = [trial for side in sides for trial in entry.of(side)]
    kind = entry.cause(sides)
    detail = next((trial.reason for trial in trials if trial.not_measured == kind and trial.reason), "")
    detail = f": {detail.removeprefix(f'{kind}: ')}" if detail else ""
    reason = f"no trial was measured on {' or '.join(sides)} ({kind}{detail})"
    return say(entry, "not_measured", reason).model_copy(update={"not_measured": kind})


def _compared_once(entries: Sequence[RowSeen], alpha: float) -> dict[RowKey, Conclusion]:
    """Test these rows together, in one shot."""
    findings = compare_once([_pair(entry) for entry in entries], alpha)
    return {entry.row.key: _found(entry, finding) for entry, finding in zip(entries, findings, strict=True)}


def _pair(entry: RowSeen) -> Pair:
    base, head = entry.tally("base"), entry.tally("head")
    return Pair(head.passes, head.measured, base.passes, base.measured)


def _found(entry: RowSeen, finding: Finding) -> Conclusion:
    """Return the conclusion that follows from a row's one-shot tests, with their p-value."""
    conclusion = _verdict_of_tests(entry, finding)
    better = conclusion.state == "improved"
    return conclusion.model_copy(
        update={
            "p": finding.q_better if better else finding.p,
            "level": IMPROVED if better else finding.limit,
            "one_shot": True,
        }
    )


def _verdict_of_tests(entry: RowSeen, finding: Finding) -> Conclusion:
    pair, numbers = _pair(entry), wording.tested(_pair(entry), finding)
    if finding.better:
        return say(entry, "improved", wording.passes_on(entry.tally("head"), entry.tally("base")))
    if finding.worse:
        return say(entry, "regressed", numbers, clears_when=wording.recovered(pair))
    if finding.screen_hit:
        settle = wording.settled_by(pair, finding.limit)
        reason = f"{numbers}: this may be noise; {settle}"
        return say(entry, "unconfirmed", reason, clears_when=f"{wording.recovered(pair)}; {settle}")
    counts = wording.nothing_detected(entry.tally("head"), entry.tally("base"))
    return say(entry, "flaky" if is_flaky((pair.base_pass, pair.base_n)) else "ok", counts)


# --- rows that were screened, and tested on pairs if they looked worse

_CLEARS = "its head trials pass again"
_AS_OFTEN = "its fresh trials pass on head about as often as on base"
_OUT_OF_BUDGET = "the budget ended before it was confirmed; raise `budget`, or run again to go on"


def _screened(entries: Sequence[RowSeen], tests: Mapping[RowKey, RowTest]) -> dict[RowKey, Conclusion]:
    """Return one conclusion per row. Improvements are tested together, on the screening trials only."""
    rows = [tests[entry.row.key] for entry in entries]
    better = bh([fisher_less(*row.compared_with, *row.head) for row in rows])
    return {entry.row.key: _of_test(entry, row, q) for entry, row, q in zip(entries, rows, better, strict=True)}


def _of_test(entry: RowSeen, row: RowTest, q_better: float) -> Conclusion:
    if row.paired is not None:
        return _paired(entry, row.paired)
    counts = wording.compared(row.head, row.compared_with)
    if row.hit or (row.in_doubt and not entry.cut_short):
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


def _worse(row: RowTest) -> bool:
    """Return True if head's pass rate is lower than the rate that it is compared with, by however little."""
    (head, head_n), (base, base_n) = row.head, row.compared_with
    return head * base_n < base * head_n


def _cut_short(entry: RowSeen) -> str:
    if not entry.cut_short:
        return ""
    return f"; the {_what_ended(entry)} ended after {entry.heads_run} of {entry.screening} trials"


def _what_ended(entry: RowSeen) -> str:
    return "budget" if entry.out_of_budget else "run"


def _paired(entry: RowSeen, end: Paired) -> Conclusion:
    """Return the conclusion on a row that was tested on pairs."""
    numbers = wording.paired(end)
    if end.found == "base_fails":
        conclusion = _base_fails(entry)
    elif end.carried:
        reason = f"regressed at an earlier push, and is not shown to be fixed: {numbers}"
        conclusion = say(entry, "regressed", reason, clears_when=_AS_OFTEN)
    elif end.found == "regressed":
        conclusion = say(
            entry,
            "regressed",
            f"{numbers}, verified in a second batch",
            clears_when=_AS_OFTEN,
        )
    elif end.found == "ok":
        reason = f"no regression detected: looked worse at first, but not on fresh trials: {numbers}"
        conclusion = say(entry, "ok", reason)
    else:
        settle = _OUT_OF_BUDGET if entry.out_of_budget else wording.to_settle(end, entry.screening)
        again = ", but the second batch does not show it again" if end.reached else ": this may be noise"
        conclusion = say(entry, "unconfirmed", f"{numbers}{again}; {settle}", clears_when=settle)
    if not end.pairs.number:
        return conclusion
    return conclusion.model_copy(update={"p": end.p, "level": end.limit, "compared": (end.head, end.base)})
