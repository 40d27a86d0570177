"""Advance an evaluator by the answers so far: to its next request, or to its score."""

from __future__ import annotations

from collections.abc import Sequence

from tidegate.model.evaluator import Evaluator, Record, Score
from tidegate.model.probe import Answer, Request
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
