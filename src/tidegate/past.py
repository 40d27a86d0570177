"""Base's history, as a run reads and feeds it."""

from __future__ import annotations

import time
from pathlib import Path

from tidegate.compare import outcomes_by_row
from tidegate.fingerprint import fingerprint
from tidegate.model.measurement import PastTrial, Run
from tidegate.model.plan import Plan, RowKey
from tidegate.model.suite import Suite
from tidegate.revisions import repository_root, tracked_files
from tidegate.store.history import History


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


def past_trials(run: Run) -> list[PastTrial]:
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
