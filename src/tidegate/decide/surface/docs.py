"""Find names that a pull request writes into the docs in place of others, and that the tool does not offer. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import islice

from tidegate.decide.causes.diff_lines import changed_blocks
from tidegate.decide.surface.parts import GENERAL
from tidegate.model.cause import Place
from tidegate.model.result import FileChange
from tidegate.model.surface import InterfaceChange, Part
from tidegate.text.shorten import few

_WORD = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*|\w+|[^\w\s]")
_OPTION = re.compile(r"--?[A-Za-z]")
_MARKS = "`*\"'"  # around a name in the text of docs
MOST_EDITS = 1_000
MOST_WORDS = 2  # that differ in a line in which a name does
_NAMED = ("tool", "parameter", "prompt")
_VARIABLE = re.compile(r"_?[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")


def renamed_variables(changes: Iterable[FileChange]) -> frozenset[tuple[str, str]]:
    """Return the environment variables of which changed lines of docs have another name, each with that."""
    lines = islice(_edits(changes), MOST_EDITS)
    pairs = (pair for old, new in lines for pair in _replaced(old.text, new.text))
    return frozenset((one, two) for one, two in pairs if _VARIABLE.fullmatch(one) and _VARIABLE.fullmatch(two))


def misnamed(
    tool: str, parts: Sequence[Part], changes: Iterable[FileChange], unread: Collection[str] = ()
) -> Iterator[InterfaceChange]:
    """Yield the names that changed lines of docs have in place of those that the tool offers, and that it does not.

    An option that a changed call of the tool has in addition counts, too. `changes`: of the docs. `unread`: names of
    environment variables that only the docs have.
    """
    options = {name for part in parts if part.kind == "option" for name in (part.name, *part.aliases)}
    others = {part.name for part in parts if part.kind in _NAMED}  # of servers: names of subcommands are words
    found: dict[str, list[str]] = {}
    for old, new in islice(_edits(changes), MOST_EDITS):
        pairs = [*_replaced(old.text, new.text)]
        renamed = {two for one, two in pairs if one in options and _OPTION.match(two)} if options else set[str]()
        called = [{*_options_of(tool, line.text)} for line in (old, new)]
        if options and all(_is_known(name, options) for name in called[0]):
            renamed |= called[1]
        if len(pairs) <= MOST_WORDS:  # else the line is another one
            renamed |= {two for one, two in pairs if one in others and two not in others and two.isidentifier()}
        renamed = {one for one in renamed if not _is_known(one, options)} | {two for _, two in pairs if two in unread}
        for name in sorted(renamed):
            found.setdefault(name, []).append(new.where)
    for name, places in found.items():
        why = "nothing reads it" if name in unread else "not offered"
        yield InterfaceChange(impact="breaking", part=f"`{name}`", detail=f"new in {few(places)}, but {why}")


def _edits(changes: Iterable[FileChange]) -> Iterator[tuple[Place, Place]]:
    """Yield the removed lines, each with the one that replaced it."""
    for block in changed_blocks(changes):
        sides = [[line for line in block if line.side == side] for side in ("base", "head")]
        if len(sides[0]) == len(sides[1]):
            yield from zip(*sides, strict=True)


def _replaced(old: str, new: str) -> Iterator[tuple[str, str]]:
    """Yield the words of one line with those that replaced them, one by one; a name in prose is none."""
    before, after = ([*_WORD.finditer(line)] for line in (old, new))
    words, others = ([match[0] for match in line] for line in (before, after))
    for what, start, end, first, last in SequenceMatcher(None, words, others, autojunk=False).get_opcodes():
        if what == "replace" and end - start == last - first:
            for one, two in zip(before[start:end], after[first:last], strict=True):
                around = old[max(0, one.start() - 1) : one.start()] + old[one.end() : one.end() + 1]
                if "_" in one[0] or one[0].startswith("-") or any(mark in _MARKS for mark in around):
                    yield one[0], two[0]


def _options_of(tool: str, line: str) -> Iterator[str]:
    """Yield the options of the calls of the tool that a line shows."""
    name = re.escape(tool).replace(r"\-", "[- ]")
    for call in re.finditer(rf"(?:^|[|;&`$>])\s*(?:\S*/|npx |uvx )?{name}(?:\.\w+)?(?=\s)([^|;&`#]*)", line):
        yield from (word for word in re.findall(r"(?<!\S)--?[A-Za-z][\w-]*", call[1]))


def _is_known(option: str, offered: Collection[str]) -> bool:
    """Return True for an option, its beginning or negation, and for several short ones in one word."""
    bundled = not option.startswith("--") and option[:2] in offered
    positive = option.replace("--no-", "--", 1)
    begins = len(option) > 2 and any(name.startswith(option) for name in offered)
    return bundled or begins or not {option, positive}.isdisjoint({*offered, *GENERAL})
