"""One plan's calls of a tool: runs them, and remembers what they showed, the files that they need, and what failed."""

from __future__ import annotations

import re
import shlex
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import PurePosixPath
from stat import S_ISREG

from tidegate.authoring.found import Call, Found, Kind
from tidegate.authoring.input_files import FILE, FOLDER, content_of, input_words, read, told_words, would_clash
from tidegate.authoring.observed_gates import MOST_LINES, NOTHING, complaint, crashed, is_usage, shape_of
from tidegate.authoring.option_calls import Try
from tidegate.authoring.samples import HISTORY, kind_of, sample
from tidegate.authoring.variations import in_turn
from tidegate.authoring.written_files import DATA, as_text, is_result, on_copies, then_show
from tidegate.model.agent import Session
from tidegate.model.event import CommandResult
from tidegate.text.noise import VOLATILE

SECONDS = 5.0  # of one call
PLANS_SECONDS = 80.0  # of all plans, two of which run at once
TRIES_SHARE = 0.45  # of a plan's seconds, after which nothing more of it is tried
MOST_ALIKE = 3  # inputs on which a call fails alike, before it gets no others; so with other arguments
ALIKE = frozenset({"crlf", "unended"})  # an input in other forms, of which a tool may show the same
MOST_VARIED = 3  # inputs of a line, beside its own
MOST_INPUTS = 6  # inputs that are tried for them, unless the line is silent
MOST_BASES, MOST_QUIET = 8, 3  # lines that get options; so if no line shows more than its input
MOST_VARIATIONS, MOST_REFUSED = 60, 3  # that are kept; and those of a subcommand that are refused with one status
MOST_REFUSED_CASES = 8  # inputs of tests
LONG = 70_000  # characters of a large input
SHORT = 20  # characters of an output of which each is a result
MOST_WRITTEN, MOST_PROVIDED = 3, 3  # files of one call that its check shows, and inputs that it finds by itself
_ENTERS = re.compile(r"\bcd ([\w-]+) && ")
_LEAVES = re.compile(r"\b(?:cat|cd|sha256sum) ")  # it shows files itself, or goes where they have other names
_NO_RESULT = re.compile(rf"(?:^|/)\.git/(?!hooks/|config$)|{VOLATILE.pattern}")  # files
_NO_FILES = re.compile(
    r"(?i)\bno (?:[\w-]+ ){0,4}files?\b.{0,40}\b(?:found|given|matched)|\bno (?:[\w-]+ ){0,2}input files"
)
_NO_FILE = re.compile(r"(?i)\bfile\b.{0,30}\b(?:not exist|not found|n't exist)")
_NOT_A_FILE = re.compile(r"(?i)\b(?:(?:supposed|has|expected|needs?) to be|must be|not) an? (?:\w+ )?file\b")
_REDIRECTED = re.compile(r"[<>|]")
_QUOTED = re.compile(r"""(['\"])(?:(?!\1).)*\1""")


@dataclass
class Probe:
    """The state of one plan."""

    session: Session
    inputs: tuple[str, ...] = ()
    given: Mapping[str, str] = field(default_factory=dict)
    seconds: Callable[[], float] = lambda: PLANS_SECONDS
    began: float = field(default_factory=time.monotonic)
    share: float = 0.0  # of the seconds, that may be used until now
    until: float = 0.0  # after which nothing more is tried
    calls: list[Call] = field(default_factory=list)
    shapes: dict[str, list[Call]] = field(default_factory=dict)  # variations, by what they showed
    refused: Counter[tuple[str, int | None]] = field(default_factory=Counter)  # of them, by subcommand and status
    refusal: CommandResult | None = None  # in the last attempt
    fit: set[str] = field(default_factory=set)  # forms of lines that worked
    alike: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))  # failed, by form
    quiet: list[str] = field(default_factory=list)  # lines that worked and showed at most their input
    repeating: dict[str, tuple[int, Call]] = field(default_factory=dict)  # calls that do so, one by form, with marks
    stale: list[str] = field(default_factory=list)  # lines that showed nothing, or nothing new
    known: set[str] = field(default_factory=set)  # all that was shown
    rows: set[str] = field(default_factory=set)  # of it
    files: dict[str, str] = field(default_factory=dict)
    unnamed: set[str] = field(default_factory=set)  # of the files, those that calls find without their names
    mains: set[str] = field(default_factory=set)  # lines that show something new with texts of any kind
    erring: set[str] = field(default_factory=set)  # lines that print to stderr alone
    steady: set[str] = field(default_factory=set)  # lines that print the same twice
    joined: int = 0  # files with many inputs of tests
    plain: dict[str, str] = field(default_factory=dict)  # by the line that shows what it writes, that which does not
    failed: dict[str, str] = field(default_factory=dict)
    printed: dict[str, str] = field(default_factory=dict)  # by line that worked, at last

    @property
    def is_late(self) -> bool:
        """True if nothing more may be tried."""
        return time.monotonic() > self.until

    def allow(self, share: float) -> None:
        """Let what comes next use this share of the seconds, less what was used before. It has at least its own part of
        them, since there may have been more seconds before: other plans can take longer than their part.
        """
        seconds = self.seconds()
        own = time.monotonic() + (share - self.share) * seconds
        self.until, self.share = max(self.began + share * seconds, own), share

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

    async def repeatable(self, lines: Sequence[str], most: int = MOST_BASES) -> list[str]:
        """Return `most` lines that print the same twice: two with an input, of which the second has the input with most
        marks, then others; those first that print most rows that their input does not have. Some of all if none does.
        """
        own = {line: self.input_of(line) or "" for line in lines}
        texts = {line: self.files.get(own[line], "") for line in lines}
        new = {line: len({*self.printed[line].splitlines()} - {*texts[line].splitlines()}) for line in lines}
        worth = {line: new[line] / (2 if _REDIRECTED.search(line) else 1) for line in lines}  # a file is more usual
        is_long = {line: self.printed[line].count("\n") > MOST_LINES for line in lines}
        richest = sorted(lines, key=lambda line: (line in self.erring, is_long[line], -worth[line]))
        marked = sorted(lines, key=lambda line: (line in self.erring, -len({*re.findall(r"\W+", texts[line])})))
        main = [line for found in (richest, marked) for line in [line for line in found if own[line]][:1]]
        fit = [*dict.fromkeys((*main, *richest))][:MOST_BASES]
        steady: list[str] = []
        for line in fit:
            if self.is_late or len(steady) == most:
                break
            first, second = [self._shown(line, await self.session.shell(line, timeout_secs=SECONDS)) for _ in range(2)]
            self.printed[line] = second
            steady += [line] if first == second else []
        self.steady.update(steady)
        return steady or fit[:most]

    def bare(self, plan: Iterable[Try]) -> list[str]:
        """Return calls that may need an option to show something: with an input of each kind, and without one."""
        lines = [one.ways[-1] for one in plan if one.ways[-1].endswith(self.session.binary)]
        self.printed |= dict.fromkeys(lines, "")
        of_kind: dict[str, str] = {}
        for line in self.quiet:
            of_kind.setdefault(kind_of(self.input_of(line) or ""), line)
        return [*islice(of_kind.values(), MOST_QUIET), *lines]

    async def on_other_inputs(self, call: Call) -> list[Call]:
        """Return the call, and those with inputs on which it shows other things; without it if it alone is silent."""
        line = self.plain.get(call.line, call.line)
        own = next((name for name in self.inputs if name in line.split()), None)
        suffix, silent = PurePosixPath(own or "").suffix, self.printed[call.line].endswith(" ")
        others = [name for name in self.inputs if name != own]
        others.sort(key=lambda name: PurePosixPath(name).suffix != suffix)
        found = list[Call]()
        ways = [line.replace(own, name) for name in others] if own else []
        if own and others and not silent and not _REDIRECTED.search(line):
            ways.insert(0, line.replace(own, f"{own} {others[0]}"))
        ways = ways if silent else ways[:MOST_INPUTS]
        if on_stdin := silent and not own and not _REDIRECTED.search(line):
            ways = [f"{line} < {name}" for name in self.inputs[:2]]
        for way in ways:
            if len(found) < MOST_VARIED:
                other = await self.tried(Try(ways=(way,), wants="prints"), more=True)
                found += [other] if other is not None else []
        if on_stdin and found and (now := await self.printed_by(line)):  # such as files that were not there before
            found = [one for one in found if await self.printed_by(one.line) != now]
        return found if found and silent else [call, *found]

    async def from_stdin(self, lines: Iterable[str]) -> None:
        """Keep the first line with an input also with that on stdin, with and without `-`, if it shows something."""
        plain = [self.plain.get(line, line) for line in lines]
        found = ((line, name) for line in plain for name in self.inputs if name in line.split())
        for line, own in islice((one for one in found if not _REDIRECTED.search(one[0])), 1):
            for word in ("- ", ""):
                await self._keep_variation(f"{line} ".replace(f" {own} ", f" {word}") + f"< {own}")

    async def tried(self, one: Try, *, more: bool = False, base: str = "") -> Call | None:
        """Return the call by the first way that shows what is wanted; None if none does, or no time is left.

        `base`: the line without the option that this is about; then one that works and shows no news is `silent`.
        """
        silent: Call | None = None
        self.refusal = None
        reasons = Counter[str]()
        for way in one.ways:
            if self.is_late or max(reasons.values(), default=0) >= MOST_ALIKE:
                break
            form = self._without_inputs(way)
            if not base and form not in self.fit and max(self.alike[form].values(), default=0) >= MOST_ALIKE:
                continue
            line, ran, why = await self._run(way)
            shown = self._shown(line, ran)
            last = self.printed.get(line if one.wants == "changes" else base)
            news = shown not in self.known if last is None else shown != last
            if why:
                self.refusal = ran
                if not (more or base):
                    self.failed.setdefault(line, why)
                    self.alike[form][shape_of(ran, line)] += 1
                    reasons[shape_of(ran, line)] += MOST_ALIKE if ran.end == "timeout" else 1
                continue
            self.fit.add(form)
            new_line = one.wants == "works" and line not in self.printed
            if new_line or (news and not (one.wants != "works" and shown.endswith(" "))):
                if not base and (not news or shown.endswith(" ")):
                    self.stale.append(line)
                self._remember(line, ran, shown)
                new_rows = {*shown.splitlines()}.difference(self.printed.get(base, "").splitlines())
                return Call(line=line, kind="option" if base else "call", seconds=ran.duration_s, news=len(new_rows))
            if not base and (ran.stdout.strip() or self.input_of(line)):
                self.quiet.append(line)
                self.printed[line] = shown
                self._repeats(line, ran)
            if base and silent is None:
                silent = Call(line=line, kind="silent", seconds=ran.duration_s)
        return silent

    def _repeats(self, line: str, ran: CommandResult) -> None:
        """Remember the call, if it prints its input, and that has more marks than that of the last one alike."""
        own = self.input_of(line)
        text = self.session.read_text(own) if own else None
        if text and ran.stdout.strip() == text.strip():
            call = Call(line=line, kind="variation", seconds=ran.duration_s)
            known = self.repeating.get(form := self._without_inputs(line), (0, call))
            self.repeating[form] = max(known, (len({*re.findall(r"\W+", text)}), call), key=lambda one: one[0])

    async def printed_by(self, line: str) -> str:
        """Return what the line prints; '' if it shows no result."""
        ran = None if self.is_late else await self.session.shell(line, timeout_secs=SECONDS)
        return "" if ran is None or self._wrong(ran) else ran.stdout

    def input_of(self, line: str) -> str | None:
        """Return the first input in the line; None without one."""
        return next((word for word in line.split() if word in self.inputs or word in self.files), None)

    def made_in(self, line: str) -> str | None:
        """Return the first file in the line that the tool has made; None without one."""
        names = re.findall(r"(?<!\S)\w[\w.-]*(?!\S)", self.plain.get(line, line))
        return next((name for name in names if name not in self.files and self.session.read_text(name)), None)

    def changed_inputs(self, line: str) -> Iterator[tuple[str, str]]:
        """Yield the first input of the line in other forms, by name: with other line ends, without the last, with empty
        lines, and empty.
        """
        own = self.input_of(line) or ""
        text = self.files.get(own, "")
        yield "crlf", text.replace("\n", "\r\n")
        yield "spaced", text.replace("\n", "\n\n")
        if kind_of(own) == ".json":
            yield "none", "[]\n"
        yield "unended", text.rstrip("\n")
        yield "empty", ""

    async def on_cases(
        self,
        line: str,
        cases: Collection[tuple[str, str]],
        kind: Kind = "call",
        *,
        own: str | None = None,
        keeps_refused: bool = True,
    ) -> bool:
        """Try the line with these inputs in place of its `own`, the first: without a text, the repository's file of
        this name. Keep it if it shows a new row, or if a single one is refused in a new way. Return True if it is kept.
        A variation in ALIKE is kept also if it shows the same.
        """
        line = self.plain.get(line, line)
        own, before = own or self.input_of(line), len(self.calls)
        suffix = PurePosixPath(own or "").suffix
        named = {name if PurePosixPath(name).suffix else f"{name}{suffix}": text for name, text in cases}
        new = [name for name in named if name not in self.files]
        texts = {name: text for name, text in named.items() if name not in new or self.session.read_text(name) is None}
        if own is None or own in texts or not texts or self.is_late:
            return False
        for name in (new := [name for name in new if name in texts]):
            self.files[name] = texts[name] or read(self.session.repo / name)
            self.session.write_text(name, self.files[name])
        case, ran, why = await self._run(line.replace(own, shlex.join(texts)), provides=False)
        shown = re.sub("|".join(map(re.escape, texts)), "input", self._shown(case, ran))
        may_repeat = kind == "variation" and ALIKE.issuperset(name for name, _ in cases)
        if why is None and (may_repeat or not self.rows.issuperset(shown.splitlines())) and not shown.endswith(" "):
            self._remember(case, ran, shown)
            self.keep(Call(line=case, kind=kind, seconds=ran.duration_s))
        elif why is None and "empty" in dict(cases) and shown.endswith(" "):  # which is fine
            self.keep(Call(line=case, kind="silent", seconds=ran.duration_s))
        elif why and len(texts) == 1 and keeps_refused and self.refused["case", ran.exit_code] < MOST_REFUSED_CASES:
            self.refused["case", ran.exit_code] += 1
            self._refused(ran, shape_of(ran, case))
        if len(self.calls) == before and new:
            self.files = {name: text for name, text in self.files.items() if name not in new}
            await self.session.shell(shlex.join(["rm", "-f", *new]), timeout_secs=SECONDS)
        return len(self.calls) > before

    def _remember(self, line: str, ran: CommandResult, shown: str) -> None:
        self.known.add(shown)
        self.rows.update(shown.splitlines())
        self.printed[line] = shown
        self.erring |= set() if ran.stdout.strip() else {line}

    async def spoil(self, line: str) -> None:
        """Try the line with a damaged file in place of its own, with half of it, and with one that is not there, alone
        and beside its own.
        """
        own = next((name for name in self.files if name in line.split() and name != HISTORY), None)
        if own is None or self.is_late:
            return
        name, half = PurePosixPath(own).name, len(self.files[own].encode("utf-8", "surrogateescape")) // 2
        plain = self.plain.get(line, line)  # what is not there cannot be copied
        beside = [(f"{NOTHING}{name} {own}", line, "")] if plain == line else []  # which the tool would change
        for other, called, before in (
            (f"damaged-{name}", line, f"(echo '}}]) ('; cat {own}) > damaged-{name}; "),
            (f"half-{name}", line, f"head -c {half} {own} > half-{name}; "),
            (f"{NOTHING}{name}", plain, ""),
            *beside,
        ):
            ran = await self.session.shell(before + called.replace(own, other), timeout_secs=SECONDS)
            self._refused(ran, ran.printed.replace(other, ""))

    async def refuse(self, line: str) -> None:
        """Try the line, and keep it if it fails."""
        ran = None if self.is_late else await self.session.shell(line, timeout_secs=SECONDS)
        if ran is not None and ran.exit_code:
            self._refused(ran, shape_of(ran, line))

    async def at_length(self, line: str) -> None:
        """Try the line with its input so many times in a file that this is larger than buffers usually are."""
        own = self.input_of(line) or ""
        if text := self.files.get(own):
            times, long = LONG // len(text) + 1, f"long{PurePosixPath(own).suffix}"
            made = f"for n in $(seq {times}); do cat {own}; done > {long}"
            await self._keep_variation(f"{made}; {line.replace(own, long)}; status=$?; rm {long}; (exit $status)")

    async def _keep_variation(self, line: str) -> None:
        """Try the line, and keep it if it shows something."""
        ran = None if self.is_late else await self.session.shell(line, timeout_secs=SECONDS)
        if ran is not None and ran.printed.strip() and not self._wrong(ran):
            self.keep(Call(line=line, kind="variation", seconds=ran.duration_s))

    def keep_refusal(self) -> None:
        """Keep the last call with an option that was refused, if no other one was refused alike."""
        if self.refusal is not None:
            self._refused(self.refusal, self.refusal.printed)

    async def vary(self, line: str, command: str) -> None:
        """Try this variation of a line, a call of this subcommand."""
        if self.is_late:
            return
        line, ran, why = await self._run(line, provides=False)
        if why:
            self.refused[command, ran.exit_code] += 1
            if self.refused[command, ran.exit_code] <= MOST_REFUSED:
                self._refused(ran, shape_of(ran, line))
        elif ran.printed.strip():
            shape = ran.printed if len(ran.printed) <= SHORT else shape_of(ran, line)
            call = Call(line=line, kind="variation", seconds=ran.duration_s)
            self.shapes.setdefault(f"{command} {shape}", []).append(call)

    def _refused(self, ran: CommandResult, shape: str) -> None:
        """Keep the call if it ends by itself, and no other one was refused alike."""
        shown = f"{ran.exit_code} {shape}"
        if ran.end == "exited" and shown not in self.known:
            self.known.add(shown)
            self.keep(Call(line=ran.command, kind="refused", seconds=ran.duration_s))

    def _without_inputs(self, line: str) -> str:
        """Return the line with one word in place of its inputs, and of texts in quotes."""
        return " ".join("input" if word in self.inputs else word for word in _QUOTED.sub("text", line).split(" "))

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
        if DATA.search(ran.stdout):
            shown = then_show(f"{line} > output", ran, {"output": ran.stdout})
            self.plain[shown] = line
            line, ran = shown, await self.session.shell(shown, timeout_secs=SECONDS)
        silent = ran.end == "exited" and not ran.printed.strip()  # a formatter may exit with 1 if it changed something
        now = self._states()
        rewritten = self._restored({name for name, state in there.items() if now.get(name) == state})
        if silent or ran.ok or not self._wrong(ran) or (rewritten and not crashed(ran)):
            if on_copy := await self._on_copy(line, ran, rewritten, now.keys() - there.keys() - self.files.keys()):
                line, ran = on_copy, await self.session.shell(on_copy, timeout_secs=SECONDS)
            elif written := self._written(line, there, now):
                shown = then_show(line, ran, written)
                self.plain[shown] = line
                line = shown
                ran = ran.model_copy(
                    update={"command": line, "stdout": ran.stdout + "".join(map(as_text, written.values()))}
                )
            elif rewritten:
                return line, ran, "it changes files that other lines read"
        why = self._wrong(ran)
        if why and (unused := [name for name in self.files if name not in before]):
            await self.session.shell(shlex.join(["rm", "-f", *unused]), timeout_secs=SECONDS)
            self.files = {name: text for name, text in self.files.items() if name in before}
        return line, ran, why

    def _states(self) -> dict[str, tuple[int, int]]:
        """Return when each file of the workspace was changed, in ns since the epoch, and its size in bytes."""
        folder = self.session.workspace
        found = ((path, path.lstat()) for path in folder.rglob("*"))
        files = ((path.relative_to(folder).as_posix(), state) for path, state in found if S_ISREG(state.st_mode))
        return {name: (state.st_ctime_ns, state.st_size) for name, state in files}

    def _written(
        self, line: str, before: Mapping[str, tuple[int, int]], now: Mapping[str, tuple[int, int]]
    ) -> dict[str, str]:
        """Return the texts that the line has written, by their names where it leaves off; none if it shows them."""
        entered = _ENTERS.search(line)
        inside, rest = (f"{entered[1]}/", line[entered.end() :]) if entered else ("", line)
        changed = (name for name, state in now.items() if before.get(name) != state)
        named = [name for name in sorted(changed) if name not in self.files and not _NO_RESULT.search(name)]
        read = ((name.removeprefix(inside), self.session.read_text(name)) for name in named if name.startswith(inside))
        texts = [(name, text) for name, text in read if text and is_result(name, text)]
        return {} if _LEAVES.search(rest) else dict(texts[:MOST_WRITTEN])

    def _wrong(self, ran: CommandResult) -> str | None:
        """Return why this does not show a result; None if it does."""
        if ran.end == "timeout":
            return "it waits, or takes long"
        return complaint(ran) or ("it prints its usage" if is_usage(ran.printed) else None)

    def _restored(self, untouched: Collection[str]) -> list[str]:
        """Return which of the given files were changed or removed. They are then as before."""
        given = ((name, text.encode("utf-8", "surrogateescape")) for name, text in self.files.items())
        shown = {name: text.decode("utf-8", "replace") for name, text in given if name not in untouched}
        names = [name for name, text in shown.items() if self.session.read_text(name) != text]
        for name in names:
            self.session.write_text(name, self.files[name])
        return names

    async def _on_copy(
        self, line: str, ran: CommandResult, rewritten: Sequence[str], made: Iterable[str]
    ) -> str | None:
        """Return the line on copies of the files that it has changed, and what shows these, or what it writes in their
        place (as it `made`); None if it does not name them all.
        """
        if (found := on_copies(line, rewritten)) is None:
            return None
        on_copy, copies = found
        told = " 2>/dev/null" if ran.exit_code and ran.stderr else ""  # such as which file it changed: no error
        there = self._states()
        await self.session.shell(on_copy, timeout_secs=SECONDS)
        gone = [copy for copy in copies.values() if self.session.read_text(copy) is None]
        written = self._written(on_copy, there, self._states()) if gone else {}
        if gone and not written:
            return on_copy
        if written:
            await self.session.shell(shlex.join(["rm", "-f", *made, *written]), timeout_secs=SECONDS)
        texts = written or {copy: self.files[name] for name, copy in copies.items()}
        shown = then_show(f"{on_copy}{told}", ran, texts, removes=bool(gone))
        self.plain[shown] = line
        return shown

    def _provide(self, line: str, printed: str) -> bool:
        """Write the files that the line lacks: from the repository, or samples. Return True if there are any."""
        before = len(self.files)
        told = told_words(printed, self.session.repo)
        words = input_words(line, self.session.binary)
        for word in dict.fromkeys((*words, *told)):
            named = not is_usage(printed) and re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", printed)
            asked = FILE.fullmatch(word) or FOLDER.fullmatch(word) or kind_of(word) or named
            meant = not asked and "/" in word and _NO_FILE.search(printed)
            meant = meant or (named and not kind_of(word) and _NOT_A_FILE.search(printed))
            path = PurePosixPath(word)
            inside = not path.is_absolute() and ".." not in path.parts and path.name != self.session.binary
            if (asked or meant) and inside and word not in self.files and self.session.read_text(word) is None:
                number, known = len(self.files), (*self.files, *self.inputs)
                found = content_of(self.session.repo, word, number, known)
                own = [(word, self.given.get(word) or sample(word, number))] if meant or word in self.given else found
                for name, text in [one for one in own if not any(would_clash(one[0], file) for file in self.files)]:
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
