"""The scripts of gates that are files of the workspace: run as the scenario has them, whatever a trial made of them."""

from __future__ import annotations

import re
import shlex
import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from tidegate.trial.processes import Account
from tidegate.trial.safe_files import content_of, copy_below, open_regular

_INTERPRETER = re.compile(r"(ba|da|z|k)?sh|python[\d.]*|node|ruby|perl|source|\.")
_ASSIGNMENT = re.compile(r"\w+=")
_SEPARATORS = frozenset({";", "&&", "||", "|", "&", "(", ")"})
_SOURCED = re.compile(r"(?m)(?:^|[;&|{(])[ \t]*(?:\.|source)[ \t]+([^;&|\n]+)")
MOST_BYTES = 1_000_000  # of a script, which is searched for what it starts


def restore_scripts(command: str, template: Path, workspace: Path, account: Account | None) -> tuple[str, ...]:
    """Put the scripts that `command` runs back as they are in the template; return those that had been changed."""
    owner = (account.uid, account.gid) if account else None
    changed = [name for name in script_files(command, template) if not is_same(template / name, workspace / name)]
    for name in changed:
        copy_below(workspace, name, template / name, owner)
    return tuple(changed)


def script_files(command: str, template: Path) -> tuple[str, ...]:
    """Return the files of the template that the command runs, and what these shell scripts source.

    A file is run as a program, or as an interpreter's first argument.
    """
    found = dict.fromkeys(_run_files(command, template))
    todo = [*found]
    while todo:
        name = todo.pop()
        new = [one for one in _sourced(name, template) if one not in found]
        found |= dict.fromkeys(new)
        todo += new
    return tuple(found)


def _sourced(name: str, template: Path) -> Iterator[str]:
    """Yield the files of the template that this one sources: by their path, or beside it where the path is computed."""
    for rest in _SOURCED.findall(text_of(template / name)):
        words = re.sub(r"[\"']", "", rest).rpartition("/")
        file = (words[2].split() or ["_"])[0]
        yield from _in_template(words[0] + words[1] + file, template)
        yield from _in_template(str(PurePosixPath(name).parent / file), template)


def text_of(path: Path) -> str:
    """Return the text of a regular file, at most `MOST_BYTES`; empty if it is none."""
    file = open_regular(path)
    if file is None:
        return ""
    with file:
        return file.read(MOST_BYTES).decode(errors="replace")


def _run_files(command: str, template: Path) -> tuple[str, ...]:
    words = shlex.shlex(command, posix=True, punctuation_chars=True)
    words.whitespace_split = True
    found: dict[str, None] = {}
    try:
        program: str | None = None  # of the simple command; None: its program comes next
        for word in words:
            if word in _SEPARATORS:
                program = None
            elif program is None and not _ASSIGNMENT.match(word):
                program = word
                found |= _in_template(word, template)
            elif program and _INTERPRETER.fullmatch(program.rpartition("/")[2]) and not word.startswith("-"):
                found |= _in_template(word, template)
                program = ""  # what follows are the script's own arguments
    except ValueError:  # an open quote: the shell will refuse the command
        pass
    return tuple(found)


def _in_template(word: str, template: Path) -> dict[str, None]:
    name = PurePosixPath(word)
    inside = not name.is_absolute() and ".." not in name.parts and ".git" not in name.parts
    return {str(name): None} if inside and (template / name).is_file() else {}


def is_same(original: Path, now: Path) -> bool:
    """Return True if both are regular files with the same content, and both or neither can be run."""
    first = content_of(original)
    return first is not None and stat.S_ISREG(first.kind) and first == content_of(now, {first.size})
