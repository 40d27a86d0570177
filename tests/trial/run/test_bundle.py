"""What goes to a worker arrives as it was: plans with all their classes, and both sides' files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.conftest import Repository
from tests.trial.run.engines import Worker, attempts_of, plan_of
from tests.unit.run.test_bundle import batch
from tidegate.errors import ConfigurationError
from tidegate.run.bundle import pack, read_batch, unpack, write_batch
from tidegate.vcs.worktrees import files_of, make_repository


def test_files_modes_and_links_arrive_and_what_git_ignores_does_not(
    tmp_path: Path, make_repository: Callable[..., Repository]
) -> None:
    repository = make_repository()
    repository.commit({"bin/tool": "#!/bin/sh\n", "a b/ü.txt": "x", ".gitignore": "secret.env\n"})
    repository.write({"secret.env": "KEY=1", "new.txt": "not committed"})
    (repository.root / "away").symlink_to("/etc")
    (repository.root / "a b" / "back").symlink_to("../bin")

    pack(repository.root, files_of(repository.root), tmp_path / "side.tar")
    there = tmp_path / "there"
    side = {"side": "base", "revision": {"sha": "0" * 40, "ref": "main"}, "build": (), "path": ()}
    write_batch(tmp_path / "bundle.zip", batch(sides=(side,)), {"base": tmp_path / "side.tar"})
    unpack(tmp_path / "bundle.zip", "base", there)

    files = {path.relative_to(there).as_posix() for path in there.rglob("*") if not path.is_dir()}
    assert files == {"bin/tool", "a b/ü.txt", ".gitignore", "new.txt"}
    assert os.access(there / "bin/tool", os.X_OK)
    assert [str((there / name).readlink()) for name in ("away", "a b/back")] == ["/etc", "../bin"]


def test_builds_can_ask_git_for_a_commit(tmp_path: Path) -> None:
    (tmp_path / "ignored.txt").write_text("x")
    (tmp_path / ".gitignore").write_text("*\n")
    make_repository(tmp_path)
    assert files_of(tmp_path) == (".gitignore", "ignored.txt")


def test_a_bundle_that_was_cut_off_or_changed_is_refused_in_100_of_100(tmp_path: Path) -> None:
    attempts = attempts_of(tmp_path, Worker(), plan_of("a"))
    checkout = attempts.context.checkouts["base"]
    pack(checkout.folder, files_of(checkout.folder), tmp_path / "base.tar")
    side = {"side": "base", "revision": checkout.revision, "build": (), "path": ()}
    bundle = tmp_path / "bundle.zip"
    seal = write_batch(bundle, batch(sides=(side,)), {"base": tmp_path / "base.tar"})
    assert read_batch(bundle)[1] == seal
    whole = bundle.read_bytes()
    for seed in range(100):
        chance = Random(seed)
        data = bytearray(whole)
        if chance.random() < 0.5:
            del data[chance.randrange(len(data)) :]
        else:
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        bundle.write_bytes(data)
        with pytest.raises(ConfigurationError, match=r"it (was cut off or changed|cannot be read)"):
            read_batch(bundle)
