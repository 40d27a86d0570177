"""Lets the judge choose the best of a row's trials."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterable, Sequence

from tidegate.evaluators.assess import use_of
from tidegate.evaluators.rubric_judge import RubricJudge
from tidegate.model.judge_result import JudgeUse
from tidegate.model.judgement import CriterionScore, Judgement, Opinion
from tidegate.model.measurement import EvaluatorResult, TrialResult
from tidegate.model.plan import PlanRow
from tidegate.model.suite import Scenario
from tidegate.rubrics.best import TEMPLATE, Choice, select_best
from tidegate.rubrics.prompts import wording
from tidegate.rubrics.work import Work
from tidegate.run.grade import asking_about, to_its_end
from tidegate.trial.ask_evaluators import Carry

NAME = "select_best"
MOST_OF_SIDE = 4  # trials that are shown, the first of each side
NO_BEST = "no trial is the best in both orders"
Read = Callable[[TrialResult], Work]


async def with_best(
    rows: Iterable[PlanRow], results: Sequence[TrialResult], read: Read, carry: Carry, commits: Sequence[str] = ()
) -> list[TrialResult]:
    """Return the results in which the judged screening trials of each row say whether they are the best of them.

    They say so as an evaluator that decides nothing, so that reports, labels and calibration know it.
    """
    chosen = [
        _chosen(row, shown, read, asking_about(f"{'..'.join(commits)} best {' '.join(one.id for one in shown)}", carry))
        for row in rows
        if isinstance(row.scenario.judge, RubricJudge)
        and len(shown := _shown([result for result in results if result.key == row.key])) > 1
    ]
    new = {one.id: one for row in await asyncio.gather(*chosen) for one in row}
    return [new.get(result.id, result) for result in results]


def choice_of(result: TrialResult, scenario: Scenario) -> list[EvaluatorResult]:
    """Return what the judge chose about the trial, if it was asked by the rubric that the scenario has now."""
    words = _words(scenario.judge) if isinstance(scenario.judge, RubricJudge) else None
    chosen = [one for one in result.evaluators if one.type == NAME and one.judgement]
    return [one for one in chosen if one.judgement and one.judgement.criteria[0].wording == words]


def _shown(results: Sequence[TrialResult]) -> list[TrialResult]:
    """Return the judged trials of both sides, in an order that does not tell the sides apart."""
    judged = [one for one in results if one.phase == "screen" and one.judge and one.judge.weighted_score is not None]
    sides = [
        sorted((one for one in judged if one.side == side), key=lambda one: one.index) for side in ("base", "head")
    ]
    return sorted(
        (one for side in sides for one in side[:MOST_OF_SIDE]), key=lambda one: hashlib.sha256(one.id.encode()).digest()
    )


async def _chosen(row: PlanRow, shown: Sequence[TrialResult], read: Read, carry: Carry) -> list[TrialResult]:
    judge = row.scenario.judge
    assert isinstance(judge, RubricJudge)
    asking = select_best(judge.criteria, row.scenario.prompt, [read(one).text for one in shown])
    choice, answers = await to_its_end(asking, carry)
    choice = choice or Choice(None, problem="the judge was not asked")
    words = _words(judge)
    found = [
        one.model_copy(update={"evaluators": (*_others(one), _result(choice, place, words))})
        for place, one in enumerate(shown)
    ]
    used = found[0].judge_use, use_of(answers)
    found[0] = found[0].model_copy(update={"judge_use": _sum([use for use in used if use is not None])})
    return found


def _words(judge: RubricJudge) -> str:
    return wording(TEMPLATE, "\n".join(one.description for one in judge.criteria))


def _others(result: TrialResult) -> list[EvaluatorResult]:
    """Return the trial's other evaluators; an earlier run may have chosen already."""
    return [one for one in result.evaluators if one.type != NAME]


def _result(choice: Choice, place: int, words: str) -> EvaluatorResult:
    if choice.problem:
        return EvaluatorResult(name=NAME, type=NAME, weight=0, judged=True, reason=choice.problem)
    is_best = choice.best == place
    reason = choice.reason if is_best else NO_BEST if choice.best is None else "another trial of the row is the best"
    criterion = CriterionScore(
        id="score",
        description="This trial is the best of its row.",
        score=float(is_best),
        reason=reason,
        wording=words,
    )
    panel = [
        Opinion(judge=number, model=model, scores={"score": float(own == place)})
        for number, (model, own) in choice.judges.items()
    ]
    judgement = Judgement(criteria=(criterion,), panel=tuple(panel) if len(panel) > 1 else ())
    known = {"weight": 0, "judged": True, "verdict": "pass"}  # a trial that is not the best has not failed
    return EvaluatorResult(name=NAME, type=NAME, score=float(is_best), reason=reason, judgement=judgement, **known)


def _sum(uses: Sequence[JudgeUse]) -> JudgeUse | None:
    if len(uses) < 2:
        return uses[0] if uses else None
    one, other = uses

    def both(a: float | None, b: float | None) -> float | None:
        return b if a is None else a if b is None else a + b

    sums = {name: both(getattr(one, name), getattr(other, name)) for name in JudgeUse.model_fields}
    return JudgeUse.model_validate(sums)
