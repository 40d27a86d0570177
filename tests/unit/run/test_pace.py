"""How long head's trials may take, by what base needed."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest

from tidegate.model.event import CommandResult
from tidegate.model.measurement import Metrics, PastTrial
from tidegate.model.plan import RowKey
from tidegate.model.probe import CommandAnswer
from tidegate.model.trial import Step, Trial
from tidegate.model.trial_spec import Side, TrialSpec
from tidegate.run.pace import Pace
from tidegate.trial.directories import TimeLimits


def spec(side: Side, scenario: str = "a", index: int = 1) -> TrialSpec:
    return TrialSpec(side=side, scenario=scenario, agent="docs", index=index)


def trial(side: Side, secs: float, **more: Any) -> Trial:
    return Trial(spec=spec(side), duration_s=secs, end=more.pop("end", "completed"), **more)


def agent_limit(pace: Pace, side: Side = "head") -> float:
    return asyncio.run(pace.limits(spec(side))).agent


def test_nothing_is_limited_before_base_is_known_and_base_never_is() -> None:
    pace = Pace()
    assert agent_limit(pace) == math.inf
    pace.saw(trial("base", 1))
    assert agent_limit(pace, "base") == math.inf


@pytest.mark.parametrize(("slowest", "limit"), [(0.5, 60), (6, 60), (7, 70), (40, 400)])
def test_head_has_ten_times_what_base_s_slowest_trial_took_and_never_less_than_a_minute(
    slowest: float, limit: float
) -> None:
    pace = Pace()
    for secs in (slowest / 2, slowest, slowest / 3):
        pace.saw(trial("base", secs))
    assert agent_limit(pace) == limit


STOPPED = CommandResult(command="notes list", end="timeout", duration_s=30)


@pytest.mark.parametrize(
    "hang",
    [
        {"end": "timeout"},
        {"answers": (CommandAnswer(result=STOPPED),)},
        {"steps": (Step(kind="setup", result=STOPPED),), "not_measured": "setup"},
    ],
)
def test_a_row_that_hung_on_head_is_repeated_with_shorter_limits_and_other_rows_are_not(hang: dict[str, Any]) -> None:
    pace = Pace()
    for row in ("a", "b"):
        pace.saw(trial("base", 8, around_s=1.0).model_copy(update={"spec": spec("base", row)}))
    before = TimeLimits(agent=80, after_hang=5)
    assert asyncio.run(pace.limits(spec("head"))) == before
    pace.saw(trial("head", 80, **hang))
    assert asyncio.run(pace.limits(spec("head"))) == TimeLimits(agent=24, check=5, after_hang=5)
    assert asyncio.run(pace.limits(spec("head", "b"))) == before

    elsewhere = Pace()
    elsewhere.take_over(pace.known([RowKey(scenario="a", agent="docs")]))
    assert asyncio.run(elsewhere.limits(spec("head"))) == TimeLimits(agent=24, check=5, after_hang=5)


def test_once_three_rows_have_hung_all_have_the_shorter_limits() -> None:
    pace = Pace()
    pace.saw(trial("base", 0.5))
    for row in ("b", "c", "d"):
        assert agent_limit(pace) == 60
        pace.saw(trial("head", 60, end="timeout").model_copy(update={"spec": spec("head", row)}))
    assert agent_limit(pace) == 5


def test_trials_of_base_that_were_not_measured_show_nothing() -> None:
    pace = Pace()
    pace.saw(trial("base", 100, not_measured="outage"))
    assert agent_limit(pace) == math.inf


def test_a_trial_that_the_budget_cuts_off_is_charged_to_head_where_it_took_much_longer_than_base() -> None:
    pace = Pace()
    cut = trial("head", 8, end="budget", not_measured="budget", reason="the run's minutes were used up")
    assert pace.charged(cut).not_measured == "budget", "base is not known"
    pace.saw(trial("base", 3))
    charged = pace.charged(cut)
    assert (charged.not_measured, charged.reason) == (
        "overtime",
        "the run's minutes were used up, after 8 s of a trial that took base 3 s at most",
    )
    assert pace.charged(trial("head", 6, end="budget", not_measured="budget")).not_measured == "budget"
    assert pace.charged(trial("base", 8, end="budget", not_measured="budget")).not_measured == "budget"
    assert pace.charged(trial("head", 8)).not_measured is None


def test_history_counts() -> None:
    pace = Pace()
    past = PastTrial(scenario="a", agent="docs", decides="pass", at=0, sha="", metrics=Metrics(duration_s=9))
    pace.learn([past])
    assert agent_limit(pace) == 90


def test_setup_commands_have_a_limit_of_their_own() -> None:
    pace = Pace()
    took = CommandResult(command="make", end="exited", exit_code=0, duration_s=20)
    pace.saw(trial("base", 1, steps=(Step(kind="setup", result=took),)))
    assert asyncio.run(pace.limits(spec("head"))) == TimeLimits(agent=60, setup=200)


def test_a_setup_that_the_budget_cuts_off_is_charged_to_head_where_it_took_much_longer_than_base() -> None:
    def cut(side: Side, secs: float) -> Trial:
        step = Step(kind="setup", result=CommandResult(command="make", end="timeout", duration_s=secs))
        return Trial(spec=spec(side), not_measured="budget", reason="the setup failed", steps=(step,))

    pace = Pace()
    assert pace.charged(cut("head", 90)).not_measured == "budget", "base is not known"
    pace.saw(
        trial(
            "base",
            50,
            steps=(Step(kind="setup", result=CommandResult(command="make", end="exited", exit_code=0, duration_s=3)),),
        )
    )
    assert pace.charged(cut("head", 8)).not_measured == "overtime"
    assert pace.charged(cut("head", 5)).not_measured == "budget"
    assert pace.charged(cut("base", 90)).not_measured == "budget"


def test_gates_that_the_budget_cuts_off_are_charged_to_head_where_they_took_much_longer_than_on_base() -> None:
    pace = Pace()
    pace.saw(trial("base", 1, around_s=3.0))
    cut = trial("head", 1, not_measured="budget", reason="the gates were cut off")
    assert pace.charged(cut.model_copy(update={"around_s": 7.0})).not_measured == "overtime"
    assert pace.charged(cut.model_copy(update={"around_s": 5.0})).not_measured == "budget"


@pytest.mark.parametrize("ends", ["measured", "left out"])
def test_head_waits_for_base_s_first_trial_where_that_starts_first(ends: str) -> None:
    async def story() -> float:
        pace = Pace()
        pace.expect([spec("base"), spec("head")])
        waiting = asyncio.create_task(pace.limits(spec("head")))
        await asyncio.sleep(0)
        assert not waiting.done()
        if ends == "measured":
            pace.saw(trial("base", 10))
        pace.ended(spec("base"))
        return (await waiting).agent

    assert asyncio.run(story()) == (100 if ends == "measured" else math.inf)


@pytest.mark.parametrize("batch", [[spec("head"), spec("base")], [spec("base", "b"), spec("head")]])
def test_head_never_waits_for_a_base_that_may_need_its_slot(batch: list[TrialSpec]) -> None:
    async def story() -> float:
        pace = Pace()
        pace.expect(batch)
        async with asyncio.timeout(5):
            return (await pace.limits(spec("head"))).agent

    assert asyncio.run(story()) == math.inf
