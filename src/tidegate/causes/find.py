"""Find the cause of each row, and group the rows that have the same one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from tidegate.causes import endings, mcp, outputs, refused_names, starts
from tidegate.causes.diff_lines import changed_by, only_change
from tidegate.causes.guidance import guidance, is_doc
from tidegate.causes.seen import Found, Seen, look
from tidegate.causes.slower import slower
from tidegate.model.cause import Cause, Place
from tidegate.model.comparison import Row
from tidegate.model.measurement import TrialResult
from tidegate.model.plan import RowKey, by_row
from tidegate.model.result import FileChange

KINDS: tuple[Callable[[Seen], Found | None], ...] = (  # the most specific first
    starts.start,
    mcp.tool,
    mcp.parameter,
    mcp.offer,
    endings.prompt,
    endings.hang,
    endings.crash,
    refused_names.option,
    refused_names.subcommand,
    refused_names.argument,
    endings.exit_code,
    outputs.json_key,
    outputs.error_text,
    outputs.missing_words,
    outputs.output,
    guidance,
)
_EXPLAINED = frozenset({"regressed", "unconfirmed"})


def find_causes(
    rows: Iterable[Row], trials: Sequence[TrialResult], changes: Sequence[FileChange] = ()
) -> tuple[Cause, ...]:
    """Return the causes of the rows that regressed or are unconfirmed, and of those that became slower.

    A row whose trials show no cause has none.
    """
    found: dict[Found, list[RowKey]] = {}
    of_row = by_row(trials)
    for row in rows:
        cause = _cause(row, of_row[row.key], changes)
        if cause:
            found.setdefault(cause, []).append(row.key)
    return tuple(_placed(cause, tuple(keys), changes) for cause, keys in found.items())


def _cause(row: Row, own: Sequence[TrialResult], changes: Sequence[FileChange]) -> Found | None:
    if row.state in _EXPLAINED:
        seen = look(row, own, changes)
        return next(filter(None, (kind(seen) for kind in KINDS)), None) or slower(own)
    duration = row.metrics.get("duration_s")
    return slower(own, samples=1 if duration and duration.warns else 2) if row.state == "ok" else None


def _placed(cause: Found, rows: tuple[RowKey, ...], changes: Sequence[FileChange]) -> Cause:
    """Return the cause with the changed lines that it points to: in the docs for guidance, else first in the code."""
    docs = [change for change in changes if is_doc(change.path)]
    code = sorted((change for change in changes if not is_doc(change.path)), key=lambda change: _is_test(change.path))
    removed, added = _lines(cause, docs if cause.kind == "guidance" else code)
    return Cause(kind=cause.kind, says=cause.says, rows=rows, names=cause.names, removed=removed, added=added)


def _is_test(path: str) -> bool:
    return any(part.startswith(("test", "spec", "feature")) for part in path.lower().split("/"))


def _lines(cause: Found, changes: Sequence[FileChange]) -> tuple[Place | None, Place | None]:
    return changed_by(cause.names, changes) if cause.names else only_change(changes)
