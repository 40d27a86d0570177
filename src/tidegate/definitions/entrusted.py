"""Which settings a pull request may choose for an agent that is given a key: none that could lead the key elsewhere.

Agents are read at head, so that a change of model can be tried out. But `env` names the address of the model, and
`args` and the like can do the same: whoever chooses them is given the key. So these are base's, until the merge.
"""

from __future__ import annotations

from collections.abc import Mapping

from tidegate.model.agent import Agent

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
    """Head's agents as they may be run: of those that are given a key, all but what is FREE is as on base.

    An agent that base does not have, or has with another type, is given its type's defaults.
    """
    return {name: _trusted(base.get(name), agent) for name, agent in head.items()}


def held_back(base: Mapping[str, Agent], name: str, agent: Agent) -> tuple[str, ...]:
    """The keys of head's agent that take effect after the merge only."""
    trusted = _trusted(base.get(name), agent)
    return tuple(key for key in type(agent).model_fields if getattr(agent, key) != getattr(trusted, key))


def _trusted(before: Agent | None, agent: Agent) -> Agent:
    if not agent.variables:  # no key reaches it
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
