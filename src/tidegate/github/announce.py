"""What the runner's files and log tell of a job: the event payload, step outputs, the step summary, annotations."""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate.errors import ConfigurationError, MissingKeyError, TidegateError
from tidegate.github.job import Job
from tidegate.github.workflow_commands import Annotation, Level, annotate
from tidegate.model.result import VerdictReason
from tidegate.reports.next_steps import render_cancelled, render_could_not_run, render_not_run
from tidegate.text.redaction import masked_secrets

if TYPE_CHECKING:
    from tidegate.github.comment import Publication
    from tidegate.model.cause import Cause, Place
    from tidegate.model.marker import Marker
    from tidegate.model.result import Result

OUTPUTS = (  # of action.yml, in its order
    *("verdict", "reason", "regressions", "improvements", "unconfirmed", "not_measured", "cost_usd", "matrix"),
    *("result_path", "report_path", "comment_url"),
)
_REASON_OF_EXIT = {2: "configuration", 3: "no_scenarios", 4: "cannot_run"}  # any other: a bug


def tell(result: Result, body: str, out: Path, job: Job) -> None:
    """Write the result to annotations, step summary and outputs. Asks GitHub nothing, so it cannot hang.

    `body` is the comment without its marker, `out` the folder with the reports, below the workspace.
    """
    for line in annotate(regressions(result)):
        job.outside.command(line)
    summarise(body, job)
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
            _append(file, f"{masked_secrets(markdown)}\n")


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


def read_payload(path: Path) -> dict[str, Any]:
    """Return the event's payload. Raises ConfigurationError if the file cannot be read."""
    try:
        payload = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigurationError(
            f"the event's payload {path} cannot be read: {error}", "The runner names it in GITHUB_EVENT_PATH."
        ) from None
    return payload if isinstance(payload, dict) else {}


def no_outputs(reason: str) -> dict[str, str]:
    """Return the outputs of a job that compared nothing, for this reason."""
    return {**dict.fromkeys(OUTPUTS, ""), "verdict": "not_run", "reason": reason}


def outputs(result: Result, paths: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the outputs of action.yml. A value that does not exist is '', never 0; `comment_url` is set later.

    `paths` holds `result_path` and `report_path`, relative to the workspace.
    """
    states = Counter(row.state for row in result.rows)
    return {
        **dict.fromkeys(OUTPUTS, ""),
        "verdict": result.verdict.state,
        "reason": result.verdict.reason,
        "regressions": str(states["regressed"]),
        "improvements": str(states["improved"]),
        "unconfirmed": str(states["unconfirmed"]),
        "not_measured": str(states["not_measured"]),
        "cost_usd": "" if result.cost.usd is None else f"{result.cost.usd:.4f}",
        **(paths or {}),
    }


def write_outputs(path: Path, values: Mapping[str, str]) -> None:
    """Append the outputs to the file of GITHUB_OUTPUT. A random delimiter keeps values from adding other outputs."""
    _append(path, "".join(_block(name, value) for name, value in values.items()))


def _block(name: str, value: str) -> str:
    delimiter = f"tidegate_{secrets.token_hex()}"
    return f"{name}<<{delimiter}\n{value}\n{delimiter}\n"


def _append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8", newline="\n") as file:
        file.write(text)


def regressions(result: Result) -> Iterator[Annotation]:
    """Yield one annotation per regressed row. They are errors if the verdict fails the job, and else warnings."""
    level: Level = "error" if result.verdict.exit_code else "warning"
    causes = {key: cause for cause in result.causes for key in cause.rows}
    for row in result.rows:
        if row.state == "regressed":
            evidence = row.evidence.message if row.evidence else ""
            message = f"{row.reason}\n{evidence}".strip()
            annotation = Annotation(level=level, title=f"regressed: {row.key}", message=message)
            place = _place(causes[row.key]) if row.key in causes else None
            yield annotation.model_copy(update={"file": place.path, "line": place.line}) if place else annotation


def _place(cause: Cause) -> Place | None:
    """Return the line of head that most likely needs a change."""
    places = (*cause.still_named, *(edit.added for edit in cause.edits))
    return next((place for place in places if place and place.side == "head"), None)
