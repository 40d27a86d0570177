"""Tries calls of a tool one after another, as an agent in a trial, and keeps those that show a result."""

from __future__ import annotations

import json
import os
import re
import shlex
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice, pairwise, product
from pathlib import PurePosixPath
from stat import S_ISREG
from typing import Literal

from pydantic import PrivateAttr

from tidegate.authoring.input_files import FILE, FOLDER, content_of, input_words, told_words
from tidegate.authoring.observed_gates import MOST_LINES, NOTHING, complaint, is_usage
from tidegate.authoring.option_calls import UNFIT, Try, by_subcommand, with_configuration, with_option
from tidegate.authoring.samples import HISTORY, sample
from tidegate.authoring.variations import in_turn, variations
from tidegate.decide.surface.parts import commands
from tidegate.model.agent import Agent, Session
from tidegate.model.event import CommandResult, End, Message
from tidegate.model.surface import Part
from tidegate.model.value import Value
from tidegate.text.noise import VOLATILE

SECONDS, PLANS_SECONDS = 5.0, 100.0  # of one call, and of all plans, two of which run at once
AT_ONCE = 2  # plans
MOST_SLOW = 3.0  # times that a machine with other work may take
TRIES_SHARE, OPTIONS_SHARE = 0.65, 0.85  # of a plan's seconds, after which options come, and variations
ENOUGH = 12  # calls that have to print what no other did, such as those with samples
MOST_BASES = 8  # lines that get options
MOST_CONFIGURED = 2  # lines that get a configuration
MOST_OF_OPTION = 5  # lines with which an option is tried
MOST_PAIRS = 12  # lines that get a second option
MOST_ALIKE = 3  # inputs on which a call fails alike, before it gets no others; so with other arguments
MOST_VARIED = 3  # inputs of a line, beside its own
MOST_INPUTS = 6  # inputs that are tried for them, unless the line is silent
MOST_WRONG = 3  # lines that are spoilt
MOST_VARIATIONS, MOST_REFUSED = 60, 3  # that are kept; and those of a subcommand that are refused with one status
SHORT = 20  # characters of an output of which each is a result
MOST_WRITTEN = 3  # files of one call that its check shows
MOST_PROVIDED = 3  # inputs that a call finds by itself
_ENTERS = re.compile(r"\bcd ([\w-]+) && ")
_LEAVES = re.compile(r"\b(?:cat|cd) ")  # it shows files itself, or goes where they have other names
_NO_RESULT = re.compile(rf"(?:^|/)\.git/(?!hooks/|config$)|{VOLATILE.pattern}")  # files
_NO_FILES = re.compile(
    r"(?i)\bno (?:[\w-]+ ){0,4}files?\b.{0,40}\b(?:found|given|matched)|\bno (?:[\w-]+ ){0,2}input files"
)
_NO_FILE = re.compile(r"(?i)\bfile\b.{0,30}\b(?:not exist|not found|n't exist)")
_BINARY = re.compile(r"[\0-\x08\x0b-\x1a\ufffd]")
_REDIRECTED = re.compile(r"[<>|]")


Kind = Literal["call", "option", "refused", "variation", "silent"]


class Call(Value):
    """A line that is kept, and how many seconds it takes.

    `kind`: it works; so it does with one more option, or with other arguments; it is refused; or its option changes
    nothing.
    """

    line: str
    kind: Kind
    seconds: float


class Found(Value):
    """What a plan found: calls to keep, files that they need, and lines that failed, with the reason."""

    calls: tuple[Call, ...] = ()
    files: dict[str, str] = {}
    failed: tuple[tuple[str, str], ...] = ()

    def of(self, kind: Kind) -> tuple[str, ...]:
        """Return the lines of this kind."""
        return tuple(call.line for call in self.calls if call.kind == kind)


class Prober(Agent):
    """Tries the plan of its scenario, then its first lines with each option that the help lists.

    `inputs` are samples and files of the repository: lines that read one are tried with the others, too.
    """

    type: Literal["prober"] = "prober"
    plans: dict[str, tuple[Try, ...]] = {}
    parts: tuple[Part, ...] = ()
    inputs: tuple[str, ...] = ()
    configurations: tuple[tuple[str, str], ...] = ()  # of documents: a file's name, and its text
    environment: tuple[str, ...] = ()  # variables of the tool that its texts name
    given: dict[str, str] = {}  # of the inputs, those that the repository shows in its tests
    _told: set[tuple[str, str, str]] = PrivateAttr(default_factory=set)  # options that showed something, in all plans
    _used: dict[str, float] = PrivateAttr(default_factory=dict)  # seconds of the plans that have ended

    async def run(self, session: Session) -> End:
        """Try everything until the time is up, and report what was found as a message in JSON."""
        if session.scenario in self._used:
            self._used.clear()  # all is tried again, such as with a network
        probe = _Probe(session, self.inputs, self.given, partial(self._seconds, session.scenario))
        plan = self.plans.get(session.scenario, ())
        await self._try_plan(probe, plan)
        lines = probe.found().of("call")
        probe.share = OPTIONS_SHARE
        single = [line for line in dict.fromkeys(lines) if "\n" not in line]
        bases = await probe.repeatable(single) or probe.bare(plan)
        covered = by_subcommand(bases, session.binary, self.parts)
        of_each = by_subcommand(single, session.binary, self.parts)
        for own in of_each.values():
            await probe.from_stdin(own)
        bases += [own[-1] for name, own in of_each.items() if name not in covered]  # such as what it adds
        await self._try_configurations(probe, bases[:MOST_CONFIGURED])
        bases = [*(await self._with_variables(probe, bases[:MOST_CONFIGURED])), *bases]
        kept = list[tuple[Part, Call]]()
        for part in sorted(self.parts, key=lambda part: part.takes_value):  # switches need one call
            if part.kind == "option" and not UNFIT.match(part.name):
                kept += [(part, call) for call in (await self._try_option(probe, part, bases))[:1]]
        await self._try_pairs(probe, kept)
        probe.share = 1.0
        for line in bases[:MOST_WRONG]:
            await probe.spoil(line)
        for line, command in variations(lines, session.binary, commands(self.parts)):
            await probe.vary(line, command)
        self._used[session.scenario] = time.monotonic() - probe.began
        session.emit(Message(text=json.dumps(probe.found().model_dump())))
        return End(end="completed")

    async def _try_plan(self, probe: _Probe, plan: Sequence[Try]) -> None:
        """Try the plan, then what failed again, then what comes last."""
        printing = 0
        for one in (one for one in plan if not one.last):
            if one.wants == "prints" and printing >= ENOUGH:
                continue
            call = await probe.tried(one)
            printing += one.wants == "prints" and call is not None
            if call is not None and one.wants == "works":
                probe.calls += await probe.on_other_inputs(call)
            else:
                probe.keep(call)
        again = [
            *(Try(ways=(line,), wants="prints") for line in probe.stale),
            *(Try(ways=(line,)) for line in probe.failed),
        ]
        for one in (*again, *(one for one in plan if one.last)):  # what an earlier line lacked may be there now
            probe.keep(await probe.tried(one))

    def _seconds(self, name: str) -> float:
        """Return the plan's share of the seconds that are left by those that have ended."""
        weights = {one: 10 + min(len(tries), 40) for one, tries in self.plans.items() if one not in self._used}
        total = PLANS_SECONDS * slowness()
        return min(total, (AT_ONCE * total - sum(self._used.values())) * weights[name] / sum(weights.values()))

    async def _try_configurations(self, probe: _Probe, bases: Sequence[str]) -> None:
        """Keep these lines with each configuration that changes what they show."""
        for (name, text), base in product(self.configurations, bases):
            if probe.session.read_text(name) is None:
                with_file = Try(ways=(with_configuration(base, name, text),), wants="prints")
                call = await probe.tried(with_file, base=base)
                probe.keep(call if call is not None and call.kind == "option" else None)

    async def _with_variables(self, probe: _Probe, bases: Sequence[str]) -> list[str]:
        """Keep these lines with each variable that changes what they show, and return them."""
        found = list[str]()
        for name, base in product(self.environment, bases):
            call = await probe.tried(Try(ways=(f"{name}=1 {base}",), wants="prints"), base=base)
            if call is not None and call.kind == "option":
                probe.keep(call)
                found.append(call.line)
        return found

    async def _try_pairs(self, probe: _Probe, kept: Sequence[tuple[Part, Call]]) -> None:
        """Keep the lines with an option that get the next one too, if both show something."""
        shown = [(part, call.line) for part, call in kept if call.kind == "option"]
        for (_, line), (part, _) in islice(pairwise(shown), MOST_PAIRS):
            for one in islice(with_option(line, probe.session.binary, part, self.parts, probe.printed[line]), 1):
                call = await probe.tried(one, base=line)
                probe.keep(call if call is not None and call.kind == "option" else None)

    async def _try_option(self, probe: _Probe, part: Part, bases: Sequence[str]) -> list[Call]:
        """Keep the option with a line on which it shows something; else with one on which it shows nothing."""
        found = await self._with_option(probe, part, bases)
        if not found and not part.takes_value and part.id not in self._told:  # help may leave the value out
            found = await self._with_option(probe, part.model_copy(update={"takes_value": True}), bases)
        probe.calls += found
        return found

    async def _with_option(self, probe: _Probe, part: Part, bases: Sequence[str]) -> list[Call]:
        """Return the first line with the option that shows something, with each value that does; else a silent one."""
        binary = probe.session.binary
        own = [(base, [*with_option(base, binary, part, self.parts, probe.printed[base])]) for base in bases]
        silent: list[Call] = []
        for base, tries in [one for one in own if one[1]][:MOST_OF_OPTION]:
            if part.id in self._told:
                return []
            found = [call for one in tries if (call := await probe.tried(one, base=base)) is not None]
            if kept := [call for call in found if call.kind == "option"]:
                self._told |= set() if probe.printed[base].endswith(" ") else {part.id}
                return kept
            silent = silent or found[:1]
        return silent


def slowness() -> float:
    """Return how many times longer everything takes here than on a machine without other work, MOST_SLOW at most."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return min(MOST_SLOW, max(1.0, load / (os.cpu_count() or 1)))


@dataclass
class _Probe:
    session: Session
    inputs: tuple[str, ...] = ()
    given: Mapping[str, str] = field(default_factory=dict)
    seconds: Callable[[], float] = lambda: PLANS_SECONDS
    share: float = TRIES_SHARE  # of the seconds, after which nothing more is tried
    began: float = field(default_factory=time.monotonic)
    calls: list[Call] = field(default_factory=list)
    shapes: dict[str, list[Call]] = field(default_factory=dict)  # variations, by what they showed
    refused: Counter[tuple[str, int | None]] = field(default_factory=Counter)  # of them, by subcommand and status
    fit: set[str] = field(default_factory=set)  # forms of lines that worked
    alike: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))  # failed, by form
    stale: list[str] = field(default_factory=list)  # lines that showed nothing, or nothing new
    known: set[str] = field(default_factory=set)  # all that was shown
    files: dict[str, str] = field(default_factory=dict)
    unnamed: set[str] = field(default_factory=set)  # of the files, those that calls find without their names
    failed: dict[str, str] = field(default_factory=dict)
    printed: dict[str, str] = field(default_factory=dict)  # by line that worked, at last

    @property
    def is_late(self) -> bool:
        """True if nothing more may be tried."""
        return time.monotonic() - self.began > self.share * self.seconds()

    def keep(self, call: Call | None) -> None:
        """Keep the call, if there is one."""
        self.calls += [call] if call is not None else []

    def found(self) -> Found:
        """Return what was found until now; of variations one of each shape of output, then the next of each."""
        calls = (*self.calls, *islice(in_turn(map(iter, self.shapes.values())), MOST_VARIATIONS))
        lines = {call.line for call in calls}
        called = {*re.split(r"[^\w.-]+", " ".join(lines))}
        return Found(
            calls=calls,
            files={name: text for name, text in self.files.items() if name.partition("/")[0] in called | self.unnamed},
            failed=tuple((line, why) for line, why in self.failed.items() if line not in lines),
        )

    async def repeatable(self, lines: Sequence[str]) -> list[str]:
        """Return the lines that print the same twice, longest outputs first; some of all if none does."""
        rows = {line: self.printed[line].count("\n") for line in lines}
        fit = sorted(lines, key=lambda line: (rows[line] > MOST_LINES, -rows[line]))[:MOST_BASES]
        steady: list[str] = []
        for line in fit if not self.is_late else ():
            first, second = [self._shown(line, await self.session.shell(line, timeout_secs=SECONDS)) for _ in range(2)]
            self.printed[line] = second
            steady += [line] if first == second else []
        return steady or fit

    def bare(self, plan: Iterable[Try]) -> list[str]:
        """Return the plan's calls without inputs, which may need an option to do something."""
        lines = [one.ways[-1] for one in plan if one.ways[-1].endswith(self.session.binary)]
        self.printed |= dict.fromkeys(lines, "")
        return lines

    async def on_other_inputs(self, call: Call) -> list[Call]:
        """Return the call, and those with inputs on which it shows other things; without it if it alone is silent."""
        line = call.line
        own = next((name for name in self.inputs if name in line.split()), None)
        silent, found = self.printed[line].endswith(" "), list[Call]()
        others = sorted((name for name in self.inputs if name != own), key=lambda name: not _are_alike(name, own))
        ways = [line.replace(own, name) for name in others] if own else []
        if own and others and not silent and not _REDIRECTED.search(line):
            ways.insert(0, line.replace(own, f"{own} {others[0]}"))
        ways = ways if silent else ways[:MOST_INPUTS]
        if silent and not own and not _REDIRECTED.search(line):
            ways = [f"{line} < {name}" for name in self.inputs[:2]]
        for way in ways:
            if len(found) < MOST_VARIED:
                other = await self.tried(Try(ways=(way,), wants="prints"), more=True)
                found += [other] if other is not None else []
        return found if found and silent else [call, *found]

    async def from_stdin(self, lines: Iterable[str]) -> None:
        """Keep the first line with an input also with that on stdin, with and without `-`, if it shows something."""
        found = ((line, name) for line in lines for name in self.inputs if name in line.split())
        for line, own in islice((one for one in found if not _REDIRECTED.search(one[0])), 1):
            for word in ("- ", ""):
                way = f"{line} ".replace(f" {own} ", f" {word}") + f"< {own}"
                ran = None if self.is_late else await self.session.shell(way, timeout_secs=SECONDS)
                if ran is not None and ran.printed.strip() and not self._wrong(ran):
                    self.keep(Call(line=way, kind="variation", seconds=ran.duration_s))

    async def tried(self, one: Try, *, more: bool = False, base: str = "") -> Call | None:
        """Return the call by the first way that shows what is wanted; None if none does, or no time is left.

        `base`: the line without the option that this is about; then one that works and shows no news is `silent`.
        """
        silent: Call | None = None
        reasons = Counter[str]()
        for way in one.ways:
            if self.is_late or max(reasons.values(), default=0) >= MOST_ALIKE:
                break
            form = self._without_inputs(way)
            if not base and form not in self.fit and max(self.alike[form].values(), default=0) >= MOST_ALIKE:
                continue
            line, ran, why = await self._run(way)
            shown = self._shown(line, ran)
            news = shown != self.printed[base] if base else shown not in self.known
            if why:
                if not (more or base):
                    self.failed.setdefault(line, why)
                    self.alike[form][_shape(ran, line)] += 1
                    reasons[_shape(ran, line)] += MOST_ALIKE if ran.end == "timeout" else 1
                continue
            self.fit.add(form)
            new_line = one.wants == "works" and line not in self.printed
            if new_line or (news and not (one.wants == "prints" and shown.endswith(" "))):
                if not base and (not news or shown.endswith(" ")):
                    self.stale.append(line)
                self.known.add(shown)
                self.printed[line] = shown
                return Call(line=line, kind="option" if base else "call", seconds=ran.duration_s)
            if base and silent is None:
                silent = Call(line=line, kind="silent", seconds=ran.duration_s)
        return silent

    async def spoil(self, line: str) -> None:
        """Try the line with a damaged file in place of its own, and with one that is not there."""
        own = next((name for name in self.files if name in line.split() and name != HISTORY), None)
        if own is None or self.is_late:
            return
        name = PurePosixPath(own).name
        for other, before in (
            (f"damaged-{name}", f"(echo '}}]) ('; cat {own}) > damaged-{name}; "),
            (f"{NOTHING}{name}", ""),
        ):
            ran = await self.session.shell(before + line.replace(own, other), timeout_secs=SECONDS)
            self._refused(ran, ran.printed.replace(other, ""))

    async def vary(self, line: str, command: str) -> None:
        """Try this variation of a line, a call of this subcommand."""
        if self.is_late:
            return
        line, ran, why = await self._run(line, provides=False)
        if why:
            self.refused[command, ran.exit_code] += 1
            if self.refused[command, ran.exit_code] <= MOST_REFUSED:
                self._refused(ran, _shape(ran, line))
        elif ran.printed.strip():
            shape = ran.printed if len(ran.printed) <= SHORT else _shape(ran, line)
            call = Call(line=line, kind="variation", seconds=ran.duration_s)
            self.shapes.setdefault(f"{command} {shape}", []).append(call)

    def _refused(self, ran: CommandResult, shape: str) -> None:
        """Keep the call if it ends by itself, and no other one was refused alike."""
        shown = f"{ran.exit_code} {shape}"
        if ran.end == "exited" and shown not in self.known:
            self.known.add(shown)
            self.keep(Call(line=ran.command, kind="refused", seconds=ran.duration_s))

    def _without_inputs(self, line: str) -> str:
        """Return the line with one word in place of its inputs."""
        return " ".join("input" if word in self.inputs else word for word in line.split(" "))

    def _shown(self, line: str, ran: CommandResult) -> str:
        """Return the status, a blank, and the output without the name of its input, if it does not just repeat that."""
        printed = ran.stdout.strip() or ran.stderr.strip()
        for name in (name for name in self.inputs if name in line):
            if printed == (self.session.read_text(name) or "").strip():
                printed = ""
            printed = printed.replace(name, "input")
        return f"{ran.exit_code} {printed}"

    async def _run(self, line: str, *, provides: bool = True) -> tuple[str, CommandResult, str | None]:
        """Return the line that was run at last, what it did, and why that does not show a result, if so.

        What it writes is shown by `cat`. With `provides`, it gets the files that it lacks.
        """
        there, before = self._states(), {*self.files}
        ran = await self.session.shell(line, timeout_secs=SECONDS)
        if provides and (self._wrong(ran) or not ran.printed.strip()) and self._provide(line, ran.printed):
            if HISTORY in line:  # not a result: what this writes
                await self.session.shell(line.partition(" && ")[0], timeout_secs=SECONDS)
                there = self._states()
            ran = await self.session.shell(line, timeout_secs=SECONDS)
        silent = ran.end == "exited" and not ran.printed.strip()  # a formatter may exit with 1 if it changed something
        rewritten = self._restored()
        if silent or ran.ok or not self._wrong(ran):
            if on_copy := self._on_copy(line, ran, rewritten):
                line, ran = on_copy, await self.session.shell(on_copy, timeout_secs=SECONDS)
            elif written := self._written(line, there):
                line = _then_cat(line, ran, *written)
                ran = ran.model_copy(update={"command": line, "stdout": ran.stdout + "".join(written.values())})
            elif rewritten:
                return line, ran, "it changes files that other lines read"
        why = self._wrong(ran)
        if why and (unused := [name for name in self.files if name not in before]):
            await self.session.shell(shlex.join(["rm", "-f", *unused]), timeout_secs=SECONDS)
            self.files = {name: text for name, text in self.files.items() if name in before}
        return line, ran, why

    def _states(self) -> dict[str, tuple[int, int]]:
        """Return when each file of the workspace was written, in ns since the epoch, and its size in bytes."""
        folder = self.session.workspace
        found = ((path, path.lstat()) for path in folder.rglob("*"))
        files = ((path.relative_to(folder).as_posix(), state) for path, state in found if S_ISREG(state.st_mode))
        return {name: (state.st_mtime_ns, state.st_size) for name, state in files}

    def _written(self, line: str, before: Mapping[str, tuple[int, int]]) -> dict[str, str]:
        """Return the texts that the line has written, by their names where it leaves off; none if it shows them."""
        entered = _ENTERS.search(line)
        inside, rest = (f"{entered[1]}/", line[entered.end() :]) if entered else ("", line)
        changed = (name for name, state in self._states().items() if before.get(name) != state)
        named = [name for name in sorted(changed) if name not in self.files and not _NO_RESULT.search(name)]
        read = ((name.removeprefix(inside), self.session.read_text(name)) for name in named if name.startswith(inside))
        texts = [(name, text) for name, text in read if text and not _BINARY.search(text)]
        return {} if _LEAVES.search(rest) else dict(texts[:MOST_WRITTEN])

    def _wrong(self, ran: CommandResult) -> str | None:
        """Return why this does not show a result; None if it does."""
        if ran.end == "timeout":
            return "it waits, or takes long"
        return complaint(ran) or ("it prints its usage" if is_usage(ran.printed) else None)

    def _restored(self) -> list[str]:
        """Return the given files that were changed, which are then as before."""
        texts = ((name, text.encode("utf-8", "surrogateescape")) for name, text in self.files.items())
        shown = ((name, text.decode("utf-8", "replace")) for name, text in texts)
        names = [name for name, text in shown if self.session.read_text(name) not in (None, text)]
        for name in names:
            self.session.write_text(name, self.files[name])
        return names

    def _on_copy(self, line: str, ran: CommandResult, rewritten: Sequence[str]) -> str | None:
        """Return the line on a copy of the only file that it has changed, which it prints; None without one."""
        own = next((name for name in rewritten if name in line and "/" not in name), None)
        copy = f"copy{PurePosixPath(own or '').suffix}"
        if own is None or len(rewritten) > 1 or copy in line:
            return None
        return _then_cat(f"cp {own} {copy} && {line.replace(own, copy)}", ran, copy)

    def _provide(self, line: str, printed: str) -> bool:
        """Write the files that the line lacks: from the repository, or samples. Return True if there are any."""
        before = len(self.files)
        told = told_words(printed, self.session.repo)
        words = input_words(line, self.session.binary)
        for word in dict.fromkeys((*words, *told)):
            named = not is_usage(printed) and re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", printed)
            asked = FILE.fullmatch(word) or FOLDER.fullmatch(word) or named
            meant = not asked and "/" in word and _NO_FILE.search(printed)
            path = PurePosixPath(word)
            inside = not path.is_absolute() and ".." not in path.parts
            if (asked or meant) and inside and word not in self.files and self.session.read_text(word) is None:
                number, known = len(self.files), (*self.files, *self.inputs)
                found = content_of(self.session.repo, word, number, known)
                own = [(word, self.given.get(word) or sample(word, number))] if meant or word in self.given else found
                for name, text in own:
                    self.session.write_text(name, text)
                    self.files[name] = text
                    self.unnamed |= set() if word in words else {name}
        if len(self.files) == before and _NO_FILES.search(printed):  # it looks for some in the current folder
            samples = [name for name in self.inputs if name.startswith("sample.")][:MOST_PROVIDED]
            for number, name in enumerate(samples):
                if self.session.read_text(name) is None:
                    self.unnamed.add(name)
                    self.files[name] = sample(name, number)
                    self.session.write_text(name, self.files[name])
        return len(self.files) > before


def _then_cat(line: str, ran: CommandResult, *names: str) -> str:
    """Return the line, which then shows the files, with the status that it had."""
    shown = shlex.join(["cat", *names])
    return f"{line}; status=$?; {shown}; (exit $status)" if ran.exit_code else f"{line} && {shown}"


def _shape(ran: CommandResult, line: str) -> str:
    """Return the output without the line's words and without numbers."""
    words = {*re.findall(r"\w+", line)}
    return "".join(one for one in re.findall(r"\w+|\W", ran.printed) if one not in words and not one.isdecimal())


def _are_alike(name: str, other: str | None) -> bool:
    return other is not None and PurePosixPath(name).suffix == PurePosixPath(other).suffix


def read_found(messages: Iterable[str]) -> Found:
    """Return what the agent reported; nothing if it did not come to that."""
    return next((Found.model_validate(json.loads(text)) for text in messages), Found())
