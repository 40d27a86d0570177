"""An evaluator, its record and the answers so far → its next question, or its score."""

from __future__ import annotations

from collections.abc import Sequence

from tidegate.model.evaluator import Evaluator, Record, Score
from tidegate.model.probe import Answer, Request
from tidegate.patterns import PatternTooSlowError


def advance(evaluator: Evaluator, record: Record, answers: Sequence[Answer]) -> Request | Score:
    """What comes after these answers. Pure, so that a stored trial is evaluated again from the stored answers."""
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
    return request
