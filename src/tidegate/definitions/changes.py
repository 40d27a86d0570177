"""List what a pull request changed in scenarios, agents and policy, so that it cannot weaken a check unnoticed.

Details name keys, not values, except for the policy: agents, targets and commands may contain secrets.
"""

from __future__ import annotations

from collections.abc import Iterator

from tidegate.definitions.agent_fields import entrusted, held_back
from tidegate.definitions.base_checks import EDITED
from tidegate.definitions.scenario_changes import different, file_changes, is_lower, scenario_changes
from tidegate.model.agent import Agent
from tidegate.model.calibration import Calibration
from tidegate.model.comparison import DefinitionChange
from tidegate.model.edited import Edited
from tidegate.model.judge import Judge
from tidegate.model.suite import Suite
from tidegate.model.value import Value
from tidegate.plan import EVERYTHING, Selection
from tidegate.text.shorten import few

# Keys whose value is read from the base branch: a pull request must not change the rules that apply to it.
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
    "model_proxy",
    "network",
    "files",
    "store",
    "executor",
    "comment_template",
    "guidance",  # globs; the files are each side's own
)
_NOT_OF_BASE = ("watch", "build", "path")  # read from head, or from each side for itself
_FREE_OF_AGENT = {"model", "models", "version", "weight"}
_LIMITS_OF_AGENT = {"timeout_secs", "max_turns", "max_usd", "max_tokens"}  # free to grow


def in_force(base: Suite | None, head: Suite) -> Suite:
    """Return head's suite with the keys that are read from base. Without a suite on base, the mode is advisory."""
    if base is None:
        return head.model_copy(update={"policy": head.policy.model_copy(update={"mode": "advisory"})})
    rules = {key: getattr(base, key) for key in READ_AT_BASE}
    return head.model_copy(update={**rules, "agents": entrusted(base.agents, head.agents)})


def changes(
    base: Suite | None, head: Suite, edited: Edited = EDITED, selection: Selection = EVERYTHING
) -> tuple[DefinitionChange, ...]:
    """Return all definition changes, weakened checks first; none if base has no suite.

    `selection`: the part of the suite that is run.
    """
    if base is None:
        return ()
    found = (
        *_agents(base, head),
        *_programs(head, edited),
        *_scenarios(base, head, edited, selection),
        *_not_of_base(base, head),
        *_policy(base, head),
    )
    return tuple(sorted(found, key=lambda change: not change.weakened))


# --- the suite


def _agents(base: Suite, head: Suite) -> Iterator[DefinitionChange]:
    for name, agent in base.agents.items():
        if name not in head.agents:
            yield DefinitionChange(
                scenario=None, agent=name, kind="agent_removed", detail=f"agent {name}", weakened=True
            )
        elif keys := _in_effect(base, head, name, different(agent, head.agents[name])):
            yield DefinitionChange(
                scenario=None,
                agent=name,
                kind="agent_changed",
                detail=f"agent {name}: {_what_changed(agent, head.agents[name], keys)}",
                weakened=_may_hide(agent, head.agents[name], keys),
            )
    for name, agent in head.agents.items():
        if name not in base.agents:
            yield DefinitionChange(scenario=None, agent=name, kind="added", detail=f"agent {name}")
        if held := held_back(base.agents, name, agent):
            detail = f"agent {name}: {', '.join(held)} (takes effect after the merge, as the agent is given a key)"
            yield DefinitionChange(scenario=None, agent=name, kind="policy_changed", detail=detail)


def _may_hide(before: Agent, after: Agent, keys: list[str]) -> bool:
    """Return True if these changes can hide a regression: all but those of the model, and limits that grow."""
    return any(
        is_lower(getattr(before, key), getattr(after, key)) if key in _LIMITS_OF_AGENT else key not in _FREE_OF_AGENT
        for key in keys  # `type` comes first: where it is the same, both agents have every key
    )


def _programs(head: Suite, edited: Edited) -> Iterator[DefinitionChange]:
    """Yield a change for each agent whose program is a file of the repository that the pull request edited."""
    for name, files in edited.programs.items():
        if name in head.agents:
            detail = f"agent {name}: its program {few(files)}"
            yield DefinitionChange(scenario=None, agent=name, kind="agent_changed", detail=detail)


def _in_effect(base: Suite, head: Suite, name: str, keys: list[str]) -> list[str]:
    held = held_back(base.agents, name, head.agents[name])
    return [key for key in keys if key not in held]


def _what_changed(before: Agent, after: Agent, keys: list[str]) -> str:
    """Return the changed keys; for `model` with both names, which a reviewer needs to see."""
    models = f"model {before.model or 'by default'} → {after.model or 'by default'}"
    return ", ".join(models if key == "model" else key for key in keys)


def _scenarios(base: Suite, head: Suite, edited: Edited, selection: Selection) -> Iterator[DefinitionChange]:
    after = {scenario.name: scenario for scenario in head.scenarios}
    for scenario in base.scenarios:
        if scenario.name in after:
            now = after.pop(scenario.name)
            yield from scenario_changes(scenario, now, base, head)
            yield from file_changes(scenario, edited, judged=base.policy.judge_blocks)
            if selection.takes(scenario) and not selection.takes(now):
                detail = "it is not among the scenarios that are run any more"
                yield DefinitionChange(scenario=now.name, kind="scenario_removed", detail=detail, weakened=True)
        else:
            yield DefinitionChange(
                scenario=scenario.name, kind="scenario_removed", detail="scenario removed", weakened=True
            )
    for name in after:
        yield DefinitionChange(scenario=name, kind="added", detail="new scenario")


def _not_of_base(base: Suite, head: Suite) -> Iterator[DefinitionChange]:
    """Yield changes of keys that are not read from base."""
    if keys := [key for key in _NOT_OF_BASE if getattr(base, key) != getattr(head, key)]:
        yield DefinitionChange(scenario=None, kind="changed", detail=", ".join(keys))


def _policy(base: Suite, head: Suite) -> Iterator[DefinitionChange]:
    """Yield changes of keys that are read from base. They take effect after merging, so they do not weaken a check."""
    lines = [line for key in READ_AT_BASE for line in _values(key, getattr(base, key), getattr(head, key))]
    if lines:
        detail = f"{'; '.join(lines)} (takes effect after the merge)"
        yield DefinitionChange(scenario=None, kind="policy_changed", detail=detail)


def _values(key: str, before: object, after: object) -> Iterator[str]:
    """Yield lines such as `policy.alpha: 0.02 → 0.05`."""
    if isinstance(before, Value) and isinstance(after, Value):
        for name in different(before, after):
            yield from _values(f"{key}.{name}", getattr(before, name, None), getattr(after, name, None))
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
