"""Draft checks for mutants that a suite does not catch: a gate for a scenario that meets one, or a new scenario.

Each draft is run before it is offered: it passes on base twice, and fails on the mutant.
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from tidegate.agents.doc_follower import DocFollower
from tidegate.agents.scripted import Scripted
from tidegate.authoring.draft_gates import differences, key_gate
from tidegate.authoring.observed_gates import Ran as Printed
from tidegate.authoring.observed_gates import output_gates
from tidegate.authoring.scenario_text import Story, flow, scenario_text
from tidegate.gates import AnyGate
from tidegate.model.event import ToolCall
from tidegate.model.gate import Gate
from tidegate.model.mutant import MutantResult
from tidegate.model.plan import PlanRow, RowKey
from tidegate.model.proof import Draft, ToolProof
from tidegate.model.surface import ObservedCall, Part
from tidegate.model.trial import TrialSpec
from tidegate.mutants.change import is_help
from tidegate.mutants.met import meets
from tidegate.run.mutant_trials import MutantTrials, Ran
from tidegate.surface.parts import command_of, commands

MOST_DRAFTS, MOST_TRIED, MOST_READS = 5, 15, 4
_SOURCE = "tidegate prove --draft"
_VALUES = ("2", "example", "2030-01-31", "high")
_GUESSES: tuple[tuple[str, ...], ...] = ((), ("1",), ("example",), ("1", "example"))
_NO_ERRORS = {"type": "no_transcript_errors", "description": "no call failed"}
_gate: TypeAdapter[Gate] = TypeAdapter(AnyGate)


class Known(NamedTuple):
    """A row with its trial on base."""

    row: PlanRow
    ran: Ran


@dataclass
class Drafting:
    """Drafts for one command-line tool. `known`: its rows."""

    trials: MutantTrials
    proof: ToolProof
    known: Sequence[Known]

    async def drafts(self) -> tuple[Draft, ...]:
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
        return tuple(found.values())

    def _open(self) -> Iterator[MutantResult]:
        """Yield the mutants for which something can be drafted; of unused parts one kind each."""
        for one in self.proof.mutants:
            kind = one.mutant.kind
            unused = one.state == "not_reached" and kind in ("option_ignored", "subcommand_removed")
            unchecked = one.state == "alive" and (kind.startswith("json_key_renamed") or kind in _CHECKABLE)
            if unused or unchecked:
                yield one

    async def _draft(self, result: MutantResult) -> Draft | None:
        if result.state == "alive":
            return await self._gate_draft(result)
        for words, gates in await self._scenarios(result):
            prompt = _prompt(self.proof.tool, words)
            story = self._story(result, prompt, gates)
            row = self._row(story)
            if await self._proven(row, result):
                file = f"scenarios/{story.name}.yaml"
                text = scenario_text(story, file).replace("`tidegate add`", f"`{_SOURCE}`", 1)
                return Draft(catches=result.mutant.words, file=file, text=text)
        return None

    async def _gate_draft(self, result: MutantResult) -> Draft | None:
        """Return a gate for a scenario that meets the mutant."""
        for known in self.known:
            for call in known.ran.calls:
                if not meets(result.mutant, call):
                    continue
                for gate in self._gates(result, call, known):
                    scenario = known.row.scenario
                    more = scenario.model_copy(update={"gates": (*scenario.gates, _gate.validate_python(gate))})
                    if await self._proven(known.row.model_copy(update={"scenario": more}), result):
                        text = f"    - {flow(gate)}\n"
                        return Draft(catches=result.mutant.words, file=scenario.file, text=text, gate=True)
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
            yield from output_gates(printed, printed)

    async def _scenarios(self, result: MutantResult) -> list[tuple[list[str], list[dict[str, Any]]]]:
        """Return command lines that use the part, with gates for what differs without it; the best first."""
        found = []
        reads = self._reads()
        for before, words in self._attempts(result):
            line = shlex.join([self.proof.tool, *words])
            first = await self._observe([*before, line], reads)
            if first is None:
                continue
            others = ([line], self._without(result, words))
            second, without = await asyncio.gather(*(self._observe([*before, *own], reads) for own in others))
            if second is None:
                continue
            gates = [*differences(reads, first, second, without or [""] * len(first))]
            own = next((call for call in (self._seen or ()) if list(call.argv) == words), None)
            if own is not None and not own.written:
                printed = Printed(line, True, own.stdout)
                gates = [*output_gates(printed, printed), *gates]
            if gates:
                found.append(([*before, line], [*gates[:3], _NO_ERRORS]))
            if len(found) == 2:
                break
        return found

    _seen: tuple[ObservedCall, ...] = ()

    def _without(self, result: MutantResult, words: list[str]) -> list[str]:
        """Return the same line without the option, or nothing without the subcommand."""
        if result.mutant.kind != "option_ignored":
            return []
        place = words.index(result.mutant.name)
        rest = words[:place] + words[place + (2 if result.mutant.takes_value else 1) :]
        return [shlex.join([self.proof.tool, *rest])]

    def _attempts(self, result: MutantResult) -> Iterator[tuple[list[str], list[str]]]:
        """Yield the commands before the call, and the call's words."""
        mutant, names = result.mutant, commands([one.part for one in self.proof.parts])
        command = mutant.command if mutant.kind == "option_ignored" else mutant.name
        examples = [
            (_before(known, call), list(call.argv))
            for known in self.known
            for call in known.ran.calls
            if command_of(call.argv, names) == command and not is_help(list(call.argv)) and call.exit_code == 0
        ]
        if mutant.kind == "option_ignored":
            part = self._part("option", mutant.command, mutant.name)
            values = [[value] for value in (part.choices or _VALUES)] if part.takes_value else [[]]
            at = len(command.split())
            for before, argv in examples[:2] or [(self._most(), command.split())]:
                for value in values:
                    yield before, [*argv[:at], mutant.name, *value, *argv[at:]]
            return
        for guess in _GUESSES:
            yield self._most(), [*command.split(), *guess]

    def _part(self, kind: str, command: str, name: str) -> Part:
        return next(one.part for one in self.proof.parts if one.part.id == (kind, command, name))

    def _most(self) -> list[str]:
        """Return the commands of the row that calls the tool most."""
        known = max(self.known, key=lambda one: len(one.ran.calls))
        return _lines(known)

    def _reads(self) -> list[str]:
        """Return calls that only read, which show what others have done."""
        calls = (call for known in self.known for call in known.ran.calls)
        lines = [
            shlex.join([self.proof.tool, *call.argv])
            for call in calls
            if not call.written and call.exit_code == 0 and call.stdout and not is_help(list(call.argv))
            if call.argv not in (("--version",), ("-V",), ("version",))
        ]
        return [*dict.fromkeys(lines)][:MOST_READS]

    async def _observe(self, lines: list[str], reads: list[str]) -> list[str] | None:
        """Return what the reads print after the lines; None if a line fails."""
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
        shown = calls[len(calls) - len(reads) :]
        if any(call.exit_code for call in calls) or len(shown) < len(reads):
            return None
        self._seen = (*self._seen, *calls)
        return [call.stdout for call in shown]

    def _story(self, result: MutantResult, prompt: str, gates: list[dict[str, Any]]) -> Story:
        mutant = result.mutant
        name = "_".join([*(mutant.command or "").split(), mutant.name.strip("-")]).replace("-", "_").replace(" ", "_")
        what = f"`{mutant.name}`" + (f" of `{mutant.command}`" if mutant.command else "")
        return Story(
            name=f"use_{name}",
            description=f"{what} works.",
            source=_SOURCE,
            prompt=prompt,
            target=self.known[0].row.scenario.target,
            gates=tuple(map(_gate.validate_python, gates)),
        )

    def _row(self, story: Story) -> PlanRow:
        row = self.known[0].row
        fields = {"name": story.name, "prompt": story.prompt, "gates": story.gates, "template": None, "setup": ()}
        more = {"evaluators": (), "post": (), "evaluator_scripts": ()}
        agent = DocFollower(type="doc-follower")
        key = RowKey(scenario=story.name, agent="docs")
        scenario = row.scenario.model_copy(update={**fields, **more})
        return row.model_copy(update={"scenario": scenario, "agent": agent, "key": key, "deterministic": True})

    async def _proven(self, row: PlanRow, result: MutantResult) -> bool:
        """Return True if the row passes on base twice, and fails on the mutant."""
        spec = TrialSpec(side="base", scenario=row.key.scenario, agent=row.key.agent, index=1)
        head = spec.model_copy(update={"side": "head"})
        front = self.trials.front(row, result.mutant)
        runs = await asyncio.gather(
            *(self.trials.run(spec, row) for _ in range(2)), self.trials.run(head, row, front=front)
        )
        return [ran.result.decides for ran in runs] == ["pass", "pass", "fail"]


_CHECKABLE = ("exit_fails", "crashes_after", "output_emptied", "streams_swapped")


def _rank(result: MutantResult) -> int:
    """Return a sort key: unused options and subcommands, then keys and exit codes that no check sees, then output."""
    order = ("option_ignored", "subcommand_removed", "json_key_renamed", "exit_fails", "crashes_after")
    kind = result.mutant.kind
    return order.index(kind) if kind in order else len(order)


def _lines(known: Known) -> list[str]:
    """Return the agent's command lines in order, without those that ask for help."""
    lines = [event.command for event in known.ran.trial.events if isinstance(event, ToolCall) and event.command]
    return [line for line in lines if "--help" not in line]


def _before(known: Known, call: ObservedCall) -> list[str]:
    """Return the agent's command lines before the one that makes the call."""
    lines = _lines(known)
    words = " ".join(call.argv)
    place = next((n for n, line in enumerate(lines) if words in " ".join(_split(line))), len(lines))
    return lines[:place]


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()


def _prompt(tool: str, lines: Sequence[str]) -> str:
    return "\n".join([f"Use `{tool}`. Run these commands:", "", "```sh", *lines, "```"])


async def drafts_for(trials: MutantTrials, proof: ToolProof, rows: Sequence[tuple[PlanRow, Ran]]) -> tuple[Draft, ...]:
    """Return drafts for a command-line tool; none for an MCP server, or if there is no tool."""
    target = rows[0][0].scenario.target
    if target.mcp is not None or not target.binary:
        return ()
    return await Drafting(trials, proof, [Known(row, ran) for row, ran in rows]).drafts()
