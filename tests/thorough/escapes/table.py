"""What comes through of the probe's attempts, where, and why; everything else has to be kept out everywhere."""

from __future__ import annotations

from typing import NamedTuple

from tests.thorough.escapes.settings import OF_SOCKETS

# The ways in which the suite is run, and how docs/security.md names them.
WAYS = {
    "container": "root in a container",
    "root": "root on the machine",
    "user": "another user on the machine",
}
ABOVE = ("the supervisor", "the starter", "Tidegate's process")
ROLES = ("build", "setup", "agent", "target", "server", "gate", "script")
# How many attempts there are, on what, and what stops them in each way.
AREAS = {
    "files": (
        *(65, "Files of the machine, repository, runner, other trials, terminals"),
        *("own user, Landlock", "own user, Landlock, mounts", "Landlock, mounts"),
    ),
    "inside": (
        *(8, "The checkout, the recorder and the record"),
        *("own user, Landlock", "own user, Landlock, read-only mounts", "Landlock, read-only mounts"),
    ),
    "sockets": (
        *(12, "Unix sockets, Docker's too"),
        *("own user, Landlock's scopes", "own user, mounts, Landlock's scopes", "mounts, Landlock's scopes"),
    ),
    "network": (
        *(50, "Hosts, services, name servers, metadata"),
        *("Landlock, seccomp, sockets of the loopback device", "a network namespace", "a network namespace"),
    ),
    "processes": (
        *(144, "Tidegate, its supervisor, others, limits, shared memory"),
        "own user, `no_new_privs`, rlimits, seccomp",
        "own user, hidden `/proc`, `no_new_privs`, rlimits",
        "Landlock's scopes, `no_new_privs`, rlimits, seccomp",
    ),
    "calls": (
        *(107, "The kernel, its settings and devices, namespaces"),
        *("seccomp, Landlock, own user", "seccomp, Landlock, own user", "seccomp, Landlock, its user's rights"),
    ),
    "environment": (9, "Secrets in variables", *("a list of what is passed on",) * 3),
}


class Open(NamedTuple):
    """Attempts of an area that come through."""

    ways: tuple[str, ...]
    area: str
    names: tuple[str, ...]
    why: str
    roles: tuple[str, ...] = ROLES


OPEN = (
    Open(
        ("container", "root", "user"),
        "files",
        ("read .git/config", "ask git about the repository"),
        "builds read the repository, for `git describe`: check out with `persist-credentials: false`",
        ("build",),
    ),
    Open(
        ("container",),
        "files",
        ("read a file of /dev/shm", "create a file in /dev/shm"),
        "without mounts, /dev/shm is shared: many programs do not run without it",
    ),
    Open(
        ("container",),
        "sockets",
        tuple(f"connect to a socket in {place}" for place in ("/tmp", "the home", "/run", *OF_SOCKETS)),
        "without mounts, Unix sockets are limited by their permissions alone; Docker's is root's",
    ),
    Open(
        ("container", "user"),
        "processes",
        ("see Tidegate's process",),
        "the list of processes is visible, and their arguments; not their environment, memory or files",
    ),
    Open(
        ("user",),
        "processes",
        (
            "list the supervisor's files",
            *(f"list {what} of {who}" for what in ("fd", "ns") for who in ABOVE),
        ),
        "a process sees how many files others of its user have open, and not which",
    ),
)


def expected(way: str) -> set[tuple[str, str, str]]:
    """Return what comes through: area, name and role. A container by runc is one as well."""
    way = "container" if way == "runc" else way
    return {
        (one.area, name, role) for one in OPEN if way in one.ways for name in one.names for role in one.roles
    }  # fmt: skip
