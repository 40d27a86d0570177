"""Links of a comment to GitHub's pages, made from the job's own variables, and commands that reproduce a row."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from urllib.parse import quote

from tidegate.model.comparison import Row
from tidegate.model.result import Result
from tidegate.model.value import Value


class Pages(Value):
    """Pages on GitHub: the workflow run, its artifacts with the report, and the comparison of both commits."""

    run: str
    artifacts: str
    compare: str


def links_of(result: Result, repository_url: str, run_url: str, artifact: int | None = None) -> Pages:
    """Return the links for a result. `artifact` is the id of the uploaded report, if it is known."""
    base, head = (quote(side.sha, safe="") for side in (result.sides.base, result.sides.head))
    compare = f"{repository_url}/compare/{base}...{head}"
    artifacts = f"{run_url}#artifacts" if artifact is None else f"{run_url}/artifacts/{artifact}"
    return Pages(run=run_url, artifacts=artifacts, compare=compare)


_NEEDED = "# needs Tidegate on PATH"
_FULL_HASH = re.compile("[0-9a-f]{40}")
_MOST_SCENARIOS = 20  # for more, the command runs the whole suite


def recipe(result: Result, rows: Sequence[Row], *, checkout: bool = True) -> str:
    """Return lines for a shell: check out the pull request, and run the rows on both sides.

    '' for results imported from another tool, whose commit is unknown. Without `checkout`, its branch is checked out.
    """
    head, number = result.sides.head, result.links.pull_request
    if not head.sha:
        return ""
    lines = [_NEEDED] if number else []
    if checkout and number:
        lines.append(f"gh pr checkout {number}")
    elif checkout and " " in head.ref:  # the name of a merge group, whose branch GitHub removes
        lines.append(f"git fetch origin {shlex.quote(head.sha)} && git switch --detach {shlex.quote(head.sha)}")
    elif checkout:
        lines.append(shlex.join(["git", "switch", *(["--detach", head.sha] if head.ref == "HEAD" else [head.ref])]))
    return "\n".join((*lines, _command(result, rows)))


def _command(result: Result, rows: Sequence[Row]) -> str:
    scenarios = dict.fromkeys(row.scenario for row in rows)
    words = ["tidegate", "pr", *_base(result)]
    if len(scenarios) <= _MOST_SCENARIOS:
        words += [word for name in scenarios for word in ("--scenario", name)]
        words += [word for name in dict.fromkeys(row.agent for row in rows) for word in ("--agent", name)]
    return shlex.join(words)


def _base(result: Result) -> list[str]:
    """Return the option that names the run's base. A pull request's is that of `origin`: a local one may be old."""
    ref = result.sides.base.ref
    remote = bool(result.links.pull_request) and not _FULL_HASH.fullmatch(ref) and not ref.startswith("origin/")
    return ["--base", f"origin/{ref}" if remote else ref] if ref else []
