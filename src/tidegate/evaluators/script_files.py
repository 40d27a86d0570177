"""Which files of the repository the command of an evaluator's script may name."""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Iterator


def named_files(command: str, folder: str) -> tuple[str, ...]:
    """Paths from the repository's root that the words of the command can be; whether they exist is not known here."""
    paths = (posixpath.normpath(posixpath.join(folder, word)) for word in _words(command))
    return tuple(dict.fromkeys(path for path in paths if not path.startswith(("/", "..")) and path != "."))


def _words(command: str) -> Iterator[str]:
    """The words of a shell command that may be files; of `python -m checks.judge`, its file or its package."""
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    for before, word in zip(["", *words], words, strict=False):
        if before == "-m":
            module = word.replace(".", "/")
            yield from (module, f"{module}.py")
        elif word and not set(word) & set("*?[$`\0") and not word.startswith("-"):
            yield word
