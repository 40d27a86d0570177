"""Tries calls of a tool one after another, as an agent in a trial, and keeps those that show a result."""

from __future__ import annotations

import json
import re
import shlex
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path, PurePosixPath
from stat import S_ISREG
from typing import Literal

from pydantic import PrivateAttr

from tidegate.agents.invocations.shell_grammar import shell_lines
from tidegate.authoring.observed_gates import complaint, is_usage
from tidegate.authoring.samples import kind_of, sample
from tidegate.authoring.survey import named_like
from tidegate.authoring.variations import in_turn, variations
from tidegate.decide.surface.parts import command_of, commands
from tidegate.model.agent import Agent, Session
from tidegate.model.event import CommandResult, End, Message
from tidegate.model.surface import Part
from tidegate.model.value import Value
from tidegate.text.noise import VOLATILE

SECONDS, PLANS_SECONDS = 5.0, 100.0  # of one call, and of all plans, two of which run at once
MOST_BASES, MOST_MORE = 20, 60  # lines that get options, and calls with options that are kept
MOST_OF_OPTION = 10  # lines with which an option is tried
MOST_VARIED = 3  # inputs of a line, beside its own
MOST_INPUTS = 6  # inputs that are tried for them, unless the line is silent
MOST_WRONG, MOST_SET = 3, 5  # lines that are spoilt, and that get a variable
MOST_VARIATIONS, MOST_REFUSED = 60, 3  # that are kept; and those of a subcommand that are refused with one status
SHORT = 20  # characters of an output of which each is a result
MOST_WRITTEN = 3  # files of one call that its check shows
LARGEST_FILE, MOST_FILES = 200_000, 20
_FILE = re.compile(r"[\w./~+-]*\w\.[A-Za-z]\w{0,8}")
_FOLDER = re.compile(r"(?:path|dir|folder|src)\w*/?|.+/")
_WORD = re.compile(r"[\w.+-]+(?:/[\w.+-]+)*/?")
UNFIT = re.compile(  # options that wait, open something, print the help, or depend on time
    r"-{1,2}(?:h|help\S*|V|version|watch|follow|interactive|edit\S*|serve\S*|port|host|daemon|prompt|pager|browser|open"
    r"|debug|profile|speed|\w+mark|tim(?:e|ing)|random\S*|seed|shuffle|inodes?|device|log\S*|install\S*|update|upgrade|completion\S*|color|colour)$"
)
_NUMBERS = re.compile(
    r"indent|width|max|min|num|size|count|depth|level|limit|prec|digits|wrap|lines?$|top|first|last|n$"
)
_LEAVES = re.compile(r"\b(?:cat|cd) ")  # it shows files itself, or goes where they have other names
_NO_RESULT = re.compile(rf"(?:^|/)\.git/|{VOLATILE.pattern}")  # files
_REDIRECTED = re.compile(r"[<>|]")
_WRITES = re.compile(r"^--?o(?:ut|$)")
_DATES = re.compile(r"date|day|month|week|year|since|until|before|after|due|now|^--(?:from|to|at)$")
_SEPARATORS = re.compile(r"delim|sep")


class Try(Value):
    """Ways to call the tool, of which the first that works is kept.

    `wants`: it has to work, to do something that no earlier call did, or to print such a thing.
    """

    ways: tuple[str, ...]
    wants: Literal["works", "news", "prints"] = "works"


class Found(Value):
    """What a plan found: lines that worked, calls with one more option, files that they need, and lines that failed."""

    lines: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    varied: tuple[str, ...] = ()  # lines with other arguments
    silent: tuple[str, ...] = ()  # calls with an option that show the same without it
    wrong: tuple[str, ...] = ()  # calls with a file that is not there, or that is damaged
    files: dict[str, str] = {}
    failed: tuple[tuple[str, str], ...] = ()  # with the reason
    took: dict[str, float] = {}  # seconds, of each that is kept


class Prober(Agent):
    """Tries the plan of its scenario, then its first lines with each option that the help lists.

    `inputs` are samples and files of the repository: lines that read one are tried with the others, too.
    """

    type: Literal["prober"] = "prober"
    plans: dict[str, tuple[Try, ...]] = {}
    parts: tuple[Part, ...] = ()
    inputs: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()  # variables of the environment
    _told: set[tuple[str, str, str]] = PrivateAttr(default_factory=set)  # options that showed something, in all plans

    async def run(self, session: Session) -> End:
        """Try everything until the time is up, and report what was found as a message in JSON."""
        probe = _Probe(session, self.inputs, PLANS_SECONDS / len(self.plans))
        for one in self.plans.get(session.scenario, ()):
            if (line := await probe.kept(one)) is not None:
                probe.lines += await probe.varied(line)
        again = [
            *(Try(ways=(line,), wants="prints") for line in probe.stale),
            *(Try(ways=(line,)) for line in probe.failed),
        ]
        for one in again:  # what an earlier line lacked may be there now
            if (line := await probe.kept(one)) is not None:
                probe.lines.append(line)
        single = [line for line in dict.fromkeys(probe.lines) if "\n" not in line]
        bases = sorted(single, key=lambda line: -probe.printed[line].count("\n"))[:MOST_BASES]
        for part in sorted(self.parts, key=lambda part: part.takes_value):  # switches need one call
            if part.kind == "option" and not UNFIT.match(part.name):
                await self._try_option(probe, part, bases)
        for name in filter(_is_fit, self.settings):
            await probe.set(name, bases)
        for line in bases[:MOST_WRONG]:
            await probe.spoil(line)
        for line, command in variations(probe.lines, session.binary, commands(self.parts)):
            await probe.vary(line, command)
        session.emit(Message(text=probe.found().model_dump_json()))
        return End(end="completed")

    async def _try_option(self, probe: _Probe, part: Part, bases: Sequence[str]) -> None:
        """Keep the option with a line on which it shows something; else with one on which it shows nothing."""
        binary = probe.session.binary
        own = [(base, [*with_option(base, binary, part, self.parts, probe.printed[base])]) for base in bases]
        silent: list[str] = []
        for base, tries in [one for one in own if one[1]][:MOST_OF_OPTION]:
            if part.id in self._told or len(probe.more) >= MOST_MORE:
                return
            kept: list[str] = []
            for one in tries:
                before = len(silent)
                line = await probe.kept(one, base=base, silent=silent)
                kept += [line] if line is not None else []
                if not part.takes_value and (kept or len(silent) > before):
                    break  # it takes no value, indeed
            if kept:
                probe.more += kept
                self._told |= set() if probe.printed[base].endswith(" ") else {part.id}
                return
        probe.silent += silent[:1]


@dataclass
class _Probe:
    session: Session
    inputs: tuple[str, ...] = ()
    seconds: float = PLANS_SECONDS
    began: float = field(default_factory=time.monotonic)
    lines: list[str] = field(default_factory=list)
    more: list[str] = field(default_factory=list)
    shapes: dict[str, list[str]] = field(default_factory=dict)  # variations, by what they showed
    refused: Counter[tuple[str, int | None]] = field(default_factory=Counter)  # of them, by subcommand and status
    wrong: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)  # lines that showed nothing, or nothing new
    known: set[str] = field(default_factory=set)  # all that was shown
    files: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    printed: dict[str, str] = field(default_factory=dict)  # by line that worked, at last
    took: dict[str, float] = field(default_factory=dict)

    def found(self) -> Found:
        kept = (*self.lines, *self.more, *self.varied_lines, *self.silent, *self.wrong)
        failed = tuple((line, why) for line, why in self.failed.items() if line not in kept)
        took, called = {line: self.took[line] for line in kept}, {*re.split(r"[^\w.-]+", " ".join(kept))}
        files = {name: text for name, text in self.files.items() if name.partition("/")[0] in called}
        shown = {"lines": self.lines, "more": self.more, "silent": self.silent, "wrong": self.wrong}
        shown |= {"varied": self.varied_lines}
        return Found.model_validate({**shown, "files": files, "failed": failed, "took": took})

    async def varied(self, line: str) -> list[str]:
        """Return the line, and with inputs on which it shows other things; without it if it alone is silent."""
        own = next((name for name in self.inputs if name in line.split()), None)
        silent, found = self.printed[line].endswith(" "), list[str]()
        others = sorted((name for name in self.inputs if name != own), key=lambda name: not _are_alike(name, own))
        ways = [line.replace(own, name) for name in others] if own else []
        if own and others and not silent and not _REDIRECTED.search(line):
            ways.insert(0, line.replace(own, f"{own} {others[0]}"))
        ways = ways if silent else ways[:MOST_INPUTS]
        if silent and not own and not _REDIRECTED.search(line):
            ways = [f"{line} < {name}" for name in self.inputs[:2]]
        for way in ways:
            if len(found) < MOST_VARIED and await self.kept(Try(ways=(way,), wants="prints"), more=True) is not None:
                found.append(way)
        return found if found and silent else [line, *found]

    async def kept(
        self, one: Try, *, more: bool = False, base: str = "", silent: list[str] | None = None
    ) -> str | None:
        """Return the first way that shows what is wanted; None if none does, or no time is left.

        `base`: the line without the option that this is about. `silent` gets those that work and show no news.
        """
        for way in one.ways:
            if time.monotonic() - self.began > self.seconds:
                return None
            line, ran, why = await self._tried(way)
            shown = self._shown(line, ran)
            news = shown != self.printed[base] if base else shown not in self.known
            if why:
                if not (more or base):
                    self.failed.setdefault(line, why)
                continue
            new_line = one.wants == "works" and line not in self.lines
            if new_line or (news and not (one.wants == "prints" and shown.endswith(" "))):
                if not base and (not news or shown.endswith(" ")):
                    self.stale.append(line)
                self.known.add(shown)
                self.printed[line], self.took[line] = shown, ran.duration_s
                return line
            if silent is not None:
                self.took[line] = ran.duration_s
                silent.append(line)
        return None

    async def set(self, name: str, bases: Sequence[str]) -> None:
        """Keep a line for which this variable of the environment changes something."""
        for base in bases[:MOST_SET]:
            ways = tuple(f"export {name}={value}; {base}" for value in ("1", "name"))
            if (line := await self.kept(Try(ways=ways, wants="news"), base=base)) is not None:
                self.more.append(line)
                return

    async def spoil(self, line: str) -> None:
        """Try the line with a damaged file in place of its own, and with one that is not there."""
        own = next((name for name in self.files if name in line.split()), None)
        if own is None or time.monotonic() - self.began > self.seconds:
            return
        name = PurePosixPath(own).name
        for other, before in (
            (f"damaged-{name}", f"(echo '}}]) ('; cat {own}) > damaged-{name}; "),
            (f"no-such-{name}", ""),
        ):
            ran = await self.session.shell(before + line.replace(own, other), timeout_secs=SECONDS)
            self._refused(ran, ran.printed.replace(other, ""))

    async def vary(self, line: str, command: str) -> None:
        """Try this variation of a line, a call of this subcommand."""
        if time.monotonic() - self.began > self.seconds:
            return
        line, ran, why = await self._tried(line, provides=False)
        if why:
            self.refused[command, ran.exit_code] += 1
            if self.refused[command, ran.exit_code] <= MOST_REFUSED:
                self._refused(ran, _shape(ran, line))
        elif ran.printed.strip():
            shape = ran.printed if len(ran.printed) <= SHORT else _shape(ran, line)
            self.shapes.setdefault(f"{command} {shape}", []).append(line)
            self.took[line] = ran.duration_s

    @property
    def varied_lines(self) -> list[str]:
        """The variations that showed something: one of each shape of output, then the next of each."""
        return [*islice(in_turn(map(iter, self.shapes.values())), MOST_VARIATIONS)]

    def _refused(self, ran: CommandResult, shape: str) -> None:
        """Keep the call if it ends by itself, and no other one was refused alike."""
        shown = f"{ran.exit_code} {shape}"
        if ran.end == "exited" and shown not in self.known:
            self.known.add(shown)
            self.wrong.append(ran.command)
            self.took[ran.command] = ran.duration_s

    def _shown(self, line: str, ran: CommandResult) -> str:
        """Return the status, a blank, and the output without the name of its input, if it does not just repeat that."""
        printed = ran.stdout.strip() or ran.stderr.strip()
        for name in (name for name in self.inputs if name in line):
            if printed == (self.session.read_text(name) or "").strip():
                printed = ""
            printed = printed.replace(name, "input")
        return f"{ran.exit_code} {printed}"

    async def _tried(self, line: str, *, provides: bool = True) -> tuple[str, CommandResult, str | None]:
        """Return the line that was run at last, what it did, and why that does not show a result, if so.

        What it writes is shown by `cat`. With `provides`, it gets the files that it lacks.
        """
        there = self._states()
        ran = await self.session.shell(line, timeout_secs=SECONDS)
        why = self._wrong(ran)
        before = {*self.files}
        if provides and (why or not ran.printed.strip()) and self._provide(line, ran.printed):
            ran = await self.session.shell(line, timeout_secs=SECONDS)
            why = self._wrong(ran)
            if why and (unused := [name for name in self.files if name not in before]):
                await self.session.shell(shlex.join(["rm", "-f", *unused]), timeout_secs=SECONDS)
                self.files = {name: text for name, text in self.files.items() if name in before}
        if not why and (shown := self._on_copy(line) or self._with_written(line, there)) is not None:
            line, ran = shown, await self.session.shell(shown, timeout_secs=SECONDS)
            why = self._wrong(ran)
        return line, ran, why

    def _states(self) -> dict[str, tuple[int, int]]:
        """Return when each file of the workspace was written, in ns since the epoch, and its size in bytes."""
        folder = self.session.workspace
        found = ((path, path.lstat()) for path in folder.rglob("*"))
        files = ((path.relative_to(folder).as_posix(), state) for path, state in found if S_ISREG(state.st_mode))
        return {name: (state.st_mtime_ns, state.st_size) for name, state in files}

    def _with_written(self, line: str, before: Mapping[str, tuple[int, int]]) -> str | None:
        """Return the line, and `cat` of the texts that it has written; None if there is none."""
        changed = (name for name, state in self._states().items() if before.get(name) != state)
        named = [name for name in sorted(changed) if name not in self.files and not _NO_RESULT.search(name)]
        texts = [name for name in named if self.session.read_text(name)][:MOST_WRITTEN]
        return f"{line} && {shlex.join(['cat', *texts])}" if texts and not _LEAVES.search(line) else None

    def _wrong(self, ran: CommandResult) -> str | None:
        """Return why this does not show a result; None if it does."""
        if ran.end == "timeout":
            return "it waits, or takes long"
        return complaint(ran) or ("it prints its usage" if is_usage(ran.printed) else None)

    def _on_copy(self, line: str) -> str | None:
        """Return the line on a copy of the file that it has changed, which it prints; None if it changed none."""
        names = [name for name, text in self.files.items() if self.session.read_text(name) not in (None, text)]
        for name in names:
            self.session.write_text(name, self.files[name])
        own = next((name for name in names if name in line and "/" not in name), None)
        if own is None:
            return None
        copy = f"copy{PurePosixPath(own).suffix}"
        return f"cp {own} {copy} && {line.replace(own, copy)} && cat {copy}"

    def _provide(self, line: str, printed: str) -> bool:
        """Write the files that the line lacks: from the repository, or samples. Return True if there are any."""
        before = len(self.files)
        told = [word for word in _FILE.findall(printed) if named_like(self.session.repo, PurePosixPath(word).name)]
        for word in dict.fromkeys((*_words(line, self.session.binary), *told)):
            named = not is_usage(printed) and re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", printed)
            asked = _FILE.fullmatch(word) or _FOLDER.fullmatch(word) or named
            path = PurePosixPath(word)
            inside = not path.is_absolute() and ".." not in path.parts
            if asked and inside and word not in self.files and self.session.read_text(word) is None:
                for name, text in _content(self.session.repo, word, len(self.files), (*self.files, *self.inputs)):
                    self.session.write_text(name, text)
                    self.files[name] = text
        return len(self.files) > before


def _shape(ran: CommandResult, line: str) -> str:
    """Return the output without the line's words and without numbers."""
    words = {*re.findall(r"\w+", line)}
    return "".join(one for one in re.findall(r"\w+|\W", ran.printed) if one not in words and not one.isdecimal())


def _is_fit(variable: str) -> bool:
    """Return True if no word of the variable's name is that of an option which is not tried, such as `debug`."""
    return not any(UNFIT.match(f"--{word}") for word in variable.lower().split("_"))


def _are_alike(name: str, other: str | None) -> bool:
    return other is not None and PurePosixPath(name).suffix == PurePosixPath(other).suffix


def _words(line: str, binary: str) -> list[str]:
    """Return the words of a line that may name a file or folder that it reads."""
    reads = [pair for one in shell_lines(line, binary) for pair in zip(("", *one.words), one.words, strict=False)]
    found = (word.strip("\"'") for before, word in reads if not re.fullmatch(r"-o|--?out(put)?\S*", before))
    files = dict.fromkeys(re.split("=@?|^@", word)[-1] for word in found)
    return [word for word in files if _WORD.fullmatch(word) and not word.startswith("-")]


def _content(repo: Path, word: str, number: int, known: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the files for this word: the repository's, else samples; a word without a suffix is a folder."""
    here = repo / word
    if here.is_dir():
        for path in sorted(here.rglob("*"))[:MOST_FILES]:
            if path.is_file() and not path.is_symlink() and path.stat().st_size <= LARGEST_FILE:
                yield path.relative_to(repo).as_posix(), path.read_text(encoding="utf-8", errors="replace")
    elif found := here if here.is_file() else named_like(repo, PurePosixPath(word).name):
        yield word, found.read_text(encoding="utf-8", errors="replace")[:LARGEST_FILE]
    elif _FILE.fullmatch(word):
        yield word, sample(word, number)
    else:
        kinds = [*dict.fromkeys(kind for kind in map(kind_of, known) if kind)] or [".txt"]
        folder = word.rstrip("/")
        yield from ((f"{folder}/sample{kind}", sample(kind)) for kind in kinds)
        yield from ((f"{folder}/inner/other{kind}", sample(kind, 1)) for kind in kinds[:1])


def with_option(line: str, binary: str, option: Part, parts: Sequence[Part], printed: str = "") -> Iterator[Try]:
    """Yield the line with the option, if its subcommand has it and the line does not, with each value to try.

    `printed`: by the line alone. Its words are values, too.
    """
    call = re.search(rf"(?<![\w./-]){re.escape(binary)}(?![\w./-])", line)
    names = "|".join(map(re.escape, (option.name, *option.aliases)))
    if call is None or re.search(rf"(?<![\w-])(?:{names})(?![\w-])", line):
        return
    command = command_of(line[call.end() :].split(), commands(parts))
    if option.command in ("", command):
        at = line.index(command, call.end()) + len(command) if option.command else call.end()
        for values in _values(option, printed):
            yield Try(ways=tuple(f"{line[:at]} {value}{line[at:]}" for value in values), wants="prints")


def _values(part: Part, printed: str) -> Iterator[tuple[str, ...]]:
    """Yield the ways to give the option, for each of its values that is tried."""
    if not part.takes_value:
        yield from ((part.name,), (f"{part.name} 2",))  # help texts often leave out that a value follows
    elif part.choices:
        yield from ((f"{part.name} {choice}",) for choice in part.choices[:4] if choice != part.default)
    elif part.default.isdecimal():
        yield f"{part.name} {int(part.default) // 2}", f"{part.name} {int(part.default) + 2}"
    elif _DATES.search(part.name):
        yield tuple(f"{part.name} {value}" for value in ("2024-01-31", "'2024-01-31 10:30'", "2024-01", "1"))
    elif _SEPARATORS.search(part.name):
        yield f"{part.name} ';'", f"{part.name} :"
    elif _NUMBERS.search(part.name):
        yield f"{part.name} 2", f"{part.name} 20", f"{part.name} 1"
    elif _WRITES.search(part.name):
        yield (f"{part.name} written.txt",)
    else:
        shown = [*dict.fromkeys(re.findall(r"[\w./-]*[A-Za-z]{2}[\w./-]*\w", printed))]
        own = dict.fromkeys([*shown[:2], *shown[len(shown) // 2 :][:1], *shown[-1:]])
        yield tuple(f"{part.name} {value}" for value in (*own, "name", "Ada", "unused", "'*'", "2", "sample.txt"))


def read_found(messages: Iterable[str]) -> Found:
    """Return what the agent reported; nothing if it did not come to that."""
    return next((Found.model_validate(json.loads(text)) for text in messages), Found())
