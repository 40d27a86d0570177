"""Causes in the docs that agents read: a changed line that names the command at which head's agent diverges."""

from __future__ import annotations

from tidegate.decide.causes.diff_lines import changed_lines
from tidegate.decide.causes.seen import Found, Seen

MAN_PAGES = frozenset(f".{section}" for section in "12345678")
DOCS = (".md", ".markdown", ".rst", ".txt", ".mdc", ".adoc")


def is_doc(path: str) -> bool:
    """Return True for a text that people and agents read."""
    return path.lower().endswith(DOCS) or path[-2:] in MAN_PAGES


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
