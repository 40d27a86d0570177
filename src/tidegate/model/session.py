"""A recorded session: what an agent did in one trial of base, in order, and what it saw."""

from __future__ import annotations

from typing import Any, Literal

from tidegate.model.event import CallStatus
from tidegate.model.plan import RowKey
from tidegate.model.value import Value

FOLDER_MARK = "tidegate-folder:"  # in a replay's output, before the folder in which a shell command ended


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
    steps: tuple[SessionStep, ...] = ()
    problem: str = ""

    @property
    def key(self) -> RowKey:
        """The row that this session belongs to."""
        return RowKey(scenario=self.scenario, agent=self.agent)


class Difference(Value):
    """The first step of a session whose result differs: the step, and what it shows on base and on head."""

    step: str
    base: str
    head: str


class RowReplay(Value):
    """What replaying base's sessions of one row showed.

    `same` sessions replay alike on both sides, `differing` do not. `left_out` says why others were not counted.
    `unseen` estimates the chance that a new session makes a call that none of the recorded ones made. `skipped` is
    True if no agent is run for the row.
    """

    scenario: str
    agent: str
    same: int = 0
    passed: int = 0  # of those, by the trials that they were recorded in
    differing: int = 0
    left_out: tuple[str, ...] = ()
    steps: int = 0
    unseen: float = 1.0
    difference: Difference | None = None
    unsteady: bool = False  # replays of a session on base differ from each other
    skipped: bool = False
    why_run: str = ""  # why the row is not skipped; '' if it is

    @property
    def key(self) -> RowKey:
        """The row's scenario and agent."""
        return RowKey(scenario=self.scenario, agent=self.agent)
