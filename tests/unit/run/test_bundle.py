"""What goes to a worker arrives as it was: plans with all their classes, and both sides' files."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest

from tests import make
from tests.trial.run.engines import plan_of
from tidegate import __version__
from tidegate.errors import CannotRunError, ConfigurationError
from tidegate.model.bundle import Batch
from tidegate.model.progress import Progress
from tidegate.run.bundle import CLASS, dump, load, read_batch, sealed_archive, write_batch
from tidegate.run.worker import run_batch
from tidegate.suite.load import load_suite
from tidegate.suite.plan import make_plan

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


@pytest.mark.parametrize(
    "name",
    [
        *("builtins.dict", "os.PathLike", "tidegate.nothing.Value", "tidegate.suite.plan.make_plan"),
        *("tidegate.suite.plan.Nothing", "PlanRow", ""),
    ],
)
def test_only_our_own_classes_are_read(name: str) -> None:
    """Also by a process that has not imported them."""
    with pytest.raises(ValueError, match=f"there is no class {re.escape(name)}"):
        load(json.dumps({CLASS: name}), Batch)


def test_a_value_of_another_class_is_refused() -> None:
    with pytest.raises(ValueError, match="no Batch"):
        load(dump(make.spec()), Batch)


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


async def _ran(bundle: Path, out: Path, **environ: str) -> None:
    await run_batch(bundle, out, environ, Progress())


def test_a_worker_without_a_variable_says_so_before_it_runs_anything(tmp_path: Path) -> None:

    row = plan_of("a").rows[0]
    target = row.scenario.target.model_copy(update={"env": {"URL": "${STAGING}"}})
    row = row.model_copy(update={"scenario": row.scenario.model_copy(update={"target": target})})
    write_batch(tmp_path / "bundle", batch(rows=(row,), withheld=("STAGING",)), {})
    with pytest.raises(CannotRunError, match="The worker lacks the variables STAGING"):
        asyncio.run(_ran(tmp_path / "bundle", tmp_path / "out", STAGING="withheld"))
