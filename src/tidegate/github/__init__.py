"""Handles the event that started the container: dispatches it to the event's module and reports every failure."""

from __future__ import annotations

import asyncio

from tidegate.errors import CannotRunError, ConfigurationError, TidegateError
from tidegate.github.announce import read_payload, skip, tell_cancelled, tell_failure
from tidegate.github.event import (
    DispatchEvent,
    Event,
    MergeGroupEvent,
    OtherEvent,
    PullRequestEvent,
    PushEvent,
    WorkflowRunEvent,
    nothing_to_do,
    read_event,
)
from tidegate.github.job import Job, Outside
from tidegate.github.settings import GitHubJob, Settings
from tidegate.history.our_folder import OUR_FOLDER
from tidegate.reports.next_steps import CANCELLED, render_error
from tidegate.text.redaction import masked_secrets

__all__ = ["Outside", "act", "report_error"]

SPLIT = ("plan", "shard", "merge", "link")  # commands of the steps and jobs that a pull request is split over
NOT_HISTORY = PullRequestEvent | MergeGroupEvent | WorkflowRunEvent
BUG = "This is a bug in Tidegate. Please report it with the lines of the log."


async def act(outside: Outside) -> int:
    """Handle the event, report the result, and return the exit code. Failing to publish never changes the code.

    Raises TidegateError and CancelledError after reporting them in the step summary and the outputs.
    """
    settings = Settings.valid(outside.environ)
    job = Job(settings, GitHubJob.from_environ(outside.environ), outside)
    event: Event | None = None
    try:
        event = read_event(job.runner.event_name, read_payload(job.runner.event_path))
        Settings.from_environ(outside.environ)  # raises for invalid inputs, now that there is a way to report them
        return await _act(event, job)
    except TidegateError as error:
        await _report(error, event, job)
        raise
    except OSError as error:
        refusal = CannotRunError.of(error)
        await _report(refusal or TidegateError(f"{type(error).__name__}: {error}", BUG), event, job)
        if refusal is None:
            raise
        raise refusal from error
    except asyncio.CancelledError:
        tell_cancelled(job)
        await _note("cancelled", CANCELLED, event, job)
        raise
    except Exception as error:
        await _report(TidegateError(f"{type(error).__name__}: {error}", BUG), event, job)
        raise


def report_error(error: TidegateError, outside: Outside) -> None:
    """Report an error of a command that depends on no event."""
    tell_failure(error, Job(Settings.valid(outside.environ), GitHubJob.from_environ(outside.environ), outside))


async def _report(error: TidegateError, event: Event | None, job: Job) -> None:
    """Report a run that ends without a verdict, in the comment too: it must not show an older commit's green."""
    tell_failure(error, job)
    await _note("it could not be run", render_error(masked_secrets(error.message), error.advice), event, job)


async def _note(why: str, detail: str, event: Event | None, job: Job) -> None:
    """Write it in the comment of the event's pull request. A fork's token cannot write there."""
    if not isinstance(event, PullRequestEvent) or event.action == "closed" or event.without_secrets:
        return
    if job.settings.command in ("plan", "shard", "link"):  # the merge reports what it lacks
        return
    from tidegate.github.comment import NoVerdict
    from tidegate.github.publishing import Subject, comment_on

    said = NoVerdict(instance=job.settings.instance, why=why, detail=detail, cancelled=detail is CANCELLED)
    await comment_on(Subject(event.number, event.head_sha, job.connect()), said, job)


def _require_suitable_command(event: Event, job: Job) -> None:
    """Raise ConfigurationError for inputs that do not go with the event."""
    command, advice = job.settings.command, "docs/github.md has the whole workflow."
    if job.settings.args and command not in ("plan", "shard", "link"):
        raise ConfigurationError(f"input `args`: `{command}` takes none.", advice)
    suits = {
        "publish": isinstance(event, WorkflowRunEvent),
        "history": not isinstance(event, NOT_HISTORY),
        **dict.fromkeys(SPLIT, isinstance(event, PullRequestEvent | MergeGroupEvent)),
    }
    if not suits.get(command, True):
        raise ConfigurationError(f"`{command}` is not for the event `{job.runner.event_name}`.", advice)


async def _act(event: Event, job: Job) -> int:
    """Handle the event, unless it has nothing to do, and return the exit code."""
    _require_suitable_command(event, job)
    if idle := nothing_to_do(event, token=job.settings.github_token is not None):
        return skip("nothing_to_do", idle, job)
    from tidegate.trial.sandbox.users import give_back

    try:
        return await _handled(event, job)
    finally:
        give_back(job.workspace, (OUR_FOLDER, ".git"))


async def _handled(event: Event, job: Job) -> int:
    """Call the event's handler and return its exit code. Handlers are imported only when needed, to start fast."""
    if job.settings.command == "history" or isinstance(event, PushEvent) or event == OtherEvent(name="schedule"):
        from tidegate.github.push import feed_history

        return await feed_history(event, job)
    if job.settings.command in ("plan", "shard") and isinstance(event, PullRequestEvent | MergeGroupEvent):
        from tidegate.github.sharding import plan, screen

        return await (plan(event, job) if job.settings.command == "plan" else screen(event, job))
    if job.settings.command == "link" and isinstance(event, PullRequestEvent | MergeGroupEvent):
        from tidegate.github.publishing import link_report

        return await link_report(event, job)
    match event:
        case PullRequestEvent():
            from tidegate.github.pull_request import compare_pull_request

            return await compare_pull_request(event, job)
        case MergeGroupEvent():
            from tidegate.github.pull_request import compare_merge_group

            return await compare_merge_group(event, job)
        case WorkflowRunEvent():
            from tidegate.github.workflow_run import publish

            return await publish(event, job)
        case DispatchEvent():
            from tidegate.github.workflow_dispatch import run_for_maintainer

            return await run_for_maintainer(event, job)
        case OtherEvent():
            return skip("nothing_to_do", event.explanation, job)
