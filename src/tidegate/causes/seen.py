"""The part of a row's trials that shows a cause: the first call that both sides make and that ends differently."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from tidegate.comparison.noise import Words, masked, noisy_words
from tidegate.model.cause import CauseKind
from tidegate.model.comparison import Row
from tidegate.model.measurement import Call, TrialResult
from tidegate.model.result import FileChange

_OPTION = re.compile(r"--?[A-Za-z][\w-]*")
_PLAIN = re.compile(r"[A-Za-z][\w:-]*")
Trials = Sequence[TrialResult]
HELP = frozenset({"--help", "-h", "help"})


class Pair(NamedTuple):
    """The same call on both sides, with different results."""

    base: Call
    head: Call


class Seen(NamedTuple):
    """What is known about one row. `base` and `head` are the measured trials of both sides, head's failed ones only.

    `pair` is None if no call that both sides make changed. `refused` is head's first failed call before any call for
    help, which base need not have made.
    """

    row: Row
    base: tuple[TrialResult, ...]
    head: tuple[TrialResult, ...]
    noise: Words
    pair: Pair | None
    refused: Call | None
    changes: tuple[FileChange, ...]

    @property
    def accepted(self) -> Iterator[Call]:
        """Base's successful calls."""
        return (call for trial in self.base for call in trial.calls if call.status == "ok")


class Found(NamedTuple):
    """A cause without its rows: see `Cause`."""

    kind: CauseKind
    says: str
    names: tuple[str, ...] = ()


def look(row: Row, own: Sequence[TrialResult], changes: Sequence[FileChange]) -> Seen:
    """Return what the row's own trials show."""
    base = tuple(trial for trial in own if trial.side == "base" and trial.decides is not None)
    passing = tuple(trial for trial in base if trial.decides == "pass")
    head = tuple(trial for trial in own if trial.side == "head" and trial.decides == "fail")
    noise = noisy_words(own)
    pair = first_change(passing, head, _way) or first_change(passing, head, partial(_output, noise))
    return Seen(row, passing or base, head, noise, pair, _first_refused(head), tuple(changes))


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


def _first_refused(head: Iterable[TrialResult]) -> Call | None:
    for trial in head:
        for call in trial.calls:
            if HELP.intersection(words(call)):
                break
            if call.status == "error":
                return call
    return None


# --- parts of a command line


def words(call: Call) -> list[str]:
    """Return the words of a call, the program first."""
    try:
        return shlex.split(call.command)
    except ValueError:  # cut in the middle of a quotation
        return call.command.split()


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


def command_line(call: Call) -> str:
    """Return the call for a sentence, at most 60 characters of it, without backticks."""
    line = call.command.replace("`", "'")
    return line if len(line) <= 60 else f"{line[:59]}…"


def named_in(text: str, name: str) -> bool:
    """Return True if the text has the name as a whole word: `--prio` is not in `--priority`."""
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) is not None
