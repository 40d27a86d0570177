"""Which files of the template a trial has changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidegate.trial.lifecycle import rewritten_files
from tidegate.trial.workspace import Prepared


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Prepared, Path]:
    for side in ("start", "workspace"):
        for name in ("a", "sub/b", ".git/config", "AGENTS.md"):
            (tmp_path / side / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / side / name).write_text("x")
    return Prepared(tmp_path / "start", ("AGENTS.md",)), tmp_path / "workspace"


def test_what_is_left_alone_and_what_is_new_is_not_listed(folders: tuple[Prepared, Path]) -> None:
    prepared, workspace = folders
    (workspace / "new").write_text("x")
    (workspace / ".git/config").write_text("y")
    assert rewritten_files(prepared, workspace) == ()


def test_changed_removed_and_replaced_files_are(folders: tuple[Prepared, Path]) -> None:
    prepared, workspace = folders
    (workspace / "a").chmod(0o755)
    (workspace / "sub/b").unlink()
    (workspace / "AGENTS.md").unlink()
    (workspace / "AGENTS.md").symlink_to("a")
    assert rewritten_files(prepared, workspace) == ("AGENTS.md", "a", "sub/b")
