"""One confirmation, step by step: results of other rows can change what it is compared with."""

from __future__ import annotations

from tidegate.procedure.confirm import Confirmation, Confirmed
from tidegate.procedure.rules import Facts, Rules

HISTORY = Facts(history=(40, 40))


def test_the_smallest_p_is_forgotten_with_the_history_that_made_it_small() -> None:
    """Its first look was against the history. Then another row shows that the provider has moved: only pairs count."""
    beside: list[Confirmation] = []
    one = Confirmation(0, HISTORY, (0, 0), 1e-7, Rules(), beside)
    steps = one.run()
    asks = next(steps)
    assert [ask.side for ask in asks] == ["head"] * 5
    asks = steps.send([False] * 5)
    assert [ask.side for ask in asks] == ["base"] * 3
    asks = steps.send([True] * 3)  # looked at: 0 of 5 against 43 of 43
    assert [ask.side for ask in asks] == ["head"]

    other = Confirmation(1, HISTORY, (0, 0), 1e-7, Rules(), beside)
    moved = other.run()
    next(moved)
    moved.send([False] * 5)
    moved.send([False] * 3)  # three fresh base trials of the other row fail, of whose history none did

    ended: Confirmed | None = None
    try:
        asks = steps.send([False])
        while True:
            asks = steps.send([False] * len(asks))
    except StopIteration as end:
        ended = end.value
    assert ended is not None
    assert ended.moved
    assert ended.p is None or ended.p > 0.01
