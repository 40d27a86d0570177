"""Shorten untrusted text to one printable line for a message."""

from __future__ import annotations

import re
import unicodedata

_ESCAPE_SEQUENCES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|\x1b[\]PX^_].*?(?:\x07|\x1b\\|$)"  # OSC and other strings: titles, links
    r"|\x1b[ -/]*[0-~]?"  # every other escape
)
_STACK = re.compile(  # stack traces: Python's, then those of Node and Java
    r"^[ \t]*Traceback \(most recent call last\):\n(?:[ \t].*\n|\n)*|^[ \t]+at \S.*\n?", re.MULTILINE
)


def excerpt(text: str, limit: int = 300) -> str:
    """Return one printable line of at most `limit` characters, without control or invisible characters.

    Longer text is cut in the middle, because tools put the reason either first or last.
    """
    # Only the ends of a long text are cleaned, so that huge output costs little.
    window = text if len(text) <= 8 * limit else f"{text[: 4 * limit]} … {text[-4 * limit :]}"
    line = " ".join("".join(map(_printable, _ESCAPE_SEQUENCES.sub("", window))).split())
    if len(line) <= limit:
        return line
    head = limit // 2
    tail = limit - head - 1
    return f"{line[:head]}…{line[len(line) - tail :]}"


def complaint(text: str, limit: int = 300) -> str:
    """Return a failed program's output like `excerpt`, without its stack trace, which would hide the message."""
    return excerpt(_STACK.sub("", text), limit) or excerpt(text, limit)


def _printable(character: str) -> str:
    match unicodedata.category(character):
        case "Cc":
            return " "
        case "Cf":
            return ""
        case "Cs" | "Co" | "Cn":
            return "\N{REPLACEMENT CHARACTER}"
        case _:
            return character
