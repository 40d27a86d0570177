"""Tries rows that pass on neither side on the tip of the target branch, which may have repaired them meanwhile."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Sequence
from pathlib import Path

from tidegate.decide.comparison.weak_rows import cannot_guard
from tidegate.history.run_folder import RunFolder
from tidegate.model.comparison import Comparison, Reason, Row
from tidegate.model.measurement import TrialResult
from tidegate.model.plan import Plan, RowKey, by_row
from tidegate.model.revision import Revision
from tidegate.run.build import Checkout
from tidegate.run.run_job import Options, RunJob, runner_of, screening_specs
from tidegate.suite.load import try_load_suite
from tidegate.suite.plan import make_plan
from tidegate.vcs.revisions import changed_files
from tidegate.vcs.worktrees import checkout


async def with_tip(root: Path, tip: Revision, work: RunJob, comparison: Comparison, options: Options) -> Comparison:
    """Return the comparison, in which rows that the target branch has repaired since the merge base are unconfirmed.

    Both sides lack the repair, so that head could break the row again unseen.
    """
    failing = {row.key for row in comparison.rows if cannot_guard(row)}
    base = work.sides[0].revision
    if not failing or tip.sha == base.sha or not changed_files(root, base, tip, work.watched):
        return comparison
    options.progress.stage(f"trying what passes on neither side at the tip of {base.ref}")
    with checkout(root, tip, work.scratch / secrets.token_hex(8)) as folder:
        side = Checkout("head", tip, folder, RunFolder(work.scratch / secrets.token_hex(8)))
        trials = by_row(await _trials(side, failing, work, options))
    rows = tuple(_doubted(row, trials[row.key], base.ref) for row in comparison.rows)
    return comparison.model_copy(update={"rows": rows})


async def _trials(side: Checkout, keys: Collection[RowKey], work: RunJob, options: Options) -> list[TrialResult]:
    """Return the trials of these rows at the tip, with its own suite; none if it cannot be loaded."""
    suite, _ = try_load_suite(side.folder, options.config, environ=options.environ, without_secrets=True)
    if suite is None:
        return []
    plan = Plan(rows=tuple(row for row in make_plan(suite).rows if row.key in keys))
    job = RunJob(suite, plan, (side,), work.scratch, work.answers)
    if not plan.rows:
        return []
    async with runner_of(job, options) as runner:
        return await runner.run(screening_specs(job, None))


def _doubted(row: Row, trials: Sequence[TrialResult], branch: str) -> Row:
    """What the budget leaves without an outcome counts as a pass: head can use the budget up."""
    passes = sum(trial.decides == "pass" for trial in trials)
    if not passes and not any(trial.not_measured == "budget" for trial in trials):
        return row
    why = Reason(code="mended_at_tip", tip=(passes, len(trials)), branch=branch)
    return row.model_copy(update={"state": "unconfirmed", "kind": "outcome", "why": why})
