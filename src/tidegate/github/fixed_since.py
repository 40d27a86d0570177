"""Compares a result with the last comment, using only the comment's marker."""

from __future__ import annotations

from collections.abc import Iterator

from tidegate.model.marker import Fixed, Marker
from tidegate.model.plan import RowKey
from tidegate.model.result import Result

_FIXED = frozenset({"ok", "improved"})
_GONE = frozenset({"removed"})


def fixed_since(before: Marker | None, result: Result) -> Fixed | None:
    """Return the rows that the last comment reported as regressed and that pass again, or None if there are none.

    A row that was not measured does not count as fixed.
    """
    rows = _fixed(before.regressed, result) if before else ()
    return Fixed(since=before.head, rows=rows) if before and rows else None


def next_marker(before: Marker | None, result: Result, run: int, attempt: int, head: str = "") -> Marker:
    """Return the marker for the new comment. It lists the rows that regressed now, or earlier and are not fixed yet.

    `head` is the pull request's head commit; the result itself is of the test-merge commit.
    """
    return Marker(
        instance=result.instance,
        head=head or result.sides.head.sha,
        run=run,
        attempt=attempt,
        verdict=result.verdict.state,
        reason=result.verdict.reason,
        exit_code=result.verdict.exit_code,
        base=result.sides.base.ref,
        regressed=tuple(dict.fromkeys(_regressed(before, result))),
    )


def _fixed(regressed: tuple[RowKey, ...], result: Result) -> tuple[RowKey, ...]:
    if result.verdict.reason == "nothing_to_do":  # the change that broke them was reverted
        return regressed
    states = {row.key: row.state for row in result.rows}
    return tuple(key for key in regressed if states.get(key) in _FIXED)


def _regressed(before: Marker | None, result: Result) -> Iterator[RowKey]:
    yield from (row.key for row in result.rows if row.state == "regressed")
    if before is None:
        return
    gone = (row.key for row in result.rows if row.state in _GONE)
    settled = {*gone, *_fixed(before.regressed, result)}
    yield from (key for key in before.regressed if key not in settled)
