"""An evaluator, its record and the answers so far → its next question, or its score."""

from __future__ import annotations

from collections.abc import Sequence

from tidegate.gates.excerpt import excerpt
from tidegate.model.evaluator import Evaluator, Record, Score
from tidegate.model.probe import Answer, Request
from tidegate.text.patterns import PatternTooSlowError


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
    except Exception as error:  # one that breaks, say by a schema without end, is this trial's trouble, not the run's
        return Score.unknown(f"the evaluator broke: {type(error).__name__}: {excerpt(str(error))}")
    return request
