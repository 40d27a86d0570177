"""A free port for the tool under test: `{port}` in a scenario is its number, the same one in the whole trial."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from typing import TypeVar

from tidegate.model.suite import EvaluatorScript, Scenario, Script

PLACEHOLDER = "{port}"
S = TypeVar("S", Script, EvaluatorScript)


def free_port() -> str:
    """Return the number of a free TCP port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def filled(text: str, port: str) -> str:
    """Return the text with the port in place of `{port}`."""
    return text.replace(PLACEHOLDER, port)


def variables_with_port(environment: Mapping[str, str], port: str) -> dict[str, str]:
    """Return the variables with the port in place of `{port}`."""
    return {name: filled(value, port) for name, value in environment.items()}


def with_port(scenario: Scenario, port: str) -> Scenario:
    """Return the scenario with the port in its prompt, its target, its setup and its scripts."""
    target, mcp = scenario.target, scenario.target.mcp
    scripts = [*(script.command for script in scenario.post), *(one.command for one in scenario.evaluator_scripts)]
    of_target = (*target.env.values(), target.health_check or "", mcp.model_dump_json() if mcp else "")
    if not any(PLACEHOLDER in text for text in (scenario.prompt, *of_target, *scenario.setup, *scripts)):
        return scenario
    new_target = {
        "env": variables_with_port(target.env, port),
        "health_check": target.health_check and filled(target.health_check, port),
        "mcp": mcp and type(mcp).model_validate_json(filled(mcp.model_dump_json(exclude_defaults=True), port)),
    }
    return scenario.model_copy(
        update={
            "prompt": filled(scenario.prompt, port),
            "target": target.model_copy(update=new_target),
            "setup": tuple(filled(command, port) for command in scenario.setup),
            "post": tuple(_script(script, port) for script in scenario.post),
            "evaluator_scripts": tuple(_script(script, port) for script in scenario.evaluator_scripts),
        }
    )


def _script(script: S, port: str) -> S:
    return script.model_copy(update={"command": filled(script.command, port)})
