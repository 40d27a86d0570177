"""`tidegate prove --agent … --max-usd …` with a real agent and a scripted model."""

from __future__ import annotations

import json
from pathlib import Path

from tests.thorough.real_agents.agents import CASES, Job, Script, example
from tests.thorough.real_agents.conftest import RunAlone

TASKS: Script = [
    ("two tasks", ['taskmgr add "Write the changelog"; taskmgr add "Tag the release"']),
    ("one is done", ["taskmgr done 1"]),
    ("That was all.", []),
]


def test_the_calls_of_a_real_agent_meet_mutants(run_alone: RunAlone, open_folder: Path) -> None:
    """It reaches its model through the proxy alone, as in every trial; so its shell never has the key."""
    out = open_folder / "proof"
    words = ("--agent", "real", "--max-usd", "5", "--mutants", "1")
    done, requests = run_alone(CASES[0], Job(example, TASKS), "prove", *words, "--out", str(out))
    assert done.returncode == 0, done.stderr
    (tool,) = json.loads((out / "proof.json").read_text())["tools"]
    assert ["create_tasks"] in [one["met_by"] for one in tool["mutants"]]
    assert "two tasks" in requests
