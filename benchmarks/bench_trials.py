"""How long a whole trial takes when tool and agent take no time: `python benchmarks/bench_trials.py [SCENARIOS]`."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

SUITE = "version: 1\nscenarios: [scenarios/*.yaml]\npath: [bin]\nagents:\n  fake:\n    type: scripted\n    steps:\n"
SCENARIO = """\
name: s{n}
description: One call, one gate.
target: {{binary: tool}}
task: nothing
evaluation:
  gates:
    - {{type: command_succeeds, command: "true"}}
"""


def main() -> None:
    """Make a repository with that many scenarios, run it with one slot and with one per core, print both times."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    with tempfile.TemporaryDirectory() as folder:
        repo = Path(folder) / "repo"
        make_repository(repo, count)
        for slots in (["--jobs", "1"], []):
            out = Path(folder) / f"run{len(slots)}"
            started = time.perf_counter()
            command = [sys.executable, "-m", "tidegate", "run", "--quiet", *slots, "--out", str(out)]
            subprocess.run(command, cwd=repo, check=True, stdout=subprocess.DEVNULL)
            seconds = time.perf_counter() - started
            name = " ".join(slots) or "a slot per core"
            print(f"{name}: {count} trials in {seconds:.1f} s, {1000 * seconds / count:.0f} ms each")


def make_repository(repo: Path, count: int) -> None:
    """A tool that does nothing, and scenarios that call it once."""
    (repo / "scenarios").mkdir(parents=True)
    (repo / "bin").mkdir()
    tool = repo / "bin/tool"
    tool.write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
    tool.chmod(0o755)
    for n in range(count):
        (repo / f"scenarios/s{n}.yaml").write_text(SCENARIO.format(n=n), encoding="utf-8")
    steps = "".join(f"      s{n}: [tool]\n" for n in range(count))
    (repo / "tidegate.yaml").write_text(SUITE + steps, encoding="utf-8")
    identity = ("-c", "user.name=bench", "-c", "user.email=bench@example.org")
    for arguments in (("init", "--quiet"), ("add", "--all"), (*identity, "commit", "--quiet", "--message=bench")):
        subprocess.run(["git", *arguments], cwd=repo, check=True)


if __name__ == "__main__":
    main()
