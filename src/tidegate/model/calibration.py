"""How far the judge can be trusted: what people said of the same criteria, beside what it said."""

from __future__ import annotations

from typing import Literal

from tidegate.model.value import Value

Mark = Literal["met", "unmet"]
Interval = tuple[float, float]


class Label(Value):
    """A person's verdict on one criterion of one trial: a line of the labels' file."""

    trial: str  # side/scenario/agent/index
    criterion: str
    verdict: Mark
    note: str = ""


class Disagreement(Value):
    """Where person and judge differ, with the judge's score and reason."""

    trial: str
    criterion: str
    person: Mark
    judge: Mark
    score: float
    reason: str = ""


class CriterionCalibration(Value):
    """One criterion's share of agreement. It holds for its `wording` alone (CriterionScore); `table` as the whole's."""

    criterion: str
    wording: str = ""
    labels: int
    agreement: float
    table: dict[str, int] = {}


class Calibration(Value):
    """The judge against people, on the labels of trials that it has judged.

    `table` counts `person/judge`; `kappa` is Cohen's, None where it says nothing; `self_consistency`: how often the
    judge's own samples agree, None where each question was asked once.
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
    criteria: tuple[CriterionCalibration, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    unused: int = 0  # labels of what the judge has not judged
