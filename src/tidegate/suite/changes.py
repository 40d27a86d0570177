"""List what will be checked differently once a pull request is merged. Until then, base's definitions judge.

Details name keys, not values, except for rules: agents, targets and commands may contain secrets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf
from typing import Any

from tidegate.decide.procedure.rules import screening_trials
from tidegate.model.agent import FREE, Agent
from tidegate.model.comparison import DefinitionChange, Impact
from tidegate.model.judge import Judge
from tidegate.model.judge_result import Calibration
from tidegate.model.suite import DEFAULT_TIMEOUT_SECS, Scenario, Suite
from tidegate.model.value import Value
from tidegate.suite.origins import origins
from tidegate.text.shorten import few

# Keys that cannot redirect an API key: a pull request may change them.
CHANGEABLE = frozenset(
    {
        "type",
        "model",
        "models",
        "version",
        "timeout_secs",
        "max_turns",
        "max_usd",
        "max_tokens",
        "deterministic",
        "weight",
    }
)


def entrusted(base: Mapping[str, Agent], head: Mapping[str, Agent]) -> dict[str, Agent]:
    """Return head's agents as they may be run: for agents that get an API key, all keys not in CHANGEABLE are base's.

    If base does not have the agent, or has it with another type, these keys have the defaults of its type.
    """
    return {name: _trusted(base.get(name), agent) for name, agent in head.items()}


def _trusted(before: Agent | None, agent: Agent) -> Agent:
    if not agent.variables:  # the agent gets no API key
        return agent
    fields = type(agent).model_fields
    same = before is not None and type(before) is type(agent)
    return agent.model_copy(
        update={
            key: getattr(before, key) if same else field.get_default(call_default_factory=True)
            for key, field in fields.items()
            if key not in CHANGEABLE
        }
    )


# Keys of a suite whose value is read from the tip of the target branch; head's agents: `entrusted`.
RULES = (
    "trials",
    "judge",
    "calibration",
    "jobs",
    "budget",
    "policy",
    "limits",
    "pass_env",
    "prices",
    "model_proxy",
    "network",
    "files",
    "store",
    "executor",
    "comment_template",
    "diagnosis",
    "report_hide",
    "guidance",  # globs; the files are each side's own
)


def _in_order(*values: object) -> Callable[[Any, Any], bool]:
    """Return a comparison of two values that are listed from the most lenient to the strictest."""
    return lambda old, new: values.index(old) < values.index(new)


def _is_lower(old: float | None, new: float | None) -> bool:
    return (inf if new is None else new) < (inf if old is None else old)


def _is_higher(old: float | None, new: float | None) -> bool:
    return _is_lower(new, old)


# Rules that decide what is checked, and when a changed value is stricter. If that is not known, it checks less.
_STRICTER: dict[str, Callable[[Any, Any], bool]] = {
    "budget": _is_higher,  # of all its keys
    "judge": lambda old, _: old is None,
    "policy": lambda *_: False,  # of the keys that are not here
    "policy.preset": _in_order("quick", "standard", "thorough"),
    "policy.alpha": _is_higher,
    "policy.mode": _in_order("advisory", "blocking"),
    "policy.fail_fast": _in_order(True, False),
    "policy.block": lambda old, new: {*old} <= {*new},
    "policy.agents": lambda old, new: new is None or (old is not None and {*old} <= {*new}),
    "policy.suite": _in_order("off", "warn", "block"),
    "policy.block_metrics": lambda old, new: all(new.get(name, inf) <= margin for name, margin in old.items()),
    "policy.judge_blocks": _in_order(False, True),
    "policy.rules": _in_order("warn", "block"),
    "policy.interface": _in_order("off", "warn", "block"),
    "policy.context_tokens": _is_lower,
    "policy.replay.use": _in_order("skip", "order", "off"),
    "policy.replay.max_unseen": _is_lower,
    "policy.replay.spot_checks": _is_higher,
}
_CHECKS = ("gates", "evaluators", "judge", "post", "evaluator_scripts", "composite", "case")
_DECIDING = ("tags", "tier", "setup", "target.health_check", "target.command_pattern")  # what counts, and checks find
_LIMITS = {"timeout_secs": DEFAULT_TIMEOUT_SECS, "max_turns": inf, "max_usd": inf}  # what no value means
_ALONE = {
    "name",
    "file",
    "target",
    "trials",
    "purpose",
    "tool_matrix",
    "target.ok_statuses",
    "target.secrets",
    *_CHECKS,
    *_LIMITS,
}
_ORDER: tuple[Impact, ...] = ("less", "more", "other")


def changes(base: Suite | None, head: Suite, files: Mapping[str, Sequence[str]]) -> tuple[DefinitionChange, ...]:
    """Return what head changes in definitions and rules; what may check less comes first. None without a base.

    `files`: those of templates and scripts that the pull request changes, by scenario.
    """
    if base is None:
        return ()
    found = (*_agents(base, head), *_scenarios(base, head, files), *_rules(base, head))
    return tuple(sorted(found, key=lambda change: _ORDER.index(change.effect)))


def different(before: Value, after: Value) -> list[str]:
    """Return the keys whose values differ, in the order of the model."""
    keys = dict.fromkeys((*type(before).model_fields, *type(after).model_fields))
    return [key for key in keys if getattr(before, key, None) != getattr(after, key, None)]


def _agents(base: Suite, head: Suite) -> Iterator[DefinitionChange]:
    for name in dict.fromkeys((*base.agents, *head.agents)):
        old, new = base.agents.get(name), head.agents.get(name)
        if new is None or old is None:
            yield _change(None, "more" if new else "less", "new agent" if new else "agent removed", agent=name)
        elif keys := different(old, new):
            models = f"model {old.model or 'by default'} → {new.model or 'by default'}"
            told = (models if key == "model" else key for key in keys)
            yield _change(None, "less" if new.type in FREE else "other", ", ".join(told), agent=name)


def _scenarios(base: Suite, head: Suite, files: Mapping[str, Sequence[str]]) -> Iterator[DefinitionChange]:
    old_names = {name: one.name for name, one in origins(base.scenarios, head.scenarios).items()}
    after = {old_names.get(one.name, one.name): one for one in head.scenarios}
    for before in base.scenarios:
        now = after.pop(before.name, None)
        if now is None:
            yield _change(before.name, "less", "scenario removed")
            continue
        if now.name != before.name:
            yield _change(before.name, "other", f"renamed to {now.name}")
        yield from _checks(before, now)
        old, new = (_amounts(one, base) for one in (before, now))
        for key in (key for key in old if old[key] != new[key]):
            yield _change(before.name, "more" if old[key] < new[key] else "less", key)
        of_target = (f"target.{key}" for key in different(before.target, now.target))
        for key in (key for key in (*different(before, now), *of_target) if key not in _ALONE):
            yield _change(before.name, "less" if key in _DECIDING else "other", key)
        if own := files.get(now.name):
            yield _change(before.name, "less", f"files: {few(own)}")
    for name in after:
        yield _change(name, "more", "new scenario")


def _amounts(scenario: Scenario, base: Suite) -> dict[str, Any]:
    """Return of what more checks more, whatever the checks are. What the scenario leaves open is base's."""
    counts = scenario.trials.over(base.trials)
    matrix = {(entry.tool, model) for entry in scenario.tool_matrix for model in entry.models or ("",)}
    return {
        "trials.min": screening_trials(counts, base.policy),
        "trials.max": counts.max or inf,
        "purpose": scenario.purpose == "regression",
        "tool_matrix": matrix or {(name, "") for name in base.agents},
        "target.ok_statuses": {*range(256)} - {*scenario.target.ok_statuses},
        **{key: getattr(scenario, key) or unlimited for key, unlimited in _LIMITS.items()},
    }


def _checks(before: Scenario, now: Scenario) -> Iterator[DefinitionChange]:
    """Yield changes of what decides. A new check may do the work that others look for, or outweigh them."""
    for key in _CHECKS:
        old, new = getattr(before, key), getattr(now, key)
        if old == new:
            continue
        if not isinstance(old, tuple):
            yield _change(before.name, "other" if old is None else "less", key)
            continue
        lost = [_label(one) for one in old if one not in new]
        added = [_label(one) for one in new if one not in old]
        if lost or not added:  # or they have another order
            yield _change(before.name, "less", f"{key}: {few(lost or ['order'])}")
        if added:
            yield _change(before.name, "other", f"new {key}: {few(added)}")


def _label(check: object) -> str:
    return str(getattr(check, "label", "") or getattr(check, "command", "") or type(check).__name__)


def _rules(base: Suite, head: Suite) -> Iterator[DefinitionChange]:
    """Yield changes of rules, with their values, and a shorter `watch`: each side has its own."""
    for key in RULES:
        yield from _values(key, getattr(base, key), getattr(head, key))
    if not {*base.watch} <= {*head.watch}:
        yield _change(None, "less", "watch")


def _values(key: str, before: Any, after: Any) -> Iterator[DefinitionChange]:
    """Yield changes such as `policy.alpha: 0.02 → 0.05`."""
    if isinstance(before, Value) and isinstance(after, Value):
        for name in different(before, after):
            yield from _values(f"{key}.{name}", getattr(before, name, None), getattr(after, name, None))
    elif before != after:
        stricter = next(
            (_STRICTER[one] for one in (key, key.rpartition(".")[0], key.partition(".")[0]) if one in _STRICTER), None
        )
        effect: Impact = "other" if stricter is None else "more" if stricter(before, after) else "less"
        yield _change(None, effect, f"{key}: {_shown(before)} → {_shown(after)}")


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


def _change(scenario: str | None, effect: Impact, detail: str, agent: str | None = None) -> DefinitionChange:
    return DefinitionChange(scenario=scenario, agent=agent, effect=effect, detail=detail)
