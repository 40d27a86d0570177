"""Head against base: one row per scenario and agent (result.md)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tidegate.model.measurement import Call
from tidegate.model.plan import RowKey
from tidegate.model.suite import RowState
from tidegate.model.trial import NotMeasured
from tidegate.model.value import Value

Counts = tuple[int, int]  # passes, trials
Interval = tuple[float, float]
Kind = Literal["outcome", "setup"]
Drop = Annotated[str, Field(pattern=r"^-?[0-9](\.[0-9]{1,9})?$")]  # of a success rate, as JSON's keys are text


class BaseCounts(Value):
    """Base's measured trials: sums for people, and where they come from."""

    passes: int = 0
    trials: int = 0
    history: Counts = (0, 0)
    screen: Counts = (0, 0)
    fresh: Counts = (0, 0)
    not_measured: int = 0
    interval: Interval | None = None  # of the success rate, Wilson 95 %


class HeadCounts(Value):
    """Head's measured trials."""

    passes: int = 0
    trials: int = 0
    screen: Counts = (0, 0)
    confirm: Counts = (0, 0)
    not_measured: int = 0
    interval: Interval | None = None


class Effect(Value):
    """Head's success rate minus base's, with its interval (Newcombe) and the one-sided p with its limit."""

    difference: float
    interval: Interval
    confidence: float = 0.95
    p: float | None = None
    level: float | None = None


class MetricChange(Value):
    """A metric's mean on both sides (None: no trial had it). `effect`: head − base, or their ratio.

    Over the suite, means of logarithms where the scale is a ratio; of a row, only `effect` and its t `interval` (95 %;
    None: fewer than two trials on a side, all of each side alike, deterministic, or base has moved) are of logarithms.
    `compared`: base's and head's trials that both are of, which are those that have the metric. `q` is of the test over
    the whole suite; `warns`: that test found it, and the change matters.
    """

    base: float | None
    head: float | None
    effect: float | None = None
    interval: Interval | None = None
    compared: tuple[int, int] | None = None
    q: float | None = None
    warns: bool = False
    scale: Literal["difference", "ratio"] = "difference"


class GateCounts(Value):
    """How often a gate passed."""

    gate: str
    base: Counts
    head: Counts


class Divergence(Value):
    """The first step (from 1) at which head leaves base's way, a line of each; '' where a side had ended.

    `before`: the last step that both took. `base_steps`, `head_steps`: that step and the next, with their answers.
    """

    step: int
    base: str
    head: str
    before: str = ""
    base_steps: tuple[Call, ...] = ()
    head_steps: tuple[Call, ...] = ()


class FailedCall(Value):
    """A command of the target that failed, with its exit code and its own message."""

    command: str
    exit_code: int | None = None
    message: str = ""


class Evidence(Value):
    """Why a row is what it is, and how to see it oneself."""

    trial: str
    gate: str | None = None
    message: str = ""
    base_message: str = ""  # what the gate said of base's trial; only where no call failed, so nothing else tells why
    calls: tuple[FailedCall, ...] = ()
    divergence: Divergence | None = None
    reproduce: str = ""
    clears_when: str = ""


class JudgeSide(Value):
    """What the judge said of one side's trials: its mean score, and how many it failed or could not judge."""

    score: float | None = None
    judged: int = 0
    below: int = 0
    not_judged: int = 0
    reason: str = ""  # why not, of the first of them
    agreement: float | None = None  # of the judge with itself


class CriterionChange(Value):
    """A criterion's mean score on both sides, and the judge's words on head's lowest."""

    criterion: str
    base: float | None = None
    head: float | None = None
    reason: str = ""


class WinRate(Value):
    """Pairs of a base and a head trial in which head is better, worse or the same; ties count half."""

    criterion: str
    better: int = 0
    worse: int = 0
    same: int = 0
    rate: float
    interval: Interval


class JudgeChange(Value):
    """What a model thinks of both sides; `warns`: head's score is lower, by more than a margin and than chance."""

    base: JudgeSide
    head: JudgeSide
    difference: float | None = None
    interval: Interval | None = None
    warns: bool = False
    criteria: tuple[CriterionChange, ...] = ()
    pairs: tuple[WinRate, ...] = ()
    pairs_lost: int = 0  # that the judge could not compare
    pairs_reason: str = ""  # why it could not compare the first of them

    @property
    def not_measured(self) -> str:
        """Why it could not judge a trial of head, or else of base; '' if it could judge all that it was asked to."""
        return next((side.reason or "not judged" for side in (self.head, self.base) if side.not_judged), "")


class Row(Value):
    """One scenario × agent, compared."""

    scenario: str
    agent: str
    state: RowState
    reason: str
    kind: Kind = "outcome"
    not_measured: NotMeasured | None = None  # of state not_measured: what kept it from being measured
    purpose: Literal["regression", "capability"] = "regression"
    source: str | None = None  # where the case comes from, as its scenario says
    deterministic: bool = False
    one_shot: bool = False
    fingerprint: str = ""  # of all that makes trials exchangeable; '' where chance has no part
    base: BaseCounts = BaseCounts()
    head: HeadCounts = HeadCounts()
    effect: Effect | None = None
    pass_at_k: dict[str, dict[Literal["base", "head"], float | None]] = {}
    pass_hat_k: dict[str, dict[Literal["base", "head"], float | None]] = {}
    metrics: dict[str, MetricChange] = {}
    gates: tuple[GateCounts, ...] = ()
    judge: JudgeChange | None = None
    evidence: Evidence | None = None

    @property
    def key(self) -> RowKey:
        """Scenario × agent."""
        return RowKey(scenario=self.scenario, agent=self.agent)


class SuiteEffect(Value):
    """The suite as a whole: mean success rates over the rows measured on both sides."""

    base_rate: float | None = None
    head_rate: float | None = None
    difference: float | None = None
    interval: Interval | None = None
    detection: dict[Drop, float] = {}  # drop → probability that this run would have caught it
    state: Literal["ok", "suspicious", "regressed"] | None = None  # of the suite's own test; None: not tested
    p: float | None = None  # of that test: mid-p of the screening, or p of the concurrent trials that confirm it
    level: float | None = None
    metrics: dict[str, MetricChange] = {}  # tested over all scenarios; empty where base has moved


class DefinitionChange(Value):
    """Something that the pull request changed in the scenarios or the policy themselves."""

    scenario: str | None
    agent: str | None = None
    kind: Literal[
        "gate_removed",
        "gate_changed",
        "threshold_lowered",
        "scenario_removed",
        "agent_removed",
        "agent_changed",
        "policy_changed",
        "added",
        "changed",
    ]
    detail: str
    loosened: bool = False


class Comparison(Value):
    """All rows, in the suite's order."""

    rows: tuple[Row, ...]
    suite: SuiteEffect = SuiteEffect()
    definitions: tuple[DefinitionChange, ...] = ()
    excluded_share: float = 0.0  # of all trials: those excluded for infrastructure trouble
    warnings: tuple[str, ...] = ()
