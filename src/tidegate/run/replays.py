"""Replay base's recorded sessions, as trials without an agent, and record the sessions of new trials."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from tidegate.agents.invocations.shapes import Shapes
from tidegate.agents.recorded_session import RecordedSession
from tidegate.checks.measure import measure_trial
from tidegate.checks.rubrics.work import call_line
from tidegate.decide.procedure.rules import screening_of
from tidegate.decide.replay.compare import Base, Replayed, difference, failing_gates, on_base, replayed
from tidegate.decide.replay.decide import chosen_for_check, decided, shapes_by_session, spot_checks, surface_near
from tidegate.decide.replay.record import session_of
from tidegate.decide.surface.used import SurfaceDiff, surface_change
from tidegate.errors import ConfigurationError, NothingToRunError
from tidegate.history.known_results import Known, open_history
from tidegate.history.run_folder import AnswerStore, RunFolder
from tidegate.history.store import Sessions
from tidegate.model.measurement import PastTrial, Run, by_row
from tidegate.model.plan import Plan, PlanRow, RowKey
from tidegate.model.revision import Revision
from tidegate.model.run_row import DifferingStep, LeftOut, ReplayFinding, RunRow, WhyRun
from tidegate.model.suite import ReplayRules
from tidegate.model.trial import SessionRecord
from tidegate.model.trial_spec import Side, TrialSpec, is_inside
from tidegate.run.attempts import Attempts
from tidegate.run.checkouts import one_side, scratch_folder
from tidegate.run.run_job import Options, RunJob, runner_of
from tidegate.run.runner import Runner
from tidegate.run.surface_survey import Surveys, tool_of
from tidegate.suite.load import load_suite
from tidegate.suite.plan import base_name, make_plan
from tidegate.vcs.revisions import ForeignCommits, merge_base, resolve

MOST = 5  # sessions replayed per row, the best ones
MORE_ON_BASE = 6  # replays on base of a session that differs, as two of them may agree by chance
SHARE_OF_BUDGET = 0.1  # of the time that is left, so that a head that hangs in replays leaves enough for agents


def new_sessions(work: RunJob, base: Run, store: RunFolder) -> Iterator[SessionRecord]:
    """Yield the sessions of a run of base, of rows that chance has a part in; trials of earlier runs are known."""
    for result in base.trials:
        row = work.plan.row(result.key)
        if row.deterministic or result.decides is None or result.reused:
            continue
        trial = store.trial(result.spec)
        passed = result.decides == "pass"
        if trial is not None:
            found = session_of(trial, row.agent, row.scenario.target, base.revision.sha, passed=passed)
            if found is not None:
                yield found


def can_be_replayed(row: PlanRow) -> bool:
    """Return True if chance has a part in the row, both sides have it, and it needs no secret."""
    return row.presence == "both" and not row.deterministic and not row.scenario.target.secrets


async def replay_rows(
    runner: Runner, work: RunJob, sessions: Mapping[RowKey, Sessions], *, every: bool = False
) -> dict[RowKey, ReplayFinding]:
    """Return what base's sessions show, for each row that has some. With `every`, all are replayed, without a limit."""
    if runner.build_errors or runner.replaced:  # what head's build has replaced is not its commit
        return {}
    checkouts = {side.side: replace(side, store=RunFolder(side.store.folder / "replays")) for side in work.sides}
    left = runner.attempts.context.deadline - time.monotonic()
    seconds = left if every else SHARE_OF_BUDGET * left
    attempts, judged = runner.attempts.elsewhere(checkouts, seconds=seconds), work.suite.policy.judge_blocks
    place = _Place(attempts, work.sides[0].revision.sha, every, judged)
    rows = [row for row in work.plan.rows if can_be_replayed(row) and row.key in sessions]
    found = await asyncio.gather(*(_row(place, row, sessions[row.key][:MOST]) for row in rows))
    return {one.key: one for one in found}


class _Place(NamedTuple):
    """Where sessions are replayed: by which attempts, base's commit, whether each is replayed regardless, and whether
    judges decide.
    """

    attempts: Attempts
    base: str
    every: bool
    judged: bool


async def _row(place: _Place, row: PlanRow, sessions: Sessions) -> ReplayFinding:
    bases = await asyncio.gather(*(_base(place, row, number, one) for number, one in enumerate(sessions, 1)))
    unusable = [why for why in bases if isinstance(why, LeftOut)]
    found = ReplayFinding(scenario=row.key.scenario, agent=row.key.agent, base=place.base)
    same = passed = differing = steps = 0
    for number, (session, base) in enumerate(zip(sessions, bases, strict=True), 1):
        if isinstance(base, LeftOut):
            continue
        head = await _play(place, "head", row, number, session, 1)
        if isinstance(head, LeftOut):
            unusable.append(head)
            continue
        differs: DifferingStep | LeftOut | None = difference(base, head)
        if differs is not None and not differing:
            differs = await _difference_by_chance(place, row, number, session, (base, head))
        if isinstance(differs, LeftOut):
            unusable.append(differs)
            continue
        steps += len(base.replay.steps)
        if differs is None:
            same, passed = same + 1, passed + session.passed
            continue
        differing += 1
        found = _with_difference(found, differs, failing_gates(base, head))
        if not place.every and len(head.steps) < len(base.replay.steps):
            break  # it hung
    counts = {"same": same, "passed": passed, "differing": differing, "steps": steps, "unusable": tuple(unusable)}
    return found.model_copy(update={**counts, "unsteady": any(why.code == "unsteady" for why in unusable)})


def _with_difference(found: ReplayFinding, differs: DifferingStep, failing: Sequence[str]) -> ReplayFinding:
    """Return the finding with another session that differs; the one that differs first is shown."""
    earlier = found.difference is not None and found.first_step <= differs.number
    shown = {} if earlier else {"difference": differs, "first_step": differs.number}
    return found.model_copy(update={**shown, "failing": tuple(dict.fromkeys((*found.failing, *failing)))})


async def _base(place: _Place, row: PlanRow, number: int, session: SessionRecord) -> Base | LeftOut:
    """Return the session's replays on base, or why it does not count."""
    one, other = [await _play(place, "base", row, number, session, time) for time in (1, 2)]
    if isinstance(one, LeftOut):
        return one
    if isinstance(other, LeftOut):
        return other
    return on_base(session, one, other)


async def _difference_by_chance(
    place: _Place, row: PlanRow, number: int, session: SessionRecord, sides: tuple[Base, Replayed]
) -> DifferingStep | LeftOut | None:
    """Return how head differs from all further replays on base; None if it is like one, or why it does not count."""
    base, head = sides
    differs = difference(base, head)
    if differs is None or head.lost or head.guidance != base.replay.guidance:
        return differs
    for index in range(3, 3 + MORE_ON_BASE):
        again = await _play(place, "base", row, number, session, index)
        wider = again if isinstance(again, LeftOut) else on_base(session, base.replay, again)
        if isinstance(wider, LeftOut):
            return wider
        if difference(wider, head) is None:
            return None
    return differs


async def _play(
    place: _Place, side: Side, row: PlanRow, number: int, session: SessionRecord, time: int
) -> Replayed | LeftOut:
    """Return what one replay showed; or why it was not done, for an outside cause."""
    name = f"{row.key.agent} (session {number})"
    row = row.on(side)
    agent = RecordedSession(session=session, env=row.agent.env, model=row.agent.model)
    own = row.model_copy(update={"agent": agent, "key": RowKey(scenario=row.key.scenario, agent=name)})
    spec = TrialSpec(side=side, scenario=row.key.scenario, agent=name, index=time, phase="history")
    trial = await place.attempts.trial(spec, own)
    if trial is None or (trial.not_measured is not None and not is_inside(trial.not_measured)):
        return LeftOut(code="not_replayed", detail=trial.reason if trial else "the run ended")
    if trial.untested:
        return LeftOut(code="not_replayed", detail=f"head's `path` finds another program than {trial.untested[1]}")
    result = await asyncio.to_thread(measure_trial, trial, row.scenario, None, judge_blocks=False)
    given = ""
    if place.judged and row.scenario.judged:
        diff = place.attempts.context.checkouts[side].store.record(spec).diff
        given = "\n".join((*map(call_line, trial.invocations), diff))
    return replayed(session, trial, result, given)


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


async def replay_first(surveys: Surveys, work: RunJob, begun: Begun, options: Options) -> dict[RowKey, ReplayFinding]:
    """Return what base's sessions show for each row, with the decision whether agents are run for it."""
    rules = work.suite.policy.replay
    if not begun.sessions or (rules.use == "off" and not any(row.no_agent for row in begun.rows)):
        return {}
    options.progress.stage("replaying recorded sessions of base")
    all_rows = await _findings(surveys, work, begun)
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
    return WhyRun(code="prompt_changed") if work.plan.row(row).own_texts is not None else None


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


async def _findings(surveys: Surveys, work: RunJob, begun: Begun) -> dict[RowKey, ReplayFinding]:
    """Replay base's sessions, and decide for each row.

    Where a row would be skipped, the help texts of both sides are compared first.
    """
    found = await replay_rows(surveys.runner, work, begun.sessions)
    alike = [key for key, one in _all_decided(work, begun, found).items() if one.skipped]
    for key, change in (await surface_changes(surveys, alike)).items():
        found[key] = found[key].model_copy(update={"surface": surface_near(change, begun.shapes[key])})
    return _all_decided(work, begun, found)


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
    found = {tool: surface_change(*(side.parts for side in sides)) for tool, sides in surveys.found.items()}
    return {row.key: found[tool_of(row)] for row in rows if tool_of(row) in found}


RECORD = "Record some: `tidegate run --rev {} --history --trials 5`. Name another base branch with `--base`."


class ReplayedHere(NamedTuple):
    """What the sessions of each row show. `without`: rows that have no sessions, among those that could have some."""

    base: Revision
    rows: tuple[ReplayFinding, ...]
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
