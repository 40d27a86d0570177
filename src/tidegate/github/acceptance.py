"""A maintainer accepts regressions with a label or a comment: for one commit and base branch. It is recorded."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NamedTuple

from tidegate.github.announce import warn
from tidegate.github.api import Comment, Labelling, PublishError, PullRequest
from tidegate.github.client import GitHubRepository
from tidegate.github.comment import marker_of, standing_comment
from tidegate.github.event import MergeGroupEvent, PullRequestEvent
from tidegate.github.job import BEFORE, Job
from tidegate.model.marker import Acceptance, Marker
from tidegate.model.plan import RowKey
from tidegate.model.result import Result

NOT_ACCEPTED = "not accepted"
UNPROVEN = 5  # exit code of a verdict that blocks because it proves nothing
_MOMENT = timedelta(seconds=10)
_DECIDING = frozenset({"regressed", "unconfirmed", "not_measured", "not_comparable"})  # states that can block


async def expire(event: PullRequestEvent, repository: GitHubRepository | None, job: Job) -> None:
    """Remove the acceptance label after a push or a change of the base branch: the new comparison was not accepted."""
    label = job.settings.accept_label
    is_new = event.action == "synchronize" or event.retargeted
    if repository is None or not is_new or job.runner.run_attempt > 1:
        return

    def remove() -> bool:
        stands = _is_set(label, repository.pull_request(event.number))
        if stands:
            repository.remove_label(event.number, label)
        return stands

    try:
        if await job.deadline.ask(remove, BEFORE):
            job.say(f"The label `{label}` was for what the pull request was before; it has been taken away.")
    except PublishError as error:
        if error.kind != "not_found":
            job.say(f"Whether the label `{label}` stands could not be seen to: {error.message}")


async def accepted_by(
    event: PullRequestEvent, result: Result, repository: GitHubRepository | None, job: Job
) -> Acceptance | None:
    """Return the acceptance for this head, or None if there is none or nothing failed.

    Called after the verdict, so that a label removed during the run does not count. If GitHub does not answer or the
    job is cancelled, there is no acceptance.
    """
    if repository is None or not _can_be_accepted(result):
        return None
    asked = _Asked(event.number, event.head_sha)
    return await _answered(lambda: _acceptance(asked, result, repository, job), job)


async def accepted_in_queue(
    event: MergeGroupEvent, result: Result, repository: GitHubRepository | None, job: Job
) -> Acceptance | None:
    """Return the acceptance of the pull request that a merge queue adds; None if more has failed than was accepted.

    A maintainer has seen the verdict on the pull request. In the queue, base may have other commits besides: results
    that did not fail there are not accepted.
    """
    number = event.number
    if repository is None or number is None or not _can_be_accepted(result):
        return None

    def ask() -> Acceptance | tuple[str, str] | None:
        now = repository.pull_request(number)
        marker = marker_of(standing_comment(repository.comments(number), job.settings.instance))
        if marker is None or marker.head != now.head_sha or not _deciding(result) <= set(marker.regressed):
            return None
        return _acceptance(_Asked(number, now.head_sha), result, repository, job)

    return await _answered(ask, job)


async def accepted_on_fork(
    pull: PullRequest, result: Result, repository: GitHubRepository, job: Job
) -> Acceptance | None:
    """Return the acceptance of a fork's pull request at its current head."""
    if not _can_be_accepted(result):
        return None
    asked = _Asked(pull.number, pull.head_sha)
    return await _answered(lambda: _acceptance(asked, result, repository, job), job)


def _was_seen(shown: Comment, labelling: Labelling, head: str) -> bool:
    """Return True if the comment showed a verdict on this head when the label was set, and head has stayed since.

    The comment is written a moment after we have asked for the head, so a move just before it counts as one after it.
    """
    marker = Marker.parse(shown.body)
    if marker is None or not marker.verdict or marker.head != head or not shown.updated_at < labelling.at:
        return False
    if not labelling.moved_at:
        return True
    return datetime.fromisoformat(labelling.moved_at) + _MOMENT < datetime.fromisoformat(shown.updated_at)


def _can_be_accepted(result: Result) -> bool:
    return result.verdict.state == "failed" or result.verdict.exit_code == UNPROVEN


async def _answered(ask: Callable[[], Acceptance | tuple[str, str] | None], job: Job) -> Acceptance | None:
    """Ask GitHub; return None with a warning if there is an acceptance that does not count, or no answer."""
    try:
        found = await job.deadline.ask(ask)
    except PublishError as error:
        found = "the label could not be read", f"{error.message}\n{error.advice}"
    except asyncio.CancelledError:
        found = "the label was not read", "the job was cancelled"
    if isinstance(found, tuple):
        warn(*found, job)
        return None
    return found


class _Asked(NamedTuple):
    """The pull request and the commit that may be accepted."""

    number: int
    head_sha: str


def _acceptance(
    asked: _Asked, result: Result, repository: GitHubRepository, job: Job
) -> Acceptance | tuple[str, str] | None:
    """Return the acceptance that is recorded for this commit, or that the label means; the event counts for nothing.

    None: the label is not set. A title and a message: it is set but does not count. It counts only if our comment
    showed the verdict on this commit before, and only for the person who set it last and who has write access.
    """
    label = job.settings.accept_label
    now = repository.pull_request(asked.number)
    if not _is_set(label, now) or now.head_sha != asked.head_sha:
        return None
    set_last = repository.labelling(asked.number, label)
    by = set_last.by if set_last else ""
    if by.endswith("[bot]"):
        return NOT_ACCEPTED, _POWERLESS.format(label=label, actor=by)
    shown = standing_comment(repository.comments(asked.number), job.settings.instance)
    marker = marker_of(shown)
    recorded = marker.accepted if marker else None
    wanted = asked.head_sha, result.sides.base.ref[:200]
    if recorded is not None and (recorded.sha, recorded.base) == wanted:
        acceptance = recorded
    elif shown and set_last and _was_seen(shown, set_last, asked.head_sha):
        acceptance = Acceptance(sha=asked.head_sha, base=result.sides.base.ref, actor=by, run=job.runner.run_id)
    else:
        return NOT_ACCEPTED, _UNSEEN.format(label=label)
    if by.casefold() != acceptance.actor.casefold():
        return NOT_ACCEPTED, _OTHERWISE.format(label=label, actor=acceptance.actor)
    if not repository.may_write(acceptance.actor):
        return NOT_ACCEPTED, _POWERLESS.format(label=label, actor=acceptance.actor)
    return acceptance


def _deciding(result: Result) -> set[RowKey]:
    """Return the rows whose state can have decided the verdict."""
    return {row.key for row in result.rows if row.state in _DECIDING}


def _is_set(label: str, pull: PullRequest) -> bool:
    """Return True if the pull request has the label. GitHub ignores the case of labels."""
    return label.casefold() in (name.casefold() for name in pull.labels)


_UNSEEN = (
    "the label `{label}` stands, but was put there before the comment showed the verdict on this commit. Take it away,"
    " and put it back when it does; the workflow `rerun` then starts the run again."
)
_OTHERWISE = "GitHub does not say that `{actor}` put the label `{label}` there last."
_POWERLESS = "`{actor}` put the label `{label}` there, and may not push to this repository."
