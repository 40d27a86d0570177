"""The waits for a provider that does not answer, and the estimate for a tool's mutants."""

from __future__ import annotations

import asyncio
import math
import time

from tidegate.lab.prove import FIRST, MutantPace
from tidegate.model.progress import Progress
from tidegate.model.proof import Mutant, MutantResult
from tidegate.run.pace import OutageWaits


class Told(Progress):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, text: str) -> None:
        self.lines.append(text)


def test_a_run_waits_three_times_and_no_longer_than_it_may() -> None:
    async def waits() -> list[bool]:
        some = OutageWaits(0.2, math.inf, Progress())
        return [await some.wait() for _ in range(5)]

    began = time.monotonic()
    assert asyncio.run(waits()) == [True, True, True, False, False]
    assert time.monotonic() - began >= 0.2


def test_trials_that_meet_the_same_outage_share_one_wait() -> None:
    told = Told()

    async def waits() -> list[bool]:
        some = OutageWaits(0.5, math.inf, told)
        return await asyncio.gather(*(some.wait() for _ in range(8)))

    assert asyncio.run(waits()) == [True] * 8
    assert told.lines == ["the model's provider does not answer: trying again in 0 s"]


def test_a_trial_that_is_cancelled_does_not_end_the_wait_of_the_others() -> None:
    async def waits() -> bool:
        some = OutageWaits(1, math.inf, Progress())
        first, second = (asyncio.create_task(some.wait()) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        return await second

    assert asyncio.run(waits())


def test_a_run_that_may_not_wait_goes_on_at_once() -> None:
    assert not asyncio.run(OutageWaits(0, math.inf, Progress()).wait())


def test_a_wait_that_would_outlast_the_budget_is_not_begun() -> None:
    assert not asyncio.run(OutageWaits(600, time.monotonic() + 1, Progress()).wait())


# --- the time that is left for a tool's mutants


CAUGHT = MutantResult(mutant=Mutant(kind="hangs", words="w"), state="caught")


def test_the_first_mutants_give_an_estimate() -> None:
    told = Told()
    pace = MutantPace(100, told, began=time.monotonic() - 60)  # 12 s for each of the first 5
    for _ in range(FIRST):
        pace.saw(CAUGHT)
    pace.saw(CAUGHT.model_copy(update={"state": "alive"}))
    while pace.seen < 100:
        pace.saw(CAUGHT)
    assert told.lines[0].startswith("5 of 100 mutants run, 5 caught, about 19 min left")
    assert told.lines[1].startswith("10 of 100 mutants run, 9 caught, about 9 min left")
    assert told.lines[-2].startswith("90 of 100 mutants run, 89 caught, about 7 s left")
    assert told.lines[-1] == "100 of 100 mutants run, 99 caught"
