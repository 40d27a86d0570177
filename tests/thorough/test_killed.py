"""`tidegate pr` is killed at a random moment; the next run goes on to the same result and repeats no finished trial.

TIDEGATE_KILLS=100 kills 100 runs of 198 trials (`make kills`, half an hour).
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

KILLS = int(os.environ.get("TIDEGATE_KILLS", "0"))
ROWS = 33 if KILLS else 2  # of three trials on each side
MOMENTS = KILLS or 2
TOOL = "#!/bin/sh\nsleep 0.05\necho 42\n"
SUITE = """\
version: 1
scenarios: [scenarios/*.yaml]
path: [bin]
agents:
  fake: {type: scripted, deterministic: false, steps: {STEPS}}
"""
SCENARIO = """\
name: NAME
description: Asks the tool.
target: {binary: tool}
task: Ask the tool.
evaluation: {gates: [{type: file_contains, path: answer.txt, substring: "42"}]}
"""
PR = ("pr", "--quiet", "--base", "main", "--head", "pr", "--pause", "0")
RESULTS = ".tidegate/store/tests/*/*/trials/*/*/*/result.json"
Make = Callable[..., Any]


def test_a_run_killed_at_any_moment_goes_on_to_the_same_end(
    make_repository: Make, tidegate: Make, tmp_path: Path
) -> None:
    repo = make_repository("repo")
    names = [f"s{number}" for number in range(ROWS)]
    steps = ", ".join(f"{name}: [tool > answer.txt]" for name in names)
    files = {f"scenarios/{name}.yaml": SCENARIO.replace("NAME", name) for name in names}
    repo.commit({"bin/tool": TOOL, "tidegate.yaml": SUITE.replace("STEPS", steps), **files})
    repo.branch("pr", {"bin/tool": TOOL.replace("42", "$((6 * 7))")})
    repo.git("checkout", "--quiet", "main")
    shutil.copytree(repo.root, tmp_path / "calm", symlinks=True)
    expected = finished(tidegate, tmp_path / "calm")
    assert len(expected["trials"]) == 6 * ROWS

    chance = random.Random(22)
    for number in range(MOMENTS):
        folder = tmp_path / f"killed{number}"
        shutil.copytree(repo.root, folder, symlinks=True)
        stored = kill_after(folder, chance.randrange(1, 6 * ROWS), chance.uniform(0, 0.1))
        resumed = finished(tidegate, folder)
        again = {(trial["scenario"], trial["side"], trial["index"]) for trial in resumed["trials"] if trial["reused"]}
        assert again == stored != set()
        assert told(resumed) == told(expected)
        shutil.rmtree(folder)


def finished(tidegate: Make, folder: Path) -> dict[str, Any]:
    """Return the result of a run that ends by itself."""
    done = tidegate(*PR, cwd=folder)
    assert done.code == 0, done.stdout + done.stderr
    result: dict[str, Any] = done.result
    return result


def kill_after(folder: Path, trials: int, seconds: float) -> set[tuple[str, str, int]]:
    """Kill a run so long after so many of its trials are stored, and return those that are stored then."""
    command = [sys.executable, "-m", "tidegate", *PR]
    running = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    give_up = time.monotonic() + 600  # on a busy machine 198 trials take minutes
    while len(list(folder.glob(RESULTS))) < trials and running.poll() is None:
        assert time.monotonic() < give_up
        time.sleep(0.02)
    time.sleep(seconds)
    running.kill()
    running.wait()
    return {(file.parts[-4], file.parts[-6], int(file.parts[-2])) for file in folder.glob(RESULTS)}


def told(result: dict[str, Any]) -> dict[str, Any]:
    """What a run says, but for times, cost, and where its trials come from."""
    rows = json.loads(json.dumps(result["rows"]))
    for row in rows:
        row["metrics"].pop("duration_s", None)
        row.pop("replay")
    trials = [(trial["id"], trial["phase"], trial["decides"], trial["reason"]) for trial in result["trials"]]
    return {"rows": rows, "verdict": result["verdict"], "trials": sorted(trials)}
