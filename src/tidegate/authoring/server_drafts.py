"""Draft checks for an MCP server: a scenario that calls what no scenario calls, or a check of what a tool answers.

Each draft is run before it is offered: it passes on base twice, and fails on the mutant.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from pydantic import TypeAdapter

from tidegate.agents.scripted import Scripted, parameters
from tidegate.authoring.build_systems.files import text
from tidegate.authoring.draft_attempts import value
from tidegate.authoring.draft_trials import Known, proven
from tidegate.authoring.scenario_text import Story, flow, scenario_text
from tidegate.authoring.server_calls import Example, answer_checks, examples, is_risky, step
from tidegate.evaluators import AnyEvaluator
from tidegate.gates.no_transcript_errors import NoTranscriptErrors
from tidegate.model.agent import Tool
from tidegate.model.evaluator import Evaluator
from tidegate.model.event import ToolResult
from tidegate.model.mutant import Mutant
from tidegate.model.plan import PlanRow, RowKey
from tidegate.model.proof import Draft, ToolProof
from tidegate.model.surface import ObservedCall
from tidegate.model.trial import TrialSpec
from tidegate.run.mutant_trials import MutantTrials, Ran
from tidegate.run.surface_survey import tool_list

MOST_DRAFTS, MOST_TRIED, MOST_INPUTS = 5, 15, 3
_SOURCE = "tidegate prove --draft"
_WORDS: tuple[tuple[str, str], ...] = (  # what the name of a parameter ends with, and a value for it
    (r"path|dir|directory|folder|root|cwd|repo|repository", "."),
    (r"revision|rev|ref|commit|target", "HEAD"),
    (r"branch", "main"),
    (r"query|pattern|search|filter|glob", "*"),
    (r"timezone|tz", "Europe/Warsaw"),
    (r"time", "16:30"),
    (r"url|uri", ""),
)
_OPEN = ("result_emptied", "parameter_renamed", "value_refused", "default_changed")
_evaluator: TypeAdapter[Evaluator] = TypeAdapter(AnyEvaluator)
_no_errors = NoTranscriptErrors(type="no_transcript_errors", description="no call failed")


@dataclass
class ServerDrafting:
    """Drafts for one MCP server. `known`: its rows."""

    trials: MutantTrials
    proof: ToolProof
    known: Sequence[Known]
    tools: dict[str, Tool] = field(default_factory=dict)

    async def drafts(self) -> tuple[Draft, ...]:
        """Return up to MOST_DRAFTS drafts, each for another tool or parameter."""
        listed = await tool_list(self.trials, self.known[0].row)
        self.tools = {tool.name: tool for tool in map(_tool, listed)}
        found: dict[tuple[str, str], Draft] = {}
        for mutant, alive in list(self._open())[:MOST_TRIED]:
            part = (mutant.command, mutant.name)
            if part in found or mutant.command not in self.tools or len(found) == MOST_DRAFTS:
                continue
            draft = await (self._check(mutant) if alive else self._scenario(mutant))
            found |= {} if draft is None else {part: draft}
        return tuple(found.values())

    def _open(self) -> Iterator[tuple[Mutant, bool]]:
        """Yield the mutants for which something can be drafted, and whether a scenario meets them; tools come first."""
        states = [one for one in self.proof.mutants if one.state in ("alive", "not_reached")]
        for kind in _OPEN:
            yield from ((one.mutant, one.state == "alive") for one in states if one.mutant.kind == kind)

    async def _check(self, mutant: Mutant) -> Draft | None:
        """Return a check of the tool's answer for a scenario that calls it."""
        for known in self.known:
            calls = [call for call in known.ran.calls if call.argv[0] == mutant.command and not call.exit_code]
            for call in calls[:1]:
                example = Example(mutant.command, json.loads(call.argv[1]))
                for check in self._checks(known.row, example, [call.stdout] * 2):
                    scenario = known.row.scenario
                    more = (*scenario.evaluators, _evaluator.validate_python(check))
                    row = known.row.model_copy(update={"scenario": scenario.model_copy(update={"evaluators": more})})
                    if await proven(self.trials, row, mutant):
                        line = f"    - {flow(check)}\n"
                        return Draft(catches=mutant.words, file=scenario.file, text=line, into="evaluators")
        return None

    async def _scenario(self, mutant: Mutant) -> Draft | None:
        """Return a scenario that calls the tool, with the parameter that the mutant changes."""
        part = mutant.name if mutant.kind != "result_emptied" else ""
        name = "use_" + re.sub(r"\W+", "_", f"{mutant.command} {part}").strip("_")
        plain: Mapping[str, Any] = {}
        for given in islice(self._inputs(self.tools[mutant.command], mutant), MOST_INPUTS):
            call = Example(mutant.command, given)
            row = self._row(name, call)
            answers = [_answer(ran) for ran in await asyncio.gather(*(self._base(row, n) for n in (1, 2)))]
            if None in answers:
                continue
            if part and part in given:
                plain = {key: own for key, own in given.items() if key != part}
                bare = _answer(await self._base(self._row(name, Example(mutant.command, dict(plain))), 3))
                if bare == answers[0]:
                    continue  # the parameter makes no difference
            checks = [*self._checks(row, call, [one or "" for one in answers])]
            scenario = row.scenario.model_copy(update={"evaluators": tuple(map(_evaluator.validate_python, checks))})
            row = row.model_copy(update={"scenario": scenario})
            if checks and await proven(self.trials, row, mutant):
                return self._drafted(mutant, row, call, checks)
        return None

    def _drafted(self, mutant: Mutant, row: PlanRow, call: Example, checks: Sequence[dict[str, Any]]) -> Draft:
        name, agent = row.key.scenario, row.key.agent
        file = f"scenarios/{name}.yaml"
        story = Story(
            name=name,
            description=row.scenario.description,
            source=_SOURCE,
            prompt=row.scenario.prompt,
            gates=(_no_errors,),
        )
        body = scenario_text(story, file).replace("`tidegate add`", f"`{_SOURCE}`", 1)
        steps = f"# Add to `steps` of the agent `{agent}` in tidegate.yaml:\n#   {name}:\n#     - {flow(step(call))}\n"
        first, _, rest = body.partition("\n")
        lines = "".join(f"    - {flow(check)}\n" for check in checks)
        return Draft(catches=mutant.words, file=file, text=f"{first}\n{steps}{rest}  evaluators:\n{lines}")

    def _checks(self, row: PlanRow, call: Example, outputs: Sequence[str]) -> Iterator[dict[str, Any]]:
        server = row.scenario.target.mcp
        assert server is not None
        yield from answer_checks(server.name, call, outputs)

    def _inputs(self, tool: Tool, mutant: Mutant) -> Iterator[dict[str, Any]]:
        """Yield inputs of the tool: of recorded calls and examples, else made up; with the mutant's parameter."""
        if is_risky(tool):
            return
        properties, required = parameters(tool)
        (here,) = self.trials.work.sides
        documents = [text(path) for path in sorted(here.folder.glob("README*"))]
        shown = [one.input for one in (*self._recorded(), *examples([tool], documents)) if one.tool == tool.name]
        values = {key: own for one in self._recorded() for key, own in one.input.items()}
        guessed = {name: values[name] if name in values else _guess(name, properties[name]) for name in properties}
        needed = {name: own for name, own in guessed.items() if name in required}
        for given in (*shown, needed, guessed):
            if mutant.kind == "value_refused":
                yield {**given, mutant.name: json.loads(mutant.value)}
            elif mutant.kind == "default_changed":
                yield {key: own for key, own in given.items() if key != mutant.name}
            elif mutant.kind == "parameter_renamed":
                yield {**given, mutant.name: guessed[mutant.name]}
            else:
                yield given

    def _recorded(self) -> Iterator[Example]:
        calls: Iterator[ObservedCall] = (call for known in self.known for call in known.ran.calls)
        yield from (Example(call.argv[0], json.loads(call.argv[1])) for call in calls if len(call.argv) > 1)

    def _row(self, name: str, call: Example) -> PlanRow:
        row = self.known[0].row
        agent = Scripted.model_validate({"type": "scripted", "steps": {name: [step(call)]}})
        given = f" with {json.dumps(call.input, ensure_ascii=False)}" if call.input else ""
        fields = {
            "name": name,
            "description": f"`{call.tool}` answers.",
            "prompt": f"Call the tool `{call.tool}` of the server{given}.",
            "gates": (_no_errors,),
            "evaluators": (),
            "evaluator_scripts": (),
            "post": (),
        }
        scenario = row.scenario.model_copy(update=fields)
        key = RowKey(scenario=name, agent=row.key.agent)
        return row.model_copy(update={"scenario": scenario, "agent": agent, "key": key, "deterministic": True})

    async def _base(self, row: PlanRow, index: int) -> Ran:
        spec = TrialSpec(side="base", scenario=row.key.scenario, agent=row.key.agent, index=index)
        return await self.trials.run(spec, row)


def _tool(listed: Mapping[str, Any]) -> Tool:
    hints = listed.get("annotations")
    schema, described = listed.get("inputSchema"), str(listed.get("description", ""))
    return Tool(str(listed.get("name")), described, schema, hints if isinstance(hints, dict) else {})


def _answer(ran: Ran) -> str | None:
    """Return what the only call answered; None if it failed."""
    results = [event for event in ran.trial.events if isinstance(event, ToolResult)]
    return results[-1].output if results and results[-1].status == "ok" else None


def _guess(name: str, schema: object) -> Any:
    """Return a value for a parameter: from its schema, else by its type and name."""
    own = schema if isinstance(schema, dict) else {}
    kind = own.get("type") or next((one.get("type") for one in own.get("anyOf", ()) if isinstance(one, dict)), "string")
    known = own.get("enum") or own.get("examples")
    if isinstance(known, list) and known:
        return next((one for one in known if one != own.get("default")), known[0])
    if kind in ("integer", "number"):
        default = own.get("default")
        return default + 1 if isinstance(default, int | float) else 2
    if kind == "boolean":
        return own.get("default") is not True
    if kind == "array":
        return [_guess(re.sub("s$", "", name), own.get("items"))]
    if kind == "object":
        return {}
    found = next((word for ends, word in _WORDS if re.search(rf"(?:^|_|-|[a-z](?=[A-Z]))(?:{ends})$", name, re.I)), "")
    return found or value(name).strip("'") or "example"
