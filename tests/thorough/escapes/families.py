"""Attempts of one kind on one thing after another: processes, terminals, devices, settings, namespaces, hosts.

It is beside `probe.py`, which makes them. An attempt returns True if it came through, or what to look for afterwards.
Standard library only.
"""

# os.path is what a stranger would use.
# ruff: noqa: PTH208

import ctypes
import fcntl
import os
import resource
import signal
import socket
import struct
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

Attempt = Callable[[], object]
Words = Callable[[], str]  # what an attempt leaves, by which it is known
LIBC = ctypes.CDLL(None, use_errno=True)
X86 = os.uname().machine == "x86_64"
NULL = ctypes.c_void_p(0)
OF_PROCESS = ("environ", "maps", "smaps", "auxv", "io", "stack", "syscall", "personality", "timers", "mem")
FOLDERS_OF_PROCESS = ("fd", "fdinfo", "map_files", "cwd", "root", "ns")
DEVICES = (
    *("kmsg", "port", "kvm", "fuse", "vhost-net", "vhost-vsock", "vsock", "net/tun", "loop-control", "loop0", "uinput"),
    *("input/event0", "rtc0", "hpet", "watchdog", "snapshot", "tty0", "tty1", "ttyS0", "console", "vcs", "vcsa"),
    *("hwrng", "cpu_dma_latency", "autofs", "mapper/control", "ppp", "udmabuf", "userfaultfd", "ptp0", "nvram"),
)
SETTINGS = (
    *("kernel/modprobe", "kernel/hostname", "kernel/sysrq", "kernel/shmmax", "kernel/ns_last_pid", "kernel/printk"),
    *("kernel/randomize_va_space", "kernel/pid_max", "vm/drop_caches", "vm/overcommit_memory", "vm/panic_on_oom"),
    *("fs/mqueue/queues_max", "fs/file-max", "fs/suid_dumpable", "net/ipv4/ip_forward", "net/ipv4/ip_local_port_range"),
)
OF_KERNEL = (
    *("/proc/kcore", "/proc/kmsg", "/proc/slabinfo", "/proc/vmallocinfo", "/proc/pagetypeinfo", "/proc/timer_list"),
    *("/sys/kernel/debug", "/sys/kernel/tracing", "/sys/fs/pstore", "/dev/kmsg", "/proc/1/environ", "/proc/1/maps"),
)
NAMESPACES = {
    "mount": 0x20000, "cgroup": 0x2000000, "name": 0x4000000, "memory": 0x8000000, "user": 0x10000000,
    "process": 0x20000000, "network": 0x40000000, "time": 0x80,
}  # fmt: skip
PROTOCOLS = {
    "SCTP": (socket.SOCK_STREAM, 132),
    "SCTP messages": (socket.SOCK_SEQPACKET, 132),
    "DCCP": (6, 33),
    "raw TCP": (socket.SOCK_RAW, 6),
    "raw UDP": (socket.SOCK_RAW, 17),
}
DEVICE_OF_SOCKET, INDEX_OF_DEVICE = socket.SO_BINDTODEVICE, 62  # SO_BINDTOIFINDEX


def call(number: int, *arguments: object) -> bool:
    """True if the call succeeded."""
    given = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    if LIBC.syscall(ctypes.c_long(number), *given) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return True


def chain(pid: int) -> dict[str, int]:
    """The supervisor and what is above it, as far as it is visible: the starter, and Tidegate."""
    found = {"the supervisor": pid}
    for name in ("the starter", "Tidegate's process"):
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            pid -= 1
        found[name] = max(pid, 2)
    return found


def processes(parent: int) -> dict[str, Attempt]:
    """On the supervisor, the starter and Tidegate: limits, priorities, memory, signals, files."""
    found: dict[str, Attempt] = {}
    for who, pid in chain(parent).items():
        found |= {f"set {name} of {who}": partial(attempt, pid) for name, attempt in SETTERS.items()}
        found |= {f"read {name} of {who}": partial(read, f"/proc/{pid}/{name}") for name in OF_PROCESS}
        found |= {f"list {name} of {who}": partial(listed, f"/proc/{pid}/{name}") for name in FOLDERS_OF_PROCESS}
        found |= {
            f"signal {who} by tgkill": partial(call, 234 if X86 else 131, pid, pid, 0),
            f"signal {who} by a queue": partial(queued, pid),
            f"signal {who} by a descriptor": partial(signalled, pid),
            f"end the memory of {who}": partial(by_descriptor, 448, pid),
            f"move pages of {who}": partial(call, 279 if X86 else 239, pid, 0, NULL, NULL, NULL, 0),
            f"compare files of {who}": partial(call, 312 if X86 else 272, pid, pid, 0, 0, 0),
            f"look up the locks of {who}": partial(robust, pid),
            f"observe {who}": partial(call, 298 if X86 else 241, ctypes.create_string_buffer(128), pid, -1, -1, 0),
        }
    return found


def same_limit(kind: int, pid: int) -> bool:
    resource.prlimit(pid, kind, resource.prlimit(pid, kind))
    return True


def same_affinity(pid: int) -> bool:
    os.sched_setaffinity(pid, os.sched_getaffinity(pid))
    return True


def same_priority(kind: int, pid: int) -> bool:
    os.setpriority(kind, pid, os.getpriority(kind, pid))
    return True


def same_scheduler(pid: int) -> bool:
    os.sched_setscheduler(pid, os.SCHED_OTHER, os.sched_param(0))
    return True


def same_parameter(pid: int) -> bool:
    os.sched_setparam(pid, os.sched_param(0))
    return True


def same_attributes(pid: int) -> bool:
    return call(
        314 if X86 else 274, pid, ctypes.create_string_buffer(struct.pack("=IIQiIQQQ", 48, 0, 0, 0, 0, 0, 0, 0)), 0
    )


SETTERS: dict[str, Callable[[int], bool]] = {
    **{f"the limit {name}": partial(same_limit, getattr(resource, name)) for name in (
        "RLIMIT_FSIZE", "RLIMIT_NOFILE", "RLIMIT_AS", "RLIMIT_CPU", "RLIMIT_NPROC", "RLIMIT_STACK", "RLIMIT_DATA")},
    "the processors": same_affinity,
    "the scheduler": same_scheduler,
    "the scheduler's parameter": same_parameter,
    "the scheduler's attributes": same_attributes,
    "the priority": partial(same_priority, os.PRIO_PROCESS),
    "the group's priority": partial(same_priority, os.PRIO_PGRP),
    "the priority of the disk": lambda pid: call(251 if X86 else 30, 1, pid, 4 << 13),
}  # fmt: skip


def queued(pid: int) -> bool:
    information = ctypes.create_string_buffer(struct.pack("=iii", 0, 0, -1), 128)
    return call(129 if X86 else 138, pid, 0, information)


def signalled(pid: int) -> bool:
    signal.pidfd_send_signal(os.pidfd_open(pid), 0)
    return True


def by_descriptor(number: int, pid: int) -> bool:
    try:
        return call(number, os.pidfd_open(pid), 0)
    except OSError as error:
        if error.errno == 22:  # it was looked at: the process does not end
            return False
        raise


def robust(pid: int) -> bool:
    place = ctypes.create_string_buffer(16)
    return call(274 if X86 else 100, pid, place, ctypes.byref(place, 8))


def read(path: str) -> bool:
    with Path(path).open("rb") as file:
        return bool(file.read(1)) or path.endswith("mem")


def listed(path: str) -> bool:
    return bool(os.listdir(path))


def kernel() -> dict[str, Attempt]:
    """Devices, settings and secrets of the kernel, and namespaces of each kind."""
    unshare, clone = (272, 56) if X86 else (97, 220)
    found: dict[str, Attempt] = {f"open the device {name}": partial(to_write, f"/dev/{name}") for name in DEVICES}
    found |= {f"change {name}": partial(to_write, f"/proc/sys/{name}") for name in SETTINGS}
    found |= {f"read {path}": partial(listed if path.startswith("/sys") else read, path) for path in OF_KERNEL}
    found |= {f"leave the {name} namespace": partial(call, unshare, flag) for name, flag in NAMESPACES.items()}
    return found | {f"fork into a {name} namespace": partial(forked, clone, flag) for name, flag in NAMESPACES.items()}


def to_write(path: str) -> bool:
    os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY))
    return True


def forked(number: int, flag: int) -> bool:
    child = LIBC.syscall(ctypes.c_long(number), ctypes.c_long(flag | signal.SIGCHLD), *(ctypes.c_long(0),) * 4)
    if child == 0:
        os._exit(0)
    if child < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    os.waitpid(child, 0)
    return True


def left_in_memory(role: str) -> dict[str, Attempt]:
    """Objects that outlive a trial; whether others see them, the test looks itself."""
    key = 1_000_000 + sum(map(ord, role))
    made: dict[str, Callable[[], int]] = {
        "shm": lambda: int(LIBC.shmget(key, 4096, 0o1666)),
        "sem": lambda: int(LIBC.semget(key, 1, 0o1666)),
        "msg": lambda: int(LIBC.msgget(key, 0o1666)),
        "mq": lambda: int(LIBC.mq_open(b"/%d" % key, 0o102, 0o666, None)),
    }

    def leave(kind: str) -> str:
        if made[kind]() < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        return f"={kind} {key}"

    return {f"leave a {kind} object": partial(leave, kind) for kind in made}


def terminals(terminal: str, words: Words) -> dict[str, Attempt]:
    """On the terminal of another session."""

    def opened(flags: int) -> int:
        return os.open(terminal, flags | os.O_NONBLOCK | os.O_NOCTTY)

    def typed(request: int) -> bool:
        fcntl.ioctl(opened(os.O_RDWR), request, b"x")
        return True

    return {
        "read what is typed in a terminal": lambda: b"PLANTED" in os.read(opened(os.O_RDONLY), 100),
        "write to a terminal": lambda: bool(os.write(opened(os.O_WRONLY), words().encode()) < 0),
        "type in a terminal": lambda: typed(0x5412),
        "see the size of a terminal": lambda: typed(0x5413) if opened(os.O_RDONLY) else False,
    }


def private(places: dict[str, str]) -> dict[str, Attempt]:
    """Files that only Tidegate's user can read, in folders of the system."""

    def planted(path: str) -> bool:
        return "PLANTED" in Path(path).read_text()

    return {f"read a private file in {name}": partial(planted, path) for name, path in places.items()}


def hosts(places: dict[str, Any], words: Words) -> dict[str, Attempt]:
    """To a host outside at the port of the proxy, and from one to a port of ours. What arrives, the test knows."""
    proxy = os.environ.get("HTTP_PROXY", "").rpartition(":")[2]
    port = int(proxy) if proxy.isdigit() else places["ports"][0]
    outside = {
        "": (socket.AF_INET, (places["outside"], port)),
        " over IPv6": (socket.AF_INET6, (places["outside6"], port)),
        " by an IPv4 address in IPv6": (socket.AF_INET6, (f"::ffff:{places['outside']}", port)),
    }
    found: dict[str, Attempt] = {}
    for how, (family, address) in outside.items():
        for name, prepare in PREPARED.items():
            found[f"reach a host at the proxy's port {name}{how}"] = partial(tried, family, address, prepare, words)
    found |= {
        f"be reached by a host {name}": partial(reached, *given)
        for name, given in {
            "at any port": (socket.AF_INET, True), "without binding": (socket.AF_INET, False),
            "at any port over IPv6": (socket.AF_INET6, True), "without binding over IPv6": (socket.AF_INET6, False),
        }.items()
    }  # fmt: skip
    for name, (kind, protocol) in PROTOCOLS.items():
        found[f"connect by {name}"] = partial(connected, kind, protocol, places["port"])
    found |= {
        f"connect over vsock to {name}": partial(over_vsock, cid)
        for name, cid in {"the hypervisor": 0, "itself": 1, "the host": 2, "any": 0xFFFFFFFF}.items()
    }
    return found


def unbound(one: socket.socket) -> None:
    one.setsockopt(socket.SOL_SOCKET, DEVICE_OF_SOCKET, b"")


PREPARED: dict[str, Callable[[socket.socket], object]] = {
    "directly": lambda _: None,
    "after leaving the device": unbound,
    "after choosing no device": lambda one: one.setsockopt(socket.SOL_SOCKET, INDEX_OF_DEVICE, 0),
    "after choosing another device": lambda one: one.setsockopt(socket.SOL_SOCKET, INDEX_OF_DEVICE, 2),
    "by a route of its own": lambda one: one.setsockopt(socket.SOL_SOCKET, socket.SO_DONTROUTE, 1),
    "with a mark": lambda one: one.setsockopt(socket.SOL_SOCKET, 36, 1),
}


def tried(family: int, address: tuple[str, int], prepare: Callable[[socket.socket], object], words: Words) -> None:
    with socket.socket(family) as one:
        one.settimeout(1)
        try:
            prepare(one)
        except OSError:
            if prepare is not PREPARED["directly"]:
                raise
        one.connect(address)
        one.sendall(words().encode())


def reached(family: int, binds: bool) -> bool:
    """Listen until a host has come, which is told by its address."""
    with socket.socket(family) as one:
        if binds:
            one.bind(("", 0))
        one.listen()
        one.settimeout(1.5)
        _, peer = one.accept()
        return not str(peer[0]).startswith(("127.", "::1"))


def connected(kind: int, protocol: int, port: int) -> bool:
    with socket.socket(socket.AF_INET, kind, protocol) as one:
        one.settimeout(1)
        one.connect(("127.0.0.1", port))
        return kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET, 6) or one.send(b"escaped") > 0


def over_vsock(cid: int) -> bool:
    """True if there is such a socket: no namespace keeps the hosts of vsock apart."""
    with socket.socket(40, socket.SOCK_STREAM) as one:
        one.settimeout(1)
        one.connect_ex((cid, 80))
    return True
