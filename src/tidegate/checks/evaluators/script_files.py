"""Find the repository files that a command may name: an evaluator's script, a judge, or an agent's program."""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Iterable, Iterator

from tidegate.model.evaluator import Evaluator
from tidegate.model.judge import Judge

MAX_NAME = 255  # characters; longer words are not looked up as files
NOT_IN_NAMES = set("*?[$`\0;|&()<>")


def named_files(command: str, folder: str) -> tuple[str, ...]:
    """Return paths, relative to the repository's root, that words of the command may name. They need not exist."""
    paths = (posixpath.normpath(posixpath.join(folder, word)) for word in _words(command))
    return tuple(dict.fromkeys(path for path in paths if not path.startswith(("/", "..")) and path != "."))


def files_of(checks: Iterable[Evaluator | Judge]) -> tuple[str, ...]:
    """Return the paths that the scripts of evaluators and judges may name."""
    scripts = (script for check in checks for script in check.scripts)
    return tuple(dict.fromkeys(path for command, folder in scripts for path in named_files(command, folder)))


def _words(command: str) -> Iterator[str]:
    """Yield the words of a shell command that may be files; for `python -m checks.judge`, its file and its package."""
    parts = shlex.shlex(command, posix=True, punctuation_chars=True)
    parts.whitespace_split = True
    parts.commenters = ""
    try:
        words = list(parts)
    except ValueError:  # quoting that only a shell understands
        words = command.split()
    for before, word in zip(["", *words], words, strict=False):
        if before == "-m":
            package = word.partition(".")[0]
            yield from (package, f"{package}.py", f"{word.replace('.', '/')}.py")
        elif 0 < len(word) <= MAX_NAME and not set(word) & NOT_IN_NAMES and not word.startswith("-"):
            yield word
