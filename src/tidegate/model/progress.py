"""What the stages tell a person who is waiting."""

from __future__ import annotations

from typing import Protocol

from tidegate.model.measurement import TrialResult
from tidegate.model.trial import TrialSpec


class Progress(Protocol):
    """Told about the work as it goes on; implemented by the terminal view and by plain log lines."""

    def say(self, text: str) -> None:
        """One line about the run as a whole: `building base`, `not confined: no uid`."""

    def stage(self, title: str) -> None:
        """What follows belongs to that part of the run; '' where the last part ends."""

    def expect(self, trials: int) -> None:
        """So many more trials are going to be run."""

    def started(self, spec: TrialSpec) -> None:
        """A trial begins."""

    def step(self, spec: TrialSpec, text: str) -> None:
        """What a running trial does now: `setup`, the agent's last command, `gate 2/5`."""

    def finished(self, result: TrialResult) -> None:
        """A trial has been measured."""


class Silent:
    """Progress for nobody."""

    def say(self, text: str) -> None:
        """Nothing."""

    def stage(self, title: str) -> None:
        """Nothing."""

    def expect(self, trials: int) -> None:
        """Nothing."""

    def started(self, spec: TrialSpec) -> None:
        """Nothing."""

    def step(self, spec: TrialSpec, text: str) -> None:
        """Nothing."""

    def finished(self, result: TrialResult) -> None:
        """Nothing."""
