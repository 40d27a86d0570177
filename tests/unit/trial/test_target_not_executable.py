from __future__ import annotations

from pathlib import Path

from tidegate.model.target import Target
from tidegate.trial.start import missing_target


def test_a_tool_that_cannot_be_executed_is_told_from_one_that_is_missing(tmp_path: Path) -> None:
    tool = tmp_path / "notes"
    target, environment = Target(binary="notes"), {"PATH": str(tmp_path)}
    assert "there is no program `notes`" in str(missing_target(target, environment, tmp_path))
    tool.write_text("#!/bin/sh\n")
    assert "`notes` cannot be executed: run `chmod +x`" in str(missing_target(target, environment, tmp_path))
    tool.chmod(0o755)
    assert missing_target(target, environment, tmp_path) is None
