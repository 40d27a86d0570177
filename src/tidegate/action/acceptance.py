"""A maintainer accepts regressions with a label. It applies to one commit and is recorded in the comment."""

from __future__ import annotations

from tidegate.action.announce import warn
from tidegate.action.job import Job
from tidegate.gh.comment import standing_marker
from tidegate.gh.event import PullRequestEvent
from tidegate.gh.port import PublishError, RepositoryPort
from tidegate.model.marker import Acceptance
from tidegate.model.result import Result

UNPROVEN = 5  # exit code of a verdict that blocks because it proves nothing


def expire(event: PullRequestEvent, repository: RepositoryPort | None, job: Job) -> None:
    """Remove the acceptance label after a push or a change of the base branch: the new comparison was not accepted."""
    label = job.settings.accept_label
    is_new = event.action == "synchronize" or event.retargeted
    if repository is None or not is_new or job.runner.run_attempt > 1 or job.settings.dry_run:
        return
    try:
        if label in repository.pull_request(event.number).labels:
            repository.remove_label(event.number, label)
            job.say(f"The label `{label}` was for what the pull request was before; it has been taken away.")
    except PublishError as error:
        if error.kind != "not_found":
            job.say(f"Whether the label `{label}` stands could not be seen to: {error.message}")


def accepted_by(
    event: PullRequestEvent, result: Result, repository: RepositoryPort | None, job: Job
) -> Acceptance | None:
    """Return the acceptance for this head, or None if there is none or nothing failed.

    Called after the verdict, so that a label removed during the run does not count. If GitHub does not answer, there
    is no acceptance.
    """
    if repository is None or not (result.verdict.state == "failed" or result.verdict.exit_code == UNPROVEN):
        return None
    try:
        return _acceptance(event, repository, job)
    except PublishError as error:
        warn("the label could not be read", f"{error.message}\n{error.advice}", job)
        return None


def _acceptance(event: PullRequestEvent, repository: RepositoryPort, job: Job) -> Acceptance | None:
    """Return the acceptance from this event, or from the marker of an earlier run on the same commit.

    It counts only while the label is set, by the person who set it last, if that person has write access.
    """
    label = job.settings.accept_label
    now = repository.pull_request(event.number)
    if label not in now.labels or now.head_sha != event.head_sha:
        return None
    if event.action == "labeled" and event.label == label:
        acceptance = Acceptance(sha=event.head_sha, actor=event.sender, run=job.runner.run_id)
    else:
        marker = standing_marker(repository.comments(event.number), job.settings.instance)
        recorded = marker.accepted if marker else None
        if recorded is None or recorded.sha != event.head_sha:
            warn("not accepted", _UNRECORDED.format(label=label), job)
            return None
        acceptance = recorded
    if repository.labelled_by(event.number, label).casefold() != acceptance.actor.casefold():
        warn("not accepted", _OTHERWISE.format(label=label, actor=acceptance.actor), job)
        return None
    if not repository.may_write(acceptance.actor):
        warn("not accepted", _POWERLESS.format(label=label, actor=acceptance.actor), job)
        return None
    return acceptance


_UNRECORDED = (
    "the label `{label}` stands, but no run has seen who put it there at this commit. Take it away and put it back;"
    " the workflow has to run on `labeled`."
)
_OTHERWISE = "GitHub does not say that `{actor}` put the label `{label}` there last."
_POWERLESS = "`{actor}` put the label `{label}` there, and may not push to this repository."
