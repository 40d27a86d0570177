"""Handles the commands `plan` and `shard`, for a pull request or merge group that is split over several jobs."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable
from typing import NoReturn

from tidegate.errors import ConfigurationError, MissingKeyError
from tidegate.github.announce import tell_matrix
from tidegate.github.event import MergeGroupEvent, PullRequestEvent
from tidegate.github.job import Job
from tidegate.github.publishing import Subject
from tidegate.github.pull_request import as_it_is_now, is_lenient, options_of, sides_of
from tidegate.github.standing import standing_verdict
from tidegate.history.our_folder import shards_folder
from tidegate.history.run_folder import write_value
from tidegate.run.bundle import bundle_name
from tidegate.run.sharding import (
    PLAN_FILE,
    ShardsWanted,
    add_shard,
    add_shards,
    matrix,
    one_shard,
    overview,
    plan_shards,
    read_plan,
    require_number,
)


async def plan(event: PullRequestEvent | MergeGroupEvent, job: Job) -> int:
    """Write the plan and the output `matrix`; it is empty where the merge has nothing to join. Return 0."""
    if isinstance(event, PullRequestEvent) and await _is_skipped(event, job):
        tell_matrix("", "no shards: the merge reports why nothing is run", job)
        return 0
    given = _arguments(add_shards, job)
    asked = sides_of(event, job)
    options = options_of(asked, job, lenient_keys=is_lenient(event, job))
    wanted = ShardsWanted(given.shards, given.minutes * 60)
    try:
        made = plan_shards(job.root, asked, options, wanted)
    except MissingKeyError:
        if not is_lenient(event, job):
            raise
        tell_matrix("", "no shards: no key reaches this pull request", job)
        return 0
    write_value(shards_folder(job.root) / PLAN_FILE, made)
    tell_matrix(matrix(made) if made.shares else "", overview(made), job)
    return 0


async def _is_skipped(event: PullRequestEvent, job: Job) -> bool:
    """Return True if the merge ends at once: the pull request is closed, a skipped draft, or has its verdict."""
    if event.action == "closed":
        return True
    subject = Subject(event.number, event.head_sha, job.connect())
    event = await as_it_is_now(event, subject.repository, job)
    return event.draft or await standing_verdict(event, subject, job) is not None


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Raise ConfigurationError."""
        raise ConfigurationError(f"input `args`: {message}.", "docs/github.md has the whole workflow.")


def _arguments(add: Callable[[argparse.ArgumentParser], None], job: Job) -> argparse.Namespace:
    """Return the arguments in the input `args`. Raises ConfigurationError if they are invalid."""
    parser = _Parser(add_help=False)
    add(parser)
    try:
        return parser.parse_args(shlex.split(job.settings.args))
    except ValueError as error:
        raise ConfigurationError(f"input `args`: {error}.", "Quote it as in a shell.") from None


async def screen(event: PullRequestEvent | MergeGroupEvent, job: Job) -> int:
    """Run the shard that the input names. Return 0 also if something fails: the merge decides."""
    given = _arguments(add_shard, job)
    asked = sides_of(event, job)
    options = options_of(asked, job, lenient_keys=is_lenient(event, job))
    made = read_plan(shards_folder(job.root) / PLAN_FILE)
    number, of = given.shard
    require_number(made, number, of)
    ran = await one_shard(job.root, asked, made, number, options)
    job.say(f"shard {number} of {of}: {ran.trials} trials in {ran.seconds:.0f} s, in {bundle_name(number, of)}")
    return 0
