"""Write and read the bundle of a shard: one archive with what it states, its results, and their records.

Its last 64 bytes are the SHA-256 of all bytes before them. They reveal a file that is cut off or was changed; they do
not reveal who wrote it (docs/security.md).
"""

from __future__ import annotations

import hashlib
import os
import stat
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath

from pydantic import ValidationError

from tidegate.model.measurement import TrialResult
from tidegate.model.shard import ShardContents
from tidegate.model.trial_spec import Side
from tidegate.store.run_folder import RunFolder
from tidegate.text.well_known_secrets import masked_secrets, without_secrets

_CONTENTS, _RESULTS = "shard.json", "results.jsonl"
_SEAL = 64  # bytes; they are the archive's comment, so that every program can open it
_FAST = 1  # compression


class BadBundleError(Exception):
    """The file is not a whole bundle. Its text says why."""


def bundle_name(number: int, of: int) -> str:
    """Return the file name of a shard's bundle."""
    return f"shard-{number}-of-{of}.zip"


def write_bundle(
    path: Path, contents: ShardContents, results: Sequence[TrialResult], stores: Mapping[Side, RunFolder]
) -> None:
    """Write the bundle atomically. Of the records it takes plain files only: a trial may have left links in them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, compresslevel=_FAST, strict_timestamps=False) as archive:
        archive.writestr(_CONTENTS, contents.model_dump_json(indent=1))
        archive.writestr(_RESULTS, "".join(f"{without_secrets(result).model_dump_json()}\n" for result in results))
        for result in results:
            for file, name in _plain_files(stores[result.side].record_folder(result.spec)):
                with suppress(OSError):
                    archive.writestr(f"{result.id}/{name}", _masked(file.read_bytes()))
        archive.comment = b"0" * _SEAL
    seal(temporary)
    temporary.replace(path)


def seal(path: Path) -> None:
    """Replace the file's last 64 bytes by the SHA-256 of all before them."""
    digest = _digest(path)
    with path.open("r+b") as whole:
        whole.seek(-_SEAL, os.SEEK_END)
        whole.write(digest)
        whole.flush()
        os.fsync(whole.fileno())


def _plain_files(record: Path) -> Iterator[tuple[Path, str]]:
    for folder, folders, names in os.walk(record):
        folders.sort()
        for name in sorted(names):
            file = Path(folder) / name
            if stat.S_ISREG(file.lstat().st_mode):
                yield file, file.relative_to(record).as_posix()


def _masked(data: bytes) -> bytes:
    """Return the data without well-known secrets. Each byte is read as one character, so that any file can be."""
    return masked_secrets(data.decode("latin-1")).encode("latin-1")


def _digest(path: Path) -> bytes:
    """Return the SHA-256 of all but the last 64 bytes, in hexadecimal."""
    left = path.stat().st_size - _SEAL
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while left > 0 and (piece := file.read(min(left, 1 << 20))):
            digest.update(piece)
            left -= len(piece)
    return digest.hexdigest().encode()


class Bundle:
    """A whole bundle of a shard. Raises BadBundleError if it is cut off, changed, or of another version."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.seal = sealed(path)
        try:
            self._archive = zipfile.ZipFile(path)
            self.contents = ShardContents.model_validate_json(self._archive.read(_CONTENTS))
        except (OSError, KeyError, ValueError, zipfile.BadZipFile):
            raise BadBundleError("is not a bundle of this version") from None
        self._files: dict[str, list[str]] = defaultdict(list)
        for name in self._archive.namelist():
            self._files["/".join(name.split("/")[:4])].append(name)

    def results(self) -> list[TrialResult]:
        """Return its results. Raises BadBundleError if they are not those that its contents state."""
        try:
            with self._archive.open(_RESULTS) as lines:
                results = [TrialResult.model_validate_json(line) for line in lines]
        except (OSError, KeyError, ValidationError, zipfile.BadZipFile):
            raise BadBundleError("has results that cannot be read") from None
        rows = set(self.contents.rows)
        if len(results) != self.contents.trials or len({result.id for result in results}) != len(results):
            raise BadBundleError("has another number of results than it states")
        if any(result.key not in rows or result.id != result.spec.id for result in results):
            raise BadBundleError("has results of rows that are not its own")
        return results

    def extract(self, result: TrialResult, into: RunFolder) -> None:
        """Write a trial into the run's folder, with what reports read of its record, without commands' outputs."""
        record = into.record_folder(result.spec)
        record.mkdir(parents=True, exist_ok=True)
        for name in self._files[result.id]:
            path = PurePosixPath(name)
            if len(path.parts) == 5 and path.name not in ("", ".", ".."):
                (record / path.name).write_bytes(self._archive.read(name))
        into.finish_trial(result)

    def close(self) -> None:
        """Close the file."""
        self._archive.close()


def sealed(path: Path) -> str:
    """Return the file's seal. Raises BadBundleError if it is not that of the file."""
    try:
        with path.open("rb") as file:
            file.seek(-_SEAL, os.SEEK_END)
            found = file.read()
        if found != _digest(path):
            raise BadBundleError("was cut off or changed: its seal does not match")
    except OSError as error:
        raise BadBundleError(f"cannot be read: {error.strerror}") from None
    return found.decode()
