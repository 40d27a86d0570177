"""Which files the commands of a trial or a build may use, and what this machine has to keep them to that."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from tidegate.model.access import FileAccess
from tidegate.trial.sandbox import jail
from tidegate.trial.sandbox.jail import Mounts
from tidegate.trial.sandbox.readable import is_within, prefixes
from tidegate.trial.sandbox.starter import SHELL, why_not_started
from tidegate.trial.sandbox.supervisor.spawn import Launch

SHARED = ("/tmp", "/var/tmp")
SHARED_MEMORY = "/dev/shm"
MOST_NAMED = 5
_REFUSAL = re.compile(  # a folder that is hidden looks as if it were not there
    r"permission denied|EACCES|PermissionError|Operation not permitted|no such file|ENOENT|FileNotFoundError",
    re.IGNORECASE,
)
_PATH = re.compile(r"(?<![\w/.:])/[\w.@+~/-]{2,300}")


class Means(NamedTuple):
    """What this machine has to confine commands. `lacking` says what it has not, and why."""

    landlock: bool
    mounts: bool
    calls: bool
    lacking: str


async def means_to_confine() -> Means:
    """Find out what this machine has, with a real process."""
    landlock = jail.landlock_abi() >= jail.LEAST_ABI
    no_mounts = await asyncio.to_thread(_why_no_mounts)
    lacking = [] if landlock else ["Landlock needs Linux 5.19 or newer, with it switched on"]
    if no_mounts:
        lacking.append(f"the system allows no mounts: {no_mounts}")
    return Means(landlock, not no_mounts, jail.can_refuse(), "; ".join(lacking))


def _why_no_mounts() -> str:
    """Return why a command can have no mounts of its own, as one says that is to have some; '' if it can."""
    empty = Mounts("", (), [(SHARED_MEMORY, "size=1m")], (), ())
    return why_not_started(Launch("/", SHELL, [SHELL, "-c", ":"], {}, mounts=empty))


@dataclass(frozen=True)
class FileRules:
    """The files of one trial or build, besides those that every command may use."""

    read: tuple[Path | str, ...] = ()
    write: tuple[Path, ...] = ()
    feed: tuple[Path, ...] = ()  # FIFOs that it may write to
    list: tuple[Path, ...] = ()  # folders whose names it may read
    tmp: Path | None = None  # what it sees as /tmp, if mounts are allowed


@dataclass(frozen=True)
class FileJail:
    """What every command of a run may use. `hidden` are folders that it sees empty, if mounts are allowed.

    `shared_memory` says if it may use all of /dev/shm where mounts are not allowed; if they are, no command reaches the
    machine's `sockets`.
    """

    means: Means
    access: FileAccess
    read: tuple[str, ...]
    hidden: tuple[str, ...]
    shared_memory: bool = True
    sockets: tuple[str, ...] = ()

    @cached_property
    def common(self) -> list[str]:
        """The paths that every command may read."""
        return [*self.read, *self.access.read]

    def jail(self, rules: FileRules) -> dict[str, Any]:
        """Return what the supervisor has to do for a command with these rules, besides reading the common files."""
        means = self.means
        found: dict[str, Any] = {"calls": means.calls}
        if not (means.landlock or means.mounts):
            return found
        read, write = list(map(str, rules.read)), self._write(rules)
        used = self._used + prefixes((*read, *write))
        hidden = [folder for folder in (*self.hidden, "/run", SHARED_MEMORY) if not f"{folder}/".startswith(used)]
        own_tmp = rules.tmp is not None and not any(f"{folder}/".startswith(used) for folder in SHARED)
        files = {
            "landlock": means.landlock,
            "mounts": self._mounts(rules.tmp if own_tmp else None, hidden) if means.mounts else None,
            "read": read,
            "write": write,
            "feed": list(map(str, rules.feed)),
            "list": list(map(str, rules.list)),
            "shared_memory": SHARED_MEMORY in hidden if means.mounts else self.shared_memory,
        }
        return {**found, "files": files}

    def _mounts(self, tmp: Path | None, hidden: Sequence[str]) -> dict[str, Any]:
        reached = (*hidden, *(SHARED if tmp else ()), *self.access.read, *self.access.write)
        covered = [path for path in self.sockets if not is_within(path, reached)]
        return {"tmp": None if tmp is None else str(tmp), "hidden": hidden, "covered": covered}

    def refused(self, text: str, rules: FileRules) -> list[str]:
        """Return the paths that a command's output says it was refused, that are there, and that are not its own.

        A guess: no kernel in use tells which file it refused. Most programs print its path.
        """
        if not (self.means.landlock or self.means.mounts):
            return []
        own = [*self.common, *map(str, (*rules.read, *rules.feed)), *self._write(rules)]
        found: dict[str, None] = {}
        for line in text.splitlines() if _REFUSAL.search(text) else ():
            if _REFUSAL.search(line):
                paths = map(os.path.normpath, _PATH.findall(line[:2000]))
                found.update(dict.fromkeys(path for path in paths if os.path.exists(path)))  # noqa: PTH110
        outside = (path for path in found if not (is_within(path, own) or any(is_within(one, [path]) for one in own)))
        return list(outside)[:MOST_NAMED]

    @cached_property
    def _used(self) -> tuple[str, ...]:
        return prefixes(self.common)

    def _write(self, rules: FileRules) -> list[str]:
        return [*map(str, rules.write), *self.access.write]


def explained(paths: Sequence[str]) -> str:
    """Return in brackets why these paths were refused, and what to do; '' if there are none."""
    allow = "`files` in the suite can allow it: docs/security.md"
    return f" ({', '.join(paths)}: outside of what trials may use; {allow})" if paths else ""
