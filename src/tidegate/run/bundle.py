"""The folders that go to a worker and come back: a batch with both sides' files, and the records of its trials."""

from __future__ import annotations

import hashlib
import json
import os
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from tidegate import __version__
from tidegate.errors import ConfigurationError
from tidegate.model.batch import Batch, BatchReport
from tidegate.model.executor import BatchLostError
from tidegate.model.trial import Trial
from tidegate.model.trial_spec import TrialSpec
from tidegate.model.value import Value
from tidegate.store.run_folder import RunFolder, write_text, write_value
from tidegate.trial.safe_files import open_regular

CLASS = "tidegate:class"
V = TypeVar("V", bound=Value)

BATCH_FILE, REPORT_FILE = "batch.json", "report.json"
JUDGE = "judge"  # the archive with base's definitions


def pack(folder: Path, names: Sequence[str], archive: Path) -> str:
    """Write the files of a checkout to a tar archive, links as links; return its SHA-256."""
    with tarfile.open(archive, "w") as tar:
        for name in names:
            with suppress(FileNotFoundError):  # deleted in the working tree
                tar.add(folder / name, arcname=name, recursive=False, filter=_of_nobody)
    return digest_of(archive)


def write_batch(bundle: Path, batch: Batch, archives: Mapping[str, Path]) -> str:
    """Write the bundle, and return the batch's SHA-256. The archives are linked, so that a batch takes little room."""
    bundle.mkdir()
    for name in digests(batch):
        os.link(archives[name], bundle / f"{name}.tar")
    text = dump(batch)
    write_text(bundle / BATCH_FILE, text)
    return hashlib.sha256(text.encode()).hexdigest()


def read_batch(bundle: Path) -> tuple[Batch, str]:
    """Return a bundle's batch and its SHA-256. Raises ConfigurationError if it is damaged, or of another version."""
    try:
        data = (bundle / BATCH_FILE).read_bytes()
        batch = load(data, Batch)
    except OSError as error:
        raise ConfigurationError(
            f"{bundle / BATCH_FILE} cannot be read: {error.strerror}.", "Name the folder of a bundle."
        ) from None
    except ValueError:
        why = f"{BATCH_FILE} is damaged, or of another version of Tidegate than {__version__}"
        raise _unusable(bundle, why) from None
    if batch.tidegate_version != __version__:
        raise _unusable(bundle, f"it is of Tidegate {batch.tidegate_version}, and this is {__version__}")
    for name, digest in digests(batch).items():
        if not (archive := bundle / f"{name}.tar").is_file() or digest_of(archive) != digest:
            raise _unusable(bundle, f"{archive.name} is missing or damaged")
    return batch, hashlib.sha256(data).hexdigest()


def digests(batch: Batch) -> dict[str, str]:
    """Return the SHA-256 of each archive of the batch, by its name."""
    found: dict[str, str] = {side.side: side.digest for side in batch.sides}
    return {**found, JUDGE: batch.judge} if batch.judge else found


def unpack(archive: Path, folder: Path) -> None:
    """Extract a side's files; no file is written outside of `folder`."""
    folder.mkdir()
    with tarfile.open(archive) as tar:
        extract(tar, folder, "tar")


def extract(tar: tarfile.TarFile, folder: Path, kind: str) -> None:
    """Extract all entries whose place is in the folder. `kind`: of Python's filter, which came with 3.11.4."""
    tar.extraction_filter = getattr(tarfile, f"{kind}_filter", None)
    for entry in tar:
        if Path(folder, entry.name).resolve().is_relative_to(folder.resolve()):
            tar.extract(entry, folder)


def write_report(out: Path, report: BatchReport) -> None:
    """Write the report, with the digests of all files of the results. It is written last and atomically."""
    files = {name: digest_of(out / name) for name in _files(out)}
    write_value(out / REPORT_FILE, report.model_copy(update={"files": files}))


def read_report(out: Path, batch: str) -> BatchReport:
    """Return the report on the batch with that SHA-256, if all of its files are complete; else BatchLostError."""
    try:
        report = BatchReport.model_validate_json((out / REPORT_FILE).read_bytes())
    except FileNotFoundError:
        raise BatchLostError(f"the worker wrote no {REPORT_FILE}, so its results are incomplete") from None
    except (OSError, ValidationError):
        raise BatchLostError(f"the worker's {REPORT_FILE} is damaged, or of another version of Tidegate") from None
    if report.batch != batch:
        raise BatchLostError("the worker's results belong to another batch")
    if set(_files(out)) - {REPORT_FILE} != set(report.files):
        raise BatchLostError("the worker's results lack files, or have more than it wrote")
    for name, digest in report.files.items():
        if digest_of(out / name) != digest:
            raise BatchLostError(f"the worker's results are damaged: {name}")
    return report


def read_trial(out: Path, spec: TrialSpec) -> Trial:
    """Return a trial's raw record from a worker's results. Raises BatchLostError if there is none."""
    try:
        trial = RunFolder(out / spec.side).trial(spec)
    except (ConfigurationError, OSError):
        trial = None
    if trial is None or trial.spec != spec:
        raise BatchLostError(f"the worker's results lack the trial {spec.id}")
    return trial


def digest_of(path: Path) -> str:
    """Return the file's SHA-256; '' if it is not a plain file."""
    if (file := open_regular(path)) is None:
        return ""
    found = hashlib.sha256()
    with file:
        while piece := file.read(1 << 20):
            found.update(piece)
    return found.hexdigest()


def _files(folder: Path) -> Iterator[str]:
    """Yield everything below the folder that is not a folder itself; links are not followed."""
    for place, folders, names in os.walk(folder):
        links = [name for name in folders if Path(place, name).is_symlink()]
        for name in (*names, *links):
            yield Path(place, name).relative_to(folder).as_posix()


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
