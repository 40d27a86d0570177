"""How well the judge agrees with people: their labels compared with its verdicts on the same criteria."""

from __future__ import annotations

from typing import Literal

from tidegate.model.value import Value

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


class JudgeCalibration(Value):
    """Agreement between people and one judge of a panel, on the same labels. `table` is like that of Calibration."""

    model: str
    labels: int
    agreement: float
    kappa: float | None = None
    kappa_interval: Interval | None = None
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
    kappa_interval: Interval | None = None
    table: dict[str, int]
    self_consistency: float | None = None
    judges: tuple[JudgeCalibration, ...] = ()  # of a panel; the other values are those of the panel as a whole
    panel_agreement: float | None = None
    criteria: tuple[CriterionCalibration, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    unused: int = 0  # labels without a verdict of the judge
