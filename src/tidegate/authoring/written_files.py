"""Shell that shows the files that a call writes: texts whole, and of others their digests."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from tidegate.model.event import CommandResult

DATA = re.compile(r"[\0-\x08\x0e-\x1a]")  # what no text has, in any encoding
_NO_UTF8 = re.compile(r"[\0-\x08\x0b-\x1a\ufffd\udc80-\udcff]")

_OWN = re.compile(r"(?i)(?:^|/)\.|cache|\.py[co]$")


def then_show(line: str, ran: CommandResult, written: Mapping[str, str]) -> str:
    """Return the line, and a command that shows these files, with the status that the line had."""
    show = "sha256sum" if any(map(_NO_UTF8.search, written.values())) else "cat"
    shown = shlex.join([show, *written])
    return f"{line}; status=$?; {shown}; (exit $status)" if ran.exit_code else f"{line} && {shown}"


def is_result(name: str, content: str) -> bool:
    """Return True unless a file that is no text looks like one that the program keeps for itself."""
    return not (_NO_UTF8.search(content) and _OWN.search(name))


def as_text(content: str) -> str:
    """Return the content; as a literal, if it is no text."""
    return repr(content) if _NO_UTF8.search(content) else content
