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
from tidegate.model.probe import AskServer, RunCommand, RunScript
from tidegate.model.suite import Scenario, Suite
from tidegate.model.value import Value
from tidegate.procedure.rules import screening_trials
from tidegate.text.shorten import few

# Keys that have a comparison of their own below. A template counts by its files, wherever they are.
_COMPARED = {"name", "file", "gates", "evaluators", "judge", "tool_matrix", "trials", "purpose", "template"}
_FREE = {"description", "prompt", "source", "tags", "tier"}  # all other keys can hide a regression
_LIMITS = {"timeout_secs", "max_turns", "max_usd"}  # free to grow
_DOCUMENTS = {".md", ".mdx", ".markdown", ".rst", ".adoc", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".pdf"}
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
    judged = base.policy.judge_blocks
    keys = [key for key in different(before, after) if key not in _COMPARED]
    frozen = [key for key in keys if _may_hide(key, before, after, judged=judged)]
    free = [key for key in keys if key not in frozen]
    for some, weakened in ((frozen, True), (free, False)):
        if some:
            yield DefinitionChange(scenario=name, kind="changed", detail=", ".join(some), weakened=weakened)


def _may_hide(key: str, before: Scenario, after: Scenario, *, judged: bool) -> bool:
    """Return True if a change of this key can hide a regression: all can, except what people change as a rule."""
    old, new = getattr(before, key), getattr(after, key)
    if key in _LIMITS:
        return is_lower(old, new)
    if key in ("post", "evaluator_scripts"):
        longer = len(old) == len(new) and not any(
            is_lower(one.timeout_secs, other.timeout_secs) for one, other in zip(old, new, strict=True)
        )
        return not longer or [one.command for one in old] != [one.command for one in new]
    if key == "case":  # its messages are the prompt
        told = any(_counts(evaluator, judged) for evaluator in before.evaluators)
        return told or different(old, new) != ["input_messages"]
    return key not in _FREE


def is_lower(before: float | None, after: float | None) -> bool:
    """Return True if a limit of that many seconds, turns or dollars is lower than before; None: no limit."""
    return after is not None and (before is None or after < before)


def file_changes(scenario: Scenario, edited: Edited, *, judged: bool) -> Iterator[DefinitionChange]:
    """Yield a change for the scenario's files whose content changed: scripts, template, and guidance that checks read.

    Each side uses its own guidance files; where a check may read one, the pull request could write what it looks for.
    """
    name = scenario.name
    if scripts := edited.scripts.get(name):
        counts = any(evaluator.scripts and _counts(evaluator, judged) for evaluator in scenario.evaluators)
        detail = f"files of its evaluators: {few(scripts)}"
        yield DefinitionChange(scenario=name, kind="gate_changed", detail=detail, weakened=counts)
    if files := edited.templates.get(name):
        detail = f"files of its template: {few(files)}"
        yield DefinitionChange(scenario=name, kind="gate_changed", detail=detail, weakened=True)
    if read := [path for path in edited.guidance.get(name, ()) if _may_be_read(PurePosixPath(path), scenario)]:
        detail = f"guidance files that its checks may read: {few(read)}"
        yield DefinitionChange(scenario=name, kind="gate_changed", detail=detail, weakened=True)


def checks_name(name: str, scenario: Scenario) -> bool:
    """Return True if a required gate, an evaluator or a script before them names a file of that name."""
    checks = (*(gate for gate in scenario.gates if gate.required), *scenario.evaluators, *scenario.post)
    return any(_names(text, name) for check in checks for text in _texts(check.model_dump(mode="json")))


def _may_be_read(path: PurePosixPath, scenario: Scenario) -> bool:
    """Return True if a check names the file, or starts a program that may read it, as `make` reads a Makefile."""
    if checks_name(path.name, scenario):
        return True
    is_hidden = any(part.startswith(".") for part in path.parts[:-1])
    is_document = path.suffix.lower() in _DOCUMENTS or path.name.startswith("llms")
    return not is_hidden and not is_document and _runs_programs(scenario)


def _runs_programs(scenario: Scenario) -> bool:
    """Return True if anything that looks at the workspace is a command."""
    commands = any(isinstance(gate.request(), AskServer | RunCommand | RunScript) for gate in scenario.gates)
    return commands or bool(scenario.post) or any(evaluator.scripts for evaluator in scenario.evaluators)


def _names(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", text) is not None


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, part in value.items():
            if key != "description":
                yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)


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
            hurried = is_lower(gate.timeout_secs, successor.timeout_secs)
            weakened = gate.required and (hurried or may_be_weaker(gate, successor))
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
            more_time = keys == ["timeout_secs"] and not is_lower(*_seconds(evaluator, new[name]))
            weakened = _counts(evaluator, judged) and not more_time
            detail = f"evaluator {name}: {', '.join(keys)}{note}"
            yield DefinitionChange(scenario=scenario, kind="gate_changed", detail=detail, weakened=weakened)
    for name, evaluator in new.items():
        if name not in old:
            weakened = counted and evaluator.weight > 0 and _counts(evaluator, judged)
            detail = f"evaluator {name}{note}"
            yield DefinitionChange(scenario=scenario, kind="added", detail=detail, weakened=weakened)


def _seconds(*evaluators: Evaluator) -> list[float | None]:
    return [getattr(evaluator, "timeout_secs", None) for evaluator in evaluators]


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
