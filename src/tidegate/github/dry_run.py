"""The last step of a dry run: makes the read requests that the comment needs, but writes nothing."""

from __future__ import annotations

from tidegate.github.comment import Publication, WorkflowRun, standing_comment
from tidegate.github.port import PERMISSIONS, CommentPort, PublishError

UNKNOWN = f"Whether the token may write is not known before it does; the job needs:\n{PERMISSIONS}"


def rehearse(port: CommentPort, instance: str, run: WorkflowRun) -> tuple[Publication, str]:
    """Return what would happen to the comment, and a sentence for the log. Nothing is posted."""
    try:
        standing = standing_comment(port, instance)
        moved_on = port.head_sha() != run.head
    except PublishError as error:
        return Publication(outcome="failed", problem=error.message, advice=error.advice), "The comment would fail."
    if moved_on:
        return Publication(outcome="superseded"), "Nothing would be posted: the pull request has moved on."
    would = f"the comment {standing.url} would be updated" if standing else "a comment would be made"
    return Publication(outcome="off", url=standing and standing.url), f"Dry run: {would}. {UNKNOWN}"
