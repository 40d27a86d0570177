"""Finds the files of head's commit that its build has replaced."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from tidegate.model.suite import INITIAL_STATE, Suite
from tidegate.trial.rewritten import named
from tidegate.trial.safe_files import Content, content_of
from tidegate.trial.workspace import everything_below, matching_files

Text = tuple[int, bytes]  # the size in bytes, and the hash


class Found(NamedTuple):
    """What a name has in a checkout, and the text that it leads to: a link to a text is that text.

    A folder that it leads to counts by its place.
    """

    own: Content | None = None
    text: Text | None = None

    @property
    def sizes(self) -> set[int]:
        """The sizes of what it holds and leads to, in bytes."""
        return {one.size for one in (self.own,) if one} | {one[0] for one in (self.text,) if one}

    def holds(self, other: Found) -> bool:
        """Return True if they hold and lead to the same, whatever their rights."""
        return (self.own and self.own.digest, self.text) == (other.own and other.own.digest, other.text)


Pair = tuple[Found, Found]  # of base and of head


def replaced_since(base: Path, head: Path, folders: Sequence[str], suite: Suite) -> Callable[[], tuple[str, ...]]:
    """Return a function that lists what head's build has replaced since now, when nothing is built yet:

    changed files that hold what they do on base, or that it alone has removed; and programs below the `folders` of
    `path`, and guidance, also of templates, that it alone has changed. New guidance counts, new programs do not: what a
    build makes is a product. So is what head's commit no longer has: its build cannot get it from base (`separate`).
    """
    known = {name: (_found(base, name), _found(head, name)) for name in _names(base, head, folders)}
    changed = {name: pair for name, pair in known.items() if pair[0] != pair[1] and pair[1].own}
    runnable = {name for name, (_, new) in known.items() if new.own and _is_runnable(new.own.kind)}
    programs = _programs(changed.keys() | runnable, head, folders)
    guidance = {name: (_found(base, name), _found(head, name)) for name in _guidance(base, head, suite)}
    kept = {**changed, **{name: known[name] for name in programs}, **guidance}

    def replaced() -> tuple[str, ...]:
        own = programs | _guidance(base, head, suite)
        return named(
            name
            for name in kept.keys() | own
            if _is_replaced(name, (base, head), kept.get(name, (Found(), Found())), own)
        )

    return replaced


def _is_replaced(name: str, sides: tuple[Path, Path], before: Pair, own: Collection[str]) -> bool:
    """Return True if head's build has replaced the file; of its `own`, if base's build leaves it alone."""
    old, new = before
    then, now = (_found(side, name, old.sizes | new.sizes) for side in sides)
    if now == new:
        return False
    undone = old != new and (now.own == old.own or (now.text == old.text != new.text and now.text is not None))
    by_head = now.own is None or (name in own and not now.holds(new))
    return undone or (by_head and then.holds(old))


def _is_runnable(mode: int) -> bool:
    return bool(mode & 0o111) and not stat.S_ISDIR(mode)


def _names(base: Path, head: Path, folders: Iterable[str]) -> set[str]:
    """Return the names of all files and links. What is below `folders` is there by its name, wherever links lead."""
    places = [(side, name, Path(os.path.realpath(side / name))) for side in (base, head) for name in (".", *folders)]
    within = [(name, place) for side, name, place in places if place.is_relative_to(os.path.realpath(side))]
    names = {os.path.normpath(Path(name, path.relative_to(at))) for name, at in within for path in everything_below(at)}
    return {name for name in names if name.partition("/")[0] != ".git"}


def _guidance(base: Path, head: Path, suite: Suite) -> set[str]:
    templates = sorted({one.template for one in suite.scenarios if one.template})
    folders = ["", *(f"{one}/{inner}" for one in templates for inner in ("", f"{INITIAL_STATE}/"))]
    return {
        f"{folder}{name}"
        for side in (base, head)
        for folder in folders
        for name in matching_files(side / folder, suite.guidance_globs)
    }


def _found(side: Path, name: str, sizes: Collection[int] | None = None) -> Found:
    own = content_of(side / name, sizes)
    return Found(own, _led_to(side, name, own, sizes))


def _led_to(side: Path, name: str, own: Content | None, sizes: Collection[int] | None) -> Text | None:
    """Return the text that the name leads to, which has this content of its own, or the place of a folder."""
    if own is not None and stat.S_ISREG(own.kind):
        return own.size, own.digest
    end = Path(os.path.realpath(side / name))
    if end.is_dir():
        return 0, os.fsencode(os.path.relpath(end, os.path.realpath(side)))
    found = content_of(end, sizes)
    return (found.size, found.digest) if found and stat.S_ISREG(found.kind) else None


def _programs(names: Iterable[str], head: Path, folders: Iterable[str]) -> set[str]:
    """Return which of these files are below the folders of `path`, or what links in them lead to."""
    root = os.path.realpath(head)
    normal = [os.path.normpath(folder) for folder in folders]
    places = [os.path.realpath(head / folder) for folder in normal]
    led_to = {os.path.realpath(file) for place in map(Path, places) if place.is_dir() for file in place.iterdir()}
    below = (*(f"{root}/{folder}/" for folder in normal), *(f"{place}/" for place in places))
    return {name for name in names if f"{root}/{name}".startswith(below) or f"{root}/{name}" in led_to}
