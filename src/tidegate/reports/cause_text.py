"""The words of a likely cause: what changed on head. Data is between backticks, and contains none."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from tidegate.model.cause import Cause, CauseKind
from tidegate.model.comparison import LeftFile
from tidegate.text.shorten import shortened

_MOST_LINE = 160
_LINE = 100  # characters of a line that a program printed
_MOST_EDITS = 3
_UNNAMED = "target"  # the name of an MCP server that the suite gives none


def says(cause: Cause) -> str:
    """Return the sentence, without its full stop."""
    return _SENTENCES[cause.kind](cause)


def cause_diff(cause: Cause) -> str:
    """Return the changed lines as a diff; '' if the cause points to none."""
    lines = (
        f"{sign}{shortened(place.text, _MOST_LINE)}"
        for edit in cause.edits[:_MOST_EDITS]
        for sign, place in (("-", edit.removed), ("+", edit.added))
        if place
    )
    return "\n".join(lines)


def left(files: Sequence[LeftFile]) -> str:
    """Return the lines of files that differ, as a diff."""
    return "\n".join(line for file in files for line in (f"  {file.path}:", *file.lines))


def _code(text: str, most: int = _LINE) -> str:
    return f"`{shortened(text.replace('`', chr(39)), most)}`"


def _first(texts: Sequence[str]) -> str:
    return texts[0] if texts else ""


def _plain(text: str) -> str:
    """Return a name of ours or a number without backticks, so that it cannot end a code span."""
    return shortened(text.replace("`", "'"), _LINE)


def _number(text: str) -> float:
    return float(text) if re.fullmatch(r"\d+(?:\.\d+)?(?:e-?\d+)?", text, re.ASCII) else 0.0


def _all(texts: Sequence[str], most: int = 3, word: str = "and") -> str:
    """Return the texts as code: `a`, `b` and 2 more."""
    shown = [_code(text) for text in texts[:most]] or [""]
    last = f"{len(texts) - most} more" if len(texts) > most else shown.pop()
    return f"{', '.join(shown)} {word} {last}" if shown else last


def _tool(call: str) -> str:
    """Return an MCP tool's name without that of a server that the suite does not name."""
    return _code(call.removeprefix(f"{_UNNAMED} "))


def _refused(cause: Cause) -> str:
    verb = "accept" if len(cause.about) > 1 else "accepts"
    instead = f"; {_all(cause.new)} {'are' if len(cause.new) > 1 else 'is'} new" if cause.new else ""
    calls = [one.removeprefix(f"{_UNNAMED} ") for one in cause.about]
    return f"{_all(calls)} no longer {verb} {_all(cause.names, word='or')}{instead}"


def _subcommand(cause: Cause) -> str:
    instead = f"; {_code(_first(cause.new))} is new" if cause.new else ""
    return f"{_code(_first(cause.about))} no longer has the command {_code(_first(cause.names))}{instead}"


def _value(cause: Cause) -> str:
    verb = f"{_code(_first(cause.new))} is new" if len(cause.new) == 1 else f"it accepts {_all(cause.new, 5)}"
    allowed = f"; {verb}" if cause.new else ""
    return f"{_tool(_first(cause.about))} no longer accepts the value {_code(_first(cause.names))}{allowed}"


def _type(cause: Cause) -> str:
    name, kind = _code(_first(cause.names)), _code(_first(cause.new))
    return f"{_tool(_first(cause.about))} now needs {name} to be of the type {kind}"


def _server_tool(cause: Cause) -> str:
    server = "" if _first(cause.about) in ("", _UNNAMED) else f" {_code(_first(cause.about))}"
    instead = f"; {_code(_first(cause.new))} is new" if cause.new else ""
    return f"the MCP server{server} no longer has the tool {_code(_first(cause.names))}{instead}"


def _server(cause: Cause) -> str:
    server = "" if _first(cause.about) in ("", _UNNAMED) else f" {_code(_first(cause.about))}"
    return f"the MCP server{server} ends, or does not start: {_code(cause.head)}"


def _json_key(cause: Cause) -> str:
    has = f"has the key {_code(_first(cause.new))} instead of" if cause.new else "no longer has the key"
    return f"the JSON of {_code(_first(cause.about), 60)} {has} {_code(_first(cause.names))}"


def _output(cause: Cause) -> str:
    what = _code(_first(cause.about), 60)
    prints, printed = ("has", "the line ") if cause.kind == "file" else ("prints", "")
    if not (cause.base or cause.head):
        return f"{what} {prints} other blank lines"
    if not cause.head:
        return f"{what} no longer {prints} {printed}{_code(cause.base)}".replace("no longer has", "lacks")
    if not cause.base:
        return f"{what} now {prints} {printed}{_code(cause.head)} in addition"
    if cause.base.split() == cause.head.split():
        return f"{what} {prints} {printed}{_code(cause.head.strip())} with other white space"
    return f"{what} {prints} {printed}{_code(cause.head)} instead of {_code(cause.base)}"


def _exit_code(cause: Cause) -> str:
    printed = f": {_code(_first(cause.new))}" if cause.new else ""
    status = f"{_plain(cause.head)} (was {_plain(cause.base)})"
    return f"{_code(_first(cause.about), 60)} now exits with status {status}{printed}"


def _hang(cause: Cause) -> str:
    after = f" after {_number(cause.head):.1f} s" if cause.head else ""
    return f"{_code(_first(cause.about), 60)} timed out{after}" + (
        f" ({_number(cause.base):.1f} s on base)" if cause.base else ""
    )


def _slow(cause: Cause) -> str:
    base, head = _number(cause.base), _number(cause.head)
    by = f"{head / base:.0f}×" if base > 0 else "much"
    what = _code(cause.about[0], 60) if cause.about else "a trial"
    return f"{what} is {by} slower: {base:.1f} s on base, {head:.1f} s on head"


def _guidance(cause: Cause) -> str:
    if cause.head:
        return f"{_code(_first(cause.about))} now tells the agent to run {_code(cause.head)}" + (
            ", which fails" if cause.new else ""
        )
    return f"{_code(_first(cause.about))} no longer tells the agent to run {_code(cause.base)}"


_SENTENCES: dict[CauseKind, Callable[[Cause], str]] = {
    "option": _refused,
    "parameter": _refused,
    "subcommand": _subcommand,
    "value": _value,
    "required": lambda cause: f"{_tool(_first(cause.about))} now requires {_all(cause.new)}",
    "parameters": lambda cause: f"the parameters of the tool {_code(_first(cause.about))} changed",
    "type": _type,
    "tool": _server_tool,
    "tool_error": lambda cause: f"{_tool(_first(cause.about))} now reports the error {_code(cause.head)}",
    "server": _server,
    "json_key": _json_key,
    "name": lambda cause: f"{_code(_first(cause.names))} is now {_code(_first(cause.new))}",
    "words": lambda cause: f"the check {_code(_first(cause.about))} no longer finds {_all(cause.names)}",
    "output": _output,
    "file": _output,
    "exit_code": _exit_code,
    "prompt": lambda cause: f"{_code(_first(cause.about), 60)} now waits for input: {_code(cause.head)}",
    "hang": _hang,
    "slow": _slow,
    "crash": lambda cause: f"{_code(_first(cause.about), 60)} crashes: {_code(cause.head)}",
    "signal": lambda cause: f"{_code(_first(cause.about), 60)} is killed by signal {_plain(cause.head)}",
    "build": lambda cause: f"{_plain(_first(cause.about))} fails on head: {_code(cause.head, 140)}",
    "guidance": _guidance,
}
