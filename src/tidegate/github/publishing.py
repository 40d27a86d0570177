"""Publishes the comment on a pull request. Every failure is a warning: publishing never decides the exit code."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from tidegate.github.announce import tell_publication
from tidegate.github.comment import Publication, Statement, WorkflowRun, failed, publish_comment, standing_comment
from tidegate.github.deadline import Deadline
from tidegate.github.job import Job
from tidegate.github.no_verdict import NoVerdict, note_no_verdict
from tidegate.github.port import PERMISSIONS, CommentPort, PublishError, RepositoryPort

UNKNOWN = f"Whether the token may write is not known before it does; the job needs:\n{PERMISSIONS}"
CANCELLED_S = 4.0  # the runner ends a cancelled job after 7.5 seconds
ENDED = "the job was cancelled"


@dataclass(frozen=True)
class Subject:
    """The pull request that the result belongs to. `repository` is None without a token."""

    number: int
    head_sha: str
    repository: RepositoryPort | None


async def comment_on(subject: Subject, statement: Statement, job: Job) -> None:
    """Write the comment, its address to the outputs, and a warning if it cannot be written."""

    def publish(port: CommentPort) -> Publication:
        return publish_comment(port, statement, _run(subject, job), job.settings.comment, job.outside.sleep)

    def dry_run(port: CommentPort) -> Publication:
        publication, sentence = _rehearse(port, statement.result.instance, _run(subject, job))
        job.say(sentence)
        return publication

    tell_publication(await _published(dry_run if job.settings.dry_run else publish, subject, job, job.deadline), job)


async def note(said: NoVerdict, subject: Subject, job: Job) -> None:
    """Write in the comment that this run has no verdict. After a cancellation, try once and for a short time."""
    if job.settings.dry_run:
        return
    sleep = None if said.cancelled else job.outside.sleep

    def publish(port: CommentPort) -> Publication:
        return note_no_verdict(port, said, _run(subject, job), job.settings.comment, sleep)

    deadline = Deadline(CANCELLED_S) if said.cancelled else job.deadline
    tell_publication(await _published(publish, subject, job, deadline), job)


async def _published(
    publish: Callable[[CommentPort], Publication], subject: Subject, job: Job, deadline: Deadline
) -> Publication:
    repository = subject.repository
    if job.settings.comment == "off":
        return Publication(outcome="off")
    if repository is None:
        advice = "Set the input `github_token`; its default is the job's own token."
        return Publication(outcome="failed", problem="there is no token to comment with.", advice=advice)
    try:
        return await deadline.ask(lambda: publish(repository.comments(subject.number)))
    except PublishError as error:
        return failed(error)
    except asyncio.CancelledError:  # summary and outputs have the verdict, so this job ends with its exit code
        return Publication(outcome="failed", problem=ENDED, advice="A re-run of the job writes the comment.")


def _run(subject: Subject, job: Job) -> WorkflowRun:
    return WorkflowRun(id=job.runner.run_id, attempt=job.runner.run_attempt, head=subject.head_sha)


def _rehearse(port: CommentPort, instance: str, run: WorkflowRun) -> tuple[Publication, str]:
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
