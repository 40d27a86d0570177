"""Adds the trials of a merged pull request to base's history, since what was head is now base."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tidegate.history.branch import NotKeptError
from tidegate.history.fingerprint import fingerprint_at
from tidegate.history.known_results import keep_history, past_trial
from tidegate.history.store import History
from tidegate.model.comparison import Row
from tidegate.model.measurement import PastTrial
from tidegate.model.plan import RowKey
from tidegate.model.result import Result
from tidegate.model.suite import Suite
from tidegate.run.run_job import Options
from tidegate.suite.load import load_suite
from tidegate.suite.plan import make_plan
from tidegate.vcs.revisions import tree_of


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
            counted = {(row.key, point.sha) for row in history.trends.read() for point in row.points}
            history.trends.add(trial for trial in trials if (trial.key, trial.sha) not in counted)

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
    found = (
        past_trial(trial, result.sides.head.tested_at + number / 1000, shas[trial.side], merged=trial.side == "head")
        for number, trial in enumerate(result.trials)
        # Reused trials of base are in the history already, with other times.
        if trial.phase == "screen" and trial.key in rows and not (trial.side == "base" and trial.reused)
    )
    return [trial.model_copy(update={"beside_head": not trial.merged}) for trial in found if trial is not None]
