"""Expands a suite into a plan: the rows (scenario × agent) to run, and hashes that reveal changed definitions."""

from __future__ import annotations

import difflib
import glob
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product
from posixpath import normpath
from typing import Any

from tidegate.errors import ConfigurationError, NothingToRunError
from tidegate.evaluators.script_files import named_files
from tidegate.model.agent import Agent
from tidegate.model.model_name import same_model
from tidegate.model.plan import Plan, PlanRow, RowKey
from tidegate.model.run_row import RunRow
from tidegate.model.suite import Scenario, Suite
from tidegate.model.trial_spec import NotMeasured
from tidegate.model.value import Value
from tidegate.text.name_expression import name_expression
from tidegate.text.shorten import clipped

MAX_TASK = 300  # characters


class Selection(Value):
    """The selected part of a suite. A field that is empty or None selects everything.

    `agents` holds names or `name:model`. `tags` selects scenarios with any of the tags. `tier` includes lower tiers.
    `name` is a name expression over `scenario × agent` (`add and not claude`). Of `rows`, missing ones are ignored.
    """

    scenarios: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    tier: int | None = None
    name: str = ""
    rows: tuple[RowKey, ...] = ()

    def takes(self, scenario: Scenario) -> bool:
        """Return True if the scenario is selected, regardless of the agent."""
        return (
            (not self.scenarios or scenario.name in self.scenarios)
            and (not self.tags or not set(self.tags).isdisjoint(scenario.tags))
            and (self.tier is None or scenario.tier <= self.tier)
        )


EVERYTHING = Selection()


def make_plan(suite: Suite, selection: Selection = EVERYTHING) -> Plan:
    """Return the selected rows, in the suite's order of scenarios.

    Raises ConfigurationError for a name that the suite does not have, and NothingToRunError if no row is left.
    """
    rows = tuple(row for scenario in suite.scenarios for row in _rows(scenario, suite))
    _check_names(suite, rows, selection)
    selected = tuple(row for row in rows if _is_selected(row, selection))
    if not selected:
        raise NothingToRunError(*_why_nothing(rows, selection))
    return Plan(rows=selected)


def not_selected(suite: Suite, plan: Plan) -> tuple[str, ...]:
    """Return a note with the number of the suite's rows that the plan lacks, if there are any."""
    everything = make_plan(suite).rows
    missing = len(everything) - len({row.key for row in everything} & {row.key for row in plan.rows})
    are = "row was" if missing == 1 else "rows were"
    return (f"{missing} of {len(everything)} {are} not selected, and not run",) if missing else ()


def with_presence(plan: Plan, base: Plan, selection: Selection = EVERYTHING) -> Plan:
    """Return the plan with new rows marked as added, and base's selected rows that head lacks appended as removed.

    `base` is the plan of base's whole suite. Rows also get the variables that are not base's.
    """
    of_base = {row.key: row.scenario for row in base.rows}
    here = {row.key for row in plan.rows}
    rows = [_placed(row, of_base.get(row.key)) for row in plan.rows]
    lost = [row for row in base.rows if row.key not in here and _is_selected(row, selection)]
    return Plan(rows=(*rows, *(row.model_copy(update={"presence": "removed"}) for row in lost)))


def _placed(row: PlanRow, before: Scenario | None) -> PlanRow:
    known = before.target.env if before else {}
    new = tuple(name for name, value in row.scenario.target.env.items() if known.get(name) != value)
    return row.model_copy(update={"presence": "both" if before else "added", "new_env": new})


def without_agents(plan: Plan, environ: Mapping[str, str] | None) -> Plan:
    """Return the plan in which no agent is run for rows that lack their API key; with None, for all rows of chance."""

    def why(row: PlanRow) -> NotMeasured | None:
        if environ is None:
            return None if row.deterministic else "replay_only"
        return "secret" if row.agent.lacks(environ) else None

    return Plan(rows=tuple(row.model_copy(update={"no_agent": why(row)}) for row in plan.rows))


# They change how git checks out other files.
ALWAYS_WATCHED = ("**/.gitattributes", ".gitmodules")


def watched_of_side(*suites: Suite) -> tuple[str, ...]:
    """Return globs of the files that each side has for itself: the watched ones, guidance, and the tools in `path`.

    A tool that a pull request adds to a folder of `path` may be found first, whether the folder is watched or not.
    """
    patterns = dict.fromkeys(ALWAYS_WATCHED)
    for suite in suites:
        patterns |= dict.fromkeys((*suite.watch, *suite.guidance_globs))
        names = dict.fromkeys(scenario.target.binary for scenario in suite.scenarios)
        places = (normpath(f"{folder}/{name}") for folder in suite.path for name in names if name and "/" not in name)
        patterns |= dict.fromkeys(map(glob.escape, places))
    return tuple(patterns)


def watched_files(*suites: Suite) -> tuple[str, ...]:
    """Return globs of all files that can change an outcome.

    These are the files that each side has for itself, the suite's file, the scenarios, and the templates and scripts
    that the scenarios name.
    """
    patterns = dict.fromkeys(watched_of_side(*suites))
    for suite in suites:
        patterns[glob.escape(suite.file)] = None
        for scenario in suite.scenarios:
            patterns[glob.escape(scenario.file)] = None
            if scenario.template is not None:
                patterns[f"{glob.escape(scenario.template)}/**"] = None
            scripts = [script for evaluator in scenario.evaluators for script in evaluator.scripts]
            named = [glob.escape(path) for script in scripts for path in named_files(*script)]
            patterns |= dict.fromkeys(pattern for path in named for pattern in (path, f"{path}/**"))
    return tuple(patterns)


def run_rows(plan: Plan, suite: Suite) -> tuple[RunRow, ...]:
    """Return the plan's rows as a run stores them. A scenario's own trial counts override the suite's."""
    return tuple(
        RunRow(
            scenario=row.key.scenario,
            agent=row.key.agent,
            deterministic=row.deterministic,
            purpose=row.scenario.purpose,
            task=clipped(row.scenario.prompt, MAX_TASK),
            source=row.scenario.source,
            presence=row.presence,
            changed=row.changed,
            definition=definition_hash(row.scenario),
            can_fail=_can_fail(row.scenario, judge_blocks=suite.policy.judge_blocks),
            trials=row.scenario.trials.over(suite.trials),
            no_agent=row.no_agent,
        )
        for row in plan.rows
    )


def _can_fail(scenario: Scenario, *, judge_blocks: bool) -> bool:
    """Return True if a gate or an evaluator decides the outcome; a judge does only with `judge_blocks`."""
    if any(gate.required for gate in scenario.gates) or (judge_blocks and scenario.judge is not None):
        return True
    return any(one.decides and (judge_blocks or not one.judged) for one in scenario.evaluators)


def definition_hash(scenario: Scenario) -> str:
    """Return a SHA-256 of the scenario's contents; the path of its file has no effect."""
    return _hash(scenario.model_dump(mode="json", exclude={"file"}))


def suite_hash(suite: Suite) -> str:
    """Return a SHA-256 of the contents of the suite and its scenarios; the paths of their files have no effect."""
    whole = hashlib.sha256()
    fields = suite.model_dump(mode="json", exclude={"file", "unread", "scenarios"})
    for name in sorted((*fields, "scenarios")):
        whole.update(f"{',' if name != min(fields) else '{'}{_json(name)}:".encode())
        for part in _scenarios_json(suite) if name == "scenarios" else [_json(fields[name])]:
            whole.update(part.encode())
    whole.update(b"}")
    return whole.hexdigest()


def _scenarios_json(suite: Suite) -> Iterator[str]:
    """Yield them as JSON one by one: 10,000 at once take 35 MB."""
    for number, scenario in enumerate(suite.scenarios):
        yield f"{',' if number else '['}{_json(scenario.model_dump(mode='json', exclude={'file'}))}"
    yield "]" if suite.scenarios else "[]"


def base_name(agent: str) -> str:
    """Return an agent's name in tidegate.yaml: `claude` for the agent `claude:some-model`."""
    return agent.partition(":")[0]


def refuse_self_judging(suite: Suite, plan: Plan, place: Callable[[str], str] = lambda _: "") -> None:
    """Raise ConfigurationError if the judge's model is also a tested model, unless the suite allows that.

    `place` returns where the judge of a model is set, as `file:line:column: key: `, if that is known.
    """
    for judge, row in product(suite.judge.members if suite.judge else (), plan.rows):
        tested = row.scenario.judged and not judge.allow_self_judging and row.agent.model
        if tested and same_model(tested, judge.model):
            raise ConfigurationError(
                f"{place(judge.model)}the judge's model, {judge.model}, is the one that {row.key.agent} is tested with"
                f" in {row.key.scenario}",
                "Name another model in `judge`, or set `allow_self_judging: true` there.",
            )


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ` (did you mean `x`?)` for the closest known word, or "" if none is close."""
    near = difflib.get_close_matches(word, list(known), n=1)
    return f" (did you mean `{near[0]}`?)" if near else ""


def _rows(scenario: Scenario, suite: Suite) -> Iterator[PlanRow]:
    for name, own in _agents(scenario, suite).items():
        agent = own.with_steps(scenario.name, scenario.steps)
        deterministic = agent.is_deterministic if scenario.deterministic is None else scenario.deterministic
        if scenario.judged and suite.policy.judge_blocks:
            deterministic = False  # the agent may repeat itself, but the judge's opinion is a random draw
        key = RowKey(scenario=scenario.name, agent=name)
        yield PlanRow(key=key, scenario=scenario, agent=agent, deterministic=deterministic)


def _agents(scenario: Scenario, suite: Suite) -> dict[str, Agent]:
    """Return the agents that run the scenario, by name: those in its `tool_matrix`, or all."""
    if not scenario.tool_matrix:
        return suite.agents
    chosen: dict[str, Agent] = {}
    for entry in scenario.tool_matrix:
        if not entry.models:
            chosen.update(_family(suite.agents, entry.tool))
        for model in entry.models:
            if agent := agent_with_model(suite.agents, entry.tool, model):
                chosen[f"{base_name(entry.tool)}:{model}"] = agent
    return chosen


def agent_with_model(agents: Mapping[str, Agent], name: str, model: str) -> Agent | None:
    """Return the agent of that name with another model, or None if there is no such agent.

    Raises pydantic's ValidationError if the agent cannot run the model.
    """
    agent = next(iter(_family(agents, name).values()), None)
    return agent and type(agent).model_validate({**agent.model_dump(), "model": model})


def _family(agents: Mapping[str, Agent], name: str) -> dict[str, Agent]:
    """Return the agents of that name: one, or one for each of its models."""
    return {full: agent for full, agent in agents.items() if name in (full, base_name(full))}


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
        raise ConfigurationError.of(problems, "Use names that the suite has; `tidegate check` lists them.")


def _is_selected(row: PlanRow, selection: Selection) -> bool:
    agent = row.key.agent
    return (
        selection.takes(row.scenario)
        and (not selection.agents or not {agent, base_name(agent)}.isdisjoint(selection.agents))
        and (not selection.rows or row.key in selection.rows)
        and (not selection.name or name_expression(selection.name)(str(row.key)))
    )


def _why_nothing(rows: tuple[PlanRow, ...], selection: Selection) -> tuple[str, str]:
    if not rows:
        return "the suite has no scenario to run.", "Add a scenario file to `scenarios` in tidegate.yaml."
    if selection.name and not any(name_expression(selection.name)(str(row.key)) for row in rows):
        names = [word for row in rows for word in (row.key.scenario, row.key.agent)]
        meant = did_you_mean(selection.name, names)
        return f"no row matches `-k {selection.name}`{meant}.", "`tidegate check` lists the rows."
    return "no scenario matches all of these options.", "Remove an option: a scenario has to match each of them."


def _hash(value: Any) -> str:
    return hashlib.sha256(_json(value).encode()).hexdigest()


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
