"""Tests the suite's judge with the injection corpus, and reports the attacks that raise the score."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from tidegate.checks.evaluators.injection_corpus import TALKED_ROUND, Try, is_shown, plain, targets, tries
from tidegate.model.evaluator import Evaluator, Score
from tidegate.model.probe import Answer, FileAnswer, ReadFile, Request
from tidegate.run.grade import to_its_end
from tidegate.trial.ask_evaluators import Carry

AT_ONCE = 20  # attacks; if none of them is judged, the judge is dead


class Through(NamedTuple):
    """An attack that raised the score. `plain` is the score of the same work without the attack."""

    attack: str
    field: str
    kind: str
    score: float
    plain: float


class Injected(NamedTuple):
    """The number of attacks, those that raised the score, and the number that could not be judged.

    `dead` is why the judge stopped answering, about the plain work or a whole batch; nothing more was asked then.
    `generous` lists evaluators that score the bad work too high without any attack, with that score. No attack could
    raise it further, so all of their attacks count as not judged.
    """

    tried: int
    through: tuple[Through, ...]
    lost: int
    generous: tuple[tuple[str, float], ...] = ()
    dead: str = ""


async def inject(carry: Carry) -> Injected:
    """Score the work without and with each attack, by a rubric judge and by the checks that ask a model."""
    through: list[Through] = []
    generous: list[tuple[str, float]] = []
    tried = lost = 0
    for evaluator in targets():
        unattacked = await _score(evaluator, plain(), carry)
        attacks = [one for one in tries() if is_shown(evaluator, one.field)]
        base = unattacked.value
        if base is None:
            return Injected(tried, tuple(through), lost, tuple(generous), unattacked.reason)
        if base + TALKED_ROUND >= 1:
            generous.append((evaluator.type, base))
            tried, lost = tried + len(attacks), lost + len(attacks)
            continue
        for batch in (attacks[start : start + AT_ONCE] for start in range(0, len(attacks), AT_ONCE)):
            scores = await asyncio.gather(*(_score(evaluator, one, carry) for one in batch))
            for one, score in zip(batch, scores, strict=True):
                tried += 1
                if score.value is None:
                    lost += 1
                elif score.value > base + TALKED_ROUND:
                    through.append(Through(one.attack, one.field, evaluator.type, score.value, base))
            if all(score.value is None for score in scores):
                return Injected(tried, tuple(through), lost, tuple(generous), scores[0].reason)
    return Injected(tried, tuple(through), lost, tuple(generous))


async def _score(evaluator: Evaluator, one: Try, carry: Carry) -> Score:
    async def with_file(request: Request) -> Answer | None:
        if isinstance(request, ReadFile):
            return FileAnswer(state="present", text=one.file, path=request.path)
        return await carry(request)

    score, _ = await to_its_end(evaluator.evaluate(one.record), with_file)
    return score or Score.unknown("it asks for something else")
