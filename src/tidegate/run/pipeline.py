"""Run the whole chain: load the suite, plan, run trials, measure, compare, decide the verdict, write the reports."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Sequence
from pathlib import Path

from tidegate.decide.comparison.whole_suite import cannot_guard
from tidegate.decide.verdict import Decision, decide, nothing_to_do
from tidegate.history.report_files import write_reports
from tidegate.history.run_folder import RunFolder
from tidegate.model.cause import Cause
from tidegate.model.comparison import Comparison, Row
from tidegate.model.measurement import TrialResult, by_row
from tidegate.model.plan import Plan, RowKey
from tidegate.model.result import FileChange, Result
from tidegate.model.revision import Revision
from tidegate.model.run_row import Reason
from tidegate.reports.make_result import make_result
from tidegate.run.build import Checkout
from tidegate.run.checkouts import Commits, scratch_folder, two_sides
from tidegate.run.pull_request_job import PullRequestJob, file_changes, load_pull_request, with_files
from tidegate.run.run_job import BothRuns, Options, RunJob, no_runs, runner_of, screening_specs
from tidegate.suite.load import try_load_suite
from tidegate.suite.plan import make_plan
from tidegate.text.redaction import without_secrets
from tidegate.vcs.revisions import changed_files
from tidegate.vcs.worktrees import checkout


async def pull_request(root: Path, commits: Commits, out: Path, options: Options) -> Result:
    """Run both sides of a pull request, compare them, and write the reports and both runs to `out`.

    `root` is the repository's top folder. Base is tested at the merge base.
    """
    with scratch_folder() as scratch, two_sides(root, commits, scratch, out) as sides:
        loaded = load_pull_request(root, commits.target, sides, scratch, options)
        if loaded.is_needed:
            runs, comparison = await _run_and_compare(root, commits.target, loaded, options)
            decision = decide(comparison, loaded.job.suite.policy)
        else:
            runs = no_runs(loaded.job)
            comparison, decision = Comparison(rows=()), nothing_to_do(loaded.job.suite.policy)
        result = _conclude(root, loaded, runs, comparison, decision)
        result = await _fixed(root, result, loaded.job, options)
    result = without_secrets(result.model_copy(update={"instance": options.instance, "links": options.links}))
    write_reports(result, out, {side.side: side.store for side in (sides.base, sides.head)})
    return result


async def _run_and_compare(
    root: Path, target: Revision, loaded: PullRequestJob, options: Options
) -> tuple[BothRuns, Comparison]:
    """Run the trials of both sides, and compare them."""
    # Imported only here, since most pull requests of some repositories have nothing to run.
    from tidegate.decide.comparison.compare import compare
    from tidegate.run.adaptive_run import run_both
    from tidegate.run.sharding import joining

    with joining(loaded.job, options) as job:
        runs = await run_both(root, job, options)
    shares = [share.rows for share in job.joined.plan.shares] if job.joined else []
    comparison = compare(runs.base, runs.head, loaded.definitions, shares=shares)
    comparison = comparison.model_copy(update={"interfaces": runs.interfaces})
    return runs, await with_tip(root, target, loaded.job, comparison, options)


async def _fixed(root: Path, result: Result, job: RunJob, options: Options) -> Result:
    """Return the result with a fix that was tried, if there is one."""
    if not any(row.state == "regressed" and row.deterministic for row in result.rows):
        return result
    from tidegate.run.tried_fix import with_fix

    return await with_fix(root, result, job, options)


def _conclude(root: Path, loaded: PullRequestJob, runs: BothRuns, comparison: Comparison, decision: Decision) -> Result:
    """Put the result together, with the changed files for the report."""
    job, warnings = loaded.job, (*loaded.warnings, *runs.ignored)
    result = make_result(comparison, decision, runs.base, runs.head, warnings=warnings, budget=job.suite.budget)
    result = with_files(result, {side.side: side.store for side in job.sides})
    base, head = (side.revision for side in job.sides)
    changes = file_changes(root, base, head, loaded.touched, loaded.both)
    why = "the target branch has no usable suite yet" if loaded.suites.base is None else ""
    more = {
        "verdict": result.verdict.model_copy(update={"why_advisory": why}),
        "comment_template": loaded.suites.comment_template,
        "changes": changes,
        "causes": _causes(root, result, changes, loaded),
    }
    return result.model_copy(update=more)


def _causes(root: Path, result: Result, changes: Sequence[FileChange], loaded: PullRequestJob) -> tuple[Cause, ...]:
    """Return the causes of what got worse, each with the lines of docs and scenarios that still name what is gone."""
    if not result.rows:
        return ()
    from tidegate.decide.causes.find import find_causes
    from tidegate.run.tried_fix import with_docs

    job = loaded.job
    return with_docs(
        root, job.sides[-1].revision, job.suite, find_causes(result.rows, result.trials, changes, result.interfaces)
    )


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
