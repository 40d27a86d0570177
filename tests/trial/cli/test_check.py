"""`tidegate check` and `tidegate schema`, as a person runs them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.unit.cli.test_check import SCENARIO, SUITE, Run
from tests.warm import run_tidegate


@pytest.fixture
def tidegate(tmp_path: Path) -> Run:
    """Runs the program in a folder that holds the small suite."""
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "tidegate.yaml").write_text(SUITE)
    (tmp_path / "scenarios/first.yaml").write_text(SCENARIO)

    def run(*arguments: str, cwd: Path = tmp_path) -> subprocess.CompletedProcess[str]:
        return run_tidegate(*arguments, cwd=cwd)

    return run


def test_from_a_folder_below_the_top_of_the_repository(tidegate: Run, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)

    assert tidegate("check", cwd=tmp_path / "scenarios").returncode == 0
