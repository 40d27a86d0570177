"""The starter: loads the supervisor's code once, and forks each supervisor, which takes 3 ms of CPU time instead of 25.

A request is a message with the supervisor's descriptors, and the numbers that these get in the supervisor. The starter
runs no commands: they are below their supervisor alone. A supervisor, as the child subreaper, inherits all orphans,
including daemons. It answers a request only when the last process is dead and reaped.
"""

from __future__ import annotations

import _socket  # `socket` imports much
import ctypes
import gc
import json
import os
import select
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from fcntl import ioctl
from struct import pack, unpack, unpack_from

from tidegate.trial.sandbox.supervisor.messages import (
    CANCEL,
    CONTROL,
    Control,
    Ended,
    NotStartedError,
    RefusedError,
    Request,
)
from tidegate.trial.sandbox.supervisor.outputs import Outputs
from tidegate.trial.sandbox.supervisor.spawn import launch_of, received, spawn
from tidegate.trial.sandbox.supervisor.tree import look_at, processes_below, send_all, sweep

TICK_SECS = 0.02  # between two checks of the sizes of the outputs
TREE_SECS = 0.1  # minimum between two checks of the process tree
MEMORY = "/dev/shm/tidegate-memory-"  # how paths of small trials in memory begin
MOST_GROWTH = 256 << 20, 100_000  # bytes and files in memory during one command, of all trials
SHARED_MEMORY, LEAST_FREE = "/dev/shm", 4  # a quarter
NO_MEMORY = "less than a quarter of /dev/shm is free, which trials share here: give the container more"
TREE_SHARE = 20  # checks of the process tree take at most 1/20 of the time


class RunningCommand:
    """One command. `launcher` is the path of the program that starts it (launcher.c)."""

    def __init__(self, request: Request, control: Control, launcher: str, common: Sequence[str]) -> None:
        self._request = request
        self._launcher = launcher
        self._common = common
        self._control = control
        files = request.jail.get("files") or {}
        self._shares_memory = not files.get("mounts") and files.get("shared_memory", True)
        self._outputs = Outputs(request.output_bytes)
        self._listeners: Sequence[int] = ()  # for its calls of socket(2), if those need answers
        self._room = _room(request.cwd)
        self._look_at_tree = time.monotonic() + TREE_SECS  # time of the next check

    def run(self) -> Ended:
        """Run the command, then terminate everything below it."""
        started = time.monotonic()
        files: list[int] = []
        try:
            self._open_files(files)
            pid = self._start(files)
        except NotStartedError as error:
            return Ended("not_started", reason=str(error))
        except RefusedError as error:
            return Ended("refused", reason=str(error))
        else:
            return self._supervise(pid, started)
        finally:
            self._outputs.close()
            for file in files:
                os.close(file)

    def _open_files(self, files: list[int]) -> None:
        request = self._request
        try:
            files.append(os.open(request.stdin, os.O_RDONLY))
            files.append(self._outputs.open(request.stdout))
            same = request.stderr == request.stdout
            files.append(os.dup(files[1]) if same else self._outputs.open(request.stderr))
        except OSError as error:
            raise RefusedError(f"cannot open {error.filename}: {error.strerror}") from None

    def _start(self, files: list[int]) -> int:
        """Start the process. The connection ends when it becomes the command, so reading no data means success."""
        launch = launch_of(self._request, self._common)
        ours, theirs = _socket.socketpair()
        try:
            pid = spawn(self._launcher, launch, files, theirs.fileno())
        except OSError as error:
            ours.close()
            raise RefusedError(f"cannot start a process: {error.strerror}") from None
        finally:
            theirs.close()
        error_text, self._listeners = received(ours)
        ours.close()
        files.extend(self._listeners)  # closed with them
        if error_text:
            with suppress(ChildProcessError):  # the launcher is waited for elsewhere
                os.waitpid(pid, 0)
            raise NotStartedError(error_text)
        return pid

    def _supervise(self, pid: int, started: float) -> Ended:
        why = self._wait(pid, started)
        duration = time.monotonic() - started
        killed_at = None if why == "exited" else time.time()
        if why == "timeout":
            self._ask_to_end(pid)
        account = None if self._request.shares_user else self._request.account
        status, killed, unended = sweep(pid, account and account[0])
        killed.discard(pid)
        self._outputs.close()
        if why == "exited" and self._outputs.size > self._request.output_bytes:
            why = "output"  # it ended before the next check of its output
        if self._is_memory_short():
            return Ended("refused", reason=NO_MEMORY, unended=unended)
        return described(why, status)._replace(
            duration_s=duration,
            killed=tuple(killed),
            killed_at=killed_at,
            unended=unended,
        )

    def _wait(self, pid: int, started: float) -> str:
        """Wait for the command's end or a reason to stop it: `exited`, `timeout`, `cancelled`, or a limit's name."""
        timeout = self._request.timeout_secs
        deadline = None if timeout is None else started + timeout
        process = os.pidfd_open(pid)
        try:
            poll = self._poll(process, CONTROL)
            while True:
                left = TICK_SECS if deadline is None else min(TICK_SECS, deadline - time.monotonic())
                ready = self._ready(poll, left)
                if process in ready:
                    return "exited"
                if CONTROL in ready:
                    self._control.receive()
                if CONTROL in ready or self._control.has_more:
                    return "cancelled"
                if deadline is not None and time.monotonic() >= deadline:
                    return "timeout"
                if limit := self._limit_reached():
                    return limit
        finally:
            os.close(process)

    def _poll(self, *files: int) -> select.poll:
        poll = select.poll()
        for file in (*files, *self._listeners, *self._outputs.pipes):
            poll.register(file, select.POLLIN)
        return poll

    def _ready(self, poll: select.poll, seconds: float) -> set[int]:
        """Wait for the files of the poll; return those that are ready. Give the command sockets, copy its output."""
        ready = dict(poll.poll(max(0, seconds) * 1000))
        printed = [ready.pop(pipe, 0) for pipe in self._outputs.pipes]
        if any(printed):
            self._outputs.copy()
        for listener in self._listeners:
            if ready.pop(listener, 0) & select.POLLIN:
                answer(listener, self._request.account)
        return set(ready)

    def _limit_reached(self) -> str | None:
        if self._outputs.size > self._request.output_bytes:
            return "output"
        grown = zip(self._room, _room(self._request.cwd), MOST_GROWTH, strict=False)
        if any(before - after > most for before, after, most in grown):
            return "room"
        now = time.monotonic()
        if now < self._look_at_tree:
            return None
        tree = processes_below(os.getpid())
        memory = sum(process.memory for process in tree.values())
        running = sum(not process.zombie for process in tree.values())
        self._look_at_tree = now + max(TREE_SECS, TREE_SHARE * (time.monotonic() - now))
        if memory > self._request.memory_bytes:
            return "memory"
        if running > self._request.processes:
            return "processes"
        return "shared_memory" if self._is_memory_short() else None

    def _is_memory_short(self) -> bool:
        """Return True if the memory that this trial shares with others is nearly used up: any of them may fail then."""
        if not self._shares_memory:
            return False
        try:
            state = os.statvfs(SHARED_MEMORY)
        except OSError:
            return False
        return state.f_bavail * LEAST_FREE < state.f_blocks or state.f_favail * LEAST_FREE < state.f_files

    def _ask_to_end(self, session: int) -> None:
        """Send SIGINT to the command if requested, then SIGTERM to its whole session."""
        if self._request.interrupt_secs:
            send_all([session], signal.SIGINT)
            self._wait_for_all_of(session, self._request.interrupt_secs)
        self._wait_for_all_of(session, self._request.grace_secs, signal.SIGTERM)

    def _wait_for_all_of(self, session: int, seconds: float, number: int | None = None) -> None:
        """Wait for the session to end, after an optional signal to all of it; stop early if Tidegate sends anything."""
        deadline = time.monotonic() + seconds
        poll = self._poll(CONTROL)
        asked = False
        while time.monotonic() < deadline:
            tree = processes_below(os.getpid())
            members = [pid for pid, process in tree.items() if process.session == session and not process.zombie]
            if not members:
                return
            if number is not None and not asked:
                send_all(members, number)
                asked = True
            if self._ready(poll, 0.01):
                return  # left unread: the command is ending anyway, and the main loop handles the message


def _room(folder: str) -> Sequence[int]:
    """Return the free bytes and files of a folder in memory; nothing for one on a disk."""
    with suppress(OSError):
        if folder.startswith(MEMORY):
            disk = os.statvfs(folder)
            return disk.f_bfree * disk.f_frsize, disk.f_ffree
    return ()


def described(why: str, status: int) -> Ended:
    """Return the answer for the reason that ended the wait, and the wait status."""
    if why in ("timeout", "cancelled"):
        return Ended(why)
    if why == "room":
        return Ended("refused", reason="it needs too much of the memory that small workspaces are in")
    if why != "exited":
        return Ended("limit", limit=why)
    code = os.waitstatus_to_exitcode(status)
    if code == -signal.SIGXFSZ:
        return Ended("limit", limit="file_size")
    return Ended("exited", exit_code=code) if code >= 0 else Ended("signal", signal=-code)


PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38


def serve(launcher: str) -> None:
    """Report whether this system is supported, then serve requests until Tidegate ends; `launcher` starts commands."""
    control = Control()
    missing = what_is_missing()
    control.introduce(missing)
    first = control.next_line() if missing is None else None
    common = json.loads(first or b"[]")
    while first is not None and (line := control.next_line()) is not None:
        if line != CANCEL:  # a late cancellation, sent before the answer arrived, has nothing to cancel
            control.send(RunningCommand(Request(**json.loads(line)), control, launcher, common).run()._asdict())


def what_is_missing() -> str | None:
    """Become the subreaper. Return the required kernel feature that is missing, or None."""
    try:
        prctl(PR_SET_CHILD_SUBREAPER, 1)
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError) as error:
        return str(error)
    return None if look_at("self") else "/proc is missing"


def prctl(option: int, value: int) -> None:
    """Call prctl(2); raise OSError if it fails."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, *(ctypes.c_ulong(argument) for argument in (value, 0, 0, 0))) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option}) does not work")


MOST_BYTES, MOST_DESCRIPTORS = 1000, 16  # of a request


def main(launcher: str) -> None:
    """Fork a supervisor for each request until Tidegate ends, then wait for the end of all."""
    signal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals())  # so that commands cannot stop a supervisor
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # ignored, it would hide how a command ended
    gc.freeze()  # a fork copies less of what the collector does not touch
    gc.disable()
    if _becomes_supervisor():
        serve(launcher)


def _becomes_supervisor() -> bool:
    """Fork for each request. Return True in each supervisor; in the starter False, when all have ended."""
    requests = _socket.socket(fileno=CONTROL)
    while True:
        numbers, descriptors = _received(requests)
        _reap(os.WNOHANG)
        if not descriptors:
            _reap(0)
            return False
        if os.fork() == 0:
            requests.detach()
            os.setsid()
            _move(descriptors, [int(number) for number in numbers.split()])
            return True
        for descriptor in descriptors:
            os.close(descriptor)


def _received(requests: _socket.socket) -> tuple[bytes, Sequence[int]]:
    """Return the numbers and the descriptors of the next request; no descriptors if Tidegate has ended."""
    numbers, parts, _, _ = requests.recvmsg(MOST_BYTES, _socket.CMSG_SPACE(4 * MOST_DESCRIPTORS))
    sent = b"".join(data for level, kind, data in parts if (level, kind) == (_socket.SOL_SOCKET, _socket.SCM_RIGHTS))
    return numbers, unpack(f"{len(sent) // 4}i", sent)


def _move(descriptors: Sequence[int], numbers: Sequence[int]) -> None:
    """Give the descriptors these numbers, by way of others that are free."""
    free = max(*descriptors, *numbers) + 1
    for place, descriptor in enumerate(descriptors):
        os.dup2(descriptor, free + place)
        os.close(descriptor)
    for place, number in enumerate(numbers):
        os.dup2(free + place, number)
        os.close(free + place)


def _reap(options: int) -> None:
    """Take the results of supervisors that have ended; with 0, wait for all."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, options)[0]:
            pass


RECEIVE, SEND, ADD = 0xC0502100, 0xC0182101, 0x40182103  # ioctls of a listener
NOTICE_BYTES, ARGUMENTS = 80, 32  # of struct seccomp_notif, and where the call's arguments begin
AND_SEND = 2  # the new descriptor is the answer
LOOPBACK = b"lo"


def answer(listener: int, owner: tuple[int, int] | None) -> None:
    """Give the command that asks a new socket of `owner`, or the error of making it."""
    notice = bytearray(NOTICE_BYTES)
    with suppress(OSError):  # it was killed meanwhile
        ioctl(listener, RECEIVE, notice)
        (number,), (family, kind, protocol) = unpack_from("=Q", notice), unpack_from("=3Q", notice, ARGUMENTS)
        try:
            _give(listener, number, (family, kind, protocol), owner)
        except OSError as error:
            ioctl(listener, SEND, bytearray(pack("=QqiI", number, 0, -(error.errno or 1), 0)))


def _give(listener: int, number: int, asked: tuple[int, int, int], owner: tuple[int, int] | None) -> None:
    family, kind, protocol = asked
    one = _socket.socket(family, kind & 0xF, protocol)
    try:
        one.setsockopt(_socket.SOL_SOCKET, _socket.SO_BINDTODEVICE, LOOPBACK)
        one.setblocking(not kind & _socket.SOCK_NONBLOCK)
        if owner is not None:
            os.fchown(one.fileno(), *owner)
        ioctl(listener, ADD, pack("=QIIII", number, AND_SEND, one.fileno(), 0, kind & _socket.SOCK_CLOEXEC))
    finally:
        one.close()
