"""Splits an agent with `models` into one agent per model, named `name:model`."""

from __future__ import annotations

from pydantic import JsonValue


def with_models_split(data: JsonValue) -> JsonValue:
    """Return the suite file's content with one agent per model.

    An invalid `models` stays as it was written; validation reports it later.
    """
    agents = data.get("agents") if isinstance(data, dict) else None
    if not isinstance(data, dict) or not isinstance(agents, dict):
        return data
    split: dict[str, JsonValue] = {}
    for name, agent in agents.items():
        split.update(_split(name, agent))
    return {**data, "agents": split}


def _split(name: str, agent: JsonValue) -> dict[str, JsonValue]:
    if not isinstance(agent, dict) or "model" in agent:
        return {name: agent}
    models = _model_names(agent.get("models"))
    rest = {key: value for key, value in agent.items() if key != "models"}
    return {f"{name}:{model}": {**rest, "model": model} for model in models} or {name: agent}


def _model_names(models: JsonValue) -> list[str]:
    """Return the model names, or an empty list unless `models` is a list of distinct, non-blank names."""
    if not isinstance(models, list):
        return []
    names = [model for model in models if isinstance(model, str) and model.strip()]
    return names if len(set(names)) == len(models) else []
