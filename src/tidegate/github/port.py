"""The small part of GitHub's API that we use, and the one exception that it raises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Protocol, Self

from pydantic import AliasPath, BeforeValidator, ConfigDict, Field

from tidegate.github.workflow_commands import Annotation
from tidegate.model.value import Value

Kind = Literal["certificate", "forbidden", "not_found", "outage", "rate_limited", "unauthorized", "invalid"]
Permission = Literal[
    "pull-requests: write",
    "pull-requests: read",
    "statuses: write",
    "actions: read",
    "actions: write",
    "checks: write",
]
Reaction = Literal["+1", "-1", "confused"]
StatusState = Literal["success", "failure", "error"]

PERMISSIONS = "permissions:\n  contents: read\n  pull-requests: write"
_ADVICE: dict[Kind, str] = {
    "certificate": "Name the file of certificates that your server's is signed by in REQUESTS_CA_BUNDLE.",
    "not_found": "What was asked for is gone, or the token may not see the repository.",
    "outage": "GitHub did not answer as it should; a re-run of the job asks again.",
    "rate_limited": "The token has used up its requests; a later re-run of the job asks again.",
    "unauthorized": "The input `github_token` is not a valid token; its default is.",
    "invalid": "GitHub refused the request as invalid; please report this.",
}


def at(*path: str, **default: Any) -> Any:
    """Return a field with that place in what GitHub sends. It is required, unless there is a `default`."""
    return Field(validation_alias=AliasPath(*path), **default)


OptionalText = Annotated[str, BeforeValidator(lambda text: "" if text is None else text)]


class Payload(Value):
    """What is read of a JSON object that GitHub sends; the rest is ignored."""

    model_config = ConfigDict(extra="ignore", validate_by_name=True)

    @classmethod
    def read(cls, found: object) -> Self:
        """Return the value in what GitHub sent. Raises ValidationError."""
        return cls.model_validate(found, by_alias=True, by_name=False)


class Comment(Payload):
    """A comment on the pull request. Ids ascend in the order of creation.

    `updated_at` is GitHub's time of the last edit, such as 2026-11-22T08:00:00Z, which sorts as text.
    """

    id: int
    author: str = at("user", "login", default="")  # "": the account has been deleted
    body: OptionalText
    url: str = at("html_url")
    updated_at: OptionalText = ""
    node: OptionalText = at("node_id", default="")  # its id in GraphQL


class PullRequest(Payload):
    """The current state of a pull request. The refs are untrusted input from its author."""

    number: int
    is_open: Annotated[bool, BeforeValidator(lambda state: state == "open")] = at("state")
    draft: bool = False
    head_sha: str = at("head", "sha")
    head_ref: str = at("head", "ref")
    head_repo: str | None = at("head", "repo", "full_name", default=None)  # None: the fork has been deleted
    base_ref: str = at("base", "ref")
    labels: Annotated[tuple[str, ...], BeforeValidator(lambda found: tuple(label["name"] for label in found))] = ()


class Artifact(Payload):
    """A file that a workflow run has uploaded. `size` is the archive's size in bytes, as GitHub reports it."""

    id: int
    name: str
    size: int = at("size_in_bytes")
    expired: bool
    head_sha: OptionalText = at("workflow_run", "head_sha", default="")  # head of the run that uploaded it
    run_repository: int | None = at("workflow_run", "repository_id", default=None)
    head_repository: int | None = at("workflow_run", "head_repository_id", default=None)

    @property
    def own(self) -> bool:
        """True if the run's head is a branch of this repository."""
        return self.run_repository is not None and self.run_repository == self.head_repository


class Run(Payload):
    """A run of a workflow. `event` is the event that started it."""

    id: int
    workflow: int = at("workflow_id")
    event: str
    head_sha: str
    completed: Annotated[bool, BeforeValidator(lambda status: status == "completed")] = at("status")
    url: str = at("html_url")


class Labelling(Value):
    """Who set a label last, and when; `by` is '' if the account has been deleted.

    `moved_at` is the time of the last event after which an earlier head may have come back, or another base: a force
    push, a deleted or restored branch, a reopening, a change of the base branch. '' if there was none.
    """

    by: str
    at: str
    moved_at: str = ""


class Status(Value):
    """A commit status. Branch rules can make its `context` a required check."""

    sha: str
    state: StatusState
    context: str
    description: str
    url: str


Conclusion = Literal["success", "failure", "neutral", "cancelled"]


class OwnCheckRun(Value):
    """Which check run is ours: the fields that it is created with. `external_id` is our name for it."""

    name: str
    head_sha: str
    external_id: str
    details_url: str  # of the workflow run


class Check(Value):
    """What a check run of ours shows. Without `conclusion` it is in progress."""

    title: str
    summary: str
    conclusion: Conclusion | None = None


class PublishError(Exception):
    """A request to GitHub failed. `retry_after` is the time in seconds that GitHub asks to wait.

    `permission` is the permission that the request needs beyond `contents: read`.
    """

    def __init__(
        self, kind: Kind, message: str, retry_after: float = 0.0, permission: Permission = "pull-requests: write"
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.retry_after = retry_after
        self.permission = permission

    @property
    def passing(self) -> bool:
        """True if a retry may succeed."""
        return self.kind in ("outage", "rate_limited")

    @property
    def advice(self) -> str:
        """What the user can do about it."""
        if self.kind != "forbidden":
            return _ADVICE[self.kind]
        needed = "" if self.permission == "pull-requests: write" else f"\n  {self.permission}"
        return (
            f"Give the job this, and nothing more:\n\n{PERMISSIONS}{needed}\n\n"
            "The token of a fork's or Dependabot's pull request can only read, whatever the workflow says; "
            "a locked pull request takes no comments."
        )


class CommentPort(Protocol):
    """The comments of one pull request. Methods raise PublishError and no other exception."""

    def viewer(self) -> str:
        """Return the login that our comments appear under."""

    def head_sha(self) -> str:
        """Return the pull request's current head commit."""

    def list_comments(self) -> list[Comment]:
        """Return all comments, oldest first."""

    def create_comment(self, body: str) -> Comment:
        """Create a comment. The request is never retried, since a failed one may have succeeded."""

    def update_comment(self, comment: int, body: str) -> Comment:
        """Replace the comment's body. Raises `not_found` if the comment was deleted."""

    def hide_comment(self, comment: Comment, body: str) -> None:
        """Replace the comment's body, and minimise it as outdated."""

    def delete_comment(self, comment: int) -> None:
        """Delete the comment. Raises `not_found` if it was deleted already."""


class RepositoryPort(Protocol):
    """One repository. Methods other than `comments` raise PublishError and no other exception."""

    def comments(self, number: int) -> CommentPort:
        """Return the comments of one pull request. Nothing is sent yet."""

    def pull_request(self, number: int) -> PullRequest:
        """Return the current state of a pull request."""

    def pull_requests_of(self, owner: str, branch: str) -> list[PullRequest]:
        """Return the open pull requests whose head is this branch of `owner`'s repository."""

    def labelling(self, number: int, label: str) -> Labelling | None:
        """Return who set the label last, and when; None if it is not set."""

    def remove_label(self, number: int, label: str) -> None:
        """Remove the label. Raises `not_found` if it is not set."""

    def add_label(self, number: int, label: str) -> None:
        """Set the label. Nothing happens if it is set already."""

    def react(self, comment: int, reaction: Reaction) -> None:
        """Add our reaction to a comment."""

    def may_write(self, login: str) -> bool:
        """Return True if the person has write access to the repository."""

    def set_status(self, status: Status) -> None:
        """Set a commit status. It replaces an earlier one with the same context."""

    def find_check(self, own: OwnCheckRun) -> int | None:
        """Return the id of the check run if it has been created, or None."""

    def create_check(self, own: OwnCheckRun, check: Check) -> int:
        """Create a check run and return its id. The request is never retried, since a failed one may have succeeded."""

    def is_elsewhere(self, number: int, own: OwnCheckRun) -> bool:
        """Return True if GitHub shows the check run under another workflow run than ours."""

    def update_check(self, number: int, check: Check, annotations: Sequence[Annotation] = ()) -> None:
        """Replace what the check run shows, and add at most 50 annotations. Those without a file are left out."""

    def replace_in_check(self, own: OwnCheckRun, old: str, new: str) -> None:
        """Replace a text in the summary of the check run. Nothing happens if there is none."""

    def run(self, run: int) -> Run:
        """Return the workflow run."""

    def pull_request_runs(self, workflow: int, head_sha: str) -> list[Run]:
        """Return the workflow's runs on pull requests with that head, the newest first."""

    def rerun(self, run: int) -> None:
        """Run a workflow run again. GitHub refuses it (`forbidden`) while the run is not completed."""

    def artifacts(self, run: int, name: str) -> list[Artifact]:
        """Return the artifacts of one workflow run with that name."""

    def recent_artifacts(self, name: str) -> list[Artifact]:
        """Return the newest 100 artifacts with that name, of all runs."""

    def merged_heads(self, sha: str) -> list[str]:
        """Return the heads of this repository's own pull requests that were merged with this commit."""

    def download(self, artifact: int, most: int) -> bytes:
        """Return the artifact's archive. Raises `invalid` if it is larger than `most` bytes."""
