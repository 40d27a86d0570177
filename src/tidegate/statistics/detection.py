"""What a run would have caught: said beside every "nothing regressed", since silence alone proves little."""

from __future__ import annotations

from collections.abc import Sequence

from tidegate.statistics.one_shot import power

DROPS = (0.3, 0.5, 1.0)
Trials = tuple[int, int]  # head, base


def detection(tested: Sequence[Trials], repeated: Sequence[bool], alpha: float) -> dict[str, float]:
    """Drop of one scenario's rate from 1.0 → probability that the run would have named it; the mean over its rows.

    `tested`: the measured trials of every row that is tested, alone against Holm's first limit, since the others have
    not dropped; exact. `repeated`: for every deterministic row, whether a flip could be confirmed; these can drop from
    all to nothing only, so the smaller drops are means over the tested rows, and left out if there are none.
    """
    table: dict[str, float] = {}
    for drop in DROPS:
        chances = [power(1 - drop, head, base, alpha / len(tested)) for head, base in tested]
        if drop == 1:
            chances += [float(caught) for caught in repeated]
        if chances:
            table[f"-{drop}"] = sum(chances) / len(chances)
    return table
