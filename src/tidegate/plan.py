"""Suite → Plan: which scenario runs with which agent, and the hashes that say whether a definition changed."""

from __future__ import annotations

import difflib
import glob
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tidegate.errors import ConfigurationError, NothingToRunError
from tidegate.evaluators.script_files import named_files
from tidegate.model.agent import Agent
from tidegate.model.measurement import RunRow
from tidegate.model.plan import Plan, PlanRow, RowKey
from tidegate.model.suite import Scenario, Suite, TrialCounts
from tidegate.model.value import Value


class Selection(Value):
    """The part of a suite that was asked for; what is empty or None selects everything.

    `agents` holds names, or `name:model`; `tags` any of; `tier` that one and those below.
    """

    scenarios: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    tier: int | None = None

    def takes(self, scenario: Scenario) -> bool:
        """Whether it selects the scenario, with some agent."""
        return (
            (not self.scenarios or scenario.name in self.scenarios)
            and (not self.tags or not set(self.tags).isdisjoint(scenario.tags))
            and (self.tier is None or scenario.tier <= self.tier)
        )


EVERYTHING = Selection()


def make_plan(suite: Suite, selection: Selection = EVERYTHING) -> Plan:
    """The selected rows, scenario by scenario in the suite's order.

    Raises ConfigurationError for a name that the suite does not have, NothingToRunError if no row is left.
    """
    rows = tuple(row for scenario in suite.scenarios for row in _rows(scenario, suite))
    _check_names(suite, rows, selection)
    selected = tuple(row for row in rows if _is_selected(row, selection))
    if not selected:
        raise NothingToRunError(*_why_nothing(rows))
    return Plan(rows=selected)


def with_presence(plan: Plan, base: Plan, selection: Selection = EVERYTHING) -> Plan:
    """The plan with the rows that base does not have marked as added, and base's selected rows that it lost as removed.

    `base` is the plan of base's whole suite.
    """
    in_base = {row.key for row in base.rows}
    here = {row.key for row in plan.rows}
    rows = [row if row.key in in_base else row.model_copy(update={"presence": "added"}) for row in plan.rows]
    lost = [row for row in base.rows if row.key not in here and _is_selected(row, selection)]
    return Plan(rows=(*rows, *(row.model_copy(update={"presence": "removed"}) for row in lost)))


def without_missing_keys(plan: Plan, environ: Mapping[str, str]) -> tuple[Plan, tuple[str, ...]]:
    """The rows of agents that need no key or have one, and the names of the agents that were left out."""
    missing = {row.key.agent for row in plan.rows if _lacks_key(row.agent, environ)}
    return Plan(rows=tuple(row for row in plan.rows if row.key.agent not in missing)), tuple(sorted(missing))


def _lacks_key(agent: Agent, environ: Mapping[str, str]) -> bool:
    key, *_ = agent.variables or ("",)  # behind it, where the model is
    return bool(key) and not (environ.get(key) or agent.env.get(key))


def watched_files(*suites: Suite) -> tuple[str, ...]:
    """Globs of what can change an outcome: subject, guidance, the suite's file, scenarios and files that they name."""
    patterns: dict[str, None] = {}
    for suite in suites:
        patterns |= dict.fromkeys((*suite.subject, *suite.guidance, glob.escape(suite.file)))
        for scenario in suite.scenarios:
            patterns[glob.escape(scenario.file)] = None
            if scenario.template is not None:
                patterns[f"{glob.escape(scenario.template)}/**"] = None
            scripts = [script for evaluator in scenario.evaluators for script in evaluator.scripts]
            named = [glob.escape(path) for script in scripts for path in named_files(*script)]
            patterns |= dict.fromkeys(pattern for path in named for pattern in (path, f"{path}/**"))
    return tuple(patterns)


def run_rows(plan: Plan, suite: TrialCounts) -> tuple[RunRow, ...]:
    """What a stored run says of the plan's rows; a scenario's own trial counts come before the suite's."""
    return tuple(
        RunRow(
            scenario=row.key.scenario,
            agent=row.key.agent,
            deterministic=row.deterministic,
            purpose=row.scenario.purpose,
            source=row.scenario.source,
            presence=row.presence,
            definition=definition_hash(row.scenario),
            trials=row.scenario.trials.over(suite),
        )
        for row in plan.rows
    )


def definition_hash(scenario: Scenario) -> str:
    """SHA-256 of what the scenario says, wherever its file stands."""
    return _hash(scenario.model_dump(mode="json", exclude={"file"}))


def suite_hash(suite: Suite) -> str:
    """SHA-256 of what the suite and its scenarios say, wherever their files stand."""
    return _hash(
        suite.model_dump(mode="json", exclude={"file": True, "unread": True, "scenarios": {"__all__": {"file"}}})
    )


def base_name(agent: str) -> str:
    """An agent's name in tidegate.yaml: `claude` for the row id `claude:some-model`."""
    return agent.partition(":")[0]


def refuse_self_judging(suite: Suite, plan: Plan) -> None:
    """ConfigurationError if the judge's model is one that it judges, unless the suite allows that."""
    judge = suite.judge
    if judge is None or judge.allow_self_judging:
        return
    for row in plan.rows:
        if row.scenario.judged and row.agent.model and _bare(row.agent.model) == _bare(judge.model):
            raise ConfigurationError(
                f"The judge's model, {judge.model}, is the tested one of {row.key.agent} in {row.key.scenario}.",
                "Name another model in `judge`, or set `allow_self_judging: true` there.",
            )


def _bare(model: str) -> str:
    """Without the provider: `anthropic/claude-x` is claude-x."""
    return model.rpartition("/")[2].lower()


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """` (did you mean `x`?)` for the known word that is nearest, or nothing if none is near."""
    near = difflib.get_close_matches(word, list(known), n=1)
    return f" (did you mean `{near[0]}`?)" if near else ""


def _rows(scenario: Scenario, suite: Suite) -> Iterator[PlanRow]:
    for name, agent in _agents(scenario, suite).items():
        deterministic = agent.is_deterministic if scenario.deterministic is None else scenario.deterministic
        key = RowKey(scenario=scenario.name, agent=name)
        yield PlanRow(key=key, scenario=scenario, agent=agent, deterministic=deterministic)


def _agents(scenario: Scenario, suite: Suite) -> dict[str, Agent]:
    if not scenario.tool_matrix:
        return suite.agents
    chosen: dict[str, Agent] = {}
    for entry in scenario.tool_matrix:
        family = {name: agent for name, agent in suite.agents.items() if entry.tool in (name, base_name(name))}
        if not entry.models:
            chosen.update(family)
        for model in entry.models if family else ():
            agent = next(iter(family.values()))
            chosen[f"{base_name(entry.tool)}:{model}"] = agent.model_copy(update={"model": model})
    return chosen


def _check_names(suite: Suite, rows: tuple[PlanRow, ...], selection: Selection) -> None:
    agents = [*suite.agents, *(row.key.agent for row in rows)]
    known = {
        "scenario": (selection.scenarios, [scenario.name for scenario in suite.scenarios]),
        "agent": (selection.agents, [*agents, *map(base_name, agents)]),
        "tag": (selection.tags, [tag for scenario in suite.scenarios for tag in scenario.tags]),
    }
    problems = [
        f"the suite has no {kind} `{name}`{did_you_mean(name, names)}"
        for kind, (asked, names) in known.items()
        for name in asked
        if name not in names
    ]
    if problems:
        raise ConfigurationError.of(problems, "Ask for what the suite has; `tidegate check` lists it.")


def _is_selected(row: PlanRow, selection: Selection) -> bool:
    agent = row.key.agent
    return selection.takes(row.scenario) and (
        not selection.agents or not {agent, base_name(agent)}.isdisjoint(selection.agents)
    )


def _why_nothing(rows: tuple[PlanRow, ...]) -> tuple[str, str]:
    if not rows:
        return "the suite has no scenario to run", "Add a scenario file to `scenarios` in tidegate.yaml."
    return "no scenario is left by this selection", "Ask for fewer things at once: all of them have to hold."


def _hash(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
