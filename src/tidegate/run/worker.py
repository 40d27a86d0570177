"""Runs a batch of trials from a bundle, on a worker: what `tidegate trials run` does."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from pathlib import Path

from tidegate.errors import CannotRunError
from tidegate.model.batch import Batch, BatchReport
from tidegate.model.plan import Plan, RowKey
from tidegate.model.progress import Progress
from tidegate.model.trial import Trial
from tidegate.model.trial_spec import TrialSpec
from tidegate.run.build import Checkout
from tidegate.run.bundle import JUDGE, read_batch, unpack, write_report
from tidegate.run.checkouts import scratch_folder
from tidegate.run.runner import Runner
from tidegate.run.together import together
from tidegate.store.judge_answers import AnswerStore
from tidegate.store.run_folder import RunFolder
from tidegate.vcs.copies import make_repository


async def run_batch(
    bundle: Path, out: Path, environ: Mapping[str, str], progress: Progress, jobs: int | None = None
) -> BatchReport:
    """Run the bundle's trials and write their records to `out`, and last the report, which is returned."""
    began = time.monotonic()
    batch, digest = read_batch(bundle)
    known = {name: value for name, value in environ.items() if name not in batch.withheld}
    _require(batch, known)
    out.mkdir(parents=True, exist_ok=True)
    out.chmod(0o700)  # the trials' users must not write it
    with scratch_folder() as scratch:
        sides = tuple(_checkouts(batch, bundle, scratch, out))
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
        report = BatchReport(
            batch=digest,
            versions=runner.versions,
            confinement=runner.confinement,
            replaced=runner.replaced,
            throttled=attempts.model_proxy.throttled if attempts.model_proxy else 0,
            usd=usd,
            tokens=tokens,
            files={},
        )
        write_report(out, report)
    return report


async def _recorded(runner: Runner, batch: Batch) -> list[Trial]:
    """Run the trials and return their raw records, neither judged nor measured."""
    attempts, plan = runner.attempts, Plan(rows=batch.rows)
    attempts.expect(batch.trials)

    async def one(spec: TrialSpec) -> Trial | None:
        try:
            row = plan.row(RowKey(scenario=spec.scenario, agent=spec.agent)).on(spec.side)
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
    if not batch.judge:
        return None
    folder = scratch / secrets.token_hex(8)
    unpack(bundle / f"{JUDGE}.tar", folder)
    return folder


def _checkouts(batch: Batch, bundle: Path, scratch: Path, out: Path) -> list[Checkout]:
    """Extract both sides, into folders whose names do not tell the side."""
    checkouts = []
    for side in batch.sides:
        folder = scratch / secrets.token_hex(8)
        unpack(bundle / f"{side.side}.tar", folder)
        make_repository(folder)
        own = batch.suite.model_copy(update={"build": side.build, "path": side.path})
        checkouts.append(Checkout(side.side, side.revision, folder, RunFolder(out / side.side), own))
    return checkouts
