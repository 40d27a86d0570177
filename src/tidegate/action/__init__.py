"""Handles the event that started the container: dispatches it to the event's module and reports every failure."""

from __future__ import annotations

import asyncio

from tidegate.action.announce import skip, tell_cancelled, tell_failure
from tidegate.action.job import Job, Outside
from tidegate.errors import CannotRunError, ConfigurationError, TidegateError
from tidegate.gh.event import (
    DispatchEvent,
    Event,
    MergeGroupEvent,
    OtherEvent,
    PullRequestEvent,
    PushEvent,
    WorkflowRunEvent,
    read_event,
)
from tidegate.gh.runner_files import read_payload
from tidegate.settings import GitHubJob, Settings
from tidegate.store.our_folder import OUR_FOLDER
from tidegate.trial.users import give_back

__all__ = ["Outside", "act"]


async def act(outside: Outside) -> int:
    """Handle the event, report the result, and return the exit code. Failing to publish never changes the code.

    Raises TidegateError and CancelledError after reporting them in the step summary and the outputs.
    """
    settings = Settings.from_environ(outside.environ)
    job = Job(settings, GitHubJob.from_environ(outside.environ), outside)
    try:
        return await _act(read_event(job.runner.event_name, read_payload(job.runner.event_path)), job)
    except TidegateError as error:
        tell_failure(error, job)
        raise
    except OSError as error:
        if (refusal := CannotRunError.of(error)) is None:
            raise
        tell_failure(refusal, job)
        raise refusal from error
    except asyncio.CancelledError:
        tell_cancelled(job)
        raise
    finally:
        give_back(job.workspace, (OUR_FOLDER, ".git"))


async def _act(event: Event, job: Job) -> int:
    """Call the event's handler and return its exit code. Handlers are imported only when needed, to start fast."""
    if job.settings.args:
        raise ConfigurationError(
            f"input `args`: `{job.settings.command}` takes none.", "It is for the commands that people have, as `run`."
        )
    if job.settings.command == "publish" and not isinstance(event, WorkflowRunEvent):
        raise ConfigurationError(
            f"`publish` is for the event `workflow_run`, and this is `{job.runner.event_name}`.",
            "docs/github.md has the whole workflow.",
        )
    if job.settings.command == "history" and isinstance(event, PullRequestEvent | MergeGroupEvent | WorkflowRunEvent):
        raise ConfigurationError(
            f"`history` is fed by the default branch alone, and this is `{job.runner.event_name}`.",
            "docs/github.md has the whole workflow.",
        )
    if job.settings.command == "history" or isinstance(event, PushEvent) or event == OtherEvent(name="schedule"):
        from tidegate.action.push import feed_history

        return await feed_history(event, job)
    match event:
        case PullRequestEvent():
            from tidegate.action.pull_request import compare_pull_request

            return await compare_pull_request(event, job)
        case MergeGroupEvent():
            from tidegate.action.pull_request import compare_merge_group

            return await compare_merge_group(event, job)
        case WorkflowRunEvent():
            from tidegate.action.workflow_run import publish

            return publish(event, job)
        case DispatchEvent():
            from tidegate.action.workflow_dispatch import run_for_maintainer

            return await run_for_maintainer(event, job)
        case OtherEvent():
            return skip("nothing_to_do", event.explanation, job)
