"""Keep base's checks that a pull request removed or changed: head must pass them too (github.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tidegate.model.edited import Edited
from tidegate.model.evaluator import Evaluator
from tidegate.model.gate import Gate
from tidegate.model.plan import Plan
from tidegate.model.suite import Scenario

EDITED = Edited()


def with_checks_of_base(plan: Plan, base: Plan, edited: Edited = EDITED, *, judged: bool = False) -> Plan:
    """Return the plan with `before` set for each row: base's scenario, reduced to the checks that still apply.

    `judged`: a judge's result counts towards the verdict (`policy.judge_blocks`).
    """
    before = {row.key: row.scenario for row in base.rows}
    return Plan(
        rows=tuple(
            row.model_copy(update={"base_checks": _base_checks(before[row.key], row.scenario, edited, judged)})
            if row.key in before and row.presence == "both"
            else row
            for row in plan.rows
        )
    )


def may_be_weaker(before: Gate, after: Gate) -> bool:
    """Return True if the change could let a failing trial pass: any change but of `description` or `timeout_secs`."""
    harmless = {"description": after.description, "timeout_secs": after.timeout_secs}
    return before.model_copy(update=harmless) != after


def undecided(before: Scenario, *, judged: bool) -> bool:
    """Return True if base's evaluators are not evaluated too, since a judge would have to judge every trial twice."""
    return judged and any(evaluator.decides and evaluator.judged for evaluator in before.evaluators)


def _base_checks(before: Scenario, after: Scenario, edited: Edited, judged: bool) -> Scenario | None:
    """Return base's scenario with only the checks that head changed, or None. The prompt is head's, as the agent's."""
    gates = tuple(_lost(before.gates, after.gates))
    evaluators = () if undecided(before, judged=judged) else tuple(_evaluators(before, after, edited))
    if not gates and not evaluators:
        return None
    return before.model_copy(
        update={"prompt": after.prompt, "gates": gates, "evaluators": evaluators, "judge": None, "description": ""}
    )


def _lost(before: Iterable[Gate], after: Iterable[Gate]) -> Iterator[Gate]:
    """Yield required gates of base that have no equivalent in `after`."""
    kept = list(after)
    for gate in before:
        same = next((other for other in kept if type(other) is type(gate) and not may_be_weaker(gate, other)), None)
        if same is not None:
            kept.remove(same)
        elif gate.required:
            yield gate


def _evaluators(before: Scenario, after: Scenario, edited: Edited) -> list[Evaluator]:
    """Return all deciding evaluators of base if any change could affect their common score; else none."""
    old, new = _deciding(before), _deciding(after)
    same = sorted(map(_said, old)) == sorted(map(_said, new)) and _told(before) == _told(after)
    touched = bool(edited.scripts.get(before.name)) or before.name in edited.beside
    scripts = touched and any(evaluator.scripts for evaluator in old)
    return [] if same and not scripts else old


def _deciding(scenario: Scenario) -> list[Evaluator]:
    """Return the deciding evaluators that do not use a judge."""
    return [evaluator for evaluator in scenario.evaluators if evaluator.decides and not evaluator.judged]


def _said(evaluator: Evaluator) -> str:
    return evaluator.model_dump_json()


def _told(scenario: Scenario) -> tuple[object, ...]:
    """Return the parts of the scenario that evaluators receive as input."""
    return scenario.case, scenario.target.binary
