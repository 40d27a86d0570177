"""Checks the agents of a run before any trial starts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from tidegate.errors import CannotRunError, MissingKeyError
from tidegate.model.agent import Agent
from tidegate.model.trial_spec import encoded
from tidegate.run.run_context import RunContext
from tidegate.trial.agent_check import AgentCheckDirectories
from tidegate.trial.environment import side_path
from tidegate.trial.processes import SupervisorLost


async def check_agents(agents: Mapping[str, Agent], context: RunContext) -> dict[str, str | None]:
    """Return each agent's version, None if it has none. Raises one CannotRunError for all agents that cannot run."""
    versions: dict[str, str | None] = {}
    failed: dict[str, CannotRunError] = {}

    async def check(name: str, agent: Agent) -> None:
        try:
            versions[name] = await _version(name, agent, context)
        except CannotRunError as error:
            failed[name] = error

    async with asyncio.TaskGroup() as group:
        for name, agent in agents.items():
            group.create_task(check(name, agent))
    if failed:
        raise _together([failed[name] for name in agents if name in failed])
    return versions


async def _version(name: str, agent: Agent, context: RunContext) -> str | None:
    side, *_ = context.checkouts.values()
    async with context.slots.slot() as supervisor:
        place = AgentCheckDirectories(
            supervisor=supervisor,
            folder=context.scratch / "agents" / encoded(name),
            repo=side.folder,
            path=side_path(side.folder, side.path_of(context.suite), context.around.path),
            agent_path=context.agent_path,
            credentials=context.around.of_agent(agent),
            network=context.suite.network.agent,
        )
        try:
            version = await agent.check(place)
            if agent.chosen_provider is not None and agent.api is not None:
                await asyncio.to_thread(context.accesses.check, name, agent.chosen_provider, agent.api)
            return version
        except SupervisorLost as lost:
            raise CannotRunError(f"The agent {name} could not be checked: {lost}.", "Run it again.") from None


def _together(errors: Sequence[CannotRunError]) -> CannotRunError:
    """Return one error with all messages and advice. It is about keys only if each of them is."""
    if len(errors) == 1:
        return errors[0]
    kind = MissingKeyError if all(isinstance(error, MissingKeyError) for error in errors) else CannotRunError
    return kind(
        "\n".join(dict.fromkeys(error.message for error in errors)),
        " ".join(dict.fromkeys(error.advice for error in errors)),
    )
