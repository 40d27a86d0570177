"""The project's examples as tools, which `bench_replay.py` measures: each change below is a pull request.

The examples have no history of their own. `with_changes` makes a repository of one, with a commit for each change.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from replayed_tools import Task, Tool

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


class Change(NamedTuple):
    """A pull request: a text of a file is replaced."""

    path: str
    old: str
    new: str


CLI = "taskmgr/cli.py"
TASKMGR = Tool(
    "taskmgr",
    "**",
    {
        "create": Task(
            [
                ["taskmgr add Write", "taskmgr add Tag", "taskmgr done 1", "taskmgr list"],
                ["cat AGENTS.md; taskmgr --help", "taskmgr add Write && taskmgr add Tag && taskmgr done 1"],
                ["taskmgr add Write; taskmgr add Tag", "taskmgr list --format json", "taskmgr done 1"],
            ],
            ["taskmgr list | grep -q '\\[x\\] 1 Write'", "taskmgr list | grep -q '2 Tag'"],
        ),
        "prioritise": Task(
            [
                ["taskmgr add --priority high Orders", "taskmgr add --priority low Typo", "taskmgr list"],
                ["taskmgr add --help", "taskmgr add Orders --priority=high; taskmgr add Typo --priority=low"],
            ],
            ["taskmgr list | grep -q 'Orders (high'", "taskmgr list | grep -q 'Typo (low'"],
        ),
        "link": Task(
            [
                ["taskmgr add Schema; taskmgr add Data", "taskmgr link 2 1", "taskmgr list"],
                ["taskmgr link --help", "taskmgr add Schema && taskmgr add Data && taskmgr link 2 1"],
            ],
            ["taskmgr list | grep -q 'Data (normal, waits for 1)'"],
        ),
        "report": Task(
            [
                ["taskmgr export > report.json", "head -n 20 report.json", "taskmgr list > report.txt"],
                ["taskmgr list | tee report.txt", "taskmgr list --format json > report.json"],
            ],
            ["python3 -m json.tool report.json | grep -q '\"tasks\"'", "grep -q '\\[x\\] 1 Send' report.txt"],
            ("taskmgr add Send && taskmgr done 1",),
        ),
        "finish": Task(
            [
                ["taskmgr list", "taskmgr done 1"],
                ["taskmgr done 7 || taskmgr list", "taskmgr done 1", "taskmgr list | grep x"],
            ],
            ["taskmgr list | grep -q '\\[x\\] 1'"],
            ("taskmgr add One",),
        ),
    },
    (),
    path="bin",
)
HANDOVER = Tool(
    "notes",
    "**",
    {
        "two": Task(
            [
                ["notes add 'On Friday (Ada).'", "notes add 'No importer (Grace).'", "notes list"],
                ["cat AGENTS.md", "notes add 'On Friday (Ada).' && notes add 'No importer (Grace).'"],
                ["notes --help", "notes add 'No importer (Grace).'; notes add 'On Friday (Ada).'; cat notes.txt"],
            ],
            ["grep -q Friday notes.txt && grep -q importer notes.txt"],
        ),
        "send": Task(
            [
                ["notes add One", "notes send team > sent.txt", "cat sent.txt"],
                ["notes send team || notes add One", "notes send team | tee sent.txt"],
            ],
            ["grep -q team sent.txt"],
        ),
        "one": Task([["notes add One"], ["notes --version && notes add One && notes list"]], ["grep -q One notes.txt"]),
        "count": Task(
            [
                ["notes add A; notes add B; notes add C", "notes list | wc -l > count.txt", "cat count.txt"],
                ["for n in A B C; do notes add $n; done; notes list | grep -c . > count.txt"],
            ],
            ["grep -q 3 count.txt"],
        ),
        "copy": Task(
            [
                ["notes add 'A  line' && notes list > copy.txt"],
                ["notes add || notes add 'A  line'", "notes list > copy.txt; cat copy.txt"],
            ],
            ["grep -q '^- A  line$' copy.txt"],
        ),
    },
    (),
    path="bin",
)
RESEARCH = Tool(
    "researcher",
    "**",
    {
        "tides": Task(
            [
                ["researcher --output told.json 'What makes tides?'", "cat told.json"],
                ["researcher --help", "researcher --output=told.json -- 'tides'", "python3 -m json.tool told.json"],
            ],
            ["grep -q moon told.json"],
        ),
        "storms": Task(
            [
                ["researcher --output told.json 'What makes storms?' && grep -o wind told.json"],
                ["researcher --output told.json 'Storms'; cat told.json"],
            ],
            ["grep -q storms.md told.json"],
        ),
        "older": Task(
            [
                ["researcher --older --output told.json 'What makes tides?'", "cat told.json"],
                ["researcher 'Please check tides' --output told.json --older"],
            ],
            ["grep -q trace told.json"],
        ),
        "file": Task(
            [
                ["echo Ask > a.md", "researcher --output told.json --files a.md -- 'What makes tides?'"],
                ["echo Ask > a.md; researcher 'What makes tides?' --files a.md --output told.json; cat told.json"],
            ],
            ["grep -q a.md told.json"],
        ),
        "unknown": Task(
            [
                ["researcher --output told.json 'What makes cheese?'; cat told.json"],
                ["researcher 'What makes cheese?' || researcher --output told.json 'What makes cheese?'"],
            ],
            ["grep -q 'Nothing is known' told.json"],
        ),
    },
    (),
    files={"bin/researcher": '#!/bin/sh\nexec python3 "$(dirname "$0")/../researcher.py" "$@"\n'},
    path="bin",
)
CASES = "printf 'id,goods,value\\na,toys,200\\nb,centrifuge,900\\nc,cars,90000\\n' > cases.csv"
SCREENING = Tool(
    "screen",
    "**",
    {
        "all": Task(
            [["screen cases.csv out.jsonl", "cat out.jsonl"], ["head -n 2 cases.csv; screen cases.csv out.jsonl"]],
            ["test $(grep -c . out.jsonl) = 3"],
            (CASES,),
        ),
        "goods": Task(
            [["screen cases.csv out.jsonl; grep high out.jsonl"], ["cat cases.csv", "screen cases.csv out.jsonl"]],
            ["grep '\"b\"' out.jsonl | grep -q high"],
            (CASES,),
        ),
        "value": Task(
            [
                ["screen cases.csv out.jsonl; tail -n 1 out.jsonl"],
                ["screen ./cases.csv ./out.jsonl && wc -l out.jsonl"],
            ],
            ["grep '\"c\"' out.jsonl | grep -q medium"],
            (CASES,),
        ),
        "one": Task(
            [
                ["(head -n 1 cases.csv; grep toys cases.csv) > one.csv", "screen one.csv out.jsonl; cat out.jsonl"],
                ["grep -v cars cases.csv | grep -v cen > one.csv && screen one.csv out.jsonl"],
            ],
            ["grep -q low out.jsonl"],
            (CASES,),
        ),
        "none": Task(
            [
                ["head -n 1 cases.csv > none.csv; screen none.csv out.jsonl"],
                ["sed 1q cases.csv > n; screen n out.jsonl"],
            ],
            ["test -e out.jsonl && ! test -s out.jsonl"],
            (CASES,),
        ),
    },
    (),
    files={"bin/screen": '#!/bin/sh\nexec python3 "$(dirname "$0")/../screen.py" "$@"\n'},
    path="bin",
)
REVIEW = Tool(
    "answer",
    "**",
    {
        "codes": Task(
            [["answer status-codes", "answer status-codes > told.md"], ["answer status-codes | tee told.md"]],
            ["grep -q 404 told.md"],
        ),
        "heading": Task(
            [
                ["answer status-codes | head -n 1 > told.md; cat told.md"],
                ["answer status-codes | grep '^#' > told.md"],
            ],
            ["grep -q '^# HTTP' told.md"],
        ),
        "sort": Task(
            [["answer quicksort > told.md", "cat told.md"], ["answer quicksort | tee told.md | wc -w"]],
            ["grep -q divides told.md"],
        ),
        "missing": Task(
            [["answer bubblesort || echo none > told.md"], ["answer bubblesort > told.md || echo none > told.md"]],
            ["grep -q none told.md"],
        ),
        "both": Task(
            [
                ["answer quicksort > told.md; answer status-codes >> told.md"],
                ["(answer quicksort; answer status-codes) > told.md", "wc -l told.md"],
            ],
            ["grep -q divides told.md && grep -q 201 told.md"],
        ),
    },
    (),
    files={"bin/answer": '#!/bin/sh\ncd "$(dirname "$0")/../answers" && cat "$1.md"\n'},
    path="bin",
)
CHANGES = {
    "taskmgr": {
        "temporary-file": Change("taskmgr/store.py", 'with_suffix(".new")', 'with_suffix(".tmp")'),
        "loop": Change(CLI, 'mark = "x" if task["done"] else " "', 'mark = " x"[task["done"]]'),
        "help-text": Change(CLI, "how soon it is needed", "how urgent it is"),
        "renamed-option": Change(CLI, '"--priority", choices', '"--prio", dest="priority", choices'),
        "lost-link": Change(CLI, 'task["waits_for"].append(other["id"])', "pass"),
    },
    "handover": {
        "comment": Change("bin/notes", "# notes: keeps lines", "# Keeps lines"),
        "printf": Change("bin/notes", 'echo "- $1" >>', "printf '%s\\n' \"- $1\" >>"),
        "version": Change("bin/notes", "notes 1.0", "notes 1.1"),
        "renamed-command": Change("bin/notes", "  send)", "  deliver)"),
        "overwrites": Change("bin/notes", ">> notes.txt", "> notes.txt"),
    },
    "research": {
        "docstring": Change("researcher.py", "The calls that it made", "All calls that it made"),
        "evals": Change("evals/notes.md", "harbour master", "harbour pilot"),
        "wording": Change("researcher.py", "Nothing is known about that.", "Nothing is known about it."),
        "renamed-option": Change("researcher.py", '"--older"', '"--old-format", dest="older"'),
        "upper-case": Change("researcher.py", '.strip("?.,!").lower()', '.strip("?.,!")'),
    },
    "screening": {
        "docstring": Change("screen.py", "The decision, with the call", "Its decision, with the call"),
        "set": Change("screen.py", '{"missile parts", "centrifuge"}', 'frozenset(("missile parts", "centrifuge"))'),
        "order-of-keys": Change(
            "screen.py", '"tool": "look_up", "input"', '"output": risk, "tool": "look_up", "input"'
        ),
        "goods": Change("screen.py", ', "centrifuge"', ""),
        "limit": Change("screen.py", "10_000", "100_000"),
    },
    "review": {
        "readme": Change("README.md", "fails on purpose", "fails by design"),
        "evals": Change("evals/words.py", "The share of the words", "Which share of the words"),
        "wording": Change("answers/quicksort.md", "sorts both halves", "sorts each half"),
        "lost-code": Change("answers/status-codes.md", "404 is not found, ", ""),
        "lost-word": Change("answers/quicksort.md", "It divides the list", "It cuts the list"),
    },
}
MADE = {"taskmgr": TASKMGR, "handover": HANDOVER, "research": RESEARCH, "screening": SCREENING, "review": REVIEW}
EXAMPLE_TOOLS = {name: tool._replace(commits=tuple(CHANGES[name]), nightly=0) for name, tool in MADE.items()}


def with_changes(name: str, folder: Path) -> Path:
    """Make a repository of the example in the folder, with a branch of one commit for each change."""

    def git(*arguments: str) -> None:
        named = ("-c", "user.name=bench", "-c", "user.email=bench@example.org", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *named, *arguments], cwd=folder, check=True, capture_output=True)

    shutil.copytree(EXAMPLES / name, folder, ignore=shutil.ignore_patterns("__pycache__", ".tidegate", "tidegate.yaml"))
    git("init", "--quiet", "--initial-branch", "main")
    git("add", "--all")
    git("commit", "--quiet", "--message", "base")
    for branch, change in CHANGES[name].items():
        path = folder / change.path
        text = path.read_text()
        if change.old not in text:
            raise SystemExit(f"{name}: {change.path} no longer has {change.old!r}: adapt the change {branch!r}")
        git("checkout", "--quiet", "-b", branch, "main")
        path.write_text(text.replace(change.old, change.new))
        git("commit", "--quiet", "--all", "--message", branch)
        git("checkout", "--quiet", "main")
    return folder
