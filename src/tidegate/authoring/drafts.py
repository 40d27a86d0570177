"""Draft checks for mutants that a suite does not catch: a gate for a scenario that meets one, or a new scenario.

Each draft is run before it is offered: it passes on base three times, and fails on the mutant.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import shlex
import shutil
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import PurePosixPath
from typing import Any

from pydantic import TypeAdapter

from tidegate.agents.doc_follower import DocFollower
from tidegate.authoring.draft_attempts import Attempt, attempts, call_in, made, split
from tidegate.authoring.draft_gates import file_gate, key_gate, output_gate, read_gate
from tidegate.authoring.draft_trials import (
    MOST_ATTEMPTS,
    DraftTrials,
    Known,
    Observed,
    left_out,
    lines_of,
    proven,
    shares_target,
)
from tidegate.authoring.draft_words import Help, task, usage
from tidegate.authoring.observed_gates import Ran as Printed
from tidegate.authoring.observed_gates import output_gates, weaker
from tidegate.authoring.scenario_text import Story, flow, free_name, scenario_text
from tidegate.authoring.server_drafts import ServerDrafting
from tidegate.gates import AnyGate
from tidegate.model.gate import Gate
from tidegate.model.mutant import Mutant, MutantResult
from tidegate.model.plan import PlanRow, RowKey
from tidegate.model.proof import Draft, Drafted, ToolProof
from tidegate.model.surface import ObservedCall, Part
from tidegate.mutants.met import meets
from tidegate.run.mutant_trials import MutantTrials, Ran
from tidegate.run.surface_survey import help_pages
from tidegate.store.our_folder import OUR_FOLDER
from tidegate.surface.parts import command_of, commands, parsed

MOST_DRAFTS, MOST_TRIED = 5, 30
SOURCE = "tidegate prove --draft"
_NO_ERRORS = {"type": "no_transcript_errors", "description": "no call failed"}
_UNSEEN = "nothing that can be read afterwards differs without it"
_OTHER_NAME = re.compile(r"(?:shortcut|short|alias|synonym|same as)\b", re.IGNORECASE)
_gate: TypeAdapter[Gate] = TypeAdapter(AnyGate)


@dataclass(frozen=True)
class _Found:
    """An attempt that works: its lines, the same without the part, a gate for its outcome, and where output is kept."""

    attempt: Attempt
    lines: tuple[str, ...]
    without: tuple[str, ...]
    gate: dict[str, Any]
    output: str
    files: dict[str, str]
    setup: tuple[str, ...]


@dataclass
class Drafting:
    """Drafts for one command-line tool. `known`: its rows."""

    trials: MutantTrials
    proof: ToolProof
    known: Sequence[Known]
    tried: DraftTrials
    effects: list[str] = field(default_factory=list)  # lines of drafts that change what `$id` names
    pages: dict[str, str] = field(default_factory=dict)
    left: dict[str, list[str]] = field(default_factory=dict)  # parts without a draft, by the reason

    async def drafts(self) -> Drafted:
        """Return up to MOST_DRAFTS drafts, each for another part of the tool."""
        found: dict[tuple[str, str], Draft] = {}
        for result in sorted(self._open(), key=_rank)[:MOST_TRIED]:
            part = (result.mutant.command, result.mutant.name)
            if part in found:
                continue
            if (draft := await self._draft(result)) is not None:
                found[part] = draft
            if len(found) == MOST_DRAFTS:
                break
        return Drafted(tuple(found.values()), left_out(self.left))

    def _open(self) -> Iterator[MutantResult]:
        """Yield the mutants for which something can be drafted; of unused parts one kind each."""
        for one in self.proof.mutants:
            kind = one.mutant.kind
            unused = one.state == "not_reached" and kind in _OF_UNUSED
            unchecked = one.state == "alive" and (kind.startswith("json_key_renamed") or kind in _CHECKABLE)
            if unused or unchecked:
                yield one

    async def _draft(self, result: MutantResult) -> Draft | None:
        if result.state == "alive":
            return await self._gate_draft(result)
        mutant, part = result.mutant, self._unused(result.mutant)
        await self._read_help(mutant.command or (mutant.name if part.kind == "subcommand" else ""))
        if _OTHER_NAME.match(self._help.option(mutant.command, part) if part.kind == "option" else ""):
            return None
        why = "no call of it that was tried works"
        async for found in self._working(mutant, part):
            why = _UNSEEN
            if found.gate and (draft := await self._scenario(mutant, part, found)) is not None:
                self.effects += [found.attempt.line] if '"$id"' in found.attempt.line else []
                return draft
        self.left.setdefault(why, []).append(str(part))
        return None

    async def _scenario(self, mutant: Mutant, part: Part, found: _Found) -> Draft | None:
        """Return a scenario whose task is what the lines do; None if it does not prove itself."""
        taken = [known.row.key.scenario for known in self.known]
        short = re.fullmatch(r"-\w", mutant.name) is not None
        called = " ".join(self._help.option(mutant.command, part).split()[:4]) if short else mutant.name
        name = free_name(re.sub(r"\W+", "_", f"{mutant.command} {called}").strip("_").lower(), taken)
        what = " of ".join(f"`{one}`" for one in (mutant.name, mutant.command) if one)
        own = self.known[found.attempt.origin or 0].row.scenario
        shared = await asyncio.to_thread(shares_target, self.trials.work.sides[0].folder / own.file)
        story = Story(
            name=name,
            description=f"{what} works.",
            source=SOURCE,
            writer=SOURCE,
            prompt=task(found.lines, self._help, found.output),
            target=None if shared else own.target,
            setup=found.setup,
            gates=tuple(map(_gate.validate_python, (found.gate, _NO_ERRORS))),
        )
        guide = self._guide
        kept = [*found.lines[:-1], found.lines[-1] + (f" > {found.output}" if found.output else "")]
        row = self._row(story, {**found.files, guide: _document(self.proof.tool, kept)})
        idle = self._row(story, {**found.files, guide: _document(self.proof.tool, found.without)})
        if not await proven(self.trials, row, mutant, idle):
            return None
        folder = PurePosixPath(own.file).parent
        file = (folder / f"{name}.yaml").as_posix()
        files = {(folder / name / one).as_posix(): own for one, own in found.files.items()}
        files[(folder / name / guide).as_posix()] = _document(self.proof.tool, kept)
        return Draft(catches=mutant.words, file=file, text=scenario_text(story), files=files)

    async def _working(self, mutant: Mutant, part: Part) -> AsyncIterator[_Found]:
        """Yield attempts that work, with what they leave; the best first."""
        told = {("", ""): self._help.command("")}
        told |= {(one.part.command, one.part.name): self._told(one.part) for one in self.proof.parts}
        told |= {("usage", name): usage(page) for name, page in self.pages.items()}
        command = part.command if part.kind == "option" else part.name
        known = (await self.tried.sources(command, told))._replace(effects=self.effects)
        reads = await self.tried.reads(f"id=$({known.maker})" if known.maker else "")
        for attempt in islice(attempts(mutant, part, known), MOST_ATTEMPTS):
            lines, without = (*attempt.before, attempt.line), (*attempt.before, *filter(None, [attempt.plain]))
            files = self.tried.files(lines, attempt.origin)
            if files is None:
                continue
            setup = self.known[attempt.origin].row.scenario.setup if attempt.origin is not None else ()
            first = await self.tried.observe(lines, reads, files, setup)
            if first is None:
                continue
            others = (self.tried.observe(own, reads, files, setup) for own in (lines, without))
            second, plain = await asyncio.gather(*others)
            if second is not None:
                gate, output = _outcome(attempt, reads, (first, second, plain), lines)
                yield _Found(attempt, lines, without, gate, output, files, setup)

    async def _gate_draft(self, result: MutantResult) -> Draft | None:
        """Return a gate for a scenario that meets the mutant."""
        for known in self.known:
            for call in known.ran.calls:
                if not meets(result.mutant, call):
                    continue
                for gate in self._gates(result, call, known):
                    scenario = known.row.scenario
                    more = scenario.model_copy(update={"gates": (*scenario.gates, _gate.validate_python(gate))})
                    if await proven(self.trials, known.row.model_copy(update={"scenario": more}), result.mutant):
                        text = f"    - {flow(gate)}\n"
                        return Draft(catches=result.mutant.words, file=scenario.file, text=text, into="gates")
        return None

    def _gates(self, result: MutantResult, call: ObservedCall, known: Known) -> Iterator[dict[str, Any]]:
        """Yield gates that may see what the mutant changes in this call."""
        kind, command = result.mutant.kind, shlex.join([self.proof.tool, *call.argv])
        if kind == "json_key_renamed" and not call.written:
            yield from key_gate(command, call.stdout, result.mutant.name)
        in_agent = call.at >= known.ran.trial.agent_started_at
        if kind in ("exit_fails", "crashes_after") and in_agent:
            yield _NO_ERRORS
        if kind in ("output_emptied", "streams_swapped") and not call.written:
            printed = Printed(command, True, call.stdout)
            for gate in output_gates(printed, printed):
                yield gate
                if less := weaker(gate):  # the agent prints one line, and the gate's call may print more
                    yield less

    @property
    def _help(self) -> Help:
        return Help(self.proof.tool, self.pages, [one.part for one in self.proof.parts])

    def _told(self, part: Part) -> str:
        """Return the row of the help on an option or a subcommand, as it is printed."""
        page = self.pages.get(part.command, "") or self.pages.get("", "")
        name = part.name if part.kind == "option" else part.name.rpartition(" ")[2]
        found = re.search(rf"^\s+(?:-\w, )?{re.escape(name)}(?![\w-]).*(?:\n\s{{12,}}\S.*)*", page, re.MULTILINE)
        return " ".join(found[0].split()) if found else ""

    async def _read_help(self, command: str) -> None:
        """Read the help of the subcommand, of the tool, and of what the rows call."""
        names = commands([one.part for one in self.proof.parts])
        lines = [line for known in self.known for line in lines_of(known)]
        places = [(line, call_in(line, self.proof.tool)) for line in lines]
        called = [command_of(split(line[at[0] : at[1]])[1:], names) for line, at in places if at is not None]
        parents = [" ".join(command.split()[:-1])]
        new = [one for one in dict.fromkeys(["", *parents, command, *called]) if one not in self.pages]
        if new:
            self.pages |= await help_pages(self.trials, self.known[0].row, new)

    @property
    def _guide(self) -> str:
        """The name of the file that tells an agent how the tool is used in the scenario's workspace."""
        return next((one for one in self.trials.work.suite.guidance if one == "AGENTS.md"), "README.md")

    def _unused(self, mutant: Mutant) -> Part:
        """Return the option or subcommand that the mutant changes."""
        ids = (("option", mutant.command, mutant.name), ("subcommand", "", mutant.name or mutant.command))
        return next(one.part for one in self.proof.parts if one.part.id in ids)

    def _row(self, story: Story, files: dict[str, str]) -> PlanRow:
        row = self.known[0].row
        more = {"evaluators": (), "post": (), "evaluator_scripts": (), "guidance": None, "setup": story.setup}
        fields = {"name": story.name, "prompt": story.prompt, "gates": story.gates}
        template = self.tried.workspace(files)
        key = RowKey(scenario=story.name, agent="docs")
        scenario = row.scenario.model_copy(update={**fields, **more, "template": template})
        agent = DocFollower(type="doc-follower")
        return row.model_copy(update={"scenario": scenario, "agent": agent, "key": key, "deterministic": True})


def _outcome(
    attempt: Attempt, reads: Sequence[str], seen: tuple[Observed, Observed, Observed | None], lines: Sequence[str]
) -> tuple[dict[str, Any], str]:
    """Return a gate for what the call leaves, and the file in which its output is kept; both empty if it shows nothing.

    What other calls of the tool print comes first, then files that the call writes, then what it prints.
    """
    first, second, plain = seen
    words = [word for line in (attempt.line, *lines) for word in split(made(line))[1:]]
    values = [word for word in words if not word.startswith(("-", "$"))]
    shown = [one.shown if one else [""] * len(reads) for one in seen]
    if (gate := read_gate(reads, shown, values)) is not None:
        return gate, ""
    if (gate := file_gate([first.diff, second.diff, plain.diff if plain else ""], values)) is not None:
        return gate, ""
    if first.written or ">" in attempt.line:
        return {}, ""
    output = "output.json" if parsed(first.printed) else "output.txt"
    without = plain.printed if plain and attempt.plain else ""
    return output_gate(output, (first.printed, second.printed, without), values) or {}, output


def _document(tool: str, lines: Sequence[str]) -> str:
    """Return the guide that an agent without a model follows."""
    return "\n".join([f"# How to use {tool} here", "", "```sh", *lines, "```", ""])


_OF_UNUSED = ("exit_fails", "option_ignored")
_CHECKABLE = ("exit_fails", "crashes_after", "output_emptied", "streams_swapped")


def _rank(result: MutantResult) -> tuple[bool, bool, int]:
    """Return a sort key: unused subcommands and options, then keys and exit codes that no check sees, then output."""
    order = ("exit_fails", "option_ignored", "json_key_renamed", "crashes_after")
    kind, short = result.mutant.kind, re.fullmatch(r"-\w", result.mutant.name) is not None
    return result.state == "alive", short, order.index(kind) if kind in order else len(order)


async def drafts_for(trials: MutantTrials, proof: ToolProof, rows: Sequence[tuple[PlanRow, Ran]]) -> Drafted:
    """Return drafts for the tool of these rows; none if they have none."""
    target = rows[0][0].scenario.target
    known = [Known(row, ran) for row, ran in rows]
    if target.mcp is not None:
        return await ServerDrafting(trials, proof, known).drafts()
    if not target.binary:
        return Drafted()
    scratch = trials.work.sides[0].folder / OUR_FOLDER / f"drafts-{secrets.token_hex(4)}"
    try:
        return await Drafting(trials, proof, known, DraftTrials(trials, proof, known, scratch)).drafts()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
