"""The commands that reproduce a row on one's own machine."""

from __future__ import annotations

import shlex

from tidegate.model.comparison import Row
from tidegate.model.result import Result

_INSTALL = "pipx install tidegate"


def recipe(result: Result, row: Row) -> str:
    """Return three lines for a shell: install Tidegate, check out the pull request, run the row on both sides.

    '' for results imported from another tool, whose commit is unknown.
    """
    if not result.sides.head.sha:
        return ""
    number = result.links.pull_request
    ref, sha = result.sides.head.ref, result.sides.head.sha
    switch = ["git", "switch", "--detach", sha] if ref == "HEAD" else ["git", "switch", ref]
    checkout = f"gh pr checkout {number}" if number else shlex.join(switch)
    return "\n".join((_INSTALL, checkout, _command(row)))


def verification(result: Result, row: Row) -> str:
    """Return two lines for a shell that run the row on the branch that is checked out; '' where `recipe` is."""
    return "\n".join((_INSTALL, _command(row))) if result.sides.head.sha else ""


def _command(row: Row) -> str:
    return shlex.join(["tidegate", "pr", "--scenario", row.scenario, "--agent", row.agent])
