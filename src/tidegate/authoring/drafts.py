"""Draft checks for mutants that scenarios meet and do not catch: of what base prints, writes, and exits with.

A trial of the mutant shows what differs from two trials of base. Checks of that are tried all at once, and one is
offered that passes on base three times and fails on the mutant.
"""

from __future__ import annotations

import asyncio
import json
import shlex
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from pydantic import TypeAdapter

from tidegate.authoring.observed_gates import file_gates, lasting, tells
from tidegate.authoring.scenario_text import flow
from tidegate.authoring.server_checks import answer_check
from tidegate.authoring.server_example import Example
from tidegate.checks.evaluators import AnyEvaluator
from tidegate.checks.gates import AnyGate
from tidegate.decide.surface.parts import json_keys, parsed
from tidegate.model.evaluator import Evaluator
from tidegate.model.gate import Gate
from tidegate.model.plan import PlanRow
from tidegate.model.proof import Draft, Mutant, MutantResult, ToolProof
from tidegate.model.surface import ObservedCall
from tidegate.model.trial_spec import TrialSpec
from tidegate.run.mutant_trials import MutantRunner, ObservedTrial

MOST_DRAFTS, MOST_TRIED = 5, 30
MOST_CHECKS = 12  # tried at once
BASE_RUNS = 3  # a draft passes on base as often
_SLOW = ("hangs",)  # kinds that change neither outputs nor files
Into = Literal["gates", "evaluators"]
Check = dict[str, Any]
_gate: TypeAdapter[Gate] = TypeAdapter(AnyGate)
_evaluator: TypeAdapter[Evaluator] = TypeAdapter(AnyEvaluator)


async def drafts_for(trials: MutantRunner, proof: ToolProof, rows: Sequence[PlanRow]) -> tuple[Draft, ...]:
    """Return checks for up to MOST_DRAFTS mutants of the tool that are alive, each of another part of its surface."""
    found: dict[str, Draft] = {}
    parts = set[tuple[str, str]]()
    for result in [one for one in proof.mutants if _draftable(one)][:MOST_TRIED]:
        part = (result.mutant.command, result.mutant.name)
        for row in rows if part not in parts and len(found) < MOST_DRAFTS else ():
            if row.key.scenario in result.met_by and (draft := await _draft(trials, row, result.mutant)):
                found.setdefault(draft.file + draft.text, draft)
                parts.add(part)
                break
    return tuple(found.values())


def _draftable(result: MutantResult) -> bool:
    return result.state == "alive" and not result.mutant.file and result.mutant.kind not in _SLOW


async def _draft(trials: MutantRunner, row: PlanRow, mutant: Mutant) -> Draft | None:
    """Return the first check of the row that holds on base each time, and fails on the mutant; None if none does."""
    seen = await asyncio.gather(trials.base(row, 1), trials.base(row, 2), _run(trials, row, mutant))
    calls = [one.calls for one in seen]
    server = row.scenario.target.mcp
    into: Into = "gates" if server is None else "evaluators"
    tool = row.scenario.target.binary if server is None else server.name
    diffs = [one.diff for one in seen]
    checks = [*(differing_gates(tool, calls, diffs) if server is None else _evaluators(tool, calls))]
    checks = list({flow(check): check for check in checks}.values())[:MOST_CHECKS]
    if not checks:
        return None
    more = row.model_copy(update={"scenario": _with(row, into, checks)})
    ran = await asyncio.gather(*(_run(trials, more, None) for _ in range(BASE_RUNS)), _run(trials, more, mutant))
    *base, changed = (_passed(one, into, len(checks)) for one in ran)
    for number, check in enumerate(checks):
        if all(one[number] is True for one in base) and changed[number] is False:
            text = f"    - {flow(check)}\n"
            return Draft(catches=mutant.words, file=row.scenario.file, text=text, into=into)
    return None


def _with(row: PlanRow, into: Into, checks: Sequence[Check]) -> Any:
    """Return the row's scenario with more checks, of which none decides: all of them are asked."""
    scenario = row.scenario
    new = [_gate.validate_python(check | {"required": False}) for check in checks if into == "gates"]
    of_server = [_evaluator.validate_python(check | {"required": False}) for check in checks if into != "gates"]
    more = {"gates": (*scenario.gates, *new), "evaluators": (*scenario.evaluators, *of_server)}
    return scenario.model_copy(update=more)


async def _run(trials: MutantRunner, row: PlanRow, mutant: Mutant | None) -> ObservedTrial:
    key = row.key
    spec = TrialSpec(side="head" if mutant else "base", scenario=key.scenario, agent=key.agent, index=1)
    return await trials.run(spec, trials.quick(row) if mutant else row, front=trials.front(row, mutant))


def _passed(ran: ObservedTrial, into: Into, count: int) -> list[bool | None]:
    """Return for each of the new checks whether it passed; None: that was not measured."""
    if into == "gates":
        found: list[bool | None] = [one.passed for one in ran.result.gates[-count:]]
    else:
        known = {"pass": True, "fail": False}
        found = [known.get(one.verdict) for one in ran.result.evaluators[-count:]]
    return found if len(found) == count else [None] * count


def differing_gates(tool: str, calls: Sequence[Sequence[ObservedCall]], diffs: Sequence[str]) -> Iterator[Check]:
    """Yield gates that may see a difference: in files first, then in what calls that only read print.

    `calls`, `diffs`: of two trials of base, which agree in what is checked, and of the mutant's.
    """
    if diffs[0] != diffs[2]:
        yield from file_gates(diffs[:2])
    ours, again, mutated = map(_firsts, calls)
    for argv, call in ours.items():
        if argv in again and argv in mutated and not call.written:
            yield from _call_gates(shlex.join([tool, *argv]), call, again[argv], mutated[argv])
    if any(call.exit_code != mutated[argv].exit_code for argv, call in ours.items() if argv in mutated):
        yield {"type": "no_transcript_errors", "description": "no call failed"}


def _firsts(calls: Sequence[ObservedCall]) -> dict[tuple[str, ...], ObservedCall]:
    """Return the calls by their arguments; of equal ones the first."""
    return {call.argv: call for call in (*calls, *reversed(calls))}


def _call_gates(command: str, ours: ObservedCall, again: ObservedCall, mutated: ObservedCall) -> Iterator[Check]:
    """Yield gates for a call that differs: keys of JSON, its output, its exit code."""
    if ours.exit_code == 0 and (value := parsed(ours.stdout)) is not None and len(value) == 1:
        for key in dict.fromkeys(json_keys(ours.stdout)):
            if key not in json_keys(mutated.stdout) and (path := _path(value[0], key)):
                yield {"type": "command_json_path", "command": command, "path": path, "assertion": "exists"}
    status = {"status": ours.exit_code} if ours.exit_code else {}
    for asked, name in ((command, "stdout"), (f"{command} 2>&1", "stderr")):
        text, other, changed = (str(getattr(call, name)) for call in (ours, again, mutated))
        shared = [row.strip() for row in text.splitlines() if row in other.splitlines() and tells(row.strip())]
        if line := next((row for row in shared if row not in changed), ""):
            yield {"type": "command_output_contains", "command": asked, **status, "substring": line}
        if text.strip() and text != changed and (pattern := lasting((text, other), command)):
            yield {"type": "command_output_matches", "command": asked, **status, "pattern": pattern}
    if ours.exit_code != mutated.exit_code:
        yield {"type": "command_exits", "command": command, "status": ours.exit_code}


def _path(value: Any, key: str, path: str = "$") -> str:
    """Return the JSON path of the first place that has the key; '' if there is none."""
    if isinstance(value, dict):
        if key in value:
            return f"{path}.{key}" if key.isidentifier() else f"{path}[{json.dumps(key)}]"
        inner = [
            (own, f"{path}.{name}" if name.isidentifier() else f"{path}[{json.dumps(name)}]")
            for name, own in value.items()
        ]
    else:
        inner = [(own, f"{path}[{number}]") for number, own in enumerate(value if isinstance(value, list) else ())]
    return next(filter(None, (_path(own, key, place) for own, place in inner)), "")


def _evaluators(server: str, calls: Sequence[Sequence[ObservedCall]]) -> Iterator[Check]:
    """Yield evaluators for answers of a server that differ."""
    ours, again, _ = map(_firsts, calls)
    for argv, call in ours.items():
        if argv[1:] and argv in again and not call.exit_code:
            example = Example(argv[0], json.loads(argv[1]))
            yield answer_check(server, example, [call.stdout, again[argv].stdout])
