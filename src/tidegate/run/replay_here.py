"""Replay base's recorded sessions on the working tree or a commit: what of them still works there?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from tidegate.decide.replay.decide import decided, shapes_by_session
from tidegate.errors import ConfigurationError, NothingToRunError
from tidegate.history.judge_answers import AnswerStore
from tidegate.history.known_results import open_history
from tidegate.history.sessions import Sessions
from tidegate.model.plan import Plan, RowKey
from tidegate.model.revision import Revision
from tidegate.model.run_row import RowReplay
from tidegate.run.checkouts import one_side, scratch_folder
from tidegate.run.replays import replay_rows
from tidegate.run.run_job import Options, RunJob, runner_of
from tidegate.suite.load import load_suite
from tidegate.suite.plan import make_plan
from tidegate.vcs.foreign_commits import ForeignCommits
from tidegate.vcs.revisions import merge_base, resolve

RECORD = "Record some: `tidegate run --rev {} --history --trials 5`. Name another base branch with `--base`."


class ReplayedHere(NamedTuple):
    """What the sessions of each row show. `without`: rows that have no sessions, among those that could have some."""

    base: Revision
    rows: tuple[RowReplay, ...]
    without: tuple[RowKey, ...]
    warnings: tuple[str, ...] = ()


async def replay_here(repo: Path, base: str, rev: str | None, out: Path, options: Options) -> ReplayedHere:
    """Replay base's sessions on base and on `rev`, or on the working tree if that is None. No agent is run.

    Base is the merge base. Raises NothingToRunError if no row has a session.
    """
    root = merge_base(repo, resolve(repo, base), resolve(repo, rev or "HEAD"))
    with (
        scratch_folder() as scratch,
        one_side(repo, root.sha, scratch, out / "base") as of_base,
        one_side(repo, rev, scratch, out / "head") as head,
    ):
        sides = (replace(of_base, side="base"), head)
        suite = load_suite(head.folder, options.config, environ=options.environ)
        work = RunJob(suite, make_plan(suite, options.selection), sides, scratch, AnswerStore(None))
        history = open_history(repo, suite)
        fingerprints = work.fingerprints(history.versions())
        foreign = ForeignCommits(repo, sides[0].revision, head.revision)
        sessions, known = history.sessions.read(fingerprints, foreign), history.read(fingerprints, foreign)
        if not sessions.by_row:
            missing = f"{base} ({root.sha[:12]}) has no recorded sessions of the suite as it is here."
            raise NothingToRunError(missing, RECORD.format(base))
        async with runner_of(replace(work, plan=Plan(rows=())), options) as runner:
            if runner.build_errors:
                raise ConfigurationError(*next((f"{side}: {why}", "") for side, why in runner.build_errors.items()))
            found = await replay_rows(runner, work, sessions.by_row, every=True)
        rules = suite.policy.replay
        rows = tuple(
            decided(
                found[row.key],
                row,
                shapes_by_session([one for one in known.trials if one.key == row.key]),
                rules,
            )
            for row in work.rows
            if row.key in found
        )
    return ReplayedHere(root, rows, _without(work, sessions.by_row), sessions.warnings)


def _without(work: RunJob, sessions: dict[RowKey, Sessions]) -> tuple[RowKey, ...]:
    return tuple(row.key for row in work.plan.rows if not row.deterministic and row.key not in sessions)
