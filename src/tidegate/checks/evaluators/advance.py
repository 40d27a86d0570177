"""Advance an evaluator by the answers so far: to its next request, or to its score."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tidegate.model.evaluator import Evaluator, Record, Score
from tidegate.model.gate import Gate
from tidegate.model.probe import Answer, CommandAnswer, FileAnswer, ReadFile, Request
from tidegate.text.patterns import PatternTooSlowError
from tidegate.text.shorten import excerpt


def advance(evaluator: Evaluator, record: Record, answers: Sequence[Answer]) -> Request | Score:
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
