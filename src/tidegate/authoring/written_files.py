"""Shell that shows the files that a call writes: texts whole, and the digests of binary files."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from tidegate.model.event import CommandResult

DATA = re.compile(r"[\0-\x08\x0e-\x1a]")  # never in a text, in any encoding
_BINARY = re.compile(r"[\0-\x08\x0b-\x1a\ufffd\udc80-\udcff]")
_COPIED = "copied"  # a folder
_OWN = re.compile(r"(?i)(?:^|/)\.|cache|\.py[co]$")


def then_show(line: str, ran: CommandResult, written: Mapping[str, str], *, removes: bool = False) -> str:
    """Return the line, and a command that shows these files, with the status that the line had. Some tools refuse to
    write what is there: `removes` leaves none.
    """
    show = "sha256sum" if any(map(_BINARY.search, written.values())) else "cat"
    shown = shlex.join([show, *written]) + (f" && {shlex.join(['rm', *written])}" if removes else "")
    return f"{line}; status=$?; {shown}; (exit $status)" if ran.exit_code else f"{line} && {shown}"


def on_copies(line: str, names: Sequence[str]) -> tuple[str, dict[str, str]] | None:
    """Return the line on copies of these files, which it makes first, and the copies by name; None if it names neither
    them all nor their folder.
    """
    copies = {name: f"copy{number or ''}{PurePosixPath(name).suffix}" for number, name in enumerate(names)}
    words = line.split()
    for word in words if names else ():
        if all(name.startswith(inside := f"{word.rstrip('/')}/") for name in names):
            called = re.sub(rf"(?<!\S){re.escape(word)}(?!\S)", _COPIED, line)
            below = {name: f"{_COPIED}/{name.removeprefix(inside)}" for name in names}
            return f"rm -rf {_COPIED} && cp -r {inside} {_COPIED} && {called}", below
    if not copies or not all(name in words and copy not in words for name, copy in copies.items()):
        return None
    made = (f"cp {name} {copy}" for name, copy in copies.items())
    return " && ".join((*made, re.sub(r"\S+", lambda word: copies.get(word[0], word[0]), line))), copies


def is_result(name: str, content: str) -> bool:
    """Return True unless this is a binary file that the program seems to keep for itself."""
    return not (_BINARY.search(content) and _OWN.search(name))


def as_text(content: str) -> str:
    """Return the content; as a literal, if it is binary."""
    return repr(content) if _BINARY.search(content) else content
