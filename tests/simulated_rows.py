"""Simulates whole runs with rows of every kind: rows called deterministic that are not, and trials that are lost."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from tidegate.decide.procedure.observed import RowSeen, SeenTrial
from tidegate.decide.procedure.row_states import Conclusion
from tidegate.decide.procedure.rules import screening_trials
from tidegate.decide.procedure.steps import RunTrials, State, next_step
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
    """Shares of simulated pull requests that are blocked, or amber (not blocked, but in doubt); their mean trials."""

    blocked: float
    amber: float
    trials: float = 0.0


def simulate_runs(chances: Chances, history: int, runs: int, count: int, seed: int = 0) -> list[Ends]:
    """Run each of `count` pull requests' base through several clean runs or pushes, and return the ends of each run.

    `history`: trials before the first run. Base's trials of each run are the history of the next one, so that a
    disagreement among them is known then.
    """
    chance = Random(f"{seed}/{chances}/{history}/{runs}")
    blocked, amber, trials = [0] * runs, [0] * runs, [0] * runs
    for _ in range(count):
        past = [[chance.random() < rate for _ in range(history)] for rate in chances.base]
        for number in range(runs):
            ended, state = judged(chances, past, chance)
            states = {one.state for one in ended}
            blocked[number] += "regressed" in states
            trials[number] += sum(len(seen.trials) for seen in state.rows)
            amber[number] += "regressed" not in states and bool(states & {"unconfirmed", "not_measured"})
            for row, seen in zip(past, state.rows, strict=True):
                row += [trial.passed for trial in seen.of("base") if trial.passed is not None]
                del row[:-40]
    return [Ends(*(one / count for one in ends)) for ends in zip(blocked, amber, trials, strict=True)]


def judged(chances: Chances, past: Sequence[Sequence[bool]], chance: Random) -> tuple[Sequence[Conclusion], State]:
    """Judge one pull request with the code that judges real ones."""
    policy = Policy()
    names = [f"row {number}" for number in range(len(chances.base))]
    state = State(
        rows=tuple(
            RowSeen(
                row=(row := RunRow(scenario=name, agent="a", deterministic=chances.deterministic)),
                k0=screening_trials(row.trials, policy),
                past=tuple(known),
                unsteady=chances.deterministic and len(set(known)) > 1,
            )
            for name, known in zip(names, past, strict=True)
        ),
        policy=policy,
    )
    while isinstance(step := next_step(state), RunTrials):
        seen: dict[str, list[SeenTrial]] = {}
        for spec in step.specs:
            seen.setdefault(spec.scenario, []).append(_trial(spec, names.index(spec.scenario), chances, chance))
        rows = tuple(entry.with_trials(seen.get(entry.row.scenario, ())) for entry in state.rows)
        state = State(rows=rows, policy=policy)
    return step.conclusions, state


def _trial(spec: TrialSpec, number: int, chances: Chances, chance: Random) -> SeenTrial:
    side: Side = spec.side
    rates, lost = (chances.head, chances.lost_head) if side == "head" else (chances.base, chances.lost_base)
    passed = chance.random() < rates[number]
    is_lost = not passed and chance.random() < lost
    return SeenTrial(
        side=side,
        index=spec.index,
        phase=spec.phase,
        decides=None if is_lost else "pass" if passed else "fail",
        not_measured=LOST if is_lost else None,
        reason="",
    )
