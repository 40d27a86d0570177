"""An interrupted test of a pull request is resumed: no completed trial is run or paid for again."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.journeys.conftest import by_chance

Make = Callable[..., Any]


@pytest.fixture
def flawed(make_repository: Make) -> Callable[..., Any]:
    """A repository whose branch spoils its one scenario with the given chance."""

    def make(name: str, chance: float, seed: int = 1, slow: str = "") -> Any:
        by_chance(repo := make_repository(name), {"keep_notes": chance}, seed=seed, slow=slow)
        return repo

    return make


def start_history(tidegate: Make, repo: Any) -> None:
    ran = tidegate("run", "--rev", "main", "--history", "--trials", "10", cwd=repo.root)
    assert ran.code == 0, ran.stderr


def pr(tidegate: Make, repo: Any, head: str = "pr") -> Any:
    return tidegate("pr", "--base", "main", "--head", head, "--pause", "0", cwd=repo.root)


def told(ran: Any) -> dict[str, Any]:
    """All that a run says, but for what it cost, where its trials come from, and replays of a tool that has luck."""
    result: dict[str, Any] = ran.result
    rows = [{name: value for name, value in row.items() if name != "replay"} for row in result["rows"]]
    trials = [(t["id"], t["phase"], t["decides"]) for t in result["trials"]]
    return {"rows": rows, "verdict": result["verdict"], "suite": result["suite"], "trials": sorted(trials)}


def without_chance(told: dict[str, Any]) -> dict[str, Any]:
    """Without seconds, what depends on them, and commits: no two runs have them in common."""
    text = json.dumps(told)
    loaded: dict[str, Any] = json.loads(text)
    for row in loaded["rows"]:
        (row["evidence"] or {}).pop("reproduce", None)
    for metrics in (loaded["suite"]["metrics"], *(row["metrics"] for row in loaded["rows"])):
        metrics.pop("duration_s", None)
        for change in metrics.values():
            change.pop("q", None)  # it is adjusted for all metrics, and so depends on the duration's
    return loaded


def test_a_damaged_or_forged_store_is_run_again_never_believed(flawed: Make, tidegate: Make) -> None:
    repo = flawed("repo", 0.0)
    pr(tidegate, repo)
    (stored,) = repo.root.glob(".tidegate/store/tests/*/head/trials/*/*/2/result.json")
    stored.write_text("{}")
    (test,) = repo.root.glob(".tidegate/store/tests/*")

    assert pr(tidegate, repo).result["cost"]["trials"] == {"base": 0, "head": 1}

    test.rename(test.with_name("0" * 64))
    assert pr(tidegate, repo).result["cost"]["trials"]["head"] == 3


def test_two_runs_never_work_on_the_tests_of_one_store(flawed: Make, tidegate: Make) -> None:
    repo = flawed("shared", 0.0)
    store = repo.root / ".tidegate/store"
    store.mkdir(parents=True)
    with (store / "tests.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        second = pr(tidegate, repo)
    assert second.code == 4
    assert f"{store}: another run is using this store.\nWait until it has ended" in second.stderr

    assert pr(tidegate, repo).code == 0
