"""What the commands of one supervisor may reach from now on: hosts and files."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from tidegate.model.access import Access
from tidegate.trial.sandbox import jail
from tidegate.trial.sandbox.file_jail import FileJail, FileRules
from tidegate.trial.sandbox.starter import SHELL, why_not_started
from tidegate.trial.sandbox.supervisor.spawn import Launch

PROGRAM = Path(__file__).with_name("new_namespace.py")
LEAST_ABI = 4  # of Landlock, the first with rules for TCP
CONNECT, BIND = 2, 1  # of Landlock's rights
PATIENCE_SECS = 30.0
How = Literal["namespace", "ports"]


class HostFilter(Protocol):
    """A proxy that passes connections on to the allowed hosts only."""

    def allow(self, entries: Collection[str]) -> None:
        """Allow these hosts from now on, and no others."""

    def take_refused(self) -> dict[str, int]:
        """Return how often each host was refused since the last call."""

    def close(self) -> None:
        """Stop listening."""


@dataclass(frozen=True)
class Network:
    """The network of one slot's commands: a namespace of its own, or else a list of ports that are open."""

    namespaces: tuple[int, ...]  # descriptors, in the order in which they are entered
    ports: tuple[int, ...]  # of the model proxy and of the hosts' proxy, on loopback
    hosts: HostFilter
    proxy_port: int

    def jail(self, access: Access, *own_ports: int) -> dict[str, Any]:
        """Return what the supervisor has to do for a command with this access; nothing if it has the whole network.

        Without a namespace, the trial's own services can listen and be reached at `own_ports` alone.
        """
        if access is True:
            return {}
        self.hosts.allow(() if access is False else access)
        if self.namespaces:
            return {"namespaces": list(self.namespaces)}
        rights = [(CONNECT, port) for port in self.ports] + [(CONNECT | BIND, port) for port in own_ports if port]
        return {"ports": rights}

    def variables(self, access: Access) -> Mapping[str, str]:
        """Return the variables by which programs find the proxy; none for a command that has the whole network."""
        if access is True:
            return {}
        address, local = f"http://127.0.0.1:{self.proxy_port}", "localhost,127.0.0.1,::1"
        names = {"HTTP_PROXY": address, "HTTPS_PROXY": address, "NO_PROXY": local}
        return {**names, **{name.lower(): value for name, value in names.items()}}

    def close(self) -> None:
        """Stop listening, and let the namespace go."""
        self.hosts.close()
        for descriptor in self.namespaces:
            with suppress(OSError):
                os.close(descriptor)


class Namespace(NamedTuple):
    """Descriptors of a network namespace, after its user namespace if it has one, and sockets that listen inside."""

    descriptors: tuple[int, ...]
    listeners: tuple[socket.socket, ...]


class NoNamespaceError(Exception):
    """The system allows no network namespace; the message says why."""


async def way_to_confine() -> tuple[How | None, str]:
    """Return how this machine can confine the network, and what it lacks for a better way. None: it cannot."""
    try:
        namespace = await new_namespace([])
    except NoNamespaceError as error:
        missing = await asyncio.to_thread(_missing_for_ports)
        return ("ports" if missing is None else None), "; ".join(filter(None, (str(error), missing)))
    for descriptor in namespace.descriptors:
        os.close(descriptor)
    return "namespace", ""


def _missing_for_ports() -> str | None:
    """Return what this machine lacks to limit TCP to ports of the loopback device; None if it lacks nothing."""
    if not jail.can_refuse():
        return f"no filter of system calls is written for {os.uname().machine}"
    if jail.landlock_abi() < LEAST_ABI:
        return "Landlock's rules for TCP need Linux 6.7 or newer"
    filters = [jail.network_steps()]
    return (
        why_not_started(Launch("/", SHELL, [SHELL, "-c", ":"], {}, ports=[], is_asking=True, filters=filters)) or None
    )


async def new_namespace(ports: Collection[int]) -> Namespace:
    """Return a new network namespace that listens on these ports. Raises NoNamespaceError if the system refuses it."""
    ours, theirs = socket.socketpair()
    with ours:
        ours.settimeout(PATIENCE_SECS)
        with theirs:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-S", "-X", "utf8", str(PROGRAM), *map(str, ports)),
                stdin=theirs.fileno(),
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
                env={name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ},
                cwd="/",
            )
        try:
            said, descriptors, _, _ = await asyncio.to_thread(socket.recv_fds, ours, 1000, 8)
        except OSError as error:
            said, descriptors = str(error).encode(), []
        await process.wait()
    if said != b"\0":
        why = said.decode(errors="replace") or "it could not be created"
        raise NoNamespaceError(f"the system allows no network namespace: {why}")
    count = len(descriptors) - len(ports)
    listeners = tuple(socket.socket(fileno=descriptor) for descriptor in descriptors[count:])
    return Namespace(tuple(descriptors[:count]), listeners)


class Confinement:
    """Keeps commands to a part of the network and of the machine's files, by what this machine has for it."""

    def __init__(self, network: Network | None = None, files: FileJail | None = None) -> None:
        self.network = network
        self._files = files
        self._access: Access = True
        self._own_ports: tuple[int, ...] = ()
        self._rules: FileRules | None = None
        self._refused: dict[str, None] = {}

    def reach(self, access: Access, *own_ports: int) -> None:
        """Let the next commands reach only that much of the network; a trial's own services may use `own_ports`."""
        self._access, self._own_ports = access, own_ports

    def use(self, rules: FileRules) -> None:
        """Let the next commands use only these files."""
        self._rules = rules

    def lift(self) -> None:
        """Let the next commands reach and use what their user can."""
        self._access, self._own_ports, self._rules = True, (), None

    def copy(self) -> Confinement:
        """Return the same for another supervisor."""
        other = Confinement(self.network, self._files)
        other._access, other._own_ports, other._rules = self._access, self._own_ports, self._rules
        return other

    @property
    def variables(self) -> Mapping[str, str]:
        """Return the variables by which programs find the proxy."""
        return self.network.variables(self._access) if self.network else {}

    @property
    def common_files(self) -> Sequence[str]:
        """Return the paths that every command may read, sent to the supervisor once."""
        return self._files.common if self._files else ()

    def jail(self) -> dict[str, Any]:
        """Return what the supervisor has to do for the next command."""
        found: dict[str, Any] = self.network.jail(self._access, *self._own_ports) if self.network else {}
        return {**found, **self._files.jail(self._rules)} if self._files and self._rules else found

    def note_output(self, text: str) -> None:
        """Take notice of the files that a command's output says it was refused."""
        if self._files is not None and self._rules is not None:
            self._refused.update(dict.fromkeys(self._files.refused(text, self._rules)))

    def take_refused_files(self) -> list[str]:
        """Return the files that commands were refused since the last call."""
        found, self._refused = list(self._refused), {}
        return found

    def take_refused_hosts(self) -> dict[str, int]:
        """Return how often commands were refused a host since the last call, by host."""
        return self.network.hosts.take_refused() if self.network else {}
