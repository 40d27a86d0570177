"""Find the cause of each row, and group the rows that have the same one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from tidegate.decide.causes import endings, mcp, outputs, refused_names
from tidegate.decide.causes.diff_lines import MOST_EDITS, changed_lines, edits_of, is_doc, is_test, replacement
from tidegate.decide.causes.listed import by_interface
from tidegate.decide.causes.seen import SYMPTOMS, Found, Seen, look, named_in
from tidegate.model.cause import Cause, CauseKind
from tidegate.model.comparison import Row
from tidegate.model.measurement import TrialResult, by_row
from tidegate.model.plan import RowKey
from tidegate.model.result import FileChange
from tidegate.model.surface import Interface
from tidegate.text.shorten import without_places


def guidance(seen: Seen) -> Found | None:
    """A line of the docs that head added and its agent ran, or that head removed and base's agent ran.

    Only if no call of both sides changed. A line that shows a command which head's tool accepts is not a cause, unless
    nothing but docs changed: the line then follows a change of the tool.
    """
    parting = seen.row.evidence.divergence if seen.row.evidence else None
    if seen.pair is not None or parting is None:
        return None
    base = parting.base_steps[0].command if parting.base_steps else ""
    head = parting.head_steps[0].command if parting.head_steps else ""
    fails = bool(parting.head_steps) and parting.head_steps[0].status == "error"
    only_docs = all(is_doc(change.path) for change in seen.changes if change.role == "watched")
    lines = [line for line in changed_lines(seen.changes) if is_doc(line.path)]
    for line in lines:
        if line.side == "head" and _runs(line.text, head) and not _runs(line.text, base):
            said = Found("guidance", (line.where,), new=("fails",) if fails else (), head=head, clues=(head,))
            return said if fails or only_docs else None
    for line in lines:
        if line.side == "base" and _runs(line.text, base) and not _runs(line.text, head):
            return Found("guidance", (line.path,), base=base, clues=(base,))
    return None


def _runs(text: str, command: str) -> bool:
    plain = " ".join(text.replace('"', "").replace("'", "").split())
    return command != "" and " ".join(command.replace('"', "").replace("'", "").split()) in plain


KINDS: tuple[Callable[[Seen], Found | None], ...] = (  # the most specific first
    endings.start,
    mcp.server,
    mcp.tool,
    mcp.parameter,
    mcp.tool_error,
    mcp.offer,
    endings.prompt,
    endings.hang,
    endings.crash,
    refused_names.option,
    refused_names.subcommand,
    refused_names.argument,
    refused_names.dropped,
    endings.exit_code,
    outputs.json_key,
    outputs.missing_words,
    outputs.output,
    guidance,
    outputs.file,
)
RENAMES: frozenset[CauseKind] = frozenset(
    {"option", "subcommand", "parameter", "tool", "json_key", "name"}
)  # a name that is gone
_EXPLAINED = frozenset({"regressed", "unconfirmed"})


def find_causes(
    rows: Iterable[Row],
    trials: Sequence[TrialResult],
    changes: Sequence[FileChange] = (),
    interfaces: Sequence[Interface] = (),
) -> tuple[Cause, ...]:
    """Return the causes of the rows that regressed or are unconfirmed, and of others that became slower.

    In a row of a deterministic agent that passes, a call that fails on head only is a cause, too. A row whose trials
    show no cause has none.
    """
    found: dict[tuple[Found, bool], list[RowKey]] = {}
    of_row = by_row(trials)
    for row in rows:
        cause = _cause(row, of_row[row.key], changes, interfaces)
        if cause:
            found.setdefault((cause, row.state not in _EXPLAINED), []).append(row.key)
    placed = (_placed(cause, tuple(keys), changes, passes=passes) for (cause, passes), keys in found.items())
    return tuple(_merged(placed))


def _merged(causes: Iterable[Cause]) -> list[Cause]:
    """Return the causes; those of the same change are one, which explains the rows of all of them."""
    merged: list[Cause] = []
    for cause in causes:
        same = next((at for at, other in enumerate(merged) if _is_same(cause, other)), None)
        if same is None:
            merged.append(cause)
            continue
        other = merged[same]
        shown = cause if other.kind in SYMPTOMS and cause.kind not in SYMPTOMS else other
        alike = (cause.kind, cause.names) == (other.kind, other.names)
        about = tuple(dict.fromkeys((*other.about, *cause.about))) if alike else shown.about
        rows, passes = (*other.rows, *cause.rows), other.passes and cause.passes
        merged[same] = shown.model_copy(update={"rows": rows, "about": about, "passes": passes})
    return merged


def _is_same(one: Cause, other: Cause) -> bool:
    """Return True if both point to the same changed lines, or if one only shows that a name of the other is gone."""
    if (one.kind == "slow") != (other.kind == "slow") or one.passes != other.passes or not one.edits:
        return False
    if one.edits[:1] == other.edits[:1]:
        return True
    fewer, more = sorted((one, other), key=lambda cause: cause.kind not in SYMPTOMS)
    misses = bool(fewer.names) and set(fewer.names) <= set(more.names)
    if more.kind in RENAMES:
        misses |= any(named_in(fewer.base, name) and not named_in(fewer.head, name) for name in more.names)
    return fewer.kind in SYMPTOMS and (misses or any(edit in more.edits for edit in fewer.edits[:1]))


def _cause(
    row: Row, own: Sequence[TrialResult], changes: Sequence[FileChange], interfaces: Sequence[Interface]
) -> Found | None:
    if row.state in _EXPLAINED:
        seen = look(row, own, changes)
        return _first(seen, interfaces) or endings.slower(own, deterministic=row.deterministic)
    if row.state != "ok":
        return None
    if row.deterministic:
        seen = look(row, own, changes)
        if seen.pair and seen.pair.head.status == "error" and seen.pair.base.exit_code != seen.pair.head.exit_code:
            return _first(seen, interfaces)
    return endings.slower(own, deterministic=row.deterministic)


def _first(seen: Seen, interfaces: Sequence[Interface]) -> Found | None:
    nothing = Found("output")
    found = next(filter(None, (kind(seen) for kind in KINDS)), nothing)
    better = by_interface(found, seen, interfaces)
    return None if better == nothing else _readable(better)


def _readable(found: Found) -> Found:
    """Return it without the folders of trials, in which the same cause would differ."""
    names, new, clues = (tuple(map(without_places, texts)) for texts in (found.names, found.new, found.clues))
    base, head = without_places(found.base), without_places(found.head)
    return found._replace(names=names, new=new, clues=clues, base=base, head=head)


def _placed(found: Found, rows: tuple[RowKey, ...], changes: Sequence[FileChange], *, passes: bool) -> Cause:
    """Return the cause with the changed lines that it points to: in the docs for guidance, else first in the code."""
    docs = [change for change in changes if is_doc(change.path)]
    code = sorted((change for change in changes if not is_doc(change.path)), key=lambda change: is_test(change.path))
    names, new = found.names, found.new
    clues = found.clues or names or new
    edits = edits_of(clues, docs if found.kind == "guidance" else code, MOST_EDITS if found.kind in RENAMES else 1)
    if found.kind == "value" or (found.kind in RENAMES and not new):
        named = tuple(filter(None, (replacement(name, edits_of((name,), code, MOST_EDITS)) for name in names)))
        new = named if len(named) == len(names) else new if found.kind == "value" else ()
    fields = found._replace(names=names, new=new)._asdict()
    fields.pop("clues")
    return Cause(**fields, rows=rows, edits=edits, passes=passes)
