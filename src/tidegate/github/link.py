"""Puts the address of the uploaded report into our comment and check run, which are written before the upload."""

from __future__ import annotations

from tidegate.errors import ConfigurationError
from tidegate.github.announce import warn
from tidegate.github.comment import standing_comment
from tidegate.github.event import MergeGroupEvent, PullRequestEvent
from tidegate.github.job import Job
from tidegate.github.port import PublishError, RepositoryPort
from tidegate.model.marker import Marker


async def link_report(event: PullRequestEvent | MergeGroupEvent, job: Job) -> int:
    """Replace the links to the run's list of artifacts by the address in the input `args`. Return 0.

    Failing is a warning: the comment keeps its link to the list. A merge group has no comment.
    """
    address, repository = job.settings.args.strip(), job.connect()
    if not address.startswith(f"{job.runner.run_url}/artifacts/"):
        raise ConfigurationError(
            f"input `args`: `{address}` is not the address of an artifact of this run.",
            "It is the output `artifact-url` of actions/upload-artifact.",
        )
    if isinstance(event, MergeGroupEvent) or repository is None or event.without_secrets or job.settings.dry_run:
        job.say("No link is changed: there is no comment, the token cannot write, or this is a dry run.")
        return 0
    try:
        await job.deadline.ask(lambda: _link(event.number, event.head_sha, address, repository, job))
    except PublishError as error:
        warn("no link", f"the comment has no link to the report: {error.message}", job, error.advice)
    return 0


def _link(number: int, head_sha: str, address: str, repository: RepositoryPort, job: Job) -> None:
    listed = f"{job.runner.run_url}#artifacts"
    port = repository.comments(number)
    comment = standing_comment(port, job.settings.instance)
    marker = Marker.parse(comment.body) if comment else None
    if comment and marker and marker.run == job.runner.run_id and listed in comment.body:
        port.update_comment(comment.id, comment.body.replace(listed, address))
    if job.check is not None:
        repository.replace_in_check(job.check.of(head_sha, job), listed, address)
