"""A maintainer accepts regressions with a label or a comment: for one commit and base branch. It is recorded."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

from tidegate.github.announce import warn
from tidegate.github.api import Comment, Labelling, PublishError, PullRequest
from tidegate.github.client import GitHubRepository
from tidegate.github.comment import marker_of, standing_comment
from tidegate.github.event import PullRequestEvent
from tidegate.github.job import BEFORE, Job
from tidegate.model.marker import Acceptance, Marker
from tidegate.model.result import Result
from tidegate.text.shorten import few

NOT_ACCEPTED = "not accepted"
UNPROVEN = 5  # exit code of a verdict that blocks because it proves nothing
_MOMENT = timedelta(seconds=10)


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


async def acceptance_of(
    number: int | None, head_sha: str, result: Result, repository: GitHubRepository | None, job: Job
) -> Acceptance | None:
    """Return the acceptance of the pull request at this head, or at any if that is ''; None if there is none.

    Called after the verdict, so that a label removed during the run does not count. In a merge queue, base may have
    other commits than the pull request had. If GitHub does not answer or the job is cancelled, there is no acceptance.
    """
    verdict = result.verdict
    if repository is None or number is None or (verdict.state != "failed" and verdict.exit_code != UNPROVEN):
        return None
    try:
        found = await job.deadline.ask(lambda: _acceptance(number, head_sha, result, repository, job))
    except PublishError as error:
        found = "the label could not be read", f"{error.message}\n{error.advice}"
    except asyncio.CancelledError:
        found = "the label was not read", "the job was cancelled"
    if isinstance(found, tuple):
        warn(*found, job)
        return None
    return found


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


def _acceptance(
    number: int, head_sha: str, result: Result, repository: GitHubRepository, job: Job
) -> Acceptance | tuple[str, str] | None:
    """Return the acceptance that is recorded for this commit, or that the label means; the event counts for nothing.

    None: the label is not set. A title and a message: it is set but does not count. It counts only if our comment
    showed all that is red on this commit before, and only for the person who set it last and who has write access.
    """
    label, base = job.settings.accept_label, result.sides.base.ref
    now = repository.pull_request(number)
    if not _is_set(label, now) or head_sha not in ("", now.head_sha):
        return None
    set_last = repository.labelling(number, label)
    by = set_last.by if set_last else ""
    if by.endswith("[bot]"):
        return NOT_ACCEPTED, _POWERLESS.format(label=label, actor=by)
    shown = standing_comment(repository.comments(number), job.settings.instance)
    marker = marker_of(shown)
    recorded = marker.accepted if marker else None
    if recorded is not None and (recorded.sha, recorded.base) == (now.head_sha, base[:200]):
        acceptance = recorded
    elif shown and marker and set_last and base == now.base_ref and _was_seen(shown, set_last, now.head_sha):
        acceptance = Acceptance(sha=now.head_sha, base=base, actor=by, run=job.runner.run_id, red=marker.red)
    else:
        return NOT_ACCEPTED, _UNSEEN.format(label=label, more="the verdict on this commit")
    if by.casefold() != acceptance.actor.casefold():
        return NOT_ACCEPTED, _OTHERWISE.format(label=label, actor=acceptance.actor)
    if more := [name for name in result.verdict.red if not acceptance.covers(name)]:
        return NOT_ACCEPTED, _UNSEEN.format(label=label, more=few(more))
    if not repository.may_write(acceptance.actor):
        return NOT_ACCEPTED, _POWERLESS.format(label=label, actor=acceptance.actor)
    return acceptance


def _is_set(label: str, pull: PullRequest) -> bool:
    """Return True if the pull request has the label. GitHub ignores the case of labels."""
    return label.casefold() in (name.casefold() for name in pull.labels)


_UNSEEN = (
    "the label `{label}` stands, but was put there before the comment showed {more}. Take it away,"
    " and put it back when it does; the workflow `rerun` then starts the run again."
)
_OTHERWISE = "GitHub does not say that `{actor}` put the label `{label}` there last."
_POWERLESS = "`{actor}` put the label `{label}` there, and may not push to this repository."
