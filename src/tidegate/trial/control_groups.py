"""Finds or makes the place where a run's control groups are, if this machine lets Tidegate make some (cgroup v2).

Sources: cgroups(7), proc(5), and Documentation/admin-guide/cgroup-v2.rst of the kernel.
"""

# Paths of groups are text, as the supervisor's are.
# ruff: noqa: PTH102, PTH106, PTH110, PTH116, PTH120, PTH208, PTH112

from __future__ import annotations

import os
import subprocess
import time
from contextlib import suppress
from typing import NamedTuple, Self

from tidegate.trial.command_group import CommandGroup, read, write
from tidegate.trial.supervisor.tree import look_at, processes_below

CONTROLLERS = frozenset({"memory", "pids"})
GIVE_UP_SECS = 1.0  # a group cannot be removed while the last of its processes is being cleared away
NAMESPACE = "/proc/self/ns/pid"


class Place(NamedTuple):
    """Where this process is: its own group, and the highest one that it sees."""

    own: str
    top: str


def place_of(own: str, mounts: str) -> Place | None:
    """Return the place by /proc/self/cgroup and /proc/self/mountinfo (proc(5)); None if version 2 is not mounted."""
    path = next((line[3:] for line in own.splitlines() if line.startswith("0::/")), "/..")
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        root, top = before.split()[3:5]
        below = path.removeprefix(root.rstrip("/"))
        is_inside = path.startswith(root) and below[:1] in ("", "/") and not f"{path}/".startswith("/../")
        if after.startswith("cgroup2 ") and is_inside:
            return Place(f"{top}{below}".rstrip("/"), top)
    return None


class ControlGroups:
    """The control group of a run. A context manager, which leaves the machine's groups as it has found them.

    `folder` is the group; '' if there is none, and `lacking` then says why.
    """

    def __init__(self) -> None:
        self.folder, self.lacking = "", ""
        self._enabled_in, self._moved_to = "", ""

    def __enter__(self) -> Self:
        name = f"tidegate-{os.stat(NAMESPACE).st_ino}-{os.getpid()}"
        try:
            place = place_of(read("/proc/self", "cgroup"), read("/proc/self", "mountinfo"))
            if place is None:
                raise OSError(0, "version 2 of control groups is not mounted")
            home = home_of(place) or self._enable(place, name)
            remove_stale(home)
            self.folder = f"{home}/{name}"
            os.mkdir(self.folder)
            write(self.folder, "cgroup.subtree_control", _all("+"))
            _try(self.folder)
        except OSError as error:
            self.close()
            self.folder, self.lacking = "", str(error.strerror)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def confinement(self) -> tuple[str, ...]:
        """Return how memory and processes are limited, for the result."""
        return (f"memory and processes {'by control groups' if self.folder else 'sampled'}",)

    def close(self) -> None:
        """Remove the group and put processes back where they were."""
        if self.folder:
            remove(self.folder)
        if self._enabled_in:
            with suppress(OSError):
                write(self._enabled_in, "cgroup.subtree_control", _all("-"))
        if self._moved_to:
            _move_all(self._moved_to, self._enabled_in)
            remove(self._moved_to)
        self._enabled_in = self._moved_to = ""

    def _enable(self, place: Place, name: str) -> str:
        """Let the own group have groups with limits below it. Processes of it go into one, as the kernel demands.

        Raises OSError if that is not allowed, or would move processes that Tidegate has nothing to do with.
        """
        own = place.own
        if not _controllers(own, "cgroup.controllers") >= CONTROLLERS:
            raise OSError(0, f"its control group {own} has no controllers of memory and processes")
        if not (os.access(own, os.W_OK) and os.access(f"{own}/cgroup.procs", os.W_OK)):
            raise OSError(0, f"it may not change its control group {own}")
        if os.path.exists(f"{own}/cgroup.type"):  # the machine's first group, which has none, may have processes
            if others := set(_processes(own)) - relatives():
                raise OSError(0, f"its control group {own} has other processes, such as {min(others)}")
            self._moved_to = f"{own}/{name}-itself"
            os.mkdir(self._moved_to)
            _move_all(own, self._moved_to)
        self._enabled_in = own
        write(own, "cgroup.subtree_control", _all("+"))
        return own


def home_of(place: Place) -> str | None:
    """Return the nearest group, from the own one up, below which new ones have limits; None if there is none.

    A group whose memory is limited is not left: commands would no longer count in its limit.
    """
    folder = place.own
    while True:
        if _controllers(folder, "cgroup.subtree_control") >= CONTROLLERS and os.access(folder, os.W_OK):
            return folder
        if folder == place.top or any(limit not in ("", "max") for limit in _memory_limits(folder)):
            return None
        folder = os.path.dirname(folder)


def relatives() -> set[int]:
    """Return this process, those that it comes from, and those that come from it."""
    found, pid = processes_below(os.getpid()).keys() | {os.getpid()}, os.getpid()
    while (process := look_at(str(pid))) is not None and process.parent:
        pid = process.parent
        found.add(pid)
    return found


def remove_stale(home: str) -> None:
    """Remove the groups of runs that were killed."""
    prefix = f"tidegate-{os.stat(NAMESPACE).st_ino}-"
    for name in os.listdir(home):
        if name.startswith(prefix) and not os.path.exists(f"/proc/{name.split('-')[2]}"):
            remove(f"{home}/{name}")


def remove(group: str) -> None:
    """Remove a group with all groups below it, in which nothing may run any more."""
    deadline = time.monotonic() + GIVE_UP_SECS
    while os.path.isdir(group):
        for folder, _, _ in os.walk(group, topdown=False):
            with suppress(OSError):
                os.rmdir(folder)
        if time.monotonic() > deadline:
            return
        time.sleep(0.001)


def _controllers(group: str, name: str) -> set[str]:
    return set(read(group, name).split())


def _memory_limits(group: str) -> list[str]:
    return [read(group, name).strip() for name in ("memory.max", "memory.high")]


def _all(sign: str) -> str:
    return " ".join(f"{sign}{name}" for name in sorted(CONTROLLERS))


def _processes(group: str) -> list[int]:
    return [int(line) for line in read(group, "cgroup.procs").split()]


def _move_all(source: str, target: str) -> None:
    """Move all processes of a group, and those that they start meanwhile."""
    for _ in range(10):
        for pid in _processes(source):
            with suppress(ProcessLookupError):
                write(target, "cgroup.procs", str(pid))
        if not _processes(source):
            return


def _try(run_group: str) -> None:
    """Raise OSError if a process cannot enter a group below this one."""
    group = CommandGroup(run_group, 1 << 30, 1)
    enter = ["/bin/sh", "-c", 'echo 0 > "$0/cgroup.procs"', group.path]
    done = subprocess.run(enter, stderr=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        raise OSError(0, f"no process can enter {group.path}")
    group.remove()
