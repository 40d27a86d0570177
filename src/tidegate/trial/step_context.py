"""Where an agent's session works, and how it may be ended from outside."""

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

SILENCE_SECS = 240.0  # after which a watched program is stopped: longer than an agent's shell waits for a command


class AgentStopped(Exception):  # noqa: N818  (not an error: how a step may end)
    """The agent's step was ended from outside: by its deadline, a limit, or because its program is missing."""

    def __init__(self, end: str, message: str, not_measured: NotMeasured | None = None) -> None:
        super().__init__(message)
        self.end = end
        self.message = message
        self.not_measured = not_measured


@dataclass(frozen=True)
class StepContext:
    """Where a session works: folders, environment, limits and the supervisor that runs its commands."""

    supervisor: Supervisor
    folders: Folders
    definitions: Path  # the checkout that scenarios are read at
    server: ServerScript | None  # where the target is an MCP server
    recorder: Path | None  # the wrapper that has the target's name; None: there is no target
    environment: Mapping[str, str]
    credentials: Mapping[str, str]
    limits: Limits
    deadline: float  # of the agent's step, on the monotonic clock
    timeout_secs: float  # the same as a duration, for messages
    silence_secs: float = SILENCE_SECS
    meter: CostMeter | None = None
    relayed: Callable[[], End | None] = lambda: None
