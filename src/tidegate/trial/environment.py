"""The environment variables of everything that a trial starts: allow-listed, never inherited."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, TypeVar

from tidegate.model.probe import ReadFile
from tidegate.model.suite import EvaluatorScript, Scenario, Script
from tidegate.model.target import PREFIXES
from tidegate.model.trial_spec import TrialSpec
from tidegate.trial.directories import Attempt, Folders
from tidegate.trial.program_lookup import write_front


def side_path(checkout: Path, folders: Iterable[str], system_path: str) -> str:
    """Return the PATH of one side: the suite's `path` folders in its checkout, then the system's absolute folders."""
    own = [str(checkout / folder) for folder in folders]
    # A relative or empty entry would resolve inside the workspace, where the agent can put anything.
    system = [entry for entry in system_path.split(":") if entry.startswith("/")]
    return ":".join([*own, *system])


def base_environment(path: str, home: Path, tmp: Path, passed: Mapping[str, str]) -> dict[str, str]:
    """Return PATH, HOME, TMPDIR, LANG, TERM and the `pass_env` variables; nothing else of Tidegate's environment."""
    fixed = {"PATH": path, "HOME": str(home), "TMPDIR": str(tmp), "LANG": "C.UTF-8", "TERM": "dumb"}
    return {**passed, **fixed}


def git_trusts(checkout: Path) -> dict[str, str]:
    """Return variables that let builds use git (`git describe`) in a checkout that belongs to another user."""
    return {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": str(checkout)}


def script_variables(spec: TrialSpec, model: str | None, folders: Folders) -> dict[str, str]:
    """Return the variables that describe the trial to scripts, as TIDEGATE_… and LLM_TOOL_TEST_… (for its scripts)."""
    values = {
        "FIXTURE_DIR": str(folders.workspace),
        "RESULTS_DIR": str(folders.results),
        "SCENARIO": spec.scenario,
        "AGENT": spec.agent,
        "MODEL": model or "",
        "TRANSCRIPT": f"{folders.shared}/transcript.txt",
        "EVENTS": f"{folders.shared}/events.jsonl",
    }
    return {f"{prefix}_{name}": value for prefix in PREFIXES for name, value in values.items()}


class Environments(NamedTuple):
    """The variables of a trial's commands. Of `target.env`, all have base's, and only the tool has its side's."""

    gates: dict[str, str]
    scripts: dict[str, str]
    agent: dict[str, str]
    server: dict[str, str]  # of the MCP server, if it is the tool
    tool: dict[str, str | None]  # what its side has otherwise, which its wrappers set; None: it is removed

    @classmethod
    def of(cls, attempt: Attempt, port: str) -> Environments:
        """Return the attempt's. The PATH of what judges begins with the target's wrapper, where it has one."""
        place, folders, row = attempt.place, attempt.folders, attempt.row
        target, described = row.scenario.target, script_variables(attempt.spec, row.agent.model, folders)
        values = {**place.passed_env, **described}
        own = variables_with_port(target.environment(values), port)
        base = target if row.env_of_base is None else target.model_copy(update={"env": row.env_of_base})
        of_base = variables_with_port(base.environment(values), port)
        path = f"{folders.wrapped}:{place.check_path}" if place.wraps_target else place.check_path
        plain = base_environment(path, folders.home, folders.tmp, place.passed_env)
        agents = {**plain, "PATH": place.path}
        tool = {name: own.get(name) for name in {**of_base, **own} if own.get(name) != of_base.get(name)}
        checking = {**plain, "TMPDIR": str(folders.check_tmp)}
        of_checks = {**checking, **of_base}, {**checking, **described, **of_base}
        return cls(*of_checks, agent={**agents, **of_base}, server={**agents, **own}, tool=tool)

    def wrap_target(self, attempt: Attempt) -> None:
        """Create the target's wrapper for commands of checks. Both sides have it: it tells no tool its side."""
        if attempt.place.wraps_target and has_commands(attempt.scenario):
            name, place = attempt.scenario.target.binary, attempt.place
            own = {"PATH": place.path, "TMPDIR": str(attempt.folders.tmp)}
            write_front(attempt.folders.wrapped, name, shutil.which(name, path=place.target_path), {**own, **self.tool})


def has_commands(scenario: Scenario) -> bool:
    """Return True unless all that judges the scenario are gates that only read files or the record."""
    others = scenario.setup, scenario.post, scenario.evaluator_scripts, scenario.evaluators, scenario.judge
    requests = [gate.request() for gate in scenario.gates]
    reads = all(request is None or isinstance(request, ReadFile) for request in requests)
    return not reads or any(others) or scenario.target.health_check is not None


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
