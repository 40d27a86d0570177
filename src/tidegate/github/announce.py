"""Writes outputs, the step summary and annotations, for every way in which a run can end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate.errors import MissingKeyError, TidegateError
from tidegate.github.job import Job
from tidegate.github.runner_files import append_summary, no_outputs, outputs, write_outputs
from tidegate.github.workflow_commands import Annotation, annotate
from tidegate.model.result import VerdictReason
from tidegate.reports.next_steps import render_cancelled, render_could_not_run, render_not_run

if TYPE_CHECKING:
    from tidegate.github.comment import Publication
    from tidegate.model.marker import Marker
    from tidegate.model.result import Result

_REASON_OF_EXIT = {2: "configuration", 3: "no_scenarios", 4: "cannot_run"}  # any other: a bug


def tell(result: Result, body: str, out: Path, job: Job) -> None:
    """Write the result to annotations, step summary and outputs. Asks GitHub nothing, so it cannot hang.

    `body` is the comment without its marker, `out` the folder with the reports, below the workspace.
    """
    from tidegate.github.annotations import regressions
    from tidegate.reports.trend_chart import render_trends

    for line in annotate(regressions(result, job.workspace)):
        job.outside.command(line)
    summarise(body, job)
    if trends := render_trends(result):
        summarise(trends, job)
    folder = out.relative_to(job.runner.workspace.resolve())
    paths = {"result_path": f"{folder / 'result.json'}", "report_path": f"{folder / 'report.html'}"}
    _set_outputs(outputs(result, paths), job)


def tell_publication(publication: Publication, job: Job) -> None:
    """Write the comment's address to the outputs. A comment that could not be published is a warning."""
    if publication.problem:
        warn("no comment", f"the comment was not published: {publication.problem}", job, publication.advice)
    _set_outputs({"comment_url": publication.url or ""}, job)


def skip(reason: VerdictReason, sentence: str, job: Job) -> int:
    """Report that nothing was run, and return 0, so that a required check does not stay pending."""
    job.say(sentence)
    summarise(render_not_run(reason, sentence), job)
    tell_no_verdict(reason, job)
    return 0


def tell_matrix(matrix: str, sentence: str, job: Job) -> None:
    """Write the matrix of shards to the outputs, and a sentence about it to the log and the summary."""
    job.say(sentence)
    summarise(f"Tidegate: {sentence}", job)
    _set_outputs({**no_outputs(""), "verdict": "", "matrix": matrix}, job)


def tell_no_verdict(reason: str, job: Job) -> None:
    """Write the outputs of a job that compared nothing."""
    _set_outputs(no_outputs(reason), job)


def tell_failure(error: TidegateError, job: Job) -> None:
    """Write an error that ends the run to annotations, step summary and outputs. The caller writes it to the log."""
    text = f"{error.message}\n{error.advice}"
    for line in annotate([Annotation(level="error", title="tidegate could not run", message=text)]):
        job.outside.command(line)
    summarise(render_could_not_run(error.message, error.advice), job)
    of_exit = _REASON_OF_EXIT.get(error.exit_code, "internal_error")
    tell_no_verdict("missing_key" if isinstance(error, MissingKeyError) else of_exit, job)


def tell_cancelled(job: Job) -> None:
    """Write the cancellation to the step summary and the outputs. The caller writes it to the log."""
    summarise(render_cancelled(), job)
    tell_no_verdict("cancelled", job)


def tell_standing(marker: Marker, comment_url: str, job: Job) -> None:
    """Write the outputs of a job that repeats the verdict in our comment."""
    regressions = str(len(marker.regressed))
    known = {"verdict": marker.verdict, "regressions": regressions, "comment_url": comment_url}
    _set_outputs({**no_outputs(marker.reason), **known}, job)


def summarise(markdown: str, job: Job) -> None:
    """Append Markdown to the step summary, if the runner has one."""
    if (file := job.runner.step_summary) is not None:
        with _unless_refused("summary", job):
            append_summary(file, [markdown])


def warn(title: str, message: str, job: Job, advice: str = "") -> None:
    """Write a warning to the log and as an annotation. Only the log has the advice."""
    job.say(f"{title}: {message}\n{advice}".rstrip())
    for line in annotate([Annotation(level="warning", title=title, message=message)]):
        job.outside.command(line)


def _set_outputs(values: Mapping[str, str], job: Job) -> None:
    if (file := job.runner.output) is not None:
        with _unless_refused("outputs", job):
            write_outputs(file, values)


@contextmanager
def _unless_refused(what: str, job: Job) -> Iterator[None]:
    """Warn if the runner's file cannot be written, such as on a full disk: that never decides how the job ends."""
    try:
        yield
    except OSError as error:
        warn(f"no {what}", f"the step's {what} could not be written: {error}", job)
