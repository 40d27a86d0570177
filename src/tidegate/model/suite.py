"""The suite: everything that the project's files define, in any supported format."""

from collections.abc import Sequence
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import Field, SerializeAsAny, model_validator

from tidegate.model.access import FileAccess, NetworkAccess
from tidegate.model.agent import Agent, ScriptedStep
from tidegate.model.evaluator import Case, Evaluator
from tidegate.model.executor import Executor, LocalExecutor
from tidegate.model.field_types import (
    Alpha,
    BranchName,
    Count,
    InsidePath,
    Name,
    Positive,
    Seconds,
    Share,
    Text,
    Trials,
    wrong,
)
from tidegate.model.gate import Gate
from tidegate.model.judge import Judge
from tidegate.model.judge_result import Calibration
from tidegate.model.prices import BUILTIN_PRICES, Price, bare_model
from tidegate.model.target import Target
from tidegate.model.value import Value

# Defaults of the suite file and of a suite.
WATCH = ("**",)
GUIDANCE = ("AGENTS.md", "CLAUDE.md", ".claude/skills/**", ".agents/skills/**")
ALPHA = 0.02
DEFAULT_TIMEOUT_SECS = 300.0  # of an agent, as in llm-tool-test
INITIAL_STATE = "initial-state"  # the template's subfolder that becomes the workspace, if present

Hidden = Literal["improvements", "table", "judge", "diagnosis", "cost"]  # sections that a comment can leave out
RowState = Literal[
    "regressed",
    "unconfirmed",
    "ok",
    "improved",
    "flaky",
    "baseline_changed",
    "added",
    "removed",
    "not_comparable",
    "not_measured",
    "unchanged",
]


class Script(Value):
    """A command that runs after the agent."""

    command: Text
    timeout_secs: Seconds = 30


class EvaluatorScript(Value):
    """A diagnostic script that prints `{metrics?, score?, summary?}`. It never decides."""

    command: Text
    name: Name
    timeout_secs: Seconds = 60


class Composite(Value):
    """Weights of the composite score. At least one must be above 0."""

    gate_weight: Annotated[float, Field(ge=0)] = 0.0
    judge_weight: Annotated[float, Field(ge=0)] = 0.0
    interaction_weight: Annotated[float, Field(ge=0)] = 0.0

    @model_validator(mode="after")
    def _weighs_something(self) -> Self:
        if not self.gate_weight + self.judge_weight + self.interaction_weight:
            raise wrong("needs a weight above 0")
        return self


class TrialCounts(Value):
    """`min` screening trials per side (the preset's k0), at most `max` head trials per row in all phases."""

    min: Trials | None = None
    max: Trials | None = None

    def over(self, suite: "TrialCounts") -> "TrialCounts":
        """Return these counts, with those of the suite for the ones that are not set."""
        return TrialCounts(min=self.min or suite.min, max=self.max or suite.max)


class ToolMatrixEntry(Value):
    """One agent of `tool_matrix` and the models to run it with; empty means the agent's own model."""

    tool: Text
    models: tuple[Name, ...] = ()


class Scenario(Value):
    """One task for an agent. Paths are relative to the repository's root."""

    name: str
    description: str
    file: str
    template: str | None = None  # folder that becomes the workspace; None for an empty workspace
    target: Target
    prompt: str
    steps: tuple[str | ScriptedStep, ...] = ()  # for the agent `scripted`
    max_turns: int | None = None
    timeout_secs: float | None = None
    setup: tuple[str, ...] = ()
    post: tuple[Script, ...] = ()
    evaluator_scripts: tuple[EvaluatorScript, ...] = ()
    gates: tuple[SerializeAsAny[Gate], ...] = ()
    evaluators: tuple[SerializeAsAny[Evaluator], ...] = ()
    judge: SerializeAsAny[Evaluator] | None = None  # the scenario's own rubric, used only if all gates pass
    case: Case = Case()
    composite: Composite | None = None
    tool_matrix: tuple[ToolMatrixEntry, ...] = ()
    trials: TrialCounts = TrialCounts()
    minimum_steps: int | None = None
    serial: bool = False  # its trials run alone
    purpose: Literal["regression", "capability"] = "regression"
    source: str | None = None
    deterministic: bool | None = None
    tags: tuple[str, ...] = ()
    tier: int = 0
    max_usd: float | None = None
    cache: bool = True
    guidance: tuple[str, ...] | None = None  # None: the suite's

    def guidance_or(self, of_suite: Sequence[str]) -> Sequence[str]:
        """Return the entries of the scenario's own `guidance`, else those of the suite."""
        return of_suite if self.guidance is None else self.guidance

    @property
    def wordings(self) -> frozenset[str]:
        """Hashes of the prompt texts of all criteria that a model judges."""
        asking = (*self.evaluators, self.judge)
        return frozenset(words for one in asking if one for words in one.wordings.values())

    @property
    def judged(self) -> bool:
        """True if a model contributes to any score."""
        return self.judge is not None or any(evaluator.judged for evaluator in self.evaluators)


_NO_LIMIT_MINUTES = 7 * 24 * 60.0


class Budget(Value):
    """Hard limits of a run. None means no limit."""

    usd: Positive | None = None
    tokens: Count | None = None
    minutes: Positive | None = 30
    trials: Count | None = None

    @property
    def seconds(self) -> float:
        """The run's time; without a limit, more than any run takes."""
        return 60 * (self.minutes or _NO_LIMIT_MINUTES)


class Limits(Value):
    """Resource limits of one command of a trial."""

    output_mb: float = Field(default=50, gt=0)
    memory_mb: float = Field(default=4096, gt=0)
    processes: int = Field(default=512, gt=0)
    files: int = Field(default=1024, gt=0)


class ReplayRules(Value):
    """What replays decide, the largest chance of something new, and the share of unchanged rows that agents check."""

    use: Literal["skip", "order", "off"] = "order"
    max_unseen: Share = 0.2
    spot_checks: Share = 0.2


class ContextTokens(Value):
    """Limits of the estimated tokens of a server's list of tools on head: in all, and more than on base."""

    max: Count | None = None
    max_increase: Annotated[int, Field(ge=0)] | None = None


class Rule(NamedTuple):
    """How a metric is compared. `margin`: the smallest change that matters, as a difference or as ratio − 1."""

    margin: float
    ratio: bool = False
    lower_is_worse: bool = False
    concurrent: bool = False  # it depends on the machine and the provider's load, so history is not comparable
    plus: float = 0.0  # added before the logarithm, for metrics that can be 0


# A new metric joins the family whose false-discovery rate is limited, and is a value of `policy.block_metrics`.
RULES = {
    "error_rate": Rule(0.05),
    "retry_rate": Rule(0.05),
    "first_try_success_rate": Rule(0.05, lower_is_worse=True),
    "iteration_ratio": Rule(0.05, lower_is_worse=True),
    "help_count": Rule(0.5),
    "plan_adherence": Rule(0.05, lower_is_worse=True),
    "tool_routing_accuracy": Rule(0.05, lower_is_worse=True),
    "tool_precision": Rule(0.05, lower_is_worse=True),
    "parameter_schema_valid": Rule(0.05, lower_is_worse=True),
    "case_score": Rule(0.05, lower_is_worse=True),
    "judge_score": Rule(0.05, lower_is_worse=True),
    "command_count": Rule(0.15, ratio=True, plus=1.0),
    "tokens_in": Rule(0.15, ratio=True),
    "tokens_out": Rule(0.15, ratio=True),
    "cost_usd": Rule(0.15, ratio=True),
    "duration_s": Rule(0.25, ratio=True, concurrent=True),
}


class Policy(Value):
    """The project's rules for which rows block a merge."""

    preset: Literal["quick", "standard", "thorough"] = "standard"
    alpha: Alpha = ALPHA
    mode: Literal["blocking", "advisory"] = "blocking"
    fail_fast: bool = True
    block: tuple[Literal["regressed", "unproven", "unconfirmed", "not_measured", "inconclusive"], ...] = (
        "regressed",
        "unproven",
    )
    agents: tuple[str, ...] | None = None
    suite: Literal["off", "warn", "block"] = "warn"
    block_metrics: dict[str, float] = {}
    judge_blocks: bool = False
    rules: Literal["warn", "block"] = "warn"
    interface: Literal["warn", "block", "off"] = "warn"
    context_tokens: ContextTokens = ContextTokens()
    replay: ReplayRules = ReplayRules()

    def names(self, agent: str) -> bool:
        """Return True if rows of this agent (`name` or `name:model`) may block."""
        return self.agents is None or not {agent, agent.partition(":")[0]}.isdisjoint(self.agents)


class Store(Value):
    """Where base's history is kept, and how much of it. `path` is relative to the repository's root.

    With type `branch`, the branch `name` holds only the history; everything else is kept below `path`. `builds`: base's
    build of an unchanged commit is used again on the same machine, for a day.
    """

    type: Literal["directory", "branch"] = "directory"
    name: BranchName = "tidegate-history"
    path: InsidePath = ".tidegate/store"
    max_trials: Count = 40  # per row: the newest
    max_days: Positive = 14
    builds: bool = True


class Diagnosis(Value):
    """Thresholds of the diagnosis patterns."""

    error_rate: Share = 0.30
    help: Annotated[float, Field(ge=0)] = 2
    retry_rate: Share = 0.30
    commands_ratio: Positive = 1.5


class Suite(Value):
    """The content of `tidegate.yaml` and of every scenario that it names, validated and with defaults filled in."""

    file: str = "tidegate.yaml"
    watch: tuple[str, ...] = WATCH
    guidance: tuple[str, ...] = GUIDANCE
    build: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    agents: dict[str, SerializeAsAny[Agent]]
    scenarios: tuple[Scenario, ...]
    trials: TrialCounts = TrialCounts()
    judge: SerializeAsAny[Judge] | None = None
    calibration: Calibration | None = None  # the judge's calibration, from the file next to the suite's
    jobs: int | None = None
    budget: Budget = Budget()
    policy: Policy = Policy()
    limits: Limits = Limits()
    network: NetworkAccess = NetworkAccess()
    files: FileAccess = FileAccess()
    pass_env: tuple[str, ...] = ()
    store: Store = Store()
    executor: SerializeAsAny[Executor] = LocalExecutor()
    prices: dict[str, Price] = {}  # by model
    model_proxy: bool = True  # agents get a proxy token instead of their API key
    diagnosis: Diagnosis = Diagnosis()
    comment_template: str | None = None
    report_hide: tuple[Hidden, ...] = ()
    unread: tuple[str, ...] = ()  # keys of its files that have no effect, one sentence each

    def price(self, model: str | None) -> Price | None:
        """Return the model's price by `prices`; a dated name, or one with its provider, is the same model."""
        return self.prices.get(model or "") or self.prices.get(bare_model(model or ""))

    def price_of_budget(self, model: str | None) -> Price | None:
        """Return the price by which budgets count: from `prices`, else the built-in one; None if neither has it."""
        return self.price(model) or BUILTIN_PRICES.get(bare_model(model or ""))

    @property
    def guidance_globs(self) -> tuple[str, ...]:
        """Return the globs of all guidance files, those of single scenarios too, without the anchors of sections."""
        entries = (*self.guidance, *(entry for scenario in self.scenarios for entry in scenario.guidance or ()))
        return tuple(dict.fromkeys(entry.partition("#")[0] for entry in entries))

    @property
    def server_variables(self) -> frozenset[str]:
        """Return the names of the variables that are sent to MCP servers, and that no trial sees."""
        return frozenset(name for one in self.scenarios if one.target.mcp for name in one.target.mcp.references)
