"""Runs that go on with what an earlier run measured, to the same end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.journeys.test_resume import Make, pr, start_history, told, without_chance
from tests.journeys.test_resume import flawed as flawed


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
    assert (ran.out / "runs/head/trials/keep_notes/fake/1/record/events.jsonl").is_file()


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
