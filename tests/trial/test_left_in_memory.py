"""What a trial leaves in memory that all users share is removed with it."""

from __future__ import annotations

import secrets
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.as_root import needs_root
from tidegate.trial.sandbox.users import remove_left_in_memory

UID, OTHER = 61_190, 61_191
LEAVES = """
import os, sys
name, uid = sys.argv[1:]
os.setgid(int(uid)); os.setuid(int(uid)); os.umask(0)
os.mkdir(f"/dev/shm/{name}"); open(f"/dev/shm/{name}/notes", "w").close(); open(f"/dev/shm/{name}.txt", "w").close()
"""


def left(uid: int) -> list[str]:
    """The names in shared memory that belong to the user."""
    return sorted(path.name for path in Path("/dev/shm").iterdir() if path.lstat().st_uid == uid)


@pytest.fixture
def names() -> Iterator[dict[int, str]]:
    """Yield the name that each of two users gave to files in shared memory."""
    found = {uid: f"tidegate-test-{secrets.token_hex(4)}" for uid in (UID, OTHER)}
    for uid, name in found.items():
        subprocess.run([sys.executable, "-c", LEAVES, name, str(uid)], check=True)
    yield found
    for uid in found:
        remove_left_in_memory(uid)


@needs_root
def test_only_what_belongs_to_the_user_is_removed(names: dict[int, str]) -> None:
    everything = [[name, f"{name}.txt"] for name in names.values()]
    assert [left(uid) for uid in names] == everything

    assert remove_left_in_memory(UID)

    assert [left(uid) for uid in names] == [[], everything[1]]
