"""What an agent's session works with, and how the session can be stopped from outside."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tidegate.agents.invocations.metrics import cost_of
from tidegate.model.agent import ServerScript
from tidegate.model.event import CommandResult, End
from tidegate.model.suite import Limits
from tidegate.model.target import McpServer
from tidegate.model.trial_spec import NotMeasured
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
    mcp: McpServer | None = None  # the server, as the suite defines it
    meter: CostMeter | None = None
    relayed: Callable[[], End | None] = lambda: None

    def timed_out(self) -> AgentStopped:
        """Return the end of an agent whose time is up."""
        return AgentStopped("timeout", f"the agent was stopped after {self.timeout_secs:g} s")

    def stop_if_over(self, result: CommandResult) -> None:
        """Stop the agent if a command reached a limit, or ran until the agent's time was up."""
        if result.end == "limit":
            raise AgentStopped(f"limit:{result.limit}", f"`{result.command}` was {result.how_it_ended()}")
        if result.end == "timeout" and time.monotonic() >= self.deadline:
            raise self.timed_out()

    def stop_if_spent(self, told: End | None) -> None:
        """Stop the agent if the trial or the run has used up its budget. `told`: what the agent has reported."""
        relayed = self.relayed()
        if relayed is not None and relayed.end == "max_turns":
            raise AgentStopped("max_turns", relayed.message)
        if self.meter is None:
            return
        for known in (told, relayed):
            if known is not None:
                self.meter.tell(known)
        if (over := self.meter.over()) is not None:
            raise AgentStopped("budget", *over)

    def spent(self, known: End | None) -> list[str]:
        """Return the cost so far, else the tokens, as a list of at most one text."""
        if known is None:
            return []
        if (cost := cost_of(known, self.meter.price if self.meter else None)) is not None:
            return [f"${cost:.4f}"]
        tokens = (known.tokens_in or 0) + (known.tokens_out or 0)
        return [f"{tokens:,} tokens"] if tokens else []
