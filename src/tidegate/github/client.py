"""Implements the ports with PyGithub."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pydantic import SecretStr

from tidegate.github.connection import Pace, asking, got, open_connection, sent
from tidegate.github.port import (
    Artifact,
    Check,
    Comment,
    Labelling,
    OwnCheckRun,
    PublishError,
    PullRequest,
    Reaction,
    Run,
    Status,
)
from tidegate.github.workflow_commands import Annotation, Level

if TYPE_CHECKING:
    from github.Issue import Issue
    from github.IssueComment import IssueComment
    from github.IssueEvent import IssueEvent
    from github.NamedUser import NamedUser
    from github.Organization import Organization
    from github.Repository import Repository
    from github.Requester import Requester


_MINIMISE = """mutation($id: ID!) {
  minimizeComment(input: {subjectId: $id, classifier: OUTDATED}) { minimizedComment { isMinimized } }
}"""
ACTIONS_BOT = "github-actions[bot]"
MAX_TEXT = 65_535  # bytes of a summary
_LEVELS: dict[Level, str] = {"error": "failure", "warning": "warning", "notice": "notice"}
MAY_WRITE = frozenset({"admin", "write"})  # this endpoint reports `maintain` as `write`


def connect(api_url: str, token: SecretStr, repository: str, pace: Pace | None = None) -> PyGithubRepository:
    """Return a port to the repository `owner/name`. Nothing is sent yet."""
    pace = pace or Pace()
    return PyGithubRepository(lambda: open_connection(api_url, token, pace).get_repo(repository), repository, pace)


class PyGithubRepository:
    """One repository. PyGithub is imported only on the first request, since that is slow."""

    def __init__(self, open_repository: Callable[[], Repository], name: str, pace: Pace) -> None:
        self._open, self._pace = open_repository, pace
        self._url = f"/repos/{name}"
        self._name = name

    @cached_property
    def _repository(self) -> Repository:
        return self._open()

    @property
    def _requester(self) -> Requester:
        return self._repository.requester

    def comments(self, number: int) -> PyGithubPort:
        """Return the comments of one pull request."""
        return PyGithubPort(lambda: self._repository.get_issue(number), self._url, number)

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
            return last_labelling(self._repository.get_issue(number).get_events(), label)

    def remove_label(self, number: int, label: str) -> None:
        """Remove the label, with one DELETE."""
        with asking():
            sent(self._requester, "DELETE", f"{self._url}/issues/{number}/labels/{quote(label, safe='')}")

    def add_label(self, number: int, label: str) -> None:
        """Set the label, with one POST."""
        with asking():
            sent(self._requester, "POST", f"{self._url}/issues/{number}/labels", {"labels": [label]})

    def react(self, comment: int, reaction: Reaction) -> None:
        """Add the reaction, with one POST."""
        with asking():
            sent(self._requester, "POST", f"{self._url}/issues/comments/{comment}/reactions", {"content": reaction})

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

    def find_check(self, own: OwnCheckRun) -> int | None:
        """Look for it among the newest 100 with its name: the answer to the request that made it may have been lost."""
        with asking("checks: write"):
            return max((int(one["id"]) for one in self._checks(own)), default=None)

    def create_check(self, own: OwnCheckRun, check: Check) -> int:
        """Create the check run, with one POST."""
        with asking("checks: write"):
            said = {**own.model_dump(), **_state(check), "output": _output(check)}
            return int(sent(self._requester, "POST", f"{self._url}/check-runs", said)["id"])

    def is_elsewhere(self, number: int, own: OwnCheckRun) -> bool:
        """Look at the jobs beside it, with two GETs: GitHub chooses the workflow run by chance."""
        with asking("checks: write"):
            suite = got(self._requester, f"{self._url}/check-runs/{number}")["check_suite"]["id"]
            address = f"{self._url}/check-suites/{suite}/check-runs?per_page=100"
            beside = [str(one["details_url"]) for one in got(self._requester, address)["check_runs"]]
            jobs = [job for job in beside if "/job/" in job]
            return bool(jobs) and not any(job.startswith(f"{own.details_url}/job/") for job in jobs)

    def update_check(self, number: int, check: Check, annotations: Sequence[Annotation] = ()) -> None:
        """Replace what it shows, with one PATCH. GitHub keeps the annotations of earlier requests."""
        with asking("checks: write"):
            placed = [_annotation(one) for one in annotations if one.file and one.line]
            output = {**_output(check), **({"annotations": placed} if placed else {})}
            address = f"{self._url}/check-runs/{number}"
            answer = sent(self._requester, "PATCH", address, {**_state(check), "output": output})
            if answer["id"] != number:
                raise ValueError("another check run")

    def replace_in_check(self, own: OwnCheckRun, old: str, new: str) -> None:
        """Replace the text, with one GET and one PATCH; title and conclusion stay."""
        with asking("checks: write"):
            for one in self._checks(own):
                output = {"title": one["output"]["title"], "summary": one["output"]["summary"].replace(old, new)}
                sent(self._requester, "PATCH", f"{self._url}/check-runs/{one['id']}", {"output": output})

    def _checks(self, own: OwnCheckRun) -> list[Any]:
        query = f"check_name={quote(own.name, safe='')}&filter=all&per_page=100"
        found = got(self._requester, f"{self._url}/commits/{own.head_sha}/check-runs?{query}")["check_runs"]
        return [one for one in found if (one["name"], one["external_id"]) == (own.name, own.external_id)]

    def run(self, run: int) -> Run:
        """Return the workflow run, with one GET."""
        with asking("actions: read"):
            return Run.read(got(self._requester, f"{self._url}/actions/runs/{run}"))

    def pull_request_runs(self, workflow: int, head_sha: str) -> list[Run]:
        """Return the newest 100 runs. The answer is filtered again: servers ignore a filter that they do not know."""
        query = f"event=pull_request&head_sha={quote(head_sha, safe='')}&per_page=100"
        with asking("actions: read"):
            answer = got(self._requester, f"{self._url}/actions/workflows/{workflow}/runs?{query}")
            found = [Run.read(one) for one in answer["workflow_runs"]]
        wanted = [one for one in found if one.event == "pull_request" and one.head_sha == head_sha]
        return sorted(wanted, key=lambda one: one.id, reverse=True)

    def rerun(self, run: int) -> None:
        """Run it again, with one POST. The run keeps its number and its event, and gets a new attempt."""
        with asking("actions: write"):
            sent(self._requester, "POST", f"{self._url}/actions/runs/{run}/rerun")

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


class PyGithubPort:
    """The comments of one pull request."""

    def __init__(self, open_issue: Callable[[], Issue], repository_url: str, number: int) -> None:
        self._open = open_issue
        self._url, self._pull_url = f"{repository_url}/issues/{number}", f"{repository_url}/pulls/{number}"
        self._comments_url = f"{repository_url}/issues/comments"

    @cached_property
    def _issue(self) -> Issue:
        return self._open()

    def viewer(self) -> str:
        """Return the token's login, or `github-actions[bot]` if GitHub does not tell, as for GITHUB_TOKEN."""
        with asking():
            return _user(self._issue.requester) or _bot(self._issue.requester) or ACTIONS_BOT

    def head_sha(self) -> str:
        """Return the pull request's head commit, with one GET."""
        with asking("pull-requests: read"):
            return str(got(self._issue.requester, self._pull_url)["head"]["sha"])

    def list_comments(self) -> list[Comment]:
        """Return all comments, read in pages of 100.

        A page that is not a list is an error: read as no comments, it would make us create a second one.
        """
        first = address = f"{self._url}/comments?per_page=100"
        found: list[Comment] = []
        with asking():
            for page in itertools.count(2):
                headers, listed = self._issue.requester.requestJsonAndCheck("GET", address)
                if not isinstance(listed, list):
                    raise TypeError("a page of comments is not a list")
                found += (Comment.read(one) for one in listed)
                if 'rel="next"' not in headers.get("link", ""):
                    break
                address = f"{first}&page={page}"
        return sorted(found, key=lambda comment: comment.id)

    def create_comment(self, body: str) -> Comment:
        """Create a comment, with one POST."""
        with asking():
            return _comment(self._issue.create_comment(body))

    def update_comment(self, comment: int, body: str) -> Comment:
        """Replace the body, with one GET and one PATCH. Return the comment from GitHub's answer."""
        with asking():
            found = self._issue.get_comment(comment)
            found.edit(body)
            return _comment(found)

    def hide_comment(self, comment: Comment, body: str) -> None:
        """Replace the body and minimise the comment, with two requests."""
        with asking():
            sent(self._issue.requester, "PATCH", f"{self._comments_url}/{comment.id}", {"body": body})
            self._issue.requester.graphql_query(_MINIMISE, {"id": comment.node})

    def delete_comment(self, comment: int) -> None:
        """Delete the comment, with one GET and one DELETE."""
        with asking():
            self._issue.get_comment(comment).delete()


def _comment(found: IssueComment) -> Comment:
    author: NamedUser | Organization | None = found.user  # None: the account has been deleted
    return Comment(
        id=found.id, author=author.login if author is not None else "", body=found.body or "", url=found.html_url
    )


def _state(check: Check) -> dict[str, str]:
    return {"status": "completed", "conclusion": check.conclusion} if check.conclusion else {"status": "in_progress"}


def _output(check: Check) -> dict[str, Any]:
    summary = check.summary.encode()[:MAX_TEXT].decode(errors="ignore")
    return {"title": check.title, "summary": summary}


def _annotation(one: Annotation) -> dict[str, Any]:
    return {
        "path": one.file,
        "start_line": one.line,
        "end_line": one.line,
        "annotation_level": _LEVELS[one.level],
        "title": one.title[:255],
        "message": one.message[:4_096],
    }


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
    ours = [event for event in events if _is_about(event, label)]
    if not ours or ours[-1].event == "unlabeled":
        return None
    moved = (_time_of(event) for event in events if event.event in MOVES)
    actor: NamedUser | Organization | None = ours[-1].actor  # None: the account has been deleted
    return Labelling(
        by=actor.login if actor is not None else "", at=_time_of(ours[-1]), moved_at=max(moved, default="")
    )


def _is_about(event: IssueEvent, label: str) -> bool:
    """Return True if the event set or removed the label. GitHub ignores the case of labels."""
    return event.event in ("labeled", "unlabeled") and event.label.name.casefold() == label.casefold()


def _time_of(event: IssueEvent) -> str:
    """Return GitHub's time of the event, such as 2026-11-22T08:00:00Z."""
    return event.created_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
