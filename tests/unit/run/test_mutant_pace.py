"""The time that is left for a tool's mutants is estimated."""

from __future__ import annotations

import time

from tidegate.lab.prove import FIRST, MutantPace
from tidegate.model.progress import Progress
from tidegate.model.proof import Mutant, MutantResult


class Lines(Progress):
    """Keeps what is said."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, text: str) -> None:
        self.said.append(text)


CAUGHT = MutantResult(mutant=Mutant(kind="hangs", words="w"), state="caught")


def test_the_first_mutants_give_an_estimate() -> None:
    lines = Lines()
    pace = MutantPace(100, lines, began=time.monotonic() - 60)  # 12 s for each of the first 5
    for _ in range(FIRST):
        pace.saw(CAUGHT)
    pace.saw(CAUGHT.model_copy(update={"state": "alive"}))
    while pace.seen < 100:
        pace.saw(CAUGHT)
    assert lines.said[0].startswith("5 of 100 mutants run, 5 caught, about 19 min left")
    assert lines.said[1].startswith("10 of 100 mutants run, 9 caught, about 9 min left")
    assert lines.said[-2].startswith("90 of 100 mutants run, 89 caught, about 7 s left")
    assert lines.said[-1] == "100 of 100 mutants run, 99 caught"
