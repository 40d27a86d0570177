"""Foreign text made fit for one line of a message."""

from __future__ import annotations

import re
import unicodedata

_ESCAPE_SEQUENCES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|\x1b[\]PX^_].*?(?:\x07|\x1b\\|$)"  # OSC and other strings: titles, links
    r"|\x1b[ -/]*[0-~]?"  # every other escape
)


def excerpt(text: str, limit: int = 300) -> str:
    """One printable line of at most `limit` characters: no control or invisible character, cut from the middle.

    Tools put their reason first or last, so both ends are kept.
    """
    window = text if len(text) <= 8 * limit else f"{text[: 4 * limit]} … {text[-4 * limit :]}"
    line = " ".join("".join(map(_printable, _ESCAPE_SEQUENCES.sub("", window))).split())
    if len(line) <= limit:
        return line
    head = limit // 2
    tail = limit - head - 1
    return f"{line[:head]}…{line[len(line) - tail :]}"


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
