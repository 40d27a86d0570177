"""Progress messages for a person who is waiting."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidegate.model.measurement import TrialResult
    from tidegate.model.trial_spec import TrialSpec


class Progress:
    """Receives progress messages, and shows nothing: the terminal view and plain log lines do."""

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
