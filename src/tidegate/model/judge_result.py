"""The results of judges: for a trial, for a pair of trials and for a whole run, and what they cost."""

from __future__ import annotations

from typing import Literal

from tidegate.model.evaluator import Judgement
from tidegate.model.value import Value


class JudgeResult(Value):
    """The result of the scenario's own judge in result.json: its score, or why it could not be measured."""

    rubric: str = ""
    weighted_score: float | None = None
    scores: dict[str, float] = {}
    passed: bool | None = None
    pass_threshold: float
    not_measured: Literal["judge", "unreadable_judge"] | None = None
    reason: str = ""
    judgement: Judgement | None = None


class JudgeUse(Value):
    """What it took to judge a trial: new calls, and answers from the cache. Tokens and USD are of the new calls."""

    calls: int = 0
    cached: int = 0
    tokens_in: int | None = None
    tokens_out: int | None = None
    usd: float | None = None


class Trust(Value):
    """How far people agree with this judge on this suite's criteria, as measured by `tidegate calibrate`.

    `criteria` counts the criteria with labels. `without` counts those without labels for their wording and this model.
    """

    labels: int
    criteria: int
    without: int = 0
    agreement: float | None = None  # None without labels
    kappa: float | None = None
    kappa_interval: tuple[float, float] | None = None


class JudgeInfo(Value):
    """Which judge was used. `blocks` is True if its scores count for the verdict. `trust` is None without a
    calibration. `panel` are the models of a panel's judges.
    """

    type: str
    model: str
    samples: int = 1
    panel: tuple[str, ...] = ()
    blocks: bool = False
    trust: Trust | None = None


class JudgeReport(Value):
    """The judge's work on a whole result: usage, trials that it could not judge, and its agreement with itself."""

    judge: JudgeInfo
    judged: int = 0  # trials
    not_judged: int = 0
    calls: int = 0
    cached: int = 0
    tokens_in: int | None = None
    tokens_out: int | None = None
    usd: float | None = None
    agreement: float | None = None  # with itself
    panel_agreement: float | None = None  # of the panel's judges with each other
