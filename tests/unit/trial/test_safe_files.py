"""Files in a folder that a command controls: nothing outside of it is read or written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tidegate.trial.safe_files import copy_plain, write_below

LIMIT = 1000


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A file that is nobody's business."""
    file = tmp_path / "outside/secret"
    file.parent.mkdir()
    file.write_text("secret")
    return file


def test_plain_files_are_copied_and_no_way_out(tmp_path: Path, outside: Path) -> None:
    source = tmp_path / "source"
    (source / "deep").mkdir(parents=True)
    (source / "deep/kept").write_text("kept")
    (source / "deep/kept").chmod(0o4755)
    (source / "link").symlink_to(outside)
    (source / "up").symlink_to(outside.parent)
    (source / "deep/loop").symlink_to(source)
    os.mkfifo(source / "pipe")

    left_out = copy_plain(source, tmp_path / "target", LIMIT)

    target = tmp_path / "target"
    assert sorted(path.relative_to(target).as_posix() for path in target.rglob("*")) == ["deep", "deep/kept"]
    assert (target / "deep/kept").read_text() == "kept"
    assert (target / "deep/kept").stat().st_mode & 0o7111 == 0
    assert left_out == 2  # the link to a file, and the pipe


def test_what_is_too_much_is_left_out(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for name in "abc":
        (source / name).write_bytes(bytes(LIMIT // 2))
    with (source / "d").open("wb") as file:
        file.truncate(1 << 40)  # takes no room, and would take all of it

    assert copy_plain(source, tmp_path / "target", LIMIT) == 2
    assert sum(file.stat().st_size for file in (tmp_path / "target").iterdir()) == LIMIT


def test_a_path_too_long_to_be_made_again_is_left_out(open_folder: Path, tmp_path: Path) -> None:
    folder = os.open(open_folder, os.O_RDONLY)
    for _ in range(30):
        os.mkdir("d" * 200, dir_fd=folder)
        inner = os.open("d" * 200, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=folder))
    os.close(folder)

    assert copy_plain(open_folder, tmp_path / "target", LIMIT) == 1


def test_a_file_is_written_in_the_place_of_whatever_stands_there(tmp_path: Path, outside: Path) -> None:
    home = tmp_path / "home"
    (home / "is-a-folder/inside").mkdir(parents=True)
    (home / "folder").symlink_to(outside.parent)
    (home / "file").symlink_to(outside)
    os.link(outside, home / "hard")
    os.mkfifo(home / "pipe")

    for name in ("folder/secret", "file", "hard", "pipe", "is-a-folder", "new/er/file"):
        assert write_below(home, name, f"ours: {name}").read_text() == f"ours: {name}"

    assert outside.read_text() == "secret"
    assert not (home / "folder").is_symlink()


def test_other_files_of_a_folder_stay(tmp_path: Path) -> None:
    (tmp_path / ".agent").mkdir()
    (tmp_path / ".agent/other").write_text("theirs")

    write_below(tmp_path, ".agent/config", "ours")

    assert (tmp_path / ".agent/other").read_text() == "theirs"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_the_file_and_the_folders_made_for_it_are_the_owners(tmp_path: Path) -> None:
    write_below(tmp_path, ".agent/deep/config", "ours", (60_001, 60_002))

    for path in (tmp_path / ".agent", tmp_path / ".agent/deep", tmp_path / ".agent/deep/config"):
        assert (path.stat().st_uid, path.stat().st_gid) == (60_001, 60_002)
