"""Finds the files of head's commit that head's build replaces: what is tested is then not what is merged."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from tidegate.trial.safe_files import Content, content_of
from tidegate.trial.workspace import everything_below

Contents = Mapping[str, tuple[Content | None, Content | None]]  # of base and of head, by name


def changed_before(base: Path, head: Path) -> Contents:
    """Return the files and links that differ between two checkouts of which nothing is built yet."""
    names = {path.relative_to(side).as_posix() for side in (base, head) for path in everything_below(side)}
    both = ((name, (content_of(base / name), content_of(head / name))) for name in names)
    return {name: pair for name, pair in both if pair[0] != pair[1] and name.partition("/")[0] != ".git"}


def programs_in(head: Path, folders: Iterable[str]) -> frozenset[str]:
    """Return the files in the folders of `path`, and those that links in them lead to."""
    root = os.path.realpath(head)
    places = (Path(os.path.realpath(head / folder)) for folder in folders)
    files = (file for place in places if place.is_dir() for file in place.iterdir())
    return frozenset(os.path.relpath(end, root) for file in files for end in (file, os.path.realpath(file)))


def replaced_files(base: Path, head: Path, changed: Contents, programs: Collection[str]) -> tuple[str, ...]:
    """Return which of the changed files are as on base since head was built.

    Also those that only head's build has removed, and programs that only it has replaced: what both make is a product.
    """
    found = list[str]()
    for name, (old, new) in sorted(changed.items()):
        sizes = {content.size for content in (old, new) if content}
        now = content_of(head / name, sizes)
        by_head = new is not None and (now is None or (name in programs and now.digest != new.digest))
        if now != new and (now == old or (by_head and content_of(base / name, sizes) == old)):
            found.append(name)
    return tuple(found)
