"""Combine several answers to one question: medians, spread, and how often the judges agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import fmean, median

from tidegate.checks.rubrics.reading import Scores
from tidegate.model.evaluator import CriterionScore, Judgement, Opinion
from tidegate.model.value import Value


class Criterion(Value):
    """What a judge scores. An unmet `required` criterion fails the whole rubric."""

    id: str
    description: str
    weight: float = 1.0
    required: bool = False


def of_panel(criteria: Sequence[Criterion], judges: Mapping[int, Judgement], *, met: float) -> Judgement:
    """Combine the judgements of a panel's judges, by their place: each criterion has the median of their scores."""
    opinions = {
        place: Opinion(judge=place, model=one.model, scores={c.id: c.score for c in one.criteria})
        for place, one in judges.items()
    }
    agreements = [one.agreement for one in judges.values() if one.agreement is not None]
    answers = [
        Scores(
            opinion.scores,
            {criterion.id: criterion.reason for criterion in judges[place].criteria},
            judges[place].confidence,
            *(judges[place].issues, judges[place].highlights, judges[place].notes),
        )
        for place, opinion in opinions.items()
    ]
    whole = combined(criteria, answers, met=met, asked=sum(one.asked for one in judges.values()))
    return whole.model_copy(
        update={
            "samples": tuple(sample for one in judges.values() for sample in one.samples),
            "agreement": fmean(agreements) if agreements else None,
            "panel": tuple(opinions.values()),
            "panel_agreement": whole.agreement,
        }
    )


def combined(criteria: Sequence[Criterion], answers: Sequence[Scores], *, met: float, asked: int) -> Judgement:
    """Combine one judge's answers. `met` is the score from which a criterion counts as met, for the agreement."""
    weights = {criterion.id: criterion.weight for criterion in criteria}
    confidences = [answer.confidence for answer in answers if answer.confidence is not None]
    scores = tuple(_criterion(criterion, answers) for criterion in criteria)
    middle = median([weighted(weights, answer.scores) for answer in answers])
    nearest = min(answers, key=lambda answer: abs(weighted(weights, answer.scores) - middle))
    return Judgement(
        criteria=scores,
        met=met,
        samples=tuple(weighted(weights, answer.scores) for answer in answers),
        asked=asked,
        agreement=_agreement(criteria, answers, met),
        confidence=median(confidences) if confidences else None,
        issues=nearest.issues,
        highlights=nearest.highlights,
        notes=tuple(dict.fromkeys(note for answer in answers for note in answer.notes)),
    )


def weighted(weights: dict[str, float], scores: dict[str, float]) -> float:
    """Return Σ weight·score / Σ weight over the declared criteria."""
    return sum(weight * scores[name] for name, weight in weights.items()) / sum(weights.values())


def total(judgement: Judgement) -> float:
    """Return the weighted score of the criteria's medians."""
    weights = {criterion.id: criterion.weight for criterion in judgement.criteria}
    return weighted(weights, {criterion.id: criterion.score for criterion in judgement.criteria})


def _criterion(criterion: Criterion, answers: Sequence[Scores]) -> CriterionScore:
    scores = [answer.scores[criterion.id] for answer in answers]
    middle = median(scores)
    nearest = min(answers, key=lambda answer: abs(answer.scores[criterion.id] - middle))
    return CriterionScore(
        id=criterion.id,
        description=criterion.description,
        score=middle,
        reason=nearest.reasons.get(criterion.id, ""),
        weight=criterion.weight,
        required=criterion.required,
        spread=max(scores) - min(scores),
    )


def _agreement(criteria: Sequence[Criterion], answers: Sequence[Scores], met: float) -> float | None:
    """Return the share of answer pairs that agree (met or not) over all criteria; None for a single answer."""
    pairs = list(combinations(answers, 2))
    if not pairs:
        return None
    same = [
        (one.scores[criterion.id] >= met) == (other.scores[criterion.id] >= met)
        for criterion in criteria
        for one, other in pairs
    ]
    return fmean(same)
