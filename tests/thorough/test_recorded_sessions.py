"""Base's recorded sessions, replayed without an agent: by `tidegate replay`, and in a pull request."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Repository
from tests.journeys.conftest import FILES
from tests.warm import run_tidegate

Make = Callable[..., Any]

HELP = 'echo "usage: notes add TEXT | list | count"'
SUITE = """\
version: 1
scenarios: [scenarios/*.yaml]
path: [bin]
agents:
  fake:
    type: scripted
    deterministic: false
    steps: {keep_notes: [notes add first, "notes list | tail -n 1", notes add second, ls -l notes.txt]}
"""


def sessions(root: Path) -> list[dict[str, Any]]:
    files = root.glob(".tidegate/store/history/*.sessions")
    return [json.loads(line) for path in files for line in path.read_text().splitlines()]


def recorded(root: Path, suite: str) -> Path:
    """Make a repository whose main has five recorded sessions."""
    made = Repository(root)
    made.commit({**FILES, "tidegate.yaml": suite})
    fed = run_tidegate("run", "--rev", "main", "--history", "--trials", "5", cwd=made.root)
    assert fed.returncode == 0, fed.stderr
    return made.root


@pytest.fixture(scope="module")
def plain(shared_path: Path) -> Path:
    return recorded(shared_path / "plain", SUITE)


@pytest.fixture
def repo(plain: Path, tmp_path: Path) -> Repository:
    """A repository whose main has five recorded sessions."""
    return Repository(tmp_path / "repo", plain)


def test_sessions_of_base_are_replayed_in_the_working_tree(repo: Any, tidegate: Make) -> None:
    assert [step["command"] for step in sessions(repo.root)[0]["steps"]][1] == "notes list | tail -n 1"

    same = tidegate("replay", cwd=repo.root)

    assert same.code == 0, same.stderr + same.stdout
    assert same.stdout.startswith("✅ keep_notes × fake: 5 of 5 sessions show the same (20 steps); chance that a new")
    assert same.stdout.splitlines()[0].endswith("does something new: 8%")

    (repo.root / "bin/notes").write_text(FILES["bin/notes"].replace("  list)", "  show)"))
    differs = tidegate("replay", cwd=repo.root)

    assert differs.code == 1, differs.stderr
    assert "first difference: $ notes list | tail -n 1" in differs.stdout
    assert "0 of 5 sessions of base" in differs.stdout


def test_exactly_the_rows_whose_sessions_see_a_change_differ(make_repository: Make, tidegate: Make) -> None:
    made, tool = make_repository(), FILES["bin/notes"]
    steps = "keep_notes: [notes add first, notes add second, notes list], count: [notes --help, notes add first]"
    gates = "evaluation: {gates: [{type: file_contains, path: notes.txt, substring: first}]}"
    count = f"name: count\ndescription: d\ntarget: {{binary: notes}}\ntask: Add a note.\n{gates}\n"
    suite = SUITE.partition("    steps:")[0] + f"    steps: {{{steps}}}\n"
    made.commit({**FILES, "tidegate.yaml": suite, "scenarios/count.yaml": count})
    assert tidegate("run", "--rev", "main", "--history", "--trials", "3", cwd=made.root).code == 0
    changes = {
        "refactor": ("bin/notes", tool.replace("# notes:", "# The notes tool:"), set()),
        "renamed": ("bin/notes", tool.replace("  list)", "  show)"), {"keep_notes"}),
        "help": ("bin/notes", tool.replace("usage: notes", "Usage: notes"), {"count"}),
        "guidance": ("AGENTS.md", "Be quick.", {"keep_notes", "count"}),
    }
    for name, (path, text, rows) in changes.items():
        made.branch(name, {path: text})
        said = tidegate("replay", "--base", "main", "--rev", name, cwd=made.root)
        differing = {line.split()[1] for line in said.stdout.splitlines() if line.startswith("❌")}
        assert (differing, said.code) == (rows, bool(rows)), said.stdout


def test_simulate_shows_what_replays_save(repo: Any, tidegate: Make) -> None:
    said = tidegate("simulate", "--prs", "20", cwd=repo.root)

    assert said.code == 0, said.stderr
    clean = next(line.split() for line in said.stdout.splitlines() if line.startswith("clean"))
    assert float(clean[1]) >= 6  # without a usable history: 3 trials on each side
    assert "changes nothing for agents takes 1.0 trials: 1 of 1 rows\nhave recorded sessions" in said.stdout


def test_what_base_shows_now_and_then_is_no_difference(make_repository: Make, tidegate: Make, tmp_path: Path) -> None:
    """The recorded trials and two replays of each of three sessions agree on an order of lines, and the next do not."""
    made, calls = make_repository(), tmp_path / "calls"
    calls.mkdir()
    calls.chmod(0o777)
    order = f"[ $(ls {calls} | wc -l) -gt 18 ] && tac notes.txt || cat notes.txt"
    counted = f"  list) touch {calls}/$$-$(date +%s%N); {order} ;;\n"
    tool = FILES["bin/notes"].replace("  list)", f"{counted}  list2)")
    suite = SUITE.replace(
        "steps: {keep_notes: [notes add first, ", "steps: {keep_notes: [notes add first, notes add third, "
    )
    suite = suite.replace("| tail -n 1", "") + f"files: {{write: [{calls}]}}\n"
    made.commit({**FILES, "bin/notes": tool, "tidegate.yaml": suite})
    fed = tidegate("run", "--rev", "main", "--history", "--trials", "3", cwd=made.root)
    assert (fed.code, len(list(calls.iterdir()))) == (0, 6), fed.stderr  # a gate calls it, too
    made.branch("pr", {"bin/notes": tool.replace(counted, "  list) tac notes.txt ;;\n")})

    ran = tidegate("replay", "--base", "main", "--rev", "pr", cwd=made.root)
    assert ran.code == 0, ran.stdout


def pr(repo: Any, tidegate: Make, changes: dict[str, str], *more: str) -> Any:
    """Compare a branch with these changes."""
    repo.branch("pr", changes)
    return tidegate("pr", "--base", "main", "--head", "pr", "--pause", "0", *more, cwd=repo.root)


@pytest.fixture(scope="module")
def skips(shared_path: Path) -> Path:
    return recorded(shared_path / "skips", SUITE + "policy: {replay: {use: skip, spot_checks: 0}}\n")


@pytest.fixture
def skipping(skips: Path, tmp_path: Path) -> Repository:
    """The same, with a policy that skips what does not change."""
    return Repository(tmp_path / "repo", skips)


def test_no_agent_is_run_where_nothing_changes_for_agents(skipping: Any, tidegate: Make) -> None:
    ran = pr(skipping, tidegate, {"bin/notes": FILES["bin/notes"].replace("# notes:", "# The notes tool:")})

    assert ran.code == 0, ran.stderr
    row = ran.row("keep_notes", "fake")
    assert (row["state"], row["replay"]["same"], ran.result["cost"]["trials"]) == (
        "unchanged", 5, {"base": 0, "head": 0},
    )  # fmt: skip
    assert "5 recorded sessions of base replay alike on both sides, in all 20 steps; no agent was run" in row["reason"]
    assert "1 unchanged by replay" in ran.result["verdict"]["summary"]
    assert "1 of 1 rows are unchanged by replay: 3 trials are saved" in ran.stderr


def test_a_changed_help_that_no_session_reads_makes_something_new_likelier(skipping: Any, tidegate: Make) -> None:
    """With five trials of base, the estimate rises from 8 % to 25 %."""
    longer = f'{HELP}; echo "  --quiet  print nothing"'
    ran = pr(skipping, tidegate, {"bin/notes": FILES["bin/notes"].replace(HELP, longer)})

    row = ran.row("keep_notes", "fake")
    assert (ran.code, row["state"], row["replay"]["why_run"]) == (
        0, "ok",
        "a new session does something new with a chance of 25%; "
        "the pull request changes `--quiet`, which no session shows",
    ), ran.stderr  # fmt: skip


def test_a_row_whose_sessions_differ_is_run_with_agents(skipping: Any, tidegate: Make) -> None:
    ran = pr(skipping, tidegate, {"bin/notes": FILES["bin/notes"].replace("  add)", "  append)")})

    assert ran.code == 1, ran.stderr
    row = ran.row("keep_notes", "fake")
    assert (row["state"], row["replay"]["skipped"], row["replay"]["why_run"]) == (
        "regressed", False, "differs at `$ notes add first`",
    )  # fmt: skip


def test_what_a_gate_alone_sees_is_a_difference(skipping: Any, tidegate: Make) -> None:
    """The agent sees the same in each step, and the result is another."""
    broken = (
        FILES["bin/notes"]
        .replace("  list)", "  list) rm -f second;")
        .replace('echo "$1" >> notes.txt', '[ "$1" = second ] && echo later >> notes.txt || echo "$1" >> notes.txt')
    )
    ran = pr(skipping, tidegate, {"bin/notes": broken})

    assert ran.code == 1, ran.stderr
    assert not ran.row("keep_notes", "fake")["replay"]["skipped"]


def test_by_default_agents_are_run_and_replays_are_shown(repo: Any, tidegate: Make) -> None:
    ran = pr(repo, tidegate, {"bin/notes": FILES["bin/notes"].replace("  list)", "  show)")})

    assert ran.code == 1, ran.stderr
    row = ran.row("keep_notes", "fake")
    assert (row["state"], row["replay"]["first_step"], row["replay"]["failing"]) == (
        "regressed", 2, ["command_output_matches: notes list must print a match of second"],
    )  # fmt: skip
    assert "differs at `$ notes list | tail -n 1`, step 2, in 5 of 5 sessions; a gate then fails on head" in ran.comment


def test_a_row_that_replays_alike_gets_an_agent_by_default(repo: Any, tidegate: Make) -> None:
    ran = pr(repo, tidegate, {"bin/notes": FILES["bin/notes"].replace("# notes:", "# The notes tool:")})

    row = ran.row("keep_notes", "fake")
    assert (ran.code, row["state"], row["replay"]["same"], row["head"]["trials"]) == (0, "ok", 5, 3), ran.stderr


def test_without_agents_a_row_that_differs_is_unconfirmed(repo: Any, tidegate: Make) -> None:
    differs = pr(repo, tidegate, {"bin/notes": FILES["bin/notes"].replace("  list)", "  show)")}, "--replay-only")

    row, verdict = differs.row("keep_notes", "fake"), differs.result["verdict"]
    assert (differs.code, row["state"], verdict["state"]) == (0, "unconfirmed", "inconclusive"), differs.stderr
    assert (
        "needs an agent to confirm it: 5 of 5 recorded sessions differ on head, first at `$ notes list" in row["reason"]
    )
    assert "in a replay on head fails: command_output_matches: notes list must print" in row["reason"]


AGENT = """\
for word in first second; do
  echo '{"type": "tool_call", "id": "'$word'", "tool": "shell", "command": "notes add '$word'"}'
  notes add $word >&2
  echo '{"type": "tool_result", "id": "'$word'", "status": "ok", "exit_code": 0}'
done
echo '{"type": "end", "end": "completed"}'
"""


def test_sessions_of_another_program_of_the_agent_do_not_count(make_repository: Make, tidegate: Make) -> None:
    made = make_repository()
    own = "agents: {own: {type: command, command: 'sh {repo}/agents/own.sh', output: events, deterministic: false}}\n"
    suite = SUITE.partition("agents:")[0] + own + "policy: {replay: {use: skip, spot_checks: 0}}\n"
    program = {"agents/own.sh": '. "$(dirname "$0")/steps.sh"\n', "agents/steps.sh": AGENT}
    made.commit({**FILES, **program, "tidegate.yaml": suite})
    assert tidegate("run", "--rev", "main", "--history", "--trials", "3", cwd=made.root).code == 0
    made.commit({"agents/steps.sh": AGENT.replace("second; do", "second third; do")})

    ran = pr(made, tidegate, {"bin/notes": FILES["bin/notes"].replace("# notes:", "# The notes tool:")})

    row = ran.row("keep_notes", "own")
    assert (row["state"], row["replay"], row["head"]["trials"]) == ("ok", None, 3), ran.stderr
