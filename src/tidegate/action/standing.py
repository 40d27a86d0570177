"""Ends a job at once whose event changes nothing, with the verdict that the commit has already.

Such a job must not simply pass: its check has the name of the required one, and would turn a failed check green.
"""

from __future__ import annotations

from tidegate.action.announce import summarise, tell_standing
from tidegate.action.job import Job
from tidegate.action.publishing import Subject
from tidegate.gh.comment import standing_comment
from tidegate.gh.event import PullRequestEvent
from tidegate.gh.port import Comment, PublishError, RepositoryPort
from tidegate.model.marker import Marker

SAID = "The event `{event}` changes nothing that is compared: the verdict on `{head}` stands: **{verdict}**."


async def standing_verdict(event: PullRequestEvent, subject: Subject, job: Job) -> int | None:
    """Return the exit code of the verdict that our own comment has on this commit.

    None: the event changes something, the commit has no verdict against this base branch, a maintainer has accepted it
    (the label may be gone), or GitHub does not answer. The suite is run then. A fork's verdict is never repeated.
    """
    repository = subject.repository
    if repository is None or event.without_secrets or not event.changes_nothing(job.settings.accept_label):
        return None
    try:
        comment = await job.deadline().ask(lambda: _standing(repository, subject.number, job))
    except PublishError as error:
        job.say(f"The verdict on this commit could not be read: {error.message}")
        return None
    marker = Marker.parse(comment.body) if comment else None
    if comment is None or marker is None or marker.exit_code is None or marker.accepted is not None:
        return None
    if (marker.head, marker.base) != (event.head_sha, event.base_ref):
        return None
    sentence = SAID.format(event=event.action, head=marker.head[:7], verdict=marker.verdict)
    job.say(sentence)
    summarise(f"## Tidegate: nothing new\n\n{sentence} See [the comment]({comment.url}).", job)
    tell_standing(marker, comment.url, job)
    return marker.exit_code


def _standing(repository: RepositoryPort, number: int, job: Job) -> Comment | None:
    return standing_comment(repository.comments(number), job.settings.instance)
