"""Keep the data of the HTML report below its limit: the last rows, which matter least, lose their details."""

from __future__ import annotations

import json

from tidegate.reports.filters import count
from tidegate.reports.page import PageView
from tidegate.reports.page_row import RowView

_DETAILS = {"trials": (), "metrics": (), "gates": (), "subcommands": (), "facts": ()}


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
