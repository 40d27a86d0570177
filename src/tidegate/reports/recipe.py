"""The commands that reproduce a row on one's own machine."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from tidegate.model.comparison import Row
from tidegate.model.result import Result

_NEEDED = "# needs Tidegate on PATH"
_FULL_HASH = re.compile("[0-9a-f]{40}")
_MOST_SCENARIOS = 20  # for more, the command runs the whole suite


def recipe(result: Result, rows: Sequence[Row]) -> str:
    """Return lines for a shell: check out the pull request, and run the rows on both sides.

    '' for results imported from another tool, whose commit is unknown.
    """
    if not result.sides.head.sha:
        return ""
    number = result.links.pull_request
    ref, sha = result.sides.head.ref, result.sides.head.sha
    switch = shlex.join(["git", "switch", ref])
    if ref == "HEAD":
        switch = f"git switch --detach {sha}"
    elif " " in ref:  # the name of a merge group, whose branch GitHub removes
        switch = f"git fetch origin {shlex.quote(sha)} && git switch --detach {shlex.quote(sha)}"
    checkout = [_NEEDED, f"gh pr checkout {number}"] if number else [switch]
    return "\n".join((*checkout, _command(result, rows)))


def verification(result: Result, rows: Sequence[Row]) -> str:
    """Return lines for a shell that run the rows on the branch that is checked out; '' where `recipe` is."""
    if not result.sides.head.sha:
        return ""
    needed = [_NEEDED] if result.links.pull_request else []
    return "\n".join((*needed, _command(result, rows)))


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
