"""Commands with placeholders such as `{prompt}`, whose values are shell-quoted. `{{` and `}}` are literal braces."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from string import Formatter


def check_placeholders(command: str, known: Sequence[str]) -> str:
    """Return the command. Raises ValueError for a placeholder that is unknown or stands inside quotes."""
    before = ""
    for literal, name in _parts(command):
        before += literal
        if name is None:
            continue
        if name not in known:
            names = ", ".join(f"{{{one}}}" for one in known)
            raise ValueError(f"unknown placeholder {{{name}}}; there are {names}; write {{{{ for a brace")
        if _is_quoted(before):
            raise ValueError(f"{{{name}}} stands inside quotes; it is quoted already, write it bare")
    return command


def placeholders_of(command: str) -> set[str]:
    """Return the names of the placeholders in the command."""
    return {name for _, name in _parts(command) if name is not None}


def filled_command(command: str, values: Mapping[str, str]) -> str:
    """Return the command with each placeholder's value, shell-quoted."""
    return "".join(literal + ("" if name is None else shlex.quote(values[name])) for literal, name in _parts(command))


def _parts(command: str) -> Iterator[tuple[str, str | None]]:
    """Yield the literal texts of the command, each with the placeholder that follows it, if any."""
    for literal, name, specification, conversion in Formatter().parse(command):
        if specification or conversion:
            raise ValueError(f"{{{name}}}: a placeholder is a name in braces and nothing more")
        yield literal, name


def _is_quoted(before: str) -> bool:
    try:
        shlex.split(before)
    except ValueError:
        return True
    return False
