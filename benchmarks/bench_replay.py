"""What `policy.replay.use: skip` saves: real commits of small tools as pull requests, with and without it.

    python benchmarks/bench_replay.py REPOSITORIES [TOOL…]
    python benchmarks/bench_replay.py --timing

REPOSITORIES is a folder with clones (or bare copies) of wedow/ticket, todotxt/todo.txt-cli and sjl/t, named ticket,
todo.txt-cli and t. The agent is a program that chooses at random among ways to work. Each pull request is a commit and
its parent, or, to have more that break something, a commit that is undone. Prints the table of docs/replay.md.
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

TIDEGATE = [sys.executable, "-m", "tidegate"]
ROOT = Path(__file__).resolve().parent.parent
FIRST, NIGHTLY = 10, 2  # trials of each row on base before the first pull request, and before each other one
Ways = list[list[str]]  # each way to work is a list of commands

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


class Task(NamedTuple):
    """A scenario: how it is prepared, the ways to do it, and the commands that have to succeed afterwards."""

    ways: Ways
    checks: list[str]
    setup: tuple[str, ...] = ()


class Tool(NamedTuple):
    """A tool, its tasks, and the commits that are its pull requests; `-` before a commit undoes it."""

    binary: str
    watch: str
    tasks: dict[str, Task]
    commits: tuple[str, ...]
    files: dict[str, str] = {}
    env: dict[str, str] = {}
    path: str = "."


TICKET = Tool(
    "ticket",
    "ticket",
    {
        "create": Task(
            [
                ["ticket create 'Fix it'", "cat .tickets/*.md"],
                ["ticket help | head -n 20", "ticket create 'Fix it' -p 1", "ls .tickets"],
                ["id=$(ticket create 'Fix it' --tags ui) && ticket show $id"],
            ],
            ["grep -q 'Fix it' .tickets/*.md"],
        ),
        "close": Task(
            [
                ["id=$(ticket create One) && ticket close $id", "ticket closed"],
                ["ticket create One", "ticket close $(ls .tickets | cut -d. -f1)"],
                ["id=$(ticket create One) && ticket start $id && ticket close $id && ticket show $id"],
            ],
            ["grep -q 'status: closed' .tickets/*.md"],
        ),
        "list": Task(
            [
                ["ticket create One", "ticket create Two", "ticket ls > found.txt", "cat found.txt"],
                ["ticket create One; ticket create Two", "ticket ls --status=open > found.txt"],
                ["ticket create One; ticket create Two", "ticket list > found.txt; cat found.txt"],
            ],
            ["grep -q One found.txt && grep -q Two found.txt"],
        ),
        "depend": Task(
            [
                ["a=$(ticket create A); b=$(ticket create B); ticket dep $a $b; ticket blocked"],
                ["a=$(ticket create A); b=$(ticket create B); ticket dep $a $b; ticket dep tree $a; ticket ready"],
            ],
            ["ticket blocked | grep -q A"],
        ),
        "note": Task(
            [
                ["id=$(ticket create A) && ticket add-note $id 'Seen twice' && ticket show $id"],
                ["id=$(ticket create A) && echo 'Seen twice' | ticket add-note $id", "cat .tickets/*.md | tail -n 3"],
            ],
            ["grep -q 'Seen twice' .tickets/*.md"],
        ),
    },
    ("f400807", "4861d77", "836707b", "73c7ce4", "13e81b1", "7e98b92", "-bffc9ce"),
)
CONFIG = (
    "for n in TODO DONE REPORT; do echo export $n'_FILE'=$n.txt; done > todo.cfg; echo export TODO_DIR=. >> todo.cfg"
)
TODO = Tool(
    "todo.sh",
    "todo.sh",
    {
        "add": Task(
            [
                ["todo.sh add Write it", "todo.sh list"],
                ["todo.sh help add", "todo.sh add 'Write it'"],
                ["todo.sh a 'Write it +docs' && todo.sh ls +docs"],
            ],
            ["grep -q 'Write it' TODO.txt"],
            (CONFIG,),
        ),
        "done": Task(
            [
                ["todo.sh add One; todo.sh do 1"],
                ["todo.sh add One", "todo.sh -a do 1", "todo.sh archive"],
                ["todo.sh shorthelp | head -n 30", "todo.sh a One && todo.sh do 1 && cat DONE.txt"],
            ],
            ["grep -q '^x .*One' DONE.txt"],
            (CONFIG,),
        ),
        "priorities": Task(
            [
                [
                    "todo.sh add One; todo.sh add Two; todo.sh pri 1 A; todo.sh pri 2 C",
                    "todo.sh -p listpri AC > found.txt",
                ],
                ["todo.sh add '(A) One'; todo.sh add '(C) Two'", "todo.sh -p lsp A-C > found.txt; cat found.txt"],
            ],
            ["grep -q One found.txt && grep -q Two found.txt"],
            (CONFIG,),
        ),
        "move": Task(
            [
                ["todo.sh add One; touch later.txt; todo.sh -f move 1 later.txt", "cat later.txt"],
                ["todo.sh help move", "todo.sh add One && touch later.txt && todo.sh -f mv 1 later.txt"],
            ],
            ["grep -q One later.txt"],
            (CONFIG,),
        ),
        "replace": Task(
            [
                ["todo.sh add One; todo.sh replace 1 Two", "todo.sh list"],
                ["todo.sh add One; todo.sh append 1 more; todo.sh -f del 1 more; todo.sh replace 1 Two"],
            ],
            ["grep -q Two TODO.txt && ! grep -q One TODO.txt"],
            (CONFIG,),
        ),
    },
    ("616e7a1", "d162645", "96818cf", "2268f21", "c296620", "dae4cfd", "-ca444e4"),
    env={"TODOTXT_CFG_FILE": "./todo.cfg"},
)
T = Tool(
    "t",
    "t.py",
    {
        "add": Task(
            [["t -l tasks 'Write it'", "t -l tasks"], ["t --list=tasks Write it"], ["t --help", "t -l tasks Write it"]],
            ["grep -q 'Write it' tasks"],
        ),
        "finish": Task(
            [
                ["t -l tasks One", "t -l tasks -f $(t -l tasks | cut -d' ' -f1)", "t -l tasks --done"],
                ["t -l tasks One", "t -l tasks -f $(t -l tasks | cut -d' ' -f1)"],
            ],
            ["grep -q One .tasks.done"],
        ),
        "edit": Task(
            [
                ["t -l tasks One", "t -l tasks -e $(t -l tasks | cut -d' ' -f1) Two", "cat tasks"],
                ["t --help", "t -l tasks One", "t -l tasks --edit $(t -l tasks | cut -d' ' -f1) s/One/Two/"],
            ],
            ["grep -q Two tasks"],
        ),
        "remove": Task(
            [
                ["t -l tasks One; t -l tasks Two", "t -l tasks -r $(t -l tasks -g One | cut -d' ' -f1)"],
                ["t -l tasks One; t -l tasks Two", "t -l tasks --remove $(t -l tasks | grep One | cut -d' ' -f1)"],
            ],
            ["grep -q Two tasks && ! grep -q One tasks"],
        ),
        "find": Task(
            [
                ["t -l tasks One; t -l tasks Two", "t -l tasks -g Two > found.txt"],
                ["t -l tasks One; t -l tasks Two", "t -l tasks | grep Two > found.txt; cat found.txt"],
            ],
            ["grep -q Two found.txt && ! grep -q One found.txt"],
        ),
    },
    ("eb940b9", "ac4e626", "df1befe", "d5d5597", "-76eae3d"),
    files={"bin/t": '#!/bin/sh\nexec python3 -W ignore "$(dirname "$0")/../t.py" --task-dir . "$@"\n'},
    path="bin",
)
TOOLS = {"ticket": TICKET, "todo.txt-cli": TODO, "t": T}


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
            "target": {
                "binary": tool.binary if tool.path == "." else Path(next(iter(tool.files))).name,
                "env": tool.env,
            },
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
    run(folder, "run", "--rev", "main", "--history", "--trials", str(FIRST if first else NIGHTLY))
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


def main() -> None:
    """Print one line per pull request."""
    if sys.argv[1:] == ["--timing"]:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / "repository"
            folder.mkdir()
            git(folder, "init", "--quiet", "--initial-branch", "main")
            timing(folder)
        return
    repositories, *names = sys.argv[1:]
    for name in names or TOOLS:
        tool = TOOLS[name]
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / "repository"
            folder.mkdir()
            git(folder, "init", "--quiet", "--initial-branch", "main")
            for commit in tool.commits:
                off, skip = pull_request(folder, Path(repositories) / name, commit, tool)
                found = ", ".join(off.regressed) or "–", ", ".join(skip.regressed) or "–"
                numbers = f"{off.trials} | {skip.trials} | {skip.unchanged} of {len(tool.tasks)}"
                print(
                    f"| {name} | {commit} | {numbers} | {off.state}: {found[0]} | {skip.state}: {found[1]} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
