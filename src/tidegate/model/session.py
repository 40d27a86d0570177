"""A recorded session: what an agent did in one trial of base, in order, and what it saw."""

from __future__ import annotations

from typing import Any, Literal

from tidegate.model.event import CallStatus
from tidegate.model.plan import RowKey
from tidegate.model.value import Value

TOOLS_MARK = "descriptions of the tools: sha256:"  # in the output of the check of an MCP server
FOLDER_MARK = "tidegate-folder:"  # in a replay's output, before the folder in which a shell command ended
STDERR = "standard error: "  # before what a step of a replay has printed there


class SessionStep(Value):
    """One call of an agent's tool, with its result. `command` is set for a shell."""

    tool: str
    command: str | None = None
    input: dict[str, Any] = {}
    status: CallStatus
    exit_code: int | None = None
    output: str = ""  # as the agent's log has it, cut to a few thousand characters
    at: float = 0.0  # seconds since the epoch, when it ended
    secs: float = 0.0  # how long it took, by the agent's log


class Session(Value):
    """What the agent did in one trial, and all that decides whether it can be replayed.

    `sha` is the commit that it ran on, `trial` its id. `shell` runs the agent's commands; with `keeps_folder`, a `cd`
    holds for the later ones. `problem` says why it cannot be replayed.
    """

    schema_version: Literal[1] = 1
    scenario: str
    agent: str
    trial: str
    sha: str
    at: float
    passed: bool
    guidance: str = ""  # hash of the guidance files that the agent was given
    shell: Literal["sh", "bash"] = "sh"
    keeps_folder: bool = False
    server: str = ""  # name of the MCP server under test
    tools: str = ""  # hash of the descriptions of its tools, as the agent was given them
    steps: tuple[SessionStep, ...] = ()
    problem: str = ""

    @property
    def key(self) -> RowKey:
        """The row that this session belongs to."""
        return RowKey(scenario=self.scenario, agent=self.agent)
