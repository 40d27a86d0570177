"""Find the cause of each row, and group the rows that have the same one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from tidegate.causes import endings, mcp, outputs, refused_names, starts
from tidegate.causes.diff_lines import changed_by, is_test, only_change, other_form
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
_SYMPTOMS = frozenset({"output", "error_text", "exit_code"})  # of the same change, another kind says more


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
    return tuple(_merged(_placed(cause, tuple(keys), changes) for cause, keys in found.items()))


def _merged(causes: Iterable[Cause]) -> list[Cause]:
    """Return the causes; those of the same change are one, which explains the rows of all of them."""
    merged: list[Cause] = []
    for cause in causes:
        same = next((at for at, other in enumerate(merged) if _is_same(cause, other)), None)
        if same is None:
            merged.append(cause)
            continue
        other = merged[same]
        told = cause if other.kind in _SYMPTOMS and cause.kind not in _SYMPTOMS else other
        merged[same] = told.model_copy(update={"rows": (*other.rows, *cause.rows)})
    return merged


def _is_same(one: Cause, other: Cause) -> bool:
    """Return True if both point to the same changed lines, or if a check misses only names that the other has."""
    if "slow" in (one.kind, other.kind) or not (one.removed or one.added):
        return False
    if (one.removed, one.added) == (other.removed, other.added):
        return True
    fewer, more = sorted((one, other), key=lambda cause: cause.kind not in _SYMPTOMS)
    return fewer.kind in _SYMPTOMS and bool(fewer.names) and set(fewer.names) <= set(more.names)


def _cause(row: Row, own: Sequence[TrialResult], changes: Sequence[FileChange]) -> Found | None:
    if row.state in _EXPLAINED:
        seen = look(row, own, changes)
        return next(filter(None, (kind(seen) for kind in KINDS)), None) or slower(own)
    duration = row.metrics.get("duration_s")
    return slower(own, samples=1 if duration and duration.warns else 2) if row.state == "ok" else None


def _placed(cause: Found, rows: tuple[RowKey, ...], changes: Sequence[FileChange]) -> Cause:
    """Return the cause with the changed lines that it points to: in the docs for guidance, else first in the code."""
    docs = [change for change in changes if is_doc(change.path)]
    code = sorted((change for change in changes if not is_doc(change.path)), key=lambda change: is_test(change.path))
    removed, added = _lines(cause, docs if cause.kind == "guidance" else code)
    names, says = cause.names, cause.says
    if cause.kind == "option" and (form := other_form(names[0], code)):
        names, says = (*names, form), f"{says} and `{form}`"
    removed, added = _lines(cause, docs if cause.kind == "guidance" else code)
    return Cause(kind=cause.kind, says=says, rows=rows, names=names, removed=removed, added=added)


def _lines(cause: Found, changes: Sequence[FileChange]) -> tuple[Place | None, Place | None]:
    return changed_by(cause.names, changes) if cause.names else only_change(changes)
