"""No process outlives its trial, neither after a timeout nor after Tidegate is killed."""

from __future__ import annotations

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

from tests.journeys.conftest import FILES
from tests.thorough.small_disk import small_disk
from tests.trial.test_processes import alive

Make = Callable[..., Any]

# Forks twice, leaves its session, ignores what can be ignored, and stays.
DAEMON = """\
import os, signal, sys, time
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(600)
    os._exit(0)
time.sleep(600)
"""


def suite(mark: str, timeout: str) -> str:
    command = f"python3 {{repo}}/daemon.py {mark}"
    return (
        "version: 1\nscenarios: [scenarios/*.yaml]\npath: [bin]\n"
        f"agents: {{hangs: {{type: command, command: '{command}', timeout_secs: {timeout}}}}}\n"
    )


def gone_soon(mark: str, within: float = 60) -> bool:
    end = time.monotonic() + within
    while alive(mark) and time.monotonic() < end:
        time.sleep(0.05)
    return not alive(mark)


def test_a_hanging_agent_and_its_daemons_are_gone_after_the_timeout(pull_request: Make) -> None:
    mark = f"timeout-{os.getpid()}"

    ran = pull_request({**FILES, "tidegate.yaml": suite(mark, "1.5"), "daemon.py": DAEMON}, {"README.md": "x"})

    assert alive(mark) == []
    stored = {trial["id"]: trial for trial in ran.result["trials"]}
    trial = stored["head/keep_notes/hangs/1"]
    assert (trial["end"], trial["metrics"]["completed"], trial["outcome"]) == ("timeout", False, "fail")
    assert (ran.out / "runs/head/trials/keep_notes/hangs/1/result.json").is_file()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_whatever_ends_tidegate_ends_everything_that_it_started(
    make_repository: Make, tmp_path: Path, number: signal.Signals
) -> None:
    mark = f"{number.name}-{os.getpid()}"
    repo = make_repository()
    repo.commit({**FILES, "tidegate.yaml": suite(mark, "60"), "daemon.py": DAEMON})
    repo.branch("pr", {"README.md": "x"})
    command = [sys.executable, "-m", "tidegate", "pr", "--base", "main", "--head", "pr", "--out", str(tmp_path / "out")]
    running = subprocess.Popen(command, cwd=repo.root, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 120
    while not alive(mark) and time.monotonic() < end:
        time.sleep(0.05)
    assert alive(mark), "the agent was never started"

    running.send_signal(number)
    _, errors = running.communicate(timeout=120)

    assert gone_soon(mark), alive(mark)
    if number != signal.SIGKILL:
        assert running.returncode == 130
        assert "interrupted" in errors
        assert "Traceback" not in errors


def test_further_interrupts_do_not_disturb_the_end(make_repository: Make, tmp_path: Path) -> None:
    """People press Ctrl-C twice, and a runner sends SIGTERM after SIGINT: still nothing is left, on disk neither."""
    mark = f"twice-{os.getpid()}"
    repo = make_repository()
    repo.commit({**FILES, "tidegate.yaml": suite(mark, "60"), "daemon.py": DAEMON})
    (tmp_path / "tmp").mkdir()
    command = [sys.executable, "-m", "tidegate", "run", "--rev", "HEAD", "--out", str(tmp_path / "out")]
    environment = {**os.environ, "TMPDIR": str(tmp_path / "tmp")}
    running = subprocess.Popen(command, cwd=repo.root, env=environment, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 120
    while not alive(mark) and time.monotonic() < end:
        time.sleep(0.05)

    for number in [signal.SIGINT, signal.SIGINT, signal.SIGTERM, signal.SIGINT] * 5:
        running.send_signal(number)
        time.sleep(0.02)
    _, errors = running.communicate(timeout=120)

    assert running.returncode == 130
    assert "Traceback" not in errors
    assert gone_soon(mark), alive(mark)
    assert list((tmp_path / "tmp").iterdir()) == []
    assert repo.git("worktree", "list").count("\n") == 0


def test_a_trial_that_the_runs_minutes_cut_off_is_not_measured(pull_request: Make) -> None:
    """It would have gone on, so it is no fail."""
    mark = f"minutes-{os.getpid()}"

    ran = pull_request(
        {**FILES, "tidegate.yaml": suite(mark, "60") + "budget: {minutes: 0.06}\n", "daemon.py": DAEMON},
        {"README.md": "x"},
        "--jobs",
        "2",
    )

    assert (ran.code, ran.result["verdict"]["reason"]) == (4, "budget"), ran.stderr
    assert {trial["not_measured"] for trial in ran.result["trials"]} == {"budget"}
    assert alive(mark) == []


@pytest.mark.parametrize("step", ["--version", "add", "list"])  # of the health check, the agent, a gate
def test_a_full_disk_is_no_failure_of_what_was_tried_on_it(
    make_repository: Make, tidegate: Make, tmp_path: Path, step: str
) -> None:
    filling = FILES["bin/notes"].replace(f"  {step})", f"  {step}) head -c 99999999 /dev/zero > filling || exit 3;")
    repo = make_repository()
    too_large_for_memory = {"scenarios/keep/large": "x" * 600_000}
    repo.commit({**FILES, **too_large_for_memory, "bin/notes": filling})
    with small_disk("size=8m") as disk:
        ran = tidegate("run", "--out", str(tmp_path / "out"), cwd=repo.root, env={"TMPDIR": str(disk)})

    assert ran.code == 4
    (trial,) = json.loads((tmp_path / "out/run.json").read_text())["trials"]
    assert (trial["outcome"], trial["not_measured"]) == (None, "resources")


DEEP = """\
#!/usr/bin/env python3
import os, sys
places = [os.environ[name] for name in ("HOME", "TIDEGATE_RESULTS_DIR", "PWD") if name in os.environ]
for place in places if sys.argv[1:] == ["add", "first"] else ():
    os.chdir(place)
    for _ in range(3000):
        os.mkdir("d")
        os.chdir("d")
    os.chmod(".", 0)
"""


@pytest.mark.parametrize(
    "target",
    ['#!/bin/sh\n[ $1 = --version ] || rm -rf "$PWD"\n', DEEP],
    ids=["removes its workspace", "makes folders in folders"],
)
def test_whatever_a_tool_leaves_of_its_folders_the_trial_counts(
    make_repository: Make, tidegate: Make, tmp_path: Path, target: str
) -> None:
    repo = make_repository()
    post = FILES["scenarios/keep.yaml"] + "scripts: {post: [{command: notes add first}]}\n"
    repo.commit({**FILES, "bin/notes": target, "scenarios/keep.yaml": post})
    (tmp_path / "tmp").mkdir()

    ran = tidegate("run", "--out", str(tmp_path / "out"), cwd=repo.root, env={"TMPDIR": str(tmp_path / "tmp")})

    assert ran.code == 1, ran.stderr
    (trial,) = json.loads((tmp_path / "out/run.json").read_text())["trials"]
    assert (trial["outcome"], trial["not_measured"]) == ("fail", None)
    assert list((tmp_path / "tmp").iterdir()) == []
