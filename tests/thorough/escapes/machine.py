"""`machine.py FOLDER WAY`: a machine with things worth stealing, and Tidegate with a suite that tries it.

Root alone can run it. It leaves its shared memory and its network for ones of its own. The network's loopback device
has the addresses that stand for all hosts outside. Prints every attempt and whether it came through, as JSON. WAY:
`root`, `user`, or `container`.
"""

# ruff: noqa: PTH208

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.as_root import SYSTEM_PATH, tidegate
from tests.conftest import Repository
from tests.thorough.escapes.settings import OF_SOCKETS, USER, become, by_runc

PROBE = Path(__file__).with_name("probe.py")
CLONE_NEWNET, CLONE_NEWIPC, IPC_CREAT = 0x40000000, 0x08000000, 0o1000
FAMILIES = PROBE.with_name("families.py")
PORTS = range(40_000, 40_128)  # that the kernel chooses from: a host outside listens at all of them
HERE, HOST, HERE6, HOST6 = "198.51.100.1", "198.51.100.2", "fd00::1", "fd00::2"
PRIVATE = ("/etc", "/opt", "/var/cache/apt", "/usr/local", "/usr/local/share", "/var/lib", "/var/cache")
OUTSIDE = {"169.254.169.254": 80, "192.0.2.1": 443}
KEYS: tuple[str, ...] = (
    ".ssh/id_rsa",
    ".netrc",
    ".aws/credentials",
    ".docker/config.json",
    ".config/gh/hosts.yml",
    ".npmrc",
)
KEYS += (".git-credentials", ".bash_history", ".kube/config", ".gnupg/key", ".pypirc", ".cargo/credentials.toml")
KEYS += (".claude/.credentials.json", ".local/share/keyrings/login.keyring")
VARIABLES: tuple[str, ...] = (
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "GITHUB_TOKEN",
    "ACTIONS_RUNTIME_TOKEN",
    "INPUT_GITHUB_TOKEN",
)
VARIABLES += ("AWS_SECRET_ACCESS_KEY", "ACTIONS_ID_TOKEN_REQUEST_TOKEN", "SSH_AUTH_SOCK", "A_SECRET")
SUITE = """\
version: 1
scenarios: [scenarios/*.yaml]
build: [bin/probe build]
path: [bin]
network: {{setup: false, agent: false, gates: false}}
files: {{read: [{programs}]}}
trials: {{jobs: 1}}
agents: {{mine: {{type: command, command: "probe agent; tool"}}}}
"""
PROGRAM = """\
name: program
description: Nothing is kept from the probe but what the jail keeps from it.
target: {binary: tool}
setup: {commands: [probe setup]}
task: Try it.
template_folder: template
evaluation: {gates: [{type: command_succeeds, command: probe gate}, {type: script, command: ./check.sh}]}
"""
SERVER = """\
name: server
description: The same for an MCP server, as it is started for the check before the agent.
target: {mcp: {command: probe server >&2; exit 1}}
task: Try it.
evaluation: {gates: [{type: file_exists, path: a}]}
"""
FILES = {
    "bin/tool": "#!/bin/sh\nexec probe target\n",
    "scenarios/program.yaml": PROGRAM,
    "scenarios/server.yaml": SERVER,
    "scenarios/template/check.sh": "#!/bin/sh\nexec probe script\n",
}


class Machine:
    """Files, sockets and servers; `came` is what has reached a server, as ROLE|NAME."""

    def __init__(self, folder: Path, way: str) -> None:
        self.folder, self.way = folder, way
        self.mark = f"tidegate-escape-{secrets.token_hex(4)}"
        self.home, self.repo, self.runner = folder / "home", folder / "repo", folder / "runner_temp"
        self.owner = USER if way == "user" else 0
        self.came: set[str] = set()
        self.made: list[Path] = []
        self.places: dict[str, Any] = {}

    def set_up(self) -> None:
        """Make everything, open to all users: what is kept out is kept out by the jail, or by its user's rights."""
        own_namespaces()
        for name in (*KEYS, ".ssh/authorized_keys", "deletable", "closed"):
            plant(self.home / name)
        for name in ("event.json", "set_env"):
            plant(self.runner / name)
        programs = self.folder / "programs"
        programs.mkdir()
        shutil.copy("/usr/bin/id", programs / "id")
        shared = {place: Path(place, self.mark) for place in ("/tmp", "/var/tmp", "/dev/shm")}
        for folder in shared.values():
            plant(folder / "planted.txt")
        self.made += shared.values()
        self.serve()
        held = Path("/run", self.mark)
        held.mkdir()
        self.made.append(held)
        paths = {"/tmp": shared["/tmp"], "the home": self.home, "/run": held}
        sockets = {name: str(self.listen(folder / "open.sock", 0o666)) for name, folder in paths.items()}
        sockets |= {place: str(self.listen(self.own_folder(place) / "open.sock", 0o666)) for place in OF_SOCKETS}
        sockets["/run, as Docker's"] = str(self.listen(held / "docker.sock", 0o660))
        self.listen_at("\0" + self.mark)
        self.places = {
            "home": str(self.home),
            "repo": str(self.repo),
            "runner": str(self.runner),
            "shared": {place: str(folder) for place, folder in shared.items()},
            "keys": KEYS,
            "port": self.port,
            "private": {place: str(plant(self.own_folder(place) / "private")) for place in PRIVATE},
            "terminal": self.open_terminal(),
            "outside": HOST,
            "outside6": HOST6,
            "ports": list(PORTS),
            "sockets": sockets,
            "abstract": self.mark,
            "pid": os.getpid(),
            "shm": make_shared_memory(),
            "sleep": 50_000 + secrets.randbelow(10_000),
            "setuid": str(programs / "id"),
            "disk": next((name for name in os.listdir("/dev") if re.fullmatch(r"(vd|sd|nvme\d+n)\w", name)), "sda"),
            "variables": VARIABLES,
        }
        self.make_repository(programs)
        everything = [*map(str, (self.home, self.repo, self.runner)), *map(str, self.made)]
        subprocess.run(["chmod", "-R", "a+rwX", *everything], check=True)
        subprocess.run(["chown", "-R", f"{self.owner}:{self.owner}", str(self.folder), *everything], check=True)
        for path in self.made:
            for entry in path.glob("docker.sock"):
                entry.chmod(0o660)
        (self.home / "closed").chmod(0o600)
        for private in self.places["private"].values():
            Path(private).chmod(0o600)
        os.chown(self.places["terminal"], self.owner, self.owner)
        os.chown(programs / "id", 0, 0)
        (programs / "id").chmod(0o4755)

    def make_repository(self, programs: Path) -> None:
        """The suite, and the probe as its tool."""
        repository = Repository(self.repo)
        probe = {"bin/probe": PROBE.read_text(), "bin/families.py": FAMILIES.read_text()}
        probe |= {"bin/places.json": json.dumps(self.places)}
        repository.commit({**FILES, **probe, "tidegate.yaml": SUITE.format(programs=programs)})
        (self.repo / ".git/config").open("a").write("[planted]\n\tsecret = PLANTED\n")
        plant(self.repo / ".env")

    def serve(self) -> None:
        """Listen where hosts, services of the machine and name servers would."""
        for address, family in ((HOST, socket.AF_INET), (HOST6, socket.AF_INET6)):
            for port in PORTS:
                self.listen_at((address, port), family)
        Thread(target=visit, daemon=True).start()
        one = self.listen_at(("", 0))
        self.port = one.getsockname()[1]
        for address, port in OUTSIDE.items():
            self.listen_at((address, port))
        self.listen_at(("::1", self.port), socket.AF_INET6)
        for place in (("", self.port), ("127.0.0.1", 53)):
            self.receive(socket.AF_INET, place)
        self.receive(socket.AF_INET6, ("::1", self.port))

    def own_folder(self, place: str) -> Path:
        """A folder of ours in one of the system's, removed afterwards."""
        folder = Path(place, self.mark)
        if folder not in self.made:
            folder.mkdir(parents=True, exist_ok=True)
            self.made.append(folder)
        return folder

    def open_terminal(self) -> str:
        """A terminal of another session, in which a secret has been typed; returns its path."""
        ours, theirs = os.openpty()
        os.write(ours, b"PLANTED\n" * 50)

        def see() -> None:
            with contextlib.suppress(OSError):
                while True:
                    self.came.update(os.read(ours, 1000).decode(errors="replace").splitlines())

        Thread(target=see, daemon=True).start()
        return os.ttyname(theirs)

    def listen(self, path: Path, mode: int) -> Path:
        """Listen at a path."""
        self.listen_at(str(path))
        path.chmod(mode)
        return path

    def listen_at(self, address: Any, family: int | None = None) -> socket.socket:
        """Accept connections, and note what they say."""
        kind = family or (socket.AF_UNIX if isinstance(address, str) else socket.AF_INET)
        is_outside = kind != socket.AF_UNIX and address[0] in (HOST, HOST6)
        with outside() if is_outside else contextlib.nullcontext():
            server = socket.socket(kind, socket.SOCK_STREAM)
        if kind != socket.AF_UNIX:
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(address)
        server.listen()

        def accept() -> None:
            while True:
                connection, _ = server.accept()
                with connection, contextlib.suppress(OSError):
                    connection.settimeout(1)
                    self.came.update(connection.recv(1000).decode(errors="replace").splitlines())

        Thread(target=accept, daemon=True).start()
        return server

    def receive(self, family: int, address: Any) -> None:
        """Note what datagrams say."""
        server = socket.socket(family, socket.SOCK_DGRAM)
        server.bind(address)

        def take() -> None:
            while True:
                self.came.update(server.recv(1000).decode(errors="replace").splitlines())

        Thread(target=take, daemon=True).start()

    def run(self) -> subprocess.CompletedProcess[str]:
        """Run Tidegate there, in the way that was asked for."""
        if self.way == "none":
            return self.run_alone()
        arguments = tidegate("run", "--rev", "HEAD", "--trials", "1", "--out", str(self.folder / "out"))
        environment = {name: f"planted-key-of-{name}" for name in VARIABLES}
        environment |= {"PATH": f"{self.home}/.cargo/bin:{self.home}/.local/bin:{SYSTEM_PATH}", "HOME": str(self.home)}
        environment["RUNNER_TEMP"] = str(self.runner)

        (self.home / ".cargo/bin").mkdir()
        (self.home / ".local/bin").mkdir()
        if self.way == "runc":
            shared = [self.folder, *self.made]
            arguments, environment = by_runc(self.folder / "podman", self.repo, arguments, environment, shared)
        return subprocess.run(
            arguments, cwd=self.repo, env=environment, capture_output=True, text=True, check=False,
            preexec_fn=partial(become, self.way), timeout=200,
        )  # fmt: skip

    def run_alone(self) -> subprocess.CompletedProcess[str]:
        """Run the probe without Tidegate, as root: what does not come through then shows nothing."""
        scratch, out = self.folder / "scratch/one", self.folder / "out/output"
        for folder in (scratch / "home", scratch / "shared", scratch.with_name("two"), out):
            folder.mkdir(parents=True)
        for file in (scratch / "shared/prompt.txt", out / "prompt.txt"):
            file.write_text("prompt")
        os.mkfifo(scratch / "invocations.log")
        environment = {name: f"planted-key-of-{name}" for name in VARIABLES} | {"HOME": str(scratch / "home")}
        with (out / "probe.stdout").open("w") as output:
            return subprocess.run(
                [str(self.repo / "bin/probe"), "agent"], cwd=scratch, env={**environment, "PATH": SYSTEM_PATH},
                stdout=output, stderr=subprocess.DEVNULL, text=True, check=False, timeout=100,
            )  # fmt: skip

    def attempts(self) -> Iterator[dict[str, Any]]:
        """What the probe has printed, with what was found afterwards."""
        for file in sorted((self.folder / "out").rglob("*.std*")):
            for line in file.read_text(errors="replace").splitlines():
                if line.startswith("ESCAPE "):
                    one = json.loads(line.removeprefix("ESCAPE "))
                    arrived = f"{one['role']}|{one['name']}" in self.came
                    yield {**one, "in": one["in"] or arrived or bool(one["left"] and is_left(one["left"]))}

    def survivors(self) -> int:
        """How many daemons of the probe still run; they are ended."""
        wanted = f"sleep\0{self.places['sleep']}\0".encode()
        found = [int(name) for name in os.listdir("/proc") if name.isdigit() and command_line(name) == wanted]
        for pid in found:
            os.kill(pid, 9)
        return len(found)

    def clear_up(self) -> None:
        """Remove what is not in the folder, and the mount that podman leaves there."""
        if (mounted := self.folder / "podman/root/overlay").exists():
            subprocess.run(["umount", "--lazy", str(mounted)], capture_output=True, check=False)
        for path in self.made:
            shutil.rmtree(path, ignore_errors=True)
        for folder in ("/etc", "/usr/local/bin"):
            for left in Path(folder).glob("escaped-*"):
                left.unlink()
        for place in ("/tmp", "/var/tmp", "/dev/shm"):
            shutil.rmtree(Path(place, self.mark), ignore_errors=True)


def command_line(pid: str) -> bytes:
    """The words of a process; nothing if it is gone."""
    try:
        return Path("/proc", pid, "cmdline").read_bytes()
    except OSError:
        return b""


def own_namespaces() -> None:
    """A network in which every address of the suite's leads to us, and shared memory that ends with us.

    A cable leads to a host outside, in another network; what listens there are sockets of this process.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET | CLONE_NEWIPC) != 0:
        raise OSError(ctypes.get_errno(), "no namespaces")
    devices = ["link set lo up", *(f"address add {address}/32 dev lo" for address in OUTSIDE)]
    devices += ["link add here type veth peer name there", "link set here up", f"address add {HERE}/24 dev here"]
    for line in (*devices, f"address add {HERE6}/64 dev here nodad"):
        subprocess.run(["ip", *line.split()], check=True)
    Path("/proc/sys/net/ipv4/ip_local_port_range").write_text(f"{PORTS[0]} {PORTS[-1]}")
    with Path("/proc/self/ns/net").open() as ours:
        if libc.unshare(CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "no second network")
        OUTSIDE_NETWORK.append(os.open("/proc/self/ns/net", os.O_RDONLY))
        libc.setns(ours.fileno(), CLONE_NEWNET)
    subprocess.run(["ip", "link", "set", "there", "netns", f"/proc/{os.getpid()}/fd/{OUTSIDE_NETWORK[0]}"], check=True)
    with outside():
        lines = ("lo up", "there up")
        for line in lines:
            subprocess.run(["ip", "link", "set", *line.split()], check=True)
        for address in (f"{HOST}/24", f"{HOST6}/64"):
            subprocess.run(
                ["ip", "address", "add", address, "dev", "there", *(["nodad"] * (":" in address))], check=True
            )


OUTSIDE_NETWORK: list[int] = []


@contextlib.contextmanager
def outside() -> Iterator[None]:
    """This thread is in the other network."""
    libc = ctypes.CDLL(None, use_errno=True)
    with Path("/proc/thread-self/ns/net").open() as ours:
        libc.setns(OUTSIDE_NETWORK[0], CLONE_NEWNET)
        try:
            yield
        finally:
            libc.setns(ours.fileno(), CLONE_NEWNET)


def visit() -> None:
    """From outside, connect to every port of ours, again and again."""
    with outside():
        while True:
            for family, address in ((socket.AF_INET, HERE), (socket.AF_INET6, HERE6)):
                for port in PORTS:
                    with contextlib.suppress(OSError), socket.socket(family) as one:
                        one.settimeout(0.05)
                        one.connect((address, port))
            time.sleep(0.3)


def make_shared_memory() -> int:
    """A System V segment that all users may read; returns its key."""
    key = secrets.randbelow(1 << 30) + 1
    ctypes.CDLL(None).shmget(key, 4096, IPC_CREAT | 0o666)
    return key


def plant(path: Path) -> Path:
    """A file with a secret; returns its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("PLANTED\n")
    return path


def is_left(what: str) -> bool:
    """Return True if a file is there, `FILE?TEXT` has the text, and so on: `!` empty, `-` gone, `+` open to all.

    `=KIND KEY` is an object in shared memory.
    """
    if what.startswith("="):
        kind, key = what[1:].split()
        libc, number = ctypes.CDLL(None), int(key)
        looks: dict[str, Callable[[], int]] = {
            "shm": lambda: libc.shmget(number, 0, 0),
            "sem": lambda: libc.semget(number, 0, 0),
            "msg": lambda: libc.msgget(number, 0),
            "mq": lambda: libc.mq_open(b"/%d" % number, 0),
        }
        return looks[kind]() >= 0
    if what.startswith("-"):
        return not os.path.lexists(what[1:])
    if what.startswith("+"):
        return Path(what[1:]).stat().st_mode & 0o777 == 0o777
    if what.endswith("!"):
        return Path(what[:-1]).stat().st_size == 0
    path, _, text = what.partition("?")
    return text in Path(path).read_text() if text else os.path.lexists(path)


def main(folder: str, way: str) -> None:
    machine = Machine(Path(folder), way)
    try:
        machine.set_up()
        ran = machine.run()
        run = machine.folder / "out/run.json"
        confinement = json.loads(run.read_text())["confinement"] if run.exists() else []
        attempts, stderr = list(machine.attempts()), (ran.stderr or "")[-3000:]
        found = {"attempts": attempts, "survivors": machine.survivors(), "stderr": stderr, "confinement": confinement}
        print(json.dumps(found))
    finally:
        machine.clear_up()


if __name__ == "__main__":
    main(*sys.argv[1:])
