"""Starts a command by the compiled launcher (launcher.c): no fork of the supervisor's Python, which costs 4 ms."""

from __future__ import annotations

# The supervisor starts fast and stays small: no pathlib.
# ruff: noqa: PTH113, PTH118
import _socket  # `socket` imports much
import os
import resource
from array import array
from collections.abc import Collection, Sequence
from functools import lru_cache
from struct import pack
from typing import NamedTuple

from tidegate.trial.sandbox import jail
from tidegate.trial.sandbox.jail import OF_A_FILE, Mounts, Rules
from tidegate.trial.sandbox.supervisor.messages import NotStartedError, Request

NONE = pack("=q", -1)  # instead of a step that is left out


class Launch(NamedTuple):
    """What to execute, and each step before, in their order; None or an empty list leaves one out."""

    cwd: str
    program: str
    argv: list[str]
    env: dict[str, str]
    limits: Sequence[tuple[int, int]] = ()  # kinds of setrlimit(2), and the most of each
    namespaces: Sequence[int] = ()  # descriptors
    mounts: jail.Mounts | None = None
    rules: jail.Rules | None = None
    ports: Sequence[tuple[int, int]] | None = None  # Landlock's rights to each
    is_asking: bool = False  # the first filter asks for sockets
    filters: Sequence[bytes] = ()  # programs of seccomp
    capabilities: int | None = None  # that are kept, as a bit mask
    account: tuple[int, int] | None = None  # uid and gid


def launch_of(request: Request, common: Sequence[str]) -> Launch:
    """Return the steps that the request asks for. Raises NotStartedError if its program is not found."""
    wanted = request.jail
    files, ports = wanted.get("files"), wanted.get("ports")
    mounted = files if files and files["mounts"] else None
    filters: list[bytes] = []
    keeps = None
    if ports is not None:
        filters.append(jail.network_steps())
    if wanted.get("calls"):
        filters.append(jail.filter_steps(shared_memory=not mounted))
        if request.account is None and os.geteuid() == 0:
            keeps = sum(1 << number for number in jail.KEPT_CAPABILITIES)
    try:
        return Launch(
            limits=_limits(request),
            namespaces=wanted.get("namespaces", []),
            mounts=jail.mounts_for(mounted, common) if mounted else None,
            rules=jail.rules_for(files, common) if files and files["landlock"] else None,
            ports=ports,
            is_asking=ports is not None,
            filters=filters,
            capabilities=keeps,
            account=request.account,
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
    if request.account is not None:
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


def spawn(launcher: str, launch: Launch, files: Sequence[int], errors: int) -> int:
    """Start the command with these three files. Return the process id. `errors` is a socket, which gets the reason."""
    description = os.memfd_create("command", 0)  # both are inherited
    try:
        with open(description, "wb", closefd=False) as file:
            file.write(encoded(launch))
        os.set_inheritable(errors, True)
        actions = [(os.POSIX_SPAWN_DUP2, file, target) for target, file in enumerate(files)]
        return os.posix_spawn(launcher, [launcher, str(description), str(errors)], {}, file_actions=actions)
    finally:
        os.close(description)


def received(errors: _socket.socket) -> tuple[str, Sequence[int]]:
    """Return what a new process sends until it is the command: why it cannot be, and descriptors, if any."""
    said, descriptors = b"", array("i")
    while True:
        data, parts, _, _ = errors.recvmsg(1 << 16, _socket.CMSG_SPACE(4))
        for _, _, sent in parts:
            descriptors.frombytes(sent)
        if not data:
            return said.decode(errors="replace"), descriptors
        said += data.strip(b"\0")


def encoded(launch: Launch) -> bytes:
    """Return the description that the launcher reads."""
    limits = [number for limit in launch.limits for number in limit]
    environment = [f"{name}={value}" for name, value in launch.env.items()]
    parts = [
        pack(f"={1 + len(limits)}q", len(launch.limits), *limits),
        _numbers(launch.namespaces),
        NONE if launch.mounts is None else _mounts(launch.mounts),
        NONE if launch.rules is None else _rules(launch.rules),
        NONE if launch.ports is None else pack("=qq", 0, len(launch.ports)),
        *(pack("=qq", *port) for port in launch.ports or ()),
        pack("=qq", launch.is_asking, len(launch.filters)),
        *map(_text, launch.filters),
        pack("=2q", -1, 0) if launch.capabilities is None else pack("=2q", 0, launch.capabilities),
        pack("=2q", *(launch.account or (-1, -1))),
        _text(launch.cwd),
        _text(launch.program),
        _texts(launch.argv),
        _texts(environment),
    ]
    return b"".join(parts)


def _mounts(mounts: Mounts) -> bytes:
    kept = [_text(path) + pack("=q", is_writable) for path, is_writable in mounts.kept]
    hidden = [_text(folder) + _text(options) for folder, options in mounts.hidden]
    return b"".join(
        [
            pack("=qq", 0, len(kept)),
            *kept,
            _text(mounts.own),
            _texts(mounts.shared),
            pack("=q", len(hidden)),
            *hidden,
            _texts(mounts.covered),
        ]
    )


def _rules(rules: Rules) -> bytes:
    paths = [part for rights, paths in rules.paths for part in (pack("=q", rights), _shared(tuple(paths)))]
    numbers = pack("=qqq", OF_A_FILE, rules.outputs, len(rules.paths))
    return b"".join([pack("=q", 0), _text(rules.attribute), numbers, *paths])


def _numbers(numbers: Sequence[int]) -> bytes:
    return pack(f"={1 + len(numbers)}q", len(numbers), *numbers)


def _texts(texts: Collection[str]) -> bytes:
    return pack("=q", len(texts)) + b"".join(map(_text, texts))


def _text(text: str | bytes) -> bytes:
    data = text if isinstance(text, bytes) else os.fsencode(text)
    return pack("=q", len(data)) + data + b"\0"


_shared = lru_cache(maxsize=8)(_texts)  # what every command may use
