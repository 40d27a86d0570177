"""Run the suite on one revision and store the run. The code of comparison and verdict is not loaded."""

from __future__ import annotations

import time
from pathlib import Path

from tidegate.errors import ConfigurationError
from tidegate.history.known_results import keep_history, open_answers, past_trials, require_keepable
from tidegate.history.store import History
from tidegate.model.measurement import Run
from tidegate.run.checkouts import one_side, scratch_folder
from tidegate.run.run_job import Options, RunJob, run_of, runner_of, screening_specs
from tidegate.suite.load import load_suite
from tidegate.suite.plan import make_plan


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
        if as_history:
            fingerprints, versions = work.fingerprints(runner.versions), runner.versions

            from tidegate.run.replays import new_sessions  # only here: it imports the comparison of replays

            def add(history: History) -> None:
                history.add(fingerprints, past_trials(run))
                history.remember(versions)
                history.sessions.add(fingerprints, new_sessions(work, run, side.store))

            where = keep_history(repo, suite, add, options.origin)
            options.progress.say(f"base's history is kept {where}")
        return run
