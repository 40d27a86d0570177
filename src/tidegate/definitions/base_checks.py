"""Keep base's checks that a pull request removed or changed: head must pass them too (github.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

from tidegate.model.edited import Edited
from tidegate.model.evaluator import Evaluator
from tidegate.model.gate import Gate
from tidegate.model.plan import CheckOrder, Plan, PlanRow
from tidegate.model.suite import Scenario
from tidegate.plan import definition_hash

EDITED = Edited()


def with_checks_of_base(plan: Plan, base: Plan, edited: Edited = EDITED, *, judged: bool = False) -> Plan:
    """Return the plan with base's checks in each row of both sides: those that still apply, and what is asked first.

    `judged`: a judge's result counts towards the verdict (`policy.judge_blocks`).
    """
    before = {row.key: row for row in base.rows}
    return Plan(
        rows=tuple(
            _with_base(row, before[row.key], edited, judged) if row.key in before and row.presence == "both" else row
            for row in plan.rows
        )
    )


def _with_base(row: PlanRow, before: PlanRow, edited: Edited, judged: bool) -> PlanRow:
    checks = _base_checks(before.scenario, row.scenario, edited, judged)
    name = row.scenario.name
    files = edited.templates.get(name) or _touched(row.scenario, edited)
    same = definition_hash(before.scenario) == definition_hash(row.scenario) and before.agent == row.agent
    return row.model_copy(
        update={
            "base_checks": checks,
            "first_checks": _first(before.scenario, row.scenario, checks, edited),
            "changed": bool(files) or not same,
        }
    )


def _first(before: Scenario, after: Scenario, checks: Scenario | None, edited: Edited) -> CheckOrder:
    """Return the checks that base has too, in base's order: a check of head's could prepare what they look for.

    Evaluators whose scripts head edited are head's. If base's own evaluators decide, all others come after them.
    """
    lost = count(len(after.gates))
    gates = [
        next(lost) if place is None else place
        for gate, place in zip(before.gates, _places(before.gates, after.gates), strict=True)
        if place is not None or gate.required
    ]
    asked = [*after.evaluators, *([after.judge] if after.judge else [])]
    evaluators: list[int] = []
    for evaluator in (*before.evaluators, *([before.judge] if before.judge else [])):
        same = (n for n, one in enumerate(asked) if n not in evaluators and _said(one) == _said(evaluator))
        place = next(same, None)
        if place is not None and not (evaluator.scripts and _touched(before, edited)):
            evaluators.append(place)
    decided = checks is not None and checks.evaluators
    return CheckOrder(gates=tuple(gates), evaluators=() if decided else tuple(evaluators))


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


def _lost(before: Sequence[Gate], after: Sequence[Gate]) -> Iterator[Gate]:
    """Yield required gates of base that have no equivalent in `after`."""
    for gate, place in zip(before, _places(before, after), strict=True):
        if place is None and gate.required:
            yield gate


def _places(before: Sequence[Gate], after: Sequence[Gate]) -> list[int | None]:
    """Return for each gate of base the position of its equivalent in `after`, or None."""
    left = dict(enumerate(after))
    found: list[int | None] = []
    for gate in before:
        same = (place for place, other in left.items() if type(other) is type(gate) and not may_be_weaker(gate, other))
        found.append(place := next(same, None))
        if place is not None:
            del left[place]
    return found


def _evaluators(before: Scenario, after: Scenario, edited: Edited) -> list[Evaluator]:
    """Return all deciding evaluators of base if any change could affect their common score; else none."""
    old, new = _deciding(before), _deciding(after)
    same = sorted(map(_said, old)) == sorted(map(_said, new)) and _told(before) == _told(after)
    scripts = _touched(before, edited) and any(evaluator.scripts for evaluator in old)
    return [] if same and not scripts else old


def _touched(before: Scenario, edited: Edited) -> bool:
    """Return True if the pull request edited a file that the scripts of the scenario's evaluators may read."""
    return bool(edited.scripts.get(before.name)) or before.name in edited.beside


def _deciding(scenario: Scenario) -> list[Evaluator]:
    """Return the deciding evaluators that do not use a judge."""
    return [evaluator for evaluator in scenario.evaluators if evaluator.decides and not evaluator.judged]


def _said(evaluator: Evaluator) -> str:
    return evaluator.model_dump_json()


def _told(scenario: Scenario) -> tuple[object, ...]:
    """Return the parts of the scenario that evaluators receive as input."""
    return scenario.case, scenario.target.binary
