"""Tests which variables commands get."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidegate.cli import parse
from tidegate.cli.options import environ


def test_only_commands_that_judge_the_working_tree_read_a_file_of_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pull request could bring the file that `pr` would find, and git would run what its variables say."""
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("MODE", raising=False)
    (tmp_path / "tidegate.yaml").write_text("pass_env: [MODE]\n")
    (tmp_path / ".env").write_text("MODE=x\nOTHER=y\n")
    given = {name: environ(parse([name, "--repo", str(tmp_path)])) for name in ("check", "pr", "plan")}
    assert {name: set(values) & {"MODE", "OTHER"} for name, values in given.items()} == {
        "check": {"MODE"},
        "pr": set(),
        "plan": set(),
    }
