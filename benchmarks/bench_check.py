"""How long `tidegate check` takes for a large suite: `python benchmarks/bench_check.py [SCENARIOS]`."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 5
SUITE = "version: 1\nscenarios: [scenarios/*.yaml]\nagents:\n  docs: {type: doc-follower}\n"
SCENARIO = """\
name: s{n:04}
description: The number {n}.
target:
  binary: taskmgr
  command_pattern: "taskmgr\\\\s+(\\\\S+)"
  env: {{COLOR: never}}
task:
  prompt: |
    Write down the task number {n}.
    Then show the list.
setup: {{commands: [taskmgr init]}}
evaluation:
  gates:
    - {{type: command_succeeds, command: taskmgr list}}
    - {{type: command_json_path, command: taskmgr export, path: "$.tasks[{n}].title", assertion: exists}}
    - {{type: file_matches, path: notes.txt, pattern: "number {n}"}}
  evaluators:
    - {{type: tool_f1, expected: ["taskmgr:add"]}}
    - {{type: tool_trajectory, mode: in_order, expected: [{{tool: "taskmgr:add"}}, {{tool: "taskmgr:list"}}]}}
purpose: capability
tags: [large]
"""


def main() -> None:
    """Write that many scenarios into a repository, check them, and print the times."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    with tempfile.TemporaryDirectory() as folder:
        repo = Path(folder)
        (repo / "scenarios").mkdir()
        (repo / "tidegate.yaml").write_text(SUITE, encoding="utf-8")
        for n in range(count):
            (repo / f"scenarios/s{n:04}.yaml").write_text(SCENARIO.format(n=n), encoding="utf-8")
        subprocess.run(["git", "init", "--quiet"], cwd=repo, check=True)
        times = [checked(repo) for _ in range(ROUNDS)]
    for name, seconds in zip(("on the clock", "of a processor"), zip(*times, strict=True), strict=True):
        print(f"{count} scenarios, {name}: median {statistics.median(seconds):.2f} s, fastest {min(seconds):.2f} s")


def checked(repo: Path) -> tuple[float, float]:
    """Seconds of one `tidegate check`, on the clock and of a processor, which no other work touches."""
    started, before = time.perf_counter(), os.times()
    subprocess.run([sys.executable, "-m", "tidegate", "check"], cwd=repo, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - started, used


if __name__ == "__main__":
    main()
