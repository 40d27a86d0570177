"""What we need of GitHub, as small as can be, and the one way in which it fails."""

from __future__ import annotations

from typing import Literal, Protocol

from tidegate.model.value import Value

Kind = Literal["certificate", "forbidden", "not_found", "outage", "rate_limited", "unauthorized", "invalid"]
Permission = Literal["pull-requests: write", "pull-requests: read", "statuses: write", "actions: read"]
StatusState = Literal["success", "failure", "error"]

PERMISSIONS = "permissions:\n  contents: read\n  pull-requests: write"
_ADVICE: dict[Kind, str] = {
    "certificate": "Name the file of certificates that your server's is signed by in REQUESTS_CA_BUNDLE.",
    "not_found": "What was asked for is gone, or the token may not see the repository.",
    "outage": "GitHub did not answer as it should; a re-run of the job asks again.",
    "rate_limited": "The token has used up its requests; a later re-run of the job asks again.",
    "unauthorized": "The input `github_token` is not a valid token; its default is.",
    "invalid": "GitHub refused the request as it is; please report this.",
}


class Comment(Value):
    """A comment on the pull request; ids ascend in the order of creation."""

    id: int
    author: str
    body: str
    url: str


class PullRequest(Value):
    """A pull request as it is now. The refs are its author's words: data."""

    number: int
    is_open: bool
    draft: bool
    head_sha: str
    head_ref: str
    head_repo: str | None  # owner/name; None: the fork has been deleted
    base_ref: str
    labels: tuple[str, ...] = ()


class Artifact(Value):
    """What a workflow run has uploaded; `size`: bytes of the archive, as GitHub says."""

    id: int
    name: str
    size: int
    expired: bool
    head_sha: str = ""  # of the run that has uploaded it
    own: bool = False  # the run's head is a branch of this repository


class Status(Value):
    """A commit status: what stands beside the commit, and is a required check where the rules of a branch name it."""

    sha: str
    state: StatusState
    context: str
    description: str
    url: str


class PublishError(Exception):
    """GitHub did not do what it was asked. `retry_after`: seconds that GitHub asks to wait.

    `permission`: what the request needs beyond `contents: read`.
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
        """Whether another try may succeed."""
        return self.kind in ("outage", "rate_limited")

    @property
    def advice(self) -> str:
        """What a person can do about it."""
        if self.kind != "forbidden":
            return _ADVICE[self.kind]
        needed = "" if self.permission == "pull-requests: write" else f"\n  {self.permission}"
        return (
            f"Give the job this, and nothing more:\n\n{PERMISSIONS}{needed}\n\n"
            "The token of a fork's or Dependabot's pull request can only read, whatever the workflow says; "
            "a locked pull request takes no comments."
        )


class CommentPort(Protocol):
    """The comments of one pull request. Every method raises PublishError, and only that."""

    def viewer(self) -> str:
        """The login under which our comments appear."""

    def head_sha(self) -> str:
        """The commit that the pull request is at now."""

    def list_comments(self) -> list[Comment]:
        """All of them, from every page, oldest first."""

    def create_comment(self, body: str) -> Comment:
        """One POST, never repeated: after a failure nobody knows whether it was done."""

    def update_comment(self, comment: int, body: str) -> Comment:
        """Replace the body; `not_found` where the comment has been deleted."""

    def delete_comment(self, comment: int) -> None:
        """Remove it; `not_found` where it has been deleted already."""


class RepositoryPort(Protocol):
    """One repository. Every method but the first raises PublishError, and only that."""

    def comments(self, number: int) -> CommentPort:
        """Of one pull request; nothing is sent yet."""

    def pull_request(self, number: int) -> PullRequest:
        """As it is now."""

    def pull_requests_of(self, owner: str, branch: str) -> list[PullRequest]:
        """The open ones whose head is that branch of `owner`'s repository."""

    def labelled_by(self, number: int, label: str) -> str:
        """Who put the label there last; '' where GitHub does not know of anybody."""

    def remove_label(self, number: int, label: str) -> None:
        """`not_found` where it is not there."""

    def may_write(self, login: str) -> bool:
        """Whether that person may push to the repository."""

    def set_status(self, status: Status) -> None:
        """The newest of a context counts, so that setting it twice is no harm."""

    def artifacts(self, run: int, name: str) -> list[Artifact]:
        """Those of one workflow run with that name."""

    def recent_artifacts(self, name: str) -> list[Artifact]:
        """The newest hundred of that name, of any run."""

    def merged_heads(self, sha: str) -> list[str]:
        """The heads of this repository's own pull requests that were merged by that commit."""

    def download(self, artifact: int, most: int) -> bytes:
        """Its archive; `invalid` if it has more than `most` bytes."""
