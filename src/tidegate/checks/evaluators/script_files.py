"""Find the repository files that a command may name: an evaluator's script, a judge, or an agent's program."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterable, Iterator

from tidegate.model.evaluator import Evaluator
from tidegate.model.judge import Judge

MAX_NAME = 255  # characters; longer words are not looked up as files
_VARIABLE = re.compile(r"\$\{?\w+\}?/?")
_WILDCARD = re.compile(r"([^*?[]*)[*?[]")
_NAME = re.compile(r"[\w.+@%~/-]+")  # in quotes, after `=` or `:`, before a wildcard


def named_files(command: str, folder: str) -> tuple[str, ...]:
    """Return paths, relative to the repository's root, that the command may name. They need not exist."""
    paths = (posixpath.normpath(posixpath.join(folder, word)) for word in _words(command) if len(word) <= MAX_NAME)
    fit = (path for path in paths if not ("\0" in path or path.startswith(("/", ".."))) and path != ".")
    return tuple(dict.fromkeys(fit))


def files_of(checks: Iterable[Evaluator | Judge]) -> tuple[str, ...]:
    """Return the paths that the scripts of evaluators and judges may name."""
    scripts = (script for check in checks for script in check.scripts)
    return tuple(dict.fromkeys(path for command, folder in scripts for path in named_files(command, folder)))


def _words(command: str) -> Iterator[str]:
    """Yield whatever in the command may be a path, and for what may be a module of Python, its files.

    Before a wildcard, it is the folder in which that is.
    """
    for name in _NAME.findall(_VARIABLE.sub(" ", command)):
        word = name.lstrip("-") if name.startswith("--") else name[2:] if name.startswith("-") else name
        yield from (word, word.lstrip("@"))
        if "/" not in word:
            module = word.replace(".", "/")
            yield from (module, f"{module}.py", module.partition("/")[0])
    try:
        words = shlex.split(command)
    except ValueError:  # quoting that only a shell understands
        return
    yield from words
    yield from (posixpath.join(posixpath.dirname(one[1]), ".") for word in words if (one := _WILDCARD.match(word)))
