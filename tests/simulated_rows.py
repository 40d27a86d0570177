"""Simulates whole runs with rows of every kind: rows called deterministic that are not, and trials that are lost."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from tidegate.decide.procedure.observed import Past, RowSeen
from tidegate.decide.procedure.row_states import Conclusion
from tidegate.decide.procedure.rules import screening_trials
from tidegate.decide.procedure.steps import State, conclude, next_step
from tidegate.decide.verdict import decide
from tidegate.model.comparison import BaseCounts, Comparison, HeadCounts, Row
from tidegate.model.measurement import TrialResult
from tidegate.model.run_row import RunRow
from tidegate.model.suite import Policy
from tidegate.model.trial_spec import NotMeasured, Side, TrialSpec

LOST: NotMeasured = "record_lost"  # an inside cause: a process of the trial can bring it about


class Chances(NamedTuple):
    """What happens to the trials of each row of a pull request.

    `base`, `head`: success rates. `lost_base`, `lost_head`: the share of failures of which the record is lost, so that
    they have no outcome.
    """

    base: tuple[float, ...]
    head: tuple[float, ...]
    deterministic: bool = False
    lost_base: float = 0.0
    lost_head: float = 0.0


class Ends(NamedTuple):
    """Shares of simulated pull requests: blocked (exit code 1), unproven (exit code 5), amber (0, but in doubt).

    `trials` is a mean.
    """

    blocked: float
    unproven: float
    amber: float
    trials: float = 0.0


def simulate_runs(chances: Chances, history: int, runs: int, count: int, seed: int = 0) -> list[Ends]:
    """Run each of `count` pull requests' base through several clean runs or pushes, and return the ends of each run.

    `history`: trials before the first run. Base's trials of each run are the history of the next one, so that a
    disagreement among them is known then.
    """
    chance = Random(f"{seed}/{chances}/{history}/{runs}")
    ends = [Ends(0, 0, 0)] * runs
    for _ in range(count):
        past = [[chance.random() < rate for _ in range(history)] for rate in chances.base]
        for number in range(runs):
            conclusions, state = judged(chances, past, chance)
            ends[number] = _plus(ends[number], conclusions, state)
            for row, seen in zip(past, state.rows, strict=True):
                row += [trial.decides == "pass" for trial in seen.of("base") if trial.decides is not None]
                del row[:-40]
    return [Ends(*(one / count for one in end)) for end in ends]


def _plus(ends: Ends, conclusions: Sequence[Conclusion], state: State) -> Ends:
    """Return the counts with another run's, by the code that decides on real ones."""
    rows = [_row(conclusion, seen) for conclusion, seen in zip(conclusions, state.rows, strict=True)]
    found = decide(Comparison(rows=tuple(rows)), state.policy)
    return Ends(
        ends.blocked + (found.code == 1),
        ends.unproven + (found.code == 5),
        ends.amber + (found.code == 0 and found.state == "inconclusive"),
        ends.trials + sum(len(seen.trials) for seen in state.rows),
    )


def _row(said: Conclusion, seen: RowSeen) -> Row:
    base, head = seen.tally("base"), seen.tally("head")
    lost = len(seen.of("head")) - head.measured
    return Row(
        scenario=seen.row.scenario,
        agent=seen.row.agent,
        state=said.state,
        kind=said.kind,
        not_measured=said.not_measured,
        base=BaseCounts(passes=base.passes + seen.history[0], trials=base.measured + seen.history[1]),
        head=HeadCounts(passes=head.passes, trials=head.measured, not_measured=lost),
    )


def judged(chances: Chances, past: Sequence[Sequence[bool]], chance: Random) -> tuple[Sequence[Conclusion], State]:
    """Judge one pull request with the code that judges real ones."""
    policy = Policy()
    names = [f"row {number}" for number in range(len(chances.base))]
    state = State(
        rows=tuple(
            RowSeen(
                row=(row := RunRow(scenario=name, agent="a", deterministic=chances.deterministic)),
                k0=screening_trials(row.trials, policy),
                past=Past(tuple(known), unsteady=chances.deterministic and len(set(known)) > 1),
            )
            for name, known in zip(names, past, strict=True)
        ),
        policy=policy,
    )
    while step := next_step(state):
        seen: dict[str, list[TrialResult]] = {}
        for spec in step:
            seen.setdefault(spec.scenario, []).append(_trial(spec, names.index(spec.scenario), chances, chance))
        rows = tuple(entry.with_trials(seen.get(entry.row.scenario, ())) for entry in state.rows)
        state = State(rows=rows, policy=policy)
    return conclude(state), state


def _trial(spec: TrialSpec, number: int, chances: Chances, chance: Random) -> TrialResult:
    side: Side = spec.side
    rates, lost = (chances.head, chances.lost_head) if side == "head" else (chances.base, chances.lost_base)
    passed = chance.random() < rates[number]
    is_lost = not passed and chance.random() < lost
    return TrialResult(
        id="",
        side=side,
        scenario=spec.scenario,
        agent=spec.agent,
        index=spec.index,
        phase=spec.phase,
        outcome=None if is_lost else "pass" if passed else "fail",
        decides=None if is_lost else "pass" if passed else "fail",
        not_measured=LOST if is_lost else None,
        reason="",
    )
