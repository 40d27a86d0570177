"""What we need of GitHub, as small as can be, and the one way in which it fails."""

from __future__ import annotations

from typing import Literal, Protocol

from tidegate.model.value import Value

Kind = Literal["forbidden", "not_found", "outage", "rate_limited", "unauthorized", "invalid"]

PERMISSIONS = "permissions:\n  contents: read\n  pull-requests: write"
_ADVICE: dict[Kind, str] = {
    "forbidden": f"Give the job this, and nothing more:\n\n{PERMISSIONS}\n\n"
    "The token of a fork's or Dependabot's pull request can only read, whatever the workflow says; "
    "a locked pull request takes no comments.",
    "not_found": "The pull request is gone, or the token may not see the repository.",
    "outage": "GitHub did not answer as it should; a re-run of the job publishes the comment.",
    "rate_limited": "The token has used up its requests; a later re-run of the job publishes the comment.",
    "unauthorized": "The input `github_token` is not a valid token; its default is.",
    "invalid": "GitHub refused the comment as it is; please report this.",
}


class Comment(Value):
    """A comment on the pull request; ids ascend in the order of creation."""

    id: int
    author: str
    body: str
    url: str


class PublishError(Exception):
    """GitHub did not do what it was asked. `retry_after`: seconds that GitHub asks to wait."""

    def __init__(self, kind: Kind, message: str, retry_after: float = 0.0) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.retry_after = retry_after

    @property
    def passing(self) -> bool:
        """Whether another try may succeed."""
        return self.kind in ("outage", "rate_limited")

    @property
    def advice(self) -> str:
        """What a person can do about it."""
        return _ADVICE[self.kind]


class CommentPort(Protocol):
    """The comments of one pull request. Every method raises PublishError, and only that."""

    def viewer(self) -> str:
        """The login under which our comments appear."""

    def list_comments(self) -> list[Comment]:
        """All of them, from every page, oldest first."""

    def create_comment(self, body: str) -> Comment:
        """One POST, never repeated: after a failure nobody knows whether it was done."""

    def update_comment(self, comment: int, body: str) -> Comment:
        """Replace the body; `not_found` where the comment has been deleted."""

    def delete_comment(self, comment: int) -> None:
        """Remove it; `not_found` where it has been deleted already."""
