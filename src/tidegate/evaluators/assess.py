"""A trial's stored answers → the results of its evaluators, and what they mean for its outcome."""

from __future__ import annotations

from collections.abc import Sequence

from tidegate.evaluators.advance import advance
from tidegate.gates.excerpt import excerpt
from tidegate.model.evaluator import PASS, Evaluator, Record, Score
from tidegate.model.measurement import EvaluatorResult
from tidegate.model.suite import Scenario
from tidegate.model.trial import NotMeasured, Trial
from tidegate.model.value import Value

MAX_REASON = 500


class Assessment(Value):
    """What the evaluators say. `missing`: one that decides could not be measured, and `reason` says why.

    `failure` says, if it is not empty, why the evaluators alone make the trial fail.
    """

    results: tuple[EvaluatorResult, ...] = ()
    case_score: float | None = None
    failure: str = ""
    missing: NotMeasured | None = None
    reason: str = ""


def record_of(trial: Trial, scenario: Scenario) -> Record:
    """What evaluators know of a trial."""
    return Record(
        binary=scenario.target.binary,
        prompt=scenario.prompt,
        case=scenario.case,
        events=trial.events,
        invocations=trial.invocations,
        agent_started_at=trial.agent_started_at,
    )


def assess(trial: Trial, scenario: Scenario) -> Assessment:
    """Score every evaluator of the scenario from the answers that the trial has."""
    record = record_of(trial, scenario)
    stored = trial.evaluator_answers
    scores = []
    for number, evaluator in enumerate(scenario.evaluators):
        step = advance(evaluator, record, stored[number] if number < len(stored) else ())
        scores.append(step if isinstance(step, Score) else Score.unknown("nothing was found out for it"))
    results = tuple(map(_result, scenario.evaluators, scores))
    case_score = _case_score(results)
    failure = _failure(results, case_score)
    missing = [
        (evaluator.label, score)
        for evaluator, score in zip(scenario.evaluators, scores, strict=True)
        if evaluator.decides and score.missing
    ]
    return Assessment(
        results=results,
        case_score=case_score,
        failure=failure,
        missing=missing[0][1].missing if missing else None,
        reason=f"evaluator {missing[0][0]}: {missing[0][1].reason}" if missing else "",
    )


def _result(evaluator: Evaluator, score: Score) -> EvaluatorResult:
    return EvaluatorResult(
        name=evaluator.label,
        type=evaluator.type,
        score=score.value,
        verdict=score.verdict,
        weight=evaluator.weight,
        required=evaluator.required,
        reason=excerpt(score.reason, MAX_REASON),
        metrics=score.details,
    )


def _case_score(results: Sequence[EvaluatorResult]) -> float | None:
    """Σ score·weight / Σ weight; None if none has a weight, or one that has was not measured."""
    parts = [(result.weight, result.score) for result in results if result.weight > 0]
    scores = [score for _, score in parts if score is not None]
    if not parts or len(scores) < len(parts):
        return None
    total = sum(weight for weight, _ in parts)
    return sum(weight * score for (weight, _), score in zip(parts, scores, strict=True)) / total


def _failure(results: Sequence[EvaluatorResult], case_score: float | None) -> str:
    for result in results:
        if result.required and result.verdict in ("borderline", "fail"):
            return f"evaluator {result.name}, which is required: {_shown(result)}"
    if case_score is None or round(case_score, 9) >= PASS:
        return ""
    low = min((result for result in results if result.weight > 0), key=lambda result: result.score or 0)
    return f"case score {case_score:.2f} is below {PASS:g}; lowest: {low.name}, {_shown(low)}"


def _shown(result: EvaluatorResult) -> str:
    score = f"{result.verdict} with {result.score:.2f}" if result.score is not None else result.verdict
    return f"{score}: {result.reason}" if result.reason else score
