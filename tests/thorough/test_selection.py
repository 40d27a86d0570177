"""pytest's options: `-k`, `--lf` and `-x`, with real runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.journeys.conftest import FILES, NOTES, Ran

Make = Callable[..., Any]
NAMES = ("keep_first", "keep_second", "list_all")
SUITE = """\
version: 1
scenarios: [scenarios/*.yaml]
path: [bin]
agents:
  fake:
    type: scripted
    steps:
      keep_first: [notes add first]
      keep_second: [notes add second]
      list_all: ["true", notes list, touch listed]
"""
SCENARIOS = {
    name: f"""\
name: {name}
description: Runs once.
target: {{binary: notes}}
task: Do it.
evaluation: {{gates: [{{type: file_exists, path: {"listed" if name == "list_all" else "notes.txt"}}}]}}
"""
    for name in NAMES
}


@pytest.fixture
def repo(make_repository: Make) -> Any:
    """A suite of three scenarios, and a branch `pr` on which the first two fail."""
    repo = make_repository()
    scenarios = {f"scenarios/{name}.yaml": text for name, text in SCENARIOS.items()}
    repo.commit({"bin/notes": NOTES, "tidegate.yaml": SUITE, **scenarios})
    repo.branch("pr", {"bin/notes": NOTES.replace("  add)", "  append)")})
    return repo


def compared(repo: Any, tidegate: Make, *arguments: str) -> Ran:
    ran: Ran = tidegate("pr", "--base", "main", "--head", "pr", "--pause", "0", *arguments, cwd=repo.root)
    return ran


def states(ran: Ran) -> dict[str, str]:
    return {row["scenario"]: row["state"] for row in ran.result["rows"]}


def test_k_selects_rows_and_lf_those_that_did_not_pass(repo: Any, tidegate: Make) -> None:
    assert states(compared(repo, tidegate, "-k", "list or (first and not docs)")) == {
        "keep_first": "regressed",
        "list_all": "ok",
    }
    again = compared(repo, tidegate, "--lf")
    assert "--lf: only what did not pass last time: keep_first × fake" in again.stderr
    assert "rows were not selected, and not run" in again.comment
    assert states(again) == {"keep_first": "regressed"}


def test_lf_without_a_failure_runs_everything(repo: Any, tidegate: Make) -> None:
    assert states(compared(repo, tidegate, "-k", "list")) == {"list_all": "ok"}
    again = compared(repo, tidegate, "--lf")
    assert "--lf: nothing failed last time, so every row is run" in again.stderr
    assert "not selected" not in again.comment
    assert len(states(again)) == 3


def test_a_name_that_matches_nothing_is_an_error_with_what_may_have_been_meant(repo: Any, tidegate: Make) -> None:
    ran = compared(repo, tidegate, "-k", "keepfirst")
    assert ran.code == 3
    assert "no row matches `-k keepfirst` (did you mean `keep_first`?)" in ran.stderr


def test_x_stops_at_the_first_regression(repo: Any, tidegate: Make) -> None:
    """What was not run is not measured: never a pass."""
    ran = compared(repo, tidegate, "-x", "--jobs", "1")

    assert ran.code == 1
    assert states(ran) == {"keep_first": "regressed", "keep_second": "not_measured", "list_all": "not_measured"}


def test_a_single_run_has_the_same_options(repo: Any, tidegate: Make) -> None:
    repo.git("checkout", "--quiet", "pr")
    first = tidegate("run", "-x", "--jobs", "1", "-qq", cwd=repo.root)
    assert first.code == 1
    assert re.search(r"\n[12] failed in [\d.]+ s\n$", first.stdout)  # a trial that has begun ends
    again = tidegate("run", "--lf", "--jobs", "1", cwd=repo.root)
    assert "keep_first × fake, keep_second × fake, list_all × fake" in again.stderr  # the last two have not passed
    assert again.stdout.splitlines()[-1].startswith("2 failed, 1 passed in ")
    assert again.stdout.count("keep_first × fake #1:") == 1
    last = tidegate("run", "--lf", "-v", cwd=repo.root)
    assert last.stdout.splitlines()[-1].startswith("2 failed in ")
    assert "commands  errors" in last.stdout


def test_a_dry_run_says_what_would_run(make_repository: Make, tidegate: Make) -> None:
    """`--target` is AgentV's name for an agent."""
    other = FILES["scenarios/keep.yaml"].replace("keep_notes", "other")
    repo = make_repository()
    repo.commit(FILES | {"scenarios/other.yaml": other})

    ran = tidegate("run", "scenarios/other.yaml", "--target", "docs", "--trials", "3", "--dry-run", cwd=repo.root)

    assert ran.code == 0, ran.stderr
    assert ran.stdout.splitlines()[0] == "3 trials would run, of 1 row:"
    assert "keep_notes" not in ran.stdout
    assert not (repo.root / ".tidegate/runs").exists()
