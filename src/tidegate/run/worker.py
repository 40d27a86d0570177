"""Runs a batch of trials from a bundle, on a worker: what `tidegate trials run` does."""

from __future__ import annotations

import secrets
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from tidegate.errors import CannotRunError
from tidegate.history.run_folder import AnswerStore, RunFolder
from tidegate.model.bundle import Batch, BundleContents, Spent
from tidegate.model.executor import RESULTS_FILE
from tidegate.model.plan import Plan, key_of
from tidegate.model.progress import Progress
from tidegate.model.trial import Trial
from tidegate.model.trial_spec import TrialSpec
from tidegate.run.build import Checkout
from tidegate.run.bundle import JUDGE, read_batch, unpack, write_trials
from tidegate.run.checkouts import scratch_folder
from tidegate.run.runner import Runner, together
from tidegate.vcs.worktrees import make_repository


async def run_batch(
    bundle: Path, out: Path, environ: Mapping[str, str], progress: Progress, jobs: int | None = None
) -> BundleContents:
    """Run the bundle's trials and write their records to `out`, as one file; return what it states."""
    began = time.monotonic()
    batch, seal = read_batch(bundle)
    known = {name: value for name, value in environ.items() if name not in batch.withheld}
    _require(batch, known)
    with scratch_folder() as scratch, tempfile.TemporaryDirectory(prefix="tidegate-records-") as records:
        sides = tuple(_checkouts(batch, bundle, scratch, Path(records)))
        async with Runner(
            batch.suite,
            Plan(rows=batch.rows),
            sides,
            scratch,
            environ=known,
            progress=progress,
            definitions=_definitions(batch, bundle, scratch) or sides[-1].folder,
            answers=AnswerStore(None),
            jobs=jobs,
            began=began,
        ) as runner:
            attempts = runner.attempts
            attempts.pace.take_over(batch.pace)
            for trial in await _recorded(runner, batch):
                attempts.context.checkouts[trial.spec.side].store.keep_trial(trial)
        usd, tokens = attempts.spending.spent()
        contents = BundleContents(
            asked=seal,
            versions=runner.versions,
            trials=len(batch.trials),
            spent=Spent(usd=usd, tokens=tokens),
            seconds=round(time.monotonic() - began, 1),
            confinement=runner.confinement,
            replaced=runner.replaced,
        )
        write_trials(out / RESULTS_FILE, contents, batch.trials, {side.side: side.store for side in sides})
    return contents


async def _recorded(runner: Runner, batch: Batch) -> list[Trial]:
    """Run the trials and return their raw records, neither judged nor measured."""
    attempts, plan = runner.attempts, Plan(rows=batch.rows)
    attempts.expect(batch.trials)

    async def one(spec: TrialSpec) -> Trial | None:
        try:
            row = plan.row(key_of(spec)).on(spec.side)
            return runner.cannot_run(spec) or await attempts.trial(spec, row)
        finally:
            attempts.pace.ended(spec)

    return [trial for trial in await together([one(spec) for spec in batch.trials]) if trial is not None]


def _require(batch: Batch, environ: Mapping[str, str]) -> None:
    """Raise CannotRunError if a variable that a scenario refers to has no value here."""
    needed = {name for row in batch.rows for name in row.scenario.target.references}
    if missing := sorted(needed - environ.keys()):
        raise CannotRunError(f"The worker lacks the variables {', '.join(missing)}.", "Set them where workers run.")


def _definitions(batch: Batch, bundle: Path, scratch: Path) -> Path | None:
    """Extract the checkout with base's definitions; return None if the batch has none of its own."""
    if not batch.has_judge:
        return None
    folder = scratch / secrets.token_hex(8)
    unpack(bundle, JUDGE, folder)
    return folder


def _checkouts(batch: Batch, bundle: Path, scratch: Path, records: Path) -> list[Checkout]:
    """Extract both sides, into folders whose names do not tell the side."""
    checkouts = []
    for side in batch.sides:
        folder = scratch / secrets.token_hex(8)
        unpack(bundle, side.side, folder)
        make_repository(folder)
        own = batch.suite.model_copy(update={"build": side.build, "path": side.path})
        checkouts.append(Checkout(side.side, side.revision, folder, RunFolder(records / side.side), own))
    return checkouts
