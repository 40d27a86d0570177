"""A folder that is held in memory, written again, and compared as a patch."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

import pytest

from tests.make import sure
from tests.trial.test_workspace import write as make
from tidegate.trial.snapshot import MOST_BYTES, MOST_ENTRIES, Snapshot, take, write
from tidegate.trial.workspace_diff import MOST_LINES, patch


def taken(folder: Path) -> Snapshot:
    """The folder as it is held in memory."""
    return sure(take(str(folder)))


def states(folder: Path) -> dict[str, tuple[int, int, bytes | str]]:
    found: dict[str, tuple[int, int, bytes | str]] = {}
    for path in (folder, *folder.rglob("*")):
        state = path.lstat()
        data = str(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else ""
        found[str(path.relative_to(folder))] = (state.st_mode, state.st_mtime_ns, data)
    return found


def test_the_copy_has_the_same_contents_modes_and_times(tmp_path: Path) -> None:
    folder = make(tmp_path / "a", {"f": "1", "d/e/run": "#!/bin/sh\n", "ro/f": "2"})
    (folder / "d/bytes").write_bytes(bytes(range(256)))
    (folder / "d/e/run").chmod(0o751)
    (folder / "link").symlink_to("../outside")
    (folder / "empty").mkdir()
    (folder / "ro").chmod(0o555)
    os.utime(folder / "f", (1, 2))
    os.utime(folder / "d", (3, 4))

    write(taken(folder), str(tmp_path / "b"), time.monotonic() + 60)

    assert states(tmp_path / "b") == states(folder)


def test_no_link_is_followed(tmp_path: Path) -> None:
    outside = make(tmp_path / "outside", {"secret": "s"})
    folder = make(tmp_path / "a", {})
    (folder / "link").symlink_to(outside)
    (tmp_path / "top").symlink_to(outside)

    assert list(taken(folder)) == ["", "link"]
    assert not any("secret" in path for path in take(str(tmp_path / "top")) or {})


def test_what_is_large_or_of_another_kind_has_none(tmp_path: Path) -> None:
    folder = make(tmp_path / "large", {"f": "x" * MOST_BYTES, "g": "x"})
    assert take(str(folder)) is None
    folder = make(tmp_path / "many", {str(number): "" for number in range(MOST_ENTRIES)})
    assert take(str(folder)) is None
    os.mkfifo(make(tmp_path / "pipe", {}) / "fifo")
    assert take(str(tmp_path / "pipe")) is None
    folder = make(tmp_path / "doubled", {"f": "1"})
    (folder / "g").hardlink_to(folder / "f")
    assert take(str(folder)) is None
    assert take(str(tmp_path / "missing")) is None


def test_what_is_left_out_is_left_out_at_the_top_only(tmp_path: Path) -> None:
    files = take(str(make(tmp_path / "a", {".git/x": "", "sub/.git/x": ""})), leave_out=".git")

    assert list(sure(files)) == ["", "sub", "sub/.git", "sub/.git/x"]


def test_nothing_that_is_there_already_is_overwritten(tmp_path: Path) -> None:
    files = taken(make(tmp_path / "a", {"f": "1"}))
    precious = make(tmp_path / "precious", {"f": "keep"})
    (tmp_path / "b").symlink_to(precious)

    with pytest.raises(FileExistsError):
        write(files, str(tmp_path / "b"), time.monotonic() + 60)

    assert (precious / "f").read_text() == "keep"


def test_writing_ends_in_time(tmp_path: Path) -> None:
    files = taken(make(tmp_path / "a", {"f": "1"}))

    with pytest.raises(TimeoutError):
        write(files, str(tmp_path / "b"), time.monotonic() - 1)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can choose an owner")
def test_everything_belongs_to_the_owner(tmp_path: Path) -> None:
    folder = make(tmp_path / "a", {"d/f": "1"})
    (folder / "link").symlink_to("/etc/passwd")
    (folder / "d/f").chmod(0o4755)

    write(taken(folder), str(tmp_path / "b"), time.monotonic() + 60, (12345, 12346))

    owned = [path.lstat() for path in (tmp_path / "b", *(tmp_path / "b").rglob("*"))]
    assert {(state.st_uid, state.st_gid) for state in owned} == {(12345, 12346)}
    assert Path("/etc/passwd").stat().st_uid == 0
    assert stat.S_IMODE((tmp_path / "b/d/f").stat().st_mode) == 0o4755


# --- patches that are written without git, judged by git


def between(folder: Path, before: dict[str, str], after: dict[str, str]) -> bytes | None:
    return patch(taken(make(folder / "a", before)), taken(make(folder / "b", after)))


def test_nothing_changed_gives_an_empty_patch(tmp_path: Path) -> None:
    assert between(tmp_path, {"a": "1", "d/b": ""}, {"a": "1", "d/b": ""}) == b""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"zeros": "a\0b"}),
        ({}, {"umlaut é": "1\n"}),
        ({}, {'quote"': "1\n"}),
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
    start = taken(make(tmp_path / "a", {"f": "1\n"}))
    (make(tmp_path / "b", {"f": "1\n"}) / "f").chmod(0o755)
    (make(tmp_path / "c", {"f": "1\n"}) / "link").symlink_to("f")

    assert patch(start, taken(tmp_path / "b")) is None
    assert patch(start, taken(tmp_path / "c")) is None
