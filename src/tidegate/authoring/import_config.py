"""Turns llm-tool-test's TOML configuration into a tidegate.yaml."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

import yaml
from pydantic import ValidationError

from tidegate.errors import ConfigurationError
from tidegate.model.value import Value

_TYPES = {
    "opencode": "opencode",
    "claude-code": "claude-code",
    "codex": "codex",
    "gemini": "gemini",
    "gemini-cli": "gemini",
}
_PROVIDERS = {
    "claude": "anthropic",
    "gpt": "openai",
    "o1": "openai",
    "o3": "openai",
    "o4": "openai",
    "gemini": "google",
}
_PRESETS = {"quick": "quick", "smoke": "quick", "standard": "standard", "full": "thorough", "thorough": "thorough"}
_VARIABLE = re.compile(r"\$\{(\w+)\}")
CONFIG = "llm-tool-test-config.toml"
_ADVICE = f"It has to be a configuration of llm-tool-test: {CONFIG}."


class _Target(Value):
    binary: str | None = None
    command_pattern: str | None = None
    health_check: str | None = None
    env: dict[str, str] = {}


class _Tool(Value):
    name: str | None = None
    command: str | None = None
    models: tuple[str, ...] = ()


class _Profile(Value):
    name: str | None = None
    tools: tuple[str, ...] = ()
    models: tuple[str, ...] = ()


class _Rates(Value):
    input_cost_per_1k_tokens: float = 0.0
    output_cost_per_1k_tokens: float = 0.0


class _Config(Value):
    target: _Target | None = None
    tools: dict[str, _Tool] = {}
    profiles: dict[str, _Profile] = {}
    models: dict[str, _Rates] = {}
    fixtures_path: str = "llm-test-fixtures"
    results_path: str | None = None


def suite_of_config(text: str, name: str, also: Mapping[str, Any] | None = None) -> str:
    """Return the text of a tidegate.yaml with the target, the tools as agents, and a command for each profile.

    `also` has more keys of the suite. Raises ConfigurationError if the text is not such a configuration.
    """
    try:
        config = _Config.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{name} is not TOML: {error}", _ADVICE) from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise ConfigurationError(f"{name}: {place}: {first['msg']}", _ADVICE) from None
    agents = {key: _agent(key, tool) for key, tool in config.tools.items()}
    suite: dict[str, Any] = {"version": 1, "scenarios": [f"{config.fixtures_path.rstrip('/')}/*.yaml"]}
    if config.target:
        suite["target"] = config.target.model_dump(exclude_defaults=True)
        variables = [found for value in config.target.env.values() for found in _VARIABLE.findall(value)]
        suite |= {"pass_env": sorted(set(variables))} if variables else {}
    suite |= {"agents": {key: agent for key, agent in agents.items() if agent}} if any(agents.values()) else {}
    prices = {
        model: {"input": 1000 * own.input_cost_per_1k_tokens, "output": 1000 * own.output_cost_per_1k_tokens}
        for model, own in config.models.items()
    }
    suite |= {**(also or {}), **({"prices": prices} if prices else {})}
    lines = [f"# From {name}.", *_profiles(config, agents), *_left_out(config, agents)]
    lines += ["# Prices are in USD per million tokens, 1000 times those per 1000: check them."] if prices else []
    return "\n".join(lines) + "\n" + yaml.safe_dump(suite, sort_keys=False, allow_unicode=True, width=120)


def _agent(key: str, tool: _Tool) -> dict[str, Any] | None:
    """Return the agent of a tool; None if Tidegate has none for it."""
    kind = _TYPES.get(tool.name or key) or _TYPES.get(key)
    models = [model for written in tool.models if (model := _model(kind, written))]
    if kind is None and tool.command:
        return {"type": "command", "command": f"{tool.command} {{prompt}}", **({"models": models} if models else {})}
    if kind is None or (kind == "opencode" and not models):
        return None
    return {"type": kind, **({"models": models} if models else {})}


def _model(kind: str | None, model: str) -> str | None:
    """Return the model as the agent names it: opencode needs its provider. None if that is not known."""
    if kind != "opencode" or "/" in model:
        return model
    provider = next((provider for start, provider in _PROVIDERS.items() if model.startswith(start)), None)
    return provider and f"{provider}/{model}"


def _profiles(config: _Config, agents: dict[str, dict[str, Any] | None]) -> Iterator[str]:
    """Yield the command that runs each profile. A profile without models runs those of its tools."""
    for name, profile in config.profiles.items():
        chosen = [
            choice for tool in profile.tools if (agent := agents.get(tool)) for choice in _chosen(tool, agent, profile)
        ]
        preset = f", with `policy: {{preset: {_PRESETS[name]}}}`" if name in _PRESETS else ""
        if chosen:
            yield f"# Profile {name}: tidegate pr {' '.join(f'--agent {choice}' for choice in chosen)}{preset}"


def _chosen(tool: str, agent: dict[str, Any], profile: _Profile) -> Iterator[str]:
    models: list[str] = agent.get("models", [])
    wanted = {_model(agent["type"], model) for model in profile.models}
    if not models:
        yield tool
    yield from (f"{tool}:{model}" for model in models if not wanted or model in wanted)


def _left_out(config: _Config, agents: dict[str, dict[str, Any] | None]) -> Iterator[str]:
    for key, tool in config.tools.items():
        if agents[key] is None:
            yield f"# Left out: the tool {key}, for which there is no agent; `scripted` and `command` run anything."
            continue
        lost = [model for model in tool.models if _model(agents[key]["type"], model) is None]  # type: ignore[index]
        if lost:
            yield f"# Left out: {', '.join(lost)} of {key}: write PROVIDER/MODEL."
    if config.results_path:
        yield f"# Left out: results_path {config.results_path}: results are in .tidegate, or use --out."
