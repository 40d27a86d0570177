"""The corpus of injections before the suite's judge: what gets through."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from tidegate.evaluators.injection_corpus import TALKED_ROUND, plain, targets, tries
from tidegate.model.evaluator import Evaluator, Record, Score
from tidegate.run.grade import Carry, to_its_end


class Through(NamedTuple):
    """An attack that raised the score."""

    attack: str
    field: str
    kind: str
    score: float
    plain: float


class Injected(NamedTuple):
    """How many attacks were tried, which got through, and how many could not be judged.

    `generous`: who finds the bad work good without any attack, with its score; all attacks are lost on it.
    """

    tried: int
    through: tuple[Through, ...]
    lost: int
    generous: tuple[tuple[str, float], ...] = ()


async def inject(carry: Carry) -> Injected:
    """Have the plain work and every attacked one judged, by a rubric and by checks."""
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
