"""Handles `workflow_dispatch`: a maintainer runs a reviewed commit of a fork with this repository's keys."""

from __future__ import annotations

import asyncio
import re

from tidegate.errors import ConfigurationError, TidegateError
from tidegate.github.announce import warn
from tidegate.github.api import PublishError, PullRequest, Status, StatusState
from tidegate.github.client import GitHubRepository
from tidegate.github.comment import NoVerdict
from tidegate.github.event import DispatchEvent
from tidegate.github.job import BEFORE, Job
from tidegate.github.publishing import ENDED, Subject, comment_on
from tidegate.github.pull_request import compare, say
from tidegate.model.result import Verdict
from tidegate.reports.next_steps import render_error
from tidegate.run.checkouts import RevisionPair
from tidegate.text.safe import one_line
from tidegate.vcs.missing_commits import require_whole_checkout
from tidegate.vcs.revisions import checked_out_sides

MAX_DESCRIPTION = 140  # characters; GitHub refuses a longer one
ADVICE = "docs/github.md has the whole workflow."
_SHA = re.compile(r"[0-9a-f]{40}")


async def run_for_maintainer(event: DispatchEvent, job: Job) -> int:
    """Run the commit from the workflow's inputs, publish the result, set a commit status, return the exit code.

    The inputs are `pull_request` (its number) and `sha` (the reviewed commit, 40 digits). Raises ConfigurationError
    if the pull request is no longer at that commit.
    """
    number, sha = _inputs(event)
    repository = job.connect()
    if repository is None:
        raise ConfigurationError("there is no token to ask GitHub with.", "Set the input `github_token`.")
    try:
        pull = await job.deadline.ask(lambda: _asked(event, number, repository, job), BEFORE)
    except PublishError as error:
        raise ConfigurationError(f"GitHub's answer about #{number}: {error.message}", error.advice) from error
    _check_head(pull, sha)
    subject = Subject(number, sha, repository)
    require_whole_checkout(job.workspace)
    base, head = checked_out_sides(job.workspace, sha, pull.base_ref)
    try:
        result = await compare(RevisionPair(base, head, (pull.base_ref, pull.head_ref)), job)
    except TidegateError as error:
        await _set_status("error", error.message, pull, repository, job)
        detail = render_error(error.message, error.advice)
        said = NoVerdict(instance=job.settings.instance, why="it could not be run", detail=detail)
        await comment_on(subject, said, job)
        raise
    code = await say(result, None, subject, job)
    await _set_status(_state(result.verdict), result.verdict.summary, pull, repository, job)
    return code


def _asked(event: DispatchEvent, number: int, repository: GitHubRepository, job: Job) -> PullRequest:
    _check_actors(event, repository, job)
    return repository.pull_request(number)


def _inputs(event: DispatchEvent) -> tuple[int, str]:
    number, sha = event.inputs.get("pull_request", "").strip(), event.inputs.get("sha", "").strip().lower()
    if not number.isdecimal() or not int(number):
        raise ConfigurationError("the workflow's input `pull_request` is not the number of a pull request.", ADVICE)
    if not _SHA.fullmatch(sha):
        raise ConfigurationError(
            f"the workflow's input `sha` is not the full name of a commit, which has 40 digits: {sha[:60]!r}.",
            "Give the commit that you have read: what comes after it will not be run.",
        )
    return int(number), sha


def _check_actors(event: DispatchEvent, repository: GitHubRepository, job: Job) -> None:
    """Check that the person who started the workflow and the one who re-ran it have write access."""
    for login in dict.fromkeys((event.sender, job.runner.triggering_actor or event.sender)):
        if not repository.may_write(login):
            raise ConfigurationError(
                f"`{login}` may not push to this repository, and so may not run a fork's commit with its keys.",
                "A person with write access has to start the workflow.",
            )


def _check_head(pull: PullRequest, sha: str) -> None:
    if not pull.is_open:
        raise ConfigurationError(f"#{pull.number} is closed.", "Reopen it to run Tidegate.")
    if pull.head_sha != sha:
        raise ConfigurationError(
            f"#{pull.number} is at {pull.head_sha} now, not at {sha}.",
            "Read what has been pushed since, and start the workflow with the new commit.",
        )


async def _set_status(state: StatusState, said: str, pull: PullRequest, repository: GitHubRepository, job: Job) -> None:
    """Set a commit status on the tested commit, since the workflow's own check is shown on the default branch.

    It names the base branch: a verdict against one branch says nothing about a merge into another.
    """
    instance = "" if job.settings.instance == "default" else f"/{job.settings.instance}"
    status = Status(
        sha=pull.head_sha,
        state=state,
        context=f"tidegate{instance} ({pull.base_ref})",
        description=one_line(said)[:MAX_DESCRIPTION],
        url=job.runner.run_url,
    )
    try:
        await job.deadline.ask(lambda: repository.set_status(status))
    except PublishError as error:
        warn("no commit status", f"{error.message}\n{error.advice}", job)
    except asyncio.CancelledError:
        warn("no commit status", ENDED, job)


def _state(verdict: Verdict) -> StatusState:
    """Return the status for a verdict. A run that was not measured is an error, neither success nor failure."""
    if verdict.state == "not_run":
        return "error"
    return "failure" if verdict.exit_code else "success"
