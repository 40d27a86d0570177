"""Replay base's sessions before any agent is run, and decide which rows need agents."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from tidegate.agents.invocations.shapes import Shapes
from tidegate.decide.procedure.rules import screening_of
from tidegate.decide.replay.decide import chosen_for_check, decided, shapes_by_session, spot_checks, surface_near
from tidegate.decide.surface.used import SurfaceChange, surface_change
from tidegate.history.known_results import Known, KnownResults
from tidegate.history.store import MOST, Sessions
from tidegate.model.measurement import PastTrial
from tidegate.model.plan import RowKey, by_row
from tidegate.model.run_row import RowReplay, RunRow, WhyRun
from tidegate.model.suite import ReplayRules
from tidegate.model.surface import Part
from tidegate.run.mutant_trials import MutantTrials, search_path_of
from tidegate.run.replays import replay_rows
from tidegate.run.run_job import Options, RunJob
from tidegate.run.runner import Runner
from tidegate.run.surface_survey import survey
from tidegate.suite.plan import base_name

SECONDS = 30.0  # for the help texts of one depth, so that a head that hangs leaves enough for agents


class Begun(NamedTuple):
    """What is known when a test begins: its rows, the keys of their tests, and base's history and sessions."""

    rows: Sequence[RunRow]
    keys: Mapping[RowKey, str]
    known: Known
    sessions: Mapping[RowKey, Sessions]

    @property
    def shapes(self) -> dict[RowKey, list[Shapes]]:
        """The shapes of the calls of base's earlier trials of each row."""
        past = by_row(self.known.past)
        return {row.key: shapes_by_session(past[row.key]) for row in self.rows}


async def replay_first(
    runner: Runner, work: RunJob, begun: Begun, earlier: KnownResults, options: Options
) -> dict[RowKey, RowReplay]:
    """Return what base's sessions show for each row, with the decision whether agents are run for it."""
    rules = work.suite.policy.replay
    if not begun.sessions or (rules.use == "off" and not any(row.no_agent for row in begun.rows)):
        return {}
    options.progress.stage("replaying recorded sessions of base")
    all_rows = await _findings(runner, work, begun, earlier, options.environ.get("PATH", ""))
    replays = with_spot_checks(all_rows, begun.rows, rules)
    if said := _saved(work, replays, begun):
        options.progress.say(said)
    return replays


def _despite(work: RunJob, row: RowKey, tried: Container[RowKey]) -> WhyRun | None:
    """Return why agents are run for the row, whatever its sessions show; None if nothing calls for it."""
    if row in tried:
        return WhyRun(code="agents_began")
    if not work.edited_agents.isdisjoint((row.agent, base_name(row.agent))):
        return WhyRun(code="agent_changed")
    return None


def _all_decided(work: RunJob, begun: Begun, found: Mapping[RowKey, RowReplay]) -> dict[RowKey, RowReplay]:
    """Return the findings with the decision for each row."""
    tried = {result.key for result in begun.known.results if result.side == "head"}
    tried |= work.joined.rows if work.joined else set()
    known, rules = begun.shapes, work.suite.policy.replay
    return {
        row.key: decided(found[row.key], row, known[row.key], rules, despite=_despite(work, row.key, tried))
        for row in begun.rows
        if row.key in found
    }


async def _findings(
    runner: Runner, work: RunJob, begun: Begun, earlier: KnownResults, path: str
) -> dict[RowKey, RowReplay]:
    """Replay what no earlier run of the same test has replayed, store what that shows, and decide for each row.

    Where a row would be skipped, the help texts of both sides are compared first.
    """
    marks = {key: _mark(of_row) for key, of_row in begun.sessions.items()}
    stored = {key: earlier.replayed(key, mark) for key, mark in marks.items()}
    known = {key: found for key, found in stored.items() if found is not None}
    left = {key: of_row for key, of_row in begun.sessions.items() if key not in known}
    fresh = await replay_rows(runner, work, left)
    alike = [key for key, found in _all_decided(work, begun, fresh).items() if found.skipped]
    for key, change in (await surface_changes(runner, work, alike, path)).items() if alike else ():
        fresh[key] = fresh[key].model_copy(update={"surface": surface_near(change, begun.shapes[key])})
    for key, found in fresh.items():
        if not any(why.code == "not_replayed" for why in found.unusable):
            earlier.keep_replay(found, marks[key])
    return _all_decided(work, begun, {**known, **fresh})


def _mark(sessions: Sessions) -> str:
    """Return a hash of the sessions of a row."""
    return hashlib.sha256("".join(one.model_dump_json() for one in sessions[:MOST]).encode()).hexdigest()


def with_spot_checks(
    replays: Mapping[RowKey, RowReplay], rows: Sequence[RunRow], rules: ReplayRules
) -> dict[RowKey, RowReplay]:
    """Return the findings with some of the unchanged rows chosen for a trial with an agent.

    The choice cannot be predicted, so that head cannot prepare for it.
    """
    chosen = secrets.SystemRandom().sample(*spot_checks(replays, rows, rules))
    return {key: chosen_for_check(found) if key in chosen else found for key, found in replays.items()}


def _saved(work: RunJob, replays: Mapping[RowKey, RowReplay], begun: Begun) -> str:
    """Return what is not spent on rows that are not run, for the log; '' if all are."""
    past, rows = by_row(begun.known.past), begun.rows
    skipped = [row for row in rows if (found := replays.get(row.key)) is not None and found.skipped]
    if not skipped:
        return ""
    trials = {row.key: screening_of(row, work.suite.policy) for row in skipped}
    tokens = sum(count * _tokens(past[key]) for key, count in trials.items())
    count = sum(trials.values())
    spent = f" and about {tokens:,.0f} tokens" if tokens else ""
    return f"{len(skipped)} of {len(rows)} rows are unchanged by replay: {count} trials{spent} are saved"


def _tokens(past: Sequence[PastTrial]) -> float:
    """Return the mean of the tokens of a trial, as far as they are known."""
    known = [one.metrics for one in past if one.metrics.tokens_in is not None or one.metrics.tokens_out is not None]
    return sum((one.tokens_in or 0) + (one.tokens_out or 0) for one in known) / len(known) if known else 0.0


async def surface_changes(
    runner: Runner, work: RunJob, keys: Iterable[RowKey], path: str
) -> Mapping[RowKey, SurfaceChange]:
    """Return what the pull request changes in the surface of each row's program. `path`: of Tidegate.

    MCP servers are left out: replays compare their lists of tools.
    """
    asked = [work.plan.row(key) for key in keys]
    rows = {row.scenario.target.binary: row for row in reversed(asked) if not row.scenario.target.tty}
    names = [name for name in rows if name and "/" not in name]
    keys = [rows[name].key for name in names]
    of_sides = [await _parts(runner, replace(work, sides=(side,)), keys, path) for side in work.sides]
    found = {name: surface_change(*parts) for name, *parts in zip(names, *of_sides, strict=True)}
    return {row.key: found[row.scenario.target.binary] for row in asked if row.scenario.target.binary in found}


async def _parts(runner: Runner, work: RunJob, keys: Iterable[RowKey], path: str) -> list[tuple[Part, ...]]:
    (side,) = work.sides
    folder = work.scratch / f"replayed-surface-{side.side}"
    folder.mkdir(mode=0o711)
    trials = MutantTrials(work, runner, folder, search_path_of(work, path))
    return [await survey(trials, work.plan.row(key), SECONDS) for key in keys]
