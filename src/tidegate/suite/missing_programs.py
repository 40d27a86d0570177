"""Reports what agents need and this machine lacks. It is advice, not an error, since CI may have it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping

from tidegate.agents.coding import CodingAgent
from tidegate.model.agent import Agent
from tidegate.model.plan import Plan


def missing_here(plan: Plan, environ: Mapping[str, str]) -> Iterator[str]:
    """Yield one sentence for each agent of the plan that cannot run here, with everything that it lacks."""
    agents = {row.key.agent: row.agent for row in plan.rows}
    for name, agent in agents.items():
        if lacking := list(_lacking(agent, environ)):
            yield f"agent {name} cannot run on this machine without {' and '.join(lacking)}"


def _lacking(agent: Agent, environ: Mapping[str, str]) -> Iterator[str]:
    if isinstance(agent, CodingAgent) and not shutil.which(agent.program, path=environ.get("PATH")):
        yield f"the program `{agent.program}`"
    if agent.provider and not (environ.get(agent.provider.key) or agent.env.get(agent.provider.key)):
        yield f"a key in {agent.provider.key}"
