"""The environment variables of everything that a trial starts: allow-listed, never inherited."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from tidegate.model.target import PREFIXES
from tidegate.model.trial_spec import TrialSpec
from tidegate.trial.directories import Folders


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
