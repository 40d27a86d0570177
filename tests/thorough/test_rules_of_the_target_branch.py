"""The rules come from the tip of the target branch: no branch can bring its own by beginning at an old commit."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import Repository
from tests.journeys.conftest import AGENTS_MD, FILES, NOTES, SCENARIO, SUITE

Make = Callable[..., Any]
BEFORE = {"bin/notes": NOTES, "AGENTS.md": AGENTS_MD}  # there was a suite
BROKEN = {"bin/notes": NOTES.replace("  add)", "  append)")}


@pytest.fixture
def forked(make_repository: Make, tidegate: Make) -> Callable[..., Any]:
    """A branch that begins at the first of these commits, against main with the second on top."""

    def run(old: dict[str, str], tip: dict[str, str | None], head: dict[str, str | None], **environ: str) -> Any:
        repo: Repository = make_repository()
        repo.commit(old)
        repo.branch("pr", head)
        repo.commit(tip, on="main")
        return tidegate("pr", "--base", "main", "--head", "pr", "--pause", "0", cwd=repo.root, env=environ)

    return run


@pytest.mark.attempt("begins at a commit from before there was a suite", "regression")
def test_a_branch_that_began_before_there_was_a_suite_is_not_advisory(forked: Make) -> None:
    ran = forked(BEFORE, FILES, {**FILES, **BROKEN})

    assert (ran.code, ran.result["verdict"]["mode"]) == (1, "blocking"), ran.stdout
    assert ran.row("keep_notes")["state"] == "regressed"
    assert "tidegate.yaml is missing at the merge base" in ran.comment


def test_scenarios_that_the_branch_is_too_old_to_have_are_named(forked: Make) -> None:
    names = ("b", "c", "d")
    newer = {f"scenarios/{name}.yaml": SCENARIO.replace("keep_notes", name) for name in names}
    ran = forked(FILES, newer, {"bin/notes": NOTES + "# x\n"})

    assert (ran.code, [row["scenario"] for row in ran.result["rows"]]) == (0, ["keep_notes"])
    said = "not run, as `main` has them only since this branch began: b and 2 more; merge `main` into this branch"
    assert said in " ".join(ran.result["warnings"])
    assert "b and 2 more; merge" in ran.comment


@pytest.mark.attempt("begins before there was a suite, and brings one without the scenario that fails", "regression")
def test_the_suite_of_the_target_branch_judges(forked: Make) -> None:
    """It leaves the scenario out that would fail."""
    other = SCENARIO.partition("evaluation:")[0].replace("keep_notes", "other")
    gates = "evaluation: {gates: [{type: command_succeeds, command: notes --version}]}\n"
    own = {"tidegate.yaml": SUITE, "scenarios/other.yaml": other + gates}
    ran = forked(BEFORE, FILES, {**own, **BROKEN})

    assert (ran.code, ran.row("keep_notes")["state"]) == (1, "regressed"), ran.comment


@pytest.mark.attempt("begins at a commit at which the policy was milder", "regression")
@pytest.mark.parametrize(
    "policy",
    [
        "policy: {mode: advisory}\n",
        "policy: {block: []}\n",
        "policy: {agents: []}\n",
        "budget: {trials: 1}\n",
        "trials: {max: 1}\n",
    ],
)
def test_a_policy_that_was_mild_when_the_branch_began_is_that_of_today(forked: Make, policy: str) -> None:
    mild = {**FILES, "tidegate.yaml": SUITE + policy}
    ran = forked(mild, {"tidegate.yaml": SUITE}, BROKEN)

    assert (ran.code, ran.result["verdict"]["reason"]) == (1, "regression"), ran.comment


def test_less_to_check_blocks_by_the_policy_of_today(forked: Make) -> None:
    other = {"scenarios/other.yaml": SCENARIO.replace("keep_notes", "other")}
    strict = {"tidegate.yaml": SUITE + "policy: {rules: block}\n"}
    ran = forked({**FILES, **other}, strict, {"scenarios/other.yaml": None})

    assert (ran.code, ran.result["verdict"]["reason"]) == (1, "checks_less")


SOURCES = SCENARIO.replace("gates:\n", "gates:\n    - {type: command_succeeds, command: '. lib.sh; kept'}\n")
SEED = """\
name: seed
description: It is a tool, too.
target: {binary: seed}
task: Run it.
evaluation: {gates: [{type: command_succeeds, command: seed}]}
"""
SEEDED = SCENARIO + "setup: {commands: [seed]}\n"
WORKER = f'{sys.executable} -m tidegate trials run --quiet "$1" --out "$2"\n'
EXECUTOR = "executor: {type: command, parallel: 1, run: 'sh own/worker.sh {bundle} {out}'}\n"


@pytest.mark.attempt("changes what a check runs, under `rules: block`", "checks_less")
@pytest.mark.parametrize(
    ("base", "head"),
    [
        ({"scenarios/keep.yaml": SOURCES, "bin/lib.sh": "kept() { notes list; }\n"}, {"bin/lib.sh": "kept() { :; }\n"}),
        (
            {"scenarios/keep.yaml": SEEDED, "scenarios/seed.yaml": SEED, "bin/seed": "#!/bin/sh\n"},
            {"bin/seed": "#!/bin/sh\n:\n"},
        ),
        ({"tidegate.yaml": EXECUTOR, "own/worker.sh": WORKER}, {"own/worker.sh": f"# another\n{WORKER}"}),
    ],
    ids=["a file of path that a gate sources", "a program of the setup", "the executor's script"],
)
def test_what_a_check_runs_is_listed(forked: Make, base: dict[str, str], head: dict[str, str]) -> None:
    suite = SUITE + base.get("tidegate.yaml", "") + "policy: {rules: block}\n"
    ran = forked({**FILES, **base, "tidegate.yaml": suite}, {}, head)

    assert (ran.code, ran.result["verdict"]["reason"]) == (1, "checks_less"), ran.comment


def test_the_policy_may_have_become_milder_too(forked: Make) -> None:
    ran = forked(FILES, {"tidegate.yaml": SUITE + "policy: {mode: advisory}\n"}, BROKEN)

    assert (ran.code, ran.result["verdict"]["mode"]) == (0, "advisory")


def test_what_the_target_branch_has_since_is_not_charged_to_the_branch(forked: Make) -> None:
    """The code and the definitions that head is compared with are still those where it began."""
    more = {"scenarios/other.yaml": SCENARIO.replace("keep_notes", "other"), "bin/notes": NOTES + "# x\n"}
    ran = forked(FILES, more, {"AGENTS.md": FILES["AGENTS.md"] + "x\n"})

    assert (ran.code, ran.result["definitions"]) == (0, []), ran.comment


def test_a_suite_of_the_target_branch_that_cannot_be_read_leaves_the_merge_base_s_rules(forked: Make) -> None:
    ran = forked(FILES, {"tidegate.yaml": "version: 7\n"}, BROKEN)

    assert (ran.code, ran.result["verdict"]["mode"]) == (1, "blocking"), ran.comment


@pytest.mark.attempt("names a secret that the target branch does not pass on", "is not set", 2)
def test_a_branch_may_name_no_secret_but_those_of_today(forked: Make) -> None:
    """It began when one could, or before there was a suite."""
    named = SCENARIO.replace("--version}", "--version, env: {X: '${SECRET}'}}")
    head = {**FILES, "tidegate.yaml": SUITE + "pass_env: [SECRET]\n", "scenarios/keep.yaml": named}
    ran = forked(BEFORE, FILES, head, SECRET="s3cret")

    assert ran.code == 2
    assert "${SECRET} is not set" in ran.stderr
