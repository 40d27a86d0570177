"""Gives gates and scripts base's guidance files, with what the trial has written into them."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from difflib import SequenceMatcher
from pathlib import Path
from typing import NamedTuple

from tidegate.trial.gate_scripts import is_same
from tidegate.trial.processes import Account
from tidegate.trial.safe_files import copy_below, open_regular, remove_below
from tidegate.trial.workspace import Prepared

MOST_BYTES = 1_000_000  # of a file whose lines are compared
MOST_LINES = 400  # that differ; more are one change
Lines = Sequence[bytes]
_WORD = re.compile(rb"[\w\x80-\xff]+")


class Edit(NamedTuple):
    """These lines of a text, from `start` and before `end`, are replaced by `new`."""

    start: int
    end: int
    new: Lines


@contextmanager
def guidance_of_base(
    prepared: Prepared, of_base: Prepared | None, workspace: Path, aside: Path, account: Account | None
) -> Iterator[tuple[str, ...]]:
    """Put base's guidance files into the workspace; afterwards, put the workspace's own back.

    Head's may contain what a gate looks for. Lines that the trial has written stay. Where these replace lines of the
    pull request and have words of it, it is unknown who has written them: gates see base's file. Yields the names of
    such files.
    """
    if of_base is None or not workspace.is_dir():
        yield ()
        return
    owner = (account.uid, account.gid) if account else None
    own, of_other = (frozenset(entry.partition("#")[0] for entry in one.guidance) for one in (prepared, of_base))
    differing = [name for name in sorted(own | of_other) if not is_same(prepared.folder / name, of_base.folder / name)]
    swapped = [name for name in differing if _is_untouched(prepared.folder / name, workspace / name)]
    written = [name for name in differing if name not in swapped and _is_written(workspace, name, own)]
    aside.mkdir()
    mixed: list[str] = []
    for name in swapped:
        _put(of_base.folder, workspace, name, owner)
    for number, name in enumerate(written):
        now, seen = aside / str(number), aside / f"{number}.seen"
        (workspace / name).rename(now)
        if not _write_without_head(seen, of_base.folder / name, prepared.folder / name, now):
            mixed.append(name)
        copy_below(workspace, name, seen, owner)
    try:
        yield tuple(mixed)
    finally:
        for name in swapped:
            with suppress(OSError):
                _put(prepared.folder, workspace, name, owner)
        for number, name in enumerate(written):
            with suppress(OSError):
                remove_below(workspace, name)
                (aside / str(number)).rename(workspace / name)
        shutil.rmtree(aside)


def _is_untouched(start: Path, now: Path) -> bool:
    """Return True if the trial has left this file of the workspace alone."""
    return is_same(start, now) if start.is_file() else not os.path.lexists(now)


def _is_written(workspace: Path, name: str, own: Iterable[str]) -> bool:
    """Return True for a regular file that the trial has changed, and that no link leads to."""
    path = workspace / name
    return name in own and path.is_file() and path.resolve() == workspace.resolve() / name


def _put(source: Path, workspace: Path, name: str, owner: tuple[int, int] | None) -> None:
    if (source / name).is_file():
        copy_below(workspace, name, source / name, owner)
    else:
        remove_below(workspace, name)


def _write_without_head(seen: Path, base: Path, head: Path, now: Path) -> bool:
    """Write the file as gates see it, and return False if it is base's alone."""
    texts = [_lines(path) for path in (base, head, now)]
    merged = None if None in texts else without_change(*(text or () for text in texts))
    seen.write_bytes(b"".join((texts[0] or ()) if merged is None else merged))
    seen.chmod(now.stat().st_mode & 0o777)
    return merged is not None


def _lines(path: Path) -> Lines | None:
    """Return the lines of a file; none if it does not exist, and None if it is too large."""
    file = open_regular(path)
    if file is None:
        return ()
    with file:
        text = file.read(MOST_BYTES + 1)
    return None if len(text) > MOST_BYTES else text.splitlines(keepends=True)


def without_change(base: Lines, head: Lines, now: Lines) -> Lines | None:
    """Return base's lines with the edits by which `now` differs from head.

    All edits are edits of head's lines: those that undo head's change, and the trial's. None if the trial replaced
    lines of head by others with words that only head has.
    """
    undone, written = _edits(head, base), _edits(head, now)
    words = _words(line for edit in undone for line in head[edit.start : edit.end]) - _words(base)
    overlapping = [edit for edit in written if any(_overlap(edit, other) for other in undone)]
    if any(words & _words(edit.new) for edit in overlapping):
        return None
    edits = (*(edit for edit in undone if not any(_overlap(edit, other) for other in overlapping)), *written)
    gone = {number for edit in (*undone, *written) for number in range(edit.start, edit.end)}
    found: list[bytes] = []
    for number in range(len(head) + 1):
        found += [line for edit in edits if edit.start == number for line in edit.new]
        if number not in gone:
            found += head[number : number + 1]
    return found


def _words(lines: Iterable[bytes]) -> set[bytes]:
    return {word for line in lines for word in _WORD.findall(line)}


def _overlap(one: Edit, other: Edit) -> bool:
    return max(one.start, other.start) < min(one.end, other.end)


def _edits(before: Lines, after: Lines) -> list[Edit]:
    """Return the edits that make `after` of `before`."""
    shorter = min(len(before), len(after))
    start = next((n for n in range(shorter) if before[n] != after[n]), shorter)
    tail = next((n for n in range(shorter - start) if before[-1 - n] != after[-1 - n]), shorter - start)
    old, new = before[start : len(before) - tail], after[start : len(after) - tail]
    if len(old) + len(new) > MOST_LINES:
        return [Edit(start, start + len(old), new)]
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [Edit(start + i, start + j, new[k:n]) for tag, i, j, k, n in codes if tag != "equal"]
