"""Run the whole chain: load the suite, plan, run trials, measure, compare, decide the verdict, write the reports."""

from __future__ import annotations

import asyncio
import math
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from tidegate.comparison.compare import compare, outcomes_by_row
from tidegate.definitions.base_checks import with_checks_of_base
from tidegate.definitions.changes import changes
from tidegate.errors import ConfigurationError, MissingKeyError
from tidegate.history.known_results import (
    KnownResults,
    keep_history,
    open_answers,
    past_trials,
    require_keepable,
    trends,
)
from tidegate.history.store import History
from tidegate.model.comparison import Comparison, DefinitionChange
from tidegate.model.edited import Edited
from tidegate.model.measurement import Run, TrialResult
from tidegate.model.plan import Plan
from tidegate.model.result import Result
from tidegate.model.trial import Phase, Side
from tidegate.plan import make_plan, run_rows, watched_files, with_presence, without_missing_keys
from tidegate.procedure.steps import RunTrials, next_step, observe, start
from tidegate.reports.badge import badge_json
from tidegate.reports.comment import render_comment
from tidegate.reports.html import render_html
from tidegate.reports.result_json import result_json
from tidegate.run.both_suites import load_both
from tidegate.run.changed_files import file_changes
from tidegate.run.checkouts import RevisionPair, one_side, scratch_folder, two_sides
from tidegate.run.edited_files import edited_files
from tidegate.run.made_by_build import made_by_head
from tidegate.run.run_job import Options, RunJob, run_of, runner_of, screening_specs
from tidegate.run.runner import Runner
from tidegate.store.run_folder import RunFolder, load_run, write_text
from tidegate.suite.load import load_suite
from tidegate.vcs.revisions import changed_files, own_commits
from tidegate.verdict.decide import decide, nothing_to_do
from tidegate.verdict.make_result import make_result

STAGES: dict[Phase, str] = {
    "screen": "screening both sides",
    "confirm": "confirming what was seen, on new trials",
    "verify": "verifying in a second batch",
    "history": "measuring base",
}
SHARE_OF_PAUSE = 0.1  # the pause before verification takes at most this share of the budget's minutes


async def pull_request(repo: Path, asked: RevisionPair, out: Path, options: Options) -> Result:
    """Run both sides of a pull request, compare them, and write the reports and both runs to `out`.

    Base is tested at the merge base of the two revisions.
    """
    with scratch_folder() as scratch, two_sides(repo, asked, scratch, out) as (base_side, head_side):
        suites = load_both(
            repo,
            asked.base,
            (base_side, head_side),
            config=options.config,
            environ=options.environ,
            lenient=options.lenient_keys,
        )
        suite, base_suite, warnings = suites.in_force, suites.base, suites.warnings
        if not options.gate:
            suite = suite.model_copy(
                update={"policy": suite.policy.model_copy(update={"fail_fast": False, "mode": "advisory"})}
            )
        plan = make_plan(suite, options.selection)
        edited = Edited()
        if base_suite is not None:
            base_plan = make_plan(base_suite)
            edited = edited_files(repo, base_side, head_side, (base_suite, suites.head), suite.guidance)
            plan = with_presence(plan, base_plan, options.selection)
            plan = with_checks_of_base(plan, base_plan, edited, judged=suite.policy.judge_blocks)
            base_side = replace(base_side, own=base_suite)
        definitions = changes(base_suite, suites.head, edited, options.selection)
        if options.lenient_keys:
            blocks = suite.policy.weakened_checks == "block" and any(change.weakened for change in definitions)
            plan, left_out = _runnable(plan, options.environ, required=not blocks)
            warnings = (*warnings, *left_out)
        both = (suites.head, base_suite or suites.head)
        watched = tuple(dict.fromkeys(glob for one in both for glob in (*one.watch, *one.guidance)))
        work = RunJob(suite, plan, (base_side, head_side), scratch, open_answers(repo, suite), watched)
        touched = changed_files(repo, base_side.revision, head_side.revision, watched_files(*both))
        if touched or definitions:
            base_run, head_run, ignored, made = await _run_both(repo, work, options)
            warnings = (*warnings, *ignored)
            comparison = compare(base_run, head_run, (*made, *definitions))
            verdict = decide(comparison, suite.policy)
        else:
            now = time.time()
            base_run, head_run = (run_of(work, side, [], now, now) for side in work.sides)
            comparison, verdict = Comparison(rows=()), nothing_to_do(suite.policy)
    result = make_result(comparison, verdict, base_run, head_run, warnings=warnings, budget=suite.budget)
    more = {
        "instance": options.instance,
        "comment_template": suites.comment_template,
        "changes": file_changes(repo, base_side.revision, head_side.revision, touched, both),
        "trends": trends(repo, suite, plan),
    }
    result = result.model_copy(update=more)
    write_reports(result, out, {side.side: side.store for side in work.sides})
    return result


async def single_run(
    repo: Path, rev: str | None, out: Path, options: Options, *, trials: int | None = None, as_history: bool = False
) -> Run:
    """Run the suite on one revision or on the working tree and write the run to `out`.

    With `as_history`, add its trials to base's history; raises ConfigurationError if there are uncommitted changes.
    """
    with scratch_folder() as scratch, one_side(repo, rev, scratch, out) as side:
        suite = load_suite(side.folder, options.config, environ=options.environ)
        plan = make_plan(suite, options.selection)
        work = RunJob(suite, plan, (side,), scratch, open_answers(repo, suite))
        if as_history and side.revision.dirty:
            raise ConfigurationError(
                "The working tree has uncommitted changes, which no base ever had.", "Commit them, or name `--rev`."
            )
        if as_history:
            require_keepable(repo, suite, options.origin)
        started = time.time()
        specs = screening_specs(work, trials)
        async with runner_of(work, options) as runner:
            side.store.begin_run(run_of(work, side, (), started, started, runner))
            results = await runner.run(specs)
        run = run_of(work, side, results, started, time.time(), runner)
        side.store.finish_run(run)
        write_text(out / "badge.json", badge_json(run))
        if as_history:
            fingerprints, versions = work.fingerprints(runner.versions), runner.versions

            def add(history: History) -> None:
                history.add(fingerprints, past_trials(run))
                history.remember(versions)
                history.trends.add(past_trials(run))

            where = keep_history(repo, suite, add, options.origin)
            options.progress.say(f"base's history is kept {where}")
        return run


def compare_runs(base_folder: Path, head_folder: Path, out: Path | None) -> Result:
    """Compare two stored runs in one shot, since no further trials can be run."""
    base, head = load_run(base_folder).as_side("base"), load_run(head_folder).as_side("head")
    comparison = compare(base, head, stored=True)
    verdict = decide(comparison, head.policy)
    result = make_result(comparison, verdict, base, head)
    if out is not None:
        write_reports(result, out, {"base": RunFolder.at(base_folder), "head": RunFolder.at(head_folder)})
    return result


def write_reports(result: Result, out: Path, stores: Mapping[Side, RunFolder]) -> None:
    """Write comment.md, result.json and report.html, each atomically."""
    write_text(out / "comment.md", render_comment(result))
    write_text(out / "result.json", result_json(result))
    folders: dict[Side, str] = {side: os.path.relpath(store.folder, out) for side, store in stores.items()}
    page = render_html(result, lambda trial: stores[trial.side].record(trial.spec), folders)
    write_text(out / "report.html", page)


def rewrite_reports(result: Result, out: Path) -> None:
    """Write the reports of `pull_request` again, after a maintainer has accepted regressions."""
    sides: tuple[Side, ...] = ("base", "head")
    write_reports(result, out, {side: RunFolder(out / "runs" / side) for side in sides})


def _runnable(plan: Plan, environ: Mapping[str, str], *, required: bool) -> tuple[Plan, tuple[str, ...]]:
    """Return the part of the plan that runs without the missing keys, and a note on the rest.

    If it is `required`, raises MissingKeyError if nothing can be run without them.
    """
    left, agents = without_missing_keys(plan, environ)
    named = f"agent{'s' if len(agents) > 1 else ''} {', '.join(agents)}"
    if required and not left.rows:
        raise MissingKeyError(f"nothing can be run without the key of the {named}.", "docs/github.md says what to do.")
    secrets = {name for row in left.rows for name in row.scenario.target.secrets}
    if required and all(row.scenario.target.secrets for row in left.rows):
        raise MissingKeyError(f"nothing can be run without {', '.join(sorted(secrets))}.", "docs/github.md says more.")
    said = f"not run: the {named}, without a key, which forks do not get; the verdict excludes them"
    return left, (said,) if agents else ()


class _Measured(NamedTuple):
    """Both runs, warnings of history that was ignored, and the checks that head's build weakened."""

    base: Run
    head: Run
    ignored: tuple[str, ...]
    made: tuple[DefinitionChange, ...]


async def _run_both(repo: Path, work: RunJob, options: Options) -> _Measured:
    """Run the trials that the procedure requests until it has decided.

    Base's new trials become history. If an earlier run began the same test and nothing has changed since, its results
    are reused.
    """
    started = time.time()
    earlier = KnownResults(
        repo, work.suite, {side.side: side.store for side in work.sides}, remembers=options.gate, origin=options.origin
    )
    options.progress.stage("getting ready")
    async with runner_of(work, options) as runner:
        fingerprints = work.fingerprints(runner.versions)
        known = earlier.begin(fingerprints, work.test_keys(repo, fingerprints), _own_commits(repo, work))
        runner.on_result = earlier.keep
        made = _made(work, runner)
        if known.results:
            options.progress.say(f"{len(known.results)} trials of an earlier run of the same test are used again")
        for side in work.sides:
            side.store.begin_run(run_of(work, side, known.results, started, started, runner))
        results = await runner.judged_again(known.results)
        state = start(run_rows(work.plan, work.suite), work.suite.policy, outcomes_by_row(known.past))
        state = observe(state, results)
        while isinstance(step := next_step(state), RunTrials):
            await _pause(step, results, work, options)
            _say_stage(step, results, options)
            batch = await runner.run(step.specs)
            results += batch
            state = observe(state, batch)
        options.progress.stage("")
        pairs = await runner.pairs(results)
    base, head = (run_of(work, side, results, started, time.time(), runner) for side in work.sides)
    base = base.model_copy(update={"history": known.past})
    head = head.model_copy(update={"pairs": pairs})
    for side, run in zip(work.sides, (base, head), strict=True):
        side.store.finish_run(run)
    earlier.add(base)
    return _Measured(base, head, known.warnings, made)


def _made(work: RunJob, runner: Runner) -> tuple[DefinitionChange, ...]:
    base, head = work.sides
    return () if runner.build_errors else made_by_head(base, head, work.suite, runner.system_path)


def _own_commits(repo: Path, work: RunJob) -> frozenset[str]:
    base, head = (side.revision for side in work.sides)
    return own_commits(repo, base, head)


def _say_stage(step: RunTrials, results: Sequence[TrialResult], options: Options) -> None:
    phase = step.specs[0].phase
    if not results or results[-1].phase != phase:
        options.progress.stage(STAGES[phase])


async def _pause(step: RunTrials, results: Sequence[TrialResult], work: RunJob, options: Options) -> None:
    """Wait before the first verification batch, so that an outage during the first trials is over."""
    begins = step.specs[0].phase == "verify" and not (results and results[-1].phase == "verify")
    most = SHARE_OF_PAUSE * 60 * (work.suite.budget.minutes or math.inf)
    pause = min(options.pause_s, most) if begins else 0.0
    if pause:
        options.progress.say(f"waiting {pause:.0f} s, so that the verification is apart in time")
        await asyncio.sleep(pause)
