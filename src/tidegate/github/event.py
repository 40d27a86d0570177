"""Turns the name and payload of the job's event into one frozen value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import BeforeValidator, ValidationError

from tidegate.errors import ConfigurationError
from tidegate.github.api import OptionalText, Payload, at
from tidegate.model.value import Value

DEPENDABOT = "dependabot[bot]"
DRAFT = "The pull request is a draft, and the input `drafts` is set to skip drafts."
_QUEUED = re.compile(r"/pr-([0-9]+)-[0-9a-f]{40,64}\Z")  # the end of a merge group's branch


def _number_in(branch: str) -> int | None:
    added = _QUEUED.search(branch)
    return int(added[1]) if added else None


_IsGiven = Annotated[bool, BeforeValidator(lambda value: value is not None)]


class PullRequestEvent(Payload):
    """A pull request was opened, updated, labelled, … `title` and the refs are untrusted input from its author."""

    number: int
    action: str
    title: str = at("pull_request", "title")
    draft: bool = at("pull_request", "draft", default=False)
    head_sha: str = at("pull_request", "head", "sha")
    head_ref: str = at("pull_request", "head", "ref")
    head_repo: str | None = at("pull_request", "head", "repo", "full_name", default=None)  # None: a deleted fork's
    base_ref: str = at("pull_request", "base", "ref")
    base_repo: str = at("repository", "full_name")
    sender: str = at("sender", "login")
    label: str = at("label", "name", default="")  # the label that this event added or removed
    retargeted: _IsGiven = at("changes", "base", default=False)  # `edited`: it now has another base branch

    def changes_nothing(self, accept_label: str) -> bool:
        """Return True for a label other than ours, and for a new title or description: both sides are as before."""
        if self.action == "labeled":
            return self.label.casefold() != accept_label.casefold()
        return self.action == "edited" and not self.retargeted

    @property
    def is_fork(self) -> bool:
        """True if head is not a branch of this repository: the job then has no secrets and a read-only token."""
        return self.head_repo != self.base_repo

    @property
    def without_secrets(self) -> bool:
        """True if GitHub passes no secrets: for forks, and for Dependabot, which it treats like a fork."""
        return self.is_fork or self.sender == DEPENDABOT


class MergeGroupEvent(Payload):
    """A merge queue checks commits before merging them. There is no pull request to comment on.

    `number` is the pull request that the queue adds; None if the group's branch does not tell it.
    """

    head_sha: str = at("merge_group", "head_sha")
    base_sha: str = at("merge_group", "base_sha")
    base_ref: str = at("merge_group", "base_ref")
    number: Annotated[int | None, BeforeValidator(_number_in)] = at("merge_group", "head_ref", default=None)


class WorkflowRunEvent(Payload):
    """Another workflow's run has ended. That run may have run untrusted code; these fields come from GitHub."""

    run: int = at("workflow_run", "id")
    attempt: int = at("workflow_run", "run_attempt", default=1)
    trigger: str = at("workflow_run", "event")  # the event that started that run
    conclusion: OptionalText = at("workflow_run", "conclusion")
    head_sha: str = at("workflow_run", "head_sha")
    head_branch: OptionalText = at("workflow_run", "head_branch")
    head_repo: str | None = at("workflow_run", "head_repository", "full_name", default=None)  # None: a deleted fork's
    base_repo: str = at("repository", "full_name")
    actor: str = at("workflow_run", "actor", "login", default="")

    @property
    def could_comment(self) -> bool:
        """True if that run had a token with write access, and so has written its comment itself."""
        return self.head_repo == self.base_repo and self.actor != DEPENDABOT


class DispatchEvent(Payload):
    """A person started the workflow by hand. `inputs` are the values that the person typed."""

    sender: str = at("sender", "login")
    inputs: Annotated[dict[str, str], BeforeValidator(lambda given: given or {})] = {}
    default_branch: str = at("repository", "default_branch")


class PushEvent(Payload):
    """Commits were pushed to a branch."""

    sha: str = at("after")
    ref: str
    default_branch: str = at("repository", "default_branch")

    @property
    def is_default(self) -> bool:
        """True if they were pushed to the repository's default branch."""
        return self.ref == f"refs/heads/{self.default_branch}"


class OtherEvent(Value):
    """Any event without two sides to compare."""

    name: str

    @property
    def explanation(self) -> str:
        """A sentence for the log on why nothing is compared."""
        return f"`{self.name}` is not a pull request: there are no two sides to compare."


Event = PullRequestEvent | MergeGroupEvent | WorkflowRunEvent | DispatchEvent | PushEvent | OtherEvent


def read_event(name: str, payload: Mapping[str, object]) -> Event:
    """Return the event. Raises ConfigurationError for `pull_request_target`, and for an incomplete payload."""
    if name == "pull_request_target":
        raise ConfigurationError(
            "the event `pull_request_target` is refused: it would run the pull request's code with a token that may"
            " write and with the repository's secrets.",
            "Use `on: pull_request`. For forks, docs/action.md says what holds there.",
        )
    kind = _EVENTS.get(name)
    if kind is None:
        return OtherEvent(name=name)
    try:
        return kind.read(payload)
    except ValidationError as error:
        missing = ", ".join(".".join(map(str, wrong["loc"])) for wrong in error.errors(include_input=False))
        raise ConfigurationError(
            f"the payload of `{name}` lacks: {missing}.", "GITHUB_EVENT_PATH has to name the runner's own file."
        ) from None


_EVENTS: dict[str, type[PullRequestEvent | MergeGroupEvent | WorkflowRunEvent | DispatchEvent | PushEvent]] = {
    "pull_request": PullRequestEvent,
    "merge_group": MergeGroupEvent,
    "workflow_run": WorkflowRunEvent,
    "workflow_dispatch": DispatchEvent,
    "push": PushEvent,
}


def nothing_to_do(event: Event, *, token: bool) -> str:
    """Return why the event ends at once; '' for one that a handler looks at. `token`: the job has one for GitHub."""
    match event:
        case PullRequestEvent(action="closed"):
            return "The pull request is closed: there is nothing left to decide."
        case PushEvent() if not event.is_default:
            return "The push is not to the default branch, whose history is base's."
        case PushEvent() if not token:
            return "There is no token to look for the merged pull request's run with."
        case WorkflowRunEvent() if event.trigger != "pull_request":
            return f"The run was started by `{event.trigger}`, not by a pull request."
        case WorkflowRunEvent(head_repo=None):
            return "The fork has been deleted: it is unknown which pull request the run was about."
        case WorkflowRunEvent() if event.could_comment:
            return "The run was this repository's own: it has written its comment itself."
        case _:
            return ""
