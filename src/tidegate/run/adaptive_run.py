"""Run a pull request's trials, as many as the procedure requests, and keep what they show for later runs."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from tidegate.decide.comparison.compare import past_by_row
from tidegate.decide.procedure.pushes import after_run
from tidegate.decide.procedure.steps import (
    State,
    conclude,
    next_step,
    observe,
    start,
    stops_early,
)
from tidegate.decide.surface.used import scenario_calls
from tidegate.history.known_results import Known, KnownResults, open_pushes, without_failed_rows
from tidegate.history.pushes import Pushes, source_branch
from tidegate.model.measurement import TrialResult
from tidegate.model.plan import RowKey
from tidegate.model.run_row import EarlierPushes, ReplayFinding, RunRow
from tidegate.model.trial_spec import Phase, TrialSpec
from tidegate.run.replays import Begun, new_sessions, replay_first
from tidegate.run.run_job import BothRuns, Options, RunJob, run_of, runner_of
from tidegate.run.runner import Runner
from tidegate.run.surface_survey import Surveys
from tidegate.vcs.revisions import ForeignCommits, branch_name

STAGES: dict[Phase, str] = {
    "screen": "screening both sides",
    "confirm": "confirming what was seen, on new trials",
    "verify": "verifying in a second batch",
    "history": "measuring base",
}
MERGE_QUEUE = "merge queue"  # the name of head in a merge group
SHARE_OF_PAUSE = 0.1  # the pause before verification takes at most this share of the budget's minutes


async def run_both(root: Path, work: RunJob, options: Options) -> BothRuns:
    """Run the trials that the procedure requests until it has decided.

    Base's new trials become history. If an earlier run began the same test and nothing has changed since, its results
    are reused. Raises CannotRunError if another run uses the same store.
    """
    earlier = KnownResults(
        root, work.suite, {side.side: side.store for side in work.sides}, remembers=options.gate, origin=options.origin
    )
    with earlier.alone():
        return await _run_both(root, work, earlier, options)


async def _run_both(root: Path, work: RunJob, earlier: KnownResults, options: Options) -> BothRuns:
    started = time.time()
    options.progress.stage("getting ready")
    async with runner_of(work, options) as runner:
        _complete_versions(work, runner, earlier)
        fingerprints = work.fingerprints(runner.versions)
        keys = work.test_keys(root, fingerprints)
        foreign = ForeignCommits(root, *(side.revision for side in work.sides))
        known = earlier.begin(fingerprints, keys, foreign)
        pushes = pushes_of(root, work, options, keys.values())
        before = pushes.earlier(known.resumed) if pushes else {}
        rows = with_earlier(work.rows, before)
        sessions = earlier.sessions(foreign)
        surveys = Surveys(runner, work, options.environ.get("PATH", ""))
        if work.suite.policy.interface != "off":
            options.progress.stage("comparing what the tool offers")
            await surveys.ask(work.plan.rows)
        replays = await replay_first(surveys, work, Begun(rows, keys, known, sessions.by_row), options)
        runner.on_result = earlier.keep
        _begin(work, runner, known, started, options)
        runner.learn((*known.past, *known.results))
        rows = with_replays(rows, replays)
        state = start(rows, work.suite.policy, past_by_row(known.past))
        state, results = await _until_decided(work, runner, state, known.results, options)
        options.progress.stage("")
    base, head = (run_of(work, side, results, started, time.time(), runner) for side in work.sides)
    base = base.model_copy(update={"history": known.past})
    head = head.model_copy(update={"rows": with_replays(with_earlier(head.rows, before), replays)})
    calls = scenario_calls((*base.trials, *head.trials))
    interfaces = surveys.compared(root, calls) if work.suite.policy.interface != "off" else ()
    runs = BothRuns(base, head, (*known.warnings, *sessions.warnings, *_of_shards(work)), interfaces)
    _keep(work, runs, earlier)
    if pushes:
        pushes.add(after_run(state.rows, conclude(state), state.played.by_row, before))
    return runs


def _complete_versions(work: RunJob, runner: Runner, earlier: KnownResults) -> None:
    """Add the last known versions of agents that are not run, and leave out shards' trials of other versions."""
    runner.versions = {**earlier.versions(), **runner.versions}
    if work.joined:
        work.joined.leave_other_versions(runner.versions)


def _begin(work: RunJob, runner: Runner, known: Known, started: float, options: Options) -> None:
    """Report the trials that are used again, and store that the run has begun."""
    if known.results:
        options.progress.say(f"{len(known.results)} trials of an earlier run of the same test are used again")
    for side in work.sides:
        side.store.begin_run(run_of(work, side, known.results, started, started, runner))


def _keep(work: RunJob, runs: BothRuns, earlier: KnownResults) -> None:
    """Store both runs, and base's new trials and sessions as history; none of a row in which base failed."""
    for side, run in zip(work.sides, (runs.base, runs.head), strict=True):
        side.store.finish_run(run)
    kept = runs.base.model_copy(update={"trials": tuple(without_failed_rows(runs.base.trials))})
    earlier.add(kept, new_sessions(work, kept, work.sides[0].store))


def with_replays(rows: Sequence[RunRow], replays: Mapping[RowKey, ReplayFinding]) -> tuple[RunRow, ...]:
    """Return the rows, each with what base's sessions show."""
    return tuple(row.model_copy(update={"replay": replays.get(row.key)}) for row in rows)


def pushes_of(root: Path, work: RunJob, options: Options, keys: Iterable[str]) -> Pushes | None:
    """Return the pushes of this pull request; None if head has no branch to know it by, and in a merge queue."""
    base, head = (side.revision.ref for side in work.sides)
    if options.origin is None:
        base, head = (branch_name(root, ref) for ref in (base, head))
        head = source_branch(options.environ) if head == "HEAD" else head
    if not options.gate or head in ("HEAD", MERGE_QUEUE):
        return None
    return open_pushes(root, work.suite, (options.instance, base, head), keys)


def with_earlier(rows: Sequence[RunRow], before: Mapping[RowKey, EarlierPushes]) -> tuple[RunRow, ...]:
    """Return the rows, each with what earlier pushes of the pull request showed."""
    unknown = EarlierPushes(pushes=max((one.pushes for one in before.values()), default=0))
    return tuple(row.model_copy(update={"earlier": before.get(row.key, unknown)}) for row in rows)


async def _until_decided(
    work: RunJob, runner: Runner, state: State, results: Sequence[TrialResult], options: Options
) -> tuple[State, Sequence[TrialResult]]:
    """Run the trials that the procedure requests, and return its state with the results of all trials."""
    state = observe(state, results)
    while step := next_step(state):
        if found := _from_shards(work, runner, step):
            results = [*results, *found]
            state = observe(state, found)
            continue
        await pause(step, results, work, options)
        _say_stage(step, results, options)
        batch = await runner.run(step, enough(state, step))
        results = [*results, *batch]
        state = observe(state, batch)
    return state, results


def _from_shards(work: RunJob, runner: Runner, specs: Sequence[TrialSpec]) -> list[TrialResult]:
    """Return the results of those of these trials that shards have run or lost, as if they had just been run."""
    found = work.joined.take(specs, {side.side: side.store for side in work.sides}) if work.joined else []
    for result in found:
        runner.on_result(result)
    runner.learn(found)
    return found


def _of_shards(work: RunJob) -> tuple[str, ...]:
    """Return the lost shards, what was ignored, and how many trials were not needed as the run ended before."""
    if work.joined is None:
        return ()
    left = work.joined.left
    return (*work.joined.say(), *([f"{left} trials of shards were not needed: the run ended before"] if left else []))


def enough(state: State, step: Sequence[TrialSpec]) -> Callable[[TrialResult], bool]:
    """Return a function that observes each result of the step, and returns True once no further trial should start.

    Only hangs cost so much that the rest of the step has to wait. Quick failures do not: all of them are found.
    """
    seen, running, hung = state, frozenset(step), False

    def enough(result: TrialResult) -> bool:
        nonlocal seen, hung
        seen = observe(seen, [result])
        hung |= result.end in ("timeout", "watchdog")
        return hung and stops_early(seen, running)

    return enough


def _say_stage(step: Sequence[TrialSpec], results: Sequence[TrialResult], options: Options) -> None:
    phase = step[0].phase
    if not results or results[-1].phase != phase:
        options.progress.stage(STAGES[phase])


async def pause(step: Sequence[TrialSpec], results: Sequence[TrialResult], work: RunJob, options: Options) -> None:
    """Wait before the first verification batch, so that an outage during the first trials is over."""
    begins = step[0].phase == "verify" and not (results and results[-1].phase == "verify")
    most = SHARE_OF_PAUSE * 60 * (work.suite.budget.minutes or math.inf)
    secs = min(options.pause_s, most) if begins else 0.0
    if secs:
        options.progress.say(f"waiting {secs:.0f} s, so that the verification is apart in time")
        await asyncio.sleep(secs)
