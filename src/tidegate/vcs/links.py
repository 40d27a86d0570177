"""Follow the symbolic links of a commit to the files of the repository that they lead to."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path, PurePosixPath

from tidegate.vcs.git import names
from tidegate.vcs.revisions import tracked_matching

MOST_LINKS = 40  # that one path may lead through, as for the kernel


def led_to(root: Path, path: str) -> tuple[str, ...]:
    """Return the path, each link on the way to what it names, and that; without what is outside of the checkout.

    Links in place of folders count: for `bin/notes` with the link `bin`, also `bin`. The root is `.`.
    """
    found, left, done, links = {path: None}, path.split("/"), PurePosixPath(), 0
    if path.startswith("/"):
        return (path,)
    while left:
        part = left.pop(0)
        if part in ("", "."):
            continue
        if part == ".." and not done.parts:
            return tuple(found)
        place = done.parent if part == ".." else done / part
        target = _target(root / place)
        if target is None:
            done = place
            continue
        found[str(place)], links = None, links + 1
        if target.startswith("/") or links > MOST_LINKS:
            return tuple(found)
        left = [*target.split("/"), *left]
    return tuple({**found, str(done): None})


@dataclass(frozen=True)
class LinkedCheckout:
    """A checkout whose tracked links and submodules are listed once."""

    folder: Path

    @cached_property
    def links(self) -> tuple[str, ...]:
        """The tracked links."""
        return self._of_mode("120000")

    @property
    def submodules(self) -> tuple[str, ...]:
        """The folders that are submodules."""
        return self._of_mode("160000")

    @cached_property
    def _entries(self) -> list[str]:
        return names(self.folder, "ls-files", "--stage", "-z")

    def _of_mode(self, mode: str) -> tuple[str, ...]:
        return tuple(entry.partition("\t")[2] for entry in self._entries if entry.startswith(f"{mode} "))


def with_link_targets(checkouts: Sequence[LinkedCheckout], patterns: Iterable[str]) -> tuple[str, ...]:
    """Return the globs, and globs of what the links that they match lead to, in any of the checkouts.

    A link instead of a folder counts as well: `bin/**` matches what the link `bin` leads to.
    """
    fresh = tuple(patterns)
    every = dict.fromkeys(fresh)
    while fresh and "**" not in every:  # `**` matches all files
        links = [(one.folder, link) for one in checkouts for link in _matching(one, fresh)]
        ways = [led_to(root, link) for root, link in links]
        fresh = tuple(one for one in _at_and_below(way[-1] for way in ways) if one not in every)
        every |= dict.fromkeys(_at_and_below(place for way in ways for place in way))
    return tuple(every)


def _at_and_below(places: Iterable[str]) -> list[str]:
    """Return globs of what is at and below the places."""
    return [
        one
        for place in sorted(set(places))
        for one in (("**",) if place == "." else (glob.escape(place), f"{glob.escape(place)}/**"))
    ]


def _target(path: Path) -> str | None:
    """Return what the link leads to; None if it is not a link, or cannot be one."""
    try:
        return str(path.readlink())
    except (OSError, ValueError):
        return None


def _matching(checkout: LinkedCheckout, patterns: Sequence[str]) -> set[str]:
    """Return the links that match a glob, and those instead of a folder that a glob begins with."""
    if not checkout.links:
        return set()
    parts = [PurePosixPath(pattern).parts for pattern in patterns]
    parts = [one for one in parts if one[:1] != ("**",) or len(one) > 2]  # `**/NAME` matches what links lead to, too
    folders = {link for link in checkout.links if any(_may_pass(one, link.split("/")) for one in parts)}
    return folders.union({*checkout.links}.intersection(tracked_matching(checkout.folder, patterns)))


def _may_pass(pattern: Sequence[str], link: Sequence[str]) -> bool:
    """Return True if a path that the glob matches may lead through the link."""
    if not link or not pattern:
        return bool(pattern)
    first, *rest = pattern
    if first == "**":
        return _may_pass(rest, link) or _may_pass(pattern, link[1:])
    in_doubt = "[" in first or "\\" in first  # git reads some of these otherwise
    return (in_doubt or fnmatchcase(link[0], first)) and _may_pass(rest, link[1:])
