"""A finished trial, as measured with its metrics, and the run of one side."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

from tidegate.model.access import RefusedHost
from tidegate.model.evaluator import EvaluatorVerdict, Judgement
from tidegate.model.event import CallStatus, TrialEnd, how_it_ended
from tidegate.model.judge_result import JudgeInfo, JudgeResult, JudgeUse
from tidegate.model.plan import RowKey, row_key
from tidegate.model.revision import Revision
from tidegate.model.run_row import RunRow
from tidegate.model.suite import Budget, Diagnosis, Policy
from tidegate.model.trial_spec import NotMeasured, Phase, Side, TrialSpec
from tidegate.model.value import Value

DETAILS = ("plan_adherence", "tool_routing_accuracy", "tool_precision", "parameter_schema_valid")
"""Metrics that are details of evaluators."""


class SubcommandCounts(Value):
    """Counted invocations of one subcommand."""

    count: int = 0
    errors: int = 0
    retries: int = 0
    help: int = 0


class InvocationCounts(Value):
    """How many invocations each source recorded.

    `not_counted` has the calls that are in no rate, by status; None if the calls are not known.
    `uses` counts the calls that ask the tool to do something: all but those for help or its version.
    """

    recorder: int = 0
    events: int = 0
    unseen_by_recorder: int = 0
    not_counted: dict[CallStatus, int] | None = {}  # denied, background, unfinished, unknown, …
    uses: int | None = 0  # None if the calls are not known


class Metrics(Value):
    """The metrics of a trial. None means "not available", never 0 or 1. Rates are from 0 to 1, times in seconds.

    The counts are None if the calls are not known, or the end of none of them.
    """

    command_count: int | None = 0
    unique_commands: int | None = 0
    error_count: int | None = 0
    error_rate: float | None = None
    retry_count: int | None = 0
    retry_rate: float | None = None
    retry_after_failure_rate: float | None = None
    help_count: int | None = 0
    first_try_success_rate: float | None = None
    iteration_ratio: float | None = None
    completed: bool | None = False
    step_efficiency: float | None = None
    turns: int | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    duration_s: float | None = None
    plan_adherence: float | None = None
    tool_routing_accuracy: float | None = None
    tool_precision: float | None = None
    parameter_schema_valid: float | None = None
    case_score: float | None = None
    judge_score: float | None = None


Outcome = Literal["pass", "fail"]


def _seconds(metrics: Metrics, around_s: float | None) -> float | None:
    return None if metrics.duration_s is None else metrics.duration_s + (around_s or 0.0)


class GateResult(Value):
    """A gate's decision, with its display name."""

    type: str
    label: str
    passed: bool
    required: bool = True
    message: str
    missing: tuple[str, ...] = ()
    detail: Any = None


class EvaluatorScore(Value):
    """An evaluator's score, or why there is none. Evaluators of type `script` have weight 0 and never decide."""

    name: str
    type: str
    score: float | None = None
    verdict: EvaluatorVerdict = "not_measured"
    weight: float = 1
    required: bool = False
    reason: str = ""
    hits: tuple[str, ...] = ()
    misses: tuple[str, ...] = ()
    unmatched: tuple[tuple[str, str], ...] = ()  # tools, and the pattern that no output of each matches
    metrics: dict[str, float] = {}
    judged: bool = False  # a model contributed to the score
    judgement: Judgement | None = None


class EvaluatorResult(EvaluatorScore):
    """The score of one of the scenario's evaluators.

    `members` are those that it combines, and what these combine, as `outer/inner`.
    """

    members: tuple[EvaluatorScore, ...] = ()


class Call(Value):
    """One invocation as reports show it: the command line, how it ended, and an excerpt of the tool's output."""

    command: str
    exit_code: int | None = None
    status: CallStatus
    message: str = ""
    duration_s: float | None = None

    @property
    def ended(self) -> str:
        """How the call ended: `exit 2`, `timeout`."""
        return how_it_ended(self.status, self.exit_code)


class TrialResult(Value):
    """A measured trial: an entry of `trials` in result.json."""

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
    evaluators: tuple[EvaluatorResult, ...] = ()
    judge: JudgeResult | None = None
    judge_use: JudgeUse | None = None  # None if no model was asked
    case_score: float | None = None  # weighted mean of the evaluators; None if none has a weight or one is not measured
    composite: float | None = None
    calls: tuple[Call, ...] = ()
    rewritten: tuple[str, ...] = ()  # files of its start that it has changed or removed
    made: tuple[str, ...] = ()  # files and links of its start that the setup has made
    untested: tuple[str, ...] = ()  # the program that head's `path` finds, if any, and another one that was used
    # Why its pass does not count unless trials of base have the same: strict clients cannot use the server's lists or
    # read a text, a call had not ended, a line of the agent's events is unreadable, its program failed with another
    # status, a script gave no verdict, an evaluator was not shown all, a value is of another kind. Each with the first
    # tool, details, or "".
    faults: dict[str, str] = {}
    warnings: tuple[str, ...] = ()
    refused_hosts: tuple[RefusedHost, ...] = ()  # that the suite's `network` does not list
    tokens_guessed: bool = False  # an answer of the model was cut off before all of its tokens were reported
    cost_guessed: bool = False  # a part of the cost is computed from tokens and prices, not reported by the agent
    around_s: float | None = None  # seconds besides the agent's: setup, health check, gates and scripts
    reused: bool = False  # taken from an earlier run of the same test at no cost

    @property
    def key(self) -> RowKey:
        """The row that this trial belongs to."""
        return row_key(self.scenario, self.agent)

    @property
    def seconds(self) -> float | None:
        """Seconds of the whole trial; None if its agent's are not known."""
        return _seconds(self.metrics, self.around_s)

    @property
    def spec(self) -> TrialSpec:
        """The specification that this trial was run by."""
        return TrialSpec(side=self.side, scenario=self.scenario, agent=self.agent, index=self.index, phase=self.phase)


class PastTrial(Value):
    """An earlier trial of base from the history. `at` is in seconds since the epoch.

    `merged`: measured as the head of a pull request that was merged since. `beside_head`: in the run of a pull request,
    where what head leaves can make it fail. `shapes`: of its calls (agents/invocations/shapes.py); None if not known.
    """

    scenario: str
    agent: str
    decides: Outcome
    at: float
    sha: str
    merged: bool = False
    beside_head: bool = False
    uses: int | None = None  # see InvocationCounts
    shapes: tuple[str, ...] | None = None
    rewritten: tuple[str, ...] = ()  # see TrialResult
    made: tuple[str, ...] = ()
    faults: dict[str, str] = {}
    end: str | None = None  # of its agent
    metrics: Metrics = Metrics()
    around_s: float | None = None

    @property
    def seconds(self) -> float | None:
        """Seconds of the whole trial; None if its agent's are not known."""
        return _seconds(self.metrics, self.around_s)

    @property
    def key(self) -> RowKey:
        """The row that this trial belongs to."""
        return row_key(self.scenario, self.agent)


T = TypeVar("T", TrialResult, PastTrial)


def by_row(values: Iterable[T]) -> defaultdict[RowKey, list[T]]:
    """Return the values of each row, in their order; an empty list for a row without any."""
    found: defaultdict[tuple[str, str], list[T]] = defaultdict(list)
    for value in values:
        found[value.scenario, value.agent].append(value)  # a tuple is faster to hash than a RowKey
    return defaultdict(list, {row_key(name, agent): of for (name, agent), of in found.items()})


class FilesOfPasses(NamedTuple):
    """Files of their start that some passing trials have changed, and those that their setup has made.

    `made` is None if it is not known, since no trial passed.
    """

    rewritten: frozenset[str] = frozenset()
    made: frozenset[str] | None = None


def files_of_passes(passes: Sequence[TrialResult | PastTrial | FilesOfPasses]) -> FilesOfPasses:
    """Return the files of all these passing trials."""
    made = [one.made for one in passes if one.made is not None]
    known = frozenset[str]().union(*made) if made else None
    return FilesOfPasses(frozenset().union(*(one.rewritten for one in passes)), known)


class AgentInfo(Value):
    """The agent's type, its model and the version of its program."""

    type: str
    model: str | None = None
    version: str | None = None


class Run(Value):
    """All measured trials of one side: the content of `run.json`."""

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
    judge: JudgeInfo | None = None  # None if nothing was to be judged or there is no judge
    build_error: str | None = None
    started_at: float
    seconds: float
    budget: Budget = Budget(minutes=None)  # the limits that the run was held to
    seed: int | None = None  # of agents that choose by chance and have none of their own
    slots: int = 1  # how many trials ran at once
    replaced: tuple[str, ...] = ()  # files of the commit that its build has replaced, and base's build has not
    confinement: tuple[str, ...] = ()
    interrupted: bool = False  # stopped early: `trials` holds only the finished ones
    trials: tuple[TrialResult, ...]
    history: tuple[PastTrial, ...] = ()  # base only: earlier trials that complete it, oldest first

    def as_side(self, side: Side) -> "Run":
        """Return the same run as the given side. `tidegate run` cannot know which side it will be compared as."""
        if self.side == side:
            return self
        trials = tuple(
            trial.model_copy(update={"side": side, "id": trial.spec.model_copy(update={"side": side}).id})
            for trial in self.trials
        )
        return self.model_copy(update={"side": side, "trials": trials})
