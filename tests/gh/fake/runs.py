"""The endpoints of workflow runs and their artifacts."""

from __future__ import annotations

from typing import Any

from tests.gh.emulated.front import Answer
from tests.gh.fake.asked import Asked, said
from tests.gh.fake.rules import Refused, may, not_found
from tests.gh.fake.state import ArtifactRow


class RunRoutes:
    """A part of Routes; `blobs` is where archives lie."""

    blobs: str

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
