"""The job that runs the action, and its connections to the outside."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate.github.client import GitHubRepository
from tidegate.github.deadline import Deadline
from tidegate.github.settings import GitHubJob, Settings
from tidegate.history.branch import Origin
from tidegate.model.progress import Progress
from tidegate.vcs.revisions import repository_root

if TYPE_CHECKING:
    from tidegate.model.result import Result
    from tidegate.run.checkouts import Commits
    from tidegate.run.run_job import Options


BEFORE = 0.25  # of the time that is left, for one request before the verdict
OUT = "pr"  # below .tidegate; the only one of our folders that later steps can read

Connect = Callable[[Settings, GitHubJob], GitHubRepository | None]
Compare = Callable[[Path, "Commits", Path, "Options"], Awaitable["Result"]]


@dataclass(frozen=True)
class Outside:
    """Everything that reaches outside of the process: environment, progress, GitHub, runner and clock."""

    environ: Mapping[str, str]
    progress: Progress
    connect: Connect  # opens the job's repository; returns None without a token
    command: Callable[[str], None]  # sends one workflow command to the runner
    sleep: Callable[[float], None]
    compare: Compare | None = None  # runs both sides; None: the pipeline, which takes long to import


@dataclass(frozen=True)
class Job:
    """The context that every event handler gets."""

    settings: Settings
    runner: GitHubJob
    outside: Outside

    @cached_property
    def deadline(self) -> Deadline:
        """The time that GitHub has, for all requests that the job waits for."""
        return Deadline(self.settings.publish_timeout)

    def connect(self) -> GitHubRepository | None:
        """Return the job's repository on GitHub, or None without a token."""
        return self.outside.connect(self.settings, self.runner)

    def say(self, text: str) -> None:
        """Write the text to the log."""
        self.outside.progress.say(text)

    @property
    def workspace(self) -> Path:
        """The folder that the repository is checked out in: the runner's, or the input `path` below it."""
        return self.runner.workspace / self.settings.path

    @cached_property
    def root(self) -> Path:
        """The top folder of the workspace's repository. Raises ConfigurationError if it is in none."""
        return repository_root(self.workspace)


def origin_of(job: Job, *, writes: bool = False) -> Origin:
    """Return git's credentials for the job's repository. `writes` tells whether the event may add to base's history."""
    token = job.settings.github_token
    if token is None:
        return Origin(writes=writes)
    secret = base64.b64encode(f"x-access-token:{token.get_secret_value()}".encode()).decode()
    # For this server only. The empty value removes a header that actions/checkout may have set: GitHub rejects two.
    name = f"http.{job.runner.server_url}/.extraheader"
    settings = [(name, ""), (name, f"AUTHORIZATION: basic {secret}")]
    first = int(job.outside.environ.get("GIT_CONFIG_COUNT") or 0)
    environ = {"GIT_CONFIG_COUNT": str(first + len(settings))}
    for number, (key, value) in enumerate(settings, first):
        environ |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return Origin(environ, writes)
