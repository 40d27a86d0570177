"""Draft checks for mutants that a suite does not catch: a gate for a scenario that meets one, or a new scenario.

Each draft is run before it is offered: it passes on base twice, and fails on the mutant.
"""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from pydantic import TypeAdapter

from tidegate.agents.doc_follower import DocFollower
from tidegate.authoring.draft_attempts import Attempt, attempts, split
from tidegate.authoring.draft_gates import differences, key_gate
from tidegate.authoring.draft_trials import MOST_ATTEMPTS, DraftTrials, Known, Observed, proven
from tidegate.authoring.observed_gates import Ran as Printed
from tidegate.authoring.observed_gates import change_gates, output_gates, weaker
from tidegate.authoring.scenario_text import Story, flow, scenario_text
from tidegate.authoring.server_drafts import ServerDrafting
from tidegate.gates import AnyGate
from tidegate.model.gate import Gate
from tidegate.model.mutant import Mutant, MutantResult
from tidegate.model.plan import PlanRow, RowKey
from tidegate.model.proof import Draft, ToolProof
from tidegate.model.surface import ObservedCall, Part
from tidegate.mutants.met import meets
from tidegate.run.mutant_trials import MutantTrials, Ran

MOST_DRAFTS, MOST_TRIED = 5, 15
_SOURCE = "tidegate prove --draft"
_NO_ERRORS = {"type": "no_transcript_errors", "description": "no call failed"}
_gate: TypeAdapter[Gate] = TypeAdapter(AnyGate)


@dataclass
class Drafting:
    """Drafts for one command-line tool. `known`: its rows."""

    trials: MutantTrials
    proof: ToolProof
    known: Sequence[Known]
    tried: DraftTrials

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
            unused = one.state == "not_reached" and kind in _OF_UNUSED
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
            if await proven(self.trials, row, result.mutant):
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

    async def _scenarios(self, result: MutantResult) -> list[tuple[list[str], list[dict[str, Any]]]]:
        """Return command lines that use the part, with gates for what differs without it; the best first."""
        found = []
        mutant, part = result.mutant, self._unused(result.mutant)
        known = await self.tried.sources(mutant.command or mutant.name)
        reads = await self.tried.reads(known.maker)
        for attempt in islice(attempts(mutant, part, known), MOST_ATTEMPTS):
            lines, without = [*attempt.before, attempt.line], [*attempt.before, *filter(None, [attempt.plain])]
            first = await self.tried.observe(lines, reads)
            if first is None:
                continue
            second, plain = await asyncio.gather(*(self.tried.observe(own, reads) for own in (lines, without)))
            if second is not None:
                gates = [*self._differences(attempt, reads, (first, second, plain))][:3]
                enough = gates or (part.kind == "subcommand" and first.written)
                found += [(lines, [*gates, _NO_ERRORS])] if enough else []
            if len(found) == 2:
                break
        return found

    def _differences(
        self, attempt: Attempt, reads: list[str], seen: tuple[Observed, Observed, Observed | None]
    ) -> Iterator[dict[str, Any]]:
        """Yield gates for what the call prints, what other calls print after it, and the files that it leaves."""
        first, second, _ = seen
        values = [word for word in split(attempt.line)[1:] if not word.startswith(("-", "$"))]
        nothing = [""] * len(reads)
        shown = [one.shown if one else nothing for one in seen]
        yield from differences(reads, (shown[0], shown[1], shown[2]), values)
        if not first.written:
            printed = [Printed(attempt.line, True, one.printed) for one in (first, second)]
            yield from output_gates(printed[0], printed[1])
        yield from change_gates([first.diff, second.diff])

    def _unused(self, mutant: Mutant) -> Part:
        """Return the option or subcommand that the mutant changes."""
        ids = (("option", mutant.command, mutant.name), ("subcommand", "", mutant.name or mutant.command))
        return next(one.part for one in self.proof.parts if one.part.id in ids)

    def _story(self, result: MutantResult, prompt: str, gates: list[dict[str, Any]]) -> Story:
        mutant = result.mutant
        name = re.sub(r"\W+", "_", f"{mutant.command} {mutant.name}").strip("_")
        what = " of ".join(f"`{one}`" for one in (mutant.name, mutant.command) if one)
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


_OF_UNUSED = ("exit_fails", "option_ignored")
_CHECKABLE = ("exit_fails", "crashes_after", "output_emptied", "streams_swapped")


def _rank(result: MutantResult) -> tuple[bool, int]:
    """Return a sort key: unused subcommands and options, then keys and exit codes that no check sees, then output."""
    order = ("exit_fails", "option_ignored", "json_key_renamed", "crashes_after")
    kind = result.mutant.kind
    return result.state == "alive", order.index(kind) if kind in order else len(order)


def _prompt(tool: str, lines: Sequence[str]) -> str:
    return "\n".join([f"Use `{tool}`. Run these commands:", "", "```sh", *lines, "```"])


async def drafts_for(trials: MutantTrials, proof: ToolProof, rows: Sequence[tuple[PlanRow, Ran]]) -> tuple[Draft, ...]:
    """Return drafts for the tool of these rows; none if they have none."""
    target = rows[0][0].scenario.target
    known = [Known(row, ran) for row, ran in rows]
    if target.mcp is not None:
        return await ServerDrafting(trials, proof, known).drafts()
    if not target.binary:
        return ()
    return await Drafting(trials, proof, known, DraftTrials(trials, proof, known)).drafts()
