"""Render report.html: a self-contained file with the result and its trials' records. It works offline."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from tidegate.model.cause import Cause, Fix
from tidegate.model.comparison import SuiteEffect
from tidegate.model.measurement import by_row
from tidegate.model.plan import row_key
from tidegate.model.result import Cost, FileChange, Result
from tidegate.model.trial_spec import Side
from tidegate.model.value import Value
from tidegate.reports.cause_text import cause_diff, says
from tidegate.reports.comment import fix_text
from tidegate.reports.filters import count, number, percent, seconds, words
from tidegate.reports.for_agent import for_agent
from tidegate.reports.interface_text import headlines, sections
from tidegate.reports.judge_summary import judge_facts
from tidegate.reports.model_filters import change_line, sign, spent
from tidegate.reports.page_records import Block, ReadRecord, packed, packed_records
from tidegate.reports.page_row import MetricLine, PageOf, RowView, page_columns, row_path, row_view, suite_metrics
from tidegate.reports.view import CommentView, comment_view

if TYPE_CHECKING:
    from jinja2 import Environment


MAX_BYTES = 5_000_000
SCRIPTS = (
    *("dom", "store", "causes", "plots", "changes", "opinions", "search", "overview", "scenario", "trials"),
    *("compare", "align", "main"),
)


def render_html(result: Result, read: ReadRecord, folders: Mapping[Side, str]) -> str:
    """Return the page.

    `read` returns the record of a trial. Records are compressed, the most important rows first. What does not fit into
    about 5 MB is omitted, and the page gives its path: `folders` has each side's run folder, relative to the page.
    """
    view = page_view(result, folders)
    texts, data = packed(view)
    room = MAX_BYTES - len(_page(texts, data, ()).encode())
    rows = [row_key(row.scenario, row.agent) for row in view.rows]
    return _page(texts, data, packed_records(result.trials, read, rows, room))


def _page(texts: Any, data: str, records: Sequence[Block]) -> str:
    script = "\n".join(source(f"page/{name}.js") for name in SCRIPTS)
    style = source("page/style.css")
    return (
        environment()
        .get_template("page/report.html.j2")
        .render(
            view=texts,
            policy=_policy(script, style),
            script=script,
            style=style,
            data=data,
            records=json.dumps(records, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"),
        )
    )


def _policy(script: str, style: str) -> str:
    """Return a Content-Security-Policy that allows only this page's script and style, by their hashes."""
    return (
        f"default-src 'none'; script-src '{hash_of(script)}'; style-src '{hash_of(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def hash_of(text: str) -> str:
    """Return the hash of a script or style, as a Content-Security-Policy names it."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def environment() -> Environment:
    """Return the templates of pages, which escape all texts."""
    from jinja2 import Environment

    from tidegate.text.own_templates import environment_of_templates

    return environment_of_templates(Environment, autoescape=True)


def source(name: str) -> str:
    """Return the text of a file in the folder of templates."""
    found = environment()
    assert found.loader is not None
    return found.loader.get_source(found, name)[0].strip()


class CauseView(Value):
    """A likely cause. `where` and `diff`: the changed lines; `named`: lines that still use what is gone."""

    says: str  # with code between backticks
    where: str
    diff: str
    named: dict[str, str]  # by `path:line`
    fix: str  # how to fix the regression, with code between backticks; '' if unknown
    paths: tuple[str, ...]  # of the rows that it explains


class PageView(Value):
    """The whole report. `folders`: each side's run folder, relative to the report; '' if unknown."""

    title: str
    sign: str
    state: str
    summary: str
    notes: tuple[str, ...]
    causes: tuple[CauseView, ...]
    advice: tuple[str, ...]  # with code between backticks
    columns: tuple[str, ...]
    rows: tuple[RowView, ...]
    definitions: tuple[str, ...]
    interface: tuple[tuple[str, list[str]], ...]  # a title and its lines
    changes: tuple[FileChange, ...]
    suite: SuiteEffect
    suite_text: str
    suite_metrics: tuple[MetricLine, ...]
    warnings: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    folders: dict[Side, str]
    for_agent: str  # a text for a coding agent that fixes the regressions; '' if there are none


def page_view(result: Result, folders: Mapping[Side, str]) -> PageView:
    """Return the view, with the rows that got worse first."""
    view = comment_view(result)
    verdict = view.verdict
    trials = by_row(result.trials)
    columns = page_columns(view)
    return PageView(
        title=f"Tidegate: {words(verdict.state)}" + (f" ({view.instance})" if view.instance != "default" else ""),
        sign=sign(verdict.state),
        state=words(verdict.state),
        summary=verdict.summary,
        notes=tuple(_notes(view)),
        causes=tuple(_cause(cause, view) for cause in view.causes),
        advice=(*_fix(result.fix), *view.next_steps),
        columns=tuple(title for title, _ in columns.values()),
        rows=tuple(row_view(line, PageOf(view, result, columns), trials[line.row.key]) for line in view.table),
        definitions=tuple(map(change_line, view.definitions)),
        interface=tuple((f"{title} · {one.tool}", lines) for one in view.interfaces for title, lines in sections(one)),
        changes=result.changes,
        suite=view.suite,
        suite_text=view.suite_text,
        suite_metrics=tuple(suite_metrics(result)),
        warnings=view.warnings,
        facts=tuple(_facts(result)),
        folders=dict(folders),
        for_agent=for_agent(result),
    )


def _cause(cause: Cause, view: CommentView) -> CauseView:
    regressed = {line.row.key for line in view.table if line.row.state == "regressed"}
    return CauseView(
        says=says(cause),
        where=", ".join(edit.at.where for edit in cause.edits if edit.at),
        diff=cause_diff(cause),
        named={place.where: place.text for place in (*cause.still_named, *cause.checked_in)},
        fix=fix_text(cause, view) if regressed.intersection(cause.rows) else "",
        paths=tuple(map(row_path, cause.rows)),
    )


def _fix(fix: Fix | None) -> Iterable[str]:
    """Yield the step that applies the edit that was tried."""
    if fix:
        yield f"An edit of the docs makes {count(len(fix.rows), 'row')} pass (tried). `tidegate fix` applies fix.patch."


def _notes(view: CommentView) -> Iterable[str]:
    verdict = view.verdict
    if verdict.accepted_by:
        yield f"Accepted by {verdict.accepted_by}: the findings do not block this pull request."
    if verdict.mode == "advisory":
        blocked = "been blocked" if verdict.would_block else "passed"
        why = f"{verdict.why_advisory}, so " if verdict.why_advisory else ""
        yield f"Advisory: {why}nothing is blocked. In blocking mode this pull request would have {blocked}."
    yield from view.reasons
    yield from (said for one in view.interfaces for said in headlines(one))


def _facts(result: Result) -> Iterable[tuple[str, str]]:
    base, head, cost = result.sides.base, result.sides.head, result.cost
    origin = "run now" if base.origin == "run" else f"{base.origin}, {count(base.history_trials, 'trial')}"
    yield "base", f"{base.ref} {base.sha[:12]} ({origin})"
    yield "head", f"{head.ref} {head.sha[:12]}"
    for name, agent in result.agents.items():
        yield f"agent {name}", " ".join(filter(None, (agent.type, agent.model, agent.version)))
    if result.judge:
        yield from judge_facts(result.judge)
    yield from _cost(cost)
    if result.confinement:
        yield "isolation", ", ".join(result.confinement)
    yield "Tidegate", result.tidegate_version


def _cost(cost: Cost) -> Iterable[tuple[str, str]]:
    yield "trials", f"{cost.trials.base} on base, {cost.trials.head} on head"
    yield "time", seconds(cost.seconds)
    if cost.usd is not None:
        yield "cost", spent(cost)
    if cost.tokens_in is not None or cost.tokens_out is not None:
        about = "about " if cost.tokens_guessed else ""
        yield "tokens", f"{about}{number(cost.tokens_in)} in, {number(cost.tokens_out)} out"
    if cost.budget_used is not None:
        yield "budget used", percent(cost.budget_used)
