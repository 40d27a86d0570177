"""The environment of everything that a trial starts: allow-listed, never inherited."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from tidegate.model.trial import TrialSpec
from tidegate.trial.directories import Folders


def side_path(checkout: Path, folders: Iterable[str], system_path: str) -> str:
    """PATH of one side: the suite's `path` folders in its checkout, then the system's own absolute folders."""
    own = [str(checkout / folder) for folder in folders]
    # A relative or empty entry would resolve inside the workspace, where the agent can put anything.
    system = [entry for entry in system_path.split(":") if entry.startswith("/")]
    return ":".join([*own, *system])


def base_environment(path: str, home: Path, tmp: Path, passed: Mapping[str, str]) -> dict[str, str]:
    """PATH, HOME, TMPDIR, LANG and TERM, and what `pass_env` names; nothing else of ours."""
    fixed = {"PATH": path, "HOME": str(home), "TMPDIR": str(tmp), "LANG": "C.UTF-8", "TERM": "dumb"}
    return {**passed, **fixed}


def git_trusts(checkout: Path) -> dict[str, str]:
    """Lets builds read their commit (`git describe`) where files and repository belong to different users."""
    return {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": str(checkout)}


def script_variables(spec: TrialSpec, model: str | None, folders: Folders) -> dict[str, str]:
    """What scripts are told about the trial, under TIDEGATE_ and, for llm-tool-test's scripts, LLM_TOOL_TEST_."""
    values = {
        "FIXTURE_DIR": str(folders.workspace),
        "RESULTS_DIR": str(folders.results),
        "SCENARIO": spec.scenario,
        "AGENT": spec.agent,
        "MODEL": model or "",
        "TRANSCRIPT": str(folders.shared / "transcript.txt"),
        "EVENTS": str(folders.shared / "events.jsonl"),
    }
    return {f"{prefix}_{name}": value for prefix in ("LLM_TOOL_TEST", "TIDEGATE") for name, value in values.items()}
