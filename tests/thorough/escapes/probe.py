#!/usr/bin/python3
"""`probe.py ROLE`: tries to get out of a trial in many ways, and prints what happened, one JSON object a line.

Every attempt is harmless where it succeeds: a file with a name of its own, an open, a call with arguments that no
kernel accepts. Where the addresses, files and sockets are is in `places.json` beside this file. Standard library only.
"""

# os.path is what a stranger would use.
# ruff: noqa: PTH101, PTH102, PTH104, PTH108, PTH109, PTH115, PTH208, PTH211

import ctypes
import json
import os
import resource
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parent))  # the interpreter may leave it out

import families  # type: ignore[import-not-found]

ROLE = sys.argv[1] if len(sys.argv) > 1 else "target"
PLACES = json.loads(Path(__file__).with_name("places.json").read_text())
LIBC = ctypes.CDLL(None, use_errno=True)
SECRET = "PLANTED"
X86 = os.uname().machine == "x86_64"
CHECKOUT = Path(__file__).parents[1]
SCRATCH = CHECKOUT if ROLE == "build" else Path(os.environ["HOME"]).parent
UNSET = ctypes.c_void_p(-1)
Attempt = Callable[[], object]
NAME = ""  # of the attempt that is being made


def words() -> str:
    """What an attempt leaves, by which it is known."""
    return f"{ROLE}|{NAME}\n"


def supervisor() -> int:
    """The process that started ours: the first above our session that is not the trial's own.

    A recorder between, which a target cannot look at, is the trial's own.
    """
    pid = os.getsid(0)
    while pid:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        pid = int(next(line for line in lines if line.startswith("PPid:")).split()[1])
        try:
            if b"supervisor/__main__.py" in Path(f"/proc/{pid}/cmdline").read_bytes():
                return pid
        except OSError:
            return pid or os.getppid()
    return os.getppid()


class InheritedError(Exception):
    """A descriptor of Tidegate's is open."""


class RefusedError(Exception):
    """The attempt failed in another way than by an OSError."""


def call(number: int, *arguments: object) -> bool:
    """True if the kernel looked at the arguments, which are wrong: nothing kept the call from it."""
    ctypes.set_errno(0)
    given = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    result = LIBC.syscall(ctypes.c_long(number), *given)
    error = ctypes.get_errno()
    if result < 0 and error in (1, 13, 38):  # EPERM, EACCES, ENOSYS
        raise OSError(error, os.strerror(error))
    return True


def read(path: object) -> bool:
    return SECRET in Path(str(path)).read_text(errors="replace")


def listed(folder: object, name: str = "") -> bool:
    names = set(os.listdir(str(folder)))
    return name in names if name else bool(names - {SCRATCH.name, CHECKOUT.name})


def create(folder: object) -> str:
    """Leave a file there; whether it is outside, the test looks itself."""
    path = Path(str(folder)) / f"escaped-{ROLE}"
    path.write_text("escaped")
    return str(path)


def append(path: object) -> str:
    with Path(str(path)).open("a") as file:
        file.write(f"escaped-{ROLE}\n")
    return f"{path}?escaped-{ROLE}"


def truncated(path: str) -> str:
    os.truncate(path, 0)
    return f"{path}!"


def deleted(path: str) -> str:
    os.unlink(path)
    return f"-{path}"


def opened(path: str) -> str:
    os.chmod(path, 0o777)
    return f"+{path}"


def moved(path: str, to: str) -> str:
    os.rename(path, to)
    return to


def made_folder(path: str) -> str:
    os.mkdir(path)
    return path


def linked(path: str) -> str:
    os.symlink("/", path)
    return path


def changed(path: Path) -> bool:
    """Append to a file that is gone after the run, so that nobody can look later."""
    with path.open("ab") as file:
        file.write(b"")
    return True


def connect(family: int, address: object, kind: int = socket.SOCK_STREAM) -> bool:
    with socket.socket(family, kind) as one:
        one.settimeout(2)
        one.connect(address)  # type: ignore[arg-type]
        one.sendall(words().encode())
    return True


def multipath(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262) as one:
        one.connect(("127.0.0.1", port))
    return True


def datagram(family: int, address: tuple[object, ...]) -> None:
    """Send a datagram; whether it has arrived, the test knows."""
    with socket.socket(family, socket.SOCK_DGRAM) as one:
        one.sendto(words().encode(), address)


def by_proxy(variable: str, host: str) -> bool:
    """Ask the proxy that a variable names for a host that is not listed."""
    address = os.environ.get(variable, "")
    if not address:
        raise RefusedError("no proxy")
    place, _, port = address.removeprefix("http://").rpartition(":")
    with socket.create_connection((place, int(port)), timeout=3) as one:
        one.sendall(f"CONNECT {host} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        return b" 200 " in one.recv(100)


def link_and_read(path: str) -> bool:
    link = Path("a-link")
    link.unlink(missing_ok=True)
    link.symlink_to(path)
    try:
        return read(link)
    finally:
        link.unlink()


def hard_link(path: str) -> bool:
    link = Path("a-hard-link")
    os.link(path, link)
    try:
        return read(link)
    finally:
        link.unlink()


def reopened(path: str) -> bool:
    """Open the path alone, then the file by its descriptor."""
    descriptor = os.open(path, os.O_PATH)
    try:
        return read(f"/proc/self/fd/{descriptor}")
    finally:
        os.close(descriptor)


def output_folder() -> Path:
    """Where Tidegate keeps this command's output, by the link of its descriptor."""
    return Path(os.readlink("/proc/self/fd/1")).parent


def others_environment() -> bool:
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try:
                if b"planted-key" in Path("/proc", name, "environ").read_bytes():
                    return True
            except OSError:
                continue
    return False


def memory_of(pid: int) -> bool:
    with Path(f"/proc/{pid}/mem").open("rb"):
        return True


def traced(pid: int) -> bool:
    """Attach without stopping it; our end detaches."""
    return call(101 if X86 else 117, 0x4206, pid, 0, 0) and not ctypes.get_errno()


class Vector(ctypes.Structure):
    """struct iovec."""

    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


def read_by_vm(pid: int) -> bool:
    here, there = Vector(ctypes.addressof(ctypes.create_string_buffer(8)), 8), Vector(4096, 8)
    return call(310 if X86 else 270, pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)


def descriptor_of(pid: int) -> bool:
    return call(438, os.pidfd_open(pid), 0, 0)


def signalled(pid: int) -> bool:
    os.kill(pid, 0)
    return True


def slower(pid: int) -> bool:
    os.setpriority(os.PRIO_PROCESS, pid, 5)
    return True


def limited(pid: int) -> bool:
    resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))
    return True


def opened_to_write(path: object) -> bool:
    os.close(os.open(str(path), os.O_WRONLY))
    return True


def shared_memory(key: int) -> bool:
    found = LIBC.shmget(key, 0, 0)
    if found < 0:
        raise OSError(ctypes.get_errno() or 2, "no such segment")
    return True


def inherited() -> bool:
    """True if a descriptor is open that is neither an output nor ours; said with its target."""
    own = os.open("/", os.O_PATH)
    found = {}
    for number in range(3, 256):
        with suppress(OSError):
            found[number] = os.readlink(f"/proc/self/fd/{number}")
    os.close(own)
    del found[own]
    if not found:
        return False
    raise InheritedError(str(found))


def gained() -> bool:
    status = dict(line.split(":\t", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":\t" in line)
    return status["NoNewPrivs"] != "1" or (os.geteuid() != 0 and int(status["CapEff"], 16) != 0)


def filtered() -> bool:
    return "Seccomp:\t2" not in Path("/proc/self/status").read_text()


def root_by(program: str, *arguments: str) -> bool:
    done = subprocess.run([program, *arguments], capture_output=True, stdin=subprocess.DEVNULL, timeout=5, check=False)
    return done.stdout.strip() == b"0"


def become_root() -> bool:
    os.setuid(0)
    return os.getuid() == 0


def device() -> bool:
    os.mknod("a-device", stat.S_IFBLK | 0o600, os.makedev(1, 0))
    return True


def raised(kind: int) -> bool:
    hard = resource.getrlimit(kind)[1]
    if hard == resource.RLIM_INFINITY:
        return True
    resource.setrlimit(kind, (hard, hard + 1))
    return True


def survivor() -> None:
    """Leave a daemon that writes no output; the test looks for it afterwards."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execv("/bin/sleep", ["sleep", str(PLACES["sleep"])])
        os._exit(0)


def too_large() -> bool:
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with Path("a-large-file").open("wb") as file:
        file.truncate(1 << 40)
    return True


def real_time() -> bool:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    return True


def quicker() -> bool:
    os.nice(-5)
    return True


PARENT = supervisor()


def in_environment(name: str) -> bool:
    return "planted-key" in os.environ.get(name, "")


def git_of_repository() -> bool:
    done = subprocess.run(
        ["git", "-c", "safe.directory=*", "-C", PLACES["repo"], "log", "-1"], capture_output=True, check=False
    )
    return done.returncode == 0


def files() -> dict[str, Attempt]:
    home, repo, outside = PLACES["home"], PLACES["repo"], PLACES["shared"]
    found: dict[str, Attempt] = {f"read ~/{name}": partial(read, f"{home}/{name}") for name in PLACES["keys"]}
    key = f"{home}/.ssh/id_rsa"
    found |= {
        "list the home": lambda: listed(home, ".ssh"),
        "read the home by a link": lambda: link_and_read(key),
        "read the home by a hard link": lambda: hard_link(key),
        "read the home by /proc/self/root": lambda: read(f"/proc/self/root{key}"),
        "read the home by its parent's root": lambda: read(f"/proc/{PARENT}/root{key}"),
        "read the home by its descriptor": lambda: reopened(key),
        "read the home in another program": lambda: SECRET.encode() in subprocess.run(
            ["cat", key], capture_output=True, check=False).stdout,
        "read the home by dots": lambda: read(f"{os.getcwd()}/../../../../../../../..{key}"),
        "read .git/config": lambda: read(f"{repo}/.git/config"),
        "ask git about the repository": git_of_repository,
        "read an uncommitted file": lambda: read(f"{repo}/.env"),
        "list the repository": lambda: listed(repo, ".env"),
        "read GitHub's event": lambda: read(f"{PLACES['runner']}/event.json"),
        "read the file commands": lambda: read(f"{PLACES['runner']}/set_env"),
        "list the other trials": lambda: listed(SCRATCH.parent),
        "list the record": lambda: listed(output_folder()),
        "read the record's prompt": lambda: bool((output_folder() / "prompt.txt").read_text()),
        "read what Tidegate inherited": inherited,
        "read passwords": lambda: bool(Path("/etc/shadow").read_bytes()),
    }  # fmt: skip
    for name, folder in outside.items():
        found[f"read a file of {name}"] = partial(read, f"{folder}/planted.txt")
        found[f"create a file in {name}"] = partial(create, folder)
    return {
        **found,
        "create a file in the home": lambda: create(home),
        "add a key to the home": lambda: append(f"{home}/.ssh/authorized_keys"),
        "create a file in the repository": lambda: create(repo),
        "create a git hook": lambda: create(f"{repo}/.git/hooks"),
        "change .git/config": lambda: append(f"{repo}/.git/config"),
        "set variables of later steps": lambda: append(f"{PLACES['runner']}/set_env"),
        "truncate a file of the home": lambda: truncated(key),
        "delete a file of the home": lambda: deleted(f"{home}/deletable"),
        "open a file of the home to all": lambda: opened(f"{home}/closed"),
        "move a file to the home": lambda: moved(create("."), f"{home}/moved-{ROLE}"),
        "make a folder in the home": lambda: made_folder(f"{home}/folder-{ROLE}"),
        "make a link in the home": lambda: linked(f"{home}/link-{ROLE}"),
        "create a file in /etc": lambda: create("/etc"),
        "create a program of the system": lambda: create("/usr/local/bin"),
        "make a device": device,
        **families.private(PLACES["private"]),
        **families.terminals(PLACES["terminal"], words),
    }  # fmt: skip


def while_recording() -> dict[str, Attempt]:
    """Attempts on the FIFO that the recorder writes to."""
    fifo = SCRATCH / "invocations.log"
    return {
        "open the record's FIFO to all": lambda: bool(opened(str(fifo))),
        "read the record's FIFO": lambda: os.open(fifo, os.O_RDONLY | os.O_NONBLOCK) > 0,
        "remove the record's FIFO": lambda: bool(moved(str(fifo), str(SCRATCH / "shared/x"))),
    }


def inside() -> dict[str, Attempt]:
    """Attempts on what belongs to the trial, and not to its commands; a build has no such things."""
    return {
        "change the tool under test": lambda: changed(CHECKOUT / "bin/probe"),
        "put a module beside the tool": lambda: bool(create(CHECKOUT / "bin")),
        "replace the recorder": lambda: bool(create(SCRATCH / "shared")),
        **(while_recording() if ROLE in ("agent", "target") else {}),
        "change the prompt": lambda: changed(SCRATCH / "shared/prompt.txt"),
        "put a file into the record": lambda: bool(create(output_folder())),
    }


def network() -> dict[str, Attempt]:
    port, inet, inet6 = PLACES["port"], socket.AF_INET, socket.AF_INET6
    return {
        "connect to the host's loopback": lambda: connect(inet, ("127.0.0.1", port)),
        "connect to the host's loopback by 127.1.2.3": lambda: connect(inet, ("127.1.2.3", port)),
        "connect to 0.0.0.0": lambda: connect(inet, ("0.0.0.0", port)),
        "connect over IPv6": lambda: connect(inet6, ("::1", port)),
        "connect to an IPv4 address over IPv6": lambda: connect(inet6, ("::ffff:127.0.0.1", port)),
        "connect to the metadata service": lambda: connect(inet, ("169.254.169.254", 80)),
        "connect to a host outside": lambda: connect(inet, ("192.0.2.1", 443)),
        "connect by multipath TCP": lambda: multipath(port),
        "send with a fast open": lambda: socket.socket(inet).sendto(b"escaped", 0x20000000, ("127.0.0.1", port)) > 0,
        "send a datagram": lambda: datagram(inet, ("127.0.0.1", port)),
        "send a datagram over IPv6": lambda: datagram(inet6, ("::1", port)),
        "ask a name server": lambda: datagram(inet, ("127.0.0.1", 53)),
        "send a datagram to the metadata service": lambda: datagram(inet, ("169.254.169.254", port)),
        "ask the proxy for a host": lambda: by_proxy("HTTPS_PROXY", "192.0.2.1:443"),
        "ask the proxy for the metadata service": lambda: by_proxy("HTTPS_PROXY", "169.254.169.254:80"),
        "ask the proxy for the loopback": lambda: by_proxy("HTTPS_PROXY", f"127.0.0.1:{port}"),
        "ask the proxy for localhost by a number": lambda: by_proxy("HTTPS_PROXY", f"2130706433:{port}"),
        "connect over vsock": lambda: connect(40, (2, 80)),
        "send raw packets": lambda: bool(socket.socket(inet, socket.SOCK_RAW, 1)),
        **families.hosts(PLACES, words),
    }  # fmt: skip


def sockets() -> dict[str, Attempt]:
    found: dict[str, Attempt] = {
        f"connect to a socket in {name}": partial(connect, socket.AF_UNIX, path)
        for name, path in PLACES["sockets"].items()
    }
    found["connect to an abstract socket"] = lambda: connect(socket.AF_UNIX, "\0" + PLACES["abstract"])
    return found


def processes() -> dict[str, Attempt]:
    tidegate = PLACES["pid"]
    return {
        "read others' environments": others_environment,
        "see Tidegate's process": lambda: Path(f"/proc/{tidegate}/cmdline").exists(),
        "read the supervisor's memory": lambda: memory_of(PARENT),
        "read the supervisor's memory by a call": lambda: read_by_vm(PARENT),
        "trace the supervisor": lambda: traced(PARENT),
        "signal the supervisor": lambda: signalled(PARENT),
        "slow down the supervisor": lambda: slower(PARENT),
        "limit the supervisor": lambda: limited(PARENT),
        "take the supervisor's connection": lambda: descriptor_of(PARENT),
        "open the supervisor's connection": lambda: opened_to_write(f"/proc/{PARENT}/fd/0"),
        "list the supervisor's files": lambda: listed(f"/proc/{PARENT}/fd"),
        "read Tidegate's memory": lambda: memory_of(tidegate),
        "signal Tidegate": lambda: signalled(tidegate),
        "trace Tidegate": lambda: traced(tidegate),
        "signal the first process": lambda: signalled(1),
        "protect itself from the memory killer": lambda: Path("/proc/self/oom_score_adj").write_text("-1000") > 0,
        "attach shared memory of others": lambda: shared_memory(PLACES["shm"]),
        "leave a daemon": survivor,
        "open more files than allowed": lambda: raised(resource.RLIMIT_NOFILE),
        "write a larger file than allowed": too_large,
        "run in real time": real_time,
        "run before others": quicker,
        "become root": become_root,
        "become root by a program": lambda: root_by(PLACES["setuid"], "-u"),
        "keep rights": gained,
        "make calls that nobody filters": filtered,
        **families.processes(PARENT),
        **families.left_in_memory(ROLE),
    }


def calls() -> dict[str, Attempt]:
    """By number: mostly what no C library has a function for."""
    numbers: dict[str, tuple[Any, ...]] = {
        "mount a file system": (165 if X86 else 40, UNSET, UNSET, UNSET, 0, 0),
        "unmount one": (166 if X86 else 39, UNSET, 0),
        "change the root": (155 if X86 else 41, UNSET, UNSET),
        "mount by new calls": (430, UNSET, 0),
        "clone a mount": (428, -1, UNSET, 0),
        "move a mount": (429, -1, UNSET, -1, UNSET, 0),
        "create a user namespace": (272 if X86 else 97, 0x10000000),
        "create a network namespace": (272 if X86 else 97, 0x50000000),
        "enter a namespace": (308 if X86 else 268, -1, 0),
        "read the kernel's keys": (250 if X86 else 219, 99),
        "add a key": (248 if X86 else 217, UNSET, UNSET, UNSET, 0, 0),
        "load a BPF program": (321 if X86 else 280, 5, UNSET, 0),
        "measure the machine": (298 if X86 else 241, UNSET, 0, -1, -1, 0),
        "handle page faults": (323 if X86 else 282, 1),
        "use io_uring": (425, 1, UNSET),
        "load another kernel": (246 if X86 else 104, 0, 0, UNSET, 0),
        "load a module": (175 if X86 else 105, UNSET, 0, UNSET),
        "load a module from a file": (313 if X86 else 273, -1, UNSET, 0),
        "remove a module": (176 if X86 else 106, UNSET, 0),
        "open a file by its handle": (304 if X86 else 265, -1, UNSET, 0),
        "switch on swap": (167 if X86 else 224, UNSET, 0),
        "restart the machine": (169 if X86 else 142, 0, 0, 0, 0),
        "account for processes": (163 if X86 else 89, UNSET),
        "read the kernel's log": (103 if X86 else 116, 10, 0, 0),
        "set the clock": (164 if X86 else 170, UNSET, 0),
        "name the machine": (170 if X86 else 161, UNSET, -1),
        "use another system's calls": (0x40000000 + 39 if X86 else 40,),
    }
    return {
        **{name: partial(call, *given) for name, given in numbers.items()},
        "change a setting of the kernel": lambda: opened_to_write("/proc/sys/kernel/core_pattern"),
        "use magic keys": lambda: opened_to_write("/proc/sysrq-trigger"),
        "change a control group": lambda: opened_to_write("/sys/fs/cgroup/cgroup.procs"),
        "open a disk": lambda: opened_to_write("/dev/" + PLACES["disk"]),
        "open the machine's memory": lambda: opened_to_write("/dev/mem"),
        **families.kernel(),
    }


def environment() -> dict[str, Attempt]:
    return {f"see {name}": partial(in_environment, name) for name in PLACES["variables"]}


def end_of(attempt: Attempt) -> dict[str, object]:
    """Make the attempt; return how it ended."""
    try:
        came = attempt()
    except InheritedError as found:
        return {"in": True, "left": None, "how": str(found)}
    except (RefusedError, OSError, ValueError, subprocess.SubprocessError) as error:
        return {"in": False, "left": None, "how": str(error)}
    return {"in": came is True, "left": came if isinstance(came, str) else None, "how": ""}


def main() -> None:
    groups = [files, sockets, processes, calls, environment]
    groups += [] if ROLE == "build" else [inside, network]
    for group in groups:
        for name, attempt in group().items():
            if child := os.fork():  # what one attempt changes does not help the next
                os.waitpid(child, 0)
                continue
            globals()["NAME"] = name
            end = end_of(attempt)
            print("ESCAPE", json.dumps({"role": ROLE, "area": group.__name__, "name": name, **end}), flush=True)
            os._exit(0)


if __name__ == "__main__":
    main()
