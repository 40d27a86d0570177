"""Render all results of one scenario, as the answer to a comment that asks for them."""

from __future__ import annotations

from tidegate.model.result import Result
from tidegate.reports.comment import MAX_BYTES, Shown, render
from tidegate.reports.links import Pages
from tidegate.reports.side_findings import findings
from tidegate.reports.view import STATE_SIGNS, comment_view

_AMOUNTS = (20, 5, 1, 0)  # results that are shown, until the text is short enough


def explanation(result: Result, scenario: str, pages: Pages, notice: str = "") -> str:
    """Return the scenario's results as Markdown, in at most MAX_BYTES; '' if the result has none."""
    rows = tuple(row for row in result.rows if row.scenario == scenario)
    if not rows:
        return ""
    found = [one for state in STATE_SIGNS for one in findings(result.model_copy(update={"rows": rows}), state)]
    view = comment_view(result).model_copy(update={"pages": pages, "notice": notice})
    text = ""
    for most in _AMOUNTS:
        text = render("explain.md.j2", view=view, shown=Shown(), found=found, most=most)
        if len(text.encode()) <= MAX_BYTES:
            break
    return text
