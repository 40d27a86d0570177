"""Sentences and phrases that state a row's numbers."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from tidegate.model.row_replay import Difference, RowReplay
from tidegate.procedure.confirm import Confirmed, verify_bases
from tidegate.procedure.detection import heads_to_confirm
from tidegate.procedure.one_shot import Finding, fewest_passes, trials_to_settle
from tidegate.procedure.repeats import Enough, Tally
from tidegate.procedure.rules import DELTA, Counts, Rules, concurrent_limit
from tidegate.statistics.exact import fisher_less
from tidegate.statistics.pair import Pair
from tidegate.statistics.sequential import TIES, p_seq
from tidegate.text.scores import p_text

MOST_FRESH = 60  # the largest number of fresh head trials that reports suggest


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


# --- screen, confirm and verify


def compared(head: Counts, base: Counts) -> str:
    """Return `passes 2 of 3 trials on head, 40 of 40 on base`."""
    return f"passes {head[0]} of {head[1]} trials on head, {base[0]} of {base[1]} on base"


def confirmed(end: Confirmed) -> str:
    """Return `passes 0 of 5 fresh trials on head, 50 of 50 on base (p = 1.9e-7, limit 0.01)`."""
    test = f" (p = {p_text(end.p)}, limit {p_text(end.level)})" if end.p is not None else ""
    return f"passes {end.head[0]} of {end.head[1]} fresh trials on head, {end.base[0]} of {end.base[1]} on base{test}"


def seen_once(end: Confirmed) -> str:
    """Return why a drop within its limit is not confirmed: the verification does not show it, or was not possible."""
    if end.beside is None:
        return f"{confirmed(end)}, but no trial was left to verify it"
    p, limit = end.beside
    if p > limit:
        alone = f"{end.fresh[0]} of {end.fresh[1]} pass (p = {p:.2g}, limit {limit:.2g})"
        return f"{confirmed(end)}, but against base's fresh trials alone it is not significant: {alone}"
    return f"{confirmed(end)}, but the second batch does not show it again"


def moved(end: Confirmed, history: Counts) -> str:
    """Return base's pass count now and in its history."""
    now, before = end.fresh, history
    return (
        f"base itself passes {now[0]} of {now[1]} trials now, {before[0]} of {before[1]} before: "
        "something outside the repository changed, for example the provider"
    )


def enough_passes(end: Confirmed) -> int:
    """Return how many head trials, of the same number, have to pass to be within DELTA of base's rate."""
    return ceil((end.base[0] / end.base[1] - DELTA) * end.head[1] - 1e-9)


def to_settle(end: Confirmed, screening: int) -> str:
    """Return what would settle an unconfirmed row: the `trials.max` that allows the head trials that it takes."""
    if not end.head[1]:
        enough = heads_to_confirm(screening, not end.alone, end.level)
        return f"trials.max allows no confirmation; set it to at least {enough} for this scenario"
    needed = fresh_heads(end)
    if needed is None:
        return f"at these rates more than {MOST_FRESH} fresh head trials are needed"
    return (
        f"at these rates about {needed} fresh head trials are needed: set trials.max to {screening + needed} for this "
        "scenario"
    )


def fresh_heads(end: Confirmed) -> int | None:
    """Return how many fresh head trials would confirm a drop at these rates, in steps of 5; None if over MOST_FRESH."""
    rules, (passes, trials), (base, base_n) = Rules(), end.head, end.base
    if not (trials and base_n):
        return None
    limit = concurrent_limit(rules, 0 if end.alone else base_n - end.fresh[1])
    for heads in range(trials - trials % 5 + 5, MOST_FRESH + 1, 5):
        before = heads - rules.verify_heads  # the drop has to show before the verification, and after it
        fresh = before if end.alone else verify_bases(rules, heads)
        bases = before if end.alone else base_n
        head = ceil(passes / trials * before)
        looks = tuple((n, n if end.alone else base_n) for n in range(rules.first_heads, heads + 1))
        p = p_seq(fisher_less(head, before, int(base / base_n * bases), bases), looks)
        beside = fisher_less(head, before, int(base / base_n * fresh), fresh)
        if p <= end.level * TIES and beside <= limit:
            return heads
    return None
