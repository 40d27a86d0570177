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
import signal
from collections.abc import Sequence
from contextlib import suppress
from struct import unpack

from tidegate.trial.sandbox.common_files import CommonFiles
from tidegate.trial.sandbox.supervisor.command import Command
from tidegate.trial.sandbox.supervisor.messages import CANCEL, CONTROL, Control, Request
from tidegate.trial.sandbox.supervisor.tree import look_at

PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38


def serve(launcher: str) -> None:
    """Report whether this system is supported, then serve requests until Tidegate ends; `launcher` starts commands."""
    control = Control()
    missing = what_is_missing()
    control.introduce(missing)
    first = control.next_line() if missing is None else None
    common = CommonFiles(json.loads(first or b"[]"))
    while first is not None and (line := control.next_line()) is not None:
        if line != CANCEL:  # a late cancellation, sent before the answer arrived, has nothing to cancel
            control.send(Command(Request(**json.loads(line)), control, launcher, common).run()._asdict())


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
