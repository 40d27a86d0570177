"""Questions about what a trial left behind, and the answers: the one is a value, the other is stored."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tidegate.model.command import CommandResult
from tidegate.model.question import AskModel, ModelAnswer
from tidegate.model.value import Value


class RunCommand(Value):
    """Run `sh -c command` in the workspace, as a gate sees it (side's PATH, `target.env`, no secret)."""

    kind: Literal["command"] = "command"
    command: str
    timeout_secs: float = 30


class RunScript(Value):
    """The same with the script variables (`TIDEGATE_…`, `LLM_TOOL_TEST_…`) in its environment."""

    kind: Literal["script"] = "script"
    command: str
    timeout_secs: float = 30


class RunJudge(Value):
    """Run `sh -c command` in a folder of the checkout that defines the scenarios, with a text on standard input.

    The script variables are in its environment. `folder` is relative to the checkout's root.
    """

    kind: Literal["judge"] = "judge"
    command: str
    stdin: str = ""
    folder: str = "."
    timeout_secs: float = 60


class ReadFile(Value):
    """Read one text file of the workspace, symlinks resolved and never followed out of it."""

    kind: Literal["file"] = "file"
    path: str


WorkspaceRequest = RunCommand | RunScript | RunJudge | ReadFile
Request = Annotated[WorkspaceRequest | AskModel, Field(discriminator="kind")]


class CommandAnswer(Value):
    """What the command of a RunCommand, RunScript or RunJudge did; its stdout is whole unless `truncated`."""

    kind: Literal["command"] = "command"
    result: CommandResult


class FileAnswer(Value):
    """What stands at the path of a ReadFile. `text` only when present and readable; `path`, where it was kept."""

    kind: Literal["file"] = "file"
    state: Literal["present", "missing", "escapes", "not_a_file", "too_large", "unreadable"]
    text: str | None = None
    path: str = ""


Answer = Annotated[CommandAnswer | FileAnswer | ModelAnswer, Field(discriminator="kind")]
