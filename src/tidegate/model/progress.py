"""Progress messages for a person who is waiting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from tidegate.model.measurement import TrialResult
    from tidegate.model.trial_spec import TrialSpec


class Progress(Protocol):
    """Receives progress messages. Implemented by the terminal view and by plain log lines."""

    def say(self, text: str) -> None:
        """Show one line about the run as a whole, such as `building base`."""

    def stage(self, title: str) -> None:
        """Begin a named part of the run; '' ends the last part."""

    def expect(self, trials: int) -> None:
        """Announce that this many more trials will run."""

    def started(self, spec: TrialSpec) -> None:
        """A trial begins."""

    def step(self, spec: TrialSpec, text: str) -> None:
        """Show what a running trial is doing: `setup`, the agent's last command, `gate 2/5`."""

    def finished(self, result: TrialResult) -> None:
        """A trial has been measured."""


class Silent:
    """Progress that shows nothing."""

    def say(self, text: str) -> None:
        """Do nothing."""

    def stage(self, title: str) -> None:
        """Do nothing."""

    def expect(self, trials: int) -> None:
        """Do nothing."""

    def started(self, spec: TrialSpec) -> None:
        """Do nothing."""

    def step(self, spec: TrialSpec, text: str) -> None:
        """Do nothing."""

    def finished(self, result: TrialResult) -> None:
        """Do nothing."""
