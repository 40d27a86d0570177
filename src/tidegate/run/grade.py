"""Trial → graded trial: the judge's answers, which are stored with it, so that all that follows is pure again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Sequence
from itertools import takewhile
from typing import TypeVar

from tidegate.evaluators.advance import advance
from tidegate.evaluators.assess import record_of
from tidegate.measure.measure_trial import passed_gates
from tidegate.model.evaluator import Evaluator, Record, Score
from tidegate.model.probe import Answer, Request
from tidegate.model.question import ModelAnswer
from tidegate.model.suite import Scenario
from tidegate.model.trial import Trial

Carry = Callable[[Request], Awaitable[Answer | None]]
"""Carries a question out; None where that is no longer possible."""
T = TypeVar("T")


async def grade(trial: Trial, scenario: Scenario, carry: Carry) -> Trial:
    """Ask what evaluators and the scenario's judge still want to know; the same trial where they have no say in it."""
    if not is_to_be_judged(trial, scenario):
        return trial
    record = record_of(trial, scenario)
    evaluators = [
        await _asked(evaluator, record, trial.answers_of(number), carry)
        for number, evaluator in enumerate(scenario.evaluators)
    ]
    judge = scenario.judge and await _asked(scenario.judge, record, trial.judge_answers, carry)
    return trial.model_copy(update={"evaluator_answers": tuple(evaluators), "judge_answers": judge or ()})


def is_to_be_judged(trial: Trial, scenario: Scenario) -> bool:
    """Whether a model has a say in it: not where it was not measured or a required gate failed, which settles it."""
    return scenario.judged and not trial.not_measured and passed_gates(trial, scenario)


def without_lost(trial: Trial, scenario: Scenario) -> Trial | None:
    """The trial as `grade` can go on with it, after an outage or a kill; None where the judge has judged all of it.

    Of an evaluator that has no score for want of an answer, all of the judge's answers go: those that could be read
    are in its store, and the next attempt at the others is the first one again. What stays was paid for before.
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
    """Carry out all that it asks: what it comes to, None where a question could not be carried out; and the answers."""
    answers: list[Answer] = []
    try:
        request = next(asking)
        while (answer := await carry(request)) is not None:
            answers.append(answer)
            request = asking.send(answer)
    except StopIteration as end:
        return end.value, tuple(answers)
    return None, tuple(answers)


async def _asked(evaluator: Evaluator, record: Record, stored: Sequence[Answer], carry: Carry) -> tuple[Answer, ...]:
    answers = list(stored)
    while not isinstance(step := advance(evaluator, record, answers), Score):
        answer = await carry(step)
        if answer is None:
            break
        answers.append(answer)
    return tuple(answers)


def _is_lost(evaluator: Evaluator, record: Record, answers: Sequence[Answer]) -> bool:
    step = advance(evaluator, record, answers)
    return evaluator.judged and (not isinstance(step, Score) or step.missing == "judge")


def _of_the_workspace(answers: Sequence[Answer]) -> tuple[Answer, ...]:
    """Those that were found out while there was one: before the first question to a model."""
    return tuple(takewhile(lambda answer: not isinstance(answer, ModelAnswer), answers))


def _paid(answers: Sequence[Answer]) -> tuple[Answer, ...]:
    return tuple(answer.as_cached() if isinstance(answer, ModelAnswer) else answer for answer in answers)
