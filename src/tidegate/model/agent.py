"""What an agent is: it is given a session in a workspace and works until it ends."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from pydantic import Field

from tidegate.model.command import CommandResult
from tidegate.model.event import End, Event
from tidegate.model.value import Value


class Session(Protocol):
    """All that an agent can reach during its step. Every command runs under the trial's supervisor and limits.

    A deadline, a limit or a cancellation ends the step from outside by an exception that agents let through.
    """

    prompt: str
    scenario: str
    trial_id: str  # side/scenario/agent/index
    binary: str  # the target's name
    workspace: Path
    repo: Path  # the side's checkout
    guidance: tuple[str, ...]  # the guidance files that were copied, relative to the workspace
    prompt_file: Path  # also in TIDEGATE_PROMPT_FILE

    async def shell(self, command: str, *, timeout_secs: float | None = None) -> CommandResult:
        """Run `sh -c command` in the workspace, as the agent's shell tool; call and result are recorded."""

    async def program(self, command: str, *, stdin: Path | None = None) -> CommandResult:
        """Run the agent's own program by `sh -c command`; its raw output is kept, no event is recorded."""

    def emit(self, event: Event) -> None:
        """Append one event to the record, at once; `at` is filled in when it is 0."""

    def read_text(self, path: str) -> str | None:
        """A text file of the workspace; None if there is none, or if it is a link that leads out of the workspace."""


class Agent(Value):
    """Who does the task; the base of the family in `tidegate.agents`.

    Success of an agent is what its `End` says, never an exit status alone.
    """

    type: str
    model: str | None = None
    env: dict[str, str] = {}
    timeout_secs: float | None = Field(default=None, gt=0)
    max_turns: int | None = Field(default=None, gt=0)
    deterministic: bool | None = None
    weight: float = Field(default=1.0, gt=0)  # of a slot

    @property
    def is_deterministic(self) -> bool:
        """The same scenario gives the same outcome every time (config.md, Deterministic)."""
        return bool(self.deterministic)

    @property
    def version(self) -> str | None:
        """The version of the agent's program, where it has one."""
        return None

    async def run(self, session: Session) -> End:
        """Do the session's prompt, emit what happens, and say how it ended."""
        raise NotImplementedError
