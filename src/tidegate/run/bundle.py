"""Bundles: zip archives of trials that go out to a worker, and of results that come back from a worker or a shard."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import tarfile
import zipfile
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from tidegate import __version__
from tidegate.errors import ConfigurationError
from tidegate.history.run_folder import RESULT_FILE, RunFolder
from tidegate.model.bundle import Batch, BundleContents
from tidegate.model.measurement import TrialResult
from tidegate.model.plan import RowKey
from tidegate.model.trial import Trial
from tidegate.model.trial_spec import Side, TrialSpec
from tidegate.model.value import Value
from tidegate.text.redaction import masked_secrets, without_secrets

_CONTENTS, _RESULTS, _TRIAL = "bundle.json", "results.jsonl", "trial.json"
_SEAL = 64  # bytes; they are the archive's comment, so that every program can open it
_FAST = 1  # compression


class BadBundleError(Exception):
    """The file is not a whole bundle. Its text says why."""


def bundle_name(number: int, of: int) -> str:
    """Return the file name of a shard's bundle."""
    return f"shard-{number}-of-{of}.zip"


@contextmanager
def sealed_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """Yield an archive to fill. At the end it appears at the path, whole and sealed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, compresslevel=_FAST, strict_timestamps=False) as archive:
        yield archive
        archive.comment = b"0" * _SEAL
    digest = _digest(temporary)
    with temporary.open("r+b") as whole:
        whole.seek(-_SEAL, os.SEEK_END)
        whole.write(digest)
        whole.flush()
        os.fsync(whole.fileno())
    temporary.replace(path)


def write_results(
    path: Path, contents: BundleContents, results: Sequence[TrialResult], stores: Mapping[Side, RunFolder]
) -> None:
    """Write a shard's bundle: an artifact, which others can read, so that well-known secrets are masked in it."""
    with sealed_archive(path) as archive:
        archive.writestr(_CONTENTS, contents.model_dump_json(indent=1))
        archive.writestr(_RESULTS, "".join(f"{without_secrets(result).model_dump_json()}\n" for result in results))
        _add_records(archive, [result.spec for result in results], stores, _masked)


def write_trials(
    path: Path, contents: BundleContents, specs: Sequence[TrialSpec], stores: Mapping[Side, RunFolder]
) -> None:
    """Write a worker's bundle: raw records, neither judged nor measured."""
    with sealed_archive(path) as archive:
        archive.writestr(_CONTENTS, contents.model_dump_json(indent=1))
        _add_records(archive, specs, stores, bytes)


def _add_records(
    archive: zipfile.ZipFile,
    specs: Sequence[TrialSpec],
    stores: Mapping[Side, RunFolder],
    masked: Callable[[bytes], bytes],
) -> None:
    """Add plain files of the records only: a trial may have left links in them."""
    for spec in specs:
        for file, name in _plain_files(stores[spec.side].trial_folder(spec)):
            with suppress(OSError):
                archive.writestr(f"{spec.id}/{name}", masked(file.read_bytes()))


def _plain_files(record: Path) -> Iterator[tuple[Path, str]]:
    for folder, folders, names in os.walk(record):
        folders.sort()
        for name in sorted(names):
            file = Path(folder) / name
            if file != record / RESULT_FILE and stat.S_ISREG(file.lstat().st_mode):
                yield file, file.relative_to(record).as_posix()


def _masked(data: bytes) -> bytes:
    """Return the data without well-known secrets. Each byte is read as one character, so that any file can be."""
    return masked_secrets(data.decode("latin-1")).encode("latin-1")


class Bundle:
    """A whole bundle of results. Raises BadBundleError if it is cut off, changed, or of another version."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.seal = sealed(path)
        try:
            self._archive = zipfile.ZipFile(path)
            self.contents = BundleContents.model_validate_json(self._archive.read(_CONTENTS))
        except (OSError, KeyError, ValueError, zipfile.BadZipFile):
            raise BadBundleError("is not a bundle of this version") from None
        self._files: dict[str, list[str]] = defaultdict(list)
        for name in self._archive.namelist():
            self._files["/".join(name.split("/")[:4])].append(name)

    def results(self, rows: Collection[RowKey]) -> list[TrialResult]:
        """Return its results. Raises BadBundleError if they are not as many as it states, or not of these rows."""
        try:
            with self._archive.open(_RESULTS) as lines:
                results = [TrialResult.model_validate_json(line) for line in lines]
        except (OSError, KeyError, ValidationError, zipfile.BadZipFile):
            raise BadBundleError("has results that cannot be read") from None
        if len(results) != self.contents.trials or len({result.id for result in results}) != len(results):
            raise BadBundleError("has another number of results than it states")
        if any(result.key not in rows or result.id != result.spec.id for result in results):
            raise BadBundleError("has results of rows that are not its own")
        return results

    def trials(self, specs: Sequence[TrialSpec]) -> list[Trial]:
        """Return the raw records of these trials. Raises BadBundleError if it has others, or lacks one."""
        if self.contents.trials != len(specs):
            raise BadBundleError("has another number of trials than were asked for")
        trials = []
        for spec in specs:
            try:
                trial = Trial.model_validate_json(self._archive.read(f"{spec.id}/{_TRIAL}"))
            except (OSError, KeyError, ValidationError, zipfile.BadZipFile):
                raise BadBundleError(f"lacks the trial {spec.id}") from None
            if trial.spec != spec:
                raise BadBundleError(f"has another trial instead of {spec.id}")
            trials.append(trial)
        return trials

    def extract(self, spec: TrialSpec, into: RunFolder) -> None:
        """Write a trial's record into the run's folder; names that would leave it are skipped."""
        record = into.trial_folder(spec)
        record.mkdir(parents=True, exist_ok=True)
        for name in self._files[spec.id]:
            parts = name.split("/")[4:]
            if parts and parts != [RESULT_FILE] and not {"", ".", ".."} & set(parts):
                path = record.joinpath(*parts)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(self._archive.read(name))

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


def _digest(path: Path) -> bytes:
    """Return the SHA-256 of all but the last 64 bytes, in hexadecimal."""
    left = path.stat().st_size - _SEAL
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while left > 0 and (piece := file.read(min(left, 1 << 20))):
            digest.update(piece)
            left -= len(piece)
    return digest.hexdigest().encode()


BATCH_FILE = "batch.json"
JUDGE = "judge"  # the archive with base's definitions
CLASS = "tidegate:class"
V = TypeVar("V", bound=Value)


def pack(folder: Path, names: Sequence[str], archive: Path) -> None:
    """Write the files of a checkout to a tar archive, links as links."""
    with tarfile.open(archive, "w") as tar:
        for name in names:
            with suppress(FileNotFoundError):  # deleted in the working tree
                tar.add(folder / name, arcname=name, recursive=False, filter=_of_nobody)


def write_batch(bundle: Path, batch: Batch, archives: Mapping[str, Path]) -> str:
    """Write the bundle, and return its seal."""
    with sealed_archive(bundle) as archive:
        archive.writestr(BATCH_FILE, dump(batch))
        for name in (*(side.side for side in batch.sides), *([JUDGE] if batch.has_judge else [])):
            archive.write(archives[name], f"{name}.tar")
    return sealed(bundle)


def read_batch(bundle: Path) -> tuple[Batch, str]:
    """Return a bundle's batch and its seal. Raises ConfigurationError if it is damaged, or of another version."""
    try:
        seal = sealed(bundle)
        with zipfile.ZipFile(bundle) as archive:
            batch = load(archive.read(BATCH_FILE), Batch)
    except BadBundleError as error:
        raise _unusable(bundle, f"it {error}") from None
    except (OSError, KeyError, ValueError, zipfile.BadZipFile):
        raise _unusable(bundle, f"it is not a bundle of Tidegate {__version__}") from None
    if batch.tidegate_version != __version__:
        raise _unusable(bundle, f"it is of Tidegate {batch.tidegate_version}, and this is {__version__}")
    return batch, seal


def unpack(bundle: Path, name: str, folder: Path) -> None:
    """Extract a side's files, or JUDGE; no file is written outside of `folder`."""
    folder.mkdir()
    with (
        zipfile.ZipFile(bundle) as archive,
        archive.open(f"{name}.tar") as files,
        tarfile.open(fileobj=files, mode="r|") as tar,
    ):
        tar.extraction_filter = getattr(tarfile, "tar_filter", None)  # Python has it since 3.11.4
        for entry in tar:
            if (folder / entry.name).resolve().is_relative_to(folder.resolve()):
                tar.extract(entry, folder)


def _of_nobody(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


def _unusable(bundle: Path, why: str) -> ConfigurationError:
    return ConfigurationError(f"{bundle}: {why}.", "Make the bundle again, with the Tidegate that is to run it.")


def dump(value: Value) -> str:
    """Return the value as JSON."""
    return json.dumps(_plain(value), indent=1)


def load(text: str | bytes, kind: type[V]) -> V:
    """Return the value of that class. Raises ValueError if the text is damaged, or is something else."""
    found = json.loads(text, object_hook=_typed)
    if type(found) is not kind:
        raise ValueError(f"it is no {kind.__name__}")
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, Value):
        fields = {name: _plain(getattr(value, name)) for name in type(value).model_fields}
        return {CLASS: _name(type(value)), **fields}
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list | set | frozenset):
        return [_plain(item) for item in value]
    return value


def _typed(found: dict[str, Any]) -> Any:
    name = found.pop(CLASS, None)
    return found if name is None else _class(name).model_validate(found)


def _name(kind: type[Value]) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


@cache
def _class(name: str) -> type[Value]:
    """Return the class of Tidegate's with that name, from its module. Raises ValueError if there is none."""
    module, _, own = name.rpartition(".")
    if module.startswith("tidegate."):
        try:
            found = getattr(import_module(module), own, None)
        except ImportError:
            found = None
        if isinstance(found, type) and issubclass(found, Value):
            return found
    raise ValueError(f"there is no class {name}")
