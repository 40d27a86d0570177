"""List what a pull request changed in one scenario, and in the files that it names.

Details name keys, not values: targets and commands may contain secrets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from math import inf
from pathlib import PurePosixPath

from tidegate.definitions.base_checks import may_be_weaker, undecided
from tidegate.model.comparison import DefinitionChange
from tidegate.model.edited import Edited
from tidegate.model.evaluator import Evaluator
from tidegate.model.gate import Gate
from tidegate.model.suite import Scenario, Suite
from tidegate.model.value import Value
from tidegate.procedure.steps import screening_trials

_OWN_CHECKS = {"name", "file", "gates", "evaluators", "judge", "tool_matrix", "trials", "purpose", "deterministic"}
_CERTAINTY = {True: 2, None: 1, False: 0}  # order of `deterministic`: a lower one makes the same trials prove less
_OF_TARGET = ("binary", "command_pattern", "health_check")  # keys of a target that affect checks
_UNDECIDED = " (not decided by base's definition: the judge would have to be asked twice)"


def scenario_changes(before: Scenario, after: Scenario, base: Suite, head: Suite) -> Iterator[DefinitionChange]:
    """Yield every change of the scenario; `base` and `head` are the suites that it belongs to."""
    name = before.name
    yield from _gates(name, before.gates, after.gates)
    yield from _evaluators(before, after, judged=base.policy.judge_blocks)
    yield from _judge(before, after, counts=base.policy.judge_blocks)
    for tool, model in sorted(_matrix(before, base) - _matrix(after, head), key=str):
        if tool in head.agents:  # else the agent itself was removed, which is reported once for the suite
            agent = f"{tool}:{model}" if model else tool
            yield DefinitionChange(scenario=name, kind="agent_removed", detail=f"agent {agent}", weakened=True)
    if (fewer := _fewer_trials(before, after, base)) or before.trials != after.trials:
        yield DefinitionChange(
            scenario=name, kind="threshold_lowered" if fewer else "changed", detail="trials", weakened=fewer
        )
    if before.purpose != after.purpose:
        detail = f"purpose {before.purpose} → {after.purpose}"
        yield DefinitionChange(scenario=name, kind="changed", detail=detail, weakened=after.purpose == "capability")
    if before.deterministic != after.deterministic:
        weakened = _CERTAINTY[after.deterministic] < _CERTAINTY[before.deterministic]
        yield DefinitionChange(scenario=name, kind="changed", detail="deterministic", weakened=weakened)
    if keys := [key for key in different(before, after) if key not in _OWN_CHECKS]:
        weakened = _weakens(before, after, judged=base.policy.judge_blocks)
        yield DefinitionChange(scenario=name, kind="changed", detail=", ".join(keys), weakened=weakened)


def _weakens(before: Scenario, after: Scenario, *, judged: bool) -> bool:
    """Return True if the change affects an input of a check.

    Inputs are `post` scripts, the case that evaluators receive, the target whose calls are counted, and files that a
    check reads and a new `setup` command may write.
    """
    told = any(_counts(evaluator, judged) for evaluator in before.evaluators)
    return (
        [script.command for script in before.post] != [script.command for script in after.post]
        or (told and before.case != after.case)
        or not set(different(before.target, after.target)).isdisjoint(_OF_TARGET)
        or any(_names(command, name) for command in set(after.setup) - set(before.setup) for name in _looked_at(before))
    )


def _looked_at(scenario: Scenario) -> Iterator[str]:
    """Yield the names of the files that checks read. Only the agent should create them, not `setup`."""
    for check in (*(gate for gate in scenario.gates if gate.required), *scenario.evaluators):
        path = getattr(check, "path", None) or getattr(check, "file", None)
        if isinstance(path, str):
            yield PurePosixPath(path).name


def file_changes(scenario: Scenario, edited: Edited, *, judged: bool) -> Iterator[DefinitionChange]:
    """Yield a change for the scenario's files whose content changed: its evaluators' scripts and its template."""
    if scripts := edited.scripts.get(scenario.name):
        counts = any(evaluator.scripts and _counts(evaluator, judged) for evaluator in scenario.evaluators)
        detail = f"files of its evaluators: {_few(scripts)}"
        yield DefinitionChange(scenario=scenario.name, kind="gate_changed", detail=detail, weakened=counts)
    if files := edited.templates.get(scenario.name):
        checked = [path for path in files if _is_checked(PurePosixPath(path).name, scenario)]
        if checked:
            detail = f"files of its template that its checks name: {_few(checked)}"
            yield DefinitionChange(scenario=scenario.name, kind="gate_changed", detail=detail, weakened=True)
        if others := [path for path in files if path not in checked]:
            detail = f"files of its template: {_few(others)}"
            yield DefinitionChange(scenario=scenario.name, kind="changed", detail=detail)


def _is_checked(name: str, scenario: Scenario) -> bool:
    """Return True if a required gate, an evaluator or a `post` script mentions a file of that name."""
    checks = (*(gate for gate in scenario.gates if gate.required), *scenario.evaluators, *scenario.post)
    return any(_names(text, name) for check in checks for text in _texts(check.model_dump(mode="json")))


def _names(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", text) is not None


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)


def _few(names: Iterable[str]) -> str:
    first, *rest = names
    more = f", {rest[0]}" if len(rest) == 1 else f" and {len(rest)} more" if rest else ""
    return first + more


def _matrix(scenario: Scenario, suite: Suite) -> set[tuple[str, str | None]]:
    """Return the (agent, model) pairs that the scenario is run with; the model is None for the agent's default."""
    if not scenario.tool_matrix:
        return {(name, None) for name in suite.agents}
    return {(entry.tool, model) for entry in scenario.tool_matrix for model in entry.models or (None,)}


def _fewer_trials(before: Scenario, after: Scenario, suite: Suite) -> bool:
    """Return True if the scenario gets fewer trials under the suite's counts and policy."""
    old, new = (scenario.trials.over(suite.trials) for scenario in (before, after))
    fewer = screening_trials(new, suite.policy) < screening_trials(old, suite.policy)
    return fewer or (new.max or inf) < (old.max or inf)


def _gates(scenario: str, before: Iterable[Gate], after: Iterable[Gate]) -> Iterator[DefinitionChange]:
    """Yield removed, changed and new gates; a removed gate and a new one of the same type count as one changed gate."""
    gone, new = list(before), list(after)
    for gate in tuple(gone):
        if gate in new:
            gone.remove(gate)
            new.remove(gate)
    for gate in gone:
        successor = next((candidate for candidate in new if candidate.type == gate.type), None)
        if successor is None:
            yield DefinitionChange(scenario=scenario, kind="gate_removed", detail=gate.label, weakened=gate.required)
        else:
            new.remove(successor)
            detail = f"{gate.label}: {', '.join(different(gate, successor))}"
            weakened = gate.required and may_be_weaker(gate, successor)
            yield DefinitionChange(scenario=scenario, kind="gate_changed", detail=detail, weakened=weakened)
    for gate in new:
        yield DefinitionChange(scenario=scenario, kind="added", detail=f"gate {gate.label}")


def _evaluators(before: Scenario, after: Scenario, *, judged: bool) -> Iterator[DefinitionChange]:
    """Yield changes of evaluators. Any change of one that counts weakens: it affects the common case score.

    `judged`: evaluators that use a judge count too.
    """
    scenario, note = before.name, _UNDECIDED if undecided(before, judged=judged) else ""
    old, new = ({evaluator.label: evaluator for evaluator in side.evaluators} for side in (before, after))
    counted = any(evaluator.weight > 0 and (judged or not evaluator.judged) for evaluator in old.values())
    for name, evaluator in old.items():
        if name not in new:
            detail = f"evaluator {name}{note}"
            yield DefinitionChange(
                scenario=scenario, kind="gate_removed", detail=detail, weakened=_counts(evaluator, judged)
            )
        elif keys := different(evaluator, new[name]):
            weakened = _counts(evaluator, judged) and keys != ["timeout_secs"]
            detail = f"evaluator {name}: {', '.join(keys)}{note}"
            yield DefinitionChange(scenario=scenario, kind="gate_changed", detail=detail, weakened=weakened)
    for name, evaluator in new.items():
        if name not in old:
            weakened = counted and evaluator.weight > 0 and _counts(evaluator, judged)
            detail = f"evaluator {name}{note}"
            yield DefinitionChange(scenario=scenario, kind="added", detail=detail, weakened=weakened)


def _counts(evaluator: Evaluator, judged: bool) -> bool:
    return evaluator.decides and (judged or not evaluator.judged)


def _judge(before: Scenario, after: Scenario, *, counts: bool) -> Iterator[DefinitionChange]:
    """Yield the change of the scenario's own judge; it weakens a check only if the judge's result counts."""
    old, new = before.judge, after.judge
    if old is None and new is not None:
        yield DefinitionChange(scenario=before.name, kind="added", detail="judge")
    elif old is not None and new is None:
        yield DefinitionChange(scenario=before.name, kind="gate_removed", detail="judge", weakened=counts)
    elif old is not None and new is not None and (keys := different(old, new)):
        limits = [getattr(judge, "pass_threshold", 0.0) for judge in (old, new)]
        lowered = keys == ["pass_threshold"] and limits[1] < limits[0]
        yield DefinitionChange(
            scenario=before.name,
            kind="threshold_lowered" if lowered else "gate_changed",
            detail=f"judge: {', '.join(keys)}",
            weakened=counts and not (keys == ["pass_threshold"] and not lowered),
        )


def different(before: Value, after: Value) -> list[str]:
    """Return the keys whose values differ, in the order of the model."""
    keys = dict.fromkeys((*type(before).model_fields, *type(after).model_fields))
    return [key for key in keys if getattr(before, key, None) != getattr(after, key, None)]
