"""Patches that are written without git, judged by git."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.trial.test_workspace import write
from tidegate.trial.snapshot import Snapshot, take
from tidegate.trial.workspace_diff import MOST_LINES, patch


def snapshot(folder: Path) -> Snapshot:
    files = take(str(folder))
    assert files is not None
    return files


def between(folder: Path, before: dict[str, str], after: dict[str, str]) -> bytes | None:
    return patch(snapshot(write(folder / "a", before)), snapshot(write(folder / "b", after)))


def test_nothing_changed_gives_an_empty_patch(tmp_path: Path) -> None:
    assert between(tmp_path, {"a": "1", "d/b": ""}, {"a": "1", "d/b": ""}) == b""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"zeros": "a\0b"}),
        ({}, {"umlaut é": "1\n"}),
        ({}, {'quote"': "1\n"}),
        ({"old": "1\n"}, {"renamed": "1\n"}),
        ({"f": "x\n" * (MOST_LINES + 1)}, {"f": "y\n" * (MOST_LINES + 1)}),
        ({".gitattributes": "* text\n", "f": "1\n"}, {".gitattributes": "* text\n", "f": "2\n"}),
        ({}, {"sub/.git/HEAD": "ref: refs/heads/main\n"}),
        ({}, {"sub/.git": "gitdir: ../elsewhere\n"}),
    ],
)
def test_what_only_git_knows_how_to_write_is_left_to_git(
    tmp_path: Path, before: dict[str, str], after: dict[str, str]
) -> None:
    assert between(tmp_path, before, after) is None


def test_links_and_changed_modes_are_left_to_git(tmp_path: Path) -> None:
    start = snapshot(write(tmp_path / "a", {"f": "1\n"}))
    (write(tmp_path / "b", {"f": "1\n"}) / "f").chmod(0o755)
    (write(tmp_path / "c", {"f": "1\n"}) / "link").symlink_to("f")

    assert patch(start, snapshot(tmp_path / "b")) is None
    assert patch(start, snapshot(tmp_path / "c")) is None
