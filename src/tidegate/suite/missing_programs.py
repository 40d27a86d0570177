"""Reports what agents and judges need and this machine lacks. It is advice, not an error, since CI may have it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping

from tidegate.model.agent import Agent
from tidegate.model.plan import Plan
from tidegate.model.suite import Suite


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
