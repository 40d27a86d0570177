"""What a pull request changed in the scenarios and the policy themselves: it must not loosen them in silence.

Details name keys, not values, except for the policy: agents, targets and commands may carry secrets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf

from tidegate.entrusted import entrusted, held_back
from tidegate.model.agent import Agent
from tidegate.model.calibration import Calibration
from tidegate.model.comparison import DefinitionChange
from tidegate.model.evaluator import Evaluator
from tidegate.model.gate import Gate
from tidegate.model.judge import Judge
from tidegate.model.plan import Plan
from tidegate.model.suite import Scenario, Suite
from tidegate.model.value import Value
from tidegate.procedure import screening_trials

# config.md, S
READ_AT_BASE = (
    "trials",
    "judge",
    "calibration",
    "jobs",
    "budget",
    "policy",
    "limits",
    "pass_env",
    "prices",
    "relay",
    "store",
    "comment_template",
)
_READ_AT_HEAD = ("subject", "guidance")
_OWN_CHECKS = {"name", "file", "gates", "evaluators", "judge", "tool_matrix", "trials", "purpose", "deterministic"}
_CERTAINTY = {True: 2, None: 1, False: 0}  # of `deterministic`: without it, fewer trials prove less


def in_force(base: Suite | None, head: Suite) -> Suite:
    """The suite that judges: head's, with what is read at base. Without a base there is no rule yet: advisory."""
    if base is None:
        return head.model_copy(update={"policy": head.policy.model_copy(update={"mode": "advisory"})})
    rules = {key: getattr(base, key) for key in READ_AT_BASE}
    return head.model_copy(update={**rules, "agents": entrusted(base.agents, head.agents)})


def changes(base: Suite | None, head: Suite) -> tuple[DefinitionChange, ...]:
    """All changes of definitions, those that loosen something first; none where base has no suite."""
    if base is None:
        return ()
    found = (*_agents(base, head), *_scenarios(base, head), *_read_at_head(base, head), *_policy(base, head))
    return tuple(sorted(found, key=lambda change: not change.loosened))


def with_gates_of_base(plan: Plan, base: Plan) -> Plan:
    """The plan with those required gates of base that a row's scenario no longer has: they go on deciding."""
    before = {row.key: row.scenario.gates for row in base.rows}
    return Plan(
        rows=tuple(
            row.model_copy(update={"before": tuple(_lost(before.get(row.key, ()), row.scenario.gates))})
            for row in plan.rows
        )
    )


def _lost(before: Iterable[Gate], after: Iterable[Gate]) -> Iterator[Gate]:
    """Required gates that nothing in `after` can stand for."""
    kept = list(after)
    for gate in before:
        same = next((other for other in kept if type(other) is type(gate) and not _may_be_looser(gate, other)), None)
        if same is not None:
            kept.remove(same)
        elif gate.required:
            yield gate


# --- the suite


def _agents(base: Suite, head: Suite) -> Iterator[DefinitionChange]:
    for name, agent in base.agents.items():
        if name not in head.agents:
            yield DefinitionChange(scenario=None, kind="agent_removed", detail=f"agent {name}", loosened=True)
        elif keys := _in_effect(base, head, name, _different(agent, head.agents[name])):
            yield DefinitionChange(
                scenario=None,
                kind="agent_changed",
                detail=f"agent {name}: {_what_changed(agent, head.agents[name], keys)}",
                loosened=agent.is_deterministic and not head.agents[name].is_deterministic,
            )
    for name, agent in head.agents.items():
        if name not in base.agents:
            yield DefinitionChange(scenario=None, kind="added", detail=f"agent {name}")
        if held := held_back(base.agents, name, agent):
            detail = f"agent {name}: {', '.join(held)} (takes effect after the merge, as the agent is given a key)"
            yield DefinitionChange(scenario=None, kind="policy_changed", detail=detail)


def _in_effect(base: Suite, head: Suite, name: str, keys: list[str]) -> list[str]:
    held = held_back(base.agents, name, head.agents[name])
    return [key for key in keys if key not in held]


def _what_changed(before: Agent, after: Agent, keys: list[str]) -> str:
    """The keys; of a model its names too, since that is what a reviewer has to know."""
    models = f"model {before.model or 'by default'} → {after.model or 'by default'}"
    return ", ".join(models if key == "model" else key for key in keys)


def _scenarios(base: Suite, head: Suite) -> Iterator[DefinitionChange]:
    after = {scenario.name: scenario for scenario in head.scenarios}
    for scenario in base.scenarios:
        if scenario.name in after:
            yield from _scenario(scenario, after.pop(scenario.name), base, head)
        else:
            yield DefinitionChange(
                scenario=scenario.name, kind="scenario_removed", detail="scenario removed", loosened=True
            )
    for name in after:
        yield DefinitionChange(scenario=name, kind="added", detail="new scenario")


def _read_at_head(base: Suite, head: Suite) -> Iterator[DefinitionChange]:
    if keys := [key for key in _READ_AT_HEAD if getattr(base, key) != getattr(head, key)]:
        yield DefinitionChange(scenario=None, kind="changed", detail=", ".join(keys))


def _policy(base: Suite, head: Suite) -> Iterator[DefinitionChange]:
    """What is read at base: never loosened by this pull request, since it takes effect after the merge."""
    lines = [line for key in READ_AT_BASE for line in _values(key, getattr(base, key), getattr(head, key))]
    if lines:
        detail = f"{'; '.join(lines)} (takes effect after the merge)"
        yield DefinitionChange(scenario=None, kind="policy_changed", detail=detail)


def _values(key: str, before: object, after: object) -> Iterator[str]:
    """`policy.alpha: 0.02 → 0.05`."""
    if isinstance(before, Value) and isinstance(after, Value):
        for name in _different(before, after):
            yield from _values(f"{key}.{name}", getattr(before, name), getattr(after, name))
    elif before != after:
        yield f"{key}: {_shown(before)} → {_shown(after)}"


def _shown(value: object) -> str:
    if isinstance(value, Calibration):
        return f"{value.labels} labels"
    if isinstance(value, Judge):
        return f"{value.type} ({value.model})"
    if isinstance(value, tuple):
        return f"[{', '.join(map(str, value))}]"
    if isinstance(value, float):
        return f"{value:g}"
    return "none" if value is None else str(value)


# --- one scenario


def _scenario(before: Scenario, after: Scenario, base: Suite, head: Suite) -> Iterator[DefinitionChange]:
    name = before.name
    yield from _gates(name, before.gates, after.gates)
    yield from _evaluators(name, before.evaluators, after.evaluators, judged=base.policy.judge_blocks)
    yield from _judge(before, after, counts=base.policy.judge_blocks)
    for tool, model in sorted(_matrix(before, base) - _matrix(after, head), key=str):
        if tool in head.agents:  # else the agent itself was removed, which is said once
            agent = f"{tool}:{model}" if model else tool
            yield DefinitionChange(scenario=name, kind="agent_removed", detail=f"agent {agent}", loosened=True)
    if (fewer := _fewer_trials(before, after, base)) or before.trials != after.trials:
        yield DefinitionChange(
            scenario=name, kind="threshold_lowered" if fewer else "changed", detail="trials", loosened=fewer
        )
    if before.purpose != after.purpose:
        detail = f"purpose {before.purpose} → {after.purpose}"
        yield DefinitionChange(scenario=name, kind="changed", detail=detail, loosened=after.purpose == "capability")
    if before.deterministic != after.deterministic:
        loosened = _CERTAINTY[after.deterministic] < _CERTAINTY[before.deterministic]
        yield DefinitionChange(scenario=name, kind="changed", detail="deterministic", loosened=loosened)
    if keys := [key for key in _different(before, after) if key not in _OWN_CHECKS]:
        yield DefinitionChange(scenario=name, kind="changed", detail=", ".join(keys))


def _matrix(scenario: Scenario, suite: Suite) -> set[tuple[str, str | None]]:
    """The agents, with models, that the scenario is run with."""
    if not scenario.tool_matrix:
        return {(name, None) for name in suite.agents}
    return {(entry.tool, model) for entry in scenario.tool_matrix for model in entry.models or (None,)}


def _fewer_trials(before: Scenario, after: Scenario, suite: Suite) -> bool:
    """Fewer trials under the suite's counts and policy that are in force; fewer can confirm less."""
    old, new = (scenario.trials.over(suite.trials) for scenario in (before, after))
    fewer = screening_trials(new, suite.policy) < screening_trials(old, suite.policy)
    return fewer or (new.max or inf) < (old.max or inf)


def _gates(scenario: str, before: Iterable[Gate], after: Iterable[Gate]) -> Iterator[DefinitionChange]:
    """Gates of base that head does not have as they were; one of the same type that is new is their successor."""
    gone, new = list(before), list(after)
    for gate in tuple(gone):
        if gate in new:
            gone.remove(gate)
            new.remove(gate)
    for gate in gone:
        successor = next((candidate for candidate in new if candidate.type == gate.type), None)
        if successor is None:
            yield DefinitionChange(scenario=scenario, kind="gate_removed", detail=gate.label, loosened=gate.required)
        else:
            new.remove(successor)
            detail = f"{gate.label}: {', '.join(_different(gate, successor))}"
            loosened = gate.required and _may_be_looser(gate, successor)
            yield DefinitionChange(scenario=scenario, kind="gate_changed", detail=detail, loosened=loosened)
    for gate in new:
        yield DefinitionChange(scenario=scenario, kind="added", detail=f"gate {gate.label}")


def _evaluators(
    scenario: str, before: Iterable[Evaluator], after: Iterable[Evaluator], *, judged: bool
) -> Iterator[DefinitionChange]:
    """Whatever is done to the evaluators that count moves the case score, so that it could pass where it did not.

    `judged`: those that ask a model count too.
    """
    old, new = ({evaluator.label: evaluator for evaluator in side} for side in (before, after))
    counted = any(evaluator.weight > 0 and (judged or not evaluator.judged) for evaluator in old.values())
    for name, evaluator in old.items():
        if name not in new:
            detail = f"evaluator {name}"
            yield DefinitionChange(
                scenario=scenario, kind="gate_removed", detail=detail, loosened=_counts(evaluator, judged)
            )
        elif keys := _different(evaluator, new[name]):
            loosened = _counts(evaluator, judged) and keys != ["timeout_secs"]
            detail = f"evaluator {name}: {', '.join(keys)}"
            yield DefinitionChange(scenario=scenario, kind="gate_changed", detail=detail, loosened=loosened)
    for name, evaluator in new.items():
        if name not in old:
            loosened = counted and evaluator.weight > 0 and _counts(evaluator, judged)
            yield DefinitionChange(scenario=scenario, kind="added", detail=f"evaluator {name}", loosened=loosened)


def _counts(evaluator: Evaluator, judged: bool) -> bool:
    return evaluator.decides and (judged or not evaluator.judged)


def _judge(before: Scenario, after: Scenario, *, counts: bool) -> Iterator[DefinitionChange]:
    """What was done to the scenario's own judge: it loosens something only where its opinion counts."""
    old, new = before.judge, after.judge
    if old is None and new is not None:
        yield DefinitionChange(scenario=before.name, kind="added", detail="judge")
    elif old is not None and new is None:
        yield DefinitionChange(scenario=before.name, kind="gate_removed", detail="judge", loosened=counts)
    elif old is not None and new is not None and (keys := _different(old, new)):
        limits = [getattr(judge, "pass_threshold", 0.0) for judge in (old, new)]
        lowered = keys == ["pass_threshold"] and limits[1] < limits[0]
        yield DefinitionChange(
            scenario=before.name,
            kind="threshold_lowered" if lowered else "gate_changed",
            detail=f"judge: {', '.join(keys)}",
            loosened=counts and not (keys == ["pass_threshold"] and not lowered),
        )


def _may_be_looser(before: Gate, after: Gate) -> bool:
    """Whether a change could let something pass that did not: any but those of words and time."""
    harmless = {"description": after.description, "timeout_secs": after.timeout_secs}
    return before.model_copy(update=harmless) != after


def _different(before: Value, after: Value) -> list[str]:
    """The keys whose values differ, in the order of the model."""
    keys = dict.fromkeys((*type(before).model_fields, *type(after).model_fields))
    return [key for key in keys if getattr(before, key, None) != getattr(after, key, None)]
