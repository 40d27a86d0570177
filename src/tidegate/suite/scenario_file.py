"""The keys of a scenario file, with their types and defaults."""

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from tidegate.checks.evaluators import AnyEvaluator
from tidegate.checks.gates import AnyGate
from tidegate.checks.gates.fields import Regex
from tidegate.model.agent import ScriptedStep
from tidegate.model.field_types import (
    Count,
    ExitStatuses,
    InsidePath,
    Name,
    Positive,
    ProgramName,
    Seconds,
    Share,
    Text,
    VariableName,
)
from tidegate.model.suite import Composite, EvaluatorScript, Script, ToolMatrixEntry, TrialCounts
from tidegate.model.target import McpServer
from tidegate.model.value import Value


def _shape(value: object) -> str:
    return "text" if isinstance(value, str) else "mapping"


class TargetFile(Value):
    """The tool under test. Missing keys are taken from `target` in tidegate.yaml."""

    binary: ProgramName | None = None
    mcp: McpServer | None = None
    command_pattern: Regex | None = None
    health_check: Text | None = None
    env: dict[VariableName, str] = {}
    ok_statuses: ExitStatuses | None = None


class TaskFile(Value):
    """The task for the agent: its prompt, the steps of the agent `scripted`, and the most turns that it may take."""

    prompt: Text
    steps: tuple[str | ScriptedStep, ...] = ()
    max_turns: Count | None = None


class SetupFile(Value):
    """Commands that prepare the workspace before the agent starts."""

    commands: tuple[Text, ...] = ()


class ScriptsFile(Value):
    """Commands that run after the agent."""

    post: tuple[Script, ...] = ()
    evaluators: tuple[EvaluatorScript, ...] = ()


class ScenarioJudgeFile(Value):
    """An LLM judge that scores the trial by a rubric: a rubric file, or `builtin:guidance`."""

    enabled: bool = True
    rubric: Text | None = None
    files: tuple[InsidePath, ...] = ()  # of the workspace, which the judge reads whole
    pass_threshold: Share = 0.70


class EvaluationFile(Value):
    """How trials are evaluated: gates, evaluators, a judge and a composite score."""

    gates: tuple[AnyGate, ...] | None = None
    judge: ScenarioJudgeFile | None = None
    evaluators: tuple[AnyEvaluator, ...] = ()
    composite: Composite | None = None


class RunFile(Value):
    """Limits for the agent."""

    timeout_secs: Seconds | None = None
    max_turns: Count | None = None


class CostFile(Value):
    """The cost limit of one trial in USD, and whether stored trials may be reused."""

    max_usd: Positive | None = None
    cache: bool = True


class ScenarioFile(Value):
    """A scenario: a task for an agent, and the checks that its result must pass."""

    name: Name
    description: Text
    template_folder: Text | None = None
    target: (
        Annotated[
            Annotated[Literal["from_config"], Tag("text")] | Annotated[TargetFile, Tag("mapping")],
            Discriminator(_shape),
        ]
        | None
    ) = None
    task: Annotated[Annotated[Text, Tag("text")] | Annotated[TaskFile, Tag("mapping")], Discriminator(_shape)]
    setup: SetupFile = SetupFile()
    scripts: ScriptsFile = ScriptsFile()
    gates: tuple[AnyGate, ...] | None = None
    evaluation: EvaluationFile = EvaluationFile()
    tool_matrix: tuple[ToolMatrixEntry, ...] = ()
    run: RunFile = RunFile()
    trials: TrialCounts = TrialCounts()
    minimum_steps: Count | None = None
    serial: bool = False
    purpose: Literal["regression", "capability"] = "regression"
    source: Text | None = None
    deterministic: bool | None = None
    tags: tuple[Text, ...] = ()
    tier: Annotated[int, Field(ge=0)] = 0
    guidance: tuple[InsidePath, ...] | None = None
    cost: CostFile = CostFile()
