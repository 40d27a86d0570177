"""The job that we are a step of, and the ways out of the process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tidegate.gh.port import RepositoryPort
from tidegate.model.progress import Progress
from tidegate.settings import Runner, Settings

OUT = "pr"  # below .tidegate in the workspace: of our folders the only one that later steps can see

Connect = Callable[[Settings, Runner], RepositoryPort | None]


@dataclass(frozen=True)
class Outside:
    """The ways out of the process, made in one place."""

    environ: Mapping[str, str]
    progress: Progress
    connect: Connect  # to the job's repository; None without a token
    command: Callable[[str], None]  # one line to the runner, which acts on it
    sleep: Callable[[float], None]


@dataclass(frozen=True)
class Job:
    """What every event's handler is given."""

    settings: Settings
    runner: Runner
    outside: Outside

    def connect(self) -> RepositoryPort | None:
        """The repository; None without a token, and in a dry run, which posts nothing."""
        return self.outside.connect(self.settings, self.runner)

    def say(self, text: str) -> None:
        """To the log."""
        self.outside.progress.say(text)

    @property
    def workspace(self) -> Path:
        """Where the repository is checked out."""
        return self.runner.workspace
