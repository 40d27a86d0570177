"""Opens the network of each slot: in the way that this machine allows, with the model proxy and a host proxy inside."""

from __future__ import annotations

import socket
from contextlib import ExitStack
from typing import Self

from tidegate.agents.model_proxy.host_proxy import HostProxy
from tidegate.agents.model_proxy.proxy import BACKLOG, ModelProxy
from tidegate.model.access import NetworkAccess
from tidegate.model.progress import Progress
from tidegate.trial.sandbox.network import How, Network, new_namespace, way_to_confine

HOST_PROXY_PORT = 3128  # inside a namespace, where every port is free
_SAID = {
    "namespace": "network by namespace",
    "ports": "network by Landlock and seccomp",
    None: "network not confined",
}


class SlotNetworks:
    """The networks of a run. A context manager, which closes them; `choose` comes before the first `open`."""

    def __init__(self, access: NetworkAccess, progress: Progress) -> None:
        self._access = access
        self._progress = progress
        self._how: How | None = None
        self._model_proxy: ModelProxy | None = None
        self._open = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    async def choose(self, model_proxy: ModelProxy | None) -> None:
        """Find out how this machine can confine the network; say it if it cannot do so fully."""
        self._model_proxy = model_proxy
        if not self._access.is_confined:
            return
        self._how, lacking = await way_to_confine()
        if self._how == "ports":
            self._progress.say(
                f"where `network` is limited, trials reach services of their own at `{{port}}` only: {lacking}"
            )
        elif self._how is None:
            self._progress.say(f"`network` has no effect, and trials reach the whole network: {lacking}")

    @property
    def confinement(self) -> tuple[str, ...]:
        """Return how the network is confined, for the result."""
        return (_SAID[self._how] if self._access.is_confined else "network open, as the suite says",)

    async def open(self) -> Network | None:
        """Return the network of a new slot; None if nothing is confined."""
        if self._how is None:
            return None
        network = await self._opened(self._how)
        self._open.callback(network.close)
        return network

    async def _opened(self, how: How) -> Network:
        proxy = self._model_proxy
        if how == "ports":
            listener = socket.create_server(("127.0.0.1", 0), backlog=BACKLOG)
            port = listener.getsockname()[1]
            return Network((), (port, *([proxy.port] if proxy else [])), HostProxy(listener), port)
        namespace = await new_namespace([HOST_PROXY_PORT, *([proxy.port] if proxy else [])])
        first, *rest = namespace.listeners
        for listener in rest:
            assert proxy is not None
            proxy.serve(listener)
        return Network(namespace.descriptors, (), HostProxy(first), HOST_PROXY_PORT)
