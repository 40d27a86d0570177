"""Render report.html: a self-contained file with the result and its trials' records. It works offline."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from tidegate.model.measurement import TrialResult
from tidegate.model.result import Result
from tidegate.model.trial import Record, Side
from tidegate.reports.page import PageView, page_view
from tidegate.reports.page_size import fitting
from tidegate.reports.transcript_steps import steps
from tidegate.text.safe import visible

if TYPE_CHECKING:
    from jinja2 import Environment

MAX_BYTES = 5_000_000
_RESERVE = 100_000  # bytes for the template's own text
_DIFF_CHARACTERS = 60_000
_SCRIPTS = ("dom", "plots", "changes", "opinions", "overview", "scenario", "compare", "main")

ReadRecord = Callable[[TrialResult], Record]


def render_html(result: Result, read: ReadRecord, folders: Mapping[Side, str]) -> str:
    """Return the page, in at most 5 MB.

    `read` returns the record of a trial. Records are compressed, the most important rows first. A record that does not
    fit is omitted, and the page gives its path: `folders` has each side's run folder, relative to the page.
    """
    view = page_view(result, folders)
    data = _as_json(view.model_dump(mode="json"))
    room = MAX_BYTES - _RESERVE - len(data.encode())
    if room < 0:
        view = fitting(view, MAX_BYTES - 2 * _RESERVE)
        data = _as_json(view.model_dump(mode="json"))
        room = MAX_BYTES - _RESERVE - len(data.encode())
    environment = _environment()
    script = "\n".join(_source(f"page/{name}.js") for name in _SCRIPTS)
    style = _source("page/style.css")
    return environment.get_template("page/report.html.j2").render(
        title=visible(view.title),
        summary=visible(view.summary),
        policy=_policy(script, style),
        script=script,
        style=style,
        data=data,
        records=_as_json(_packed(result, view, read, room)),
    )


def _packed(result: Result, view: PageView, read: ReadRecord, room: int) -> dict[str, str]:
    """Return trial id → record, as JSON in zlib format (RFC 1950) in base64; as many as fit into `room` bytes."""
    rank = {(row.scenario, row.agent): place for place, row in enumerate(view.rows)}
    packed: dict[str, str] = {}
    for trial in sorted(result.trials, key=lambda trial: rank.get((trial.scenario, trial.agent), len(rank))):
        text = base64.b64encode(zlib.compress(_as_json(_record(trial, read(trial))).encode(), 9)).decode()
        room -= len(text) + len(trial.id.encode()) + len('"":"",')
        if room < 0:
            break
        packed[trial.id] = text
    return packed


def _record(trial: TrialResult, record: Record) -> dict[str, Any]:
    left_out = len(record.diff) - _DIFF_CHARACTERS
    cut = f"\n… {left_out:,} characters left out" if left_out > 0 else ""
    return {
        "steps": [step.model_dump() for step in steps(record.events, trial.calls)],
        "calls": [call.model_dump() for call in trial.calls],
        "gates": [gate.model_dump(include={"label", "passed", "required", "message"}) for gate in trial.gates],
        "evaluators": [scored.model_dump(exclude={"metrics"}) for scored in trial.evaluators],
        "judge": trial.judge.model_dump(include={"weighted_score", "reason", "judgement"}) if trial.judge else None,
        "warnings": [*trial.warnings, *filter(None, [record.problem])],
        "diff": record.diff[:_DIFF_CHARACTERS] + cut,
    }


def _as_json(value: Any) -> str:
    """Return JSON that is safe inside a script block, with invisible and control characters made visible."""
    text = json.dumps(_visible(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")


def _visible(value: Any) -> Any:
    match value:
        case str():
            return visible(value)
        case dict():
            return {visible(str(key)): _visible(item) for key, item in value.items()}
        case list() | tuple():
            return [_visible(item) for item in value]
        case _:
            return value


def _policy(script: str, style: str) -> str:
    """Return a Content-Security-Policy that allows only this page's script and style, by their hashes."""
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(loader=PackageLoader("tidegate.templates", ""), undefined=StrictUndefined, autoescape=True)


def _source(name: str) -> str:
    environment = _environment()
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0].strip()
