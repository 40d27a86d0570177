"""The keys of tidegate.yaml, with their types and defaults."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, TypeAdapter, ValidationInfo, field_validator

from tidegate.agents import AnyAgent
from tidegate.checks.judges import AnyJudge
from tidegate.executors import AnyExecutor
from tidegate.model.access import FileAccess, NetworkAccess
from tidegate.model.executor import LocalExecutor
from tidegate.model.field_types import (
    Count,
    FolderOfPath,
    InsidePath,
    Name,
    PassedVariable,
    Positive,
    Text,
    only,
    wrong,
)
from tidegate.model.judge import MOST_JUDGES
from tidegate.model.prices import Price
from tidegate.model.suite import (
    GUIDANCE,
    RULES,
    WATCH,
    Budget,
    ContextTokens,
    Diagnosis,
    Hidden,
    Limits,
    Policy,
    Store,
    TrialCounts,
)
from tidegate.model.value import Value
from tidegate.suite.scenario_file import TargetFile

_AGENT: TypeAdapter[AnyAgent] = TypeAdapter(AnyAgent)


class SuiteTrialsFile(TrialCounts):
    """Numbers of trials, and how many trials run in parallel."""

    jobs: Count | None = None


class PolicyFile(Policy):
    """Rules that decide which results block the merge."""

    block_metrics: dict[Annotated[str, only(*RULES, what=f"must be one of {', '.join(RULES)}")], Positive] = {}

    @field_validator("context_tokens")
    @classmethod
    def _has_an_interface(cls, limits: ContextTokens, info: ValidationInfo) -> ContextTokens:
        if limits != ContextTokens() and info.data.get("interface") == "off":
            raise wrong("needs `interface: warn` or `interface: block`")
        return limits


class ReportFile(Value):
    """The comment's template, or the sections that it leaves out."""

    comment_template: InsidePath | None = None
    hide: tuple[Hidden, ...] = ()

    @field_validator("hide")
    @classmethod
    def _has_no_template(cls, hidden: tuple[Hidden, ...], info: ValidationInfo) -> tuple[Hidden, ...]:
        if hidden and info.data.get("comment_template"):
            raise wrong("goes without `comment_template`: write empty blocks into the template")
        return hidden


def _default_agents() -> dict[str, AnyAgent]:
    return {"docs": _AGENT.validate_python({"type": "doc-follower"})}


def _serves_providers(used: bool, info: ValidationInfo) -> bool:
    """Return the value of `model_proxy`, without which no agent reaches a provider that the suite names."""
    named = [name for name, agent in info.data.get("agents", {}).items() if agent.chosen_provider]
    if named and not used:
        raise wrong(f"must be true, since the agent {named[0]} has a `provider`")
    return used


class SuiteFile(Value):
    """The suite: the tool under test, the agents that use it, and the scenarios."""

    version: Annotated[int, only(1, what="must be 1"), Field(json_schema_extra={"const": 1})]
    scenarios: tuple[Text, ...]
    watch: tuple[InsidePath, ...] = WATCH
    guidance: tuple[InsidePath, ...] = GUIDANCE
    build: tuple[Text, ...] = ()
    path: tuple[FolderOfPath, ...] = ()
    target: TargetFile | None = None
    # An agent with `models` is already split into one agent per model here (agent_models.py).
    agents: dict[Name, AnyAgent] = Field(default_factory=_default_agents, min_length=1)
    trials: SuiteTrialsFile = SuiteTrialsFile()
    judge: AnyJudge | Annotated[tuple[AnyJudge, ...], Field(min_length=1, max_length=MOST_JUDGES)] | None = None
    budget: Budget = Budget()
    policy: PolicyFile = PolicyFile()
    model_proxy: Annotated[bool, AfterValidator(_serves_providers)] = True
    network: NetworkAccess = NetworkAccess()
    files: FileAccess = FileAccess()
    pass_env: tuple[PassedVariable, ...] = ()
    limits: Limits = Limits()
    prices: dict[str, Price] | Literal["builtin"] = {}
    store: Store = Store()
    executor: AnyExecutor = LocalExecutor()
    diagnosis: Diagnosis = Diagnosis()
    report: ReportFile = ReportFile()
