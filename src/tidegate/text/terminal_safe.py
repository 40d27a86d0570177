"""Text that agents, scenarios and pull requests wrote, made safe to look at: no control characters, nothing hidden."""

from __future__ import annotations

import re
import unicodedata

_ESCAPE_SEQUENCE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)?"  # OSC: titles, links
    r"|\x1b[PX^_][^\x1b\n]*(?:\x1b\\)?"  # DCS, SOS, PM, APC
    r"|\x1b[ -/]*[0-~]"
    r"|\x9b[0-?]*[ -/]*[@-~]"
)
_BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\U000e0100-\U000e01ef]")
_LINE_BREAK = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_WORKFLOW_COMMAND = re.compile(r"^(\s*:)(?=:)")


def visible(text: str) -> str:
    r"""The text without escape sequences and control characters (but `\n` and `\t`).

    Characters that hide or reorder others (bidi marks, zero-width characters), and letters that leave no ink, are shown
    as `[U+202E]`.
    """
    text = _LINE_BREAK.sub("\n", _ESCAPE_SEQUENCE.sub("", text))
    text = text if text.isprintable() else "".join(c if c.isprintable() else _shown(c) for c in text)
    return _BLANK.sub(lambda blank: _named(blank[0]), text)


def one_line(text: str) -> str:
    """The visible text as one line with single spaces."""
    return " ".join(visible(text).split())


def shortened(text: str, limit: int) -> str:
    """At most `limit` characters, the last one an ellipsis if something is missing."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def log_line(line: str) -> str:
    """One line for a log that can not be read as a workflow command (`::name::`, `##[name]`) by a runner."""
    flat = visible(line).replace("\n", " ").rstrip()
    return _WORKFLOW_COMMAND.sub(r"\1 ", flat).replace("##[", "## [")


def _shown(character: str) -> str:
    match unicodedata.category(character):
        case "Cc":
            return character if character in "\n\t" else ""
        case "Cf":
            return _named(character)
        case "Cs":
            return "\N{REPLACEMENT CHARACTER}"  # half of a pair: no encoding can carry it
        case _:
            return character


def _named(character: str) -> str:
    return f"[U+{ord(character):04X}]"
