"""Replay base's sessions before any agent is run, and decide which rows need agents."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import NamedTuple

from tidegate.agents.invocations.shapes import Shapes
from tidegate.decide.procedure.rules import screening_of
from tidegate.decide.replay.decide import chosen_for_check, decided, shapes_by_session, spot_checks, surface_near
from tidegate.decide.surface.used import SurfaceDiff, surface_change
from tidegate.history.known_results import Known, KnownResults
from tidegate.history.store import MOST, Sessions
from tidegate.model.measurement import PastTrial, by_row
from tidegate.model.plan import RowKey
from tidegate.model.run_row import ReplayFinding, RunRow, WhyRun
from tidegate.model.suite import ReplayRules
from tidegate.run.replays import replay_rows
from tidegate.run.run_job import Options, RunJob
from tidegate.run.surface_changes import Surveys, tool_name
from tidegate.suite.plan import base_name


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
    surveys: Surveys, work: RunJob, begun: Begun, earlier: KnownResults, options: Options
) -> dict[RowKey, ReplayFinding]:
    """Return what base's sessions show for each row, with the decision whether agents are run for it."""
    rules = work.suite.policy.replay
    if not begun.sessions or (rules.use == "off" and not any(row.no_agent for row in begun.rows)):
        return {}
    options.progress.stage("replaying recorded sessions of base")
    all_rows = await _findings(surveys, work, begun, earlier)
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


def _all_decided(work: RunJob, begun: Begun, found: Mapping[RowKey, ReplayFinding]) -> dict[RowKey, ReplayFinding]:
    """Return the findings with the decision for each row."""
    tried = {result.key for result in begun.known.results if result.side == "head"}
    tried |= work.joined.rows if work.joined else set()
    known, rules = begun.shapes, work.suite.policy.replay
    return {
        row.key: decided(found[row.key], row, known[row.key], rules, despite=_despite(work, row.key, tried))
        for row in begun.rows
        if row.key in found
    }


async def _findings(surveys: Surveys, work: RunJob, begun: Begun, earlier: KnownResults) -> dict[RowKey, ReplayFinding]:
    """Replay what no earlier run of the same test has replayed, store what that shows, and decide for each row.

    Where a row would be skipped, the help texts of both sides are compared first.
    """
    marks = {key: _mark(of_row) for key, of_row in begun.sessions.items()}
    stored = {key: earlier.replayed(key, mark) for key, mark in marks.items()}
    known = {key: found for key, found in stored.items() if found is not None}
    left = {key: of_row for key, of_row in begun.sessions.items() if key not in known}
    fresh = await replay_rows(surveys.runner, work, left)
    alike = [key for key, found in _all_decided(work, begun, fresh).items() if found.skipped]
    for key, change in (await surface_changes(surveys, alike)).items():
        fresh[key] = fresh[key].model_copy(update={"surface": surface_near(change, begun.shapes[key])})
    for key, found in fresh.items():
        if not any(why.code == "not_replayed" for why in found.unusable):
            earlier.keep_replay(found, marks[key])
    return _all_decided(work, begun, {**known, **fresh})


def _mark(sessions: Sessions) -> str:
    """Return a hash of the sessions of a row."""
    return hashlib.sha256("".join(one.model_dump_json() for one in sessions[:MOST]).encode()).hexdigest()


def with_spot_checks(
    replays: Mapping[RowKey, ReplayFinding], rows: Sequence[RunRow], rules: ReplayRules
) -> dict[RowKey, ReplayFinding]:
    """Return the findings with some of the unchanged rows chosen for a trial with an agent.

    The choice cannot be predicted, so that head cannot prepare for it.
    """
    chosen = secrets.SystemRandom().sample(*spot_checks(replays, rows, rules))
    return {key: chosen_for_check(found) if key in chosen else found for key, found in replays.items()}


def _saved(work: RunJob, replays: Mapping[RowKey, ReplayFinding], begun: Begun) -> str:
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


async def surface_changes(surveys: Surveys, keys: Iterable[RowKey]) -> Mapping[RowKey, SurfaceDiff]:
    """Return what the pull request changes in the surface of each row's program.

    MCP servers are left out: replays compare their lists of tools.
    """
    rows = [row for row in map(surveys.work.plan.row, keys) if row.scenario.target.mcp is None]
    await surveys.ask(rows)
    found = {name: surface_change(*(side.parts for side in sides)) for name, sides in surveys.found.items()}
    return {row.key: found[tool_name(row)] for row in rows if tool_name(row) in found}
