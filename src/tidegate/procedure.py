"""Which trials to run next, and what can be said of those that were seen: a pure state machine.

The pipeline asks `next_step`, runs what it names and hands every result to `observe`, until it is decided. The state is
nothing but what was seen: the steps are played again from the start each time, so that a run that was cut off goes on
where it ended. Stochastic rows are screened, confirmed and verified; for the others a few repeats settle it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, zip_longest

from tidegate.model.measurement import RunRow, TrialResult
from tidegate.model.plan import RowKey
from tidegate.model.suite import Policy, TrialCounts
from tidegate.model.trial import Phase, Side, TrialSpec
from tidegate.model.value import Value
from tidegate.statistics.conclusion import Conclusion
from tidegate.statistics.conclusions import conclusions
from tidegate.statistics.flaky import is_flaky
from tidegate.statistics.repeats import BASE_TRIALS, HEAD_TRIALS, repeats_needed
from tidegate.statistics.rules import SCREENING, Ask, Facts, Rules
from tidegate.statistics.screen import Report, ScreenConfirmVerify
from tidegate.statistics.seen import RowSeen, SeenTrial
from tidegate.statistics.suite_gate import SuiteFinding

__all__ = [
    "Conclusion",
    "Decided",
    "RunTrials",
    "State",
    "conclude",
    "next_step",
    "observe",
    "screening_of",
    "screening_trials",
    "start",
    "suite_finding",
]


class State(Value):
    """All that the procedure knows. `stored`: no trial can be asked for, so everything is compared in one shot."""

    rows: tuple[RowSeen, ...]
    policy: Policy
    stored: bool = False

    @cached_property
    def played(self) -> Played:
        """The sequential rows, as far as their trials have been seen."""
        return Played([entry for entry in self.rows if entry.sequential and not self.stored], self.policy)


class RunTrials(Value):
    """These trials are to be run; every one of them has to come back in `observe`, measured or not."""

    specs: tuple[TrialSpec, ...]


class Decided(Value):
    """No further trial can change anything."""

    conclusions: tuple[Conclusion, ...]


def start(
    rows: Sequence[RunRow], policy: Policy, past: Mapping[RowKey, Sequence[bool]] | None = None, *, stored: bool = False
) -> State:
    """Nothing seen yet but base's history: whether each of a row's earlier base trials passed, the oldest first."""
    past = past or {}
    return State(
        rows=tuple(
            RowSeen(
                row=row,
                screening=screening_of(row, policy),
                most=row.trials.max,
                past=() if row.deterministic else tuple(past.get(row.key, ())),
            )
            for row in rows
        ),
        policy=policy,
        stored=stored,
    )


def next_step(state: State) -> RunTrials | Decided:
    """The trials to run now, with the sides alternating; or the end."""
    rounds = zip_longest(*(_rounds(entry) for entry in state.rows if not state.stored), fillvalue=())
    specs = (*state.played.missing, *chain.from_iterable(chain.from_iterable(rounds)))
    if not specs or _failed_fast(state):
        return Decided(conclusions=conclude(state))
    return RunTrials(specs=specs)


def observe(state: State, results: Sequence[TrialResult]) -> State:
    """The state with these trials seen, in whatever order; trials of other rows are left out."""
    new: dict[RowKey, list[SeenTrial]] = defaultdict(list)
    for result in results:
        new[result.key].append(SeenTrial.of(result))
    rows = tuple(entry.with_trials(new[entry.row.key]) for entry in state.rows)
    return State(rows=rows, policy=state.policy, stored=state.stored)


def conclude(state: State) -> tuple[Conclusion, ...]:
    """What can be said with what was seen, also where `next_step` would ask for more; in the order of the rows."""
    return conclusions(state.rows, state.policy.alpha, state.played.by_row)


def suite_finding(state: State) -> SuiteFinding | None:
    """What can be said of the suite as a whole; None where nothing can."""
    return state.played.report.suite


def screening_trials(counts: TrialCounts, policy: Policy) -> int:
    """k0, the screening trials of a stochastic row: those that were asked for, or the preset's."""
    return counts.min or SCREENING[policy.preset]


def screening_of(row: RunRow, policy: Policy) -> int:
    """The screening trials a side of any row; with a history, base needs none."""
    return 1 if row.deterministic else screening_trials(row.trials, policy)


# --- stochastic rows


class Played:
    """Screen, confirm and verify, played with the trials that were seen. `missing`: those that it asks for next."""

    def __init__(self, entries: Sequence[RowSeen], policy: Policy) -> None:
        self._entries = entries
        self._asked: dict[tuple[int, Side], int] = defaultdict(int)
        self._seen = {(n, t.side, t.index): t for n, entry in enumerate(entries) for t in entry.trials}
        machine = ScreenConfirmVerify([_facts(entry, policy) for entry in entries], Rules.of(policy))
        self.missing = self._play(machine)
        self.report: Report = machine.report()
        self.by_row = {entry.row.key: row for entry, row in zip(entries, self.report.rows, strict=True)}

    def _play(self, machine: ScreenConfirmVerify) -> tuple[TrialSpec, ...]:
        steps = machine.steps()
        try:
            asks = next(steps)
            while True:
                places = [self._place(ask) for ask in asks]
                missing = [(ask, place) for ask, place in zip(asks, places, strict=True) if place not in self._seen]
                if missing:
                    return tuple(self._spec(ask, place[2]) for ask, place in missing)
                asks = steps.send([self._seen[place].passed for place in places])
        except StopIteration:
            return ()

    def _place(self, ask: Ask) -> tuple[int, Side, int]:
        self._asked[ask.row, ask.side] += 1
        return ask.row, ask.side, self._asked[ask.row, ask.side]

    def _spec(self, ask: Ask, index: int) -> TrialSpec:
        row = self._entries[ask.row].row
        return TrialSpec(side=ask.side, scenario=row.scenario, agent=row.agent, index=index, phase=ask.phase)


def _facts(entry: RowSeen, policy: Policy) -> Facts:
    row = entry.row
    blocks = row.purpose == "regression" and policy.names(row.agent) and "regressed" in policy.block
    screening = min(entry.screening, entry.most or entry.screening)
    return Facts(entry.history, screening, entry.most, is_flaky(entry.past), blocks)


# --- rows that a few repeats settle


def _failed_fast(state: State) -> bool:
    """A row that a few repeats settled fails the check, so that nothing else can save it."""
    if not state.policy.fail_fast or "regressed" not in state.policy.block:
        return False
    return any(
        entry.flip in ("worse", "setup")
        and repeats_needed(entry.flip, entry.tally("base"), entry.tally("head")) == (0, 0)
        and entry.row.presence == "both"
        and entry.row.purpose == "regression"
        and state.policy.names(entry.row.agent)
        for entry in state.rows
    )


def _rounds(entry: RowSeen) -> Iterator[tuple[TrialSpec, ...]]:
    """The row's next trials: one of base and one of head at a time, for as long as both sides need more."""
    phase, base, head = _wanted(entry)
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
    """The phase that the row is in, and how many more trials base and head need in it; 0 and 0: none.

    Trials that were run count, measured or not: what was excluded is not asked for again.
    """
    base, head = _screening(entry)
    if base or head:
        return "screen", *((0, 0) if entry.sequential else (base, head))
    base, head = _repeats(entry)
    return "confirm", base, head


def _screening(entry: RowSeen) -> tuple[int, int]:
    presence, most = entry.row.presence, entry.most or entry.screening
    base = entry.screening if presence == "both" and not entry.history[1] else 0
    head = min(entry.screening, most) if presence != "removed" else 0
    return max(0, base - len(entry.of("base", "screen"))), max(0, head - len(entry.of("head", "screen")))


def _repeats(entry: RowSeen) -> tuple[int, int]:
    if not entry.confirmable:
        return 0, 0
    if entry.flip is None:
        return (BASE_TRIALS, 0) if entry.setup_unchecked else (0, 0)
    base, head = repeats_needed(entry.flip, entry.tally("base"), entry.tally("head"))
    return (
        max(0, min(base, BASE_TRIALS - 1 - len(entry.of("base", "confirm")))),
        max(0, min(head, HEAD_TRIALS - 1 - len(entry.of("head", "confirm")))),
    )
