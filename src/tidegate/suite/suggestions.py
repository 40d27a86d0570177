"""Suggestions to improve a valid suite. They are never errors."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tidegate.decide.procedure.detection import heads_to_confirm
from tidegate.decide.procedure.rules import (
    HEAD_TRIALS,
    limit_of,
    screening_trials,
)
from tidegate.model.agent import Agent
from tidegate.model.plan import Plan, PlanRow
from tidegate.model.suite import Scenario, Suite
from tidegate.model.target import is_of_target

ENOUGH_CASES = 20  # regression scenarios


def advice(suite: Suite, plan: Plan, root: Path | None = None) -> tuple[str, ...]:
    """Return one sentence per suggestion. Scenarios or rows with the same suggestion share one sentence.

    `root` is the checkout that the suite was read from. Without it, folders are not checked.
    """
    return (
        *_missing_folders(suite, root),
        *_once(map(_without_gate, suite.scenarios), "scenario"),
        *_once((_without_judge(scenario, suite) for scenario in suite.scenarios), "scenario"),
        *(dict.fromkeys(suite.unread) if any(scenario.judged for scenario in suite.scenarios) else ()),
        *dict.fromkeys(unpriced(suite, plan)),
        *_once((_only_judge(scenario, suite) for scenario in suite.scenarios), "scenario"),
        *_few_cases(suite),
        *_once(map(_without_steps, plan.rows), "row"),
        *_once(map(_without_calls, plan.rows), "row"),
        *_once((_few_trials(row, suite) for row in plan.rows), "row"),
    )


def _once(said: Iterable[tuple[str, str] | None], noun: str) -> Iterator[str]:
    """Yield each sentence once, after its first place and the number of others. `said`: pairs of place and sentence."""
    places: dict[str, list[str]] = {}
    for pair in said:
        if pair is not None:
            places.setdefault(pair[1], []).append(pair[0])
    for sentence, (first, *others) in places.items():
        more = f" and {len(others)} more {noun}{'s' if len(others) > 1 else ''}" if others else ""
        yield f"{first}{more}: {sentence}"


def _missing_folders(suite: Suite, root: Path | None) -> Iterator[str]:
    """Report folders of `path` that do not exist. With a `build`, they may still be created."""
    if root is None or suite.build:
        return
    for folder in suite.path:
        if not (root / folder).is_dir():
            yield f"{suite.file}: path names {folder}, which is not a folder of this checkout, and no `build` makes it"


def _without_gate(scenario: Scenario) -> tuple[str, str] | None:
    if _decides_without_a_model(scenario) or scenario.judged:
        return None
    what = "no required gate" if scenario.gates else "no gate"
    return scenario.file, f"{what}, so every trial passes whatever the agent does"


def _decides_without_a_model(scenario: Scenario) -> bool:
    gates = any(gate.required for gate in scenario.gates)
    return gates or any(one.decides and not one.judged for one in scenario.evaluators)


def _without_judge(scenario: Scenario, suite: Suite) -> tuple[str, str] | None:
    if suite.judge is not None or not scenario.judged:
        return None
    return scenario.file, f"a judge is to look at it, and {suite.file} has no `judge`: that stays not measured"


def unpriced(suite: Suite, plan: Plan) -> Iterator[str]:
    """Report agents whose cost is not known while they run, if a budget in dollars is set."""
    for row in plan.rows:
        agent, most = row.agent, suite.budget.usd or row.scenario.max_usd
        asks = agent.api is not None or agent.asks_model_itself
        if most is None or not asks or suite.price_of_budget(agent.model) is not None:
            continue
        yield (
            f"{suite.file}: the budget in dollars cannot bind {row.key.agent}: no price is known for"
            f" {agent.model or 'its default model'}; set `prices`, or `budget.tokens`, which binds"
        )


def _only_judge(scenario: Scenario, suite: Suite) -> tuple[str, str] | None:
    if not scenario.judged or _decides_without_a_model(scenario):
        return None
    if suite.policy.judge_blocks:
        return scenario.file, "a judge alone decides, and a judge errs; add a gate or an evaluator of code"
    return scenario.file, "only a judge looks at it, and a judge blocks nothing; add a gate or an evaluator of code"


def _without_steps(row: PlanRow) -> tuple[str, str] | None:
    """Report a scripted agent that does nothing in a scenario, as neither of them has steps for it."""
    if row.agent.type != "scripted" or row.key.scenario in row.agent.named_scenarios:
        return None
    what = "has no steps here, and does nothing; add `task: {steps: […]}`, or choose other agents by `tool_matrix`"
    return f"{row.scenario.file}, {row.key.agent}", what


def _without_calls(row: PlanRow) -> tuple[str, str] | None:
    """Report an evaluator that compares calls of tools which the agent does not report."""
    scenario = row.scenario
    for evaluator in () if row.agent.reports_calls else scenario.evaluators:
        tools = sorted(name for name in evaluator.compared_tools if not is_of_target(scenario.target.binary, name))
        if tools:
            needs = f"the evaluator {evaluator.label} compares calls of {tools[0]}"
            lacks = "this agent's output names no calls; the score is not measured. Give the agent another `output`"
            return f"{scenario.file}, {row.key.agent}", f"{needs}, and {lacks}"
    return None


def _few_cases(suite: Suite) -> Iterator[str]:
    cases = sum(scenario.purpose == "regression" for scenario in suite.scenarios)
    if cases < ENOUGH_CASES:
        total = len(suite.scenarios)
        what = f"{cases} regression case{'' if cases == 1 else 's'}"
        among = "" if cases == total else f" among {total} scenarios"
        yield f"only {what}{among}; with fewer than {ENOUGH_CASES}, small regressions may be missed"


def _few_trials(row: PlanRow, suite: Suite) -> tuple[str, str] | None:
    """Report a `trials.max` with which no regression of the row can be confirmed.

    A deterministic row needs repeats on head. Any other row without history needs enough trials to tell even
    the largest possible drop from chance.
    """
    counts = row.scenario.trials.over(suite.trials)
    place = f"{row.scenario.file}, {row.key.agent}"
    if counts.max is None:
        return None
    if row.deterministic:
        what = f"a regression stays unconfirmed; it takes {HEAD_TRIALS} trials on head"
        return (place, f"with trials.max {counts.max} {what}") if counts.max < HEAD_TRIALS else None
    screening = screening_trials(counts, suite.policy)
    enough = heads_to_confirm(screening, limit_of(suite.policy.alpha))
    what = f"no regression can be confirmed without history; that takes {enough} trials on head"
    return (place, f"with trials.max {counts.max} {what}") if counts.max < enough else None


def missing_here(suite: Suite, plan: Plan, environ: Mapping[str, str]) -> Iterator[str]:
    """Yield one sentence for each agent of the plan that cannot run here, and each judge that cannot be asked."""
    agents = {row.key.agent: row.agent for row in plan.rows}
    for name, agent in agents.items():
        if lacking := list(_lacking(agent, environ)):
            yield f"agent {name} cannot run on this machine without {' and '.join(lacking)}"
    judges = suite.judge.members if suite.judge and any(row.scenario.judged for row in plan.rows) else ()
    for judge in judges:
        if (lack := judge.lacks(environ)) is not None:
            yield f"judge {judge.model} cannot be asked on this machine without {lack}"


def _lacking(agent: Agent, environ: Mapping[str, str]) -> Iterator[str]:
    if agent.needed_program and not shutil.which(agent.needed_program, path=environ.get("PATH")):
        yield f"the program `{agent.needed_program}`"
    if (lacking := agent.lacks(environ)) is not None:
        yield lacking
