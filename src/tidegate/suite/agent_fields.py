"""Limit the settings that a pull request may choose for an agent that gets an API key.

Agents are read from head, so that a pull request can try another model. But `env` can set the address of the model,
and so can `args`: who chooses them can send the key anywhere. Such keys are read from base until the change is merged.
"""

from __future__ import annotations

from collections.abc import Mapping

from tidegate.model.agent import Agent

# Keys that cannot redirect an API key: a pull request may change them.
FREE = frozenset(
    {
        "type",
        "model",
        "models",
        "version",
        "timeout_secs",
        "max_turns",
        "max_usd",
        "max_tokens",
        "deterministic",
        "weight",
    }
)


def entrusted(base: Mapping[str, Agent], head: Mapping[str, Agent]) -> dict[str, Agent]:
    """Return head's agents as they may be run: for agents that get an API key, all keys not in FREE are base's.

    If base does not have the agent, or has it with another type, these keys have the defaults of its type.
    """
    return {name: _trusted(base.get(name), agent) for name, agent in head.items()}


def _trusted(before: Agent | None, agent: Agent) -> Agent:
    if not agent.variables:  # the agent gets no API key
        return agent
    fields = type(agent).model_fields
    same = before is not None and type(before) is type(agent)
    return agent.model_copy(
        update={
            key: getattr(before, key) if same else field.get_default(call_default_factory=True)
            for key, field in fields.items()
            if key not in FREE
        }
    )
