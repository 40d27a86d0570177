"""The bundle that goes out to a worker: a batch of trials with both sides' files, sealed as its results are."""

from __future__ import annotations

import json
import tarfile
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from tidegate import __version__
from tidegate.errors import ConfigurationError
from tidegate.model.bundle import Batch
from tidegate.model.value import Value
from tidegate.run.shards.bundle import BadBundleError, sealed, sealed_archive

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
