"""The files that every command may read, of which the supervisor holds many open."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tidegate.trial.sandbox.common_files import LOWEST, MANY, CommonFiles

FILES = 2 * MANY


@pytest.fixture
def etc(open_folder: Path) -> Path:
    """A folder with more files than need be to be held open, a folder, a link, and a file that is not for all."""
    folder = open_folder / "etc"
    folder.mkdir()
    for number in range(FILES):
        (folder / f"file{number}").write_text(f"file {number}")
    (folder / "folder").mkdir()
    (folder / "folder/inner").write_text("inner")
    (open_folder / "target").write_text("target")
    (folder / "link").symlink_to("../target")
    (folder / "secret").write_text("secret")
    return folder


def listed(etc: Path) -> list[str]:
    return sorted(str(path) for path in etc.iterdir() if path.name != "secret")


@pytest.fixture
def common(etc: Path) -> Iterator[CommonFiles]:
    found = CommonFiles([*listed(etc), "/usr"])
    found.set_replaced([])
    yield found
    found.close()


def inodes(descriptors: list[int]) -> set[int]:
    return {os.fstat(descriptor).st_ino for descriptor in descriptors}


def test_links_and_the_entries_of_small_folders_are_not_held_open(etc: Path, common: CommonFiles) -> None:
    held, paths = common.opened()
    assert inodes(held.files) == {(etc / f"file{number}").stat().st_ino for number in range(FILES)}
    assert inodes(held.folders) == {(etc / "folder").stat().st_ino}
    assert sorted(paths) == sorted(["/usr", str(etc / "link")])


@pytest.mark.parametrize("secs", [0, 1.1])
def test_a_replaced_file_is_opened_again(etc: Path, common: CommonFiles, secs: float) -> None:
    """Also if nothing has changed in the folder for more than a second before."""
    time.sleep(secs)
    common.opened()
    (etc / "new").write_text("new")
    (etc / "new").replace(etc / "file0")
    assert (etc / "file0").stat().st_ino in inodes(common.opened()[0].files)


def test_files_stay_open_while_their_folder_is_as_it_was() -> None:
    programs = [entry.path for entry in os.scandir("/usr/bin") if entry.is_file(follow_symlinks=False)]
    common = CommonFiles(programs[:MANY])
    common.set_replaced([])
    first = common.opened()[0].files[0]
    root = os.open("/", os.O_PATH)
    os.dup2(root, first)  # seen for as long as the file is not opened again
    assert os.fstat(common.opened()[0].files[0]).st_ino == os.fstat(root).st_ino
    common.close()
    os.close(root)


def test_with_few_descriptors_commands_open_the_files_themselves(etc: Path, common: CommonFiles) -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (LOWEST, limits[1]))
    try:
        held, paths = common.opened()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert (held.files, held.folders) == ([], [])
    assert sorted(paths) == sorted(["/usr", *listed(etc)])


def test_what_a_command_sees_replaced_is_not_held_open(etc: Path) -> None:
    common = CommonFiles(listed(etc))
    common.set_replaced([str(etc.parent)])
    held, paths = common.opened()
    assert (held.files, held.folders) == ([], [])
    assert sorted(paths) == sorted(common.inside) == listed(etc)
