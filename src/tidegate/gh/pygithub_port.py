"""The port over PyGithub. The library is imported when a connection is made: it takes a third of a second."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pydantic import SecretStr

from tidegate import __version__
from tidegate.gh.port import Comment, Kind, PublishError
from tidegate.model.value import Value

if TYPE_CHECKING:
    from github import GithubException
    from github.Issue import Issue
    from github.IssueComment import IssueComment
    from github.NamedUser import NamedUser
    from github.Organization import Organization
    from github.Requester import Requester

ACTIONS_BOT = "github-actions[bot]"
_KINDS: dict[int, Kind] = {
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    410: "not_found",
    429: "rate_limited",
}


class Pace(Value):
    """How long to wait for GitHub and between requests, in seconds; `retries` are those of a single GET."""

    timeout: int = 10
    retries: int = 3
    backoff: float = 1.0
    longest_wait: int = 30
    between_requests: float = 0.25
    between_writes: float = 1.0


class PyGithubPort:
    """The comments of one pull request, through PyGithub."""

    def __init__(self, issue: Issue) -> None:
        self._issue = issue

    def viewer(self) -> str:
        """The token's own login; `github-actions[bot]` where GitHub does not say, as with GITHUB_TOKEN."""
        with _publishing():
            return _user(self._issue.requester) or _bot(self._issue.requester) or ACTIONS_BOT

    def list_comments(self) -> list[Comment]:
        """All of them, a hundred to a page."""
        with _publishing():
            return sorted(map(_comment, self._issue.get_comments()), key=lambda comment: comment.id)

    def create_comment(self, body: str) -> Comment:
        """One POST."""
        with _publishing():
            return _comment(self._issue.create_comment(body))

    def update_comment(self, comment: int, body: str) -> Comment:
        """One PATCH; the answer shows what stands now."""
        with _publishing():
            found = self._issue.get_comment(comment)
            found.edit(body)
            return _comment(found)

    def delete_comment(self, comment: int) -> None:
        """One DELETE."""
        with _publishing():
            self._issue.get_comment(comment).delete()


def connect(api_url: str, token: SecretStr, repository: str, number: int, pace: Pace | None = None) -> PyGithubPort:
    """A port to one pull request of `owner/name`; nothing is sent yet.

    Only GET and HEAD are repeated by the library: with its defaults, one 502 makes four comments.
    """
    from github import Auth, Github, GithubRetry

    pace = pace or Pace()
    retry = GithubRetry(
        total=pace.retries,
        backoff_factor=pace.backoff,
        allowed_methods=frozenset({"GET", "HEAD"}),
        max_rate_limit_wait=pace.longest_wait,
        retry_after_max=pace.longest_wait,
    )
    github = Github(
        auth=Auth.Token(token.get_secret_value()),
        base_url=api_url,
        timeout=pace.timeout,
        user_agent=f"tidegate/{__version__}",
        per_page=100,
        retry=retry,
        seconds_between_requests=pace.between_requests,
        seconds_between_writes=pace.between_writes,
        lazy=True,
    )
    return PyGithubPort(github.get_repo(repository).get_issue(number))


def _comment(found: IssueComment) -> Comment:
    author: NamedUser | Organization | None = found.user  # None: the account has been deleted
    return Comment(
        id=found.id, author=author.login if author is not None else "", body=found.body or "", url=found.html_url
    )


def _user(requester: Requester) -> str | None:
    """The login of a person's token; None for the token of an app, which GitHub refuses here."""
    with _refusal_is_no_answer():
        return str(requester.requestJsonAndCheck("GET", "/user")[1]["login"])
    return None


def _bot(requester: Requester) -> str | None:
    """The login of an app's token, as GraphQL knows it."""
    with _refusal_is_no_answer():
        login = str(requester.graphql_query("query { viewer { login } }", {})[1]["data"]["viewer"]["login"])
        return f"{login.removesuffix('[bot]')}[bot]"
    return None


@contextmanager
def _refusal_is_no_answer() -> Iterator[None]:
    """Go on where GitHub refuses to say; trouble that may pass is raised."""
    from github import GithubException, RateLimitExceededException

    try:
        yield
    except GithubException as error:
        if isinstance(error, RateLimitExceededException) or error.status not in (400, 403, 404):
            raise


@contextmanager
def _publishing() -> Iterator[None]:
    """Everything that PyGithub and what is under it can raise, as PublishError."""
    from github import GithubException, RateLimitExceededException
    from requests import RequestException

    try:
        yield
    except GithubException as error:
        kind = "rate_limited" if isinstance(error, RateLimitExceededException) else _kind(error.status)
        raise PublishError(kind, f"GitHub answered {error.status}: {_said(error)}", _retry_after(error)) from error
    except RequestException as error:
        raise PublishError("outage", f"GitHub could not be reached: {type(error).__name__}") from error
    except (ValueError, TypeError, KeyError, AttributeError, AssertionError) as error:
        # What PyGithub raises on an answer that is not GitHub's: a proxy's HTML page, half of a JSON text.
        raise PublishError("outage", f"GitHub's answer could not be read: {type(error).__name__}") from error


def _kind(status: int) -> Kind:
    return _KINDS.get(status, "invalid" if 400 <= status < 500 else "outage")


def _said(error: GithubException) -> str:
    message = error.data.get("message") if isinstance(error.data, dict) else None
    return str(message or error.message or "nothing that says why")


def _retry_after(error: GithubException) -> float:
    headers = {name.lower(): value for name, value in (error.headers or {}).items()}
    text = str(headers.get("retry-after", ""))
    return float(text) if text.isdecimal() else 0.0
