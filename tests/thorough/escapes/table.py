"""What comes through of the probe's attempts, where, and why; everything else has to be kept out everywhere."""

from __future__ import annotations

from typing import NamedTuple

# The ways in which the suite is run, and how docs/security.md names them.
WAYS = {
    "container": "root in a container",
    "root": "root on the machine",
    "user": "another user on the machine",
}
ROLES = ("build", "setup", "agent", "target", "server", "gate", "script")
# How many attempts there are, on what, and what stops them in each way.
AREAS = {
    "files": (
        *(54, "Files of the machine, repository, runner, other trials"),
        *("own user, Landlock", "own user, Landlock, mounts", "Landlock, mounts"),
    ),
    "inside": (
        *(8, "The checkout, the recorder and the record"),
        *("own user, Landlock", "own user, Landlock, read-only mounts", "Landlock, read-only mounts"),
    ),
    "sockets": (
        *(5, "Unix sockets, Docker's too"),
        *("own user, Landlock's scopes", "own user, mounts, Landlock's scopes", "mounts, Landlock's scopes"),
    ),
    "network": (
        *(19, "Hosts, services, name servers, metadata"),
        *("Landlock and seccomp", "a network namespace", "a network namespace"),
    ),
    "processes": (
        *(26, "Tidegate, its supervisor, others, limits"),
        "own user, `no_new_privs`, rlimits",
        "own user, hidden `/proc`, `no_new_privs`, rlimits",
        "Landlock's scopes, `no_new_privs`, rlimits",
    ),
    "calls": (
        *(32, "The kernel, its settings and devices"),
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
        ("connect to a socket in /tmp", "connect to a socket in the home", "connect to a socket in /run"),
        "without mounts, Unix sockets are limited by their permissions alone; Docker's is root's",
    ),
    Open(
        ("container",),
        "processes",
        ("attach shared memory of others",),
        "without namespaces, System V's shared memory is limited by its permissions alone",
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
        ("slow down the supervisor", "limit the supervisor", "list the supervisor's files"),
        "a process may do this to others of its user; a supervisor that ends is an inside cause",
    ),
)


def expected(way: str) -> set[tuple[str, str, str]]:
    """Return what comes through: area, name and role."""
    return {
        (one.area, name, role) for one in OPEN if way in one.ways for name in one.names for role in one.roles
    }  # fmt: skip
