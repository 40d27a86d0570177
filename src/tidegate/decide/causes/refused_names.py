"""Causes that the tool's refusal names: an option, a subcommand or an argument."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from tidegate.decide.causes.diff_lines import edits_of, is_dropped
from tidegate.decide.causes.seen import (
    Found,
    Pair,
    Seen,
    command,
    named_in,
    operands,
    options,
    positional,
    tool_and_command,
    words,
)
from tidegate.model.measurement import Call

_REFUSAL = re.compile(
    r"unrecogni[sz]ed|unknown|no such (?:option|command|sub)|unexpected|invalid|not (?:a |an )?(?:recogni|known|defined"
    r"|found|support|valid)|(?:is|was|been) removed|no longer|not provided but|provided but not defined"
    r"|is not a \S+ command|illegal option|bad option",
    re.IGNORECASE,
)
_REQUIRED = re.compile(
    r"required|missing (?:\w+ )?(?:argument|option|operand|parameter)|must (?:be given|specify|provide)"
    r"|needs? (?:a|an|the|one)\b",
    re.IGNORECASE,
)
_ABOUT_VALUE = re.compile(r"invalid (?:choice|value|argument)|not one of|argument .{1,40} is invalid|must be", re.I)
_NEW_OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]+")
_METAVAR = re.compile(r"\b([A-Z][A-Z_]{1,20})\b")


def option(seen: Seen) -> Found | None:
    """An option that head refuses and that base accepts, with the same subcommand; and where else head refuses it."""
    call = _failed(seen)
    refused = next(_refused_options(seen, call), None) if call else None
    if call is None or refused is None:
        return None
    calls = (call, *(other for other in seen.failed if refused in _refused_options(seen, other)))
    return Found("option", tuple(dict.fromkeys(map(tool_and_command, calls))), (refused,))


def _refused_options(seen: Seen, call: Call) -> Iterator[str]:
    refused = list(_refused_by(call))
    alike = (other for other in seen.accepted if words(other)[:1] == words(call)[:1]) if refused else ()
    same = [other for other in alike if command(call) in ("", command(other))]
    taken = {name for other in same for name in options(other) if name not in _refused_by(other)}
    return (name for name in refused if name in taken)


def _refused_by(call: Call) -> Iterator[str]:
    """Yield the options of the call that its output refuses."""
    lines = [line for line in call.message.splitlines() if _REFUSAL.search(line) and not _ABOUT_VALUE.search(line)]
    return (name for name in options(call) if any(names_option(line, name) for line in lines))


def names_option(line: str, option: str) -> bool:
    """Return True if the line names the option, also as getopt does: `invalid option -- 'B'`."""
    letter = re.search(r"-- '?(\w)'?$", line.strip())
    return named_in(line, option) or (letter is not None and option == f"-{letter[1]}")


def subcommand(seen: Seen) -> Found | None:
    """A subcommand that head does not know and that base knows."""
    call = _failed(seen)
    if call is None or option(seen):
        return None
    for name in reversed(positional(call)):
        known = any(name in positional(other) for other in seen.accepted if other.status == "ok")
        lines = [line for line in call.message.splitlines() if name == command(call) or "command" in line.lower()]
        if known and any(_refuses(line, name) for line in lines):
            tool = tool_and_command(call).removesuffix(f" {name}")
            return Found("subcommand", (tool,), (name,))
    return None


def argument(seen: Seen) -> Found | None:
    """A value that head refuses, or an argument that head requires, in a call that base accepts."""
    if seen.pair is None or not _fails_otherwise(seen.pair):
        return None
    call, tool = seen.pair.head, tool_and_command(seen.pair.head)
    for line in call.message.splitlines():
        if _REQUIRED.search(line) and (name := _required(line, call)):
            return Found("required", (tool,), new=(name,))
        if not _REFUSAL.search(line):
            continue
        for word in (*operands(call), *(word.partition("=")[2] for word in words(call)[1:])):
            if word and named_in(_without_list(line), word) and (_ABOUT_VALUE.search(line) or _is_removed(word, seen)):
                return _value(call, word)
    return None


def dropped(seen: Seen) -> Found | None:
    """An option or a value of a call that head's code has no longer, where no message refuses it: it may be ignored."""
    calls = (seen.pair.head,) if seen.pair else seen.base[0].calls if seen.base else ()
    for call in calls:
        if gone := next((name for name in options(call) if is_dropped(name, seen.changes)), None):
            return Found("option", (tool_and_command(call),), (gone,))
    changed = calls[:1] if seen.pair else ()
    values = ((call, word) for call in changed for word in operands(call) if is_dropped(word, seen.changes))
    return next((_value(call, word) for call, word in values), None)


def _value(call: Call, word: str) -> Found:
    """Return the cause, about the call, and the option that has the value, if one has."""
    option = next((one for one, other in pairwise(words(call)) if other == word and one.startswith("-")), "")
    option = option or next((one.partition("=")[0] for one in words(call) if one.endswith(f"={word}")), "")
    return Found("value", (tool_and_command(call), *filter(None, [option])), (word,))


def _is_removed(word: str, seen: Seen) -> bool:
    """Return True if the diff removed the word: else it may be data, such as the name of a file that is not there."""
    edits = edits_of((word,), seen.changes, 1)
    return any(edit.removed and named_in(edit.removed.text, word) for edit in edits)


def _refuses(line: str, name: str) -> bool:
    """Return True if the line refuses the name: quoted, or after the refusal. Tools put their own name first."""
    refusal = _REFUSAL.search(line)
    text = _without_list(line)
    quoted = re.search(rf"""['"`“]{re.escape(name)}['"`”]""", text)
    return refusal is not None and (quoted is not None or named_in(text[refusal.start() :], name))


def _failed(seen: Seen) -> Call | None:
    """Return the call that base accepts and head refuses; else head's first failed call, for agents that vary."""
    return seen.pair.head if seen.pair and _fails_otherwise(seen.pair) else seen.refused


def _fails_otherwise(pair: Pair) -> bool:
    """Return True if head fails with a status that base does not have: some tools never exit with 0."""
    return pair.head.status == "error" and pair.base.exit_code != pair.head.exit_code


def _required(line: str, call: Call) -> str:
    """Return the option or argument that the line asks for and the call does not have; '' if it names none."""
    after = line.partition(":")[2] or line
    found = [*_NEW_OPTION.findall(after), *_METAVAR.findall(after)]
    named = re.search(r"required:? ([a-z][\w-]*)", line)
    found += [named[1]] if named else []
    return next((name for name in found if name not in words(call)), "")


def _without_list(line: str) -> str:
    """Return the line without a list of what is valid: `(choose from 'add', 'list')`."""
    return re.sub(r"\((?:choose|valid|possible|expected|did you).*", "", line, flags=re.IGNORECASE)
