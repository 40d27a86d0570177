"""Sentences and phrases that state a row's numbers."""

from __future__ import annotations

from collections.abc import Sequence

from tidegate.decide.procedure.detection import heads_to_confirm
from tidegate.decide.procedure.one_shot import Finding, fewest_passes, trials_to_settle
from tidegate.decide.procedure.pairs import Paired
from tidegate.decide.procedure.repeats import Enough, Tally
from tidegate.decide.procedure.rules import Counts
from tidegate.decide.statistics.pair import Pair
from tidegate.model.row_replay import Difference, RowReplay
from tidegate.text.scores import p_text


def replayed(found: RowReplay) -> str:
    """Describe a row for which no agent was run."""
    return (
        f"{found.same} recorded sessions of base replay alike on both sides, in all {found.steps} steps; no agent was"
        f" run (chance that a new session does something that none of them did: {found.unseen:.0%})"
    )


def needs_agent(found: RowReplay, difference: Difference) -> str:
    """Describe a row whose sessions differ, and for which no agent may be run."""
    gates = f"; in a replay on head fails: {', '.join(found.failing)}" if found.failing else ""
    where = f"{found.differing} of {found.same + found.differing} recorded sessions differ on head"
    step = f"at `{difference.step}` ({difference.base} → {difference.head})"
    return f"needs an agent to confirm it: {where}, first {step}{gates}"


def base_fails(head: Tally, base: Tally, past: Sequence[bool]) -> str:
    """Describe a row in which base fails like head, although its history passes."""
    return (
        f"base passes {base.passes} of {base.measured} trials in this run, but {sum(past)} of {len(past)} in its"
        f" history, and head passes {head.passes} of {head.measured}: unknown whether head is worse, as something that"
        " it left behind may make base fail"
    )


def not_replayed(found: RowReplay | None, *, doubted: bool) -> str:
    """Return why recorded sessions do not stand in for an agent. `doubted`: a spot check of another row looks worse."""
    if found is None:
        return "base has no recorded session of it"
    return "a spot check of another row looks worse" if doubted and found.skipped else found.why_run


def passes_on(head: Tally, base: Tally | None = None) -> str:
    """Return `passes 0 of 3 trials on head, 2 of 2 on base`."""
    text = f"passes {head.passes} of {head.measured} trials on head"
    return text if base is None else f"{text}, {base.passes} of {base.measured} on base"


def nothing_detected(head: Tally, base: Tally) -> str:
    """Return the sentence of an `ok` row. It claims only that nothing was detected, not that nothing regressed."""
    if head.passes or base.passes:
        return f"no regression detected: {passes_on(head, base)}"
    return f"no regression detected; fails on both sides: {passes_on(head, base)}"


def unconfirmed(enough: Enough, most: int | None) -> str:
    """Return why a flip is unconfirmed. `most`: the limit of the row's head trials."""
    rule = f"not confirmed: that takes {enough.head} such trials on head and {enough.base} on base"
    return f"{rule}, but trials.max allows {most} on head" if most is not None and most < enough.head else rule


def tested(pair: Pair, finding: Finding) -> str:
    """Return `passes 0 of 5 trials on head, 5 of 5 on base (p = 0.004, limit 0.02)`."""
    counts = f"passes {pair.head_pass} of {pair.head_n} trials on head, {pair.base_pass} of {pair.base_n} on base"
    return f"{counts} (p = {p_text(finding.p)}, limit {p_text(finding.limit)})"


def settled_by(pair: Pair, limit: float) -> str:
    """Return how many trials per side would make a drop like this one significant."""
    trials = trials_to_settle(pair, limit)
    if trials is None:
        return "at these rates more than 200 trials per side are needed"
    return f"at these rates {trials} trials per side are needed"


def recovered(pair: Pair) -> str:
    """Return the condition under which the row is `ok` again."""
    return f"at least {fewest_passes(pair)} of {pair.head_n} trials pass on head"


# --- rows that were screened, and tested on pairs


def compared(head: Counts, base: Counts) -> str:
    """Return `passes 2 of 3 trials on head, 40 of 40 on base`."""
    return f"passes {head[0]} of {head[1]} trials on head, {base[0]} of {base[1]} on base"


def paired(end: Paired) -> str:
    """Return `passes 0 of 11 fresh trials on head, 11 of 11 on base (p = 0.0001, limit 0.005)`."""
    test = f" (p = {p_text(end.p)}, limit {p_text(end.limit)})" if end.pairs.number else ""
    return f"passes {end.head[0]} of {end.head[1]} fresh trials on head, {end.base[0]} of {end.base[1]} on base{test}"


def to_settle(end: Paired, screening: int) -> str:
    """Return what would settle an unconfirmed row."""
    if end.cut:
        enough = heads_to_confirm(screening, end.limit)
        return f"trials.max ended the test; set it to at least {enough} for this scenario"
    return "more trials of it may settle it: push again, or run `tidegate run` on both sides"
