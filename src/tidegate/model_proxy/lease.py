"""What lets a trial's agent reach its model: its own key, or what the relay lends it in the place of that."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from tidegate.model_proxy.proxy import ModelProxy
from tidegate.trial.directories import Attempt


@contextmanager
def with_lease(attempt: Attempt, relay: ModelProxy | None) -> Iterator[Attempt]:
    """The attempt as it may be run: an agent with a provider gets a token and the relay's address, nothing of its own.

    Without a relay, and for agents without a provider, it is the same attempt.
    """
    agent, own = attempt.row.agent, attempt.place.credentials
    provider = agent.provider
    if relay is None or provider is None:
        yield attempt
        return
    known = {**own, **agent.env}
    with relay.lent(provider, known[provider.key], known.get(provider.endpoint) or provider.address) as loan:
        rest = {name: value for name, value in agent.env.items() if name not in agent.variables}
        row = attempt.row.model_copy(update={"agent": agent.model_copy(update={"env": rest})})
        lent = {provider.key: loan.token, provider.endpoint: loan.address}
        place = replace(attempt.place, credentials=lent)
        yield replace(attempt, row=row, place=place, relayed=loan.traffic.told)
