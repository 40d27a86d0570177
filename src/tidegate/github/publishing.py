"""Publishes the comment on a pull request, also after a run without a verdict. Every failure is a warning."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from tidegate.errors import ConfigurationError
from tidegate.github.announce import tell_publication, warn
from tidegate.github.api import PublishError
from tidegate.github.client import GitHubRepository
from tidegate.github.comment import (
    NoVerdict,
    Publication,
    Statement,
    WorkflowRun,
    failed,
    marker_of,
    publish_comment,
    standing_comment,
)
from tidegate.github.deadline import Deadline
from tidegate.github.event import MergeGroupEvent, PullRequestEvent
from tidegate.github.job import Job

CANCELLED_S = 4.0  # the runner ends a cancelled job after 7.5 seconds
ENDED = "the job was cancelled"


@dataclass(frozen=True)
class Subject:
    """The pull request that the result belongs to. `repository` is None without a token."""

    number: int
    head_sha: str
    repository: GitHubRepository | None


async def comment_on(subject: Subject, said: Statement | NoVerdict, job: Job) -> None:
    """Write the comment, its address to the outputs, and a warning if it cannot be written.

    After a cancellation, try once and for a short time.
    """
    cancelled = isinstance(said, NoVerdict) and said.cancelled
    deadline = Deadline(CANCELLED_S) if cancelled else job.deadline
    tell_publication(await _published(said, subject, job, deadline, tries=not cancelled), job)


async def _published(
    said: Statement | NoVerdict, subject: Subject, job: Job, deadline: Deadline, *, tries: bool
) -> Publication:
    repository, mode = subject.repository, job.settings.comment
    if mode == "off":
        return Publication(outcome="off")
    if repository is None:
        advice = "Set the input `github_token`; its default is the job's own token."
        return Publication(outcome="failed", problem="there is no token to comment with.", advice=advice)
    run = WorkflowRun(id=job.runner.run_id, attempt=job.runner.run_attempt, head=subject.head_sha)
    comments, sleep = repository.comments(subject.number), job.outside.sleep if tries else None
    try:
        return await deadline.ask(lambda: publish_comment(comments, said, run, mode, sleep))
    except PublishError as error:
        return failed(error)
    except asyncio.CancelledError:  # summary and outputs have the verdict, so this job ends with its exit code
        return Publication(outcome="failed", problem=ENDED, advice="A re-run of the job writes the comment.")


async def link_report(event: PullRequestEvent | MergeGroupEvent, job: Job) -> int:
    """Replace the comment's links to the run's list of artifacts by the report's address in the input `args`. Return 0.

    The comment is written before the upload. Failing is a warning: the comment keeps its link to the list. A merge
    group has no comment.
    """
    address, repository = job.settings.args.strip(), job.connect()
    if not address.startswith(f"{job.runner.run_url}/artifacts/"):
        raise ConfigurationError(
            f"input `args`: `{address}` is not the address of an artifact of this run.",
            "It is the output `artifact-url` of actions/upload-artifact.",
        )
    if isinstance(event, MergeGroupEvent) or repository is None or event.without_secrets:
        job.say("No link is changed: there is no comment, or the token cannot write.")
        return 0
    try:
        await job.deadline.ask(lambda: _link(event.number, address, repository, job))
    except PublishError as error:
        warn("no link", f"the comment has no link to the report: {error.message}", job, error.advice)
    return 0


def _link(number: int, address: str, repository: GitHubRepository, job: Job) -> None:
    listed = f"{job.runner.run_url}#artifacts"
    comments = repository.comments(number)
    comment = standing_comment(comments, job.settings.instance)
    marker = marker_of(comment)
    if comment and marker and marker.run == job.runner.run_id and listed in comment.body:
        comments.update_comment(comment.id, comment.body.replace(listed, address))
