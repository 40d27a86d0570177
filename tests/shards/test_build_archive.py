"""The build of one side as an archive: what it keeps, when it is refused, and what it cannot write."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path
from random import Random

import pytest

from tidegate.model.shard import BuildContents
from tidegate.shards.build_archive import Built, write_build
from tidegate.shards.bundle import BadBundleError, seal
from tidegate.text.redaction import Redaction

CONTENTS = BuildContents(tidegate_version="1", plan="p" * 64, side="head", commit="c" * 40, seconds=2.5)
SECRETS = Redaction({"API_TOKEN": "s3cret-value"})


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """A checkout after its build."""
    folder = tmp_path / "built"
    (folder / "bin").mkdir(parents=True)
    (folder / ".git").write_text("gitdir: elsewhere")
    (folder / "bin/tool").write_text("#!/bin/sh\n")
    (folder / "bin/tool").chmod(0o755)
    os.utime(folder / "bin/tool", (1000.25, 1000.25))
    (folder / "bin/same").hardlink_to(folder / "bin/tool")
    (folder / "bin/alias").symlink_to("tool")
    (folder / "empty").mkdir()
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__/m.pyc").write_bytes(os.fsencode(folder))
    os.mkfifo(folder / "pipe")
    return folder


def write(built: Path, contents: BuildContents = CONTENTS) -> Path:
    path = built.parent / "archive" / "build.tar"
    write_build(path, contents, built, SECRETS)
    return path


def checkout(folder: Path) -> Path:
    folder.mkdir()
    (folder / ".git").write_text("its own")
    (folder / "deleted-by-the-build").write_text("")
    (folder / "bin").symlink_to(folder.parent)
    return folder


def test_another_checkout_gets_the_files_of_the_build_with_modes_times_and_links(built: Path, tmp_path: Path) -> None:
    found = Built.read(write(built))
    found.put(to := checkout(tmp_path / "to"))

    assert found.contents == CONTENTS
    assert sorted(path.relative_to(to).as_posix() for path in to.rglob("*")) == [
        ".git",
        "bin",
        "bin/alias",
        "bin/same",
        "bin/tool",
        "empty",
    ]
    assert (to / ".git").read_text() == "its own"
    assert (to / "bin/alias").readlink() == Path("tool")
    known = (to / "bin/tool").stat()
    assert (known.st_mode & 0o777, known.st_mtime) == (0o755, 1000.25)
    assert (to / "bin/same").read_text() == "#!/bin/sh\n"


def test_every_damaged_archive_is_found_in_100_of_100(built: Path, tmp_path: Path) -> None:
    whole = write(built).read_bytes()
    path = tmp_path / "damaged.tar"
    for seed in range(100):
        chance, data = Random(seed), bytearray(whole)
        if seed % 2:
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        else:
            del data[chance.randrange(len(data)) :]
        path.write_bytes(data)
        with pytest.raises(BadBundleError):
            Built.read(path)
    with pytest.raises(BadBundleError, match="cannot be read"):
        Built.read(tmp_path / "missing.tar")


@pytest.mark.parametrize("what", ["file", "link", "large", "secret"])
def test_a_build_that_names_its_folder_or_a_secret_is_not_handed_on(built: Path, what: str) -> None:
    path = built / "bin/pip"
    match what:
        case "link":
            path.symlink_to(built / "bin/tool")
        case "large":  # the path lies across two pieces that are read
            path.write_bytes(b"." * ((1 << 20) - 5) + os.fsencode(built))
        case "secret":
            path.write_text("token=s3cret-value")
        case _:
            path.write_text(f"#!{built}/bin/python\n")

    found = Built.read(write(built))

    why = "a secret" if what == "secret" else "the path of the folder that it was built in"
    assert found.contents.stays == f"bin/pip contains {why}"
    with tarfile.open(found.path) as archive:
        assert archive.getnames() == ["build.json"]


def test_the_archive_of_a_failed_build_has_no_files(built: Path) -> None:
    found = Built.read(write(built, CONTENTS.model_copy(update={"error": "make: 1"})))
    assert (found.contents.error, found.contents.stays) == ("make: 1", "")
    with tarfile.open(found.path) as archive:
        assert archive.getnames() == ["build.json"]


def forged(path: Path, *entries: tuple[str, str | None]) -> Built:
    """An archive that somebody else has made: files with a text, or links to `-> place`."""
    with tarfile.open(path, "w") as archive:
        for name, text in (("build.json", CONTENTS.model_dump_json()), *entries):
            entry = tarfile.TarInfo(name)
            if text is not None and text.startswith("-> "):
                entry.type, entry.linkname = tarfile.SYMTYPE, text[3:]
                archive.addfile(entry)
            else:
                entry.size = len(text or "")
                archive.addfile(entry, io.BytesIO((text or "").encode()))
    with path.open("ab") as whole:
        whole.write(b"0" * 64)
    seal(path)
    return Built.read(path)


@pytest.mark.parametrize("name", ["../base/x", "/etc/x", ".git", ".git/hooks/x", "a/../../x"])
def test_a_forged_archive_writes_nothing_outside_of_its_checkout(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadBundleError, match="outside of the checkout"):
        forged(tmp_path / "a.tar", (f"files/{name}", "x")).put(checkout(tmp_path / "to"))


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    base = checkout(tmp_path / "base")
    archive = forged(tmp_path / "a.tar", ("files/out", f"-> {base}"), ("files/out/tool", "head's"))
    with pytest.raises((OSError, BadBundleError)):
        archive.put(checkout(tmp_path / "head"))
    assert not (base / "tool").exists()
