"""The numbers of a row as plain words, for people who do not read p-values."""

from __future__ import annotations

from tidegate.statistics.one_shot import Finding, Pair, fewest_passes, trials_to_settle
from tidegate.statistics.repeats import BASE_TRIALS, HEAD_TRIALS, Tally


def passes_on(head: Tally, base: Tally | None = None) -> str:
    """`passes 0 of 3 trials on head, 2 of 2 on base`."""
    text = f"passes {head.passes} of {head.measured} trials on head"
    return text if base is None else f"{text}, {base.passes} of {base.measured} on base"


def nothing_detected(head: Tally, base: Tally) -> str:
    """The sentence of an `ok` row: never more than that nothing was detected."""
    if head.passes or base.passes:
        return f"no regression detected: {passes_on(head, base)}"
    return f"no regression detected; fails on both sides: {passes_on(head, base)}"


def unconfirmed(most: int | None) -> str:
    """Why a flip stayed unconfirmed; `most`: the head trials that the row may have."""
    rule = f"not confirmed: that takes {HEAD_TRIALS} such trials on head and {BASE_TRIALS} on base"
    return f"{rule}, but trials.max allows {most} on head" if most is not None and most < HEAD_TRIALS else rule


def tested(pair: Pair, finding: Finding) -> str:
    """`passes 0 of 5 trials on head, 5 of 5 on base (p = 0.004, limit 0.02)`."""
    counts = f"passes {pair.head_pass} of {pair.head_n} trials on head, {pair.base_pass} of {pair.base_n} on base"
    return f"{counts} (p = {finding.p:.2g}, limit {finding.limit:.2g})"


def settled_by(pair: Pair, limit: float) -> str:
    """How many trials would tell a drop like this one from chance."""
    trials = trials_to_settle(pair, limit)
    if trials is None:
        return "at these rates more than 200 trials a side would be needed to settle it"
    return f"at these rates {trials} trials a side would settle it"


def recovered(pair: Pair) -> str:
    """What head has to show for the row to be `ok` again."""
    return f"at least {fewest_passes(pair)} of {pair.head_n} trials pass on head"
