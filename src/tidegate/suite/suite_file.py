"""The keys of tidegate.yaml, with their types and defaults."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from tidegate.agents import AnyAgent
from tidegate.judges import AnyJudge
from tidegate.model.price import Price
from tidegate.model.suite import Budget, Diagnosis, Limits, Policy
from tidegate.model.value import Value
from tidegate.suite.field_types import (
    Alpha,
    BranchName,
    Count,
    InsidePath,
    Name,
    PassedVariable,
    Positive,
    TestedMetric,
    Text,
    only,
)
from tidegate.suite.scenario_file import TargetFile, TrialsFile

_AGENT: TypeAdapter[AnyAgent] = TypeAdapter(AnyAgent)


class SuiteTrialsFile(TrialsFile):
    """Numbers of trials, and how many trials run in parallel."""

    jobs: Count | None = None


class BudgetFile(Budget):
    """Hard limits of a run: cost in USD, and tokens."""

    usd: Positive | None = None
    tokens: Count | None = None


class PolicyFile(Policy):
    """Rules that decide which results block the merge."""

    alpha: Alpha = 0.02
    block_metrics: dict[TestedMetric, Positive] = {}


class NetworkFile(Value):
    """Steps that may use the network. Reserved: only `true` is accepted."""

    setup: Annotated[bool, only(True)] = True
    gates: Annotated[bool, only(True)] = True
    agent: Annotated[bool, only(True)] = True


class StoreFile(Value):
    """Where history is stored. Per row, the newest `max_trials` trials that are at most `max_days` old are used."""

    type: Literal["directory", "branch"] = "directory"
    path: InsidePath = ".tidegate/store"
    name: BranchName = "tidegate-history"
    max_trials: Count = 40
    max_days: Positive = 14


class DiagnosisFile(Diagnosis):
    """Thresholds of the patterns that the diagnosis looks for."""

    error_rate: Annotated[float, Field(ge=0, le=1)] = 0.30
    help: Annotated[float, Field(ge=0)] = 2
    retry_rate: Annotated[float, Field(ge=0, le=1)] = 0.30
    commands_ratio: Annotated[float, Field(gt=0)] = 1.5


class ReportFile(Value):
    """The comment's template. `comment` and `max_transcripts` are reserved: only their defaults are accepted."""

    comment_template: InsidePath | None = None
    comment: Annotated[Literal["always", "on-change", "on-regression", "off"], only("always")] = "always"
    max_transcripts: Annotated[Annotated[int, Field(ge=0)], only(50)] = 50


def _default_agents() -> dict[str, AnyAgent]:
    return {"docs": _AGENT.validate_python({"type": "doc-follower"})}


class SuiteFile(Value):
    """The suite: the tool under test, the agents that use it, and the scenarios."""

    version: Annotated[int, only(1, what="must be 1"), Field(json_schema_extra={"const": 1})]
    scenarios: tuple[Text, ...]
    watch: tuple[InsidePath, ...] = ("**",)
    guidance: tuple[InsidePath, ...] = ("AGENTS.md", "CLAUDE.md", ".claude/skills/**", ".agents/skills/**")
    build: tuple[Text, ...] = ()
    path: tuple[InsidePath, ...] = ()
    target: TargetFile | None = None
    # An agent with `models` is already split into one agent per model here (agent_models.py).
    agents: dict[Name, AnyAgent] = Field(default_factory=_default_agents, min_length=1)
    trials: SuiteTrialsFile = SuiteTrialsFile()
    judge: AnyJudge | None = None
    budget: BudgetFile = BudgetFile()
    policy: PolicyFile = PolicyFile()
    model_proxy: bool = True
    network: NetworkFile = NetworkFile()
    pass_env: tuple[PassedVariable, ...] = ()
    limits: Limits = Limits()
    prices: dict[str, Price] | Literal["builtin"] = {}
    store: StoreFile = StoreFile()
    diagnosis: DiagnosisFile = DiagnosisFile()
    report: ReportFile = ReportFile()
