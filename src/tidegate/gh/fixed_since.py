"""What has changed since the comment that stands: known from its marker alone."""

from __future__ import annotations

from collections.abc import Iterator

from tidegate.model.marker import Fixed, Marker
from tidegate.model.plan import RowKey
from tidegate.model.result import Result

_FIXED = frozenset({"ok", "improved"})
_GONE = frozenset({"removed"})


def fixed_since(before: Marker | None, result: Result) -> Fixed | None:
    """The rows that stood as regressed and work again; what could not be measured is never one of them."""
    rows = _fixed(before.regressed, result) if before else ()
    return Fixed(since=before.head, rows=rows) if before and rows else None


def next_marker(before: Marker | None, result: Result, run: int, attempt: int, head: str = "") -> Marker:
    """The marker of the comment on `result`: it remembers what is regressed now, and what still stands as such.

    `head`: the pull request's own commit, where the result is of its test-merge commit.
    """
    return Marker(
        instance=result.instance,
        head=head or result.sides.head.sha,
        run=run,
        attempt=attempt,
        verdict=result.verdict.state,
        regressed=tuple(dict.fromkeys(_regressed(before, result))),
    )


def _fixed(regressed: tuple[RowKey, ...], result: Result) -> tuple[RowKey, ...]:
    if result.verdict.reason == "nothing_to_do":  # the change that broke them has been taken back
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
