"""Users of their own for what a run starts: where Tidegate is root, no command gets its rights (docs/security.md)."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from tidegate.errors import CannotRunError
from tidegate.trial.processes import Account, Command, Supervisor

UIDS = range(60_706, 61_183)  # in the tables of Debian and systemd they belong to nobody
BUILDERS = 61_183  # the group of builds; the image lets it, and no trial, through to the repository's objects
FIRST_MISSED = 100  # exit code
LOOK = f"""
import os, sys
for number, folder in enumerate(sys.argv[1:], {FIRST_MISSED}):
    if not os.access(folder + "/.", os.X_OK):
        sys.exit(number)
"""


class Users:
    """Hands out users that no other command has, in this process or in another one on this machine."""

    def __init__(self) -> None:
        self._held: list[socket.socket] = []

    def take(self, gid: int | None = None) -> Account:
        """A user that nobody has had since `self` was made, in a group of its own or in this one."""
        for uid in UIDS:
            mark = socket.socket(socket.AF_UNIX)
            try:
                mark.bind(f"\0tidegate-user-{uid}")  # an abstract name: no file, and gone when we are
            except OSError:
                mark.close()
                continue
            self._held.append(mark)
            return Account(uid, uid if gid is None else gid)
        raise CannotRunError(f"all {len(UIDS)} users for trials are taken.", "Run fewer of them at once.")

    def close(self) -> None:
        """Let others have them; nothing may run as one of them any more."""
        while self._held:
            self._held.pop().close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


async def why_not(folders: Sequence[Path], path: str) -> str | None:
    """Why commands cannot run as users of their own; None if they can, which is tried out.

    They have to reach our interpreter, which records the target's calls, these folders, and those of PATH.
    """
    if os.geteuid() != 0:
        return "only root can choose users"
    searched = [folder for folder in path.split(":") if folder.startswith("/") and Path(folder).is_dir()]
    python = os.path.realpath(sys.executable)
    wanted = [*map(str, folders), *searched]
    argv = (python, "-ISXutf8", "-c", LOOK, *wanted)
    nowhere = Path(os.devnull)
    with Users() as users:
        async with await Supervisor.start(users.take()) as supervisor:
            ended = await supervisor.run(Command(argv, Path("/"), {}, nowhere, nowhere))
    match ended.exit_code:
        case 0:
            return None
        case int(code) if code >= FIRST_MISSED:
            return f"another user cannot reach {wanted[code - FIRST_MISSED]}"
        case _:
            return f"another user cannot run {python}"


def give(account: Account | None, *paths: Path) -> None:
    """Make these files and all below them this user's; links are not followed. Without an account, nothing."""
    if account is not None:
        owner = f"{account.uid}:{account.gid}"
        _must(["chown", "--recursive", "--no-dereference", owner, "--", *map(str, paths)])


def make_private(account: Account | None, folder: Path) -> None:
    """Close our folder to all but us and this user, who may not write it."""
    if account is not None:
        os.chown(folder, 0, account.gid)
        folder.chmod(0o750)


def make_readable(folder: Path) -> None:
    """Let everybody read, and nobody but the owner write, what is below the folder."""
    _must(["chmod", "--recursive", "a+rX,go-w", "--", str(folder)])


def give_back(root: Path, names: Iterable[str]) -> None:
    """Make what root has left in these folders of somebody's repository that person's own."""
    with suppress(OSError):
        owner = root.stat()
        if os.geteuid() == 0 and owner.st_uid != 0:
            below = [str(root / name) for name in names if (root / name).exists()]
            who = f"{owner.st_uid}:{owner.st_gid}"
            options = ["--recursive", "--no-dereference", "--from=0"]
            subprocess.run(["chown", *options, who, "--", *below], capture_output=True, check=False)


def _must(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        raise CannotRunError(f"`{command[0]}` failed: {done.stderr.strip()}", "Look at the disk and its rights.")
