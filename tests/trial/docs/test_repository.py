"""Checks of the repository: packaging, the direction of imports, and documents that match the code."""

from __future__ import annotations

import json
import re
import shutil
import sys
import tomllib
from pathlib import Path

from jsonpath_ng.ext.filter import OPERATOR_MAP
from jsonpath_ng.ext.string import Sub

from tests.unit.docs.test_repository import ROOT, copy_of_the_tree, load, pasted, run

FORBIDDEN = {
    "decide/comparison/compare.py": ("import os", "tidegate.decide.comparison.compare -> os"),
    "checks/gates/command_gate.py": ("import subprocess", "tidegate.checks.gates.command_gate -> subprocess"),
    "decide/statistics/rates.py": ("import random", "tidegate.decide.statistics.rates -> random"),
    "reports/view.py": ("from tidegate import run", "tidegate.reports.view -> tidegate.run"),
    "model/suite.py": ("from tidegate.checks import gates", "tidegate.model.suite -> tidegate.checks.gates"),
    "trial/workspace.py": ("from tidegate import history", "tidegate.trial.workspace -> tidegate.history"),
}


def test_forbidden_imports_and_an_unplaced_module_break_the_contracts(tmp_path: Path) -> None:
    """`make lint` looks at the tree as it is."""
    source = copy_of_the_tree(tmp_path) / "src/tidegate"
    for module, (line, _) in FORBIDDEN.items():
        with (source / module).open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")

    said = lint_imports(tmp_path)

    assert [broken for _, broken in FORBIDDEN.values() if broken not in said] == []
    (source / "utils.py").touch()
    assert "utils" in lint_imports(tmp_path)


def lint_imports(tree: Path) -> str:
    """What import-linter says of the tree."""
    done = run("lint-imports", "--no-cache", "--no-logo", cwd=tree, PYTHONPATH=str(tree / "src"))
    return done.stdout + done.stderr


def test_generated_pages_are_fresh() -> None:
    done = run(sys.executable, "docs/generate.py", "--check")

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_what_the_readme_tells_to_paste_runs_and_passes(tmp_path: Path) -> None:
    """The tool of the example in a repository of one's own, with the README's two files and nothing else."""
    for name in ("bin", "taskmgr"):
        shutil.copytree(ROOT / "examples/taskmgr" / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    load(tmp_path, *(block for page, block in pasted() if page == "README.md"))
    git = ("git", "-c", "user.name=me", "-c", "user.email=me@localhost")
    for command in ("init --quiet --initial-branch=main", "add .", "commit --quiet -m suite"):
        assert run(*git, *command.split(), cwd=tmp_path).returncode == 0
    with (tmp_path / "taskmgr/cli.py").open("a") as tool:
        tool.write("# changed\n")
    for command in ("switch --quiet -c my-branch", "commit --quiet --all -m change"):
        assert run(*git, *command.split(), cwd=tmp_path).returncode == 0

    done = run(sys.executable, "-m", "tidegate", "pr", "--base", "main", "--head", "my-branch", cwd=tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr
    (row,) = json.loads((tmp_path / ".tidegate/pr/result.json").read_text(encoding="utf-8"))["rows"]
    assert (row["scenario"], row["state"], row["head"]["passes"]) == ("first_task", "ok", 1)


def test_what_is_replaced_in_libraries_is_still_there() -> None:
    """pyproject.toml allows only versions for which this has been seen; a wider range needs these names."""
    allowed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    pinned = {one.partition(">=")[0] for one in allowed if re.search(r">=(\d+)\.(\d+),<\1\.", one)}
    assert pinned >= {"jsonpath-ng", "pydantic"}
    code = "import pydantic.plugin._loader as loader; assert list(loader.get_plugins()) == []"
    assert run(sys.executable, "-c", code, PYDANTIC_DISABLE_PLUGINS="__all__").returncode == 0
    assert callable(OPERATOR_MAP["=~"])
    assert "regex" in vars(Sub("sub(/a/, b)"))
