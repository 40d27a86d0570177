"""Causes in the docs that agents read: a changed line that names the command at which head's agent diverges."""

from __future__ import annotations

from tidegate.causes.diff_lines import changed_lines
from tidegate.causes.seen import Found, Seen

MAN_PAGES = frozenset(f".{section}" for section in "12345678")
DOCS = (".md", ".markdown", ".rst", ".txt", ".mdc", ".adoc")


def is_doc(path: str) -> bool:
    """Return True for a text that people and agents read."""
    return path.lower().endswith(DOCS) or path[-2:] in MAN_PAGES


def guidance(seen: Seen) -> Found | None:
    """A line of the docs that head added and its agent ran, or that head removed and base's agent ran.

    Only if no call of both sides changed: then the tool is as it was.
    """
    parting = seen.row.evidence.divergence if seen.row.evidence else None
    if seen.pair is not None or parting is None:
        return None
    base = parting.base_steps[0].command if parting.base_steps else ""
    head = parting.head_steps[0].command if parting.head_steps else ""
    lines = [line for line in changed_lines(seen.changes) if is_doc(line.path)]
    for line in lines:
        if line.side == "head" and _runs(line.text, head) and not _runs(line.text, base):
            fails = ", which fails" if parting.head_steps[0].status == "error" else ""
            return Found("guidance", f"`{line.where}` now tells the agent to run `{_plain(head)}`{fails}", (head,))
    for line in lines:
        if line.side == "base" and _runs(line.text, base) and not _runs(line.text, head):
            return Found("guidance", f"`{line.path}` no longer tells the agent to run `{_plain(base)}`", (base,))
    return None


def _runs(text: str, command: str) -> bool:
    plain = " ".join(text.replace('"', "").replace("'", "").split())
    return command != "" and " ".join(command.replace('"', "").replace("'", "").split()) in plain


def _plain(command: str) -> str:
    line = command.replace("`", "'")
    return line if len(line) <= 80 else f"{line[:79]}…"
