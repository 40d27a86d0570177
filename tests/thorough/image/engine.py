"""Builds the image from the unchanged Dockerfile and runs it as GitHub's runner does, with programs of Debian alone.

podman, runc and mmdebstrap; no registry: the base image is a stand-in under the real one's name, made of Debian's
packages and a Python of this machine. It is kept between calls, in the folder that IMAGE_CACHE names.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
BASE = "localhost/python:3.12-slim-bookworm"
SUBSTITUTES = {"BASE": BASE, "SNAPSHOT": ""}  # what cannot be had without a registry and Debian's archive of old days
IMAGE = "localhost/tidegate:test"
AGENTS_IMAGE = "localhost/tidegate-agents:test"
PROGRAMS = ("podman", "runc", "mmdebstrap")
TRUST = ("/etc/pip.conf", "/etc/ssl/certs/ca-certificates.crt")  # of machines behind a certificate authority of theirs
SOURCES = Path("/etc/apt/sources.list.d/debian.sources")
LIBRARIES = "ca-certificates,libssl3,libffi8,libsqlite3-0,libreadline8,libbz2-1.0,liblzma5,libncursesw6,zlib1g,libuuid1"
# As the official image does: links for /bin and the like from the beginning, instead of a package that needs Perl.
MERGED = ("--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr", "--include=usr-is-merged")
# What a Python does not need to run, and the official image does not have.
LEFT_OUT = ("test", "tests", "__pycache__", "idlelib", "tkinter", "config-*", "*.a", "site-packages")
CONTAINERS = """\
[containers]
netns = "host"
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
log_driver = "k8s-file"
volumes = [{volumes}]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
"""
SECCOMP = Path("/usr/share/containers/seccomp.json")  # podman's own
REFUSED_BY_DOCKER = frozenset(
    [
        "unshare",
        "mount",
        "umount",
        "umount2",
        "setns",
        "pivot_root",
        "fsopen",
        "fsconfig",
        "fsmount",
        "fspick",
        "move_mount",
        "open_tree",
        "mount_setattr",
        "clone",
        "clone3",
        "keyctl",
        "add_key",
        "request_key",
        "bpf",
    ]
)
CLONE_NAMESPACES = 0x7E020000  # the flags of clone(2) that make namespaces
MOUNTS = ("home", "workflow", "file_commands", "runner_temp")  # below /github, besides the workspace
STORAGE = '[storage]\ndriver = "overlay"\ngraphroot = "{0}/root"\nrunroot = "{0}/run"\n'


class EngineMissingError(Exception):
    """The image cannot be built here; the message says why."""


def python_312() -> Path | None:
    """A folder with bin/python3.12 and lib: /usr/local, one of pyenv's, or the runner's tool cache."""
    for pattern in (".pyenv/versions/3.12.*", "hostedtoolcache/Python/3.12.*/x64"):
        for home in (Path.home(), Path("/opt")):
            for folder in sorted(home.glob(pattern)):
                if (folder / "bin/python3.12").is_file():
                    return folder
    return Path("/usr/local") if Path("/usr/local/bin/python3.12").is_file() else None


def require_equipment() -> None:
    """EngineMissingError where something that is needed is not there."""
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing:
        raise EngineMissingError(f"not installed: {', '.join(missing)} (packages of Debian)")
    if not SECCOMP.is_file():
        raise EngineMissingError(f"{SECCOMP} is not there (Debian's golang-github-containers-common)")
    if os.geteuid() != 0:
        raise EngineMissingError("only root can make the base image")
    if not SOURCES.is_file():
        raise EngineMissingError(f"{SOURCES} is not there: this is no Debian 12")


class Engine:
    """podman with a storage of its own; `context` is a copy of the checkout."""

    def __init__(self, folder: Path, context: Path) -> None:
        self.folder, self.context = folder, context
        folder.mkdir(parents=True, exist_ok=True)
        mounts = {path: path for path in TRUST if Path(path).exists()}
        if TRUST[-1] in mounts:
            (folder / "npmrc").write_text(f"cafile = {TRUST[-1]}\n")
            mounts[str(folder / "npmrc")] = "/root/.npmrc"
        volumes = ", ".join(f'"{path}:{place}:ro"' for path, place in mounts.items())
        (folder / "containers.conf").write_text(CONTAINERS.format(volumes=volumes))
        (folder / "seccomp.json").write_text(json.dumps(docker_profile()))
        (folder / "storage.conf").write_text(STORAGE.format(folder))
        self.environment = {
            **os.environ,
            "CONTAINERS_CONF": str(folder / "containers.conf"),
            "CONTAINERS_STORAGE_CONF": str(folder / "storage.conf"),
            "BUILDAH_ISOLATION": "chroot",
        }

    def podman(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """One call."""
        return must(["podman", *arguments], self.environment, self.folder, check=check)

    def has(self, image: str) -> bool:
        """Whether the storage holds it."""
        return self.podman("image", "exists", image, check=False).returncode == 0

    def build(self, context: Path, tag: str, **arguments: str) -> None:
        """As the runner does: the Dockerfile's folder is the context."""
        given = [f"--build-arg={name}={value}" for name, value in {**SUBSTITUTES, **arguments}.items()]
        file = str(context / "Dockerfile")
        self.podman("build", "--pull=never", "--format", "docker", *given, "-t", tag, "-f", file, str(context))

    def start(self, image: str, step: Path, workspace: Path, environ: Mapping[str, str]) -> subprocess.Popen[str]:
        """`docker run` as the runner writes it: names of variables, five mounts, no user, no init."""
        places = {str(step / name): f"/github/{name}" for name in MOUNTS}
        places[str(workspace)] = "/github/workspace"
        inside = {name: _replaced(value, places) for name, value in environ.items() if name not in ("PATH", "LANG")}
        names = [word for name in inside for word in ("-e", name)]
        mounts = [word for path, place in places.items() for word in ("-v", f"{path}:{place}")]
        options = ["--security-opt", f"seccomp={self.folder / 'seccomp.json'}"]
        options += ["--rm", "--pull=never", "--workdir", "/github/workspace", "--name", step.name]
        return subprocess.Popen(
            ["podman", "run", *options, *names, *mounts, image],
            env={**self.environment, **inside},
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def make_base(self) -> None:
        """The stand-in for the base image."""
        python = python_312()
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            rootfs = Path(name) / "rootfs"
            rootfs.mkdir()
            packages = LIBRARIES if python else f"{LIBRARIES},python3,python3-pip"
            must(["tar", "-C", str(rootfs), "-xpf", str(self._debian(packages))])
            if python is None:
                put_debians_python(rootfs)
            else:
                put_python(python, rootfs)
            whole = Path(name) / "base.tar"
            must(["tar", "-C", str(rootfs), "-cf", str(whole), "."])
            path = "/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"
            changes = [f"--change={line}" for line in (f"ENV PATH={path}", "ENV LANG=C.UTF-8", "CMD python3")]
            self.podman("import", "--quiet", *changes, str(whole), BASE)

    def _debian(self, packages: str) -> Path:
        made = self.folder / f"bookworm-{hashlib.sha256(f'{packages} {MERGED}'.encode()).hexdigest()[:12]}.tar"
        if not made.exists():
            partial = made.with_suffix(".partial.tar")
            lighter = ["--dpkgopt=force-unsafe-io"]
            lighter += [f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in ("man", "doc", "locale")]
            options = ["--mode=root", "--variant=minbase", f"--include={packages}", *lighter]
            must(["mmdebstrap", *options, *MERGED, "bookworm", str(partial), str(SOURCES)])
            partial.rename(made)
        return made


def docker_profile() -> dict[str, Any]:
    """Return podman's filter of system calls without what Docker's default one refuses: namespaces, mounts and keys."""
    profile: dict[str, Any] = json.loads(SECCOMP.read_text(encoding="utf-8"))
    kept = []
    for rule in profile["syscalls"]:
        allowed = rule["action"] == "SCMP_ACT_ALLOW" and not rule.get("includes", {}).get("caps")
        names = [name for name in rule["names"] if not (allowed and name in REFUSED_BY_DOCKER)]
        refuses = rule["action"] == "SCMP_ACT_ERRNO" and REFUSED_BY_DOCKER & set(names)
        if names and not refuses:
            kept.append({**rule, "names": names})
    flags = {"index": 0, "value": CLONE_NAMESPACES, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ"}
    kept.append({"names": ["clone"], "action": "SCMP_ACT_ALLOW", "args": [flags]})
    kept.append({"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": 38})
    return {**profile, "syscalls": kept, "defaultErrnoRet": 1, "defaultErrno": "EPERM"}


def put_python(python: Path, rootfs: Path) -> None:
    """A Python of this machine, where the official image has its own."""
    local = rootfs / "usr/local"
    excluded = [f"--exclude={pattern}" for pattern in LEFT_OUT]
    tree = rootfs / "python.tar"
    must(["tar", "-C", str(python), *excluded, "-cf", str(tree), "bin/python3.12", "lib"])
    must(["tar", "-C", str(local), "-xf", str(tree)])
    tree.unlink()
    (local / "lib/python3.12/site-packages").mkdir(exist_ok=True)
    if strip := shutil.which("strip"):  # as the official image is; a Python that was built here has its symbols
        for library in (*local.glob("lib/libpython*.so*"), *local.glob("lib/python3.12/lib-dynload/*.so")):
            must([strip, "--strip-unneeded", str(library)])
    for link, target in (("python3", "python3.12"), ("python", "python3"), ("pip", "pip3")):
        (local / "bin" / link).unlink(missing_ok=True)
        (local / "bin" / link).symlink_to(target)
    must(["chroot", str(rootfs), "ldconfig"])
    must(["chroot", str(rootfs), "/usr/local/bin/python3", "-m", "ensurepip"])


def put_debians_python(rootfs: Path) -> None:
    """Debian's Python 3.11, where this machine has no 3.12: the lock file and all else hold for it as well."""
    (rootfs / "usr/local/bin/python").symlink_to("/usr/bin/python3")
    for mark in rootfs.glob("usr/lib/python3*/EXTERNALLY-MANAGED"):
        mark.unlink()


def must(
    command: Sequence[str], environment: Mapping[str, str] | None = None, cwd: Path | None = None, *, check: bool = True
) -> subprocess.CompletedProcess[str]:
    """Run a program; what it said is in the exception if it fails."""
    done = subprocess.run(command, env=environment, cwd=cwd, capture_output=True, text=True, check=False)
    if check and done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit code {done.returncode}\n{(done.stdout + done.stderr)[-3000:]}")
    return done


def _replaced(text: str, places: Mapping[str, str]) -> str:
    for outside, inside in places.items():
        text = text.replace(outside, inside)
    return text


def copy_of_the_context(folder: Path) -> Path:
    """What git knows of the checkout, so that no build is spoilt by a virtual environment next to it."""
    listed = must(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT).stdout.splitlines()
    for name in listed:
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


def ready(folder: Path, context: Path) -> Engine:
    """An engine with our image in it."""
    engine = Engine(folder, copy_of_the_context(context))
    if not engine.has(BASE):
        engine.make_base()
    engine.build(context, IMAGE)
    return engine


if __name__ == "__main__":
    require_equipment()
    with tempfile.TemporaryDirectory() as context:
        ready(Path(sys.argv[1]), Path(context))
