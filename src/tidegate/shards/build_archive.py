"""Write and read the build of one side, which a job of its own makes once for all shards.

An archive is sealed as bundles are. Tidegate itself writes and extracts it: plain files and folders first, and links
last, so that nothing is written through a link that a build has left.
"""

from __future__ import annotations

import io
import os
import shutil
import stat
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from tidegate.model.shard import BuildContents
from tidegate.shards.bundle import BadBundleError, seal, sealed
from tidegate.text.redaction import Redaction
from tidegate.trial.safe_files import remove_tree

BUILD_FILE = "build.tar"
_CONTENTS, _FILES = "build.json", "files/"
_LEFT_OUT = (".git", ".tidegate/build-home/tmp", ".tidegate/build-home/.cache")  # each checkout has its own
_PIECE, _OVERLAP = 1 << 20, 1 << 13  # bytes


def write_build(path: Path, contents: BuildContents, folder: Path, redaction: Redaction) -> BuildContents:
    """Write the files of a built checkout, unless they cannot be moved; return what the archive states."""
    stays = "" if contents.error else why_it_stays(folder, redaction)
    contents = contents.model_copy(update={"stays": stays})
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with tarfile.open(temporary, "w") as archive:
        text = contents.model_dump_json().encode()
        archive.addfile(_entry(_CONTENTS, len(text), 0o644), io.BytesIO(text))
        for file in () if stays or contents.error else _below(folder):
            _add(archive, file, file.relative_to(folder).as_posix())
    with temporary.open("ab") as whole:
        whole.write(b"0" * 64)
    seal(temporary)
    temporary.replace(path)
    return contents


def why_it_stays(folder: Path, redaction: Redaction) -> str:
    """Return why a build cannot be passed to other jobs: its files have its path, or a secret; '' if it can be.

    Virtual environments contain their path. An artifact can be read by everybody who can read the repository.
    """
    own = os.fsencode(folder)
    for path in _below(folder):
        for text in _windows(path):
            if own in text:
                return f"{path.relative_to(folder).as_posix()} contains the path of the folder that it was built in"
            if redaction.data(text) != text:
                return f"{path.relative_to(folder).as_posix()} contains a secret"
    return ""


def _windows(path: Path) -> Iterator[bytes]:
    """Yield the file's bytes or the link's target, in pieces that overlap by more than a path or a secret is long."""
    if path.is_symlink():
        yield os.fsencode(path.readlink())
    elif path.is_file():
        before = b""
        with path.open("rb") as file:
            while piece := file.read(_PIECE):
                yield before + piece
                before = piece[-_OVERLAP:]


def _below(folder: Path) -> Iterator[Path]:
    """Yield the folders, plain files and links of a checkout; what Python compiled is made again."""
    for place, folders, names in os.walk(folder):
        below = [Path(place, name) for name in sorted((*folders, *names))]
        kept = [path for path in below if path.name != "__pycache__" and not _is_left_out(path, folder)]
        folders[:] = [path.name for path in kept if path.is_dir() and not path.is_symlink()]
        yield from (path for path in kept if _kind(path) is not None)


def _is_left_out(path: Path, folder: Path) -> bool:
    return path.relative_to(folder).as_posix() in _LEFT_OUT


def _kind(path: Path) -> bytes | None:
    """Return the type that the path has in an archive; None if it is neither a folder, nor a plain file, nor a link."""
    kinds = {stat.S_IFDIR: tarfile.DIRTYPE, stat.S_IFREG: tarfile.REGTYPE, stat.S_IFLNK: tarfile.SYMTYPE}
    return kinds.get(stat.S_IFMT(path.lstat().st_mode))


def _add(archive: tarfile.TarFile, path: Path, name: str) -> None:
    known, kind = path.lstat(), _kind(path)
    entry = _entry(_FILES + name, known.st_size if kind == tarfile.REGTYPE else 0, known.st_mode & 0o777)
    entry.type, entry.mtime = kind or tarfile.REGTYPE, known.st_mtime
    if kind == tarfile.SYMTYPE:
        entry.linkname = str(path.readlink())
    if kind == tarfile.REGTYPE:
        with path.open("rb") as file:
            archive.addfile(entry, file)
    else:
        archive.addfile(entry)


def _entry(name: str, size: int, mode: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = size, mode
    return entry


@dataclass(frozen=True)
class Built:
    """A whole archive of a side's build, with its seal."""

    path: Path
    contents: BuildContents
    seal: str

    @classmethod
    def read(cls, path: Path) -> Built:
        """Return the archive. Raises BadBundleError if it is cut off, changed, or of another version."""
        digest = sealed(path)
        try:
            with tarfile.open(path) as archive:
                text = archive.extractfile(_CONTENTS)
                contents = BuildContents.model_validate_json(text.read() if text else b"")
        except (OSError, KeyError, ValueError, tarfile.TarError):
            raise BadBundleError("is not a build of this version") from None
        return cls(path, contents, digest)

    def put(self, folder: Path) -> None:
        """Replace the files of a checkout by those of the build. Raises BadBundleError for a name that leaves it."""
        for path in folder.iterdir():
            if path.name != ".git":
                remove_tree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        with tarfile.open(self.path) as archive:
            entries = [entry for entry in archive if entry.name.startswith(_FILES)]
            for entry in sorted(entries, key=lambda one: one.issym()):
                _extract(archive, entry, folder / _inside(entry.name.removeprefix(_FILES)))


def _inside(name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    if path.is_absolute() or not path.parts or ".." in path.parts or path.parts[0] == ".git":
        raise BadBundleError(f"has a file outside of the checkout: {name}")
    return path


def _extract(archive: tarfile.TarFile, entry: tarfile.TarInfo, path: Path) -> None:
    if entry.isdir():
        path.mkdir(mode=0o755, exist_ok=True)
    elif entry.issym():
        path.symlink_to(entry.linkname)
    elif (source := archive.extractfile(entry)) is not None and entry.isreg():
        with source, path.open("xb") as file:
            shutil.copyfileobj(source, file)
        path.chmod(entry.mode & 0o777)
        os.utime(path, (entry.mtime, entry.mtime))
