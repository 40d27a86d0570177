"""Requests that GitHub refuses, with its messages. README.md has the source of each rule."""

from __future__ import annotations

import json
from typing import Any

from tests.gh.emulated.front import Answer
from tests.gh.fake.state import Pull, Repo, Role, State, Token

MAX_BODY = 65_536  # characters
MAX_DESCRIPTION = 140  # characters
MAX_STATUSES = 1_000  # of a commit and a context
PER_PAGE, MAX_PER_PAGE = 30, 100
PRIMARY_LIMIT = 1_000  # requests of GITHUB_TOKEN, an hour and repository
STATES = frozenset({"error", "failure", "pending", "success"})
RIGHTS: dict[Role, int] = {"read": 1, "triage": 2, "write": 3, "maintain": 4, "admin": 5}
_LEVELS = {"none": 0, "read": 1, "write": 2}


class Refused(Exception):  # noqa: N818 - an answer, not a mistake
    """GitHub's answer instead of what was asked for."""

    def __init__(self, status: int, message: str, errors: list[dict[str, str]] | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.errors = status, message, errors

    def answer(self) -> Answer:
        """As GitHub says it."""
        said: dict[str, Any] = {"message": self.message, "documentation_url": "https://docs.github.com/rest"}
        if self.errors is not None:
            said["errors"] = self.errors
        return Answer(self.status, {"Content-Type": "application/json; charset=utf-8"}, json.dumps(said).encode())


def not_found() -> Refused:
    """What is not there, and what the token may not know of: GitHub tells them apart for nobody."""
    return Refused(404, "Not Found")


def invalid(resource: str, field: str, message: str) -> Refused:
    """A value that GitHub does not take."""
    return Refused(
        422, "Validation Failed", [{"resource": resource, "code": "custom", "field": field, "message": message}]
    )


def token_of(state: State, authorization: str) -> Token | None:
    """Who speaks; None: nobody. 401 for a token that GitHub does not know."""
    if not authorization:
        return None
    token = state.tokens.get(authorization.split(" ")[-1])
    if token is None:
        raise Refused(401, "Bad credentials")
    return token


def may(token: Token | None, repo: Repo, any_of: tuple[str, ...], level: str, right: Role) -> None:
    """Refuse what the token may not do: an app's by its permissions, a person's by the role in the repository."""
    if token is None:
        if level == "read" and not repo.private:
            return
        raise not_found() if repo.private else Refused(401, "Requires authentication")
    if token.permissions is not None:
        granted = max(_LEVELS[token.permissions.get(name, "none")] for name in any_of)
        if level == "read" and not repo.private and any_of != ("actions",):
            return
        if granted < _LEVELS[level]:
            raise Refused(403, "Resource not accessible by integration")
        return
    role = RIGHTS.get(repo.roles.get(token.login, "read"), 0) if token.login in repo.roles or not repo.private else 0
    if role == 0:
        raise not_found()
    if role < RIGHTS[right]:
        raise Refused(403, "Must have admin rights to Repository.")


def comment_body(body: Any) -> str:
    """A comment's text, if GitHub takes it."""
    text = body.get("body") if isinstance(body, dict) else None
    if not isinstance(text, str) or not text.strip():
        raise invalid("IssueComment", "body", "body cannot be blank")
    if len(text) > MAX_BODY:
        raise invalid("IssueComment", "body", f"body is too long (maximum is {MAX_BODY} characters)")
    return text


def unlocked(pull: Pull, token: Token | None, repo: Repo) -> None:
    """A locked conversation is closed to all but those who may push."""
    if pull.locked and (token is None or token.is_installation or repo.roles.get(token.login) in (None, "read")):
        raise Refused(403, "Unable to create comment because issue is locked.")


def status(repo: Repo, sha: str, body: Any) -> None:
    """A commit status, if GitHub takes it."""
    if body.get("state") not in STATES:
        raise invalid("Status", "state", "State is not included in the list")
    if len(body.get("description") or "") > MAX_DESCRIPTION:
        raise invalid("Status", "description", f"description is too long (maximum is {MAX_DESCRIPTION} characters)")
    context = str(body.get("context") or "default").casefold()
    there = sum(one.sha == sha and one.context.casefold() == context for one in repo.statuses)
    if there >= MAX_STATUSES:
        raise invalid("Status", "base", "This SHA and context has reached the maximum number of statuses.")
