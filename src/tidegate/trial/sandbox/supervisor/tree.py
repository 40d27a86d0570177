"""Processes below the supervisor: what they use, and how all of them are terminated."""

# The supervisor starts fast and stays small: no pathlib.
# ruff: noqa: PTH208

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

SWEEP_SECS = 20.0
PAGE = os.sysconf("SC_PAGE_SIZE")


class Process(NamedTuple):
    """One process in /proc. A zombie may still have running threads."""

    parent: int
    session: int
    memory: int  # resident bytes
    zombie: bool


def sweep(first: int, uid: int | None) -> tuple[int, set[int], int]:
    """Stop, kill and reap all processes below; return `first`'s wait status, the killed ids, and how many survived.

    Only a wait that finds no child proves that all are gone: /proc can miss a process that is being forked. With `uid`,
    all processes of this user are killed at once as well, so that forking cannot escape. What had ended before is not
    among the killed.
    """
    deadline = time.monotonic() + SWEEP_SECS
    killed: set[int] = set()
    ended_before: set[int] | None = None
    status = 0
    while True:
        reaped: set[int] = set()
        try:
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                reaped.add(ended[0])
                if ended[0] == first:
                    status = ended[1]
        except ChildProcessError:
            return status, killed | (reaped - (ended_before or reaped)), 0
        found = processes_below(os.getpid())
        if ended_before is None:
            ended_before = reaped | {pid for pid, process in found.items() if process.zombie}
        killed |= reaped - ended_before
        if time.monotonic() > deadline:
            return status, killed, max(1, len(found))
        send_all(found, signal.SIGSTOP)  # a stopped process cannot fork before it is killed
        send_all(found, signal.SIGKILL)
        killed.update(pid for pid, process in found.items() if not process.zombie)
        if uid is not None:
            kill_all_of(uid)
        time.sleep(0.001)


def send_all(pids: Iterable[int], number: int) -> None:
    """Send a signal to every process that still exists."""
    for pid in pids:
        with suppress(OSError):
            os.kill(pid, number)


def kill_all_of(uid: int) -> None:
    """Kill all processes of a user at once, which forking cannot escape. Only a process of that user can do so."""
    helper = os.fork()
    if helper == 0:
        with suppress(OSError):
            os.setresuid(uid, uid, uid)
            os.kill(-1, signal.SIGKILL)
        os._exit(0)
    os.waitpid(helper, 0)


def processes_below(root: int) -> dict[int, Process]:
    """Return all descendants of `root`, by process id."""
    children: dict[int, list[int]] = {}
    processes: dict[int, Process] = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (process := look_at(name)):
            processes[int(name)] = process
            children.setdefault(process.parent, []).append(int(name))
    below: dict[int, Process] = {}
    to_visit = [root]
    while to_visit:
        for pid in children.get(to_visit.pop(), ()):
            below[pid] = processes[pid]
            to_visit.append(pid)
    return below


def look_at(pid: str) -> Process | None:
    """Return one process from /proc/PID/stat (proc(5)); None if it is gone."""
    try:
        file = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
    except OSError:
        return None
    try:
        text = os.read(file, 1024)
    except OSError:
        return None
    finally:
        os.close(file)
    fields = text[text.rindex(b")") + 2 :].split()
    zombie = fields[0] in (b"Z", b"X")
    return Process(parent=int(fields[1]), session=int(fields[3]), memory=int(fields[21]) * PAGE, zombie=zombie)
