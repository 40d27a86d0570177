"""Gives a trial's agent access to its model: with its own key, or with a token of the model proxy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from tidegate.model_proxy.proxy import ModelProxy
from tidegate.trial.directories import Attempt


@contextmanager
def with_lease(attempt: Attempt, model_proxy: ModelProxy | None) -> Iterator[Attempt]:
    """Yield the attempt with a token and the proxy's address in place of the agent's own variables.

    Without a proxy, or for an agent without a provider, the attempt is unchanged.
    """
    agent, own = attempt.row.agent, attempt.place.credentials
    provider = agent.provider
    if model_proxy is None or provider is None:
        yield attempt
        return
    known = {**own, **agent.env}
    with model_proxy.lent(provider, known[provider.key], known.get(provider.endpoint) or provider.address) as lease:
        rest = {name: value for name, value in agent.env.items() if name not in agent.variables}
        row = attempt.row.model_copy(update={"agent": agent.model_copy(update={"env": rest})})
        lent = {provider.key: lease.token, provider.endpoint: lease.address}
        place = replace(attempt.place, credentials=lent)
        yield replace(attempt, row=row, place=place, has_proxy=True, relayed=lease.traffic.told)
