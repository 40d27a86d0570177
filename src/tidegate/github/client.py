"""One repository on GitHub, and the comments of its pull requests. Methods raise PublishError and nothing else."""

from __future__ import annotations

import itertools
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pydantic import SecretStr

from tidegate import __version__
from tidegate.github.api import (
    Artifact,
    Comment,
    IssueEvent,
    Kind,
    Labelling,
    Permission,
    PublishError,
    PullRequest,
    Status,
)
from tidegate.model.value import Value

if TYPE_CHECKING:
    from github import Github, GithubException
    from github.Repository import Repository
    from github.Requester import Requester

SECONDARY_WAIT = 60.0  # seconds; GitHub's rule for a secondary rate limit without Retry-After
_KINDS: dict[int, Kind] = {
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    410: "not_found",
    429: "rate_limited",
}


class RequestPace(Value):
    """Timeouts and pauses in seconds. `retries` is the number of retries of one GET.

    GitHub asks for a second between writes, and for no pause between reads.
    """

    timeout: int = 10
    retries: int = 3
    backoff: float = 1.0
    longest_wait: int = 30
    between_writes: float = 1.0


def open_connection(api_url: str, token: SecretStr, pace: RequestPace) -> Github:
    """Return a PyGithub client with our timeouts. Nothing is sent yet. The import takes a third of a second.

    Only GET and HEAD are retried: with the library's defaults, one 502 can create four comments. An untrusted
    certificate is not retried (`other=0`), since a retry would fail too.
    """
    from github import Auth, Github, GithubRetry, set_log_level

    set_log_level(logging.WARNING)  # INFO prints every 403, and each job expects one
    retry = GithubRetry(
        total=pace.retries,
        other=0,
        backoff_factor=pace.backoff,
        allowed_methods=frozenset({"GET", "HEAD"}),
        max_rate_limit_wait=pace.longest_wait,
        retry_after_max=pace.longest_wait,
    )
    return Github(
        auth=Auth.Token(token.get_secret_value()),
        base_url=api_url,
        timeout=pace.timeout,
        user_agent=f"tidegate/{__version__}",
        per_page=100,
        retry=retry,
        seconds_between_requests=0,
        seconds_between_writes=pace.between_writes,
        lazy=True,
    )


@contextmanager
def asking(permission: Permission = "pull-requests: write") -> Iterator[None]:
    """Turn every exception of PyGithub and the libraries below it into PublishError.

    PyGithub raises RuntimeError for redirects, AssertionError for an API address that it cannot use, and others for
    an answer that is not GitHub's, such as a proxy's HTML page or truncated JSON.
    """
    from github import GithubException, RateLimitExceededException
    from requests import RequestException
    from requests.exceptions import SSLError

    try:
        yield
    except PublishError:
        raise
    except GithubException as error:
        kind = "rate_limited" if isinstance(error, RateLimitExceededException) else _kind(error.status)
        wait = _wait(error) if kind == "rate_limited" else 0.0
        raise PublishError(kind, f"GitHub answered {error.status}: {_said(error)}", wait, permission) from error
    except SSLError as error:
        raise PublishError("certificate", "GitHub's certificate is not trusted") from error
    except RequestException as error:
        raise PublishError("outage", f"GitHub could not be reached: {type(error).__name__}") from error
    except Exception as error:
        said = f": {error}" if isinstance(error, RuntimeError) and str(error) else ""
        raise PublishError("outage", f"GitHub's answer could not be read: {type(error).__name__}{said}") from error


def got(requester: Requester, address: str) -> Any:
    """Return the JSON answer to a GET."""
    return requester.requestJsonAndCheck("GET", address)[1]


def sent(requester: Requester, method: str, address: str, said: Any = None) -> Any:
    """Send what changes something, and return the JSON answer. After any other, nothing counts as done."""
    answer = requester.requestJsonAndCheck(method, address, input=said)[1]
    if not isinstance(answer, list) and (not isinstance(answer, dict) or "data" in answer):  # `data`: was no JSON
        raise TypeError("not JSON")
    return answer


def pages(requester: Requester, address: str) -> Iterator[Any]:
    """Yield the entries of a list, read in pages of 100.

    A page that is not a list is an error: comments read as none would make us create a second one.
    """
    for page in itertools.count(1):
        headers, listed = requester.requestJsonAndCheck("GET", f"{address}?per_page=100&page={page}")
        if not isinstance(listed, list):
            raise TypeError("a page is not a list")
        yield from listed
        if 'rel="next"' not in headers.get("link", ""):
            return


def _kind(status: int) -> Kind:
    return _KINDS.get(status, "invalid" if 400 <= status < 500 else "outage")


def _said(error: GithubException) -> str:
    message = error.data.get("message") if isinstance(error.data, dict) else None
    return str(message or error.message or "nothing that says why")


def _wait(error: GithubException) -> float:
    """Return the seconds to wait by GitHub's rules: Retry-After, else the primary limit's reset, else a minute."""
    headers: Mapping[str, object] = {name.lower(): value for name, value in (error.headers or {}).items()}
    if (after := str(headers.get("retry-after", ""))).isdecimal():
        return float(after)
    reset = str(headers.get("x-ratelimit-reset", ""))
    if str(headers.get("x-ratelimit-remaining", "")) == "0" and reset.isdecimal():
        return max(0.0, float(reset) - time.time())
    return SECONDARY_WAIT


ACTIONS_BOT = "github-actions[bot]"
MAY_WRITE = frozenset({"admin", "write"})  # this endpoint reports `maintain` as `write`


def connect(api_url: str, token: SecretStr, repository: str, pace: RequestPace | None = None) -> GitHubRepository:
    """Return the repository `owner/name`. Nothing is sent yet."""
    pace = pace or RequestPace()
    return GitHubRepository(lambda: open_connection(api_url, token, pace).get_repo(repository), repository, pace)


class GitHubRepository:
    """One repository. PyGithub is imported only on the first request, since that is slow."""

    def __init__(self, open_repository: Callable[[], Repository], name: str, pace: RequestPace) -> None:
        self._open, self._pace = open_repository, pace
        self._url = f"/repos/{name}"
        self._name = name

    @cached_property
    def _repository(self) -> Repository:
        return self._open()

    @property
    def _requester(self) -> Requester:
        return self._repository.requester

    def comments(self, number: int) -> GitHubComments:
        """Return the comments of one pull request."""
        return GitHubComments(lambda: self._requester, self._url, number)

    def pull_request(self, number: int) -> PullRequest:
        """Return the pull request, with one GET."""
        with asking("pull-requests: read"):
            return PullRequest.read(got(self._requester, f"{self._url}/pulls/{number}"))

    def pull_requests_of(self, owner: str, branch: str) -> list[PullRequest]:
        """Return the open pull requests from a branch, with one GET.

        The answer is filtered again, since GitHub ignores a `head` filter that it cannot parse.
        """
        query = f"state=open&per_page=100&head={quote(f'{owner}:{branch}', safe='')}"
        with asking("pull-requests: read"):
            found = [PullRequest.read(one) for one in got(self._requester, f"{self._url}/pulls?{query}")]
        return [one for one in found if one.head_ref == branch and one.is_open]

    def labelling(self, number: int, label: str) -> Labelling | None:
        """Read all pages of the issue's events, which unlike comments cannot be forged."""
        with asking("pull-requests: read"):
            events = pages(self._requester, f"{self._url}/issues/{number}/events")
            return last_labelling(map(IssueEvent.read, events), label)

    def remove_label(self, number: int, label: str) -> None:
        """Remove the label, with one DELETE."""
        with asking():
            sent(self._requester, "DELETE", f"{self._url}/issues/{number}/labels/{quote(label, safe='')}")

    def may_write(self, login: str) -> bool:
        """Return True if the person has write access, with one GET. Unknown people do not."""
        try:
            with asking("pull-requests: read"):
                address = f"{self._url}/collaborators/{quote(login, safe='')}/permission"
                return got(self._requester, address)["permission"] in MAY_WRITE
        except PublishError as error:
            if error.kind != "not_found":
                raise
            return False

    def set_status(self, status: Status) -> None:
        """Set the status, with one POST."""
        said = {
            "state": status.state,
            "context": status.context,
            "description": status.description,
            "target_url": status.url,
        }
        with asking("statuses: write"):
            answer = sent(self._requester, "POST", f"{self._url}/statuses/{status.sha}", said)
            if answer["state"] != status.state:
                raise ValueError("another status")

    def artifacts(self, run: int, name: str) -> list[Artifact]:
        """Return the artifacts, with one GET."""
        return self._artifacts(f"actions/runs/{run}/artifacts", name)

    def recent_artifacts(self, name: str) -> list[Artifact]:
        """Return the newest artifacts with that name, with one GET."""
        return self._artifacts("actions/artifacts", name)

    def _artifacts(self, place: str, name: str) -> list[Artifact]:
        """Return those with that name: old GitHub Enterprise Servers ignore `name`, so it is checked here."""
        with asking("actions: read"):
            answer = got(self._requester, f"{self._url}/{place}?per_page=100&name={quote(name, safe='')}")
            return [Artifact.read(one) for one in answer["artifacts"] if one["name"] == name]

    def merged_heads(self, sha: str) -> list[str]:
        """Return the merged heads, with one GET: only few pull requests have the same merge commit."""
        with asking("pull-requests: read"):
            found = got(self._requester, f"{self._url}/commits/{sha}/pulls?per_page=100")
            return [
                one["head"]["sha"]
                for one in found
                if one["merged_at"]
                and one["merge_commit_sha"] == sha
                and one["head"]["repo"]
                and one["head"]["repo"]["full_name"] == self._name
            ]

    def download(self, artifact: int, most: int) -> bytes:
        """Download the archive from where GitHub redirects to, without sending the token there."""
        with asking("actions: read"):
            address = f"{self._url}/actions/artifacts/{artifact}/zip"
            return download(self._requester, address, most, self._pace.timeout)


class GitHubComments:
    """The comments of one pull request."""

    def __init__(self, requester: Callable[[], Requester], repository_url: str, number: int) -> None:
        self._requester, self._repository_url, self._number = requester, repository_url, number

    def viewer(self) -> str:
        """Return the token's login, or `github-actions[bot]` if GitHub does not tell, as for GITHUB_TOKEN."""
        with asking():
            return _user(self._requester()) or _bot(self._requester()) or ACTIONS_BOT

    def head_sha(self) -> str:
        """Return the pull request's head commit, with one GET."""
        with asking("pull-requests: read"):
            return str(got(self._requester(), f"{self._repository_url}/pulls/{self._number}")["head"]["sha"])

    def list_comments(self) -> list[Comment]:
        """Return all comments, oldest first."""
        with asking():
            listed = pages(self._requester(), f"{self._repository_url}/issues/{self._number}/comments")
            return sorted(map(Comment.read, listed), key=lambda comment: comment.id)

    def create_comment(self, body: str) -> Comment:
        """Create a comment. The request is never retried, since a failed one may have succeeded."""
        with asking():
            address = f"{self._repository_url}/issues/{self._number}/comments"
            return Comment.read(sent(self._requester(), "POST", address, {"body": body}))

    def update_comment(self, comment: int, body: str) -> Comment:
        """Replace the body. Raises `not_found` if the comment was deleted."""
        with asking():
            return Comment.read(sent(self._requester(), "PATCH", self._address(comment), {"body": body}))

    def delete_comment(self, comment: int) -> None:
        """Delete the comment. Raises `not_found` if it was deleted already."""
        with asking():
            self._requester().requestJsonAndCheck("DELETE", self._address(comment))

    def _address(self, comment: int) -> str:
        return f"{self._repository_url}/issues/comments/{comment}"


def _user(requester: Requester) -> str | None:
    """Return the login of a person's token, or None for an app's token, which GitHub refuses here."""
    with _refusal_is_no_answer():
        return str(requester.requestJsonAndCheck("GET", "/user")[1]["login"])
    return None


def _bot(requester: Requester) -> str | None:
    """Return the login of an app's token, from GraphQL, or None if GitHub refuses."""
    with _refusal_is_no_answer():
        login = str(requester.graphql_query("query { viewer { login } }", {})[1]["data"]["viewer"]["login"])
        return f"{login.removesuffix('[bot]')}[bot]"
    return None


@contextmanager
def _refusal_is_no_answer() -> Iterator[None]:
    """Suppress GitHub's refusals, but raise rate limits and outages."""
    from github import GithubException, RateLimitExceededException

    try:
        yield
    except GithubException as error:
        if isinstance(error, RateLimitExceededException) or error.status not in (400, 403, 404):
            raise


CHUNK = 64 * 1024
REDIRECTS = frozenset({301, 302, 303, 307, 308})


def download(requester: Requester, address: str, most: int, timeout: int) -> bytes:
    """Return the archive. Raises PublishError after `most` bytes, whatever size was announced."""
    import requests

    status, headers, body = requester.requestJson("GET", address)
    if status not in REDIRECTS:
        requester.requestJsonAndCheck("GET", address)  # the library's own error for the same answer
        raise PublishError("outage", f"GitHub answered {status} where the archive's place should stand: {body[:80]!r}")
    with requests.get(headers["location"], timeout=timeout, stream=True) as answer:
        answer.raise_for_status()
        found = bytearray()
        for chunk in answer.iter_content(CHUNK):
            found += chunk
            if len(found) > most:
                raise PublishError("invalid", f"the archive has more than {most} bytes")
    return bytes(found)


# After these, the head may be a commit that it was before, or the base another branch. A push that is not forced adds
# commits, so it never brings an earlier head back.
MOVES = frozenset(
    {
        "automatic_base_change_succeeded",
        "base_ref_changed",
        "head_ref_deleted",
        "head_ref_force_pushed",
        "head_ref_restored",
        "reopened",
    }
)


def last_labelling(events: Iterable[IssueEvent], label: str) -> Labelling | None:
    """Return who set the label last, and when; None if it is not set. `events`: all of the issue, oldest first."""
    events = list(events)
    ours = [event for event in events if event.kind in ("labeled", "unlabeled") and _same(event.label, label)]
    if not ours or ours[-1].kind == "unlabeled":
        return None
    moved = (event.time for event in events if event.kind in MOVES)
    return Labelling(by=ours[-1].actor, at=ours[-1].time, moved_at=max(moved, default=""))


def _same(one: str, other: str) -> bool:
    """Return True if both name the same label. GitHub ignores their case."""
    return one.casefold() == other.casefold()
