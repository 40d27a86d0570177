"""Detection power: how likely the run was to find a regression of a given size.

Reports show it beside "nothing regressed", which is weak evidence when the power is low.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from tidegate.procedure.confirm import Confirmation, Confirmed
from tidegate.procedure.one_shot import power
from tidegate.procedure.rules import Facts, Rules, level

DROPS = (0.3, 0.5, 1.0)
Trials = tuple[int, int]  # head, base

# Simulated with one row whose base always passes, at alpha .02 (.01 and .05 differ little), with 40 trials of history
# and without. Keys: head's screening trials. Values: detection probability for each of DROPS.
_WITH_HISTORY = {
    1: (0.15, 0.42, 1.0),
    2: (0.25, 0.62, 1.0),
    3: (0.31, 0.73, 1.0),
    4: (0.36, 0.78, 1.0),
    5: (0.41, 0.80, 1.0),
}
_WITHOUT = {
    1: (0.01, 0.14, 1.0),
    2: (0.02, 0.25, 1.0),
    3: (0.04, 0.34, 1.0),
    4: (0.05, 0.38, 1.0),
    5: (0.08, 0.44, 1.0),
}


class Screening(NamedTuple):
    """What a screened row's power depends on: head's screening trials, history, and the limit `most` of head trials."""

    trials: int
    with_history: bool
    most: int | None = None


def detection(
    tested: Sequence[Trials], repeated: Sequence[bool], alpha: float, screened: Sequence[Screening] = ()
) -> dict[str, float]:
    """Return, for each drop of one row's rate from 1.0, the probability that the run reports it: a mean over the rows.

    The keys are texts such as "-0.3".
    `tested`: trials of each row tested in one shot. Its power is exact, at Holm's first limit, as only it has dropped.
    `repeated`: for each deterministic row, whether a flip could be confirmed. Such a row can only drop to 0, so it
    counts in the drop of 1.0 alone; the smaller drops are omitted if there are no other rows.
    `screened`: rows that are screened, confirmed and verified. Their power is taken from a simulated table.
    """
    table: dict[str, float] = {}
    for drop in DROPS:
        chances = [power(1 - drop, head, base, alpha / len(tested)) for head, base in tested]
        chances += [_caught(drop, row, alpha) for row in screened]
        if drop == 1:
            chances += [float(caught) for caught in repeated]
        if chances:
            table[f"-{drop}"] = sum(chances) / len(chances)
    return table


@cache
def heads_to_confirm(screening: int, with_history: bool, alpha: float) -> int:
    """Return how many head trials, with those of the screening, it takes to confirm a row that fails completely."""
    history = (40, 40) if with_history else (0, 0)
    rules = Rules(alpha=alpha)
    limit = level(rules, 1, with_history)
    steps = Confirmation(0, Facts(history, screening), (screening, screening), limit, rules, []).run()
    try:
        asks = next(steps)
        while True:
            asks = steps.send([ask.side == "base" for ask in asks])
    except StopIteration as end:
        confirmed: Confirmed = end.value
        return screening + confirmed.head[1]


def _caught(drop: float, row: Screening, alpha: float) -> float:
    if not row.trials or (row.most and row.most < heads_to_confirm(row.trials, row.with_history, alpha)):
        return 0.0
    table = _WITH_HISTORY if row.with_history else _WITHOUT
    return table[min(row.trials, max(table))][DROPS.index(drop)]
