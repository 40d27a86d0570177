"""The environment variables of everything that a trial starts: allow-listed, never inherited."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from tidegate.model.probe import ReadFile
from tidegate.model.suite import Scenario
from tidegate.model.target import PREFIXES
from tidegate.model.trial_spec import TrialSpec
from tidegate.trial.directories import Attempt, Folders
from tidegate.trial.free_port import variables_with_port
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
