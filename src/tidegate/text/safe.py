"""Make untrusted text safe to show: no control characters, no escape sequences, nothing hidden."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from tidegate.text.redaction import masked_secrets

_ESCAPE_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)?"  # OSC: titles, links
    r"|\x1b[PX^_][^\x1b\n]*(?:\x1b\\)?"  # DCS, SOS, PM, APC
    r"|\x1b[ -/]*[0-~]"
)
# Letters that leave no ink, and variation selectors. They count as printable.
_BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\U000e0100-\U000e01ef]")
_LINE_BREAK = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
# In JSON without its escaped backslashes: every control character but a line break and a tab.
_ESCAPED = re.compile(r"\\[^nt\"]")
_SPACES = ("\u00a0", "\u2009", "\u202f")  # which reports have, and which do not count as printable
_WORKFLOW_COMMAND = re.compile(r"^(\s*:)(?=:)")


def visible(text: str) -> str:
    r"""Return the text without escape sequences and control characters (but `\n` and `\t`).

    Characters that hide or reorder others (bidi marks, zero-width characters), and letters that leave no ink, are shown
    as `[U+202E]`.
    """
    return _safe(text, _named)


def is_visible_json(text: str) -> bool:
    """Return True if `visible` changes no text in this JSON, which was written with `ensure_ascii=False`."""
    if _ESCAPED.search(text.replace(r"\\", "")):
        return False
    if text.isascii():
        return text.isprintable()  # most are; to look for each of the others takes ten times as long
    if _BLANK.search(text):
        return False
    for space in _SPACES:
        text = text.replace(space, " ")
    return text.isprintable()


def printable(text: str) -> str:
    """Return the text like `visible`, but without the hidden characters, which a model reads and people cannot see."""
    return _safe(text, lambda hidden: "")


def one_line(text: str) -> str:
    """Return the visible text as one line with single spaces."""
    return " ".join(visible(text).split())


def log_line(line: str) -> str:
    """Return one line for a log, without secrets, that a runner does not read as a workflow command.

    These are `::name::` and `##[name]`.
    """
    flat = masked_secrets(visible(line)).replace("\n", " ").rstrip()
    return _WORKFLOW_COMMAND.sub(r"\1 ", flat).replace("##[", "## [")


def _safe(text: str, hidden: Callable[[str], str]) -> str:
    if text.isascii() and text.isprintable():
        return text  # most text; the patterns take ten times as long
    text = _LINE_BREAK.sub("\n", _ESCAPE_SEQUENCE.sub("", text))
    if not text.isprintable():
        text = "".join(c if c.isprintable() else _replaced(c, hidden) for c in text)
    return _BLANK.sub(lambda blank: hidden(blank[0]), text)


def _replaced(character: str, hidden: Callable[[str], str]) -> str:
    match unicodedata.category(character):
        case "Cc":
            return character if character in "\n\t" else ""
        case "Cf" | "Co" | "Cn":
            return hidden(character)
        case "Cs":
            return "\N{REPLACEMENT CHARACTER}"  # half of a pair: no encoding can carry it
        case _:
            return character


def _named(character: str) -> str:
    """Return the code point of a hidden character; private and unassigned ones, such as new emoji, are kept."""
    return character if unicodedata.category(character) in ("Co", "Cn") else f"[U+{ord(character):04X}]"
