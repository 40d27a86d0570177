"""Requests about check runs of our own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tidegate.gh.connection import asking
from tidegate.gh.port import Check
from tidegate.gh.workflow_commands import Annotation, Level

if TYPE_CHECKING:
    from github.Requester import Requester

MAX_TEXT = 65_535  # bytes of a summary
MAX_ANNOTATIONS = 50  # in one request
_LEVELS: dict[Level, str] = {"error": "failure", "warning": "warning", "notice": "notice"}


def create(requester: Requester, repository_url: str, of: Mapping[str, str], check: Check) -> int:
    """Create the check run and return its id. `of` is its name, commit and address."""
    with asking("checks: write"):
        said = {**of, **_state(check), "output": _output(check)}
        _, answer = requester.requestJsonAndCheck("POST", f"{repository_url}/check-runs", input=said)
        return int(answer["id"])


def update(
    requester: Requester, repository_url: str, number: int, check: Check, annotations: Sequence[Annotation]
) -> None:
    """Replace what the check run shows, and add annotations: GitHub keeps those of earlier requests."""
    with asking("checks: write"):
        placed = [_annotation(one) for one in annotations if one.file and one.line]
        output = {**_output(check), **({"annotations": placed} if placed else {})}
        address = f"{repository_url}/check-runs/{number}"
        _, answer = requester.requestJsonAndCheck("PATCH", address, input={**_state(check), "output": output})
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
