"""What GitHub knows: repositories, pull requests, comments, labels, statuses, artifacts, tokens and people."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

BOT = "github-actions[bot]"
Role = Literal["admin", "maintain", "write", "triage", "read"]


@dataclass(frozen=True)
class Token:
    """Who speaks, and what the token may do; None: as much as the person may."""

    login: str
    permissions: Mapping[str, str] | None = None

    @property
    def is_installation(self) -> bool:
        """A job's GITHUB_TOKEN is the token of an app's installation, which GitHub treats in its own way."""
        return self.permissions is not None


# What GitHub gives to a job, by the kind of run. Names are those of a workflow's `permissions:`.
PROFILES: dict[str, Mapping[str, str]] = {
    "documented": {"contents": "read", "pull-requests": "write", "metadata": "read"},
    "read-only": {"contents": "read", "pull-requests": "read", "metadata": "read"},  # a fork's, Dependabot's
    "publish": {"actions": "read", "pull-requests": "write", "metadata": "read"},
    "maintainer": {"contents": "read", "pull-requests": "write", "statuses": "write", "metadata": "read"},
    "history": {"actions": "read", "contents": "read", "pull-requests": "read", "metadata": "read"},
    "history-branch": {"actions": "read", "contents": "write", "pull-requests": "read", "metadata": "read"},
    "nothing": {"metadata": "read"},
}


@dataclass
class CommentRow:
    """A comment of an issue or a pull request."""

    id: int
    number: int
    author: str
    body: str
    updated: int = 0  # when it was last changed, on GitHub's clock


@dataclass
class Pull:
    """A pull request; `head_repo`: None where the fork has been deleted."""

    number: int
    head_sha: str
    head_ref: str
    head_repo: str | None
    base_ref: str = "main"
    title: str = "Shorten --priority to --prio"
    state: Literal["open", "closed"] = "open"
    draft: bool = False
    merged_by: str | None = None  # the commit on the base branch
    locked: bool = False
    labels: list[str] = field(default_factory=list)
    events: list[tuple[str, str, str, int]] = field(
        default_factory=list
    )  # labeled, unlabeled or another; label, actor, when


@dataclass
class ArtifactRow:
    """An artifact of a workflow run; `said_size`: what GitHub says of it."""

    id: int
    run: int
    name: str
    archive: bytes
    said_size: int
    expired: bool = False
    head_sha: str = ""  # of the run
    head_repo: str | None = None


@dataclass
class StatusRow:
    """A commit status."""

    sha: str
    state: str
    context: str
    description: str
    target_url: str


@dataclass
class Repo:
    """A repository, and who may do what in it."""

    name: str
    private: bool = False
    roles: dict[str, Role] = field(default_factory=lambda: dict[str, Role](olivia="admin", tristan="triage"))
    pulls: dict[int, Pull] = field(default_factory=dict)
    comments: list[CommentRow] = field(default_factory=list)
    statuses: list[StatusRow] = field(default_factory=list)
    artifacts: list[ArtifactRow] = field(default_factory=list)

    @property
    def owner(self) -> str:
        """The account."""
        return self.name.partition("/")[0]


@dataclass
class State:
    """All of it; ids ascend over everything, as on GitHub."""

    repos: dict[str, Repo] = field(default_factory=dict)
    tokens: dict[str, Token] = field(default_factory=dict)
    people: set[str] = field(default_factory=lambda: {"olivia", "mallory", "tristan", "octocat"})
    ids: itertools.count[int] = field(default_factory=lambda: itertools.count(1001))
    clock: itertools.count[int] = field(default_factory=lambda: itertools.count(1))  # seconds
    left: dict[str, int] = field(default_factory=dict)  # requests of a token before the primary limit


def told_time(second: int) -> str:
    """GitHub's text for a time of its clock."""
    return f"2026-11-22T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}Z"
