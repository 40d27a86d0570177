"""The files that evaluators' scripts are made of."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import make
from tidegate.evaluators.code_judge import CodeJudge
from tidegate.evaluators.composite import CodeAggregator, CompositeEvaluator
from tidegate.evaluators.script_files import named_files
from tidegate.evaluators.tool_f1 import ToolF1
from tidegate.history.script_contents import script_files, used_files
from tidegate.model.evaluator import Evaluator
from tidegate.model.suite import Scenario

Commit = Callable[[dict[str, str]], Path]


@pytest.fixture
def commit(tmp_path: Path) -> Commit:
    """A repository whose index has these files."""

    def made(files: dict[str, str]) -> Path:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
        subprocess.run(["git", "add", "-A"], cwd=tmp_path, check=True)
        return tmp_path

    return made


def scenario(*evaluators: Evaluator) -> Scenario:
    return make.scenario(file="evals/s.yaml", evaluators=evaluators)


def judge(script: str, cwd: str = "evals") -> CodeJudge:
    return CodeJudge(script=script, cwd=cwd)


@pytest.mark.parametrize(
    ("command", "folder", "named"),
    [
        ("python3 judge.py", "evals", ("evals/python3", "evals/judge.py")),
        ("sh ../tools/a.sh --deep", "evals", ("evals/sh", "tools/a.sh")),
        ("python -m checks.judge x", ".", ("python", "checks/judge", "checks/judge.py", "x")),
        ("/usr/bin/env ../../out $X/y 'a b.py'", "evals", ("evals/a b.py",)),
        ("echo 'unbalanced", "evals", ("evals/echo", "evals/'unbalanced")),
    ],
)
def test_the_words_of_a_command_may_be_files(command: str, folder: str, named: tuple[str, ...]) -> None:
    assert named_files(command, folder) == named


def test_a_script_is_followed_to_what_it_imports_and_names(commit: Commit) -> None:
    root = commit(
        {
            "evals/judge.py": "from counting import lines\nopen('expected.json')  # see README.md\n",
            "evals/README.md": "",
            "evals/counting.py": "import deep.er as d\n",
            "evals/deep/er.py": "",
            "evals/deep/__init__.py": "",
            "evals/expected.json": "{}",
            "evals/agent.py": "import counting  # the agent: nobody imports it\n",
            "evals/unexpected.json": "{}",
            "evals/s.yaml": "script: judge.py",
            "docs/expected.json": "",
        }
    )
    (root / "evals/__pycache__").mkdir()
    assert script_files(root, scenario(judge("python3 judge.py"))) == (
        "evals/counting.py",
        "evals/deep/__init__.py",
        "evals/deep/er.py",
        "evals/expected.json",
        "evals/judge.py",
    )


def test_modules_that_a_script_imports_are_found_anywhere(commit: Commit) -> None:
    root = commit(
        {
            "evals/judge.py": "import sys\nsys.path.insert(0, '../library')\nfrom scoring import score\n",
            "evals/other.py": "",
            "library/scoring.py": "from importlib import import_module\nimport_module('checks.words')\n",
            "checks/words.py": "import tk.store\n",
            "src/tk/__init__.py": "",
            "src/tk/store.py": "",
            "src/tk/unused.py": "",
            "scoring.md": "",
        }
    )
    assert used_files(root, ["evals/judge.py"]) == {
        "checks/words.py",
        "library/scoring.py",
        "src/tk/__init__.py",
        "src/tk/store.py",
    }
    assert used_files(root, []) == frozenset()


def test_files_that_a_script_names_count_wherever_they_are_and_documents_do_not(commit: Commit) -> None:
    root = commit(
        {
            "evals/judge.sh": ". ../lib/count.sh; cat README.md",
            "lib/count.sh": "cat data/wanted.txt.",
            "data/wanted.txt": "",
            "data/other.txt": "",
            "README.md": "",
        }
    )
    assert used_files(root, ["evals/judge.sh"]) == {"lib/count.sh", "data/wanted.txt"}


def test_what_a_linked_script_leads_to_counts(commit: Commit, tmp_path: Path) -> None:
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals/judge.py").symlink_to("../lib/judge.py")
    root = commit({"lib/judge.py": "open('words.txt')", "lib/words.txt": ""})
    assert script_files(root, scenario(judge("python3 judge.py"))) == (
        "evals/judge.py",
        "lib/judge.py",
        "lib/words.txt",
    )


def test_a_command_that_names_nothing_has_all_of_the_folder_that_it_was_given(commit: Commit) -> None:
    root = commit({"checks/test_a.py": "", "evals/s.yaml": "", "evals/other.txt": "", "top.txt": ""})
    assert script_files(root, scenario(judge("pytest -q", "checks"))) == ("checks/test_a.py",)
    assert script_files(root, scenario(judge("true"))) == ()
    assert script_files(root, scenario(judge("true", "."))) == ()


def test_a_folder_that_is_named_counts_whole_and_one_of_the_root_does_not(commit: Commit) -> None:
    root = commit(
        {"tools/a.py": "", "tools/sub/b.txt": "", "judge.sh": "cat notes.txt src/c", "notes.txt": "", "src/c": ""}
    )
    assert script_files(root, scenario(judge("sh ../tools"))) == ("tools/a.py", "tools/sub/b.txt")
    assert script_files(root, scenario(judge("sh judge.sh", "."))) == ("judge.sh", "notes.txt")


def test_members_and_the_aggregator_of_a_composite_count_and_what_runs_no_script_does_not(commit: Commit) -> None:
    root = commit({"evals/a.py": "", "evals/b.py": "", "evals/c.py": ""})
    both = CompositeEvaluator(
        evaluators=(judge("python3 a.py"), ToolF1(expected=("x",))),
        aggregator=CodeAggregator(path="python3 b.py", cwd="evals"),
    )
    assert script_files(root, scenario(both)) == ("evals/a.py", "evals/b.py")
    assert script_files(root, scenario(ToolF1(expected=("x",)))) == ()
