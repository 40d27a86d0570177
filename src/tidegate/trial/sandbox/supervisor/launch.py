"""What a new process does before it becomes the command: worked out here, done by launcher.c."""

# The supervisor starts fast and stays small: no pathlib.
# ruff: noqa: PTH113, PTH118

from __future__ import annotations

import os
import resource
from collections.abc import Sequence
from typing import NamedTuple

from tidegate.trial.sandbox import jail_calls, jail_files
from tidegate.trial.sandbox.common_files import CommonFiles
from tidegate.trial.sandbox.supervisor.messages import NotStartedError, Request


class Launch(NamedTuple):
    """What to execute, and each step before, in their order; None or an empty list leaves one out."""

    cwd: str
    program: str
    argv: list[str]
    env: dict[str, str]
    limits: Sequence[tuple[int, int]] = ()  # kinds of setrlimit(2), and the most of each
    namespaces: Sequence[int] = ()  # descriptors
    mounts: jail_files.Mounts | None = None
    rules: jail_files.Rules | None = None
    ports: Sequence[int] | None = None  # that may be connected to
    filters: Sequence[bytes] = ()  # programs of seccomp
    capabilities: int | None = None  # that are kept, as a bit mask
    account: tuple[int, int] | None = None  # uid and gid


def launch_of(request: Request, common: CommonFiles) -> Launch:
    """Return the steps that the request asks for. Raises NotStartedError if its program is not found."""
    wanted = request.jail
    files, ports, calls = wanted.get("files"), wanted.get("ports"), wanted.get("calls")
    filters: list[bytes] = []
    keeps = None
    if files:
        common.set_replaced(jail_files.replaced_by(files))
    if not (files and files["landlock"]):
        common.close()
    if ports is not None:
        from tidegate.trial.sandbox.jail import filter_steps  # 4 ms: it imports much, which others need not wait for

        filters.append(filter_steps())
    if calls is not None:
        filters.append(jail_calls.filter_steps(tracing=calls["tracing"]))
        if request.uid is None and os.geteuid() == 0:
            keeps = sum(1 << number for number in jail_calls.KEPT_CAPABILITIES)
    try:
        return Launch(
            limits=_limits(request),
            namespaces=wanted.get("namespaces", []),
            mounts=jail_files.mounts_for(files, common.inside) if files and files["mounts"] else None,
            rules=jail_files.rules_for(files, common) if files and files["landlock"] else None,
            ports=ports,
            filters=filters,
            capabilities=keeps,
            account=None if request.uid is None or request.gid is None else (request.uid, request.gid),
            cwd=request.cwd,
            program=_program(request),
            argv=request.argv,
            env=request.env,
        )
    except OSError as error:
        raise NotStartedError(str(error)) from None


def _limits(request: Request) -> list[tuple[int, int]]:
    limits = [(resource.RLIMIT_CORE, 0), (resource.RLIMIT_NOFILE, request.files)]
    limits.append((resource.RLIMIT_FSIZE, request.file_bytes))
    if request.uid is not None:
        # Only for a user of its own: the limit counts all threads of a user, including those of a desktop.
        limits.append((resource.RLIMIT_NPROC, 4 * request.processes))
    return limits


def _program(request: Request) -> str:
    """Return the path of the command's program according to its own PATH. Raises NotStartedError if there is none."""
    name = request.argv[0]
    if "/" in name:
        return name
    for folder in request.env.get("PATH", os.defpath).split(":"):
        path = os.path.join(request.cwd, folder, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    raise NotStartedError(f"{name}: not found on PATH")
