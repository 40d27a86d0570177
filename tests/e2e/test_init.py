"""`tidegate init` and `tidegate pr` in a repository without Tidegate, with nothing edited in between."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.conftest import FILES
from tidegate.authoring.starter import UNKNOWN_ACTION

Make = Callable[..., Any]
TOOL = {"bin/notes": FILES["bin/notes"], "AGENTS.md": FILES["AGENTS.md"]}
WORKFLOW = ".github/workflows/tidegate.yml"
ROOT = Path(__file__).parents[2]


def test_init_then_pr_works_and_the_next_pull_request_is_judged(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit(TOOL)

    missing = tidegate("check", cwd=repo.root)
    assert (missing.code, "`tidegate init` writes one" in missing.stderr) == (2, True)

    done = tidegate("init", cwd=repo.root)
    assert done.code == 0, done.stderr
    repo.branch("suite", {})
    assert repo.git("show", "--name-only", "--format=").splitlines() == [
        WORKFLOW,
        "scenarios/first_steps.yaml",
        "scenarios/first_steps/WORKSPACE.txt",
        "tidegate.yaml",
    ]
    first = tidegate("pr", cwd=repo.root)
    assert (first.code, first.row("first_steps")["state"]) == (0, "ok"), first.stderr
    assert [trial["outcome"] for trial in first.result["trials"]] == ["pass", "pass"]

    renamed = FILES["bin/notes"].replace("add) shift", "append) shift")
    repo.branch("rename", {"bin/notes": renamed}, start="suite")
    second = tidegate("pr", "--base", "suite", cwd=repo.root)
    assert (second.code, second.row("first_steps")["state"]) == (1, "regressed"), second.stderr


def test_init_never_overwrites(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    files = FILES | {WORKFLOW: "# mine\n"}
    repo.commit(files)

    done = tidegate("init", cwd=repo.root)

    assert done.code == 0, done.stderr
    assert {name: (repo.root / name).read_text() for name in files} == files
    assert repo.git("status", "--porcelain") == ""


def test_init_points_at_the_scenarios_that_are_there(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit(TOOL | {"evals/keep.yaml": FILES["scenarios/keep.yaml"], "evals/other.yaml": "a: 1\n"})

    assert tidegate("init", cwd=repo.root).code == 0
    assert yaml.safe_load((repo.root / "tidegate.yaml").read_text())["scenarios"] == ["evals/keep.yaml"]
    assert "1 scenario ×" in tidegate("check", cwd=repo.root).stdout


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

    assert (ran.code, ran.row("greet/hello", "default")["state"]) == (0, "ok"), ran.stderr


def test_init_asks_for_the_tool_where_there_is_none(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit({"README.md": "nothing\n"})

    unknown = tidegate("init", cwd=repo.root)
    assert (unknown.code, "`--binary NAME`" in unknown.stderr) == (2, True)
    assert not (repo.root / "tidegate.yaml").exists()

    done = tidegate("init", "--binary", "git", cwd=repo.root)
    assert (done.code, "warning" in done.stdout) == (0, False)
    assert "binary: git" in (repo.root / "tidegate.yaml").read_text()


@pytest.mark.parametrize(("program", "folder"), [("greet", "."), ("tools/greet", "tools")])
def test_init_finds_the_program_that_it_is_told(
    make_repository: Make, tidegate: Make, program: str, folder: str
) -> None:
    repo = make_repository()
    repo.commit({program: FILES["bin/notes"]})

    done = tidegate("init", "--binary", "greet", cwd=repo.root)

    assert (f"the tool is {program}\n" in done.stdout, "warning" in done.stdout) == (True, False)
    assert yaml.safe_load((repo.root / "tidegate.yaml").read_text())["path"] == [folder]
    repo.branch("suite", {})
    assert tidegate("pr", cwd=repo.root).code == 0


def test_init_does_not_count_on_a_program_that_git_leaves_alone(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit({".gitignore": "greet\n"})
    (repo.root / "greet").write_text("#!/bin/sh\n")
    (repo.root / "greet").chmod(0o755)

    assert "warning: there is no program `greet`" in tidegate("init", "--binary", "greet", cwd=repo.root).stdout


def test_init_doubts_a_tool_that_it_does_not_find(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit(TOOL)

    done = tidegate("init", "--binary", "ntoes", cwd=repo.root)

    assert done.code == 0
    assert "warning: there is no program `ntoes` on PATH; the repository makes `notes` (bin/)" in done.stdout


def test_a_readme_that_alone_documents_the_tool_is_guidance(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit({"bin/notes": FILES["bin/notes"], "README.md": FILES["AGENTS.md"]})
    done = tidegate("init", cwd=repo.root)
    assert "agents read README.md; `tidegate pr` runs the commands shown there, on this machine, as you" in done.stdout
    repo.branch("suite", {})
    first = tidegate("pr", cwd=repo.root)
    assert (first.code, first.row("first_steps")["state"]) == (0, "ok"), first.stderr

    scenario = (repo.root / "scenarios/first_steps.yaml").read_text()
    assert ", required: false" in scenario
    repo.branch("strict", {"scenarios/first_steps.yaml": scenario.replace(", required: false", "")}, start="suite")
    repo.branch("rename", {"bin/notes": FILES["bin/notes"].replace("add) shift", "append) shift")}, start="strict")
    ran = tidegate("pr", "--base", "strict", "--pause", "0", cwd=repo.root)

    assert (ran.code, ran.row("first_steps")["state"]) == (1, "regressed"), ran.stderr


def test_a_readme_whose_examples_need_files_that_are_not_there_is_no_bad_start(
    make_repository: Make, tidegate: Make
) -> None:
    counting = FILES["bin/notes"].replace("count)", 'size) wc -c < "$2" ;;\n  count)')
    repo = make_repository()
    repo.commit({"bin/notes": counting, "README.md": "```sh\nnotes add first\nnotes size report.csv\n```\n"})
    tidegate("init", cwd=repo.root)
    repo.branch("suite", {})

    first = tidegate("pr", cwd=repo.root)

    assert (first.code, first.row("first_steps")["state"]) == (0, "ok"), first.stderr
    gates = [[(gate["required"], gate["passed"]) for gate in trial["gates"]] for trial in first.result["trials"]]
    assert gates == [[(True, True), (False, False)]] * 2
    assert "Make it required once what README.md shows works" in (repo.root / "scenarios/first_steps.yaml").read_text()


def test_guidance_that_is_written_for_agents_has_to_work(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit(TOOL | {"README.md": FILES["AGENTS.md"]})

    done = tidegate("init", cwd=repo.root)

    assert "agents read AGENTS.md; " in done.stdout
    assert "required: false" not in (repo.root / "scenarios/first_steps.yaml").read_text()


def test_init_says_that_it_found_no_guidance(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit({"bin/notes": FILES["bin/notes"], "README.md": "Try it.\n"})

    done = tidegate("init", cwd=repo.root)
    assert "no guidance was found" in done.stdout
    assert "guidance:" not in (repo.root / "tidegate.yaml").read_text()

    again = tidegate("init", cwd=repo.root)
    assert "kept tidegate.yaml" in again.stdout
    assert f"kept {WORKFLOW}" in again.stdout


def test_init_names_the_branch_that_pr_will_compare_with(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit(TOOL)
    repo.git("branch", "--move", "trunk")

    assert "compare the branch with trunk" in tidegate("init", cwd=repo.root).stdout
    repo.branch("suite", {}, start="trunk")
    assert tidegate("pr", cwd=repo.root).code == 0


@pytest.mark.parametrize("suite_is_there", [False, True])
def test_a_build_that_the_container_cannot_do_is_for_the_native_action(
    make_repository: Make, tidegate: Make, *, suite_is_there: bool
) -> None:
    repo = make_repository("tally")
    files = {"go.mod": "module example.org/tally\n", "main.go": "package main\n"}
    suite = FILES | {"tidegate.yaml": FILES["tidegate.yaml"] + "build: [go build -o bin/tally .]\n"}
    repo.commit(suite if suite_is_there else files)

    done = tidegate("init", cwd=repo.root)

    assert "the build needs `go`, which the container has not" in done.stdout
    job = yaml.safe_load((repo.root / WORKFLOW).read_text())["jobs"]["tidegate"]
    assert re.fullmatch(r"\S+/tidegate/native@\w+", job["steps"][-1]["uses"])
    assert ("/native@COMMIT where Tidegate is" in done.stdout) == job["steps"][-1]["uses"].endswith("@COMMIT")


def test_the_workflow_is_that_of_the_documentation(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit(TOOL)
    tidegate("init", cwd=repo.root)
    (block,) = re.findall(r"```yaml\n(# .*?tidegate\.yml\n.*?)```", (ROOT / "docs/action.md").read_text(), re.DOTALL)[
        :1
    ]

    written, documented = (yaml.safe_load(text) for text in ((repo.root / WORKFLOW).read_text(), block))

    assert written["jobs"]["tidegate"]["steps"].pop()["uses"].partition("@")[2]
    assert documented["jobs"]["tidegate"]["steps"].pop()["uses"] == UNKNOWN_ACTION
    assert written == documented
