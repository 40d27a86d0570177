"""Writes outputs, the step summary and annotations, for every way in which a run can end."""

from __future__ import annotations

from pathlib import Path

from tidegate.action.job import Job
from tidegate.errors import TidegateError
from tidegate.gh.comment import Publication
from tidegate.gh.runner_files import append_summary, outputs, write_outputs
from tidegate.gh.workflow_commands import Annotation, Level, annotate
from tidegate.model.comparison import Row
from tidegate.model.result import Result
from tidegate.model.verdict import VerdictReason
from tidegate.reports.comment import render_comment
from tidegate.reports.not_run import render_cancelled, render_could_not_run, render_not_run
from tidegate.reports.trend_chart import render_trends


def tell(result: Result, publication: Publication | None, out: Path, job: Job) -> None:
    """Write the result to annotations, step summary and outputs, and log a comment that could not be published.

    `out` is the folder with the reports, below the workspace.
    """
    annotations = [*_regressions(result), *_no_comment(publication)]
    for line in annotate(annotations):
        job.outside.command(line)
    if publication is not None and publication.problem:
        job.say(f"The comment was not published: {publication.problem}\n{publication.advice}")
    summarise(_without_marker(render_comment(result)), job)
    if trends := render_trends(result):
        summarise(trends, job)
    if job.runner.output is not None:
        folder = out.relative_to(job.workspace)
        paths = {"result_path": f"{folder / 'result.json'}", "report_path": f"{folder / 'report.html'}"}
        write_outputs(job.runner.output, outputs(result, publication.url if publication else None, paths))


def skip(reason: VerdictReason, sentence: str, job: Job) -> int:
    """Report that nothing was run, and return 0, so that a required check does not stay pending."""
    job.say(sentence)
    summarise(render_not_run(reason, sentence), job)
    if job.runner.output is not None:
        write_outputs(job.runner.output, {"verdict": "not_run", "reason": reason})
    return 0


def tell_failure(error: TidegateError, job: Job) -> None:
    """Write an error that ended the run to annotations, step summary and outputs. The log has it already."""
    text = f"{error.message}\n{error.advice}"
    for line in annotate([Annotation(level="error", title="tidegate could not run", message=text)]):
        job.outside.command(line)
    summarise(render_could_not_run(error.message, error.advice), job)
    if job.runner.output is not None:
        write_outputs(job.runner.output, {"verdict": "not_run"})


def tell_cancelled(job: Job) -> None:
    """Write the cancellation to the step summary and the outputs. The log has it already."""
    summarise(render_cancelled(), job)
    if job.runner.output is not None:
        reason: VerdictReason = "cancelled"
        write_outputs(job.runner.output, {"verdict": "not_run", "reason": reason})


def summarise(markdown: str, job: Job) -> None:
    """Append Markdown to the step summary, if the runner has one."""
    if job.runner.step_summary is not None:
        append_summary(job.runner.step_summary, [markdown])


def warn(title: str, message: str, job: Job) -> None:
    """Write a warning to the log and as an annotation."""
    job.say(f"{title}: {message}")
    for line in annotate([Annotation(level="warning", title=title, message=message)]):
        job.outside.command(line)


def _regressions(result: Result) -> list[Annotation]:
    level: Level = "error" if result.verdict.exit_code else "warning"
    return [
        Annotation(level=level, title=f"regressed: {row.key}", message=_message(row))
        for row in result.rows
        if row.state == "regressed"
    ]


def _no_comment(publication: Publication | None) -> list[Annotation]:
    if publication is None or not publication.problem:
        return []
    return [Annotation(level="warning", title="no comment", message=publication.problem)]


def _message(row: Row) -> str:
    evidence = row.evidence.message if row.evidence else ""
    return f"{row.reason}\n{evidence}".strip()


def _without_marker(comment: str) -> str:
    return comment.partition("\n")[2]
