"""Determine the state of each row from its observed trials, also where all are tested at once (verdict.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb
from typing import Any, Literal, NamedTuple

from tidegate.decide.procedure.detection import heads_to_confirm
from tidegate.decide.procedure.observed import RowSeen, in_outage, is_lost, setup_failed
from tidegate.decide.procedure.pairs import Paired, RowTest
from tidegate.decide.procedure.rules import NO_START, Tally
from tidegate.decide.statistics.rates import TIES, Pair, bh, fisher_less, fisher_midp_less, holm
from tidegate.model.plan import RowKey
from tidegate.model.run_row import Counts, Kind, Reason, ReasonCode
from tidegate.model.suite import RowState
from tidegate.model.trial_spec import NotMeasured, Side
from tidegate.model.value import Value

UNANSWERED = 0.25  # limit of p for "more of head's trials met an outage": two of three, and none of base's
FLAKY_BELOW, FLAKY_FROM = 0.7, 10  # a row is flaky below this pass rate, over at least this many base trials
GREEN: tuple[RowState, ...] = ("ok", "improved", "flaky")


class Conclusion(Value):
    """The state of one row, and why. `not_measured`: what kept the row from being measured, if that is its state.

    `why.p` is one-sided. For `improved` rows, it is from the opposite test, adjusted for all rows.
    """

    key: RowKey
    state: RowState
    why: Reason
    kind: Kind = "outcome"
    one_shot: bool = False
    deterministic: bool = False
    not_measured: NotMeasured | None = None
    demoted: bool = False  # declared deterministic, but its repeats disagree

    def doubted(self, code: ReasonCode, kind: Kind, **why: Any) -> Conclusion:
        """Return the conclusion as `unconfirmed`, for this reason; what was tested stays."""
        reason = self.why.model_copy(update={"code": code, **why})
        return self.model_copy(update={"state": "unconfirmed", "kind": kind, "why": reason, "not_measured": None})


def conclusions_of(entries: Sequence[RowSeen], alpha: float, tests: Mapping[RowKey, RowTest]) -> tuple[Conclusion, ...]:
    """Return one conclusion per row, in order. Rows not in `tests` are tested together, at family level `alpha`."""
    settled = {entry.row.key: conclusion for entry in entries if (conclusion := _settled(entry)) is not None}
    open_ones = [entry for entry in entries if entry.row.key not in settled]
    once = _compared_once([entry for entry in open_ones if entry.row.key not in tests], alpha)
    found = settled | once | _screened([entry for entry in open_ones if entry.row.key in tests], tests)
    said = ((entry, _doubting_failures(entry, found[entry.row.key])) for entry in entries)
    based = ((entry, _doubting_base(entry, conclusion)) for entry, conclusion in said)
    doubted = ((entry, _doubting_outages(entry, _doubting_loss(entry, conclusion))) for entry, conclusion in based)
    return tuple(_without_key(entry, _doubting_passes(entry, conclusion)) for entry, conclusion in doubted)


def is_flaky(base: Counts) -> bool:
    """Return True if base itself fails often: a label, since flaky rows are screened and confirmed like all others.

    Only base's trials count, so that a pull request cannot excuse its own regression.
    """
    passes, trials = base
    return trials >= FLAKY_FROM and passes < FLAKY_BELOW * trials


def _concluded(
    entry: RowSeen,
    state: RowState,
    code: ReasonCode,
    kind: Kind = "outcome",
    not_measured: NotMeasured | None = None,
    **why: Any,
) -> Conclusion:
    return Conclusion(
        key=entry.row.key,
        state=state,
        why=Reason(code=code, **why),
        kind=kind,
        deterministic=entry.row.deterministic and not entry.demoted,
        not_measured=not_measured,
        demoted=entry.demoted,
    )


def _settled(entry: RowSeen) -> Conclusion | None:
    """Return the conclusion for a row that needs no statistical test; None if its pass rates have to be compared."""
    row, base, head = entry.row, entry.tally("base"), entry.tally("head")
    if entry.skipped:
        return _concluded(entry, "unchanged", "replayed")
    if row.presence == "removed":
        return _concluded(entry, "removed", "removed")
    if row.no_agent is not None:
        return _replayed_only(entry, row.no_agent)
    if entry.flip in NO_START or (entry.flip == "outage" and entry.flip_is_confirmed):
        return _unmeasurable(entry)
    if row.presence == "both" and base.inside and not base.measured and head.measured and not entry.history[1]:
        return _concluded(entry, "not_comparable", "base_lost", head=head.counts, **_loss(entry, "base"))
    if unmeasured := tuple(side for side in _sides(entry) if not entry.tally(side).measured):
        return _unmeasured(entry, unmeasured)
    if row.presence == "added":
        return _concluded(entry, "added", "added", head=head.counts)
    return None if entry.by_chance else _repeated(entry)


def _replayed_only(entry: RowSeen, cause: NotMeasured) -> Conclusion:
    """Return the conclusion on a row for which no agent may be run, and whose sessions do not replay alike."""
    replay = entry.row.replay
    if replay is not None and replay.difference is not None:
        return _concluded(entry, "unconfirmed", "replay_differs")
    spot = entry.doubted and replay is not None and replay.skipped
    return _concluded(entry, "not_measured", "no_agent", not_measured=cause, cause=cause, doubted=spot)


def _sides(entry: RowSeen) -> tuple[Side, ...]:
    """Return the sides that need a measured trial; history replaces base's."""
    return ("head",) if entry.row.presence == "added" or entry.history[1] else ("base", "head")


def _counts(entry: RowSeen) -> dict[str, Any]:
    return {side: entry.tally(side).counts for side in ("head", "base")}


def _needs(entry: RowSeen) -> dict[str, Any]:
    """Return the trials that would confirm the row's flip; none if it is confirmed."""
    if entry.flip_is_confirmed:
        return {}
    return {"needs": (entry.enough.head, entry.enough.base), "most": entry.most}


def _repeated(entry: RowSeen) -> Conclusion:
    """Return the conclusion on a deterministic row whose repeats all agree."""
    counts, confirmed = _counts(entry), entry.flip_is_confirmed
    if entry.flip is None and entry.row.earlier.state == "regressed" and not entry.cleared:
        return _concluded(entry, "regressed", "repeats", carried=True, enough=entry.passes_to_clear, **counts)
    if entry.flip is None:
        return _concluded(entry, "ok", "repeats", **counts)
    if entry.flip == "better":
        return _concluded(entry, "improved" if confirmed else "ok", "repeats", **counts, **_needs(entry))
    lost = _loss(entry, "head") if entry.tally("head").inside else {}
    return _concluded(entry, "regressed" if confirmed else "unconfirmed", "repeats", **counts, **lost, **_needs(entry))


def _unmeasurable(entry: RowSeen) -> Conclusion:
    """Return the conclusion on a row that head never measured, for a cause that head can bring about.

    An outage proves no defect of head.
    """
    state: RowState = "regressed" if entry.flip != "outage" and entry.flip_is_confirmed else "unconfirmed"
    base, kind = entry.tally("base").counts, _kind(entry.tally("head"))
    return _concluded(entry, state, "lost", kind, base=base, **_loss(entry, "head"), **_needs(entry))


def _doubting_loss(entry: RowSeen, conclusion: Conclusion) -> Conclusion:
    """State that head has trials without an outcome, for an inside cause; if only head has, they leave no row green."""
    base, head = entry.tally("base"), entry.tally("head")
    if not head.inside or base.inside:
        return conclusion
    if entry.sequential and head.measured and conclusion.state in ("regressed", "unconfirmed"):
        kind = _kind(head) if head.inside > head.fails else conclusion.kind
        return conclusion.model_copy(
            update={"why": conclusion.why.model_copy(update=_loss(entry, "head")), "kind": kind}
        )
    if conclusion.state not in GREEN:
        return conclusion
    return conclusion.doubted("some_lost", _kind(head), **_loss(entry, "head"))


def _doubting_outages(entry: RowSeen, conclusion: Conclusion) -> Conclusion:
    """State that models left more of head's trials unanswered than of base's: what a tool prints can be why."""
    base, head = entry.tally("base"), entry.tally("head")
    if conclusion.state not in GREEN or not head.outages or entry.row.presence != "both":
        return conclusion
    asked = head.measured + head.outages
    of_base = max(asked, base.measured + base.outages)
    if fisher_less(head.measured, asked, of_base - base.outages, of_base) > UNANSWERED * TIES:
        return conclusion
    return conclusion.doubted("some_lost", "unmeasurable", **_loss(entry, "head"))


def _doubting_passes(entry: RowSeen, conclusion: Conclusion) -> Conclusion:
    """State that passes of head prove nothing, since they change what checks may use; they leave no row green."""
    head = entry.of("head")
    rewritten = [trial.reason for trial in head if trial.not_measured == "rewritten"]
    if not rewritten or entry.row.presence != "both":
        return conclusion
    if not (conclusion.not_measured == "rewritten" or conclusion.state in (*GREEN, "unconfirmed")):
        return conclusion
    why = {"cause": "rewritten", "detail": rewritten[0], "lost": (len(rewritten), len(head))}
    return conclusion.doubted("some_lost", "rewritten", head=conclusion.why.head or entry.tally("head").counts, **why)


def _doubting_failures(entry: RowSeen, conclusion: Conclusion) -> Conclusion:
    """Return `unconfirmed` for a deterministic row that base sometimes passes and head never: base's failures may be
    head's doing, who runs beside it.
    """
    never = not entry.tally("head").passes and entry.tally("base").passes > 0
    if not (entry.demoted and never and conclusion.state in GREEN):
        return conclusion
    return _concluded(entry, "unconfirmed", "never_passes", **_counts(entry))


def _doubting_base(entry: RowSeen, conclusion: Conclusion) -> Conclusion:
    """Return `base_fails` if a deterministic base fails like head although its history passes."""
    if entry.by_chance or not entry.base_fails or conclusion.state not in ("ok", "unconfirmed"):
        return conclusion
    return _base_fails(entry, _counts(entry))


def _base_fails(entry: RowSeen, tested: Mapping[str, Any]) -> Conclusion:
    return _concluded(entry, "baseline_changed", "base_fails", "base_fails", past=entry.past.counts, **tested)


def _without_key(entry: RowSeen, conclusion: Conclusion) -> Conclusion:
    """Return `not_measured` if the agent's key was refused before the row's trials were done, unless it regressed."""
    refused = [trial for trial in entry.trials if trial.not_measured == "auth"]
    if not refused or conclusion.state in ("regressed", "removed"):
        return conclusion
    lost = len(refused), len(entry.trials)
    return _concluded(
        entry, "not_measured", "key_refused", not_measured="auth", cause="auth", detail=refused[0].reason, lost=lost
    )


def _kind(head: Tally) -> Literal["setup", "unmeasurable"]:
    return "setup" if head.setup > 0 and head.setup >= head.lost else "unmeasurable"


def _loss(entry: RowSeen, side: Side) -> dict[str, Any]:
    """Return how many of the side's trials have no outcome, and the first one's cause: inside causes, or outages."""
    tally, trials = entry.tally(side), entry.of(side)
    lost = (setup_failed if _kind(tally) == "setup" else is_lost) if tally.inside else in_outage
    first = next(filter(lost, trials))
    return {
        "cause": first.not_measured or "unfinished",
        "detail": first.reason,
        "lost": (tally.inside or tally.outages, len(trials)),
    }


def _unmeasured(entry: RowSeen, sides: tuple[Side, ...]) -> Conclusion:
    """Return `not_measured`, with its cause and the first reason given for that cause; a row that was red stays so."""
    if entry.row.earlier.state == "regressed" and entry.row.presence == "both":
        enough = entry.passes_to_clear
        return _concluded(entry, "regressed", "repeats", carried=True, enough=enough, **_counts(entry))
    trials = [trial for side in sides for trial in entry.of(side)]
    cause = entry.cause(sides)
    detail = next((trial.reason for trial in trials if trial.not_measured == cause and trial.reason), "")
    return _concluded(entry, "not_measured", "unmeasured", not_measured=cause, cause=cause, sides=sides, detail=detail)


def _compared_once(entries: Sequence[RowSeen], alpha: float) -> dict[RowKey, Conclusion]:
    """Test these rows together, in one shot."""
    pairs = [Pair(*entry.tally("head").counts, *entry.tally("base").counts) for entry in entries]
    found = zip(entries, pairs, compare_once(pairs, alpha), strict=True)
    return {entry.row.key: _of_finding(entry, pair, finding) for entry, pair, finding in found}


def _of_finding(entry: RowSeen, pair: Pair, finding: OneShot) -> Conclusion:
    why: dict[str, Any] = {"p": finding.p, "limit": finding.limit}
    state: RowState = "flaky" if is_flaky((pair.base_pass, pair.base_n)) else "ok"
    if finding.better:
        state, why = "improved", {"p": finding.q_better, "limit": IMPROVED}
    elif finding.worse:
        state = "regressed"
    elif finding.screen_hit:
        state = "unconfirmed"
    return _concluded(entry, state, "one_shot", **_counts(entry), **why).model_copy(update={"one_shot": True})


# --- rows that were screened, and tested on pairs if they looked worse


def _screened(entries: Sequence[RowSeen], tests: Mapping[RowKey, RowTest]) -> dict[RowKey, Conclusion]:
    """Return one conclusion per row. Improvements are tested together, on the screening trials only."""
    rows = [tests[entry.row.key] for entry in entries]
    better = bh([fisher_less(*row.compared_with, *row.head) for row in rows])
    return {entry.row.key: _of_test(entry, row, q) for entry, row, q in zip(entries, rows, better, strict=True)}


def _of_test(entry: RowSeen, row: RowTest, q_better: float) -> Conclusion:
    if row.paired is not None:
        return _paired(entry, row.paired)
    why: dict[str, Any] = {"head": row.head, "base": row.compared_with}
    ended: dict[str, Any] = {"ended": "budget" if entry.out_of_budget else "run"}
    cut: dict[str, Any] = {**ended, "done": (entry.heads_run, entry.screening)} if entry.cut_short else {}
    if row.hit or (row.in_doubt and not entry.cut_short):
        return _concluded(entry, "unconfirmed", "screened", **why, **ended)
    planned = entry.trials_per_side["head"]
    if (entry.cut_short or row.head[1] < planned) and _worse(row):
        # A regression, the budget or an outage took trials of the row while it was looking worse: "ok" would be wrong.
        return _concluded(entry, "unconfirmed", "screened", **why, **(cut or {"done": (row.head[1], planned)}))
    if q_better <= IMPROVED * TIES:
        return _concluded(entry, "improved", "screened", **why, p=q_better, limit=IMPROVED)
    return _concluded(entry, "flaky" if is_flaky(entry.history) else "ok", "screened", **why, **cut)


def _worse(row: RowTest) -> bool:
    """Return True if head's pass rate is lower than the rate that it is compared with, by however little."""
    (head, head_n), (base, base_n) = row.head, row.compared_with
    return head * base_n < base * head_n


def _paired(entry: RowSeen, end: Paired) -> Conclusion:
    """Return the conclusion on a row that was tested on pairs."""
    why: dict[str, Any] = {"head": end.head, "base": end.base}
    if end.pairs.number:
        why |= {"p": end.p, "limit": end.limit}
    if end.found == "base_fails":
        return _base_fails(entry, why)
    why |= {"carried": end.carried, "reached": end.reached}
    if end.found == "unconfirmed" and entry.out_of_budget:
        why["ended"] = "budget"
    elif end.found == "unconfirmed" and end.cut:
        why["enough"] = heads_to_confirm(entry.screening, end.limit)
    return _concluded(entry, end.found, "pairs", **why)


SCREEN = 0.25  # limit of the mid-p for "looks worse"
IMPROVED = 0.05  # false discovery rate of improvements


class OneShot(NamedTuple):
    """The one-shot tests of one row: p and Holm's limit for "worse", the BH-adjusted q for "better"."""

    p: float
    limit: float
    worse: bool
    screen_hit: bool
    q_better: float

    @property
    def better(self) -> bool:
        """True if the test in the opposite direction found an improvement."""
        return self.q_better <= IMPROVED * TIES


def compare_once(pairs: Sequence[Pair], alpha: float) -> list[OneShot]:
    """Test all rows together: Fisher with Holm at `alpha` for "worse", Fisher with BH at 0.05 for "better"."""
    p_values = [fisher_less(*pair) for pair in pairs]
    limits = holm(p_values, alpha)
    worse = [p <= limit * TIES for p, limit in zip(p_values, limits, strict=True)]
    screen_hits = [fisher_midp_less(*pair) <= SCREEN * TIES for pair in pairs]
    q_better = bh([fisher_less(pair.base_pass, pair.base_n, pair.head_pass, pair.head_n) for pair in pairs])
    return [OneShot(*row) for row in zip(p_values, limits, worse, screen_hits, q_better, strict=True)]


def power(rate: float, head_n: int, base_n: int, limit: float) -> float:
    """Return the probability that Fisher's p is within `limit` if base always passes and head passes at `rate`."""
    return sum(
        comb(head_n, x) * rate**x * (1 - rate) ** (head_n - x)
        for x in range(head_n + 1)
        if fisher_less(x, head_n, base_n, base_n) <= limit * TIES
    )
