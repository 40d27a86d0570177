"""What the commands of a trial may reach: everything, nothing but the model, or the hosts that the suite lists."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from tidegate.model.access import Access
from tidegate.trial.sandbox import jail

PROGRAM = Path(jail.__file__)
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

    def jail(self, access: Access, *own_ports: int) -> dict[str, list[int]]:
        """Return what the supervisor has to do for a command with this access; nothing if it has the whole network.

        Without a namespace, the trial's own services can be reached at `own_ports` alone.
        """
        if access is True:
            return {}
        self.hosts.allow(() if access is False else access)
        if self.namespaces:
            return {"namespaces": list(self.namespaces)}
        return {"ports": [*self.ports, *own_ports]}

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
        missing = jail.missing_for_ports()
        return ("ports" if missing is None else None), "; ".join(filter(None, (str(error), missing)))
    for descriptor in namespace.descriptors:
        os.close(descriptor)
    return "namespace", ""


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
