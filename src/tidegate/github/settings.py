"""Reads the action's environment: Settings holds the action's inputs, GitHubJob describes the job."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, SecretStr, ValidationError
from pydantic_core import ErrorDetails

from tidegate.errors import ConfigurationError
from tidegate.model.value import Value

CommentMode = Literal["always", "on-regression", "off"]
INPUTS_ADVICE = "The inputs are listed in action.yml and in docs/action.md."


def _below(path: str) -> str:
    if path.startswith("/") or ".." in Path(path).parts:
        raise ValueError("not a folder below the workspace")
    return path


class Settings(Value):
    """One field per input of action.yml, with the same name and default."""

    github_token: SecretStr | None = None
    config: str = "tidegate.yaml"
    path: Annotated[str, AfterValidator(_below)] = "."
    instance: str = Field("default", max_length=80)
    command: Literal["action", "publish", "run", "history", "plan", "shard", "merge", "link"] = "action"
    args: str = ""
    comment: CommentMode = "always"
    drafts: Literal["run", "skip"] = "run"
    fork_without_key: Literal["pass", "fail"] = "pass"
    accept_label: str = "tidegate: accept"
    publish_timeout: float = Field(55, gt=0, le=600)  # seconds; with the last request a minute

    @classmethod
    def valid(cls, environ: Mapping[str, str]) -> Self:
        """Read the valid inputs and use the default of the others, to report the invalid ones with."""
        found: dict[str, str] = {}
        for name, text in _given(environ).items():
            with suppress(ValidationError):
                cls.model_validate({name: text})
                found |= {name: text} if text else {}
        return cls.model_validate(found)

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Self:
        """Read every `INPUT_…` variable; empty inputs use the default. ConfigurationError lists all problems."""
        given = _given(environ)
        try:
            return cls.model_validate({name: text for name, text in given.items() if text})
        except ValidationError as error:
            problems = [_problem(wrong, given) for wrong in error.errors(include_url=False, include_input=False)]
            raise ConfigurationError.of(problems, INPUTS_ADVICE) from None


class GitHubJob(Value):
    """The GitHub job that Tidegate runs in, from the runner's variables."""

    event_name: str = Field(alias="GITHUB_EVENT_NAME")
    event_path: Path = Field(alias="GITHUB_EVENT_PATH")
    repository: str = Field(alias="GITHUB_REPOSITORY", pattern=r"^[^/\s]+/[^/\s]+$")
    workspace: Path = Field(alias="GITHUB_WORKSPACE")
    api_url: str = Field("https://api.github.com", alias="GITHUB_API_URL")
    server_url: str = Field("https://github.com", alias="GITHUB_SERVER_URL")
    sha: str = Field("", alias="GITHUB_SHA")
    ref: str = Field("", alias="GITHUB_REF")
    run_id: int = Field(0, alias="GITHUB_RUN_ID", ge=0)
    run_attempt: int = Field(1, alias="GITHUB_RUN_ATTEMPT", ge=1)
    triggering_actor: str = Field("", alias="GITHUB_TRIGGERING_ACTOR")  # who started this attempt
    output: Path | None = Field(None, alias="GITHUB_OUTPUT")
    step_summary: Path | None = Field(None, alias="GITHUB_STEP_SUMMARY")

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Self:
        """Read the variables. Raises ConfigurationError that lists all missing or invalid ones."""
        names = {str(field.alias) for field in cls.model_fields.values()}
        try:
            return cls.model_validate({name: environ[name] for name in names if environ.get(name)})
        except ValidationError as error:
            wrong = error.errors(include_url=False, include_input=False)
            problems = [f"{found['loc'][0]}: {_lowered(found['msg'])}" for found in wrong]
            advice = "`tidegate action` is what the action runs on GitHub; on your own machine, use `tidegate pr`."
            raise ConfigurationError.of(problems, advice) from None

    @property
    def repository_url(self) -> str:
        """Return the URL of the repository."""
        return f"{self.server_url}/{self.repository}"

    @property
    def run_url(self) -> str:
        """Return the URL of this workflow run."""
        return f"{self.repository_url}/actions/runs/{self.run_id}"


def _given(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: environ.get(f"INPUT_{name.upper()}", "").strip() for name in Settings.model_fields}


def _problem(wrong: ErrorDetails, given: Mapping[str, str]) -> str:
    """Describe one invalid input. The token cannot be invalid, so it is never printed."""
    name = str(wrong["loc"][0])
    return f"input `{name}`: `{given[name]}`: {_lowered(wrong['msg'])}"


def _lowered(message: str) -> str:
    return message[:1].lower() + message[1:]
