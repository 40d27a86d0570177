"""Attempts by recorded sessions: to be skipped although agents would see the tool fail."""

from __future__ import annotations

from functools import partial

from tests.conftest import Repository
from tests.journeys.conftest import NOTES
from tests.thorough.attempts.attempt import FORGETFUL, Attempt, keep
from tests.warm import run_tidegate

SKIP = """\
version: 1
scenarios: [scenarios/*.yaml]
path: [bin]
policy: {replay: {use: skip}}
agents:
"""
UNCHECKED = SKIP.replace("use: skip", "use: skip, spot_checks: 0")
ORDER = SKIP.replace("policy: {replay: {use: skip}}\n", "")
SCRIPTED = "  fake: {type: scripted, deterministic: false, steps: {keep_notes: [notes add first, notes add second]}}\n"
OWN = "  own: {type: command, command: 'sh {repo}/own/agent.sh', output: events, deterministic: false}\n"
# An agent whose program sets a variable, as real ones do, and tells what it did.
AGENT = """\
export IN_AN_AGENT=1
for word in first second; do
  echo '{"type": "tool_call", "id": "'$word'", "tool": "shell", "command": "notes add '$word'"}'
  notes add $word >&2
  echo '{"type": "tool_result", "id": "'$word'", "status": "ok", "exit_code": 0}'
done
echo '{"type": "end", "end": "completed"}'
"""
FOLLOWS = "  docs: {type: doc-follower, deterministic: false}\ntarget: {binary: notes}\n"
AGENTV = {
    "AGENTS.md": None,
    "scenarios/version.yaml": None,
    "scenarios/keep.yaml": """\
$schema: agentv-eval-v2
description: Notes.
dataset: shelf
execution:
  target: docs
  evaluators: [{name: used, type: tool_f1, expected: ["notes:add"], required: true}]
evalcases:
  - id: keep_notes
    expected_outcome: A note is kept.
    input_messages: [{role: user, content: [{type: file, value: ../task.md}, {type: text, value: "Do it."}]}]
    expected_messages: [{role: assistant, content: done}]
""",
}
MODES = NOTES.replace('[ -n "$1" ] ||', '[ "$1$MODE" = secondnew ] && exit 0; [ -n "$1" ] ||')
DETECTS = NOTES.replace('[ -n "$1" ] ||', '[ "$1$IN_AN_AGENT" = second1 ] && exit 0; [ -n "$1" ] ||')


def recorded(repo: Repository, rev: str = "main", scenario: str = "keep_notes") -> None:
    done = run_tidegate("run", "--rev", rev, "--history", "--trials", "4", "--scenario", scenario, cwd=repo.root)
    assert done.returncode == 0, done.stderr
    assert rev != "main" or list(repo.root.glob(".tidegate/store/history/*.sessions"))


def own_commits(repo: Repository) -> None:
    repo.commit({})
    recorded(repo, "pr")


def amended(repo: Repository) -> None:
    repo.commit({})
    ran = run_tidegate("run", "--rev", "pr", "--history", "--trials", "8", "--scenario", "keep_notes", cwd=repo.root)
    assert ran.returncode in (0, 1), ran.stderr
    repo.git("commit", "--quiet", "--amend", "--message", "another hash")


def committed(repo: Repository) -> None:
    own_commits(repo)
    repo.git("add", "--force", ".tidegate/store")


REPLAYS = {
    "recorded on its own commits": Attempt(
        "records sessions of its own broken tool, which replay alike",
        "regression",
        base={"tidegate.yaml": SKIP + SCRIPTED},
        prepare=own_commits,
    ),
    "amended commits": Attempt(
        "records a history of its own broken tool, and amends the commit",
        "regression",
        base={"tidegate.yaml": ORDER + SCRIPTED},
        prepare=amended,
    ),
    "committed sessions": Attempt(
        "commits a store with sessions of its own broken tool",
        "is part of the commit",
        2,
        base={"tidegate.yaml": SKIP + SCRIPTED},
        prepare=committed,
    ),
    "sessions that lack what fails": Attempt(
        "breaks what only a gate sees, and no step of a session",
        "regression",
        base={"tidegate.yaml": SKIP + SCRIPTED},
        prepare=recorded,
    ),
    "a tool of chance": Attempt(
        "breaks a tool that prints something else now and then, so that sessions replay alike by luck only",
        "regression",
        base={
            "tidegate.yaml": SKIP + SCRIPTED,
            "bin/notes": NOTES.replace("  add)", "  add) [ $(($$ % 2)) = 0 ] && echo kept || echo stored;"),
        },
        tool=FORGETFUL.replace("  add)", "  add) [ $(($$ % 2)) = 0 ] && echo kept || echo stored;"),
        prepare=recorded,
    ),
    "detects replays": Attempt(
        "has the tool behave well only while it is replayed",
        "regression",
        base={"tidegate.yaml": ORDER + OWN, "own/agent.sh": AGENT},
        tool=DETECTS,
        prepare=recorded,
    ),
    "detects replays, and is checked": Attempt(
        "has the tool behave well only while it is replayed, with `use: skip`, and a spot check sees it",
        "regression",
        base={"tidegate.yaml": SKIP + OWN, "own/agent.sh": AGENT},
        tool=DETECTS,
        prepare=recorded,
    ),
    "another start": Attempt(
        "starts the tool with a variable with which it fails, with `use: skip`",
        "regression",
        base={"tidegate.yaml": UNCHECKED + SCRIPTED, "bin/notes": MODES},
        tool=None,
        head=keep("--version}", "--version, env: {MODE: new}}"),
        prepare=recorded,
    ),
    "a file that its build puts back": Attempt(
        "breaks a file that its build puts back, with `use: skip`",
        "unproven",
        5,
        base={"tidegate.yaml": UNCHECKED + SCRIPTED, "bin/lib.sh": "# whole\n"},
        tool=None,
        head={
            "bin/lib.sh": "exit 1\n",
            "whole.sh": "# whole\n",
            "tidegate.yaml": UNCHECKED + SCRIPTED + "build: [cp whole.sh bin/lib.sh]\n",
        },
        prepare=recorded,
    ),
    "another file in the prompt": Attempt(
        "has a file in AgentV's prompt lead to nothing, with `use: skip`",
        "regression",
        base={**AGENTV, "tidegate.yaml": UNCHECKED + FOLLOWS, "task.md": "# How\n\n```sh\nnotes add first\n```\n"},
        tool=None,
        head={"task.md": "# How\n\n```sh\nnotes put first\n```\n"},
        prepare=partial(recorded, scenario="shelf/keep_notes"),
    ),
    "another program of the agent": Attempt(
        "changes the library of the agent's program, which is a file of the repository, with `use: skip`",
        "regression",
        base={
            "tidegate.yaml": UNCHECKED + OWN,
            "own/agent.sh": ". $(dirname $0)/lib/work.sh\n",
            "own/lib/work.sh": AGENT,
        },
        tool=NOTES + "# x\n",
        head={"own/lib/work.sh": "exit 3\n"},
        prepare=recorded,
    ),
}
REPLAY_LIMITS = {
    "detects replays, and is not checked": Attempt(
        "has the tool behave well only while it is replayed, with `use: skip`, and no spot check sees it",
        "no_regression",
        0,
        why="an agent's program leaves traces that a replay lacks; `skip` is not the default",
        base={"tidegate.yaml": UNCHECKED + OWN, "own/agent.sh": AGENT},
        tool=DETECTS,
        prepare=recorded,
    ),
}
