"""Find the repository files that an evaluator script's command may name."""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Iterator


def named_files(command: str, folder: str) -> tuple[str, ...]:
    """Return paths, relative to the repository's root, that words of the command may name. They need not exist."""
    paths = (posixpath.normpath(posixpath.join(folder, word)) for word in _words(command))
    return tuple(dict.fromkeys(path for path in paths if not path.startswith(("/", "..")) and path != "."))


def _words(command: str) -> Iterator[str]:
    """Yield the words of a shell command that may be files; for `python -m checks.judge`, its file and its package."""
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
