"""result.json: the machine's view and the public contract. Every report is made from this value alone."""

from __future__ import annotations

from typing import Literal

from tidegate.model.comparison import DefinitionChange, Row, SuiteEffect
from tidegate.model.judgement import JudgeReport
from tidegate.model.measurement import AgentInfo, TrialResult
from tidegate.model.suite import Diagnosis
from tidegate.model.trend import RowTrend
from tidegate.model.value import Value
from tidegate.model.verdict import Verdict


class BaseSide(Value):
    """Where base's trials come from."""

    sha: str
    ref: str
    origin: Literal["run", "history", "reused"] = "run"
    history_trials: int = 0


class HeadSide(Value):
    """Where head's trials come from."""

    sha: str
    ref: str
    origin: Literal["run", "reused"] = "run"
    tree: str = ""  # git's name of all the files that were tested
    tested_at: float = 0.0  # seconds since the epoch


class Sides(Value):
    """The two commits."""

    base: BaseSide
    head: HeadSide


class TrialTotals(Value):
    """How many trials were run on each side."""

    base: int = 0
    head: int = 0


class Cost(Value):
    """What the run used; None: no agent reported it. `budget_used`: the largest share of any limit."""

    usd: float | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    trials: TrialTotals = TrialTotals()
    seconds: float = 0.0
    budget_used: float | None = None


class FileChange(Value):
    """A file that the pull request changed, as git's unified diff (cut, if it is long).

    `role`: whether each side has its own (the subject's), or both are run with head's (a definition's). `scenarios`:
    those that it belongs to; none: all of them.
    """

    path: str
    role: Literal["subject", "definition"]
    scenarios: tuple[str, ...] = ()
    diff: str


class Result(Value):
    """The whole of a comparison, ready to be reported."""

    schema_version: Literal[1] = 1
    tidegate_version: str
    instance: str = "default"
    verdict: Verdict
    sides: Sides
    rows: tuple[Row, ...]
    suite: SuiteEffect
    definitions: tuple[DefinitionChange, ...] = ()
    agents: dict[str, AgentInfo] = {}
    judge: JudgeReport | None = None
    diagnosis: Diagnosis = Diagnosis()  # the suite's own thresholds
    warnings: tuple[str, ...] = ()
    cost: Cost
    comment_template: str | None = None  # the suite's own, as text: Jinja that extends ours
    changes: tuple[FileChange, ...] = ()
    trends: tuple[RowTrend, ...] = ()
    confinement: tuple[str, ...] = ()
    trials: tuple[TrialResult, ...] = ()
