"""Proposes gates from what commands did in two trials: lines that both printed, and changes that both made. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import islice
from typing import Any, NamedTuple

from tidegate.authoring.examples import Candidate
from tidegate.authoring.scenario_text import proposed_gates
from tidegate.checks.gates.text_gates import lists
from tidegate.decide.surface.help_text import subcommands
from tidegate.model.event import Event, ToolCall, ToolResult
from tidegate.text.noise import VOLATILE
from tidegate.text.shorten import excerpt

MOST_LISTED = 10

MOST_GATES = 20
MOST_LINES = 2  # of one command's output
LONGEST = 100
FEWEST = 6  # characters
_BOTH = " 2>&1"
_START, _END = r"\A\s*", r"\s*\Z"
COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
# Long numbers and sizes may change as well. They are checked if no other line tells more.
_DOUBTFUL = re.compile(r"(?<![\d.])\d{5,}|\d(?:\.\d+)? ?(?:[kKMG]i?B|bytes)\b")
_INTO_FILE = re.compile(r"(?<![>&\d])>[ \t]*[\w./-]+\s*$")
_ABOUT_ITSELF = re.compile(r" (?:--?help|-h|help|--?version|-V|version)\b")
_OPTION = re.compile(r"(?<![\w/-])--[a-zA-Z][\w-]+|^\s+-[a-zA-Z](?![\w-])", re.MULTILINE)


class CommandRun(NamedTuple):
    """One command of a trial, with its result. `ended`: how it ended, such as `exit 2`."""

    command: str
    ok: bool
    output: str
    ended: str = ""


def commands_of(events: Iterable[Event]) -> dict[str, CommandRun]:
    """Return what each command line of a trial did; of one that ran twice, the first."""
    lines: dict[str, str] = {}
    found: dict[str, CommandRun] = {}
    for event in events:
        if isinstance(event, ToolCall) and event.command:
            lines[event.id] = event.command
        elif isinstance(event, ToolResult) and (command := lines.get(event.id)):
            found.setdefault(command, CommandRun(command, event.status == "ok", event.output, event.ended))
    return found


def help_gates(text: str, command: str) -> Iterator[dict[str, Any]]:
    """Yield a gate for what the help lists; if it lists nothing, one for its first line, or for its success.

    Names that begin a line have to do so: in a sentence or a usage, another gate finds them.
    """
    words = listed(text)
    rows = [word for word in words if lists(text, word)]
    gate = {"type": "command_output_words", "command": command}
    described = f"{_short(command)} lists these options and commands"
    if rows:
        yield {**gate, "listed": True, "words": rows, "description": described}
    if others := [word for word in words if word not in rows]:
        yield {**gate, "words": others, "description": f"{_short(command)} names these options and commands"}
    if not words:
        line = next(filter(tells, _lines(text)), None)
        yield _contains(command, line) if line else succeeds(command)


def is_help(ran: CommandRun) -> bool:
    """Return True if the output of a subcommand's help lists something, names the subcommand, or says `usage`."""
    _, name, _ = f"  {ran.command}".rsplit(" ", 2)
    return bool(listed(ran.output)) or re.search(rf"(?i)\busage\b|\b{re.escape(name)}\b", ran.output) is not None


def listed(text: str) -> list[str]:
    """Return the options and subcommands of a help text, in order."""
    text = COLOUR.sub("", text)
    options = (option.strip() for option in _OPTION.findall(text))
    return list(dict.fromkeys([*options, *subcommands(text)]))


def succeeds(command: str) -> dict[str, Any]:
    """Return the gate that the command succeeds."""
    return {"type": "command_succeeds", "command": command, "description": f"{_short(command)} works"}


def output_gates(first: CommandRun, second: CommandRun, shown: Collection[str] = ()) -> Iterator[dict[str, Any]]:
    """Yield gates for lines that the command printed in both trials; of help and version, only that it works.

    `shown`: lines of the document that has the command. What it shows of the output is checked before other lines.
    """
    again = {*_lines(second.output)}
    stable = [] if _ABOUT_ITSELF.search(first.command) else [one for one in _lines(first.output) if one in again]
    told = list(dict.fromkeys(filter(tells, stable)))
    telling = [line for line in told if not _DOUBTFUL.search(line)] or told
    if not telling:
        yield succeeds(first.command)
    if telling and first.output.strip() == second.output.strip() == telling[0]:
        yield _prints_only(first.command, telling[0])
        return
    documented = [line for line in telling if line in shown]
    ranked = dict.fromkeys([*documented, *telling[:1], *sorted(telling, key=len, reverse=True)])
    for line in islice(ranked, MOST_LINES):
        yield _contains(first.command, line)


def _lines(output: str) -> list[str]:
    """Return the lines; of one with colours the parts between them, since a gate compares what is printed."""
    return [part.strip() for line in output.splitlines() for part in COLOUR.split(line) if part.strip()]


def printing(command: str) -> str | None:
    """Return the command without the redirection into a file at its end; None if it has none."""
    shown = _INTO_FILE.sub("", command).strip()
    return shown if shown and shown != command.strip() else None


def weaker(gate: dict[str, Any]) -> dict[str, Any] | None:
    """Return a gate that checks less after this one failed: a part, stderr too, without numbers, or only success.

    A command that changes something often prints another number when the gate runs it again. None: nothing is left.
    """
    if gate["type"] == "command_output_matches":
        return _contains(gate["command"], re.sub(r"\\(.)", r"\1", gate["pattern"][len(_START) : -len(_END)]))
    if gate["type"] not in ("command_output_contains", "command_output_words"):
        return None
    if not gate["command"].endswith(_BOTH):
        return gate | {"command": gate["command"] + _BOTH}
    if gate["type"] == "command_output_words":
        return None if "listed" not in gate else {key: own for key, own in gate.items() if key != "listed"}
    part = max(re.split(r"\W*\d+\W*", gate["substring"]), key=len)
    if part != gate["substring"] and len(part) >= FEWEST:
        return _contains(gate["command"], part)
    return succeeds(gate["command"].removesuffix(_BOTH))


def distinct(gates: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the gates without those that check what another one checks: equal ones, and success beside output."""
    found = list({repr({**gate, "description": ""}): gate for gate in gates}.values())
    checked = checked_output(found)
    return [gate for gate in found if gate["type"] != "command_succeeds" or gate["command"] not in checked]


def checked_output(gates: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the commands whose output a gate checks."""
    return {gate["command"].removesuffix(_BOTH) for gate in gates if gate["type"].startswith("command_output_")}


def change_gates(diffs: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield gates for the changes in the workspace that all trials made alike."""
    proposed = [list(proposed_gates(diff)) for diff in diffs]
    for gate in proposed[0] if proposed else ():
        stable = all(gate in other for other in proposed)
        if stable and not VOLATILE.search(gate["path"] + gate.get("substring", "")):
            yield gate


def spread(gates: Mapping[str, Sequence[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return at most MOST_GATES gates, taken in turn from each command's."""
    longest = max(map(len, gates.values()), default=0)
    turns = (own[place] for place in range(longest) for own in gates.values() if place < len(own))
    chosen = [gate for _, gate in zip(range(MOST_GATES), turns, strict=False)]
    return [gate for own in gates.values() for gate in own if gate in chosen]


def _prints_only(command: str, line: str) -> dict[str, Any]:
    """Return the gate that the command prints this line and nothing else, such as what a filter must leave out."""
    description = f"{_short(command)} prints only {_short(line)}"
    pattern = _START + re.escape(line).replace(r"\ ", " ") + _END
    return {"type": "command_output_matches", "command": command, "pattern": pattern, "description": description}


def _contains(command: str, line: str) -> dict[str, Any]:
    description = f"{_short(command)} prints {_short(line)}"
    return {"type": "command_output_contains", "command": command, "substring": line, "description": description}


def tells(line: str) -> bool:
    """Return True if the line is short, has a few letters or digits, and is likely to be the same for good."""
    enough = sum(character.isalnum() for character in line) >= 3
    return enough and len(line) <= LONGEST and line.isprintable() and not VOLATILE.search(line)


def read_gate(reads: Sequence[str], seen: Sequence[Sequence[str]], values: Sequence[str]) -> dict[str, Any] | None:
    """Return a gate for what a read prints each time after the call, and not without it; None if there is nothing.

    `seen`: what the reads print after the call, after a second one, and without it.
    """
    found = []
    for read, ours, again, plain in zip(reads, *seen, strict=True):
        if line := new_text(ours, again, plain, values):
            what = {"type": "command_output_contains", "command": read, "substring": line}
            found.append(what | {"description": f"`{read}` shows “{line}”"})
    return min(found, key=lambda gate: _rank(gate["substring"], values), default=None)


def new_text(ours: str, again: str, plain: str, values: Sequence[str]) -> str:
    """Return a line, or a part of one, that both texts have and `plain` lacks; '' if there is none.

    A line with one of the values comes first.
    """
    others = [line.strip() for line in again.splitlines()]
    found = []
    for line in (line.strip() for line in ours.splitlines()):
        shared = line if line in others else max((_shared(line, other) for other in others), key=len, default="")
        found += [part for part in _lasting(shared) if part not in plain]
    return min(found, key=lambda part: _rank(part, values), default="")


def _rank(text: str, values: Sequence[str]) -> tuple[bool, int]:
    return not any(len(value) > 2 and value in text for value in values), -len(text)


def _shared(line: str, other: str) -> str:
    """Return the longest run of whole words that two lines share."""
    ours, theirs = line.split(), other.split()
    found = SequenceMatcher(None, ours, theirs, autojunk=False).find_longest_match()
    shared = re.search(r"\s+".join(map(re.escape, ours[found.a : found.a + found.size])), line)
    return shared[0] if shared and shared[0] in other else ""


def _lasting(line: str) -> Iterable[str]:
    """Return the line, or its parts between what will be another one tomorrow, such as a date."""
    if tells(line):
        return [line]
    parts = (part.strip() for part in VOLATILE.split(line))
    return [part for part in parts if len(part) <= LONGEST and tells(part) and sum(map(str.isalnum, part)) >= FEWEST]


def _short(text: str) -> str:
    line = " ".join(text.split())
    return f"`{line if len(line) <= 60 else line[:57] + '...'}`"


def left_out(candidate: Candidate, kept: Iterable[str], runs: Sequence[Mapping[str, CommandRun]]) -> list[str]:
    """Return a sentence for each command of the candidate that is not kept: the command, and why."""
    lost = [line for line in candidate.commands if line not in {*kept}]
    return [f"{candidate.name}: `{excerpt(line)}`: {_why(line, runs)}" for line in lost]


def left_out_notes(lost: Sequence[str], lines: int) -> tuple[str, ...]:
    """Return notes about these of so many example lines; empty if none was left out."""
    if not lost:
        return ()
    head = f"{len(lost)} of {lines} example lines failed and are left out. Fix the docs if they are wrong:"
    return (head, *listed_rows(lost))


def weak_notes(scenarios: Iterable[tuple[Candidate, Sequence[Mapping[str, Any]]]]) -> tuple[str, ...]:
    """Return notes about examples of which neither output nor files are checked; empty if there are none."""
    weak = [
        f"{candidate.name}: `{excerpt(line)}`"
        for candidate, gates in scenarios
        if not candidate.asks_help and not any("path" in gate for gate in gates)
        for line in candidate.commands
        if not {line, printing(line)} & checked_output(gates)
    ]
    if not weak:
        return ()
    count = f"{len(weak)} example{'' if len(weak) == 1 else 's'}"
    return (f"for {count} only the exit code is checked: add a check of the output", *listed_rows(weak))


def listed_rows(rows: Sequence[str]) -> list[str]:
    """Return the first rows, indented, and how many more there are."""
    more = len(rows) - MOST_LISTED
    return [f"  {row}" for row in rows[:MOST_LISTED]] + ([f"  and {more} more"] if more > 0 else [])


def _why(line: str, runs: Sequence[Mapping[str, CommandRun]]) -> str:
    """Return why a command was left out: how it ended and the last line of its output, from the first failed run."""
    seen = [next((ran for command, ran in commands.items() if command.endswith(line)), None) for commands in runs]
    failed = next((ran for ran in seen if ran is not None and not ran.ok), None)
    if failed is None:
        return "it was not run, or not twice"
    rows = [row.strip() for row in COLOUR.sub("", failed.output).splitlines() if row.strip()]
    once = "" if all(ran is not None and not ran.ok for ran in seen) else "only in one of two runs, "
    return f"{once}{failed.ended}" + (f", {excerpt(rows[-1])}" if rows else ", no output")
