"""The results of judges: for a trial and for a whole run, what they cost, and how well they agree with people."""

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


Mark = Literal["met", "unmet"]
Interval = tuple[float, float]


class Label(Value):
    """A person's verdict on one criterion of one trial: one line of the labels file."""

    trial: str  # side/scenario/agent/index
    criterion: str
    verdict: Mark
    note: str = ""


class Disagreement(Value):
    """A criterion on which person and judge differ, with the judge's score and reason."""

    trial: str
    criterion: str
    person: Mark
    judge: Mark
    score: float
    reason: str = ""


class CriterionCalibration(Value):
    """Agreement on one criterion. Valid only for its `wording` (a hash, see CriterionScore).

    `table` is like that of Calibration. `agreement` is a share from 0 to 1.
    """

    criterion: str
    wording: str = ""
    labels: int
    agreement: float
    table: dict[str, int] = {}


class Calibration(Value):
    """Agreement between judge and people, on labelled trials that the judge has scored.

    `table` counts pairs `person/judge`. `kappa` is Cohen's kappa; None if it is undefined. `self_consistency` is the
    share of the judge's own samples that agree; None if each question was asked once. `panel_agreement` is the share of
    pairs of a panel's judges that agree.
    """

    schema_version: Literal[1] = 1
    model: str
    labels: int
    agreement: float
    agreement_interval: Interval
    kappa: float | None = None
    table: dict[str, int]
    self_consistency: float | None = None
    panel_agreement: float | None = None
    criteria: tuple[CriterionCalibration, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    unused: int = 0  # labels without a verdict of the judge
