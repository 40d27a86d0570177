"""Which rows a screening leaves to confirm, before any trial of the confirmation has been run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container

from tidegate.model.measurement import TrialResult
from tidegate.model.plan import RowKey
from tidegate.model.trial_spec import TrialSpec
from tidegate.procedure.steps import RunTrials, State, next_step, observe


def unconfirmed(state: State) -> dict[RowKey, int]:
    """Return the rows that the screening trials leave to confirm, and how many trials each takes if head is worse.

    The confirmation is played with a head that always fails. Screening trials that are missing count as not measured.
    """
    policy = state.policy.model_copy(update={"fail_fast": False, "suite": "off"})
    state, trials = State(rows=state.rows, policy=policy), Counter[RowKey]()
    while isinstance(step := next_step(state), RunTrials):
        trials.update(row_of(spec) for spec in step.specs if spec.phase != "screen")
        state = observe(state, [_as_if_worse(spec) for spec in step.specs])
    return dict(trials)


def only(state: State, rows: Container[RowKey]) -> State:
    """Return the state of these rows alone. The test of the whole suite is left to the merge."""
    policy = state.policy.model_copy(update={"suite": "off"})
    return State(rows=tuple(entry for entry in state.rows if entry.row.key in rows), policy=policy)


def row_of(spec: TrialSpec) -> RowKey:
    """Return the row of a trial."""
    return RowKey(scenario=spec.scenario, agent=spec.agent)


def elsewhere(spec: TrialSpec) -> TrialResult:
    """Return the result of a trial that another job runs: here, it shows nothing."""
    return TrialResult(**spec.model_dump(), id=spec.id, outcome=None, decides=None, reason="", not_measured="cancelled")


def _as_if_worse(spec: TrialSpec) -> TrialResult:
    if spec.phase == "screen":
        return elsewhere(spec)
    outcome = "pass" if spec.side == "base" else "fail"
    return TrialResult(**spec.model_dump(), id=spec.id, outcome=outcome, decides=outcome, reason="")
