"""Adds to base's history on the default branch: trials of merged pull requests, and trials run for history."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tidegate.github.announce import summarise, tell_no_verdict
from tidegate.github.api import Artifact, PublishError
from tidegate.github.artifact import MAX_ARCHIVE, PoisonedError, read_result
from tidegate.github.client import GitHubRepository
from tidegate.github.event import DispatchEvent, Event, OtherEvent, PushEvent
from tidegate.github.job import Job
from tidegate.github.pull_request import job_options
from tidegate.github.workflow_run import artifact_name
from tidegate.history.branch import NotKeptError
from tidegate.history.fingerprint import fingerprint_at
from tidegate.history.known_results import keep_history, past_trial, without_failed_rows
from tidegate.history.store import History
from tidegate.model.comparison import Row
from tidegate.model.measurement import PastTrial
from tidegate.model.plan import RowKey
from tidegate.model.result import Result
from tidegate.model.suite import Suite
from tidegate.run.checkouts import make_run_folder
from tidegate.run.run_job import Options
from tidegate.run.single_run import single_run
from tidegate.suite.load import load_suite
from tidegate.suite.plan import make_plan
from tidegate.vcs.missing_commits import require_whole_checkout
from tidegate.vcs.revisions import tree_of

FIRST_TRIALS = 10  # per row, when a person starts the workflow to create a first history


async def feed_history(event: Event, job: Job) -> int:
    """Adopt the trials of the merged pull request on a push; on any other event, run the suite for history."""
    if isinstance(event, PushEvent):
        return await _adopt_merged(event, job)
    started_by_hand = isinstance(event, DispatchEvent)
    return await _run_for_history(event, FIRST_TRIALS if started_by_hand else None, job)


async def _adopt_merged(event: PushEvent, job: Job) -> int:
    repository = job.connect()
    assert repository is not None  # nothing_to_do() has seen the token
    try:
        sentence = await _adopted(event, repository, job)
    except PublishError as error:
        sentence = f"The merged pull request's run was not found: {error.message}\n{error.advice}"
    return _say(sentence, job)


async def _adopted(event: PushEvent, repository: GitHubRepository, job: Job) -> str:
    """Look for the merged pull request's result, adopt it, and return a sentence on what happened."""
    heads = await job.deadline.ask(lambda: repository.merged_heads(event.sha))
    if not heads:
        return "No pull request of this repository was merged by this commit: history is unchanged."
    name = artifact_name(job.settings.instance)
    recent = await job.deadline.ask(lambda: repository.recent_artifacts(name))
    found = [one for one in recent if one.own and not one.expired and one.head_sha in heads]
    if not found:
        return f"The merged pull request's run has left no artifact `{name}`: history is unchanged."
    newest = max(found, key=lambda one: one.id)
    if newest.size > MAX_ARCHIVE:
        return f"The artifact is ignored: it has {newest.size} bytes."
    return _adopt(newest, await job.deadline.ask(lambda: repository.download(newest.id, MAX_ARCHIVE)), job)


def _adopt(artifact: Artifact, archive: bytes, job: Job) -> str:
    try:
        result = read_result(archive, job.settings.instance, ours=artifact.own)
    except PoisonedError as error:
        return f"The artifact is ignored: {error}."
    require_whole_checkout(job.workspace)
    return adopt(job.root, result, job_options(job, writes=True))


async def _run_for_history(event: Event, trials: int | None, job: Job) -> int:
    require_whole_checkout(job.workspace)
    out = make_run_folder(job.root)
    options = job_options(job, writes=_is_of_default_branch(event, job))
    try:
        run = await single_run(job.root, "HEAD", out, options, trials=trials, as_history=True)
    except NotKeptError as error:
        return _say(f"{error.message}\n{error.advice}", job)
    measured = sum(trial.decides is not None for trial in run.trials)
    return _say(f"{measured} trials of {run.revision.sha[:12]} were run, and are base's history now.", job)


def _say(sentence: str, job: Job) -> int:
    """Report the sentence and return 0. History never fails a job: without it, more trials are run."""
    job.say(sentence)
    summarise(f"## Tidegate: history\n\n{sentence}", job)
    tell_no_verdict("nothing_to_do", job)
    return 0


def _is_of_default_branch(event: Event, job: Job) -> bool:
    """Return True for a schedule, which always runs on the default branch, or a manual start on that branch."""
    if isinstance(event, DispatchEvent):
        return job.runner.ref == f"refs/heads/{event.default_branch}"
    return event == OtherEvent(name="schedule")


def adopt(repo: Path, result: Result, options: Options) -> str:
    """Add the result's screening trials to base's history if the merged tree is the tested one; return a summary.

    Trials of the confirmation are left out. They ran only because the screening looked bad and would bias the history.
    """
    head = result.sides.head
    if not head.tree or head.tree != tree_of(repo, "HEAD"):
        return "What was tested is not what was merged (the branch was behind, or more was pushed): nothing is adopted."
    if result.verdict.state == "failed":
        return "The pull request's check had failed: its trials are not adopted."
    suite = load_suite(repo, options.config, environ=options.environ)
    same = {row.key: row.fingerprint for row in _unchanged(repo, suite, result)}
    trials = _past(result, same)

    def add(history: History) -> None:
        history.add(same, trials)
        if trials:
            history.remember({name: agent.version for name, agent in result.agents.items()})

    try:
        keep_history(repo, suite, add, options.origin)
    except NotKeptError as error:
        return f"{error.message}\n{error.advice}"
    others = sum(bool(row.fingerprint) and not row.deterministic for row in result.rows) - len(same)
    left_out = f"; {others} rows are not what they were when they were tested, and are left out" if others else ""
    return f"{len(trials)} trials of the merged pull request are base's history now{left_out}."


def _unchanged(repo: Path, suite: Suite, result: Result) -> Iterator[Row]:
    """Yield the rows whose fingerprint is the same in this checkout. Agents' program versions are assumed unchanged."""
    plan = {row.key: row for row in make_plan(suite).rows}
    for row in result.rows:
        here = plan.get(row.key)
        agent = result.agents.get(row.agent)
        if here is None or agent is None or not row.fingerprint or here.deterministic or not here.scenario.cache:
            continue
        if fingerprint_at(repo, here, suite, agent.version) == row.fingerprint:
            yield row


def _past(result: Result, rows: dict[RowKey, str]) -> list[PastTrial]:
    """Return the measured screening trials of these rows as history entries.

    Base's trials come first in a result. They therefore get the times under which a store may already know them.
    """
    shas = {"base": result.sides.base.sha, "head": result.sides.head.sha}
    of_base = without_failed_rows([trial for trial in result.trials if trial.side == "base"])
    steady = {trial.key for trial in of_base}
    found = (
        past_trial(trial, result.sides.head.tested_at + number / 1000, shas[trial.side], merged=trial.side == "head")
        for number, trial in enumerate(result.trials)
        if trial.phase == "screen" and trial.key in rows
        # Reused trials of base are in the history already, with other times.
        if trial.side == "head" or (trial.key in steady and not trial.reused)
    )
    return [trial.model_copy(update={"beside_head": not trial.merged}) for trial in found if trial is not None]
