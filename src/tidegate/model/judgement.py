"""What a judge thinks of a trial, criterion by criterion."""

from __future__ import annotations

from typing import Literal

from tidegate.model.value import Value


class CriterionScore(Value):
    """One criterion: the median of the samples' scores (0 to 1), and the reason of the sample that is nearest to it.

    `spread`: the highest score minus the lowest. `required`: unmet, it fails the whole. `wording`: a hash of what the
    judge was asked.
    """

    id: str
    description: str = ""
    score: float
    reason: str = ""
    weight: float = 1.0
    required: bool = False
    spread: float = 0.0
    wording: str = ""


class Judgement(Value):
    """The judge's answers to one rubric, put together.

    `samples` are the weighted scores of the single answers. `agreement`: over criteria and pairs of samples, the share
    that say the same (met or not); None for one sample. `asked`: samples asked for, of which some may have been lost.
    """

    model: str | None = None
    criteria: tuple[CriterionScore, ...] = ()
    met: float = 0.5  # the score from which a criterion counts as met
    samples: tuple[float, ...] = ()
    asked: int = 1
    agreement: float | None = None
    confidence: float | None = None
    issues: tuple[str, ...] = ()
    highlights: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # what was odd in the answers, and how it was read

    @property
    def spread(self) -> float:
        """How far the samples lie apart."""
        return max(self.samples, default=0.0) - min(self.samples, default=0.0)


class JudgeResult(Value):
    """The scenario's own judge in result.json: its score, or in `not_measured` and `reason` why there is none."""

    rubric: str = ""
    weighted_score: float | None = None
    scores: dict[str, float] = {}
    passed: bool | None = None
    pass_threshold: float
    not_measured: Literal["judge"] | None = None
    reason: str = ""
    judgement: Judgement | None = None


class JudgeUse(Value):
    """What judging a trial took: calls that were made now, and answers that were known already."""

    calls: int = 0
    cached: int = 0
    tokens_in: int | None = None
    tokens_out: int | None = None
    usd: float | None = None


class Trust(Value):
    """How far people agree with this judge on the criteria of this suite, as `tidegate calibrate` found it.

    `criteria`: how many of them have labels; `without`: how many have none, under their wording and with this model.
    """

    labels: int
    criteria: int
    without: int = 0
    agreement: float | None = None  # None without labels
    kappa: float | None = None
    kappa_interval: tuple[float, float] | None = None


class JudgeInfo(Value):
    """Which judge it was. `blocks`: its opinion counts for the verdict. `trust`: None where there is no calibration."""

    type: str
    model: str
    samples: int = 1
    blocks: bool = False
    trust: Trust | None = None


class PairJudgement(Value):
    """One base and one head trial, by their numbers: what the judge says of head, by criterion; same in both orders."""

    scenario: str
    agent: str
    base: int
    head: int
    said: dict[str, Literal["better", "worse", "same"]] = {}
    problem: str = ""
    use: JudgeUse | None = None


class JudgeReport(Value):
    """The judge over a whole result: what it took, what it could not judge, how often it agreed with itself."""

    judge: JudgeInfo
    judged: int = 0  # trials
    not_judged: int = 0
    calls: int = 0
    cached: int = 0
    tokens_in: int | None = None
    tokens_out: int | None = None
    usd: float | None = None
    agreement: float | None = None
