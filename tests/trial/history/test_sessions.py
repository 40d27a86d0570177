"""Recorded sessions of base: what is kept of them, and what is ignored."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.unit.history.test_sessions import NOW, PRINTS, read, session
from tidegate.history.branch import copy_to, write
from tidegate.model.suite import Store


def test_sessions_are_kept_on_the_branch_of_the_history(tmp_path: Path, make_repository: Callable[..., Any]) -> None:
    repo = make_repository()
    repo.commit({"README.md": "x"})
    limits = Store(type="branch")
    write(repo.root, limits, None, lambda history: history.sessions.add(PRINTS, [session(1)]), NOW)

    copy_to(repo.root, limits.name, tmp_path / "copy")

    assert read(tmp_path / "copy") == ["1"]
