"""The settings in which the probes run: what a process loses before it becomes Tidegate."""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.docker_filter import refuse_as_docker
from tests.thorough.image.engine import docker_profile

USER = 64_321
OF_SOCKETS = ("/opt", "/srv", "/usr/local", "/var/lib", "/var/cache", "/var/spool", "/mnt")  # folders with a socket
DOCKERS = {0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31}  # the capabilities that Docker leaves root in a container
PODMANS = DOCKERS - {13, 27, 29}
PR_CAPBSET_DROP = 24


def become(setting: str) -> None:
    """Lose what Tidegate does not have there: `root`, `user`, `container` (Docker's) or `podman` (its own default)."""
    if setting == "user":
        os.setgroups([])
        os.setresgid(USER, USER, USER)
        os.setresuid(USER, USER, USER)
    if setting in ("container", "podman"):
        libc = ctypes.CDLL(None)
        for number in set(range(41)) - (DOCKERS if setting == "container" else PODMANS):
            libc.prctl(PR_CAPBSET_DROP, number, 0, 0, 0)
        if setting == "container":
            refuse_as_docker()


class Run(NamedTuple):
    """A command line and its environment."""

    argv: list[str]
    environ: dict[str, str]


CONTAINERS = """\
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
log_driver = "k8s-file"
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
"""
STORAGE = '[storage]\ndriver = "overlay"\ngraphroot = "{0}/root"\nrunroot = "{0}/run"\n'


def by_runc(folder: Path, cwd: Path, command: Sequence[str], environ: Mapping[str, str], shared: Sequence[Path]) -> Run:
    """How podman and runc run the command: with this machine's files, Docker's capabilities and system calls.

    Network, shared memory and processes are ours: there are the things that the probes try to reach.
    """
    folder.mkdir()
    (folder / "containers.conf").write_text(CONTAINERS)
    (folder / "storage.conf").write_text(STORAGE.format(folder))
    (folder / "seccomp.json").write_text(json.dumps(docker_profile()))
    options = ["--rm", "--network=host", "--ipc=host", "--pid=host", f"--workdir={cwd}"]
    options += [f"--security-opt=seccomp={folder}/seccomp.json", *(f"--volume={path}:{path}" for path in shared)]
    options += [f"--env={name}={value}" for name, value in environ.items()]
    ours = {"CONTAINERS_CONF": f"{folder}/containers.conf", "CONTAINERS_STORAGE_CONF": f"{folder}/storage.conf"}
    return Run(["podman", "run", *options, "--rootfs", "/:O", *command], {**os.environ, **ours})
