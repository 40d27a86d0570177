"""What was measured: a trial's result, and the run of one side."""

from __future__ import annotations

from typing import Any, Literal

from tidegate.model.evaluator import EvaluatorVerdict
from tidegate.model.event import CallStatus, TrialEnd
from tidegate.model.judgement import JudgeInfo, Judgement, JudgeResult, JudgeUse, PairJudgement
from tidegate.model.plan import RowKey
from tidegate.model.suite import Diagnosis, Policy, TrialCounts
from tidegate.model.trial import NotMeasured, Phase, Side, TrialSpec
from tidegate.model.value import Value

Outcome = Literal["pass", "fail"]


class SubcommandCounts(Value):
    """Counted invocations of one subcommand."""

    count: int = 0
    errors: int = 0
    retries: int = 0
    help: int = 0


class InvocationCounts(Value):
    """Where the invocations were seen; `approximate` when any came from transcript text."""

    recorder: int = 0
    events: int = 0
    transcript: int = 0
    unseen_by_recorder: int = 0
    approximate: bool = False
    not_counted: dict[CallStatus, int] = {}  # denied, background, unfinished, … : counts of their own


class Metrics(Value):
    """The metrics of a trial (metrics.md). None is "not there", never 0 and never 1. Rates 0..1, times in seconds."""

    command_count: int = 0
    unique_commands: int = 0
    error_count: int = 0
    error_rate: float | None = None
    retry_count: int = 0
    retry_rate: float | None = None
    retry_after_failure_rate: float | None = None
    help_count: int = 0
    first_try_success_rate: float | None = None
    iteration_ratio: float | None = None
    completed: bool = False
    step_efficiency: float | None = None
    turns: int | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    duration_s: float | None = None
    judge_score: float | None = None


class GateResult(Value):
    """A gate's decision, with the name that reports use."""

    type: str
    label: str
    passed: bool
    required: bool = True
    message: str
    detail: Any = None


class EvaluatorResult(Value):
    """An evaluator's score, or why there is none; `script` evaluators have weight 0 and never decide."""

    name: str
    type: str
    score: float | None = None
    verdict: EvaluatorVerdict = "not_measured"
    weight: float = 1
    required: bool = False
    reason: str = ""
    metrics: dict[str, float] = {}
    judged: bool = False  # a model had a say in it
    judgement: Judgement | None = None


class Call(Value):
    """One invocation as reports show it: the command line, how it ended, and what the target said (an excerpt)."""

    command: str
    exit_code: int | None = None
    status: CallStatus
    message: str = ""


class TrialResult(Value):
    """A measured trial: the entry of `trials` in result.json (result.md)."""

    id: str
    side: Side
    scenario: str
    agent: str
    index: int
    phase: Phase
    outcome: Outcome | None  # None: not measured
    decides: Outcome | None  # the outcome that the verdict counts
    reason: str
    not_measured: NotMeasured | None = None
    end: TrialEnd | None = None
    metrics: Metrics = Metrics()
    subcommands: dict[str, SubcommandCounts] = {}
    invocations: InvocationCounts = InvocationCounts()
    gates: tuple[GateResult, ...] = ()
    before: tuple[GateResult, ...] = ()  # of base's definition, which head's no longer has; they decide too
    evaluators: tuple[EvaluatorResult, ...] = ()
    judge: JudgeResult | None = None
    judge_use: JudgeUse | None = None  # None: no model was asked
    case_score: float | None = None  # weighted mean of the evaluators; None: none has a weight, or not measured
    composite: float | None = None
    calls: tuple[Call, ...] = ()
    warnings: tuple[str, ...] = ()
    reused: bool = False  # of an earlier run of the same test: it cost this run nothing

    @property
    def key(self) -> RowKey:
        """The row that this trial belongs to."""
        return RowKey(scenario=self.scenario, agent=self.agent)

    @property
    def only_by_change(self) -> bool:
        """It passes only because the scenario was changed."""
        return self.outcome == "pass" and any(not gate.passed for gate in self.before)

    @property
    def spec(self) -> TrialSpec:
        """What was asked for."""
        return TrialSpec(side=self.side, scenario=self.scenario, agent=self.agent, index=self.index, phase=self.phase)


class PastTrial(Value):
    """An earlier trial of base, kept as history: what it may still be compared by. `at`: seconds since the epoch.

    `merged`: it was measured as a pull request's head, and is base's since that was merged.
    """

    scenario: str
    agent: str
    decides: Outcome
    at: float
    sha: str
    merged: bool = False
    metrics: Metrics = Metrics()

    @property
    def key(self) -> RowKey:
        """The row that this trial belongs to."""
        return RowKey(scenario=self.scenario, agent=self.agent)


class Revision(Value):
    """A commit, and the name that it was asked for by. `dirty`: the working tree, with uncommitted changes."""

    sha: str
    ref: str
    dirty: bool = False
    tree: str = ""  # git's name of all its files


class RunRow(Value):
    """What a comparison has to know of a row besides its trials."""

    scenario: str
    agent: str
    deterministic: bool
    purpose: Literal["regression", "capability"] = "regression"
    source: str | None = None  # where the case comes from
    presence: Literal["both", "added", "removed"] = "both"
    definition: str = ""  # hash of the scenario's definition
    fingerprint: str = ""  # hash of all that makes trials of base exchangeable; '': not taken
    trials: TrialCounts = TrialCounts()

    @property
    def key(self) -> RowKey:
        """Scenario × agent."""
        return RowKey(scenario=self.scenario, agent=self.agent)


class AgentInfo(Value):
    """Which agent it was."""

    type: str
    model: str | None = None
    version: str | None = None


class Run(Value):
    """All measured trials of one side: `run.json`."""

    schema_version: Literal[1] = 1
    tidegate_version: str
    side: Side
    revision: Revision
    suite_file: str
    suite_hash: str
    policy: Policy
    diagnosis: Diagnosis = Diagnosis()
    rows: tuple[RunRow, ...]
    agents: dict[str, AgentInfo]
    judge: JudgeInfo | None = None  # None: nothing was to be judged, or there is no judge
    build_error: str | None = None
    started_at: float
    seconds: float
    confinement: tuple[str, ...] = ()
    interrupted: bool = False  # it was cut off: `trials` are those that had finished
    trials: tuple[TrialResult, ...]
    pairs: tuple[PairJudgement, ...] = ()  # of a head: its trials beside base's, as the judge sees them
    history: tuple[PastTrial, ...] = ()  # of a base: earlier trials that it was completed by, the oldest first

    def as_side(self, side: Side) -> Run:
        """The same run in the other role; `tidegate run` cannot know which side it will be."""
        trials = tuple(
            trial.model_copy(update={"side": side, "id": trial.spec.model_copy(update={"side": side}).id})
            for trial in self.trials
        )
        return self.model_copy(update={"side": side, "trials": trials})
