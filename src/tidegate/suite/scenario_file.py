"""A scenario file as it is written (scenarios.md, native dialect): every key, and what each may hold."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

from tidegate.evaluators import AnyEvaluator
from tidegate.gates import AnyGate
from tidegate.gates.fields import Regex
from tidegate.model.value import Value
from tidegate.suite.fields import (
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
    """An MCP server as the tool under test: `sh -c command` starts it in the workspace, and it speaks on stdio."""

    command: Text
    name: ServerName = "target"


class TargetFile(Value):
    """The tool under test; what is left out comes from tidegate.yaml's `target`."""

    binary: ProgramName | None = None
    mcp: McpFile | None = None
    command_pattern: Regex | None = None
    health_check: Text | None = None
    env: dict[VariableName, str] = {}


class TaskFile(Value):
    """What the agent is asked to do."""

    prompt: Text
    max_turns: Count | None = None


class SetupFile(Value):
    """Commands that prepare the workspace."""

    commands: tuple[Text, ...] = ()


class ScriptFile(Value):
    """A command that runs after the agent."""

    command: Text
    timeout_secs: Seconds = 30


class EvaluatorScriptFile(Value):
    """A diagnostic script."""

    command: Text
    name: Name
    timeout_secs: Seconds = 60


class ScriptsFile(Value):
    """What runs after the agent."""

    post: tuple[ScriptFile, ...] = ()
    evaluators: tuple[EvaluatorScriptFile, ...] = ()


class ScenarioJudgeFile(Value):
    """A model's opinion on the trial, by a rubric: a file, or `builtin:guidance`."""

    enabled: bool = True
    rubric: Text | None = None
    pass_threshold: Share = 0.70


class CompositeFile(Value):
    """Weights of the composite score; one of them at least is above 0."""

    gate_weight: Annotated[float, Field(ge=0)] = 0.0
    judge_weight: Annotated[float, Field(ge=0)] = 0.0
    interaction_weight: Annotated[float, Field(ge=0)] = 0.0

    @model_validator(mode="after")
    def _weighs_something(self) -> Self:
        if not self.gate_weight + self.judge_weight + self.interaction_weight:
            raise wrong("needs a weight above 0")
        return self


class EvaluationFile(Value):
    """How a trial is judged."""

    gates: tuple[AnyGate, ...] | None = None
    judge: ScenarioJudgeFile | None = None
    evaluators: tuple[AnyEvaluator, ...] = ()
    composite: CompositeFile | None = None


class MatrixFile(Value):
    """One agent that the scenario is for, with the models to run it with."""

    tool: Text
    models: tuple[Name, ...] = ()


class RunFile(Value):
    """Limits of the agent's step."""

    timeout_secs: Seconds | None = None
    max_turns: Count | None = None


class TrialsFile(Value):
    """How many trials: `min` screening trials a side, `max` head trials a row."""

    min: Trials | None = None
    max: Trials | None = None


class CostFile(Value):
    """What a trial may cost, and whether stored trials may be used again."""

    max_usd: Positive | None = None
    cache: bool = True


class ScenarioFile(Value):
    """One scenario."""

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
