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
from pathlib import PurePosixPath
from typing import Any

from pydantic import TypeAdapter

from tidegate.agents.scripted import Scripted, parameters
from tidegate.authoring.build_systems.files import json_value, text
from tidegate.authoring.draft_attempts import value
from tidegate.authoring.draft_trials import Known, left_out, proven, shares_target
from tidegate.authoring.draft_words import sentence
from tidegate.authoring.scenario_text import Story, flow, scenario_text
from tidegate.authoring.server_calls import Example, answer_checks, examples, is_risky, step
from tidegate.evaluators import AnyEvaluator
from tidegate.gates.no_transcript_errors import NoTranscriptErrors
from tidegate.model.agent import Tool
from tidegate.model.evaluator import Evaluator
from tidegate.model.event import ToolResult
from tidegate.model.mutant import Mutant
from tidegate.model.plan import PlanRow, RowKey
from tidegate.model.proof import Draft, Drafted, ToolProof
from tidegate.model.surface import ObservedCall
from tidegate.model.trial_spec import TrialSpec
from tidegate.run.mutant_trials import MutantTrials, Ran
from tidegate.run.surface_survey import tool_list

MOST_DRAFTS, MOST_TRIED, MOST_INPUTS = 5, 15, 3
_SOURCE = "tidegate prove --draft"
_NOTES = "notes.txt"
# A workspace is a git repository. Here it has a commit, a staged change, one that is not staged, and no other.
_STATE = (
    f"printf '%s\\n' 'Write the changelog' 'Tag the release' 'Tell the team' 'Thank everybody' > {_NOTES}",
    f"git add {_NOTES} && git -c user.name=Ada -c user.email=ada@example.com commit -qm 'Start the notes'",
    f"echo 'Send the invoices' >> {_NOTES} && git add {_NOTES} && echo 'Order more paper' >> {_NOTES}",
)
_STATE_WORDS = (_NOTES, "Send the invoices", "Order more paper")
_WORDS: tuple[tuple[str, str], ...] = (  # what the name of a parameter ends with, and a value for it
    (r"file|files|filename|file_path|filepath", _NOTES),
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
    left: dict[str, list[str]] = field(default_factory=dict)  # parts without a draft, by the reason

    async def drafts(self) -> Drafted:
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
        return Drafted(tuple(found.values()), left_out(self.left))

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
        why = "no input was found that it takes"
        for given in islice(self._inputs(self.tools[mutant.command], mutant), MOST_INPUTS):
            call = Example(mutant.command, given)
            row, answers, other = await self._answered(re.sub(r"\W+", "_", f"{mutant.command} {part}").strip("_"), call)
            if None in answers:
                continue
            if _is_empty(answers[0] or ""):
                why = "there is nothing in the workspace that it could answer"
                continue
            if part and part in given:
                plain = {key: own for key, own in given.items() if key != part}
                other = _answer(await self._base(self._row(row.key.scenario, Example(mutant.command, plain), row), 3))
                if other == answers[0]:
                    why = "it makes no difference here"
                    continue
            why = "its answers tell nothing that lasts"
            checks = [*self._checks(row, call, [one or "" for one in answers], other or "")]
            scenario = row.scenario.model_copy(update={"evaluators": tuple(map(_evaluator.validate_python, checks))})
            row = row.model_copy(update={"scenario": scenario})
            if checks and await proven(self.trials, row, mutant):
                return self._drafted(mutant, row, call, checks)
        self.left.setdefault(why, []).append(f"`{mutant.command}`" if not part else f"`{part}` of `{mutant.command}`")
        return None

    async def _answered(self, name: str, call: Example) -> tuple[PlanRow, list[str | None], str | None]:
        """Return a row with the call, its answers in two trials, and one from the workspace as the rows have it.

        If the answer depends on files, the row's setup makes some.
        """
        bare = self._row(name, call)
        scenario = bare.scenario.model_copy(update={"setup": (*bare.scenario.setup, *_STATE)})
        prepared = bare.model_copy(update={"scenario": scenario})
        plain, first = map(_answer, await asyncio.gather(self._base(bare, 1), self._base(prepared, 2)))
        if plain is None and first is None:
            return bare, [None], None
        again = _answer(await self._base(bare, 3)) if plain != first else plain
        if first is not None and plain == again != first:
            return prepared, [first, _answer(await self._base(prepared, 4))], plain
        return bare, [plain, again], None

    def _drafted(self, mutant: Mutant, row: PlanRow, call: Example, checks: Sequence[dict[str, Any]]) -> Draft:
        name, scenario = row.key.scenario, row.scenario
        (here,) = self.trials.work.sides
        file = (PurePosixPath(scenario.file).parent / f"{name}.yaml").as_posix()
        story = Story(
            name=name,
            description=scenario.description,
            source=_SOURCE,
            writer=_SOURCE,
            prompt=scenario.prompt,
            steps=(step(call),),
            target=None if shares_target(here.folder / self.known[0].row.scenario.file) else scenario.target,
            setup=scenario.setup,
            template_folder=scenario.template,
            gates=(_no_errors,),
        )
        lines = "".join(f"    - {flow(check)}\n" for check in checks)
        return Draft(catches=mutant.words, file=file, text=f"{scenario_text(story)}  evaluators:\n{lines}")

    def _checks(
        self, row: PlanRow, call: Example, outputs: Sequence[str], without: str = ""
    ) -> Iterator[dict[str, Any]]:
        server = row.scenario.target.mcp
        assert server is not None
        yield from answer_checks(server.name, call, outputs, without, _STATE_WORDS)

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
        names = {name: "topic" for name in needed if re.search("branch", name) and name not in values}
        for given in (*shown, needed, {**needed, **names} if names else guessed):
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

    def _row(self, name: str, call: Example, like: PlanRow | None = None) -> PlanRow:
        row = like or self.known[0].row
        agent = Scripted.model_validate({"type": "scripted", "steps": {name: [step(call)]}})
        fields = {
            "name": name,
            "description": f"`{call.tool}` answers.",
            "prompt": _task(self.tools[call.tool], call.input),
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


def _is_empty(answer: str) -> bool:
    """Return True if the answer is JSON without any value."""
    value = json_value(answer) if answer.lstrip().startswith(("{", "[")) else answer
    return not any(value.values()) if isinstance(value, dict) else value == []


def _task(tool: Tool, given: Mapping[str, Any]) -> str:
    """Return the call as a task: what the tool does by its description, and the values."""
    what = sentence(tool.description) or tool.name.replace("_", " ")
    values = [f"{name}: {json.dumps(own, ensure_ascii=False)}" for name, own in given.items()]
    return f"{what[:1].upper()}{what[1:]}{' (' if values else ''}{', '.join(values)}{')' if values else ''}."


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
        return 2 if own.get("default") == 1 else 1
    if kind == "boolean":
        return own.get("default") is not True
    if kind == "array":
        return [_guess(re.sub("s$", "", name), own.get("items"))]
    if kind == "object":
        fields = own.get("properties")
        return {one: _guess(one, inner) for one, inner in fields.items()} if isinstance(fields, dict) else {}
    found = next((word for ends, word in _WORDS if re.search(rf"(?:^|_|-|[a-z](?=[A-Z]))(?:{ends})$", name, re.I)), "")
    return found or value(name).strip("'") or "example"
