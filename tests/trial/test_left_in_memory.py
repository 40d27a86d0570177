"""What a trial leaves in memory that all users share is removed with it."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.as_root import needs_root
from tidegate.trial.sandbox.left_in_memory import remove_left_in_memory

UID, OTHER = 61_190, 61_191
LEAVES = """
import ctypes, os, sys
name, uid = sys.argv[1:]
os.setgid(int(uid)); os.setuid(int(uid)); os.umask(0)
os.mkdir(f"/dev/shm/{name}"); open(f"/dev/shm/{name}/notes", "w").close(); open(f"/dev/shm/{name}.txt", "w").close()
libc = ctypes.CDLL(None)
print(libc.shmget(0, 1, 0o666), libc.msgget(0, 0o666), libc.semget(0, 1, 0o666))
"""


def left(uid: int) -> list[str]:
    """The names in shared memory and the objects of System V that belong to the user."""
    found = [path.name for path in Path("/dev/shm").iterdir() if path.lstat().st_uid == uid]
    for kind in ("shm", "msg", "sem"):
        lines = Path("/proc/sysvipc", kind).read_text().splitlines()
        place = lines[0].split().index("uid")
        found += [kind for line in lines[1:] if line.split()[place] == str(uid)]
    return sorted(found)


@pytest.fixture
def names() -> Iterator[dict[int, str]]:
    """Yield the name that each of two users gave to files in shared memory; objects have no names."""
    found = {uid: f"tidegate-test-{secrets.token_hex(4)}" for uid in (UID, OTHER)}
    for uid, name in found.items():
        remove_left_in_memory(uid)  # a run that was killed leaves its objects for as long as the machine runs
        done = subprocess.run(
            [sys.executable, "-c", LEAVES, name, str(uid)], capture_output=True, text=True, check=True
        )
        assert "-1" not in done.stdout.split()
    yield found
    for uid in found:
        remove_left_in_memory(uid)


@needs_root
@pytest.mark.skipif(not os.access("/proc/sysvipc/shm", os.R_OK), reason="the system has no list of these objects")
def test_only_what_belongs_to_the_user_is_removed(names: dict[int, str]) -> None:
    everything = [["msg", "sem", "shm", name, f"{name}.txt"] for name in names.values()]
    assert [left(uid) for uid in names] == everything

    remove_left_in_memory(UID)

    assert [left(uid) for uid in names] == [[], everything[1]]
