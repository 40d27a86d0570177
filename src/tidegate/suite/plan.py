"""Expands a suite into a plan: the rows (scenario × agent) to run, and hashes that reveal changed definitions."""

from __future__ import annotations

import difflib
import glob
import hashlib
import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import product
from pathlib import PurePosixPath
from posixpath import normpath
from typing import Any

from tidegate.checks.evaluators.script_files import files_of
from tidegate.errors import ConfigurationError, NothingToRunError
from tidegate.model.agent import Agent
from tidegate.model.plan import Plan, PlanRow, RowKey, Texts
from tidegate.model.prices import same_model
from tidegate.model.run_row import RunRow
from tidegate.model.suite import Scenario, Suite
from tidegate.model.target import REFERENCE, Target
from tidegate.model.trial_spec import NotMeasured
from tidegate.model.value import Value
from tidegate.suite.origins import may_be_renamed, origins
from tidegate.text.shorten import clipped

MAX_TASK = 300  # characters


class Selection(Value):
    """The selected part of a suite. A field that is empty or None selects everything.

    `scenarios` and `agents` hold names or globs; an agent with a model is `name` and `name:model`. `tags` selects
    scenarios with any of the tags. `tier` includes lower tiers.
    """

    scenarios: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    tier: int | None = None

    def takes_row(self, row: PlanRow) -> bool:
        """Return True if the row is selected."""
        names = (row.key.agent, base_name(row.key.agent))
        return self.takes(row.scenario) and (not self.agents or any(_is_one_of(name, self.agents) for name in names))

    def takes(self, scenario: Scenario) -> bool:
        """Return True if the scenario is selected, regardless of the agent."""
        return (
            (not self.scenarios or _is_one_of(scenario.name, self.scenarios))
            and (not self.tags or not set(self.tags).isdisjoint(scenario.tags))
            and (self.tier is None or scenario.tier <= self.tier)
        )


def _is_one_of(name: str, patterns: Iterable[str]) -> bool:
    return any(name == pattern or fnmatchcase(name, pattern) for pattern in patterns)


EVERYTHING = Selection()


def make_plan(suite: Suite, selection: Selection = EVERYTHING) -> Plan:
    """Return the selected rows, in the suite's order of scenarios.

    Raises ConfigurationError for a name that the suite does not have, and NothingToRunError if no row is left.
    """
    rows = tuple(row for scenario in suite.scenarios for row in _rows(scenario, suite))
    _check_names(suite, rows, selection)
    selected = tuple(row for row in rows if selection.takes_row(row))
    if not selected:
        if not rows:
            raise NothingToRunError("the suite has no scenario to run.", "Add a file to `scenarios` in tidegate.yaml.")
        raise NothingToRunError("no scenario matches all of these options.", "Remove one of the options.")
    return Plan(rows=selected)


def not_selected(suite: Suite, plan: Plan) -> tuple[str, ...]:
    """Return a note with the number of the suite's rows that the plan lacks, if there are any."""
    everything = make_plan(suite).rows
    missing = len(everything) - len({row.key for row in everything} & {row.key for row in plan.rows})
    are = "row was" if missing == 1 else "rows were"
    return (f"{missing} of {len(everything)} {are} not selected, and not run",) if missing else ()


def pull_request_plan(
    base: Plan, product: Plan, head: Plan, changed: Container[str], selection: Selection = EVERYTHING
) -> Plan:
    """Return base's rows, then the selected ones of head's own for each definition that head adds or changes.

    `product` has base's definitions as head's files make them: prompts contain files of the repository. `changed`:
    scenarios of which head changes a file. A changed definition is a row of its own, beside base's.
    """
    of_product = {row.key: row for row in product.rows}
    rows = [_with_product(row, of_product.get(row.key, row), _start(row, product.rows, head.rows)) for row in base.rows]
    old = origins((row.scenario for row in product.rows), (row.scenario for row in head.rows))
    templates = {old[one.name].name: one.template for one in (row.scenario for row in head.rows) if one.name in old}
    rows = [_with_template(row, templates.get(row.key.scenario, row.scenario.template)) for row in rows]
    known = {row.key: row for row in rows}
    taken = {*known, *(row.key for row in head.rows)}
    added = []
    for row in filter(selection.takes_row, head.rows):
        before = known.get(row.key)
        if before is None:
            added.append(row.model_copy(update={"presence": "added"}))
        elif row.key.scenario in changed or not _is_same(before.on("head"), row):
            taken.add(key := _changed_key(row.key, taken))
            added.append(row.model_copy(update={"presence": "added", "key": key}))
    return Plan(rows=(*rows, *added))


def _start(row: PlanRow, base: Sequence[PlanRow], head: Sequence[PlanRow]) -> Target:
    """Return how head starts the row's tool: as in this scenario, else as in a new one that may be this one, renamed,
    or in one that base starts alike.

    If none is left, and base starts all alike, any of head's ways may be the new one. A changed way comes first.
    """
    target = row.scenario.target
    of_base, of_head = (
        {one.key.scenario: own for one in rows if ((own := one.scenario.target).mcp is None) == (target.mcp is None)}
        for rows in (base, head)
    )
    if (name := row.key.scenario) in of_head:
        return of_head[name]
    before = next((one.scenario for one in base if one.key.scenario == name), row.scenario)
    renamed = {one.key.scenario for one in head if may_be_renamed(before, one.scenario)} - {*of_base}
    alike = [name for name, own in of_base.items() if _way(own) == _way(target)]
    ways = [own for name, own in of_head.items() if name in renamed or name in alike]
    if not ways and {*of_base} <= {*alike}:
        ways = [*of_head.values()]
    ways.sort(key=lambda own: _way(own) == _way(target))
    return ways[0] if ways else target


def _way(target: Target) -> tuple[object, ...]:
    return target.env, target.mcp and target.mcp.command


def _with_product(row: PlanRow, product: PlanRow, head: Target) -> PlanRow:
    """Return base's row with what head's product has otherwise; `head`: how head starts it."""
    target = _own_target(row.scenario.target, head)
    texts = Texts(prompt=product.scenario.prompt, agent=product.agent)
    same = texts.prompt == row.scenario.prompt and texts.agent == row.agent
    return row.model_copy(
        update={
            "own_target": None if target == row.scenario.target else target,
            "own_texts": None if same else texts,
        }
    )


def _with_template(row: PlanRow, template: str | None) -> PlanRow:
    """Return base's row with the template that head's scenario has."""
    same = template == row.scenario.template
    return row if same else row.model_copy(update={"own_template": template})


def _own_target(base: Target, head: Target) -> Target:
    """Return base's target as head starts it: its server's command, and its variables. Its name stays base's.

    A variable is base's, if any, where head's needs a secret that base needs nowhere and that this job lacks: a fork
    could ask for one so that its broken tool is not measured.
    """
    missing = {*head.secrets} - {*base.secrets}
    asking = {name for name, text in head.env.items() if not missing.isdisjoint(REFERENCE.findall(text))}
    env = {name: base.env.get(name) if name in asking else text for name, text in head.env.items()}
    own = {name: text for name, text in env.items() if text is not None}
    lacking = tuple(name for name in head.secrets if name not in missing)
    server = base.mcp and head.mcp and base.mcp.model_copy(update={"command": head.mcp.command})
    return base.model_copy(update={"env": own, "secrets": lacking, "mcp": server or base.mcp})


def _is_same(before: PlanRow, after: PlanRow) -> bool:
    """Return True if both are tried and judged alike; how a scenario is described, found and chosen has no effect."""
    told = {"file": "", "description": "", "source": None, "tags": (), "tier": 0}
    scenarios = [row.scenario.model_copy(update=told) for row in (before, after)]
    return scenarios[0] == scenarios[1] and before.agent == after.agent and before.deterministic == after.deterministic


def _changed_key(key: RowKey, taken: Container[RowKey]) -> RowKey:
    """Return a key that is not taken, for head's definition of a row that base has, too."""
    changed = RowKey(scenario=f"{key.scenario} (as changed)", agent=key.agent)
    return _changed_key(changed, taken) if changed in taken else changed


def without_agents(plan: Plan, environ: Mapping[str, str] | None) -> Plan:
    """Return the plan in which no agent is run for rows that lack their API key; with None, for all rows of chance."""

    def why(row: PlanRow) -> NotMeasured | None:
        if environ is None:
            return None if row.deterministic else "replay_only"
        return "secret" if row.agent.lacks(environ) else None

    return Plan(rows=tuple(row.model_copy(update={"no_agent": why(row)}) for row in plan.rows))


def with_seed(plan: Plan, seed: int) -> Plan:
    """Return the plan in which agents that choose by chance have this seed, unless the suite gives them one."""

    def seeded(row: PlanRow) -> PlanRow:
        agents = {"agent": row.agent.with_seed(seed)}
        texts = row.own_texts and row.own_texts.model_copy(update={"agent": row.own_texts.agent.with_seed(seed)})
        return row.model_copy(update={**agents, "own_texts": texts})

    return Plan(rows=tuple(map(seeded, plan.rows)))


# They change how git checks out other files.
ALWAYS_WATCHED = ("**/.gitattributes", ".gitmodules")


def watched_files(*suites: Suite) -> tuple[str, ...]:
    """Return globs of all files that can change an outcome.

    These are the watched ones, guidance, all below `path` and what may be in place of its folders, the suite's file,
    the scenarios, and the templates and scripts that the scenarios name. A program that is added to a folder of `path`
    is found first, watched or not.
    """
    patterns = dict.fromkeys(ALWAYS_WATCHED)
    for suite in suites:
        patterns |= dict.fromkeys((*suite.watch, *suite.guidance_globs))
        for folder in map(PurePosixPath, map(normpath, suite.path)):
            around = [glob.escape(one.as_posix()) for one in (folder, *folder.parents)][:-1]
            patterns |= dict.fromkeys((*around, f"{around[0]}/**") if around else ("*",))
        patterns[glob.escape(suite.file)] = None
        for scenario in suite.scenarios:
            patterns[glob.escape(scenario.file)] = None
            if scenario.template is not None:
                patterns[f"{glob.escape(scenario.template)}/**"] = None
            named = map(glob.escape, files_of(scenario.evaluators))
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
    return hashlib.sha256(_json(scenario.model_dump(mode="json", exclude={"file"})).encode()).hexdigest()


def suite_hash(suite: Suite) -> str:
    """Return a SHA-256 of the contents of the suite and its scenarios; the paths of their files have no effect."""
    whole = hashlib.sha256(_json(suite.model_dump(mode="json", exclude={"file", "unread", "scenarios"})).encode())
    for scenario in suite.scenarios:  # one by one: 10,000 at once take 35 MB
        whole.update(definition_hash(scenario).encode())
    return whole.hexdigest()


def base_name(agent: str) -> str:
    """Return an agent's name in tidegate.yaml: `claude` for the agent `claude:some-model`."""
    return agent.partition(":")[0]


def refuse_self_judging(suite: Suite, plan: Plan) -> None:
    """Raise ConfigurationError if the judge's model is also a tested model, unless the suite allows that."""
    for judge, row in product(suite.judge.members if suite.judge else (), plan.rows):
        tested = row.scenario.judged and not judge.allow_self_judging and row.agent.model
        if tested and same_model(tested, judge.model):
            raise ConfigurationError(
                f"the judge's model, {judge.model}, is the one that {row.key.agent} is tested with"
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
        if not any(_is_one_of(one, [name]) for one in names)
    ]
    if problems:
        raise ConfigurationError.of(problems, "Use names that the suite has; `tidegate check` lists them.")


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
