"""Proposes gates from what commands did in several trials: what they printed and wrote alike each time."""

from __future__ import annotations

import getpass
import hashlib
import platform
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, takewhile
from typing import Any, NamedTuple

from tidegate.authoring.scenario_text import changes
from tidegate.checks.gates.text_gates import lists
from tidegate.decide.surface.help_text import subcommands
from tidegate.model.event import CommandResult
from tidegate.text.noise import VOLATILE, without_clock
from tidegate.text.shorten import excerpt

MOST_STATUS = 2  # that says how a call ended
MOST_LISTED = 10
MOST_OPTIONS = 2  # in an output other than a help text

MOST_LINES, MOST_CHARACTERS = 120, 6_000  # of one output that is checked as a whole
FIRST, LAST = 20, 10  # lines of a longer one
WIDEST, MOST_OF_GATES = 300, 500_000  # characters of one of these, and of all gates of a scenario
LONGEST = 100
LONGEST_ROW = 1_000  # characters in which an error is looked for: the time for a row grows with its square
MOST_TOLD = 4  # rows of an error
COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
ERRORS = " 2>&1 >/dev/null"  # of a call whose output is on stderr alone
_OPTION = re.compile(r"(?<![\w/-])--[a-zA-Z][\w-]+|^\s*-[a-zA-Z][\w-]*", re.MULTILINE)
_USAGE = re.compile(r"(?im)^\W*(?:usage|synopsis)\b|\btry\b.{0,40}--?help\b")
_USAGE_ROW = re.compile(r"(?im)^\W*usage: ")
_COMPLAINT = re.compile(
    r"\b(?:cannot|can't|could not|couldn't|unable to|failed|failure|not found|no such|does not exist|doesn't exist"
    r"|permission denied|traceback|exception|invalid|unknown|unrecogni[sz]ed|unexpected|waiting for|is required"
    r"|(?:requires|expected|needs) (?:an?|one) (?:argument|value|parameter)|requires (?:argument|value)s?"
    r"|missing|error (?:opening|reading)|(?:is|not) a directory"
    r"|not installed|not (?:a )?recogni[sz]ed|aborted|fatal|panicked|not supported"
    r"|please (?:run|set|specify|provide|supply|enter)"
    r"|nothing to do|doing nothing|no (?:\w+ ){1,2}(?:(?:have|has) been |were )?(?:passed|given|specified|provided))\b"
    r"|^\W*(?:\w+: )*error\b",
    re.IGNORECASE,
)
_LISTS = re.compile(
    r" ?\((?:choose|choices|one of|expected|valid|possible|allowed)|[:;,.] (?:choose|expected|valid|must be one)"
)
_FINDING = re.compile(  # of a linter, and its sum: it may call this an error
    r"[\w./-]+\.\w+:\d+|^\s*\d+(?::\d+|  +\S)|\bline \d+|^\W*(?:results?|summary|total)\b|\d ?%"
    r"|\b[1-9]\d* (?:\w+ )?(?:problem|error|warning|failure|issue|finding|violation|test|file|fail|pass)(?:s|ed)?\b",
    re.IGNORECASE,
)
_ERROR_ROW = re.compile(r"(?:[\w.]+\.)?\w*(?:Error|Exception): ")  # of an exception, whatever is printed after it
_CRASH = re.compile(
    r"^Traceback \(most recent|^\s+at .+:\d+:\d+\)?$|^thread '.*' panicked|core dumped"
    r"|^Can't locate \S+ in @INC|^BEGIN failed--compilation aborted"
    r"|: line \d+: .*(?:no such file|not found|is a directory|unbound variable|syntax error|bad substitution)",
    re.MULTILINE | re.IGNORECASE,
)
_TRACE = re.compile(r"(?m)^(?:Traceback \(most recent|\s+at .+:\d+:\d+\)?$)[\s\S]*")
_THROWN = re.compile(r"\A\S+:\d+\n.*\n\s*\^+\n+")  # where a program in JavaScript ends, by Node
_OF_BUGS = re.compile(r"(?:Uncaught )?(?:Type|Reference|Range)Error\b")
VERSION = re.compile(r"\bv?\d+\.\d+\.\d+[\w.+-]*")
ABOUT_VERSION = re.compile(r" (?:--?version|-V|version)\b")
_NUMBERED = re.compile(r"(?<!\S)(v?)\d\S*|\S*\d\S*")
_OF_VERSION = re.compile(r"(?i)\bversion|python|node\.js")
_OF_WEEK = re.compile(r"\b(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|[Ww]eek ?\d{1,2})\b")
NEAR_SECS = 45 * 86_400.0  # a date that is not farther from now may be one of the clock
_SCREEN = re.compile(r"\x1b\[\d*;\d*H|\x1b\[\?1049h|\x1b\[[HJ]|\f")  # of an editor or a pager
_RELATIVE = re.compile(
    r"(?i)\b(?:\d+|an?) (?:(?:second|minute|hour)s? ago\b|(?:day|week|month|year)s?(?= ago\b))"
    r"|\b(?:today|yesterday|tomorrow|just now)\b"
    r"|\bin \d+ (?:second|minute|hour|day|week|month|year)s?\b"
)
_OF_MACHINE = r"/(?:tmp|root|home|dev/shm|var|usr|opt|work)\b"
_PLACE = re.compile(rf"{_OF_MACHINE}[^\s'\":,;)\]]*")
_OF_SCRIPT = re.compile(  # where a shell, Perl or Python sees an error in the tool: any edit of the tool moves it
    rf"{_OF_MACHINE}[^\s'\":,;)\]]*(?:/[\w-]+: (?:line )?\d+(?=:)|(?:\",)? line \d+|:\d+(?=: \w+Warning))"
)
_OF_SOURCE = re.compile(  # a line of the tool's
    r"(?<![\w./-])([\w/-]+\.(?:[ch]|cc|[ch]pp|py|p[lm]|rb|go|rs|[cm]?[jt]s|sh|lua):)\d+"
)
_MEASURED = re.compile(
    r"\d+(?:[.,]\d+)+|\d+(?= ?%| ?(?:(?:\w+ ?)?(?:/|per|a) ?)?(?:[mnuµ]?s|sec(?:ond)?s?|minutes?|hours?|[kMG]?i?B)\b)"
)
NOTHING = "no-such-"  # begins names of what is not there
_UNFIT = re.compile(rf"{NOTHING}|\b(?:damaged|half)-")
EMPTY = r"\A\s*\Z"  # the pattern of no output
_ANY, _DIGITS = "\0", "\1"  # what may differ, in a text that becomes a pattern, and a word that begins with a digit
_SHOWN = str.maketrans({_ANY: "…", _DIGITS: "…"})
_SPECIAL = re.compile(r"[.^$*+?{}\[\]\\|()]|[^\x20-\x7e\n]")


class Seen(NamedTuple):
    """What a command did in one trial. `at`: when, in seconds since the epoch."""

    result: CommandResult
    at: float = 0.0


def facts() -> frozenset[str]:
    """Return words that another machine, user or day would show in another way."""
    now = time.localtime()
    names = {platform.node(), platform.release(), platform.machine(), platform.python_version(), getpass.getuser()}
    dates = {time.strftime(way, now) for way in ("%Y", "%A", "%a", "%B")}
    return frozenset(name for name in names | dates if len(name) > 2)


def complaint(ran: CommandResult) -> str | None:
    """Return why the call shows no result: it crashed, or reports that something did not work. None if it shows one.

    A linter that exits with 1 shows a result. So does a long output in which a line is about an error.
    """
    if _SCREEN.search(ran.printed):
        return "it draws on the terminal's screen"
    rows = [row.strip()[:LONGEST_ROW] for row in COLOUR.sub("", ran.printed).splitlines() if row.strip()]
    error = next((row for row in reversed(rows) if _ERROR_ROW.match(row)), rows[-1] if rows else "no output")
    told = f"{ran.how_it_ended()}, {excerpt(error)}"
    if crashed(ran):
        return told
    complains = [row for row in rows if _COMPLAINT.search(row) and not _FINDING.search(row)]
    if ran.exit_code:
        finds = any(map(_FINDING.search, rows))
        shows = bool(ran.stdout.strip()) and (finds or not (complains or ran.stderr.strip()))
        return None if shows or (finds and not complains) else told
    return told if complains and len(rows) <= 3 else None


def crashed(ran: CommandResult) -> bool:
    """Return True if the call did not end by itself, or its program crashed."""
    code = ran.exit_code
    return ran.end != "exited" or code is None or code >= 126 or _CRASH.search(ran.printed) is not None


def is_usage(printed: str) -> bool:
    """Return True if the first lines of an output are those of a help text."""
    return _USAGE.search("\n".join(printed.splitlines()[:8])) is not None


def helps(ran: CommandResult) -> bool:
    """Return True if the call prints a help text, or the list of options that is a part of it."""
    return is_usage(ran.printed) or len(listed(ran.printed)) > MOST_OPTIONS


def help_gates(ran: CommandResult) -> Iterator[dict[str, Any]]:
    """Yield gates for what the help lists; if it lists nothing, one for its first line.

    Names that begin a line, or come second, have to be listed: in a sentence or a usage, another gate finds them.
    """
    text, command = _where_it_prints(ran)
    words = listed(text)
    rows = [word for word in words if lists(text, word) and _is_first(text, word)]
    gate = {"type": "command_output_words", "command": command, **_status(ran)}
    described = f"{_short(command)} lists these options and commands"
    if rows:
        yield {**gate, "listed": True, "words": rows, "description": described}
    if others := [word for word in words if word not in rows]:
        yield {**gate, "words": others, "description": f"{_short(command)} names these options and commands"}
    lines = [row.strip() for row in text.splitlines() if not _USAGE.search(row)]
    if not words and (line := next(filter(tells, lines), None)):
        yield {**gate, "type": "command_output_contains", "substring": line, "description": _prints(command, line)}


def listed(text: str) -> list[str]:
    """Return the options and subcommands of a help text, in order."""
    text = COLOUR.sub("", text)
    options = (option.strip() for option in _OPTION.findall(text))
    return list(dict.fromkeys([*options, *subcommands(text)]))


def _is_first(text: str, word: str) -> bool:
    """Return True if at most one name is before the word in its line."""
    return re.search(rf"(?m)^\s*(?:\S+ (?:or )?)?{re.escape(word)}(?![\w-])", COLOUR.sub("", text)) is not None


def counts_in(statuses: Iterable[int | None]) -> set[int]:
    """Return the statuses that seem to count something, such as what a linter found: several above MOST_STATUS."""
    large = {status for status in statuses if status and status > MOST_STATUS}
    return large if len(large) > 1 else set()


def refused_gate(runs: Sequence[Seen], given: str = "", facts: Iterable[str] = ()) -> dict[str, Any] | None:
    """Return the gate that this call is refused as in all runs, with the error; None if it is not.

    Of a line that lists what is allowed, only what comes before the list. Of a crash that says nothing before its
    trace, only that the call fails.
    """
    first = runs[0].result
    code = first.exit_code
    same = all(one.result.end == "exited" and one.result.exit_code == code for one in runs)
    if not same or code is None or code >= 126 or not (code or complaint(first)):
        return None
    described = f"{_short(first.command)} is refused with exit {code}"
    is_crash = _CRASH.search(first.printed) is not None
    if is_crash and not (code and _UNFIT.search(first.command)):  # which may be fixed
        return None
    gate = {"type": "command_exits", "command": first.command, "status": code, "description": described}
    shown = [_where_it_complains(one.result) for one in runs]
    masked = [
        _masked(text, f"{given}\n{first.command}", facts, one) for (text, _), one in zip(shown, runs, strict=True)
    ]
    told = [_error(text, is_crash) for text in masked]
    if told[0] and len({*told}) == 1:
        pattern = r"\s*\n\s*".join(map(_literal, told[0]))
        gate |= {"type": "command_output_matches", "command": shown[0][1], "pattern": pattern}
    elif is_crash:  # the program may come to say why, but what is damaged or not there does not become right
        fails = {"command": f"! ({first.command})", "description": f"{_short(first.command)} fails"}
        return {"type": "command_succeeds", **fails}
    elif not any(one.result.printed.strip() for one in runs):
        gate |= {"type": "command_output_matches", "command": f"{first.command} 2>&1", "pattern": EMPTY}
    elif ABOUT_VERSION.search(first.command) and (pattern := whole(masked)):
        gate |= {"type": "command_output_matches", "command": shown[0][1], "pattern": pattern}
    return gate


def _error(text: str, is_crash: bool = False) -> tuple[str, ...]:
    """Return the first row that says what is wrong, and the next ones, such as the place in the input; else the first
    one that is neither usage nor option, unless the program crashed. Of a trace, a bug and a list of what is allowed,
    nothing.
    """
    rows = [row.strip() for row in _TRACE.sub("", _THROWN.sub("", text)).split("\n")]
    own = [bool(row) and not _USAGE.search(row) and not row.startswith(("-", "[")) for row in rows]
    fit = [place for place, row in enumerate(rows) if own[place] and tells(row.translate(_SHOWN))]
    wrong = (place for place in fit if _COMPLAINT.search(rows[place]) or re.search(r"(?i)error\b", rows[place]))
    first = next(wrong, fit[0] if fit and not is_crash else None)
    if first is None or (is_crash and _OF_BUGS.match(rows[first])):
        return ()
    start, *more = _LISTS.split(rows[first])
    after = zip(rows[first + 1 : first + MOST_TOLD], own[first + 1 :], strict=False)
    context = takewhile(lambda one: one[1] and len(one[0]) <= LONGEST and not VOLATILE.search(one[0]), after)
    return (start, *(row for row, _ in context if not more))


def shape_of(ran: CommandResult, line: str) -> str:
    """Return the output without the line's words and without numbers; all crashes are alike."""
    if ran.end == "exited" and crashed(ran):
        return "crash"
    words = {*re.findall(r"\w+", line)}
    return re.sub(r"\d+", "", "".join(one for one in re.findall(r"\w+|\W", ran.printed) if one not in words))


def result_gate(runs: Sequence[Seen], given: str = "", facts: Iterable[str] = ()) -> dict[str, Any] | None:
    """Return the gate for what the command printed in all runs; of a help text, only its status.

    None: it shows nothing. `given`: the input, in which numbers and dates are results. `facts`: words that depend on
    machine and day.
    """
    first = runs[0].result
    if complaint(first) or any(one.result.exit_code != first.exit_code or complaint(one.result) for one in runs):
        return None
    text, command = _where_it_prints(first)
    gate: dict[str, Any] = {"type": "command_exits", "command": first.command, "status": first.exit_code}
    if first.exit_code == 0:
        gate = {"type": "command_succeeds", "command": first.command}
    gate["description"] = f"{_short(first.command)} exits with {first.exit_code}"
    if _USAGE_ROW.search(text) or is_usage(text) or any(one.result.truncated for one in runs):
        return gate
    shown = [(_where_it_prints(one.result)[0], one) for one in runs]
    masked = [_masked(own, f"{given}\n{first.command}", facts, seen) for own, seen in shown]
    out = {"type": "command_output_matches", "command": command, **_status(first)}
    if pattern := whole(masked):
        return {**out, "pattern": pattern, "description": _prints(command, masked[0].translate(_SHOWN))}
    return gate


def digest_gate(runs: Sequence[Seen], given: str = "", facts: Iterable[str] = ()) -> dict[str, Any] | None:
    """Return the gate that a long output is the same to the byte; None if it is short, or differs in any run."""
    first = runs[0].result
    text, facts = first.stdout, [*facts]
    is_long = text.count("\n") >= MOST_LINES or len(text) > MOST_CHARACTERS
    same = all(one.result.stdout == text and not one.result.truncated for one in runs)
    if not (is_long and same and first.ok) or _masked(text, f"{given}\n{first.command}", facts, runs[0]) != text:
        return None
    return {
        "type": "command_output_matches",
        "command": f"({first.command}\n) | sha256sum",
        "pattern": rf"\A{hashlib.sha256(text.encode()).hexdigest()}\b",
        "description": f"all {len(text)} characters of {_short(first.command)} are as before",
    }


def file_gates(diffs: Sequence[str], given: str = "", facts: Iterable[str] = ()) -> Iterator[dict[str, Any]]:
    """Yield gates for the files that all trials wrote alike."""
    found = [{path: (new, "\n".join(added)) for path, new, added in changes(diff)} for diff in diffs]
    for path, (new, text) in found[0].items() if found else ():
        if all(path in one for one in found) and not VOLATILE.search(path):
            texts = [one[path][1] for one in found]
            if new and not _USAGE_ROW.search(text) and (pattern := lasting(texts, given, facts)):
                end = pattern.removesuffix(r"\Z")  # of which the diff does not tell if its line ends
                yield {"type": "file_matches", "path": path, "pattern": pattern if end == pattern else rf"{end}\s*\Z"}
            elif new:
                yield {"type": "file_exists", "path": path}
            elif line := next((row for row in text.splitlines() if tells(row) and all(row in t for t in texts)), None):
                yield {"type": "file_contains", "path": path, "substring": line.strip()}


def _where_it_prints(ran: CommandResult) -> tuple[str, str]:
    """Return the output and the command that prints it to stdout: what is only on stderr is sent there."""
    if not ran.stdout.strip() and ran.stderr.strip():
        return ran.stderr, ran.command + ERRORS
    return ran.stdout, ran.command


def _where_it_complains(ran: CommandResult) -> tuple[str, str]:
    """Return the error, and the command that prints it to stdout."""
    return (ran.stderr, ran.command + ERRORS) if ran.stderr.strip() else (ran.stdout, ran.command)


def _status(ran: CommandResult) -> dict[str, Any]:
    return {"status": ran.exit_code} if ran.exit_code else {}


def _masked(text: str, given: str, facts: Iterable[str], seen: Seen) -> str:
    """Return the text with a mark in place of what depends on time, folder, user, machine or version."""
    text = without_clock(text, seen.at, seen.result.duration_s, NEAR_SECS).replace("<duration>", _ANY)
    rows = (_OF_WEEK.sub(_ANY, row) if "<time>" in row else row for row in text.split("\n"))
    text = "\n".join(rows).replace("<time>", _ANY)
    if ABOUT_VERSION.search(seen.result.command):
        text = _NUMBERED.sub(lambda found: _ANY if found[1] is None else found[1] + _DIGITS, text)
    elif _OF_VERSION.search(text):
        text = VERSION.sub(lambda found: found[0] if found[0] in given else _ANY, text)
    for way in (_RELATIVE, _OF_SCRIPT, _PLACE):
        text = way.sub(lambda found: found[0] if found[0] in given else _ANY, text)
    text = _OF_SOURCE.sub(lambda found: found[0] if found[1][:-1] in given else found[1] + _ANY, text)
    for fact in facts:
        text = re.sub(rf"(?<!\w){re.escape(fact)}(?!\w)", _ANY, text) if fact not in given else text
    return text


def whole(texts: Sequence[str]) -> str:
    """Return a pattern of all that is the same in these outputs, in order; '' if that is nothing."""
    rows = [text.split("\n") for text in texts]
    if len({len(one) for one in rows}) > 1:
        same = [row.strip() for row in rows[0] if tells(row.strip()) and all(row in one for one in rows)]
        return "(?s)" + ".*".join(map(_literal, same[:3])) if same else ""
    lines = [one[0] if len({*one}) == 1 else _ANY for one in zip(*rows, strict=True)]
    if _ANY in lines and len({(*sorted(one),) for one in rows}) == 1:  # in the order in which a folder has its files
        first, last = lines.index(_ANY), len(lines) - lines[::-1].index(_ANY)
        lines[first:last] = [_ANY] * (last - first)
    if any(len({*one}) > 1 for one in zip(*rows, strict=True)):  # rates and the like may be equal by chance
        lines = [_MEASURED.sub(_ANY, line) for line in lines]
    shown = [_literal(line) for line in lines]
    if len(lines) > MOST_LINES or sum(map(len, shown)) > MOST_CHARACTERS:
        shown = [_literal(line[:WIDEST]) + ".*" * (len(line) > WIDEST) for line in lines]
        shown = [*shown[:FIRST], "(?s:.*)", *shown[-LAST:]] if len(shown) > FIRST + LAST else shown
    pattern = r"\n".join(shown)
    told = any(row.replace(_ANY, "").strip() for row in lines)
    return rf"\A{pattern}\Z" if told else EMPTY if not any(lines) else ""


def _literal(line: str) -> str:
    """Return a pattern that matches the line, and what may be at its marks."""
    return re.sub(rf"(?:{_ANY})+", ".*", _SPECIAL.sub(_escaped, line)).replace(_DIGITS, r"\d\S*")


def _escaped(found: re.Match[str]) -> str:
    character = found[0]
    if character in (_ANY, _DIGITS) or (character.isprintable() and ord(character) > 126):
        return character
    return f"\\{character}" if character.isprintable() else f"\\x{ord(character):02x}" if ord(character) < 256 else "."


def _prints(command: str, text: str) -> str:
    lines = [line for line in COLOUR.sub("", text).splitlines() if line.strip()]
    more = f" and {len(lines) - 1} more lines" if len(lines) > 2 else ""
    return f"{_short(command)} prints {_short(lines[0])}{more}" if lines else f"{_short(command)} prints nothing"


def distinct(gates: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the gates without equal ones, and without those for which a scenario has no room."""
    own = {repr({**gate, "description": ""}): gate for gate in gates}
    sizes = zip(accumulate(map(len, own)), own.values(), strict=True)
    return [gate for size, gate in sizes if size <= MOST_OF_GATES]


def tells(line: str) -> bool:
    """Return True if the line is short, has a few letters or digits, and is likely to be the same for good."""
    enough = sum(character.isalnum() for character in line) >= 3
    return enough and len(line) <= LONGEST and line.isprintable() and not VOLATILE.search(line)


def lasting(texts: Sequence[str], given: str = "", facts: Iterable[str] = ()) -> str:
    """Return a pattern of what is the same in these outputs of now, and likely to stay so; '' if that is nothing."""
    now = Seen(CommandResult(command="", end="exited"), time.time())
    return whole([_masked(text, given, facts, now) for text in texts])


def _short(text: str) -> str:
    line = " ".join(text.split())
    return f"`{line if len(line) <= 60 else line[:57] + '...'}`"


def listed_rows(rows: Sequence[str]) -> list[str]:
    """Return the first rows, indented, and how many more there are."""
    more = len(rows) - MOST_LISTED
    return [f"  {row}" for row in rows[:MOST_LISTED]] + ([f"  and {more} more"] if more > 0 else [])
