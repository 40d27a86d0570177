"""Requests about check runs of our own, and about workflow runs and their artifacts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tidegate.github.connection import asking, got, sent
from tidegate.github.port import Check, OwnCheckRun
from tidegate.github.workflow_commands import Annotation, Level

if TYPE_CHECKING:
    from github.Requester import Requester


from typing import TYPE_CHECKING

from tidegate.github.port import Artifact, Run

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


def run(requester: Requester, repository_url: str, number: int) -> Run:
    """Return the workflow run."""
    with asking("actions: read"):
        return _run(got(requester, f"{repository_url}/actions/runs/{number}"))


def pull_request_runs(requester: Requester, repository_url: str, workflow: int, head_sha: str) -> list[Run]:
    """Return the newest 100 runs. The answer is filtered again, since servers ignore a filter that they do not know."""
    query = f"event=pull_request&head_sha={quote(head_sha, safe='')}&per_page=100"
    with asking("actions: read"):
        answer = got(requester, f"{repository_url}/actions/workflows/{workflow}/runs?{query}")
        found = [_run(one) for one in answer["workflow_runs"]]
    wanted = [one for one in found if one.event == "pull_request" and one.head_sha == head_sha]
    return sorted(wanted, key=lambda one: one.id, reverse=True)


def rerun(requester: Requester, repository_url: str, number: int) -> None:
    """Run it again. The run keeps its number and its event, and gets a new attempt."""
    with asking("actions: write"):
        sent(requester, "POST", f"{repository_url}/actions/runs/{number}/rerun")


def artifacts(requester: Requester, repository_url: str, number: int, name: str) -> list[Artifact]:
    """Return the run's artifacts. Old GitHub Enterprise Servers ignore `name`, so it is checked here."""
    query = f"per_page=100&name={quote(name, safe='')}"
    with asking("actions: read"):
        answer = got(requester, f"{repository_url}/actions/runs/{number}/artifacts?{query}")
        found = [_artifact(one) for one in answer["artifacts"]]
    return [artifact for artifact in found if artifact.name == name]


def recent_artifacts(requester: Requester, repository_url: str, name: str) -> list[Artifact]:
    """Return the newest 100 artifacts with that name, of all runs."""
    with asking("actions: read"):
        address = f"{repository_url}/actions/artifacts?per_page=100&name={quote(name, safe='')}"
        return [_artifact(one) for one in got(requester, address)["artifacts"] if one["name"] == name]


def _run(found: Any) -> Run:
    return Run(
        id=found["id"],
        workflow=found["workflow_id"],
        event=found["event"],
        head_sha=found["head_sha"],
        completed=found["status"] == "completed",
        url=found["html_url"],
    )


def _artifact(found: Any) -> Artifact:
    run = found.get("workflow_run") or {}
    return Artifact(
        id=found["id"],
        name=found["name"],
        size=found["size_in_bytes"],
        expired=found["expired"],
        head_sha=run.get("head_sha") or "",
        own=bool(run) and run.get("head_repository_id") == run.get("repository_id"),
    )
