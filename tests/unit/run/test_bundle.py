"""What goes to a worker arrives as it was: plans with all their classes, and both sides' files."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests import make
from tests.conftest import Repository
from tests.trial.run.engines import Worker, attempts_of, plan_of
from tidegate import __version__
from tidegate.errors import CannotRunError, ConfigurationError
from tidegate.model.batch import Batch
from tidegate.model.progress import Silent
from tidegate.run.bundle import CLASS, dump, load, pack, read_batch, unpack, write_batch
from tidegate.run.shards.bundle import sealed_archive
from tidegate.run.worker import run_batch
from tidegate.suite.load import load_suite
from tidegate.suite.plan import make_plan
from tidegate.vcs.copies import files_of, make_repository

EXAMPLES = sorted(path.parent for path in Path("examples").glob("**/tidegate.yaml"))


def batch(**fields: object) -> Batch:
    made: dict[str, object] = {
        "tidegate_version": __version__,
        "name": "one",
        "sides": (),
        "suite": make.suite(),
        "rows": (),
        "trials": (),
    }
    return Batch.model_validate({**made, **fields})


@pytest.mark.parametrize("folder", EXAMPLES, ids=str)
def test_the_plan_of_each_example_survives(folder: Path) -> None:
    plan = make_plan(load_suite(folder, environ={}))
    sent = batch(rows=plan.rows)
    assert plan.rows
    assert load(dump(sent), Batch) == sent


def test_only_our_own_classes_are_read() -> None:
    with pytest.raises(ValueError, match=r"no class builtins\.dict"):
        load(f'{{"{CLASS}": "builtins.dict"}}', Batch)
    with pytest.raises(ValueError, match="no Batch"):
        load(dump(make.spec()), Batch)


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


def test_bundles_of_nothing_and_those_of_another_version_are_refused(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle.zip"
    with pytest.raises(ConfigurationError, match=r"it cannot be read: No such file"):
        read_batch(bundle)
    write_batch(bundle, batch(tidegate_version="0.0.1"), {})
    with pytest.raises(ConfigurationError, match=r"it is of Tidegate 0\.0\.1, and this is"):
        read_batch(bundle)
    with sealed_archive(bundle) as archive:
        archive.writestr("batch.json", "{")
    with pytest.raises(ConfigurationError, match="it is not a bundle of Tidegate"):
        read_batch(bundle)


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


async def _ran(bundle: Path, out: Path, **environ: str) -> None:
    await run_batch(bundle, out, environ, Silent())


def test_a_worker_without_a_variable_says_so_before_it_runs_anything(tmp_path: Path) -> None:

    row = plan_of("a").rows[0]
    target = row.scenario.target.model_copy(update={"env": {"URL": "${STAGING}"}})
    row = row.model_copy(update={"scenario": row.scenario.model_copy(update={"target": target})})
    write_batch(tmp_path / "bundle", batch(rows=(row,), withheld=("STAGING",)), {})
    with pytest.raises(CannotRunError, match="The worker lacks the variables STAGING"):
        asyncio.run(_ran(tmp_path / "bundle", tmp_path / "out", STAGING="withheld"))
