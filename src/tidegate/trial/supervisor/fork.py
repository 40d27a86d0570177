"""Starts a command by a fork of the supervisor, where the compiled launcher is missing."""

# The supervisor starts fast and stays small: no pathlib.
# ruff: noqa: PTH110, PTH123

from __future__ import annotations

import ctypes
import os
import resource
import signal
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

from tidegate.trial import jail_calls, jail_files
from tidegate.trial.command_group import write
from tidegate.trial.supervisor.launch import Launch
from tidegate.trial.supervisor.messages import NotStartedError

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None, use_errno=True)
# By Python, and by whoever started Tidegate.
IGNORED = [number for number in signal.valid_signals() if signal.getsignal(number) == signal.SIG_IGN]


def fork(launch: Launch, files: Sequence[int], errors: int) -> int:
    """Start the command with these three files. Return the process id. What fails is written to `errors`."""
    pid = os.fork()
    if pid == 0:
        try:
            _become(launch, files)
        except BaseException as error:
            os.write(errors, _reason(error).encode(errors="replace"))
        os._exit(127)
    return pid


def _reason(error: BaseException) -> str:
    if not isinstance(error, OSError) or error.errno is None:
        return str(error) or repr(error)
    why = os.strerror(error.errno)
    what = f"cannot open {error.filename}" if error.filename else str(error.strerror)
    return what if why in what else f"{what}: {why}"


def prctl(option: int, value: int) -> None:
    """Call prctl(2); raise OSError if it fails."""
    arguments = [ctypes.c_ulong(argument) for argument in (value, 0, 0, 0)]
    if LIBC.prctl(option, *arguments) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option}) does not work")


def _become(launch: Launch, files: Sequence[int]) -> NoReturn:
    if launch.group is not None:
        write(launch.group, "cgroup.procs", "0")
    os.setsid()
    for target, file in enumerate(files):
        os.dup2(file, target)
    _limit(launch.limits)
    _confine(launch, files[1:])
    _drop_rights(launch.account, files[1:])
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    try:
        os.chdir(launch.cwd)
    except OSError as error:
        raise NotStartedError(f"cannot enter the folder {launch.cwd}: {error.strerror}") from None
    for number in IGNORED:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    _execute(launch)


def _limit(limits: Sequence[tuple[int, int]]) -> None:
    # If memory runs out, the system ends a command, and neither Tidegate nor the runner.
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")
    for kind, value in limits:
        hard = resource.getrlimit(kind)[1]
        most = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (most, most))


def _confine(launch: Launch, outputs: Sequence[int]) -> None:
    if launch.namespaces:
        from tidegate.trial.jail import enter

        enter(launch.namespaces)
    if launch.mounts is not None:
        jail_files.become_private(launch.mounts)
    if launch.rules is not None:
        jail_files.restrict(launch.rules, outputs)
    if launch.ports is not None:
        from tidegate.trial.jail import allow_ports_only

        allow_ports_only(launch.ports)
    for steps in launch.filters:
        jail_calls.install(steps)
    if launch.capabilities is not None:
        jail_calls.drop_capabilities(launch.capabilities)


def _drop_rights(account: tuple[int, int] | None, outputs: Sequence[int]) -> None:
    if account is None:
        return
    uid, gid = account
    for file in outputs:  # so that /dev/stdout and /dev/stderr can be opened again
        os.fchown(file, uid, gid)
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)


def _execute(launch: Launch) -> NoReturn:
    try:
        os.execve(launch.program, launch.argv, launch.env)
    except OSError as error:
        reason = error.strerror
        if isinstance(error, FileNotFoundError) and os.path.exists(launch.program):
            reason = "the interpreter that its first line names is missing"
        raise NotStartedError(f"cannot execute {launch.program}: {reason}") from None
