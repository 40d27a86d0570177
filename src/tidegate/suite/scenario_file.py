"""The keys of a scenario file, with their types and defaults."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

from tidegate.evaluators import AnyEvaluator
from tidegate.gates import AnyGate
from tidegate.gates.fields import Regex
from tidegate.model.value import Value
from tidegate.suite.field_types import (
    Count,
    Name,
    Positive,
    ProgramName,
    Seconds,
    ServerName,
    Share,
    Text,
    Trials,
    VariableName,
    wrong,
)


def _shape(value: object) -> str:
    return "text" if isinstance(value, str) else "mapping"


class McpFile(Value):
    """An MCP server as the tool under test. `sh -c command` starts it in the workspace; it uses the stdio transport."""

    command: Text
    name: ServerName = "target"


class TargetFile(Value):
    """The tool under test. Missing keys are taken from `target` in tidegate.yaml."""

    binary: ProgramName | None = None
    mcp: McpFile | None = None
    command_pattern: Regex | None = None
    health_check: Text | None = None
    env: dict[VariableName, str] = {}


class TaskFile(Value):
    """The task for the agent: its prompt, and the most turns that it may take."""

    prompt: Text
    max_turns: Count | None = None


class SetupFile(Value):
    """Commands that prepare the workspace before the agent starts."""

    commands: tuple[Text, ...] = ()


class ScriptFile(Value):
    """A command that runs in the workspace after the agent."""

    command: Text
    timeout_secs: Seconds = 30


class EvaluatorScriptFile(Value):
    """A diagnostic script that runs after the agent. Its output is reported under `name`."""

    command: Text
    name: Name
    timeout_secs: Seconds = 60


class ScriptsFile(Value):
    """Commands that run after the agent."""

    post: tuple[ScriptFile, ...] = ()
    evaluators: tuple[EvaluatorScriptFile, ...] = ()


class ScenarioJudgeFile(Value):
    """An LLM judge that scores the trial by a rubric: a rubric file, or `builtin:guidance`."""

    enabled: bool = True
    rubric: Text | None = None
    pass_threshold: Share = 0.70


class CompositeFile(Value):
    """Weights of the composite score. At least one must be above 0."""

    gate_weight: Annotated[float, Field(ge=0)] = 0.0
    judge_weight: Annotated[float, Field(ge=0)] = 0.0
    interaction_weight: Annotated[float, Field(ge=0)] = 0.0

    @model_validator(mode="after")
    def _weighs_something(self) -> Self:
        if not self.gate_weight + self.judge_weight + self.interaction_weight:
            raise wrong("needs a weight above 0")
        return self


class EvaluationFile(Value):
    """How trials are evaluated: gates, evaluators, a judge and a composite score."""

    gates: tuple[AnyGate, ...] | None = None
    judge: ScenarioJudgeFile | None = None
    evaluators: tuple[AnyEvaluator, ...] = ()
    composite: CompositeFile | None = None


class MatrixFile(Value):
    """An agent that runs the scenario, and optionally the models to run it with."""

    tool: Text
    models: tuple[Name, ...] = ()


class RunFile(Value):
    """Limits for the agent."""

    timeout_secs: Seconds | None = None
    max_turns: Count | None = None


class TrialsFile(Value):
    """Numbers of trials: `min` screening trials on each side, at most `max` trials on head per row."""

    min: Trials | None = None
    max: Trials | None = None


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
    tool_matrix: tuple[MatrixFile, ...] = ()
    run: RunFile = RunFile()
    trials: TrialsFile = TrialsFile()
    minimum_steps: Count | None = None
    purpose: Literal["regression", "capability"] = "regression"
    source: Text | None = None
    deterministic: bool | None = None
    tags: tuple[Text, ...] = ()
    tier: Annotated[int, Field(ge=0)] = 0
    cost: CostFile = CostFile()
