"""Three small tools and their commits, which `bench_replay.py` measures as pull requests."""

from __future__ import annotations

from typing import NamedTuple

Ways = list[list[str]]  # each way to work is a list of commands


class Task(NamedTuple):
    """A scenario: how it is prepared, the ways to do it, and the commands that have to succeed afterwards."""

    ways: Ways
    checks: list[str]
    setup: tuple[str, ...] = ()


class Tool(NamedTuple):
    """A tool, its tasks, and the commits that are its pull requests; `-` before a commit undoes it.

    `nightly`: trials of each row on base before each pull request but the first.
    """

    binary: str
    watch: str
    tasks: dict[str, Task]
    commits: tuple[str, ...]
    files: dict[str, str] = {}
    env: dict[str, str] = {}
    path: str = "."
    nightly: int = 2


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
    ("eb940b9", "ac4e626", "df1befe", "d5d5597", "-70817fd"),
    files={"bin/t": '#!/bin/sh\nexec python3 -W ignore "$(dirname "$0")/../t.py" --task-dir . "$@"\n'},
    path="bin",
)
TOOLS = {"ticket": TICKET, "todo.txt-cli": TODO, "t": T}
