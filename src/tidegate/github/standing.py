"""Ends a job at once whose event changes nothing, with the verdict that the commit has already.

Such a job must not simply pass: its check has the name of the required one, and would turn a failed check green.
"""

from __future__ import annotations

import hashlib

from tidegate.github.announce import summarise, tell_standing
from tidegate.github.api import Comment, PublishError
from tidegate.github.client import GitHubRepository
from tidegate.github.comment import marker_of, standing_comment
from tidegate.github.event import PullRequestEvent
from tidegate.github.job import BEFORE, Job
from tidegate.github.publishing import Subject
from tidegate.model.provider import ANTHROPIC, GOOGLE, OPENAI

SAID = "The event `{event}` changes nothing that is compared: the verdict on `{head}` stands: **{verdict}**."

REPEATED = (1, 3, 4, 5)  # exit codes of failed jobs: forging them gains nothing


def seal_key(job: Job) -> bytes:
    """Return the key that verdicts are sealed with, made of the models' API keys; empty without one.

    Without one, all agents are deterministic or free, so that running them again costs next to nothing.
    """
    keys = [job.outside.environ.get(provider.key, "") for provider in (ANTHROPIC, OPENAI, GOOGLE)]
    known = "\0".join(keys)
    return hashlib.sha256(f"tidegate's comment\0{known}".encode()).digest() if any(map(str.strip, keys)) else b""


async def standing_verdict(event: PullRequestEvent, subject: Subject, job: Job, *, skips: bool = False) -> int | None:
    """Return the exit code of the verdict that our own comment has on this commit.

    None: the event changes something, the commit has no verdict against this base branch, a maintainer has accepted it
    (the label may be gone), or GitHub does not answer. The suite is run then. A fork's verdict is never repeated, and
    one that passes only with our seal: other people and workflows can edit the comment. `skips`: the job would run
    nothing anyway.
    """
    repository = subject.repository
    is_new = not (skips or event.changes_nothing(job.settings.accept_label))
    if repository is None or event.without_secrets or is_new:
        return None
    try:
        comment = await job.deadline.ask(lambda: _standing(repository, subject.number, job), BEFORE)
    except PublishError as error:
        job.say(f"The verdict on this commit could not be read: {error.message}")
        return None
    marker = marker_of(comment)
    if comment is None or marker is None or marker.exit_code is None or marker.accepted is not None:
        return None
    if (marker.head, marker.base) != (event.head_sha, event.base_ref):
        return None
    if marker.exit_code not in REPEATED and not (marker.exit_code == 0 and marker.has_seal_of(seal_key(job))):
        return None
    sentence = SAID.format(event=event.action, head=marker.head[:7], verdict=marker.verdict)
    job.say(sentence)
    summarise(f"## Tidegate: nothing new\n\n{sentence} See [the comment]({comment.url}).", job)
    tell_standing(marker, comment.url, job)
    return marker.exit_code


def _standing(repository: GitHubRepository, number: int, job: Job) -> Comment | None:
    return standing_comment(repository.comments(number), job.settings.instance)
