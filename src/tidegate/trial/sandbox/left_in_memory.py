"""Removes what a trial leaves in memory that all users of the machine share."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from tidegate.trial.safe_files import remove_trees
from tidegate.trial.sandbox.file_jail import SHARED_MEMORY


def remove_left_in_memory(uid: int) -> bool:
    """Remove the user's files in shared memory, which a later trial would find; return False if one is left.

    The other side's may have the same names. Objects of System V and queues are refused where they are shared.
    """
    left = False
    for path in Path(SHARED_MEMORY).glob("*"):
        with suppress(FileNotFoundError):  # another trial removes its own
            if path.lstat().st_uid == uid:
                remove_trees(path)
                left |= os.path.lexists(path)
    return not left
