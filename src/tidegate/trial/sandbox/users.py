"""Separate users for the commands of a run: if Tidegate is root, no command gets its rights (docs/security.md)."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from typing import Self

from tidegate.errors import CannotRunError
from tidegate.trial.processes import Account, Command, Supervisor
from tidegate.trial.safe_files import remove_trees
from tidegate.trial.sandbox.file_jail import SHARED_MEMORY

UIDS = range(60_706, 61_183)  # unassigned according to Debian and systemd
BUILDERS = 61_183  # group of builds; in the image, builds but not trials can read the repository's objects
FIRST_MISSED = 100  # exit code
LOCKS = Path("/run/tidegate-users")  # one file for each user that was ever taken
_RANDOM = random.SystemRandom()
LOOK = f"""
import os, sys
for number, folder in enumerate(sys.argv[1:], {FIRST_MISSED}):
    if not os.access(folder + "/.", os.X_OK):
        sys.exit(number)
"""


class NoLockError(CannotRunError):
    """The system refuses the lock that keeps two commands from using the same user."""


class Users:
    """Hands out user ids that no other command on this machine uses, in this process or another."""

    def __init__(self) -> None:
        self._held: list[int] = []  # descriptors of locked files

    def take(self, gid: int | None = None) -> Account:
        """Return a user that was not used since `self` was created, in a group of its own or in `gid`.

        Raises NoLockError if this system allows no lock, CannotRunError if all are taken.
        """
        for uid in _RANDOM.sample(UIDS, len(UIDS)):  # the order would tell which side was built first
            if (lock := _locked(uid)) is not None:
                self._held.append(lock)
                return Account(uid, uid if gid is None else gid)
        raise CannotRunError(f"all {len(UIDS)} users for trials are taken.", "Run fewer of them at once.")

    def close(self) -> None:
        """Release the users. Nothing may run as one of them any more."""
        while self._held:
            os.close(self._held.pop())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _locked(uid: int) -> int | None:
    """Return the descriptor of the user's locked file, freed when this process ends; None if another command has it.

    Root alone can open the file: whoever else could, would take all users.
    """
    try:
        LOCKS.mkdir(mode=0o700, exist_ok=True)
        lock = os.open(LOCKS / str(uid), os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise NoLockError(f"no user can be locked: {error.strerror}.", f"Make {LOCKS} writable for root.") from None
    try:
        flock(lock, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    return lock


async def why_not(folders: Sequence[Path], path: str) -> str | None:
    """Return why commands cannot run as separate users, or None if they can. This is tested with a real process.

    Such a user must be able to reach Tidegate's interpreter, which runs the recorder, these folders, and those of PATH.
    """
    if os.geteuid() != 0:
        return "only root can choose users"
    searched = [folder for folder in path.split(":") if folder.startswith("/") and Path(folder).is_dir()]
    python = os.path.realpath(sys.executable)
    wanted = [*map(str, folders), *searched]
    argv = (python, "-ISXutf8", "-c", LOOK, *wanted)
    nowhere = Path(os.devnull)
    with Users() as users:
        try:
            account = users.take()
        except NoLockError as error:
            return error.message.rstrip(".")
        async with await Supervisor.start(account) as supervisor:
            ended = await supervisor.run(Command(argv, Path("/"), {}, nowhere, nowhere))
    match ended.exit_code:
        case 0:
            return None
        case int(code) if code >= FIRST_MISSED:
            return f"another user cannot reach {wanted[code - FIRST_MISSED]}"
        case _:
            return f"another user cannot run {python}"


def advice_on_users() -> str:
    """Return what it means that trials run as Tidegate's own user, and what to do."""
    if os.geteuid() == 0:
        return (
            "Trials therefore run as root. Move this path out of /root, or make it readable for other users"
            " (docs/help.md)."
        )
    return "Trials run as you. For changes that you do not trust, use the container (docs/security.md)."


def give(account: Account | None, *paths: Path) -> None:
    """Make the account (if any) the owner of these paths and everything below, without following links."""
    if account is not None:
        owner = f"{account.uid}:{account.gid}"
        _must(["chown", "--recursive", "--no-dereference", owner, "--", *map(str, paths)])


def make_private(account: Account | None, folder: Path) -> None:
    """Allow only root and this account to enter the folder; the account cannot write to it."""
    if account is not None:
        os.chown(folder, 0, account.gid)
        folder.chmod(0o750)


def make_readable(folder: Path) -> None:
    """Make everything below the folder readable for all users and writable for the owner only."""
    _must(["chmod", "--recursive", "a+rX,go-w", "--", str(folder)])


def give_back(root: Path, names: Iterable[str]) -> None:
    """Return what root has created in these folders of a repository to the repository's owner."""
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
        raise CannotRunError(f"`{command[0]}` failed: {done.stderr.strip()}", "Check disk space and permissions.")


def remove_left_in_memory(uid: int) -> bool:
    """Remove the user's files in shared memory, which a later trial would find; return False if one is left."""
    left = False
    for path in Path(SHARED_MEMORY).glob("*"):
        with suppress(FileNotFoundError):  # another trial removes its own
            if path.lstat().st_uid == uid:
                remove_trees(path)
                left |= os.path.lexists(path)
    return not left
