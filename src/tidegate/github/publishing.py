"""Publishes the comment on a pull request, also after a run without a verdict. Every failure is a warning."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from tidegate.github.announce import tell_publication
from tidegate.github.comment import (
    Publication,
    Statement,
    WorkflowRun,
    failed,
    publish_comment,
    repeated,
    standing_comment,
    with_marker,
)
from tidegate.github.deadline import Deadline
from tidegate.github.job import Job
from tidegate.github.port import PERMISSIONS, Comment, CommentPort, PublishError, RepositoryPort
from tidegate.github.settings import CommentMode
from tidegate.model.marker import Marker
from tidegate.model.value import Value
from tidegate.reports.comment import MAX_BYTES
from tidegate.reports.next_steps import render_no_verdict

FOLD = "<details>\n<summary>Last verdict, for "
FOLD_END = "</details>\n"
_DISARMED = FOLD.replace("<", "&lt;")  # what an error message quotes cannot be taken for the fold


class NoVerdict(Value):
    """Why a run has no verdict. `why` is a few words, `detail` Markdown.

    `creates`: create the comment if there is none. `cancelled`: a verdict on the same commit stays unchanged.
    """

    instance: str
    why: str
    detail: str
    creates: bool = True
    cancelled: bool = False


def note_no_verdict(
    port: CommentPort, said: NoVerdict, run: WorkflowRun, mode: CommentMode, sleep: Callable[[float], None] | None
) -> Publication:
    """Write in the comment that this commit has no verdict, and fold the last verdict below it.

    A newer run's comment and anything about a newer commit stay. `on-change` and `on-regression` update an existing
    comment, but create none. Without `sleep`, try only once: the runner leaves a cancelled job only seconds.
    """
    if mode == "off":
        return Publication(outcome="off")
    note = _Note(port, said, run, said.creates and mode in ("always", "recreate"))
    if sleep is not None:
        return repeated(note.publish, sleep)
    try:
        return note.publish()
    except PublishError as error:
        return failed(error)


class _Note:
    """Publishes one note. Its text is made once: after a try that seemed to fail, the comment may be our own."""

    def __init__(self, port: CommentPort, said: NoVerdict, run: WorkflowRun, creates: bool) -> None:
        self._port, self._said, self._run, self._creates = port, said, run, creates
        self._body = ""

    def publish(self) -> Publication:
        standing = standing_comment(self._port, self._said.instance)
        before = Marker.parse(standing.body) if standing else None
        self._body = self._body or self._drafted(standing, before)
        url = standing and standing.url
        if standing is not None and standing.body.strip() == self._body.strip():
            return Publication(outcome="updated", url=url)  # an earlier try that seemed to fail
        if self._port.head_sha() != self._run.head or self._is_newer(before):
            return Publication(outcome="superseded", url=url)
        same = before is not None and before.head == self._run.head and before.verdict
        if (same and self._said.cancelled) or (standing is None and not self._creates):
            return Publication(outcome="unchanged", url=url)
        if standing is None:
            return Publication(outcome="created", url=self._port.create_comment(self._body).url)
        return Publication(outcome="updated", url=self._port.update_comment(standing.id, self._body).url)

    def _is_newer(self, before: Marker | None) -> bool:
        run = self._run
        return before is not None and before.head == run.head and before.age > (run.id, run.attempt)

    def _drafted(self, standing: Comment | None, before: Marker | None) -> str:
        run = self._run
        marker = Marker(
            instance=self._said.instance,
            head=run.head,
            run=run.id,
            attempt=run.attempt,
            regressed=before.regressed if before else (),
            accepted=before.accepted if before and before.head == run.head else None,
        )
        detail = self._said.detail.replace(FOLD, _DISARMED)
        body = render_no_verdict(self._said.instance, run.head, self._said.why, detail)
        last = _last_verdict(standing, before) if standing and before else ""
        if len(f"{body}\n{last}".encode()) > MAX_BYTES:
            last = f"The last verdict, for `{before.head[:7] if before else ''}`, does not fit below.\n"
        return with_marker(marker, f"{body}\n{last}" if last else body)


def _last_verdict(standing: Comment, before: Marker) -> str:
    """Return the standing comment folded, or the fold of a comment that has no verdict itself."""
    text = standing.body.partition("\n")[2]
    if before.verdict:
        return f"{FOLD}<code>{before.head[:7]}</code></summary>\n\n{text.strip()}\n\n{FOLD_END}"
    _, fold, rest = text.partition(FOLD)
    return f"{fold}{rest.strip()}\n" if fold else ""


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
