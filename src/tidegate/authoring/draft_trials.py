"""Trials of a tool's calls on base, for drafts: what calls print, write and leave, and which calls only read."""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from tidegate.agents.scripted import Scripted
from tidegate.authoring.draft_attempts import READING, Sources, attempts, split
from tidegate.authoring.examples import documented
from tidegate.model.event import ToolCall
from tidegate.model.mutant import Mutant
from tidegate.model.plan import PlanRow, RowKey
from tidegate.model.proof import ToolProof
from tidegate.model.surface import ObservedCall
from tidegate.model.trial import TrialSpec
from tidegate.mutants.change import is_help
from tidegate.run.mutant_trials import MutantTrials, Ran
from tidegate.surface.parts import command_of, commands

MOST_READS, MOST_ATTEMPTS = 4, 6


class Known(NamedTuple):
    """A row with its trial on base."""

    row: PlanRow
    ran: Ran


class Observed(NamedTuple):
    """What reads print after some lines; what the last of these prints, if it writes a file, and what they leave."""

    shown: list[str]
    printed: str
    written: bool
    diff: str


@dataclass
class DraftTrials:
    """Trials of one command-line tool. `known`: its rows."""

    trials: MutantTrials
    proof: ToolProof
    known: Sequence[Known]

    async def sources(self, command: str) -> Sources:
        """Return what calls of the subcommand can be made of."""
        parts = [one.part for one in self.proof.parts]
        names = commands(parts)
        recorded = [
            (tuple(_before(known, call)), call.argv)
            for known in self.known
            for call in known.ran.calls
            if command_of(call.argv, names) == command and not is_help(list(call.argv)) and call.exit_code == 0
        ]
        if not recorded and (most := max(map(lines_of, self.known), key=len)):
            recorded = [(tuple(most), tuple(command.split()))]
        (here,) = self.trials.work.sides
        shown = [one.commands for one in documented(here.folder, "", self.proof.tool) if not one.files]
        known = Sources(self.proof.tool, parts, recorded, shown)
        if self._maker is None:
            self._maker = await self._found_maker(known)
        return known._replace(maker=self._maker)

    _maker: str | None = None

    async def _found_maker(self, known: Sources) -> str:
        """Return a call that writes something and prints its id alone; '' if none is found."""
        for name in ("create", "add", "new", "init"):
            own = [part for part in known.parts if part.kind == "subcommand" and part.name == name]
            mutant = Mutant(kind="subcommand_removed", words="", name=name)
            for attempt in islice(attempts(mutant, own[0], known), MOST_ATTEMPTS) if own else ():
                seen = await self.observe([attempt.line], [])
                if seen is not None and seen.written and re.fullmatch(r"[\w-]+\n?", seen.printed):
                    return attempt.line
        return ""

    async def reads(self, maker: str) -> list[str]:
        """Return calls that only read, which show what others have done."""
        if self._read is not None:
            return self._read
        calls = (call for known in self.known for call in known.ran.calls)
        lines = [
            shlex.join([self.proof.tool, *call.argv])
            for call in calls
            if not call.written and call.exit_code == 0 and call.stdout and not is_help(list(call.argv))
            if call.argv not in (("--version",), ("-V",), ("version",))
        ]
        self._read = [*dict.fromkeys(lines)][:MOST_READS]
        for one in self.proof.parts if not self._read else ():
            if one.part.kind == "subcommand" and one.part.name in READING:
                line = f"{self.proof.tool} {one.part.name}"
                seen = await self.observe([*filter(None, [maker]), line], [])
                self._read += [line] if seen is not None and seen.printed else []
        return self._read

    _read: list[str] | None = None

    async def observe(self, lines: list[str], reads: list[str]) -> Observed | None:
        """Return what the last line did, and what the reads print after it; None if a line fails."""
        name = "draft"
        row = self.known[0].row
        agent = Scripted(type="scripted", steps={name: (*lines, *reads)})
        fields = {"name": name, "gates": (), "evaluators": (), "post": (), "template": None, "setup": ()}
        scenario = row.scenario.model_copy(update=fields)
        trying = row.model_copy(
            update={"scenario": scenario, "agent": agent, "key": RowKey(scenario=name, agent="draft")}
        )
        spec = TrialSpec(side="base", scenario=name, agent="draft", index=1)
        ran = await self.trials.run(spec, trying)
        began = ran.trial.agent_started_at
        calls = [call for call in ran.calls if call.at >= began]
        own, shown = calls[: len(calls) - len(reads)], calls[len(calls) - len(reads) :]
        if any(call.exit_code for call in calls) or len(shown) < len(reads) or (lines and not own):
            return None
        last = own[-1] if own else ObservedCall(argv=(), exit_code=0)
        return Observed([call.stdout for call in shown], last.stdout, bool(last.written), ran.diff)


async def proven(trials: MutantTrials, row: PlanRow, mutant: Mutant) -> bool:
    """Return True if the row passes on base twice, and fails on the mutant."""
    spec = TrialSpec(side="base", scenario=row.key.scenario, agent=row.key.agent, index=1)
    head = spec.model_copy(update={"side": "head"})
    front = trials.front(row, mutant)
    runs = await asyncio.gather(*(trials.run(spec, row) for _ in range(2)), trials.run(head, row, front=front))
    return [ran.result.decides for ran in runs] == ["pass", "pass", "fail"]


def lines_of(known: Known) -> list[str]:
    """Return the agent's command lines in order, without those that ask for help."""
    lines = [event.command for event in known.ran.trial.events if isinstance(event, ToolCall) and event.command]
    return [line for line in lines if "--help" not in line]


def _before(known: Known, call: ObservedCall) -> list[str]:
    """Return the agent's command lines before the one that makes the call."""
    lines = lines_of(known)
    words = " ".join(call.argv)
    place = next((n for n, line in enumerate(lines) if words in " ".join(split(line))), len(lines))
    return lines[:place]
