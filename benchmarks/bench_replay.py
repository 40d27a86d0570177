"""What `policy.replay.use: skip` saves: real commits of small tools as pull requests, with and without it.

    python benchmarks/bench_replay.py REPOSITORIES [TOOL…]
    python benchmarks/bench_replay.py --examples [EXAMPLE…]
    python benchmarks/bench_replay.py --timing

REPOSITORIES is a folder with clones (or bare copies) of wedow/ticket, todotxt/todo.txt-cli and sjl/t, named ticket,
todo.txt-cli and t. The agent is a program that chooses at random among ways to work. Each pull request is a commit and
its parent, or, to have more that break something, a commit that is undone. Prints the table of docs/replay.md.
`--examples` does the same for the project's examples, with the changes in `replayed_examples.py`.
`--timing` measures how long it takes to replay five sessions of each of 20 rows, of a tool that takes 50 ms a call.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from replayed_examples import EXAMPLE_TOOLS, with_changes
from replayed_tools import TOOLS, Task, Tool

TIDEGATE = [sys.executable, "-m", "tidegate"]
ROOT = Path(__file__).resolve().parent.parent
FIRST = 10  # trials of each row on base before the first pull request

AGENT = """\
import json, os, random, subprocess, sys, time
from pathlib import Path
ways = json.loads((Path(sys.argv[1]) / "ways.json").read_text())
chosen = random.SystemRandom().choice(ways[Path(os.environ["TIDEGATE_PROMPT_FILE"]).read_text().split()[1].strip(".")])
for number, command in enumerate(chosen):
    print(json.dumps({"type": "tool_call", "id": str(number), "tool": "shell", "command": command}), flush=True)
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    ended = {"status": "error" if done.returncode else "ok", "exit_code": done.returncode}
    ended["output"] = done.stdout + done.stderr
    print(json.dumps({"type": "tool_result", "id": str(number), **ended}), flush=True)
print(json.dumps({"type": "end", "end": "completed"}))
"""


class Ended(NamedTuple):
    """How a pull request ended: head's and base's trials, the verdict, and the rows that regressed."""

    trials: int
    state: str
    regressed: tuple[str, ...]
    unchanged: int


def run(folder: Path, *arguments: str) -> int:
    """Run `tidegate`, and return its exit code."""
    done = subprocess.run([*TIDEGATE, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1, 4, 5):
        print(f"tidegate {' '.join(arguments)}: {done.stderr[-2000:]}", file=sys.stderr)
    return done.returncode


def git(folder: Path, *arguments: str) -> None:
    """Run git."""
    named = ("-c", "user.name=bench", "-c", "user.email=bench@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *named, *arguments], cwd=folder, check=True, capture_output=True)


def suite(tool: Tool, use: str) -> str:
    """Return tidegate.yaml."""
    return json.dumps(
        {
            "version": 1,
            "scenarios": ["bench/*.yaml"],
            "watch": [tool.watch, *tool.files],
            "path": [tool.path],
            "budget": {"minutes": 300},  # replays may take a tenth of it, however busy the machine is
            "policy": {"replay": {"use": use}},
            "agents": {
                "any": {
                    "type": "command",
                    "command": f"{sys.executable} {{repo}}/agent/any.py {{repo}}/agent",
                    "output": "events",
                    "deterministic": False,
                }
            },
        }
    )


def write(folder: Path, repository: Path, commit: str, tool: Tool) -> None:
    """Make the work tree of `folder` that of the commit, with the suite."""
    for path in folder.iterdir():
        if path.name not in (".git", ".tidegate"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    packed = subprocess.run(["git", "archive", commit], cwd=repository, check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x"], cwd=folder, input=packed, check=True)
    write_suite(folder, tool)


def write_suite(folder: Path, tool: Tool) -> None:
    """Write the suite, the agent, and the tool's own files."""
    files = {**tool.files, "agent/any.py": AGENT}
    files["agent/ways.json"] = json.dumps({name: task.ways for name, task in tool.tasks.items()})
    files["tidegate.yaml"], files["off.yaml"] = suite(tool, "skip"), suite(tool, "off")
    for name, task in tool.tasks.items():
        gates = [{"type": "command_succeeds", "command": command} for command in task.checks]
        scenario = {
            "name": name,
            "target": {"binary": tool.binary, "env": tool.env},
            "setup": {"commands": list(task.setup)},
            "description": name,
            "task": f"Do {name}.",
            "evaluation": {"gates": gates},
        }
        files[f"bench/{name}.yaml"] = json.dumps(scenario)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)


def compare(folder: Path, config: str) -> Ended:
    """Compare the branch `pr` with main."""
    out = folder / ".tidegate/pr"
    shutil.rmtree(out, ignore_errors=True)
    run(folder, "pr", "--base", "main", "--head", "pr", "--pause", "0", "--config", config)
    result = json.loads((out / "result.json").read_text())
    rows = result["rows"]
    return Ended(
        sum(result["cost"]["trials"].values()),
        result["verdict"]["state"],
        tuple(sorted(row["scenario"] for row in rows if row["state"] == "regressed")),
        sum(row["state"] == "unchanged" for row in rows),
    )


def pull_request(folder: Path, repository: Path, commit: str, tool: Tool) -> tuple[Ended, Ended]:
    """Return how one commit ends: as today, and with `skip`. Base has its nightly trials before."""
    sides = (commit[1:], f"{commit[1:]}^") if commit.startswith("-") else (f"{commit}^", commit)
    first = not (folder / ".tidegate").exists()
    git(folder, "checkout", "--quiet", "-B", "main")
    write(folder, repository, sides[0], tool)
    git(folder, "add", "--all", "--force", ".", ":!.tidegate")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "base")
    if trials := FIRST if first else tool.nightly:
        run(folder, "run", "--rev", "main", "--history", "--trials", str(trials))
    git(folder, "checkout", "--quiet", "-B", "pr")
    write(folder, repository, sides[1], tool)
    git(folder, "add", "--all", "--force", ".", ":!.tidegate")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "head")
    copy = folder.with_name("copy")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy, symlinks=True)  # neither of the two knows the other's trials
    ended = compare(copy, "off.yaml"), compare(folder, "tidegate.yaml")
    git(folder, "checkout", "--quiet", "main")
    return ended


SLOW_TOOL = """#!/bin/sh
sleep 0.05
case "$1" in add) echo "$2" >> notes.txt; echo added ;; list) cat notes.txt ;; *) echo "usage: notes add|list" ;; esac
"""
ROWS, SESSIONS = 20, 5


def timing(folder: Path) -> None:
    """Record sessions of five calls each, and print how long `tidegate replay` takes for all of them."""
    ways = [["notes --help", "notes add One", "notes add Two", "notes list", f"notes add {n}"] for n in range(3)]
    tasks = {f"row{number}": Task(ways, ["grep -q One notes.txt"]) for number in range(ROWS)}
    tool = Tool("notes", "bin/**", tasks, (), files={"bin/notes": SLOW_TOOL}, path="bin")
    write_suite(folder, tool)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "base")
    run(folder, "run", "--rev", "main", "--history", "--trials", str(SESSIONS))
    (folder / "bin/notes").write_text(f"{SLOW_TOOL}# refactored\n")
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([*TIDEGATE, "replay"], cwd=folder, capture_output=True, text=True, check=False)
    took, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{took:.1f} s, {cpu:.1f} s of CPU, load {os.getloadavg()[0]:.1f}: {done.stdout.splitlines()[-1]}")


def measure(name: str, tool: Tool, repository: Path, folder: Path) -> None:
    """Print one line per pull request of the tool."""
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch", "main")
    for commit in tool.commits:
        off, skip = pull_request(folder, repository, commit, tool)
        found = ", ".join(off.regressed) or "–", ", ".join(skip.regressed) or "–"
        numbers = f"{off.trials} | {skip.trials} | {skip.unchanged} of {len(tool.tasks)}"
        print(f"| {name} | {commit} | {numbers} | {off.state}: {found[0]} | {skip.state}: {found[1]} |", flush=True)


def main() -> None:
    """Measure what was asked for."""
    first, *names = sys.argv[1:]
    tools = EXAMPLE_TOOLS if first == "--examples" else TOOLS
    for name in ["--timing"] if first == "--timing" else names or tools:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / "repository"
            if first == "--timing":
                folder.mkdir()
                git(folder, "init", "--quiet", "--initial-branch", "main")
                timing(folder)
                continue
            examples = first == "--examples"
            repository = with_changes(name, Path(scratch) / "example") if examples else Path(first) / name
            measure(name, tools[name], repository, folder)


if __name__ == "__main__":
    main()
