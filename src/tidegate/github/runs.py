"""Requests about workflow runs and their artifacts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tidegate.github.connection import asking, got, sent
from tidegate.github.port import Artifact, Run

if TYPE_CHECKING:
    from github.Requester import Requester


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
