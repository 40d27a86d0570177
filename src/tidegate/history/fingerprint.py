"""What makes trials of base exchangeable: while it stays the same, earlier ones may stand for new ones (verdict.md)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tidegate import __version__
from tidegate.model.plan import PlanRow
from tidegate.model.suite import Suite
from tidegate.plan import definition_hash
from tidegate.trial.workspace import everything_below, matching_files


def fingerprint(
    row: PlanRow, definitions: Path, guidance: Sequence[str], version: str | None, judge: str = "", scripts: str = ""
) -> str:
    """SHA-256 of the scenario, its template without guidance files, the agent with version and model, and Tidegate.

    `judge`: who judges, and whether that counts; it is part of it where a model has a say.
    `scripts`: a hash of the files of its evaluators' scripts.
    `version`: of the agent's program, as its check found it. A seed is not in it, which gives other draws of the same
    chance. The subject is not in it: base's own history moves with
    base's commits, and fresh base trials guard against drift.
    """
    parts: dict[str, Any] = {
        "tidegate": __version__,
        "scenario": definition_hash(row.scenario),
        "template": list(_files(definitions, row.scenario.template, guidance)),
        "agent": {"name": row.key.agent, **row.agent.model_dump(mode="json", exclude={"seed"})},
        "agent_version": version,
    }
    if judge and row.scenario.judged:
        parts["judge"] = judge
    if row.before:  # trials that were judged by both definitions are no history of either
        parts["before"] = row.before.model_dump(mode="json", exclude={"file", "template"})
    if scripts:
        parts["scripts"] = scripts
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def judge_mark(suite: Suite, folder: Path) -> str:
    """All of the suite that a judged trial hangs on besides its rubric; '' without a judge, who works in `folder`."""
    judge = suite.judge
    return f"{judge.identity(folder)} {judge.samples} {suite.policy.judge_blocks}" if judge else ""


def test_key(fingerprint: str, suite: Suite, trees: Sequence[str]) -> str:
    """SHA-256 of all that a row's whole test hangs on: `trees` are the hashes of both sides' subjects."""
    settings = suite.model_dump(mode="json", include={"build", "path", "limits", "pass_env"})
    parts = {"row": fingerprint, "trees": list(trees), "settings": settings}
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _files(definitions: Path, template: str | None, guidance: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each file of the template by name, with what it holds; a link with where it leads."""
    if template is None:
        return
    folder = definitions / template
    own = set(matching_files(folder, guidance))
    for path in sorted(everything_below(folder)):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            yield name, f"-> {path.readlink()}"
        elif path.is_file() and name not in own:
            yield name, hashlib.sha256(path.read_bytes()).hexdigest()
