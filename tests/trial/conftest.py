"""What tests of trials share."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def small_disk(open_folder: Path) -> Iterator[Path]:
    """A file system of its own with little room; skips where none can be mounted."""
    folder = open_folder / "disk"
    folder.mkdir()
    options = "size=24m,nr_inodes=3000,mode=755"
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "none", str(folder)], capture_output=True, check=False
    )
    if done.returncode != 0:
        pytest.skip("no file system can be mounted here")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)
