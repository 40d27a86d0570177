"""Requests about what a trial left behind, and their answers. Answers are stored with the trial."""

from typing import Annotated, Any, Literal

from pydantic import Field

from tidegate.model.event import CommandResult
from tidegate.model.judge import AskModel, ModelAnswer
from tidegate.model.value import Value

ServerPart = Literal["tool", "resource", "prompt"]  # of what an MCP server offers


class RunCommand(Value):
    """Run `sh -c command` in the workspace, in a gate's environment: base's PATH and `target.env`, no secrets."""

    kind: Literal["command"] = "command"
    command: str
    timeout_secs: float = 30


class RunScript(Value):
    """Like RunCommand, with the script variables (`TIDEGATE_…`, `LLM_TOOL_TEST_…`) in the environment."""

    kind: Literal["script"] = "script"
    command: str
    timeout_secs: float = 30


class RunJudge(Value):
    """Run `sh -c command` in a folder of the checkout that defines the scenarios, with `stdin` as standard input.

    The environment has the script variables. `folder` is relative to the checkout's root.
    """

    kind: Literal["judge"] = "judge"
    command: str
    stdin: str = ""
    folder: str = "."
    timeout_secs: float = 60


class ReadFile(Value):
    """Read one text file of the workspace. Symlinks are resolved, but never followed out of the workspace."""

    kind: Literal["file"] = "file"
    path: str


class AskServer(Value):
    """Start the MCP server under test in the workspace and ask it once: for a call of a tool, a resource or a prompt.

    The answer is a CommandAnswer: the text in stdout with status 0, or the server's error in stderr with status 1. Its
    `end` is `not_started` if the server gave no answer. Unless it `must_fail`, it should be in the server's lists.
    """

    kind: Literal["server"] = "server"
    what: ServerPart = "tool"
    name: str
    input: dict[str, Any] = {}
    timeout_secs: float = 30
    must_fail: bool = False


WorkspaceRequest = RunCommand | RunScript | RunJudge | ReadFile | AskServer
Request = Annotated[WorkspaceRequest | AskModel, Field(discriminator="kind")]


class CommandAnswer(Value):
    """The result of a RunCommand, RunScript or RunJudge. Its stdout is complete unless `truncated`.

    `cut`: a part of what the script was given is left out.
    """

    kind: Literal["command"] = "command"
    result: CommandResult
    cut: bool = False


class FileAnswer(Value):
    """What is at the `path` of a ReadFile. `text` is set only if the file is present and readable."""

    kind: Literal["file"] = "file"
    state: Literal["present", "missing", "escapes", "not_a_file", "too_large", "unreadable"]
    text: str | None = None
    path: str = ""


Answer = Annotated[CommandAnswer | FileAnswer | ModelAnswer, Field(discriminator="kind")]
