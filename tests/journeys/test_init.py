"""`tidegate init` and `tidegate pr` in a repository without Tidegate, with nothing edited in between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import yaml

from tests.journeys.conftest import FILES
from tidegate.authoring.callers import FOLDER

Make = Callable[..., Any]
TOOL = {"bin/notes": FILES["bin/notes"], "AGENTS.md": FILES["AGENTS.md"]}
WORKFLOW = ".github/workflows/tidegate.yml"


def test_init_then_pr_works_and_the_next_pull_request_is_judged(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit(TOOL)

    missing = tidegate("check", cwd=repo.root)
    assert (missing.code, "`tidegate init` writes one" in missing.stderr) == (2, True)

    done = tidegate("init", cwd=repo.root)
    assert done.code == 0, done.stderr
    repo.branch("suite", {})
    shown = repo.git("show", "--name-only", "--format=").splitlines()
    workflows = [name for name in shown if name.startswith(f"{FOLDER}/tidegate")]
    assert (workflows[-1], len(workflows), shown[-1]) == (WORKFLOW, 5, "tidegate.yaml")
    assert all(name.startswith("scenarios/") for name in shown[5:-1])
    assert yaml.safe_load((repo.root / "tidegate.yaml").read_text())["network"] == {"agent": False}
    first = tidegate("pr", cwd=repo.root)
    assert (first.code, {row["state"] for row in first.result["rows"]}) == (0, {"ok"}), first.stderr
    assert {trial["outcome"] for trial in first.result["trials"]} == {"pass"}

    renamed = FILES["bin/notes"].replace("add) shift", "append) shift")
    repo.branch("rename", {"bin/notes": renamed}, start="suite")
    second = tidegate("pr", "--base", "suite", cwd=repo.root)
    assert (second.code, "regressed" in {row["state"] for row in second.result["rows"]}) == (1, True), second.stderr


def test_init_in_a_repository_with_eval_files_and_no_tool(make_repository: Make, tidegate: Make) -> None:
    evals = """\
evalcases:
  - id: hello
    input_messages: [{role: user, content: Say hello.}]
    evaluators: [{type: code_judge, script: grep -q hello}]
"""
    repo = make_repository()
    targets = "targets: [{name: default, provider: mock, response: hello}]\n"
    repo.commit({"evals/greet.yaml": evals, ".agentv/targets.yaml": targets})

    assert tidegate("init", cwd=repo.root).code == 0
    repo.branch("suite", {})
    ran = tidegate("pr", cwd=repo.root)

    assert (ran.code, ran.row("evals/greet/hello", "default")["state"]) == (0, "ok"), ran.stderr


# `keep` leaves nothing in the workspace.
