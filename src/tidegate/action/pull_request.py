"""Handles `pull_request` and `merge_group`: compares both sides and publishes the result."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from tidegate.action.acceptance import accepted_by, expire
from tidegate.action.announce import skip, tell
from tidegate.action.git_credentials import origin_of
from tidegate.action.job import OUT, Job
from tidegate.errors import MissingKeyError
from tidegate.gh.cancelled import note_cancelled
from tidegate.gh.comment import Publication, Statement, WorkflowRun, publish_comment
from tidegate.gh.dry_run import rehearse
from tidegate.gh.event import MergeGroupEvent, PullRequestEvent
from tidegate.gh.port import RepositoryPort
from tidegate.model.marker import Acceptance
from tidegate.model.result import Result
from tidegate.pipeline import pull_request, rewrite_reports
from tidegate.run.checkouts import RevisionPair
from tidegate.run.run_job import Options
from tidegate.store.our_folder import make_our_folder
from tidegate.vcs.revisions import checked_out_sides, require_checked_out

PAUSE_S = 60.0  # wait before a verification, longer than most outages of a provider


@dataclass(frozen=True)
class Subject:
    """The pull request that the result belongs to. `repository` is None without a token."""

    number: int
    head_sha: str
    repository: RepositoryPort | None


async def compare_pull_request(event: PullRequestEvent, job: Job) -> int:
    """Compare the pull request's head with its base, publish the result, and return the verdict's exit code.

    Skips closed pull requests, and drafts if the input `drafts` says so.
    """
    if event.action == "closed":
        return skip("nothing_to_do", "The pull request is closed: there is nothing left to decide.", job)
    if event.draft and job.settings.drafts == "skip":
        return skip("draft", "The pull request is a draft, and the input `drafts` says to skip those.", job)
    subject = Subject(event.number, event.head_sha, job.connect())
    expire(event, subject.repository, job)
    base, head = checked_out_sides(job.workspace, event.head_sha, event.base_ref)
    # A fork gets no secrets and its author cannot change that, so a missing key need not fail the job.
    lenient = event.without_secrets and job.settings.fork_without_key == "pass"
    try:
        result = await compare(RevisionPair(base, head, (event.base_ref, event.head_ref)), job, lenient_keys=lenient)
    except MissingKeyError as error:
        if lenient:
            return skip("fork_without_key", f"No secret reaches this pull request: {error.message}", job)
        raise
    except asyncio.CancelledError:
        _say_cancelled(subject, job)
        raise
    acceptance = accepted_by(event, result, subject.repository, job)
    return say(result, acceptance, subject, job)


async def compare_merge_group(event: MergeGroupEvent, job: Job) -> int:
    """Compare the merge group with its base, and return the verdict's exit code. There is no comment to write."""
    require_checked_out(job.workspace, event.head_sha)
    name = event.base_ref.removeprefix("refs/heads/")
    result = await compare(RevisionPair(event.base_sha, "HEAD", (name, "merge queue")), job)
    tell(result, None, _out(job), job)
    return result.verdict.exit_code


async def compare(asked: RevisionPair, job: Job, *, lenient_keys: bool = False) -> Result:
    """Run both sides and return the result. The reports are written to the workspace."""
    options = Options(
        environ=job.outside.environ,
        progress=job.outside.progress,
        config=job.settings.config,
        instance=job.settings.instance,
        lenient_keys=lenient_keys,
        origin=origin_of(job),
        pause_s=PAUSE_S,
    )
    return await pull_request(job.workspace, asked, _out(job), options)


def say(result: Result, acceptance: Acceptance | None, subject: Subject, job: Job) -> int:
    """Publish the result as comment, outputs and summary, and return the exit code, which publishing cannot change."""
    if acceptance is not None:
        result = result.model_copy(update={"verdict": result.verdict.accepted(acceptance.actor)})
        rewrite_reports(result, _out(job))
    tell(result, _published(result, acceptance, subject, job), _out(job), job)
    return result.verdict.exit_code


def _published(result: Result, acceptance: Acceptance | None, subject: Subject, job: Job) -> Publication:
    if job.settings.comment == "off":
        return Publication(outcome="off")
    if subject.repository is None:
        advice = "Set the input `github_token`; its default is the job's own token."
        return Publication(outcome="failed", problem="there is no token to comment with.", advice=advice)
    statement = Statement(result=result, accepted=acceptance)
    port = subject.repository.comments(subject.number)
    if job.settings.dry_run:
        publication, sentence = rehearse(port, result.instance, _run(subject, job))
        job.say(sentence)
        return publication
    return publish_comment(port, statement, _run(subject, job), job.settings.comment, job.outside.sleep)


def _say_cancelled(subject: Subject, job: Job) -> None:
    """Note the cancellation in the comment. One try only, since the runner ends the process soon."""
    if subject.repository is None or job.settings.dry_run:
        return
    port = subject.repository.comments(subject.number)
    publication = note_cancelled(port, _run(subject, job), job.settings.instance, job.settings.comment)
    if publication.problem:
        job.say(f"The comment does not say that the run was cancelled: {publication.problem}")


def _run(subject: Subject, job: Job) -> WorkflowRun:
    return WorkflowRun(id=job.runner.run_id, attempt=job.runner.run_attempt, head=subject.head_sha)


def _out(job: Job) -> Path:
    return make_our_folder(job.workspace) / OUT
