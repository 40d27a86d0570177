"""Detection power: how likely the run was to find a regression of a given size.

Reports show it beside "nothing regressed", which is weak evidence when the power is low.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import count
from typing import NamedTuple

from tidegate.procedure.confirm import Confirmation, Confirmed
from tidegate.procedure.detection_power import DROPS, POWER
from tidegate.procedure.one_shot import power
from tidegate.procedure.rules import LEAST_HISTORY, Facts, Rules, level

Trials = tuple[int, int]  # head, base
ENOUGH = 0.8  # a row that shows a complete failure with at least this probability guards well
MORE_TRIALS = 10  # screening trials that reports suggest for a row that does not
MORE_HISTORY = 40


class Screening(NamedTuple):
    """What a screened row's power depends on. `rate`: base's success rate; `history`: its earlier trials.

    `trials`: head's screening trials; `most`: limit of head trials over all phases.
    """

    trials: int
    rate: float
    history: int = 0
    most: int | None = None


def detection(
    tested: Sequence[Trials], repeated: Sequence[bool], alpha: float, screened: Sequence[Screening] = ()
) -> dict[str, float]:
    """Return, for each drop of one row's rate, the probability that the run reports it: a mean over the rows.

    The keys are texts such as "-0.3"; a drop stops at a rate of 0, so that "-1.0" is a complete failure.
    `tested`: trials of each row tested in one shot. Its power is exact, at Holm's first limit, as only it has dropped.
    `repeated`: for each deterministic row, whether a flip could be confirmed. Such a row can only drop to 0, so it
    counts in the drop of 1.0 alone; the smaller drops are omitted if there are no other rows.
    `screened`: rows that are screened, confirmed and verified. Their power is simulated (detection_power.py), for the
    row's own rate and history; between two entries of that table, the lower one counts.
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
def heads_to_confirm(screening: int, with_history: bool, limit: float) -> int:
    """Return the least `trials.max` at which a row that fails completely can be confirmed at that limit of p."""
    first = screening + Rules().first_heads
    return next(most for most in count(first) if _dead(screening, with_history, limit, most))


def _dead(screening: int, with_history: bool, limit: float, most: int) -> bool:
    """Return True if so many head trials confirm a row that fails completely."""
    facts = Facts((40, 40) if with_history else (0, 0), screening, most)
    steps = Confirmation(0, facts, (screening, screening), limit, Rules(), []).run()
    try:
        asks = next(steps)
        while True:
            asks = steps.send([ask.side == "base" for ask in asks])
    except StopIteration as end:
        confirmed: Confirmed = end.value
        return confirmed.found == "regressed"


def weakness(row: Screening, alpha: float) -> str:
    """Return what a row cannot show, with what would help; '' if a complete failure is found in most runs."""
    found = _caught(1.0, row, alpha)
    if found >= ENOUGH:
        return ""
    said = f"a complete failure would be found in about {found:.0%} of runs, as base passes {row.rate:.0%}"
    better = {f"{MORE_HISTORY} trials of history": _caught(1.0, row._replace(history=MORE_HISTORY), alpha)}
    if row.most is None:
        better[f"trials.min {MORE_TRIALS}"] = _caught(1.0, row._replace(trials=MORE_TRIALS), alpha)
    what, share = max(better.items(), key=lambda item: item[1])
    if share > found + 0.05:
        return f"{said}; with {what} in about {share:.0%}"
    return f"{said}; a scenario that passes more often guards more"


def _caught(drop: float, row: Screening, alpha: float) -> float:
    with_history = row.history >= LEAST_HISTORY
    limit = level(Rules(alpha=alpha), 1, with_history)
    if not row.trials or (row.most and row.most < heads_to_confirm(row.trials, with_history, limit)):
        return 0.0
    rates, histories, screenings = (sorted({place[n] for place in POWER}) for n in range(3))
    rate, screening = _floor(rates, row.rate), _floor(screenings, row.trials)
    history = _floor(histories, row.history)
    if rate is None or screening is None or history is None:
        return 0.0  # base itself fails too often for a promise
    return POWER[rate, int(history), int(screening)][DROPS.index(drop)]


def _floor(steps: Sequence[float], value: float) -> float | None:
    return max((step for step in steps if step <= value + 1e-9), default=None)
