"""Tries calls of a tool one after another, as an agent in a trial, and keeps those that show a result."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice, product
from pathlib import PurePosixPath
from typing import Literal

from pydantic import PrivateAttr

from tidegate.authoring.found import Call
from tidegate.authoring.option_calls import (
    UNFIT,
    Try,
    beyond,
    by_subcommand,
    with_both,
    with_option,
)
from tidegate.authoring.pace import slowness
from tidegate.authoring.probe import ALIKE, PLANS_SECONDS, TRIES_SHARE, Probe
from tidegate.authoring.samples import WHOLE, joins, kind_of, sample, samples_of
from tidegate.authoring.variations import FEW, in_turn, variations, with_numbers
from tidegate.decide.surface.parts import commands
from tidegate.model.agent import Agent, Session
from tidegate.model.event import End, Message
from tidegate.model.surface import Part

AT_ONCE = 2  # plans
JOINED_SHARE = 0.52  # of a plan's seconds, after which each option is tried on one line
MAIN_SHARE = 0.67  # of them, after which inputs of tests come
CASES_SHARE = 0.75  # of them, after which options that showed nothing come again, on other lines
OPTIONS_SHARE = 0.9  # of them, after which variations come
ENOUGH = 12  # calls that have to print what no other did, such as those with samples
MOST_REPEATING = 2  # calls that print their input
MOST_CASES, CASES_OF_OPTION = 100, 2  # inputs of tests that are kept, and other inputs of a line with an option
LONGEST_JOINED, MOST_JOINED = 4_000, 24  # characters of inputs that are tried at once, and such calls at first
FEWEST_JOINED, MOST_FAILED = 3, 8  # inputs of one call, and calls that may show nothing new, beside half of all
MOST_FIT, FEW_FORMS = 24, 2  # inputs of tests that are tried if no other works, and forms of calls
MOST_OF_OPTION, MOST_REFUSING = 5, 2  # lines with which an option is tried, and that may refuse all its values
FEW_WAYS = 6  # values that a line gets after one on which none changes anything
MOST_PAIRS, MOST_CROSSED = 24, 60  # lines that get a second option: the next one, and others; and lines with another's
_UNKNOWN = Part(kind="option", name="--no-such-option")
MOST_WRONG = 3  # lines that are spoilt


class Prober(Agent):
    """Tries the plan of its scenario, then its first lines with each option that the help lists.

    `inputs` are samples and files of the repository: lines that read one are tried with the others, too.
    """

    type: Literal["prober"] = "prober"
    plans: dict[str, tuple[Try, ...]] = {}
    parts: tuple[Part, ...] = ()
    inputs: tuple[str, ...] = ()
    given: dict[str, str] = {}  # of the inputs, those that the repository shows in its tests
    seconds: float = PLANS_SECONDS  # of all plans
    cases: tuple[tuple[str, str], ...] = ()  # more texts of tests, by name; those without a suffix fit any kind
    _told: set[tuple[str, str, str]] = PrivateAttr(default_factory=set)  # options that showed something, in all plans
    _used: dict[str, float] = PrivateAttr(default_factory=dict)  # seconds of the plans that have ended

    async def run(self, session: Session) -> End:
        """Try everything until the time is up, and report what was found as a message in JSON."""
        if session.scenario in self._used:
            self._used.clear()  # all is tried again, such as with a network
        probe = Probe(session, self.inputs, self.given, partial(self._seconds, session.scenario))
        plan = self.plans.get(session.scenario, ())
        probe.allow(TRIES_SHARE)
        await self._try_plan(probe, plan)
        tried = probe.found().of("call")
        probe.allow(JOINED_SHARE)
        await self._try_joined(probe, tried)
        probe.allow(MAIN_SHARE)
        kept = await self._try_main_options(probe)
        probe.allow(CASES_SHARE)
        await self._on_samples(probe, tried)
        await self._try_cases(probe, tried)
        lines = probe.found().of("call")
        probe.allow(OPTIONS_SHARE)
        bases = await self._bases(probe, lines, plan)
        kept += await self._try_options(probe, bases, [part for part, _ in kept], is_last=True)
        await self._try_aliases(probe, kept)
        await self._try_pairs(probe, kept, [1])
        shown = [call for _, call in kept if call.kind == "option"]
        await self._with_options(probe, shown)
        probe.allow(1.0)
        await self._try_faults(probe, bases, [part for part, call in kept if call.kind == "silent"])
        await self._vary(probe, lines, [call.line for call in shown])
        await self._try_pairs(probe, kept, range(2, len(kept)), tried)
        self._used[session.scenario] = time.monotonic() - probe.began
        session.emit(Message(text=json.dumps(probe.found().model_dump())))
        return End(end="completed")

    async def _try_main_options(self, probe: Probe) -> list[tuple[Part, Call]]:
        """Keep the options that show something on one line of each subcommand."""
        of_each = by_subcommand(_single(probe.found().of("call")), probe.session.binary, self.parts)
        main = [line for own in of_each.values() for line in await probe.repeatable(own, 1)]
        return await self._try_options(probe, main, ())

    async def _on_samples(self, probe: Probe, lines: Iterable[str]) -> None:
        """Keep examples also with the second sample in place of their file; with both, if that is one that the tool has
        made before.
        """
        for line in (line for line in _single(lines) if not any(name in line for name in self.inputs)):
            own, made = probe.input_of(line), probe.made_in(line)
            kind = kind_of(own or made or "") or kind_of(next(iter(self.inputs), ""))
            for name in samples_of(kind)[own is not None :] if own or made else ():
                await probe.on_cases(line, [(name, sample(name))], kind="variation", own=own or made)

    async def _bases(self, probe: Probe, lines: Sequence[str], plan: Sequence[Try]) -> list[str]:
        """Return lines that get options, some of each subcommand. Those with an input also get that on stdin."""
        single = _single(lines)
        bases = await probe.repeatable(single)
        if not any(map(probe.input_of, bases)):
            bases += [line for line in probe.bare(plan) if probe.input_of(line) or not bases]
        covered = by_subcommand(bases, probe.session.binary, self.parts)
        of_each = by_subcommand(single, probe.session.binary, self.parts)
        for own in of_each.values():
            await probe.from_stdin(own)
        return bases + [own[-1] for name, own in of_each.items() if name not in covered]  # such as what it adds

    def _in_order(self, name: str) -> list[Part]:
        """Return the parts in the order in which this plan tries them: switches first, which need one call. Plans that
        run at once begin at other ones.
        """
        parts = sorted(self.parts, key=lambda part: part.takes_value)
        start = len(parts) * ([*self.plans].index(name) % AT_ONCE) // AT_ONCE
        return [*parts[start:], *parts[:start]]

    async def _try_plan(self, probe: Probe, plan: Sequence[Try]) -> None:
        """Try the plan, then what failed again, then what comes last."""
        printing, queue = 0, [one for one in plan if not one.last]
        for one in queue:
            if one.wants == "prints" and printing >= ENOUGH:
                continue
            call = await probe.tried(one)
            printing += one.wants == "prints" and call is not None
            queue += [Try(ways=one.more, wants=one.wants)] if call is None and one.more else []
            if call is not None and one.wants == "works":
                probe.calls += await probe.on_other_inputs(call)
            else:
                probe.keep(call)
        await self._try_fit(probe, plan)
        again = [Try(ways=(line,), wants="prints") for line in probe.stale]
        again += [Try(ways=(line,)) for line in probe.failed]
        for one in (*again, *(one for one in plan if one.last)):  # what an earlier line lacked may be there now
            probe.keep(await probe.tried(one))
        probe.calls += [call for _, call in islice(probe.repeating.values(), MOST_REPEATING)]

    async def _try_fit(self, probe: Probe, plan: Iterable[Try]) -> None:
        """If nothing works on an input, keep a call on an input of tests, of those with most marks."""
        lines = [line for one in plan for line in one.ways if probe.input_of(line)]
        if any(probe.input_of(call.line) for call in probe.calls):
            return
        forms = dict.fromkeys(line.replace(probe.input_of(line) or "", "\0") for line in lines)
        kind = next((PurePosixPath(probe.input_of(line) or "").suffix for line in lines), "")
        rich = sorted((text for _, text in self.cases), key=lambda text: -len({*re.findall(r"\W+", text)}))
        for (number, text), form in product(enumerate(rich[:MOST_FIT], 1), [*forms][:FEW_FORMS]):
            name = f"fit{number}{kind}"
            probe.given, probe.inputs = {**probe.given, name: text}, (*probe.inputs, name)
            probe.alike.clear()
            if call := await probe.tried(Try(ways=(form.replace("\0", name),), wants="prints")):
                probe.keep(call)
                break

    def _forms(self, probe: Probe, lines: Sequence[str]) -> list[dict[str, str]]:
        """Return lines with an input of each subcommand, by its kind: in the order of the inputs, and errors last."""
        kinds = [*map(_kind, self.inputs)]
        found: list[dict[str, str]] = []
        for own in by_subcommand(lines, probe.session.binary, self.parts).values():
            named = [(probe.input_of(line), line) for line in own if "\n" not in line]
            forms = {_kind(name): line for name, line in reversed(named) if name}
            order = [*dict.fromkeys(kind for kind in (*kinds, *forms) if kind in forms)]
            order.sort(key=lambda kind: forms[kind] in probe.erring)
            found += [{kind: forms[kind] for kind in order}] if forms else []
        return found

    async def _try_joined(self, probe: Probe, lines: Sequence[str]) -> None:
        """Keep lines of each subcommand with many inputs of tests at once, since a slow tool has no time for each:
        joined in one file where that can be valid, else as so many files. What shows nothing new comes again in halves.

        Texts of any kind go with the first line that shows something new with them: one with a file that such a text
        can be a part of, if there is any.
        """
        texts = [(name, text) for name, text in self.cases if text]
        for forms in self._forms(probe, lines):
            for kind, line in forms.items():
                await self._joined(probe, line, [(name, text) for name, text in texts if _kind(name) == kind])
            plain = [(name, text) for name, text in texts if not _kind(name)]
            for kind in sorted(forms, key=WHOLE.__contains__):
                if await self._joined(probe, line := forms[kind], plain):
                    probe.mains.add(line)
                    break

    async def _joined(self, probe: Probe, line: str, texts: Iterable[tuple[str, str]]) -> bool:
        """Return True if something is kept."""
        kind, before = _kind(probe.input_of(line) or ""), len(probe.calls)
        if kind in WHOLE and "<" in line:
            return False  # one file alone is on stdin
        waiting: list[list[tuple[str, str]]] = []
        for name, text in texts:
            if not waiting or sum(len(one) + 1 for _, one in waiting[-1]) + len(text) > LONGEST_JOINED:
                waiting.append([])
            if joins(kind, text):
                waiting[-1].append((name, text))
        waiting, failed = waiting[:MOST_JOINED], 0
        for number, several in enumerate(waiting, 1):  # halves are added while it runs
            if len(several) >= FEWEST_JOINED and failed < MOST_FAILED + number / 2:
                probe.joined += 1
                joined = [(f"joined{probe.joined}", "\n".join(text for _, text in several))]
                if not await probe.on_cases(line, several if kind in WHOLE else joined, keeps_refused=False):
                    failed += 1
                    waiting += [several[: len(several) // 2], several[len(several) // 2 :]]
        return len(probe.calls) > before

    async def _try_cases(self, probe: Probe, lines: Sequence[str]) -> None:
        """Keep the lines of each subcommand with other inputs in place of their own, if they show something new."""
        of_each: list[Iterator[tuple[str, str, str]]] = []
        mains: list[str] = []
        for number, forms in enumerate(self._forms(probe, lines)):
            line = next((line for line in forms.values() if line in probe.mains), next(iter(forms.values())))
            of_kind = {**forms, "": line}
            fit = ((of_kind.get(_kind(name)), name, text) for name, text in self.cases)
            calls = [(own, name, text) for own, name, text in fit if own]
            changed = [(line, name, text) for name, text in probe.changed_inputs(line)]
            of_each.append(iter((*changed, *calls[number:], *calls[:number])))  # each begins with others
            mains.append(line)
        before = len(probe.calls)
        for line, name, text in in_turn(of_each):
            if len(probe.calls) - before < MOST_CASES:
                await probe.on_cases(line, [(name, text)])
        for line in mains:
            for name, text in probe.changed_inputs(line):
                if name in ALIKE and text != probe.files.get(probe.input_of(line) or ""):
                    await probe.on_cases(line, [(name, text)], kind="variation")
            if _kind(probe.input_of(line) or "") not in WHOLE:
                await probe.at_length(line)

    async def _with_options(self, probe: Probe, calls: Iterable[Call]) -> None:
        """Keep the lines with an option also with other inputs, if they show something new: those with most marks, and
        their own with other line ends, and with empty lines.
        """
        rich = sorted(probe.files, key=lambda name: -len({*re.findall(r"\W+", probe.files[name])}))
        for call in calls:
            own = probe.input_of(call.line)
            fit = ((name, probe.files[name]) for name in rich if own and name != own and _kind(name) == _kind(own))
            changed = probe.changed_inputs(call.line) if own else iter(())
            words = call.line.split()
            two = [name for name in probe.files if own and name not in words and _kind(name) == _kind(own)][:1]
            if own and two and any("input input" in form for form in probe.fit):
                plain = probe.plain.get(call.line, call.line)
                both = Try(ways=(plain.replace(own, f"{own} {two[0]}"),), wants="prints")
                found = await probe.tried(both, base=call.line)
                probe.keep(found and found.model_copy(update={"kind": "variation"}))
            for name, text in (*islice(fit, CASES_OF_OPTION), *islice(changed, CASES_OF_OPTION)):
                await probe.on_cases(call.line, [(name, text)], kind="variation")

    def _seconds(self, name: str) -> float:
        """Return the plan's share of the seconds that are left by those that have ended."""
        weights = {one: 10 + min(len(tries), 40) for one, tries in self.plans.items() if one not in self._used}
        total = self.seconds * slowness()
        return min(total, (AT_ONCE * total - sum(self._used.values())) * weights[name] / sum(weights.values()))

    async def _try_pairs(
        self, probe: Probe, kept: Sequence[tuple[Part, Call]], apart: Iterable[int], lines: Sequence[str] = ()
    ) -> None:
        """Keep the lines with an option that get one too that is so many places after it, if both show something; and
        other `lines` with an option, of those that begin with one, such as what to do.
        """
        lines = [line for line in _single(lines) if line.startswith(f"{probe.session.binary} -")]
        shown = [(part, call.line) for part, call in kept if call.kind == "option"]
        pairs = ((line, part) for by in apart for (_, line), (part, _) in zip(shown, shown[by:], strict=False))
        others = in_turn(
            iter([(line, part) for line in (*lines[place:], *lines[:place]) if part.name not in line])
            for place, (part, _) in enumerate(shown)
        )
        for line, part in (*islice(pairs, MOST_PAIRS), *islice(others, MOST_CROSSED)):
            for one in islice(with_option(line, probe.session.binary, part, self.parts, probe.printed[line]), 1):
                call = await probe.tried(one, base=line)
                probe.keep(call if call is not None and call.kind == "option" else None)

    async def _vary(self, probe: Probe, lines: Sequence[str], shown: Iterable[str]) -> None:
        """Try variations of these lines, and those with an option that `shown` something with other numbers."""
        binary, names = probe.session.binary, commands(self.parts)
        plain = [line if line.startswith("cp ") else probe.plain.get(line, line) for line in lines]
        numbered = ((line, "") for one in shown for line in islice(with_numbers(one, binary, names), FEW))
        for line, command in (*variations(plain, binary, names), *numbered):
            await probe.vary(line, command)

    async def _try_aliases(self, probe: Probe, kept: Sequence[tuple[Part, Call]]) -> None:
        """Keep the lines with an option also with another name of it, such as the short one."""
        for part, call in kept:
            named = rf"(?<![\w-]){re.escape(part.name)}(?= )"
            for alias in part.aliases[:1] if call.kind == "option" else ():
                await probe.vary(re.sub(named, alias, call.line, count=1), part.command)

    async def _try_faults(self, probe: Probe, bases: Sequence[str], silent: Iterable[Part]) -> None:
        """Keep what is refused: an unknown option, damaged inputs, and lines with options that are silent otherwise."""
        for line in bases[:MOST_WRONG]:
            for one in with_option(line, probe.session.binary, _UNKNOWN, self.parts):
                await probe.refuse(one.ways[0])
            await probe.spoil(line)
        lines = [line for line in probe.found().of("refused") if line.count(probe.session.binary) == 1][:MOST_REFUSING]
        for part, line in product(silent, lines):
            for one in islice(with_option(line, probe.session.binary, part, self.parts), 1):
                await probe.vary(one.ways[0], part.command)

    async def _try_options(
        self, probe: Probe, bases: Sequence[str], known: Collection[Part], *, is_last: bool = False
    ) -> list[tuple[Part, Call]]:
        """Keep the options that show something on these lines. Return each with its first call.

        `known`: those that are left out. What shows nothing is kept if this `is_last`.
        """
        kept = list[tuple[Part, Call]]()
        for part in self._in_order(probe.session.scenario):
            if part.kind == "option" and not UNFIT.match(part.name) and part not in known:
                kept += [(part, call) for call in (await self._try_option(probe, part, bases, is_last))[:1]]
        return kept

    async def _try_option(self, probe: Probe, part: Part, bases: Sequence[str], is_last: bool) -> list[Call]:
        """Keep the option with a line on which it shows something; else, at last, with one on which it does not."""
        if is_last and part.id in self._told:
            return []
        found = await self._with_option(probe, part, bases)
        if not is_last:
            found = [call for call in found if call.kind == "option"]
        elif not found and not part.choices:  # help may not show if it takes a value
            other = part.model_copy(update={"takes_value": not part.takes_value})
            found = await self._with_option(probe, other, bases)
        found = [call.model_copy(update={"about": f"{part.command} {part.name}"}) for call in found]
        probe.calls += found
        if is_last and not found:
            probe.keep_refusal()
        await self._vary_option(probe, part, found)
        return found

    async def _vary_option(self, probe: Probe, part: Part, found: Sequence[Call]) -> None:
        """Try the option with two values at once, and with one that it does not list."""
        first, second, *_ = (*(call.line for call in found if call.kind == "option"), "", "")
        if both := with_both(first, second, part):
            await probe.vary(both, part.command)
        for call in found[:1]:
            if part.choices:
                await probe.vary(beyond(call.line, part), part.command)

    async def _with_option(self, probe: Probe, part: Part, bases: Sequence[str]) -> list[Call]:
        """Return the first line with the option that shows something, with each value that does; else a silent one."""
        binary, plain, printed = probe.session.binary, probe.plain, probe.printed
        own = {base: [*with_option(plain.get(base, base), binary, part, self.parts, printed[base])] for base in bases}
        silent: list[Call] = []
        refused = 0
        for base, tries in [one for one in own.items() if one[1]][:MOST_OF_OPTION]:
            if refused == MOST_REFUSING:
                break
            if base in probe.steady:  # on others, each call shows something else, even if it ignores the option
                tries = [Try(ways=(*one.ways, *one.more), wants=one.wants) for one in tries]
            fewer = (one.model_copy(update={"ways": one.ways[: FEW_WAYS if silent else None]}) for one in tries)
            found = [call for one in fewer if (call := await probe.tried(one, base=base)) is not None]
            if kept := [call for call in found if call.kind == "option"]:
                self._told |= set() if probe.printed[base].endswith(" ") else {part.id}
                return kept
            silent = silent or found[:1]
            refused += not found
        return silent


def _single(lines: Iterable[str]) -> list[str]:
    """Return the lines that are not scripts, each once."""
    return [line for line in dict.fromkeys(lines) if "\n" not in line]


def _kind(name: str) -> str:
    return kind_of(name) or PurePosixPath(name).suffix
