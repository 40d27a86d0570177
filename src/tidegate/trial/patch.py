"""What changed between two snapshots, as a git patch. git itself writes the patches that need more than plain text."""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Iterator

from tidegate.trial.snapshot import Entry, Snapshot

MOST_LINES = 1000  # of a file that both sides have: difflib is slow with more
MOST_PATCH_BYTES = 1 << 20
_PLAIN = re.compile(r"[\w./+@%=,~ -]+", re.ASCII)  # git quotes other names
_NOTHING = "0000000"


def patch(before: Snapshot, after: Snapshot) -> bytes | None:
    """Return the patch from `before` to `after`; None if git has to write it."""
    old, new = _files(before), _files(after)
    names = sorted(name for name in old.keys() | new.keys() if _shown(old.get(name)) != _shown(new.get(name)))
    gone = any(name not in new for name in names)
    if gone and any(name not in old for name in names):
        return None  # a file may have been renamed, which git finds out
    # Attributes say how git shows a file; a repository in the workspace is a single entry of a patch.
    if any(name.endswith(("/.git", ".gitattributes")) for name in (*before, *after)):
        return None
    parts = [_of_one(name, old.get(name), new.get(name)) for name in names]
    whole = b"".join(part for part in parts if part is not None)
    return whole if None not in parts and len(whole) <= MOST_PATCH_BYTES else None


def _files(snapshot: Snapshot) -> dict[str, Entry]:
    """Return what a patch can show: everything except folders and the workspace's own repository."""
    return {path: entry for path, entry in snapshot.items() if not entry.is_folder and not path.startswith(".git/")}


def _shown(entry: Entry | None) -> tuple[str, bytes] | None:
    """Return what a patch shows of a file."""
    return None if entry is None else (_mode(entry), entry.data)


def _mode(entry: Entry) -> str:
    return f"{entry.git_mode:o}"


def _of_one(name: str, old: Entry | None, new: Entry | None) -> bytes | None:
    """Return the patch of one file, or None if git has to write it."""
    lines = [_lines(entry) for entry in (old, new)]
    if lines[0] is None or lines[1] is None or not _PLAIN.fullmatch(name) or name.endswith(" "):
        return None
    if old and new and (_mode(old) != _mode(new) or max(map(len, filter(None, lines)), default=0) > MOST_LINES):
        return None
    ids = f"index {_id(old)}..{_id(new)}"
    head = f"diff --git a/{name} b/{name}\n"
    if old is None and new is not None:
        head += f"new file mode {_mode(new)}\n{ids}\n"
    elif new is None and old is not None:
        head += f"deleted file mode {_mode(old)}\n{ids}\n"
    elif old is not None:
        head += f"{ids} {_mode(old)}\n"
    tab = "\t" if " " in name else ""  # as git does, for other programs that read patches
    names = ["/dev/null" if entry is None else f"{side}/{name}{tab}" for side, entry in (("a", old), ("b", new))]
    body = b"".join(_hunks(lines[0], lines[1]))
    return head.encode() + (b"--- %b\n+++ %b\n%b" % (names[0].encode(), names[1].encode(), body) if body else b"")


def _lines(entry: Entry | None) -> list[bytes] | None:
    """Return a text file's lines, each with its end; None if the entry is a link or not text."""
    if entry is None:
        return []
    if entry.is_link or b"\0" in entry.data:
        return None
    lines = entry.data.split(b"\n")
    return [line + b"\n" for line in lines[:-1]] + [line for line in lines[-1:] if line]


def _id(entry: Entry | None) -> str:
    """Return the abbreviated id of the file's blob."""
    if entry is None:
        return _NOTHING
    whole = b"blob %d\0" % len(entry.data) + entry.data
    return hashlib.sha1(whole, usedforsecurity=False).hexdigest()[: len(_NOTHING)]


def _hunks(old: list[bytes], new: list[bytes]) -> Iterator[bytes]:
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for group in matcher.get_grouped_opcodes(3):
        first, last = group[0], group[-1]
        yield b"@@ -%b +%b @@\n" % (_range(first[1], last[2]), _range(first[3], last[4]))
        for kind, old_start, old_end, new_start, new_end in group:
            if kind == "equal":
                yield from (_line(b" ", line) for line in old[old_start:old_end])
                continue
            yield from (_line(b"-", line) for line in old[old_start:old_end])
            yield from (_line(b"+", line) for line in new[new_start:new_end])


def _line(sign: bytes, line: bytes) -> bytes:
    return sign + line + (b"" if line.endswith(b"\n") else b"\n\\ No newline at end of file\n")


def _range(start: int, end: int) -> bytes:
    """Return a range of lines as patches have it: `first,count`."""
    count = end - start
    if count == 1:
        return b"%d" % (start + 1)
    return b"%d,%d" % (start + 1 if count else start, count)
