"""Gives a trial's agent access to its model: with its own key, or with a token of the model proxy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from tidegate.agents.model_proxy.proxy import ModelProxy
from tidegate.agents.model_proxy.traffic import TrafficLimits
from tidegate.agents.providers.access import Accesses, KeyAccess
from tidegate.model.event import End
from tidegate.model.provider import Access
from tidegate.trial.directories import Attempt


@contextmanager
def with_lease(attempt: Attempt, model_proxy: ModelProxy | None, accesses: Accesses) -> Iterator[Attempt]:
    """Yield the attempt with a token and the proxy's address in place of the agent's own variables.

    Without a proxy, or for an agent that does not use it, the attempt is unchanged.
    """
    agent = attempt.row.agent
    api = agent.api
    if model_proxy is None or api is None:
        yield attempt
        return
    provider = agent.chosen_provider
    if provider is None:
        known = {**attempt.place.credentials, **agent.env}
        access: Access = KeyAccess(known[api.key])
        upstream = known.get(api.endpoint) or api.address
    else:
        access, upstream, api = accesses.of(provider, api), provider.address(api), provider.narrowed(api)
    with model_proxy.lent(api, access, upstream, _limits(attempt)) as lease:
        rest = {name: value for name, value in agent.env.items() if name not in agent.variables}
        row = attempt.row.model_copy(update={"agent": agent.model_copy(update={"env": rest})})
        lent = {api.key: lease.token, api.endpoint: lease.address}
        place = replace(attempt.place, credentials=lent)
        yield replace(attempt, row=row, place=place, has_proxy=True, relayed=lease.traffic.told)


def _limits(attempt: Attempt) -> TrafficLimits:
    """Return what the proxy enforces: the budget for every agent, and turns for agents that do not limit them."""
    agent, meter = attempt.row.agent, attempt.meter

    def spent(told: End) -> str | None:
        if meter is None:
            return None
        meter.tell(told)
        over = meter.over()
        return over[0] if over is not None else None

    turns = None if agent.limits_turns else attempt.scenario.max_turns or agent.max_turns
    return TrafficLimits(turns, spent)
