"""An interrupted test of a pull request is resumed: no completed trial is run or paid for again."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
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


def test_a_run_killed_in_the_middle_of_a_confirmation_goes_on_to_the_same_end(
    flawed: Make, tidegate: Make, tmp_path: Path
) -> None:
    """The same outcomes as of a run that nothing interrupted: draws depend on seed, side and index alone."""
    calm, killed = flawed("calm", 0.9), flawed("killed", 0.9, slow="sleep 0.3;")
    for repo in (calm, killed):
        start_history(tidegate, repo)
    expected = pr(tidegate, calm)
    assert expected.code == 1, expected.stderr
    story = told(expected)
    out = tmp_path / "out"

    command = [
        sys.executable,
        "-m",
        "tidegate",
        "pr",
        "--base",
        "main",
        "--head",
        "pr",
        "--pause",
        "0",
        "--out",
        str(out),
    ]
    running = subprocess.Popen(command, cwd=killed.root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    confirmed = killed.root / ".tidegate/store/tests"
    give_up = time.monotonic() + 60
    while len(list(confirmed.glob("*/head/trials/*/*/*/result.json"))) < 5:
        assert running.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < give_up
        time.sleep(0.01)
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    shown = tidegate("show", str(out / "runs/head"), cwd=killed.root)
    assert shown.code == 0, shown.stderr
    assert "interrupted: these are the trials that had finished" in shown.stdout
    assert shown.stdout.count("keep_notes") >= 5

    resumed = pr(tidegate, killed)

    assert resumed.code == 1, resumed.stderr
    assert without_chance(told(resumed)) == without_chance(story)
    used = resumed.result["cost"]["trials"]["head"]
    # At least four of them are used again; the one beside the fifth may still have been running.
    assert 0 < used <= len([trial for trial in story["trials"] if trial[0].startswith("head/")]) - 4
    assert "used again" in resumed.stderr


def test_re_runs_of_a_unconfirmed_pull_request_are_one_test(flawed: Make, tidegate: Make) -> None:
    repo = flawed("repo", 0.3, seed=2)
    start_history(tidegate, repo)

    ran = pr(tidegate, repo)
    first, head_trials = told(ran), ran.result["cost"]["trials"]["head"]
    assert ran.row("keep_notes", "fake")["state"] == "unconfirmed", ran.comment
    for _ in range(5):
        ran = pr(tidegate, repo)
        head_trials += ran.result["cost"]["trials"]["head"]
        assert told(ran)["verdict"] == first["verdict"]
        assert told(ran)["rows"] == first["rows"]

    assert 3 < head_trials <= 6 + 41 + 6  # screening, pairs and verification, over all of them
    assert ran.result["cost"]["trials"] == {"base": 0, "head": 0}
    assert ran.result["sides"]["head"]["origin"] == "reused"
    assert (ran.out / "runs/head/trials/keep_notes/fake/1/events.jsonl").is_file()


def test_a_push_outside_of_the_subject_pays_nothing_and_one_inside_pays_again(flawed: Make, tidegate: Make) -> None:
    repo = flawed("repo", 0.0)
    first = pr(tidegate, repo)
    assert first.result["cost"]["trials"] == {"base": 3, "head": 3}

    repo.git("checkout", "--quiet", "pr")
    repo.commit({"README.md": "what it does"})
    docs = pr(tidegate, repo)
    assert docs.code == 0, docs.stderr
    assert docs.result["cost"]["trials"] == {"base": 0, "head": 0}
    assert docs.row("keep_notes", "fake")["head"]["screen"] == [3, 3]

    repo.commit({"bin/other": "#!/bin/sh\n"})
    code = pr(tidegate, repo)
    assert code.result["cost"]["trials"]["head"] == 3


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
