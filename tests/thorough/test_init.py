"""What tidegate init finds, and the first pull request after it."""

from __future__ import annotations

import re
import subprocess

import pytest
import yaml

from tests.journeys.conftest import FILES
from tests.journeys.test_init import TOOL, Make
from tests.journeys.test_init_servers import FILES as SHELF


@pytest.mark.parametrize(("program", "folder"), [("greet", "."), ("tools/greet", "tools")])
def test_init_finds_the_program_that_it_is_told(
    make_repository: Make, tidegate: Make, program: str, folder: str
) -> None:
    repo = make_repository()
    repo.commit({program: FILES["bin/notes"]})

    done = tidegate("init", "--binary", "greet", cwd=repo.root)

    assert (f"the tool is {program}\n" in done.stdout, "warning" in done.stdout) == (True, False), done.stdout
    assert yaml.safe_load((repo.root / "tidegate.yaml").read_text())["path"] == [folder]
    repo.branch("suite", {})
    assert tidegate("pr", cwd=repo.root).code == 0


def test_files_of_the_repository_that_an_example_names_are_in_its_workspace(
    make_repository: Make, tidegate: Make
) -> None:
    counting = FILES["bin/notes"].replace("count)", 'size) wc -c < "$2" ;;\n  count)')
    repo = make_repository()
    repo.commit(
        {"bin/notes": counting, "data/some.csv": "a,b\n", "README.md": "```sh\nnotes size data/some.csv\n```\n"}
    )

    assert tidegate("init", cwd=repo.root).code == 0

    assert (repo.root / "scenarios/readme/data/some.csv").read_text() == "a,b\n"
    repo.branch("suite", {})
    assert tidegate("pr", cwd=repo.root).code == 0


def test_guidance_whose_commands_fail_is_followed_by_no_scenario(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit(TOOL | {"AGENTS.md": "```sh\nnotes frobnicate\n```\n"})

    done = tidegate("init", cwd=repo.root)

    assert (done.code, "agents: `notes frobnicate`: exit 2" in done.stdout) == (0, True), done.stdout
    assert [path.name for path in (repo.root / "scenarios").iterdir()] == ["help.yaml"]


def test_a_change_of_the_readme_that_breaks_its_example_is_a_regression(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    readme = "```sh\nnotes add first\n```\n"
    repo.commit({"bin/notes": FILES["bin/notes"], "README.md": readme})
    assert tidegate("init", cwd=repo.root).code == 0
    repo.branch("suite", {})

    repo.branch("broken", {"README.md": readme.replace("add", "append")}, start="suite")
    ran = tidegate("pr", "--base", "suite", "--pause", "0", cwd=repo.root)

    assert (ran.code, ran.row("docs_examples")["state"]) == (1, "regressed"), ran.stderr
    assert ran.row("readme")["state"] == "ok"


@pytest.mark.parametrize("refuses", [True, False])
def test_init_tells_if_the_build_fails_with_the_files_of_the_suite(
    make_repository: Make, tidegate: Make, refuses: bool
) -> None:
    """As a linter does that reads the whole repository."""
    lint = "\t@test ! -e scenarios\n" if refuses else ""
    makefile = (
        f"PROG = notes\nall: notes\nnotes: notes.in\n{lint}\tcp notes.in notes && chmod +x notes\n.PHONY: all notes\n"
    )
    repo = make_repository()
    repo.commit({"notes.in": FILES["bin/notes"], "Makefile": makefile})

    done = tidegate("init", cwd=repo.root)

    assert done.code == 0
    assert ("the build fails with the suite's files" in done.stdout + done.stderr) == refuses, done.stdout
    assert ("Exclude `scenarios` from what it checks" in done.stdout + done.stderr) == refuses


def test_the_printed_git_add_works_where_git_ignores_the_scenarios(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit(TOOL | {".gitignore": "scenarios/\n"})

    done = tidegate("init", cwd=repo.root)

    assert "git ignores scenarios/help.yaml" in done.stdout
    (line,) = re.findall(r"(git add .*) && git commit", done.stdout)
    subprocess.run(line, shell=True, cwd=repo.root, check=True)
    assert repo.git("status", "--porcelain", "--ignored", "scenarios", "tidegate.yaml", ".github").count("A  ") >= 3


def test_init_names_the_branch_that_pr_will_compare_with(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit(TOOL)
    repo.git("branch", "--move", "trunk")

    assert "compare the branch with trunk" in tidegate("init", cwd=repo.root).stdout
    repo.branch("suite", {}, start="trunk")
    assert tidegate("pr", cwd=repo.root).code == 0


def test_init_lists_several_tools_and_takes_the_one_of_the_folder(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit({"a/bin/one": FILES["bin/notes"], "b/bin/two": FILES["bin/notes"]})

    several = tidegate("init", cwd=repo.root)
    assert (several.code, "2 tools were found:\n  one  (a/bin)\n  two  (b/bin)" in several.stderr) == (2, True)

    done = tidegate("init", cwd=repo.root / "b")
    assert (done.code, "the tool is `two`, from b/bin" in done.stdout) == (0, True), done.stderr
    assert yaml.safe_load((repo.root / "tidegate.yaml").read_text())["path"] == ["b/bin"]


def test_a_server_that_does_not_start_is_told_with_the_variables_that_its_files_name(
    make_repository: Make, tidegate: Make
) -> None:
    repo = make_repository("shelf")
    broken = SHELF | {
        "server.py": "raise SystemExit('no key')\n",
        ".mcp.json": SHELF[".mcp.json"].replace('"command"', '"env": {"SHELF_KEY": "x"}, "command"'),
    }
    repo.commit(broken)

    done = tidegate("init", cwd=repo.root)

    assert done.code == 4
    assert "the server has ended: exit 1; it wrote: no key; its files name the variables SHELF_KEY" in done.stdout


def test_a_server_that_does_not_start_is_tested_as_the_program_that_it_also_is(
    make_repository: Make, tidegate: Make
) -> None:
    repo = make_repository("shelf")
    program = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--all')\np.parse_args()\n"
    repo.commit(SHELF | {"server.py": f"{program}raise SystemExit('no key')\n"})

    done = tidegate("init", cwd=repo.root)

    assert done.code == 0, done.stderr
    assert "it is tested as a program, since it did not start as an MCP server: " in done.stdout
    assert "it wrote: no key" in done.stdout


def test_a_renamed_option_of_a_servers_program_is_a_regression(make_repository: Make, tidegate: Make) -> None:
    """Calls of its tools alone would not show it."""
    program = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--shelves')\np.parse_args()\n"
    server = f"{program}{SHELF['server.py']}"
    repo = make_repository("shelf")
    repo.commit(SHELF | {"server.py": server})
    assert "the server offers 2 tools" in tidegate("init", cwd=repo.root).stdout
    repo.commit({})

    repo.branch("renamed", {"server.py": server.replace("--shelves", "--racks")})

    ran = tidegate("pr", cwd=repo.root)
    assert (ran.code, "`shelf` no longer accepts `--shelves`" in ran.comment) == (1, True), ran.stderr + ran.comment
