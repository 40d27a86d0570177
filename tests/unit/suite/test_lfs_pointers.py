"""Files of templates that Git LFS has not downloaded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tidegate.model.suite import Suite
from tidegate.suite.folders import lfs_pointers

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
SCENARIO = "name: first\ndescription: d\ntarget: {binary: t}\ntask: t\n"


def test_a_pointer_in_a_template_is_named(load: Callable[..., Suite], tmp_path: Path) -> None:
    files = {"scenarios/first/data/big.bin": POINTER, "scenarios/first/a.txt": "version"}
    files |= {"scenarios/first.yaml": SCENARIO}
    (line,) = lfs_pointers(tmp_path, load(files))
    assert line.startswith("scenarios/first/data/big.bin: only a Git LFS pointer, not the file.")
    assert "`git lfs pull`" in line


def test_a_large_file_that_begins_like_one_is_none(load: Callable[..., Suite], tmp_path: Path) -> None:
    files = {"scenarios/first.yaml": SCENARIO, "scenarios/first/notes.md": POINTER + "x" * 2000}
    assert lfs_pointers(tmp_path, load(files)) == ()
