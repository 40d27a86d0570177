"""The story of a run, on one screen: suite, plan, trials, measurements, comparison, verdict, reports."""

from __future__ import annotations

import asyncio
import math
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tidegate import __version__
from tidegate.build import Checkout
from tidegate.compare import compare, outcomes_by_row
from tidegate.decide import decide, nothing_to_do
from tidegate.definitions import changes, in_force
from tidegate.errors import ConfigurationError
from tidegate.fingerprint import fingerprint
from tidegate.model.comparison import Comparison
from tidegate.model.measurement import AgentInfo, PastTrial, Run, TrialResult
from tidegate.model.plan import Plan, RowKey
from tidegate.model.progress import Progress
from tidegate.model.result import Result
from tidegate.model.suite import Suite
from tidegate.model.trial import Side, TrialSpec
from tidegate.plan import Selection, make_plan, run_rows, suite_hash, watched_files, with_presence
from tidegate.procedure import RunTrials, next_step, observe, screening_trials, start
from tidegate.reports.comment import render_comment
from tidegate.reports.html import render_html
from tidegate.reports.result_json import result_json
from tidegate.result import make_result
from tidegate.revisions import changed_files, repository_root, tracked_files
from tidegate.run import Runner
from tidegate.sides import Asked, one_side, scratch_folder, two_sides
from tidegate.store.directory import RunFolder, load_run, write_text
from tidegate.store.history import History, Read
from tidegate.suite.load import load_suite, try_load_suite

# What holds today, and nothing else; every report says it (docs/security.md).
CONFINEMENT = ("own environment", "own HOME and TMPDIR", "no process outlives its step")
COMMITTED_HISTORY = "the history is ignored, since it is part of the commit: keep the folder of `store` out of git"
SHARE_OF_PAUSE = 0.1  # of the run's minutes, at most


@dataclass(frozen=True)
class Options:
    """What a person chose on the command line, and what of the machine reaches the run."""

    environ: Mapping[str, str]
    progress: Progress
    config: str = "tidegate.yaml"
    instance: str = "default"
    selection: Selection = field(default_factory=Selection)
    jobs: int | None = None
    pause_s: float = 0.0  # before a verification, so that it is apart in time from what it verifies


@dataclass(frozen=True)
class Work:
    """A plan, and the checkouts that it is run in; scenarios and templates are read at the last of them."""

    suite: Suite
    plan: Plan
    sides: tuple[Checkout, ...]
    scratch: Path

    @property
    def definitions(self) -> Path:
        """Where scenarios and templates are read."""
        return self.sides[-1].folder

    def fingerprints(self, versions: Mapping[str, str | None]) -> dict[RowKey, str]:
        """Of the rows that have a history; `versions` are those of the agents' programs."""
        return {
            row.key: fingerprint(row, self.definitions, self.suite.guidance, versions.get(row.key.agent))
            for row in self.plan.rows
            if row.presence == "both" and not row.deterministic
        }


async def pull_request(repo: Path, asked: Asked, out: Path, options: Options) -> Result:
    """Run both sides of a pull request and compare them; the reports and the two runs go to `out`.

    Base's trials are run at the merge base of the two.
    """
    with scratch_folder() as scratch, two_sides(repo, asked, scratch, out) as (base_side, head_side):
        base_suite, warnings = try_load_suite(base_side.folder, options.config, environ=options.environ)
        head_suite = load_suite(head_side.folder, options.config, environ=_passed(options.environ, base_suite))
        suite = in_force(base_suite, head_suite)
        template = _comment_template(head_side if base_suite is None else base_side, suite)
        plan = make_plan(suite, options.selection)
        if base_suite is not None:
            plan = with_presence(plan, make_plan(base_suite), options.selection)
        work = Work(suite, plan, (base_side, head_side), scratch)
        touched = changed_files(
            repo, base_side.revision, head_side.revision, watched_files(head_suite, base_suite or head_suite)
        )
        if touched:
            base_run, head_run, ignored = await _run_both(work, open_history(repo, suite), options)
            warnings = (*warnings, *ignored)
            comparison = compare(base_run, head_run, changes(base_suite, head_suite))
            verdict = decide(comparison, suite.policy)
        else:
            now = time.time()
            base_run, head_run = (_run_of(work, side, [], now, now) for side in work.sides)
            comparison, verdict = Comparison(rows=()), nothing_to_do(suite.policy)
    result = make_result(comparison, verdict, base_run, head_run, warnings=warnings, budget=suite.budget)
    result = result.model_copy(update={"instance": options.instance, "comment_template": template})
    write_reports(result, out, {side.side: side.store for side in work.sides})
    return result


async def single_run(
    repo: Path, rev: str | None, out: Path, options: Options, *, trials: int | None = None, as_history: bool = False
) -> Run:
    """Run the suite on one revision, or on the working tree; the run goes to `out`, and into base's history if asked.

    ConfigurationError where uncommitted changes would become history.
    """
    with scratch_folder() as scratch, one_side(repo, rev, scratch, out) as side:
        suite = load_suite(side.folder, options.config, environ=options.environ)
        plan = make_plan(suite, options.selection)
        work = Work(suite, plan, (side,), scratch)
        if as_history and side.revision.dirty:
            raise ConfigurationError(
                "The working tree has uncommitted changes, which no base ever had.", "Commit them, or name `--rev`."
            )
        started = time.time()
        specs = _screening(work, trials)
        async with _runner(work, options) as runner:
            results = await runner.run(specs)
        run = _run_of(work, side, results, started, time.time(), runner)
        side.store.finish_run(run)
        if as_history and (history := open_history(repo, suite)):
            history.add(work.fingerprints(runner.versions), _as_history(run))
        return run


def compare_runs(base_folder: Path, head_folder: Path, out: Path | None) -> Result:
    """Compare two stored runs, in one shot: no trial can be asked for any more."""
    base, head = load_run(base_folder).as_side("base"), load_run(head_folder).as_side("head")
    comparison = compare(base, head, stored=True)
    verdict = decide(comparison, head.policy)
    result = make_result(comparison, verdict, base, head)
    if out is not None:
        write_reports(result, out, {"base": RunFolder.at(base_folder), "head": RunFolder.at(head_folder)})
    return result


def write_reports(result: Result, out: Path, stores: Mapping[Side, RunFolder]) -> None:
    """comment.md, result.json and report.html, each whole or not at all."""
    write_text(out / "comment.md", render_comment(result))
    write_text(out / "result.json", result_json(result))
    folders: dict[Side, str] = {side: os.path.relpath(store.folder, out) for side, store in stores.items()}
    page = render_html(result, lambda trial: stores[trial.side].record(trial.spec), folders)
    write_text(out / "report.html", page)


def _passed(environ: Mapping[str, str], base: Suite | None) -> Mapping[str, str]:
    """What head's `${NAME}` may stand for: base decides, or a pull request could name any secret of the job."""
    return environ if base is None else {name: environ[name] for name in base.pass_env if name in environ}


def _comment_template(side: Checkout, suite: Suite) -> str | None:
    """The text of the suite's own template, of the side that rules are read at."""
    if suite.comment_template is None:
        return None
    path = (side.folder / suite.comment_template).resolve()
    try:
        if not path.is_relative_to(side.folder.resolve()):
            raise OSError("it leads out of the repository")
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"report.comment_template: {suite.comment_template} cannot be read on {side.side}: {error}",
            "The path is relative to the repository's root.",
        ) from None


async def _run_both(work: Work, history: History | None, options: Options) -> tuple[Run, Run, tuple[str, ...]]:
    """Ask the procedure which trials to run, run them, tell it what came out, until it is sure.

    Both runs, and a sentence for what of the history was ignored; base's fresh trials become history.
    """
    started = time.time()
    results: list[TrialResult] = []
    async with _runner(work, options) as runner:
        fingerprints = work.fingerprints(runner.versions)
        past = history.read(fingerprints) if history else Read((), (COMMITTED_HISTORY,))
        state = start(run_rows(work.plan, work.suite.trials), work.suite.policy, outcomes_by_row(past.trials))
        while isinstance(step := next_step(state), RunTrials):
            await _pause(step, results, work, options)
            batch = await runner.run(step.specs)
            results += batch
            state = observe(state, batch)
    base, head = (_run_of(work, side, results, started, time.time(), runner) for side in work.sides)
    base = base.model_copy(update={"history": past.trials})
    for side, run in zip(work.sides, (base, head), strict=True):
        side.store.finish_run(run)
    if history:
        history.add(fingerprints, _as_history(base))
    return base, head, past.warnings


async def _pause(step: RunTrials, results: Sequence[TrialResult], work: Work, options: Options) -> None:
    """A verification is a new batch, apart in time: an outage that hit the first one should be over."""
    begins = step.specs[0].phase == "verify" and results[-1].phase != "verify"
    most = SHARE_OF_PAUSE * 60 * (work.suite.budget.minutes or math.inf)
    pause = min(options.pause_s, most) if begins else 0.0
    if pause:
        options.progress.say(f"waiting {pause:.0f} s, so that the verification is apart in time")
        await asyncio.sleep(pause)


def open_history(repo: Path, suite: Suite) -> History | None:
    """The repository's own history; None where the commit brings one along: a pull request could have written it."""
    root = repository_root(repo)
    if tracked_files(root, suite.store.path):
        return None
    return History(root / suite.store.path, suite.store, time.time())


def history_counts(repo: Path, suite: Suite, plan: Plan) -> dict[RowKey, tuple[int, int]]:
    """Passes and trials of the history of every row that may have one, for the suite as it is in the working tree.

    No agent is asked for its version here, so the history of agents that have one is not found.
    """
    prints = {row.key: fingerprint(row, repo, suite.guidance, None) for row in plan.rows if not row.deterministic}
    history = open_history(repo, suite)
    outcomes = outcomes_by_row(history.read(prints).trials if history else ())
    return {key: (sum(outcomes.get(key, ())), len(outcomes.get(key, ()))) for key in prints}


def _as_history(run: Run) -> list[PastTrial]:
    """The measured trials of a run, as later runs will compare with them."""
    return [
        PastTrial(
            scenario=trial.scenario,
            agent=trial.agent,
            decides=trial.decides,
            at=run.started_at + number / 1000,
            sha=run.revision.sha,
            metrics=trial.metrics,
        )
        for number, trial in enumerate(run.trials)
        if trial.decides is not None
    ]


def _screening(work: Work, trials: int | None) -> list[TrialSpec]:
    """The trials of a single run: as many per row as were asked for, else as the screening of a pull request has."""
    suite = work.suite
    return [
        TrialSpec(side="head", scenario=row.scenario, agent=row.agent, index=index + 1)
        for row in run_rows(work.plan, suite.trials)
        for index in range(trials or (1 if row.deterministic else screening_trials(row.trials, suite.policy)))
    ]


def _runner(work: Work, options: Options) -> Runner:
    return Runner(
        work.suite,
        work.plan,
        work.sides,
        work.scratch,
        environ=options.environ,
        progress=options.progress,
        definitions=work.definitions,
        jobs=options.jobs,
    )


def _run_of(
    work: Work,
    checkout: Checkout,
    results: Sequence[TrialResult],
    started: float,
    ended: float,
    runner: Runner | None = None,
) -> Run:
    agents = {row.key.agent: row.agent for row in work.plan.rows}
    versions = runner.versions if runner else {}
    fingerprints = work.fingerprints(versions)
    return Run(
        tidegate_version=__version__,
        side=checkout.side,
        revision=checkout.revision,
        suite_file=work.suite.file,
        suite_hash=suite_hash(work.suite),
        policy=work.suite.policy,
        diagnosis=work.suite.diagnosis,
        rows=tuple(
            row.model_copy(update={"fingerprint": fingerprints.get(row.key, "")})
            for row in run_rows(work.plan, work.suite.trials)
        ),
        agents={name: AgentInfo(type=a.type, model=a.model, version=versions.get(name)) for name, a in agents.items()},
        build_error=runner.build_errors.get(checkout.side) if runner else None,
        started_at=started,
        seconds=round(ended - started, 3),
        confinement=CONFINEMENT,
        trials=tuple(result for result in results if result.side == checkout.side),
    )
