"""Advance evaluators by the answers so far, and compute their results and what they mean for the outcome."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from statistics import fmean
from typing import TypeVar

from tidegate.agents.invocations.metrics import as_defined
from tidegate.checks.evaluators.rubric_judge import RubricJudge
from tidegate.model.evaluator import PASS, Evaluator, EvaluatorRecord, Score
from tidegate.model.gate import Gate, told_apart
from tidegate.model.judge import AskModel, ModelAnswer
from tidegate.model.judge_result import JudgeResult, JudgeUse
from tidegate.model.measurement import DETAILS, EvaluatorResult, EvaluatorScore
from tidegate.model.probe import Answer, CommandAnswer, FileAnswer, ReadFile, Request
from tidegate.model.suite import Scenario
from tidegate.model.trial import Trial
from tidegate.model.trial_spec import NotMeasured
from tidegate.model.value import Value
from tidegate.text.patterns import PatternTooSlowError
from tidegate.text.scores import score_text
from tidegate.text.shorten import excerpt


def advance(evaluator: Evaluator, record: EvaluatorRecord, answers: Sequence[Answer]) -> Request | Score:
    """Return what follows these answers: the next request, or the score.

    Pure, so that a stored trial can be evaluated again from its stored answers.
    """
    evaluation = evaluator.evaluate(record)
    try:
        request = next(evaluation)
        for answer in answers:
            request = evaluation.send(answer)
    except StopIteration as end:
        score: Score = end.value
        return score
    except PatternTooSlowError as error:
        return Score.unknown(f"a pattern is not decided: {error}")
    except Exception as error:  # a broken evaluator, say one with an endless schema, must not end the run
        return Score.unknown(f"the evaluator broke: {type(error).__name__}: {excerpt(str(error))}")
    return request


def gate_answers(gates: Sequence[Gate], stored: Sequence[Answer | None]) -> tuple[Answer | None, ...]:
    """Return each gate's stored answer, at any position; None if the gate's request was never made."""
    answers = []
    for gate in gates:
        request = gate.request()
        answers.append(None if request is None else answer_to(request, stored))
    return tuple(answers)


def answer_to(request: Request, stored: Iterable[Answer | None]) -> Answer | None:
    """Return the first stored answer to the same request; None if there is none."""
    return next((answer for answer in stored if answer is not None and _answers(answer, request)), None)


def _answers(answer: Answer, request: Request) -> bool:
    if isinstance(request, ReadFile):
        return isinstance(answer, FileAnswer) and answer.path == request.path
    return isinstance(answer, CommandAnswer) and answer.result.command == getattr(request, "command", None)


MAX_REASON = 500
MAX_TOLD = 20  # hits, and misses, that are kept
N = TypeVar("N", int, float)


class Assessment(Value):
    """The evaluators' results. `missing` is set, with its `reason`, if a deciding evaluator could not be measured.

    `failure` is the reason if the evaluators alone make the trial fail, else ''.
    """

    results: tuple[EvaluatorResult, ...] = ()
    case_score: float | None = None
    failure: str = ""
    missing: NotMeasured | None = None
    reason: str = ""
    notes: tuple[str, ...] = ()  # of evaluators that decide, and of their members, each after its name
    of_judges: tuple[str, ...] = ()  # the same of those that ask a model, and of the scenario's own judge


def record_of(trial: Trial, scenario: Scenario) -> EvaluatorRecord:
    """Return what evaluators know about a trial."""
    return EvaluatorRecord(
        binary=scenario.target.binary,
        prompt=scenario.prompt,
        case=scenario.case,
        events=trial.events,
        invocations=as_defined(trial.invocations, scenario.target),
        agent_started_at=trial.agent_started_at,
    )


def assess(trial: Trial, scenario: Scenario, *, judged: bool = True) -> Assessment:
    """Score every evaluator of the scenario from the trial's answers. With `judged` False, skip those that need a
    model.
    """
    record = record_of(trial, scenario)
    evaluators = []
    scores = []
    for number, evaluator in enumerate(scenario.evaluators):
        if judged or not evaluator.judged:
            evaluators.append(evaluator)
            scores.append(_score(evaluator, record, trial.answers_of(number)))
    names = told_apart(evaluator.label for evaluator in evaluators)
    results = tuple(map(_result, evaluators, scores))
    case_score = _case_score(results)
    failure = _failure(results, scores, case_score)
    missing = [
        (evaluator.label, score)
        for evaluator, score in zip(evaluators, scores, strict=True)
        if evaluator.decides and score.missing
    ]
    deciding = [each for each in zip(evaluators, names, scores, strict=True) if each[0].decides]
    asking = [each for each in deciding if each[0].judged]
    if judged and scenario.judge and trial.judge_answers:
        asking.append((scenario.judge, scenario.judge.label, _score(scenario.judge, record, trial.judge_answers)))
    return Assessment(
        results=results,
        case_score=case_score,
        failure=failure,
        missing=missing[0][1].missing if missing else None,
        reason=f"evaluator {missing[0][0]}: {missing[0][1].reason}" if missing else "",
        notes=tuple(chain.from_iterable(_notes(name, score) for one, name, score in deciding if not one.judged)),
        of_judges=tuple(chain.from_iterable(_notes(name, score) for _, name, score in asking)),
    )


def judge_result(trial: Trial, scenario: Scenario) -> JudgeResult | None:
    """Return the result of the scenario's own judge; None if it has none or a failed gate prevented it."""
    judge = scenario.judge
    if not isinstance(judge, RubricJudge) or not any(isinstance(answer, ModelAnswer) for answer in trial.judge_answers):
        return None
    score = _score(judge, record_of(trial, scenario), trial.judge_answers)
    known = {"rubric": judge.rubric, "pass_threshold": judge.pass_threshold}
    if score.value is None:
        return JudgeResult.model_validate(
            {**known, "not_measured": score.missing or "judge", "reason": excerpt(score.reason, MAX_REASON)}
        )
    # Rounded, so that a sum of weights does not miss the threshold by a rounding error.
    passed = round(score.value, 9) >= judge.pass_threshold
    low = f": {score.reason}" if score.reason else ""
    return JudgeResult.model_validate(
        {
            **known,
            "weighted_score": score.value,
            "scores": score.details,
            "passed": passed,
            "reason": ""
            if passed
            else f"judge {score_text(score.value, judge.pass_threshold)} is below {judge.pass_threshold:g}"
            f"{excerpt(low, MAX_REASON)}",
            "judgement": score.judgement,
        }
    )


def judge_score(judge: JudgeResult | None, results: Sequence[EvaluatorResult]) -> float | None:
    """Return one score for all judging: the judge's score, else the mean of the judged evaluators by weight.

    None if any part of it could not be judged.
    """
    if judge is not None:
        return judge.weighted_score
    return _weighted_mean((result.weight or 1.0, result.score) for result in results if result.judged)


def _weighted_mean(parts: Iterable[tuple[float, float | None]]) -> float | None:
    """Return Σ score·weight / Σ weight; None if there are no parts, or a score is missing."""
    found = list(parts)
    known = [(weight, score) for weight, score in found if score is not None]
    if not known or len(known) < len(found):
        return None
    return sum(weight * score for weight, score in known) / sum(weight for weight, _ in known)


def detail_means(results: Iterable[EvaluatorResult]) -> dict[str, float]:
    """Return the mean of each detail that is a metric, over the evaluators and the members of composites."""
    found: dict[str, list[float]] = {}
    for one in (scored for result in results for scored in (result, *result.members)):
        for name in one.metrics.keys() & DETAILS:
            found.setdefault(name, []).append(one.metrics[name])
    return {name: fmean(values) for name, values in found.items()}


def judge_use(trial: Trial) -> JudgeUse | None:
    """Return what it took to judge the trial; None if no model was asked."""
    return use_of([*trial.judge_answers, *(answer for stored in trial.evaluator_answers for answer in stored)])


def use_of(answers: Iterable[Answer]) -> JudgeUse | None:
    """Return what it took to get these answers; None if no model was asked."""
    replies = [reply for answer in answers if isinstance(answer, ModelAnswer) for reply in answer.replies]
    asked = [reply for reply in replies if reply.end != "no_judge" and reply.end != "budget"]
    if not asked:
        return None
    fresh = [reply for reply in asked if not reply.cached]
    return JudgeUse(
        calls=len(fresh),
        cached=sum(reply.cached and reply.end == "answered" for reply in asked),
        tokens_in=_sum(reply.tokens_in for reply in fresh),
        tokens_out=_sum(reply.tokens_out for reply in fresh),
        usd=_sum(reply.cost_usd for reply in fresh),
    )


def _sum(values: Iterable[N | None]) -> N | None:
    """Return the sum of the reported values; None if none was reported."""
    reported = [value for value in values if value is not None]
    return sum(reported[1:], reported[0]) if reported else None


def _score(evaluator: Evaluator, record: EvaluatorRecord, answers: Sequence[Answer]) -> Score:
    step = advance(evaluator, record, answers)
    if isinstance(step, AskModel):
        return Score.unknown("the judge was not asked", "judge")
    return _worded(step, evaluator) if isinstance(step, Score) else Score.unknown("nothing was found out for it")


def _worded(score: Score, evaluator: Evaluator) -> Score:
    """Return the score with the hash of each criterion's prompt text."""
    if score.judgement is None:
        return score
    wordings = evaluator.wordings
    criteria = tuple(one.model_copy(update={"wording": wordings.get(one.id, "")}) for one in score.judgement.criteria)
    return score.model_copy(update={"judgement": score.judgement.model_copy(update={"criteria": criteria})})


def _result(evaluator: Evaluator, score: Score) -> EvaluatorResult:
    return EvaluatorResult(
        **vars(_scored(evaluator.label, evaluator, score)), members=tuple(_members("", evaluator, score))
    )


def _members(prefix: str, evaluator: Evaluator, score: Score) -> Iterator[EvaluatorScore]:
    for one in evaluator.members:
        if (found := score.members.get(one.label)) is not None:
            yield _scored(prefix + one.label, one, found)
            yield from _members(f"{prefix}{one.label}/", one, found)


def _scored(name: str, evaluator: Evaluator, score: Score) -> EvaluatorScore:
    return EvaluatorScore(
        name=name,
        type=evaluator.type,
        score=score.value,
        verdict=score.verdict,
        weight=evaluator.weight,
        required=evaluator.required,
        reason=excerpt(score.reason, MAX_REASON),
        hits=score.hits[:MAX_TOLD],
        misses=score.misses[:MAX_TOLD],
        unmatched=score.unmatched[:MAX_TOLD],
        metrics=score.details,
        judged=evaluator.judged,
        judgement=score.judgement,
    )


def _notes(name: str, score: Score) -> Iterator[str]:
    yield from (f"{name}: {note}" for note in score.notes)
    for member, found in score.members.items():
        yield from _notes(f"{name}/{member}", found)


def _case_score(results: Sequence[EvaluatorResult]) -> float | None:
    """Return Σ score·weight / Σ weight; None if no evaluator has a weight, or a weighted one was not measured."""
    return _weighted_mean((result.weight, result.score) for result in results if result.weight > 0)


def _failure(results: Sequence[EvaluatorResult], scores: Sequence[Score], case_score: float | None) -> str:
    """Return why the evaluators alone fail the trial; "" if they do not."""
    for result, score in zip(results, scores, strict=True):
        if result.required and result.verdict in ("borderline", "fail"):
            return f"evaluator {result.name}, which is required: {_shown(result)}"
        if result.weight > 0 and score.value is not None and not score.passes:
            return f"evaluator {result.name}, of which a required part failed: {_shown(result)}"
    if case_score is None or round(case_score, 9) >= PASS:
        return ""
    low = min((result for result in results if result.weight > 0), key=lambda result: result.score or 0)
    return f"case score {score_text(case_score, PASS)} is below {PASS:g}; lowest: {low.name}, {_shown(low)}"


def _shown(result: EvaluatorResult) -> str:
    score = f"{result.verdict} with {score_text(result.score)}" if result.score is not None else result.verdict
    return f"{score}: {result.reason}" if result.reason else score
