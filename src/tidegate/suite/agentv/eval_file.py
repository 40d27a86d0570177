"""The keys of an AgentV 1.5 eval file, of its targets.yaml and of .agentv/config.yaml."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AliasChoices, Discriminator, Field, Tag, model_validator

from tidegate.agents.agentv_cli import HealthCheck
from tidegate.checks.evaluators import AnyEvaluator
from tidegate.checks.evaluators.rubrics import RubricItems
from tidegate.model.field_types import Count, Name, Positive, Seconds, Text, only, wrong
from tidegate.model.value import Value


class PartFile(Value):
    """One part of a message: text, or the path of a file."""

    type: Literal["text", "file"]
    value: Text


def _shape(content: object) -> str:
    return "text" if isinstance(content, str) else "list" if isinstance(content, list | tuple) else "mapping"


Content = Annotated[
    Annotated[str, Tag("text")]
    | Annotated[tuple[PartFile, ...], Tag("list")]
    | Annotated[dict[str, Any], Tag("mapping")],
    Discriminator(_shape),
]


class MessageFile(Value):
    """One message of a case."""

    role: Literal["system", "user", "assistant", "tool"]
    content: Content | None = None
    name: Text | None = None
    tool_calls: tuple[dict[str, Any], ...] = ()


class ExecutionFile(Value):
    """The target that runs the cases, and the evaluators that score them."""

    target: Text | None = None
    evaluators: tuple[AnyEvaluator, ...] | None = None


class CaseFile(Value):
    """One test case: the input messages, the expected outcome, and how to score the answer."""

    id: Name
    description: Text | None = None
    expected_outcome: Text | None = None
    outcome: Text | None = None
    input_messages: tuple[MessageFile, ...] = Field(min_length=1)
    expected_messages: tuple[MessageFile, ...] = ()
    conversation_id: Text | None = None
    note: Text | None = None
    rubrics: Annotated[RubricItems, Field(min_length=1)] | None = None
    target: Text | None = None
    execution: ExecutionFile = ExecutionFile()
    evaluators: tuple[AnyEvaluator, ...] | None = None

    @model_validator(mode="after")
    def _one_outcome(self) -> Self:
        if self.outcome is not None and self.expected_outcome is not None:
            raise wrong("has `outcome` and `expected_outcome`, which are the same")
        return self


class EvalFile(Value):
    """An AgentV eval file: a list of cases and their defaults."""

    schema_name: Literal["agentv-eval-v2"] | None = Field(default=None, alias="$schema")
    description: Text | None = None
    dataset: Name | None = None
    target: Text | None = None
    evaluator: Literal["llm_judge"] | None = None
    execution: ExecutionFile = ExecutionFile()
    evalcases: tuple[CaseFile, ...] = Field(min_length=1)


class TargetEntry(Value, extra="allow"):
    """One target. Further keys depend on its `provider`."""

    name: Text
    provider: Text
    judge_target: Text | None = None
    workers: Count | None = None
    provider_batching: bool = False


class TargetsFile(Value):
    """The file targets.yaml: the targets that can run cases."""

    schema_name: Literal["agentv-targets-v2.2", "agentv-targets-v2.1", "agentv-targets-v2"] | None = Field(
        default=None, alias="$schema"
    )
    targets: tuple[TargetEntry, ...]


class CliFile(Value):
    """Further keys of a target with `provider: cli`. `commandTemplate` is AgentV's older spelling."""

    command_template: Text = Field(validation_alias=AliasChoices("command_template", "commandTemplate"))
    files_format: Text = "{path}"
    cwd: Text | None = None
    timeout_seconds: Seconds | None = None
    healthcheck: HealthCheck | None = None
    verbose: bool = False
    keep_temp_files: bool = False


class MockFile(Value):
    """Further keys of a target with `provider: mock`."""

    response: str = ""


class RetriesFile(Value):
    """AgentV's retry settings, without effect: the provider's client retries, and a provider's errors fail no trial."""

    max_retries: Annotated[int, Field(ge=0)] | None = None
    retry_initial_delay_ms: Positive | None = None
    retry_max_delay_ms: Positive | None = None
    retry_backoff_factor: Positive | None = None
    retry_status_codes: tuple[int, ...] = ()


class ModelFile(RetriesFile):
    """Keys of all targets that are models. `api_key` is read separately; Azure also calls `model` `deployment`."""

    model: Text = Field(validation_alias=AliasChoices("model", "deployment"))
    max_output_tokens: Annotated[int, Field(gt=0, le=20_000)] | None = None
    temperature: Annotated[float | None, only(None, what="is not taken by the provider any more; leave it out")] = None


class AnthropicFile(ModelFile):
    """Further keys of a target with `provider: anthropic`."""

    thinking_budget: Annotated[int, Field(ge=1024, lt=20_000)] | None = None


class AzureFile(ModelFile):
    """Further keys of a target with `provider: azure`."""

    endpoint: Text = Field(validation_alias=AliasChoices("endpoint", "resource"))


class GeminiFile(ModelFile):
    """Further keys of a target with `provider: gemini`."""

    model: Text = "gemini-2.5-flash"


class CodexFile(Value):
    """Further keys of a target with `provider: codex`."""

    executable: Annotated[Text, only("codex", what="must be codex, found on PATH (`path` in tidegate.yaml)")] = "codex"
    model: Text | None = None
    args: tuple[Text, ...] = ()
    timeout_seconds: Seconds | None = None


class AgentVConfigFile(Value):
    """The file .agentv/config.yaml. Input files that match `guideline_patterns` count as guidelines."""

    schema_name: Literal["agentv-config-v2"] | None = Field(default=None, alias="$schema")
    guideline_patterns: tuple[Text, ...] = ()
