"""Shorten long texts, with a note of how much is left out."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tidegate.text.safe import printable

MAX_CHARACTERS = 4000  # of a text in a trial's record
MOST_LINE = 300  # characters of a line that is never cut
_STACK = re.compile(  # stack traces: Python's, then those of Node and Java
    r"^[ \t]*Traceback \(most recent call last\):\n(?:[ \t].*\n|\n)*|^[ \t]+at \S.*\n?", re.MULTILINE
)
ERROR = re.compile(
    r"\b(?:error|exception|fatal|failed|cannot|not found|no such|panic)\b|\w+(?:Error|Exception)\b", re.IGNORECASE
)
_OF_TRIAL = re.compile(r"(?:/[\w.-]+)+/tidegate-(?:run|memory)-\w+/[0-9a-f]{16}/(?:workspace/)?")
BEFORE, AROUND = 1, 3  # lines that are quoted with that of the error


def shortened(text: str, limit: int) -> str:
    """Return at most `limit` characters, the last one an ellipsis if something is missing."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def without_places(text: str) -> str:
    """Return the text with paths relative to the folders of trials and checkouts, which are new in each run."""
    return _OF_TRIAL.sub("", text)


def excerpt(text: str, limit: int = 300) -> str:
    """Return one printable line of at most `limit` characters, without control or invisible characters.

    Longer text is cut in the middle, because tools put the reason either first or last.
    """
    # Only the ends of a long text are cleaned, so that huge output costs little.
    window = text if len(text) <= 8 * limit else f"{text[: 4 * limit]} … {text[-4 * limit :]}"
    line = " ".join(printable(window).split())
    return middle_cut(line, limit)


def complaint(text: str, limit: int = 300) -> str:
    """Return a failed program's output like `excerpt`, without its stack trace, which would hide the message."""
    return excerpt(without_stack(text), limit)


def without_stack(text: str) -> str:
    """Return a failed program's output without its stack trace; the whole text if it has nothing else."""
    rest = _STACK.sub("", text)
    return rest if rest.strip() else text


def error_lines(text: str) -> list[str]:
    """Return what to quote of a failed program's output: its last line that names an error, and lines around it.

    Its stack trace is not quoted. If no line names an error, the last lines are returned.
    """
    lines, place = _place_of_error(text)
    start = max(0, min(place - BEFORE, len(lines) - AROUND - 1))
    return lines[start : start + AROUND + 1]


def error_line(text: str) -> str:
    """Return the last line that names an error, else the last one; "" without any."""
    lines, place = _place_of_error(text)
    return lines[place] if lines else ""


def _place_of_error(text: str) -> tuple[list[str], int]:
    """Return the lines outside of stack traces, and the place of the one that names the error."""
    lines = [line.strip() for line in without_stack(text).splitlines() if line.strip()]
    return lines, max((place for place, line in enumerate(lines) if ERROR.search(line)), default=len(lines) - 1)


def clipped(text: str, limit: int) -> str:
    """Return a text with its line breaks, without empty lines, in at most about `limit` printable characters.

    Longer text loses lines in its middle, as `first_and_last_lines` says.
    """
    window = first_and_last_lines(text, 8 * limit)  # so that huge output costs little
    lines = (line.rstrip() for line in printable(window).replace("\t", "    ").split("\n"))
    return first_and_last_lines("\n".join(line for line in lines if line), limit)


def first_and_last_lines(text: str, limit: int) -> str:
    """Return whole lines from the start and the end of a text, with a note where lines are left out.

    Lines are taken from both ends in turn while they fit into `limit` characters. The last line is taken first, as it
    often has the error. Lines of up to 300 characters stay whole; a longer one keeps its start and end.
    """
    if len(text) <= limit:
        return text
    lines = text.strip("\n").split("\n")
    most = max(MOST_LINE + 20, limit // len(lines))  # with what a diff puts in front of it
    first: list[str] = []
    last: list[str] = []
    room = limit
    while len(first) + len(last) < len(lines):
        at_end = len(last) <= len(first)
        line = middle_cut(lines[-len(last) - 1] if at_end else lines[len(first)], most)
        room -= len(line) + 1
        if room < 0 and first:
            break
        (last if at_end else first).append(line)
    note = ["… lines left out …"] if len(first) + len(last) < len(lines) else []
    return "\n".join((*first, *note, *reversed(last)))


def middle_cut(line: str, limit: int) -> str:
    """Return at most `limit` characters of a line: its start and its end, around an ellipsis."""
    if len(line) <= limit:
        return line
    head = limit // 2
    return f"{line[:head]}…{line[len(line) - (limit - head - 1) :]}"


def last_part(text: str) -> str:
    """Return the end of the text, where an answer or error usually is, in at most about MAX_CHARACTERS."""
    cut = len(text) - MAX_CHARACTERS
    return text if cut <= 0 else f"[{cut} characters left out]\n{text[cut:]}"


def both_ends(text: str, limit: int) -> str:
    """Return the start and end of a text longer than `limit` characters, with a note of how much is cut between."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[-half:]}"


_LEFT_OUT = re.compile(r"\[(?:… )?\d+ (?:characters|bytes) left out")


def is_cut(text: str) -> bool:
    """Return True if a part of the text is left out."""
    return _LEFT_OUT.search(text) is not None


def is_partial(text: str) -> bool:
    """Return True if a part of the text is left out, or was not UTF-8: a check can overlook what it looks for."""
    return is_cut(text) or "\ufffd" in text


def first_and_last(lines: list[str], most: int) -> list[str]:
    """Return at most `most` lines, the first and the last, and between them the number of lines left out.

    A single line more is kept, as the note would take its place.
    """
    left_out = len(lines) - most
    if left_out <= 1:
        return lines
    half = most // 2
    return [*lines[:half], f"… {left_out:,} lines left out …", *lines[half + left_out :]]


_BYTE = re.compile("[\udc80-\udcff]")  # as `os.fsdecode` writes one


def shown_name(name: str) -> str:
    r"""Return the name of a file as text: a byte that is not UTF-8 becomes `\xff`."""
    return _BYTE.sub(lambda found: f"\\x{ord(found[0]) - 0xDC00:02x}", name)


def few(names: Iterable[str]) -> str:
    """Return the first name, and how many more there are."""
    first, *rest = map(shown_name, names)
    more = f", {rest[0]}" if len(rest) == 1 else f" and {len(rest)} more" if rest else ""
    return first + more
