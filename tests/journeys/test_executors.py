"""Trials on workers: a whole run by the executor `command`, whose worker is a process of its own."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.thorough.attempts.by_executor import WORKER

ROOT = Path(__file__).parents[2]
Make = Callable[..., Any]


def outcomes(stdout: str) -> dict[str, tuple[Any, ...]]:
    """What a stored run says of each trial, without times."""
    trials = json.loads(stdout)["trials"]
    return {
        one["id"]: (one["outcome"], one["decides"], [gate["passed"] for gate in one["gates"]], one["subcommands"])
        for one in trials
    }


def test_a_task_manager_is_measured_alike_here_and_on_workers(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    shutil.copytree(ROOT / "examples/taskmgr", repo.root, dirs_exist_ok=True)
    repo.commit({})
    chosen = ("run", "--scenario", "create_tasks", "--trials", "2", "--json")
    here = tidegate(*chosen, cwd=repo.root)
    assert here.code == 0, here.stderr

    suite = (repo.root / "tidegate.yaml").read_text()
    engine = f"executor: {{type: command, parallel: 2, run: '{WORKER}'}}\n"
    repo.commit({"tidegate.yaml": suite + engine})
    there = tidegate(*chosen, "--out", "there", cwd=repo.root)
    assert there.code == 0, there.stderr
    assert outcomes(there.stdout) == outcomes(here.stdout)
    assert len(outcomes(there.stdout)) == 2
    for name in ("events.jsonl", "trial.json", "transcript.txt", "workspace.diff"):
        assert (repo.root / "there/trials/create_tasks/docs/2" / name).stat().st_size
