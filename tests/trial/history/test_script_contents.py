"""The hashes of evaluators' scripts and of agents' programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import make
from tests.conftest import Repository
from tidegate.agents.command import CommandAgent
from tidegate.checks.evaluators.code_judge import CodeJudge
from tidegate.checks.evaluators.script_files import named_files
from tidegate.checks.script_contents import script_contents
from tidegate.history.fingerprint import program_hash, scripts_hash

FILES = {"evals/judge.py": "1", "evals/deep/data": "1", "tools/run.py": "1", "bin/agent": "1", "README.md": "1"}
JUDGED = make.scenario(file="evals/s.yaml", evaluators=(CodeJudge(script="python3 judge.py", cwd="evals"),))
AGENT = CommandAgent(type="command", command="python3 {repo}/tools/run.py")


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "repo")
    made.commit(FILES)
    return made


@pytest.mark.parametrize(
    ("command", "folder", "named"),
    [
        ("python3 judge.py", "evals", "evals/judge.py"),
        ("sh ../tools/a.sh --deep", "evals", "tools/a.sh"),
        ("python -m checks.judge x", ".", "checks checks/judge.py"),
        ("python3 -mchecks -Bm other", ".", "checks checks.py other"),
        ("PYTHONPATH=lib:more python3 -m inner", ".", "lib more"),
        ("python3 run.py --want=want.txt -fin.txt", ".", "run.py want.txt in.txt"),
        ("sh -c 'python3 \"$0/tools/agent.py\"' .", ".", "tools/agent.py"),
        ("WANT=want.txt cat<x wants/*.txt $(cat y)", ".", "want.txt x wants y"),
        ("cat 'unbalanced x.txt", "evals", "evals/x.txt"),
        ("python3 che*/run.py @want.txt 'run,v2.py'", "evals", "evals evals/want.txt evals/run,v2.py"),
        ("cat checks/a*.txt", "evals", "evals/checks"),
    ],
)
def test_whatever_in_a_command_may_be_a_path_may_be_a_file(command: str, folder: str, named: str) -> None:
    assert {*named.split()} <= {*named_files(command, folder)}


def test_a_name_with_blanks_is_one_and_what_leads_out_is_none() -> None:
    found = named_files("/usr/bin/env ../../out . 'a b.py'", "evals")
    assert "evals/a b.py" in found
    assert not any(path.startswith(("/", "..")) for path in found)


@pytest.mark.parametrize(
    ("changed", "scripts", "program"),
    [
        ("evals/judge.py", True, False),
        ("evals/deep/data", True, False),
        ("tools/more.py", False, True),
        ("README.md", False, False),
    ],
)
def test_what_lies_beside_and_below_a_script_belongs_to_it(
    repo: Repository, changed: str, scripts: bool, program: bool
) -> None:
    before = scripts_hash(repo.root, JUDGED), program_hash(repo.root, AGENT, ("bin",))
    repo.commit({changed: "2"})
    after = scripts_hash(repo.root, JUDGED), program_hash(repo.root, AGENT, ("bin",))
    assert [one != two for one, two in zip(before, after, strict=True)] == [scripts, program]


def test_a_program_may_be_in_a_folder_of_path(repo: Repository) -> None:
    assert program_hash(repo.root, CommandAgent(type="command", command="agent --now"), ("bin",))
    assert not program_hash(repo.root, CommandAgent(type="command", command="agent --now"), ("elsewhere",))


def test_without_scripts_and_programs_there_is_nothing_to_hash(repo: Repository) -> None:
    assert scripts_hash(repo.root, make.scenario()) == ""
    assert program_hash(repo.root, make.DOCS, ()) == ""


def test_links_of_a_package_are_followed_inside_of_the_checkout(tmp_path: Path) -> None:
    for name in ("checks/main.py", "lib/real.py", "lib/deep/more.py", "other.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1")
    links = {"file.py": "../lib/real.py", "sub": "../lib/deep", "out": "/proc/kcore", "loop": "loop"}
    for name, target in links.items():
        (tmp_path / "checks" / name).symlink_to(target)
    found = script_contents(tmp_path, ["checks"])
    assert {*found} == {"checks/main.py", "checks/out", "lib/real.py", "lib/deep/more.py"}
    (tmp_path / "checks/up").symlink_to("..")
    assert {*script_contents(tmp_path, ["checks"])} == {*found, "other.py"}
