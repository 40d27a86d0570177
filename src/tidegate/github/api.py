"""What we read of GitHub's API, and the one exception that its client raises."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AliasPath, BeforeValidator, ConfigDict, Field

from tidegate.model.value import Value

Kind = Literal["certificate", "forbidden", "not_found", "outage", "rate_limited", "unauthorized", "invalid"]
Permission = Literal[
    "pull-requests: write",
    "pull-requests: read",
    "statuses: write",
    "actions: read",
]
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


class IssueEvent(Payload):
    """An event in a pull request's history. `label` is the label that it set or removed."""

    kind: str = at("event")
    label: str = at("label", "name", default="")
    actor: str = at("actor", "login", default="")  # "": the account has been deleted
    time: str = at("created_at")  # such as 2026-11-22T08:00:00Z, which sorts as text


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
