"""Keeps builds of base on this machine, so that the next run need not build an unchanged commit again.

They are in a folder of Tidegate's user, outside of every checkout, and copied before the first trial starts.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import json
import lzma
import os
import platform
import secrets
import shutil
import subprocess
import time
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from fcntl import LOCK_EX, LOCK_SH
from pathlib import Path
from typing import NamedTuple

from tidegate import __version__
from tidegate.model.suite import Suite
from tidegate.run.build import Checkout, HostEnvironment
from tidegate.run.checkouts import locked, scratch_folder
from tidegate.trial.safe_files import remove_trees

MOST = 3  # builds that are kept
MOST_BYTES = 1 << 30  # of one build
MAX_AGE = 86_400.0  # seconds: what builds download changes, and base's must not be much older than head's


def builds_folder(environ: Mapping[str, str]) -> Path | None:
    """Return where builds are kept; None if no later run would find them, as in GitHub's containers, or if it is in a
    repository, which a pull request could bring with a build of base.
    """
    home = environ.get("HOME", "").removeprefix("/github/home")
    cache = environ.get("XDG_CACHE_HOME") or (home and f"{home}/.cache")
    builds = Path(cache, "tidegate", "builds").resolve()
    in_repository = any((folder / ".git").exists() for folder in builds.parents)
    return builds if cache.startswith("/") and not in_repository else None


def build_key(checkout: Checkout, suite: Suite, around: HostEnvironment) -> str:
    """Return a SHA-256 of all that a build depends on, except what it downloads.

    A package that is installed or upgraded changes a folder of PATH. The path of the checkout, which builds contain,
    can only be replaced by one of the same length.
    """
    folders = [Path(folder) for folder in around.path.split(":") if Path(folder).is_dir()]
    parts = (
        *(__version__, checkout.revision.sha, checkout.build_of(suite), checkout.path_of(suite)),
        *(sorted(around.passed.items()), suite.limits.model_dump(), suite.files.model_dump(), platform.uname()),
        *([(str(folder), folder.stat().st_mtime_ns) for folder in folders], len(str(checkout.folder))),
    )
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


class KeptBuild(NamedTuple):
    """The place of one build in the folder of all. It is there as a whole, or not at all."""

    builds: Path
    key: str

    def take(self, checkout: Path) -> float | None:
        """Replace a checkout's files by the build. Return its age in seconds; None if there is none."""
        copy, old = (checkout.with_name(secrets.token_hex(8)) for _ in range(2))
        place = self.builds / self.key
        with suppress(OSError), locked(place, LOCK_SH) as state:
            around, age = self.builds.lstat(), time.time() - state.st_mtime
            if around.st_uid != os.geteuid() or around.st_mode & 0o022 or not 0 <= age <= MAX_AGE:
                return None
            try:
                _copy(place / "files", copy)
                _move_paths(copy, (place / "path").read_text(encoding="utf-8"), str(checkout))
                (checkout / ".git").rename(copy / ".git")
                checkout.rename(old)
                copy.rename(checkout)
            finally:
                remove_trees(copy, old)
            return age
        return None

    def keep(self, checkout: Path) -> None:
        """Keep what was built in the checkout, if there is room. The oldest builds make room for it."""
        with suppress(OSError):
            self.builds.mkdir(mode=0o700, parents=True, exist_ok=True)
            _remove_old(self.builds)
            du = subprocess.run(["du", "-sB1", "--", checkout], capture_output=True, text=True, check=False)
            fits = int(du.stdout.split()[0]) < MOST_BYTES < shutil.disk_usage(self.builds).free / 2
            if fits and not any(_hides(path, os.fsencode(checkout)) for path in _files(checkout)):
                with scratch_folder(f"{self.builds}/new-") as new:
                    _copy(checkout, new / "build" / "files")
                    remove_trees(new / "build" / "files" / ".git")
                    (new / "build" / "path").write_text(str(checkout), encoding="utf-8")
                    (new / "build").rename(self.builds / self.key)


def _remove_old(builds: Path) -> None:
    """Remove expired builds, and the oldest ones, so that there is room for one more. Those in use are left."""
    kept = {place: place.stat().st_mtime for place in builds.iterdir() if not place.name.startswith("new-")}
    for number, place in enumerate(sorted(kept, key=lambda place: -kept[place])):
        if number >= MOST - 1 or kept[place] < time.time() - MAX_AGE:
            with suppress(OSError), locked(place, LOCK_EX):
                remove_trees(place)


def _copy(source: Path, target: Path) -> None:
    """Copy a folder; the copy is Tidegate's own. Raises OSError if anything is missing."""
    target.parent.mkdir(exist_ok=True)
    options = ("-dRT", "--reflink=auto", "--preserve=mode,timestamps,links")
    if subprocess.run(["cp", *options, "--", source, target], capture_output=True, check=False).returncode:
        raise OSError(f"{source} cannot be copied")


def _files(folder: Path) -> Iterator[Path]:
    for around, _, files in os.walk(folder):
        yield from (path for path in (Path(around, name) for name in files) if path.is_file() and not path.is_symlink())


def _hides(path: Path, words: bytes) -> bool:
    """Return True if the file is compressed, and has these words inside, where they cannot be replaced; or if it cannot
    be read.
    """
    with path.open("rb") as file:
        start = file.read(4)
    try:
        if start.startswith((b"PK", b"#!")) and zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                return any(words in archive.read(name) for name in archive.namelist())
        for mark, opened in ((b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zX", lzma.open)):
            if start.startswith(mark):
                with opened(path) as stream:
                    return words in stream.read()
    except (OSError, EOFError, RuntimeError, ValueError, zlib.error, lzma.LZMAError, zipfile.BadZipFile):
        return True
    return False


def _move_paths(folder: Path, old: str, new: str) -> None:
    """Replace the checkout's old path, in files and links, by the new one of the same length. Times stay."""
    for around, folders, files in os.walk(folder):
        for path in (Path(around, name) for name in (*folders, *files)):
            if path.is_symlink() and old in (target := str(path.readlink())):
                path.unlink()
                path.symlink_to(target.replace(old, new))
    grep = ["grep", "-rlZF", "--binary-files=text", "-e", old, "--", str(folder)]
    for name in subprocess.run(grep, capture_output=True, check=False).stdout.split(b"\0")[:-1]:
        path = Path(os.fsdecode(name))
        data, state = path.read_bytes(), path.stat()
        path.chmod(state.st_mode | 0o200)
        with path.open("r+b") as file:  # of a hard link, all names see it
            file.write(data.replace(old.encode(), new.encode()))
        path.chmod(state.st_mode)
        os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
