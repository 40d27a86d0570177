"""The part of a row's trials that shows a cause: the first call that both sides make and that ends differently."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from tidegate.model.cause import CauseKind
from tidegate.model.comparison import Divergence, Read, Row
from tidegate.model.measurement import Call, TrialResult
from tidegate.model.result import FileChange
from tidegate.model.trial_spec import NotMeasured
from tidegate.text.noise import Words, masked, noisy_words

_OPTION = re.compile(r"--?[A-Za-z][\w-]*")
_SHELL = re.compile(r"[|&;<>$`\n]")
_PLAIN = re.compile(r"[A-Za-z][\w:-]*")
Trials = Sequence[TrialResult]
SYMPTOMS = frozenset({"output", "file", "words", "exit_code"})  # of the same change, another kind says more
HELP = frozenset({"--help", "-h", "help"})


class Pair(NamedTuple):
    """The same call on both sides, with different results."""

    base: Call
    head: Call


class Seen(NamedTuple):
    """What is known about one row. `base` and `head` are the measured trials of both sides: those that pass on base, if
    any does, and of a row that got worse, those that fail on head.

    `pair` is None if no call that both sides make changed. `refused` is head's first failed call before any call for
    help, which base need not have made. `unmeasured` says why trials of head were not measured.
    """

    row: Row
    base: tuple[TrialResult, ...]
    head: tuple[TrialResult, ...]
    noise: Words
    pair: Pair | None
    refused: Call | None
    changes: tuple[FileChange, ...]
    unmeasured: tuple[NotMeasured, ...] = ()

    @property
    def accepted(self) -> Iterator[Call]:
        """Base's calls that ended by themselves. A tool may exit with a status of its own, so not only with 0."""
        read = (self.pair.base,) if self.pair else ()  # by a check
        calls = (*(call for trial in self.base for call in trial.calls), *read)
        return (call for call in calls if call.status in ("ok", "error"))

    @property
    def failed(self) -> Iterator[Call]:
        """The calls that fail on head."""
        return (call for trial in self.head for call in trial.calls if call.status == "error")


class Found(NamedTuple):
    """A cause without its rows and places: see `Cause`. `clues` are searched for in the diff in place of `names`."""

    kind: CauseKind
    about: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    base: str = ""
    head: str = ""
    clues: tuple[str, ...] = ()


def look(row: Row, own: Sequence[TrialResult], changes: Sequence[FileChange]) -> Seen:
    """Return what the row's own trials show. What a failed check reads by a call of the tool counts as a call."""
    base = tuple(trial for trial in own if trial.side == "base" and trial.decides is not None)
    passing = tuple(trial for trial in base if trial.decides == "pass")
    wanted = "pass" if row.state == "ok" else "fail"
    head = tuple(trial for trial in own if trial.side == "head" and trial.decides == wanted)
    noise = noisy_words(own)
    ways = _way, partial(_output, noise)
    pair = next(filter(None, (first_change(passing, head, way) for way in ways)), None) or _read(row, own, ways)
    unmeasured = tuple(one.not_measured for one in own if one.side == "head" and one.not_measured)
    return Seen(
        row, passing or base, head, noise, pair, _first_refused(passing or base, head), tuple(changes), unmeasured
    )


def comparable_reads(row: Row) -> tuple[Read, ...]:
    """Return what failed checks read, if head's agent made the calls that base's made: else these explain it."""
    return row.evidence.reads if row.evidence and made_the_same_calls(row.evidence.divergence) else ()


def made_the_same_calls(parting: Divergence | None) -> bool:
    """Return True if both sides make the same call where they first differ."""
    return parting is None or _commands(parting.base_steps) == _commands(parting.head_steps)


def _commands(steps: Iterable[Call]) -> list[str]:
    return [call.command for call in steps][:1]


def _read(row: Row, own: Sequence[TrialResult], ways: Iterable[Callable[[Call], object]]) -> Pair | None:
    """Return what a failed check reads by a call of the tool alone, if it changed."""
    tools = {"".join(words(call)[:1]) for trial in own for call in trial.calls}
    for read in comparable_reads(row):
        alone = not read.is_file and not _SHELL.search(read.base.command)
        if alone and "".join(words(read.base)[:1]) in tools and any(way(read.base) != way(read.head) for way in ways):
            return Pair(read.base, read.head)
    return None


def first_change(base: Trials, head: Trials, result: Callable[[Call], object]) -> Pair | None:
    """Return the first call of head's whose result no passing trial of base has, although each made that call alike.

    Every failed trial of head that makes the call has to show the change; else it is chance. What comes after a call
    that base never makes may be its consequence, so it is left out.
    """
    known = {call.command for trial in base for call in trial.calls}
    for call in head[0].calls if head else ():
        if call.command not in known:
            if HELP.intersection(words(call)):
                continue
            return None
        ours = [other for trial in base for other in trial.calls if other.command == call.command]
        theirs = [other for trial in head for other in trial.calls if other.command == call.command]
        before, after = {result(other) for other in ours}, {result(other) for other in theirs}
        if ours and len(before) == 1 and before.isdisjoint(after):
            return Pair(ours[0], call)
    return None


def _way(call: Call) -> object:
    return call.status, call.exit_code


def _output(noise: Words, call: Call) -> object:
    return masked(call.message, noise)


def _first_refused(base: Iterable[TrialResult], head: Iterable[TrialResult]) -> Call | None:
    known = {(call.command, call.exit_code) for trial in base for call in trial.calls}
    for trial in head:
        for call in trial.calls:
            if HELP.intersection(words(call)):
                break
            if call.status == "error" and (call.command, call.exit_code) not in known:
                return call
    return None


# --- parts of a command line


def words(call: Call) -> tuple[str, ...]:
    """Return the words of a call, the program first."""
    return _words(call.command)


@lru_cache(maxsize=256)  # every finder asks for the words of the same few calls
def _words(command: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(command))
    except ValueError:  # cut in the middle of a quotation
        return tuple(command.split())


def options(call: Call) -> list[str]:
    """Return the options of a call without their values: `--priority` for `--priority=high`."""
    return [word.partition("=")[0] for word in words(call)[1:] if _OPTION.match(word)]


def positional(call: Call) -> list[str]:
    """Return the words of a call that are not options, without the program."""
    return [word for word in words(call)[1:] if not word.startswith("-")]


def command(call: Call) -> str:
    """Return the subcommand: the first word after the program if it is a plain one; else ''.

    A word after an option may be the option's value. A word that the usage in the call's output does not name is an
    operand.
    """
    first = "".join(words(call)[1:2])
    shows_usage = "usage:" in call.message.lower()
    return first if _PLAIN.fullmatch(first) and (not shows_usage or named_in(call.message, first)) else ""


def operands(call: Call) -> list[str]:
    """Return the words of a call that are not options, without the program and its subcommand."""
    return positional(call)[1 if command(call) else 0 :]


def tool_and_command(call: Call) -> str:
    """Return the program and, if it has one, the call's subcommand: `taskmgr add`."""
    return " ".join(filter(None, ["".join(words(call)[:1]), command(call)]))


def named_in(text: str, name: str) -> bool:
    """Return True if the text has the name as a whole word: `--prio` is not in `--priority`."""
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) is not None
