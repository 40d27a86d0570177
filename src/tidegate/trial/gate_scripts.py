"""The scripts of gates that are files of the workspace: run as the scenario has them, whatever a trial made of them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path, PurePosixPath

from tidegate.trial.processes import Account
from tidegate.trial.safe_files import copy_below, open_regular

_INTERPRETER = re.compile(r"(ba|da|z|k)?sh|python[\d.]*|node|ruby|perl")
_ASSIGNMENT = re.compile(r"\w+=")
_SEPARATORS = frozenset({";", "&&", "||", "|", "&", "(", ")"})


def restore_scripts(command: str, template: Path, workspace: Path, account: Account | None) -> tuple[str, ...]:
    """Put the scripts that `command` runs back as they are in the template; return those that had been changed."""
    owner = (account.uid, account.gid) if account else None
    changed = [name for name in script_files(command, template) if not is_same(template / name, workspace / name)]
    for name in changed:
        copy_below(workspace, name, template / name, owner)
    return tuple(changed)


def script_files(command: str, template: Path) -> tuple[str, ...]:
    """Return the files of the template that the command runs: as a program, or as an interpreter's first argument."""
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
            elif program and _INTERPRETER.fullmatch(PurePosixPath(program).name) and not word.startswith("-"):
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
    if (first := open_regular(original)) is None:
        return False
    with first:
        if (second := open_regular(now)) is None:
            return False
        with second:
            modes = [file.stat().st_mode & 0o111 for file in (original, now)]
            return modes[0] == modes[1] and first.read() == second.read()
