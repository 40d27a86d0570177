"""Handles `issue_comment`: carries out `/tidegate …` for people with write access.

Anyone can write a comment, and a command may be older than the commit that it would now apply to.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from tidegate.errors import CannotRunError, ConfigurationError
from tidegate.github.acceptance import UNPROVEN
from tidegate.github.announce import skip
from tidegate.github.artifact import PoisonedError, read_result
from tidegate.github.comment import our_comments
from tidegate.github.event import CommentEvent
from tidegate.github.job import Job
from tidegate.github.port import Comment, PublishError, PullRequest, RepositoryPort, Run
from tidegate.github.slash_command import USAGE, SlashCommand, accepted_record, parse_command
from tidegate.github.workflow_run import NOTICE, archive
from tidegate.model.marker import Marker
from tidegate.reports.comment import explanation
from tidegate.reports.filters import code
from tidegate.reports.links import links_of


@dataclass(frozen=True)
class _Answer:
    """The outcome of a command. `text` is Markdown; '' if the answer was written already."""

    done: bool
    text: str


@dataclass(frozen=True)
class _Thread:
    """The pull request as it is now, with our comments that have a verdict or the reason for none."""

    event: CommentEvent
    pull: PullRequest
    ours: tuple[tuple[Marker, Comment], ...]
    viewer: str
    stands: bool  # the comment with the command is as it was when it was written
    repository: RepositoryPort
    job: Job

    @property
    def on_head(self) -> tuple[tuple[Marker, Comment], ...]:
        """Our comments on the current head, one per instance."""
        return tuple((marker, comment) for marker, comment in self.ours if marker.head == self.pull.head_sha)

    @property
    def head(self) -> str:
        """The current head as Markdown."""
        return code(self.pull.head_sha[:7])


async def obey(event: CommentEvent, job: Job) -> int:
    """Carry out the command in the comment, answer it there, and return 0. Other comments are ignored."""
    command = parse_command(event.body)
    assert command is not None  # nothing_to_do() has seen it
    repository = job.connect()
    if repository is None:
        raise ConfigurationError("there is no token to ask GitHub with.", "Set the input `github_token`.")
    try:
        sentence = await job.deadline.ask(lambda: _obey(event, command, repository, job))
    except PublishError as error:
        raise CannotRunError(f"the command was not carried out: {error.message}", error.advice) from error
    return skip("nothing_to_do", sentence, job)


def _obey(event: CommentEvent, command: SlashCommand, repository: RepositoryPort, job: Job) -> str:
    """Carry out the command if its author may, and leave a reaction. Return a sentence for the log."""
    may = repository.may_write(event.author)
    if job.settings.dry_run:
        return f"Dry run: `{command.verb}` by `{event.author}` would be {'carried out' if may else 'refused'}."
    if not may:
        repository.react(event.comment, "-1")
        return f"`{event.author}` may not push to this repository: nothing was done."
    try:
        answer = _answer(command, _thread(event, repository, job))
        if answer.text:
            repository.comments(event.number).create_comment(answer.text)
        repository.react(event.comment, "+1" if answer.done else "confused")
    except PublishError:
        with suppress(PublishError):
            repository.react(event.comment, "confused")
        raise
    return f"`{command.verb}` by `{event.author}` was {'carried out' if answer.done else 'refused'}. {answer.text}"


def _thread(event: CommentEvent, repository: RepositoryPort, job: Job) -> _Thread:
    port = repository.comments(event.number)
    viewer, comments = port.viewer(), port.list_comments()
    written = next((one for one in comments if one.id == event.comment), None)
    stands = written is not None and (written.author, written.body) == (event.author, event.body)
    ours = tuple(our_comments(comments, viewer))
    return _Thread(event, repository.pull_request(event.number), ours, viewer, stands, repository, job)


def _answer(command: SlashCommand, thread: _Thread) -> _Answer:
    if not thread.stands:
        return _Answer(False, "The comment was changed or deleted before it was read: write a new one.")
    if not thread.pull.is_open:
        return _Answer(False, "The pull request is closed.")
    match command.verb:
        case "rerun":
            return _rerun(command.scenario, thread)
        case "accept":
            return _accept(command.scenario, thread)
        case "explain":
            return _explain(command.scenario, thread)
        case _:
            return _Answer(False, f"The commands are {USAGE}.")


def _rerun(scenario: str, thread: _Thread) -> _Answer:
    run = _run_of_head(thread)
    if isinstance(run, _Answer):
        return run
    thread.repository.rerun(run.id)
    whole = " It compares all scenarios, since a part of them proves nothing." if scenario else ""
    return _Answer(True, f"[The run]({run.url}) on {thread.head} has been started again.{whole}")


def _accept(scenario: str, thread: _Thread) -> _Answer:
    """Record the acceptance for the commit whose verdict the author has seen, and run that commit again."""
    if (why := _unacceptable(scenario, thread)) is not None:
        return _Answer(False, why)
    run = _run_of_head(thread)
    if isinstance(run, _Answer):
        return run
    event, repository, label = thread.event, thread.repository, thread.job.settings.accept_label
    what = f"What got worse in {code(scenario)}" if scenario else "What got worse"
    record = accepted_record(event.comment, thread.pull.head_sha)
    said = f"{what} at {thread.head} is accepted by {code(event.author)}. It counts when [the run]({run.url}),"
    repository.comments(event.number).create_comment(f"{record}\n{said} which starts again now, has ended.")
    if label.casefold() in (name.casefold() for name in thread.pull.labels):
        repository.remove_label(event.number, label)  # GitHub remembers only who set it when it was not set
    repository.add_label(event.number, label)
    repository.rerun(run.id)
    return _Answer(True, "")


def _unacceptable(scenario: str, thread: _Thread) -> str | None:
    """Return why nothing can be accepted, or None. What is accepted is what our comment showed to the author."""
    if not thread.viewer.endswith("[bot]"):
        return "This needs the job's own token, and `github_token` is a person's. Set the label by hand."
    if not thread.on_head:
        return f"There is no verdict on {thread.head} yet: read it when it is there, and write a new comment."
    if any(not comment.updated_at < thread.event.created_at for _, comment in thread.on_head):
        return f"The verdict on {thread.head} is newer than your comment: read it, and write a new comment."
    if not any(_blocks(marker) for marker, _ in thread.on_head):
        return f"Nothing at {thread.head} has to be accepted."
    worse = {row.scenario for marker, _ in thread.on_head for row in marker.regressed}
    if scenario and worse != {scenario}:
        names = ", ".join(map(code, sorted(worse))) or "no scenario"
        return f"At {thread.head}, what got worse is {names}. `/tidegate accept` without a name accepts all of it."
    return None


def _blocks(marker: Marker) -> bool:
    """Return True if the verdict can be accepted. That of a fork's own run has no exit code."""
    unproven = marker.verdict == "inconclusive" and marker.exit_code in (None, UNPROVEN)
    return marker.verdict == "failed" or unproven


def _run_of_head(thread: _Thread) -> Run | _Answer:
    """Return the run that compared the current head or, if it wrote no comment, the newest of the same workflow."""
    known = [marker for marker, _ in thread.on_head or thread.ours if marker.run]
    if not known:
        return _Answer(False, "Tidegate has no comment here that names its run: start it again under Checks.")
    run = thread.repository.run(max(known, key=lambda marker: marker.age).run)
    if run.event != "pull_request" or run.head_sha != thread.pull.head_sha:
        runs = thread.repository.pull_request_runs(run.workflow, thread.pull.head_sha)
        if not runs:
            return _Answer(False, f"There is no run on {thread.head} that a pull request started.")
        run = runs[0]
    if not run.completed:
        return _Answer(False, f"[The run]({run.url}) on {thread.head} has not ended yet: write a new comment then.")
    return run


def _explain(scenario: str, thread: _Thread) -> _Answer:
    """Show the scenario's results from the uploaded results of the newest runs."""
    known: set[str] = set()
    for marker, _ in thread.on_head or thread.ours:
        found = archive(marker.run, marker.instance, thread.repository)
        if found is None:
            continue
        try:
            result = read_result(found[1], marker.instance, ours=marker.exit_code is not None)
        except PoisonedError as error:
            return _Answer(False, f"The uploaded result cannot be shown: {code(str(error))}.")
        url = thread.job.runner.repository_url
        pages = links_of(result, url, f"{url}/actions/runs/{marker.run}", found[0])
        notice = "" if marker.exit_code is not None else NOTICE
        if text := explanation(result, scenario, pages, notice):
            return _Answer(True, text)
        known |= {row.scenario for row in result.rows}
    if not known:
        return _Answer(False, "No run on this pull request has uploaded a result that GitHub still has.")
    names = ", ".join(code(name, 80) for name in sorted(known)[:50])
    return _Answer(False, f"There is no scenario {code(scenario, 80)}. These were compared: {names}.")
