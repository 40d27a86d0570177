"""The starter: loads the supervisor's code once, and forks each supervisor, which takes 3 ms of CPU time instead of 25.

A request is a message with the supervisor's descriptors, and the numbers that these get in the supervisor. The starter
runs no commands: they are below their supervisor alone.
"""

from __future__ import annotations

import _socket  # `socket` imports much
import gc
import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from struct import unpack

from tidegate.trial.supervisor.control import CONTROL
from tidegate.trial.supervisor.serve import serve

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
