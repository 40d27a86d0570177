"""Finds events with nothing to do, before their handlers are imported, which takes most of a start."""

from __future__ import annotations

from tidegate.github.event import CommentEvent, Event, PullRequestEvent, PushEvent, WorkflowRunEvent
from tidegate.github.job import Job
from tidegate.github.slash_command import parse_command
from tidegate.model.result import VerdictReason

DRAFT = "The pull request is a draft, and the input `drafts` is set to skip drafts."


def nothing_to_do(event: Event, job: Job) -> tuple[VerdictReason, str] | None:
    """Return the reason and a sentence for an event that ends at once; None for one that a handler looks at."""
    if isinstance(event, PullRequestEvent) and event.action == "opened":
        is_skipped = event.draft and job.settings.drafts == "skip"
        return ("draft", DRAFT) if is_skipped else None  # no comment is there yet that would have to change
    sentence = _why(event, job)
    return ("nothing_to_do", sentence) if sentence else None


def _why(event: Event, job: Job) -> str:
    match event:
        case PullRequestEvent():
            closed = event.action == "closed"
            return "The pull request is closed: there is nothing left to decide." if closed else ""
        case PushEvent():
            return _of_push(event, job)
        case WorkflowRunEvent():
            return _of_workflow_run(event)
        case CommentEvent():
            return _of_comment(event)
        case _:
            return ""


def _of_push(event: PushEvent, job: Job) -> str:
    if not event.is_default:
        return "The push is not to the default branch, whose history is base's."
    if job.settings.github_token is None:
        return "There is no token to look for the merged pull request's run with."
    return ""


def _of_workflow_run(event: WorkflowRunEvent) -> str:
    if event.trigger != "pull_request":
        return f"The run was started by `{event.trigger}`, not by a pull request."
    if event.head_repo is None:
        return "The fork has been deleted: it is unknown which pull request the run was about."
    if event.could_comment:
        return "The run was this repository's own: it has written its comment itself."
    return ""


def _of_comment(event: CommentEvent) -> str:
    if not event.on_pull_request:
        return "The comment is on an issue, not on a pull request."
    if event.action != "created":
        return "The comment was edited or deleted: only a new comment is a command."
    if event.by_bot or event.author != event.sender:
        return "The comment was not written by a person: a bot's comment is never a command."
    if parse_command(event.body) is None:
        return "The comment is not a command: it does not begin with `/tidegate`."
    return ""
