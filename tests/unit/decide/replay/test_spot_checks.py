"""Some unchanged rows get a trial with an agent nevertheless, and all of them do if one of these looks worse."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.make import sure, trial_result
from tidegate.decide.procedure.observed import Past
from tidegate.decide.procedure.steps import State, conclude, next_step, observe, start
from tidegate.decide.replay.decide import chosen_for_check, spot_checks
from tidegate.model.measurement import Outcome
from tidegate.model.plan import RowKey
from tidegate.model.run_row import DifferingStep, ReplayFinding, RunRow
from tidegate.model.suite import Policy, ReplayRules
from tidegate.model.trial_spec import NotMeasured
from tidegate.run.replays import with_spot_checks


def unchanged(name: str) -> ReplayFinding:
    return ReplayFinding(scenario=name, agent="a", same=5, passed=5, steps=9, unseen=0.05, skipped=True)


def row(name: str, replay: ReplayFinding, no_agent: NotMeasured | None = None) -> RunRow:
    return RunRow(scenario=name, agent="a", deterministic=False, replay=replay, no_agent=no_agent)


def begun(passes: int = 40, history: int = 40) -> State:
    """Four rows that replay alike. The second is chosen for a spot check; of the last, no agent may be run."""
    rows = [row(name, unchanged(name)) for name in "acd"]
    rows.insert(1, row("b", chosen_for_check(unchanged("b"))))
    rows.append(row("e", unchanged("e"), "secret"))
    past = {one.key: Past([True] * passes + [False] * (history - passes)) for one in rows}
    return start(rows, Policy(), past)


def play(state: State, outcomes: str, not_measured: NotMeasured | None = None) -> tuple[Counter[str], dict[str, str]]:
    """Return how many head trials each row gets, and the states. `outcomes` are of the spot-checked row's trials."""
    asked: Counter[str] = Counter()
    while step := next_step(state):
        for spec in step:
            asked[spec.scenario] += spec.side == "head"
            letter = (
                outcomes[min(spec.index, len(outcomes)) - 1] if spec.scenario == "b" and spec.side == "head" else "P"
            )
            decides: Outcome | None = {"P": "pass", "F": "fail", "X": None}[letter]
            why = not_measured if decides is None else None
            result = trial_result(**spec.model_dump(), outcome=decides, decides=decides, not_measured=why)
            state = observe(state, [result])
    return asked, {said.key.scenario: said.state for said in conclude(state)}


def test_a_check_that_passes_takes_one_trial() -> None:
    asked, states = play(begun(), "P")

    assert asked == {"b": 1}
    assert states == {"a": "unchanged", "b": "ok", "c": "unchanged", "d": "unchanged", "e": "unchanged"}


def test_a_check_that_looks_worse_has_all_rows_run_for_which_agents_may_be() -> None:
    asked, states = play(begun(), "F")

    assert [asked[name] for name in "acde"] == [1, 1, 1, 0]  # then the regression ends the run
    assert (states["b"], states["e"]) == ("regressed", "not_measured")


def test_one_failure_where_base_fails_too_is_repeated_first() -> None:
    """An agent that fails now and then does not have the whole suite run."""
    asked, states = play(begun(passes=30), "FPP")

    assert asked == {"b": 3}
    assert states["a"] == "unchanged"


@pytest.mark.parametrize(("cause", "trials"), [("record_lost", 3), ("setup", 3), ("outage", 0)])
def test_a_check_that_head_may_have_kept_from_being_measured_counts_as_worse(cause: NotMeasured, trials: int) -> None:
    asked, states = play(begun(), "X", cause)

    assert (asked["a"], states["b"] in ("ok", "unchanged")) == (trials, False)


@pytest.mark.parametrize(
    ("share", "rows", "count"), [(0.2, 1, 1), (0.2, 15, 3), (0.2, 16, 4), (0.0, 9, 0), (1.0, 9, 9)]
)
def test_the_share_of_checked_rows_is_rounded_up(share: float, rows: int, count: int) -> None:
    without = row("y", unchanged("y"), "secret")
    all_rows = [*(row(str(n), unchanged(str(n))) for n in range(rows)), differing("x"), without]
    replays = {found.key: found for found in (sure(one.replay) for one in all_rows)}

    keys, number = spot_checks(replays, all_rows, ReplayRules(spot_checks=share))
    chosen = with_spot_checks(replays, all_rows, ReplayRules(spot_checks=share))

    assert (len(keys), number, sum(one.spot for one in chosen.values())) == (rows, count, count)
    assert not chosen[without.key].spot


def test_no_choice_can_be_predicted() -> None:
    replays = {RowKey(scenario=str(n), agent="a"): unchanged(str(n)) for n in range(10)}
    all_rows = [row(found.scenario, found) for found in replays.values()]
    seen = {
        tuple(key for key, one in with_spot_checks(replays, all_rows, ReplayRules()).items() if one.spot)
        for _ in range(200)
    }
    assert len(seen) > 30  # of 45 pairs


def differing(name: str, **fields: int | tuple[str, ...]) -> RunRow:
    found = ReplayFinding(scenario=name, agent="a", same=2, difference=DifferingStep(step="s", base="", head=""))
    return row(name, found.model_copy(update=fields))


def test_what_differs_is_screened_first_the_worst_before_the_rest() -> None:
    rows = [
        row("same", ReplayFinding(scenario="same", agent="a", same=5)),
        differing("late", differing=1, first_step=9),
        differing("early", differing=1, first_step=1),
        differing("failing", differing=1, first_step=9, failing=("a gate",)),
    ]
    step = next_step(start(rows, Policy(), {one.key: Past([True] * 40) for one in rows}))
    assert [spec.scenario for spec in step] == ["failing", "early", "late", "same"]


@pytest.mark.parametrize(("failing", "asked"), [((), 3), (("a gate",), 8)])
def test_a_row_with_a_gate_that_fails_in_replays_is_confirmed_whatever_screening_shows(
    failing: tuple[str, ...], asked: int
) -> None:
    """A commit that breaks one of two ways to work passes three screening trials in one of eight runs."""
    one = differing("b", differing=3, failing=failing, first_step=1)
    trials, states = play(start([one], Policy(), {one.key: Past([True] * 40)}), "P")

    assert (trials, states) == ({"b": asked}, {"b": "ok"})


def test_a_row_that_fails_in_replays_and_half_of_the_time_with_agents_is_found_after_a_lucky_screening() -> None:
    one = differing("b", differing=3, failing=("a gate",), first_step=1)
    _, states = play(start([one], Policy(), {one.key: Past([True] * 40)}), "PPP" + "FP" * 20)

    assert states == {"b": "regressed"}
