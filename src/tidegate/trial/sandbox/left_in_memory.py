"""Removes what a trial leaves in memory that all users of the machine share."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tidegate.trial.safe_files import remove_trees

_FOLDERS = ("/dev/shm", "/dev/mqueue")
_IPC_RMID = 0


def remove_left_in_memory(uid: int) -> None:
    """Remove the user's files in shared memory, message queues, semaphores and segments of System V.

    Without mounts and namespaces, a later trial would find them: it can be the other side's, with the same names.
    """
    for folder in _FOLDERS:
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if entry.stat(follow_symlinks=False).st_uid == uid:
                    remove_trees(Path(entry.path))
    libc = ctypes.CDLL(None)
    for number in _objects("shm", uid):
        libc.shmctl(number, _IPC_RMID, None)
    for number in _objects("msg", uid):
        libc.msgctl(number, _IPC_RMID, None)
    for number in _objects("sem", uid):
        libc.semctl(number, 0, _IPC_RMID)


def _objects(kind: str, uid: int) -> Iterator[int]:
    """Yield the ids of the user's System V objects of a kind; none if the system has no list of them."""
    with suppress(OSError):
        header, *lines = Path("/proc/sysvipc", kind).read_text(encoding="ascii").splitlines()
        names = header.split()
        for line in lines:
            values = dict(zip(names, line.split(), strict=False))
            if str(uid) in (values["uid"], values["cuid"]):
                yield int(values["msqid" if kind == "msg" else f"{kind}id"])
