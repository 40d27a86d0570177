"""Agents that fail by chance, through real processes and real git: the procedure, its history, and what it blocks."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.journeys.conftest import FILES

Make = Callable[..., Any]

SUITE = """\
version: 1
scenarios: [scenarios/*.yaml]
path: [bin]
agents:
  fake:
    type: scripted
    deterministic: false
    steps: {keep_notes: [notes add first, notes add second]}
"""


def broken(files: dict[str, str]) -> dict[str, str]:
    return {"bin/notes": files["bin/notes"].replace("  add)", "  append)")}


def pr(tidegate: Make, root: Path, *more: str) -> Any:
    return tidegate("pr", "--base", "main", "--head", "pr", "--pause", "0", *more, cwd=root)


def history(root: Path) -> list[dict[str, Any]]:
    return [
        json.loads(line)
        for path in root.glob(".tidegate/store/history/*.jsonl")
        for line in path.read_text().splitlines()
    ]


def test_history_is_fed_by_run_and_saves_base_s_trials(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit({**FILES, "tidegate.yaml": SUITE})
    fed = tidegate("run", "--rev", "main", "--history", "--trials", "10", cwd=repo.root)
    assert fed.code == 0, fed.stderr
    assert len(history(repo.root)) == 10
    repo.branch("pr", {"README.md": "more"})

    clean = pr(tidegate, repo.root)

    assert clean.code == 0, clean.stderr
    assert clean.result["sides"]["base"]["origin"] == "history"
    assert clean.result["sides"]["base"]["history_trials"] == 10
    assert clean.result["cost"]["trials"] == {"base": 0, "head": 3}
    assert "and 10 from its history" in clean.comment

    repo.commit(broken(FILES), on="pr")
    dead = pr(tidegate, repo.root)

    assert dead.code == 1, dead.stderr
    assert dead.row("keep_notes", "fake")["base"]["history"] == [10, 10]
    fresh = dead.row("keep_notes", "fake")["base"]["fresh"][1]
    assert len(history(repo.root)) == 10 + fresh


def test_a_pull_request_s_own_trials_are_no_history_until_it_is_merged(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit({**FILES, "tidegate.yaml": SUITE})
    repo.branch("pr", {"bin/notes": FILES["bin/notes"] + "# changed\n"})
    tidegate("run", "--rev", "pr", "--history", "--trials", "10", cwd=repo.root)

    before = pr(tidegate, repo.root)

    assert before.result["sides"]["base"]["history_trials"] == 0
    assert before.result["cost"]["trials"] == {"base": 3, "head": 3}
    (said,) = before.result["warnings"]
    assert said.startswith("history: 10 stored trials do not count: they were measured on commits")

    repo.git("checkout", "--quiet", "main")
    repo.git("merge", "--quiet", "--ff-only", "pr")
    repo.branch("next", {"bin/notes": FILES["bin/notes"] + "# changed again\n"})
    after = tidegate("pr", "--base", "main", "--head", "next", "--pause", "0", cwd=repo.root)
    assert after.result["sides"]["base"]["history_trials"] == 13, after.stderr
    assert after.result["warnings"] == []


def test_a_store_behind_a_link_that_a_commit_brings_along_is_refused_too(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.write({**FILES, "tidegate.yaml": SUITE, "evil/store/history/f.jsonl": "{}\n"})
    (repo.root / ".tidegate").symlink_to("evil")
    repo.commit({})
    repo.branch("pr", {"README.md": "more"})

    ran = pr(tidegate, repo.root)

    assert (ran.code, ".tidegate/store is part of the commit" in ran.stderr) == (2, True)
    assert not (repo.root / "evil/store/tests").exists()


def test_uncommitted_changes_never_become_history(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit({**FILES, "tidegate.yaml": SUITE})
    repo.write({"bin/notes": FILES["bin/notes"] + "# mine\n"})

    ran = tidegate("run", "--history", cwd=repo.root)

    assert ran.code == 2
    assert history(repo.root) == []


def test_simulate_says_what_the_policy_costs_and_catches(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit({**FILES, "tidegate.yaml": SUITE})

    ran = tidegate("simulate", "--prs", "50", "--rate", "1", cwd=repo.root)

    assert ran.code == 0, ran.stderr
    dead = next(line for line in ran.stdout.splitlines() if line.startswith("one fails completely"))
    assert "100.0%" in dead
    first = ran.stdout.splitlines().index(
        "if one row drops by so many points, the share of pull requests that are blocked"
    )
    heads, row = ran.stdout.splitlines()[first + 2 : first + 4]
    assert heads.split() == ["row", "base", "history", "-10", "-20", "-30", "-50", "-100"]
    assert row.split()[-7:-5] == ["100%", "0"]
    assert row.split()[-1] == "100%"


def test_a_row_declared_deterministic_that_was_not_on_one_commit_is_compared_by_chance_from_then_on(
    make_repository: Make, tidegate: Make
) -> None:
    """The tool fails at three of five calls, which a file outside of the trial counts."""
    repo = make_repository()
    flips = "n=$(cat COUNT 2>/dev/null || echo 0); echo $((n + 1)) > COUNT; [ $((n % 5)) -lt 2 ] || exit 9\n"
    (counts := repo.root.parent / "counts").mkdir()
    tool = FILES["bin/notes"].replace(
        "  add) shift;", "  add) shift; " + flips.strip().replace("COUNT", f"{counts}/count") + ";"
    )
    suite = FILES["tidegate.yaml"] + f"files: {{write: ['{counts}']}}\n"
    repo.commit({**FILES, "tidegate.yaml": suite, "bin/notes": tool})
    fed = tidegate("run", "--rev", "main", "--history", "--trials", "4", "--jobs", "1", cwd=repo.root)
    assert fed.code == 0, fed.stderr
    assert {entry["decides"] for entry in history(repo.root)} == {"pass", "fail"}
    repo.branch("pr", {"README.md": "more"})

    ran = pr(tidegate, repo.root, "--jobs", "1")

    assert not ran.row("keep_notes")["deterministic"]
    assert any("declared deterministic, but its repeats disagree" in warning for warning in ran.result["warnings"])
