"""What an agent's session works with, and how the session can be stopped from outside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tidegate.model.agent import ServerScript
from tidegate.model.event import End
from tidegate.model.suite import Limits
from tidegate.model.trial import NotMeasured
from tidegate.trial.cost_meter import CostMeter
from tidegate.trial.directories import Folders
from tidegate.trial.processes import Supervisor

SILENCE_SECS = 240.0  # without output, then the program is stopped; longer than agents' shells wait for a command


class AgentStopped(Exception):  # noqa: N818  (not an error: how a step may end)
    """The agent was stopped from outside: at its deadline, at a limit, or because its program is missing."""

    def __init__(self, end: str, message: str, not_measured: NotMeasured | None = None) -> None:
        super().__init__(message)
        self.end = end
        self.message = message
        self.not_measured = not_measured


@dataclass(frozen=True)
class StepContext:
    """What a session works with: folders, environment, limits, and the supervisor that runs its commands."""

    supervisor: Supervisor
    folders: Folders
    definitions: Path  # the checkout that scenarios are read from
    agent_path: str  # where the agent's own program is looked up
    server: ServerScript | None  # if the target is an MCP server
    recorder: Path | None  # the wrapper with the target's name; None without a target
    environment: Mapping[str, str]
    credentials: Mapping[str, str]
    limits: Limits
    deadline: float  # when the agent's step ends, on the monotonic clock
    timeout_secs: float  # the same as a duration, for messages
    silence_secs: float = SILENCE_SECS
    meter: CostMeter | None = None
    relayed: Callable[[], End | None] = lambda: None
