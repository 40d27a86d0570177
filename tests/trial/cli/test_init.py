"""`tidegate init` alone: what it finds, writes and says."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.journeys.conftest import FILES
from tests.journeys.test_init import TOOL, WORKFLOW
from tidegate.authoring.callers import FOLDER, USUAL_WORKFLOWS

Make = Callable[..., Any]
ROOT = Path(__file__).parents[3]


def test_a_tool_gets_the_configuration_that_it_needs(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    needs = '[ "$1" = --help ] || [ -d "$NOTES_DIR" ] || { echo "notes: NOTES_DIR is not set" >&2; exit 2; }\ncase "$1"'
    repo.commit(TOOL | {"bin/notes": FILES["bin/notes"].replace('case "$1"', needs)})

    without = tidegate("init", cwd=repo.root)
    assert "NOTES_DIR is not set" in without.stdout
    assert "give the tool what it needs (`--setup`, `--env`)" in without.stdout
    repo.git("clean", "--quiet", "--force", "-d")
    assert tidegate("init", "--setup", "mkdir box", "--env", "NOTES_DIR=box", cwd=repo.root).code == 0
    assert "notes add first" in "".join(path.read_text() for path in (repo.root / "scenarios").glob("*.yaml"))
    assert yaml.safe_load((repo.root / "tidegate.yaml").read_text())["target"]["env"] == {"NOTES_DIR": "box"}


def test_what_the_build_lacks_is_added_by_a_command(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    own = '[ "$1" = --help ] || . "$(dirname "$0")/../made" || exit 1\ncase "$1"'
    makefile = "build:\n\ttrue\n"
    repo.commit(TOOL | {"bin/notes": FILES["bin/notes"].replace('case "$1"', own), "Makefile": makefile})
    done = tidegate("init", "--build", "touch made", cwd=repo.root)
    assert done.code == 0
    assert yaml.safe_load((repo.root / "tidegate.yaml").read_text())["build"][-1] == "touch made"
    assert "notes add first" in "".join(path.read_text() for path in (repo.root / "scenarios").glob("*.yaml"))


NPM = """\
#!/bin/sh
case "$*" in
  ci*) echo 'npm error code EUSAGE' >&2; exit 1 ;;
  'run build') mkdir -p dist; cp src/notes dist; echo "a.ts(1,2): error TS18046: 'x' is of type 'unknown'."; exit 2 ;;
  'install --global'*) mkdir -p .tidegate/npm/bin; cp dist/notes .tidegate/npm/bin ;;
esac
"""


def test_a_build_is_simplified_until_it_works(make_repository: Make, tidegate: Make, tmp_path: Path) -> None:
    npm = tmp_path / "npm"
    npm.write_text(NPM)
    npm.chmod(0o755)
    package = '{"name": "notes", "bin": {"notes": "dist/notes"}, "scripts": {"build": "tsc"}}'
    repo = make_repository()
    repo.commit({"package.json": package, "package-lock.json": "{}", "src/notes": FILES["bin/notes"]})

    done = tidegate("init", cwd=repo.root, env={"PATH": f"{tmp_path}:{os.environ['PATH']}"})

    assert done.code == 0, done.stderr
    first, second, _ = yaml.safe_load((repo.root / "tidegate.yaml").read_text())["build"]
    assert (first, second) == ("npm install", "npm run build || true")


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


def test_init_asks_for_the_tool_where_there_is_none(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit({"README.md": "nothing\n"})

    unknown = tidegate("init", cwd=repo.root)
    assert (unknown.code, "`--binary NAME`" in unknown.stderr) == (2, True)
    assert not (repo.root / "tidegate.yaml").exists()

    done = tidegate("init", "--binary", "git", cwd=repo.root)
    assert (done.code, "warning" in done.stdout) == (0, False), done.stdout
    assert "binary: git" in (repo.root / "tidegate.yaml").read_text()


def test_init_does_not_count_on_a_program_that_git_leaves_alone(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit({".gitignore": "greet\n"})
    (repo.root / "greet").write_text("#!/bin/sh\n")
    (repo.root / "greet").chmod(0o755)

    assert "the tool is greet" not in tidegate("init", "--binary", "greet", cwd=repo.root).stdout


def test_init_doubts_a_tool_that_it_does_not_find(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit(TOOL)

    done = tidegate("init", "--binary", "ntoes", cwd=repo.root)

    assert (done.code, "warning: the suite was not run" in done.stdout) == (4, True)


GUIDE = """\
# Notes

## Usage

```sh
$ notes add first
$ notes add second
$ notes list
$ notes list > all.txt
$ notes count > all.txt
$ notes size report.csv
$ notes upper
$ notes frobnicate
```

    notes [OPTIONS] COMMAND

## For good

```sh
$ notes keep tide
```
"""


KEEPS = """  keep) echo "$2" >> "$HOME/kept"; echo "kept $(wc -l < "$HOME/kept")" ;;
  ls) cat "$HOME/kept" ;;
  size) wc -c < "$2" ;;
  upper) tr a-z A-Z ;;
  --help) printf 'Commands:\\n  keep TEXT  Keeps\\n  ls         Lists\\n\\n';"""


def test_the_examples_that_worked_become_checks_and_those_that_failed_do_not(
    make_repository: Make, tidegate: Make
) -> None:
    long = "for n in $(seq 10 89); do printf '  --option-%s  %060d\\n' $n 0; done"
    repo = make_repository()
    repo.commit(
        {
            "bin/notes": FILES["bin/notes"].replace("  --help)", f"{KEEPS} {long};"),
            "README.md": GUIDE,
            "tests/report.csv": "a,b\n",
        }
    )

    done = tidegate("init", cwd=repo.root)

    assert done.code == 0, done.stderr
    helps = yaml.safe_load((repo.root / "scenarios/help.yaml").read_text())["evaluation"]["gates"]
    words = helps[0]["words"]
    assert [word for word in words if "option" in word] == [f"--option-{n}" for n in range(10, 90)]
    assert "each passed 3 of 3 trials" in done.stdout
    assert "example lines failed and are left out" in done.stdout
    assert "  readme: `notes frobnicate`: exit 2, notes: unknown command: frobnicate\n" in done.stdout
    assert re.search(r"Protected: .*results.* Not reached: .*`--option-10`", done.stdout)
    readme = yaml.safe_load((repo.root / "scenarios/readme.yaml").read_text())
    assert "notes list" in readme["task"]["prompt"], "what writes nothing, since the gates make all calls again"
    assert readme["tool_matrix"] == [{"tool": "docs"}]
    gates = readme["evaluation"]["gates"]
    results = {gate["command"]: gate.get("pattern", "") for gate in gates if "command" in gate}
    assert "first\\n" in results["notes list"], "the result as a whole"
    assert "kept 1" in results["notes keep tide"], "the result of a call that leaves nothing in the workspace"
    assert "THE FIRST LINE" in results["notes upper < sample.txt"], "what is silent without input gets some"
    assert "4" in results["notes size report.csv"], "a file of the tests has the name"
    assert any(command.startswith("notes add first") for command in results)
    assert not any("frobnicate" in command for command in results)
    unique = {repr(gate | {"description": ""}) for gate in gates}
    assert len(unique) == len(gates)


def test_a_second_init_says_how_to_start_over(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit(TOOL)
    assert tidegate("init", "--no-try", cwd=repo.root).code == 4

    again = tidegate("init", cwd=repo.root)

    assert again.code == 0
    assert "kept tidegate.yaml" in again.stdout
    assert "To start over, delete tidegate.yaml, its scenarios and" in again.stdout
    assert f"kept {WORKFLOW}" in again.stdout


def test_a_suite_that_was_not_run_says_so_and_claims_no_check(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository("tally")
    repo.commit({"Makefile": "tally:\n\tno-such-compiler-anywhere\n"})

    done = tidegate("init", cwd=repo.root)

    assert (done.code, "warning: the suite was not run: build on head: `make tally` failed" in done.stdout) == (4, True)
    assert "Install what the build lacks" in done.stdout
    assert ("try 2 of 3" in done.stderr, "try 3 of 3" in done.stderr) == (True, False)
    scenario = (repo.root / "scenarios/first_steps.yaml").read_text()
    assert "not run yet" in scenario
    assert [gate["type"] for gate in yaml.safe_load(scenario)["evaluation"]["gates"]] == ["no_transcript_errors"]


def test_an_mcp_server_gets_a_server_as_its_target(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit({"pyproject.toml": '[project]\ndependencies = ["mcp"]\n[project.scripts]\nnotes-mcp = "a:b"\n'})

    done = tidegate("init", "--no-try", cwd=repo.root)

    assert (done.code, "`--no-try` was given" in done.stdout) == (4, True)
    suite = yaml.safe_load((repo.root / "tidegate.yaml").read_text())
    assert suite["target"] == {"mcp": {"command": "notes-mcp"}}
    assert tidegate("check", cwd=repo.root).code == 0


@pytest.mark.parametrize("suite_is_there", [False, True])
def test_a_build_that_the_container_cannot_do_is_for_the_native_action(
    make_repository: Make, tidegate: Make, *, suite_is_there: bool
) -> None:
    repo = make_repository("tally")
    files = {"go.mod": "module example.org/tally\n", "main.go": "package main\n"}
    suite = FILES | {"tidegate.yaml": FILES["tidegate.yaml"] + "build: [go build -o bin/tally .]\n"}
    repo.commit(suite if suite_is_there else files)

    done = tidegate("init", cwd=repo.root)

    assert "the build needs `go`, which the container lacks" in done.stdout
    called = {
        name: yaml.safe_load((repo.root / FOLDER / name).read_text())["jobs"]["call"].get("with")
        for name in ("tidegate.yml", "tidegate-publish.yml", "tidegate-maintainer.yml", "tidegate-history.yml")
    }
    assert [given == {"native": True} for given in called.values()] == [True, False, True, True]


def test_the_workflows_are_those_of_the_examples(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    suite = "version: 1\nscenarios: [scenarios/*.yaml]\npath: [bin]\nagents: {claude: {type: claude-code}}\n"
    repo.commit(FILES | {"tidegate.yaml": suite})
    done = tidegate("init", cwd=repo.root)
    examples = [(ROOT / f"examples/workflows/{name}.yml").read_text().split("\n", 1) for name in USUAL_WORKFLOWS]
    expected = {first.removeprefix("# ").partition(":")[0]: text for first, text in examples}

    texts = {name: (repo.root / name).read_text() for name in expected}
    unnamed = r"OWNER/tidegate/\1@COMMIT"
    written = {name: re.sub(r"[\w.-]+/tidegate/(\S+)@\w+", unnamed, text) for name, text in texts.items()}

    assert all(name in done.stdout for name in written)
    assert written == expected
    assert ("there is no release yet" in done.stdout) == ("@COMMIT" in texts[WORKFLOW])


def test_workflows_pass_no_key_on_if_no_agent_needs_one(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit(FILES)

    assert tidegate("init", cwd=repo.root).code == 0

    text = (repo.root / WORKFLOW).read_text()
    assert "secrets" not in yaml.safe_load(text)["jobs"]["call"]
    assert "    # secrets: # no agent of the suite needs a key" in text


def test_one_workflow_can_be_written_and_nothing_else_is(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit(FILES | {WORKFLOW: "# mine\n"})

    done = tidegate("init", "--workflow", "publish", "--workflow", "history", cwd=repo.root)

    assert done.code == 0, done.stderr
    assert repo.git("status", "--porcelain", "--untracked-files=all").splitlines() == [
        f"?? {FOLDER}/tidegate-history.yml",
        f"?? {FOLDER}/tidegate-publish.yml",
    ]


def test_an_unknown_workflow_is_refused_with_the_names_of_all(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit(FILES)

    done = tidegate("init", "--workflow", "nightly", cwd=repo.root)

    assert done.code == 2
    assert "complete-history, complete-maintainer" in done.stderr
    assert repo.git("status", "--porcelain") == ""
