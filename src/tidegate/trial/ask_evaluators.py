"""Collects the answers that an evaluator asks for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from tidegate.checks.evaluators.assess import advance
from tidegate.model.evaluator import Evaluator, EvaluatorRecord, Score
from tidegate.model.probe import Answer, Request

Carry = Callable[[Request], Awaitable[Answer | None]]
"""Answers a request; returns None if that is not possible, or not yet."""


async def answered(
    evaluator: Evaluator, record: EvaluatorRecord, carry: Carry, stored: Sequence[Answer] = ()
) -> tuple[Answer, ...]:
    """Return the stored answers, followed by new ones until the evaluator has a score or `carry` returns None."""
    answers = list(stored)
    # In a thread: what a trial has printed can take seconds to evaluate.
    while not isinstance(step := await asyncio.to_thread(advance, evaluator, record, answers), Score):
        answer = await carry(step)
        if answer is None:
            break
        answers.append(answer)
    return tuple(answers)
