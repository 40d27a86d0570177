"""Decide which trials to run next and what the observed trials show. A pure state machine.

The pipeline calls `next_step`, runs the trials it returns and passes each result to `observe`, until it returns none;
then it calls `conclude`. The state holds only observed trials: each call replays the procedure from the start, so that
an interrupted run can be resumed. Stochastic rows are screened, and tested on pairs if they look worse; deterministic
rows need only a few repeats.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, zip_longest

from tidegate.decide.procedure.observed import Past, RowSeen, is_lost, setup_failed
from tidegate.decide.procedure.row_states import Conclusion, conclusions_of
from tidegate.decide.procedure.rules import BASE_TRIALS, WORSE, Ask, Facts, screening_trials
from tidegate.decide.procedure.screening import Procedure, Report
from tidegate.model.measurement import TrialResult, by_row
from tidegate.model.plan import RowKey
from tidegate.model.run_row import RunRow
from tidegate.model.suite import Policy
from tidegate.model.trial_spec import Phase, Side, TrialSpec
from tidegate.model.value import Value


class State(Value):
    """Everything the procedure knows. With `stored`, no trials can be run, so all rows are compared in one shot."""

    rows: tuple[RowSeen, ...]
    policy: Policy
    stored: bool = False

    @cached_property
    def played(self) -> Played:
        """The sequential procedure, replayed with the trials observed so far."""
        # Rows that turned out not to be deterministic come last, so that the others keep their numbers.
        entries = sorted((entry for entry in self.rows if entry.sequential), key=lambda entry: entry.demoted)
        return Played([] if self.stored else entries, self.policy)


def start(
    rows: Sequence[RunRow],
    policy: Policy,
    past: Mapping[RowKey, Past] | None = None,
    *,
    stored: bool = False,
) -> State:
    """Return the initial state. `past` is base's history of each row. A row that is unsteady is not deterministic."""
    known = past or {}
    return State(
        rows=tuple(
            RowSeen(
                row=row,
                k0=screening_trials(row.trials, policy),
                most=row.trials.max,
                past=known.get(row.key, Past()),
            )
            for row in rows
        ),
        policy=policy,
        stored=stored,
    )


def next_step(state: State) -> tuple[TrialSpec, ...]:
    """Return the trials to run now, with the sides alternating; none once no further trial can change a conclusion.

    Pass the result of each to `observe`, measured or not; otherwise it is requested again. Head's own
    definitions come last: they must not use up the budget of base's.
    """
    rows = () if state.stored else state.rows
    turns = [tuple(_next_of(entry for entry in rows if entry.row.turn == turn)) for turn in range(2)]
    wanted = _confirmed_first(state) or (*state.played.missing, *turns[0]) or turns[1]
    return _untried(state) if failed_fast(state) else wanted


def stops_early(state: State, running: Collection[TrialSpec]) -> bool:
    """Return True if no further one of the running trials should start: a row that fails is to be confirmed first.

    Otherwise a suite in which everything hangs would use up the budget before one failure is confirmed.
    """
    if failed_fast(state):
        return not _untried(state)
    return any(spec not in running for spec in _confirmed_first(state))


def observe(state: State, results: Sequence[TrialResult]) -> State:
    """Return the state with these trials added, in any order; trials of unknown rows are ignored.

    If a row that was chosen for a spot check looks worse, replays decide for no row.
    """
    new = by_row(results)
    rows = tuple(entry.with_trials(new[entry.row.key]) for entry in state.rows)
    seen = State(rows=rows, policy=state.policy, stored=state.stored)
    checked = [entry for entry in rows if entry.spot_checked]
    hit = {key for key, row in seen.played.by_row.items() if row.hit} if checked else set()
    if not any(entry.row.key in hit or entry.tally("head").inside for entry in checked):
        return seen
    doubted = tuple(entry.model_copy(update={"doubted": True}) for entry in rows)
    return State(rows=doubted, policy=state.policy, stored=state.stored)


def shard_trials(state: State) -> tuple[TrialSpec, ...]:
    """Return all screening trials at once, for a shard, in the order of `next_step` and with new rows last."""
    rows = sorted(state.rows, key=lambda entry: entry.row.turn)
    rounds = (enumerate(_rounds(entry, "screen", *_screening(entry)), n) for n, entry in enumerate(rows))
    return _in_turns((specs[::-1] if turn % 2 else specs for turn, specs in each) for each in rounds)


def conclude(state: State) -> tuple[Conclusion, ...]:
    """Return a conclusion for each row, in order, from the trials observed so far, even if more are needed."""
    return conclusions_of(state.rows, state.policy.alpha, state.played.by_row)


# --- stochastic rows


class Played:
    """Replay of the procedure with the observed trials. `missing` are the trials that it needs next."""

    def __init__(self, entries: Sequence[RowSeen], policy: Policy) -> None:
        self._entries = entries
        self._asked: dict[tuple[int, Side, bool], int] = defaultdict(int)
        self._seen = {(n, t.side, t.index): t for n, entry in enumerate(entries) for t in entry.trials}
        self._per_side = [entry.trials_per_side for entry in entries]
        machine = Procedure([_facts(entry, policy) for entry in entries], policy)
        self.missing = self._play(machine)
        self.report: Report = machine.report()
        self.by_row = {entry.row.key: row for entry, row in zip(entries, self.report.rows, strict=True)}

    def _play(self, machine: Procedure) -> tuple[TrialSpec, ...]:
        steps = machine.steps()
        try:
            asks = next(steps)
            while True:
                places = [self._place(ask) for ask in asks]
                missing = [(ask, place) for ask, place in zip(asks, places, strict=True) if place not in self._seen]
                if missing:
                    return tuple(self._spec(ask, place[2]) for ask, place in missing)
                asks = steps.send([self._outcome(*place) for place in places])
        except StopIteration:
            return ()

    def _outcome(self, number: int, side: Side, index: int) -> bool | None:
        """Return whether the trial passed. A lost one counts as failed, on either side, if others were measured.

        Otherwise a tool could destroy the records of its failures, and pass with the trials that are left.
        """
        trial, head = self._seen[number, side, index], self._entries[number].tally("head")
        if trial.decides is None:
            return False if head.measured and head.inside and (is_lost(trial) or setup_failed(trial)) else None
        return trial.decides == "pass"

    def _place(self, ask: Ask) -> tuple[int, Side, int]:
        """Return the trial's row, side and index. Screening has the first indices, whenever its rounds are run."""
        screens = ask.phase == "screen"
        self._asked[ask.row, ask.side, screens] += 1
        before = 0 if screens else self._per_side[ask.row][ask.side]
        return ask.row, ask.side, before + self._asked[ask.row, ask.side, screens]

    def _spec(self, ask: Ask, index: int) -> TrialSpec:
        row = self._entries[ask.row].row
        return TrialSpec(side=ask.side, scenario=row.scenario, agent=row.agent, index=index, phase=ask.phase)


def _facts(entry: RowSeen, policy: Policy) -> Facts:
    row = entry.row
    blocks = row.purpose == "regression" and policy.names(row.agent) and "regressed" in policy.block
    severity, failing = (row.replay.severity, bool(row.replay.failing)) if row.replay is not None else (0.0, False)
    return Facts(
        history=entry.past.counts,
        screening=entry.trials_per_side["head"],
        most=entry.most,
        blocks=blocks,
        earlier=row.earlier,
        severity=severity,
        failing=failing,
        before=entry.before,
        patient=row.deterministic and entry.steady,
    )


# --- deterministic rows


def failed_fast(state: State) -> bool:
    """Return True if repeats confirmed a regression that blocks: further trials cannot change the verdict."""
    if not state.policy.fail_fast or "regressed" not in state.policy.block:
        return False
    return any(entry.flip in WORSE and entry.flip_is_confirmed and _blocks(entry, state.policy) for entry in state.rows)


def _confirmed_first(state: State) -> tuple[TrialSpec, ...]:
    """Return the repeats that would confirm the rows whose regression ends the run; none without `fail_fast`."""
    if state.stored or not state.policy.fail_fast or "regressed" not in state.policy.block:
        return ()
    failing = (entry for entry in state.rows if entry.flip in WORSE and _blocks(entry, state.policy))
    wanted = ((entry, _wanted(entry)) for entry in failing)
    repeats = (chain.from_iterable(_rounds(entry, *trials)) for entry, trials in wanted if trials[0] == "confirm")
    return tuple(chain.from_iterable(repeats))


def _untried(state: State) -> tuple[TrialSpec, ...]:
    """Return the screening of base's rows that a hang in another row has kept from starting."""
    waiting = (entry for entry in state.rows if entry.row.turn == 0 and not entry.of("head"))
    return _in_turns(_rounds(entry, "screen", *_screening(entry)) for entry in waiting)


def _blocks(entry: RowSeen, policy: Policy) -> bool:
    row = entry.row
    return row.presence == "both" and row.purpose == "regression" and policy.names(row.agent)


def _next_of(entries: Iterable[RowSeen]) -> tuple[TrialSpec, ...]:
    return _in_turns(_rounds(entry, *_wanted(entry)) for entry in entries)


def _in_turns(rows: Iterable[Iterator[tuple[TrialSpec, ...]]]) -> tuple[TrialSpec, ...]:
    """Return the trials of these rows: the first round of each row, then the second of each, and so on."""
    return tuple(chain.from_iterable(chain.from_iterable(zip_longest(*rows, fillvalue=()))))


def _rounds(entry: RowSeen, phase: Phase, base: int, head: int) -> Iterator[tuple[TrialSpec, ...]]:
    """Yield the row's next trials in rounds: one of base and one of head, as long as each side needs more."""
    for pair in zip_longest(_specs(entry, "base", phase, base), _specs(entry, "head", phase, head)):
        yield tuple(spec for spec in pair if spec is not None)


def _specs(entry: RowSeen, side: Side, phase: Phase, count: int) -> list[TrialSpec]:
    first = max((trial.index for trial in entry.of(side)), default=0) + 1
    row = entry.row
    return [
        TrialSpec(side=side, scenario=row.scenario, agent=row.agent, index=index, phase=phase)
        for index in range(first, first + count)
    ]


def _wanted(entry: RowSeen) -> tuple[Phase, int, int]:
    """Return the row's phase, and how many more trials base and head need in it.

    Trials that were run but not measured count too: the procedure does not request an excluded trial again.
    """
    base, head = _screening(entry)
    if base or head:
        return "screen", *((0, 0) if entry.sequential else (base, head))
    base, head = _repeats(entry)
    return "confirm", base, head


def _screening(entry: RowSeen) -> tuple[int, int]:
    if entry.skipped or entry.row.no_agent:
        return 0, 0
    presence, trials = entry.row.presence, entry.trials_per_side
    base = trials["base"] if presence == "both" else 0
    head = trials["head"] if presence != "removed" else 0
    return max(0, base - len(entry.of("base", "screen"))), max(0, head - len(entry.of("head", "screen")))


def _repeats(entry: RowSeen) -> tuple[int, int]:
    if missing := entry.passes_missing:
        return 0, missing
    if not entry.confirmable:
        return 0, 0
    if entry.flip is None:
        missing = BASE_TRIALS - len(entry.of("base", None if entry.base_fails else "confirm"))
        return (max(0, missing), 0) if entry.base_unchecked or (entry.base_fails and not entry.sequential) else (0, 0)
    base, head = entry.repeats_needed
    screened = 0 if entry.by_chance else 1  # base's history takes the place of its screening
    return (
        max(0, min(base, entry.enough.base - screened - len(entry.of("base", "confirm")))),
        max(0, min(head, entry.enough.head - 1 - len(entry.of("head", "confirm")))),
    )
