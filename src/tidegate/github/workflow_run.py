"""Handles `workflow_run`: publishes the comment for a pull request whose own job has no write access.

The uploaded result is untrusted input. It is shown, marked as not verified, and never decides anything. Who accepted it
is read from GitHub.
"""

from __future__ import annotations

from contextlib import suppress

from tidegate.errors import CannotRunError, ConfigurationError
from tidegate.github.acceptance import acceptance_of
from tidegate.github.announce import skip, summarise, tell_no_verdict, tell_publication
from tidegate.github.api import Artifact, PublishError, PullRequest
from tidegate.github.artifact import MAX_ARCHIVE, PoisonedError, read_result
from tidegate.github.client import GitHubRepository
from tidegate.github.comment import Statement, WorkflowRun, publish_comment
from tidegate.github.event import WorkflowRunEvent
from tidegate.github.job import Job
from tidegate.model.marker import Acceptance
from tidegate.model.result import Result
from tidegate.reports.comment import comment_body
from tidegate.reports.links import links_of

ARTIFACT, REPORT = "tidegate-result", "tidegate-report"
NOTICE = (
    "Not verified: the pull request's author controls the run that measured this. Take it as a hint, not as a gate;"
    " a maintainer can run Tidegate in this repository."
)
CONTRADICTED = "The workflow run itself ended with {conclusion}, which contradicts this result. "


async def publish(event: WorkflowRunEvent, job: Job) -> int:
    """Find the pull request and the uploaded result, and publish the comment. Every failure says its reason.

    Return 0 if the comment is published or there is nothing to publish. The exit code never depends on the verdict.
    """
    repository = job.connect()
    if repository is None:
        raise ConfigurationError("there is no token to publish with.", "Set the input `github_token`.")
    try:
        return await _publish(event, repository, job)
    except PublishError as error:
        raise CannotRunError(f"nothing was published: {error.message}", error.advice) from error


def artifact_name(instance: str) -> str:
    """Return the name under which the pull request's job uploads its result."""
    return ARTIFACT if instance == "default" else f"{ARTIFACT}-{instance}"


async def _publish(event: WorkflowRunEvent, repository: GitHubRepository, job: Job) -> int:
    pull = await job.deadline.ask(lambda: _pull_request(event, repository))
    if pull is None:
        return skip("nothing_to_do", "No open pull request has that run's commit as its head any more.", job)
    name = artifact_name(job.settings.instance)
    found = await job.deadline.ask(lambda: archive(event.run, job.settings.instance, repository))
    if found is None:
        return skip("nothing_to_do", f"The run has uploaded no artifact `{name}`: there is nothing to publish.", job)
    try:
        result = read_result(found[1], job.settings.instance)
    except PoisonedError as error:
        raise ConfigurationError(
            f"the artifact `{name}` of run {event.run} was not published: {error}.",
            "It comes from the pull request; look at what its job uploads before you trust anything of it.",
        ) from None
    acceptance = await acceptance_of(pull.number, pull.head_sha, result, repository, job)
    statement = _statement(event, result, found[0], acceptance, job)
    run = WorkflowRun(id=event.run, attempt=event.attempt, head=event.head_sha)
    comments, mode = repository.comments(pull.number), job.settings.comment
    publication = await job.deadline.ask(lambda: publish_comment(comments, statement, run, mode, job.outside.sleep))
    if publication.problem:
        raise CannotRunError(f"the comment was not published: {publication.problem}", publication.advice)
    tell_publication(publication, job)
    job.say(f"#{pull.number}: the comment is {publication.outcome}.")
    return 0


def _pull_request(event: WorkflowRunEvent, repository: GitHubRepository) -> PullRequest | None:
    """Return the open pull request of the run, or None.

    It is looked up from GitHub's data about the run, never from the artifact, and must still be at the run's commit.
    """
    owner = str(event.head_repo).partition("/")[0]
    found = [
        pull
        for pull in repository.pull_requests_of(owner, event.head_branch)
        if pull.head_sha == event.head_sha and pull.head_repo == event.head_repo
    ]
    return found[-1] if found else None


def archive(run: int, instance: str, repository: GitHubRepository) -> tuple[int, bytes] | None:
    """Return the packed result, and the id of the artifact to link: the report, which a browser opens, else the result.

    Return None if the run has no result any more.
    """
    name = artifact_name(instance)
    if (result := newest_artifact(run, name, repository)) is None:
        return None
    if result.size > MAX_ARCHIVE:
        raise ConfigurationError(
            f"the artifact `{name}` of run {run} was not published: it has {result.size} bytes.",
            f"Upload result.json alone; more than {MAX_ARCHIVE} bytes are never read.",
        )
    content = repository.download(result.id, MAX_ARCHIVE)
    report = None
    with suppress(PublishError):  # only the link depends on it
        report = newest_artifact(run, f"{name.replace(ARTIFACT, REPORT, 1)}.html", repository)
    return (report or result).id, content


def newest_artifact(run: int, name: str, repository: GitHubRepository) -> Artifact | None:
    """Return the newest artifact with this name that GitHub still has: each attempt of a run may upload one."""
    found = [artifact for artifact in repository.artifacts(run, name) if not artifact.expired]
    return max(found, key=lambda artifact: artifact.id, default=None)


def _statement(
    event: WorkflowRunEvent, result: Result, artifact: int, acceptance: Acceptance | None, job: Job
) -> Statement:
    """Write the summary, and return the statement for the comment. `artifact` is the one to link."""
    repository_url = job.runner.repository_url
    pages = links_of(result, repository_url, f"{repository_url}/actions/runs/{event.run}", artifact)
    contradicted = result.verdict.exit_code == 0 and event.conclusion != "success"
    notice = (CONTRADICTED.format(conclusion=event.conclusion or "nothing") if contradicted else "") + NOTICE
    if acceptance is not None:
        result = result.model_copy(update={"verdict": result.verdict.accepted(acceptance.actor)})
    body = comment_body(result, pages=pages, notice=notice)
    summarise(body, job)
    tell_no_verdict("nothing_to_do", job)
    return Statement(result=result, body=body, notice=notice, pages=pages, accepted=acceptance)
