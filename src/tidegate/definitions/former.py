"""What base's definition of a scenario asks and head's no longer does; it goes on deciding (github.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tidegate.model.edited import Edited
from tidegate.model.evaluator import Evaluator
from tidegate.model.gate import Gate
from tidegate.model.plan import Plan
from tidegate.model.suite import Scenario

EDITED = Edited()


def with_checks_of_base(plan: Plan, base: Plan, edited: Edited = EDITED, *, judged: bool = False) -> Plan:
    """The plan with what goes on deciding of base's definition of each row's scenario.

    `judged`: what a model says counts too.
    """
    before = {row.key: row.scenario for row in base.rows}
    return Plan(
        rows=tuple(
            row.model_copy(update={"before": _former(before[row.key], row.scenario, edited, judged)})
            if row.key in before and row.presence == "both"
            else row
            for row in plan.rows
        )
    )


def may_be_looser(before: Gate, after: Gate) -> bool:
    """Whether a change could let something pass that did not: any but those of words and time."""
    harmless = {"description": after.description, "timeout_secs": after.timeout_secs}
    return before.model_copy(update=harmless) != after


def undecided(before: Scenario, *, judged: bool) -> bool:
    """Whether base's evaluators cannot be asked too, since a model would have to judge every trial twice."""
    return judged and any(evaluator.decides and evaluator.judged for evaluator in before.evaluators)


def _former(before: Scenario, after: Scenario, edited: Edited, judged: bool) -> Scenario | None:
    """Base's scenario with those of its checks that head's no longer has as they were; the agent was asked head's."""
    gates = tuple(_lost(before.gates, after.gates))
    evaluators = () if undecided(before, judged=judged) else tuple(_evaluators(before, after, edited))
    if not gates and not evaluators:
        return None
    return before.model_copy(
        update={"prompt": after.prompt, "gates": gates, "evaluators": evaluators, "judge": None, "description": ""}
    )


def _lost(before: Iterable[Gate], after: Iterable[Gate]) -> Iterator[Gate]:
    """Required gates that nothing in `after` can stand for."""
    kept = list(after)
    for gate in before:
        same = next((other for other in kept if type(other) is type(gate) and not may_be_looser(gate, other)), None)
        if same is not None:
            kept.remove(same)
        elif gate.required:
            yield gate


def _evaluators(before: Scenario, after: Scenario, edited: Edited) -> list[Evaluator]:
    """All of base's that decide, if anything changed that could move their common score; none if nothing did."""
    old, new = _deciding(before), _deciding(after)
    same = sorted(map(_said, old)) == sorted(map(_said, new)) and _told(before) == _told(after)
    scripts = any(evaluator.scripts for evaluator in old) and bool(edited.scripts.get(before.name))
    return [] if same and not scripts else old


def _deciding(scenario: Scenario) -> list[Evaluator]:
    """Those that no model has a say in."""
    return [evaluator for evaluator in scenario.evaluators if evaluator.decides and not evaluator.judged]


def _said(evaluator: Evaluator) -> str:
    return evaluator.model_dump_json()


def _told(scenario: Scenario) -> tuple[object, ...]:
    """What evaluators are told of the scenario."""
    return scenario.case, scenario.target.binary
