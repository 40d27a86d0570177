"""A pull request over several processes: plan, shards, merge."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.conftest import FILES, by_chance

Make = Callable[..., Any]
NAMES = [f"keep_{number}" for number in range(8)]
CHANCES = {"keep_2": 0.9, "keep_3": 0.9, "keep_5": 0.9, "keep_6": 0.3}  # how often the agent runs into what head breaks


@pytest.fixture
def spoiled(make_repository: Make) -> Callable[[str], Any]:
    """A repository whose branch spoils some scenarios now and then."""

    def make(name: str) -> Any:
        chances, policy = {one: CHANCES.get(one, 0.0) for one in NAMES}, "policy: {preset: quick, fail_fast: false}\n"
        by_chance(repo := make_repository(name), chances, seed=7, more=policy)
        return repo

    return make


def ran(tidegate: Make, repo: Any, *command: str) -> Any:
    return tidegate(*command, cwd=repo.root)


def screen(tidegate: Make, repo: Any, count: int) -> Path:
    """Plan the shards and run all of them at the same time. Returns the folder of the bundles."""
    planned = ran(tidegate, repo, "plan", "--base", "main", "--head", "pr", "--shards", str(count))
    assert planned.code == 0, planned.stderr
    shards = [entry["shard"] for entry in json.loads(planned.stdout)["include"]]
    assert shards == [f"{number}/{count}" for number in range(1, count + 1)]
    command = [sys.executable, "-m", "tidegate", "shard", "-q", "--jobs", "2"]
    jobs = [subprocess.Popen([*command, shard], cwd=repo.root, stdout=subprocess.DEVNULL) for shard in shards]
    assert [job.wait(120) for job in jobs] == [0] * count
    return Path(repo.root) / ".tidegate/shards"


def merge(tidegate: Make, repo: Any, out: Path) -> Any:
    done = ran(tidegate, repo, "merge", "--pause", "0", "--out", str(out))
    done.out = out
    return done


def test_a_lost_shard_of_a_clean_pull_request_is_inconclusive(spoiled: Make, tidegate: Make, tmp_path: Path) -> None:
    repo = spoiled("clean")
    repo.commit({"bin/notes": FILES["bin/notes"].replace("  add)", "  maybe) ;;  # fixed\n  add)")}, on="pr")
    repo.git("checkout", "--quiet", "main")
    bundles = screen(tidegate, repo, 2)
    (bundles / "shard-1-of-2.zip").write_bytes((bundles / "shard-1-of-2.zip").read_bytes()[:-1])

    merged = merge(tidegate, repo, tmp_path / "merged")

    assert (merged.code, merged.result["verdict"]["reason"]) == (5, "unproven"), merged.stderr
    assert "shard-1-of-2.zip was cut off or changed" in merged.comment
