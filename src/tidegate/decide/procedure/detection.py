"""Detection power: how likely the run was to find a regression of a given size.

Reports show it beside "nothing regressed", which is weak evidence when the power is low.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from math import comb
from typing import NamedTuple

from tidegate.decide.procedure.pairs import look
from tidegate.decide.procedure.rules import (
    FIRST_PAIRS,
    LEAST_HISTORY,
    MORE_PAIRS,
    MOST_PAIRS,
    SUSPECT,
    VERIFY_PAIRS,
    limit_of,
)
from tidegate.decide.procedure.screening import drop_odds
from tidegate.decide.statistics.e_process import Pairs, e_of_drop
from tidegate.model.run_row import Counts, Weakness

Trials = tuple[int, int]  # head, base
DROPS = (0.1, 0.2, 0.3, 0.5, 1.0)
ENOUGH = 0.8  # a row that shows a complete failure with at least this probability guards well
RARE = 1e-6  # probability of paths that are left out
GRID = 20  # rates are rounded down to a multiple of 1/20, and histories to a multiple of 4


class Screening(NamedTuple):
    """What a screened row's power depends on. `rate`: base's success rate; `history`: its earlier trials.

    `trials`: head's screening trials; `most`: limit of head trials over all phases.
    """

    trials: int
    rate: float
    history: int = 0
    most: int | None = None


def detection(row: Screening, alpha: float) -> dict[str, float]:
    """Return, for each drop of a screened row's rate, the probability that the run reports it.

    The keys are texts such as "-0.3"; a drop stops at a rate of 0, so that "-1.0" is a complete failure. It is exact
    for a history at the row's own rate, in the first push, if no other row looks worse.
    """
    return {f"-{drop}": _caught(drop, row, alpha) for drop in DROPS}


@cache
def heads_to_confirm(screening: int, limit: float) -> int:
    """Return the least `trials.max` at which a row that fails completely is found at that limit."""
    pairs = FIRST_PAIRS
    while e_of_drop(Pairs(pairs, 0, pairs)) * limit < 1:
        pairs += 1
    return screening + pairs + VERIFY_PAIRS


def weakness(row: Screening, alpha: float) -> Weakness | None:
    """Return what a row cannot show; None if a complete failure is found in most runs."""
    found = _caught(1.0, row, alpha)
    if found >= ENOUGH:
        return None
    return Weakness(found=round(found, 2), rate=round(row.rate, 2))


def _caught(drop: float, row: Screening, alpha: float) -> float:
    limit = limit_of(alpha)
    if not row.trials or (row.most and row.most < heads_to_confirm(row.trials, limit)):
        return 0.0
    base = int(row.rate * GRID + 1e-9) / GRID
    head = max(0.0, base - drop)
    most = MOST_PAIRS if row.most is None else min(MOST_PAIRS, row.most - row.trials - VERIFY_PAIRS)
    return _noticed(head, base, row.trials, row.history // 4 * 4) * found_on_pairs(head, base, limit, most)


@cache
def _noticed(head: float, base: float, screening: int, history: int) -> float:
    """Return the probability that screening trials at these rates look worse than base's history, or its trials."""
    if history < LEAST_HISTORY:
        return _looks_worse(head, base, screening, None)
    pasts = ((passes, _binomial(passes, history, base)) for passes in range(history + 1))
    return sum(chance * _looks_worse(head, base, screening, (p, history)) for p, chance in pasts if chance > 1e-3)


def _looks_worse(head: float, base: float, screening: int, past: Counts | None) -> float:
    going, noticed = {(0, 0): 1.0}, 0.0
    for turn in range(1, 2 * screening + 1):
        reached = _next(going, head, 0.0 if past else base)
        going = {}
        for (heads, bases), chance in reached.items():
            odds = drop_odds(heads, turn, *(past or (bases, turn))) if heads < turn else -1.0
            if odds >= SUSPECT:
                noticed += chance
            elif turn < screening or odds > 0:
                going[heads, bases] = chance
    return noticed


def _next(going: Mapping[Trials, float], head: float, base: float) -> dict[Trials, float]:
    """Return the probabilities of the passes of head and base after one more trial of each."""
    reached: defaultdict[Trials, float] = defaultdict(float)
    for (heads, bases), chance in going.items():
        for more_head, share in ((0, 1 - head), (1, head)):
            for more_base, other in ((0, 1 - base), (1, base)):
                reached[heads + more_head, bases + more_base] += chance * share * other
    return {counts: chance for counts, chance in reached.items() if chance > RARE}


@cache
def found_on_pairs(head: float, base: float, limit: float, most: int) -> float:
    """Return the probability that pairs at these rates reach the limit, and show the drop again after the pause."""
    found = 0.0
    going: dict[Trials, float] = {(0, 0): 1.0}
    for count in range(1, most + 1):
        going = _next(going, head, base)
        if count not in range(FIRST_PAIRS, most + 1, MORE_PAIRS):
            continue
        for (heads, bases), chance in list(going.items()):
            end = look(Pairs(count, heads, bases), most - count, limit)
            if end is not None:
                del going[heads, bases]
                found += chance * _again(Pairs(count, heads, bases), head, base, limit) if end == "reached" else 0.0
    return found


def _again(pairs: Pairs, head: float, base: float, limit: float) -> float:
    """Return the probability that the verification of these pairs succeeds."""
    more, shown = VERIFY_PAIRS, 0.0
    for bases in range(more + 1):
        for heads in range(bases):
            if e_of_drop(pairs.plus(more, heads, bases)) * limit >= 1:
                shown += _binomial(heads, more, head) * _binomial(bases, more, base)
    return shown


def _binomial(passes: int, trials: int, rate: float) -> float:
    return comb(trials, passes) * rate**passes * (1 - rate) ** (trials - passes)
