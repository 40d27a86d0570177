"""Which trials to run next, and what can be said of those that were seen: a pure state machine.

The pipeline asks `next_step`, runs what it names and hands every result to `observe`, until it is decided. A row takes
at most two rounds: `screen`, and `confirm` where the sides differ in a way that a few repeats settle.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest

from tidegate.model.measurement import RunRow, TrialResult
from tidegate.model.plan import RowKey
from tidegate.model.suite import Policy, TrialCounts
from tidegate.model.trial import Phase, Side, TrialSpec
from tidegate.model.value import Value
from tidegate.statistics.conclusions import Conclusion, conclusions
from tidegate.statistics.repeats import BASE_TRIALS, HEAD_TRIALS, repeats_needed
from tidegate.statistics.seen import RowSeen, SeenTrial

__all__ = [
    "Conclusion",
    "Decided",
    "RunTrials",
    "State",
    "conclude",
    "next_step",
    "observe",
    "screening_trials",
    "start",
]

SCREENING = {"quick": 1, "standard": 3, "thorough": 5}  # k0 of the presets


class State(Value):
    """All that the procedure knows."""

    rows: tuple[RowSeen, ...]
    policy: Policy


class RunTrials(Value):
    """These trials are to be run; every one of them has to come back in `observe`, measured or not."""

    specs: tuple[TrialSpec, ...]


class Decided(Value):
    """No further trial can change anything."""

    conclusions: tuple[Conclusion, ...]


def start(rows: Sequence[RunRow], policy: Policy) -> State:
    """Nothing seen yet."""
    return State(
        rows=tuple(
            RowSeen(
                row=row,
                screening=1 if row.deterministic else screening_trials(row.trials, policy),
                most=row.trials.max,
            )
            for row in rows
        ),
        policy=policy,
    )


def next_step(state: State) -> RunTrials | Decided:
    """The trials to run now, in rounds over all rows with the sides alternating; or the end."""
    rounds = zip_longest(*(_rounds(entry) for entry in state.rows), fillvalue=())
    specs = tuple(chain.from_iterable(chain.from_iterable(rounds)))
    return RunTrials(specs=specs) if specs else Decided(conclusions=conclude(state))


def observe(state: State, results: Sequence[TrialResult]) -> State:
    """The state with these trials seen, in whatever order; trials of other rows are left out."""
    new: dict[RowKey, list[SeenTrial]] = defaultdict(list)
    for result in results:
        new[result.key].append(SeenTrial.of(result))
    return state.model_copy(update={"rows": tuple(entry.with_trials(new[entry.row.key]) for entry in state.rows)})


def conclude(state: State) -> tuple[Conclusion, ...]:
    """What can be said with what was seen, also where `next_step` would ask for more; in the order of the rows."""
    return conclusions(state.rows, state.policy.alpha)


def screening_trials(counts: TrialCounts, policy: Policy) -> int:
    """k0, the screening trials a side of a stochastic row: those that were asked for, or the preset's."""
    return counts.min or SCREENING[policy.preset]


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
        return "screen", base, head
    base, head = _repeats(entry)
    return "confirm", base, head


def _screening(entry: RowSeen) -> tuple[int, int]:
    presence, most = entry.row.presence, entry.most or entry.screening
    base = entry.screening if presence == "both" else 0
    head = min(entry.screening, most) if presence != "removed" else 0
    return max(0, base - len(entry.of("base", "screen"))), max(0, head - len(entry.of("head", "screen")))


def _repeats(entry: RowSeen) -> tuple[int, int]:
    if entry.flip is None or not entry.confirmable:
        return 0, 0
    base, head = repeats_needed(entry.flip, entry.tally("base"), entry.tally("head"))
    return (
        max(0, min(base, BASE_TRIALS - 1 - len(entry.of("base", "confirm")))),
        max(0, min(head, HEAD_TRIALS - 1 - len(entry.of("head", "confirm")))),
    )
