"""A recorded session: what an agent did in one trial of base, in order, and what it saw."""

from __future__ import annotations

from typing import Any, Literal

from tidegate.model.event import CallStatus
from tidegate.model.plan import RowKey
from tidegate.model.value import Value

TOOLS_MARK = "descriptions of the tools: sha256:"  # in the output of the check of an MCP server
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
    tools: str = ""  # hash of the descriptions of its tools, as the agent was given them
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
    number: int = 1  # of the step, from 1


class RowReplay(Value):
    """What replaying base's sessions of one row showed.

    `same` sessions replay alike on both sides, `differing` do not. `left_out` says why others were not counted.
    `unseen` estimates the chance that a new session makes a call that none of the recorded ones made. `surface`: what
    the pull request changes in the help of the subcommands that these sessions call, and none of them shows. `skipped`:
    no agent is run for the row, unless a spot check of another row looks worse on head. `spot`: the row could be
    skipped, but was chosen at random for a trial with an agent.
    """

    scenario: str
    agent: str
    same: int = 0
    passed: int = 0  # of those, by the trials that they were recorded in
    differing: int = 0
    left_out: tuple[str, ...] = ()
    steps: int = 0
    unseen: float = 1.0
    surface: tuple[str, ...] = ()
    difference: Difference | None = None
    first_step: int = 0  # the number of the first step that differs, over all sessions; 0 if none does
    failing: tuple[str, ...] = ()  # gates that pass in a replay on base and fail in that on head
    unsteady: bool = False  # replays of a session on base differ from each other
    skipped: bool = False
    spot: bool = False
    why_run: str = ""  # why the row is not skipped; '' if it is
    base: str = ""  # the commit that head was compared with

    @property
    def key(self) -> RowKey:
        """The row's scenario and agent."""
        return RowKey(scenario=self.scenario, agent=self.agent)

    @property
    def severity(self) -> float:
        """Return how bad the difference looks: 0 for none, more if gates fail, early, or in many sessions."""
        if self.difference is None:
            return 0.0
        sessions = max(1, self.same + self.differing)
        return 2.0 * bool(self.failing) + self.differing / sessions + 1 / max(1, self.first_step)
