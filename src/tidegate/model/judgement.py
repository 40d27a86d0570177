"""A judge's scores of a trial, criterion by criterion."""

from __future__ import annotations

from tidegate.model.value import Value


class CriterionScore(Value):
    """One criterion: the median of the samples' scores (0 to 1), with the reason of the sample nearest to it.

    `spread` is the highest score minus the lowest. An unmet `required` criterion fails the rubric. `wording` is a hash
    of the prompt text for this criterion.
    """

    id: str
    description: str = ""
    score: float
    reason: str = ""
    weight: float = 1.0
    required: bool = False
    spread: float = 0.0
    wording: str = ""


class Opinion(Value):
    """The scores of one judge of a panel, by criterion. `judge` is its place in the panel, from 0."""

    judge: int
    model: str | None = None
    scores: dict[str, float]


class Judgement(Value):
    """The answers to one rubric, combined; those of a panel's judges by the median of their scores.

    `samples` are the weighted scores of the single answers. `agreement` is the share of sample pairs of one judge that
    agree (met or not), over all criteria; None for one sample. `asked` counts the samples asked for, including lost
    ones. `panel` has the judges of a panel, and `panel_agreement` the share of pairs of them that agree.
    """

    model: str | None = None
    criteria: tuple[CriterionScore, ...] = ()
    met: float = 0.5  # score from which a criterion counts as met
    samples: tuple[float, ...] = ()
    asked: int = 1
    agreement: float | None = None
    panel: tuple[Opinion, ...] = ()
    panel_agreement: float | None = None
    confidence: float | None = None
    issues: tuple[str, ...] = ()
    highlights: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # irregularities in the answers, and how they were read

    @property
    def spread(self) -> float:
        """The highest sample minus the lowest."""
        return max(self.samples, default=0.0) - min(self.samples, default=0.0)
