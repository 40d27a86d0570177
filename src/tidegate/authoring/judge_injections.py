"""Tests the suite's judge with the injection corpus, and reports the attacks that raise the score."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from tidegate.evaluators.injection_corpus import TALKED_ROUND, plain, targets, tries
from tidegate.model.evaluator import Evaluator, Record, Score
from tidegate.run.grade import to_its_end
from tidegate.trial.ask_evaluators import Carry


class Through(NamedTuple):
    """An attack that raised the score. `plain` is the score of the same work without the attack."""

    attack: str
    field: str
    kind: str
    score: float
    plain: float


class Injected(NamedTuple):
    """The number of attacks, those that raised the score, and the number that could not be judged.

    `generous` lists evaluators that score the bad work too high without any attack, with that score. No attack could
    raise it further, so all of their attacks count as not judged.
    """

    tried: int
    through: tuple[Through, ...]
    lost: int
    generous: tuple[tuple[str, float], ...] = ()


async def inject(carry: Carry) -> Injected:
    """Score the work without and with each attack, by a rubric judge and by rubric checks."""
    through: list[Through] = []
    generous: list[tuple[str, float]] = []
    tried = lost = 0
    for evaluator in targets():
        base = (await _score(evaluator, plain(), carry)).value
        attacks = list(tries())
        if base is not None and base + TALKED_ROUND >= 1:
            generous.append((evaluator.type, base))
            tried, lost = tried + len(attacks), lost + len(attacks)
            continue
        scores = await asyncio.gather(*(_score(evaluator, one.record, carry) for one in attacks))
        for one, score in zip(attacks, scores, strict=True):
            tried += 1
            if score.value is None or base is None:
                lost += 1
            elif score.value > base + TALKED_ROUND:
                through.append(Through(one.attack, one.field, evaluator.type, score.value, base))
    return Injected(tried, tuple(through), lost, tuple(generous))


async def _score(evaluator: Evaluator, record: Record, carry: Carry) -> Score:
    score, _ = await to_its_end(evaluator.evaluate(record), carry)
    return score or Score.unknown("it asks for something else")
