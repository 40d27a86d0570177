"""Requests about check runs of our own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tidegate.github.connection import asking, got, sent
from tidegate.github.port import Check, OwnCheckRun
from tidegate.github.workflow_commands import Annotation, Level

if TYPE_CHECKING:
    from github.Requester import Requester

MAX_TEXT = 65_535  # bytes of a summary
MAX_ANNOTATIONS = 50  # in one request
_LEVELS: dict[Level, str] = {"error": "failure", "warning": "warning", "notice": "notice"}


def find(requester: Requester, repository_url: str, own: OwnCheckRun) -> int | None:
    """Return the id of our check run, or None: the answer to the request that created it may have been lost."""
    with asking("checks: write"):
        return max((int(one["id"]) for one in _ours(requester, repository_url, own)), default=None)


def replace(requester: Requester, repository_url: str, own: OwnCheckRun, old: str, new: str) -> None:
    """Replace a text in the summary of our check run, if there is one; its title and conclusion stay."""
    with asking("checks: write"):
        for one in _ours(requester, repository_url, own):
            output = {"title": one["output"]["title"], "summary": one["output"]["summary"].replace(old, new)}
            sent(requester, "PATCH", f"{repository_url}/check-runs/{one['id']}", {"output": output})


def _ours(requester: Requester, repository_url: str, own: OwnCheckRun) -> list[Any]:
    query = f"check_name={quote(own.name, safe='')}&filter=all&per_page=100"
    found = got(requester, f"{repository_url}/commits/{own.head_sha}/check-runs?{query}")["check_runs"]
    return [one for one in found if (one["name"], one["external_id"]) == (own.name, own.external_id)]


def create(requester: Requester, repository_url: str, own: OwnCheckRun, check: Check) -> int:
    """Create the check run and return its id."""
    with asking("checks: write"):
        said = {**own.model_dump(), **_state(check), "output": _output(check)}
        return int(sent(requester, "POST", f"{repository_url}/check-runs", said)["id"])


def is_elsewhere(requester: Requester, repository_url: str, number: int, own: OwnCheckRun) -> bool:
    """Return True if GitHub shows the check run among the jobs of another workflow run, which it chooses by chance."""
    with asking("checks: write"):
        suite = got(requester, f"{repository_url}/check-runs/{number}")["check_suite"]["id"]
        beside = got(requester, f"{repository_url}/check-suites/{suite}/check-runs?per_page=100")["check_runs"]
        jobs = [str(one["details_url"]) for one in beside if "/job/" in str(one["details_url"])]
        return bool(jobs) and not any(job.startswith(f"{own.details_url}/job/") for job in jobs)


def update(
    requester: Requester, repository_url: str, number: int, check: Check, annotations: Sequence[Annotation]
) -> None:
    """Replace what the check run shows, and add annotations: GitHub keeps those of earlier requests."""
    with asking("checks: write"):
        placed = [_annotation(one) for one in annotations if one.file and one.line]
        output = {**_output(check), **({"annotations": placed} if placed else {})}
        address = f"{repository_url}/check-runs/{number}"
        answer = sent(requester, "PATCH", address, {**_state(check), "output": output})
        if answer["id"] != number:
            raise ValueError("another check run")


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
