"""The fields that we read from GitHub's event payloads. All other fields are ignored."""

from __future__ import annotations

from pydantic import BaseModel


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
