"""Trials of a tool's calls on base, for drafts: what calls print, write and leave, and which calls only read."""

from __future__ import annotations

import asyncio
import itertools
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from tidegate.agents.scripted import Scripted
from tidegate.authoring.draft_attempts import READING, Recorded, Sources, attempts, call_in, split
from tidegate.authoring.examples import LARGEST_FILE, documented
from tidegate.authoring.sample_files import SAMPLES, sample
from tidegate.model.event import ToolCall
from tidegate.model.mutant import Mutant
from tidegate.model.plan import PlanRow, RowKey
from tidegate.model.proof import ToolProof
from tidegate.model.surface import ObservedCall
from tidegate.model.trial_spec import TrialSpec
from tidegate.mutants.change import is_help
from tidegate.run.mutant_trials import MutantTrials, Ran
from tidegate.surface.parts import command_of, commands
from tidegate.trial.workspace import initial_state

MOST_READS, MOST_ATTEMPTS, MOST_ASKED = 4, 6, 12
MOST_NAMED = 6  # parts in one sentence
BASE_RUNS = 3  # a draft passes on base as often
_ABOUT_ITSELF = (["--version"], ["-V"], ["version"])
_OF_TEMPLATE = re.compile(r"[\w./-]+\.\w+")


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
    """Trials of one command-line tool. `known`: its rows. `scratch`: a folder of the checkout for workspaces."""

    trials: MutantTrials
    proof: ToolProof
    known: Sequence[Known]
    scratch: Path
    numbers: itertools.count[int] = field(default_factory=itertools.count)

    async def sources(self, command: str, told: Mapping[tuple[str, str], str]) -> Sources:
        """Return what calls of the subcommand can be made of."""
        parts = [one.part for one in self.proof.parts]
        names = commands(parts)
        recorded = [
            Recorded(tuple(before), line, number)
            for number, known in enumerate(self.known)
            for before, line in recorded_lines(known)
            if (place := call_in(line, self.proof.tool)) is not None
            for argv in [split(line[place[0] : place[1]])[1:]]
            if command_of(argv, names) == command and not is_help(argv) and argv not in _ABOUT_ITSELF
            if (argv or place[0]) and ">" not in line[place[1] :]
        ]
        (here,) = self.trials.work.sides
        shown = [one.commands for one in documented(here.folder, "", self.proof.tool)]
        known = Sources(self.proof.tool, parts, recorded, shown, file=self._file(told), told=told)
        if self._maker is None:
            self._maker = await self._found_maker(known)
        return known._replace(maker=self._maker)

    _maker: str | None = None

    def _file(self, told: Mapping[tuple[str, str], str]) -> str:
        """Return the name of a file that the tool may read: of a scenario's workspace, else a sample."""
        for known in self.known:
            if (template := self._template(known.row)) is not None:
                names = (path.name for path in sorted(template.iterdir()) if path.is_file())
                own = [name for name in names if PurePosixPath(name).suffix in SAMPLES and name[0].islower()]
                if own:
                    return own[0]
        words = f"{self.proof.tool} {told.get(('', ''), '')}".lower()
        return next((f"data{suffix}" for suffix in SAMPLES if suffix[1:] in words), "data.txt")

    def _template(self, row: PlanRow) -> Path | None:
        (here,) = self.trials.work.sides
        return None if row.scenario.template is None else initial_state(here.folder, row.scenario.template)

    def files(self, lines: Sequence[str], origin: int | None) -> dict[str, str] | None:
        """Return the files that the lines name: of the scenario's workspace, of the repository, or samples.

        None if one in a folder is in neither of these.
        """
        (here,) = self.trials.work.sides
        template = self._template(self.known[origin or 0].row)
        folders = [folder for folder in (template, here.folder) if folder is not None]
        found = dict[str, str]()
        for name in dict.fromkeys(word for line in lines for word in split(line) if _OF_TEMPLATE.fullmatch(word)):
            path = PurePosixPath(name)
            if path.is_absolute() or ".." in path.parts:
                continue
            own = next((folder / name for folder in folders if (folder / name).is_file()), None)
            if own is not None and own.stat().st_size <= LARGEST_FILE:
                found[name] = own.read_text(encoding="utf-8", errors="replace")
            elif path.suffix in SAMPLES and len(path.parts) > 1:
                return None
            elif path.suffix in SAMPLES and not re.search(rf">\s*{re.escape(name)}", "\n".join(lines)):
                found[name] = sample(name).decode()
        return found

    def workspace(self, files: Mapping[str, str]) -> str:
        """Write the files into a new folder of the checkout, and return its path there."""
        (here,) = self.trials.work.sides
        folder = self.scratch / str(next(self.numbers))
        folder.mkdir(parents=True)
        for name, text in files.items():
            folder.joinpath(name).parent.mkdir(parents=True, exist_ok=True)
            folder.joinpath(name).write_text(text, encoding="utf-8")
        return folder.relative_to(here.folder).as_posix()

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
            if not call.written and call.exit_code == 0 and call.stdout and not is_help(list(call.argv)) and call.argv
            if list(call.argv) not in _ABOUT_ITSELF
        ]
        self._read = [*dict.fromkeys(lines)][:MOST_READS]
        if not self._read:
            asked = [f"{self.proof.tool} {name}" for name in self._without_arguments()[:MOST_ASKED]]
            seen = await asyncio.gather(*(self.observe([*filter(None, [maker]), line], []) for line in asked))
            both = [*zip(asked, seen, strict=True)]
            self._read = [line for line, one in both if one is not None and not one.written][:MOST_READS]
        return self._read

    _read: list[str] | None = None

    def _without_arguments(self) -> list[str]:
        """Return the subcommands that need no argument, those that often only read first."""
        parts = [one.part for one in self.proof.parts]
        taking = {part.command for part in parts if part.kind == "argument"}
        names = [part.name for part in parts if part.kind == "subcommand" and part.name not in taking]
        return sorted(names, key=lambda name: name not in READING)

    async def observe(
        self,
        lines: Sequence[str],
        reads: Sequence[str],
        files: Mapping[str, str] | None = None,
        setup: Sequence[str] = (),
    ) -> Observed | None:
        """Return what the last line did, and what the reads print after it; None if a line fails."""
        name = "draft"
        row = self.known[0].row
        steps = ("\n".join(lines), *reads) if lines else tuple(reads)
        template = self.workspace(files) if files else None
        fields = {"name": name, "gates": (), "evaluators": (), "post": (), "template": template, "setup": tuple(setup)}
        trying = row.model_copy(
            update={
                "scenario": row.scenario.model_copy(update=fields),
                "agent": Scripted(type="scripted", steps={name: steps}),
                "key": RowKey(scenario=name, agent="draft"),
            }
        )
        spec = TrialSpec(side="base", scenario=name, agent="draft", index=1)
        ran = await self.trials.run(spec, trying)
        calls = [call for call in ran.calls if call.at >= ran.trial.agent_started_at]
        own, shown = calls[: len(calls) - len(reads)], calls[len(calls) - len(reads) :]
        if any(call.exit_code for call in calls) or len(shown) < len(reads) or (lines and not own):
            return None
        last = own[-1] if own else ObservedCall(argv=(), exit_code=0)
        return Observed([call.stdout for call in shown], last.stdout, bool(last.written), ran.diff)


async def proven(trials: MutantTrials, row: PlanRow, mutant: Mutant, idle: PlanRow | None = None) -> bool:
    """Return True if the row passes on base each time, and fails on the mutant.

    `idle`: the same without the draft's call. All of its gates on what the task leaves have to fail.
    """
    spec = TrialSpec(side="base", scenario=row.key.scenario, agent=row.key.agent, index=1)
    head = spec.model_copy(update={"side": "head"})
    front = trials.front(row, mutant)
    runs = [trials.run(spec, row) for _ in range(BASE_RUNS)]
    more = [] if idle is None else [trials.run(spec, idle)]
    *base, changed = await asyncio.gather(*runs, *more, trials.run(head, row, front=front))
    held = [gate for ran in base[BASE_RUNS:] for gate in ran.result.gates if gate.passed]
    if any(gate.type != "no_transcript_errors" for gate in held):
        return False
    decided = [ran.result.decides for ran in base[:BASE_RUNS]]
    return decided == ["pass"] * BASE_RUNS and changed.result.decides == "fail"


def left_out(parts: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return a sentence per reason on the parts that have no draft."""
    shown = {why: ", ".join(names[:MOST_NAMED]) for why, names in parts.items()}
    more = {why: f" and {len(names) - MOST_NAMED} more" for why, names in parts.items() if len(names) > MOST_NAMED}
    return tuple(f"no draft for {names}{more.get(why, '')}: {why}" for why, names in shown.items())


def recorded_lines(known: Known) -> list[tuple[list[str], str]]:
    """Return the agent's command lines in order, each with those before it that it may need.

    If no call wrote a file, none is needed.
    """
    lines = lines_of(known)
    alone = not any(call.written for call in known.ran.calls)
    return [([] if alone else lines[:number], line) for number, line in enumerate(lines)]


def lines_of(known: Known) -> list[str]:
    """Return the agent's command lines in order, without those that ask for help."""
    lines = [event.command for event in known.ran.trial.events if isinstance(event, ToolCall) and event.command]
    return [line for line in lines if "--help" not in line]


def shares_target(file: Path) -> bool:
    """Return True if the scenario's file takes the target from the suite."""
    return re.search(r"^target: *from_config\b", file.read_text(encoding="utf-8"), re.MULTILINE) is not None
