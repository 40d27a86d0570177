"""The environment of everything that a trial starts: allow-listed, never inherited."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from tidegate.model.trial import TrialSpec


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


def script_variables(spec: TrialSpec, model: str | None, workspace: Path, record: Path) -> dict[str, str]:
    """What scripts are told about the trial, under TIDEGATE_ and, for llm-tool-test's scripts, LLM_TOOL_TEST_."""
    values = {
        "FIXTURE_DIR": str(workspace),
        "RESULTS_DIR": str(record),
        "SCENARIO": spec.scenario,
        "AGENT": spec.agent,
        "MODEL": model or "",
        "TRANSCRIPT": str(record / "transcript.txt"),
        "EVENTS": str(record / "events.jsonl"),
    }
    return {f"{prefix}_{name}": value for prefix in ("LLM_TOOL_TEST", "TIDEGATE") for name, value in values.items()}
