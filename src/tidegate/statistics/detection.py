"""What a run would have caught: said beside every "nothing regressed", since silence alone proves little."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from tidegate.statistics.confirm import Confirmation, Confirmed
from tidegate.statistics.one_shot import power
from tidegate.statistics.rules import Facts, Rules, level

DROPS = (0.3, 0.5, 1.0)
Trials = tuple[int, int]  # head, base

# By simulation of the procedure with one row whose base always passes, at alpha .02 (.01 and .05 differ little), with
# 40 trials of history and without: by head's screening trials, one number for each of DROPS.
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
    """What decides how much a row's screening sees: head trials in it, history or not, head trials over all phases."""

    trials: int
    with_history: bool
    most: int | None = None


def detection(
    tested: Sequence[Trials], repeated: Sequence[bool], alpha: float, screened: Sequence[Screening] = ()
) -> dict[str, float]:
    """Drop of one scenario's rate from 1.0 → probability that the run would have named it; the mean over its rows.

    `tested`: the measured trials of every row that is tested, alone against Holm's first limit, since the others have
    not dropped; exact. `repeated`: for every deterministic row, whether a flip could be confirmed; these can drop from
    all to nothing only, so the smaller drops are means over the other rows, and left out if there are none.
    `screened`: rows that are screened, confirmed and verified: simulated once and for all, since they are sequential.
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
def can_confirm(row: Screening, alpha: float) -> bool:
    """Whether it could be confirmed that a row stopped working altogether, with the head trials that it may have."""
    history = (40, 40) if row.with_history else (0, 0)
    rules, screened = Rules(alpha=alpha), (row.trials, row.trials)
    limit = level(rules, 1, row.with_history)
    steps = Confirmation(0, Facts(history, row.trials, row.most), screened, limit, rules, []).run()
    try:
        asks = next(steps)
        while True:
            asks = steps.send([ask.side == "base" for ask in asks])
    except StopIteration as end:
        confirmed: Confirmed = end.value
        return confirmed.found == "regressed"


def _caught(drop: float, row: Screening, alpha: float) -> float:
    if not (row.trials and can_confirm(row, alpha)):
        return 0.0
    table = _WITH_HISTORY if row.with_history else _WITHOUT
    return table[min(row.trials, max(table))][DROPS.index(drop)]
