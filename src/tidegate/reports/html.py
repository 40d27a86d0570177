"""Render report.html: a self-contained file with the result and its trials' records. It works offline."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from tidegate.model.result import Result
from tidegate.model.trial_spec import Side
from tidegate.reports.page import PageView, page_view
from tidegate.reports.page_records import Block, ReadRecord, kept_trials, packed, packed_records

if TYPE_CHECKING:
    from jinja2 import Environment

from tidegate.reports.filters import count
from tidegate.reports.page_row import RowView

_DETAILS = {"trials": (), "metrics": (), "gates": (), "subcommands": (), "facts": ()}
MAX_BYTES = 5_000_000
SCRIPTS = (
    *("dom", "store", "copy", "causes", "plots", "timeline", "changes", "opinions", "search", "overview"),
    *("scenario", "trials", "compare", "align", "keys", "main"),
)


def render_html(result: Result, read: ReadRecord, folders: Mapping[Side, str], *, live: bool = False) -> str:
    """Return the page, in at most 5 MB.

    `read` returns the record of a trial. Records are compressed, the most important rows first. A record that does not
    fit is omitted, and the page gives its path: `folders` has each side's run folder, relative to the page. A `live`
    page asks its own server for the state of the run, and reloads when it changes.
    """
    view = page_view(result, folders)
    kept = kept_trials(result.trials, view.rows)
    view = _with_note(view, sum(map(len, kept.values())), len(result.trials))
    room = MAX_BYTES
    content = packed(view)
    while (size := len(_page(*content, (), live).encode())) > MAX_BYTES and room > 1:
        room //= 2
        view = fitting(view, room)
        content = packed(view)
    return _page(*content, packed_records(result.trials, read, kept, MAX_BYTES - size), live)


def _with_note(view: PageView, kept: int, trials: int) -> PageView:
    """Return the view with a warning if the page has no transcripts of some trials, whatever their size."""
    if kept == trials:
        return view
    note = (
        f"transcripts of {kept:,} of {trials:,} trials: all of rows with findings, and one of each side of others, as"
        " far as they fit on this page; the stored runs have all"
    )
    return view.model_copy(update={"warnings": (*view.warnings, note)})


def _page(texts: Any, data: str, records: Sequence[Block], live: bool) -> str:
    script = "\n".join(source(f"page/{name}.js") for name in (*SCRIPTS, *(("live",) if live else ())))
    style = source("page/style.css")
    return (
        environment()
        .get_template("page/report.html.j2")
        .render(
            view=texts,
            policy=_policy(script, style) + ("; connect-src 'self'" if live else ""),
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


def fitting(view: PageView, room: int) -> PageView:
    """Return the view with at most about `room` bytes of JSON.

    A warning counts the rows that are shortened or left out.
    """
    rows = list(view.rows)
    over = _size(view) - room
    short = 0
    while over > 0 and short < len(rows):
        short += 1
        row = rows[-short]
        rows[-short] = row.model_copy(update=_DETAILS)
        over -= _size(row) - _size(rows[-short])
    gone = 0
    while over > 0 and rows:
        gone += 1
        over -= _size(rows.pop())
    if not short:
        return view
    said = f"{count(short, 'row')} without trials and metrics on this page (5 MB limit); result.json has them"
    said += f"; {count(gone, 'row')} left out" if gone else ""
    return view.model_copy(update={"rows": tuple(rows), "warnings": (*view.warnings, said)})


def _size(view: PageView | RowView) -> int:
    return len(json.dumps(view.model_dump(mode="json"), ensure_ascii=False, separators=(",", ":")).encode())
