"""Links of a comment to GitHub's pages. They are made from the job's own variables and from commit hashes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from urllib.parse import quote

from tidegate.model.result import Result
from tidegate.model.value import Value

MOST_FILES = 5  # per finding


class FileLink(Value):
    """A changed file and the URL of its diff. `scenarios` lists the scenarios that use it; empty means all."""

    path: str
    url: str
    scenarios: tuple[str, ...] = ()


class Pages(Value):
    """Pages on GitHub: the workflow run, its artifacts with the report, and the comparison of both commits."""

    run: str
    artifacts: str
    compare: str
    files: tuple[FileLink, ...] = ()

    def changed(self, scenario: str) -> tuple[FileLink, ...]:
        """Return the changed files that the scenario uses."""
        return tuple(one for one in self.files if not one.scenarios or scenario in one.scenarios)[:MOST_FILES]


def links_of(result: Result, repository_url: str, run_url: str, artifact: int | None = None) -> Pages:
    """Return the links for a result. `artifact` is the id of the uploaded report, if it is known."""
    base, head = (quote(side.sha, safe="") for side in (result.sides.base, result.sides.head))
    compare = f"{repository_url}/compare/{base}...{head}"
    artifacts = f"{run_url}#artifacts" if artifact is None else f"{run_url}/artifacts/{artifact}"
    return Pages(run=run_url, artifacts=artifacts, compare=compare, files=tuple(_files(result, compare)))


def _files(result: Result, compare: str) -> Iterable[FileLink]:
    for change in result.changes:
        anchor = hashlib.sha256(change.path.encode()).hexdigest()  # GitHub's own anchors of files
        yield FileLink(path=change.path, url=f"{compare}#diff-{anchor}", scenarios=change.scenarios)
