"""What a trial costs beside its processes: `python benchmarks/bench_trials.py [--cases N] [--jobs N] [--rounds N]`.

Each case is a scenario of its own: a workspace of ten files, a recorded call of a tool that takes 50 ms, one gate, the
diff and the record. The same tool, started by bare asyncio, is measured in between.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
FILES = 10
SUITE = "version: 1\nscenarios: [scenarios/*.yaml]\npath: [bin]\nagents:\n  fake:\n    type: scripted\n    steps:\n"
SCENARIO = """\
name: s{n}
description: One call, one gate.
target: {{binary: tool}}
template_folder: start
task: Ask the tool for the answer.
evaluation:
  gates:
    - {gate}
"""
GATES = {
    "file": '{type: file_contains, path: answer.txt, substring: "42"}',
    "command": '{type: command_succeeds, command: "grep -q 42 answer.txt"}',
}


class Used(NamedTuple):
    """What one run took."""

    cpu: float
    wall: float
    peak_mb: float


def main() -> None:
    """Measure both in turn, and print the medians per case and their ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--gate", choices=GATES, default="file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        repo = Path(folder) / "repo"
        tool = make_repository(repo, options.cases, GATES[options.gate])
        bare, ours = [], []
        for number in range(options.rounds):
            bare.append(run_bare(tool, options.cases, options.jobs, Path(folder) / "lines"))
            ours.append(run_trials(repo, options.cases, options.jobs, Path(folder) / f"run{number}"))
    report(options.cases, bare, ours)


def report(cases: int, bare: Sequence[Used], ours: Sequence[Used]) -> None:
    """Print one line for each, and the ratios."""
    for name, runs in (("bare asyncio", bare), ("tidegate run", ours)):
        cpu, wall, peak = (statistics.median(column) for column in zip(*runs, strict=True))
        noise = (max(runs).cpu - min(runs).cpu) / cpu
        print(
            f"{name}: CPU {1000 * cpu / cases:6.2f} ms a case (±{50 * noise:.0f} %), "
            f"wall {wall:6.2f} s, largest process {peak:.0f} MB"
        )
    pairs = [(own.cpu / other.cpu, own.wall / other.wall) for own, other in zip(ours, bare, strict=True)]
    cpu, wall = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"ratio: {cpu:.1f} x the CPU, {wall:.2f} x the wall time")


def run_bare(tool: Path, cases: int, jobs: int, out: Path) -> Used:
    """Run the tool by bare asyncio."""
    used = measured([sys.executable, str(HERE / "bare.py"), str(tool), str(cases), str(jobs), str(out)], HERE)
    passed = [json.loads(line)["passed"] for line in out.read_text(encoding="utf-8").splitlines()]
    assert passed == [True] * cases
    return used


def run_trials(repo: Path, cases: int, jobs: int, out: Path, each: int = 1) -> Used:
    """Run the suite, with so many trials of each case."""
    command = [sys.executable, "-m", "tidegate", "run", "--quiet", "--jobs", str(jobs), "--out", str(out)]
    used = measured([*command, "--trials", str(each)], repo)
    results = list(out.glob("trials/*/*/*/result.json"))
    assert len(results) == cases * each
    assert all(json.loads(result.read_bytes())["outcome"] == "pass" for result in results)
    assert len(list(out.glob("trials/*/*/*/workspace.diff"))) == cases * each
    return used


def measured(command: Sequence[str], folder: Path, codes: Sequence[int] = (0,)) -> Used:
    """Run the command; return the CPU of all its processes, the wall time, and the memory of its largest process.

    Its exit code is one of `codes`.
    """
    reader = "import json, resource, subprocess, sys, time; began = time.perf_counter(); "
    reader += (
        "done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL); took = time.perf_counter() - began; "
        f"assert done.returncode in {tuple(codes)}, done.returncode; "
    )
    reader += "used = resource.getrusage(resource.RUSAGE_CHILDREN); "
    reader += "print(json.dumps([used.ru_utime + used.ru_stime, took, used.ru_maxrss / 1000]))"
    done = subprocess.run([sys.executable, "-c", reader, *command], cwd=folder, check=True, stdout=subprocess.PIPE)
    return Used(*json.loads(done.stdout))


def make_repository(repo: Path, count: int, gate: str) -> Path:
    """Make a repository with a compiled tool, a template of ten files, and scenarios that call the tool once."""
    for folder in ("scenarios", "bin", "start/docs"):
        (repo / folder).mkdir(parents=True)
    tool = repo / "bin/tool"
    subprocess.run(["cc", "-O1", "-o", str(tool), str(HERE / "tool.c")], check=True)
    for n in range(FILES):
        name = f"start/docs/page{n}.md" if n % 2 else f"start/file{n}.txt"
        (repo / name).write_text(f"This is file {n}.\n" * 50, encoding="utf-8")
    for n in range(count):
        (repo / f"scenarios/s{n}.yaml").write_text(SCENARIO.format(n=n, gate=gate), encoding="utf-8")
    steps = "".join(f"      s{n}: [tool > answer.txt]\n" for n in range(count))
    (repo / "tidegate.yaml").write_text(SUITE + steps, encoding="utf-8")
    identity = ("-c", "user.name=bench", "-c", "user.email=bench@example.org")
    for arguments in (("init", "--quiet"), ("add", "--all"), (*identity, "commit", "--quiet", "--message=bench")):
        subprocess.run(["git", *arguments], cwd=repo, check=True)
    return tool


if __name__ == "__main__":
    main()
