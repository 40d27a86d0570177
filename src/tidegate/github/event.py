"""Turns the name and payload of the job's event into one frozen value."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from tidegate.errors import ConfigurationError
from tidegate.model.value import Value

DEPENDABOT = "dependabot[bot]"
_QUEUED = re.compile(r"/pr-([0-9]+)-[0-9a-f]{40,64}\Z")  # the end of a merge group's branch


class PullRequestEvent(Value):
    """A pull request was opened, updated, labelled, … `title` and the refs are untrusted input from its author."""

    number: int
    action: str
    title: str
    draft: bool
    head_sha: str
    head_ref: str
    head_repo: str | None  # owner/name; None: the fork has been deleted
    base_sha: str
    base_ref: str
    base_repo: str
    sender: str
    label: str = ""  # the label that this event added or removed
    retargeted: bool = False  # `edited`: the pull request now has another base branch

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


class MergeGroupEvent(Value):
    """A merge queue checks commits before merging them. There is no pull request to comment on."""

    head_sha: str
    base_sha: str
    base_ref: str
    number: int | None = None  # the pull request that the queue adds; None if the group's branch does not tell it


class WorkflowRunEvent(Value):
    """Another workflow's run has ended. That run may have run untrusted code; these fields come from GitHub."""

    run: int
    attempt: int
    trigger: str  # the event that started that run
    conclusion: str
    head_sha: str
    head_branch: str
    head_repo: str | None  # owner/name; None: the fork has been deleted
    base_repo: str
    actor: str

    @property
    def could_comment(self) -> bool:
        """True if that run had a token with write access, and so has written its comment itself."""
        return self.head_repo == self.base_repo and self.actor != DEPENDABOT


class DispatchEvent(Value):
    """A person started the workflow by hand. `inputs` are the values that the person typed."""

    sender: str
    inputs: dict[str, str]
    default_branch: str


class CommentEvent(Value):
    """A person or a bot commented on an issue or a pull request. The text is untrusted input."""

    number: int
    action: str
    on_pull_request: bool
    comment: int
    body: str
    author: str
    by_bot: bool
    sender: str
    created_at: str  # GitHub's time, such as 2026-11-22T08:00:00Z, which sorts as text


class PushEvent(Value):
    """Commits were pushed to a branch. `is_default`: it is the repository's default branch."""

    sha: str
    is_default: bool


class OtherEvent(Value):
    """Any event without two sides to compare."""

    name: str

    @property
    def explanation(self) -> str:
        """A sentence for the log on why nothing is compared."""
        return f"`{self.name}` is not a pull request: there are no two sides to compare."


Event = PullRequestEvent | MergeGroupEvent | WorkflowRunEvent | DispatchEvent | CommentEvent | PushEvent | OtherEvent


def read_event(name: str, payload: Mapping[str, object]) -> Event:
    """Return the event. Raises ConfigurationError for `pull_request_target`, and for an incomplete payload."""
    if name == "pull_request_target":
        raise ConfigurationError(
            "the event `pull_request_target` is refused: it would run the pull request's code with a token that may"
            " write and with the repository's secrets.",
            "Use `on: pull_request`. For forks, docs/action.md says what holds there.",
        )
    reader = _READERS.get(name)
    if reader is None:
        return OtherEvent(name=name)
    try:
        return reader(payload)
    except ValidationError as error:
        missing = ", ".join(".".join(map(str, wrong["loc"])) for wrong in error.errors(include_input=False))
        raise ConfigurationError(
            f"the payload of `{name}` lacks: {missing}.", "GITHUB_EVENT_PATH has to name the runner's own file."
        ) from None


def _pull_request(raw: Mapping[str, Any]) -> PullRequestEvent:
    payload = PullRequestPayload.model_validate(raw)
    pull = payload.pull_request
    return PullRequestEvent(
        number=payload.number,
        action=payload.action,
        title=pull.title,
        draft=pull.draft,
        head_sha=pull.head.sha,
        head_ref=pull.head.ref,
        head_repo=pull.head.repo and pull.head.repo.full_name,
        base_sha=pull.base.sha,
        base_ref=pull.base.ref,
        base_repo=payload.repository.full_name,
        sender=payload.sender.login,
        label=payload.label.name if payload.label else "",
        retargeted=payload.changes is not None and payload.changes.base is not None,
    )


def _merge_group(raw: Mapping[str, Any]) -> MergeGroupEvent:
    group = MergeGroupPayload.model_validate(raw).merge_group
    added = _QUEUED.search(group.head_ref)
    return MergeGroupEvent(
        head_sha=group.head_sha,
        base_sha=group.base_sha,
        base_ref=group.base_ref,
        number=int(added[1]) if added else None,
    )


def _workflow_run(raw: Mapping[str, Any]) -> WorkflowRunEvent:
    payload = WorkflowRunPayload.model_validate(raw)
    run = payload.workflow_run
    return WorkflowRunEvent(
        run=run.id,
        attempt=run.run_attempt,
        trigger=run.event,
        conclusion=run.conclusion or "",
        head_sha=run.head_sha,
        head_branch=run.head_branch or "",
        head_repo=run.head_repository and run.head_repository.full_name,
        base_repo=payload.repository.full_name,
        actor=run.actor.login if run.actor else "",
    )


def _dispatch(raw: Mapping[str, Any]) -> DispatchEvent:
    payload = DispatchPayload.model_validate(raw)
    return DispatchEvent(
        sender=payload.sender.login, inputs=payload.inputs or {}, default_branch=payload.repository.default_branch
    )


def _comment(raw: Mapping[str, Any]) -> CommentEvent:
    payload = IssueCommentPayload.model_validate(raw)
    author = payload.comment.user
    return CommentEvent(
        number=payload.issue.number,
        action=payload.action,
        on_pull_request=payload.issue.pull_request is not None,
        comment=payload.comment.id,
        body=payload.comment.body or "",
        author=author.login if author else "",
        by_bot=author is None or author.type != "User",
        sender=payload.sender.login,
        created_at=payload.comment.created_at,
    )


def _push(raw: Mapping[str, Any]) -> PushEvent:
    payload = PushPayload.model_validate(raw)
    return PushEvent(sha=payload.after, is_default=payload.ref == f"refs/heads/{payload.repository.default_branch}")


_READERS: dict[str, Callable[[Mapping[str, Any]], Event]] = {
    "pull_request": _pull_request,
    "merge_group": _merge_group,
    "workflow_run": _workflow_run,
    "workflow_dispatch": _dispatch,
    "issue_comment": _comment,
    "push": _push,
}


class _Repository(BaseModel):
    full_name: str


class _User(BaseModel):
    login: str


class _Label(BaseModel):
    name: str


class _Head(BaseModel):
    sha: str
    ref: str
    repo: _Repository | None


class _Base(BaseModel):
    sha: str
    ref: str


class _PullRequest(BaseModel):
    title: str
    draft: bool = False
    head: _Head
    base: _Base


class _OldBase(BaseModel):
    """Which branch it went to before; GitHub sends it where that changed."""


class _Changes(BaseModel):
    base: _OldBase | None = None


class PullRequestPayload(BaseModel):
    """The payload of `pull_request`, for every action."""

    number: int
    action: str
    pull_request: _PullRequest
    repository: _Repository
    sender: _User
    label: _Label | None = None
    changes: _Changes | None = None


class _Repo(_Repository):
    default_branch: str


class PushPayload(BaseModel):
    """The payload of `push`."""

    ref: str
    after: str
    repository: _Repo


class _MergeGroup(BaseModel):
    head_sha: str
    head_ref: str = ""
    base_sha: str
    base_ref: str


class MergeGroupPayload(BaseModel):
    """The payload of `merge_group`."""

    merge_group: _MergeGroup


class _WorkflowRun(BaseModel):
    id: int
    run_attempt: int = 1
    event: str
    conclusion: str | None
    head_sha: str
    head_branch: str | None
    head_repository: _Repository | None
    actor: _User | None = None


class WorkflowRunPayload(BaseModel):
    """The payload of `workflow_run`."""

    workflow_run: _WorkflowRun
    repository: _Repository


class _Author(_User):
    type: str = "User"


class _Comment(BaseModel):
    id: int
    body: str | None
    user: _Author | None  # None: the account has been deleted
    created_at: str


class _Issue(BaseModel):
    number: int
    pull_request: object = None


class IssueCommentPayload(BaseModel):
    """The payload of `issue_comment`."""

    action: str
    issue: _Issue
    comment: _Comment
    sender: _User


class DispatchPayload(BaseModel):
    """The payload of `workflow_dispatch`."""

    sender: _User
    repository: _Repo
    inputs: dict[str, str] | None = None
