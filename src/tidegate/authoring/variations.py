"""Varies calls that work: other numbers, arguments of other calls, another order. Pure."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import date, timedelta
from itertools import islice
from typing import NamedTuple, TypeVar

from tidegate.decide.surface.parts import command_of

_WORD = re.compile(r"""(?:[^\s"'|;&<>]|"[^"]*"|'[^']*')+""")
_NUMBER = re.compile(r"(?<![A-Za-z])\d{1,6}(?![A-Za-z])")
_WHOLE = re.compile(r"-?\d+(?:[.,]\d+)*")
NUMBERS = ("12", "1.05", "101", "2024", "1", "1000000", "71", "-3", "1001", "0.5", "2.145", "5.00", "21")
_DATE = re.compile(r"\b\d{4}-\d\d-\d\d\b")
_FILE = re.compile(r"[\w./~+-]*\.[A-Za-z]\w{0,8}")
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_ENDS = re.compile(r"[|;&<>]")
T = TypeVar("T")
FEW = 4  # arguments; more are the words of a text
MOST_NUMBERS, MOST_OTHERS = 4, 3  # that are changed in a line, and arguments of other lines at one place


class _Call(NamedTuple):
    """A line, the subcommand that it calls, and where the arguments of the call are."""

    line: str
    command: str
    words: tuple[re.Match[str], ...]

    def own(self) -> list[str]:
        """Return the arguments."""
        return [word[0] for word in self.words]

    def with_words(self, words: Sequence[str]) -> str:
        """Return the line with these arguments in place of its own; '' removes one."""
        line = self.line
        for found, word in [*zip(self.words, words, strict=True)][::-1]:
            start = found.start() if word else found.start() - 1
            line = line[:start] + word + line[found.end() :]
        return line


def variations(lines: Iterable[str], binary: str, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield variations of these lines, each with its subcommand: the first of every line, then the second, and so on.

    `names`: the tool's subcommands, the longest first.
    """
    calls = [call for line in lines if (call := _read(line, binary, names)) is not None]
    given = {*lines}
    for line, command in in_turn(_of(call, calls) for call in calls):
        if line not in given:
            given.add(line)
            yield line, command


def _read(line: str, binary: str, names: Sequence[str]) -> _Call | None:
    """Return the call in the line; None if it has none, or several, or works on a copy of a file."""
    found = [*re.finditer(rf"(?<![\w./-]){re.escape(binary)}(?=\s)", line)]
    if len(found) != 1 or line.startswith("cp "):
        return None
    start = found[0].end()
    end = _ENDS.search(_QUOTED.sub(lambda text: "_" * len(text[0]), line), start)
    words = [*_WORD.finditer(line, start, end.start() if end else len(line))]
    command = command_of([word[0] for word in words], names)
    own = [word for word in words if not word[0].startswith("-")][len(command.split()) :]
    return _Call(line, command, tuple(own))


def _of(call: _Call, calls: Sequence[_Call]) -> Iterator[tuple[str, str]]:
    """Return the variations of one call, with its subcommand: of each kind one, then the next."""
    others = [one for one in calls if one is not call and one.command == call.command]
    dates = [_DATE.findall(one.line) for one in calls if one.command != call.command]
    numbers = itertools.chain(_as_numbers(call), _with_numbers(call.line))
    found = in_turn([_in_days(call.line, dates), numbers, _with_others(call, others), _rearranged(call)])
    return ((line, call.command) for line in found)


def _in_days(line: str, dates: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the line with days that calls of other subcommands give, such as what they add: from one to the next."""
    days = dict.fromkeys(one[0] for one in dates if one)
    for day in days if _DATE.search(line) else ():
        with suppress(ValueError):
            following = (date.fromisoformat(day) + timedelta(days=1)).isoformat()
            before, *others = _DATE.split(line)
            yield before + day + following.join(others)


def _with_others(call: _Call, others: Sequence[_Call]) -> Iterator[str]:
    """Yield the call with arguments of other calls of the same subcommand."""
    own = call.own()
    for place in range(len(own) if len(own) <= FEW else 0):
        found = (one.own()[place] for one in others if len(one.words) > place)
        words = dict.fromkeys(word for word in found if word != own[place])
        yield from (call.with_words([*own[:place], word, *own[place + 1 :]]) for word in [*words][:MOST_OTHERS])


def _rearranged(call: _Call) -> Iterator[str]:
    """Yield the call with two arguments that are equal or nearly so, exchanged, without the last, in capitals."""
    own = call.own()
    for place in range(1, len(own) if len(own) <= FEW else 0):
        before, after = own[: place - 1], own[place + 1 :]
        first, second = own[place - 1 : place + 1]
        yield call.with_words([*before, first, first, *after])
        yield from (call.with_words([*before, first, other, *after]) for other in islice(_with_numbers(first), 1))
        yield call.with_words([*before, second, first, *after])
    if len(own) > 1:
        yield call.with_words([*own[:-1], ""])
    if own and not _FILE.fullmatch(own[-1]):
        yield call.with_words([*own[:-1], own[-1].upper()])


def with_numbers(line: str, binary: str, names: Sequence[str]) -> Iterator[str]:
    """Yield the line with other numbers in place of an argument that is one."""
    call = _read(line, binary, names)
    yield from _as_numbers(call) if call is not None else ()


def _as_numbers(call: _Call) -> Iterator[str]:
    """Yield the call with numbers of other kinds in place of an argument that is a number."""
    own = call.own()
    for place, word in enumerate(own):
        if _WHOLE.fullmatch(word):
            yield from (call.with_words([*own[:place], other, *own[place + 1 :]]) for other in NUMBERS if other != word)


def _with_numbers(text: str) -> Iterator[str]:
    """Yield the text with one of its numbers changed, the last first: a number with more digits, and 0."""
    files = [found.span() for found in _FILE.finditer(text)]
    found = [one for one in _NUMBER.finditer(text) if not any(a <= one.start() < b for a, b in files)]
    for number in found[::-1][:MOST_NUMBERS]:
        for other in (str(int(number[0]) + 9), "0"):
            if other != number[0]:
                yield text[: number.start()] + other + text[number.end() :]


def in_turn(found: Iterable[Iterator[T]]) -> Iterator[T]:
    """Yield the first value of each, then the second of each, and so on."""
    left = [*found]
    while left:
        values = [(one, next(one, None)) for one in left]
        yield from (value for _, value in values if value is not None)
        left = [one for one, value in values if value is not None]
