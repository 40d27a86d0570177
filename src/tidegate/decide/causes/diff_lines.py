"""The changed lines of the pull request's files, and the ones that a cause points to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from tidegate.decide.causes.seen import named_in
from tidegate.model.cause import ChangedLine, Place
from tidegate.model.result import FileChange

_HUNK = re.compile(r"^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_FILE_HEADER = ("---", "+++", "diff ", "index ", "new file", "deleted file")
_COMMENT = re.compile(r"#(?!include|define|if|!)|//|/\*|\* |<!--")
_NAMES = (re.compile(r"""["']([\w./-]*\w)["']"""), re.compile(r"(?<![\w-])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?![\w-])"))
_MAN_PAGES = frozenset(f".{section}" for section in "12345678")
_DOCS = (".md", ".markdown", ".rst", ".txt", ".mdc", ".adoc")
MOST = 200  # characters of a line
MOST_EDITS = 20  # of one name


def changed_lines(changes: Iterable[FileChange]) -> Iterator[Place]:
    """Yield the removed and added lines of all watched files, in the order of the diffs."""
    for block in changed_blocks(changes):
        yield from block


def edits_of(names: Sequence[str], changes: Sequence[FileChange], most: int) -> tuple[ChangedLine, ...]:
    """Return the places whose removed line has the first of the names that any has, with the line that replaced each.

    Without a removed line, an added one that has the name counts. Lines that define an option come first, then code;
    those of tests and comments count only if there are none. Without any name, it is the only changed place, if any.
    """
    blocks = [
        ([line for line in block if line.side == "base"], [line for line in block if line.side == "head"])
        for block in changed_blocks(changes)
    ]
    for name in names:
        gone = [(line, old, new) for old, new in blocks if not _naming(new, name) for line in _naming(old, name)]
        found = gone or [(line, new, old) for old, new in blocks for line in _naming(new, name)]
        if found:
            best = min(_rank(line, name) for line, *_ in found)
            pairs = [(line, _closest(line, *sides)) for line, *sides in found if _rank(line, name) == best][:most]
            return tuple(
                ChangedLine(removed=one, added=two) if gone else ChangedLine(removed=two, added=one)
                for one, two in pairs
            )
    return only_change(changes)


def replacement(name: str, edits: Iterable[ChangedLine]) -> str:
    """Return the name that the changed lines have in place of this one; '' if they do not agree on one."""
    pairs = [(edit.removed.text, edit) for edit in edits if edit.removed and edit.added]
    forms = [(form, edit) for text, edit in pairs for form in (name, name.lstrip("-")) if named_in(text, form)]
    found = {name.removesuffix(form) + new for form, edit in forms if (new := _replaced(form, edit))}
    return found.pop() if len(found) == 1 else ""


def _replaced(name: str, edit: ChangedLine) -> str:
    """Return the only word of the same form that the added line has in addition; '' if there is not exactly one."""
    if new := dict(_renamed(edit)).get(name):
        return new
    ours, theirs = ([*map(str, re.findall(r"[\w-]+", one.text))] for one in (edit.removed, edit.added) if one)
    if name not in ours or name in theirs:
        return ""
    alike = [word for word in dict.fromkeys(theirs) if word not in ours and _dashes(word) == _dashes(name)]
    place = ours.index(name)
    if len(alike) > 1 and theirs[:place] == ours[:place] and theirs[place] in alike:
        return theirs[place]
    return alike[0] if len(alike) == 1 else ""


def renamed(changes: Sequence[FileChange]) -> dict[str, str]:
    """Return the names that the changed code has no longer, each with the only one that it has in their place."""
    code = [change for change in changes if not is_doc(change.path) and not is_test(change.path)]
    lines = [line for line in changed_lines(code) if not _COMMENT.match(line.text)]
    head = [line for line in lines if line.side == "head"]
    names = {name for line in lines if line.side == "base" for form in _NAMES for name in form.findall(line.text)}
    gone = sorted(name for name in names if not _naming(head, name))
    found = {name: replacement(name, edits_of((name,), code, MOST_EDITS)) for name in gone}
    return {old: new for old, new in found.items() if new}


def _renamed(edit: ChangedLine) -> Iterator[tuple[str, str]]:
    """Yield the quoted word, or variable, that only the removed line has, with the one that only the added line has."""
    for form in _NAMES if edit.removed and edit.added else ():
        ours, theirs = (dict.fromkeys(form.findall(one.text)) for one in (edit.removed, edit.added) if one)
        gone, new = ([word for word in own if word not in other] for own, other in ((ours, theirs), (theirs, ours)))
        if len(gone) == len(new) == 1 and _dashes(gone[0]) == _dashes(new[0]):
            yield gone[0], new[0]


def _dashes(word: str) -> int:
    return len(word) - len(word.lstrip("-"))


def _naming(lines: Iterable[Place], name: str) -> list[Place]:
    return [line for line in lines if named_in(line.text, name) or _defines(line.text, name)]


def _defines(text: str, option: str) -> bool:
    """Return True for code that reads the option, and not for a help text or an example that shows it.

    It is a quoted word or the start of one, a pattern of a shell's `case`, a letter for `getopt`, a key or a field.
    """
    stem = option.lstrip("-")
    if not stem or stem == option:
        return False
    word = re.escape(stem)
    forms = [
        rf"""["'](?:[\w?-]+\|)*-{{0,2}}{word}(?:\|[\w?-]+)*(?:[=:!+]\w*)?["']""",  # also `output|o=s`
        rf"""["'](?:-\w, ?)?{re.escape(option)}(?:, ?--?[\w-]+)?[ =](?:<|\[[A-Za-z]|[A-Z_]+["'])""",  # `--out <file>`
        rf"^\(?[\w\-=*| ]*(?<![\w-]){re.escape(option)}(?![\w-])[\w\-=*| ]*\)",
        rf"""getopts?\b[^"']*["'][\w:?+-]*{word}""",
        rf"=\s*{re.escape(option)}(?![\w-])",  # `[ "$1" = --out ]`
    ]
    if len(stem) > 1:
        field = "(?i:" + word.replace(r"\-", "[-_]?") + ")"  # `toFile` and `to_file` for `--to-file`
        forms += [rf"^{field}\s*:(?!\s*\w+ \w+ )", rf"\w\.{field}(?![\w(-])"]
    return any(re.search(form, text) for form in forms)


def _rank(line: Place, name: str = "") -> int:
    """Return 0 for a line that defines the name, 1 for other code, 2 for a test, and 3 for a comment."""
    if _COMMENT.match(line.text):
        return 3
    return 2 if is_test(line.path) else int(not _defines(line.text, name))


def is_dropped(name: str, changes: Iterable[FileChange]) -> bool:
    """Return True if lines of code that define an option, or quote a word, are removed, and no line has it now."""
    lines = _naming(changed_lines(one for one in changes if not is_doc(one.path)), name)
    code = [line for line in lines if _rank(line, name) == 0 or f"'{name}'" in line.text.replace('"', "'")]
    return any(_rank(line) <= 1 for line in code) and all(line.side == "base" for line in lines)


def is_doc(path: str) -> bool:
    """Return True for a text that people and agents read."""
    return path.lower().endswith(_DOCS) or path[-2:] in _MAN_PAGES


def is_test(path: str) -> bool:
    """Return True for a file of the tool's own tests."""
    return any(part.startswith(("test", "spec", "feature")) for part in path.lower().split("/"))


def only_change(changes: Sequence[FileChange]) -> tuple[ChangedLine, ...]:
    """Return the first removed and added line of the only changed place; none if there are several."""
    blocks = [*changed_blocks(changes)]
    if len(blocks) != 1:
        return ()
    gone = next((line for line in blocks[0] if line.side == "base"), None)
    new = next((line for line in blocks[0] if line.side == "head" and line.text), None)
    return (ChangedLine(removed=gone, added=new),) if gone or new else ()


def _closest(line: Place, own: Sequence[Place], others: Sequence[Place]) -> Place | None:
    """Return the line that shares the most words with this one, of several the one at its place; None without any."""
    words, at = set(re.findall(r"\w+", line.text)), own.index(line)
    ranks = {
        (-len(words.intersection(re.findall(r"\w+", other.text))), abs(at - place)): other
        for place, other in reversed(list(enumerate(others)))
    }
    return ranks[min(ranks)] if ranks else None


def changed_blocks(changes: Iterable[FileChange]) -> Iterator[list[Place]]:
    """Yield each run of changed lines without an unchanged line between."""
    for change in changes:
        if change.role == "watched":
            for changed, lines in groupby(_lines(change), key=lambda line: line is not None):
                if changed:
                    yield [line for line in lines if line is not None]


def _lines(change: FileChange) -> Iterator[Place | None]:
    """Yield the changed lines of a diff, and None for each unchanged one."""
    before = after = 0
    for line in change.diff.splitlines():
        hunk = _HUNK.match(line)
        if hunk:
            before, after = int(hunk[1]), int(hunk[2])
            yield None
        elif not before and not after and line.startswith(_FILE_HEADER):
            continue
        elif line.startswith("-"):
            yield Place(side="base", path=change.path, line=before, text=line[1:].strip()[:MOST])
            before += 1
        elif line.startswith("+"):
            yield Place(side="head", path=change.path, line=after, text=line[1:].strip()[:MOST])
            after += 1
        elif not line.startswith("\\"):
            before, after = before + 1, after + 1
            yield None
