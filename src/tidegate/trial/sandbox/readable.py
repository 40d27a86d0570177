"""Which files of the machine every command may read: system folders, and what the programs on PATH consist of."""

from __future__ import annotations

import os
import pwd
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from tidegate.trial.recorder import PROGRAM

SYSTEM = (
    *("/bin", "/sbin", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/usr", "/opt", "/nix", "/snap", "/gnu", "/sys"),
    *("/proc", "/var/lib", "/var/cache", "/home/linuxbrew"),
    # Where /etc/resolv.conf leads to; the sockets beside it answer questions.
    *("/run/systemd/resolve/stub-resolv.conf", "/run/systemd/resolve/resolv.conf"),
    *("/run/resolvconf/resolv.conf", "/run/NetworkManager/resolv.conf"),
)
PRIVATE = ("/etc", "/opt", "/usr/local", "/var/lib", "/var/cache")
DOWNLOADS = "/var/cache/apt/archives"  # beside a private folder: each of its thousand files would be a rule
_DEPTH = 3  # of the folders in which private files are looked for
_PROGRAMS = {"bin", "sbin", "shims", "Scripts", ".bin"}  # folders whose parent has what their programs need
# Of a folder that has keys as well, what programs need.
_PARTS = {
    ".local": ("bin", "lib", "share/uv", "share/pipx", "share/mise", "share/claude"),
    ".cargo": ("bin",),
}


def readable_folders(
    path: str, passed: Iterable[str], homes: Iterable[str], protected: Iterable[str], *, own_users: bool = False
) -> list[str]:
    """Return the folders and files that every command may read.

    `passed` are the values of the variables that `pass_env` names: RUSTUP_HOME, say. `homes` are never readable as a
    whole, and nothing below `protected` is, except what PATH or a variable leads to. Unless commands have `own_users`,
    neither is what Tidegate's user can read and others cannot, such as a runner's credentials.
    """
    kept, homes = list(protected), [os.path.realpath(home) for home in homes]
    kept += [] if own_users else [DOWNLOADS, *(path for folder in PRIVATE for path in private_in(folder))]
    found = [part for folder in SYSTEM for part in without(folder, kept)]
    for folder in dict.fromkeys(path.split(":")):
        if folder.startswith("/") and os.path.isdir(folder):  # noqa: PTH112
            found += _of_programs(folder, homes, found)
    found += [part for value in passed for part in value.split(":") if _is_folder(part) and part not in (*homes, "/")]
    found += [*without(sys.prefix, kept), *without(sys.base_prefix, kept), str(PROGRAM)]
    return _outermost(found)


def private_in(folder: str, depth: int = _DEPTH) -> Iterator[str]:
    """Yield what this user can read in the folder, and others cannot."""
    for entry in _entries(folder):
        with suppress(OSError):
            mode = entry.stat(follow_symlinks=False).st_mode
            if not mode & stat.S_IROTH:  # a link has all rights
                if os.access(entry.path, os.R_OK):
                    yield entry.path
            elif depth and stat.S_ISDIR(mode):
                yield from private_in(entry.path, depth - 1)


def listening_sockets() -> list[str]:
    """Return the paths of the machine's Unix sockets, as far as the system lists them."""
    try:
        lines = Path("/proc/net/unix").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return []
    paths = [path for line in lines for path in line.split(None, 7)[7:]]
    return sorted({path for path in paths if path.startswith("/")})


def home_folders(environ: Mapping[str, str]) -> list[str]:
    """Return the home folders of the user that Tidegate runs as, those of root, and the runner's temporary folder."""
    names = [environ.get("HOME", ""), environ.get("RUNNER_TEMP", ""), "/root", "/github"]
    with suppress(KeyError):
        names.append(pwd.getpwuid(os.geteuid()).pw_dir)
    found = dict.fromkeys(os.path.realpath(name) for name in names if name.startswith("/"))
    return [name for name in found if name != "/" and _is_folder(name)]


def without(folder: str, protected: Iterable[str]) -> list[str]:
    """Return the folder, or if it has protected folders the entries that have none."""
    inside = [path for path in protected if is_within(path, [folder])]
    if not inside:
        return [folder]
    if folder in inside:
        return []
    return [part for entry in _entries(folder) for part in without(entry.path, inside)]


def parts_of_checkout(folder: Path) -> tuple[Path, ...]:
    """Return what trials may read of a side's checkout: without the repository and Tidegate's runs in it."""
    return tuple(map(Path, without(str(folder), protected_in(folder))))


def protected_in(folder: Path) -> tuple[str, ...]:
    """Return what trials may not read of a side's checkout: the repository and Tidegate's runs, if they are there."""
    ours = [f"{folder}/{name}" for name in (".git", ".tidegate/runs", ".tidegate/store")]
    return tuple([path for path in ours if os.path.isdir(path)])  # noqa: PTH112


def is_within(path: str, folders: Iterable[str]) -> bool:
    """Return True if the path is one of the folders, or below one."""
    return f"{path}/".startswith(prefixes(folders))


def prefixes(folders: Iterable[str]) -> tuple[str, ...]:
    """Return what a path with a slash at its end starts with if it is one of the folders, or below one."""
    return tuple([folder.rstrip("/") + "/" for folder in folders])


def _of_programs(folder: str, homes: list[str], known: Iterable[str]) -> Iterator[str]:
    """Yield what the programs of a folder of PATH need: the folders that they are installed in."""
    known = list(known)
    for place in dict.fromkeys((folder, os.path.realpath(folder))):
        if is_within(place, known):
            continue
        for part in _installation(place, homes):
            known.append(part)
            yield part
    inside = prefixes(known)  # once for the thousands of links in a folder
    for entry in _entries(folder):
        if not entry.is_symlink() or "/" not in os.readlink(entry.path):  # noqa: PTH115  (another entry is its end)
            continue
        if not f"{(target := os.path.realpath(entry.path))}/".startswith(inside):
            for part in (target, *_installation(str(Path(target).parent), homes)):
                known.append(part)
                yield part
            inside = prefixes(known)


def _installation(folder: str, homes: list[str]) -> Iterator[str]:
    """Yield the folder, and the one around it if it is the `bin` of an installation."""
    if not _holds_a_home(folder, homes):
        yield folder
    name, around = Path(folder).name, str(Path(folder).parent)
    if name == ".bin" and Path(around).name == "node_modules":
        yield around
    elif name in _PROGRAMS and not _holds_a_home(around, homes):
        parts = _PARTS.get(Path(around).name)
        yield from [around] if parts is None else [os.path.join(around, part) for part in parts]  # noqa: PTH118
        with suppress(OSError):  # a virtual environment uses another Python
            lines = Path(around, "pyvenv.cfg").read_text(encoding="utf-8").splitlines()
            for name, _, value in (line.partition("=") for line in lines):
                if name.strip() == "home" and value.strip() != folder:
                    yield from _installation(os.path.realpath(value.strip()), homes)


def _holds_a_home(folder: str, homes: Iterable[str]) -> bool:
    return any(is_within(home, [folder]) for home in homes)


def _outermost(paths: Iterable[str]) -> list[str]:
    found: list[str] = []
    for path in sorted(dict.fromkeys(paths), key=lambda path: f"{path}/"):  # what is below a folder follows it
        if not is_within(path, found[-1:]) and os.path.exists(path):  # noqa: PTH110
            found.append(path)
    return found


def _entries(folder: str) -> list[os.DirEntry[str]]:
    with suppress(OSError), os.scandir(folder) as entries:
        return list(entries)
    return []


def _is_folder(path: str) -> bool:
    return path.startswith("/") and os.path.isdir(path)  # noqa: PTH112
