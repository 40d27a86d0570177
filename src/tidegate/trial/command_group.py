"""The control group (cgroup v2) of one command, which the supervisor makes below the group of the run.

Like the supervisor, this file uses the standard library only. Commands cannot write to their group, unless they run as
Tidegate's user and files are not confined.

Sources: cgroups(7), and Documentation/admin-guide/cgroup-v2.rst of the kernel.
"""

# The supervisor starts fast and stays small: no pathlib.
# ruff: noqa: PTH102, PTH106, PTH123

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import Literal

THREADS = 4  # for each process that is allowed: the kernel counts threads


class CommandGroup:
    """The group of one command, which ends with it."""

    def __init__(self, run_group: str, memory_bytes: int, processes: int) -> None:
        self.path = f"{run_group}/{os.getpid()}-{time.monotonic_ns()}"
        os.mkdir(self.path)
        with suppress(FileNotFoundError):  # the kernel may not count swap
            write(self.path, "memory.swap.max", "0")
        write(self.path, "memory.max", str(memory_bytes))
        write(self.path, "memory.oom.group", "1")  # a trial without one of its processes would go on at random
        write(self.path, "pids.max", str(THREADS * processes))

    def limit_reached(self) -> Literal["memory", "processes"] | None:
        """Return the limit that the kernel has enforced in this group; None if it has enforced none."""
        return reached(read(self.path, "memory.events"), read(self.path, "pids.events"))

    def kill(self) -> None:
        """Kill all processes of the group at once, which forking cannot escape."""
        with suppress(OSError):  # Linux 5.14 or newer
            write(self.path, "cgroup.kill", "1")

    def remove(self) -> None:
        """Remove the group. What cannot be removed yet, the end of the run removes."""
        with suppress(OSError):
            os.rmdir(self.path)


def reached(memory_events: str, pids_events: str) -> Literal["memory", "processes"] | None:
    """Return the limit that a group has reached, by its files.

    If all of the machine's memory is used up, the kernel kills as well, and counts `oom_kill` alone.
    """
    memory, pids = (dict(line.split() for line in text.splitlines()) for text in (memory_events, pids_events))
    if memory.get("oom", "0") != "0" and memory.get("oom_kill", "0") != "0":
        return "memory"
    return "processes" if pids.get("max", "0") != "0" else None


def write(group: str, name: str, value: str) -> None:
    """Write a file of a group. Raises OSError if the kernel refuses it."""
    file = os.open(f"{group}/{name}", os.O_WRONLY)
    try:
        os.write(file, value.encode())
    finally:
        os.close(file)


def read(group: str, name: str) -> str:
    """Return a file of a group; '' if it cannot be read."""
    try:
        with open(f"{group}/{name}") as file:
            return file.read()
    except OSError:
        return ""
