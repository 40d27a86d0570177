"""Commands from which the network is taken away, in each of the ways that a machine may allow."""

from __future__ import annotations

import asyncio
import errno
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import NamedTuple

import pytest

from tests.as_root import needs_root
from tidegate.agents.model_proxy.proxy import ModelProxy
from tidegate.model.access import Access, FileAccess, NetworkAccess
from tidegate.model.progress import Progress
from tidegate.run.slots import SlotNetworks
from tidegate.trial.environment import free_port
from tidegate.trial.processes import Account, Command, Supervisor
from tidegate.trial.sandbox import jail
from tidegate.trial.sandbox.confinement import Confinement, NoNamespaceError, new_namespace, way_to_confine
from tidegate.trial.sandbox.file_jail import FileJail, FileRules, Means

OFFLINE = NetworkAccess(agent=False)
TRIES = """
import socket, sys
def attempt(name, action):
    try:
        print(name, action())
    except OSError as error:
        print(name, "filtered" if error.errno == 1 else "no")
port, model = int(sys.argv[1]), int(sys.argv[2])
def tcp(family, host, port):
    with socket.socket(family, socket.SOCK_STREAM) as one:
        one.settimeout(3)
        one.connect((host, port))
    return "yes"
def send(flags):
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as one:
        one.settimeout(3)
        one.sendto(b"x", flags, ("127.0.0.1", port))
    return "yes"
def udp():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        return one.sendto(b"x", ("127.0.0.1", port)) and own_udp(one)
def own_udp(one):
    return "yes" if port in in_use() else "no"
def in_use():
    return [int(line.split()[1].split(":")[1], 16) for line in open("/proc/net/tcp").read().splitlines()[1:]]
attempt("tcp", lambda: tcp(socket.AF_INET, "127.0.0.1", port))
attempt("outside", lambda: tcp(socket.AF_INET, "192.0.2.1", 80))
attempt("metadata", lambda: tcp(socket.AF_INET, "169.254.169.254", 80))
attempt("ipv6", lambda: tcp(socket.AF_INET6, "::1", port))
attempt("fastopen", lambda: send(0x20000000))
attempt("udp", udp)
attempt("mptcp", lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262).connect(("127.0.0.1", port)) or "yes")
attempt("vsock", lambda: socket.socket(40, socket.SOCK_STREAM).connect((2, 80)) or "yes")
attempt("packet", lambda: socket.socket(17, socket.SOCK_RAW) and "yes")
attempt("model", lambda: tcp(socket.AF_INET, "127.0.0.1", model))
attempt("unix", lambda: socket.socketpair() and "yes")
"""


class Host(NamedTuple):
    """A service on the host's loopback, which stands for all that is outside."""

    port: int
    asked: list[str]


@pytest.fixture
def host() -> Iterator[Host]:
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"hello")

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield Host(server.server_port, asked)
    server.shutdown()
    server.server_close()
    thread.join()


def can_have_namespaces() -> bool:
    try:
        namespace = asyncio.run(new_namespace([]))
    except NoNamespaceError:
        return False
    for descriptor in namespace.descriptors:
        os.close(descriptor)
    return True


@pytest.fixture(params=["namespace", "ports"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways, on a machine that has both: a program that cannot be run stands for a system without namespaces."""
    if request.param == "namespace" and not can_have_namespaces():
        pytest.skip("this machine allows no network namespace")
    if request.param == "ports":
        monkeypatch.setattr("tidegate.trial.sandbox.confinement.PROGRAM", Path("/nowhere/new_namespace.py"))
        how, missing = asyncio.run(way_to_confine())
        if how is None:
            pytest.skip(missing)
    return str(request.param)


def run(
    folder: Path, *argv: str, access: Access, account: Account | None = None, own_port: int | None = None
) -> tuple[str, dict[str, int], tuple[str, ...]]:
    """What a command prints with that access, the hosts that it was refused, and how it was confined."""
    command = Command(
        argv=argv, cwd=folder, env={"PATH": os.environ["PATH"]}, stdout=folder / "out", stderr=folder / "err"
    )

    async def body() -> tuple[dict[str, int], tuple[str, ...]]:
        with ModelProxy() as proxy, SlotNetworks(OFFLINE, Progress()) as networks:
            await networks.choose(proxy)
            async with await Supervisor.start(account, Confinement(await networks.open())) as supervisor:
                supervisor.confinement.reach(access, *([] if own_port is None else [own_port]))
                await supervisor.run(replace(command, argv=(*argv, str(proxy.port)), timeout_secs=60))
                return supervisor.confinement.take_refused_hosts(), networks.confinement

    refused, confinement = asyncio.run(body())
    return (folder / "out").read_text() + (folder / "err").read_text(), refused, confinement


def python() -> str:
    """A Python that another user can run."""
    return "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable


@pytest.mark.parametrize("account", [None, pytest.param(Account(61_777, 61_777), marks=needs_root)])
def test_a_command_without_a_network_reaches_the_model_and_nothing_else(
    open_folder: Path, way: str, host: Host, account: Account | None
) -> None:
    printed, _, confinement = run(open_folder, python(), "-c", TRIES, str(host.port), access=False, account=account)

    ends = dict(line.rsplit(" ", 1) for line in printed.splitlines())
    assert ends.pop("model") == ends.pop("unix") == "yes", printed
    if way == "ports":  # what Landlock does not know is refused with another error
        assert [ends.pop(name) for name in ("udp", "mptcp", "fastopen", "vsock", "packet")] == ["filtered"] * 5, printed
    else:
        del ends["packet"]  # in a namespace of its own, it sees nothing
    assert set(ends.values()) == {"no"}, printed
    assert ends.keys() >= {"tcp", "outside", "metadata", "ipv6"}
    assert way in confinement[0] or "Landlock" in confinement[0]


def test_a_command_with_the_whole_network_is_left_alone(tmp_path: Path, way: str, host: Host) -> None:
    code = f"import os, socket; socket.create_connection(('127.0.0.1', {host.port})); print('HTTP_PROXY' in os.environ)"
    assert run(tmp_path, python(), "-c", code, access=True)[0] == "False\n"


FETCH = """
import sys, urllib.request, urllib.error
for url in sys.argv[1:-1]:
    try:
        print(urllib.request.urlopen(url, timeout=20).read().decode())
    except urllib.error.HTTPError as error:
        print(error.code)
    except urllib.error.URLError as error:
        print(error.reason)
"""


def test_a_command_reaches_the_hosts_that_are_listed_by_name(tmp_path: Path, way: str, host: Host) -> None:
    """The proxy connects from outside, where 2130706433 is another way to write 127.0.0.1."""
    listed = f"2130706433:{host.port}"
    urls = [f"http://2130706433:{host.port}/a?b=1", "http://example.org/", "https://example.org/"]
    printed, refused, _ = run(tmp_path, python(), "-c", FETCH, *urls, access=(listed,))

    lines = printed.splitlines()
    assert (lines[0], lines[1], "403" in lines[2]) == ("hello", "403", True), printed
    assert host.asked == ["/a?b=1"]
    assert refused == {"example.org": 2}


def test_what_a_command_is_refused_is_counted_for_it_alone(tmp_path: Path, way: str) -> None:
    _, refused, _ = run(tmp_path, python(), "-c", FETCH, "http://a.example/", access=False)
    assert refused == {"a.example": 1}


def test_a_service_of_the_trial_s_own_can_be_reached(tmp_path: Path, way: str) -> None:
    """Without a namespace, at the trial's own port alone."""
    code = (
        "import socket, sys; s = socket.create_server(('127.0.0.1', int(sys.argv[1])));"
        " socket.create_connection(s.getsockname()); print('reached')"
    )
    port = int(free_port())
    assert run(tmp_path, python(), "-c", code, str(port), access=False, own_port=port)[0] == "reached\n"
    assert ("reached" in run(tmp_path, python(), "-c", code, str(port), access=False)[0]) == (way == "namespace")


# pidfd_getfd, ptrace, process_vm_readv, process_vm_writev, prlimit64, and prlimit64 on the caller.
OTHERS = {
    "x86_64": ((438, -1), (101, 0x4206), (310,), (311,), (302,), (302, 0, 7, 0, 0)),
    "aarch64": ((438, -1), (117, 0x4206), (270,), (271,), (261,), (261, 0, 7, 0, 0)),
}
ON_A_CHILD = """
import ctypes, os, time
child, c = os.fork() or time.sleep(60) or os._exit(0), ctypes.CDLL(None, use_errno=True)
for call in CALLS:
    print(c.syscall(*call, *(child, 7, 0, 0, 0, 0)[: 7 - len(call)]) and ctypes.get_errno())
os.kill(child, 9)
"""


def test_no_command_reads_or_changes_another_process(tmp_path: Path) -> None:
    """Not even one of its own, where neither a user of its own nor Landlock is in its way."""
    if not jail.can_refuse():
        pytest.skip("no filter of system calls is written for this machine")
    code = ON_A_CHILD.replace("CALLS", str(OTHERS[os.uname().machine]))
    confinement = Confinement(files=FileJail(Means(False, False, True, ""), FileAccess(), (), ()))
    confinement.use(FileRules())

    async def body() -> None:
        async with await Supervisor.start(None, confinement) as supervisor:
            await supervisor.run(Command((python(), "-c", code), tmp_path, {}, tmp_path / "out", tmp_path / "err"))

    asyncio.run(body())
    assert (tmp_path / "out").read_text().split() == [str(errno.EPERM)] * 5 + ["0"]


def test_a_machine_that_can_do_neither_says_so_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidegate.trial.sandbox.confinement.PROGRAM", Path("/nowhere/new_namespace.py"))
    monkeypatch.setattr(jail, "OF_MACHINE", {})

    class Told(Progress):
        def __init__(self) -> None:
            self.lines: list[str] = []

        def say(self, text: str) -> None:
            self.lines.append(text)

    async def body(told: Told) -> None:
        with SlotNetworks(OFFLINE, told) as networks:
            await networks.choose(None)
            assert await networks.open() is None
            assert networks.confinement == ("network not confined",)

    told = Told()
    asyncio.run(body(told))
    assert len(told.lines) == 1
    assert told.lines[0].startswith("`network` has no effect")


@pytest.mark.parametrize(
    ("host", "port", "entry", "expected"),
    [
        ("pypi.org", 443, "pypi.org", True),
        ("pypi.org", 80, "pypi.org", True),
        ("PyPI.org.", 443, "pypi.org", True),
        ("pypi.org", 22, "pypi.org", False),
        ("pypi.org", 22, "pypi.org:22", True),
        ("pypi.org", 443, "pypi.org:22", False),
        ("evil-pypi.org", 443, "pypi.org", False),
        ("pypi.org.evil.example", 443, "pypi.org", False),
        ("a.npmjs.org", 443, "*.npmjs.org", True),
        ("npmjs.org", 443, "*.npmjs.org", False),
        ("evilnpmjs.org", 443, "*.npmjs.org", False),
    ],
)
def test_an_entry_allows_its_host_at_its_ports(host: str, port: int, entry: str, expected: bool) -> None:
    from tidegate.agents.model_proxy.host_proxy import HostPort, is_allowed

    assert is_allowed(HostPort(host, port), (entry,)) is expected
