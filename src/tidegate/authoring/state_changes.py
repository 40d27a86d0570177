"""Finds the commands of an example that change files, so that no gate repeats them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

_MARK = "-- files after command"
# All files and folders of the workspace and of HOME. Git writes its index when it only reads.
_LIST = (
    f"""(printf '\\n{_MARK} %s\\n' "$1"; cd "$files_at" && find . "$HOME"; find . "$HOME" -type f"""
    """ ! -path ./.git/index -exec cksum {} +; echo) 2>/dev/null"""
)
_PART = re.compile(rf"^{_MARK} (\d+)$", re.MULTILINE)


def probing(commands: Sequence[str]) -> str:
    """Return a script that runs the commands, and lists all files with their checksums before and after each."""
    steps = (step for number, command in enumerate(commands, 1) for step in (command, f"files {number}"))
    return "\n".join([f"files_at=$PWD; files() {{ {_LIST}; }}", "files 0", *steps])


def changing(commands: Sequence[str], output: str) -> frozenset[str]:
    """Return the commands that change files which the first one does not change, by the output of their script.

    The first asks for help: what that changes, such as a log, tells nothing. If the output is cut, none is returned.
    """
    listed = [frozenset(lines) for lines in _parts(output)]
    if len(listed) != len(commands) + 1:
        return frozenset()
    changed = [frozenset(map(_path, before ^ after)) for before, after in pairwise(listed)]
    return frozenset(command for command, paths in zip(commands, changed, strict=True) if paths - changed[0])


def _parts(output: str) -> Iterator[list[str]]:
    """Yield the lines of each list of files; what a command prints after it comes behind an empty line."""
    for found in _PART.finditer(output):
        yield output[found.end() :].lstrip("\n").partition("\n\n")[0].splitlines()


def _path(line: str) -> str:
    """Return the path of a line of `find`, or of `cksum`: two numbers, and the path."""
    return re.sub(r"^\d+ \d+ ", "", line)
