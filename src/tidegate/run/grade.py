"""Adds the judge's answers to a trial. They are stored with it, so that everything after this step is pure."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from itertools import takewhile
from typing import TypeVar

from tidegate.checks.evaluators.assess import advance, record_of
from tidegate.checks.measure import passed_gates
from tidegate.model.evaluator import Evaluator, EvaluatorRecord, Score
from tidegate.model.judge import AskModel, ModelAnswer
from tidegate.model.probe import Answer, Request
from tidegate.model.suite import Scenario
from tidegate.model.trial import Trial
from tidegate.trial.checks import Carry, answered

T = TypeVar("T")
_OF_JUDGE = ("judge", "unreadable_judge")


async def grade(trial: Trial, scenario: Scenario, carry: Carry, diff: str = "") -> Trial:
    """Return the trial with the answers that its evaluators and judge need; unchanged if no model judges it.

    `diff` is what the agent changed in its workspace.
    """
    if not is_to_be_judged(trial, scenario):
        return trial
    carry = asking_about(trial.opinion or f"{trial.spec.id} {trial.started_at}", carry)
    record = record_of(trial, scenario).model_copy(update={"diff": diff})
    evaluators = [
        await answered(evaluator, record, carry, trial.answers_of(number))
        for number, evaluator in enumerate(scenario.evaluators)
    ]
    judge = scenario.judge and await answered(scenario.judge, record, carry, trial.judge_answers)
    return trial.model_copy(update={"evaluator_answers": tuple(evaluators), "judge_answers": judge or ()})


def asking_about(opinion: str, carry: Carry) -> Carry:
    """Return `carry` for questions about one trial. One answer counts once, so another trial is another question."""

    async def ask(request: Request) -> Answer | None:
        own = request.model_copy(update={"about": opinion}) if isinstance(request, AskModel) else request
        return await carry(own)

    return ask


def is_to_be_judged(trial: Trial, scenario: Scenario) -> bool:
    """Return True if a model judges the trial: it was measured, and all required gates passed."""
    return scenario.judged and not trial.not_measured and passed_gates(trial, scenario)


def without_lost(trial: Trial, scenario: Scenario) -> Trial | None:
    """Return the trial as `grade` can resume it after an outage or a kill; None if the judge has answered everything.

    An evaluator whose score lacks an answer loses all its judge answers. The readable ones are in the judge's store,
    and the others are requested again from their first attempt. Answers that are kept are marked as paid for.
    """
    if not is_to_be_judged(trial, scenario):
        return None
    record = record_of(trial, scenario)
    stored = [(evaluator, trial.answers_of(number)) for number, evaluator in enumerate(scenario.evaluators)]
    if scenario.judge:
        stored.append((scenario.judge, trial.judge_answers))
    lost = [_is_lost(evaluator, record, answers) for evaluator, answers in stored]
    if not any(lost):
        return None
    kept = [_of_the_workspace(own) if gone else _paid(own) for (_, own), gone in zip(stored, lost, strict=True)]
    judge = kept.pop() if scenario.judge else ()
    return trial.model_copy(update={"evaluator_answers": tuple(kept), "judge_answers": judge})


async def to_its_end(asking: Generator[Request, Answer, T], carry: Carry) -> tuple[T | None, tuple[Answer, ...]]:
    """Answer all requests of a generator; return its result (None if a request cannot be answered), and the answers."""
    answers: list[Answer] = []
    try:
        request = next(asking)
        while (answer := await carry(request)) is not None:
            answers.append(answer)
            request = asking.send(answer)
    except StopIteration as end:
        return end.value, tuple(answers)
    return None, tuple(answers)


def _is_lost(evaluator: Evaluator, record: EvaluatorRecord, answers: Sequence[Answer]) -> bool:
    """Return True if a judging evaluator has no score because an answer of the judge is missing."""
    step = advance(evaluator, record, answers)
    return evaluator.judged and (not isinstance(step, Score) or step.missing in _OF_JUDGE)


def _of_the_workspace(answers: Sequence[Answer]) -> tuple[Answer, ...]:
    """Return the answers that came from the workspace: those before the first question to a model."""
    return tuple(takewhile(lambda answer: not isinstance(answer, ModelAnswer), answers))


def _paid(answers: Sequence[Answer]) -> tuple[Answer, ...]:
    """Return the answers with the judge's marked as cached, so that their cost is not counted again."""
    return tuple(answer.as_cached() if isinstance(answer, ModelAnswer) else answer for answer in answers)
