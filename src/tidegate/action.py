"""What the container does on an event: both sides, one comment, one exit code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tidegate.errors import ConfigurationError, MissingKeyError, TidegateError
from tidegate.gh.comment import Publication, Run, publish_comment
from tidegate.gh.event import Event, OtherEvent, PullRequestEvent, read_event
from tidegate.gh.port import CommentPort
from tidegate.gh.runner_files import append_summary, outputs, read_payload, write_outputs
from tidegate.gh.workflow_commands import Annotation, annotate
from tidegate.model.comparison import Row
from tidegate.model.progress import Progress
from tidegate.model.result import Result
from tidegate.pipeline import pull_request
from tidegate.reports.comment import render_comment
from tidegate.reports.filters import fenced
from tidegate.revisions import checked_out_sides
from tidegate.settings import Runner, Settings
from tidegate.sides import OUR_FOLDER, Asked, make_our_folder
from tidegate.trial.users import give_back
from tidegate.work import Options

PAUSE_S = 60.0  # before a verification: longer than most bursts of trouble
OUT = "pr"  # below .tidegate in the workspace: of our folders the only one that later steps can see

Connect = Callable[[Settings, Runner, int], CommentPort | None]


@dataclass(frozen=True)
class Outside:
    """The ways out of the process, made in one place."""

    environ: Mapping[str, str]
    progress: Progress
    connect: Connect  # to the comments of a pull request; None without a token
    command: Callable[[str], None]  # one line to the runner, which acts on it
    sleep: Callable[[float], None]


async def act(outside: Outside) -> int:
    """Do what the event asks for, say it everywhere, and return the exit code, which no publishing can change."""
    settings = Settings.from_environ(outside.environ)
    runner = Runner.from_environ(outside.environ)
    try:
        return await _act(settings, runner, outside)
    except TidegateError as error:
        _say_failure(error, runner, outside)
        raise
    finally:
        give_back(runner.workspace, (OUR_FOLDER, ".git"))


async def _act(settings: Settings, runner: Runner, outside: Outside) -> int:
    _refuse_what_would_be_ignored(settings)
    event = read_event(runner.event_name, read_payload(runner.event_path))
    if (why := _nothing_to_run(event, settings)) is not None:
        return _skip(why, runner, outside)
    out = make_our_folder(runner.workspace) / OUT
    try:
        result = await _compared(event, settings, runner, out, outside)
    except MissingKeyError as error:
        if _may_lack_a_key(event, settings):
            return _skip(("fork_without_key", f"No secret reaches this pull request: {error.message}"), runner, outside)
        raise
    publication = None
    if isinstance(event, PullRequestEvent):
        publication = _published(event, result, settings, runner, outside)
    _tell(result, publication, runner, out, outside)
    return result.verdict.exit_code


def _refuse_what_would_be_ignored(settings: Settings) -> None:
    """Inputs that a later version will use; until then only their defaults are true."""
    for name in ("command", "args", "accept_label"):
        if getattr(settings, name) != Settings.model_fields[name].default:
            raise ConfigurationError(f"input `{name}`: nothing but its default is supported yet.", "Leave it out.")


def _nothing_to_run(event: Event, settings: Settings) -> tuple[str, str] | None:
    """The verdict's reason and a sentence for people, where no agent is to be run."""
    if isinstance(event, OtherEvent):
        return "nothing_to_do", event.explanation
    if isinstance(event, PullRequestEvent) and event.draft and settings.drafts == "skip":
        return "draft", "The pull request is a draft, and the input `drafts` says to skip those."
    return None


def _may_lack_a_key(event: Event, settings: Settings) -> bool:
    """A fork has no secrets, and its author can do nothing about it."""
    return isinstance(event, PullRequestEvent) and event.without_secrets and settings.fork_without_key == "pass"


async def _compared(event: Event, settings: Settings, runner: Runner, out: Path, outside: Outside) -> Result:
    options = Options(
        environ=outside.environ,
        progress=outside.progress,
        config=settings.config,
        instance=settings.instance,
        pause_s=PAUSE_S,
    )
    return await pull_request(runner.workspace, _asked(event, runner.workspace), out, options)


def _asked(event: Event, workspace: Path) -> Asked:
    if isinstance(event, PullRequestEvent):
        base, head = checked_out_sides(workspace, event.head_sha, event.base_ref)
        return Asked(base, head, (event.base_ref, event.head_ref))
    assert not isinstance(event, OtherEvent)
    name = event.base_ref.removeprefix("refs/heads/")
    return Asked(event.base_sha, "HEAD", (name, "merge queue"))


def _published(
    event: PullRequestEvent, result: Result, settings: Settings, runner: Runner, outside: Outside
) -> Publication:
    if settings.dry_run:
        return Publication(outcome="off")
    port = outside.connect(settings, runner, event.number)
    if port is None:
        advice = "Set the input `github_token`; its default is the job's own token."
        return Publication(outcome="failed", problem="there is no token to comment with.", advice=advice)
    run = Run(id=runner.run_id, attempt=runner.run_attempt)
    return publish_comment(port, result, run, settings.comment, outside.sleep)


def _tell(result: Result, publication: Publication | None, runner: Runner, out: Path, outside: Outside) -> None:
    """Outputs, step summary, annotations, and what became of the comment."""
    for line in annotate(_annotations(result, publication)):
        outside.command(line)
    if publication is not None and publication.problem:
        outside.progress.say(f"The comment was not published: {publication.problem}\n{publication.advice}")
    if runner.step_summary is not None:
        append_summary(runner.step_summary, [_without_marker(render_comment(result))])
    if runner.output is not None:
        folder = out.relative_to(runner.workspace)
        paths = {"result_path": f"{folder / 'result.json'}", "report_path": f"{folder / 'report.html'}"}
        write_outputs(runner.output, outputs(result, publication.url if publication else None, paths))


def _annotations(result: Result, publication: Publication | None) -> list[Annotation]:
    found = [
        Annotation(level="error", title=f"regressed: {row.scenario} × {row.agent}", message=_message(row))
        for row in result.rows
        if row.state == "regressed"
    ]
    if publication is not None and publication.problem:
        found.append(Annotation(level="warning", title="no comment", message=publication.problem))
    return found


def _message(row: Row) -> str:
    evidence = row.evidence.message if row.evidence else ""
    return f"{row.reason}\n{evidence}".strip()


def _skip(why: tuple[str, str], runner: Runner, outside: Outside) -> int:
    """Say that nothing was run, so that a required check reports; that is neither a pass nor a failure."""
    reason, sentence = why
    outside.progress.say(sentence)
    if runner.step_summary is not None:
        append_summary(runner.step_summary, [f"## ⏭️ Tidegate: not run\n\n{sentence}"])
    if runner.output is not None:
        write_outputs(runner.output, {"verdict": "not_run", "reason": reason})
    return 0


def _say_failure(error: TidegateError, runner: Runner, outside: Outside) -> None:
    """A run that could not go on, where people look for it; the log has it anyway."""
    text = f"{error.message}\n{error.advice}"
    for line in annotate([Annotation(level="error", title="tidegate could not run", message=text)]):
        outside.command(line)
    if runner.step_summary is not None:
        append_summary(runner.step_summary, [f"## ⛔ Tidegate could not run\n\n{fenced(text)}"])
    if runner.output is not None:
        write_outputs(runner.output, {"verdict": "not_run"})


def _without_marker(comment: str) -> str:
    return comment.partition("\n")[2]
