"""The endpoints of workflow runs and their artifacts."""

from __future__ import annotations

from typing import Any

from tests.gh.emulated.front import Answer
from tests.gh.fake.asked import Asked, said
from tests.gh.fake.rules import Refused, may, not_found
from tests.gh.fake.state import ArtifactRow, Repo, RunRow


class RunRoutes:
    """A part of Routes; `blobs` is where archives lie."""

    blobs: str

    def _get_run(self, asked: Asked) -> Answer:
        may(asked.token, asked.repo, ("actions",), "read", "read")
        return said(self._run(asked.repo, self._run_row(asked)))

    def _list_runs(self, asked: Asked) -> Answer:
        may(asked.token, asked.repo, ("actions",), "read", "read")
        event, head = (asked.query.get(name, [""])[0] for name in ("event", "head_sha"))
        rows = [
            row
            for row in reversed(asked.repo.runs)
            if row.workflow == int(asked.found[0]) and event in ("", row.event) and head in ("", row.head_sha)
        ]
        return said({"total_count": len(rows), "workflow_runs": [self._run(asked.repo, row) for row in rows]})

    def _rerun(self, asked: Asked) -> Answer:
        may(asked.token, asked.repo, ("actions",), "write", "write")
        row = self._run_row(asked)
        if not row.completed:
            raise Refused(403, "The workflow run containing this job is already running")
        row.completed, row.attempts = False, row.attempts + 1
        return said({}, 201)

    def _run_row(self, asked: Asked) -> RunRow:
        row = next((row for row in asked.repo.runs if row.id == int(asked.found[0])), None)
        if row is None:
            raise not_found()
        return row

    def _run(self, repo: Repo, row: RunRow) -> dict[str, Any]:
        return {
            "id": row.id,
            "workflow_id": row.workflow,
            "event": row.event,
            "head_sha": row.head_sha,
            "status": "completed" if row.completed else "in_progress",
            "html_url": f"https://github.com/{repo.name}/actions/runs/{row.id}",
        }

    def _list_artifacts(self, asked: Asked) -> Answer:
        may(asked.token, asked.repo, ("actions",), "read", "read")
        names = asked.query.get("name")
        rows = [
            row
            for row in asked.repo.artifacts
            if row.run == int(asked.found[0]) and (names is None or row.name == names[0])
        ]
        return said({"total_count": len(rows), "artifacts": [_artifact(row, asked.repo.name) for row in rows]})

    def _list_all_artifacts(self, asked: Asked) -> Answer:
        may(asked.token, asked.repo, ("actions",), "read", "read")
        names = asked.query.get("name")
        rows = [row for row in asked.repo.artifacts if names is None or row.name == names[0]]
        told = [_artifact(row, asked.repo.name) for row in reversed(rows)]
        return said({"total_count": len(rows), "artifacts": told})

    def _archive(self, asked: Asked) -> Answer:
        may(asked.token, asked.repo, ("actions",), "read", "read")
        row = next((row for row in asked.repo.artifacts if row.id == int(asked.found[0])), None)
        if row is None:
            raise not_found()
        if row.expired:
            raise Refused(410, "Artifact has expired")
        return Answer(302, {"Location": f"{self.blobs}/{row.id}?sig=secret"}, b"")


def _artifact(row: ArtifactRow, repo: str) -> dict[str, Any]:
    run = {"id": row.run, "head_sha": row.head_sha, "repository_id": 1}
    return {
        "id": row.id,
        "name": row.name,
        "size_in_bytes": row.said_size,
        "expired": row.expired,
        "workflow_run": {**run, "head_repository_id": 1 + (row.head_repo != repo)},
    }
