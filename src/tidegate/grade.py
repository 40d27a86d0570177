"""Trial → graded trial: the judge's answers, which are stored with it, so that all that follows is pure again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from tidegate.evaluators.advance import advance
from tidegate.evaluators.assess import record_of
from tidegate.measure import passed_gates
from tidegate.model.evaluator import Evaluator, Record, Score
from tidegate.model.probe import Answer, Request
from tidegate.model.suite import Scenario
from tidegate.model.trial import Trial

Carry = Callable[[Request], Awaitable[Answer | None]]
"""Carries a question out; None where that is no longer possible."""


async def grade(trial: Trial, scenario: Scenario, carry: Carry) -> Trial:
    """Ask what evaluators and the scenario's judge still want to know.

    Nothing is asked about a trial that was not measured, or whose required gates did not pass: it would change nothing.
    """
    if not scenario.judged or trial.not_measured or not passed_gates(trial, scenario):
        return trial
    record = record_of(trial, scenario)
    evaluators = []
    for number, evaluator in enumerate(scenario.evaluators):
        stored = trial.evaluator_answers[number] if number < len(trial.evaluator_answers) else ()
        evaluators.append(await _asked(evaluator, record, stored, carry))
    judge = scenario.judge and await _asked(scenario.judge, record, trial.judge_answers, carry)
    return trial.model_copy(update={"evaluator_answers": tuple(evaluators), "judge_answers": judge or ()})


async def _asked(evaluator: Evaluator, record: Record, stored: Sequence[Answer], carry: Carry) -> tuple[Answer, ...]:
    answers = list(stored)
    while not isinstance(step := advance(evaluator, record, answers), Score):
        answer = await carry(step)
        if answer is None:
            break
        answers.append(answer)
    return tuple(answers)
