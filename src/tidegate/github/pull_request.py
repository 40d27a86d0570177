"""Handles `pull_request` and `merge_group`: compares both sides and publishes the result."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tidegate.errors import MissingKeyError
from tidegate.github.acceptance import acceptance_of, expire
from tidegate.github.announce import skip, tell
from tidegate.github.api import PublishError
from tidegate.github.client import GitHubRepository
from tidegate.github.comment import NoVerdict, Statement
from tidegate.github.event import DRAFT, MergeGroupEvent, PullRequestEvent
from tidegate.github.job import BEFORE, OUT, Job, origin_of
from tidegate.github.publishing import Subject, comment_on
from tidegate.github.standing import seal_key, standing_verdict
from tidegate.history.our_folder import make_our_folder, shards_folder
from tidegate.history.report_files import rewrite_reports
from tidegate.history.run_folder import write_text
from tidegate.model.marker import Acceptance
from tidegate.model.result import Result
from tidegate.model.revision import Links
from tidegate.reports.comment import comment_body
from tidegate.reports.links import Pages, links_of
from tidegate.run.checkouts import RevisionPair, commits_of
from tidegate.run.pipeline import pull_request
from tidegate.run.run_job import Options
from tidegate.vcs.missing_commits import fetch_missing, require_whole_checkout
from tidegate.vcs.revisions import checked_out_sides, require_checked_out

PAUSE_S = 60.0  # wait before a verification, longer than most outages of a provider


async def compare_pull_request(event: PullRequestEvent, job: Job) -> int:
    """Compare the pull request's head with its base, publish the result, and return the verdict's exit code.

    Skips drafts if the input `drafts` says so, unless the commit has a verdict already.
    """
    subject = Subject(event.number, event.head_sha, job.connect())
    event = await as_it_is_now(event, subject.repository, job)
    if (standing := await standing_verdict(event, subject, job, skips=event.draft)) is not None:
        return standing
    if event.draft:
        code = skip("draft", DRAFT, job)
        said = NoVerdict(instance=job.settings.instance, why="a draft", detail=DRAFT, creates=False)
        await comment_on(subject, said, job)
        return code
    await expire(event, subject.repository, job)
    sides = sides_of(event, job)
    lenient = is_lenient(event, job)
    try:
        result = await compare(sides, job, event.number, lenient_keys=lenient)
    except MissingKeyError as error:
        if lenient:
            return skip("fork_without_key", f"No secret reaches this pull request: {error.message}", job)
        raise
    return await conclude(event, result, subject, job)


async def as_it_is_now(event: PullRequestEvent, repository: GitHubRepository | None, job: Job) -> PullRequestEvent:
    """Return the event with the base branch of now: a run that is started again has the event of the first.

    `draft`: the pull request is to be skipped. It is if GitHub says that it is a draft now, at this commit and base.
    """
    skips = event.draft and job.settings.drafts == "skip"
    event = event.model_copy(update={"draft": False})
    if repository is None or not (skips or job.runner.run_attempt > 1):
        return event
    try:
        now = await job.deadline.ask(lambda: repository.pull_request(event.number), BEFORE)
    except PublishError as error:
        job.say(f"What the pull request is now could not be seen: {error.message}")
        return event
    if now.base_ref == event.base_ref:
        return event.model_copy(update={"draft": skips and now.draft and now.head_sha == event.head_sha})
    if job.runner.run_attempt == 1:
        return event
    job.say(f"The base branch is `{now.base_ref}` now; it was `{event.base_ref}` when the run was first started.")
    return event.model_copy(update={"base_ref": now.base_ref, "retargeted": True})


async def conclude(event: PullRequestEvent, result: Result, subject: Subject, job: Job) -> int:
    """Ask whether the result is accepted, publish it, and return the exit code."""
    acceptance = await acceptance_of(event.number, event.head_sha, result, subject.repository, job)
    return await say(result, acceptance, subject, job)


async def compare_merge_group(event: MergeGroupEvent, job: Job) -> int:
    """Compare the merge group with its base, and return the verdict's exit code. There is no comment to write."""
    result = await compare(sides_of(event, job), job)
    acceptance = await acceptance_of(event.number, "", result, job.connect(), job)
    result = _accepted(result, acceptance, job)
    _tell(result, links_of(result, job.runner.repository_url, job.runner.run_url), job)
    return result.verdict.exit_code


def sides_of(event: PullRequestEvent | MergeGroupEvent, job: Job) -> RevisionPair:
    """Return the commits to compare. Raises ConfigurationError if another commit is checked out than the event's."""
    require_whole_checkout(job.workspace)
    if isinstance(event, PullRequestEvent):
        if job.runner.run_attempt > 1 and event.retargeted:  # what is checked out is a merge into the earlier branch
            return RevisionPair(event.base_ref, event.head_sha, (event.base_ref, event.head_ref))
        base, head = checked_out_sides(job.workspace, event.head_sha, event.base_ref)
        return RevisionPair(base, head, (event.base_ref, event.head_ref))
    require_checked_out(job.workspace, event.head_sha)
    return RevisionPair(event.base_sha, "HEAD", (event.base_ref.removeprefix("refs/heads/"), "merge queue"))


def is_lenient(event: PullRequestEvent | MergeGroupEvent, job: Job) -> bool:
    """Return True for a fork: its author cannot give it secrets, so a missing key is not an error."""
    fork = isinstance(event, PullRequestEvent) and event.without_secrets
    return fork and job.settings.fork_without_key == "pass"


async def compare(asked: RevisionPair, job: Job, number: int | None = None, *, lenient_keys: bool = False) -> Result:
    """Run both sides and return the result. The reports are written to the workspace.

    `number` is the pull request's.
    """
    options = options_of(asked, job, number, lenient_keys=lenient_keys)
    run = job.outside.compare or pull_request
    return await run(job.root, commits_of(job.root, asked), _out(job), options)


def options_of(asked: RevisionPair, job: Job, number: int | None = None, *, lenient_keys: bool = False) -> Options:
    """Return the options of the inputs, and fetch what the checkout lacks. Plan, shard and merge have a folder."""
    for sentence in fetch_missing(job.workspace, asked.base, asked.head, origin_of(job).environ):
        job.say(sentence)
    return replace(
        job_options(job),
        lenient_keys=lenient_keys,
        links=Links(repository=f"{job.runner.server_url}/{job.runner.repository}", pull_request=number),
        shards=shards_folder(job.root) if job.settings.command in ("plan", "shard", "merge") else None,
    )


def job_options(job: Job, *, writes: bool = False) -> Options:
    """Return the options that every run of the job has. `writes`: the event may add to base's history."""
    return Options(
        environ=job.outside.environ,
        progress=job.outside.progress,
        config=job.settings.config,
        instance=job.settings.instance,
        origin=origin_of(job, writes=writes),
        pause_s=PAUSE_S,
    )


async def say(result: Result, acceptance: Acceptance | None, subject: Subject, job: Job) -> int:
    """Publish the result as summary, outputs and comment, and return the exit code, which publishing cannot change."""
    result = _accepted(result, acceptance, job)
    pages = links_of(result, job.runner.repository_url, job.runner.run_url)
    body = _tell(result, pages, job)
    statement = Statement(result=result, body=body, pages=pages, accepted=acceptance, key=seal_key(job))
    await comment_on(subject, statement, job)
    return result.verdict.exit_code


def _accepted(result: Result, acceptance: Acceptance | None, job: Job) -> Result:
    """Return the result with the acceptance, if there is one, and rewrite the reports."""
    if acceptance is None:
        return result
    result = result.model_copy(update={"verdict": result.verdict.accepted(acceptance.actor)})
    rewrite_reports(result, _out(job))
    return result


def _tell(result: Result, pages: Pages, job: Job) -> str:
    """Write comment.md, annotations, summary and outputs. Return the comment's text."""
    out = _out(job)
    body = comment_body(result, pages=pages)
    write_text(out / "comment.md", body)
    tell(result, body, out, job)
    return body


def _out(job: Job) -> Path:
    return make_our_folder(job.root) / OUT
