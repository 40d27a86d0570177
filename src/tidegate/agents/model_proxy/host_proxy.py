"""An HTTP proxy that lets the processes of a trial reach the hosts that the suite lists, and counts the others."""

from __future__ import annotations

import errno
import re
import selectors
import socket
from collections import Counter
from collections.abc import Callable, Collection
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from ipaddress import ip_address
from threading import Thread
from typing import NamedTuple
from urllib.parse import urlsplit

from tidegate.agents.model_proxy.connections import Connections, HeadReader

CONNECT_SECS = 20.0
SILENT_SECS = 300.0  # that a connection may be silent before it is closed
PIECE = 1 << 16
PORTS = (80, 443)  # of a host that is listed without a port
MOST_NAMED = 50  # hosts that are counted by name
_PLAIN = re.compile(r"[A-Za-z0-9.:_-]{1,253}")


class HostPort(NamedTuple):
    """A host and the port of a service there."""

    host: str
    port: int


class HostProxy:
    """The proxy of one slot, which is asked to allow hosts before each command."""

    def __init__(self, listener: socket.socket) -> None:
        self._allowed: Collection[str] = ()
        self._server = _HostServer(listener, self)
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._refused: Counter[str] = Counter()
        self._thread.start()

    def allow(self, entries: Collection[str]) -> None:
        """Allow these hosts from now on, and no others: `pypi.org`, `*.npmjs.org` or `example.org:8080`."""
        self._allowed = entries

    def allows(self, place: HostPort) -> bool:
        """Return True if the place is allowed; otherwise count it."""
        if is_allowed(place, self._allowed):
            return True
        of_port = "" if place.port in PORTS else f":{place.port}"
        name = f"{place.host}{of_port}" if _PLAIN.fullmatch(place.host) else "a host with an odd name"
        if name in self._refused or len(self._refused) < MOST_NAMED:
            self._refused[name] += 1
        return False

    def take_refused(self) -> dict[str, int]:
        """Return how often each host was refused since the last call, by the entry that would allow it."""
        refused, self._refused = self._refused, Counter()
        return dict(refused)

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def is_allowed(place: HostPort, entries: Collection[str]) -> bool:
    """Return True if an entry names the host, or its domain as `*.DOMAIN`, and the port or none for 80 and 443."""
    host = place.host.lower().rstrip(".")
    for entry in entries:
        name, _, port = entry.lower().partition(":")
        of_port = place.port == int(port) if port else place.port in PORTS
        if of_port and (host == name or (name.startswith("*.") and host.endswith(name[1:]))):
            return True
    return False


class _HostServer(Connections):
    def __init__(self, listener: socket.socket, proxy: HostProxy) -> None:
        super().__init__(listener, _HostHandler)
        self.proxy = proxy


class _HostHandler(BaseHTTPRequestHandler):
    timeout = CONNECT_SECS
    rbufsize = 0  # what follows the headers is passed on as it is
    server: _HostServer
    rfile: HeadReader  # type: ignore[assignment]

    def setup(self) -> None:
        """Bound what is read before a host is known."""
        super().setup()
        self.rfile = HeadReader(self.rfile)  # type: ignore[arg-type]

    def __getattr__(self, name: str) -> Callable[[], None]:
        """Return how a method is answered: `do_GET` and all others but CONNECT are passed on alike."""
        if not name.startswith("do_"):
            raise AttributeError(name)
        return self._pass_on

    def log_message(self, *_: object) -> None:
        """Log nothing to stderr."""

    def do_CONNECT(self) -> None:
        """Open a tunnel, as HTTPS needs it."""
        host, _, port = self.path.rpartition(":")
        upstream = self._connected(host.strip("[]"), port)
        if upstream is not None:
            with upstream:
                self.connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                _relay(self.connection, upstream)

    def _pass_on(self) -> None:
        """Pass one plain request on, and close the connection after its answer."""
        address = urlsplit(self.path)
        try:
            port = str(address.port or 80)
        except ValueError:
            port = ""
        upstream = self._connected(address.hostname or "", port)
        if upstream is None:
            return
        with upstream:
            where = f"{address.path or '/'}{'?' if address.query else ''}{address.query}"
            kept = [
                f"{name}: {value}"
                for name, value in self.headers.items()
                if name.lower() not in ("connection", "keep-alive") and not name.lower().startswith("proxy-")
            ]
            head = "\r\n".join([f"{self.command} {where} HTTP/1.1", *kept, "Connection: close", "", ""])
            upstream.sendall(head.encode("latin-1"))
            _relay(self.connection, upstream)

    def _connected(self, host: str, port: str) -> socket.socket | None:
        """Return a connection to the place; None if it is refused or does not answer, which the client is told."""
        self.close_connection = True
        if not host or not port.isdigit() or len(port) > 5:
            self.send_error(400, "This proxy takes HOST:PORT, or http://HOST/PATH")
        elif not self.server.proxy.allows(HostPort(host, int(port))):
            self.send_error(403, "The suite's `network` does not list this host")
        else:
            try:
                return _connected_outside(host, int(port))
            except (OSError, UnicodeError, OverflowError):
                self.send_error(502, "This host does not answer")
        return None


def _connected_outside(host: str, port: int) -> socket.socket:
    """Return a connection to the host. Raises OSError, also for a name that leads to this machine or its neighbours.

    Its owner can change where a name leads. An address, or `localhost`, is what the suite itself lists.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    places = [str(address[0]) for *_, address in found]
    if host.lower().rstrip(".") != "localhost" and not is_address(host) and not all(map(_is_outside, places)):
        raise OSError(errno.EACCES, "this name leads to the machine itself")
    for place in dict.fromkeys(places):
        with suppress(OSError):
            return socket.create_connection((place, port), CONNECT_SECS)
    raise OSError(errno.ECONNREFUSED, "no address of this host answers")


def is_address(host: str) -> bool:
    """Return True for an address of version 4 or 6, in each form that the system takes; False for a name."""
    with suppress(OSError):
        return bool(socket.inet_aton(host))
    with suppress(OSError, ValueError):
        return bool(ip_address(host))
    return False


def _is_outside(text: str) -> bool:
    address = ip_address(text.partition("%")[0])
    address = getattr(address, "ipv4_mapped", None) or address
    return not (address.is_loopback or address.is_link_local or address.is_unspecified)


def _relay(client: socket.socket, upstream: socket.socket) -> None:
    """Copy data in both directions until one side closes its connection, or both are silent for too long."""
    other = {client: upstream, upstream: client}
    with selectors.DefaultSelector() as selector, suppress(OSError):
        for end in other:
            end.settimeout(SILENT_SECS)
            selector.register(end, selectors.EVENT_READ)
        while ready := selector.select(SILENT_SECS):
            for key, _ in ready:
                end = client if key.fileobj is client else upstream
                data = end.recv(PIECE)
                if data:
                    other[end].sendall(data)
                elif end is upstream:
                    return
                else:
                    selector.unregister(client)
                    upstream.shutdown(socket.SHUT_WR)
